"""Words for states: each has one meaning, and they fit together."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree.language.naming import Word, joined, plain_words, vocabulary
from tripletree.log.schema import Action, Feature, Schema

RNG = np.random.default_rng(0)
ACTION = Action("discrete", ("action",), ("a",), ("",))


def words(*features, states=None, borders=None, rate_of=None):
    """The words for some features, by their texts."""
    schema = Schema(features, ACTION)
    states = RNG.uniform(0, 10, (2_000, len(features))) if states is None else states
    rounded = [np.unique(np.round(np.quantile(column, np.arange(1, 32) / 32), 1)) for column in states.T]
    found = vocabulary(schema, states, borders or [[]] * len(features), rate_of or {}, rounded)
    told = {joined([word]): word for word in found}
    assert len(told) == len(found), "each has one meaning"
    return told, states


def test_low_and_high_are_shares_of_the_samples_where_no_border_says_otherwise():
    told, states = words(Feature("y"))
    shares = {text: word.holds(states).mean() for text, word in told.items()}
    assert shares["y low"] == pytest.approx(0.3, abs=0.03)
    assert shares["y high"] == pytest.approx(0.3, abs=0.03)
    assert shares["y very low"] == pytest.approx(0.1, abs=0.03)
    assert shares["y medium"] == pytest.approx(0.4, abs=0.05)
    assert "y negative" not in told, "nothing is"
    assert not any("not low" in text for text in told)


@pytest.mark.parametrize(
    ("borders", "names"),
    [
        ([5.0], {"y low": (-np.inf, 5), "y high": (5, np.inf)}),
        ([2.0], {"y low": (-np.inf, 2), "y medium or high": (2, np.inf)}),
        ([8.0], {"y low or medium": (-np.inf, 8), "y high": (8, np.inf)}),
        ([2.0, 8.0], {"y low": (-np.inf, 2), "y medium": (2, 8), "y high": (8, np.inf)}),
        ([1.0, 3.0], {"y very low": (-np.inf, 1), "y fairly low": (1, 3), "y low": (-np.inf, 3)}),
        ([7.0, 9.0], {"y very high": (9, np.inf), "y fairly high": (7, 9), "y high": (7, np.inf)}),
    ],
)
def test_borders_make_the_words(borders, names):
    told, _ = words(Feature("y"), borders=[borders])
    for text, ends in names.items():
        assert told[text].limits == ((0, *ends),)


def test_the_sign_is_told_where_both_occur():
    told, states = words(Feature("x"), states=RNG.normal(size=(500, 1)))
    np.testing.assert_array_equal(told["x negative"].holds(states), states[:, 0] < 0)
    np.testing.assert_array_equal(told["x positive"].holds(states), states[:, 0] >= 0)


def test_a_rate_tells_which_way_its_feature_goes():
    states = np.column_stack([RNG.uniform(0, 10, 2_000), RNG.normal(size=2_000)])
    told, _ = words(Feature("y"), Feature("vy"), states=states, borders=[[], [-1.0, 0.1]], rate_of={1: 0})
    assert not any(text.startswith("vy") for text in told)
    assert told["y falling fast"].limits == ((1, -np.inf, -1.0),)
    assert told["y falling slowly"].limits == ((1, -1.0, 0.0),)
    assert told["y not falling fast"].limits == ((1, -1.0, np.inf),)
    assert told["y steady or falling"].limits == ((1, -np.inf, 0.1),)
    assert told["y rising"].limits == ((1, 0.1, np.inf),)
    assert told["y steady"].limits == ((1, 0.0, 0.1),)


def test_flags_in_words_alone_and_together():
    left, right = (Feature(f"{side} leg in contact", kind="binary") for side in ("left", "right"))
    states = RNG.integers(0, 2, (400, 2)).astype(float)
    told, _ = words(left, right, states=states)
    assert {"left leg in contact", "right leg not in contact", "no leg in contact", "both legs in contact"} <= set(told)
    np.testing.assert_array_equal(told["no leg in contact"].holds(states), ~states.any(axis=1))
    np.testing.assert_array_equal(told["both legs in contact"].holds(states), states.all(axis=1))
    three = [Feature(f"leg {k} down", kind="binary") for k in range(3)]
    assert "all legs down" in words(*three, states=RNG.integers(0, 2, (400, 3)).astype(float))[0]
    # Flags that have nothing in common are told one by one.
    other, _ = words(Feature("door open", kind="binary"), left, states=states)
    assert set(other) == {"door open", "door not open", "left leg in contact", "left leg not in contact"}


def test_a_name_is_made_of_words():
    high, falling = Word("y", "high", ((0, 1.0, np.inf),)), Word("y", "falling fast", ((1, -np.inf, -1.0),))
    alone = Word("", "no leg in contact", ((2, -np.inf, 0.5),))
    assert joined([high, falling]) == "y high and falling fast"
    assert joined([high, alone, falling]) == "no leg in contact, y high and falling fast"
    assert joined([]) == ""
    (border,) = plain_words(Feature("y", "m"), 0, 0.3, np.inf)
    assert joined([border]) == "y >= 0.3 m"
    assert joined([border, falling]) == "y >= 0.3 m and falling fast"
    assert not border.plain
    assert plain_words(Feature("y"), 0, -np.inf, np.inf) == []
