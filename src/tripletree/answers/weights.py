"""Weights: which theta makes the worst of the three losses smallest (paper, Appendix A)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.numbers import all_of, exact, percent
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.model.table import Table

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Weights(Answer):
    """Losses of trees grown with different weights, relative to a tree with one leaf.

    Attributes
    ----------
    theta : float64 array of shape (points, 3)
        The weights of action, value and derivative, evenly spread over the simplex; each row sums to 1.
    leaves : int64 array of shape (sizes,)
        Leaf counts at which the trees were judged.
    ratio : float64 array of shape (sizes, points, 3)
        Each loss divided by that of the one-leaf tree, which predicts the log's average; NaN for a loss that is 0 with
        one leaf already (it says nothing).
    validation : bool
        Whether the losses are those on held-out episodes.
    """

    theta: F64
    leaves: npt.NDArray[np.int64]
    ratio: F64
    validation: bool

    @property
    def worst(self) -> F64:
        """The largest of the three ratios, shape (sizes, points)."""
        largest: F64 = np.nanmax(self.ratio, axis=2)
        return largest

    @property
    def worst_attribute(self) -> npt.NDArray[np.int64]:
        """Which of the three it is (0, 1, 2: action, value, derivative), shape (sizes, points)."""
        which: npt.NDArray[np.int64] = np.nanargmax(self.ratio, axis=2)
        return which

    @property
    def best(self) -> npt.NDArray[np.int64]:
        """The row of ``theta`` whose worst ratio is least, shape (sizes,)."""
        least: npt.NDArray[np.int64] = self.worst.argmin(axis=1)
        return least

    @property
    def best_theta(self) -> F64:
        """The best weights at each size, shape (sizes, 3)."""
        return self.theta[self.best]

    @property
    def table(self) -> Table:
        """One row a size and theta."""
        sizes, points = self.worst.shape
        columns: dict[str, Any] = {"leaves": np.repeat(self.leaves, points)}
        columns |= {f"theta_{name}": np.tile(self.theta[:, g], sizes) for g, name in enumerate(ATTRIBUTES)}
        columns |= {f"ratio_{name}": self.ratio[:, :, g].ravel() for g, name in enumerate(ATTRIBUTES)}
        columns["worst"] = self.worst.ravel()
        columns["worst_attribute"] = np.array(ATTRIBUTES)[self.worst_attribute].ravel()
        return Table(columns)

    def __str__(self) -> str:
        return _weights(self)


def _weights(answer: Weights) -> str:
    """Return which weights are best at the largest size, how good they are, and whether other sizes agree."""
    worst, last = answer.worst[-1], int(answer.best[-1])
    on = "held-out episodes" if answer.validation else "the training log"
    name = ATTRIBUTES[answer.worst_attribute[-1, last]]
    told = (
        f"With {answer.leaves[-1]:,} leaves, theta = {theta(answer.theta[last])} does best: the worst of its three "
        f"losses on {on}, that of the {name}, is {percent(worst[last])} of a one-leaf tree's. "
        f"Of all {len(worst)} weights tried, the worst gives {percent(worst.max())}."
    )
    others = [
        f"{theta(best)} with {size:,} leaves"
        for size, best in zip(answer.leaves[:-1].tolist(), answer.best_theta[:-1], strict=True)
    ]
    return f"{told} Best with fewer: {all_of(others)}." if others else told


def theta(row: Iterable[float]) -> str:
    """Return "[0.2, 0.6, 0.2]"."""
    return f"[{', '.join(exact(round(float(weight), 4)) for weight in row)}]"
