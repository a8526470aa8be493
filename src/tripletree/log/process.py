"""A Gaussian process for what is done in each state; how far apart states are is learnt from the log, by evidence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

DIRECTIONS = 3
"""Mixtures of columns that count, beside each column by itself."""
HEADS = 5
USUAL = np.log([0.7, 0.2, 0.1, 0.05, 2.0])
"""Weights of the smooth, the rough and the linear part, the noise, and how much rougher the rough part is."""
BOUNDS = ((-6.0, 2.5), (-6.0, 1.5), (-6.0, 1.0), (float(np.log(0.01)), 1.0), (-1.0, 3.0))
"""Noise is at least 1 % of the variation: what is finer does not matter, and errors of the model last for steps."""
LOOSE = 9.0
"""Variance of the logarithms of these five around the usual."""


class _Parts(NamedTuple):
    weights: F64
    scales: F64
    mixed: F64
    distance: F64
    smooth: F64
    rough: F64
    linear: F64


class Process:
    """What other episodes say of each row, by a Gaussian process with a smooth, a rough and a linear part.

    Parameters
    ----------
    places : float64 array of shape (rows, columns)
        Where rows are: columns of about unit spread.
    targets : float64 array of shape (rows, targets)
        What is done there; unit variance on average, mean zero.
    episode : int64 array of shape (rows,)
        Ascending.
    steps, searched : int
        Steps of the search for the metric and the weights, and rows that it looks at; at most.
    """

    def __init__(self, places: F64, targets: F64, episode: I64, steps: int, searched: int) -> None:
        from scipy.optimize import minimize  # SciPy takes long to import, and few who import this need it

        self._places = places
        size = places.shape[1]
        design = np.concatenate([places, np.ones((len(places), 1))], axis=1)
        slopes = np.linalg.lstsq(design, targets, rcond=1e-3)[0][:-1]
        mixed = 0.1 * np.random.default_rng(0).normal(size=(DIRECTIONS, size)) / np.sqrt(size)
        steepest = np.linalg.svd(slopes, full_matrices=False)[0][:, :DIRECTIONS]
        mixed[: steepest.shape[1]] = 0.5 * steepest.T
        start = np.concatenate([USUAL, np.full(size, 0.7 / np.sqrt(size)), mixed.ravel()])

        some = np.sort(np.random.default_rng(0).permutation(len(places))[:searched])
        few, wanted = places[some], targets[some]

        def loss(point: F64) -> tuple[float, F64]:
            value, slope = _evidence(point, few, wanted)
            away = np.concatenate([(point[:HEADS] - USUAL) / LOOSE, point[HEADS:]])
            value += 0.5 * float(((point[:HEADS] - USUAL) ** 2).sum() / LOOSE + (point[HEADS:] ** 2).sum())
            return value / len(few), (slope + away) / len(few)

        bounds = [*BOUNDS, *[(None, None)] * (len(start) - HEADS)]
        options = {"maxiter": steps, "maxfun": steps + 10}
        self._point = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
        kernel, noise = self._kernel(places, places)
        found = None
        while found is None:  # The search saw fewer rows: among all of them, some may be too much alike.
            kernel[np.diag_indices(len(kernel))] += noise
            found, noise = _inverse(kernel), 2 * noise
        inverse = self._inverse = found[0]
        self._noise, self._episode = float(np.exp(self._point[HEADS - 2])), episode
        pull = inverse @ targets
        self._own: dict[int, F64] = {}
        self.predicted = np.empty_like(targets)
        for number in np.unique(episode).tolist():
            rows = np.flatnonzero(episode == number)
            left = np.linalg.solve(inverse[np.ix_(rows, rows)], pull[rows])
            self.predicted[rows] = targets[rows] - left
            # Weights of the other episodes' rows, as if this one had never been seen.
            others = pull - inverse[:, rows] @ left
            others[rows] = 0
            self._own[number] = others

    def predict(self, places: F64, episode: I64) -> F64:
        """Return what other episodes say of other rows of the same episodes."""
        width = next(iter(self._own.values())).shape[1]
        predicted = np.empty((len(places), width))
        for number in np.unique(episode).tolist():
            rows = np.flatnonzero(episode == number)
            weights = self._own.get(number)
            if weights is None:
                predicted[rows] = self.predicted.mean(axis=0)
            else:
                predicted[rows] = self._kernel(places[rows], self._places)[0] @ weights
        return predicted

    def surprises(self, left: F64, places: F64, episode: I64) -> F64:
        """Return what is left of rows once the rows before, of the same episode, have had their say, too.

        Where other episodes are far away, errors of the prediction last for many steps. How far they reach is known: it
        is the covariance of the process given the other episodes. Of an agent without memory, what rows leave beyond
        it tells nothing about later ones.
        """
        from scipy.linalg import cholesky, solve_triangular

        surprising = np.empty_like(left)
        for number in np.unique(episode).tolist():
            rows, own = np.flatnonzero(episode == number), np.flatnonzero(self._episode == number)
            known = self._kernel(places[rows], self._places)[0]
            known[:, own] = 0
            told = known @ self._inverse
            back = np.linalg.solve(self._inverse[np.ix_(own, own)], told[:, own].T)
            unsure = self._kernel(places[rows], places[rows])[0] - told @ known.T + told[:, own] @ back
            unsure[np.diag_indices(len(rows))] += self._noise
            factor = cholesky(unsure, lower=True)
            surprising[rows] = solve_triangular(factor, left[rows], lower=True) * np.diag(factor)[:, None]
        return surprising

    def functions(self, places: F64, number: int) -> F64:
        """Return the functions of the place that what is done is most likely made of, the largest first."""
        values, vectors = np.linalg.eigh(self._kernel(self._places, self._places)[0])
        kept = values[::-1][:number] > 1e-6 * values[-1]
        turn = vectors[:, ::-1][:, :number][:, kept] / np.sqrt(values[::-1][:number][kept])
        found: F64 = self._kernel(places, self._places)[0] @ turn
        return found

    def stretched(self, places: F64) -> F64:
        """Return where rows are when distances count as they do for the agent; columns may be left out at the end."""
        size = places.shape[1]
        scales = self._point[HEADS : HEADS + self._places.shape[1]][:size]
        mixed = self._point[HEADS + self._places.shape[1] :].reshape(DIRECTIONS, -1)[:, :size]
        return np.concatenate([places * scales, places @ mixed.T], axis=1)

    def _kernel(self, one: F64, other: F64) -> tuple[F64, float]:
        parts = _parts(self._point, one, other)
        smooth, rough, linear, noise, _ = parts.weights
        kernel: F64 = smooth * parts.smooth + rough * parts.rough + linear * parts.linear + 1
        return kernel, float(noise)


def _evidence(point: F64, places: F64, targets: F64) -> tuple[float, F64]:
    """Return minus the logarithm of the evidence, and its slope."""
    parts = _parts(point, places, places)
    smooth, rough, linear, noise, finer = parts.weights
    kernel = smooth * parts.smooth + rough * parts.rough + linear * parts.linear + 1
    kernel[np.diag_indices(len(kernel))] += noise
    found = _inverse(kernel)
    if found is None:
        return 1e10, np.zeros_like(point)
    inverse, logarithm = found
    pull = inverse @ targets
    value = 0.5 * targets.shape[1] * logarithm + 0.5 * float((targets * pull).sum())
    # The slope by the kernel, which every part of it is multiplied with.
    by_kernel = 0.5 * (targets.shape[1] * inverse - pull @ pull.T)
    by_smooth, by_rough = smooth * by_kernel * parts.smooth, rough * by_kernel * parts.rough
    slope = np.empty_like(point)
    slope[0], slope[1] = by_smooth.sum(), by_rough.sum()
    slope[2], slope[3] = linear * (by_kernel * parts.linear).sum(), noise * np.trace(by_kernel)
    slope[4] = -finer * (by_rough * parts.distance).sum()
    # By the square of each distance, and from there by the metric.
    by_square = -0.5 * by_smooth - 0.5 * finer * by_rough / parts.distance
    np.fill_diagonal(by_square, 0)
    by_metric = 2 * (places.T @ (by_square.sum(axis=1)[:, None] * places) - places.T @ (by_square @ places))
    by_metric += linear * (places.T @ (by_kernel @ places))
    size = places.shape[1]
    slope[HEADS : HEADS + size] = 2 * parts.scales * np.diag(by_metric)
    slope[HEADS + size :] = (2 * parts.mixed @ by_metric).ravel()
    return value, slope


def _parts(point: F64, one: F64, other: F64) -> _Parts:
    size = one.shape[1]
    scales, mixed = point[HEADS : HEADS + size], point[HEADS + size :].reshape(DIRECTIONS, size)
    near, far = (np.concatenate([places * scales, places @ mixed.T], axis=1) for places in (one, other))
    linear = near @ far.T
    squares = np.maximum((near**2).sum(axis=1)[:, None] + (far**2).sum(axis=1) - 2 * linear, 0) + 1e-12
    distance = np.sqrt(squares)
    weights = np.exp(point[:HEADS])
    return _Parts(weights, scales, mixed, distance, np.exp(-0.5 * squares), np.exp(-weights[4] * distance), linear)


def _inverse(kernel: F64) -> tuple[F64, float] | None:
    """Return the inverse and the logarithm of the determinant; None where the matrix is singular."""
    from scipy.linalg import lapack

    factor, failed = lapack.dpotrf(kernel, lower=1)
    if failed:
        return None
    logarithm = 2 * float(np.log(np.diag(factor)).sum())
    half = np.tril(lapack.dpotri(factor, lower=1)[0])
    return half + np.tril(half, -1).T, logarithm
