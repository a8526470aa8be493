from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaves.ridge import told as linear_told
from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import TripleTree
from tripletree.questions.predict import shares

DISCRETE = make_log(
    [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1], [1, 1, 1, 3], np.arange(5), labels=("left", "right"), names=("pos",)
)


def small_tree() -> TripleTree:
    # Values 1, 1, 1, 3: the only useful split parts the last sample from the others.
    return quietly_fitted(DISCRETE, max_leaves=2)


def test_one_discrete_state():
    answer = small_tree().predict([2.5])
    assert (answer.action, answer.value, answer.value_std, answer.leaf, answer.count) == ("left", 1.0, 0.0, 0, 3)
    assert type(answer.action) is str
    assert type(answer.value) is float
    assert answer.action_probability.tolist() == [1.0, 0.0]
    assert answer.action_std is None
    assert answer.derivative is None
    assert answer.outside is False
    assert str(answer) == "Action = left (100 %), value = 1 (leaf 0, 3 samples)."


def test_several_states_and_the_range_of_the_log():
    answer = small_tree().predict([[-0.1], [0.0], [3.0], [4.0]])
    assert answer.action.tolist() == ["left", "left", "right", "right"]
    assert answer.value.tolist() == [1.0, 1.0, 3.0, 3.0]
    assert answer.count.tolist() == [3, 3, 1, 1]
    assert answer.outside.tolist() == [True, False, False, True]
    assert str(answer) == "4 states in 2 leaves, 2 of them outside the range of the log."


def test_outside_is_said():
    assert str(small_tree().predict({"pos": 9})).endswith(
        "(leaf 1, 1 sample); the state lies outside the range of the log."
    )


def test_a_tie_goes_to_the_first_label():
    log = make_log([[0.0], [0.0]], [1, 0], [1, 1], labels=("a", "b"))
    answer = quietly_fitted(log).predict([0.0])
    assert answer.action == "a"
    assert answer.action_probability.tolist() == [0.5, 0.5]


def test_continuous_actions():
    log = random_log(1, dimensions=2)
    tree = quietly_fitted(log, max_leaves=5)
    one, several = tree.predict(log.states[7]), tree.predict(log.states)
    assert one.action.shape == (2,)
    assert several.action.shape == several.action_std.shape == (log.n_samples, 2)
    assert several.derivative.shape == several.derivative_std.shape == log.states.shape
    assert several.action_probability is None
    assert one.action.tolist() == several.action[7].tolist()
    assert str(one).startswith("a0 = ")
    assert " ± " in str(one)


def test_to_dict_is_json():
    answer = small_tree().predict([[0.0], [3.0]])
    data = json.loads(json.dumps(answer.to_dict()))
    assert data["action"] == ["left", "right"]
    assert data["derivative"] is None
    assert "schema" not in data


@given(seed=st.integers(0, 9999), dimensions=st.sampled_from([0, 1]), leaves=st.integers(1, 12))
def test_predictions_equal_the_table_of_leaves(seed, dimensions, leaves):
    log = random_log(seed, lengths=(8, 12, 5), dimensions=dimensions)
    tree = quietly_fitted(log, max_leaves=leaves, leaf_model="mean")
    table, answer = tree.leaves_, tree.predict(log.states)
    assert answer.leaf.tolist() == tree.apply(log.states).tolist()
    assert answer.value.tolist() == table["value_mean"][answer.leaf].tolist()
    assert answer.value_std.tolist() == table["value_std"][answer.leaf].tolist()
    assert answer.count.tolist() == table["count"][answer.leaf].tolist()
    if dimensions:
        assert (
            answer.action[:, 0].tolist()
            == table["a0_mean" if "a0_mean" in table.columns else "action_a0_mean"][answer.leaf].tolist()
        )
    else:
        assert answer.action.tolist() == table["action"][answer.leaf].tolist()
        share = table["action_probability"][answer.leaf]
        np.testing.assert_allclose(answer.action_probability.max(axis=1), share, rtol=1e-14)
    for f, feature in enumerate(log.schema.features):
        low, high = table[f"{feature.name}_min"][answer.leaf], table[f"{feature.name}_max"][answer.leaf]
        assert ((low <= log.states[:, f]) & (log.states[:, f] <= high)).all()
        if answer.derivative is not None:
            assert answer.derivative[:, f].tolist() == table[f"derivative_{feature.name}_mean"][answer.leaf].tolist()
    assert np.bincount(answer.leaf, minlength=tree.n_leaves_).tolist() == table["count"].tolist()


@given(seed=st.integers(0, 9999), dimensions=st.sampled_from([0, 1]), leaves=st.integers(1, 12))
def test_predictions_of_linear_leaves_follow_the_state(seed, dimensions, leaves):
    log = random_log(seed, lengths=(8, 12, 5), dimensions=dimensions)
    tree = quietly_fitted(log, max_leaves=leaves)
    fitted, answer = tree.fitted_, tree.predict(log.states)
    node = tree.tree_.leaf_nodes[tree.apply(log.states)]
    told = linear_told(fitted.linear, log.states, node, fitted.attributes.state_mean)
    width = 1 if dimensions else 3
    assert answer.value.tolist() == told[:, width].tolist()
    assert answer.value_std.tolist() == fitted.linear.spread[node, width].tolist()
    if dimensions:
        assert answer.action.tolist() == told[:, :1].tolist()
        assert answer.action_std.tolist() == fitted.linear.spread[node, :1].tolist()
    else:
        assert answer.action.tolist() == [log.schema.action.labels[k] for k in told[:, :3].argmax(axis=1)]
        np.testing.assert_allclose(answer.action_probability.sum(axis=1), 1, rtol=1e-12)
        assert (answer.action_probability.argmax(axis=1) == told[:, :3].argmax(axis=1)).all()
    if answer.derivative is not None:
        assert answer.derivative.tolist() == told[:, width + 1 :].tolist()
        assert answer.derivative_std.tolist() == fitted.linear.spread[node, width + 1 :].tolist()
    else:
        assert told.shape[1] == width + 1


def test_shares_where_nothing_is_known():
    assert shares(np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 1.5, 0.0]])).tolist() == [[0.25] * 4, [0.25, 0, 0.75, 0]]


def test_an_empty_question():
    answer = small_tree().predict(np.zeros((0, 1)))
    assert answer.value.shape == (0,)


def test_infinite_states_have_a_leaf():
    answer = small_tree().predict([[-np.inf], [np.inf]])
    assert answer.leaf.tolist() == [0, 1]
    assert answer.outside.all()
    assert answer.value.tolist() == [1.0, 3.0]
    assert answer.action.tolist() == ["left", "right"]


@pytest.mark.parametrize("dimensions", [0, 1])
def test_infinite_states_are_predicted_within_the_range_of_their_leaf(dimensions):
    log = random_log(5, lengths=(100, 80, 90), dimensions=dimensions)
    tree = quietly_fitted(log, max_leaves=4)
    assert tree.fitted_.linear.slope.any()
    for state in ([np.inf, 0.0], [-np.inf, np.inf], [0.0, -np.inf]):
        infinite, far = (tree.predict([np.clip(state, -most, most)]) for most in (np.inf, 1e90))
        assert infinite.leaf.tolist() == far.leaf.tolist()
        assert infinite.value.tolist() == far.value.tolist()
        assert infinite.action.tolist() == far.action.tolist()
        assert infinite.derivative.tolist() == far.derivative.tolist()


@pytest.mark.parametrize("form", [np.float32, np.float64, np.int64])
def test_number_types(form):
    assert small_tree().apply(np.array([[3], [0]], form)).tolist() == [1, 0]
