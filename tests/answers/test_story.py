"""Stories in words: phases, reasons, jumps of the value, and how several behaviours alternate."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tripletree import Feature
from tripletree.answers.story import Column, Jump, Phase, Story, behaviours, phase

SCHEMA = SimpleNamespace(features=(Feature("pos", "m"), Feature("flag", kind="binary")))


class Reason(SimpleNamespace):
    """What a phase takes from a change: its conditions, and whether it happened."""

    def __init__(self, feature=0, relation=">=", border=1.0, was=0.0, became=1.0, happened=True):
        super().__init__(
            changed=(feature,), relations=(relation,), borders=(border,), was=was, became=became, schema=SCHEMA
        )
        self.happened = happened

    def __bool__(self) -> bool:
        return self.happened


def one_phase(begin=0, end=5, **given) -> Phase:
    usual = {
        "behaviour": "action = left",
        "outcomes": ("Action = left",),
        "interruptions": 0,
        "value_begin": 1.0,
        "value_end": 1.0,
        "changes": (),
    }
    return Phase(begin, end, **{**usual, **given})


def story(*phases, **given) -> Story:
    usual = {
        "title": "This episode",
        "about": "action",
        "jumps": (),
        "steps": 12.0,
        "simulated": False,
        "total": None,
        "ending": None,
        "agreement": None,
    }
    return Story(phases=phases or (one_phase(),), **{**usual, **given})


def test_a_phase_has_its_length_its_reason_and_its_value():
    assert str(one_phase()) == "action = left for 5 steps (value 1)"
    assert str(one_phase(4)) == "action = left for 1 step (value 1)"
    because = one_phase(value_end=2.5, changes=(Reason(),))
    assert str(because) == "action = left for 5 steps because pos >= 1 m (value 1 to 2.5)"
    assert str(one_phase(interruptions=1)).endswith("(1 brief interruption, value 1)")
    assert str(one_phase(interruptions=2)).endswith("(2 brief interruptions, value 1)")
    # Of a story about the value, its values would only repeat the phases.
    assert phase(one_phase(), value=False) == "action = left for 5 steps"
    assert phase(one_phase(interruptions=1), value=False).endswith("steps (1 brief interruption)")


def test_a_change_that_did_not_happen_is_no_reason():
    assert "because" not in str(one_phase(changes=(Reason(happened=False),)))
    both = one_phase(changes=(Reason(happened=False), Reason(1, "=", 1.0)))
    assert " because flag (" in str(both)


@pytest.mark.parametrize(
    ("number", "text"), [(1.2345, "1.23"), (1.2355, "1.24"), (-0.00012345, "-0.000123"), (1234.5, "1230"), (0.0, "0")]
)
def test_values_have_three_digits(number, text):
    assert str(one_phase(value_begin=number, value_end=number)).endswith(f"(value {text})")


def test_values_that_look_the_same_are_told_once():
    assert str(one_phase(value_begin=1.231, value_end=1.2339)).endswith("(value 1.23)")
    assert str(one_phase(value_begin=1.231, value_end=1.236)).endswith("(value 1.23 to 1.24)")


def test_a_jump_says_which_way():
    up = Jump(7, Reason(was=1.0, became=3.4567))
    assert str(up) == "The value rises most at step 7, from 1 to 3.46, because pos >= 1 m."
    down = Jump(3, Reason(1, "=", 0.0, was=3.0, became=-1.0))
    assert str(down) == "The value falls most at step 3, from 3 to -1, because not flag."


def test_a_story_line_by_line():
    told = story(
        one_phase(),
        one_phase(5, 12, changes=(Reason(),), behaviour="action = right", value_begin=2.0, value_end=2.0),
        total=-612.34,
        ending="terminated",
        jumps=(Jump(5, Reason()),),
        agreement=0.917,
    )
    assert str(told).splitlines() == [
        "This episode lasts 12 steps and returns -612.3.",
        "First action = left for 5 steps (value 1),",
        "then action = right for 7 steps because pos >= 1 m (value 2).",
        "Then the episode ends.",
        "The value rises most at step 5, from 0 to 1, because pos >= 1 m.",
        "The log shows what the tree predicts at 92 % of the steps.",
    ]
    assert len(told.changes) == 1


def test_a_value_that_never_changes_is_not_told():
    same = story(one_phase(), one_phase(5, 12, behaviour="action = right"))
    assert "value" not in str(same)
    assert not same.with_value


def test_endings():
    assert str(story()).splitlines()[-1] == "First action = left for 5 steps (value 1)."
    assert str(story(ending="truncated")).splitlines()[-1] == "Then the recording is cut off."
    assert str(story(ending="unknown")).splitlines()[-1] == "There the record ends."


def test_a_trajectory_goes_through_leaves_and_takes_about_some_steps():
    told = story(simulated=True, steps=7.6, jumps=(Jump(5, Reason()),), title="This trajectory")
    assert str(told).splitlines() == [
        "This trajectory takes about 8 steps.",
        "First action = left through 5 leaves (value 1).",
    ]
    assert str(story(simulated=True, steps=0.2)).startswith("This episode takes about 1 step.")


ACTION = Column("action =", ("left", "right", "brake"), ("left", "right", "brake"))
MAIN = Column("main", ("low (< 0)", "high (>= 0)"), ("low", "high"))
SIDE = Column("side", ("low (< 1)", "high (>= 1)"), ("low", "high"))


def test_two_that_alternate_are_told_by_frequency_and_three_with_their_shares():
    two = [[((1,), 0.6), ((0,), 0.4)]]
    assert behaviours([ACTION], two) == ["action alternating between right and left"]
    three = [[((1,), 0.5), ((0,), 0.3), ((2,), 0.2)]]
    assert behaviours([ACTION], three) == ["action alternating between right (50 %), left (30 %) and brake (20 %)"]
    assert behaviours([ACTION], [[((2,), 1.0)]]) == ["action = brake"]


def test_numbers_of_a_level_are_told_at_first_mention_only():
    low, high = ((0, 0), 1.0), ((1, 0), 1.0)
    assert behaviours([MAIN, SIDE], [[low], [high], [low]]) == [
        "main low (< 0) and side low (< 1)",
        "main high (>= 0)",
        "main low",
    ]


def test_a_phase_tells_what_differs_from_the_one_before_or_all_of_it():
    mixed = [((0, 0), 0.7), ((1, 0), 0.3)]
    assert behaviours([MAIN, SIDE], [mixed, [((0, 1), 1.0)]]) == [
        "main alternating between low (< 0) and high (>= 0), and side low (< 1)",
        "main low and side high (>= 1)",
    ]
    # Nothing differs: the same levels, alternating as before.
    assert behaviours([SIDE], [[((0,), 1.0)], [((0,), 1.0)]]) == ["side low (< 1)", "side low"]
    # Shares of one level add up over the levels of the other column.
    four = [((0, 0), 0.3), ((1, 0), 0.4), ((0, 1), 0.3)]
    assert behaviours([MAIN, SIDE], [four]) == [
        "main alternating between low (< 0) and high (>= 0), and side alternating between low (< 1) and high (>= 1)"
    ]
