"""Chances: how probable, how soon, where next, by the chain over leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.graph.transitions import MarkovCheck
from tripletree.language.conditions import leaves
from tripletree.language.numbers import between, estimate, percent
from tripletree.text import count, plural


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Answer):
    """How probable it is to reach a zone, by the chain over leaves.

    Attributes
    ----------
    probability : float
        The answer.
    interval : float64 array of shape (2,), or None
        95 % sampling interval: the question is asked of ``draws`` chains whose probabilities are drawn from the
        Dirichlet distributions of the counts (see ``graph.chain.interval``). Where always or never is all that was
        seen: Wilson's interval, with as many sequences as begin at the start. It says nothing about the error of
        forgetting the past: see ``markov``.
    reach, start, before : str
        The zones in words; ``before`` may be None.
    within : int or None
        Deadline in steps.
    unknown : float
        Probability to come first to a leaf of which the log does not show what follows; it counts as not reaching.
    there : bool
        Whether the start already lies in the zone.
    partly : int
        Leaves that lie in the zone only in part and, as their samples do on average, count as a whole.
    outside : bool
        Whether the start lies outside the range of the training log.
    draws : int
        Chains drawn for the interval.
    markov : MarkovCheck
        How well the chain describes the log.
    """

    probability: float
    interval: npt.NDArray[np.float64] | None
    reach: str
    start: str
    before: str | None
    within: int | None
    unknown: float
    there: bool
    partly: int
    outside: bool
    draws: int
    markov: MarkovCheck

    def __str__(self) -> str:
        return _chance(self)


@dataclass(frozen=True, eq=False, repr=False)
class Duration(Answer):
    """How many steps it takes to reach a zone, over the journeys that arrive.

    Attributes
    ----------
    steps : float or None
        Mean number of steps; None when the zone cannot be reached.
    interval : float64 array of shape (2,), or None
        95 % sampling interval, as in Chance.
    probability : float
        Probability to arrive at all.
    reach, start, before : str
        The zones in words; ``before`` may be None.
    there : bool
        Whether the start already lies in the zone.
    partly : int
        Leaves that lie in the zone only in part and, as their samples do on average, count as a whole.
    draws : int
        Chains drawn for the interval.
    markov : MarkovCheck
        How well the chain describes the log.
    """

    steps: float | None
    interval: npt.NDArray[np.float64] | None
    probability: float
    reach: str
    start: str
    before: str | None
    there: bool
    partly: int
    draws: int
    markov: MarkovCheck

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
        95 % sampling intervals, as in Chance.
    end : float or None
        Probability that the episode has ended; None for shares of time.
    steps : int or None
        After how many steps; None for shares of time.
    start : str
        The start in words.
    draws : int
        Chains drawn for the intervals.
    markov : MarkovCheck
        How well the chain describes the log.
    """

    share: npt.NDArray[np.float64]
    interval: npt.NDArray[np.float64] | None
    end: float | None
    steps: int | None
    start: str
    draws: int
    markov: MarkovCheck

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


def _chance(answer: Chance) -> str:
    """Return the sentences of a chance."""
    outside = " The start lies outside the range of the log." if answer.outside else ""
    if answer.there:
        return f"{_there(answer)}{outside}"
    where = answer.reach + (f" before {answer.before}" if answer.before else "")
    when = "" if answer.within is None else f" within {count(answer.within, 'step')}"
    text = f"From {answer.start} it reaches {where}{when} with probability {answer.probability:.3g}"
    text += f"{between(answer.interval)}."
    if answer.unknown >= 0.005:
        first = f"With probability {answer.unknown:.2g} it comes first to a leaf"
        text += f" {first} of which the log does not show what follows."
    return f"{text}{_partly(answer)}{outside} {markov(answer.markov)}"


def _duration(answer: Duration) -> str:
    """Return the sentences of an expected number of steps."""
    where = answer.reach + (f" before {answer.before}" if answer.before else "")
    if answer.steps is None:
        return f"From {answer.start} no recorded transitions lead to {where}."
    if answer.there:
        return _there(answer)
    surely = "" if answer.probability > 0.9995 else f", if it gets there (probability {answer.probability:.3g})"
    steps = estimate(answer.steps, 4)
    text = f"From {answer.start} it reaches {where} after {steps} {'step' if steps == '1' else 'steps'} on average"
    return f"{text}{between(answer.interval)}{surely}.{_partly(answer)} {markov(answer.markov)}"


def _there(answer: Chance | Duration) -> str:
    """Return that the start lies in the zone; of a zone with leaves that lie in it only in part, say just that."""
    if answer.partly:
        return f"From {answer.start}: it is in a leaf of {answer.reach} already.{_partly(answer)}"
    return f"From {answer.start}: it is in {answer.reach} already."


def _partly(answer: Chance | Duration) -> str:
    """Return how many leaves count although they lie in the zone only in part."""
    if not answer.partly:
        return ""
    lie, weigh = count(answer.partly, "leaf lies", "leaves lie"), plural(answer.partly, "counts", "count")
    return f" {lie} only partly in {answer.reach} and {weigh} as a whole."


def _whereabouts(answer: Whereabouts, ranked: Sequence[tuple[int, float]]) -> str:
    """Return the sentences of a distribution over leaves, given as (leaf, share) from the largest."""
    listed = [f"leaf {leaf} ({percent(share)})" for leaf, share in ranked[:5]]
    rest = sum(share for _, share in ranked[5:])
    if rest > 0:
        listed.append(f"{count(len(ranked) - 5, 'other')} ({percent(rest)})")
    if answer.steps is None:
        text = f"From {answer.start} it spends its time in {', '.join(listed) or 'no leaf'}."
    else:
        ended = f"ended ({percent(answer.end or 0)})"
        steps = count(answer.steps, "step")
        text = f"{steps} after {answer.start} it is in {', '.join(listed) or 'no leaf'}, or has {ended}."
    return f"{text} {markov(answer.markov)}"


def _unreachable(numbers: Sequence[int], n_leaves: int, end: bool, start: str) -> str:
    """Return the sentence of leaves that cannot be reached."""
    tail = "" if end else " No recorded transitions lead to the end."
    if not numbers:
        every = plural(n_leaves, "the only leaf", f"all {n_leaves:,} leaves")
        return f"From {start} {every} can be reached.{tail}"
    return f"From {start} no recorded transitions lead to {leaves(numbers)} of {n_leaves}.{tail}"


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
