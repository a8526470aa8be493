"""Chances: how probable, how soon, where next: counted over recorded episodes, or guessed by the chain over leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.graph.transitions import MarkovCheck
from tripletree.language.conditions import STARTS, leaves
from tripletree.language.numbers import all_of, between, capital, estimate, percent
from tripletree.text import count, plural


@dataclass(frozen=True)
class Seen:
    """Who was seen at the start of a question.

    Attributes
    ----------
    start : str
        The start in words.
    recorded : int
        Episodes on record.
    episodes, visits : int
        How many of them came there, and for how many steps.
    distance : float or None
        If the start is a single state: how far the farthest of the recorded states that stand for it is, as a share of
        the features' ranges.
    outside : bool
        Whether it is a state outside the range of the training log.
    groups : int or None
        Of how many groups these episodes are, if the log has groups: then those are the unit of intervals.
    group_name : str
        What the groups are called.
    given : str or None
        The condition that episodes had to meet; then ``recorded`` are those that met it.
    given_words : str
        The condition in English.
    hindsight : bool
        Whether the condition speaks of what is known only when an episode is over.
    """

    start: str
    recorded: int
    episodes: int
    visits: int
    distance: float | None = None
    outside: bool = False
    groups: int | None = None
    group_name: str = "group"
    given: str | None = None
    given_words: str = ""
    hindsight: bool = False

    @property
    def alone(self) -> bool:
        """Whether all episodes are of one group, so that nobody knows how much groups differ."""
        return self.groups == 1


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Answer):
    """How probable it is to reach a zone: counted over what recorded episodes did, or guessed where none was.

    Attributes
    ----------
    probability : float
        The answer: the share of the recorded visits to the start whose real future reached the zone. Where no episode
        was at the start, or none is on record, the guess of the chain over leaves; NaN where a condition was given.
    interval : float64 array of shape (2,), or None
        95 % interval of the count, with whole episodes (or groups of them) as the unit; None for a guess, and where
        all episodes are of one group.
    reach, start, before : str
        The zones in words; ``before`` may be None.
    within : int or None
        Deadline in steps.
    seen : Seen or None
        Who was seen at the start; None where no episodes are on record.
    reached : int
        Episodes that were seen to reach it from the start.
    unresolved : float
        Probability that the record ends too early to tell.
    chain : float or None
        What the chain over leaves says, which forgets the past and takes leaves for zones; None where it is not known.
    miss : float or None
        How far such guesses are from what was counted elsewhere in this log, on average; only for guesses.
    there : bool
        Whether the start already lies in the zone.
    """

    probability: float
    interval: npt.NDArray[np.float64] | None
    reach: str
    start: str
    before: str | None
    within: int | None
    seen: Seen | None
    reached: int
    unresolved: float
    chain: float | None
    miss: float | None
    there: bool

    @property
    def counted(self) -> bool:
        """Whether the answer was counted; if not, it is a guess."""
        return self.seen is not None and self.seen.visits > 0

    def __str__(self) -> str:
        return _chance(self)


@dataclass(frozen=True, eq=False, repr=False)
class Duration(Answer):
    """How many steps it takes to reach a zone, over the visits that were seen to arrive.

    Attributes
    ----------
    steps : float or None
        Mean number of steps; None when nobody arrived.
    interval : float64 array of shape (2,), or None
        95 % interval of the mean, with whole episodes as the unit; None for a guess.
    quantiles : three floats, or None
        Steps within which 10, 50 and 90 % of those that arrived had arrived; None for a guess.
    probability : float
        Share of visits that were seen to arrive.
    missed, censored : float
        Share that ended without arriving, and that had not arrived when the record ended.
    reach, start, before : str
        The zones in words; ``before`` may be None.
    seen : Seen or None
        Who was seen at the start; None where no episodes are on record.
    chain : float or None
        What the chain over leaves says.
    there : bool
        Whether the start already lies in the zone.
    """

    steps: float | None
    interval: npt.NDArray[np.float64] | None
    quantiles: tuple[float, float, float] | None
    probability: float
    missed: float
    censored: float
    reach: str
    start: str
    before: str | None
    seen: Seen | None
    chain: float | None
    there: bool

    @property
    def counted(self) -> bool:
        """Whether the answer was counted; if not, it is a guess."""
        return self.seen is not None and self.seen.visits > 0

    def __str__(self) -> str:
        return _duration(self)


@dataclass(frozen=True, eq=False, repr=False)
class Whereabouts(Answer):
    """Where the agent is after some steps, or which share of its time it spends where.

    Attributes
    ----------
    share : float64 array of shape (leaves,)
        Probability of each leaf, or share of time in it.
    interval : float64 array of shape (2, leaves) or, after some steps, (2, leaves + 1) with the end; or None
        95 % intervals, with whole episodes as the unit; None for a guess.
    quantiles : float64 array of shape (3, features), or None
        10, 50 and 90 % of the states there, feature by feature; None for a guess or where nothing is left.
    end : float or None
        Probability that the episode has ended; None for shares of time.
    unresolved : float
        Probability that the record ends too early to tell; the other shares are of the rest.
    steps : int or None
        After how many steps; None for shares of time.
    start : str
        The start in words.
    seen : Seen or None
        Who was seen at the start; None where no episodes are on record.
    ranges : tuple of str
        From 10 to 90 %, in words, of the features that this pins down most.
    """

    share: npt.NDArray[np.float64]
    interval: npt.NDArray[np.float64] | None
    quantiles: npt.NDArray[np.float64] | None
    end: float | None
    unresolved: float
    steps: int | None
    start: str
    seen: Seen | None
    ranges: tuple[str, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether the answer was counted; if not, it is a guess."""
        return self.seen is not None and self.seen.visits > 0

    def __str__(self) -> str:
        order = np.argsort(-self.share, kind="stable")
        return _whereabouts(self, [(int(leaf), float(self.share[leaf])) for leaf in order if self.share[leaf] > 0])


