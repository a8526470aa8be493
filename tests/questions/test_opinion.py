"""A second model of the log must agree with a counterfactual: how it is asked, and what the sentences say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log
from tests.test_api import quietly_fitted
from tripletree import ParameterError, TripleTree
from tripletree.asking.foils import read_foil
from tripletree.demos import lander
from tripletree.language.numbers import rounded
from tripletree.questions.counterfactuals import DEPTHS, counterfactual, counterfactuals
from tripletree.questions.explain_change import explain_change, explain_changes
from tripletree.questions.opinion import ABOVE, LEAD, MARGIN, TREES, opinion_of


@pytest.fixture(scope="module")
def log():
    return lander.log().select(range(60))


@pytest.fixture(scope="module")
def tree(log):
    return TripleTree(120).fit(log)


@pytest.fixture(scope="module")
def states(log):
    rng = np.random.default_rng(1)
    return np.ascontiguousarray(log.states[rng.choice(log.n_samples, 60, replace=False)])


FOILS = (
    {"main engine": (0.5, None)},
    {"side engine": (None, -0.5)},
    {"main engine": (0.2, 0.8), "value": (50, None)},
    {"derivative of v_y": (0.0, None)},
)


def told(fitted, point, leaf, node=None):
    """What the linear model of a leaf predicts, written out."""
    node = fitted.tree.leaf_nodes[leaf] if node is None else node
    linear = fitted.linear
    away = point - fitted.attributes.state_mean[node]
    return np.clip(linear.centre[node] + linear.slope[node] @ away, linear.low[node], linear.high[node])


def holds(fitted, foil, point, leaf):
    """Whether a foil about numbers holds: beyond the leaf's own error, and in the three nodes above it at all."""
    part, node, names = fitted.targets, fitted.tree.leaf_nodes[leaf], fitted.schema.feature_names
    for key, (low, high) in foil.items():
        if key == "value":
            column = part["value"].start
        elif key.startswith("derivative of "):
            column = part["derivative"].start + names.index(key.removeprefix("derivative of "))
        else:
            column = fitted.schema.action.names.index(key)
        number, error = told(fitted, point, leaf)[column], float(fitted.linear.spread[node, column])
        least, most = float(fitted.linear.low[0, column]), float(fitted.linear.high[0, column])
        low, high = -math.inf if low is None else low, math.inf if high is None else high
        if low > -math.inf and number < low + min(error, max(min(high, most) - low, 0) / 2):
            return False
        if high < math.inf and number >= high - min(error, max(high - max(low, least), 0) / 2):
            return False
        above = node
        for _ in range(ABOVE):
            above = fitted.tree.parent[above]
            if above <= 0:
                break
            if not low <= told(fitted, point, leaf, above)[column] < high:
                return False
    return True


def candidates(fitted, foil, state):
    """All points that may be tried, by features changed, distance and leaf: brute force over leaves and depths."""
    mask = read_foil(fitted, foil).mask
    found = []
    for leaf in np.flatnonzero(mask).tolist():
        lower, upper = (side[leaf] for side in fitted.bounds)
        for depth in DEPTHS:
            point = state.copy()
            for f in range(len(state)):
                if lower[f] <= state[f] < upper[f]:
                    continue
                rises = state[f] < lower[f]
                inside = np.nextafter(upper[f], -np.inf)
                bottom = min(fitted.feature_min[f], inside) if lower[f] == -np.inf else lower[f]
                top = max(fitted.feature_max[f], lower[f]) if upper[f] == np.inf else upper[f]
                middle = min(max(bottom / 2 + top / 2, lower[f]), inside)
                if fitted.whole[f]:
                    point[f] = np.ceil(lower[f]) if rises else np.ceil(upper[f]) - 1
                    continue
                places = 3 - math.ceil(math.log10(fitted.span[f]))
                kept = MARGIN * fitted.span[f]
                half = round(middle, places) if lower[f] <= round(middle, places) <= inside else middle
                if rises:
                    near = math.ceil(round((lower[f] + kept) * 10**places, 6)) / 10**places
                    near = half if near > middle else near
                else:
                    near = math.floor(round((upper[f] - kept) * 10**places, 6)) / 10**places
                    near = min(half if near < middle else near, inside)
                further = near + depth * (middle - near)
                short = round(further, places)
                point[f] = near if not depth else short if lower[f] <= short <= inside else further
            away = (point - state) / fitted.span
            found.append(((point != state).sum(), float(away @ away), leaf, point))
    return sorted(found, key=lambda one: one[:3])


