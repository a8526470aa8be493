"""The chain over leaves: where it gets to, how soon, how long it stays; solved with sparse linear algebra.

The chain forgets the past: what happens next depends on the present leaf alone. Places are the leaves and, last, the
end. Sets of places are boolean arrays and distributions float64 arrays, both of shape (leaves + 1,).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.graph.transitions import Transitions

F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Chain:
    """Probabilities to stay in a leaf for another step, and to move to other places when leaving it.

    Attributes
    ----------
    source, target : int32 arrays of shape (edges,)
        Places, as in Transitions.
    move : float64 array of shape (edges,)
        Probability of the target when the source is left; adds up to 1 or, where nothing is known, 0.
    leave : float64 array of shape (leaves,)
        Probability to leave the leaf at a step.
    """

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    move: F64
    leave: F64

    @classmethod
    def of(cls, transitions: Transitions) -> Chain:
        """Return the chain with the shares that were counted."""
        return cls(transitions.source, transitions.target, transitions.probability, transitions.leave)

    @property
    def n_places(self) -> int:
        """Leaves and the end."""
        return len(self.leave) + 1

    @cached_property
    def moves(self) -> Any:
        """The chain by sequences, sparse CSR (places, places): rows of the end and of unknown leaves are empty."""
        from scipy.sparse import csr_array

        return csr_array((self.move, (self.source, self.target)), shape=(self.n_places,) * 2)

    @cached_property
    def steps(self) -> Any:
        """The chain by steps, sparse CSR (places, places): the end and unknown leaves are never left."""
        from scipy.sparse import csr_array

        source, target, chance = self.step_edges
        return csr_array((chance, (source, target)), shape=(self.n_places,) * 2)

    @property
    def step_edges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], F64]:
        """The same as source, target and probability of each edge."""
        places = np.arange(self.n_places)
        chance = np.append(self.move * self.leave[self.source], np.append(1.0 - self.leave, 1.0))
        return np.append(self.source, places), np.append(self.target, places), chance


def reach(chain: Chain, goal: Mask, avoid: Mask | None = None) -> F64:
    """Return from each place the probability of ever reaching ``goal``, without passing through ``avoid`` first."""
    inner = _towards(chain, goal, avoid)
    probability = goal.astype(np.float64)
    if len(inner):
        rows = chain.moves[inner]
        probability[inner] = _solve(rows[:, inner], rows @ probability)
    return np.clip(probability, 0.0, 1.0)


def reach_within(chain: Chain, goal: Mask, steps: int, avoid: Mask | None = None) -> F64:
    """Return from each place the probability of reaching ``goal`` within so many steps (and before ``avoid``)."""
    inner = _towards(chain, goal, avoid)
    probability = goal.astype(np.float64)
    rows = chain.steps[inner]
    for _ in range(steps if len(inner) else 0):
        after = rows @ probability
        if np.array_equal(after, probability[inner]):
            break
        probability[inner] = after
    return np.clip(probability, 0.0, 1.0)


def steps_to(chain: Chain, goal: Mask, avoid: Mask | None = None) -> tuple[F64, F64]:
    """Return the probability of reaching ``goal``, and that times the mean number of steps when it is reached.

    The second divided by the first is the mean over the journeys that arrive.
    """
    inner = _towards(chain, goal, avoid)
    probability = reach(chain, goal, avoid)
    weighted = np.zeros(chain.n_places)
    if len(inner):
        weighted[inner] = _solve(chain.steps[inner][:, inner], probability[inner])
    return probability, weighted


def after(chain: Chain, start: F64, steps: int) -> F64:
    """Return the distribution over places so many steps after ``start``."""
    # Without SciPy, which takes longer to import than the sums take: trees are grown by people who wait.
    source, target, chance = chain.step_edges
    order = np.lexsort((source, target))
    source, target, chance = source[order], target[order], chance[order]
    here = np.array(start, np.float64)
    for _ in range(steps):
        there: F64 = np.bincount(target, chance * here[source], chain.n_places).astype(np.float64)
        if np.array_equal(there, here):
            break
        here = there
    return here


def occupancy(chain: Chain, start: F64) -> F64:
    """Return the share of time spent in each leaf from ``start`` on, shape (leaves,).

    When all journeys end (or come to a leaf of which nothing more is known: its first step still counts), this is the
    expected number of steps in each leaf over their sum. When some go round for ever, it is the long-run share of
    those.
    """
    n = chain.n_places - 1
    seen = reachable(chain, start)[:n]
    if not start[:n].any():
        return np.zeros(n)
    label, closed = _classes(chain)
    settled = [c for c in np.flatnonzero(closed) if seen[label == c].any()]
    share = np.zeros(n)
    for c in settled:
        members = np.flatnonzero(label == c)
        goal = np.zeros(n + 1, bool)
        goal[members] = True
        share[members] += float(start @ reach(chain, goal)) * _stationary(chain.steps[members][:, members])
    if not settled:
        # Those that never leave are left after one step: time there is not known to go on.
        going = np.flatnonzero(seen)
        rows = chain.steps[going][:, going].tolil()
        lost = np.flatnonzero(chain.leave[going] == 0)
        rows[lost, lost] = 0.0
        share[going] = np.maximum(_solve(rows.T, start[going]), 0.0)
    total: F64 = share / share.sum()
    return total


def reachable(chain: Chain, start: F64) -> Mask:
    """Return which places can be reached from ``start`` at all (its own places included)."""
    return _search(chain.n_places, chain.source, chain.target, np.asarray(start) > 0)


def _towards(chain: Chain, goal: Mask, avoid: Mask | None) -> npt.NDArray[np.int64]:
    """Return the places outside both sets from which ``goal`` can be reached without entering ``avoid``."""
    source, target, stop = chain.source, chain.target, goal
    if avoid is not None:
        stop = goal | avoid
        kept = ~(avoid & ~goal)[target]
        source, target = source[kept], target[kept]
    return np.flatnonzero(_search(chain.n_places, target, source, goal) & ~stop)


def _search(n_places: int, source: npt.NDArray[Any], target: npt.NDArray[Any], start: Mask) -> Mask:
    """Return the places that can be reached from ``start`` along the edges."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    # From one place more, which leads to all of `start`.
    first = np.flatnonzero(start)
    rows, columns = np.append(source, np.full(len(first), n_places)), np.append(target, first)
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_places + 1,) * 2)
    found = np.zeros(n_places + 1, bool)
    found[breadth_first_order(graph, n_places, return_predecessors=False)] = True
    return found[:-1]