@dataclass(frozen=True, eq=False, repr=False)
class Unreachable(Answer):
    """Which leaves no recorded transitions lead to.

    Attributes
    ----------
    leaves : int array
        Leaves that cannot be reached.
    n_leaves : int
        Leaves of the tree.
    end : bool
        Whether the end can be reached.
    start : str
        The start in words.
    """

    leaves: npt.NDArray[np.int64]
    n_leaves: int
    end: bool
    start: str

    def __str__(self) -> str:
        return _unreachable(self.leaves.tolist(), self.n_leaves, self.end, self.start)


APART, OUTSIDE = 0.1, 0.05
"""A chain that is this far from the count has missed something; or this far, and outside the interval."""


def _chance(answer: Chance) -> str:
    """Return the sentences of a chance."""
    if answer.there:
        return f"From {answer.start}: it is in {answer.reach} already."
    where = answer.reach + (f" before {answer.before}" if answer.before else "")
    when = "" if answer.within is None else f" within {count(answer.within, 'step')}"
    seen = answer.seen
    if seen is not None and seen.given is not None and not seen.visits:
        return nobody_came(seen)
    if seen is None or not answer.counted:
        return f"{_guess(answer, f'the chance of reaching {where}{when} to be {percent(answer.probability)}')}"
    low, high = (0.0, 1.0) if answer.interval is None else answer.interval.tolist()
    known = answer.interval is not None
    if answer.reached == 0:
        found = f"none reached {where}{when}" + (f": less than {percent(high)} do (95 %)" if known else "")
        found += _unequal(seen, high)
    elif answer.probability >= 1 - 1e-12:
        found = f"all reached {where}{when}" + (f": more than {percent(low)} do (95 %)" if known else "")
        found += _unequal(seen, 1 - low)
    else:
        found = f"{percent(answer.probability)} reached {where}{when}"
        found += f" (95 % interval {percent(low)} to {percent(high)})" if known else ""
    rest = ""
    if answer.unresolved >= 0.005:
        rest = f" For {percent(answer.unresolved)} the record ends too early to tell."
    return f"{came(seen)} {found}.{rest}{_one_group(seen)}{hindsight(seen)}{_cross_check(answer, low, high)}"


