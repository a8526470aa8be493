"""What the state leaves unexplained of what an agent does, and whether a clue from the past tells something of it.

What the state tells of the clue is taken away, too, and products of both leftovers are looked at, as in the generalised
covariance measure (Shah and Peters, Annals of Statistics 2020; with weights: Scheidegger, Hoerrmann and Buehlmann, JMLR
2022). No model of the state is perfect, but errors of the one do harm only where the other errs as well. Everything is
learnt from other episodes: the models, by how much a clue counts in which state, and which of several clues to follow.
So a single number remains for each episode, and these are tested.
"""

from __future__ import annotations

import copy
import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1e3)
"""Of the ridge that tells a clue from the state."""
HOLDS = (3.0, 30.0, 300.0)
"""Of the ridge that tells by how much a clue counts."""
WEIGHTS = 20
"""Functions of the state that this depends on."""
LARGEST = 3.0
"""Of these functions, in units of their spread: where nobody else has been, nothing is known."""
MOST = 2.0
"""Of a prediction, in units of the spread of what is left."""


class Told(NamedTuple):
    """What clues tell: the share of the variation of the actions, how often chance does so, the clue of each fold."""

    gain: float
    p: float
    chosen: list[int]


class Leftovers:
    """What the state leaves of the actions.

    Parameters
    ----------
    left : float64 array of shape (rows, targets)
        What a model of the state from other episodes leaves.
    basis : float64 array of shape (rows, functions)
        Functions of the state; those that matter more are larger, and come first.
    fold, episode : int64 arrays of shape (rows,)
        Folds are of whole episodes; both are numbered from 0, episodes ascend.
    whole : float
        Sum of squares of the actions.
    """

    def __init__(self, left: F64, basis: F64, fold: I64, episode: I64, whole: float) -> None:
        self.basis, self.fold, self.episode, self.whole = basis, fold, episode, whole
        self.folds: list[I64] = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]
        self.squares = [basis[rows].T @ basis[rows] for rows in self.folds]
        total = sum(self.squares)
        self._turns = [np.linalg.eigh(total - own) for own in self.squares]
        self.left = self.beyond(left)
        weights = basis[:, :WEIGHTS] / max(float(np.sqrt((basis[:, 1:WEIGHTS] ** 2).mean())), 1e-12)
        one = np.ones((len(basis), 1))
        self.weights = np.concatenate([one, np.clip(weights, -LARGEST, LARGEST)], axis=1)

    def but(self, left: F64) -> Leftovers:
        """Return the same states with something else left."""
        other = copy.copy(self)
        other.left = left
        return other

    def beyond(self, columns: F64) -> F64:
        """Return columns less what the state tells of them in other folds."""
        products = [self.basis[rows].T @ columns[rows] for rows in self.folds]
        total = sum(products)
        tried = np.empty((len(STRENGTHS) + 1, *columns.shape))
        tried[-1] = columns.mean(axis=0)
        for rows, own, (values, vectors) in zip(self.folds, products, self._turns, strict=True):
            within, turned = vectors.T @ (total - own), self.basis[rows] @ vectors
            for i, strength in enumerate(STRENGTHS):
                tried[i][rows] = turned @ (within / (np.maximum(values, 0)[:, None] + strength))
        best = ((columns - tried) ** 2).sum(axis=1).argmin(axis=0)
        told: F64 = columns - np.take_along_axis(tried, best[None, None, :], axis=0)[0]
        return told

    def by_guesses(self, guesses: list[F64]) -> Told:
        """Return what the best of several guesses of what is left tells, times a factor."""
        width = self.left.shape[1]
        known = self.beyond(np.concatenate(guesses, axis=1)).reshape(len(self.left), -1, width)
        products = np.stack([(known[rows] * self.left[rows, None]).sum(axis=(0, 2)) for rows in self.folds])
        squares = np.stack([(known[rows] ** 2).sum(axis=(0, 2)) for rows in self.folds]) + 1e-12
        predicted, chosen = np.zeros_like(self.left), []
        for k, rows in enumerate(self.folds):
            product, square = products.sum(axis=0) - products[k], squares.sum(axis=0) - squares[k]
            best = int((np.maximum(product, 0) ** 2 / square).argmax())
            predicted[rows] = np.clip(product[best] / square[best], 0, LARGEST) * known[rows, best]
            chosen.append(best)
        return self._judged(predicted, chosen)

    def by_clues(self, clues: F64, where: F64 | None = None) -> Told:
        """Return what the best of several clues tells if it counts more in some states, and the other way in others.

        Parameters
        ----------
        clues : float64 array of shape (rows, clues)
            Numbers of about one.
        where : float64 array of shape (rows, clues), optional
            Zero where the state determines the clue.
        """
        clues = self.beyond(clues) if where is None else self.beyond(clues) * where
        number, size, width = clues.shape[1], self.weights.shape[1], self.left.shape[1]
        one, other = np.triu_indices(size)
        squares = np.empty((len(self.folds), number, size, size))
        products = np.empty((len(self.folds), number, size, width))
        for k, rows in enumerate(self.folds):
            weights, own = self.weights[rows], clues[rows]
            pairs = (own**2).T @ (weights[:, one] * weights[:, other])
            squares[k][:, one, other], squares[k][:, other, one] = pairs, pairs
            turned = (weights[:, :, None] * self.left[rows][:, None, :]).reshape(len(rows), -1)
            products[k] = (own.T @ turned).reshape(number, size, width)
        square, product = squares.sum(axis=0), products.sum(axis=0)
        # Which clue, and how freely: by folds among the others, so that what is predicted plays no part.
        gains = np.zeros((len(self.folds), len(HOLDS), number))
        for (j, k), (i, hold) in itertools.product(itertools.combinations(range(len(self.folds)), 2), enumerate(HOLDS)):
            held = square - squares[j] - squares[k] + hold * np.eye(size)
            slopes = np.linalg.solve(held, product - products[j] - products[k])
            for without, asked in ((j, k), (k, j)):
                gains[without, i] += (slopes * (2 * products[asked] - squares[asked] @ slopes)).sum(axis=(1, 2))
        predicted, chosen = np.zeros_like(self.left), []
        for k, rows in enumerate(self.folds):
            hold_number, best = divmod(int(gains[k].argmax()), number)
            held = square[best] - squares[k][best] + HOLDS[hold_number] * np.eye(size)
            slopes = np.linalg.solve(held, product[best] - products[k][best])
            predicted[rows] = clues[rows, best, None] * (self.weights[rows] @ slopes)
            chosen.append(best)
        most = MOST * self.left.std(axis=0)
        return self._judged(np.clip(predicted, -most, most), chosen)

    def _judged(self, predicted: F64, chosen: list[int]) -> Told:
        """Return what predictions explain, and how often chance does so: a t test of the episodes' correlations."""
        from scipy.special import stdtr  # SciPy takes long to import, and few who import this need it

        number = int(self.episode[-1]) + 1
        agreed, left, told = (
            np.bincount(self.episode, product.sum(axis=1), number)
            for product in (self.left * predicted, self.left**2, predicted**2)
        )
        # Of episodes that hardly matter, chance makes large correlations.
        alike = agreed / (np.sqrt(left * told) + 0.05 * np.sqrt(left.mean() * told.sum()) + 1e-300)
        score = alike.mean() / (alike.std(ddof=1) + 0.01) * np.sqrt(number)
        gain = float(2 * agreed.sum() - told.sum()) / self.whole
        return Told(gain, float(stdtr(number - 1, -score)), chosen)
