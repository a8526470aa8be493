"""Criticality: where what the agent chooses goes with how well it fares, the moments worth a look, and what is open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.answers.rules import conditions
from tripletree.language.numbers import all_of, capital, percent, rounded
from tripletree.log.schema import Schema
from tripletree.text import count

I64 = npt.NDArray[np.int64]

ENOUGH = 10
"""What a comparison must be worth: 10 episodes that took an option against many that did not, or 20 against 20."""
MOST_TOLD = 5
"""Places told one by one."""
DIGITS = 2
"""Significant digits of a difference: its interval is wide."""

ONE_ACTION = "the agent always does the same there"
STATE_DECIDES = "what it does there follows largely from the state"
TOO_FEW = "too few episodes did each"
REASONS = (ONE_ACTION, TOO_FEW, STATE_DECIDES)
"""Why it cannot be told whether a choice matters."""

CAUTION = '"Went with" is not "made": the agent may have chosen for a reason that the state does not show.'
NO_VALUE = "Whether the choice matters cannot be told: the log has no rewards, or all steps are worth the same."
NO_CHOICE = "Whether the choice matters cannot be told: the log has no actions, or only one."


@dataclass(frozen=True, eq=False, repr=False)
class Place(Answer):
    """A region in which the log shows several actions in like states.

    Attributes
    ----------
    node : int
        The node of the tree.
    when : tuple of str
        What holds in it.
    leaves : int array
        Its leaves in which there was something to compare.
    share : float
        The share of the log's steps in these leaves.
    about : str
        What is chosen: "action", or a dimension of it.
    option : str
        The action, or the level of a dimension, that tells most.
    options : tuple of str
        All that were done there.
    difference : float
        How much more value went with the option than with anything else done there in like states. Where the choice
        matters it is shrunk towards 0, because the largest of many estimates is too large.
    interval : pair of float
        95 % interval of the difference.
    raw, error, freedom : float
        The difference before it was shrunk, its standard error from whole episodes, and its degrees of freedom.
    chance : float
        How often chance alone would make such a difference there.
    matters : bool
        Whether it is claimed that the choice matters: the difference is beyond chance (in a whole log, one false claim
        has a chance of at most 5 %) and at least a tenth of the value's standard deviation.
    took, episodes : int
        Episodes (or groups of them) that took the option there, and all that can be compared.
    spread : float
        The standard deviation of the value over the training log.
    """

    node: int
    when: tuple[str, ...]
    leaves: I64
    share: float
    about: str
    option: str
    options: tuple[str, ...]
    difference: float
    interval: tuple[float, float]
    raw: float
    error: float
    freedom: float
    chance: float
    matters: bool
    took: int
    episodes: int
    spread: float

    def __str__(self) -> str:
        where = conditions(self.when) if self.when else "anywhere"
        return f"{capital(where)} ({percent(self.share)} of the steps): {went_with(self)}."


@dataclass(frozen=True, eq=False, repr=False)
class Criticality(Answer):
    """Where the choice matters, where it does not, and where that cannot be told.

    Attributes
    ----------
    places : tuple of Place
        What could be compared; those where the choice matters first, the largest difference first.
    place : int array of shape (leaves,)
        The first of the places that each leaf belongs to, -1 where nothing can be told.
    reason : int array of shape (leaves,)
        Why nothing can be told, an index of ``REASONS``; -1 where something can.
    unknown : tuple of float
        The share of the log's steps for each of ``REASONS``.
    told : float
        The share of the log's steps about which something can be said.
    comparable : bool
        Whether the log has actions and values that differ at all.
    """

    places: tuple[Place, ...]
    place: I64
    reason: I64
    unknown: tuple[float, ...]
    told: float
    comparable: bool

    @property
    def critical(self) -> tuple[Place, ...]:
        """The places where the choice matters."""
        return tuple(one for one in self.places if one.matters)

    def __str__(self) -> str:
        return _criticality(self)


@dataclass(frozen=True, eq=False, repr=False)
class StateCriticality(Answer):
    """Whether the choice matters in states like one.

    Attributes
    ----------
    place : Place or None
        What the log shows there; None where it shows nothing.
    reason : str
        Why it shows nothing; empty where it shows something.
    schema : Schema
        Names of the features.
    """

    place: Place | None
    reason: str
    schema: Schema

    def __str__(self) -> str:
        return _state(self) + self._assumption(self.schema)


@dataclass(frozen=True, eq=False, repr=False)
class Moment(Answer):
    """A step of an episode at which the choice matters.

    Attributes
    ----------
    step : int
        The step, counted from 0.
    did : str
        What it did.
    place : Place
        What the log shows about the choice in such states.
    """

    step: int
    did: str
    place: Place

    def __str__(self) -> str:
        told = went_with(self.place)
        if self.did == self.place.option:
            return f"step {self.step}: {self.did}, which {told.removeprefix(self.did).lstrip()}"
        return f"step {self.step}: {self.did}; in such states {told}"


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Answer):
    """The few moments of an episode worth a look, because there the choice matters.

    Attributes
    ----------
    episode : str
        Whose moments.
    moments : tuple of Moment
        In the order of time.
    """

    episode: str
    moments: tuple[Moment, ...]

    def __str__(self) -> str:
        if not self.moments:
            return f"Episode {self.episode} has no step at which the log shows that the choice matters."
        return "\n".join(worth_a_look(self.moments))


def went_with(place: Place) -> str:
    """Return what went with an option: "left went with 12 more value than right (95 % interval 5 to 19; ...)"."""
    more = "more" if place.difference >= 0 else "less"
    low, high = sorted(abs(bound) if bound * place.difference > 0 else -abs(bound) for bound in place.interval)
    others = [one for one in place.options if one != place.option]
    than = others[0] if len(others) == 1 else "anything else done there"
    bounds = f"95 % interval {rounded(low, DIGITS)} to {rounded(high, DIGITS)}"
    return (
        f"{place.option} went with {rounded(abs(place.difference), DIGITS)} {more} value than {than} ({bounds}; "
        f"{place.took:,} of {count(place.episodes, 'episode')} did it)"
    )


def worth_a_look(moments: tuple[Moment, ...]) -> list[str]:
    """Return a line for each moment."""
    return [f"{'Also' if place else 'Worth a look:'} {one}." for place, one in enumerate(moments)]


def _criticality(answer: Criticality) -> str:
    if not answer.comparable:
        return NO_VALUE
    places, critical = answer.places, answer.critical
    if not places:
        return f"Whether the choice matters cannot be told anywhere: {_unknown(answer)}."
    can = f"in {count(len(places), 'place')} with {percent(answer.told)} of the steps"
    if critical:
        share = percent(min(sum(one.share for one in critical), 1.0))
        there = f"In {len(critical):,} of them ({share} of the steps)" if len(places) > 1 else "There"
        lines = [
            f"It can be told {can}. {there} the choice matters: what the agent did went with how well it fared "
            "afterwards."
        ]
        lines += [f"  {one}" for one in critical[:MOST_TOLD]]
        if len(critical) > MOST_TOLD:
            lines.append(f"  and {count(len(critical) - MOST_TOLD, 'more place')}.")
        lines.append(CAUTION)
    else:
        nowhere = "In none of them does" if len(places) > 1 else "There, in no way does"
        lines = [
            f"It can be told {can}. {nowhere} what the agent did go with how well it fared afterwards, beyond chance "
            "and by more than a trifle."
        ]
    if rest := _unknown(answer):
        lines.append(f"Elsewhere it cannot be told: {rest}.")
    return "\n".join(lines)


def _unknown(answer: Criticality) -> str:
    return all_of([f"{why} ({percent(share)})" for why, share in zip(REASONS, answer.unknown, strict=True) if share])


def _state(answer: StateCriticality) -> str:
    place = answer.place
    if place is None:
        return f"Whether the choice matters here cannot be told: {answer.reason}."
    where = f"In states like this one ({conditions(place.when)})" if place.when else "In states like this one"
    if place.matters:
        return f"{where} the choice matters: {went_with(place)}. {CAUTION}"
    return f"{where} the log shows no difference beyond chance: {went_with(place)}."
