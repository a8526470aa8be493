"""Attribute: what a question is about, whether a user calls it about, colour, or the key of a foil or a zone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import choice, listing
from tripletree.errors import ParameterError
from tripletree.language.conditions import DERIVATIVE_OF, attribute_hint
from tripletree.language.numbers import measured, rounded, unit
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

MOST_DERIVATIVES = 6
"""Derivatives that a reader is shown in place of actions, at most."""
CHANGE_OF, PER_STEP = "change of ", "per step"
"""What sentences call a derivative: "change of pos", in m per step."""


@dataclass(frozen=True, eq=False, repr=False)
class Attribute:
    """Something that every node of a tree predicts: the action or one of its dimensions, the value, or derivatives.

    Attributes
    ----------
    key : str
        Its name: "action", the name of an action dimension, "value", "derivative of pos", or "derivative" (of all).
    kind : {"action", "value", "derivative"}
        Which of the three things that a tree models.
    columns : tuple of int
        Dimensions of a continuous action, or features whose derivative is meant; empty for labels and for the value.
    names, units : tuples of str
        What sentences call each column, and the unit of its numbers.
    labels : tuple of str
        The labels of a discrete action; empty for numbers.
    mean : float64 array of shape (nodes, columns)
        What each node predicts: numbers, or the number of the most frequent label.
    std : float64 array of shape (nodes, columns)
        How far the samples of each node spread: standard deviations, or the share of the most frequent label.
    sigma : float64 array of shape (columns,)
        Standard deviations over the whole log; 0 for labels.
    leaf_nodes : int array of shape (leaves,)
        The nodes that are leaves.
    """

    key: str
    kind: str
    columns: tuple[int, ...]
    names: tuple[str, ...]
    units: tuple[str, ...]
    labels: tuple[str, ...]
    mean: F64
    std: F64
    sigma: F64
    leaf_nodes: I64

    # What follows is for an attribute with one column, which most questions need.

    @property
    def name(self) -> str:
        """What sentences call it."""
        return "action" if self.labels else self.names[0]

    @cached_property
    def leaves(self) -> npt.NDArray[Any]:
        """What each leaf predicts: a mean, or a label's number."""
        found = np.ascontiguousarray(self.mean[self.leaf_nodes, 0])
        return found.astype(np.int64) if self.labels else found

    @cached_property
    def spread(self) -> F64:
        """How far the samples of each leaf spread, or the share of its label."""
        return np.ascontiguousarray(self.std[self.leaf_nodes, 0])

    @cached_property
    def largest(self) -> float:
        """The largest number that any leaf predicts."""
        return float(self.leaves.max())

    @cached_property
    def purity(self) -> F64:
        """How much the samples of each leaf agree, from 0 to 1.

        For labels the share of the most frequent one; for numbers the share of the log's variance that is gone within
        the leaf.
        """
        if self.labels:
            return self.spread
        sigma = float(self.sigma[0])
        if not sigma > 0:
            return np.ones(len(self.spread))
        return np.maximum(1.0 - (self.spread / sigma) ** 2, 0.0)

    def said(self, number: Any) -> str:
        """Return "action = left", or "main engine = 0.62", for a label or a number."""
        told = number if self.labels else rounded(float(number), 3)
        return f"{self.name} = {told}{unit(self.units[0])}"

    def told(self, leaf: int) -> str:
        """Return what a leaf predicts, in words: "left", "0.62 ± 0.1 m per step"."""
        if self.labels:
            return f"{self.labels[int(self.leaves[leaf])]}{unit(self.units[0])}"
        return f"{measured(float(self.leaves[leaf]), float(self.spread[leaf]))}{unit(self.units[0])}"


def read_attribute(
    fitted: Fitted, wanted: Any, name: str = "about", *, single: bool = False, also: Collection[str] = ()
) -> Attribute:
    """Return the attribute that a user means.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    wanted : str
        ``"action"`` (all of it), the name of an action dimension, ``"value"``, ``"derivative of pos"`` for a feature
        ``pos``, or ``"derivative"`` (of all features).
    name : str
        What messages call the argument.
    single : bool
        Whether it must be one label or one number; "action" and "derivative" are fine where there is only one.
    also : collection of str
        Other names that the argument may have, for the list in a message.
    """
    kept: Attribute | None = fitted.memory.get(wanted) if isinstance(wanted, str) else None
    found = _attribute(fitted, wanted, name, also) if kept is None else kept
    fitted.memory[wanted] = found
    if single and len(found.names) > 1:
        raise ParameterError(
            Message(
                "{} must be one number here; name one of {} instead of {!r}.",
                Option(name),
                listing(_parts(fitted, found), 12),
                wanted,
            )
        )
    return found


def targets_of(fitted: Fitted, attribute: Attribute) -> list[int]:
    """Return the columns of `Fitted.told` that an attribute is about; of a discrete action, those of all labels."""
    part = fitted.targets[attribute.kind]
    every = range(part.start, part.stop)
    return [every[column] for column in attribute.columns or range(len(every))]


