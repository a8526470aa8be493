"""Outline: the few large regions in which an agent does one simple thing, and how a log goes from one to the next."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tripletree.answers.behaviour import behaviour, columns, told
from tripletree.answers.outline import Outline, Region, Route
from tripletree.asking.attribute import main_attributes, read_attribute
from tripletree.asking.levels import AUTO, Wanted, log_levels
from tripletree.asking.regions import REGIONS, Regions, read_regions, settled, told_about
from tripletree.checks import check_whole
from tripletree.graph.count import QUANTILES
from tripletree.language.conditions import END, clauses
from tripletree.language.numbers import all_of, measured, percent, significant, unit
from tripletree.log.derive import derivatives
from tripletree.log.endings import TERMINATED
from tripletree.log.log import Log
from tripletree.log.recording import Recording
from tripletree.log.schema import Schema
from tripletree.model.evaluate import check_same_schema, log_values
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import evidence, recorded

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

MOST_CHANGES = 2
"""Derivatives that stand for a leaf in a log without actions."""
COMMON = 0.05
"""Share of the episodes that a route must have to be told, and of the visits that a way on must have."""
ENDED, CUT = -1, -2
"""What follows a visit with which the episode ends, or the recording."""
FOLLOWING = 3
"""Ways on from a region that are told."""


class Visits(NamedTuple):
    """The visits of a log to regions, in order.

    Attributes
    ----------
    region, begins, ends : int64 arrays of shape (visits,)
        Where, from which row, and up to which row (not included).
    following : int64 array of shape (visits,)
        The region that comes next, or how the visit ends: with the episode, or with the recording.
    """

    region: I64
    begins: I64
    ends: I64
    following: I64

    @classmethod
    def of(cls, region: I64, log: Recording) -> Self:
        """Return the visits; the region of each sample is known."""
        new = np.append(True, region[1:] != region[:-1])
        new[log.starts[:-1]] = True
        begins = np.flatnonzero(new)
        ends = np.append(begins[1:], len(region))
        following = np.append(region[begins[1:]], CUT)
        last = np.searchsorted(ends, log.starts[1:])
        following[last] = np.where(log.endings == TERMINATED, ENDED, CUT)
        return cls(region[begins], begins, ends, following)


def outline(
    fitted: Fitted,
    log: Log | None,
    regions: int = REGIONS,
    ways: int = 3,
    threads: int = 1,
    levels: Wanted = AUTO,
) -> Outline:
    """Return the regions of a tree, with how the log moves between them.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log or None
        Whose moves and shares; None: those that the tree keeps, with what it predicts in place of what was done.
    regions : int
        How many regions, at most.
    ways : int
        How many routes, at most.
    threads : int
        Threads that find the region of each sample.
    levels : "auto", int, sequence or mapping
        Levels of an action that is a number, as for rules.
    """
    if log is not None:
        check_same_schema(fitted.schema, log, "log")
    check_whole(regions, "regions", 1, example=REGIONS)
    recording = recorded(evidence(fitted, log, threads)).recording
    found = read_regions(fitted, told_about(fitted), levels, regions, (recording.states, recording.starts))
    region = settled(found.of(recording.states, threads), recording.starts)
    shown = _shown(fitted, found, recording, region, log)
    every = tuple(_region(fitted.schema, found, shown, one) for one in range(len(found)))
    ended = int((recording.endings == TERMINATED).sum())
    return Outline(every, *_routes(found, region, recording, ways), ended, predicted=log is None)


def _shown(fitted: Fitted, found: Regions, recording: Recording, region: I64, log: Log | None) -> _Shown:
    """Return what a log shows in each region, or what the tree says there."""
    visits, reward = Visits.of(region, recording), fitted.schema.has_reward
    # To the end of the episode; below 1 where that did not end by itself.
    ends = np.where(recording.endings == TERMINATED, recording.starts[1:], 0)
    left = np.repeat(ends, np.diff(recording.starts)) - np.arange(recording.n_samples)
    if log is not None:
        levels, values = log_levels(fitted, found.classes, log), log_values(fitted, log) if reward else None
        return _Shown(recording, region, visits, levels, found.numbers(log), derivatives(log), values, left)
    leaf, at = fitted.tree.apply(recording.states), fitted.leaves
    changes = np.full(recording.states.shape, np.nan) if at.derivative_mean is None else at.derivative_mean[leaf]
    values = at.value_mean[leaf] if reward else None
    return _Shown(recording, region, visits, found.leaves[leaf], found.numbers(None, leaf), changes, values, left)


class _Shown(NamedTuple):
    """What a recording shows: regions, visits, what is told as levels and numbers, changes, values, steps left."""

    log: Recording
    region: I64
    visits: Visits
    levels: I64
    numbers: F64
    changes: F64
    values: F64 | None
    left: I64


def _region(schema: Schema, found: Regions, shown: _Shown, one: int) -> Region:
    """Return one region: what it is, what is done there, how it is come by and left."""
    log, visits = shown.log, shown.visits
    here, stays = np.flatnonzero(shown.region == one), visits.region == one
    # NumPy takes short rows faster than it finds them by an index.
    states, levels = log.states.take(here, axis=0), shown.levels.take(here, axis=0)
    numbers, changes = shown.numbers.take(here, axis=0), shown.changes.take(here, axis=0)
    done = [
        behaviour(schema, column, rule, states, levels[:, k], numbers[:, k])
        for k, (column, rule) in enumerate(zip(columns(found.classes), found.rules[one], strict=True))
    ]
    texts = [told(column, part) for column, part in zip(columns(found.classes), done, strict=True)]
    whole = stays & (visits.following != CUT)
    to, count = np.unique(visits.following[whole], return_counts=True)
    ranked = [k for k in np.argsort(-count, kind="stable").tolist() if count[k] >= COMMON * whole.sum()]
    ways_on = [(int(to[k]), float(count[k] / whole.sum())) for k in ranked[:FOLLOWING]]
    ended = log.endings == TERMINATED
    left = shown.left[here]
    left = left[left > 0]
    value = None if shown.values is None or not len(here) else shown.values[here]
    last = shown.region[log.starts[1:] - 1][ended]
    return Region(
        number=one,
        name=found.names[one],
        when=tuple(clauses(schema, found.lower[one].tolist(), found.upper[one].tolist())),
        share=len(here) / log.n_samples,
        action="; ".join(texts),
        outcomes=tuple(part.text for part in done),
        kinds=tuple(part.kind for part in done),
        agreement=tuple(part.share for part in done),
        visits=int(stays.sum()),
        cut=int((stays & ~whole).sum()),
        steps=_quantiles((visits.ends - visits.begins)[stays]),
        left=float(np.median(left)) if len(left) else None,
        entry=_mean(log.states[visits.begins[stays]]),
        inside=_mean(states),
        exit=_mean(log.states[visits.ends[stays] - 1]),
        change=_mean(changes),
        value=None if value is None else float(value.mean()),
        spread=None if value is None else float(value.std()),
        begins=float((shown.region[log.starts[:-1]] == one).mean()),
        ends=float((last == one).mean()) if len(last) else 0.0,
        following=tuple((None if to == ENDED else to, p) for to, p in ways_on),
        names=tuple(END if to == ENDED else found.names[to] for to, _ in ways_on),
    )


def _quantiles(lengths: I64) -> tuple[int, int, int] | None:
    if not len(lengths):
        return None
    low, middle, high = np.quantile(lengths, QUANTILES, method="inverted_cdf").tolist()
    return int(low), int(middle), int(high)


def _mean(rows: F64) -> F64:
    """Return the mean of each column, as far as it is known; what is not is 0 in ``rows`` afterwards."""
    # Products with ones: NumPy is slow to add up rows that are short.
    total = np.ones(len(rows)) @ rows
    if len(rows) and not np.isnan(total).any():
        return np.asarray(total / len(rows))
    # Mostly those at the end of an episode.
    some = np.flatnonzero(np.isnan(rows @ np.ones(rows.shape[1])))
    unknown = np.isnan(rows[some])
    rows[some] = np.where(unknown, 0.0, rows[some])
    number = len(rows) - unknown.sum(axis=0)
    total = np.ones(len(rows)) @ rows
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _routes(found: Regions, region: I64, log: Recording, ways: int) -> tuple[tuple[Route, ...], int]:
    """Return the common routes of episodes that begin where most do, and end; and how many others there are.

    A route leaves out detours, which are what lies between two visits to a region: otherwise hardly two episodes would
    go the same way.
    """
    lengths: dict[tuple[int, ...], list[int]] = {}
    begin = int(np.bincount(region[log.starts[:-1]]).argmax())
    changes = np.append(True, region[1:] != region[:-1])
    for first, stop, ending in zip(log.starts[:-1].tolist(), log.starts[1:].tolist(), log.endings, strict=True):
        if ending != TERMINATED or region[first] != begin:
            continue
        route = [begin]
        for place in region[first:stop][changes[first:stop]].tolist():
            if place in route:
                del route[route.index(place) + 1 :]
            else:
                route.append(place)
        lengths.setdefault(tuple(route), []).append(stop - first)
    total = sum(map(len, lengths.values()))
    # Of equally frequent ones the one that was seen first.
    often = sorted(lengths.items(), key=lambda one: -len(one[1]))[:ways]
    common = tuple(
        Route(route, tuple(found.names[one] for one in route), len(steps) / total, sorted(steps)[(len(steps) - 1) // 2])
        for route, steps in often
        if len(steps) >= COMMON * total
    )
    return common, len(lengths) - len(common)


def does(fitted: Fitted, leaf: int) -> str:
    """Return what the agent does in a leaf: "left (87 %)", or "main engine = 0.3 ± 0.1 and side engine = 0 ± 0.2"."""
    at, action = fitted.leaves, fitted.schema.action
    if not fitted.schema.has_action:
        # What changes there, where nobody knows what was done.
        changes = [read_attribute(fitted, name) for name in main_attributes(fitted)[:MOST_CHANGES]]
        return all_of([f"{change.name} = {change.told(leaf)}" for change in changes]) or "unknown"
    if at.mode is not None and at.mode_share is not None:
        label = action.labels[int(at.mode[leaf])]
        return f"{label}{unit(action.units[0])} ({percent(float(at.mode_share[leaf]))})"
    means, spreads = np.asarray(at.action_mean)[leaf].tolist(), np.asarray(at.action_std)[leaf].tolist()
    # Two digits: a region is large, and its mean no more exact than that.
    short = ((significant(mean, 2), significant(std, 2)) for mean, std in zip(means, spreads, strict=True))
    parts = zip(action.names, short, action.units, strict=True)
    return all_of([f"{name} = {measured(*numbers)}{unit(of)}" for name, numbers, of in parts])
