"""Growth where rounding, ties and limits decide: searched by hypothesis, against fractions."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.codes import codes as reference_codes
from tests.reference.codes import dense
from tests.reference.columns import Grid
from tests.reference.split import split_by_fractions
from tests.reference.thresholds import midpoint, short
from tests.tree.problems import BINS, Problem, check, kernel_grow
from tripletree import _kernel

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.one_of(
    DOUBLES,
    st.integers(-3, 3).map(float),
    st.integers(-50, 50).map(lambda k: k / 10),
    st.integers(0, 6).map(lambda k: 0.1 + k * 1e-17),
)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Few rows, small integers as targets: nearly everything ties."""
    n, d = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    states = np.array(draw(st.lists(NUMBERS, min_size=n * d, max_size=n * d))).reshape(n, d)
    n_plain, n_derivative = draw(st.sampled_from([(1, 0), (0, 1), (2, 1), (1, 2)]))
    k = n_plain + n_derivative
    unit = draw(st.sampled_from([1, 1000, 2**20]))
    entries = draw(st.lists(st.integers(-4, 4), min_size=n * k, max_size=n * k))
    has = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    rows = np.zeros((n, 8), np.int32)
    rows[:, :k] = np.array(entries).reshape(n, k) * unit
    rows[:, n_plain:k] *= has[:, None]
    rows[:, k] = has
    options = {
        "max_leaves": draw(st.integers(1, n)),
        "max_depth": draw(st.integers(0, 4)),
        "min_samples_leaf": draw(st.integers(1, 3)),
        "by_gain": draw(st.booleans()),
        "midpoints": draw(st.booleans()),
    }
    return Problem(states, Grid(rows, n_plain, n_derivative, 1.0), options)


@settings(max_examples=400)
@given(problem=problems())
def test_anything_small(problem):
    check(problem, split=split_by_fractions)


@settings(max_examples=400)
@given(values=st.lists(NUMBERS, min_size=1, max_size=30), near=st.lists(st.integers(0, 5), max_size=10))
def test_codes_merge_exactly_the_near_duplicates(values, near):
    scale = max(values) / 2 - min(values) / 2
    values = values + [min(values[0] + k * 0.7e-9 * scale, sys.float_info.max) for k in near]
    states = np.array(values)[:, None]
    got = _kernel.encode(states, BINS, 1)
    assert dense(got).tolist() == reference_codes(states).tolist()


@settings(max_examples=400)
@given(a=NUMBERS, b=NUMBERS)
def test_thresholds(a, b):
    two_rows_split_at(min(a, b), max(a, b))


@settings(max_examples=300)
@given(a=DOUBLES, steps=st.integers(1, 5))
def test_thresholds_between_close_doubles(a, steps):
    b = a
    for _ in range(steps):
        b = math.nextafter(b, math.inf)
    two_rows_split_at(a, b)


@settings(max_examples=300)
@given(k=st.integers(-10_000, 10_000), gap=st.integers(1, 300), exponent=st.integers(-12, 12))
def test_thresholds_between_short_decimals(k, gap, exponent):
    two_rows_split_at(float(f"{k}e{exponent}"), float(f"{k + gap}e{exponent}"))


def two_rows_split_at(lo: float, hi: float) -> None:
    """Grow on two rows and compare the thresholds."""
    if not lo < hi < math.inf:
        return
    rows = np.zeros((2, 8), np.int32)
    rows[:, 0] = [-100, 100]
    states = np.array([[lo], [hi]])
    codes = np.array([[0], [1 << 20]], np.uint32)
    for expected, midpoints in ((short(lo, hi), False), (midpoint(lo, hi), True)):
        grown = kernel_grow(Problem(states, Grid(rows, 1, 0, 1.0), {"midpoints": midpoints}), codes)
        assert grown.threshold[0] == expected
        assert lo < expected <= hi


@pytest.mark.parametrize("n", [50, 5_000])
@pytest.mark.parametrize("copies", [2, 5])
def test_equal_features_tie_for_the_first(n, copies):
    rng = np.random.default_rng(n)
    column = rng.normal(size=n)
    states = np.ascontiguousarray(np.stack([rng.normal(size=n)] + [column * 2.0**k for k in range(copies)], axis=1))
    rows = np.zeros((n, 8), np.int32)
    rows[:, 0] = 1000 * (column > 0.3) + rng.integers(-9, 9, n)
    grown = check(Problem(states, Grid(rows, 1, 0, 1.0), {"max_leaves": 6}))
    assert grown.feature[0] == 1


@pytest.mark.parametrize("n", [60, 6_000])
def test_symmetric_targets_tie_for_the_lower_cut(n):
    # A tent: cutting off the left end gains exactly as much as cutting off the right end.
    states = np.arange(n, dtype=float)[:, None]
    rows = np.zeros((n, 8), np.int32)
    rows[:, 0] = np.minimum(np.arange(n), np.arange(n)[::-1])
    grown = check(Problem(states, Grid(rows, 1, 0, 1.0), {"max_leaves": 12}))
    assert grown.threshold[0] < n / 2


def test_a_heavy_value_and_its_neighbours():
    rng = np.random.default_rng(5)
    n = 9_000
    column = np.where(rng.random(n) < 0.9, 0.1, rng.normal(size=n))
    states = np.ascontiguousarray(np.stack([column, (column > 0.1) * 1.0], axis=1))
    rows = np.zeros((n, 8), np.int32)
    rows[:, 0] = np.where(column == 0.1, 5000, rng.integers(-3000, 3000, n))
    rows[:, 1] = rng.random(n) < 0.5
    rows[:, 0] *= rows[:, 1]
    check(Problem(states, Grid(rows, 0, 1, 1.0), {"max_leaves": 25}))


def test_no_row_has_a_derivative():
    rng = np.random.default_rng(6)
    rows = np.zeros((40, 8), np.int32)
    rows[:, 0] = rng.integers(-99, 99, 40)
    grown = check(Problem(rng.normal(size=(40, 2)), Grid(rows, 1, 2, 1.0)))
    assert len(grown.left) > 20


def test_pure_and_constant_nodes_stay_leaves():
    states = np.arange(10.0)[:, None]
    for rows in (np.zeros((10, 8), np.int32), np.full((10, 8), 12345, np.int32)):
        assert kernel_grow(Problem(states, Grid(rows, 2, 0, 1.0)), reference_codes(states)).left.tolist() == [-1]
    constant = np.full((10, 1), 3.0)
    rows = np.zeros((10, 8), np.int32)
    rows[:, 0] = np.arange(10) * 100
    codes = _kernel.encode(constant, BINS, 1)
    assert kernel_grow(Problem(constant, Grid(rows, 1, 0, 1.0)), codes).left.tolist() == [-1]


@pytest.mark.parametrize("seed", range(4))
def test_large_nodes_without_the_missing_derivatives(seed):
    # Derivatives are missing in one corner only, so large nodes elsewhere have all of them.
    rng = np.random.default_rng(seed)
    n = 15_000
    states = rng.normal(size=(n, 2))
    has = states[:, 0] > -1.5
    rows = np.zeros((n, 8), np.int32)
    rows[:, 0] = 2000 * ~has + rng.integers(-200, 200, n)
    rows[:, 1] = 3000 * np.sin(2 * states[:, 1]) + rng.integers(-4000, 4000, n)
    rows[:, 2] = rng.integers(-4000, 4000, n)
    rows[:, 1:3] *= has[:, None]
    rows[:, 3] = has
    check(Problem(states, Grid(rows, 1, 2, 1.0), {"max_leaves": 20, "by_gain": bool(seed % 2)}), threads=1 + seed // 2)
