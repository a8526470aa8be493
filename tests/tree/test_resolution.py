"""Outliers in the targets: the usual samples keep their resolution, and a note says where they do not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.reference.columns import Grid, middle
from tests.tree.problems import Problem, check
from tripletree import Log, TripleTree, TripleTreeWarning, _kernel
from tripletree.log.derive import values
from tripletree.tree.columns import Columns, value_column
from tripletree.tree.resolution import middle_spans
from tripletree.tree.targets import make_targets


def shaped(crash: float, n: int = 2_400) -> Log:
    """Twelve levels of a shaping reward along a feature, each sample an episode, and one crash."""
    place = np.arange(n) % 240 / 240
    rewards = 0.09 * np.floor(place * 12) / 12
    rewards[n // 2 + 100] = crash
    states = np.stack([place, np.random.default_rng(0).normal(size=n)], axis=1)
    return make_log(states, np.arange(n) % 2, rewards, np.arange(n + 1), labels=("a", "b"))


def best_cut(x: np.ndarray, y: np.ndarray) -> tuple[float, int, float]:
    """Return gain, feature and threshold of the best cut of some rows, in double precision, with no grid at all."""
    best = (0.0, -1, 0.0)
    for feature in range(x.shape[1]):
        order = np.argsort(x[:, feature], kind="stable")
        ordered, u = x[order, feature], (y - y.mean())[order]
        left = np.arange(1, len(y))
        gain = np.cumsum(u)[:-1] ** 2 * len(y) / (left * (len(y) - left))
        gain[ordered[1:] == ordered[:-1]] = 0
        if gain.max(initial=0) > best[0] * (1 + 1e-9):
            at = int(gain.argmax())
            best = (float(gain[at]), feature, float((ordered[at] + ordered[at + 1]) / 2))
    return best


def double_precision_leaves(x: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    """Grow best-first by brute force and return the leaf of each row."""
    leaf = np.zeros(len(y), int)
    tried: set[int] = set()
    while leaf.max() + 1 < most:
        within = {k: float(((y[leaf == k] - y[leaf == k].mean()) ** 2).sum()) for k in set(leaf.tolist()) - tried}
        chosen = max(within, key=lambda k: within[k], default=-1)
        if chosen < 0 or within[chosen] <= 1e-20:
            break
        rows = np.flatnonzero(leaf == chosen)
        gain, feature, threshold = best_cut(x[rows], y[rows])
        if gain <= 0:
            tried.add(chosen)
            continue
        leaf[rows[x[rows, feature] >= threshold]] = leaf.max() + 1
    return leaf


def rmse(leaf: np.ndarray, value: np.ndarray, rows: np.ndarray) -> float:
    """Return how far the leaves' means are from the values, over some rows."""
    mean = np.bincount(leaf, value) / np.maximum(np.bincount(leaf), 1)
    return float(np.sqrt(((value - mean[leaf])[rows] ** 2).mean()))


def grown(log: Log, leaves: int) -> np.ndarray:
    """Grow on the value alone, without a discount, and return the leaf of each sample."""
    tree = TripleTree(max_leaves=leaves, theta=(0, 1, 0), gamma=0.0, threads=1).fit(log).fitted_.tree
    return tree.apply(log.states)


@pytest.mark.parametrize("crash", [-1e6, 1e6, -3e8])
def test_a_crash_does_not_flatten_the_value(crash):
    log = shaped(crash)
    usual = np.abs(log.rewards) < 1
    # Twelve levels, and a few more to isolate the crash.
    wanted = double_precision_leaves(log.states, log.rewards, 40)
    got = grown(log, 40)
    assert 13 <= got.max() == wanted.max() < 30
    assert rmse(wanted, log.rewards, usual) < 1e-9
    assert rmse(got, log.rewards, usual) < 1e-9
    assert make_targets(log, log.rewards, (0, 1, 0), "sigma").fine


@pytest.mark.parametrize("seed", range(8))
def test_heavy_tails_cost_nothing_against_double_precision(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(800, 2))
    rewards = np.round(np.sin(2 * x[:, 0]) + x[:, 1], 1) * np.exp(rng.choice([0, 15], 800, p=[0.99, 0.01]))
    log = make_log(x, rng.integers(0, 2, 800), rewards, np.arange(801), labels=("a", "b"))
    everywhere = np.ones(800, bool)
    usual = np.abs(rewards) < 10
    for leaves in (10, 40):
        wanted, got = double_precision_leaves(x, rewards, leaves), grown(log, leaves)
        assert rmse(got, rewards, everywhere) <= rmse(wanted, rewards, everywhere) * (1 + 1e-6) + 1e-9
        assert rmse(got, rewards, usual) == pytest.approx(rmse(wanted, rewards, usual), rel=1e-6)


@pytest.mark.parametrize(("crash", "fine", "noted"), [(-1.0, False, False), (-1e6, True, False), (-1e13, True, True)])
def test_a_note_names_what_is_not_resolved(crash, fine, noted):
    log = shaped(crash)
    targets = make_targets(log, log.rewards, (1, 1, 0), "sigma")
    assert targets.fine == fine
    said = [note for note in targets.notes if "Outliers" in note]
    assert len(said) == noted
    if noted:
        assert said[0].startswith(
            "Outliers are so large that growth cannot tell usual samples apart in the value. Check"
        )
        with pytest.warns(TripleTreeWarning, match="in the value"):
            TripleTree(max_leaves=3, gamma=0.0, theta=(0, 1, 0)).fit(log)


