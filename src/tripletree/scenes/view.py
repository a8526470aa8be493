"""View: which one or two features a picture shows, and what holds for the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.states import read_state
from tripletree.checks import did_you_mean, listing
from tripletree.errors import ParameterError
from tripletree.language.conditions import clause, condition, read_interval
from tripletree.language.numbers import significant
from tripletree.language.parser import read_expression
from tripletree.leaves.project import Extents, extents, within
from tripletree.model.fitted import Fitted
from tripletree.scenes.guides import MINUS
from tripletree.scenes.types import Axis
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class View:
    """One or two features of a tree's space, the others averaged, limited or fixed.

    Attributes
    ----------
    fitted : Fitted
        The tree.
    boxes : Extents
        Its leaves.
    axes : tuple of one or two feature numbers
        What is along x and y.
    limits : dict of feature numbers to (low, high)
        Intervals of other features; ``low == high`` fixes one.
    """

    fitted: Fitted
    boxes: Extents
    axes: tuple[int, ...]
    limits: dict[int, tuple[float, float]]

    @property
    def others(self) -> list[int]:
        """The features that are not axes."""
        return [f for f in range(len(self.fitted.schema.features)) if f not in self.axes]

    @property
    def averaged(self) -> list[int]:
        """The features that are averaged over, some of them within limits."""
        return [f for f in self.others if f not in self.limits or self.limits[f][0] < self.limits[f][1]]

    @property
    def direct(self) -> bool:
        """Whether there is only one leaf behind each point, so that leaves themselves can be shown."""
        return not self.averaged

    @cached_property
    def leaves(self) -> npt.NDArray[np.int64]:
        """The leaves that can be seen: within the limits, and with an area."""
        seen = within(self.boxes, self.limits) > 0
        for f in self.axes:
            seen &= self.boxes.upper[:, f] > self.boxes.lower[:, f]
        return np.flatnonzero(seen)

    @property
    def conditions(self) -> list[str]:
        """What holds for the features that are limited or fixed, in words."""
        return [self._condition(f, *self.limits[f]) for f in self.others if f in self.limits]

    def _condition(self, f: int, low: float, high: float) -> str:
        feature = self.fitted.schema.features[f]
        # A whole number in the words of its kind: "left leg not in contact", "gear = 2 to 3".
        told = clause(feature, low, low + 0.5 if low == high else high) if self.boxes.whole[f] else ""
        return told or condition(feature.name, significant(low, 4), significant(high, 4), feature.unit)

    def axis(self, place: int) -> Axis:
        """Return the axis of the first or second feature; whole numbers have their own ticks."""
        f = self.axes[place]
        feature = self.fitted.schema.features[f]
        low, high = float(self.boxes.low[f]), float(self.boxes.high[f])
        # Other ticks would lie between whole numbers; more than 12 would touch each other.
        ticks = (
            tuple((np.arange(np.ceil(low), high) + 0.0).tolist()) if self.boxes.whole[f] and high - low <= 12 else ()
        )
        texts = tuple(f"{tick:.0f}".replace("-", MINUS) for tick in ticks)
        return Axis(named(feature.name, feature.unit), low, high, ticks=ticks, tick_labels=texts)


def named(name: str, unit: str) -> str:
    """Return "pos (m)"."""
    return f"{name} ({unit})" if unit else name


def read_model(model: Any) -> Fitted:
    """Return what a TripleTree knows; a Fitted is passed on."""
    # Looked up on the class: on an object that was not fitted, the property raises an error that says so.
    fitted = model.fitted_ if hasattr(type(model), "fitted_") else model
    if not isinstance(fitted, Fitted):
        raise ParameterError(Message("{} must be a fitted TripleTree; got {}.", Option("model"), type(model).__name__))
    return fitted


def leaf_boxes(fitted: Fitted) -> Extents:
    """Return the boxes of the leaves as pictures show them."""
    if "boxes" not in fitted.memory:
        fitted.memory["boxes"] = extents(fitted.tree, fitted.feature_min, fitted.feature_max, fitted.whole)
    boxes: Extents = fitted.memory["boxes"]
    return boxes


def read_view(model: Any, x: Any, y: Any = None, *, where: Any = None, at: Any = None) -> View:
    """Return a view, its arguments checked.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    x, y : str
        Names of the features along the axes; no ``y`` for a picture along one feature.
    where : dict, text or None
        Limits of other features: ``(low, high)`` with None for no bound, or a number that fixes one.
    at : state or None
        Fixes all other features that ``where`` says nothing about.
    """
    fitted = read_model(model)
    names = fitted.schema.feature_names
    axes = tuple(_feature(names, name) for name in ((x,) if y is None else (x, y)))
    if len(set(axes)) < len(axes):
        raise ParameterError(
            Message(
                "{} and {} are both `{}`; choose two features of {}, or give {} alone.",
                Option("x"),
                Option("y"),
                x,
                listing(names, 12),
                Option("x"),
            )
        )
    boxes = leaf_boxes(fitted)
    limits: dict[int, tuple[float, float]] = {}
    if at is not None:
        state = read_state(at, fitted.schema, "at", finite=False)
        limits = {f: (float(state[f]), float(state[f])) for f in range(len(names)) if f not in axes}
    if isinstance(where, str):
        where = read_expression(where, fitted.schema, "where")
    if where is not None:
        if not isinstance(where, Mapping):
            example = next((name for f, name in enumerate(names) if f not in axes), names[0])
            raise ParameterError(
                Message(
                    "{} must limit features; got {!r}. Try {}.",
                    Option("where"),
                    where,
                    Option("where", f"{example} > 0"),
                )
            )
        # After ``at``, because what ``where`` says about a feature comes before its value in that state.
        for name, wish in where.items():
            f = _feature(names, name)
            limits[f] = read_interval(wish, f"where[{name!r}]", float(fitted.feature_max[f]))
    view = View(fitted, boxes, axes, limits)
    for f in [_feature(names, name) for name in where or ()]:
        _check_limit(view, f)
    return view


def _feature(names: tuple[str, ...], name: Any) -> int:
    if name not in names:
        raise ParameterError(
            f"The tree has no feature {name!r}; it has {listing(names, 12)}.{did_you_mean(name, names)}"
        )
    return names.index(name)


def _check_limit(view: View, f: int) -> None:
    feature, (low, high) = view.fitted.schema.features[f], view.limits[f]
    name = feature.name
    if f in view.axes:
        raise ParameterError(
            Message("{} limits `{}`, an axis of the picture; it may limit other features only.", Option("where"), name)
        )
    least, most = float(view.fitted.feature_min[f]), float(view.fitted.feature_max[f])
    if low > most or high < least:
        raise ParameterError(
            Message(
                "{} lies outside the data: it asks for {}, but in the log `{}` ranges from {:g} to {:g}.",
                Option("where"),
                condition(name, low, high, feature.unit),
                name,
                least,
                most,
            )
        )
    bottom, top = view.boxes.band(f, low, high)
    if low < high and bottom >= top:
        raise ParameterError(
            Message(
                "{} leaves no value: `{}` is a whole number, and there is none in [{:g}, {:g}).",
                Option("where"),
                name,
                low,
                high,
            )
        )
