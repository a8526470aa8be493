"""Levels of a continuous action: which numbers, which names, and how they are judged."""

from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log
from tests.test_api import quietly_fitted
from tripletree import Log, LogError, ParameterError, read_log
from tripletree.log.switches import Switch
from tripletree.model.levels import Trial, commonest, level_of, level_words, number_edges, switch_words

RNG = np.random.default_rng(0)


def mixed(*parts):
    """Return actions of several kinds, each as (share, numbers)."""
    return np.concatenate([np.resize(np.asarray(numbers, float), round(4000 * share)) for share, numbers in parts])


NEAR, WIDE = RNG.normal(0, 0.01, 997), RNG.uniform(-1, 1, 997)


@pytest.mark.parametrize(
    ("action", "edges", "names"),
    [
        (np.sign(WIDE) * RNG.uniform(0.6, 0.9, 997), (0.0,), ("negative", "positive")),
        (mixed((0.5, [-2.0]), (0.5, [2.0])), (0.0,), ("negative", "positive")),
        (mixed((0.3, -0.8 + NEAR), (0.4, NEAR), (0.3, 0.8 + NEAR)), None, ("negative", "near 0", "positive")),
        (mixed((0.45, -1 + abs(NEAR)), (0.1, 0.2 * WIDE), (0.45, 1 - abs(NEAR))), None, None),
    ],
)
def test_levels_end_at_numbers_that_mean_something(action, edges, names):
    found = number_edges(action)
    assert edges is None or found == edges
    assert names is None or level_words(found, action) == names
    flipped = number_edges(-action)
    assert [-edge for edge in flipped[::-1]] == pytest.approx(list(found)), "a flipped sign is mirrored"
    scaled = number_edges(10 * action)
    assert [edge / 10 for edge in scaled] == pytest.approx(list(found)), "units do not matter"


def test_a_value_that_the_agent_prefers_has_its_name():
    action = mixed((0.25, RNG.uniform(-2, -1.2, 500)), (0.5, 0.87 + 0.1 * NEAR), (0.25, RNG.uniform(1.4, 2, 500)))
    edges = number_edges(action)
    assert "about 0.87" in level_words(edges, action)


def test_a_level_more_must_explain_more():
    assert all(abs(edge - 5) < 0.01 for edge in number_edges(RNG.normal(5, 1e-3, 1000)))
    assert number_edges(np.ones(100)) == ()


@pytest.mark.parametrize(
    ("switches", "names"),
    [
        ([Switch(0.0, (0.05, 1.0))], ("off", "on")),
        ([Switch(0.0, (-1.0, 0.1))], ("on", "off")),
        ([Switch(0.0, (0.5, 0.6))], ("negative", "positive")),
        ([Switch(-0.5, (1, 1)), Switch(0.5, (1, 1))], ("negative", "off", "positive")),
        ([Switch(0.2, (1, 1)), Switch(0.5, (1, 1))], ("below 0.2", "slightly positive", "strongly positive")),
    ],
)
def test_what_lies_between_switches_has_neutral_names(switches, names):
    assert switch_words(switches, np.linspace(-1, 1, 101)) == names


@pytest.mark.parametrize("seed", range(20))
def test_names_differ(seed):
    rng = np.random.default_rng(seed)
    action = rng.normal(rng.normal(), 1, 300) * 10.0 ** rng.integers(-3, 3)
    edges = np.unique(np.round(rng.choice(action, rng.integers(1, 6)), 4))
    words = level_words(edges.tolist(), action)
    assert len(set(words)) == len(words) == len(edges) + 1
    assert all(words)


def test_a_trial_counts_what_a_leaf_says_in_other_episodes():
    train, test = np.arange(6), np.arange(6, 10)
    levels = np.array([0, 0, 1, 1, 1, 0, 0, 1, 1, 1])
    trial = Trial(train, np.array([0, 0, 0, 1, 1, 1]), test, np.array([0, 0, 1, 1]))
    assert commonest(trial.train_leaf, levels[train], 2).tolist() == [0, 1]
    assert trial.agreement(levels.astype(float), [0.5]) == 0.75
    assert level_of(np.array([-1.0, 0.0, 1.0]), [0.0]).tolist() == [0, 1, 1]


def noisy(noise, seed=0):
    rng = np.random.default_rng(seed)
    states = rng.uniform(-1, 1, (3000, 1))
    action = (
        np.where(states[:, 0] > 0, 1.0, -1.0) * np.where(rng.random(3000) < noise, -1, 1) * rng.uniform(0.5, 1, 3000)
    )
    return make_log(states, action, np.zeros(3000), np.arange(0, 3001, 50))


@pytest.mark.parametrize(("noise", "words"), [(0.05, 2), (0.26, 2), (0.5, 0)])
def test_words_are_used_only_where_the_log_agrees_with_them(noise, words):
    fitted = quietly_fitted(noisy(noise), max_leaves=4).fitted_
    found = fitted.provenance["levels"]["a0"]
    assert len(found["names"]) == words
    assert found["agreement"] == pytest.approx(max(1 - noise, 0.5), abs=0.06)


def test_few_values_are_their_own_levels_and_one_is_none():
    log = make_log(RNG.normal(size=(400, 1)), np.resize([0.5, -1.0, 2.0], 400), np.zeros(400), np.arange(0, 401, 20))
    found = quietly_fitted(log).fitted_.provenance["levels"]["a0"]
    assert (found["edges"], found["names"]) == ([-0.2, 1.0], ["-1", "0.5", "2"])
    same = make_log(log.states, np.full(400, 0.5), np.zeros(400), log.starts)
    assert quietly_fitted(same).fitted_.provenance["levels"]["a0"]["edges"] == []


def given(**options):
    states = RNG.normal(size=(200, 2))
    return Log.from_arrays(
        states, states + 0.1, np.zeros(200), starts=np.arange(0, 200, 20), action_names=["main", "side"], **options
    )


def test_words_may_be_given_with_the_log(tmp_path):
    log = given(levels={"side": ["left", -0.5, "off", 0.5, "right"]})
    assert log.schema.action.levels == ((), ("left", -0.5, "off", 0.5, "right"))
    assert log.schema == given().schema, "words change what is said, and nothing else"
    log.to_parquet(tmp_path / "log.parquet")
    again = read_log(tmp_path / "log.parquet")
    assert again.schema.action.levels == log.schema.action.levels
    side = quietly_fitted(again).fitted_.provenance["levels"]["side"]
    assert (side["edges"], side["names"], side["how"]) == ([-0.5, 0.5], ["left", "off", "right"], "given")
    assert quietly_fitted(log).fitted_.schema.action.levels == ()


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"sid": [0]}, "There is no action `sid`"),
        ({"side": [1, 0]}, r"The levels of action `side` are \[1, 0\]"),
        ({"side": ["left", 0]}, r'levels=\{"side": \["off", 0.0, "on"\]\}'),
        ({"side": list(range(12))}, "increasing numbers at which levels end"),
        ([0], "levels"),
    ],
)
def test_words_that_cannot_be_are_refused(levels, message):
    with pytest.raises((LogError, ParameterError), match=message):
        given(levels=levels)
