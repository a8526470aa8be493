from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import ParameterError
from tripletree.answers.effects import _legs
from tripletree.questions import effects as module


def world(function, samples=4000, seed=0, features=2, mix=0.0, labels=None, kinds=None, episodes=20):
    """A log whose actions are a function of the state; ``mix`` makes the second feature follow the first."""
    rng = np.random.default_rng(seed)
    states = rng.uniform(-1, 1, (samples, features))
    states[:, 1] = mix * states[:, 0] + (1 - mix) * states[:, 1]
    if kinds:
        states[:, [k == "binary" for k in kinds]] = states[:, [k == "binary" for k in kinds]] > 0
    actions = function(states)
    starts = np.linspace(0, samples, episodes + 1).astype(int)
    return make_log(states, actions, np.zeros(samples), starts, labels=labels, kinds=kinds)


def grown(log, leaves=100, leaf_model="mean", **options):
    return quietly_fitted(log, max_leaves=leaves, theta=(1, 0, 0), leaf_model=leaf_model, **options)


@pytest.mark.parametrize("mix", [0.0, 0.6])
def test_curves_of_additive_steps_are_the_steps(mix):
    tree = grown(world(lambda s: (s[:, 0] >= 0.25) + 2.0 * (s[:, 1] >= -0.1), mix=mix), 4)
    assert tree.n_leaves_ == 4
    found = tree.effects()
    for curve, size, near in zip(found.curves, (1.0, 2.0), (0.25, -0.1), strict=True):
        cut = tree.tree_.threshold[tree.tree_.feature == curve.feature]
        assert np.abs(cut - near).max() < 0.01
        line = curve.curve[:, 0]
        np.testing.assert_allclose(line[curve.grid >= cut.max()] - line[0], size)
        np.testing.assert_allclose(line[curve.grid < cut.min()], line[0])


def test_curves_of_additive_functions_are_the_functions():
    log = world(lambda s: np.sin(3 * s[:, 0]) + s[:, 1] ** 2, 20_000, mix=0.5)
    found = grown(log, 400, "linear").effects(log)
    for curve, truth in zip(found.curves, (lambda x: np.sin(3 * x), lambda x: x**2), strict=True):
        inside = curve.usual
        wanted = truth(curve.grid[inside])
        got = curve.curve[inside, 0]
        assert np.abs((got - got.mean()) - (wanted - wanted.mean())).max() < 0.06


def by_definition(tree, states, f):
    """Accumulated local effects at the ends of stretches, one state at a time."""
    edges = module._edges(np.sort(states[:, f]), np.unique(states[:, f]))
    total, curve = np.zeros_like(np.atleast_1d(tree.predict(states[0]).action)), []
    curve.append(total.copy())
    for low, high in itertools.pairwise(edges):
        changes = []
        for state in states[(states[:, f] >= low) & (states[:, f] <= high)]:
            before, after = state.copy(), state.copy()
            before[f], after[f] = low, high
            changes.append(tree.predict(after).action - tree.predict(before).action)
        total = total + np.mean(changes, axis=0)
        curve.append(total)
    return edges, np.array(curve)


@pytest.mark.parametrize("leaf_model", ["mean", "linear"])
def test_equal_to_the_definition(leaf_model):
    rng = np.random.default_rng(3)
    log = world(
        lambda s: np.stack([s[:, 0] * s[:, 1], np.abs(s[:, 0]) + s[:, 1]], 1) + rng.normal(0, 0.1, (300, 2)), 300
    )
    tree = grown(log, 12, leaf_model)
    for curve in tree.effects(log).curves:
        edges, wanted = by_definition(tree, log.states, curve.feature)
        at = np.searchsorted(curve.grid, edges)
        np.testing.assert_array_equal(curve.grid[at], edges)
        got = curve.curve[at]
        np.testing.assert_allclose(got - got[0], wanted, atol=1e-9)
        mean = np.interp(log.states[:, curve.feature], curve.grid, curve.curve[:, 0]).mean()
        assert abs(mean) < 1e-9


def test_a_copy_of_a_feature_has_no_say():
    """Partial dependence asks about states with x high and its copy low; local effects do not."""
    log = world(lambda s: s[:, 0] * (np.abs(s[:, 0] - s[:, 1]) < 0.5), 8000, mix=0.95)
    found = grown(log, 200).effects(log)
    assert found.curves[0].range[0] + found.curves[1].range[0] == pytest.approx(2, abs=0.25)


def test_shares_of_labels_add_up():
    log = world(lambda s: (s[:, 0] > 0).astype(int) + (s[:, 1] > 0.5), labels=("a", "b", "c"))
    found = grown(log, 20, "linear").effects(log)
    assert found.labels
    assert found.names == ("a", "b", "c")
    for curve in found.curves:
        np.testing.assert_allclose(curve.curve.sum(axis=1), 0, atol=1e-9)


def test_an_angle_is_drawn_from_where_nobody_is():
    rng = np.random.default_rng(0)
    turn = np.pi + rng.normal(0, 0.5, 5000)  # around the seam
    states = np.stack([(turn + np.pi) % (2 * np.pi) - np.pi, rng.normal(size=5000)], 1)
    log = make_log(states, np.cos(turn), np.zeros(5000), np.arange(0, 5001, 100), kinds=("angle", "real"))
    curve = grown(log, 60).effects(log).curves[0]
    assert curve.grid[0] > 0
    assert np.pi < curve.grid[-1] < 2 * np.pi
    np.testing.assert_allclose(np.sort(turn)[[0, -1]], curve.grid[[0, -1]])
    inside, wanted = curve.usual, np.cos(curve.grid[curve.usual])
    got = curve.curve[inside, 0]
    assert np.abs((got - got.mean()) - (wanted - wanted.mean())).max() < 0.2


