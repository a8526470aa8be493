"""The English of answers; paths and trajectories have theirs in ``story``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tripletree.graph.markov import MarkovCheck
from tripletree.log.schema import Schema

if TYPE_CHECKING:
    from tripletree.questions.answers import Chance, Duration, Whereabouts


def prediction(
    schema: Schema,
    action: Any,
    spread: Any,
    value: float,
    value_std: float,
    leaf: int,
    count: int,
    outside: bool,
) -> str:
    """Return the sentence of one predicted state; ``spread`` is the action's probability or standard deviations."""
    if schema.action.kind == "discrete":
        act = f"Action = {action} ({100 * spread:.3g} %)"
    else:
        parts = zip(schema.action.names, _units(schema), action, spread, strict=True)
        act = ", ".join(f"{name} = {mean:.4g}{unit} ± {std:.2g}" for name, unit, mean, std in parts)
        act = act[0].upper() + act[1:]
    samples = "1 sample" if count == 1 else f"{count} samples"
    warning = "; the state lies outside the range of the log" if outside else ""
    return f"{act}, value = {value:.4g} ± {value_std:.2g} (leaf {leaf}, {samples}){warning}."


def predictions(states: int, leaves: int, outside: int) -> str:
    """Return the sentence of several predicted states."""
    where = f", {outside} of them outside the range of the log" if outside else ""
    return f"{states} states in {leaves} {'leaf' if leaves == 1 else 'leaves'}{where}."


def _units(schema: Schema) -> Sequence[str]:
    return [f" {unit}" if unit else "" for unit in schema.action.units]


END = "the end"
STARTS = "where episodes begin"


def condition(name: str, low: float, high: float, unit: str = "") -> str:
    """Return "pos in [0, 0.5) m", "pos >= 0.5", or whatever the interval comes down to."""
    tail = f" {unit}" if unit else ""
    if low == high:
        return f"{name} = {low:g}{tail}"
    if low == float("-inf"):
        return f"{name} < {high:g}{tail}" if high < float("inf") else f"any {name}"
    return f"{name} in [{low:g}, {high:g}){tail}" if high < float("inf") else f"{name} >= {low:g}{tail}"


def actions(labels: Sequence[str]) -> str:
    """Return "action = left or right"."""
    return f"action = {' or '.join(labels)}"


def leaves(numbers: Sequence[int]) -> str:
    """Return "leaf 3", "leaves 3, 4 and 7", or how many they are."""
    if len(numbers) == 1:
        return f"leaf {numbers[0]}"
    if len(numbers) > 6:
        return f"{len(numbers)} leaves"
    return f"leaves {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def state(schema: Schema, numbers: Sequence[float]) -> str:
    """Return "pos = 1.2 m, speed = 0.03 m/s"."""
    parts = zip(schema.features, numbers, strict=True)
    return ", ".join(condition(feature.name, x, x, feature.unit) for feature, x in parts)


def chance(answer: Chance) -> str:
    """Return the sentences of a chance."""
    if answer.there:
        return f"From {answer.start}: it is in {answer.reach} already."
    where = answer.reach + (f" before {answer.before}" if answer.before else "")
    when = "" if answer.within is None else f" within {answer.within} {'step' if answer.within == 1 else 'steps'}"
    text = f"From {answer.start} it reaches {where}{when} with probability {answer.probability:.3g}"
    text += f"{_between(answer.interval)}."
    if answer.unknown >= 0.005:
        first = f"With probability {answer.unknown:.2g} it comes first to a leaf"
        text += f" {first} of which the log does not show what follows."
    if answer.partly:
        lie, count = ("leaf lies", "counts") if answer.partly == 1 else ("leaves lie", "count")
        text += f" {answer.partly} {lie} only partly in {answer.reach} and {count} as a whole."
    if answer.outside:
        text += " The start lies outside the range of the log."
    return f"{text} {markov(answer.markov)}"


def duration(answer: Duration) -> str:
    """Return the sentences of an expected number of steps."""
    where = answer.reach + (f" before {answer.before}" if answer.before else "")
    if answer.steps is None:
        return f"From {answer.start} no recorded moves lead to {where}."
    surely = "" if answer.probability > 0.9995 else f", if it gets there (probability {answer.probability:.3g})"
    text = f"From {answer.start} it reaches {where} after {answer.steps:.4g} steps on average"
    return f"{text}{_between(answer.interval)}{surely}. {markov(answer.markov)}"


def whereabouts(answer: Whereabouts, ranked: Sequence[tuple[int, float]]) -> str:
    """Return the sentences of a distribution over leaves, given as (leaf, share) from the largest."""
    listed = [f"leaf {leaf} ({_percent(share)})" for leaf, share in ranked[:5]]
    rest = sum(share for _, share in ranked[5:])
    if rest > 0:
        listed.append(f"{len(ranked) - 5} others ({_percent(rest)})")
    if answer.steps is None:
        text = f"From {answer.start} it spends its time in {', '.join(listed) or 'no leaf'}."
    else:
        ended = f"ended ({_percent(answer.end or 0)})"
        steps = f"{answer.steps} {'step' if answer.steps == 1 else 'steps'}"
        text = f"{steps} after {answer.start} it is in {', '.join(listed) or 'no leaf'}, or has {ended}."
    return f"{text} {markov(answer.markov)}"


def unreachable(numbers: Sequence[int], n_leaves: int, end: bool, start: str) -> str:
    """Return the sentence of leaves that cannot be reached."""
    tail = "" if end else " No recorded moves lead to the end."
    if not numbers:
        return f"From {start} all {n_leaves} leaves can be reached.{tail}"
    return f"From {start} no recorded moves lead to {leaves(numbers)} of {n_leaves}.{tail}"


def markov(check: MarkovCheck) -> str:
    """Return what to think of a chain that forgets the past."""
    if check.verdict == "untested":
        return "This chain over leaves forgets the past; the log is too short to tell whether that matters."
    found = []
    if check.moves:
        beyond = max(check.memory - check.memory_chance, 0)
        found.append(f"the leaf before changes {_percent(beyond)} of the moves")
    if check.horizon:
        beyond = max(check.distance - check.distance_chance, 0)
        steps = "1 step" if check.horizon == 1 else f"{check.horizon} steps"
        found.append(f"after {steps} {_percent(beyond)} of the episodes are elsewhere than it says")
    opinion = {
        "good": "This chain over leaves forgets the past, and on this log that does little harm",
        "fair": "This chain over leaves forgets the past, and on this log it is only fair",
        "poor": "This chain over leaves forgets the past, and on this log it is poor: take the numbers as rough",
    }
    return f"{opinion[check.verdict]} ({' and '.join(found)}, beyond chance)."


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def _between(interval: Any) -> str:
    return "" if interval is None else f" (95 % interval {interval[0]:.3g} to {interval[1]:.3g})"
