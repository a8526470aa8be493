from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import logs, make_log, random_log
from tripletree.leaves.attributes import Attributes, describe
from tripletree.log.derive import derivatives, values
from tripletree.log.log import Log
from tripletree.tree.structure import Tree
from tripletree.tree.targets import make_targets


def stump(feature: int = 0, threshold: float = 1.0) -> Tree:
    return Tree(
        feature=np.array([feature, -1, -1], np.int32),
        threshold=np.array([threshold, 0.0, 0.0]),
        left=np.array([1, -1, -1], np.int32),
        quality=np.zeros(3),
    )


def chain(log: Log, rng: np.random.Generator, steps: int) -> tuple[Tree, np.ndarray]:
    """A random tree that separates samples of ``log``, and the node of each sample."""
    feature, threshold, left = [-1], [0.0], [-1]
    node = np.zeros(log.n_samples, np.int32)
    for _ in range(steps):
        leaf = int(rng.choice(np.unique(node)))
        f = int(rng.integers(log.n_features))
        present = np.unique(log.states[node == leaf, f])
        if len(present) < 2:
            continue
        tau = float(rng.choice(present[1:]))
        feature[leaf], threshold[leaf], left[leaf] = f, tau, len(feature)
        here = node == leaf
        node[here] = len(feature) + (log.states[here, f] >= tau)
        feature += [-1, -1]
        threshold += [0.0, 0.0]
        left += [-1, -1]
    return Tree(np.array(feature, np.int32), np.array(threshold), np.array(left, np.int32), np.zeros(len(left))), node


def described(log: Log, tree: Tree, node: np.ndarray, scale: str = "sigma") -> Attributes:
    value = values(log, 0.9)
    scales = make_targets(log, value, (1.0, 1.0, 1.0), scale).scales
    return describe(tree, node.astype(np.int32), log, value, scales, scale)


def rows_below(tree: Tree, node: np.ndarray, top: int) -> np.ndarray:
    below = {top}
    for parent in tree.split_order:
        if parent in below:
            below |= {int(tree.left[parent]), int(tree.left[parent]) + 1}
    return np.isin(node, list(below))


def test_hand_computed_discrete():
    log = make_log(
        [[0.0], [0.5], [1.0], [3.0]],
        [0, 1, 1, 1],
        [1, 2, 3, 3],
        [0, 3, 4],
        labels=("no", "yes"),
        final_states=[[2], [np.nan]],
    )
    value = np.array([1.0, 2.0, 3.0, 3.0])
    scales = make_targets(log, value, (1, 1, 1), "sigma").scales
    at = describe(stump(), np.array([1, 1, 2, 2], np.int32), log, value, scales, "sigma")
    assert at.count.tolist() == [4, 2, 2]
    assert at.count_derivative.tolist() == [3, 2, 1]
    assert at.action_count.tolist() == [[1, 3], [1, 1], [0, 2]]
    assert at.action_mean is None
    assert at.value_mean.tolist() == [2.25, 1.5, 3.0]
    assert at.value_std.tolist() == pytest.approx([np.sqrt(0.6875), 0.5, 0.0])
    assert at.derivative_mean[:, 0].tolist() == pytest.approx([2 / 3, 0.5, 1.0])
    assert at.derivative_std[1:, 0].tolist() == [0.0, 0.0]
    assert at.impurity[:, 0].tolist() == pytest.approx([6 / 16, 0.5, 0.0])
    assert at.impurity[0, 2] == pytest.approx(1.0)  # one feature, divided by its own variance
    assert at.impurity[2].tolist() == [0.0, 0.0, 0.0]


def test_a_node_without_derivatives_inherits_from_its_parent():
    log = make_log([[0.0], [0.5], [3.0]], [[0.0], [1.0], [2.0]], [0, 0, 0], [0, 2, 3])
    at = described(log, stump(), np.array([1, 1, 2]))
    assert at.count_derivative.tolist() == [1, 1, 0]
    assert at.derivative_mean[:, 0].tolist() == [0.5, 0.5, 0.5]
    assert at.derivative_std[:, 0].tolist() == [0.0, 0.0, 0.0]
    assert at.impurity[:, 2].tolist() == [0.0, 0.0, 0.0]


