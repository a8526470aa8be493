"""The English of chances, durations and whereabouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tripletree.graph.markov import MarkovCheck
from tripletree.questions.words.conditions import leaves
from tripletree.questions.words.numbers import between, percent

if TYPE_CHECKING:
    from tripletree.questions.answers import Chance, Duration, Whereabouts


def chance(answer: Chance) -> str:
    """Return the sentences of a chance."""
    outside = " The start lies outside the range of the log." if answer.outside else ""
    if answer.there:
        return f"{_there(answer)}{outside}"
    where = answer.reach + (f" before {answer.before}" if answer.before else "")
    when = "" if answer.within is None else f" within {answer.within} {'step' if answer.within == 1 else 'steps'}"
    text = f"From {answer.start} it reaches {where}{when} with probability {answer.probability:.3g}"
    text += f"{between(answer.interval)}."
    if answer.unknown >= 0.005:
        first = f"With probability {answer.unknown:.2g} it comes first to a leaf"
        text += f" {first} of which the log does not show what follows."
    return f"{text}{_partly(answer)}{outside} {markov(answer.markov)}"


def duration(answer: Duration) -> str:
    """Return the sentences of an expected number of steps."""
    where = answer.reach + (f" before {answer.before}" if answer.before else "")
    if answer.steps is None:
        return f"From {answer.start} no recorded moves lead to {where}."
    if answer.there:
        return _there(answer)
    surely = "" if answer.probability > 0.9995 else f", if it gets there (probability {answer.probability:.3g})"
    text = f"From {answer.start} it reaches {where} after {answer.steps:.4g} steps on average"
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
    lie, count = ("leaf lies", "counts") if answer.partly == 1 else ("leaves lie", "count")
    return f" {answer.partly} {lie} only partly in {answer.reach} and {count} as a whole."


def whereabouts(answer: Whereabouts, ranked: Sequence[tuple[int, float]]) -> str:
    """Return the sentences of a distribution over leaves, given as (leaf, share) from the largest."""
    listed = [f"leaf {leaf} ({percent(share)})" for leaf, share in ranked[:5]]
    rest = sum(share for _, share in ranked[5:])
    if rest > 0:
        listed.append(f"{len(ranked) - 5} others ({percent(rest)})")
    if answer.steps is None:
        text = f"From {answer.start} it spends its time in {', '.join(listed) or 'no leaf'}."
    else:
        ended = f"ended ({percent(answer.end or 0)})"
        steps = f"{answer.steps} {'step' if answer.steps == 1 else 'steps'}"
        text = f"{steps} after {answer.start} it is in {', '.join(listed) or 'no leaf'}, or has {ended}."
    return f"{text} {markov(answer.markov)}"


def unreachable(numbers: Sequence[int], n_leaves: int, end: bool, start: str) -> str:
    """Return the sentence of leaves that cannot be reached."""
    tail = "" if end else " No recorded moves lead to the end."
    if not numbers:
        every = "the only leaf" if n_leaves == 1 else f"all {n_leaves} leaves"
        return f"From {start} {every} can be reached.{tail}"
    return f"From {start} no recorded moves lead to {leaves(numbers)} of {n_leaves}.{tail}"


def markov(check: MarkovCheck) -> str:
    """Return what to think of a chain that forgets the past."""
    if check.verdict == "untested":
        return "This chain over leaves forgets the past; the log is too short to tell whether that matters."
    found = []
    if check.moves:
        beyond = max(check.memory - check.memory_chance, 0)
        found.append(f"the leaf before changes {percent(beyond)} of the moves")
    if check.horizon:
        beyond = max(check.distance - check.distance_chance, 0)
        steps = "1 step" if check.horizon == 1 else f"{check.horizon} steps"
        found.append(f"after {steps} {percent(beyond)} of the episodes are elsewhere than it says")
    opinion = {
        "good": "This chain over leaves forgets the past, and on this log that does little harm",
        "fair": "This chain over leaves forgets the past, and on this log it is only fair",
        "poor": "This chain over leaves forgets the past, and on this log it is poor: take the numbers as rough",
    }
    return f"{opinion[check.verdict]} ({' and '.join(found)}, beyond chance)."
