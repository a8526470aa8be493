"""Rhythm: what repeats in a log, as a cycle with its parts in order, how regular it is and where it breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.numbers import measured, percent, rounded, unit
from tripletree.text import count

MOST_BREAKS = 5
"""Breaks that are told; the others are counted."""
WHOLE = 20
"""Steps from which on parts of a step say nothing."""
NO_RHYTHM = "No rhythm: {}."


@dataclass(frozen=True, eq=False, repr=False)
class CyclePart(Answer):
    """A part of a cycle in which the agent does one thing.

    Attributes
    ----------
    begin, end : float
        Where it begins and ends, as shares of the cycle.
    steps : float
        How long it lasts.
    actions : tuple of str
        What the agent does: "leg torque positive"; of several dimensions those that change along the cycle.
    agreement : float
        Share of its steps at which the log shows each of these, on average; NaN without actions.
    features : tuple of str
        What the state is like: "torso height low (0.97)", "foot angle rising (-0.2 to 0.5)".
    """

    begin: float
    end: float
    steps: float
    actions: tuple[str, ...]
    agreement: float
    features: tuple[str, ...]

    def __str__(self) -> str:
        does, state = ", ".join(self.actions), ", ".join(self.features)
        return f"{does}; {state}" if does and state else does or state


@dataclass(frozen=True, eq=False, repr=False)
class Break(Answer):
    """Where an episode falls out of its rhythm.

    Attributes
    ----------
    episode : int
        Its position in the log.
    name : str
        What it is called.
    step, length : int
        The step of the episode at which it breaks, and how many it has.
    feature : str
        What was least usual there for this part of the cycle.
    value : float
        What it was.
    mean, std : float
        What it usually is there.
    unit : str
        In which unit.
    """

    episode: int
    name: str
    step: int
    length: int
    feature: str
    value: float
    mean: float
    std: float
    unit: str

    def __str__(self) -> str:
        usual = f"{self.feature} {rounded(self.value, 3)}{unit(self.unit)} (usually {measured(self.mean, self.std)})"
        return f"Episode {self.name} breaks at step {self.step} of {self.length}: {usual}."


@dataclass(frozen=True, eq=False, repr=False)
class Rhythm(Answer):
    """What repeats in a log, or why nothing does; true if something does.

    Attributes
    ----------
    found : bool
        Whether there is a rhythm.
    reason : str
        Why there is none.
    period : float
        Steps of a cycle.
    spread : float
        Standard deviation of the cycles' steps, without the longest and the shortest tenth.
    quick, slow : float
        Eight of ten cycles take at least and at most so many steps.
    cycles : int
        Whole cycles in the log.
    share : float
        Share of the windows that repeat: eight cycles each, of episodes that the rhythm was not found on.
    windows : int
        How many windows there were.
    regularity : float
        How well those windows repeat after one period, from 0 (not at all) to 1 (exactly).
    parts : tuple of CyclePart
        The parts of a cycle in order.
    breaks : tuple of Break
        Where episodes fall out of it, in the order of the log.
    told : bool
        Whether the cycles are long and regular enough to tell single breaks.
    phase : float64 array of shape (samples,)
        Where in the cycle each step of the log is, from 0 to 1; NaN where it is in none. Not in ``to_dict()``.
    """

    found: bool
    reason: str = ""
    period: float = np.nan
    spread: float = np.nan
    quick: float = np.nan
    slow: float = np.nan
    cycles: int = 0
    share: float = 0.0
    windows: int = 0
    regularity: float = 0.0
    parts: tuple[CyclePart, ...] = ()
    breaks: tuple[Break, ...] = ()
    told: bool = False
    phase: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __bool__(self) -> bool:
        return self.found

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the phase of every step as JSON types; numbers that are not finite become None."""
        data = super().to_dict()
        del data["phase"]
        return data

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.cycle, *self.where_it_breaks])

    @property
    def headline(self) -> str:
        """The period and how regular it is, in a sentence; or why there is no rhythm."""
        if not self.found:
            return NO_RHYTHM.format(self.reason)
        quick, slow = steps_text(self.quick), steps_text(self.slow)
        most = f"8 of 10 cycles take {quick}{'' if quick == slow else f' to {slow}'} steps"
        tested = f"{percent(self.share)} of {count(self.windows, 'unseen window')} repeat"
        return f"Repeats every {steps_text(self.period)} steps ({most}; {tested})."

    @property
    def cycle(self) -> tuple[str, ...]:
        """The parts of a cycle, a line each."""
        whole = self.period >= WHOLE
        steps = [f"{part.steps:.0f}" if whole else steps_text(part.steps) for part in self.parts]
        wide = max((len(text) for text in steps), default=0)
        return tuple(
            f"  {number}  {text:>{wide}} {'step ' if text == '1' else 'steps'}  {part}"
            for number, (text, part) in enumerate(zip(steps, self.parts, strict=True), 1)
        )

    @property
    def where_it_breaks(self) -> tuple[str, ...]:
        """Sentences about the breaks."""
        if not self.found:
            return ()
        if not self.told:
            return ("The cycles are too short or too loose to tell where one breaks.",)
        if not self.breaks:
            return ("No episode gets out of step.",)
        more = len(self.breaks) - MOST_BREAKS
        rest = [f"It breaks {count(more, 'more time')}."] if more > 0 else []
        return (*(str(one) for one in self.breaks[:MOST_BREAKS]), *rest)


def steps_text(steps: float) -> str:
    """Return "87": steps to as many digits as they deserve.

    >>> steps_text(87.04), steps_text(13.83), steps_text(6.0)
    ('87', '13.8', '6')
    """
    return f"{round(steps)}" if steps >= WHOLE else f"{round(steps, 1):g}"
