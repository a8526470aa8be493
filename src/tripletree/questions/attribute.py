"""Attribute: how much each feature contributed to a prediction, as exact Shapley values on the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial.legendre import leggauss

from tripletree import _kernel
from tripletree.answers.attribution import Attribution
from tripletree.asking.attribute import Attribute, read_attribute, targets_of
from tripletree.asking.states import read_finite_states, read_states
from tripletree.checks import check_choice, did_you_mean, listing
from tripletree.errors import ParameterError
from tripletree.leaves.linear import node_means
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log, check_same_schema
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]

METHODS = ("path", "background")
MOST_BACKGROUND = 200
"""States of a background, at most: a random sample of the log, the same each time."""
LEAST_WEIGHT = 1e-9
"""Weight of a leaf none of whose samples has a derivative: shares of samples are shares of weights."""


def attribute(
    fitted: Fitted, states: Any, about: str, method: str | None, background: Log | None, threads: int
) -> Attribution:
    """Return how much each feature contributed to what the tree predicts.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    states : one or several states, or a Log
        As in :func:`tripletree.asking.states.read_states`.
    about : str
        The attribute, as in :func:`tripletree.asking.attribute.read_attribute`, or ``"action = left"``.
    method : {"path", "background"} or None
        What stands in for features that are not told; None: a background where one is given, else the path.
    background : Log or None
        The log that a background is drawn from; None: what the model kept of its own.
    threads : int
        Threads to use: the answer is the same for any number.
    """
    read, label = read_about(fitted, about)
    check_choice(method, "method", METHODS, none="background if one is given, else path")
    check_log(background, "background", none="what the model kept of its log")
    if method == "path" and background is not None:
        raise ParameterError(
            Message(
                "{} is for {} only; leave it out, or the method.", Option("background"), Option("method", METHODS[1])
            )
        )
    array, single = _states(fitted, states)
    others = _background(fitted, background) if method == "background" or background is not None else None
    columns = targets_of(fitted, read)
    told = fitted.told(array, fitted.tree.apply(array, threads), threads)[:, columns]
    # Of labels, each state is about one; those about the same are asked together.
    code = told.argmax(axis=1) if label is None else np.full(len(array), read.labels.index(label))
    groups = [(code == one, [one]) for one in np.unique(code).tolist()] if read.labels else [(slice(None), columns)]
    width = 1 if read.labels else len(columns)
    found = np.empty((len(array), len(fitted.schema.features), width))
    base, prediction = np.empty((2, len(array), width))
    for rows, which in groups:
        part = [columns[k] for k in which] if read.labels else columns
        found[rows], base[rows] = _shapley(fitted, read, np.ascontiguousarray(array[rows]), part, others, threads)
        prediction[rows] = told[rows][:, which] if read.labels else told[rows]
    if not np.isfinite(found).all():
        raise FloatingPointError("a contribution does not fit a double")
    # One column needs no axis, and neither does one state.
    inner: Any = 0 if width == 1 else slice(None)
    outer: Any = 0 if single else slice(None)
    labels = np.array(read.labels)[code] if read.labels else None
    return Attribution(
        about=about,
        method="path" if others is None else "background",
        names=read.names,
        units=read.units,
        labels=None if labels is None else str(labels[0]) if single else labels,
        contributions=found[outer, :, inner],
        base=_number(base[outer, inner]),
        prediction=_number(prediction[outer, inner]),
        states=array[outer],
        spans=fitted.span,
        named=label is not None,
        scored=fitted.model is not None,
        background=0 if others is None else len(others),
        schema=fitted.schema,
    )


def read_about(fitted: Fitted, about: Any, *, single: bool = False) -> tuple[Attribute, str | None]:
    """Return the attribute that is meant, and the label where ``about`` names one: ``"action = left"``."""
    action = fitted.schema.action
    if isinstance(about, str) and action.labels and fitted.schema.has_action:
        name, sign, text = about.partition("=")
        if sign and name.strip() in ("action", *action.names):
            wanted = text.strip()
            bare = wanted.strip("'\"")
            label = next((known for known in action.labels if known.strip() in (wanted, bare)), None)
            if label is None:
                hint = did_you_mean(bare, action.labels)
                known = listing(action.labels, 20)
                raise ParameterError(
                    Message(
                        "{} is {!r}, but the tree knows only the actions {}.{}", Option("about"), about, known, hint
                    )
                )
            return read_attribute(fitted, "action"), label
    return read_attribute(fitted, about, single=single), None


def _states(fitted: Fitted, states: Any) -> tuple[F64, bool]:
    if isinstance(states, Log):
        check_same_schema(fitted.schema, states, "log")
        return states.states, False
    array, single = read_states(states, fitted.schema)
    return read_finite_states(array, fitted.schema), single


def _background(fitted: Fitted, log: Log | None) -> F64:
    """Return states that stand for a log."""
    if log is not None:
        check_same_schema(fitted.schema, log, "background")
        states = log.states
    elif fitted.track is not None:
        states = fitted.track.recording.states
    else:
        raise ParameterError(
            Message(
                "This model kept no states of its log, so {} needs a log to compare with: give {}.",
                Option("method", "background"),
                Option("background"),
            )
        )
    return np.ascontiguousarray(sample(states, MOST_BACKGROUND))


def sample(states: F64, most: int) -> F64:
    """Return at most so many states, at random but the same each time."""
    if len(states) <= most:
        return states
    # Not evenly spaced: a log's episodes may have one length, and each state would then be from the same part of them.
    return states[np.sort(np.random.default_rng(0).choice(len(states), most, replace=False))]


def _number(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values


def _shapley(
    fitted: Fitted, about: Attribute, states: F64, targets: list[int], others: F64 | None, threads: int
) -> tuple[F64, F64]:
    """Return the contributions to some targets, shape (states, features, targets), and what they start from."""
    tree = fitted.tree
    origin, centre, slope, low, high = _models(fitted, targets)
    if others is None:
        weight = _weights(fitted, about.kind)
        leaf = weight[tree.leaf_nodes]
        base = leaf @ centre / leaf.sum()
    else:
        base = fitted.told(others, tree.apply(others, threads), threads)[:, targets].mean(axis=0)
    # Contributions are to the difference from the base; so large numbers cost no digits, and equal ones are exactly 0.
    models = (origin, centre - base, slope, low - base, high - base)
    if others is not None:
        arrays = (tree.feature, tree.threshold, tree.left, tree.leaf_number)
        return _kernel.attribute_background(states, others, *arrays, *models, threads), base
    lower, upper = fitted.bounds
    longest = int((np.isfinite(lower) | np.isfinite(upper)).sum(axis=1).max())
    at, share = _quadrature(longest // 2 + 1)
    cover = _cover(fitted, weight)
    return _kernel.attribute_paths(states, lower, upper, cover, at, share, *models, threads), base


def _models(fitted: Fitted, targets: list[int]) -> tuple[F64, F64, F64, F64, F64]:
    """Return mean state, centre, slope and limits of each leaf; means have no slopes, and nothing limits them."""
    nodes, origin = fitted.tree.leaf_nodes, fitted.attributes.state_mean
    if fitted.model is None or origin is None:
        centre = node_means(fitted.leaves)[:, targets]
        features = len(fitted.schema.features)
        none = np.zeros((len(nodes), len(targets), features))
        return (
            np.zeros((len(nodes), features)),
            centre,
            none,
            np.full_like(centre, -np.inf),
            np.full_like(centre, np.inf),
        )
    at = fitted.model.at(nodes)
    low, high = at.low[:, targets].astype(np.float64), at.high[:, targets].astype(np.float64)
    centre, slope = np.clip(at.centre[:, targets], low, high), at.slope[:, targets].astype(np.float64)
    return np.ascontiguousarray(origin[nodes]), centre, np.ascontiguousarray(slope), low, high


def _weights(fitted: Fitted, kind: str) -> F64:
    """Return how many samples of an attribute each node has, or what they weigh."""
    leaves = fitted.leaves.mass_derivative if kind == "derivative" else fitted.leaves.mass
    weight = np.zeros(fitted.tree.n_nodes)
    weight[fitted.tree.leaf_nodes] = np.maximum(leaves, LEAST_WEIGHT)
    fitted.tree.add_up(weight)
    return weight


def _cover(fitted: Fitted, weight: F64) -> F64:
    """Return, for each leaf and feature, which share of samples goes its way at the splits on that feature."""
    tree = fitted.tree
    cover = np.ones((tree.n_nodes, len(fitted.schema.features)))
    for nodes in tree.levels:
        for child in (tree.left[nodes], tree.left[nodes] + 1):
            cover[child] = cover[nodes]
            cover[child, tree.feature[nodes]] *= weight[child] / weight[nodes]
    return cover[tree.leaf_nodes]


def _quadrature(most: int) -> tuple[F64, F64]:
    """Return Gauss and Legendre's nodes on (0, 1) and their weights: row K - 1 has K of them."""
    at, weight = np.full((most, most), 0.5), np.zeros((most, most))
    for count in range(1, most + 1):
        node, share = leggauss(count)
        at[count - 1, :count], weight[count - 1, :count] = (node + 1) / 2, share / 2
    return at, weight
