from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.logs import make_log, random_log
from tests.questions.trees import random_fitted
from tests.test_api import quietly_fitted
from tripletree import Log
from tripletree.asking.attribute import read_attribute
from tripletree.questions.importance import importance, removed
from tripletree.scenes.charts import importances


@pytest.mark.parametrize("attribute", ["action", "value", "derivative"])
def test_equal_to_scikit_learn_on_trees_of_one_attribute(attribute):
    rng = np.random.default_rng(5)
    states = rng.normal(size=(600, 4))
    label = (states @ [1.0, 0.5, -1.0, 0.0] > 0).astype(int) + (states[:, 1] > 1)
    value = np.sin(2 * states[:, 0]) + states[:, 2] ** 2
    finals = states + np.stack([value, 0.3 * label, 0 * value, 2 * states[:, 3]], axis=1)
    log = make_log(states, label, value, np.arange(601), final_states=finals, labels=("a", "b", "c"))
    depth = {"min_samples_leaf": 25, "random_state": 0}
    if attribute == "action":
        peer = DecisionTreeClassifier(**depth).fit(states, label)
    else:
        change = finals - states
        changing = change[:, change.std(axis=0) > 0]
        targets = value if attribute == "value" else changing / changing.std(axis=0)
        peer = DecisionTreeRegressor(**depth).fit(states, targets)
    row = ("action", "value", "derivative").index(attribute)
    theta = tuple(float(g == row) for g in range(3))
    tree = quietly_fitted(log, max_leaves=500, min_samples_leaf=25, theta=theta, gamma=0.0)
    assert tree.n_leaves_ == peer.get_n_leaves()
    assert tree.importance().share[row] == pytest.approx(peer.feature_importances_, abs=1e-9)


@given(seed=st.integers(0, 9999), dimensions=st.sampled_from([0, 2]), leaves=st.integers(2, 12))
def test_equal_to_the_samples_own_impurities(seed, dimensions, leaves):
    log = random_log(seed, dimensions=dimensions)
    fitted = quietly_fitted(log, max_leaves=leaves, gamma=0.0).fitted_
    tree = fitted.tree
    successor = np.concatenate([log.states[1:], log.states[:1]])
    successor[log.starts[1:] - 1] = log.final_states
    change = successor - log.states
    hot = log.actions if dimensions else np.eye(3)[log.actions]
    hot = hot / hot.std(axis=0) if dimensions else hot
    known = ~np.isnan(change[:, 0])
    change = change / np.where(change[known].std(axis=0) > 0, change[known].std(axis=0), np.inf)

    def impurities(rows):
        sizes = np.array([rows.sum(), rows.sum(), (rows & known).sum()])
        columns = (hot[rows], log.rewards[rows][:, None], change[rows & known])
        return np.array([n * c.var(axis=0).sum() if n else 0.0 for n, c in zip(sizes, columns, strict=True)])

    expected = np.zeros((3, log.n_features))

    def descend(node, rows):
        left = tree.left[node]
        if left < 0:
            return
        goes = log.states[:, tree.feature[node]] < tree.threshold[node]
        parts = impurities(rows & goes), impurities(rows & ~goes)
        expected[:, tree.feature[node]] += impurities(rows) - parts[0] - parts[1]
        descend(left, rows & goes)
        descend(left + 1, rows & ~goes)

    everything = np.ones(log.n_samples, bool)
    descend(0, everything)
    found = importance(fitted)
    root = impurities(everything)
    assert found.removed * root == pytest.approx(expected.sum(axis=1), rel=1e-6, abs=1e-7)
    assert found.share * expected.sum(axis=1)[:, None] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert found.share.sum(axis=1) == pytest.approx((expected.sum(axis=1) > 1e-9).astype(float))


def test_single_columns_add_up_to_the_attribute():
    fitted = quietly_fitted(random_log(2, dimensions=2), max_leaves=9).fitted_
    parts = [removed(fitted, read_attribute(fitted, name)) for name in ("a0", "a1")]
    assert sum(parts) == pytest.approx(removed(fitted, "action"))


def test_what_it_says():
    log = make_log(
        np.stack([np.arange(40) % 2, np.arange(40) // 20], axis=1),
        np.arange(40) // 20,
        np.arange(40) % 2,
        np.arange(41),
        labels=("left", "right"),
        names=("door", "room"),
    )
    answer = quietly_fitted(log, gamma=0.0).importance()
    assert answer.share.tolist() == [[0, 1], [1, 0], [0, 0]]
    assert str(answer) == ("Action: room 100 %.\nValue: door 100 %.\nDerivative: no split tells anything about it.")
    assert answer.table.columns == ("feature", "action", "value", "derivative")
    assert answer.table["action"].tolist() == [0.0, 1.0]
    assert json.loads(json.dumps(answer.to_dict()))["features"] == ["door", "room"]


def test_few_features_are_named_and_the_rest_summed_up():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(300, 8))
    log = make_log(states, states.sum(axis=1) > 0, states.sum(axis=1), np.arange(301), labels=("a", "b"))
    text = str(quietly_fitted(log, max_leaves=60, gamma=0.0).importance())
    assert "3 others" in text
    assert text.count("\n") == 2


def test_splits_never_remove_more_than_all():
    """A split that makes things worse removes nothing; what the next one removes is more than there was at first."""
    fitted = random_fitted(0, 1, 3, real=True)
    tree, at = fitted.tree, fitted.attributes
    first, second = tree.split_order
    count, impurity = np.full(5, 5), np.zeros((5, 3))
    count[0], impurity[first], impurity[second] = 10, 1.0, 3.0
    odd = replace(fitted, attributes=replace(at, count=count, count_derivative=count, impurity=impurity))
    # 10 at the root, 15 in the inner node below it, nothing in the leaves.
    assert removed(odd, "value")[[first, second]].tolist() == [0, 15]
    found = importance(odd)
    assert found.removed.tolist() == [1, 1, 1]
    assert found.share.tolist() == [[1], [1], [1]]


def test_what_the_log_has_nothing_of_is_not_told():
    columns = {"x": np.sin(np.arange(90.0)), "y": np.arange(90.0) % 7, "episode": np.repeat([0, 1, 2], 30)}
    tree = quietly_fitted(Log.from_dict(columns, reward="none", action="none"), max_leaves=5)
    found = importance(tree.fitted_)
    assert found.recorded == (False, False, True)
    assert [line.partition(":")[0] for line in str(found).splitlines()] == ["Derivative"]
    scene = importances(tree)
    assert [entry.label for entry in scene.legend] == ["derivative"]
