"""Outline: the first regions that growth made out, and how the log goes from one to the next."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.answers.outline import Outline, Region, Route
from tripletree.asking.attribute import main_attributes, read_attribute
from tripletree.checks import check_whole
from tripletree.graph.markov import count_transitions
from tripletree.graph.transitions import leaves_of
from tripletree.language.conditions import clauses
from tripletree.language.numbers import all_of, measured, percent, significant, unit
from tripletree.log.endings import TERMINATED
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema
from tripletree.model.fitted import Fitted

REGIONS = 10
MOST_CHANGES = 2
"""Derivatives that stand for a region in a log without actions."""


def outline(fitted: Fitted, log: Log, regions: int = REGIONS, ways: int = 3, threads: int = 1) -> Outline:
    """Return the first regions that growth made out, with how the log moves between them.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log
        Whose moves and shares.
    regions : int
        How many regions, at most.
    ways : int
        How many routes.
    threads : int
        Threads that find the leaf of each sample.
    """
    check_same_schema(fitted.schema, log, "log")
    check_whole(regions, "regions", 1, example=REGIONS)
    coarse = fitted.truncate(min(regions, fitted.tree.n_leaves))
    counted, size = count_transitions(coarse.tree, log, threads), coarse.tree.n_leaves
    leaf, _ = leaves_of(coarse.tree, log, threads)
    count = np.bincount(leaf, minlength=size)
    order = np.argsort(-count, kind="stable").tolist()
    number = {where: place for place, where in enumerate(order)}
    matrix = counted.matrix().toarray()
    last = np.bincount(leaf[log.starts[1:] - 1][log.endings == TERMINATED], minlength=size)
    lower, upper = coarse.bounds
    found = []
    for place, where in enumerate(order):
        ways_on = sorted(((p, to) for to, p in enumerate(matrix[where].tolist()) if p > 0), key=lambda pair: -pair[0])
        found.append(
            Region(
                number=place,
                leaf=where,
                when=tuple(clauses(fitted.schema, lower[where].tolist(), upper[where].tolist())),
                share=float(count[where] / len(leaf)),
                action=does(coarse, where),
                value=float(coarse.leaves.value_mean[where]) if fitted.schema.has_reward else None,
                spread=float(coarse.leaves.value_std[where]) if fitted.schema.has_reward else None,
                begins=float(counted.beginnings[where] / (counted.beginnings.sum() or 1)),
                ends=float(last[where] / max(last.sum(), 1)),
                following=tuple((number.get(to), p) for p, to in ways_on[:3]),
            )
        )
    places = np.array([number[where] for where in range(size)])[leaf]
    return Outline(tuple(found), _routes(places, log, number[int(counted.beginnings.argmax())], ways), int(last.sum()))


def _routes(region: npt.NDArray[np.int64], log: Log, begin: int, ways: int) -> tuple[Route, ...]:
    """Return the most frequent routes of episodes that begin in a region and end; the region of each sample is known.

    A route leaves out detours, which are what lies between two visits to a region: agents flicker at borders, and
    hardly two episodes would go the same way.
    """
    lengths: dict[tuple[int, ...], list[int]] = {}
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
    return tuple(Route(route, len(steps) / total, sorted(steps)[(len(steps) - 1) // 2]) for route, steps in often)


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
