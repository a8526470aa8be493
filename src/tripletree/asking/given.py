"""Conditions on episodes and on their past: which recorded episodes, and which moments of them, a question is about.

The one grammar for this is :mod:`tripletree.language.given`. A condition on an episode speaks of all of it: its return,
its length, whether it ever visits a zone. ``after (ZONE)`` speaks of a moment: the episode has been in the zone at that
step or at an earlier one, as far as it is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.places import Zone, read_zone
from tripletree.checks import listing
from tripletree.errors import ParameterError
from tripletree.graph.futures import Event
from tripletree.language.conditions import END, Interval, condition
from tripletree.language.given import NUMBERS, ZONES, Clause, Several, read_given_expression
from tripletree.language.numbers import all_of
from tripletree.language.parser import read_boxes
from tripletree.log.log import ENDING_NAMES, TERMINATED
from tripletree.log.recording import Recording
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option, count

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Given:
    """What is demanded of episodes, and of moments in them.

    Attributes
    ----------
    text : str
        The condition as it can be asked again.
    words : str
        The condition in English: "in episodes with return < 100".
    hindsight : bool
        Whether it speaks of what is known only when an episode is over.
    rows : bool array of shape (samples,)
        The moments that meet it.
    episodes : bool array of shape (episodes,), or None
        The episodes that meet it; None if it speaks of moments.
    """

    text: str
    words: str
    hindsight: bool
    rows: Mask
    episodes: Mask | None


def read_given(
    fitted: Fitted,
    recording: Recording,
    event: Callable[[Zone], Event],
    given: Any,
    name: str = "given",
    ids: Collection[str] | None = None,
) -> Given:
    """Return which episodes and moments of a recording meet a condition.

    Parameters
    ----------
    fitted : Fitted
        The tree, for zones.
    recording : Recording
        The episodes.
    event : callable
        Says where the recording is in a zone.
    given : str, or bool array of shape (episodes,)
        The condition as text, or the episodes themselves.
    name : str
        The argument's name.
    ids : collection of str, optional
        The episodes that may be named; by default those of the recording, which may be a part of a larger one.
    """
    if not isinstance(given, str):
        chosen = _chosen(given, recording, name)
        text = f"{int(chosen.sum()):,} of {count(recording.n_episodes, 'episode')}"
        return Given(text, f"in {text}", False, np.repeat(chosen, np.diff(recording.starts)), chosen)

    def zone_of(box: Any, _: str) -> Zone:
        return read_zone(fitted, box, name, may_be_empty=True)

    return _read(given, fitted.schema, recording, zone_of, event, name, ids)


def episodes_given(schema: Schema, recording: Recording, given: Any, name: str = "given") -> Given:
    """Return which episodes of a recording meet a condition, without a tree: zones are conditions on features.

    Parameters
    ----------
    schema : Schema
        The features.
    recording : Recording
        The episodes.
    given : str, or bool array of shape (episodes,)
        The condition as text, or the episodes themselves.
    name : str
        The argument's name.
    """

    def zone_of(wanted: Any, text: str) -> Zone:
        if isinstance(wanted, str):
            return Zone(np.ones(1, bool), END)
        if not isinstance(wanted, dict) or not set(wanted) <= set(schema.feature_names):
            allowed = listing(schema.feature_names)
            raise ParameterError(
                Message(
                    "{} has the zone ({}); without a tree a zone has conditions on {}.", Option(name), text, allowed
                )
            )
        bounds = [
            (key, one if isinstance(one, Interval) else Interval(float(one), float(one))) for key, one in wanted.items()
        ]
        told = " and ".join(condition(key, *interval) for key, interval in bounds)
        named = tuple((schema.feature_names.index(key), interval) for key, interval in bounds)
        return Zone(np.zeros(1, bool), told, named)

    def event(zone: Zone) -> Event:
        nowhere = np.zeros(0, np.int32)  # no leaf is asked for
        known = ~np.isnan(recording.final_states[:, 0])
        return Event(
            zone.holds(recording.states, nowhere), zone.holds(recording.final_states, nowhere) & known, zone.end
        )

    if not isinstance(given, str):
        chosen = _chosen(given, recording, name)
        text = f"{int(chosen.sum()):,} of {count(recording.n_episodes, 'episode')}"
        return Given(text, f"in {text}", False, np.repeat(chosen, np.diff(recording.starts)), chosen)
    found = _read(given, schema, recording, zone_of, event, name)
    if found.episodes is None:
        raise ParameterError(
            Message(
                "{} is about episodes, but `after` is about moments. Try visits (...) or ends (...) instead.",
                Option(name),
            )
        )
    return found


def _read(
    given: str,
    schema: Schema,
    recording: Recording,
    zone_of: Callable[[Any, str], Zone],
    event: Callable[[Zone], Event],
    name: str,
    ids: Collection[str] | None = None,
) -> Given:
    node = read_given_expression(given, schema, _labels(recording, given, ids), name)
    zones: dict[str, list[Zone]] = {}
    for clause in _clauses(node):
        if isinstance(clause.wanted, str) and clause.wanted not in zones:
            boxes = [zone_of(box, clause.wanted) for box in read_boxes(clause.wanted, schema, name)]
            if clause.key == "after" and any(zone.end for zone in boxes):
                raise ParameterError(Message("{} has `after (end)`, but nothing follows the end.", Option(name)))
            zones[clause.wanted] = boxes
    keys = {clause.key for clause in _clauses(node)}
    events = {text: _any_of([event(zone) for zone in boxes]) for text, boxes in zones.items()}
    found = _Reader(recording, events, "after" in keys).holds(node)
    episodes = None if "after" in keys else found
    rows = found if episodes is None else np.repeat(found, np.diff(recording.starts))
    hindsight = not keys <= {"after", "episode", "group"}
    return Given(str(node), _words(node, zones, recording.group_name), hindsight, rows, episodes)


def _any_of(events: list[Event]) -> Event:
    """Return what has happened where one of several has: each box of a zone is one."""
    finals = [one.finals for one in events if one.finals is not None]
    return Event(
        np.logical_or.reduce([one.rows for one in events]),
        np.logical_or.reduce(finals) if finals else None,
        any(one.end for one in events),
    )


@dataclass(frozen=True, eq=False)
class _Reader:
    """Tests conditions on a recording."""

    recording: Recording
    events: dict[str, Event]
    moments: bool

    def holds(self, node: Clause | Several) -> Mask:
        """Return the episodes that meet a condition; if the whole speaks of moments, the rows."""
        if isinstance(node, Clause):
            found = self.clause(node)
            if self.moments and node.key != "after":
                found = np.repeat(found, np.diff(self.recording.starts))
        else:
            parts = [self.holds(part) for part in node.parts]
            found = np.logical_and.reduce(parts) if node.every else np.logical_or.reduce(parts)
        return ~found if node.negated else found

    def clause(self, clause: Clause) -> Mask:
        recording, wanted = self.recording, clause.wanted
        if isinstance(wanted, Interval):
            numbers = recording.returns if clause.key == "return" else np.diff(recording.starts)
            return wanted.holds(numbers)
        if isinstance(wanted, str):
            event, starts = self.events[wanted], recording.starts
            if clause.key == "ends":
                last = event.rows[starts[1:] - 1]
                known = ~np.isnan(recording.final_states[:, 0])
                return last if event.finals is None else np.where(known, event.finals, last)
            before = np.append(0, np.cumsum(event.rows))
            if clause.key == "after":
                return before[1:] > np.repeat(before[starts[:-1]], np.diff(starts))
            found = before[starts[1:]] > before[starts[:-1]]
            if event.finals is not None:
                found = found | event.finals
            return found | (recording.endings == TERMINATED) if event.end else found
        if clause.key == "ending":
            return np.isin(recording.endings, [ENDING_NAMES.index(label) for label in wanted])
        if clause.key == "episode":
            return np.isin(recording.ids.astype(np.str_), wanted)
        return np.isin(np.asarray(recording.group_labels)[recording.groups], wanted)


def names_episodes(text: str) -> bool:
    """Tell whether a condition may name episodes."""
    return "episode" in text.casefold()


def _labels(recording: Recording, text: str, ids: Collection[str] | None) -> dict[str, Collection[str]]:
    """Return what may be chosen from; all names of episodes only where some are asked for."""
    if ids is None:
        ids = recording.ids.astype(np.str_).tolist() if names_episodes(text) else []
    known: dict[str, Collection[str]] = {"ending": ENDING_NAMES, "episode": dict.fromkeys(ids)}
    if recording.group_labels is not None:
        labels = recording.group_labels.tolist()
        known["group"] = labels
        # Its own name will do as well, where it is no word of the grammar.
        if recording.group_name not in (*known, *NUMBERS):
            known[recording.group_name] = labels
    return known


def _chosen(given: Any, recording: Recording, name: str) -> Mask:
    array = np.asarray(given)
    if array.dtype != bool or array.shape != (recording.n_episodes,):
        raise ParameterError(
            Message(
                "{} must be text such as {}, or an array with True or False for each of {}; got {}.",
                Option(name),
                Option(name, "return < 100"),
                count(recording.n_episodes, "episode"),
                f"an array of {array.dtype} of shape {array.shape}" if array.shape else repr(given),
            )
        )
    return array


def _clauses(node: Clause | Several) -> list[Clause]:
    return [node] if isinstance(node, Clause) else [clause for part in node.parts for clause in _clauses(part)]


def _words(node: Clause | Several, zones: dict[str, list[Zone]], group: str) -> str:
    """Return a condition in English; as it was written, where it is more than a list of conditions."""
    whole = isinstance(node, Several) and node.every and not node.negated
    parts = node.parts if isinstance(node, Several) and whole else (node,)
    plain = [part for part in parts if isinstance(part, Clause) and (part.key in ZONES or not part.negated)]
    if len(plain) < len(parts):
        return f"given {node}"
    outcomes, visits, past = [], [], []
    for part in plain:
        if isinstance(part.wanted, str):
            zone = " or ".join(one.text for one in zones[part.wanted])
            if part.key == "visits":
                visits.append(f"{'never visit' if part.negated else 'visit'} {zone}")
            elif part.key == "ends":
                visits.append(f"{'do not end' if part.negated else 'end'} with {zone}")
            else:
                past.append(f"{'without' if part.negated else 'after'} having been at {zone}")
        elif isinstance(part.wanted, Interval):
            outcomes.append(str(part))
        else:
            key = {"episode": "id", "group": group}.get(part.key, part.key)
            outcomes.append(f"{key} = {' or '.join(part.wanted)}")
    which = f" with {all_of(outcomes)}" if outcomes else ""
    which += f" that {all_of(visits)}" if visits else ""
    return ", ".join([*([f"in episodes{which}"] if which else []), *([all_of(past)] if past else [])])
