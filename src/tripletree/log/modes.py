"""Guesses of what the state leaves, for an agent that has two modes which the log does not show.

In the one mode it does more of something than the state tells, in the other less, and of what, depends on the state.
That difference is learnt from other episodes, though nobody knows which of them were in which mode: episodes, or parts
of them, agree or disagree with each other in like states, and those that agree are put together. Then an episode is
followed: by how much it has agreed with that difference so far tells the mode, and so what it will do next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tripletree.log.leftovers import Leftovers

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

ROUNDS = 4
LOOSE, FIRM = 3.0, 30.0
"""Of the ridge for the difference, and for habits."""
PART = 15
"""Steps of a part of an episode: the mode may change within it."""
GAP = 5
"""What an agent did so few steps ago says more about its last action than about its mode."""
FORGETS = (np.inf, 30.0, 10.0)
"""Steps after which what was done counts e times less."""
LASTS = 20.0
"""Rows after which what was done counts e times less for habits."""
SURE = (1.0, 0.1)
"""How much each step counts: leftovers of steps in a row are alike, memory or not."""


def guesses(leftovers: Leftovers, rows: I64, starts: I64, places: F64, apart: F64) -> list[F64]:
    """Return what followed modes say of each row's leftovers.

    Parameters
    ----------
    leftovers : Leftovers
        What the state leaves.
    rows, starts : int64 arrays
        The step of each row, and the first one of each episode and the end.
    places : float64 array of shape (rows, directions)
        Where rows are when distances count as they do for the agent.
    apart : float64 array of shape (rows,)
        Squares of how far an episode must have gone until its own past may count.
    """
    part = (rows - starts[leftovers.episode]) // PART
    parts = np.cumsum(np.append(0, (np.diff(part) != 0) | (np.diff(leftovers.episode) != 0)))
    units = (leftovers.episode, LOOSE), (leftovers.episode, FIRM), (parts, LOOSE)
    fields = [_difference(leftovers, *unit) for unit in units]
    noise = float((leftovers.left**2).mean()) + 1e-12
    found = [np.zeros_like(leftovers.left) for _ in itertools.product(fields, FORGETS, SURE)]
    for a, b in itertools.pairwise(np.searchsorted(rows, starts).tolist()):
        ago = rows[a:b, None] - rows[a:b]
        squares = (places[a:b] ** 2).sum(axis=1)
        moved = squares[:, None] + squares - 2 * places[a:b] @ places[a:b].T
        # Nearer by, an episode's own past says more about the state than others can, even if it has no memory.
        counts = (ago > GAP) & (moved >= apart[a:b, None])
        guess = iter(found)
        for field in fields:
            agreed = (leftovers.left[a:b] * field[a:b]).sum(axis=1) / noise
            for forget in FORGETS:
                so_far = (counts * np.exp(-np.maximum(ago, 0) / forget)) @ agreed
                for sure in SURE:
                    next(guess)[a:b] = np.tanh(sure * so_far)[:, None] * field[a:b]
    return found


def habits(leftovers: Leftovers) -> F64:
    """Return what an episode's way to differ so far says of each row's leftovers.

    Nothing is supposed about how many modes there are. How it differs in which states is a regression on the rows
    before, of which the last count most.
    """
    found = np.zeros_like(leftovers.left)
    size = leftovers.weights.shape[1]
    first = np.flatnonzero(np.append(True, np.diff(leftovers.episode) != 0))
    for a, b in itertools.pairwise([*first.tolist(), len(found)]):
        weights, left = leftovers.weights[a:b], leftovers.left[a:b]
        ago = np.arange(b - a)[:, None] - np.arange(b - a)
        counts = (ago > 0) * np.exp(-np.maximum(ago, 0) / LASTS)
        squares = (counts @ (weights[:, :, None] * weights[:, None, :]).reshape(b - a, -1)).reshape(b - a, size, size)
        products = (counts @ (weights[:, :, None] * left[:, None, :]).reshape(b - a, -1)).reshape(b - a, size, -1)
        slopes = np.linalg.solve(squares + FIRM * np.eye(size), products)
        found[a:b] = (weights[:, None, :] @ slopes)[:, 0]
    return found


def _difference(leftovers: Leftovers, unit: I64, hold: float) -> F64:
    """Return half the difference between two modes in every row's state, by other folds; its sign is arbitrary."""
    from scipy.linalg import eigh  # SciPy takes long to import, and few who import this need it

    first = np.flatnonzero(np.append(True, np.diff(unit) != 0))
    size, width = leftovers.basis.shape[1], leftovers.left.shape[1]
    turned = (leftovers.basis[:, :, None] * leftovers.left[:, None, :]).reshape(len(unit), -1)
    own = np.add.reduceat(turned, first, axis=0).reshape(-1, size, width)
    noise = float((leftovers.left**2).mean()) + 1e-12
    field = np.zeros_like(leftovers.left)
    for others, matrix, rows in _without_each_fold(leftovers, hold):
        some = own[others[first]]
        alike = some.reshape(len(some), -1) @ (matrix @ some).reshape(len(some), -1).T
        np.fill_diagonal(alike, 0)
        largest = len(alike) - 1
        side = eigh((alike + alike.T) / 2, subset_by_index=(largest, largest))[1][:, 0]
        side /= np.abs(side).max()
        for _ in range(ROUNDS):
            side = np.tanh(alike @ side / noise)
        field[rows] = leftovers.basis[rows] @ (matrix @ np.einsum("u,uqc->qc", side, some))
    return field


def _without_each_fold(leftovers: Leftovers, hold: float) -> Iterator[tuple[npt.NDArray[np.bool_], F64, I64]]:
    """Return whether each row is in other folds, the inverse of their squares, and the fold's rows."""
    total = sum(leftovers.squares)
    for k, rows in enumerate(leftovers.folds):
        held = total - leftovers.squares[k] + hold * np.eye(leftovers.basis.shape[1])
        yield leftovers.fold != k, np.asarray(np.linalg.inv(held), np.float64), rows
