"""Attributes: one thing that every leaf predicts, leaf by leaf."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.checks import listing
from tripletree.errors import ParameterError
from tripletree.model.fitted import Fitted
from tripletree.questions.about import DERIVATIVE_OF, read_about

F64 = npt.NDArray[np.float64]


class Attribute(NamedTuple):
    """One thing that every leaf predicts: a label or a number.

    Attributes
    ----------
    key : str
        Its name: "action", the name of an action dimension, "value", or "derivative of pos".
    kind : {"label", "action", "value", "derivative"}
        A discrete action, a dimension of a continuous one, the value, or a feature's derivative.
    column : int
        Which action dimension or feature.
    unit : str
        Unit of the numbers, may be empty.
    labels : tuple of str
        The labels of a discrete action, otherwise empty.
    leaves : array of shape (leaves,)
        What each leaf predicts: a label's number, or a mean.
    spread : float64 array of shape (leaves,)
        The share of the label, or the standard deviation.
    sigma : float
        The standard deviation over the entire log; 0 for a discrete action.
    """

    key: str
    kind: str
    column: int
    unit: str
    labels: tuple[str, ...]
    leaves: npt.NDArray[Any]
    spread: F64
    sigma: float

    def purity_at(self, leaf: int) -> float:
        """Return the purity of one leaf."""
        if self.kind == "label":
            return float(self.spread[leaf])
        return max(1.0 - (float(self.spread[leaf]) / self.sigma) ** 2, 0.0) if self.sigma > 0 else 1.0

    def purity(self) -> F64:
        """Return how much the samples of each leaf agree, from 0 to 1, shape (leaves,).

        For a discrete action the share of the most frequent label; for numbers the share of the log's variance that is
        gone within the leaf.
        """
        if self.kind == "label":
            return self.spread
        if not self.sigma > 0:
            return np.ones(len(self.spread))
        return np.maximum(1.0 - (self.spread / self.sigma) ** 2, 0.0)


def read_attribute(fitted: Fitted, about: Any, name: str = "about") -> Attribute:
    """Return the one attribute that ``about`` names, as in :func:`tripletree.questions.about.read_about`.

    "action" and "derivative" stand for the only dimension there is; where there are several, one must be named.
    ``name`` is what messages call the argument.
    """
    kept = fitted.memory.get(about) if isinstance(about, str) else None
    if isinstance(kept, Attribute):
        return kept
    attribute = _attribute(fitted, about, name)
    fitted.memory[about] = attribute
    return attribute


def _attribute(fitted: Fitted, about: Any, name: str) -> Attribute:
    meant = read_about(fitted, about, name)
    at, action = fitted.leaves, fitted.schema.action
    if meant.kind == "value":
        sigma = float(fitted.attributes.value_std[0])
        return Attribute("value", "value", 0, "", (), at.value_mean, at.value_std, sigma)
    if meant.kind == "action" and at.mode is not None and at.mode_share is not None:
        return Attribute("action", "label", 0, action.units[0], action.labels, at.mode, at.mode_share, 0.0)
    features = fitted.schema.features
    if len(meant.columns) > 1:
        known = action.names if meant.kind == "action" else [DERIVATIVE_OF + feature.name for feature in features]
        raise ParameterError(f"{name} must be one number here; name one of {listing(known, 12)} instead of {about!r}.")
    k = meant.columns[0]
    if meant.kind == "action" and at.action_mean is not None and at.action_std is not None:
        sigma = 0.0 if fitted.action_scale is None else float(fitted.action_scale[k])
        key, unit, mean, std = action.names[k], action.units[k], at.action_mean, at.action_std
    elif at.derivative_mean is not None and at.derivative_std is not None:
        sigma = float(fitted.derivative_scale[k])
        key, unit, mean, std = DERIVATIVE_OF + features[k].name, features[k].unit, at.derivative_mean, at.derivative_std
    else:
        raise ParameterError(f"{name}={about!r} is nothing that this tree predicts.")
    mean, std = np.ascontiguousarray(mean[:, k]), np.ascontiguousarray(std[:, k])
    return Attribute(key, meant.kind, k, unit, (), mean, std, sigma)
