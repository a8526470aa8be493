"""The whole fit against the reference: the tree, the statistics of every node, the losses at every leaf count."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.logs import make_log
from tests.reference.codes import codes as reference_codes
from tests.reference.columns import Grid
from tests.reference.derive import derivatives, values
from tests.reference.grow import Grown
from tests.reference.grow import grow as reference_grow
from tests.reference.leaves import losses, node_statistics, table
from tests.tree.problems import Log, random_log
from tests.tree.test_growth_invariance import trajectories
from tripletree import Log as PublicLog
from tripletree import TripleTree, TripleTreeWarning
from tripletree.log.derive import values as package_values
from tripletree.tree.targets import make_targets

GAMMA = 0.9


def public(log: Log) -> PublicLog:
    """Return the package's log."""
    labels = None if log.n_labels is None else tuple(f"label {k}" for k in range(log.n_labels))
    return make_log(log.states, log.actions, log.rewards, log.starts, final_states=log.final_states, labels=labels)


def fit(log: PublicLog, **options: object) -> TripleTree:
    """Fit without the warnings about constant columns, which many of these logs deserve.

    The reference knows the means of the leaves; `tests/oracle/test_ridge.py` defines their linear models.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(gamma=GAMMA, leaf_model="mean", **options).fit(log)


def moderate(rng: np.random.Generator, n: int, d: int) -> Log:
    """Return a random log whose squares are numbers, too."""
    while True:
        log = random_log(rng, n, d)
        sizes = np.abs(np.concatenate([log.states.ravel(), log.rewards, log.actions.ravel()]))
        if sizes.max() < 1e100 and sizes[sizes > 0].min(initial=1.0) > 1e-100:
            return log


def samples_of(log: Log, scales=None):
    """Return the attributes of a log's samples."""
    value = values(log.rewards, log.starts, GAMMA)
    derivative = derivatives(log.states, log.starts, log.final_states)
    return table(log.actions, log.n_labels, value, derivative, scales, log.states)


@pytest.mark.parametrize("seed", range(40))
def test_tree_statistics_and_losses(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([1, 2, 3, 10, 60, 150])), int(rng.integers(1, 4))
    log = moderate(rng, n, d)
    theta = [(1, 1, 1), (0.2, 0.6, 0.2), (1, 0, 0), (0, 0, 3)][rng.integers(4)]
    priority, scale = str(rng.choice(["impurity", "gain"])), str(rng.choice(["sigma", "paper"]))
    given = public(log)
    model = fit(given, max_leaves=25, theta=theta, priority=priority, derivative_scale=scale, threads=1)
    tree, attributes = model.fitted_.tree, model.fitted_.attributes

    targets = make_targets(given, package_values(given, GAMMA), theta, scale)
    expected = Grown(*(np.array([x]) for x in (-1, 0.0, -1, 0.0)), np.zeros(n, np.int32))
    if targets.n_plain + targets.n_derivative:
        expected = reference_grow(
            log.states,
            reference_codes(log.states),
            Grid(targets.rows, targets.n_plain, targets.n_derivative, targets.scale, targets.fine).targets,
            targets.n_plain,
            targets.n_derivative,
            max_leaves=25,
            by_gain=priority == "gain",
        )
    assert tree.feature.tolist() == expected.feature.tolist()
    assert tree.threshold.tolist() == expected.threshold.tolist()
    assert tree.left.tolist() == expected.left.tolist()

    samples = samples_of(log)
    nodes = node_statistics(expected, log.states, samples, scale)
    assert attributes.count.tolist() == [s.count for s in nodes]
    assert attributes.count_derivative.tolist() == [s.count_derivative for s in nodes]
    quality = expected.gain / (attributes.count * targets.scale**2)
    np.testing.assert_allclose(tree.quality, quality, rtol=1e-12)
    # Statistics of a node are differences of large sums at worst: compare on the scale of the whole log.
    for name in ("value_mean", "value_std", "action_mean", "action_std", "derivative_mean", "derivative_std"):
        got = getattr(attributes, name)
        wanted = [getattr(s, name) for s in nodes]
        assert (got is None) == (wanted[0] is None), name
        if got is not None:
            size = np.abs(getattr(nodes[0], name.replace("std", "mean"))) + getattr(
                nodes[0], name.replace("mean", "std")
            )
            assert (np.abs(got - np.array(wanted)) <= 2e-7 * size).all(), name
    if log.n_labels is not None:
        assert attributes.action_count.tolist() == [s.action_count.tolist() for s in nodes]
    wanted = np.array([s.impurity for s in nodes])
    assert (np.abs(attributes.impurity - wanted) <= 1e-9 * (wanted[0] + np.finfo(float).tiny)).all()

    other = moderate(rng, 40, d)
    other.actions, other.n_labels = log.actions[rng.integers(0, n, 40)], log.n_labels
    for judged in (log, other):
        got = model.losses(public(judged), "all")
        wanted = np.array(
            [
                losses(expected, nodes, judged.states, samples_of(judged, samples), k)
                for k in range(1, tree.n_leaves + 1)
            ]
        )
        np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-7 * max(wanted[0].max(), 1e-300))


@pytest.mark.parametrize("discrete", [False, True])
def test_units_and_episode_order_give_the_same_leaves(discrete):
    rng = np.random.default_rng(8)
    log = trajectories(rng, 6_000, discrete)
    first = fit(public(log), max_leaves=80).apply(log.states)
    factor = np.array([0.3048, 1e3, 57.29577951308232])
    scaled = Log(
        log.states * factor, log.actions, log.rewards * 12.7, log.starts, log.final_states * factor, log.n_labels
    )
    assert fit(public(scaled), max_leaves=80).apply(scaled.states).tolist() == first.tolist()
    order = rng.permutation(len(log.starts) - 1)
    rows = np.concatenate([np.arange(log.starts[e], log.starts[e + 1]) for e in order])
    shuffled = Log(
        log.states[rows], log.actions[rows], log.rewards[rows], log.starts, log.final_states[order], log.n_labels
    )
    one, two = (fit(public(shuffled), max_leaves=80, threads=threads) for threads in (1, 2))
    assert one.apply(shuffled.states).tolist() == first[rows].tolist()
    assert one.tree_.threshold.tobytes() == two.tree_.threshold.tobytes()
