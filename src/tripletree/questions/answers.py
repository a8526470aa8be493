"""Answers: frozen, str() is the sentence and to_dict() the data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.schema import Schema
from tripletree.questions import words


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """What the tree predicts in one or several states, and how far the samples of each leaf spread.

    For a single state the first axis of every array is gone: ``value`` is a float, ``action`` a label or the numbers
    of a continuous action.

    Attributes
    ----------
    action : array of labels, or float64 array of shape (states, dimensions)
        The leaf's most frequent label, or its mean action.
    action_probability : float64 array of shape (states, labels), or None
        Share of each label, in the order of ``schema.action.labels`` (discrete actions only).
    action_std : float64 array of shape (states, dimensions), or None
        Standard deviation of the action (continuous actions only).
    value, value_std : float64 arrays of shape (states,)
        Mean and standard deviation of the value.
    derivative, derivative_std : float64 arrays of shape (states, features), or None
        Mean and standard deviation of the derivative; None when the log has no successor states.
    leaf : int array of shape (states,)
        Leaf of each state.
    count : int array of shape (states,)
        Training samples in that leaf.
    outside : bool array of shape (states,)
        Whether the state lies outside the range of the training log in some feature.
    schema : Schema
        Names of features and actions.
    """

    action: Any
    action_probability: npt.NDArray[np.float64] | None
    action_std: npt.NDArray[np.float64] | None
    value: Any
    value_std: Any
    derivative: npt.NDArray[np.float64] | None
    derivative_std: npt.NDArray[np.float64] | None
    leaf: Any
    count: Any
    outside: Any
    schema: Schema

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the schema as plain Python values."""
        data = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "schema"}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in data.items()}

    def __str__(self) -> str:
        if isinstance(self.leaf, np.ndarray):
            return words.predictions(len(self.leaf), len(np.unique(self.leaf)), int(np.count_nonzero(self.outside)))
        spread = self.action_std if self.action_probability is None else float(self.action_probability.max())
        return words.prediction(
            self.schema, self.action, spread, self.value, self.value_std, self.leaf, self.count, self.outside
        )

    def __repr__(self) -> str:
        return f"<Prediction: {self}>"
