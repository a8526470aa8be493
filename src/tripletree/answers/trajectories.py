"""Trajectories: ways from one place to another, recorded or guessed, and how they are told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.graph.ways import APART, BRIDGE, END, LEAVES, NO_BRIDGE, NO_RUN, START
from tripletree.language import conditions
from tripletree.language.conditions import clause, condition
from tripletree.language.numbers import all_of, percent, within_range
from tripletree.log.schema import Feature, Schema
from tripletree.text import count, plural

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

MOST_TURNS = 6
MOST_NAMED = 4
"""Episodes of other ways, and stretches of a bridge, that are named at most."""

LIKELY = 0.5
"""A path is "most likely" only if it is more probable than all others together; else the agent "may" take it."""

PAPER = "paper"
"""The method of a trajectory that was searched and aligned as in the paper; others are those of ``graph.ways``."""


@dataclass(frozen=True)
class Source:
    """A stretch of a recorded episode that a way follows.

    Attributes
    ----------
    episode : int or str
        What the log calls the episode.
    first, last : int
        The steps of the episode at which the stretch begins and ends, counted from 0.
    """

    episode: int | str
    first: int
    last: int

    def __str__(self) -> str:
        return f"episode {self.episode}, steps {self.first:,} to {self.last:,}"


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Answer):
    """One way from a start to an end.

    Attributes
    ----------
    leaves : int64 array of shape (leaves,)
        The leaves that it passes through, the first and the last included. A recorded way may come back to a leaf.
    ends : bool
        Whether the end of the episode follows the last leaf.
    probability : float or None
        Of the paper's way: that the agent, once in the first leaf, moves through just these leaves by the chain over
        leaves, the product of its transitions. None for a recorded way.
    duration : float
        Steps that it takes: as recorded, or the sum of the mean stays until the last leaf (or the end).
    counts : int64 array of shape (transitions,), or None
        Of the paper's way: how often the log made each transition.
    nodes : float64 array of shape (nodes, features), or None
        The states along a recorded way, one a step; the corners of the paper's, where it enters each leaf. None for
        paths only.
    angles : float64 array of shape (nodes - 1,), or None
        Of the paper's way: between each segment and the mean derivative of the leaf that it crosses, in radians; NaN
        without derivative.
    objective : float or None
        Of the paper's way: sum of the squared angles.
    text : str
        The story.
    method : str
        What it follows: ``"segment"`` of an episode that passes near both places, a run between their ``"leaves"``, a
        ``"bridge"`` of several episodes, or the ``"paper"``'s search and alignment.
    sources : tuple of Source
        The recorded stretches that it follows, in its order; several for a bridge, none for the paper's way.
    moved : float or None
        How far a recorded way was moved to meet its ends, at most, as a share of a feature's range.
    share : float or None
        In a fan: the share of the episodes, each with one vote, that this way stands for.
    """

    leaves: I64
    ends: bool
    probability: float | None
    duration: float
    counts: I64 | None
    nodes: F64 | None
    angles: F64 | None
    objective: float | None
    text: str
    method: str = PAPER
    sources: tuple[Source, ...] = ()
    moved: float | None = None
    share: float | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Answer):
    """The ways from a start to an end, the most typical or most probable first; false when there is none.

    Attributes
    ----------
    found : tuple of Trajectory
        The ways.
    reachable : int64 array, or None
        Leaves that recorded transitions lead to from the start, itself included; None where a recorded way was found.
    start, end : str
        The places asked for, in words.
    outside : bool
        Whether a state asked for lies outside the range of the training log.
    text : str
        The answer in words.
    method : str
        As in `Trajectory`.
    reason : str
        Why nothing better could be followed, in words; empty for recorded segments, or if the paper's way was asked
        for.
    episodes : int or None
        How many recorded episodes ``steps`` is about: those that went from zone to zone, or the nearest ones.
    came : int or None
        Between zones: how many recorded episodes were in the start at all.
    steps : three ints, or None
        The steps that 10, 50 and 90 % of these episodes needed at most.
    """

    found: tuple[Trajectory, ...]
    reachable: I64 | None
    start: str
    end: str
    outside: bool
    text: str
    method: str = PAPER
    reason: str = ""
    episodes: int | None = None
    came: int | None = None
    steps: tuple[int, int, int] | None = None

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.found)

    def __getitem__(self, number: int) -> Trajectory:
        return self.found[number]

    def __str__(self) -> str:
        return self.text

    @property
    def lasting(self) -> str:
        """How long recorded episodes took, in words; empty where none is known."""
        return lasting(self.start, self.end, self.episodes, self.came, self.steps)


def follow(sources: Sequence[Source], moved: float, start: str, end: str, turns: Sequence[str]) -> str:
    """Return the sentences of a recorded way: whom it follows, and by which turns; the last of them leads to the end.

    Parameters
    ----------
    sources : sequence of Source
        What it follows.
    moved : float
        By how much it was moved.
    start, end : str
        The places.
    turns : sequence of str
        Where it turns, then the action on the last stretch: " with action = up", or nothing.
    """
    shown = [str(one) for one in sources]
    if len(shown) > MOST_NAMED:
        between = count(len(shown) - MOST_NAMED + 1, "more stretch", "more stretches")
        shown = [*shown[: MOST_NAMED - 2], between, shown[-1]]
    bent = f", moved by at most {percent(moved)} of the ranges" if moved > 0 else ""
    *corners, last = turns
    finally_ = "the end of the episode" if end == conditions.END else end
    way = "; then ".join([*corners, f"{'' if corners else 'straight '}to {finally_}{last}"])
    return f"Follows {', then '.join(shown)}{bent}. From {start} it goes {way}."


def with_text(answer: Trajectories) -> Trajectories:
    """Return recorded ways with the answer in words: why these, the first of them, the others, how long it takes."""
    first, *rest = answer.found
    text = " ".join(part for part in (answer.reason, first.text, answer.lasting) if part)
    text += others_of([one for way in rest for one in way.sources], first.share)
    return replace(answer, text=text + (outside() if answer.outside else ""))


def mostly(schema: Schema, codes: I64) -> str:
    """Return " with action = left", " mostly with" it, or nothing where no action makes up more than half."""
    action, number = schema.action, np.bincount(codes)
    best = int(number.argmax())
    share = number[best] / len(codes)
    if share <= LIKELY:
        return ""
    name = action.names[0] if action.names else "action"
    return f" {'' if share == 1 else 'mostly '}with {name} = {action.labels[best]}"


def already(start: str, end: str) -> str:
    """Return the sentence of a start that lies in the end."""
    return f"From {start} it is in {end} already."


def lasting(start: str, end: str, episodes: int | None, came: int | None, steps: tuple[int, int, int] | None) -> str:
    """Return how long recorded episodes took; nothing where that is not known."""
    if steps is None or episodes is None:
        return ""
    early, middle, late = steps
    took = f"{count(middle, 'step')} (median)" + (f", most of them {early:,} to {late:,}" if early < late else "")
    if came is None:
        return f"The {count(episodes, 'nearest recorded episode')} took {took}." if episodes > 1 else ""
    who = f"Of {count(came, 'recorded episode')} in {start}, {episodes:,} went on to {end}"
    return f"{who}: {took}."


def why(reasons: Sequence[str], start: str, end: str, near: tuple[bool, bool]) -> str:
    """Return why no recorded segment can be followed; ``near`` says which of the two places are states."""
    here, there = (f"near {place}" if close else place for place, close in zip((start, end), near, strict=True))
    said = {
        START: f"comes {here}" if near[0] else f"was in {start}",
        END: f"comes {there}" if near[1] else f"comes to {end}",
        APART: f"goes from {here} to {there}",
        NO_RUN: "goes from leaf to leaf between them",
    }
    told = [said[one] for one in reasons if one in said]
    text = ", ".join(f"{'none' if place else 'No recorded episode'} {one}" for place, one in enumerate(told))
    return text + (", nor do several, joined" if NO_BRIDGE in reasons else "")


def instead(method: str, because: str) -> str:
    """Return the sentence about what is followed because no recorded segment can be."""
    if method == LEAVES:
        return f"{because}; so this follows an episode from the leaf of the one to the leaf of the other."
    if method == BRIDGE:
        return f"{because}; so this joins episodes where they enter the same leaf from the same leaf."
    return f"{because}; so this is a guess: the most probable sequence of leaves."


NOT_KEPT = "No recorded episodes are kept in this model"


def others_of(sources: Sequence[Source], share: float | None) -> str:
    """Return what is said about the ways after the first: whom they follow; ``share`` is what the first stands for."""
    if not sources:
        return ""
    stands = "" if share is None else f" This way stands for {percent(share)} of the episodes."
    names = list(dict.fromkeys(str(one.episode) for one in sources))
    if len(names) > MOST_NAMED:
        return f"{stands} There are {count(len(sources), 'other way')}, of {count(len(names), 'other episode')}."
    what = f"{count(len(sources), 'other way')}, of {plural(len(names), 'episode')} {all_of(names)}"
    return f"{stands} There {plural(len(sources), 'is', 'are')} {what}."


def tell(
    start: str,
    end: str,
    probability: float,
    duration: float | None,
    rarest: int | None,
    leaves: int,
    turns: Sequence[str],
) -> str:
    """Return the sentence of one of the paper's ways: where from, how likely, how long, by which turns, where to.

    ``duration`` is None where no recorded episode is known to have been as quick.
    """
    if leaves == 1 and rarest is None:
        return already(start, end)
    shown = list(turns)
    if len(shown) > MOST_TURNS:
        left_out = len(shown) - MOST_TURNS + 1
        shown = [*shown[: MOST_TURNS - 3], f"after {count(left_out, 'more turn')} {shown[-3]}", *shown[-2:]]
    way = "; then ".join(shown)
    steps = "" if duration is None else f" about {count(max(round(duration), 1), 'step')},"
    aside = f"(p = {probability:.2g},{steps} {count(leaves, 'leaf', 'leaves')})"
    likely = probability > LIKELY
    sentence = f"From {start} it {'most likely' if likely else 'may'} {aside} {'goes' if likely else 'go'}"
    if end == conditions.END:
        sentence += f" {way}; and then the episode ends." if way else " straight to the end of the episode."
    else:
        sentence += f" {way}; and {'ends' if likely else 'end'} in {end}." if way else f" straight to {end}."
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
    short = within_range(number, span)
    return condition(feature.name, short, short, feature.unit)


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
