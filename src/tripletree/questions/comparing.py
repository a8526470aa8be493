"""Comparing two logs in like places: whether targets are the same function of inputs in both.

Both logs are pooled, and a tree is grown on the targets without knowing which step is whose. In each leaf the targets
are adjusted for the inputs by a linear fit. What is left, its size and how it leans on each input are added up for each
episode and leaf, at several sizes of the tree, and whole episodes are shuffled between the logs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tripletree.log.shuffling import Shuffles, largest
from tripletree.tree.plain import grow_plain, nodes_at
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

LEVELS = (1, 4, 16, 64)
"""Sizes of the tree at which the logs are compared: a change may be everywhere, or in a corner."""
FINE = 256
"""Leaves of the tree by which causes are told apart: the finer, the less a linear fit can miss."""
LEAST_ROWS = 30
MOST_COLUMNS = 20_000
"""Where leaves, targets and inputs make more than this, how the rest leans on each input is left out."""
LEFT = 0.3
"""Share of the label's variance that must be left in a leaf, once inputs are known, for logs to be comparable there."""
LEAST_VARIANCE = 0.01
"""Share of the mean variance of what is left that counts as the least in any leaf."""
FARTHEST = 3.0
"""Standard deviations from its leaf's mean that an input counts for, at most: one odd step must not decide."""
RIDGE = 1e-8
ROUNDING = 1e-7
"""Standard deviations of a target below which what is left of it is what rounding, and the ridge, make."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What is compared: targets as a function of inputs.

    Attributes
    ----------
    inputs : float64 array of shape (rows, inputs)
        Where: states, or states and actions.
    targets : float64 array of shape (rows, targets)
        What: actions, or derivatives; all of them vary.
    unit : int64 array of shape (rows,)
        Which unit (an episode, or a group of them) each row is of.
    new : bool array of shape (units,)
        Which units are of the new log.
    which : int64 array of shape (targets,)
        Which label, dimension or feature each target is of.
    rows : int64 array of shape (rows,)
        Which step each row is of the pooled logs.
    """

    inputs: F64
    targets: F64
    unit: I64
    new: Bool
    which: I64
    rows: I64

    @cached_property
    def scale(self) -> F64:
        """The standard deviation of each target."""
        spread: F64 = self.targets.std(axis=0)
        return spread

    @cached_property
    def label(self) -> F64:
        """1 for each row of the new log, 0 for the others."""
        return self.new[self.unit].astype(np.float64)

    @cached_property
    def grown(self) -> tuple[Tree, I64]:
        """The pooled tree, which has not seen the labels, and the node of each row."""
        rows, width = self.inputs.shape
        least = max(LEAST_ROWS, 3 * (width + 1), rows // (8 * FINE))
        return grow_plain(self.inputs, self.targets / self.scale, FINE, least)

    def level(self, n_leaves: int) -> Level:
        """Return what is left of the targets with this many leaves, or as many as there are."""
        tree, node = self.grown
        size = min(n_leaves, tree.n_leaves)
        leaf = nodes_at(tree, node, size)
        rest = adjust(self.inputs, self.targets / self.scale, leaf, size)
        return Level(self, leaf, size, rest, adjust(self.inputs, np.abs(rest), leaf, size))

    @cached_property
    def fine(self) -> Level:
        """What is left at the finest level."""
        return self.level(FINE)

    @cached_property
    def coarse(self) -> Level:
        """What is left at the finest level that is tested."""
        return self.level(LEVELS[-1])


@dataclass(frozen=True, eq=False)
class Level:
    """What is left of the targets once the inputs are known, by a linear fit in each leaf.

    Attributes
    ----------
    problem : Problem
        What is compared.
    leaf : int64 array of shape (rows,)
        The leaf of each row.
    size : int
        Number of leaves.
    rest, spread : float64 arrays of shape (rows, targets)
        What is left of the targets in units of their spread; and of its size, once the inputs are known.
    """

    problem: Problem
    leaf: I64
    size: int
    rest: F64
    spread: F64

    @cached_property
    def label(self) -> F64:
        """What is left of the label of each row once the inputs are known."""
        return adjust(self.problem.inputs, self.problem.label[:, None], self.leaf, self.size)[:, 0]

    @cached_property
    def weight(self) -> F64:
        """How much each row counts in a mean of differences, shape (rows, targets): less where logs vary more.

        What varies is each log by itself: where they differ, that must not count against it.
        """
        count = np.maximum(np.bincount(self.leaf, minlength=self.size), 1)
        known = np.maximum(np.bincount(self.leaf, self.label**2, self.size), np.finfo(np.float64).tiny)
        weights = []
        for column in self.rest.T:
            apart = np.bincount(self.leaf, column * self.label, self.size) / known
            noise = np.bincount(self.leaf, (column - apart[self.leaf] * self.label) ** 2, self.size) / count
            # A leaf in which nothing varies must not decide alone.
            least = max(LEAST_VARIANCE * float((column**2).mean()), float(np.finfo(np.float64).tiny))
            weights.append(1 / np.maximum(noise, least)[self.leaf])
        return np.stack(weights, axis=1)

    @cached_property
    def comparable(self) -> Bool:
        """Which rows are in leaves where both logs are, and inputs do not give away which is which."""
        label = self.problem.label
        variance = np.bincount(self.leaf, self.label**2, self.size) / np.maximum(np.bincount(self.leaf), 1)
        whole = float(label.mean() * (1 - label.mean()))
        enough = variance > LEFT * whole
        return enough[self.leaf]

    def marks(self, where: I64, size: int, only: Bool | None = None) -> F64:
        """Return what each unit adds up to in each place: the rest, its spread, and how it leans on the inputs.

        Parameters
        ----------
        where, size : int64 array of shape (rows,), int
            Places, and how many there are.
        only : bool array of shape (rows,), or None
            Which rows count; None: all.
        """
        problem = self.problem
        units, count = len(problem.new), size * self.rest.shape[1]
        columns = [*self.rest.T, *self.spread.T]
        if count * problem.inputs.shape[1] <= MOST_COLUMNS:
            leans = standard(problem.inputs, where, size)
            columns += [rest * lean for rest in self.rest.T for lean in leans.T if lean.any()]
        place = problem.unit * size + where
        if only is not None:
            place, columns = place[only], [column[only] for column in columns]
        return np.concatenate(
            [np.bincount(place, column, units * size).reshape(units, size) for column in columns], axis=1
        )


def strength(problem: Problem, shuffles: Shuffles) -> F64:
    """Return the largest statistic of each shuffle over all levels, leaves and columns; the first is the real one."""
    found = np.zeros(len(shuffles.labels))
    seen = 0
    for n_leaves in LEVELS:
        level = problem.coarse if n_leaves == LEVELS[-1] else problem.level(n_leaves)
        if level.size > seen:
            seen = level.size
            np.maximum(found, largest(shuffles.labels, level.marks(level.leaf, level.size)), out=found)
    return found


def fine_strength(problem: Problem, shuffles: Shuffles) -> F64:
    """Return the same with a fine adjustment, on comparable rows alone: what tells causes apart.

    The labels decide which rows these are, so this is no test by itself: it follows one that was.
    """
    fine = problem.fine
    tree, node = problem.grown
    found = np.zeros(len(shuffles.labels))
    for n_leaves in LEVELS:
        size = min(n_leaves, tree.n_leaves)
        marks = fine.marks(nodes_at(tree, node, size), size, fine.comparable)
        np.maximum(found, largest(shuffles.labels, marks), out=found)
    return found


def adjust(inputs: F64, targets: F64, leaf: I64, size: int) -> F64:
    """Return what a linear fit on the inputs leaves of the targets in each leaf."""
    rest = np.empty_like(targets)
    order = np.argsort(leaf, kind="stable")
    ends = np.searchsorted(leaf[order], np.arange(size + 1))
    reach = np.abs(inputs).max(axis=0, initial=0.0)
    least = ROUNDING * targets.std(axis=0)
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        rows = order[begin:end]
        if not len(rows):
            continue
        here, left = inputs[rows], targets[rows]
        here, left = here - here.mean(axis=0), left - left.mean(axis=0)
        spread = here.std(axis=0)
        varies = spread > 1e-9 * reach
        here = here[:, varies] / spread[varies]
        if here.shape[1]:
            squares = here.T @ here
            # Inputs that say the same twice are no reason to fail.
            squares[np.diag_indices_from(squares)] += RIDGE * len(rows)
            left = left - here @ np.linalg.solve(squares, here.T @ left)
        # Where only one action is taken, rounding must not be compared as if it were something.
        rest[rows] = np.where(np.abs(left).max(axis=0) > least, left, 0.0)
    return rest


def standard(inputs: F64, leaf: I64, size: int) -> F64:
    """Return inputs less the mean of their leaf, in standard deviations there, cut off where they are far."""
    count = np.maximum(np.bincount(leaf, minlength=size), 1)
    mean = np.stack([np.bincount(leaf, column, size) / count for column in inputs.T], axis=1)
    apart = inputs - mean[leaf]
    spread = np.sqrt(np.stack([np.bincount(leaf, column**2, size) / count for column in apart.T], axis=1))
    varies = spread > 1e-9 * np.abs(inputs).max(axis=0, initial=0.0)
    scaled = apart * np.where(varies, 1 / np.where(varies, spread, 1.0), 0.0)[leaf]
    return np.clip(scaled, -FARTHEST, FARTHEST)
