"""Prediction: what the tree says about one or several states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.asking.attribute import rate_unit
from tripletree.language.numbers import capital, measured, percent, unit
from tripletree.log.schema import Schema
from tripletree.text import count


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Answer):
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

    def __str__(self) -> str:
        if isinstance(self.leaf, np.ndarray):
            return self._several()
        schema = self.schema
        if not schema.has_action:
            act = self._changes()
        elif self.action_probability is not None:
            act = f"Action = {self.action} ({percent(float(self.action_probability.max()))})"
        else:
            spread = () if self.action_std is None else self.action_std
            parts = zip(schema.action.names, schema.action.units, self.action, spread, strict=True)
            act = capital(", ".join(f"{name} = {measured(mean, std)}{unit(of)}" for name, of, mean, std in parts))
        warning = "; the state lies outside the range of the log" if self.outside else ""
        value = f", value = {measured(self.value, self.value_std)}" if schema.has_reward else ""
        said = f"{act}{value} (leaf {self.leaf}, {count(self.count, 'sample')}){warning}."
        return said + self._assumption(schema)

    def _changes(self) -> str:
        """Return how the state changes, in a log that does not know actions."""
        if self.derivative is None or self.derivative_std is None:
            return "No change is known"
        schema = self.schema
        parts = zip(schema.features, self.derivative, self.derivative_std, strict=True)
        told = [
            f"{feature.name} = {measured(float(mean), float(std))}{unit(rate_unit(feature.unit, schema))}"
            for feature, mean, std in parts
        ]
        return f"Change of {', '.join(told)}"

    def _several(self) -> str:
        outside = int(np.count_nonzero(self.outside))
        which = "" if len(self.leaf) == 1 else f"{outside:,} of them "
        where = f", {which}outside the range of the log" if outside else ""
        leaves = count(len(np.unique(self.leaf)), "leaf", "leaves")
        return f"{count(len(self.leaf), 'state')} in {leaves}{where}."
