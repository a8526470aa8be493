from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaves.test_attributes import chain, stump
from tests.logs import logs, make_log, random_log
from tripletree import TripleTree, load
from tripletree.leaves.attributes import describe
from tripletree.leaves.losses import loss_curve, training_curve
from tripletree.log.derive import derivatives, values
from tripletree.tree.targets import make_targets


def grown(log, seed=0, steps=8):
    """A random tree on ``log`` with its attributes and scales."""
    tree, node = chain(log, np.random.default_rng(seed), steps)
    value = values(log, 0.9)
    scales = make_targets(log, value, (1, 1, 1), "sigma").scales
    action = scales.action.std if log.schema.action.kind == "continuous" else None
    return tree, describe(tree, node, log, value, scales, "sigma"), action, scales.derivative.std


def curve_on(model, log, codes=None):
    """The losses of the means on a log; those of linear models have tests of their own."""
    tree, attributes, *scales = model
    if codes is None and log.schema.action.kind == "discrete":
        codes = log.actions
    return loss_curve(tree, attributes, None, *scales, log, values(log, 0.9), codes)


def brute_force(model, log, n_leaves):
    """Truncate, predict every sample, and follow the definitions of the losses."""
    tree, at, action_scale, derivative_scale = model
    small, at = tree.truncate(n_leaves), at.truncate(n_leaves)
    node = small.leaf_nodes[small.apply(log.states)]

    def scaled(error, sigma):
        rmse = np.sqrt((error**2).mean(axis=0))
        return sum(r / s for r, s in zip(rmse, sigma, strict=True) if s > 0)

    if action_scale is None:
        action = float((at.action_count[node].argmax(axis=1) != log.actions).mean())
    else:
        action = scaled(log.actions - at.action_mean[node], action_scale)
    value = np.sqrt(((values(log, 0.9) - at.value_mean[node]) ** 2).mean())
    change = derivatives(log)
    known = ~np.isnan(change[:, 0])
    derivative = 0.0
    if known.any() and at.derivative_mean is not None:
        derivative = scaled((change - at.derivative_mean[node])[known], derivative_scale)
    return [action, value, derivative]


@given(log=logs(), seed=st.integers(0, 999))
def test_training_curve_equals_brute_force(log, seed):
    model = grown(log, seed)
    curve = training_curve(*model)
    again = curve_on(model, log)
    for k in range(1, model[0].n_leaves + 1):
        expected = brute_force(model, log, k)
        assert curve[k - 1].tolist() == pytest.approx(expected, rel=1e-7, abs=1e-7)
        assert again[k - 1].tolist() == pytest.approx(expected, rel=1e-7, abs=1e-7)


@given(
    seeds=st.tuples(st.integers(0, 99), st.integers(0, 99)),
    dimensions=st.sampled_from([0, 2]),
    finals=st.booleans(),
)
def test_another_log_equals_brute_force(seeds, dimensions, finals):
    model = grown(random_log(seeds[0], lengths=(20, 15), dimensions=dimensions, finals=finals), seeds[1])
    other = random_log(seeds[1] + 1000, lengths=(1, 9, 25), dimensions=dimensions)
    curve = curve_on(model, other)
    for k in range(1, model[0].n_leaves + 1):
        assert curve[k - 1].tolist() == pytest.approx(brute_force(model, other, k), rel=1e-9, abs=1e-12)


def test_hand_computed():
    log = make_log([[0.0], [0.5], [1.0], [3.0]], [0, 1, 1, 1], [1, 2, 3, 4], np.arange(5), labels=("no", "yes"))
    value = np.array([1.0, 2.0, 3.0, 4.0])
    scales = make_targets(log, value, (1, 1, 1), "sigma").scales
    at = describe(stump(), np.array([1, 1, 2, 2], np.int32), log, value, scales, "sigma")
    curve = training_curve(stump(), at, None, scales.derivative.std)
    # One leaf: "yes", mean 2.5. Two leaves: a tie, so "no", and "yes"; means 1.5 and 3.5. No derivatives.
    assert curve[0].tolist() == pytest.approx([0.25, np.sqrt(1.25), 0.0])
    assert curve[1].tolist() == pytest.approx([0.25, 0.5, 0.0])


def test_a_perfect_tree_has_loss_exactly_zero():
    log = make_log([[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1], [0.1, 0.1, 0.7, 0.7], np.arange(5), labels=("a", "b"))
    scales = make_targets(log, log.rewards, (1, 1, 1), "sigma").scales
    at = describe(stump(), np.array([1, 1, 2, 2], np.int32), log, log.rewards, scales, "sigma")
    assert training_curve(stump(), at, None, scales.derivative.std)[1].tolist() == [0.0, 0.0, 0.0]
    curve = loss_curve(stump(), at, None, None, scales.derivative.std, log, log.rewards, log.actions)
    assert curve[1].tolist() == [0.0, 0.0, 0.0]


def test_an_unknown_label_is_always_wrong():
    log = make_log([[0.0], [2.0]], [0, 1], [0, 1], labels=("a", "b"))
    model = grown(log, steps=1)
    codes = np.array([0, -1], np.int32)
    assert curve_on(model, log, codes)[:, 0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_value_loss_at_extreme_scales(unit):
    log = make_log(
        [[0.0], [0.5], [1.0], [3.0]], [0, 1, 1, 1], np.array([1, 2, 3, 4]) * unit, np.arange(5), labels=("n", "y")
    )
    scales = make_targets(log, log.rewards, (1, 1, 1), "sigma").scales
    at = describe(stump(), np.array([1, 1, 2, 2], np.int32), log, log.rewards, scales, "sigma")
    expected = [np.sqrt(1.25) * unit, 0.5 * unit]
    assert training_curve(stump(), at, None, scales.derivative.std)[:, 1].tolist() == pytest.approx(expected)
    curve = loss_curve(stump(), at, None, None, scales.derivative.std, log, log.rewards, log.actions)
    assert curve[:, 1].tolist() == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-308, 1e-300])
@pytest.mark.parametrize("dimensions", [0, 1])
@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_denormal_numbers_give_finite_losses(unit, dimensions, leaf_model, tmp_path):
    rng = np.random.default_rng(0)
    actions = rng.integers(0, 5, 50) * unit if dimensions else rng.integers(0, 2, 50)
    states, rewards = rng.integers(0, 9, (50, 2)) * unit, rng.integers(0, 9, 50) * unit
    log = make_log(states, actions, rewards, labels=None if dimensions else ("a", "b"))
    tree = TripleTree(max_leaves=10, leaf_model=leaf_model).fit(log)
    assert np.isfinite(tree.fitted_.curve_training).all()
    assert np.isfinite(tree.losses(log, "all")).all()
    tree.save(tmp_path / "tiny.npz")
    assert load(tmp_path / "tiny.npz").fitted_.tree.n_leaves == tree.fitted_.tree.n_leaves


def test_threads_change_no_bit():
    log = random_log(4, lengths=(20_000, 30_000), features=2, dimensions=1)
    tree, attributes, *scales = grown(log, steps=20)
    other = random_log(5, lengths=(50_000, 10_000), features=2, dimensions=1)
    value = values(other, 0.9)
    one, three = (
        loss_curve(tree, attributes, None, *scales, other, value, None, threads=threads) for threads in (1, 3)
    )
    assert one.tobytes() == three.tobytes()
    assert (loss_curve(tree, attributes, None, *scales, log, values(log, 0.9), None) > 0).all()
