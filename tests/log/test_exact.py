"""Sums on grids: exact, so that neither order nor parts matter."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripletree.log.exact import add_weights, grids_of, mean_weights, parts_of


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_parts_add_up_exactly_in_any_order(n, seed):
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(-1, 1, n) * 10.0 ** rng.integers(-12, 1, n)
    for part in parts_of(numbers, grids_of(n)):
        exact = sum(map(Fraction, part.tolist()))
        assert Fraction(float(part.sum())) == exact
        assert Fraction(float(part[rng.permutation(n)].cumsum()[-1])) == exact
    assert np.abs(sum(parts_of(numbers, grids_of(n))) - numbers).max() <= 2.0**-50 * n


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_mean_weights_do_not_depend_on_cuts(n, seed):
    rng = np.random.default_rng(seed)
    weights = rng.random(n) * 10.0 ** rng.uniform(-3, 3)
    starts, largest = np.unique([0, *rng.integers(0, n + 1, 3).tolist(), n]), float(weights.max())
    whole = add_weights(weights, starts, largest, n)
    lengths = np.diff(starts)
    means = mean_weights(whole, lengths, largest)
    expected = [weights[a:b].mean() for a, b in pairwise(starts)]
    np.testing.assert_allclose(means, expected, rtol=1e-13, atol=1e-15 * largest)
    cut = int(rng.integers(n))
    cuts = np.unique(np.append(starts, cut))
    parts = add_weights(weights, cuts, largest, n)
    owner = np.searchsorted(starts, cuts[:-1], side="right") - 1
    joined = np.stack([np.bincount(owner, part, len(lengths)) for part in parts.T], axis=1)
    assert mean_weights(joined, lengths, largest).tolist() == means.tolist()
