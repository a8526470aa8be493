"""Stories in words: phases, reasons, jumps of the value, and how well all that fits."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tripletree import Feature
from tripletree.answers.story import Jump, Phase, Story, fits, headline

SCHEMA = SimpleNamespace(features=(Feature("pos", "m"), Feature("flag", kind="binary"), Feature("speed")))


class Reason(SimpleNamespace):
    """What a phase takes from a change: its conditions, and whether it happened."""

    def __init__(self, feature=0, relation=">=", border=1.0, was=0.0, became=1.0, happened=True):
        super().__init__(
            changed=(feature,),
            relations=(relation,),
            borders=(border,),
            was=was,
            became=became,
            schema=SCHEMA,
            before=np.zeros(3),
            after=np.array([2.0, 1.0, 2.0]),
        )
        self.happened = happened

    def __bool__(self) -> bool:
        return self.happened


def one_phase(begin=0, end=5, **given) -> Phase:
    usual = {
        "name": "pos low",
        "region": 0,
        "behaviour": "left",
        "outcomes": ("left",),
        "kinds": ("constant",),
        "agreement": (1.0,),
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
        "together": None,
    }
    return Story(phases=phases or (one_phase(),), **{**usual, **given})


def test_a_phase_has_its_steps_its_name_and_what_is_done():
    assert str(one_phase()) == "0-4 pos low: left"
    assert str(one_phase(4)) == "4 pos low: left"
    assert str(one_phase(changes=(Reason(),))) == "0-4 pos low: left, because pos >= 1 m"


def test_a_reason_is_told_where_it_is_short_and_happened():
    assert "because" not in str(one_phase(changes=(Reason(happened=False),)))
    both = one_phase(changes=(Reason(happened=False), Reason(1, "=", 1.0)))
    assert str(both).endswith(", because flag")
    three = one_phase(changes=(Reason(), Reason(1, "=", 1.0), Reason(2)))
    assert "because" not in str(three), "longer than what it explains"


def test_borders_have_three_digits_while_they_lie_between_the_two_states():
    assert str(one_phase(changes=(Reason(border=1.23456),))).endswith("because pos >= 1.23 m")
    close = Reason(border=1.23456)
    close.before, close.after = np.array([1.234, 0, 0]), np.array([1.235, 0, 0])
    assert str(one_phase(changes=(close,))).endswith("because pos >= 1.23456 m")


def test_a_jump_says_which_way():
    up = Jump(7, Reason(was=1.0, became=3.4567))
    assert str(up) == "The value rises most at step 7, from 1 to 3.46, because pos >= 1 m."
    down = Jump(3, Reason(1, "=", 0.0, was=3.0, became=-1.0))
    assert str(down) == "The value falls most at step 3, from 3 to -1, because not flag."


def test_a_story_line_by_line():
    told = story(
        one_phase(),
        one_phase(5, 12, changes=(Reason(),), behaviour="right (80 %)", name="pos high"),
        total=-612.34,
        ending="terminated",
        jumps=(Jump(5, Reason()),),
        agreement=0.917,
        together=0.917,
    )
    assert str(told).splitlines() == [
        "This episode: 12 steps, return -612.3, ended by itself.",
        "  0-4   pos low: left.",
        "  5-11  pos high: right (80 %), because pos >= 1 m.",
        "  The value rises most at step 5, from 0 to 1, because pos >= 1 m.",
        "  Fits 92 % of the recording.",
    ]
    assert len(told.changes) == 1


@pytest.mark.parametrize(
    ("outcomes", "text"),
    [
        (("off",), "Fits 82 % of the recording."),
        (("off", "on"), "Fits 82 % of the recording for each action, 65 % for both at once."),
        (("off", "on", "off"), "Fits 82 % of the recording for each action, 65 % for all 3 at once."),
    ],
)
def test_how_well_a_story_fits(outcomes, text):
    assert fits(story(one_phase(outcomes=outcomes), agreement=0.82, together=0.65)) == text
    assert fits(story(one_phase(outcomes=outcomes))) == "", "nothing is recorded"


def test_rules_that_were_told_before_are_not_told_again():
    rule = {"behaviour": "left when pos < 1, else right", "kinds": ("rule",), "outcomes": ("left when ...",)}
    told = story(one_phase(**rule), one_phase(5, 8), one_phase(8, 12, **rule), one_phase(12, 15), steps=15.0)
    assert str(told).splitlines()[1:] == [
        "  0-4    pos low: left when pos < 1, else right.",
        "  5-7    pos low: left.",
        "  8-11   pos low: as in 0-4.",
        "  12-14  pos low: left.",
    ]


def test_endings():
    assert headline(story()) == "This episode: 12 steps."
    assert headline(story(ending="truncated")) == "This episode: 12 steps, cut off."
    assert headline(story(ending="unknown")) == "This episode: 12 steps, how it ended is not recorded."
    assert headline(story(), "Run 7") == "Run 7: 12 steps."


def test_a_trajectory_goes_through_leaves_and_takes_about_some_steps():
    told = story(simulated=True, steps=7.6, jumps=(Jump(5, Reason()),), title="This trajectory")
    assert str(told).splitlines() == ["This trajectory: about 8 steps.", "  leaves 0-4  pos low: left."]
    assert str(story(simulated=True, steps=0.2)).startswith("This episode: about 1 step.")
