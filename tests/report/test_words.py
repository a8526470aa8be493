"""The English of a report: sizes, endings, returns, failures and options, for one and for many."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.report.models import of_one_feature, of_road
from tripletree.log.log import TERMINATED, TRUNCATED, UNKNOWN
from tripletree.model.fitted import Judged
from tripletree.report import words


def episodes(*lengths, endings=None, rewards=None):
    """A log of episodes that last so long."""
    n = sum(lengths)
    return make_log(
        np.arange(n, dtype=float)[:, None],
        [0] * n,
        np.zeros(n) if rewards is None else rewards,
        np.append(0, np.cumsum(lengths)),
        endings=endings,
        labels=("a", "b"),
    )


def test_the_size_of_a_log():
    assert words.log_size(episodes(1)) == (
        "The log has 1 sample in 1 episode. A state has 1 feature; the action is one of 2 labels."
    )
    log = random_log(1, lengths=(1000, 500), features=3, dimensions=2)
    assert words.log_size(log) == (
        "The log has 1,500 samples in 2 episodes. A state has 3 features; the action has 2 dimensions."
    )


@pytest.mark.parametrize(
    ("lengths", "endings", "text"),
    [
        ((7,), [UNKNOWN], "The episode lasts 7 steps."),
        ((1,), [TERMINATED], "The episode lasts 1 step."),
        ((2, 9), [TERMINATED] * 2, "Episodes last 2 to 9 steps (median 5); all ended by themselves."),
        (
            (2, 9, 4),
            [TERMINATED, TRUNCATED, TRUNCATED],
            "Episodes last 2 to 9 steps (median 4); 1 ended by itself and 2 were cut off.",
        ),
        (
            (2, 9, 4),
            [UNKNOWN, TERMINATED, TRUNCATED],
            "Episodes last 2 to 9 steps (median 4); 1 has an unknown ending, 1 ended by itself and 1 was cut off.",
        ),
        ((3, 3), [UNKNOWN] * 2, "Each episode lasts 3 steps; all have unknown endings."),
    ],
)
def test_how_long_episodes_last_and_how_they_end(lengths, endings, text):
    assert words.log_episodes(episodes(*lengths, endings=endings)) == text


@pytest.mark.parametrize(
    ("returns", "text"),
    [
        ([3.14159], "Its return (the sum of its rewards) is 3.142."),
        ([2.0, 2.0], "Every episode has the same return (the sum of its rewards): 2."),
        (
            [5.0, -1.0, 9.0],
            "Returns (the sum of an episode's rewards) range from -1 to 9; the median is 5.",
        ),
        (
            list(range(101)),
            "Returns (the sum of an episode's rewards) range from 0 to 100; the median is 50.",
        ),
    ],
)
def test_what_episodes_return(returns, text):
    assert words.log_returns(np.array(returns, float)) == text


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (0.25, "disagreement on value is 25 % of that in the whole log"),
        (0.94, "disagreement on value is 94 % of that in the whole log"),
        (0.996, "disagreement on value is about the same as in the whole log"),
        (1.0, "disagreement on value is about the same as in the whole log"),
        (1.049, "disagreement on value is about the same as in the whole log"),
        (1.1, "disagreement on value is 1.1 times that in the whole log"),
        (1.449, "disagreement on value is 1.4 times that in the whole log"),
    ],
)
def test_doubts_about_a_leaf(left, text):
    assert words.doubt(1, left, 50, False) == text
    assert words.doubt(1, left, 1, True) == f"{text} and only 1 sample"


def test_few_episodes_are_not_told_apart():
    nine = words.failures(episodes(*[2] * 9), np.arange(9.0))
    assert nine.startswith("The log has too few episodes")
    assert "10 %" in words.failures(episodes(*[2] * 10), np.arange(10.0))


def test_the_tenth_with_the_lowest_returns_is_compared_with_the_others():
    # Returns 0, 10, ..., 200: a tenth is 20 or less, and those three episodes last 1, 2 and 9 steps.
    lengths = [1, 2, 9, *[5] * 17, 7]
    text = words.failures(episodes(*lengths), 10.0 * np.arange(21))
    assert text == (
        "The 10 % of episodes with the lowest returns get 20 or less. Their median length is 2 steps; that of the "
        "others is 5."
    )
    # Many that return the same are all among the lowest.
    same = words.failures(episodes(*[3] * 12), np.full(12, 7.0))
    assert same == "The 10 % of episodes with the lowest returns get 7 or less, and so do all others."


def test_values_go_from_the_least_to_the_largest_leaf():
    tree, _ = of_one_feature()
    values = tree.fitted_.leaves.value_mean
    text = words.fortune(tree.fitted_)
    assert "counting 0.99 times as much" in text
    assert text.endswith(f"from {words.rounded(float(values.min()), 3)} to {words.rounded(float(values.max()), 3)}.")


def test_endings_and_falls_in_a_table():
    assert [words.ending(code) for code in (UNKNOWN, TERMINATED, TRUNCATED)] == ["unknown", "by itself", "cut off"]
    assert words.fall(None) == "no large drop"
    assert words.fall("The value falls most at step 3, from 2 to 1.") == "at step 3, from 2 to 1"
    assert words.findings(0) == "Nothing in the log is cause for concern."
    assert words.findings(3) == "What stands out in the log (3)"


def test_how_soon_episodes_end():
    soon = SimpleNamespace(within=1, probability=0.25, interval=None)
    assert words.to_the_end(soon, SimpleNamespace(steps=None)) == ("Of the recorded episodes, 25 % end within 1 step.")
    soon = SimpleNamespace(within=20, probability=0.25, interval=(0.2, 0.3))
    assert words.to_the_end(soon, SimpleNamespace(steps=12.345)).endswith(
        "25 % end within 20 steps (95 % interval 20 % to 30 %); those that end take 12.3 steps on average."
    )
    assert words.to_the_end(soon, SimpleNamespace(steps=98_312.0)).endswith("take 98,300 steps on average.")
    assert words.to_the_end(soon, SimpleNamespace(steps=1.0001)).endswith("those that end take 1 step on average.")


@pytest.mark.parametrize(
    ("numbers", "middle"),
    [
        ([1.0, 1.0], 1.0),
        ([0.0, 1.0], 0.5),  # the spread is a half: one decimal
        ([0.1234, 0.1254], 0.124),  # a thousandth
        ([100.0, 900.0], 500.0),
        ([123.0, 987.0], 600.0),  # 555, to the hundreds that a spread of 432 deserves
    ],
)
def test_a_round_number_near_the_mean(numbers, middle):
    assert words.about_the_mean(np.array(numbers)) == pytest.approx(middle)


class Two(SimpleNamespace):
    """Two changes, one of which needs both features."""

    def __len__(self):
        return 2


def test_changes_across_a_number_are_counted():
    two = Two(about="thrust", moves=10, changed=np.array([[True, False], [True, True]]), features=("pos", "speed"))
    assert words.changes(two, 0.5) == (
        "In 10 steps, thrust goes from one side of 0.5 to the other 2 times; pos alone explains 50 % of the changes."
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"),
        (False, "no"),
        (None, "none"),
        (0.99, "0.99"),
        (3, "3"),
        ("exact", "exact"),
        ([1.0, 0.5, None], "1, 0.5, none"),
    ],
)
def test_options_as_a_reader_writes_them(value, text):
    assert words.option(value) == text


def test_what_a_picture_shows_for_those_who_do_not_see_it():
    assert words.picture(("pos (m)", 0.0, 1.23456), None, "") == "Horizontal axis: pos (m), from 0 to 1.235."
    assert words.picture(None, ("value", -1.0, 1.0), "count, from 1 to 9") == (
        "Vertical axis: value, from -1 to 1. Colour: count, from 1 to 9."
    )
    assert words.colours("acc", 0, 1, ("left", "right")) == "acc (left, right)"
    assert words.colours("value", 0.0, 2.0, ()) == "value, from 0 to 2"


def judged(losses, constant, discrete, margin=(0.05, 0.05, 0.05), costs=False):
    numbers = None if losses is None else Judged(tuple(losses), tuple(constant), margin, 3, 90)
    return SimpleNamespace(judged=numbers, discrete=discrete, costs=costs)


def test_key_facts_are_those_of_unseen_episodes():
    _, log = of_road()
    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    facts = dict(words.key_facts(log, returns, judged([0.1, 0.5, 1], [0.4, 2, 2], True)))
    assert facts["steps"] == f"{log.n_samples:,}"
    assert facts["of unseen actions right"] == "90 %"
    assert facts[words.LESS_ERROR.format("the value")] == "75 %"
    assert facts["median return"] == words.rounded(float(np.median(returns)), 3)
    costly = dict(words.key_facts(log, returns, judged([1.5, 0.5, 1], [4, 2, 2], True, costs=True)))
    assert (costly["mean cost of unseen actions"], costly["mean cost without looking at the state"]) == ("1.5", "4")
    assert "of unseen actions right" not in costly
    worse = dict(words.key_facts(log, returns, judged([1.5, 3, 1], [2, 2, 2], False)))
    assert worse[words.LESS_ERROR.format("the action")] == "25 %"
    assert worse[words.LESS_ERROR.format("the value")] == "none"
    same = dict(words.key_facts(log, returns, judged([0, 0, 1], [0, 0, 2], False)))
    assert list(same) == ["steps", "episodes", "median return"]
    alone = dict(words.key_facts(log, returns, judged(None, None, True)))
    assert list(alone) == ["steps", "episodes", "median return"]


def test_what_is_only_chance_is_said_before_what_matters():
    (text,) = words.caveat(judged([0.1, 1.99, 2], [0.4, 2, 2], True, (0.05, np.inf, 0.05)))
    assert text.startswith("On unseen episodes, the state tells no more about value or derivative than chance would")
    assert words.caveat(judged([0.1, 1, 1], [0.4, 2, 2], True)) == []
    assert words.caveat(judged([0, 1, 1], [0, 2, 2], True)) == []
    assert words.caveat(judged(None, None, True)) == []


def test_the_size_of_a_tree():
    tree, _ = of_road()
    depth = int(tree.tree_.depth.max())
    assert words.size_of_tree(tree.fitted_) == f"A decision tree with 80 leaves, at most {depth} splits deep"
    assert words.size_of_tree(tree.fitted_.truncate(2)) == "A decision tree with 2 leaves, at most 1 split deep"
    assert words.sentence("no leaf rests.") == "No leaf rests."


def test_what_comes_from_random_episodes_is_said():
    log = random_log(0, (40, 30))
    assert words.sampled(log, log) == []
    assert words.drawn_by(70, log) == []
    assert words.drawn_by(35, log) == ["The curves are drawn by 35 of the 70 states, taken evenly."]
    long = random_log(0, (1_000,) * 250, features=1)
    assert words.sampled(long, long.select(range(200))) == [
        "Of a log this long, whole random episodes tell what the world is like (up to 100,000 steps) and changes of "
        "mind and whether anything repeats (200,000 steps)."
    ]
    longer = random_log(0, (1_000,) * 301, features=1)
    assert words.sampled(longer, longer)[0].endswith("and where the choice matters (up to 300,000 steps).")