@pytest.mark.parametrize("foil", FOILS, ids=str)
def test_the_answer_is_the_nearest_point_with_which_the_linear_leaf_agrees(tree, states, foil):
    fitted, agreed = tree.fitted_, 0
    for state in states[:25]:
        answer = counterfactual(fitted, state, foil)
        if answer.status != "found":
            continue
        tries = candidates(fitted, foil, state)
        good = [one for one in tries if holds(fitted, foil, one[3], one[2])]
        assert answer.opinion == ("agrees" if good else "disagrees")
        expected = (good or [one for one in tries if one[0] == tries[0][0]])[0]
        agreed += bool(good)
        away = (answer.foil_state - state) / fitted.span
        assert len(answer.changed) == expected[0]
        assert float(away @ away) == pytest.approx(expected[1], rel=1e-9)
        assert fitted.tree.apply(answer.foil_state[None])[0] == answer.foil_leaf
        assert read_foil(fitted, foil).mask[answer.foil_leaf]
    assert agreed or "value" in foil


def test_many_at_once_are_those_one_by_one(tree, states):
    fitted = tree.fitted_
    for foil in FOILS:
        many = counterfactuals(fitted, states, foil)
        for i, state in enumerate(states):
            one = counterfactual(fitted, state, foil)
            assert many.found[i] == bool(one)
            assert str(many[i]) == str(one)
            if one:
                assert many.foil_states[i].tolist() == one.foil_state.tolist()
                assert many.agreed[i] == (one.opinion == "agrees")
    assert "The log's second model agrees with" in str(many)


def test_without_an_opinion_it_is_the_nearest_border(tree, states):
    foil = {"main engine": (0.5, None)}
    plain = counterfactual(tree.fitted_, states[0], foil, opinion=False)
    assert (plain.opinion, plain.second) == (None, ())
    assert "second" not in str(plain)
    bare = replace(tree.fitted_, linear=None, options={**tree.fitted_.options, "leaf_model": "mean"})
    old = counterfactual(bare, states[0], foil)
    assert old.opinion == "none"
    assert old.foil_state.tolist() == plain.foil_state.tolist()
    assert str(old) == f"{plain} There is no second opinion, because the model file has no linear leaves."


def test_a_foil_that_holds_already_is_doubted_too(tree, log):
    fitted, foil = tree.fitted_, {"main engine": (0.5, None)}
    mask = read_foil(fitted, foil).mask
    inside = log.states[mask[fitted.tree.apply(log.states)]]
    said = {
        counterfactual(fitted, state, foil).opinion: str(counterfactual(fitted, state, foil)) for state in inside[:400]
    }
    assert said["agrees"].endswith("here already. The log's second model agrees.") or "so main engine" in said["agrees"]
    assert "The log's second model is not sure: main engine = " in said["disagrees"]
    assert said["disagrees"].endswith(" here.")


def test_a_foil_that_the_tree_predicts_here_holds_already(tree, log):
    fitted, foil = tree.fitted_, {"main engine": (0.5, None)}
    leaf = fitted.tree.apply(log.states)
    mask = read_foil(fitted, foil).mask
    predicted = (tree.predict(log.states).action[:, 0] >= 0.5) & ~mask[leaf]
    assert predicted.sum() > 50
    for state in log.states[predicted][:20]:
        answer = tree.explain(state, foil)
        assert (answer.status, answer.opinion) == ("already", None)
        number = tree.predict(state).action[0]
        assert answer.predicted == pytest.approx((number,))
        said = f"Main engine = {rounded(number, 3)} here by the leaf's linear model, so main engine >= 0.5 already."
        assert str(answer) == said
        # The paper's form knows only means, and so does a tree that predicts them.
        assert tree.explain(state, foil, opinion=False).status == "found"
        means = replace(fitted, options={**fitted.options, "leaf_model": "mean"})
        assert counterfactual(means, state, foil).status == "found"
    some = np.ascontiguousarray(log.states[:500])
    many = tree.counterfactuals(some, foil)
    assert many.already.tolist() == (mask[leaf[:500]] | predicted[:500]).tolist()