def test_an_angle_all_around_stays_as_it_is():
    rng = np.random.default_rng(0)
    states = rng.uniform(0, 360, (3000, 1))
    schema = make_log(states, np.sin(np.radians(states[:, 0])), np.zeros(3000), kinds=("angle",))
    curve = grown(schema, 50).effects(schema).curves[0]
    np.testing.assert_allclose(curve.grid[[0, -1]], [states.min(), states.max()])


def test_yes_or_no_has_two_points():
    log = world(lambda s: s[:, 0] + s[:, 1], kinds=("real", "binary"))
    curve = grown(log, 30).effects(log).curves[1]
    assert curve.few
    assert curve.grid.tolist() == [0, 1]
    assert curve.count.sum() == log.n_samples
    assert np.diff(curve.curve[:, 0]) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("states", [2, 3])
def test_a_few_states_are_all_usual(states):
    tree = grown(world(lambda s: 2.0 * s[:, 1], kinds=("real", "binary")), 2)
    rows = np.stack([np.linspace(-1, 1, states), np.arange(states) % 2], 1)
    found = tree.effects(make_log(rows, 2.0 * rows[:, 1], np.zeros(states), [0, states], kinds=("real", "binary")))
    assert all(curve.usual.all() for curve in found.curves)
    assert "rises by 2 with x1" in str(found)


def test_where_no_states_are_is_known():
    rng = np.random.default_rng(0)
    states = np.concatenate([rng.uniform(-2, -1, 500), rng.uniform(1, 2, 500)])[:, None]
    log = make_log(states, states[:, 0] > 0, np.zeros(1000), np.arange(0, 1001, 100))
    tree = quietly_fitted(log, max_leaves=30, theta=(1, 0, 1))
    curve = tree.effects(log).curves[0]
    assert curve.count.sum() == 1000
    assert curve.empty(np.linspace(-0.5, 0.5, 9)).all()
    assert not curve.empty(np.array([-1.8, -1.2, 1.2, 1.8])).any()


def test_weak_features_are_only_named():
    log = world(lambda s: s[:, 0] + 0.001 * s[:, 1])
    tree = grown(log, 40)
    found = tree.effects(log)
    assert [found.name(one) for one in found.shown()] == ["x0"]
    assert "  rises by 1.9 as x0 rises from -0.9 to 0.9" in str(found)
    assert "  hardly depends on x1" in str(found)
    asked = tree.effects(log, features=["x1"])
    assert [asked.name(one) for one in asked.shown()] == ["x1"]


def test_which_way_may_depend_on_the_others():
    log = world(lambda s: s[:, 0] * np.sign(s[:, 1]) + 0.5 * s[:, 0])
    curve = grown(log, 200).effects(log).curves[0]
    assert curve.one_way[0] < 0.7
    log = world(lambda s: s[:, 0] + s[:, 1])
    assert grown(log, 200).effects(log).curves[0].one_way[0] > 0.95


def test_the_track_stands_in_for_the_log():
    log = world(lambda s: s[:, 0] - 2 * s[:, 1])
    tree = grown(log, 50)
    kept, given_ = tree.effects(), tree.effects(log)
    for one, other in zip(kept.curves, given_.curves, strict=True):
        assert abs(one.strength[0] - other.strength[0]) < 0.05
    with pytest.raises(ParameterError, match="keeps none of them"):
        grown(log, 5, keep="nothing").effects()


def test_one_value_has_no_curve():
    states = np.stack([np.linspace(0, 1, 100), np.ones(100)], 1)
    log = make_log(states, states[:, 0] > 0.5, np.zeros(100), np.arange(0, 101, 10))
    found = grown(log, 2).effects(log)
    assert found.constant == ("x1",)
    assert len(found.curves) == 1
    assert found.to_dict()["curves"][0]["feature"] == 0


def test_any_attribute_can_be_asked():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(400, 2))
    log = make_log(states, states[:, 0], states[:, 1], np.arange(0, 401, 20))
    tree = quietly_fitted(log, max_leaves=30, gamma=0)
    assert tree.effects(log, about="value").names == ("value",)
    assert len(tree.effects(log, about="derivative").names) == 2
    with pytest.raises(ParameterError, match="about"):
        tree.effects(log, about="speed")
    with pytest.raises(ParameterError, match="speed"):
        tree.effects(log, features=["speed"])


@settings(max_examples=60)
@given(st.lists(st.integers(-20, 20), min_size=2, max_size=30), st.floats(0.1, 10))
def test_legs_alternate_and_are_large(numbers, turn):
    line = np.array(numbers, float)
    legs = _legs(line, turn)
    changes = [line[b] - line[a] for a, b in legs]
    assert all(abs(change) > turn for change in changes)
    assert all(one * other < 0 for one, other in itertools.pairwise(changes))
    assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(legs))
    if legs:
        assert max(map(abs, changes)) == pytest.approx(np.ptp(line)) or len(legs) > 1
        assert {line.min(), line.max()} <= {line[k] for leg in legs for k in leg}
    else:
        rises = np.maximum.accumulate(line) - line
        assert min(rises.max(), (line - np.minimum.accumulate(line)).max()) <= turn


def test_of_a_log_that_is_thinned_out_anyway_fewer_states_may_be_asked(monkeypatch):
    log = random_log(3, (300, 300))
    tree = quietly_fitted(log, max_leaves=5)
    assert module.effects(tree.fitted_, log, most=100).samples == 600
    monkeypatch.setattr(module, "MOST_STATES", 200)
    assert module.effects(tree.fitted_, log, most=200).samples == 200
    assert module.effects(tree.fitted_, log, most=100).samples == 100
