"""Shuffling whole episodes between two logs: what is as large by chance, where steps are not independent.

A shuffle is a row of numbers, one for each unit: its new share of the label less the mean. So a statistic that is a sum
over units is, for all shuffles at once, a matrix product.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

SHUFFLES = 999
CLOSE = 1e-9
"""Statistics that differ by less are the same: sums in another order."""


@dataclass(frozen=True, eq=False)
class Shuffles:
    """Ways to divide units into old and new that chance might have taken; the first is the real one.

    Attributes
    ----------
    labels : float64 array of shape (1 + shuffles, units)
        1 for new and 0 for old, less the mean of the unit's block.
    smallest : float
        The smallest p value that there can be: how often chance alone divides them as the logs are.
    """

    labels: F64
    smallest: float

    def p(self, statistic: F64) -> float:
        """Return how often chance is as large as the first; exact where all divisions are listed."""
        return chance_of(statistic[0], statistic[1:])


def chance_of(real: float, chance: F64) -> float:
    """Return the p value of a statistic beside those of shuffles, the real one among them."""
    return float((1 + (chance >= real - CLOSE * max(abs(real), 1.0)).sum()) / (len(chance) + 1))


def shuffles_of(new: npt.NDArray[np.bool_], block: I64, rng: np.random.Generator, number: int = SHUFFLES) -> Shuffles:
    """Return shuffles of units within their blocks; all there are, where those are few.

    Parameters
    ----------
    new : bool array of shape (units,)
        Which units are of the new log.
    block : int64 array of shape (units,)
        Units change places within a block alone; one block: all of them may.
    rng : numpy.random.Generator
        For the shuffles.
    number : int
        How many.
    """
    blocks = [np.flatnonzero(block == one) for one in np.unique(block)]
    ways = math.prod(math.comb(len(one), int(new[one].sum())) for one in blocks)
    # Where both logs have as many units, each division has a mirror image that differs as much.
    mirrored = all(2 * int(new[one].sum()) == len(one) for one in blocks)
    smallest = max((2 if mirrored else 1) / ways, 1 / (number + 1))
    if ways <= number + 1:
        rows = _all_ways(new, blocks)
    else:
        rows = np.empty((number + 1, len(new)))
        rows[0] = new
        for one in blocks:
            order = rng.random((number, len(one))).argsort(axis=1)
            rows[1:, one] = new[one][order]
    for one in blocks:
        rows[:, one] -= new[one].mean()
    return Shuffles(rows, smallest)


def _all_ways(new: npt.NDArray[np.bool_], blocks: list[I64]) -> F64:
    """Return every division with as many new units in each block, the real one first."""
    choices = [itertools.combinations(one.tolist(), int(new[one].sum())) for one in blocks]
    rows = []
    for chosen in itertools.product(*choices):
        row = np.zeros(len(new))
        row[[place for part in chosen for place in part]] = 1.0
        rows.append(row)
    found = np.stack(rows)
    real = int(np.flatnonzero((found == new).all(axis=1))[0])
    found[[0, real]] = found[[real, 0]]
    return found


def largest(labels: F64, marks: F64) -> F64:
    """Return the largest statistic of each shuffle: sums over units, in units of how much shuffles vary them.

    Parameters
    ----------
    labels : float64 array of shape (shuffles, units)
        As in :class:`Shuffles`.
    marks : float64 array of shape (units, columns)
        What each unit adds to each column; columns that no shuffle varies say nothing.
    """
    found = np.zeros(len(labels))
    for begin in range(0, marks.shape[1], 4096):
        sums = labels @ marks[:, begin : begin + 4096]
        spread = np.sqrt((sums**2).mean(axis=0))
        size = np.abs(marks[:, begin : begin + 4096]).max(axis=0, initial=0.0)
        varies = spread > CLOSE * size
        if varies.any():
            np.maximum(found, (np.abs(sums[:, varies]) / spread[varies]).max(axis=1), out=found)
    return found


def adjusted(p: dict[str, float]) -> dict[str, float]:
    """Return p values adjusted for how many there are, as Holm does: the chance of any false alarm stays below alpha.

    >>> adjusted({"a": 0.01, "b": 0.04, "c": 0.5})
    {'a': 0.03, 'b': 0.08, 'c': 0.5}
    """
    found: dict[str, float] = {}
    least = 0.0
    for place, name in enumerate(sorted(p, key=lambda one: p[one])):
        least = max(least, min((len(p) - place) * p[name], 1.0))
        found[name] = least
    return {name: found[name] for name in p}
