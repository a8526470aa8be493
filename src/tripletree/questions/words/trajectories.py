"""The English of paths and trajectories."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tripletree.log.schema import Feature, Schema
from tripletree.questions.words.conditions import END, clause, condition
from tripletree.questions.words.numbers import count

F64 = npt.NDArray[np.float64]

MOST_TURNS = 6


def tell(
    start: str,
    end: str,
    probability: float,
    duration: float,
    rarest: int | None,
    leaves: int,
    turns: Sequence[str],
) -> str:
    """Return the sentence of one trajectory: where from, how likely, how long, by which turns, where to."""
    if leaves == 1 and rarest is None:
        return f"From {start} it is in {end} already."
    shown = list(turns)
    if len(shown) > MOST_TURNS:
        left_out = len(shown) - MOST_TURNS + 1
        shown = [*shown[: MOST_TURNS - 3], f"after {left_out} more turns {shown[-3]}", *shown[-2:]]
    way = "; then ".join(shown)
    steps = f"about {count(max(round(duration), 1), 'step', 'steps')}"
    through = count(leaves, "leaf", "leaves")
    sentence = f"From {start} it most likely (p = {probability:.2g}, {steps}, {through})"
    if end == END:
        sentence += f" goes {way}; and then the episode ends." if way else " goes straight to the end of the episode."
    else:
        sentence += f" goes {way}; and ends in {end}." if way else f" goes straight to {end}."
    if rarest is not None:
        sentence += f" The rarest move on this way was seen {count(rarest, 'time', 'times')}."
    return sentence


def turn(schema: Schema, action: str, before: F64, after: F64, span: F64) -> str:
    """Return one turn of a trajectory: the action, and where the features that move most end up."""
    change = np.abs(after - before) / np.where(span > 0, span, 1.0)
    whole = np.array([feature.kind in ("binary", "integer") for feature in schema.features])
    # On its straight way a trajectory passes between whole numbers: only a new one is worth a word.
    change[whole & (np.round(before) == np.round(after))] = 0.0
    order = [f for f in np.argsort(-change, kind="stable")[:3] if change[f] >= 0.02]
    moves = [_arrived(schema.features[f], after[f], span[f]) for f in sorted(int(f) for f in order)]
    if not moves:
        return f"on, hardly moving, with {action}" if action else "on, hardly moving"
    where = f"to {', '.join(moves)}"
    return f"{where} with {action}" if action else where


def _arrived(feature: Feature, number: float, span: float) -> str:
    if feature.kind in ("binary", "integer"):
        return clause(feature, round(number), round(number) + 0.5)
    short = _short(number, span)
    return condition(feature.name, short, short, feature.unit)


def _short(number: float, span: float) -> float:
    """Round to a thousandth of the feature's range: more digits say nothing."""
    if not span > 0:
        return float(number)
    digits = 3 - int(np.ceil(np.log10(span)))
    return round(float(number), digits) + 0.0


def nothing(start: str, end: str, reachable: int, leaves: int, ends: bool, ranges: str) -> str:
    """Return the sentence of a question without a path."""
    also = " and the end" if ends else ""
    return (
        f"From {start} this log never leads to {end}. It leads to {reachable:,} of {count(leaves, 'leaf', 'leaves')}"
        f"{also}: {ranges}."
    )


def others(number: int, total: float | None) -> str:
    """Return what is said of the ways after the first; ``total`` is the probability of all, if that is one."""
    if not number:
        return ""
    together = "" if total is None else f"; together with it p = {total:.2g}"
    return f" There {'is' if number == 1 else 'are'} {count(number, 'other way', 'other ways')}{together}."


def outside() -> str:
    """Return the warning about a state that the log knows nothing of."""
    return " The state lies outside the range of the log."
