"""What must not change the tree: order of rows, threads, order of episodes, units of features and rewards."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.columns import Grid
from tests.reference.grow import Grown, descend
from tests.tree.problems import BINS, Log, Problem, assert_same, kernel_grow, random_problem, targets
from tripletree import _kernel


def trajectories(rng: np.random.Generator, n: int, discrete: bool = False) -> Log:
    """A swinging pendulum with a friction that saturates, pushed by an agent: no two cuts gain the same."""
    episodes = n // 50
    angle, speed = rng.uniform(-2, 2, episodes), rng.normal(size=episodes)
    states, actions = [], []
    for _ in range(51):
        push = np.clip(-2 * angle - speed + 0.1 * rng.normal(size=episodes), -1, 1)
        states.append(np.stack([angle, speed, np.clip(speed, -0.5, 0.5)], axis=1))
        actions.append(push)
        speed = speed + 0.1 * (push - np.sin(angle) - 0.2 * np.clip(speed, -0.5, 0.5))
        angle = angle + 0.1 * speed
    table = np.stack(states, axis=1)
    action = np.stack(actions[:-1], axis=1).reshape(-1, 1)
    flat = np.ascontiguousarray(table[:, :-1].reshape(-1, 3))
    final = table[:, -1].copy()
    final[::3] = np.nan
    rewards = -(flat[:, 0] ** 2) - 0.1 * flat[:, 1] ** 2
    starts = np.arange(episodes + 1) * 50
    if discrete:
        return Log(flat, np.digitize(action[:, 0], [-0.9, 0.0, 0.9]), rewards, starts, final, 4)
    return Log(flat, action, rewards, starts, final, None)


def grown(log: Log, threads: int = 1, **options: object) -> Grown:
    """Grow 60 leaves on the reference's targets."""
    codes = _kernel.encode(log.states, BINS, threads)
    return kernel_grow(Problem(log.states, targets(log), {"max_leaves": 60} | options), codes, threads)


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two numberings divide the rows in the same way."""
    pairs = np.unique(np.stack([a, b], axis=1), axis=0)
    return len(pairs) == len(np.unique(a)) == len(np.unique(b))


@pytest.mark.parametrize("seed", range(10))
def test_row_order_and_threads_change_nothing(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, int(rng.choice([30, 700, 6_000, 15_000])), 4, 60)
    rows = problem.grid.rows
    codes = _kernel.encode(problem.states, BINS, 1)
    first = kernel_grow(problem, codes, 1)
    for threads in (2, 3, 8):
        assert np.array_equal(_kernel.encode(problem.states, BINS, threads), codes)
        again = kernel_grow(problem, codes, threads)
        for name, array in vars(first).items():
            assert array.tobytes() == getattr(again, name).tobytes(), name
    order = rng.permutation(len(rows))
    states = np.ascontiguousarray(problem.states[order])
    problem.grid.rows = np.ascontiguousarray(rows[order])
    shuffled = kernel_grow(Problem(states, problem.grid, problem.options), _kernel.encode(states, BINS, 2), 2)
    assert shuffled.node.tolist() == first.node[order].tolist()
    shuffled.node = first.node
    for name, array in vars(first).items():
        assert array.tobytes() == getattr(shuffled, name).tobytes(), name


def test_the_number_of_bins_does_not_change_an_exact_tree():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, 12_000, 3, 40)
    problem.options = {"max_leaves": 40}
    trees = [kernel_grow(problem, _kernel.encode(problem.states, bins, 1)) for bins in (2, 33, 256, 1024)]
    for other in trees[1:]:
        assert_same(other, trees[0])


def test_bins_that_are_large_and_histograms_that_are_not_kept():
    # Bins of over 65,536 rows are sorted in another way than shorter ones. Histograms with over one bin for 16 rows
    # are made anew whenever they are needed.
    n = 140_000
    rng = np.random.default_rng(0)
    states = rng.normal(size=(n, 18))
    rows = np.zeros((n, 16), np.int32)
    rows[:, :8] = 1e6 * np.sign(states[:, :8] + states[:, 8:16]) + 1e5 * rng.normal(size=(n, 8))
    rows[:, 8] = 1
    problem = Problem(states, Grid(rows, 5, 3, 1.0), {"max_leaves": 4})
    codes = {bins: _kernel.encode(states, bins, 2) for bins in (2, 256, 1024)}
    assert ((codes[1024].max(axis=0) >> 20).astype(int) + 1).sum() * 8 > n
    trees = [
        kernel_grow(problem, codes[bins], 2, pool=pool) for bins, pool in ((256, 0), (2, 0), (1024, 0), (1024, 300))
    ]
    for tree in trees[1:]:
        assert_same(tree, trees[0])
    assert len(trees[0].left) == 7


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("by_gain", [False, True])
def test_units_change_nothing(discrete, by_gain):
    rng = np.random.default_rng(1)
    log = trajectories(rng, 6_000, discrete)
    first = grown(log, by_gain=by_gain)
    assert len(first.left) == 119
    for units, reward in (
        ([0.3048, 1e3, 57.29577951308232], 1.0),
        ([1e-200, 1e200, 1.0], 100.0),
        ([1.0, 1.0, 7.0], 1e-6),
    ):
        factor = np.array(units)
        other = Log(
            log.states * factor, log.actions, log.rewards * reward, log.starts, log.final_states * factor, log.n_labels
        )
        again = grown(other, by_gain=by_gain)
        assert again.feature.tolist() == first.feature.tolist()
        assert again.node.tolist() == first.node.tolist()


def test_shifting_features_and_rewards_changes_nothing():
    log = trajectories(np.random.default_rng(2), 3_000)
    first = grown(log)
    # Every step earns 1 more: with episodes of one length and gamma < 1 that is not a constant, so shift states only.
    shifted = Log(log.states + 8.0, log.actions, log.rewards, log.starts, log.final_states + 8.0, None)
    assert grown(shifted).node.tolist() == first.node.tolist()


def test_episode_order_changes_nothing():
    rng = np.random.default_rng(3)
    log = trajectories(rng, 6_000)
    first = grown(log)
    order = rng.permutation(len(log.starts) - 1)
    rows = np.concatenate([np.arange(log.starts[e], log.starts[e + 1]) for e in order])
    shuffled = Log(
        np.ascontiguousarray(log.states[rows]),
        log.actions[rows],
        log.rewards[rows],
        log.starts,
        log.final_states[order],
        None,
    )
    again = grown(shuffled)
    assert again.node.tolist() == first.node[rows].tolist()
    assert again.threshold.tolist() == first.threshold.tolist()


@pytest.mark.parametrize("by_gain", [False, True])
def test_a_smaller_tree_is_a_prefix(by_gain):
    log = trajectories(np.random.default_rng(4), 3_000)
    full = grown(log, by_gain=by_gain)
    for leaves in (1, 2, 17, 59):
        small = grown(log, max_leaves=leaves, by_gain=by_gain)
        keep = 2 * leaves - 1
        inner = full.left[:keep] < keep
        assert small.left.tolist() == np.where(inner, full.left[:keep], -1).tolist()
        assert small.threshold.tolist() == np.where(inner, full.threshold[:keep], 0).tolist()
        assert np.array_equal(descend(full, log.states, leaves), small.node)


@pytest.mark.parametrize("midpoints", [False, True])
def test_thresholds_send_every_row_where_growth_put_it(midpoints):
    rng = np.random.default_rng(5)
    for _ in range(20):
        problem = random_problem(rng, 300, 3, 80)
        problem.options |= {"midpoints": midpoints}
        tree = kernel_grow(problem, _kernel.encode(problem.states, BINS, 1))
        assert np.array_equal(descend(tree, problem.states), tree.node)
        numbers = np.arange(len(tree.left), dtype=np.int32)
        for threads in (1, 2):
            applied = _kernel.apply(problem.states, tree.feature, tree.threshold, tree.left, numbers, threads)
            assert np.array_equal(applied, tree.node)


def test_kind_of_threshold_does_not_change_the_partition():
    log = trajectories(np.random.default_rng(6), 3_000)
    assert same_partition(grown(log).node, grown(log, midpoints=True).node)
