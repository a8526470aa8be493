"""Futures: what comes next from here, the commonest first: where to, how often, when, and with which outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.answers.chance import Seen, hindsight
from tripletree.answers.rules import conditions
from tripletree.language.conditions import STARTS
from tripletree.language.numbers import FEW, estimate, percent
from tripletree.text import count, plural


@dataclass(frozen=True, eq=False, repr=False)
class Future(Answer):
    """One thing that recorded episodes did next.

    Attributes
    ----------
    leaf : int or None
        The region that they went to: a leaf of the tree as it was with so many leaves as there are regions. None for
        those that stayed where they were until they ended.
    where : tuple of str
        What is so in that region and was not so before; empty for the end.
    when : tuple of str
        All that holds there.
    action : str
        What the agent does there, in words; empty for the end.
    episodes : int
        How many of the episodes that were at the start went there.
    share : float
        Their share, where those that the record cut off are filled in from those that were watched for longer.
    interval : float64 array of shape (2,)
        95 % interval of the share, with whole episodes as the unit.
    steps : three ints
        Steps within which 10, 50 and 90 % of them were there.
    returns : three floats, or None
        10, 50 and 90 % of the returns of these whole episodes; None where all episodes on record have the same.
    others : float or None
        The median return of the other episodes from here, where it is clearly another.
    ended : int
        How many of these episodes were seen to end.
    text : str
        The sentence.
    """

    leaf: int | None
    where: tuple[str, ...]
    when: tuple[str, ...]
    action: str
    episodes: int
    share: float
    interval: npt.NDArray[np.float64]
    steps: tuple[int, int, int]
    returns: tuple[float, float, float] | None
    others: float | None
    ended: int
    text: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class Futures(Answer):
    """The commonest futures from a place, counted over recorded episodes with one vote each; false when there is none.

    Attributes
    ----------
    found : tuple of Future
        The futures, the commonest first.
    rest : float
        Share of all other futures.
    unresolved : float
        Share of which the record ends too early to tell.
    cut : int
        Episodes in which the record ends before anything else came; shares are filled in from the others.
    seen : Seen
        Who was seen at the start.
    """

    found: tuple[Future, ...]
    rest: float
    unresolved: float
    cut: int
    seen: Seen

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Future]:
        return iter(self.found)

    def __getitem__(self, number: int) -> Future:
        return self.found[number]

    def __str__(self) -> str:
        return _futures(self)


def tell(one: Future, seen: Seen) -> str:
    """Return the sentence of one future."""
    low, high = map(percent, one.interval.tolist())
    text = f"In {one.episodes:,} of {_episodes(seen)} ({percent(one.share)}, 95 % interval {low} to {high}) it "
    if one.leaf is None:
        text += "stays in this region until the episode ends, "
    else:
        # Two or more actions side by side would be longer than all the rest.
        action = "" if " and " in one.action else f" with {one.action}"
        text += f"next goes to {conditions(one.where)}{action}, "
    outcome = _outcome(one)
    return f"{text}{_when(*one.steps)}{f'; {outcome}' if outcome else ''}."


def _when(early: int, middle: int, late: int) -> str:
    if early == late:
        return f"after {count(middle, 'step')}" if middle else "at once"
    return f"after about {count(middle, 'step')} ({early:,} to {late:,})" if middle else f"within {count(late, 'step')}"


def _episodes(seen: Seen) -> str:
    """Return who is counted: "22 recorded episodes that came near here"."""
    if seen.start == STARTS:
        return count(seen.episodes, "recorded episode")
    came = "near here" if seen.distance is not None else "here"
    return f"{count(seen.episodes, 'recorded episode')} that came {came}"


def _outcome(one: Future) -> str:
    told = []
    if one.returns is not None:
        low, middle, high = one.returns
        spread = f" ({estimate(low)} to {estimate(high)})" if estimate(low) != estimate(high) else ""
        told.append(
            f"{plural(one.episodes, 'that episode', 'these episodes')} returned {estimate(middle)}{spread} as a whole"
        )
        if one.others is not None:
            more = "more" if middle > one.others else "less"
            told[-1] += f", clearly {more} than the others ({estimate(one.others)})"
    left = one.episodes - one.ended
    if left:
        whose = f"{left:,} of them" if one.ended else plural(one.episodes, "it", "they")
        told.append(f"how {whose} ended is not on record")
    return ", and ".join(told)


def _futures(answer: Futures) -> str:
    seen = answer.seen
    if not seen.episodes:
        only = "" if seen.given is None else f" {seen.given_words}"
        return f"No recorded episode was in {seen.start}{only}, so nothing shows what comes next."
    lines = [_came(seen)]
    lines += [f"{number}. {one}" for number, one in enumerate(answer.found, 1)]
    if answer.rest >= 0.0005:
        lines.append(f"The other {percent(answer.rest)} go elsewhere.")
    if answer.cut:
        told = f"In {count(answer.cut, 'episode')} the record ends before anything else comes"
        known = "what would have come is taken from those that were watched for longer"
        lost = f"for {percent(answer.unresolved)} nobody knows what would have come"
        lines.append(f"{told}; {lost if answer.unresolved >= 0.005 else known}.")
    if seen.hindsight:
        lines.append(hindsight(seen).strip())
    return "\n".join(lines)


def far(distance: float) -> str:
    """Return how far neighbours are, as a share of the features' ranges: "at most 3 % of the ranges away"."""
    return (
        f"at most {percent(distance) if distance < 1 else f'{estimate(distance)} times the width'} of the ranges away"
    )


def _came(seen: Seen) -> str:
    """Return where from, who was there, and how far to trust so many."""
    told = count(seen.episodes, "recorded episode")
    if seen.distance is not None:
        told += f", {far(seen.distance)}"
    elif seen.start != STARTS:
        told = f"{seen.episodes:,} of {count(seen.recorded, 'recorded episode')} came here"
    few = "; with so few, take the shares as rough" if seen.episodes < FEW else ""
    outside = "; this state lies outside the range of the log" if seen.outside else ""
    only = "" if seen.given is None else f" {seen.given_words}"
    return f"From {seen.start}{only} ({told}{few}{outside}):"
