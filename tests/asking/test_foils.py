"""Foils: what is understood, which leaves meet it, and what is said about them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.logs import make_log
from tests.questions.trees import random_fitted
from tests.test_api import quietly_fitted
from tripletree import ParameterError
from tripletree.asking.attribute import read_attribute
from tripletree.asking.foils import ANYTHING, Condition, read_condition, read_foil
from tripletree.language.conditions import Interval


@pytest.fixture(scope="module")
def fitted():
    """Three leaves: nine samples of "a" with value 1, nine of "b" and one of "c" with value 2, one of "c" with 5."""
    states = [[0.0]] * 9 + [[1.0]] * 10 + [[2.0]]
    actions = [0] * 9 + [1] * 9 + [2] * 2
    rewards = [1.0] * 9 + [2.0] * 10 + [5.0]
    log = make_log(states, actions, rewards, np.arange(21), labels=("a", "b", "c"), names=("pos",))
    fitted = quietly_fitted(log, theta=(1, 0, 0), gamma=0.0, max_leaves=3).fitted_
    assert fitted.leaves.count.tolist() == [9, 10, 1]
    return fitted


@pytest.mark.parametrize(
    ("foil", "leaves", "told"),
    [
        ({"action": "a"}, [0], "action = a"),
        ({"action": ["c", "a", "c"]}, [0, 2], "action = c or a"),
        ({"action": ("b",)}, [1], "action = b"),
        ({"value": (2, None)}, [1, 2], "value >= 2"),
        ({"value": (None, 2)}, [0], "value < 2"),
        ({"value": (1, 5)}, [0, 1, 2], "value in [1, 5]"),  # 5 is the largest on record
        ({"value": (1, 4.9)}, [0, 1], "value in [1, 4.9)"),
        ({"value": 2}, [1], "value = 2"),
        ({"value": (2, None), "action": "b"}, [1], "value >= 2 and action = b"),
        ({"value": (9, None)}, [], "value >= 9"),
        ("value > 1 and action != c", [1], "value > 1 and action = a or b"),
        ("value < 5", [0, 1], "value < 5"),
        ("value <= 5", [0, 1, 2], "value <= 5"),
    ],
)
def test_leaves_that_predict_a_foil(fitted, foil, leaves, told):
    found = read_foil(fitted, foil)
    assert np.flatnonzero(found.mask).tolist() == leaves
    assert found.told() == told


@pytest.mark.parametrize(
    ("leaf", "support"),
    [
        (0, "(The tree knows only 9 samples there, all with action = a.)"),
        (1, "(The tree knows 10 samples there, 90 % with action = b.)"),
        (2, "(The tree knows only 1 sample there.)"),
    ],
)
def test_how_sure_a_leaf_is(fitted, leaf, support):
    """Fewer than ten samples are few, one sample has nobody to agree with, and nearly all are not all."""
    foil = read_foil(fitted, {"action": ["a", "b", "c"]})
    assert foil.support(leaf, int(fitted.leaves.count[leaf])) == support


def test_support_of_numbers_has_their_means(fitted):
    both = read_foil(fitted, {"value": (0, None), "action": "a"})
    assert both.support(0, 9) == "(The tree knows only 9 samples there, value = 1 and all with action = a.)"
    assert read_foil(fitted, {"value": (0, None)}).support(1, 10) == "(The tree knows 10 samples there, value = 2.)"


def test_what_holds_already_is_said_once_where_a_label_says_it_all(fitted):
    assert read_foil(fitted, {"action": "a"}).already(0) == "Action = a here already."
    assert read_foil(fitted, {"action": ["a", "b"]}).already(0) == "Action = a here, so action = a or b already."
    assert read_foil(fitted, {"value": (None, 2)}).already(0) == "Value = 1 here, so value < 2 already."


def test_what_no_leaf_predicts(fitted):
    nowhere = read_foil(fitted, "action = c and value < 2")
    assert not nowhere.mask.any()
    assert nowhere.nowhere() == "No state known to the tree would have action = c and value < 2."


@pytest.mark.parametrize(
    ("interval", "plain", "told", "would"),
    [
        ((-math.inf, 1.5), [None, 1.5], "value < 1.5", "value would < 1.5"),
        ((-math.inf, math.nextafter(1.5, 9)), [None, math.nextafter(1.5, 9)], "value <= 1.5", "value would <= 1.5"),
        ((math.nextafter(1.5, 9), math.inf), [math.nextafter(1.5, 9), None], "value > 1.5", "value would > 1.5"),
        ((1.5, 2.5), [1.5, 2.5], "value in [1.5, 2.5)", "value would lie in [1.5, 2.5)"),
        ((1.5, 1.5), [1.5, 1.5], "value = 1.5", "value would = 1.5"),
    ],
)
def test_conditions_on_numbers_in_words_and_as_data(fitted, interval, plain, told, would):
    condition = Condition(read_attribute(fitted, "value"), interval=Interval(*interval))
    assert (condition.plain(), condition.told(), condition.told("would")) == (plain, told, would)


def test_purity_is_the_least_of_all_attributes(fitted):
    foil = read_foil(fitted, {"value": (0, None), "action": "a"})
    # Values agree within each leaf; of the actions of leaf 1, one in ten differs.
    assert foil.purity().tolist() == pytest.approx([1.0, 0.9, 1.0])
    assert foil.plain() == {"value": [0, None], "action": ["a"]}


@pytest.mark.parametrize(
    ("foil", "message"),
    [
        ({}, r'what should be predicted instead; got \{\}. Try foil=\{"action": "a"\} or foil=\{"value"'),
        ("", "foil is empty text"),
        (3, "foil must be a dict that names what should be predicted instead; got 3"),
        (None, "got None"),
        ({"action": "d"}, r"foil\['action'\] is 'd', an action that the tree does not know; it knows `a`, `b`, `c`."),
        ({"action": []}, r"foil\['action'\] is empty; the actions are `a`, `b`, `c`."),
        ({"value": (None, None)}, r"foil\['value'\] is \(None, None\), which is always true. Give at least one bound."),
        ({"value": (2, 1)}, r"foil\['value'\] is empty: 2 is above 1. Try \(1, 2\)."),
        ({"value": (2, 2)}, r"foil\['value'\] is empty: no number is at least 2 and below 2. For 2 itself, write 2"),
        ({"value": "high"}, r"foil\['value'\] must be \(low, high\) with None for no bound"),
        ({"value": (1, 2, 3)}, r"foil\['value'\] must be \(low, high\)"),
        ({"value": (True, 2)}, r"foil\['value'\] must be \(low, high\)"),
        ({"pos": (0, 1)}, "foil has no 'pos'; it may have `action`, `value`"),
    ],
)
def test_foils_that_are_none(fitted, foil, message):
    with pytest.raises(ParameterError, match=message):
        read_foil(fitted, foil)


def test_numbers_of_actions_are_asked_for_by_name():
    engines = random_fitted(1, 2, 6, discrete=False)
    with pytest.raises(ParameterError, match="must be one number here; name one of `main`, `side`"):
        read_foil(engines, {"action": (0, 1)})
    with pytest.raises(ParameterError, match=r'Try foil=\{"main": \(0.5, None\)\}'):
        read_foil(engines, {})


def test_without_bounds_everything_holds(fitted):
    condition = Condition(read_attribute(fitted, "value"))
    assert condition.interval == ANYTHING
    assert condition.leaves().all()
    assert read_condition(fitted, "value", (-math.inf, 2), "zone").interval == (-math.inf, 2)
