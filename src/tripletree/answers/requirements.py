"""Requirements: whether the episodes of a log meet what is demanded of them, by how much, and where they do not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.answers.outcome import Shared
from tripletree.answers.rules import conditions
from tripletree.language.numbers import percent, rounded, unit
from tripletree.markup import notebook_box
from tripletree.text import Message, Option, count, joined, plural, some_of

F64 = npt.NDArray[np.float64]

VERDICTS = {True: "Holds", False: "Violated", None: "Cannot tell"}
SHOWN = 3
"""Episodes that a text names, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class Witnessed(Answer):
    """An episode, and what its margin comes from.

    Attributes
    ----------
    episode : int or str
        Its id.
    number : int
        Its position in the log, from 0.
    step : int or None
        Where: the step of the episode, from 0; one more than its last step for the state after the last action. None
        where the return or the length of the whole episode decides.
    margin : float
        By how much the requirement is met (above 0) or missed (below): at least so much, or at most, if the recording
        was cut off. Infinite where what decides has no distance, such as a label.
    reading : str
        What was recorded there: "vx = 0.62 m/s".
    name : str
        Whose number that is.
    """

    episode: Any
    number: int
    step: int | None
    margin: float
    reading: str
    name: str


@dataclass(frozen=True, eq=False, repr=False)
class Ground(Answer):
    """Where in the state space a requirement is violated.

    Attributes
    ----------
    boxes : tuple of tuple of str
        Conditions on the state, of which those of one box hold.
    violating, inside : int
        Steps that violate it, and how many of them lie in a box.
    visited : int
        Steps in a box, violating or not.
    steps : int
        All steps in which it is known whether it is violated.
    episodes, episodes_inside : int
        Episodes with steps that violate it, and those with at least half of these in a box.
    features : tuple of str
        What conditions may be on: not what the requirement itself names, where that alone decides.
    """

    boxes: tuple[tuple[str, ...], ...]
    violating: int
    inside: int
    visited: int
    steps: int
    episodes: int
    episodes_inside: int
    features: tuple[str, ...]

    def __str__(self) -> str:
        places = ", or ".join(conditions(box) for box in self.boxes)
        return (
            f"Where: {places}. Of the {count(self.violating, 'step that violates it', 'steps that violate it')}, "
            f"{self.inside:,} {plural(self.inside, 'lies', 'lie')} there, in {self.episodes_inside:,} of "
            f"{count(self.episodes, 'episode')}; {percent(self.inside / max(self.visited, 1))} of all steps there "
            f"violate it, and {percent(self.violating / self.steps)} of all steps (counted on episodes left out of the "
            "search)."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Requirement(Answer):
    """Whether the episodes of a log meet one requirement.

    Attributes
    ----------
    text : str
        The requirement.
    share : float or None
        The share of episodes that must meet it; None: every recorded one.
    episodes, held, violated : int
        How many there are, how many meet it and how many do not, whatever follows their recording.
    undecided : int
        How many were cut off before it was decided.
    groups : int or None
        Groups of episodes that the interval counts, where they are fewer.
    interval : pair of float
        95 % interval of the share of episodes that meet it; from the lower bound if none of the undecided does to the
        upper bound if all do.
    unit : str
        The unit of margins.
    ranges : dict of str to float, or None
        Where numbers with different units are compared, or without any: the range of each in the log. Margins are then
        parts of these. None: margins are in ``unit``.
    low, high : float64 array of shape (episodes,)
        The least and the greatest margin that each episode may turn out to have; the same where it is decided for good.
    worst : tuple of Witnessed
        The episodes with the least margins among those that are decided, the worst first.
    ground : Ground or None
        Where it is violated, for requirements that say what must always hold; None where nothing tells that.
    shared : Shared or None
        How episodes begin that violate it, if that tells them from the others.
    as_recorded : bool
        Whether the end of a recording was taken for the end of its episode.
    """

    text: str
    share: float | None
    episodes: int
    held: int
    violated: int
    undecided: int
    groups: int | None
    interval: tuple[float, float]
    unit: str
    ranges: dict[str, float] | None
    low: F64
    high: F64
    worst: tuple[Witnessed, ...]
    ground: Ground | None
    shared: Shared | None
    as_recorded: bool

    @property
    def holds(self) -> bool | None:
        """Whether it holds: in every episode, or in the share that is demanded; None where that cannot be told."""
        if self.share is not None:
            return True if self.interval[0] >= self.share else False if self.interval[1] < self.share else None
        return False if self.violated else None if self.undecided else True

    @property
    def margin(self) -> F64:
        """The margin of each episode, shape (episodes,): the nearest to 0 that it may be, NaN where it is undecided."""
        return np.where(self.low > 0, self.low, np.where(self.high < 0, self.high, np.nan))

    def __bool__(self) -> bool:
        return self.holds is True

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON types; numbers that are not finite become None."""
        return {"holds": self.holds, **super().to_dict()}

    @property
    def message(self) -> Message:
        """What there is to say, with arguments that can be worded for a shell."""
        lines = [f"{VERDICTS[self.holds]}: {self.text}", *(f"  {line}" for line in self._counted())]
        parts: list[Any] = [*lines]
        if self.undecided:
            parts.append(Message("  {} {}", self._cut_off(), _HOW_TO_DECIDE))
        parts += [f"  {line}" for line in (*self._worst(), *self._where())]
        return joined("\n", parts)

    def __str__(self) -> str:
        return str(self.message)

    def _counted(self) -> list[str]:
        low, high = self.interval
        counted = f", counted by {count(self.groups, 'group')}" if self.groups is not None else ""
        total = count(self.episodes, "episode")
        wanted = "" if self.share is None else f" Wanted: at least {percent(self.share)}."
        if self.held == self.episodes:
            return [
                f"It holds in all {total}: more than {percent(low)} of such episodes meet it (95 %{counted}).{wanted}"
            ]
        if self.violated == self.episodes:
            return [
                f"All {total} violate it: fewer than {percent(high)} of such episodes meet it (95 %{counted}).{wanted}"
            ]
        share = f", {percent(self.held / self.episodes)}" if not self.undecided else ""
        against = f"; {count(self.violated, 'violates', 'violate')} it" if self.violated else ""
        bounds = f"(95 % interval {percent(low)} to {percent(high)}{counted})"
        return [f"It holds in {self.held:,} of {total}{share} {bounds}{against}.{wanted}"]

    def _cut_off(self) -> str:
        which = (
            "The recording of 1 episode ends"
            if self.undecided == 1
            else f"The recordings of {self.undecided:,} episodes end"
        )
        return f"{which} before it is decided; so far nothing violates it for good."

    def _worst(self) -> list[str]:
        if not self.worst:
            return []
        bad = [one for one in self.worst if one.margin < 0]
        if bad and not any(math.isfinite(one.margin) for one in bad):
            # No distance tells one from another.
            named = some_of([str(one.episode) for one in bad] + [""] * (self.violated - len(bad)), SHOWN)
            return [f"Violated by {plural(self.violated, 'episode', 'episodes')} {named}."]
        chosen = bad[:SHOWN] if bad else [one for one in self.worst if math.isfinite(one.margin)][:1]
        told = "; ".join(map(self.told, chosen))
        return [f"{'Worst' if bad else 'Closest'}: {told}."] if told else []

    def told(self, one: Witnessed) -> str:
        """Return what decides an episode, and by how much: "episode 7 at step 3, y = -0.1 (missed by 0.1)"."""
        said = f"episode {one.episode}{_at(one)}, {one.reading}"
        if not math.isfinite(one.margin):
            return said
        short = self.in_words(one.margin)
        return f"{said} (missed by {short})" if one.margin < 0 else f"{said} ({short} to spare)"

    def in_words(self, margin: float) -> str:
        """Return the size of a margin: "0.12 m", or "5 % of its range"."""
        size = abs(margin)
        if size < 1e-300:
            return "0"
        if self.ranges is None:
            return f"{rounded(size, 3)}{unit(self.unit)}"
        return f"{percent(size)} of its range" if size < 1 else f"{rounded(size, 2)} times its range"

    def _where(self) -> list[str]:
        lines = [] if self.ground is None else [str(self.ground)]
        if self.shared is not None:
            one = self.shared
            who = count(self.violated, "episode that violates it", "episodes that violate it")
            lines.append(
                f"{one.failures:,} of the {who} {plural(one.failures, 'begins', 'begin')} with {conditions(one.when)}; "
                f"{one.successes:,} of the {self.held:,} others {plural(one.successes, 'does', 'do')} (right for "
                f"{percent(one.right)} of the episodes left out of the search)."
            )
        return lines


def _at(one: Witnessed) -> str:
    return "" if one.step is None else f" at step {one.step}"


_HOW_TO_DECIDE = Message(
    "To take the end of each recording for the end of its episode, give {}.", Option("as_recorded", True)
)


@dataclass(frozen=True, eq=False, repr=False)
class Requirements(Answer):
    """Whether the episodes of a log meet several requirements; true only if they meet all of them.

    Attributes
    ----------
    parts : tuple of Requirement
        One for each, in the order given.
    """

    parts: tuple[Requirement, ...]

    @property
    def holds(self) -> bool | None:
        """Whether all of them hold; False if one is violated, None where that cannot be told."""
        found = [one.holds for one in self.parts]
        return False if False in found else None if None in found else True

    @property
    def message(self) -> Message:
        """What there is to say, with arguments that can be worded for a shell."""
        return joined("\n", [one.message for one in self.parts])

    def __bool__(self) -> bool:
        return self.holds is True

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, number: int) -> Requirement:
        return self.parts[number]

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON types; numbers that are not finite become None."""
        return {"holds": self.holds, **super().to_dict()}

    def __str__(self) -> str:
        return str(self.message)

    def _repr_html_(self) -> str:
        return notebook_box(*map(str, self.parts))
