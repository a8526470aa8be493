"""Weights on their grid: whole numbers stay what they are, others keep their proportions, and sums are exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.columns import mean_and_spread
from tripletree.errors import LogError
from tripletree.tree.columns import Columns
from tripletree.tree.spread import measure
from tripletree.tree.weights import LARGEST, TOTAL, Census, steps_of, weigh


def table(matrix: np.ndarray) -> Columns:
    return Columns(len(matrix), matrix.shape[1], lambda a, b: matrix[a:b].T)


def test_no_weights_and_equal_weights_are_the_same():
    for weights in (None, np.ones(5), np.full(5, 0.1), np.full(5, 1e-300)):
        weighing = weigh(weights)
        assert (weighing.rows, weighing.counts, weighing.notes) == (None, None, ())


def test_rows_of_weight_0_do_not_count():
    weighing = weigh(np.array([0.0, 2.0, 0.0, 2.0]))
    assert weighing.counts is None
    assert weighing.rows is not None
    assert weighing.rows.tolist() == [1, 3]
    assert weighing.take(np.arange(4)).tolist() == [1, 3]
    with pytest.raises(LogError, match="All steps of this log have the weight 0"):
        weigh(np.zeros(3))


@pytest.mark.parametrize("unit", [1.0, 0.1, 7.0, 1e-200, 1e99])
def test_multiples_of_one_number_are_exact(unit):
    weighing = weigh(np.array([3, 1, 5, 1]) * unit)
    assert weighing.counts is not None
    assert weighing.counts.tolist() == [3, 1, 5, 1]


def test_whole_numbers_lose_their_common_divisor():
    weighing = weigh(np.array([6.0, 4.0, 10.0]))
    assert weighing.counts is not None
    assert weighing.counts.tolist() == [3, 2, 5]


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=30), st.floats(1e-30, 1e30))
def test_other_weights_keep_their_proportions_at_any_scale(numbers, factor):
    weights = np.array(numbers)
    weighing, scaled = weigh(weights), weigh(weights * factor)
    if weighing.counts is None or scaled.counts is None:
        assert np.ptp(weights) <= 1e-8 * weights.max()
        return
    assert weighing.rows is None
    assert weighing.counts.max() <= LARGEST
    share = weighing.counts / weighing.counts.max()
    np.testing.assert_allclose(share, weights / weights.max(), rtol=1e-3, atol=1e-6)
    # Only a weight that lies half way between two steps of the grid can be rounded otherwise.
    assert np.abs(share - scaled.counts / scaled.counts.max()).max() <= 1.01 / LARGEST


def test_the_census_of_parts_is_that_of_the_whole():
    rng = np.random.default_rng(0)
    for weights in (rng.integers(0, 5, 500) * 0.3, rng.random(500), 10.0 ** rng.uniform(-9, 3, 500)):
        whole = Census.of(weights)
        parts = [Census.of(part) for part in np.split(rng.permutation(weights), [3, 200, 201])]
        merged = parts[0]
        for part in parts[1:]:
            merged = part.merge(merged)
        steps = sum(steps_of(part, whole.largest) for part in np.split(weights, [7, 90]))
        assert merged.grid(lambda steps=steps: steps) == whole.grid(lambda steps=steps: steps)
        assert steps == steps_of(weights, whole.largest)
        grid, weighing = whole.grid(lambda steps=steps: steps), weigh(weights)
        found = np.zeros(500, np.int64)
        found[slice(None) if weighing.rows is None else weighing.rows] = weighing.counts
        assert found.tolist() == grid.whole(weights).tolist()


def test_more_weights_than_there_are_whole_numbers_are_not_kept(monkeypatch):
    monkeypatch.setattr("tripletree.tree.weights.LARGEST", 4)
    few, many = Census.of(np.array([1.0, 2, 3, 4])), Census.of(np.arange(1.0, 6))
    assert few.distinct is not None
    assert many.distinct is None
    assert few.merge(Census.of(np.array([7.0]))).distinct is None
    assert few.merge(many).distinct is None
    assert (few.merge(many).number, few.merge(many).largest) == (9, 5.0)


def test_more_steps_than_can_be_added_up_are_refused():
    census = Census(2**36, 1.0, None, None)
    with pytest.raises(LogError, match=r"68,719,476,736 steps with weights are too many .* at most 34,359,738,367"):
        census.grid(lambda: 2**56)


def test_what_rounds_to_nothing_is_said():
    weighing = weigh(np.array([1.0, 0.3, 1e-9, 0.0]))
    assert weighing.rows is not None
    assert weighing.rows.tolist() == [0, 1]
    assert weighing.notes == ("1 step weighs less than a 2,097,152th of the heaviest one: it does not count.",)


def test_the_sum_stays_within_what_the_kernel_adds_up():
    weights = 1 + np.random.default_rng(0).random(10_000)
    weights[0] = 1.0
    counts = weigh(weights).counts
    assert counts is not None
    assert counts.sum() <= TOTAL
    np.testing.assert_allclose(counts / counts.sum(), weights / weights.sum(), rtol=1e-4)


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_weighted_spread_is_that_of_repeated_rows(n, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n, 3)) * [1e-8, 1.0, 1e12] + [0.0, 1e3, 0.0]
    matrix[rng.random(n) < 0.2] = np.nan
    counts = rng.integers(1, 2 ** int(rng.integers(1, 20)), n)
    few = rng.integers(1, 4, n)
    repeated = measure(table(np.repeat(matrix, few, axis=0)))
    found = measure(table(matrix), weights=few.astype(float))
    assert found.count == int((~np.isnan(matrix[:, 0])).sum())
    np.testing.assert_allclose(found.mean, repeated.mean, rtol=1e-13, atol=1e-25)
    np.testing.assert_allclose(found.std, repeated.std, rtol=1e-10)
    # The same bits for every order of the rows.
    order = rng.permutation(n)
    one, other = (
        measure(table(matrix), weights=counts * 1.0),
        measure(table(matrix[order]), weights=counts[order] * 1.0),
    )
    assert (one.unit_mean.tolist(), one.unit_std.tolist()) == (other.unit_mean.tolist(), other.unit_std.tolist())


def test_spread_of_repeated_rows_is_what_the_reference_says():
    rng = np.random.default_rng(1)
    column, few = rng.normal(size=50), rng.integers(1, 9, 50)
    found = measure(table(column[:, None]), weights=few.astype(float))
    mean, spread = mean_and_spread(np.repeat(column, few))
    assert found.mean[0] == pytest.approx(mean, rel=1e-14)
    assert found.std[0] == pytest.approx(spread, rel=1e-14)


def test_some_rows_of_columns():
    matrix = np.arange(400.0).reshape(200, 2)
    rows = np.flatnonzero(np.arange(200) % 3 == 1)
    read = [block for _, block in table(matrix).where(rows).blocks(at_least=7)]
    assert np.array_equal(np.hstack(read).T, matrix[rows])
