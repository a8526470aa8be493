"""Judgements in words: calibration, losses on unseen episodes, and where not to believe a tree."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree.answers.judgement import Calibration, HeldOut, Trust
from tripletree.model.fitted import Judged


def trust(left, few=(), share=None, outside=0.0) -> Trust:
    """Leaves with what is left of the action's impurity; value and derivative are known everywhere."""
    left = np.array(left, float)
    known = np.zeros((len(left), 3))
    known[:, 0] = left
    share = np.full(len(left), 1 / len(left)) if share is None else np.array(share)
    return Trust(np.isin(np.arange(len(left)), few), known, share, outside)


@pytest.mark.parametrize(("left", "torn"), [(0.0, False), (0.749, False), (0.75, True), (0.751, True), (1.3, True)])
def test_a_leaf_is_torn_where_most_of_the_error_stays(left, torn):
    found = trust([left, 0.0])
    assert found.torn[:, 0].tolist() == [torn, False]
    text = str(found).splitlines()[1]
    if torn:
        assert text.startswith("Hardly known: action in 50 % of the log; three quarters or more of the squared error")
    else:
        assert text == "Hardly known: nothing; in every leaf less than three quarters of the squared error stay."


def test_what_is_hardly_known_is_told_of_each_attribute_with_its_share_of_the_log():
    left = np.array([[0.9, 0.1, 0.8], [0.1, 0.1, 0.77], [0.2, 0.3, 0.2]])
    found = Trust(np.zeros(3, bool), left, np.array([0.2, 0.3, 0.5]), 0.0)
    told = str(found).splitlines()[1]
    assert told.startswith("Hardly known: action in 20 % of the log and derivative in 50 % of the log; ")


def test_leaves_with_few_samples_are_counted_with_their_share_of_the_log():
    assert str(trust([0] * 4)).startswith("Few samples: no leaf rests on fewer than 10 samples.\n")
    told = str(trust([0] * 4, few=[1, 3], share=[0.5, 0.04, 0.45, 0.01])).splitlines()[0]
    assert told == "Few samples: 2 of 4 leaves rest on fewer than 10 samples each (5 % of the log lies there)."


def test_states_outside_are_told_when_there_are_any():
    assert "Outside: " not in str(trust([0.0]))
    assert "\nOutside: 3 % of the log's states lie outside " in str(trust([0.0], outside=0.03))
    assert str(trust([0.0])).splitlines()[-1].startswith("Outside the log: ")


def test_the_worst_leaves_are_much_visited_and_far_off():
    # Doubts: 0.05, 0.12, 0.14, 0, 0.02.
    found = trust([0.5, 0.4, 0.7, 0.0, 0.2], share=[0.1, 0.3, 0.2, 0.3, 0.1])
    assert found.worst(0).tolist() == [2, 1]
    assert found.worst(0, most=9).tolist() == [2, 1, 0, 4]
    assert found.worst(1).tolist() == []


def calibration(about="value", scale=4.0, unseen=True) -> Calibration:
    return Calibration(
        about, np.array([0.2, 0.8]), np.array([0.3, 0.7]), np.array([0.01, 0.02]), np.array([30, 10]), scale, 5, unseen
    )


def test_the_gap_is_weighted_by_samples():
    assert calibration().gap == pytest.approx(0.1)
    uneven = Calibration(
        "value", np.array([0.0, 1.0]), np.array([0.4, 1.0]), np.zeros(2), np.array([1, 3]), 1.0, 2, True
    )
    assert uneven.gap == pytest.approx(0.1)  # 0.4 in one of four samples


def test_calibrations_in_words():
    assert str(calibration()) == (
        "On 5 episodes that the tree has not seen: group by group, predicted and observed value differ by 0.1 "
        "(2.5 % of its spread) on average."
    )
    assert "(" not in str(calibration(scale=0.0))
    seen = str(calibration(unseen=False))
    assert seen.startswith(
        "On episodes that the tree may have seen, where the two agree more than they would elsewhere: group by group"
    )
    # 30 times 20 % and 10 times 80 % is 35 %; 30 times 30 % and 10 times 70 % is 40 %.
    assert str(calibration("confidence", 1.0)) == (
        "On 5 episodes that the tree has not seen: the tree is sure of its actions by 35 % on average and right in "
        "40 % of the steps; group by group the two differ by 10 %."
    )


def held_out(
    how="unseen",
    losses=(0.1, 2.0, 0.5),
    constant=(0.4, 8.0, 1.0),
    margin=(0.1, 0.1, 0.1),
    seen=0,
    chose=0,
    remembers=True,
) -> HeldOut:
    judged = None if how in ("few", "large") else Judged(losses, constant, margin, 7, 1_200)
    return HeldOut(how, seen, chose, remembers, True, judged, ())


def test_how_a_tree_was_judged_and_what_looking_takes_away():
    assert str(held_out()) == (
        "The tree was judged on 7 episodes with 1,200 samples that it has not seen. There, looking at the state takes "
        "away 75 % of the action loss, 75 % of the value loss and 50 % of the derivative loss."
    )
    partly = str(held_out(seen=30, chose=10))
    assert "40 other episodes were left out: it was grown on 30 episodes, and 10 episodes chose its size." in partly
    assert "1 other episode was left out: it was grown on 1 episode." in str(held_out(seen=1))


def test_a_tree_that_has_seen_everything_says_so():
    regrown = str(held_out("regrown", seen=80, chose=20))
    assert regrown.startswith(
        "The tree has seen all of this log: it was grown on 80 episodes, and 20 episodes chose its size. To be fair, a "
        "second tree of the same size was grown without a fifth of the episodes and judged on those: 7 episodes with "
    )
    forgetful = str(held_out("regrown", remembers=False))
    assert forgetful.startswith("This model does not remember which episodes it was grown on. To be fair, ")


@pytest.mark.parametrize(("how", "why"), [("few", "has too few episodes"), ("large", "is too large to grow a second")])
def test_where_nothing_can_be_judged_nothing_is_claimed(how, why):
    text = str(held_out(how, seen=4))
    assert why in text
    assert "nothing can be said about new episodes" in text
    assert "%" not in text


def test_what_chance_would_explain_is_not_claimed():
    text = str(held_out(losses=(0.39, 9.0, 0.5), margin=(np.inf, 0.1, 0.1)))
    assert text.endswith(
        "takes away 50 % of the derivative loss; about action or value it tells no more than chance would."
    )
    none = str(held_out(margin=(np.inf,) * 3))
    assert none.endswith("looking at the state tells no more about action or value or derivative than chance would.")
    assert "%" not in none


def test_a_loss_that_was_nothing_is_left_out():
    text = str(held_out(losses=(0.5, 2.0, 0.0), constant=(0.4, 8.0, 0.0)))
    assert text.endswith("takes away 75 % of the value loss; about action it tells no more than chance would.")
    assert str(held_out(losses=(0, 0, 0), constant=(0, 0, 0))).endswith("that it has not seen.")