def test_a_bag_of_trees_is_asked_where_the_log_is_given(tree, log, states):
    fitted, foil = tree.fitted_, {"main engine": (0.5, None)}
    answer = counterfactual(fitted, states[3], foil, log=log)
    bag = opinion_of(fitted, read_foil(fitted, foil), log)
    assert len(bag.bag) == TREES
    assert len({one.tree.threshold.tobytes() for one in bag.bag}) == TREES
    assert all(one.model is not None for one in bag.bag)
    node = fitted.tree.leaf_nodes[[answer.foil_leaf]]
    mean = np.mean(
        [one.told(answer.foil_state[None], one.tree.apply(answer.foil_state[None])) for one in bag.bag], axis=0
    )
    np.testing.assert_allclose(bag.told(answer.foil_state[None], node), mean)
    # Grown once, whatever is asked.
    assert opinion_of(fitted, read_foil(fitted, {"value": (0, None)}), log).bag is bag.bag


def test_labels_must_lead_by_more_than_a_little():
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (900, 2))
    actions = (states[:, 0] + 0.2 * states[:, 1] > 0).astype(int)
    log = make_log(states, actions, np.zeros(900), range(0, 901, 30), labels=("left", "right"), names=("x", "y"))
    fitted = quietly_fitted(log, theta=(1, 0, 0), max_leaves=6).fitted_
    foil = read_foil(fitted, {"action": "right"})
    view = opinion_of(fitted, foil, None)
    answers = [counterfactual(fitted, state, {"action": "right"}) for state in states[actions == 0][:50]]
    found = [one for one in answers if one]
    assert found
    for one in found:
        node = fitted.tree.leaf_nodes[one.foil_leaf]
        scores, objects = told(fitted, one.foil_state, one.foil_leaf), []
        if scores[1] - scores[0] < LEAD:
            objects.append(scores)
        for _ in range(ABOVE):
            node = fitted.tree.parent[node]
            above = told(fitted, one.foil_state, one.foil_leaf, node)
            if node > 0 and above[1] < above[0]:
                objects.append(above)
        assert (not objects) == (one.opinion == "agrees")
        shown = objects[0] if objects else scores
        assert one.second == (("left", "right")[int(shown[1] > shown[0])],)
    assert view.demands[0].wanted.tolist() == [False, True]


def test_opinion_must_be_a_flag_and_log_a_log(tree, states):
    with pytest.raises(ParameterError, match="opinion must be True or False; got 'no'"):
        tree.explain(states[0], "main engine > 0.5", opinion="no")
    with pytest.raises(ParameterError, match="log must be a Log; got int"):
        tree.explain(states[0], "main engine > 0.5", log=3)
    with pytest.raises(ParameterError, match="opinion must be True or False"):
        tree.explain_change(states[0], states[1], opinion=1)


def test_an_agent_that_is_called_knows_better(tree, states):
    answer = tree.explain(states[0], "main engine > 0.5", agent=lander.act, verified=True)
    assert answer.opinion is None
    assert "second" not in str(answer)


def test_a_change_is_seen_by_the_second_model_or_not(tree, log):
    fitted = tree.fitted_
    changes = explain_changes(fitted, log, "main engine", threshold=0.0)
    assert changes.agreed.any()
    assert not changes.agreed.all()
    assert 0.5 < changes.agreed.mean() < 1
    for i in (0, 5, int(np.flatnonzero(~changes.agreed)[0])):
        one = explain_change(fitted, changes.before[i], changes.after[i], "main engine", 0.0)
        assert one.agreed == changes.agreed[i]
        assert str(one) == str(changes[i])
        was, became = (
            told(fitted, state, leaf)[0] for state, leaf in ((one.before, one.leaf_before), (one.after, one.leaf_after))
        )
        assert one.second == pytest.approx((was, became), rel=1e-6)
        side = one.became >= 0
        assert one.agreed == (((became >= 0) == side) and ((was >= 0) != side))
        ending = "The log's second model agrees." if one.agreed else "after."
        assert str(one).endswith(ending)
    assert explain_changes(fitted, log, "main engine", opinion=False).agreed is None
    assert "The log's second model sees" in str(changes)
