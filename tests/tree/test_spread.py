from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.logs import random_log
from tripletree import _kernel
from tripletree.log.derive import derivatives
from tripletree.tree.columns import Columns, derivative_columns, value_column
from tripletree.tree.spread import measure, ranges
from tripletree.tree.targets import empty_rows

sizes = st.floats(-300, 300).map(lambda e: 10.0**e)


@given(
    column=hnp.arrays(np.float64, st.integers(2, 40), elements=st.floats(-1, 1, width=32)),
    size=sizes,
    offset=st.sampled_from([0.0, 1.0, -1000.0]),
)
def test_mean_and_std_equal_exact_sums(column, size, offset):
    column = (column + offset) * size
    result = measure(value_column(column))
    scaled = [x / size for x in column.tolist()]
    mean = math.fsum(scaled) / len(scaled)
    std = math.sqrt(math.fsum((x - mean) ** 2 for x in scaled) / len(scaled))
    assert result.mean[0] / size == pytest.approx(mean, rel=1e-12, abs=1e-15)
    if np.ptp(column) <= 1e-12 * np.abs(column).max():
        assert result.std[0] == 0
    else:
        assert result.std[0] / size == pytest.approx(std, rel=1e-6, abs=1e-9)
        reach = result.unit_reach[0] * 2.0 ** int(result.exponent[0]) / size
        assert reach == pytest.approx(max(abs(x - mean) for x in scaled), rel=1e-9)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), size=sizes)
def test_the_order_of_rows_does_not_change_a_bit(seed, size):
    rng = np.random.default_rng(seed)
    column = rng.standard_cauchy(200_000) * size
    shuffled = rng.permutation(column)
    one, other = measure(value_column(column)), measure(value_column(shuffled))
    assert one.unit_mean[0] == other.unit_mean[0]
    assert one.unit_std[0] == other.unit_std[0]
    assert one.centre[0] == other.centre[0]


def test_missing_rows_are_left_out():
    table = np.array([[1.0, np.nan, 3.0], [10.0, np.nan, 10.0]])
    result = measure(Columns(3, 2, lambda a, b: table[:, a:b]))
    assert result.count == 2
    assert result.mean.tolist() == [2.0, 10.0]
    assert result.std.tolist() == [1.0, 0.0]


def test_all_rows_missing():
    result = measure(Columns(3, 2, lambda a, b: np.full((2, b - a), np.nan)))
    assert result.count == 0
    assert result.mean.tolist() == [0.0, 0.0]
    assert result.std.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("low", "high", "constant"), [(1, 1 + 1e-13, True), (1, 1 + 1e-11, False), (0, 1e-300, False)])
def test_what_counts_as_constant(low, high, constant):
    assert (measure(value_column(np.array([low, high, low]))).std[0] == 0) == constant


def test_a_small_spread_beside_a_large_mean():
    column = 1e9 + np.array([0.0, 1.0, 2.0, 3.0])
    assert measure(value_column(column)).std[0] == pytest.approx(math.sqrt(1.25), rel=1e-12)


def test_the_kernel_refuses_sums_of_another_shape():
    block, column = _kernel.Source(np.zeros((2, 5))), np.zeros(2)
    with pytest.raises(ValueError, match="one entry per column"):
        _kernel.widen_ranges(block, column, np.zeros(3))
    with pytest.raises(ValueError, match="one entry per column"):
        _kernel.add_sums(block, np.zeros(3), column, (1.0, 1.0), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="shape"):
        _kernel.add_sums(block, column, column, (1.0, 1.0), np.zeros((3, 4)))
    with pytest.raises(ValueError, match="side by side"):
        _kernel.Source(np.zeros((4, 10))[::2, ::2])
    with pytest.raises(ValueError, match="one entry per column"):
        _kernel.quantise(block, np.arange(2), column, column, np.zeros(1), column, np.zeros((5, 8), np.int32), 0)


def test_threads_and_blocks_measure_the_same_bits():
    log = random_log(3, lengths=(50_000, 1, 30_000, 60_000), features=3)
    log = replace(log, schema=replace(log.schema, per_second=True), dt=np.resize([0.1, 0.3], log.n_samples))
    whole = derivative_columns(log)
    in_blocks = replace(whole, whole=None)
    first = measure(in_blocks)
    for threads in (1, 2, 5):
        spread = measure(whole, threads=threads)
        for name, numbers in vars(first).items():
            assert np.array_equal(numbers, getattr(spread, name)), name
    assert ranges(whole, 3)[0].tolist() == np.nanmin(derivatives(log), axis=0).tolist()


def test_rows_begin_at_a_cache_line():
    for samples in (1, 1_000, 200_001):
        rows = empty_rows(samples, 5)
        assert rows.shape == (samples, 16)
        assert rows.ctypes.data % 64 == 0
        assert not rows.any()


@pytest.mark.parametrize("columns", [1, 2, 7, 8, 9, 11, 16, 19])
@pytest.mark.parametrize("rows", [1, 7, 8, 100])
def test_the_layout_of_columns_does_not_change_a_bit(columns, rows):
    rng = np.random.default_rng(columns)
    table = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-5, 5, columns)
    table[rng.random(rows) < 0.2] = np.nan
    by_row = measure(Columns(rows, columns, lambda a, b: table[a:b].T))
    by_column = measure(Columns(rows, columns, lambda a, b: np.ascontiguousarray(table[a:b].T)))
    one_by_one = [measure(value_column(np.ascontiguousarray(column))) for column in table.T]
    for name in ("centre", "exponent", "unit_mean", "unit_std", "unit_reach"):
        assert getattr(by_row, name).tolist() == getattr(by_column, name).tolist()
        assert getattr(by_row, name).tolist() == [getattr(single, name)[0] for single in one_by_one]
    assert by_row.count == by_column.count == np.count_nonzero(~np.isnan(table[:, 0]))
