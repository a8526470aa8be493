"""A tree for scikit-learn is one of its own."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.tree import export_text, plot_tree

from tests.export.models import fitted_on, grown, made_up, states_of
from tests.hostile.names import hostile_log
from tests.logs import random_log
from tripletree import MissingDependencyError, ParameterError
from tripletree.export.scikit_learn import to_sklearn
from tripletree.log.log import Log

ABOUT = ("action", "derivative", "derivative of x1")


def single(states):
    """States in single precision."""
    return np.ascontiguousarray(states, np.float32)


def asked(made, what, states):
    """Ask without names, for which scikit-learn would warn."""
    other = clone(made)
    other.__dict__.update({key: value for key, value in vars(made).items() if key != "feature_names_in_"})
    return getattr(other, what)(single(states))


@pytest.mark.parametrize("name", ["road", "lander"])
def test_leaves_are_the_trees_in_single_precision(name):
    fitted = fitted_on(name)
    made = to_sklearn(fitted)
    states = single(states_of(fitted, 100_000))
    leaf = fitted.tree.apply(states.astype(np.float64))
    where = asked(made, "apply", states)
    # Leaves come in the same order, and their numbers are those of depth-first nodes.
    numbers = np.flatnonzero(made.tree_.children_left < 0)
    assert len(numbers) == made.get_n_leaves() == fitted.tree.n_leaves
    np.testing.assert_array_equal(where, numbers[leaf])
    assert made.get_depth() == fitted.tree.depth.max()


@pytest.mark.parametrize("seed", range(4))
def test_thresholds_next_to_each_other(seed):
    fitted = made_up(seed, discrete=True)
    states = single(states_of(fitted, 2_000, seed))
    made = to_sklearn(fitted)
    leaf = fitted.tree.apply(states.astype(np.float64))
    np.testing.assert_array_equal(asked(made, "apply", states), np.flatnonzero(made.tree_.children_left < 0)[leaf])


def test_a_classifier():
    fitted = fitted_on("road")
    made, states = to_sklearn(fitted), single(states_of(fitted, 1_000))
    assert is_classifier(made)
    leaf = fitted.tree.apply(states.astype(np.float64))
    counted = fitted.leaves.action_count[leaf]
    np.testing.assert_array_equal(made.classes_, fitted.schema.action.labels)
    np.testing.assert_array_equal(asked(made, "predict", states), made.classes_[counted.argmax(axis=1)])
    np.testing.assert_allclose(asked(made, "predict_proba", states), counted / counted.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("about", ["action", "main engine", "value", "derivative", "derivative of y"])
def test_a_regressor(about):
    fitted = fitted_on("lander")
    made, states = to_sklearn(fitted, about=about), single(states_of(fitted, 1_000))
    assert is_regressor(made)
    at, leaf = fitted.leaves, fitted.tree.apply(states.astype(np.float64))
    right = {
        "action": at.action_mean,
        "main engine": at.action_mean[:, 0],
        "value": at.value_mean,
        "derivative": at.derivative_mean,
        "derivative of y": at.derivative_mean[:, 1],
    }[about]
    np.testing.assert_array_equal(asked(made, "predict", states), right[leaf])
    if about == "value":
        assert made.tree_.impurity[0] == fitted.attributes.value_std[0] ** 2
        assert made.tree_.weighted_n_node_samples[0] == made.tree_.n_node_samples[0] == fitted.attributes.count[0]


@pytest.fixture(scope="module", params=[0, 2], ids=["labels", "numbers"])
def rounded(request):
    """A log in single precision and its tree, so that scikit-learn sees the same states."""
    log = random_log(3, lengths=(60, 1, 50, 40), features=3, dimensions=request.param, finals=False)
    log = Log(**{**vars(log), "states": log.states.astype(np.float32).astype(np.float64)})
    return log, grown(log, 20)


@pytest.mark.parametrize("about", ABOUT)
def test_samples_and_impurities_are_those_of_the_log(rounded, about):
    log, fitted = rounded
    made = to_sklearn(fitted, about=about)
    passed = asked(made, "decision_path", log.states).toarray().astype(bool)
    kept = made.tree_
    np.testing.assert_array_equal(kept.n_node_samples, passed.sum(axis=0))
    change = np.full_like(log.states, np.nan)
    for begin, end in zip(log.starts[:-1], log.starts[1:], strict=True):
        change[begin : end - 1] = np.diff(log.states[begin:end], axis=0)
    labels = len(fitted.schema.action.labels)
    columns = change if about == "derivative" else change[:, 1:2] if "of" in about else log.actions
    if about == "action" and labels:
        columns = np.eye(labels)[log.actions]
    columns = columns.reshape(len(log.states), -1)
    known = ~np.isnan(columns).any(axis=1)
    weight = (passed & known[:, None]).sum(axis=0)
    np.testing.assert_allclose(kept.weighted_n_node_samples, weight, atol=1e-6)
    for node in np.flatnonzero(weight):
        here = columns[passed[:, node] & known]
        mean = here.mean(axis=0)
        np.testing.assert_allclose(kept.value[node].ravel(), mean, atol=1e-9)
        gini = 1 - (mean**2).sum()
        right = gini if about == "action" and labels else here.var(axis=0).mean()
        np.testing.assert_allclose(kept.impurity[node], right, atol=1e-9)


def test_its_tools_work():
    fitted = fitted_on("road", 12)
    made = to_sklearn(fitted)
    assert made.feature_names_in_.tolist() == ["pos", "speed"]
    text = export_text(made, feature_names=list(made.feature_names_in_), max_depth=3)
    assert "|--- speed <= 0.05" in text
    assert "class: 0.001" in text
    assert len(plot_tree(made, feature_names=made.feature_names_in_, class_names=True)) >= 23
    assert made.feature_importances_.sum() == pytest.approx(1)
    value = to_sklearn(fitted, about="value")
    assert export_text(value).count("value: [") == 12
    # Every node comes before those below it, the left side first.
    left, right = made.tree_.children_left, made.tree_.children_right
    inner = np.flatnonzero(left >= 0)
    np.testing.assert_array_equal(left[inner], inner + 1)
    assert (right[inner] > left[inner]).all()


def test_a_table_with_names_is_asked_without_a_warning():
    pandas = pytest.importorskip("pandas")
    made = to_sklearn(fitted_on("road"))
    assert made.predict(pandas.DataFrame({"pos": [1.2], "speed": [0.03]})).tolist() == ["0.001"]


@pytest.mark.parametrize("discrete", [True, False])
def test_one_leaf_and_any_names(discrete):
    fitted = grown(hostile_log(12, discrete), 1)
    made = to_sklearn(fitted)
    assert asked(made, "apply", np.zeros((2, 4))).tolist() == [0, 0]
    assert made.feature_names_in_.tolist() == list(fitted.schema.feature_names)
    if discrete:
        assert made.classes_.tolist() == list(fitted.schema.action.labels)


def test_mistakes(monkeypatch):
    fitted = fitted_on("road")
    with pytest.raises(ParameterError, match="Did you mean `derivative of pos`"):
        to_sklearn(fitted, about="pos")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingDependencyError, match="pip install scikit-learn"):
        to_sklearn(fitted)
