"""About: which attribute of the tree a question is about, in whatever form a user names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, listing
from tripletree.errors import ParameterError
from tripletree.model.fitted import Fitted

F64 = npt.NDArray[np.float64]

DERIVATIVE_OF = "derivative of "


@dataclass(frozen=True)
class About:
    """An attribute: the action, one of its dimensions, the value, or derivatives.

    Attributes
    ----------
    kind : {"action", "value", "derivative"}
        Which of the three.
    columns : tuple of int
        Dimensions of a continuous action, or features whose derivative is meant; empty for discrete actions and value.
    """

    kind: str
    columns: tuple[int, ...] = ()

    def mean(self, fitted: Fitted, nodes: npt.NDArray[np.int64]) -> F64:
        """Return what some nodes predict, shape (nodes, columns): numbers, or the code of a discrete action's label."""
        at = fitted.attributes
        if self.kind == "value":
            return at.value_mean[nodes][:, None]
        if self.kind == "action" and at.action_count is not None:
            codes: F64 = at.action_count[nodes].argmax(axis=1)[:, None].astype(np.float64)
            return codes
        return self._chosen(at.action_mean if self.kind == "action" else at.derivative_mean, nodes)

    def std(self, fitted: Fitted, nodes: npt.NDArray[np.int64]) -> F64:
        """Return how far the samples of some nodes spread, shape (nodes, columns); not for discrete actions."""
        at = fitted.attributes
        if self.kind == "value":
            return at.value_std[nodes][:, None]
        return self._chosen(at.action_std if self.kind == "action" else at.derivative_std, nodes)

    def _chosen(self, table: F64 | None, nodes: npt.NDArray[np.int64]) -> F64:
        return np.zeros((len(nodes), 0)) if table is None else table[nodes][:, list(self.columns)]


def read_about(fitted: Fitted, about: Any, name: str = "about") -> About:
    """Return the attribute that ``about`` names.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str
        ``"action"`` (all of it), the name of an action dimension, ``"value"``, ``"derivative of pos"`` for a feature
        ``pos``, or ``"derivative"`` (of all features).
    name : str
        What messages call it.
    """
    action, features = fitted.schema.action, fitted.schema.feature_names
    continuous = action.kind == "continuous"
    if about == "action":
        return About("action", tuple(range(len(action.names))) if continuous else ())
    if about == "value":
        return About("value")
    if about in action.names:
        return About("action", (action.names.index(about),) if continuous else ())
    named = [f"{DERIVATIVE_OF}{name}" for name in features]
    if about == "derivative" or about in named:
        if fitted.attributes.derivative_mean is None:
            raise ParameterError(
                f"{name}={about!r} asks for a derivative, and this tree has none: no episode of its log has two states."
            )
        return About("derivative", tuple(range(len(features))) if about == "derivative" else (named.index(about),))
    known = ["action", *(action.names if continuous else ()), "value", "derivative", *named]
    meant = f" Did you mean `{DERIVATIVE_OF}{about}`?" if about in features else did_you_mean(about, known)
    raise ParameterError(f"{name} must be one of {listing(known, 12)}; got {about!r}.{meant}")
