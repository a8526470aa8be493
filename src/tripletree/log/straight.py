"""Predicts columns by logistic regressions on other episodes: quick, and at ease with borders that run straight."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

STEPS = 40
HOLD = 0.1
"""Of the ridge: weak, for an agent that always does the same has steep borders."""


def straight(columns: F64, targets: F64, labels: bool, fold: I64) -> F64:
    """Return what logistic regressions on other folds say of each row.

    Parameters
    ----------
    columns : float64 array of shape (rows, columns)
        The state.
    targets : float64 array of shape (rows, targets)
        What they predict: a number has its least and its largest value as limits.
    labels : bool
        Whether targets are labels, of which at most one is on in each row.
    fold : int64 array of shape (rows,)
        The fold of each row.
    """
    design = np.concatenate([columns, np.ones((len(columns), 1))], axis=1)
    low = targets.min(axis=0)
    spread = np.maximum(np.ptp(targets, axis=0), 1e-300)
    wanted = (targets - low) / spread
    shares = np.empty_like(wanted)
    for k in range(int(fold.max()) + 1):
        test = fold == k
        weights = _weights(design[~test], wanted[~test], labels)
        shares[test] = _shares(design[test] @ weights, labels)[0]
    told: F64 = low + shares * spread
    return told


def _weights(design: F64, wanted: F64, labels: bool) -> F64:
    from scipy.optimize import minimize  # SciPy takes long to import, and few who import this need it

    shape = design.shape[1], wanted.shape[1]

    def loss(point: F64) -> tuple[float, F64]:
        weights = point.reshape(shape)
        scores = design @ weights
        shares, size = _shares(scores, labels)
        value = float(size.sum() - (wanted * scores).sum()) + 0.5 * HOLD * float((weights**2).sum())
        slope = design.T @ (shares - wanted) + HOLD * weights
        return value / len(design), slope.ravel() / len(design)

    options = {"maxiter": STEPS, "maxfun": STEPS + 10}
    # From nothing: where another fold ended, it had seen this one.
    found: F64 = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options).x
    return found.reshape(shape)


def _shares(scores: F64, labels: bool) -> tuple[F64, F64]:
    """Return the share of each target, and the logarithm of what they are shares of."""
    if labels:
        none = np.zeros((len(scores), 1))
        most = np.maximum(scores.max(axis=1, keepdims=True), none)
        size = most + np.log(np.exp(scores - most).sum(axis=1, keepdims=True) + np.exp(-most))
        return np.exp(scores - size), size
    # As `logaddexp` does, but by functions that NumPy has for many numbers at once.
    size = np.maximum(scores, 0) + np.log1p(np.exp(-np.abs(scores)))
    return np.exp(scores - size), size
