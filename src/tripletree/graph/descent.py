"""Descent: a quasi-Newton method with bounds that finishes many problems of one shape at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
Function = Callable[[F64, Int], tuple[F64, F64]]

_MEMORY = 6
_TRIES = 6
_SHORTER = 0.25


def descend(function: Function, first: F64, low: F64, high: F64, iterations: int, tolerance: float = 1e-9) -> F64:
    """Return where a descent from each start ends.

    The limited-memory BFGS method by two-metric projection: variables at a bound that the gradient pushes against stay
    there, the others take a quasi-Newton step that is cut off at their bounds. No problem knows of the others.

    Parameters
    ----------
    function : function of (positions of shape (problems, variables), numbers of these problems)
        Returns the values, shape (problems,), and the gradients.
    first : float64 array of shape (problems, variables)
        The starts.
    low, high : float64 arrays of that shape
        The bounds.
    iterations : int
        Most steps.
    tolerance : float
        A problem is finished when a step gains no more than this (times the value, when that is above 1).
    """
    position = np.clip(first, low, high)
    result, going = position.copy(), np.arange(len(first))
    height, gradient = function(position, going)
    steps = np.zeros((len(first), _MEMORY, first.shape[1]))
    bends = np.zeros_like(steps)
    for turn in range(iterations):
        free = np.where(gradient > 0, position > low, position < high)
        slope = gradient * free
        direction = -_newton(slope, steps, bends, free, (turn - 1 - np.arange(_MEMORY)) % _MEMORY)
        steep = np.einsum("ij,ij->i", slope, slope)
        lost = ~(np.einsum("ij,ij->i", direction, slope) < -1e-9 * steep)
        direction[lost] = -slope[lost] / np.maximum(np.sqrt(steep[lost]), 1.0)[:, None]
        there, after, next_gradient = _step(function, position, height, gradient, direction, low, high, going)
        np.subtract(there, position, out=steps[:, turn % _MEMORY])
        np.subtract(next_gradient, gradient, out=bends[:, turn % _MEMORY])
        moving = height - after > tolerance * np.maximum(height, 1.0)
        position, height, gradient = there, after, next_gradient
        if not moving.all():
            result[going[~moving]] = position[~moving]
            going, position, height, gradient = going[moving], position[moving], height[moving], gradient[moving]
            low, high, steps, bends = low[moving], high[moving], steps[moving], bends[moving]
            if not len(going):
                break
    result[going] = position
    return result


def _newton(slope: F64, steps: F64, bends: F64, free: Bool, age: Int) -> F64:
    """Return an estimate of the inverse Hessian times the slope (Byrd, Nocedal and Schnabel's compact form).

    Parameters
    ----------
    slope : float64 array of shape (problems, variables)
        The gradient, 0 for variables that are not free.
    steps, bends : float64 arrays of shape (problems, memory, variables)
        The last steps and the changes of the gradient.
    free : bool array of shape (problems, variables)
        The variables that may move.
    age : int64 array of shape (memory,)
        How long ago each step was made.
    """
    masked = bends * free[:, None]
    sy, yy = steps @ masked.transpose(0, 2, 1), masked @ bends.transpose(0, 2, 1)
    bend, square = np.einsum("ijj->ij", sy), np.einsum("ijj->ij", yy)
    # Steps along which the function does not bend upwards tell nothing about a minimum.
    used = bend > 1e-10 * square
    n, m = used.shape
    latest = np.where(used, age, m).argmin(axis=1)
    rows = np.arange(n)
    # Without any the first step is no longer than 1.
    short = 1 / np.maximum(np.sqrt(np.einsum("ij,ij->i", slope, slope)), 1.0)
    scale = np.divide(bend[rows, latest], square[rows, latest], out=short, where=used[rows, latest])[:, None]
    both, same = used[:, :, None] & used[:, None, :], np.eye(m)
    later = np.where(both & (age[:, None] >= age), sy, 0.0) + same * ~used[:, None]
    middle = np.where(both, same * sy + scale[:, :, None] * yy, 0.0)
    along = np.einsum("ijk,ik->ij", steps, slope) * used
    bent = np.einsum("ijk,ik->ij", bends, slope) * used
    p = np.linalg.solve(later, along[:, :, None])
    q = np.linalg.solve(later.transpose(0, 2, 1), middle @ p - (scale * bent)[:, :, None])
    move = (q.transpose(0, 2, 1) @ steps - (scale[:, :, None] * p).transpose(0, 2, 1) @ bends)[:, 0]
    newton: F64 = scale * slope + move * free
    return newton


def _step(
    function: Function, position: F64, height: F64, gradient: F64, direction: F64, low: F64, high: F64, going: Int
) -> tuple[F64, F64, F64]:
    """Return positions that lie lower, their values and gradients: whole steps, or as much shorter as it takes."""
    there = np.clip(position + direction, low, high)
    value, after = function(there, going)
    for shorter in _SHORTER ** np.arange(1, _TRIES):
        promised = np.einsum("ij,ij->i", gradient, there - position)
        above = np.flatnonzero(value > height + 1e-4 * promised)
        if not len(above):
            return there, value, after
        there[above] = np.clip(position[above] + shorter * direction[above], low[above], high[above])
        value[above], after[above] = function(there[above], going[above])
    worse = value > height
    there[worse], value[worse], after[worse] = position[worse], height[worse], gradient[worse]
    return there, value, after