def test_no_derivative_at_all():
    log = make_log([[0.0], [2.0]], [0, 1], [1, 2], [0, 1, 2], labels=("a", "b"))
    at = described(log, stump(), np.array([1, 2]))
    assert at.derivative_mean is None
    assert at.derivative_std is None
    assert at.count_derivative.tolist() == [0, 0, 0]


@pytest.mark.parametrize("number", [0.1, 1 / 3, 1e300, 1e-300, -7.7e17])
def test_a_pure_node_has_spread_exactly_zero(number):
    n = 1001
    states = np.arange(n, dtype=float)[:, None]
    actions = np.where(np.arange(n) < 700, number, -number)[:, None]
    log = make_log(states, actions, actions[:, 0], np.arange(n + 1))
    at = describe(
        stump(threshold=700.0),
        np.where(np.arange(n) < 700, 1, 2).astype(np.int32),
        log,
        actions[:, 0],
        make_targets(log, actions[:, 0], (1, 1, 1), "sigma").scales,
        "sigma",
    )
    assert at.value_mean[1:].tolist() == [number, -number]
    assert at.value_std[1:].tolist() == [0.0, 0.0]
    assert at.action_std[1:, 0].tolist() == [0.0, 0.0]
    assert at.impurity[1:, :2].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert np.isfinite(at.impurity).all()
    assert at.value_std[0] == pytest.approx(abs(number) * 2 * np.sqrt(700 * 301) / 1001, rel=1e-12)


@given(log=logs(), seed=st.integers(0, 999), scale=st.sampled_from(["sigma", "paper"]))
def test_every_node_equals_numpy(log, seed, scale):
    tree, node = chain(log, np.random.default_rng(seed), 6)
    at = described(log, tree, node, scale)
    value, change = values(log, 0.9), derivatives(log)
    known = ~np.isnan(change[:, 0])
    sigma = np.array([np.ptp(c) > 1e-12 * np.abs(c).max() and c.std() for c in change[known].T] if known.any() else [])
    for top in range(tree.n_nodes):
        rows = rows_below(tree, node, top)
        assert at.count[top] == rows.sum()
        np.testing.assert_allclose(at.state_mean[top], log.states[rows].mean(axis=0), atol=1e-12)
        assert at.value_mean[top] == pytest.approx(value[rows].mean(), abs=1e-12)
        assert at.value_std[top] == pytest.approx(value[rows].std(), abs=1e-9)
        assert at.impurity[top, 1] == pytest.approx(value[rows].var(), abs=1e-9)
        if log.schema.action.kind == "discrete":
            count = np.bincount(log.actions[rows], minlength=len(log.schema.action.labels))
            assert at.action_count[top].tolist() == count.tolist()
            assert at.impurity[top, 0] == pytest.approx(1 - ((count / rows.sum()) ** 2).sum(), abs=1e-12)
        else:
            part, spread = log.actions[rows], log.actions.std(axis=0)
            np.testing.assert_allclose(at.action_mean[top], part.mean(axis=0), atol=1e-12)
            np.testing.assert_allclose(at.action_std[top], part.std(axis=0), atol=1e-9)
            if log.n_samples > 1:
                assert at.impurity[top, 0] == pytest.approx((part.var(axis=0) / spread**2).sum(), abs=1e-9)
        part = change[rows & known]
        assert at.count_derivative[top] == len(part)
        if len(part):
            np.testing.assert_allclose(at.derivative_mean[top], part.mean(axis=0), atol=1e-12)
            np.testing.assert_allclose(at.derivative_std[top], part.std(axis=0), atol=1e-9)
            power = 1 if scale == "paper" else 2
            expected = sum(v / s**power for v, s in zip(part.var(axis=0), sigma, strict=True) if s)
            assert at.impurity[top, 2] == pytest.approx(expected, abs=1e-9)
        elif known.any():
            parent = tree.parent[top]
            assert at.derivative_mean[top].tolist() == at.derivative_mean[parent].tolist()


def test_truncate_keeps_a_prefix():
    log = random_log(2)
    tree, node = chain(log, np.random.default_rng(0), 5)
    at = described(log, tree, node)
    assert at.truncate(2).value_mean.tolist() == at.value_mean[:3].tolist()
    assert at.truncate(2).action_mean is None
