"""Rollouts: journeys drawn from the chain, for pictures and for checking its answers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.graph.chain import Chain

F64 = npt.NDArray[np.float64]


def rollouts(chain: Chain, start: F64, n: int, steps: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Return the places of ``n`` journeys at 0, 1, ... ``steps`` steps, shape (n, steps + 1).

    Parameters
    ----------
    chain : Chain
        The chain; a journey that has come to the end, or to a leaf that is never left, stays there.
    start : float64 array of shape (places,)
        Distribution of the first place.
    n, steps : int
        Number and length of the journeys.
    rng : numpy.random.Generator
        Where the chances come from.
    """
    matrix = chain.steps.tocsr()
    matrix.sort_indices()
    # All rows in one rising line: row r goes from r to r + 1, so one search finds the next place of all journeys.
    rows = np.repeat(np.arange(chain.n_places), np.diff(matrix.indptr))
    total = np.cumsum(matrix.data)
    before = np.append(0.0, total)[matrix.indptr[:-1]]
    line = rows + np.minimum(total - before[rows], 1.0)
    last = matrix.indptr[1:] - 1
    line[last] = np.arange(chain.n_places) + 1.0
    places = np.empty((n, steps + 1), np.int32)
    places[:, 0] = here = rng.choice(chain.n_places, n, p=start)
    for t in range(1, steps + 1):
        entry = np.searchsorted(line, here + rng.random(n), side="right")
        here = matrix.indices[np.minimum(entry, last[here])]
        places[:, t] = here
    return places
