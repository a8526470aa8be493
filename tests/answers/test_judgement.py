"""Judgements in words: calibration, losses on unseen episodes, and where not to believe a tree."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree.answers.judgement import Calibration, HeldOut, Trust


def trust(left, few=(), share=None, outside=0.0) -> Trust:
    """Leaves with what is left of the action's impurity; value and derivative are known everywhere."""
    left = np.array(left, float)
    known = np.zeros((len(left), 3))
    known[:, 0] = left
    share = np.full(len(left), 1 / len(left)) if share is None else np.array(share)
    return Trust(np.isin(np.arange(len(left)), few), known, share, outside)


@pytest.mark.parametrize(("left", "torn"), [(0.0, False), (0.499, False), (0.5, True), (0.501, True), (1.3, True)])
def test_a_leaf_is_torn_when_its_samples_differ_half_as_much_as_all(left, torn):
    found = trust([left, 0.0])
    assert found.torn[:, 0].tolist() == [torn, False]
    text = str(found).splitlines()[1]
    if torn:
        assert text.startswith("Disagreement: 50 % of the log lies where action is hardly known; ")
        assert "at least half as much" in text
    else:
        assert text == "Disagreement: in every leaf samples differ less than half as much as in the whole log."


def test_disagreement_is_told_of_each_attribute_with_its_share_of_the_log():
    left = np.array([[0.9, 0.1, 0.6], [0.1, 0.1, 0.7], [0.2, 0.3, 0.2]])
    found = Trust(np.zeros(3, bool), left, np.array([0.2, 0.3, 0.5]), 0.0)
    assert (
        str(found)
        .splitlines()[1]
        .startswith(
            "Disagreement: 20 % of the log lies where action is hardly known and "
            "50 % of the log lies where derivative is hardly known; "
        )
    )


def test_leaves_with_few_samples_are_counted_with_their_share_of_the_log():
    assert str(trust([0] * 4)).startswith("Few samples: no leaf rests on fewer than 10 samples.\n")
    told = str(trust([0] * 4, few=[1, 3], share=[0.5, 0.04, 0.45, 0.01])).splitlines()[0]
    assert told == "Few samples: 2 of 4 leaves rest on fewer than 10 samples each (5 % of the log lies there)."


def test_states_outside_are_told_when_there_are_any():
    assert "Outside: " not in str(trust([0.0]))
    assert "\nOutside: 3 % of the log's states lie outside " in str(trust([0.0], outside=0.03))
    assert str(trust([0.0])).splitlines()[-1].startswith("Outside the log: ")


def test_the_worst_leaves_are_much_visited_and_disagree():
    # Doubts: 0.05, 0.12, 0.14, 0, 0.02.
    found = trust([0.5, 0.4, 0.7, 0.0, 0.2], share=[0.1, 0.3, 0.2, 0.3, 0.1])
    assert found.worst(0).tolist() == [2, 1]
    assert found.worst(0, most=9).tolist() == [2, 1, 0, 4]
    assert found.worst(1).tolist() == []


def calibration(about="value", scale=4.0) -> Calibration:
    return Calibration(
        about, np.array([0.2, 0.8]), np.array([0.3, 0.7]), np.array([0.01, 0.02]), np.array([30, 10]), scale
    )


def test_the_gap_is_weighted_by_samples():
    assert calibration().gap == pytest.approx(0.1)
    uneven = Calibration("value", np.array([0.0, 1.0]), np.array([0.4, 1.0]), np.zeros(2), np.array([1, 3]), 1.0)
    assert uneven.gap == pytest.approx(0.1)  # 0.4 in one of four samples


def test_calibrations_in_words():
    assert str(calibration()) == (
        "Group by group, predicted and observed value differ by 0.1 (2.5 % of its spread) on average."
    )
    assert "(" not in str(calibration(scale=0.0))
    # 30 times 20 % and 10 times 80 % is 35 %; 30 times 30 % and 10 times 70 % is 40 %.
    assert str(calibration("confidence", 1.0)) == (
        "The tree is sure of its actions by 35 % on average and right in 40 % of the steps; "
        "group by group the two differ by 10 %."
    )


def held_out(how="other", losses=(0.1, 2.0, 0.5), constant=(0.4, 8.0, 1.0)) -> HeldOut:
    one = np.array([0.05, 1.0, 0.25])
    return HeldOut(how, 7, 1_200, np.array(losses), one, np.array(constant), True, ())


def test_how_a_tree_was_judged_and_what_looking_takes_away():
    assert str(held_out()) == (
        "The tree was judged on 7 episodes with 1,200 samples of another log than the one it was grown on. "
        "Looking at the state takes away 75 % of the action loss, 75 % of the value loss and 50 % of the derivative "
        "loss there."
    )
    assert "judged on the rest: 7 episodes with 1,200 samples." in str(held_out("regrown"))
    assert str(held_out("same")).startswith("The tree was judged on the log that it was grown on, ")


def test_a_loss_that_grew_takes_away_nothing_and_one_that_was_nothing_is_left_out():
    text = str(held_out(losses=(0.5, 2.0, 0.0), constant=(0.4, 8.0, 0.0)))
    assert text.endswith("takes away 0 % of the action loss and 75 % of the value loss there.")
    assert str(held_out(losses=(0, 0, 0), constant=(0, 0, 0))).endswith("the one it was grown on.")