def _unequal(seen: Seen, bound: float) -> str:
    """Return why a bound is so loose, where a few episodes made most of the visits: it is that of those few."""
    units = seen.episodes if seen.groups is None else seen.groups
    loose = units > 0 and bound < 1 and bound > 2 * (1 - 0.05 ** (1 / units))
    return ", since a few of them make up most of that time" if loose else ""


def came(seen: Seen) -> str:
    """Return who was seen at the start."""
    only = f"{_capital(seen.given_words)}: " if seen.given is not None else ""
    of = "" if seen.groups is None else f" from {count(seen.groups, 'group')} (`{seen.group_name}`)"
    if seen.distance is not None:
        far = f"at most {percent(seen.distance)} of the ranges away"
        careful = ", and this state lies outside the range of the log" if seen.outside else ""
        return f"{only}{count(seen.episodes, 'recorded episode')}{of} came near {seen.start} ({far}{careful});"
    if seen.start == STARTS:
        return f"{only}{'of' if only else 'Of'} {count(seen.episodes, 'recorded episode')}{of},"
    return f"{only}{seen.episodes:,} of {count(seen.recorded, 'recorded episode')}{of} came through {seen.start};"


def nobody_came(seen: Seen) -> str:
    """Return that no recorded episode was at the start, or met a condition there."""
    if seen.given is None:
        return f"None of {count(seen.recorded, 'recorded episode')} came through {seen.start}."
    if not seen.recorded:
        return f"No recorded episode meets the condition: {seen.given}."
    they = f"{_capital(seen.given_words)}: none of {count(seen.recorded, 'recorded episode')}"
    return f"{they} began so." if seen.start == STARTS else f"{they} came through {seen.start}."


def hindsight(seen: Seen) -> str:
    """Return a warning where episodes were chosen by how they went."""
    return " Chosen by how they went, these episodes describe; they do not predict." if seen.hindsight else ""


def _one_group(seen: Seen) -> str:
    if not seen.alone:
        return ""
    return f" There is no interval: all of them are of one group (`{seen.group_name}`)."


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _guess(answer: Chance | Duration, what: str) -> str:
    """Return a guess of the chain, named as one."""
    if answer.seen is None:
        return f"This model keeps no episodes to count. The chain over leaves guesses {what}. Give the log to count."
    miss = getattr(answer, "miss", None)
    known = "" if miss is None else f"; on this log such guesses miss by {count(round(100 * miss), 'point')} on average"
    if answer.start == STARTS:
        return f"No beginning of an episode is on record. The chain over leaves guesses {what}{known}."
    return f"No recorded episode was in {answer.start}. The chain over leaves guesses {what}{known}."


def _cross_check(answer: Chance, low: float, high: float) -> str:
    """Return what the chain says, and which of the two to trust where they differ."""
    if answer.chain is None:
        return ""
    far = abs(answer.chain - answer.probability)
    if far > APART or (far > OUTSIDE and not low <= answer.chain <= high):
        said = f" The chain over leaves would say {percent(answer.chain)}"
        return f"{said}: how it came there matters, so trust the count."
    return f" The chain over leaves says {percent(answer.chain)}."


