"""Disagreement: where a tree does something else than its agent, or than another tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.answers.rules import conditions
from tripletree.language.numbers import all_of, percent, rounded, unit
from tripletree.text import count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Spot(Answer):
    """One leaf in which they disagree much.

    Attributes
    ----------
    leaf : int
        The leaf.
    when : tuple of str
        What holds there.
    states : int
        How many states were asked about there.
    share : float
        Of labels, the share in which both do the same; of numbers, the mean distance in standard deviations of the
        action.
    text : str
        The sentence.
    """

    leaf: int
    when: tuple[str, ...]
    states: int
    share: float
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class Disagreement(Answer):
    """What a tree and somebody else do in the same recorded states.

    Attributes
    ----------
    who : str
        Who the other is, in words.
    states : int
        In how many states both were asked.
    episodes : int
        Of how many episodes these states are.
    agreement : float or None
        Of labels, the share of the states in which both do the same; None for numbers.
    interval : two floats, or None
        95 % interval of that share, with whole episodes as the unit.
    apart : dict of str to float
        Of numbers, the root mean square difference in each dimension, in its own unit.
    relative : dict of str to float or None
        The same in standard deviations of the action over the training log; None where that is 0.
    by_leaf : float64 array of shape (leaves,)
        As ``Spot.share``, leaf by leaf; NaN where no state was asked about.
    spots : tuple of Spot
        The leaves in which they differ most, for all of the states.
    worst : int64 array of shape (examples,)
        Rows of the record in which they differ, the largest differences first.
    ours, theirs : tuples
        What each of them does there.
    units : dict of str to str
        Units of the dimensions.
    """

    who: str
    states: int
    episodes: int
    agreement: float | None
    interval: tuple[float, float] | None
    apart: dict[str, float]
    relative: dict[str, float | None]
    by_leaf: F64
    spots: tuple[Spot, ...]
    worst: I64
    ours: tuple[Any, ...]
    theirs: tuple[Any, ...]
    units: dict[str, str]

    def __str__(self) -> str:
        return _disagreement(self)


@dataclass(frozen=True, eq=False, repr=False)
class Both(Answer):
    """What a tree and somebody else do in one state.

    Attributes
    ----------
    who : str
        Who the other is, in words.
    ours, theirs : str or tuple of float
        What each of them does.
    agree : bool
        Whether that is the same: the same label, or numbers at most half a standard deviation of the action apart.
    names, units : tuples of str
        What the dimensions of the action are called.
    """

    who: str
    ours: Any
    theirs: Any
    agree: bool
    names: tuple[str, ...]
    units: tuple[str, ...]

    def __str__(self) -> str:
        name = self.names[0] if self.names else "action"
        if isinstance(self.ours, str):
            same = f"Tree and {self.who} do the same: {name} = {self.ours}."
            return same if self.agree else f"The tree does {name} = {self.ours}, the {self.who} {self.theirs}."
        both = f"The tree does {self._told(self.ours)}, the {self.who} {self._told(self.theirs)}"
        return f"{both}: {'nearly the same' if self.agree else 'not the same'}."

    def _told(self, numbers: tuple[float, ...]) -> str:
        parts = zip(self.names, numbers, self.units, strict=True)
        return all_of([f"{name} = {rounded(number, 3)}{unit(of)}" for name, number, of in parts])


def _disagreement(answer: Disagreement) -> str:
    """Return how far both agree, and where they do not."""
    asked = f"{count(answer.states, 'recorded state')} of {count(answer.episodes, 'episode')}"
    if answer.agreement is not None:
        sure = ""
        if answer.interval is not None:
            low, high = answer.interval
            sure = f" (95 % interval {percent(low)} to {percent(high)})"
        text = f"Tree and {answer.who} do the same in {percent(answer.agreement)}{sure} of {asked}."
    else:
        told = [
            f"{name} {rounded(far, 3)}{unit(answer.units[name])}"
            + ("" if answer.relative[name] is None else f" ({percent(answer.relative[name] or 0.0)} of its spread)")
            for name, far in answer.apart.items()
        ]
        text = f"Tree and {answer.who} differ in {asked} by {all_of(told)} (root mean square)."
    return f"{text} They differ most {answer.spots[0]}" if answer.spots else text


def spot(when: tuple[str, ...], states: int, share: float, labels: bool, part: float) -> str:
    """Return the sentence of a leaf: where it is, how they differ there, and how much of all that is."""
    where = conditions(when) if when else "everywhere"
    how = f"the same in {percent(share)}" if labels else f"apart by {rounded(share, 2)} standard deviations"
    return f"where {where}, {how} of {count(states, 'state')} ({percent(part)} of all that they differ by)."
