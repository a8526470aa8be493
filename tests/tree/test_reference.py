"""The reference itself: cases computed by hand, and its fast half against its plain half."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.reference import columns as ref_columns
from tests.reference.codes import codes as ref_codes
from tests.reference.derive import derivatives, values
from tests.reference.grow import descend, grow
from tests.reference.leaves import losses, node_statistics, table
from tests.reference.split import Problem, Sums, gain, impurity, split_by_fractions, split_by_sums
from tests.reference.thresholds import midpoint, short

NAN = math.nan


def test_values_restart_at_every_episode():
    got = values(np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, 3, 4]), 0.5)
    assert got.tolist() == [3.0, 4.0, 4.0, 8.0]


def test_values_continue_with_the_tail():
    got = values(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 3]), 0.5, np.array([8.0, 2.0]))
    assert got.tolist() == [4.0, 6.0, 5.0]


def test_derivative_is_missing_without_a_successor():
    states = np.array([[0.0], [1.0], [3.0], [10.0]])
    got = derivatives(states, np.array([0, 2, 3, 4]), np.array([[NAN], [5.0], [NAN]]))
    assert np.array_equal(got, [[1.0], [NAN], [2.0], [NAN]], equal_nan=True)


def test_codes_merge_values_that_are_near_the_first_of_them():
    # The middle four reach from 0 to 1, so that 2^-31 of 1 is the tolerance; an outlier has no say.
    step = 2.0**-31
    column = np.array([3e5, 0.0, 0.8 * step, 1.6 * step, 1.0, -1e9])
    assert ref_codes(column[:, None])[:, 0].tolist() == [4, 1, 1, 2, 3, 0]


def test_codes_of_a_value_that_repeats_and_of_large_ones():
    # Most samples are alike, so more of them tell the scale: 1 - 0, where 1e-12 is nothing.
    column = np.array([0.5] * 60 + [0.0, 1e-12, 1.0, 1.0])
    assert ref_codes(column[:, None])[:, 0].tolist() == [1] * 60 + [0, 0, 2, 2]
    # A few units in the last place of a large value are nothing either.
    column = np.append(np.arange(60.0), [1e9, np.nextafter(1e9, 2e9), 1e9 + 1e-5])
    assert ref_codes(column[:, None])[60:, 0].tolist() == [60, 60, 61]


def test_gini_is_the_summed_variance_of_the_columns():
    for actions, labels in ((np.array([0, 1, 1, 1]), 2), (np.array([0, 1, 1, 3]), 4)):
        columns = ref_columns.action_columns(actions, labels)
        gini = 1 - sum((np.mean(actions == a)) ** 2 for a in range(labels))
        assert sum(c.var() for c in columns) == pytest.approx(gini, rel=1e-14)


def test_columns_weigh_theta_at_the_root():
    rng = np.random.default_rng(0)
    derivative = rng.normal(size=(50, 3)) * [1.0, 1e-8, 1e8]
    derivative[::7] = NAN
    got = ref_columns.columns(rng.normal(size=(50, 2)), None, rng.normal(size=50), derivative, (0.5, 2.0, 3.0))
    assert got.plain.var(axis=0).sum() == pytest.approx(2.5, rel=1e-12)
    assert got.plain[:, 2].var() == pytest.approx(2.0, rel=1e-12)
    assert got.derivative[got.has_derivative].var(axis=0) == pytest.approx([1.0] * 3, rel=1e-12)


def test_paper_scale_divides_the_variance_by_sigma():
    derivative = np.array([[0.0, 0.0], [4.0, 2.0], [8.0, 4.0]])
    sigma = derivative.std(axis=0)
    got = ref_columns.columns(np.zeros(3), 1, np.zeros(3), derivative, derivative_scale="paper")
    assert got.derivative.var(axis=0) == pytest.approx(sigma / sigma.sum(), rel=1e-12)


def test_what_does_not_vary_drops_out():
    got = ref_columns.columns(np.zeros(3, int), 4, np.full(3, 7.0), np.array([[1.0, 0.0], [1.0, 1.0], [NAN, NAN]]))
    assert got.plain.shape == (3, 0)
    assert got.derivative.shape == (3, 1)


def test_grid_uses_the_bits_it_has():
    columns = ref_columns.Columns(
        np.array([[0.0], [1.0], [2.0]]), np.array([[NAN], [3.0], [4.0]]), np.array([False, True, True])
    )
    grid = ref_columns.grid(columns)
    assert grid.scale == 2.0**23
    assert grid.rows[:, :3].tolist() == [[-(2**23), 0, 0], [0, -(2**22), 1], [2**23, 2**22, 1]]
    assert grid.rows.shape == (3, 8)
    many = ref_columns.grid(
        ref_columns.Columns(np.tile([[1.0], [-1.0]], (2**15, 1)), np.zeros((2**16, 0)), np.zeros(2**16, bool))
    )
    assert many.scale == 2.0**22  # 2^16 rows of 2^44: the sum of squares reaches 2^60, and 2^62 with one bit more


def test_gain_by_hand():
    # Plain 0, 0, 6 | derivative -, 1, 5: cut after the first and after the second row.
    node = Sums(3, 2, [6], [6])
    assert gain(node, Sums(1, 0, [0], [0])) == Fraction(6)
    # 2 (0 - 2)^2 + (6 - 2)^2 = 24; derivative 2^2 + 2^2 = 8 over two rows counts for three: 12
    assert gain(node, Sums(2, 1, [0], [1])) == 24 + 12
    assert impurity(np.array([[0, 0, 0], [0, 1, 1], [6, 5, 1]]), 1, 1) == 24 + 12
    # The last row twice: 4 3^2 = 36, and of 1, 5, 5 the sum of squares is 32 / 3, over three rows of four.
    twice = impurity(np.array([[0, 0, 0], [0, 1, 1], [6, 5, 1]]), 1, 1, np.array([1, 1, 2]))
    assert twice == 36 + Fraction(32, 3) * Fraction(4, 3)


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [
        (1.4796132, 1.4823, 1.48),
        (-1.0, 2.0, 0.0),
        (-2.0, 0.0, 0.0),
        (0.0, 1.0, 1.0),
        (0.0, 0.7, 0.3),
        (0.1, 0.4, 0.2),
        (0.25, 0.3, 0.3),
        (0.3, 0.35, 0.32),
        (0.0, 0.35, 0.2),
        (9.0, 11.0, 10.0),
        (99.5, 130.0, 100.0),
        (-1.6, -1.2, -1.4),
        (-1.0, -0.5, -0.8),
        (1e300, 2e300, 2e300),
        (0.0, 5e-324, 5e-324),
        (-5e-324, 0.0, 0.0),
        (1e-310, 2e-310, 2e-310),
        (-1.7e308, -1.0, -1e308),
        (1.0, math.nextafter(1.0, 2.0), 1.0000000000000002),
        (math.nextafter(1.0, 0.0), 1.0, 1.0),
    ],
)
def test_short_thresholds(lo, hi, expected):
    assert short(lo, hi) == expected


def test_short_thresholds_lie_in_the_gap():
    rng = np.random.default_rng(1)
    for _ in range(500):
        lo = float(rng.normal() * 10.0 ** rng.integers(-300, 300))
        hi = lo
        for _ in range(int(rng.integers(1, 4))):
            hi = math.nextafter(hi, math.inf)
        assert lo < short(lo, hi) <= hi
        hi = lo + abs(lo) * float(10.0 ** rng.uniform(-15, 1))
        assert lo < short(lo, hi) <= hi
        assert len(repr(short(lo, hi))) <= max(len(repr(lo)), len(repr(hi)), len(repr(midpoint(lo, hi))))


def test_midpoints():
    assert midpoint(1.0, 2.0) == 1.5
    assert midpoint(1.0, math.nextafter(1.0, 2.0)) == math.nextafter(1.0, 2.0)
    assert midpoint(-1.7e308, 1.7e308) == 0.0


def test_growth_by_hand():
    # Two features; the first cut separates the values 0 and 10, the second 10 and 12.
    states = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 6.0], [5.0, 7.0]])
    rows = np.zeros((5, 8), np.int32)
    rows[:, 0] = [0, 0, 100, 120, 120]
    grown = grow(states, ref_codes(states), rows, 1, 0)
    assert grown.feature.tolist() == [0, -1, 0, -1, -1]
    assert grown.threshold.tolist() == [3.0, 0.0, 4.0, 0.0, 0.0]
    assert grown.left.tolist() == [1, -1, 3, -1, -1]
    # total 2 * 68^2 + 32^2 + 2 * 52^2; within the right part 2/3 * 20^2
    assert grown.gain[0] == pytest.approx(2 * 68**2 + 32**2 + 2 * 52**2 - 400 * 2 / 3, rel=1e-14)
    assert grown.gain[2] == pytest.approx(400 * 2 / 3, rel=1e-14)
    assert grown.node.tolist() == [1, 1, 3, 4, 4]
    assert descend(grown, states).tolist() == [1, 1, 3, 4, 4]
    assert descend(grown, states, 2).tolist() == [1, 1, 2, 2, 2]


def test_ties_go_to_the_lower_feature_then_the_lower_cut():
    states = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [0.0, 3.0, 3.0], [1.0, 2.0, 4.0]])
    rows = np.zeros((4, 8), np.int32)
    rows[:, 0] = [0, 40, 40, 0]
    grown = grow(states, ref_codes(states), rows, 1, 0, max_leaves=2)
    # Feature 0 separates nothing; features 1 and 2 isolate one row at either end, equally well.
    assert (grown.feature[0], grown.threshold[0]) == (1, 1.0)


def test_statistics_and_losses_by_hand():
    states = np.array([[0.0], [1.0], [2.0], [3.0]])
    derivative = np.array([[1.0], [3.0], [NAN], [NAN]])
    samples = table(np.array([0, 0, 1, 0]), 2, np.array([0.0, 2.0, 10.0, 10.0]), derivative)
    rows = np.zeros((4, 8), np.int32)
    rows[:, 0] = [0, 20, 100, 100]
    grown = grow(states, ref_codes(states), rows, 1, 0, max_leaves=2)
    nodes = node_statistics(grown, states, samples)
    assert [(s.count, s.count_derivative) for s in nodes] == [(4, 2), (2, 2), (2, 0)]
    assert nodes[2].derivative_mean.tolist() == [2.0]  # inherited
    assert nodes[2].action_count.tolist() == [1, 1]
    assert nodes[1].impurity == (0.0, 1.0, 1.0)
    assert nodes[2].impurity == (0.5, 0.0, 0.0)
    assert losses(grown, nodes, states, samples, 2) == pytest.approx((0.25, math.sqrt(0.5), 1.0))
    assert losses(grown, nodes, states, samples, 1)[1] == pytest.approx(math.sqrt(20.75))


def test_both_halves_find_the_same_split():
    rng = np.random.default_rng(2)
    for _ in range(300):
        n, d = int(rng.integers(1, 30)), int(rng.integers(1, 4))
        n_plain, n_derivative = (int(x) for x in rng.integers(0, 3, 2))
        targets = np.zeros((n, 8), np.int32)
        size = int(rng.choice([1, 3, 1000, 2**23]))
        has = rng.random(n) < rng.choice([0.0, 0.5, 1.0])
        targets[:, :n_plain] = rng.integers(-size, size + 1, (n, n_plain))
        k = n_plain + n_derivative
        targets[:, n_plain:k] = rng.integers(-size, size + 1, (n, n_derivative)) * has[:, None]
        targets[:, k] = has
        codes = rng.integers(0, int(rng.choice([2, 5, 100])), (n, d)).astype(np.uint32)
        weights = rng.integers(1, int(rng.choice([2, 4, 1000])), n)
        problem = Problem(codes, targets, n_plain, n_derivative, 5, int(rng.integers(1, 4)), 0.0, weights)
        slow = split_by_fractions(problem, np.arange(n), 0)
        fast = split_by_sums(problem, np.arange(n), 0)
        assert (slow.impurity, slow.gain, slow.feature) == (fast.impurity, fast.gain, fast.feature)
        assert np.array_equal(slow.left, fast.left)