def _duration(answer: Duration) -> str:
    """Return the sentences of an expected number of steps."""
    where = answer.reach + (f" before {answer.before}" if answer.before else "")
    if answer.there:
        return f"From {answer.start}: it is in {answer.reach} already."
    seen = answer.seen
    if seen is not None and seen.given is not None and not seen.visits:
        return nobody_came(seen)
    if seen is None or not answer.counted:
        if answer.steps is None:
            return f"From {answer.start} no recorded transitions lead to {where}."
        steps = estimate(answer.steps)
        return _guess(answer, f"that it reaches {where} after {steps} {'step' if steps == '1' else 'steps'}")
    if answer.steps is None:
        return f"{came(seen)} none reached {where}.{hindsight(seen)}"
    steps = estimate(answer.steps, 4)
    text = f"{came(seen)} those that reached {where} took {steps} {'step' if steps == '1' else 'steps'} on average"
    if answer.quantiles is not None:
        early, _, late = answer.quantiles
        text += f", most of them {estimate(early)} to {estimate(late)}" if early < late else ""
    text += f"{between(answer.interval)}."
    rest = [f"{percent(answer.missed)} never did"] if answer.missed >= 0.0005 else []
    if answer.censored >= 0.0005:
        rest.append(f"{percent(answer.censored)} had not when the record ended")
    text = f"{text} {capital(all_of(rest))}." if rest else text
    return f"{text}{_one_group(seen)}{hindsight(seen)}"


LARGE = 0.1
"""Share from which on a leaf is named."""


def _whereabouts(answer: Whereabouts, ranked: Sequence[tuple[int, float]]) -> str:
    """Return the sentences of a distribution over leaves, given as (leaf, share) from the largest."""
    if answer.seen is not None and answer.seen.given is not None and not answer.counted:
        return nobody_came(answer.seen)
    # The number of a leaf says little to a reader, and less where there are hundreds: only large ones are named.
    large = [(leaf, share) for leaf, share in ranked[:5] if share >= LARGE or not answer.ranges]
    listed = [f"leaf {leaf} ({percent(share)})" for leaf, share in large]
    rest = sum(share for _, share in ranked[len(large) :])
    if rest > 0 and listed:
        listed.append(f"{count(len(ranked) - len(large), 'other')} ({percent(rest)})")
    who = f"{came(answer.seen)} " if answer.seen is not None and answer.counted else "By a guess of the chain: "
    steps = None if answer.steps is None else count(answer.steps, "step")
    then = "the time from there on is spent" if steps is None else f"{steps} later they are"
    told = [f"in {', '.join(listed)}"] if listed else []
    told += [f"mostly where {all_of(answer.ranges)}"] if answer.ranges else []
    text = f"{who}{then} {', '.join(told) or 'in no leaf'}"
    if answer.end:
        text += f", or have ended ({percent(answer.end)})"
    text += "."
    if answer.unresolved >= 0.005:
        text += f" For {percent(answer.unresolved)} the record ends too early to tell."
    return text if answer.seen is None else f"{text}{_one_group(answer.seen)}{hindsight(answer.seen)}"


def _unreachable(numbers: Sequence[int], n_leaves: int, end: bool, start: str) -> str:
    """Return the sentence of leaves that cannot be reached."""
    tail = "" if end else " No recorded transitions lead to the end."
    if not numbers:
        every = plural(n_leaves, "the only leaf", f"all {n_leaves:,} leaves")
        return f"By the chain over leaves, {every} can be reached from {start}.{tail}"
    return f"By the chain over leaves, nothing leads from {start} to {leaves(numbers)} of {n_leaves}.{tail}"


def markov(check: MarkovCheck) -> str:
    """Return what to think of a chain that forgets the past."""
    if check.verdict == "untested":
        return "This chain over leaves forgets the past; the log is too short to tell whether that matters."
    found = []
    if check.moves:
        beyond = max(check.memory - check.memory_chance, 0)
        found.append(f"the leaf before changes {percent(beyond)} of the transitions")
    if check.horizon:
        beyond = max(check.distance - check.distance_chance, 0)
        steps = count(check.horizon, "step")
        found.append(f"after {steps} {percent(beyond)} of the episodes are elsewhere than it says")
    opinion = {
        "good": "This chain over leaves forgets the past, and on this log that does little harm",
        "fair": "This chain over leaves forgets the past, and on this log it is only fair",
        "poor": "This chain over leaves forgets the past, and on this log it is poor: take the numbers as rough",
    }
    return f"{opinion[check.verdict]} ({' and '.join(found)}, beyond chance)."
