"""Where two logs differ, and by how much: regions found on half of the episodes, measured on the other half.

A region that was chosen because it differs most would differ less in other episodes. So none of the episodes that chose
it say by how much: the intervals are as wide as they must be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.questions.comparing import Level
from tripletree.tree.plain import grow_plain
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

CONFIDENCE = 0.95
MOST_LEAVES = 16
"""Leaves of a tree that describes a change, at most."""
LEAST_SHARE = 0.01
"""Share of the steps that a region has at least."""
APART = 3.0
"""Standard errors that the two sides of a split must differ by, since the split was chosen for that."""
ALIKE = 0.5
"""Share of the larger difference up to which the sides of a split say the same in other words."""
LEAST_UNITS = 3
"""Units of each log that a region must have, in the half that measures, for an interval to mean something."""


@dataclass(frozen=True, eq=False)
class Size:
    """A difference of new less old with its interval, in the target's own unit.

    Attributes
    ----------
    effect, error, low, high : float
        The difference, adjusted for inputs, its standard error and its interval.
    old, new : int
        Units of each log that it rests on.
    """

    effect: float
    error: float
    low: float
    high: float
    old: int
    new: int


@dataclass(frozen=True, eq=False)
class Place:
    """A region of the inputs in which a target differs.

    Attributes
    ----------
    target : int
        Which target.
    kind : {"mean", "spread"}
        Whether the target itself differs, or how much it varies.
    lower, upper : float64 arrays of shape (inputs,)
        The box; infinite where it has no bound.
    rows : bool array of shape (rows,)
        The rows in it.
    size : Size
        By how much.
    """

    target: int
    kind: str
    lower: F64
    upper: F64
    rows: Bool
    size: Size


def measure(level: Level, target: int, kind: str, rows: Bool, tests: int = 1) -> Size | None:
    """Return by how much a target differs on some rows, with an interval that counts units; None where there are few.

    Parameters
    ----------
    level : Level
        What is left of targets and labels.
    target, kind : int, {"mean", "spread"}
        What is compared.
    rows : bool array of shape (rows,)
        Where.
    tests : int
        How many intervals must hold together.
    """
    from scipy.special import stdtrit

    problem = level.problem
    rest = (level.rest if kind == "mean" else level.spread)[rows, target] * problem.scale[target]
    label, unit, units = level.label[rows], problem.unit[rows], len(problem.new)
    weight = level.weight[rows, target]
    top = np.bincount(unit, weight * rest * label, units)
    bottom = np.bincount(unit, weight * label**2, units)
    present = np.bincount(unit, minlength=units) > 0
    old, new = int((present & ~problem.new).sum()), int((present & problem.new).sum())
    whole = float(bottom.sum())
    if min(old, new) < LEAST_UNITS or not whole > 0:
        return None
    effect = float(top.sum() / whole)
    influence = (top - effect * bottom) / whole
    # Leaving a unit out changes the estimate by a little more than its influence: the more, the more of it there is.
    influence = influence / np.maximum(1 - bottom / whole, 1e-9)
    square, fourth = float((influence**2).sum()), float((influence**4).sum())
    # Few units that decide make for few degrees of freedom.
    freedom = max(min(square**2 / fourth if fourth > 0 else old + new, old + new) - 1, 1.0)
    wide = float(stdtrit(freedom, 1 - (1 - CONFIDENCE) / (2 * tests))) * np.sqrt(square)
    return Size(effect, float(np.sqrt(square)), effect - wide, effect + wide, old, new)


def everywhere(level: Level, target: int, kind: str) -> Size | None:
    """Return by how much a target differs on all comparable rows together."""
    return measure(level, target, kind, level.comparable)


def places(level: Level, kinds: list[tuple[int, str]], rng: np.random.Generator) -> tuple[Place, ...]:
    """Return regions in which targets differ, the largest change first; their intervals hold together.

    Parameters
    ----------
    level : Level
        What is left of targets and labels.
    kinds : list of (int, str)
        Which targets to look at, and whether at them or at how much they vary.
    rng : numpy.random.Generator
        Divides the units in halves.
    """
    half = _half(level.problem.new, rng)[level.problem.unit]
    found = []
    for target, kind in kinds:
        box = _boxes(level, target, kind, half)
        found += [(target, kind, lower, upper, rows) for lower, upper, rows in box]
    kept = []
    for target, kind, lower, upper, rows in found:
        size = measure(level, target, kind, rows & ~half, len(found))
        if size is not None and not size.low <= 0 <= size.high:
            kept.append(Place(target, kind, lower, upper, rows, size))
    scale = level.problem.scale
    return tuple(sorted(kept, key=lambda one: -abs(one.size.effect) / scale[one.target] * one.rows.sum()))


def _half(new: Bool, rng: np.random.Generator) -> Bool:
    """Return a random half of the units of each log."""
    half = np.zeros(len(new), bool)
    for side in (new, ~new):
        units = rng.permutation(np.flatnonzero(side))
        half[units[: len(units) // 2]] = True
    return half


def _boxes(level: Level, target: int, kind: str, half: Bool) -> list[tuple[F64, F64, Bool]]:
    """Return the boxes of a tree grown on the difference, on half of the units, that seem to differ there."""
    problem = level.problem
    usable = level.comparable & half
    least = max(int(LEAST_SHARE * usable.sum()), 10)
    if usable.sum() < 2 * least:
        return []
    rest = (level.rest if kind == "mean" else level.spread)[:, target]
    signal = (rest * level.label * np.sqrt(level.weight[:, target]))[:, None]
    tree, _ = grow_plain(problem.inputs[usable], signal[usable], MOST_LEAVES, least)
    inside: dict[int, Bool] = {0: level.comparable}
    for nodes in tree.levels:
        for node in nodes.tolist():
            left = int(tree.left[node])
            below = problem.inputs[:, tree.feature[node]] < tree.threshold[node]
            inside[left], inside[left + 1] = inside[node] & below, inside[node] & ~below
    sizes = {node: measure(level, target, kind, rows & half) for node, rows in inside.items()}
    lower, upper = _node_bounds(tree, problem.inputs.shape[1])
    kept = _pruned(tree, sizes, 0)
    return [(lower[node], upper[node], inside[node]) for node in kept if _differs(sizes[node])]


def _differs(size: Size | None) -> bool:
    return size is not None and not size.low <= 0 <= size.high


def _pruned(tree: Tree, sizes: dict[int, Size | None], node: int) -> list[int]:
    """Return the nodes that describe the change: a split goes where its two sides do not differ from each other."""
    left = int(tree.left[node])
    if left < 0:
        return [node]
    first, second = _pruned(tree, sizes, left), _pruned(tree, sizes, left + 1)
    if first == [left] and second == [left + 1]:
        one, other = sizes[left], sizes[left + 1]
        if one is None or other is None:
            return [node]
        alike = ALIKE * max(abs(one.effect), abs(other.effect))
        if abs(one.effect - other.effect) < max(APART * np.hypot(one.error, other.error), alike):
            return [node]
    return first + second


def _node_bounds(tree: Tree, width: int) -> tuple[F64, F64]:
    """Return the box of every node."""
    lower, upper = np.full((tree.n_nodes, width), -np.inf), np.full((tree.n_nodes, width), np.inf)
    for nodes in tree.levels:
        for node in nodes.tolist():
            left, feature = int(tree.left[node]), int(tree.feature[node])
            for child in (left, left + 1):
                lower[child], upper[child] = lower[node], upper[node]
            upper[left, feature] = lower[left + 1, feature] = tree.threshold[node]
    return lower, upper
