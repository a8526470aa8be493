"""Summaries: at most 600 words that answer first, from unseen episodes only, and nothing that nobody said."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.log.rememberers import steered, thermostat
from tests.logs import make_log, random_log
from tests.report.models import REPORTS, fitted, of_lander, of_road
from tests.test_api import quietly_fitted
from tripletree import ParameterError, TripleTree
from tripletree.answers.summary import MOST_WORDS
from tripletree.log.log import TERMINATED


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_has_at_most_600_words(name):
    tree, log = REPORTS[name]()
    found = tree.summary(log)
    assert len(str(found).split()) <= MOST_WORDS
    assert found.parts[0].name == "does"
    assert found.parts[-1].name == "belief"
    assert len({part.name for part in found.parts}) == len(found.parts)


def outcomes(n_good=30, n_bad=10):
    """Episodes that begin right of 0 and succeed, or left of it and fail; what is done follows from x."""
    rng = np.random.default_rng(3)
    states, rewards = [], []
    for k in range(n_good + n_bad):
        good = k % 4 != 3 if n_bad else True
        start = rng.uniform(0.5, 1) if good else rng.uniform(-1, -0.5)
        x = start + np.linspace(0, 0.3, 20)
        states.append(np.stack([x, rng.normal(size=20)], axis=1))
        rewards.append(np.full(20, 1.0 if good else -1.0))
    path = np.concatenate(states)
    n = n_good + n_bad
    actions = (path[:, 0] > 0).astype(int)
    starts = range(0, 20 * n + 1, 20)
    return make_log(
        path,
        actions,
        np.concatenate(rewards),
        starts,
        endings=[TERMINATED] * n,
        labels=("left", "right"),
        names=("x", "y"),
    )


def test_success_is_told_with_its_interval_and_what_failures_share():
    tree, log = fitted(outcomes(), 8)
    found = tree.summary(log, success="return > 0")
    said = " ".join(found["succeeds"].sentences)
    assert re.match(
        r"30 of 40 episodes succeed: 75 % \(95 % interval (59|60) % to 86 %\)\. Success means return > 0\.", said
    )
    # Left of 0 every failure begins, and no success.
    assert "10 of 10 failures begin with x < " in " ".join(found["fails"].sentences)
    assert "0 of 30 successes do" in " ".join(found["fails"].sentences)


def test_without_a_notion_of_success_none_is_made_up():
    tree, log = fitted(outcomes(), 8)
    said = " ".join(tree.summary(log)["succeeds"].sentences)
    assert said.startswith("Nobody said what success is")
    assert "%" not in said
    whole, all_good = fitted(outcomes(n_bad=0), 8)
    found = whole.summary(all_good, success="return > 0")
    assert "No failure is recorded" in " ".join(found["fails"].sentences)


def test_the_rules_are_those_that_the_agent_goes_by():
    tree, log = fitted(outcomes(), 8)
    ((heading, rules),) = tree.summary(log)["does"].lists
    assert heading.startswith("Action: right in 100 % of unseen steps")
    assert len(rules) == 2
    assert {rule.rpartition(": ")[2] for rule in rules} == {"left", "right"}


def test_quality_is_that_of_unseen_episodes():
    tree, log = of_road()
    judged = tree.held_out(log).judged
    said = " ".join(tree.summary(log)["belief"].sentences)
    assert f"Judged on {judged.episodes} episodes" in said
    few, short = fitted(random_log(5, lengths=(60, 50), dimensions=1), 4)
    alone = few.summary(short)["belief"]
    assert "too few episodes" in " ".join(alone.sentences)


def test_with_costs_no_share_of_the_actions_is_claimed():
    log = of_road()[1]
    one, other = log.schema.action.labels
    tree = quietly_fitted(log, max_leaves=20, costs={(one, other): 5})
    said = " ".join(tree.summary(log)["belief"].sentences)
    assert re.search(r"the whole tree's actions cost [\d.]+ on average \([\d.]+ without looking at the state\)", said)
    assert "of the actions" not in said


def test_noise_is_called_no_more_than_chance():
    noise = random_log(11, lengths=(50,) * 20, labels=2)
    tree, _ = fitted(noise, 10)
    found = tree.summary(noise)
    assert "no more than chance" in " ".join(found["belief"].sentences)
    assert "may be chance, too" in " ".join(found["does"].sentences)


def test_logs_without_rewards_or_actions_have_a_page():
    log = random_log(4, lengths=(40,) * 8, labels=2)
    unpaid = replace(log, rewards=np.zeros(log.n_samples), schema=replace(log.schema, has_reward=False))
    tree, _ = fitted(unpaid, 8)
    page = str(tree.summary(unpaid))
    assert "eturn" not in page
    assert "value" not in page
    nothing = replace(log.schema, action=replace(log.schema.action, labels=("none",)), has_action=False)
    silent = replace(log, actions=np.zeros_like(log.actions), schema=nothing)
    quiet, _ = fitted(silent, 8)
    assert "action" not in str(quiet.summary(silent)["does"]).replace("interaction", "")


def test_parts_are_found_by_name_and_turn_into_json():
    tree, log = of_lander()
    found = tree.summary(log)
    assert "does" in found
    assert "nothing" not in found
    with pytest.raises(KeyError, match="nothing"):
        found["nothing"]
    told = found.to_dict()
    assert [part["name"] for part in told["parts"]] == [part.name for part in found.parts]


def test_a_wrong_condition_is_one_clear_error():
    tree, log = of_road()
    with pytest.raises(ParameterError, match="retrun"):
        tree.summary(log, success="retrun > 1")


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
@pytest.mark.parametrize("pilots", [1, 2])
def test_a_page_says_that_the_agent_changes_only_where_it_does(pilots):
    log = steered(episodes=40, length=40, pilots=pilots)
    told = str(TripleTree(20).fit(log).summary(log))
    assert ("The agent changes from early to late episodes (p < 0.0" in told) == (pilots == 2)
    assert "No sign" not in told


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
@pytest.mark.parametrize("memory", [False, True])
def test_a_page_says_that_the_agent_remembers_only_where_it_does(memory):
    log = thermostat(memory)
    told = TripleTree(20).fit(log).summary(log)["watch"]
    assert ("What it does depends on what came before: whether `room` was last above" in str(told)) == memory
