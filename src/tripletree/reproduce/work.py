"""What all parts share: the folder of pictures, the progress bar, growing trees, and intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.api import TripleTree
from tripletree.errors import TripleTreeWarning
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.log.log import Log
from tripletree.reproduce.page import Figures

F64 = npt.NDArray[np.float64]


@dataclass
class Work:
    """Where pictures go, how progress is reported, and how many samples are recorded of each agent."""

    folder: Path
    steps: int
    progress: Callable[[int, int], None] | None = None
    road_samples: int = 10_000
    lander_samples: int = 100_000
    done: int = 0

    def step(self) -> None:
        """Report that one more of the steps is done."""
        self.done += 1
        self.tell()

    def tell(self) -> None:
        """Report the steps done so far."""
        # Where Gymnasium is missing, one step fewer is made; a bar must not run over in any case.
        if self.progress is not None:
            self.progress(min(self.done, self.steps), self.steps)

    def figures(self, pictures: Mapping[str, Any], caption: str) -> Figures:
        """Save pictures of `tripletree.plot` under their names, and return the block that shows them."""
        (self.folder / "figures").mkdir(exist_ok=True)
        for name, picture in pictures.items():
            picture.save(self.folder / f"figures/{name}.png", dpi=200)
        return Figures([f"figures/{name}.png" for name in pictures], caption)


PAPER: dict[str, Any] = {
    "truncation": "paper",
    "priority": "impurity",
    "min_samples_leaf": 1,
    "leaf_model": "mean",
}
"""The paper's choices, where users are better served by others."""


def grow(log: Log, validation: Log | None = None, **parameters: Any) -> TripleTree:
    """Return a tree grown as the paper does; that truncated episodes bias its values is said on the page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(**{**PAPER, **parameters}).fit(log, validation)


def losses(tree: TripleTree, kind: str = "training") -> F64:
    """Return action, value and derivative loss at every leaf count, shape (3, leaves)."""
    return np.stack([np.asarray(tree.curve_[f"{kind}_{name}"], np.float64) for name in ATTRIBUTES])


def at(curve: F64, leaves: int) -> F64:
    """Return the losses at a leaf count; a tree that was pure earlier keeps its last ones."""
    return curve[:, min(leaves, curve.shape[1]) - 1]


def mean_interval(values: npt.ArrayLike, draws: int = 2_000, seed: int = 0) -> tuple[float, float, float]:
    """Return a mean and its 95 % interval, by resampling the values (bootstrap).

    >>> mean_interval([1.0, 1.0, 1.0])
    (1.0, 1.0, 1.0)
    """
    array = np.asarray(values, np.float64)
    rng = np.random.default_rng(seed)
    means = array[rng.integers(len(array), size=(draws, len(array)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(array.mean()), float(low), float(high)


def difference_interval(
    one: npt.ArrayLike, other: npt.ArrayLike, draws: int = 2_000, seed: int = 0
) -> tuple[float, float, float]:
    """Return the difference of two means (other minus one) and its 95 % interval, by resampling both (bootstrap)."""
    parts = [np.asarray(values, np.float64) for values in (one, other)]
    rng = np.random.default_rng(seed)
    drawn = [part[rng.integers(len(part), size=(draws, len(part)))].mean(axis=1) for part in parts]
    low, high = np.quantile(drawn[1] - drawn[0], [0.025, 0.975])
    return float(parts[1].mean() - parts[0].mean()), float(low), float(high)


def percent(share: float, digits: int = 0) -> str:
    """Return "12 %"."""
    return f"{100 * share:.{digits}f} %"


def by_episode(log: Log, function: Callable[[F64, F64], Mapping[str, float]]) -> dict[str, F64]:
    """Return numbers for every episode, from a function of its states (the final one included) and its actions."""
    rows = []
    for e in range(log.n_episodes):
        steps = slice(log.starts[e], log.starts[e + 1])
        rows.append(function(np.vstack([log.states[steps], log.final_states[e]]), log.actions[steps]))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
