"""The sections of a report: how many rules, leaves, episodes and pictures they show."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.report.models import fitted, of_a_rhythm, of_lander, of_one_leaf, of_road
from tripletree.log.log import TERMINATED
from tripletree.report.about_agent import (
    behaviour_section,
    episodes_section,
    fortune_section,
    moves_section,
    rhythm_section,
)
from tripletree.report.about_episodes import failures_section, requirements_section
from tripletree.report.about_log import log_section
from tripletree.report.about_tree import belief_section, made_section
from tripletree.report.case import Case, Section
from tripletree.report.front import front_page


def case(tree, log):
    return Case(tree.fitted_, log, 1)


def told(section):
    """A section's text, without tags, with plain blanks."""
    text = re.sub(r"<(svg|script).*?</\1>", "", section.content, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", text)).replace("\N{NO-BREAK SPACE}", " ")


def rows(section, caption):
    """The cells of the table with this caption, row by row."""
    (table,) = [part for part in re.findall(r"<table>.*?</table>", section.content, re.DOTALL) if caption in part]
    body = re.search(r"<tbody>(.*?)</tbody>", table, re.DOTALL)[1]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)]


def steps(counts, values, labels=2):
    """A tree with a leaf for each number along x, so many samples in each, all of which have its value."""
    x = np.repeat(np.arange(float(len(counts))), counts)
    n = len(x)
    rewards = np.repeat(values, counts)
    actions = x.astype(int) % labels
    log = make_log(x[:, None], actions, rewards, np.arange(n + 1), endings=[TERMINATED] * n, labels=tuple("ab"))
    tree, _ = fitted(log, len(counts), gamma=0.0, theta=(0, 1, 0))
    assert tree.n_leaves_ == len(counts)
    return tree, log


def test_the_six_leaves_with_the_least_to_expect_are_listed():
    tree, log = steps([12] * 8, [5, 1, 7, 3, 8, 2, 6, 4])
    found = rows(fortune_section(case(tree, log)), "Where the agent can expect least")
    assert [row[3] for row in found] == ["1", "2", "3", "4", "5", "6"]
    assert [row[0] for row in found] == ["1", "5", "3", "7", "0", "6"]


def test_leaves_with_fewer_than_ten_samples_are_not_listed():
    tree, log = steps([9, 10, 11], [1, 2, 3])
    found = rows(fortune_section(case(tree, log)), "Where the agent can expect least")
    assert [(row[2], row[3]) for row in found] == [("10", "2"), ("11", "3")]


def test_the_six_episodes_with_the_lowest_returns_are_listed():
    tree, log = fitted(random_log(4, lengths=(20,) * 8), 4)
    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    found = rows(fortune_section(case(tree, log)), "lowest returns")
    assert [int(row[0]) for row in found] == np.argsort(returns, kind="stable")[:6].tolist()
    assert [float(row[1]) for row in found] == pytest.approx(np.sort(returns)[:6].tolist(), rel=1e-3)
    assert {row[2] for row in found} == {"20"}


def test_a_few_rules_are_shown_in_their_order():
    """Where "a" and "b" take turns, each stripe is a rule of its own."""
    states = np.tile(np.arange(20.0), 20)[:, None]
    log = make_log(states, states[:, 0].astype(int) % 2, [0.0] * 400, np.arange(0, 401, 20), labels=("a", "b"))
    tree, _ = fitted(log, 20, gamma=0.0, theta=(1, 0, 0))
    section = behaviour_section(case(tree, log))
    (items,) = re.findall(r'<ol class="rules">(.*?)</ol>', section.content, re.DOTALL)
    assert 2 <= items.count("<li>") <= 8
    assert "else: " in items


@pytest.mark.parametrize(("episodes", "pictures"), [(4, 0), (5, 2), (9, 2)])
def test_five_episodes_are_enough_for_pictures_of_returns_and_lengths(episodes, pictures):
    tree, log = fitted(random_log(3, lengths=(12,) * episodes), 3)
    section = log_section(case(tree, log))
    assert section.content.count("<svg") - section.content.count('class="swatch"') == pictures


def test_the_ranges_of_features_are_their_ends_and_their_median():
    states = [[0.0], [1.0], [2.0], [3.0], [100.0]]
    log = make_log(states, [0, 1, 0, 1, 0], [0.0] * 5, labels=("a", "b"), names=("pos",))
    tree, _ = fitted(log, 2)
    assert rows(log_section(case(tree, log)), "Features of a state") == [["pos", "real", "–", "0", "2", "100"]]
    assert rows(log_section(case(tree, log)), "Actions") == [
        ["a", "3", "60\N{NO-BREAK SPACE}%"],
        ["b", "2", "40\N{NO-BREAK SPACE}%"],
    ]
    numbers = make_log(states, [0.5, -1, 2, 3, 40], [0.0] * 5, names=("pos",))
    engine, _ = fitted(numbers, 2)
    assert rows(log_section(case(engine, numbers)), "Dimensions of the action") == [["a0", "–", "-1", "2", "40"]]


