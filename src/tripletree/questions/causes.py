"""Which cause is claimed: where the logs differ in several, each may follow from another.

An agent that does something else goes elsewhere, and finds the world different there. One that a changed world drives
elsewhere seems to do something else there, wherever a linear fit is too coarse. So what is claimed must show in like
states.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.diff import CHANGED, EXPLAINED, SAME, UNCLEAR
from tripletree.log.shuffling import Shuffles
from tripletree.questions.comparing import Problem, fine_strength
from tripletree.tree.plain import nodes_at

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

LEAST_COMPARABLE = {"policy": 0.25, "world": 0.5}
"""Share of the steps that must be comparable for a claim. More for the world: it is compared in like states and like
actions, and an agent that does something else leaves few of these."""
STRONGER = 1.3
"""How much stronger one cause must show than another, in units of what chance shows, to explain it."""
CLEAR = 1.2
"""How strongly a cause must show in like states, in these units, to be believed before the other by this alone."""
USUAL = 0.95
"""Share of the shuffles that show less than 1 of these units."""
CLOSEST = 0.5
"""Share of the steps, in each leaf, that are compared with their twins: those with the closest ones."""
MOST_TWINS = 40_000
"""Steps whose twins are looked for, at most: every second, or third, of longer logs."""
TWIN_LEVELS = (1, 4, 16)
LEAST_UNITS, LEAST_SHARE = 20, 0.01
"""Units, and share of the twins, that a place must have for its difference to count."""
SURE = 3.0
"""Standard errors that are taken off a difference to call it sure: many places and targets are looked at."""
RIDGE = 1e-3


def verdicts(
    asked: dict[str, Any], strengths: dict[str, F64], alarms: dict[str, bool], shuffles: Shuffles, tolerance: float
) -> dict[str, tuple[str, str]]:
    """Return what is claimed of each cause that was tested, and why.

    Parameters
    ----------
    asked : dict
        What was compared for policy, world and start.
    strengths : dict of float64 arrays
        The largest statistic of each shuffle, for each cause; the first is the real one.
    alarms : dict of bool
        In which of them the logs differ.
    shuffles : Shuffles
        The shuffles.
    tolerance : float
        Differences that do not matter, as a share of how much the action varies.
    """
    found = {"start": (CHANGED, "") if alarms.get("start") else (SAME, "")}
    shown = []
    for name in ("policy", "world"):
        if asked[name] is None:
            continue
        if asked[name].coarse.comparable.mean() < LEAST_COMPARABLE[name]:
            found[name] = (UNCLEAR, "apart")
        elif alarms[name]:
            found[name] = (CHANGED, "")
            shown.append(name)
        else:
            found[name] = (SAME, "")
    if sum(alarms[name] for name in asked if name in alarms) < 2 or not shown:
        return found
    fine = {name: _units(fine_strength(asked[name], shuffles)) for name in shown}
    first = max(fine, key=lambda one: fine[one])
    if fine[first] < 1 and alarms.get("start"):
        # Nothing shows in like states, and these differ because episodes start elsewhere.
        return found | dict.fromkeys(shown, (EXPLAINED, "start"))
    if len(shown) < 2:
        return found
    other = shown[1 - shown.index(first)]
    if fine[first] < CLEAR:
        # Few of the like states have much to say: then what all states say must agree with them.
        agree = _units(strengths[first]) > _units(strengths[other])
        return found | ({other: (EXPLAINED, first)} if agree else dict.fromkeys(shown, (UNCLEAR, "either")))
    also = fine[other] >= 1 and fine[first] < STRONGER * fine[other]
    if also and other == "policy":
        # A world that drives the agent elsewhere makes it look changed, though by little: more than what matters, in
        # twins, is needed for a claim beside the world's.
        also = change_in_twins(asked["policy"]) > tolerance
    return found if also else found | {other: (EXPLAINED, first)}


def _units(values: F64) -> float:
    """Return how large the first number is, in units of what 1 of 20 shuffles exceed."""
    return float(values[0] / max(np.quantile(values, USUAL), 1e-12))


def change_in_twins(problem: Problem) -> float:
    """Return by how much a target surely differs somewhere between twins, in units of its spread.

    Twins are a step and the nearest one of the other log. Their targets are adjusted for what still lies between their
    inputs, by a linear fit in each leaf.
    """
    rows = np.arange(0, len(problem.unit), -(-len(problem.unit) // MOST_TWINS))
    far, twin = _twins(problem, rows)
    leaf, size = problem.coarse.leaf[rows], problem.coarse.size
    limit = np.array([np.quantile(far[leaf == k], CLOSEST) if (leaf == k).any() else 0.0 for k in range(size)])
    close = (far <= limit[leaf]) & problem.fine.comparable[rows]
    side = np.where(problem.label[rows] > 0, 1.0, -1.0)[:, None]
    apart = (problem.targets[rows] - problem.targets[twin]) / problem.scale * side
    between = (problem.inputs[rows] - problem.inputs[twin]) / _spread(problem.inputs) * side
    for k in range(size):
        mine = np.flatnonzero(close & (leaf == k))
        if len(mine) < 5 * between.shape[1]:
            close[mine] = False
        else:
            apart[mine] -= between[mine] @ _slope(between[mine], apart[mine])
    return _surest(problem, rows[close], apart[close])


def _twins(problem: Problem, rows: I64) -> tuple[F64, I64]:
    """Return how far the nearest step of the other log is, in spreads of the inputs, and which it is."""
    from scipy.spatial import cKDTree

    places = problem.inputs[rows] / _spread(problem.inputs)
    new = problem.label[rows] > 0
    far, twin = np.empty(len(rows)), np.empty(len(rows), np.int64)
    for mine, others in ((new, ~new), (~new, new)):
        far[mine], near = cKDTree(places[others]).query(places[mine])
        twin[mine] = rows[others][near]
    return far, twin


def _spread(columns: F64) -> F64:
    spread = columns.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _slope(between: F64, apart: F64) -> F64:
    """Return how the targets of twins differ with their inputs, beside what they differ by anyway."""
    between, apart = between - between.mean(axis=0), apart - apart.mean(axis=0)
    squares = between.T @ between
    squares[np.diag_indices_from(squares)] += RIDGE * np.trace(squares) / len(squares) + 1e-12
    return np.asarray(np.linalg.solve(squares, between.T @ apart))


def _surest(problem: Problem, rows: I64, apart: F64) -> float:
    """Return the largest mean of any place and target, less its standard errors."""
    tree, node = problem.grown
    units, best = len(problem.new), 0.0
    for n_leaves in TWIN_LEVELS:
        size = min(n_leaves, tree.n_leaves)
        place = problem.unit[rows] * size + nodes_at(tree, node, size)[rows]
        count = np.bincount(place, minlength=units * size).reshape(units, size)
        number = np.maximum(count.sum(axis=0), 1)
        enough = ((count > 0).sum(axis=0) >= LEAST_UNITS) & (number >= LEAST_SHARE * len(rows))
        for column in apart.T:
            total = np.bincount(place, column, units * size).reshape(units, size)
            mean = total.sum(axis=0) / number
            error = np.sqrt(((total - mean * count) ** 2).sum(axis=0)) / number
            best = max(best, float(np.where(enough, np.abs(mean) - SURE * error, 0.0).max()))
    return best
