"""Story: an episode phase by phase: where the agent is, what it does there, and how well that fits the recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tripletree.answers.answer import Answer
from tripletree.answers.change import Change, because
from tripletree.answers.criticality import Moment, worth_a_look
from tripletree.language.numbers import percent, rounded, rounded_apart
from tripletree.text import count

DIGITS = 3
"""Significant digits of a value, or of a border, in a story: more would only distract."""
SHORT = 2
"""Conditions of a reason, at most: longer ones would be longer than what they explain."""

ENDINGS = {"terminated": "ended by itself", "truncated": "cut off", "unknown": "how it ended is not recorded"}


@dataclass(frozen=True, eq=False, repr=False)
class Phase(Answer):
    """A part of an episode that the agent spends in one region.

    Attributes
    ----------
    begin, end : int
        Its steps, ``end`` not included; for one of the paper's ways, leaves of its path.
    name : str
        The name of the region.
    region : int
        Its number in the outline with as many regions.
    behaviour : str
        What the agent does, in words.
    outcomes : tuple of str
        The same one by one: what it does in each dimension of the action.
    kinds : tuple of {"constant", "rule", "cycle"}
        Whether that is one level, a short rule, or something that repeats.
    agreement : tuple of float, or None
        How often the recording shows just that, one by one; None where nothing is recorded.
    interruptions : int
        Times that it left the region too briefly to be told.
    value_begin, value_end : float
        The tree's value of the first and the last state.
    changes : tuple of Change
        Why the tree predicts something else than in the phase before; of an action with several dimensions, one for
        each that changed. Empty for the first phase.
    """

    begin: int
    end: int
    name: str
    region: int
    behaviour: str
    outcomes: tuple[str, ...]
    kinds: tuple[str, ...]
    agreement: tuple[float, ...] | None
    interruptions: int
    value_begin: float
    value_end: float
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return f"{steps(self)} {phase(self)}"


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
        How often the story says what the recording shows, averaged over the dimensions of the action; None without a
        recording.
    together : float or None
        The share of steps at which it does so in all dimensions at once.
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
    together: float | None
    moments: tuple[Moment, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """The reasons of all changes, in order."""
        return tuple(change for phase in self.phases for change in phase.changes)

    @property
    def explained(self) -> tuple[Change, ...]:
        """All changes that the story gives reasons for: those of its phases, then the jumps of the value."""
        return (*self.changes, *(jump.change for jump in self.jumps))

    def __str__(self) -> str:
        return _story(self)


def steps(one: Phase) -> str:
    """Return the steps of a phase: "35-129"."""
    return f"{one.begin}-{one.end - 1}" if one.end - one.begin > 1 else f"{one.begin}"


def phase(one: Phase, among: Iterable[Change] = ()) -> str:
    """Return one phase: where, what, and why it began, if that is short; ``among`` is what else the text explains."""
    text = f"{one.name}: {one.behaviour}"
    reasons = [change for change in one.changes if change]
    features = {f for change in reasons for f in change.changed}
    return f"{text}, because {because(*reasons, among=among, short=DIGITS)}" if 0 < len(features) <= SHORT else text


def jump(one: Jump, among: Iterable[Change] = ()) -> str:
    """Return where the value changes much, and why; ``among`` is what else the text explains."""
    change = one.change
    moves = "rises" if change.became > change.was else "falls"
    ends = "from {} to {}".format(*rounded_apart(change.was, change.became, DIGITS))
    # What is undone soon is one event: told as two, with two reasons, it would seem to contradict itself.
    back = "" if one.lasted is None else f" and back after {count(one.lasted, 'step')}"
    reason = because(change, among=among, short=DIGITS)
    return f"The value {moves} most at step {one.step}, {ends}{back}, because {reason}."


def headline(answer: Story, name: str = "") -> str:
    """Return the first line of a story: "Episode 0: 175 steps, return 305, ended by itself."."""
    length = count(max(round(answer.steps), 1), "step")
    parts = [f"about {length}" if answer.simulated else length]
    if answer.total is not None:
        parts.append(f"return {rounded(answer.total)}")
    if answer.ending is not None:
        parts.append(ENDINGS[answer.ending])
    return f"{name or answer.title}: {', '.join(parts)}."


def fits(answer: Story) -> str:
    """Return how well a story fits its recording: "Fits 82 % of the recording for each action, 65 % for both ..."."""
    if answer.agreement is None or answer.together is None:
        return ""
    dimensions = len(answer.phases[0].outcomes)
    if dimensions == 1:
        return f"Fits {percent(answer.agreement)} of the recording."
    every = "both" if dimensions == 2 else f"all {dimensions}"
    each = "action" if answer.about == "action" else "part"
    each = f"Fits {percent(answer.agreement)} of the recording for each {each}"
    return f"{each}, {percent(answer.together)} for {every} at once."


def moments_told(answer: Story) -> str:
    """Return where the value changes much and where the choice matters, in one line."""
    jumps = () if answer.simulated else answer.jumps
    return " ".join([*(jump(one, answer.explained) for one in jumps), *worth_a_look(answer.moments)])


def _story(answer: Story) -> str:
    """Return the story, one line a phase."""
    labels = [steps(one) if not answer.simulated else f"leaves {steps(one)}" for one in answer.phases]
    width = max(map(len, labels))
    lines = [headline(answer)]
    known: dict[tuple[str, ...], str] = {}
    for label, one in zip(labels, answer.phases, strict=True):
        # Rules that were told before are not told again.
        key = (one.name, *one.outcomes)
        again = f"{one.name}: as in {known[key]}" if key in known and set(one.kinds) - {"constant"} else ""
        known.setdefault(key, steps(one))
        lines.append(f"  {label:<{width}}  {again or phase(one, answer.explained)}.")
    lines += [f"  {told}" for told in (moments_told(answer), fits(answer)) if told]
    return "\n".join(lines)