def known_attributes(fitted: Fitted) -> list[str]:
    """Return the names of all that a tree predicts."""
    action = fitted.schema.action
    own = action.names if action.kind == "continuous" else ()
    known = [*(["action", *own] if fitted.schema.has_action else []), *(["value"] if fitted.schema.has_reward else [])]
    if fitted.attributes.derivative_mean is not None:
        known += ["derivative", *(DERIVATIVE_OF + name for name in fitted.schema.feature_names)]
    return list(dict.fromkeys(known))


def main_attributes(fitted: Fitted) -> list[str]:
    """Return what a reader asks about first, one number or label each: the action, or else what changes most.

    In a log without actions these are derivatives, at most six, those first on which the tree tells states apart best.
    """
    action = fitted.schema.action
    if fitted.schema.has_action:
        return ["action"] if action.kind == "discrete" else list(action.names)
    at, sigma = fitted.leaves, fitted.derivative_scale
    whole = fitted.attributes.derivative_mean
    if at.derivative_mean is None or whole is None:
        return []
    between = (at.mass[:, None] * (at.derivative_mean - whole[0]) ** 2).sum(axis=0)
    told = np.where(sigma > 0, between / np.where(sigma > 0, sigma, 1.0) ** 2, -1.0)
    order = [f for f in np.argsort(-told, kind="stable").tolist() if told[f] >= 0]
    return [DERIVATIVE_OF + fitted.schema.feature_names[f] for f in order[:MOST_DERIVATIVES]]


def _attribute(fitted: Fitted, wanted: Any, name: str, also: Collection[str]) -> Attribute:
    at, schema = fitted.attributes, fitted.schema
    action, features = schema.action, schema.features
    derivatives = [DERIVATIVE_OF + feature.name for feature in features]
    nodes = fitted.tree.leaf_nodes
    refuse_absent(fitted, wanted, name)
    if wanted == "value":
        mean, std = at.value_mean[:, None], at.value_std[:, None]
        return Attribute("value", "value", (), ("value",), ("",), (), mean, std, at.value_std[:1], nodes)
    if at.mode is not None and at.mode_share is not None and wanted in ("action", *action.names):
        code, share = at.mode[:, None].astype(np.float64), at.mode_share[:, None]
        names, units, labels = action.names, action.units, action.labels
        return Attribute("action", "action", (), names, units, labels, code, share, np.zeros(1), nodes)
    if at.action_mean is not None and at.action_std is not None and wanted in ("action", *action.names):
        columns = tuple(range(len(action.names))) if wanted == "action" else (action.names.index(wanted),)
        scale = np.zeros(len(action.names)) if fitted.action_scale is None else fitted.action_scale
        return Attribute(
            key=action.names[columns[0]] if len(columns) == 1 else "action",
            kind="action",
            columns=columns,
            names=tuple(action.names[k] for k in columns),
            units=tuple(action.units[k] for k in columns),
            labels=(),
            mean=at.action_mean[:, columns],
            std=at.action_std[:, columns],
            sigma=scale[list(columns)],
            leaf_nodes=nodes,
        )
    if wanted == "derivative" or wanted in derivatives:
        if at.derivative_mean is None or at.derivative_std is None:
            raise ParameterError(
                Message(
                    "{} is {!r}, but this tree knows no derivatives, because no episode of its log has two states.",
                    Option(name),
                    wanted,
                )
            )
        columns = tuple(range(len(features))) if wanted == "derivative" else (derivatives.index(wanted),)
        return Attribute(
            key=derivatives[columns[0]] if len(columns) == 1 else "derivative",
            kind="derivative",
            columns=columns,
            names=tuple(CHANGE_OF + features[f].name for f in columns),
            units=tuple(rate_unit(features[f].unit, schema) for f in columns),
            labels=(),
            mean=at.derivative_mean[:, columns],
            std=at.derivative_std[:, columns],
            sigma=fitted.derivative_scale[list(columns)],
            leaf_nodes=nodes,
        )
    known = [*known_attributes(fitted), *also]
    hint = attribute_hint(wanted, known) if isinstance(wanted, str) else ""
    raise ParameterError(choice(known).objection(wanted, name, hint))


def rate_unit(unit: str, schema: Schema) -> str:
    """Return the unit of a derivative: "m per step", or "m/s" in a log that knows the time of its steps."""
    if not schema.per_second:
        return f"{unit} {PER_STEP}".lstrip()
    return f"{unit}/s" if unit and "/" not in unit else f"{unit} per second".lstrip()


def refuse_absent(fitted: Fitted, wanted: Any, name: str) -> None:
    """Raise ParameterError for what a log without actions or rewards does not know."""
    schema = fitted.schema
    action = not schema.has_action and wanted in ("action", *schema.action.names)
    if action or (wanted == "value" and not schema.has_reward):
        known = [*main_attributes(fitted), *(["value"] if schema.has_reward else [])]
        what = "actions" if action else "rewards, so this tree knows no values"
        instead = f" It knows {listing(known, 3)}." if known else ""
        raise ParameterError(Message("{} is {!r}, but the log has no {}.{}", Option(name), wanted, what, instead))


def _parts(fitted: Fitted, attribute: Attribute) -> list[str]:
    if attribute.kind == "action":
        return list(attribute.names)
    return [DERIVATIVE_OF + fitted.schema.feature_names[f] for f in attribute.columns]
