"""Trajectories: the most probable paths from one place to another, and how they are told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.conditions import END, clause, condition
from tripletree.log.schema import Feature, Schema
from tripletree.text import count, plural

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

MOST_TURNS = 6


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Answer):
    """One way from a start to an end.

    Attributes
    ----------
    leaves : int64 array of shape (leaves,)
        The leaves that it passes through, the first and the last included.
    ends : bool
        Whether the end of the episode follows the last leaf.
    probability : float
        That the agent, once in the first leaf, moves through just these leaves: the product of its transitions.
    duration : float
        Steps until the last leaf (or the end): the sum of the mean stays.
    counts : int64 array of shape (transitions,)
        How often the log made each transition.
    nodes : float64 array of shape (nodes, features), or None
        The corners of the simulated path: where it enters each leaf, and the states asked for. None for paths only.
    angles : float64 array of shape (nodes - 1,), or None
        Between each segment and the mean derivative of the leaf that it crosses, in radians; NaN without derivative.
    objective : float or None
        Sum of the squared angles.
    text : str
        The story.
    """

    leaves: I64
    ends: bool
    probability: float
    duration: float
    counts: I64
    nodes: F64 | None
    angles: F64 | None
    objective: float | None
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Answer):
    """The ways from a start to an end, the most probable first; false when there is none.

    Attributes
    ----------
    found : tuple of Trajectory
        The ways.
    reachable : int64 array
        Leaves that can be reached from the start, itself included.
    start, end : str
        The places asked for, in words.
    outside : bool
        Whether a state asked for lies outside the range of the training log.
    text : str
        The answer in words.
    """

    found: tuple[Trajectory, ...]
    reachable: I64
    start: str
    end: str
    outside: bool
    text: str

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.found)

    def __getitem__(self, number: int) -> Trajectory:
        return self.found[number]

    def __str__(self) -> str:
        return self.text


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
        shown = [*shown[: MOST_TURNS - 3], f"after {count(left_out, 'more turn')} {shown[-3]}", *shown[-2:]]
    way = "; then ".join(shown)
    steps = f"about {count(max(round(duration), 1), 'step')}"
    through = count(leaves, "leaf", "leaves")
    sentence = f"From {start} it most likely (p = {probability:.2g}, {steps}, {through})"
    if end == END:
        sentence += f" goes {way}; and then the episode ends." if way else " goes straight to the end of the episode."
    else:
        sentence += f" goes {way}; and ends in {end}." if way else f" goes straight to {end}."
    if rarest is not None:
        sentence += f" The rarest transition on this path was seen {count(rarest, 'time')}."
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
    return f" There {plural(number, 'is', 'are')} {count(number, 'other path')}{together}."


def outside() -> str:
    """Return the warning about a state that the log knows nothing of."""
    return " The state lies outside the range of the log."
