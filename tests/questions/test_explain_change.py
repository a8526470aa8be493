from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from tests.logs import make_log
from tests.questions.trees import random_fitted, random_states
from tripletree import ParameterError, TripleTree
from tripletree.questions import explain_change as asked

# What a second opinion adds is in test_opinion.py.
explain_change = partial(asked.explain_change, opinion=False)
explain_changes = partial(asked.explain_changes, opinion=False)

GRID = [[x, v] for x in np.arange(0.05, 3, 0.1).tolist() for v in (-0.05, 0.05)]


@pytest.fixture(scope="module")
def discrete():
    actions = [int(x >= 1.5) for x, _ in GRID]
    log = make_log(GRID, actions, [x for x, _ in GRID], labels=("left", "right"), names=("pos", "speed"))
    return TripleTree(2, (1, 0, 0), 0.0).fit(log).fitted_


@pytest.fixture(scope="module")
def continuous():
    """The first dimension rises with pos in steps, the second with speed."""
    actions = [[np.floor(x) / 2, v] for x, v in GRID]
    log = make_log(GRID, actions, [x for x, _ in GRID], names=("pos", "speed"))
    return TripleTree(6, (1, 0, 0), 0.0).fit(log).fitted_


def test_the_sentence_of_a_change(discrete):
    answer = explain_change(discrete, [1.2, 0.03], {"pos": 1.7, "speed": -0.03})
    assert str(answer) == "Action changed left -> right because pos >= 1.5."
    assert answer.turning.tolist() == [1.5, 0.03]
    assert (answer.changed, answer.relations, answer.borders) == ((0,), (">=",), (1.5,))
    back = explain_change(discrete, [1.7, 0], [1.2, 0])
    assert str(back) == "Action changed right -> left because pos < 1.5."
    assert back.turning[0] == np.nextafter(1.5, 0)
    assert json.loads(json.dumps(answer.to_dict()))["became"] == "right"


def test_nothing_changed(discrete, continuous):
    same = explain_change(discrete, [0.2, 0], [0.9, 0])
    assert not same
    assert same.turning is None
    assert str(same) == "Action did not change: it is left in both states."
    still = explain_change(continuous, [0.2, 0.01], [0.9, 0.02], about="a0")
    assert str(still) == "a0 did not change: it is 0 in both states."
    short = explain_change(continuous, [0.2, 0.01], [1.2, 0.01], about="a0", threshold=0.7)
    assert not short
    assert str(short) == "a0 did not cross 0.7: it went from 0 to 0.5."


def test_numbers_change_across_the_middle_or_a_threshold(continuous):
    rise = explain_change(continuous, [0.2, 0.01], [2.7, 0.01], about="a0")
    assert str(rise) == "a0 rose from 0 to 1 because pos >= 1."  # half way is the second step
    assert rise.threshold == 0.5
    high = explain_change(continuous, [0.2, 0.01], [2.7, 0.01], about="a0", threshold=0.8)
    assert str(high) == "a0 rose above 0.8, from 0 to 1 because pos >= 2."
    fall = explain_change(continuous, [2.7, 0.01], [0.2, 0.01], about="a0", threshold=0.8)
    assert str(fall) == "a0 fell below 0.8, from 1 to 0 because pos < 2."


def test_of_several_dimensions_the_one_that_changes_most(continuous):
    assert explain_change(continuous, [0.2, 0.01], [2.7, 0.01]).about == "a0"
    assert explain_change(continuous, [0.2, -0.03], [0.3, 0.03]).about == "a1"


def test_a_warning_outside_the_log(discrete):
    assert str(explain_change(discrete, [0.2, 0], [9, 0])).endswith("outside the range of the log.")


def test_whole_numbers_turn_at_whole_numbers():
    states = [[gear, door] for gear in range(5) for door in (0, 1)]
    actions = [int(gear >= 3) + 2 * door for gear, door in states]
    log = make_log(
        states, actions, [0.0] * 9 + [1], labels=tuple("abcd"), names=("gear", "door open"), kinds=("integer", "binary")
    )
    fitted = TripleTree(4, (1, 0, 0), 0.0).fit(log).fitted_
    up = explain_change(fitted, [1, 0], [4, 1])
    assert str(up) == "Action changed a -> d because gear >= 3 and door open."
    assert up.turning.tolist() == [3, 1]
    down = explain_change(fitted, [4, 1], [1, 0])
    assert str(down) == "Action changed d -> a because gear <= 2 and door not open."
    assert down.turning.tolist() == [2, 0]


def test_all_changes_of_a_log_are_those_of_its_moves():
    for seed, about in ((1, "action"), (2, "value"), (3, "derivative of pos")):
        fitted = random_fitted(seed, 3, 20)
        states = random_states(fitted, 60, seed)
        found = explain_changes(fitted, states, about)
        alone = [explain_change(fitted, states[i - 1], states[i], about) for i in range(1, 60)]
        assert found.step.tolist() == [i + 1 for i, answer in enumerate(alone) if answer]
        assert found.moves == 59
        for answer, one in zip(found, [answer for answer in alone if answer], strict=True):
            assert str(answer) == str(one)
            assert answer.to_dict() == one.to_dict()
        assert json.dumps(found.to_dict())


def test_moves_between_episodes_do_not_count(discrete):
    states = [[0.5, 0], [2.5, 0], [0.5, 0], [2.5, 0]]
    log = make_log(states, [0, 1, 0, 1], [0, 0, 0, 1], [0, 2, 4], labels=("left", "right"), names=("pos", "speed"))
    found = explain_changes(discrete, log)
    assert found.step.tolist() == [1, 3]
    assert str(found) == "Action changes 2 times in 2 steps; pos alone explains 100 % of the changes."
    assert str(explain_changes(discrete, states[:1])) == "Action never changes in 0 steps."
    assert len(explain_changes(discrete, states)) == 3


def test_small_changes_may_be_left_out(continuous):
    walk = [[0.5, 0], [1.5, 0], [2.5, 0], [0.5, 0]]
    assert explain_changes(continuous, walk, "a0").step.tolist() == [1, 2, 3]
    assert explain_changes(continuous, walk, "a0", at_least=0.7).step.tolist() == [3]
    assert explain_changes(continuous, walk, "a0", threshold=0.7).step.tolist() == [2, 3]


def test_bad_questions(discrete, continuous):
    with pytest.raises(ParameterError, match="before must be one state"):
        explain_change(discrete, [[0, 0], [1, 1]], [1, 1])
    with pytest.raises(
        ParameterError, match="after must hold finite numbers only, none beyond 1e100; feature `pos` is inf"
    ):
        explain_change(discrete, [0, 0], [np.inf, 1])
    with pytest.raises(ParameterError, match="Did you mean `value`"):
        explain_change(discrete, [0, 0], [1, 1], about="valeu")
    with pytest.raises(ParameterError, match="threshold is for numbers, and the action has 2 labels instead"):
        explain_change(discrete, [0, 0], [1, 1], threshold=1)
    with pytest.raises(
        ParameterError, match=r"threshold must be a number, or threshold=None \(the middle\); got 'high'"
    ):
        explain_change(continuous, [0, 0], [1, 1], threshold="high")
    with pytest.raises(ParameterError, match="name one of `a0`, `a1` instead of 'action'"):
        explain_changes(continuous, GRID)
    with pytest.raises(ParameterError, match="at_least must be a number of at least 0; got -1"):
        explain_changes(continuous, GRID, "a0", at_least=-1)
