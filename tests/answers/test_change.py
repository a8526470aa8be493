"""Changes in words: what changed, how, and because of what."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log
from tests.test_api import quietly_fitted
from tripletree import Action, Feature, Log, Schema
from tripletree.answers.change import Change, Changes, because
from tripletree.log.log import TERMINATED

# Four leaves, one for each quarter of a square; the reward of a step is its value.
CORNERS = [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]]
THRUST = [0.0, 1.0, 2.0, 5.0]


def square(labels: tuple[str, ...] = ()) -> Log:
    """Three visits to every corner, each an episode of its own; the action is a number or a label of the corner."""
    states = np.repeat(CORNERS, 3, axis=0)
    names = ("pos", "speed")
    actions = np.repeat(np.arange(4) if labels else THRUST, 3)
    log = make_log(
        states, actions, np.repeat(THRUST, 3), np.arange(13), endings=[TERMINATED] * 12, labels=labels or None
    )
    action = Action("discrete", ("gear",), labels, ("R",)) if labels else Action("continuous", ("thrust",), (), ("N",))
    features = tuple(Feature(name, unit) for name, unit in zip(names, ("m", ""), strict=True))
    return Log(**{**vars(log), "schema": Schema(features, action)})


@pytest.fixture(scope="module")
def numbers():
    tree = quietly_fitted(square(), theta=(1, 1, 0), gamma=0.0)
    assert tree.n_leaves_ == 4
    return tree


@pytest.fixture(scope="module")
def labels():
    return quietly_fitted(square(("first", "second", "third", "fourth")), theta=(1, 0, 0), gamma=0.0)


def test_a_number_rises_or_falls(numbers):
    rose = numbers.explain_change([0, 0], [0, 2], opinion=False)
    assert str(rose) == "Thrust rose from 0 to 1 N because speed >= 1."
    assert str(numbers.explain_change([0, 2], [0, 0], opinion=False)) == "Thrust fell from 1 to 0 N because speed < 1."
    assert (
        str(numbers.explain_change([2, 2], [0, 2], about="value", opinion=False))
        == "Value fell from 5 to 1 because pos < 1 m."
    )
    both = numbers.explain_change([0, 0], [2, 2], opinion=False)
    # Half of 5 is passed in the last corner alone, which both features lead to.
    assert str(both) == "Thrust rose from 0 to 5 N because pos >= 1 m and speed >= 1."


def test_a_threshold_that_was_asked_for_is_told(numbers):
    rose = numbers.explain_change([0, 0], [2, 2], threshold=1.5, opinion=False)
    assert str(rose) == "Thrust rose above 1.5, from 0 to 5 N because pos >= 1 m."
    fell = numbers.explain_change([2, 2], [0, 0], threshold=1.5, opinion=False)
    assert str(fell) == "Thrust fell below 1.5, from 5 to 0 N because pos < 1 m."
    assert (rose.given, numbers.explain_change([0, 0], [2, 2], opinion=False).given) == (True, False)


def changed(*conditions) -> Change:
    """A change that is explained by (feature, relation, border) of the features pos and speed."""
    features, relations, borders = zip(*conditions, strict=True)
    schema = Schema((Feature("pos", "m"), Feature("speed")), Action("discrete", ("action",), labels=("a", "b")))
    return Change(
        before=np.zeros(2),
        after=np.ones(2),
        leaf_before=0,
        leaf_after=1,
        about="action",
        was="a",
        became="b",
        threshold=None,
        given=False,
        turning=np.ones(2),
        changed=features,
        relations=relations,
        borders=borders,
        outside=False,
        attribute=None,
        schema=schema,
    )


def test_of_several_bounds_on_one_side_only_the_tightest_is_told():
    assert because(changed((1, "<", 0.4349)), changed((1, "<", 0.431))) == "speed < 0.431"
    assert because(changed((1, "<", 0.431)), changed((1, "<", 0.4349))) == "speed < 0.431"
    assert because(changed((0, ">=", 1.0), (1, "<=", 3.0)), changed((0, ">=", 2.0), (1, "<", 3.0))) == (
        "pos >= 2 m and speed < 3"
    )
    assert because(changed((1, ">=", 0.1)), changed((1, "<", 0.2))) == "speed >= 0.1 and speed < 0.2"
    assert because() == ""


def test_borders_that_would_read_the_same_are_told_apart():
    first, second = changed((1, ">=", 2.740912345)), changed((1, ">=", 2.740912389))
    assert because(first) == because(second) == "speed >= 2.74091"
    assert because(first, among=[second]) == "speed >= 2.7409123"
    assert because(second, among=[first]) == "speed >= 2.7409124"
    # The borders of another feature do not matter.
    assert because(first, among=[changed((0, ">=", 2.740912389))]) == "speed >= 2.74091"


def test_nothing_changed(numbers, labels):
    same = numbers.explain_change([0, 0], [0.5, 0.5], opinion=False)
    assert not same
    assert str(same) == "Thrust did not change: it is 0 N in both states."
    short = numbers.explain_change([0, 0], [0, 2], threshold=1.5, opinion=False)
    assert not short
    assert str(short) == "Thrust did not cross 1.5: it went from 0 to 1 N."
    # What a number equals, it has reached: from 0 to 1 crosses 1, and from 1 to 2 does not.
    assert numbers.explain_change([0, 0], [0, 2], threshold=1.0, opinion=False)
    assert not numbers.explain_change([0, 2], [2, 0], threshold=1.0, opinion=False)
    assert (
        str(labels.explain_change([0, 0], [0.5, 0], opinion=False))
        == "Action did not change: it is first R in both states."
    )


def test_labels_change_from_one_to_the_other(labels):
    change = labels.explain_change([2, 0], [0, 2], opinion=False)
    assert str(change).startswith("Action changed third -> second R because ")
    assert (change.was, change.became, change.threshold) == ("third", "second", None)


def test_a_move_that_leaves_the_log_is_a_warning(numbers):
    careful = "Careful, the move leads outside the range of the log."
    assert str(numbers.explain_change([0, 0], [0, 9], opinion=False)).endswith(f"because speed >= 1. {careful}")
    assert str(numbers.explain_change([0, 0], [-1, 0], opinion=False)).endswith(f"in both states. {careful}")


def walk(numbers, *corners, **options) -> Changes:
    return numbers.explain_changes([CORNERS[c] for c in corners], opinion=False, **options)


def test_all_changes_are_counted_with_those_of_one_feature(numbers):
    found = walk(numbers, 0, 1, 1, 3, 0)
    assert len(found) == 3
    # Down from 5, either feature alone leads below 2.5.
    assert found.changed.sum(axis=1).tolist() == [1, 1, 1]
    assert str(found) == (
        "Thrust changes 3 times in 4 steps; one feature alone explains 100 % of the changes: "
        "pos (67 %) or speed (33 %)."
    )
    some = walk(numbers, 0, 3, 2)
    assert some.changed.sum(axis=1).tolist() == [2, 1]
    assert str(some) == "Thrust changes 2 times in 2 steps; speed alone explains 50 % of the changes."
    assert str(walk(numbers, 0, 3)) == "Thrust changes 1 time in 1 step; no feature explains any of the changes alone."
    assert str(walk(numbers, 0, 0, 0)) == "Thrust never changes in 2 steps."


def test_of_many_features_that_explain_changes_the_first_are_named(numbers):
    alone = np.eye(6, dtype=bool).repeat([5, 1, 1, 3, 0, 1], axis=0)
    found = replace(
        walk(numbers, 0, 1),
        step=np.arange(11),
        before=np.zeros((11, 6)),
        turning=alone.astype(float),
        features=tuple("abcdef"),
    )
    assert str(found).endswith("explains 100 % of the changes: a (45 %), d (27 %), b (9.1 %) or 2 others (18 %).")


def test_small_changes_may_be_left_out(numbers):
    # From 0 to 1, to 2, to 5: changes of 1, 1 and 3.
    steps = (0, 1, 2, 3)
    assert walk(numbers, *steps).step.tolist() == [1, 2, 3]
    assert walk(numbers, *steps, at_least=1).step.tolist() == [1, 2, 3]
    assert walk(numbers, *steps, at_least=1.01).step.tolist() == [3]
    assert walk(numbers, *steps, at_least=3.01).step.tolist() == []
    assert walk(numbers, *steps, threshold=2).step.tolist() == [2]


def test_each_change_is_the_answer_to_its_own_question(numbers):
    found = walk(numbers, 0, 1, 3, 2)
    for change, (before, after) in zip(found, ((0, 1), (1, 3), (3, 2)), strict=True):
        asked = numbers.explain_change(CORNERS[before], CORNERS[after], opinion=False)
        assert change.to_dict() == asked.to_dict()
    assert found[-1].to_dict() == found[2].to_dict()
    with pytest.raises(IndexError, match="out of range"):
        found[3]


def test_data_are_json_without_what_only_sentences_need(numbers):
    one, many = numbers.explain_change([0, 0], [2, 2], opinion=False), walk(numbers, 0, 3)
    for answer, absent in ((one, {"attribute", "schema"}), (many, {"tell", "name"})):
        data = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
        assert not absent & set(data)
    assert one.to_dict()["changed"] == [0, 1]
    assert many.to_dict()["moves"] == 1