def _solve(matrix: Any, right: F64) -> F64:
    """Return x of ``(I - matrix) x = right``."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    solution: F64 = splu((eye_array(matrix.shape[0]) - matrix).tocsc()).solve(right)
    return solution


def _classes(chain: Chain) -> tuple[npt.NDArray[np.int32], Mask]:
    """Return the class (strongly connected leaves) of each leaf, and which classes are known and never left."""
    from scipy.sparse.csgraph import connected_components

    n = chain.n_places - 1
    classes, label = connected_components(chain.moves[:n][:, :n], connection="strong")
    closed = np.ones(classes, bool)
    closed[label[chain.leave == 0]] = False
    out = np.append(label, -1)[chain.target] != label[chain.source]
    closed[label[chain.source[out]]] = False
    return label, closed


def _stationary(matrix: Any) -> F64:
    """Return the stationary distribution of an irreducible chain."""
    from scipy.sparse import csc_array, eye_array, vstack
    from scipy.sparse.linalg import splu

    n = matrix.shape[0]
    balance = (eye_array(n) - matrix).T.tocsr()
    # One equation of balance follows from the others; in its place the shares add up to 1.
    system = vstack([balance[:-1], csc_array(np.ones((1, n)))]).tocsc()
    share: F64 = splu(system).solve(np.append(np.zeros(n - 1), 1.0))
    return np.maximum(share, 0.0)


def rollouts(chain: Chain, start: F64, n: int, steps: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Return the places of ``n`` rollouts at 0, 1, ... ``steps`` steps, shape (n, steps + 1).

    Parameters
    ----------
    chain : Chain
        The chain; a rollout that has come to the end, or to a leaf that is never left, stays there.
    start : float64 array of shape (places,)
        Distribution of the first place.
    n, steps : int
        Number and length of the rollouts.
    rng : numpy.random.Generator
        Where the chances come from.
    """
    matrix = chain.steps.tocsr()
    matrix.sort_indices()
    # All rows in one rising line: row r goes from r to r + 1, so one search finds the next place of all rollouts.
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
