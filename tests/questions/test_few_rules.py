"""A few rules about a log: what they are made from, what judges them, and how they read."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree.demos import lander, road
from tripletree.questions import few_rules


@pytest.fixture(scope="module")
def drive():
    return road.record("alive", n_samples=6000)


@pytest.fixture(scope="module")
def tree(drive):
    return quietly_fitted(drive.select(slice(0, 20)), max_leaves=100)


def test_rules_are_judged_by_episodes_that_they_were_not_made_from(tree, drive):
    (found,) = tree.rules(log=drive)
    fresh = drive.select(slice(20, None))
    number = found.apply(fresh.states)
    said = np.array([found[i].outcome for i in number])
    truth = np.array(drive.schema.action.labels)[fresh.actions]
    assert found.accuracy == pytest.approx((said == truth).mean())
    assert sum(rule.tested for rule in found) == fresh.n_samples
    assert found.tree == pytest.approx(1 - tree.losses(fresh)[0], abs=0.02)
    assert sum(rule.coverage for rule in found) == pytest.approx(1)
    assert found.apply(fresh.states[0]) == number[0]
    # A log that the tree has seen whole: some of it judges the rules, but not the tree.
    (own,) = tree.rules(log=drive.select(slice(0, 20)))
    assert own.tree is None
    assert own.accuracy > 0.85
    # And one of which it has seen nothing.
    (other,) = tree.rules(log=fresh)
    assert other.tree is not None
    assert 0 < sum(rule.tested for rule in other) < fresh.n_samples


def test_long_logs_are_counted_evenly_and_searched_as_ever(tree, drive, monkeypatch):
    (whole,) = tree.rules(log=drive)
    monkeypatch.setattr(few_rules, "COUNTED", 500)
    (found,) = tree.rules(log=drive)
    assert [(rule.when, rule.outcome) for rule in found] == [(rule.when, rule.outcome) for rule in whole]
    assert sum(rule.samples for rule in found) <= 500
    assert 400 <= sum(rule.tested for rule in found) <= 500
    assert found.accuracy == pytest.approx(whole.accuracy, abs=0.03)
    assert found.always == pytest.approx(whole.always, abs=0.05)
    for rule, same in zip(found, whole, strict=True):
        assert rule.coverage == pytest.approx(same.coverage, abs=0.05)


def test_road_and_lander_within_five_points_of_the_tree_and_better_than_cart(tree, drive):
    flights = lander.log().select(slice(0, 140))
    landing = quietly_fitted(flights.select(slice(0, 98)), max_leaves=200, leaf_model="mean")
    few = {"road": tree.rules(log=drive), "lander": landing.rules(log=flights)}
    for rules in few.values():
        for found in rules:
            assert len(found) <= 8
            assert all(np.isfinite([rule.lower, rule.upper]).sum() <= 3 for rule in found)
            assert found.accuracy > found.tree - 0.05
            assert found.accuracy > found.always
    train, test = flights.select(slice(0, 98)), flights.select(slice(98, None))
    for found in few["lander"]:
        k = flights.schema.action.names.index(found.name)
        ends = [0.0] if k == 0 else [-0.5, 0.5]
        cart = DecisionTreeClassifier(max_depth=3, random_state=0)
        cart.fit(train.states, np.digitize(train.actions[:, k], ends))
        assert found.accuracy > cart.score(test.states, np.digitize(test.actions[:, k], ends)) - 0.005


def test_how_it_reads():
    flights = lander.log().select(slice(0, 60))
    told = quietly_fitted(flights.select(slice(0, 42)), max_leaves=60).rules(log=flights, max_rules=3)
    text = str(told)
    first = text.splitlines()
    assert first[0].startswith("Main engine: right in ")
    assert " of the steps of unseen episodes (the whole tree: " in first[0]
    assert first[1].startswith("  if ")
    assert first[2].startswith("  else if ")
    assert "  else: " in text
    assert "off (< 0)" in text
    assert "Side engine: right in " in text
    assert text.index("Main engine") < text.index("Side engine")
    markdown = told.to_markdown()
    assert markdown.startswith("### Main engine: right in ")
    assert "\n1. if " in markdown
    assert "else if" in told._repr_html_()
    assert told.table.columns[:4] == ("about", "outcome", "when", "samples")
    assert told.table["when"].tolist()[-1] == "else"
    data = json.loads(json.dumps(told.to_dict(), allow_nan=False))
    assert [one["name"] for one in data["lists"]] == ["main engine", "side engine"]


def test_what_is_done_together_is_told_where_it_is_common():
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (4000, 2))
    one = np.where(states[:, 0] > 0, 1.0, -1.0) * rng.uniform(0.5, 1, 4000)
    same = np.where(rng.random(4000) < 0.9, np.sign(one), -np.sign(one)) * rng.uniform(0.5, 1, 4000)
    alone = np.where(states[:, 1] > 0, 1.0, -1.0) * rng.uniform(0.5, 1, 4000)
    starts = np.arange(0, 4001, 50)
    pair = make_log(states, np.stack([one, same], axis=1), np.zeros(4000), starts)
    told = quietly_fitted(pair, max_leaves=8).rules(log=pair).together
    assert len(told) == 2
    assert "goes with a1 positive: 4" in told[0] + told[1]
    apart = make_log(states, np.stack([one, alone], axis=1), np.zeros(4000), starts)
    assert quietly_fitted(apart, max_leaves=8).rules(log=apart).together == ()


def test_without_a_log_the_tree_is_retold(tree):
    (kept,) = tree.rules()
    assert (kept.source, kept.accuracy) == ("track", None)
    assert "what the tree says in the states that it kept of its log" in str(kept)
    (bare,) = quietly_fitted(road.record("alive", n_samples=2000), max_leaves=30, keep="nothing").rules()
    assert bare.source == "leaves"
    assert "what the tree says in its leaves" in str(bare)


@pytest.mark.parametrize("labels", [1, 2, 30])
def test_any_number_of_labels(labels):
    rng = np.random.default_rng(0)
    states = rng.uniform(0, 1, (1200, 2))
    actions = np.minimum((states[:, 0] * labels).astype(int), labels - 1)
    log = make_log(
        states, actions, np.zeros(1200), np.arange(0, 1201, 40), labels=tuple(f"l{k}" for k in range(labels))
    )
    (found,) = quietly_fitted(log, max_leaves=40).rules(log=log)
    assert len(found) <= 8
    assert found.accuracy > min(8 / labels, 1) - 0.1
    if labels == 1:
        assert "always: l0" in str(found)


def test_tiny_logs_values_changes_and_logs_without_actions():
    tiny = make_log([[0.0], [1.0], [2.0]], [0, 1, 1], [0, 0, 0])
    (found,) = quietly_fitted(tiny).rules(log=tiny)
    assert found.accuracy is None
    assert "there are no unseen episodes to judge these rules by" in str(found)
    log = random_log(3, lengths=(150, 150, 150, 150), dimensions=2)
    grown = quietly_fitted(log, max_leaves=20)
    assert {one.name for one in grown.rules(log=log)} == {"a0", "a1"}
    assert grown.rules(log=log, about="value")[0].name == "value"
    assert len(grown.rules(log=log, about="derivative")) == log.n_features
    none = make_log(log.states, np.zeros(600, int), log.rewards, log.starts, labels=("none",))
    bare = replace(none, schema=replace(none.schema, has_action=False))
    assert quietly_fitted(bare, max_leaves=20).rules(log=bare, about="value")[0].name == "value"


def test_an_action_without_words_has_no_rules():
    rng = np.random.default_rng(0)
    log = make_log(rng.normal(size=(2000, 2)), rng.uniform(-1, 1, 2000), np.zeros(2000), np.arange(0, 2001, 50))
    (found,) = quietly_fitted(log, max_leaves=10).rules(log=log)
    assert (found.source, found.accuracy, found.tree) == ("numbers", None, None)
    assert str(found).startswith("a0: ")
    assert str(found).endswith(", and no words for it fit what the log shows")
    assert "right" not in str(found)
