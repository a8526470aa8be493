"""Story: what the agent does along an episode, phase by phase, and why it changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tripletree.answers.answer import Answer
from tripletree.answers.change import Change, because
from tripletree.answers.criticality import Moment, worth_a_look
from tripletree.asking.levels import Classes
from tripletree.language.numbers import all_of, percent, rounded, rounded_apart
from tripletree.text import count

VALUE_DIGITS = 3
"""Significant digits of a value in a story: more would only distract."""

ENDINGS = {
    "terminated": "Then the episode ends.",
    "truncated": "Then the recording is cut off.",
    "unknown": "There the record ends.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Phase(Answer):
    """A part of an episode in which the agent does one thing, or alternates between several.

    Attributes
    ----------
    begin, end : int
        Its steps, ``end`` not included; for one of the paper's ways, leaves of its path.
    behaviour : str
        What the agent does, in words: of an action with several dimensions what differs from the phase before.
    outcomes : tuple of str
        The same one by one: several when it alternates, the one with most steps first.
    interruptions : int
        Times that it did something else too briefly to be told.
    value_begin, value_end : float
        The tree's value of the first and the last state.
    changes : tuple of Change
        Why it began; empty for the first phase. Of an action with several dimensions, one for each that changed.
    """

    begin: int
    end: int
    behaviour: str
    outcomes: tuple[str, ...]
    interruptions: int
    value_begin: float
    value_end: float
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return phase(self)


@dataclass(frozen=True, eq=False, repr=False)
class Jump(Answer):
    """A step at which the value changes much.

    Attributes
    ----------
    step : int
        The step after the change.
    change : Change
        Why it changed.
    lasted : int or None
        Steps until it was undone, if that was soon: then both are one event. None for a change that lasts.
    """

    step: int
    change: Change
    lasted: int | None = None

    def __str__(self) -> str:
        return jump(self)


@dataclass(frozen=True, eq=False, repr=False)
class Story(Answer):
    """The phases of an episode, and why one follows the other.

    Attributes
    ----------
    title : str
        Whose story it is.
    about : str
        The attribute that makes the phases.
    phases : tuple of Phase
        The phases.
    jumps : tuple of Jump
        Where the value rises and falls most, if it does so noticeably. Changes that last come before those that are
        undone within a few steps.
    steps : float
        How long it takes; an estimate for one of the paper's ways.
    simulated : bool
        Whether it is one of the paper's ways, with one state for each leaf.
    total : float or None
        The sum of rewards, when they are known.
    ending : {"terminated", "truncated", "unknown"} or None
        How the episode ended, when it is one.
    agreement : float or None
        The share of steps at which the log shows what the tree predicts, when there is a log.
    moments : tuple of Moment
        The few steps at which the choice matters, when there is a log of several episodes that shows it.
    """

    title: str
    about: str
    phases: tuple[Phase, ...]
    jumps: tuple[Jump, ...]
    steps: float
    simulated: bool
    total: float | None
    ending: str | None
    agreement: float | None
    moments: tuple[Moment, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """The reasons of all changes, in order."""
        return tuple(change for phase in self.phases for change in phase.changes)

    @property
    def with_value(self) -> bool:
        """Whether the value is worth telling beside the phases: they are not about it, and it changes."""
        values = {value for one in self.phases for value in (one.value_begin, one.value_end)}
        if self.about != "value" and values <= {0.0}:
            return False  # as in a log without rewards
        return self.about != "value" and (len(values) > 1 or len(self.phases) == 1)

    @property
    def explained(self) -> tuple[Change, ...]:
        """All changes that the story gives reasons for: those of its phases, then the jumps of the value."""
        return (*self.changes, *(jump.change for jump in self.jumps))

    def __str__(self) -> str:
        return _story(self)


def phase(
    one: Phase,
    noun: tuple[str, str] = ("step", "steps"),
    way: str = "for",
    value: bool = True,
    among: Iterable[Change] = (),
) -> str:
    """Return one phase: what, how long, why, and the value on the way; ``among`` is what else the text explains."""
    text = f"{one.behaviour} {way} {count(one.end - one.begin, *noun)}"
    if reason := because(*filter(None, one.changes), among=among):
        text += f" because {reason}"
    aside = [count(one.interruptions, "brief interruption")] if one.interruptions else []
    if value:
        begin, end = rounded(one.value_begin, VALUE_DIGITS), rounded(one.value_end, VALUE_DIGITS)
        aside.append(f"value {begin}" if begin == end else f"value {begin} to {end}")
    return f"{text} ({', '.join(aside)})" if aside else text


def jump(one: Jump, among: Iterable[Change] = ()) -> str:
    """Return where the value changes much, and why; ``among`` is what else the text explains."""
    change = one.change
    moves = "rises" if change.became > change.was else "falls"
    ends = "from {} to {}".format(*rounded_apart(change.was, change.became, VALUE_DIGITS))
    # What is undone soon is one event: told as two, with two reasons, it would seem to contradict itself.
    back = "" if one.lasted is None else f" and back after {count(one.lasted, 'step')}"
    return f"The value {moves} most at step {one.step}, {ends}{back}, because {because(change, among=among)}."


def _story(answer: Story) -> str:
    """Return the story, one line a phase."""
    steps = count(max(round(answer.steps), 1), "step")
    noun, way = (("leaf", "leaves"), "through") if answer.simulated else (("step", "steps"), "for")
    lasts = f"takes about {steps}" if answer.simulated else f"lasts {steps}"
    total = f" and returns {rounded(answer.total)}" if answer.total is not None else ""
    lines = [f"{answer.title} {lasts}{total}."]
    told = [phase(one, noun, way, answer.with_value, answer.explained) for one in answer.phases]
    lines.append(f"First {told[0]}" + ("," if len(told) > 1 else "."))
    lines += [f"then {text}{',' if place < len(told) else '.'}" for place, text in enumerate(told[1:], start=2)]
    if answer.ending is not None:
        lines.append(ENDINGS[answer.ending])
    if not answer.simulated:
        lines += [jump(one, answer.explained) for one in answer.jumps]
    lines += worth_a_look(answer.moments)
    if answer.agreement is not None:
        lines.append(f"The log shows what the tree predicts at {percent(answer.agreement)} of the steps.")
    return "\n".join(lines)


@dataclass(frozen=True)
class Column:
    """What a behaviour is made of: its name, and what each level is called at first and later on."""

    name: str
    first: tuple[str, ...]
    later: tuple[str, ...]


Parts = Sequence[tuple[tuple[int, ...], float]]
"""Behaviours that alternate: the level of every column, and the share of the steps."""


def columns(classes: Classes) -> list[Column]:
    """Return the columns of an attribute; a discrete action is one column with its labels as levels."""
    if classes.about.labels:
        return [Column("action =", classes.columns[0].texts, classes.columns[0].texts)]
    return [Column(one.name, one.texts, one.names) for one in classes.columns]


def behaviours(parts: Sequence[Column], phases: Sequence[Parts]) -> list[str]:
    """Return what the agent does in each phase: what differs from the phase before; numbers at first mention only."""
    seen: set[tuple[int, int]] = set()
    before: list[set[int]] = [set() for _ in parts]
    told = []
    for phase in phases:
        here = [{levels[k] for levels, _ in phase} for k in range(len(parts))]
        fresh = [k for k in range(len(parts)) if here[k] != before[k]] or range(len(parts))
        texts = [_column(parts[k], k, phase, seen) for k in fresh]
        told.append(", and ".join(texts) if any(len(here[k]) > 1 for k in fresh) else all_of(texts))
        before = here
    return told


def _column(column: Column, k: int, phase: Parts, seen: set[tuple[int, int]]) -> str:
    shares: dict[int, float] = {}
    for levels, share in phase:
        shares[levels[k]] = shares.get(levels[k], 0.0) + share
    texts = {level: (column.later if (k, level) in seen else column.first)[level] for level in shares}
    seen.update((k, level) for level in shares)
    if len(shares) == 1:
        return f"{column.name} {next(iter(texts.values()))}"
    ranked = sorted(shares, key=lambda level: -shares[level])
    # Of two the first is the more frequent one; of more, the shares are told.
    shown = [texts[level] + (f" ({percent(shares[level])})" if len(ranked) > 2 else "") for level in ranked]
    return f"{column.name.removesuffix(' =')} alternating between {all_of(shown)}"
