"""The numbers in the middle of columns, against sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tripletree import _kernel

KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "an outlier": lambda rng, n: np.append(rng.normal(size=n - 1), 1e300),
    "many alike": lambda rng, n: rng.integers(-2, 3, n) * 1.0,
    "two heaps": lambda rng, n: np.where(np.arange(n) < n // 2, -1.0, 1.0) * (1 + 1e-12 * rng.random(n)),
    "the largest": lambda rng, n: rng.choice([-1.0, 1.0], n) * np.finfo(np.float64).max,
    "the smallest": lambda rng, n: rng.integers(0, 5, n) * 5e-324,
    "constant": lambda _, n: np.full(n, 7.0),
}


def check(columns: np.ndarray) -> None:
    """Compare with the middle of the sorted numbers, in either order of memory."""
    ordered = np.sort(columns, axis=1)
    n = columns.shape[1]
    for given_as in (np.ascontiguousarray(columns), np.ascontiguousarray(columns.T).T):
        lower, upper = _kernel.middle(given_as)
        np.testing.assert_array_equal(lower, ordered[:, (n - 1) // 2])
        np.testing.assert_array_equal(upper, ordered[:, n // 2])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 66, 1000, 1001, 20_000])
def test_of_many_kinds(kind, n):
    rng = np.random.default_rng(n)
    check(np.stack([rng.permutation(KINDS[kind](rng, n)) for _ in range(9)]))


@given(
    npst.arrays(
        np.float64,
        st.tuples(st.integers(1, 3), st.integers(1, 300)),
        elements=st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 2.0]),
    )
)
@example(np.arange(130.0)[None])
def test_of_any_numbers(columns):
    check(columns)


def test_without_numbers_there_is_none():
    with pytest.raises(ValueError, match="columns must have rows"):
        _kernel.middle(np.empty((2, 0)))
