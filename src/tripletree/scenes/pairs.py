"""Pairs: which two features show most of what a tree says."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.leaves.project import Extents, project
from tripletree.model.fitted import Fitted

F64 = npt.NDArray[np.float64]

MOST_FEATURES = 16
"""Pairs of this many features are compared; of more, those that the tree splits on for most of its quality."""
MOST_COLUMNS = 16
"""Columns that are compared, at most."""
CELLS = 24
"""Cells along each feature when pairs are compared."""


@dataclass(frozen=True)
class Pair:
    """Two features, and which share of what differs between leaves is still seen when all others are averaged."""

    features: tuple[int, int]
    share: float


def best_pair(fitted: Fitted, boxes: Extents, population: F64, columns: F64) -> Pair:
    """Return the pair of features whose projection shows most of some columns.

    The share is the variance of the means over a grid of the two features, divided by the variance between leaves, both
    weighted by samples and summed over columns: 1 when the two features say everything.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    boxes : Extents
        Its leaves.
    population : float64 array of shape (leaves,)
        Weights of the leaves.
    columns : float64 array of shape (leaves, columns)
        What the leaves predict.
    """
    share = population / population.sum()
    centred = columns - share @ columns
    if centred.shape[1] > MOST_COLUMNS:
        # Of a thousand labels the few that vary most tell which features matter.
        centred = centred[:, np.argsort(-(share @ centred**2), kind="stable")[:MOST_COLUMNS]]
    whole = float(share @ (centred**2).sum(axis=1))
    grids = [np.linspace(low, high, CELLS + 1) for low, high in zip(boxes.low, boxes.high, strict=True)]
    # A constant column shows everything on any pair.
    varies = whole > 1e-18 * float(share @ (columns**2).sum(axis=1))
    found = []
    for pair in itertools.combinations(candidates(fitted), 2):
        seen = project(boxes, pair, {}, share, centred, [grids[f] for f in pair])
        spread = float((seen.weight * (np.nan_to_num(seen.mean) ** 2).sum(axis=-1)).sum())
        found.append(Pair(pair, min(spread / whole, 1.0) if varies else 1.0))
    return max(found, key=lambda pair: pair.share)


def candidates(fitted: Fitted) -> list[int]:
    """Return the features worth comparing, in their own order."""
    count = len(fitted.schema.features)
    if count <= MOST_FEATURES:
        return list(range(count))
    tree = fitted.tree
    gain = np.zeros(count)
    inner = tree.split_order
    np.add.at(gain, tree.feature[inner], tree.quality[inner] * fitted.attributes.count[inner])
    return sorted(np.argsort(-gain, kind="stable")[:MOST_FEATURES].tolist())
