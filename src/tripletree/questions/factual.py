"""Factual explanation: what the tree predicts in a state, and the bounds of the leaf that make it so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import ParameterError
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.questions.about import About, read_about
from tripletree.questions.answers import Answer
from tripletree.questions.importance import removed
from tripletree.questions.states import read_states
from tripletree.questions.words import facts

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Factual(Answer):
    """Why the tree predicts what it predicts in a state.

    Attributes
    ----------
    about : str
        The attribute explained.
    names, units : tuples of str
        What its columns are called, and what follows their numbers; one name for a discrete action.
    state : float64 array of shape (features,)
        The state.
    leaf : int
        Its leaf.
    prediction : str, or float64 array of shape (columns,)
        Label of a discrete action; or the mean of each dimension, the value, or the mean of each derivative.
    spread : float, or float64 array of shape (columns,)
        Share of the samples with that label; or standard deviations.
    runner_up : tuple of (str, float), or None
        The next label and its share, when there is one (discrete actions only).
    count : int
        Samples in the leaf (for derivatives: those of which the log shows what follows).
    lower, upper : float64 arrays of shape (features,)
        Bounds of the leaf, ``lower <= state < upper``; infinite where no split made one.
    because : tuple of str
        The bounds in words, those first whose splits removed most of the attribute's impurity.
    beyond : float64 array of shape (features,)
        How far the state lies above (below: negative) the range of the training log.
    limits : float64 array of shape (2, features)
        That range.
    schema : Schema
        Names of features and actions.
    """

    about: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    state: F64
    leaf: int
    prediction: Any
    spread: Any
    runner_up: tuple[str, float] | None
    count: int
    lower: F64
    upper: F64
    because: tuple[str, ...]
    beyond: F64
    limits: F64
    schema: Schema

    @property
    def outside(self) -> bool:
        """Whether the state lies outside the range of the training log."""
        return bool(self.beyond.any())

    def __str__(self) -> str:
        return facts.factual(self)


def factual(fitted: Fitted, state: Any, about: str = "action") -> Factual:
    """Return what the tree predicts in a state, and why.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    state : sequence or dict of numbers
        One state.
    about : str
        The attribute, as in :func:`tripletree.questions.about.read_about`.
    """
    attribute = read_about(fitted, about)
    states, single = read_states(state, fitted.schema)
    if not single:
        raise ParameterError(f"state must be one state; got {len(states)} of them. Ask for each in turn.")
    leaf = int(fitted.tree.apply(states)[0])
    node = fitted.tree.leaf_nodes[leaf : leaf + 1]
    at = fitted.attributes
    runner_up = None
    if attribute.kind == "action" and at.action_count is not None:
        shares = at.action_count[node[0]] / at.count[node[0]]
        ranked = np.argsort(-shares, kind="stable")
        labels = fitted.schema.action.labels
        prediction, spread = labels[ranked[0]], float(shares[ranked[0]])
        if len(ranked) > 1 and shares[ranked[1]] > 0:
            runner_up = labels[ranked[1]], float(shares[ranked[1]])
    else:
        prediction, spread = attribute.mean(fitted, node)[0], attribute.std(fitted, node)[0]
    named = facts.names(fitted.schema, attribute)
    lower, upper = (side[leaf] for side in fitted.bounds)
    return Factual(
        about=about,
        names=tuple(name for name, _ in named),
        units=tuple(of for _, of in named),
        state=states[0],
        leaf=leaf,
        prediction=prediction,
        spread=spread,
        runner_up=runner_up,
        count=int((at.count_derivative if attribute.kind == "derivative" else at.count)[node[0]]),
        lower=lower,
        upper=upper,
        because=tuple(facts.reasons(fitted.schema, lower, upper, path_order(fitted, attribute, leaf))),
        beyond=np.maximum(states[0] - fitted.feature_max, 0) + np.minimum(states[0] - fitted.feature_min, 0),
        limits=np.stack([fitted.feature_min, fitted.feature_max]),
        schema=fitted.schema,
    )


def path_order(fitted: Fitted, about: About, leaf: int) -> list[int]:
    """Return the features that bound a leaf, those first whose splits above it removed most impurity."""
    gain = removed(fitted, about)
    total: dict[int, float] = {}
    node = int(fitted.tree.parent[fitted.tree.leaf_nodes[leaf]])
    while node >= 0:
        feature = int(fitted.tree.feature[node])
        total[feature] = total.get(feature, 0.0) + float(gain[node])
        node = int(fitted.tree.parent[node])
    return sorted(total, key=lambda feature: (-total[feature], feature))
