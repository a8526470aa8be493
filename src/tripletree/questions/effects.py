"""Effects: how the prediction moves with one feature, by accumulated local effects computed from the tree itself.

Accumulated local effects (Apley and Zhu, 2020) ask states only about values near their own, so that no state is made up
that the log could not hold: an average over all states at every value (partial dependence) does just that, and misleads
where features depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.effects import Effect, Effects
from tripletree.asking.attribute import read_attribute
from tripletree.asking.features import read_features
from tripletree.errors import ParameterError
from tripletree.leaves.linear import node_means
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema
from tripletree.model.fitted import Fitted
from tripletree.questions.opinion import compiled, target_of
from tripletree.questions.predict import shares
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]

BINS = 40
"""Stretches, with about as many states each, within which the other features count as they are."""
LEAST_STATES = 20
"""States in each stretch, at least."""
BARS = 40
"""Bars of the histogram."""
MOST_STATES = 100_000
"""Of a much longer log, every k-th state will do."""
MIDDLE = 0.01, 0.99
"""The part of the states that sentences speak of: the last few on either side are no ground for a claim."""
WIDE = 0.05
"""An empty arc of this share of the circle, at least, is where the axis of an angle may begin."""


def effects(
    fitted: Fitted,
    log: Log | None = None,
    about: str = "action",
    features: Any = None,
    threads: int = 1,
    most: int = MOST_STATES,
) -> Effects:
    """Return a curve for each feature.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log or None
        Where the states come from; None: what the model keeps of its log.
    about : str
        The attribute, as in :func:`tripletree.asking.attribute.read_attribute`.
    features : sequence of str or None
        Whose effects; None: of all features.
    threads : int
        Threads to use.
    most : int
        Of a log with much more than `MOST_STATES` states, about so many will do.
    """
    states = _states(fitted, log)
    every = round(len(states) / most) if round(len(states) / MOST_STATES) > 1 else 1
    return effects_among(fitted, states[::every], about, features, threads)


def effects_among(fitted: Fitted, states: F64, about: str, features: Any, threads: int) -> Effects:
    """Return a curve for each feature, by these states; arguments as in :func:`effects`."""
    attribute = read_attribute(fitted, about)
    chosen = read_features(fitted, features)
    columns = target_of(fitted, attribute)

    def tell(points: F64) -> F64:
        leaf = fitted.tree.apply(points, threads)
        if fitted.model is None or fitted.second is None:
            told = node_means(fitted.leaves)[:, columns][leaf]
        else:
            told = compiled(fitted, columns).many(points, fitted.tree.leaf_nodes[leaf].astype(np.int32), threads)
        return shares(told) if attribute.labels else told

    told = tell(np.ascontiguousarray(states))
    every = range(len(fitted.schema.features)) if chosen is None else chosen
    found = [effect(fitted, states, f, tell) for f in every]
    kept = tuple(one for one in found if one is not None)
    named = {one.feature for one in kept}
    return Effects(
        about=about,
        names=attribute.labels or attribute.names,
        units=("",) * len(attribute.labels) or attribute.units,
        labels=bool(attribute.labels),
        mean=told.mean(axis=0),
        sigma=told.std(axis=0),
        reach=np.ptp(told, axis=0),
        curves=kept,
        constant=tuple(fitted.schema.feature_names[f] for f in every if f not in named),
        asked=chosen is not None,
        samples=len(states),
        schema=fitted.schema,
    )


def _states(fitted: Fitted, log: Log | None) -> F64:
    if log is not None:
        check_same_schema(fitted.schema, log, "log")
        return log.states
    if fitted.track is None:
        raise ParameterError(
            Message(
                "Effects are about the states of a log, and this tree keeps none of them. Give the log: {}.",
                Option("log", ...),
            )
        )
    return fitted.track.recording.states


def effect(fitted: Fitted, states: F64, f: int, tell: Callable[[F64], F64]) -> Effect | None:
    """Return the accumulated local effect of one feature; None where it has one value only.

    The values of the feature are divided into stretches. Within a stretch, every state in it is asked what the tree
    predicts at each value there, all else as it is; the mean of these lines goes on where that of the stretch before
    ended. Where the tree has thresholds the curve has steps at just these.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    states : float64 array of shape (states, features)
        Where the other features come from.
    f : int
        The feature.
    tell : function of points, shape (points, features)
        What is predicted, shape (points, columns).
    """
    seam, begin = _circle(states[:, f], fitted.schema.features[f].period)
    period = fitted.schema.features[f].period
    # An angle goes on beyond its seam where that is in the middle of the states: 3, pi, 3.3, ...
    column = np.where(states[:, f] < begin, states[:, f] + period, states[:, f])
    order = np.argsort(column, kind="stable")
    column = column[order]
    value = column[np.append(True, column[1:] != column[:-1])]
    edges = _edges(column, value)
    if len(edges) < 2:
        return None
    few = len(edges) == len(value)
    # Between the values of a feature that has few there is nothing to know.
    cuts = np.zeros(0) if few else _cuts(fitted, f, seam, period)
    grid, curve, spread = [edges[:1]], list[F64](), list[F64]()
    moved: Any = 0.0
    for low, high in pairwise(edges):
        # Both ends belong to the stretch: a value that is often reached counts on either side.
        rows = order[np.searchsorted(column, low) : np.searchsorted(column, high, side="right")]
        points = np.unique(np.concatenate([[low, high], cuts[(cuts > low) & (cuts < high)]]))
        asked = np.repeat(states[rows], len(points), axis=0)
        asked[:, f] = np.tile(np.where(points > seam, points - period, points), len(rows))
        told = tell(asked).reshape(len(rows), len(points), -1)
        line = told.mean(axis=0)
        if not spread:
            curve, spread = [np.zeros((1, line.shape[1]))], [told[:, :1].std(axis=0)]
        grid.append(points[1:])
        curve.append(curve[-1][-1] + line[1:] - line[0])
        spread.append(told[:, 1:].std(axis=0))
        change = told[:, -1] - told[:, 0]
        moved = moved + np.stack([np.abs(change.mean(axis=0)), np.abs(change).mean(axis=0)])
    whole, line = np.concatenate(grid), np.concatenate(curve)
    at = np.stack([np.interp(column, whole, one) for one in line.T], axis=1)
    bars = edges if few else np.linspace(edges[0], edges[-1], BARS + 1)
    return Effect(
        feature=f,
        grid=whole,
        curve=line - at.mean(axis=0),
        spread=np.concatenate(spread),
        bars=bars,
        count=np.unique(column, return_counts=True)[1] if few else np.histogram(column, bars)[0],
        few=few,
        strength=at.std(axis=0),
        one_way=np.divide(moved[0], moved[1], out=np.ones(line.shape[1]), where=moved[1] > 0),
        # Values that occur: of a few states, none may lie between two quantiles.
        middle=(
            float(np.quantile(column, MIDDLE[0], method="lower")),
            float(np.quantile(column, MIDDLE[1], method="higher")),
        ),
    )


def _edges(column: F64, value: F64) -> F64:
    """Return where stretches end: at every value where there are few, else so that all have about as many states.

    Parameters
    ----------
    column, value : float64 arrays
        The values of all states from small to large, and the distinct ones among them.
    """
    if len(value) <= BINS + 1:
        return value
    bins = int(np.clip(len(column) // LEAST_STATES, 1, BINS))
    # Values that occur, the least and the largest among them.
    return np.unique(column[np.linspace(0, len(column) - 1, bins + 1).round().astype(np.intp)])


def _cuts(fitted: Fitted, f: int, seam: float, period: float) -> F64:
    """Return the thresholds of a feature, and the numbers just below them: between two of them there are no steps."""
    cut = np.unique(fitted.tree.threshold[fitted.tree.feature == f])
    if period:
        cut = np.concatenate([cut, cut + period, [np.nextafter(seam, np.inf)]])
    return np.concatenate([cut, np.nextafter(cut, -np.inf)])


def _circle(column: F64, period: float) -> tuple[float, float]:
    """Return the largest number of an angle before it starts anew, and where its axis begins.

    That is the end of the widest empty arc, so that what is close on the circle is close on the axis. Infinite where
    numbers are as they are.
    """
    none = np.inf, -np.inf
    if not period:
        return none
    value = np.unique(column)
    if value[-1] - value[0] > period * (1 + 1e-9) or len(value) < 2:
        return none
    gap = np.diff(value)
    widest = int(gap.argmax())
    if gap[widest] <= max(period - (value[-1] - value[0]), WIDE * period):
        return none
    # Angles are kept from 0 to a turn, or from minus half a turn to half a turn.
    half = period / 2
    return float(max(half if value[0] < 0 else period, value[-1])), float(value[widest + 1])
