"""What is done: one level, a short rule, or a mean; and rules that say in words what their trees do."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import numpy as np
import pytest

from tests.tree.test_small import problem
from tripletree.answers.behaviour import Column, _arcs, behaviour, cycle, rule_text, told
from tripletree.asking.regions import Rule
from tripletree.log.schema import Action, Feature, Schema
from tripletree.tree.small import grow_small

SCHEMA = Schema(tuple(map(Feature, ("x", "y", "z"))), Action("discrete", ("action",), ("a",), ("",)))
LEVELS = ("off", "low", "full")


def rule(seed, leaves=4):
    states, codes, thresholds, levels = problem(seed)
    tree = grow_small(codes, thresholds, levels, leaves)
    leaf = tree.apply(states)
    return Rule(tree, np.array([np.bincount(levels[leaf == k, 0]).argmax() for k in range(tree.n_leaves)])), states


def obeyed(text, state):
    """Do what a rule says, read from left to right."""
    for part in text.split(", else "):
        level, _, conditions = part.partition(" when ")
        ways = conditions.split(" or ") if conditions else [""]
        if any(all(holds(one, state) for one in way.split(" and ") if one) for way in ways):
            return level
    raise AssertionError(text)


def holds(condition, state):
    name, relation, numbers = re.fullmatch(r"(\w) (<|>=|in) (.*)", condition).groups()
    value = state["xyz".index(name)]
    if relation == "in":
        low, high = map(float, re.fullmatch(r"\[(.*), (.*)\)", numbers).groups())
        return low <= value < high
    return value < float(numbers) if relation == "<" else value >= float(numbers)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("leaves", [1, 2, 4, 6])
def test_a_rule_says_what_its_tree_does(seed, leaves):
    one, states = rule(seed, leaves)
    text = rule_text(one, LEVELS, SCHEMA)
    said = [obeyed(text, state) for state in states[:150]]
    assert said == [LEVELS[level] for level in one.of(states[:150])]
    assert len(text.split(", else ")) <= leaves


def test_one_level_is_told_unless_a_rule_is_clearly_better():
    one, states = rule(0)
    levels, column = one.of(states), Column("engine", LEVELS)
    done = behaviour(SCHEMA, column, one, states, levels)
    assert (done.kind, done.share) == ("rule", 1.0)
    assert told(column, done) == f"engine {rule_text(one, LEVELS, SCHEMA)}"
    mostly = np.where(np.arange(len(levels)) % 20 == 0, 1, 2)
    done = behaviour(SCHEMA, column, one, states, mostly)
    assert (done.text, done.kind, done.share) == ("full", "constant", 0.95)
    np.testing.assert_array_equal(done.right, mostly == 2)
    assert told(column, done) == "engine full"
    half = np.where(np.arange(len(levels)) % 2 == 0, 1, 2)
    done = behaviour(SCHEMA, column, one, states, half)
    assert told(column, done) == "engine low (50 %)"
    assert told(column, done, recorded=False) == "engine low"


def test_a_number_without_levels_is_told_by_its_mean():
    one, states = rule(0, 1)
    column = Column("torque", ("0 ± 1",), number=True)
    numbers = np.array([0.1, 0.3] * (len(states) // 2))
    done = behaviour(SCHEMA, column, one, states, np.zeros(len(states), int), numbers)
    assert (told(column, done), done.kind) == ("torque 0.2 ± 0.1", "number")


def test_levels_in_turn_along_a_cycle():
    steps = np.arange(400)
    place, column = steps % 40 / 40, Column("push", LEVELS)
    recorded = np.where(steps % 40 < 10, 2, np.where(steps % 40 < 25, 0, 1))
    done = cycle(column, place, 40.0, recorded)
    assert told(column, done) == "push full to step 9, off to 24, low to 39"
    assert (done.kind, done.share) == ("cycle", 1.0)
    # Where the cycle is lost nothing is right; what is the same all along is told once.
    lost = cycle(column, np.where(steps < 40, np.nan, place), 40.0, recorded)
    assert (lost.share, lost.right[:40].any()) == (0.9, False)
    assert cycle(column, place, 40.0, 0 * steps)[:2] == ("off", "constant")


@pytest.mark.parametrize("seed", range(5))
def test_arcs_of_a_cycle_are_the_best_there_are(seed):
    table = np.random.default_rng(seed).integers(0, 20, (7, 3)).astype(float)
    arcs = _arcs(table)
    assert arcs[-1][1] == 7

    def right(cuts):
        return sum(table[a:b].sum(axis=0).max() for a, b in pairwise([0, *cuts, 7]))

    best = max(right(cuts) for n in range(5) for cuts in combinations(range(1, 7), n))
    assert right([end for _, end in arcs[:-1]]) >= best - 0.02 * table.sum()


def test_what_nothing_is_known_of():
    one, states = rule(0)
    done = behaviour(SCHEMA, Column("", LEVELS), one, states, np.full(len(states), -1))
    assert done.share == 0
    assert done.text in LEVELS
    assert behaviour(SCHEMA, Column("", LEVELS), one, states[:0], np.zeros(0, int)).share == 0
