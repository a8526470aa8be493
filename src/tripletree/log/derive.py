"""What is derived from a log: values, successors, derivatives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.checks import check_parameters
from tripletree.errors import ParameterError
from tripletree.log.endings import TRUNCATED
from tripletree.text import Message, Option, count

if TYPE_CHECKING:
    from tripletree.log.log import Log

F64 = npt.NDArray[np.float64]

NOISE = 1e-9
"""Values that differ by less, as a share of the largest reward or value, differ by rounding errors only."""


def values(log: Log, gamma: float, tail: F64 | None = None) -> F64:
    """Return the discounted sum of rewards from each step on, ``V_t = R_t + gamma V_{t+1}`` (section 3.1).

    Where all of them differ by rounding errors only, they are made the same: a tree must not explain such errors.

    Parameters
    ----------
    log : Log
        The log.
    gamma : float
        Discount factor, 0 to 1.
    tail : float64 array of shape (episodes,), optional
        The value after the last step of each episode; default 0, as in the paper.

    Returns
    -------
    float64 array of shape (samples,)
    """
    check_parameters({"gamma": gamma})
    if tail is None:
        tail = np.zeros(log.n_episodes)
    tail = np.ascontiguousarray(tail, np.float64)
    if tail.shape != (log.n_episodes,) or not np.isfinite(tail).all():
        got = "NaN or infinity among them" if tail.shape == (log.n_episodes,) else f"shape {tail.shape}"
        raise ParameterError(
            Message(
                "{} must hold one finite number for each of {}; got {}.",
                Option("tail"),
                count(log.n_episodes, "episode"),
                got,
            )
        )
    found: F64 = _kernel.discounted(log.rewards, log.starts, float(gamma), tail)
    low, high = float(found.min()), float(found.max())
    if high - low <= NOISE * max(abs(low), abs(high), float(np.abs(log.rewards).max())):
        found = np.full_like(found, low / 2 + high / 2)
    return found


def wrapped(change: F64, period: float) -> F64:
    """Return differences of angles as the shorter way round the circle, in place; others stay as they are, bit for bit.

    >>> wrapped(np.array([350.0, -10.0, 725.0]), 360.0)
    array([-10., -10.,   5.])
    """
    if period:
        far = np.abs(change) > period / 2
        if far.any():
            change[far] -= period * np.rint(change[far] / period)
    return change


def has_successor(log: Log) -> npt.NDArray[np.bool_]:
    """Return which samples have a successor state: all but the last of an episode without a final state."""
    known = np.ones(log.n_samples, bool)
    known[log.starts[1:] - 1] = ~np.isnan(log.final_states[:, 0])
    return known


def derivative(log: Log, f: int) -> F64:
    """Return the change of feature ``f`` from each step to the next, NaN where there is no successor.

    Angles change the shorter way round. Where the log knows the time between steps, the change is per second.
    """
    column = log.states[:, f]
    change = np.empty(log.n_samples)
    np.subtract(column[1:], column[:-1], out=change[:-1])
    last = log.starts[1:] - 1
    change[last] = log.final_states[:, f] - column[last]
    wrapped(change, log.schema.features[f].period)
    return change if log.dt is None else change / log.dt


def derivatives(log: Log, start: int = 0, stop: int | None = None) -> F64:
    """Return the change of every feature to the next step in rows ``start`` to ``stop``, as :func:`derivative` does.

    Row blocks, so that callers need not hold the derivatives of a whole log in memory.
    """
    rows = slice(start, log.n_samples if stop is None else stop)
    states = log.states[rows]
    change = np.empty_like(states)
    following = log.states[rows.start + 1 : rows.stop + 1]
    np.subtract(following, states[: len(following)], out=change[: len(following)])
    last = log.starts[1:] - 1
    ends = slice(*np.searchsorted(last, (rows.start, rows.stop)))
    change[last[ends] - rows.start] = log.final_states[ends] - log.states[last[ends]]
    for f, period in enumerate(log.schema.periods):
        if period:
            wrapped(change[:, f], period)
    if log.dt is not None:
        change /= log.dt[rows, None]
    return change


def truncation_share(log: Log, gamma: float) -> float:
    """Return the share of samples whose value a truncated episode biases: ``gamma ** (steps left) > 0.05``.

    Steps left counts from a sample to the end of its episode, that is 1 at the last step.
    """
    check_parameters({"gamma": gamma})
    lengths = np.diff(log.starts)[log.endings == TRUNCATED]
    # gamma ** k falls with k, so the biased samples are the last ones of each episode: as many as `reach`.
    if gamma == 1:
        reach = log.n_samples
    else:
        reach = math.floor(math.log(0.05) / math.log(gamma)) if gamma > 0 else 0
        reach -= bool(reach and gamma**reach <= 0.05)  # the bound itself is left out
    return float(np.minimum(lengths, reach).sum() / log.n_samples)