def test_another_log_is_compared_with_what_the_tree_knows():
    tree, log = fitted(random_log(1), 4)
    other = random_log(2)
    own, foreign = (rows(log_section(case(tree, one)), "Features of a state") for one in (log, other))
    assert [len(row) for row in own] == [6, 6]
    low, high = tree.fitted_.feature_min, tree.fitted_.feature_max
    assert [row[6] for row in foreign] == [f"{a:.4g} to {b:.4g}" for a, b in zip(low, high, strict=True)]


@pytest.mark.parametrize(("episodes", "stories"), [(1, 1), (2, 1), (3, 3), (8, 3)])
def test_of_three_episodes_or_more_the_best_and_the_worst_are_told_too(episodes, stories):
    tree, log = fitted(random_log(6, lengths=(15,) * episodes), 4)
    section = episodes_section(case(tree, log))
    heads = re.findall(r"<h3>(.*?)</h3>", section.content)
    assert heads == ["Typical: the median return", "The highest return", "The lowest return"][:stories]
    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    order = np.argsort(returns, kind="stable")
    chosen = [order[len(order) // 2], order[-1], order[0]][:stories]
    assert re.findall(r"Episode (\d+): \d+ steps, return", told(section)) == [str(k) for k in chosen]


def test_doubtful_leaves_are_two_for_each_attribute():
    tree, log = of_road()
    section = belief_section(case(tree, log))
    found = rows(section, "Leaves that add most")
    assert len(found) == 6
    assert [row[3].split()[2] for row in found[::2]] == ["action", "value", "derivative"]
    alone, plain = fitted(make_log([[0.0], [1.0]], [0, 0], [0.0, 0.0], [0, 1, 2], labels=("a",)), 1)
    assert "Leaves that add most" not in belief_section(case(alone, plain)).content


def test_three_levels_of_splits_are_drawn():
    tree, log = of_road()
    assert "Top 3 levels of a tree with 80 leaves" in told(behaviour_section(case(tree, log)))
    single, plain = of_one_leaf()
    assert "A tree with one leaf" in told(behaviour_section(case(single, plain)))


def test_losses_are_those_of_the_judgement():
    tree, log = of_road()
    found = rows(belief_section(case(tree, log)), "Losses on unseen episodes")
    judged = tree.held_out(log).judged
    assert [row[0] for row in found] == ["action", "value", "derivative"]
    assert [float(cell) for cell in found[1][1:]] == pytest.approx([judged.losses[1], judged.constant[1]], rel=5e-3)
    assert found[0][1].endswith("%")
    engine, numbers = fitted(random_log(5, lengths=(60, 50) * 3, dimensions=1), 4)
    assert "%" not in rows(belief_section(case(engine, numbers)), "Losses on unseen episodes")[0][1]


def test_without_unseen_episodes_no_loss_is_shown():
    engine, numbers = fitted(random_log(5, lengths=(60, 50), dimensions=1), 4)
    text = told(belief_section(case(engine, numbers)))
    assert "too few episodes" in text
    assert "Losses" not in text
    assert "Calibration" not in text


def test_nothing_is_said_about_values_that_are_all_the_same():
    log = random_log(3, lengths=(40,) * 8)
    ones = replace(log, rewards=np.zeros(log.n_samples))
    tree, _ = fitted(ones, 8)
    fortune = told(fortune_section(case(tree, ones)))
    assert "expect least" not in fortune
    assert "lowest returns" not in fortune
    assert "worth the same" in fortune
    assert "All episodes have the same return, 0" in fortune
    for section in (belief_section, behaviour_section, moves_section, episodes_section):
        assert "value loss" not in told(section(case(tree, ones))).replace("value loss the root", "")


def test_routes_and_ends_are_told_where_episodes_end():
    tree, log = of_road()
    text = told(moves_section(case(tree, log)))
    assert "Routes to the end" in text
    assert "episodes ended by themselves" in text
    assert "end within" in text
    endless, walked = fitted(replace(random_log(1), endings=np.full(3, 2, np.uint8)), 4)
    quiet = told(moves_section(case(endless, walked)))
    assert "The log shows no episode that ended by itself." in quiet
    assert "end within" not in quiet
    assert "Routes to the end" not in quiet


def test_where_episodes_are_from_their_beginning_on():
    tree, log = of_road()
    section = moves_section(case(tree, log))
    steps = int(np.median(np.diff(log.starts)))
    assert f"Where it is over the next {steps} steps." in told(section)
    assert f"From where episodes begin: {log.n_episodes} recorded episodes." in told(section)
    assert "From the beginning on" in told(section)
    # Three episodes are no crowd.
    walk, walked = fitted(random_log(1), 4)
    assert "From the beginning on" not in told(moves_section(case(walk, walked)))


def test_how_it_was_made():
    tree, log = of_road()
    section = made_section(case(tree, log))
    facts = dict(rows(section, "Log and versions"))
    assert facts["samples"] == f"{log.n_samples:,} in {log.n_episodes:,} episodes"
    assert facts["this report&#x27;s log"] == "the same"
    options = dict(rows(section, "Options of growth"))
    assert (options["max leaves"], options["truncation"], options["max depth"]) == ("80", "bootstrap", "none")
    assert options["theta"] == "1, 1, 1"


def test_the_graph_has_the_names_of_the_regions_and_no_rare_moves():
    tree, log = of_lander()
    section = moves_section(case(tree, log))
    found = tree.outline(log)
    graph = re.search(r'<div class="wide".*?</div>', section.content, re.DOTALL)[0]
    # A link is a curve and a head; its curve is the only path with a quadratic bend.
    assert len(re.findall(r'd="M[^"]*Q', graph)) == sum(len(one.following) for one in found.regions)
    words = told(section)
    for one in found.regions:
        assert all(part in words for part in one.name.split())
    # One region alone needs no picture.
    alone, plain = fitted(random_log(0, labels=1, lengths=(20, 20)), 1)
    assert "from region to region" not in told(moves_section(case(alone, plain)))


def zigzag(steps):
    """Episodes that cross the map in every step."""
    rows = 6 * steps
    states = np.column_stack([np.arange(rows) % 2, np.linspace(0, 1, rows)])
    starts = np.arange(0, rows + 1, steps)
    return fitted(
        make_log(states, states[:, 0], np.arange(rows) % 7, starts, labels=("a", "b"), kinds=("real",) * 2), 4
    )


def test_lines_that_would_cover_the_map_are_left_out_and_that_is_said():
    calm = told(episodes_section(case(*zigzag(5))))
    assert "These episodes on a map of mean value" in calm
    assert "Only the typical episode is drawn" not in calm
    crowded = told(episodes_section(case(*zigzag(200))))
    assert "The typical episode on a map of mean value" in crowded
    assert "Only the typical episode is drawn, because the lines of several would cover the map" in crowded
    # The others are still told.
    assert "The highest return" in crowded
    assert "The lowest return" in crowded


def test_pictures_and_stories_call_an_episode_by_the_same_name():
    tree, log = of_road()
    named = replace(log, episode_ids=np.array([f"run-{7 * k}" for k in range(log.n_episodes)]))
    text = told(episodes_section(case(tree, named)))
    found = re.findall(r"Episode (\S+?):? ", text)
    # The picture of the typical one is on the first page.
    assert len(found) == 5
    assert found[1::2] == found[2::2]
    front = told(Section("front", "", front_page(case(tree, named))))
    assert re.findall(r"Episode (\S+?):? ", front) == found[:1]
    assert all(name.startswith("run-") for name in found)


def test_a_rhythm_is_told_where_there_is_one():
    tree, log = of_a_rhythm()
    found = case(tree, log).rhythm
    section = rhythm_section(case(tree, log))
    assert found.headline in told(section)
    assert all(str(part) in told(section) for part in found.parts)
    assert "One cycle: 25 steps." in told(section)
    # The bar of parts, the action and both features; the words are already above.
    assert section.content.count('role="img"') == 4
    assert rhythm_section(case(*of_road())) is None


def test_failures_are_told_where_somebody_said_what_they_are():
    tree, log = of_road()
    assert failures_section(case(tree, log)) is None
    fails = "ends (pos >= 3)"
    found = failures_section(replace(case(tree, log), failures=(fails,)))
    assert found.title == "Why episodes fail"
    assert f"Failed means {fails}." in told(found)
    assert "From when on" in told(found)
    assert len(rows(found, "Failures")) == int(re.search(r"(\d+) of \d+ episodes failed", told(found))[1])
    succeed = failures_section(replace(case(tree, log), success=f"not ({fails})"))
    assert told(succeed) == told(found)
    assert failures_section(replace(case(tree, log), success="length > 0")) is None


def test_several_kinds_of_failure_are_told_apart():
    tree, log = of_road()
    found = failures_section(replace(case(tree, log), failures=("ends (pos >= 3)", "length < 1")))
    assert "What happened: ends (pos >= 3)" in told(found)
    assert "What happened: length < 1" in told(found)
    assert "there is nothing to brief on" in told(found)


def test_requirements_are_told_where_there_are_any():
    tree, log = of_road()
    assert requirements_section(case(tree, log)) is None
    found = requirements_section(replace(case(tree, log), requirements=("always (pos > -9)", "never (pos > 2)")))
    glance = rows(found, "Requirements and how many episodes meet them")
    assert [row[0] for row in glance] == ["always (pos &gt; -9)", "never (pos &gt; 2)"]
    assert found.content.count("<figure") == 4