def test_a_derivative_with_an_outlier_is_named():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(500, 2))
    states[250, 1] = 1e15
    log = make_log(states, rng.integers(0, 2, 500), rng.normal(size=500), [0, 500], labels=("a", "b"))
    notes = make_targets(log, values(log, 0.9), (1, 1, 1), "sigma").notes
    assert [note for note in notes if "the derivative of `x1`" in note]


def test_usual_logs_stay_coarse():
    for seed in range(10):
        log = random_log(seed, lengths=(300, 200), features=3, dimensions=seed % 2)
        assert not make_targets(log, values(log, 0.9), (1, 1, 1), "sigma").fine
    # A label that is hardly ever taken has two values: there is nothing to resolve.
    rng = np.random.default_rng(0)
    actions = (np.arange(5_000) == 17).astype(int)
    log = make_log(rng.normal(size=(5_000, 1)), actions, rng.normal(size=5_000), [0, 5_000], labels=("a", "b"))
    assert not make_targets(log, values(log, 0.9), (1, 1, 0), "sigma").fine


@pytest.mark.parametrize("long", [2**20, 0], ids=["copied", "counted"])
@pytest.mark.parametrize("seed", range(20))
def test_spans_and_their_filter(seed, long, monkeypatch):
    monkeypatch.setattr("tripletree.tree.resolution.LONG", long)
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 40, 3_000]))
    wide, few = rng.normal(size=n) * 10.0 ** rng.integers(0, 6), rng.choice([0.0, 0.0, 0.0, 5.0], n)
    tail = rng.standard_t(1, n) ** 5
    for column in (wide, few, tail, np.where(rng.random(n) < 0.9, 7.0, tail)):
        for threads in (1, 2):
            (span,) = middle_spans(value_column(column), np.array([0]), np.array([0.5]), threads)
            assert span == pytest.approx(middle(column) / 2, rel=1e-12)
        # What is missing does not count, wherever it is, and columns that are read in blocks are as good.
        gaps = np.insert(column, rng.integers(0, n + 1, 5), np.nan)
        read = Columns(n + 5, 2, lambda a, b, gaps=gaps: np.stack([np.zeros(b - a), gaps[a:b]]))
        assert middle_spans(read, np.array([1]), np.array([9.0, 0.5])) == span
        lanes = np.zeros((n, 16), np.int32)
        lanes[:, 0] = lanes[:, 1] = np.rint(np.clip(column, -(2**23), 2**23))
        lanes[:, 2] = rng.random(n) < 0.5
        known = lanes[lanes[:, 2] > 0, 1]
        for numbers, narrow in zip((lanes[:, 0], known), _kernel.narrow_lanes(lanes, 1, 1).tolist(), strict=True):
            ordered, outer = np.sort(numbers), min(-(-len(numbers) // 16), (len(numbers) - 1) // 2)
            wide = int(ordered[-1 - outer]) - int(ordered[outer]) if len(numbers) else 0
            assert narrow if wide < 2**12 else not narrow or wide <= 2**13


@pytest.mark.parametrize("n_plain", [0, 2, 3])
def test_fine_rows_of_any_width_against_the_reference(n_plain):
    rng = np.random.default_rng(n_plain)
    for n, targets in ((40, 3), (9_000, 3), (700, 11)):
        states = np.round(rng.normal(size=(n, 3)), 2)
        lanes = -(-(targets + 4) // 8) * 8
        rows = np.zeros((n, 2 * lanes), np.int32)
        rows[:, :targets] = np.where(rng.random((n, targets)) < 3 / n, 2**23, rng.integers(-2, 3, (n, targets)))
        rows[:, lanes : lanes + targets] = rng.integers(-(2**21), 2**21 + 1, (n, targets))
        rows[:, targets] = rng.random(n) < 0.9
        rows[rows[:, targets] == 0, n_plain:targets] = 0
        rows[rows[:, targets] == 0, lanes + n_plain : lanes + targets] = 0
        grid = Grid(rows, n_plain, targets - n_plain, 1.0, True)
        check(Problem(states, grid, {"max_leaves": 15}), threads=2)


def test_the_sums_of_the_largest_targets_do_not_overflow():
    # As large as the halves can be, the same sign in all rows: products add up to more than 64 bits.
    n = 30_000
    rows = np.zeros((n, 16), np.int32)
    rows[:, 0] = np.where(np.arange(n) < n // 3, 2**23, -(2**23))
    rows[:, 8] = 2**21
    rows[:, 1] = 1
    states = np.arange(n, dtype=float)[:, None]
    tree = check(Problem(states, Grid(rows, 1, 0, 1.0, True), {"max_leaves": 4}))
    assert tree.threshold[0] == 10_000
    assert len(tree.left) == 3


def test_fine_rows_are_checked():
    states, codes = np.zeros((2, 1)), np.zeros((2, 1), np.uint32, order="F")
    with pytest.raises(ValueError, match="twice as many"):
        _kernel.grow(states, codes, np.zeros((2, 8), np.int32), 1, 0, 2, 9, 1, 0.0, False, False, 1, None, fine=True)
    one = np.ones(5)
    with pytest.raises(ValueError, match="room for the columns"):
        _kernel.quantise(
            _kernel.Source(np.zeros((5, 2))), np.arange(5), one, one, one, one, np.zeros((2, 8), np.int32), 0, fine=True
        )
    with pytest.raises(ValueError, match="one more"):
        _kernel.narrow_lanes(np.zeros((2, 3), np.int32), 2, 1)


def test_every_quiet_fit_has_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TripleTree(max_leaves=20, gamma=0.0, theta=(0, 1, 0)).fit(shaped(-1e6))
