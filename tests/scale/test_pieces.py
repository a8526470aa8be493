"""Pieces of a log in the cache: numbers in half the size, but only where nothing is lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tripletree.scale.pieces import _narrow

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.floats(allow_nan=False, allow_infinity=False)


@given(arrays(np.float64, st.tuples(st.integers(0, 40), st.integers(1, 3)), elements=NUMBERS))
def test_numbers_are_narrowed_where_nothing_is_lost(numbers):
    with np.errstate(over="ignore"):
        lossless = bool((numbers.astype(np.float32) == numbers).all())
    found = _narrow(numbers)
    assert found.dtype == (np.float32 if lossless else np.float64)
    assert found.shape == numbers.shape
    assert np.array_equal(found, numbers)


def test_one_number_far_down_is_seen():
    numbers = np.zeros(5_000)
    numbers[4_321] = 0.1
    assert _narrow(numbers) is numbers
    assert _narrow(numbers[:4_321]).dtype == np.float32
