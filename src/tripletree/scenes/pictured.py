"""What a map can show by colour: an attribute of the leaves, how to average it, and its colour scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, listing
from tripletree.errors import ParameterError
from tripletree.leaves.boxes import density
from tripletree.leaves.project import Extents, log_volume
from tripletree.model.fitted import Fitted
from tripletree.scenes.colours import CATEGORIES, CIVIDIS, DIVERGING, EMBERS, OTHER, SEA, VIRIDIS
from tripletree.scenes.types import ColourScale
from tripletree.scenes.view import named
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]

NEXT_TO_NOTHING = 1e-200
"""What a leaf without any derivative weighs: it counts only where no leaf with one does."""


@dataclass(frozen=True, eq=False)
class Pictured:
    """An attribute of the leaves.

    Attributes
    ----------
    title : str
        What is seen, at the beginning of a title.
    label : str
        Beside the colour scale, with the unit.
    mean : float64 array of shape (leaves, columns)
        What the leaves predict; for discrete actions, the share of each label.
    population : float64 array of shape (leaves,)
        What a leaf weighs when several are averaged.
    scale : {"categories", "diverging", "values", "impurity", "amount", "number"}
        Which colours.
    labels : tuple of str
        The labels of a discrete action.
    std : float64 array of shape (leaves,), or None
        How far the samples of a leaf spread, where there is such a thing.
    averages : bool
        Whether a mean over several leaves means anything.
    """

    title: str
    label: str
    mean: F64
    population: F64
    scale: str
    labels: tuple[str, ...] = ()
    std: F64 | None = None
    averages: bool = True


def read_colour(fitted: Fitted, boxes: Extents, colour: Any) -> Pictured:
    """Return the attribute that ``colour`` names."""
    known = known_colours(fitted)
    if colour == "action" and fitted.schema.action.kind == "continuous":
        names = fitted.schema.action.names
        if len(names) > 1:
            raise ParameterError(
                Message(
                    "The action has {} dimensions; {} must be one of {}. Try {}.",
                    len(names),
                    Option("colour"),
                    listing(names, 12),
                    Option("colour", names[0]),
                )
            )
        colour = names[0]
    if not isinstance(colour, str) or colour not in known:
        features = fitted.schema.feature_names
        hint = f" Did you mean `derivative of {colour}`?" if colour in features else did_you_mean(colour, known)
        raise ParameterError(
            Message("{} must be one of {}; got {!r}.{}", Option("colour"), listing(known, 20), colour, hint)
        )
    at, nodes, action = fitted.attributes, fitted.tree.leaf_nodes, fitted.schema.action
    count = at.count[nodes].astype(np.float64)
    moved = np.where(at.count_derivative[nodes] > 0, at.count_derivative[nodes], NEXT_TO_NOTHING * count)
    if at.action_count is not None and colour in ("action", *action.names):
        name = action.names[0]
        shares = at.action_count[nodes] / count[:, None]
        return Pictured(f"Most frequent {name}", name, shares, count, "categories", action.labels)
    if at.action_mean is not None and at.action_std is not None and colour in action.names:
        k = action.names.index(colour)
        label = named(f"mean {colour}", action.units[k])
        mean, std = at.action_mean[nodes, k], at.action_std[nodes, k]
        return Pictured(f"Mean {colour}", label, mean[:, None], count, _signed(mean), std=std)
    if colour == "value":
        label = "mean value (discounted rewards)"
        return Pictured("Mean value", label, at.value_mean[nodes, None], count, "values", std=at.value_std[nodes])
    if colour.startswith("derivative of ") and at.derivative_mean is not None and at.derivative_std is not None:
        f = fitted.schema.feature_names.index(colour.removeprefix("derivative of "))
        feature = fitted.schema.features[f]
        label = f"mean change of {named(feature.name, f'{feature.unit} per step' if feature.unit else 'per step')}"
        mean, std = at.derivative_mean[nodes, f], at.derivative_std[nodes, f]
        return Pictured(f"Mean change of {feature.name}", label, mean[:, None], moved, _signed(mean), std=std)
    if colour.startswith("impurity of "):
        g = ("action", "value", "derivative").index(colour.removeprefix("impurity of "))
        what = ("action", "value", "change")[g]
        measure = ("Gini" if at.action_count is not None else "scaled variance", "variance", "scaled variances")[g]
        label = f"impurity of {what} ({measure})"
        return Pictured(
            f"Impurity of {what}", label, at.impurity[nodes, g, None], moved if g == 2 else count, "impurity"
        )
    if colour == "density":
        return _density(boxes, count)
    if colour == "count":
        return Pictured("Samples", "samples in the leaf", count[:, None], count, "amount")
    number = np.arange(len(nodes), dtype=np.float64)
    return Pictured("Leaf numbers", "leaf number", number[:, None], count, "number", averages=False)


def known_colours(fitted: Fitted) -> list[str]:
    """Return the names of everything that a map of this tree can show."""
    action = fitted.schema.action
    known = ["action", *(action.names if action.kind == "continuous" or action.names != ("action",) else ()), "value"]
    if fitted.attributes.derivative_mean is not None:
        known += [f"derivative of {name}" for name in fitted.schema.feature_names]
    known += [f"impurity of {name}" for name in ("action", "value", "derivative")]
    return [*dict.fromkeys(known), "density", "count", "leaf"]


def colour_scale(pictured: Pictured, values: F64, limits: tuple[float, float] | None = None) -> ColourScale:
    """Return the scale of the values that a picture shows."""
    if pictured.scale == "categories":
        return _categories(pictured)
    low, high = (float(values.min()), float(values.max())) if limits is None else limits
    if pictured.scale == "amount":
        # An attribute that is the same everywhere still gets a scale, with its colour in the middle.
        low, high = (low / 2, high * 2) if high <= low * (1 + 1e-9) else (low, high)
        return ColourScale(pictured.label, SEA, low, high, "log")
    if pictured.scale == "diverging" and limits is None:
        high = max(abs(low), abs(high))
        low = -high
    elif pictured.scale == "impurity" and limits is None:
        low = 0.0
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        pad = 0.5 * max(abs(low), 1.0)
        low, high = (low, 1.0) if pictured.scale == "impurity" else (low - pad, high + pad)
    stops = {"diverging": DIVERGING, "impurity": EMBERS, "number": CIVIDIS}.get(pictured.scale, VIRIDIS)
    return ColourScale(pictured.label, stops, low, high)


def _categories(pictured: Pictured) -> ColourScale:
    labels = pictured.labels
    if len(labels) <= len(CATEGORIES):
        return ColourScale(pictured.label, CATEGORIES[: len(labels)], 0, len(labels) - 1, "categories", labels)
    # The most frequent labels keep a colour of their own; the others share one.
    total = (pictured.mean * pictured.population[:, None]).sum(axis=0)
    frequent = set(np.argsort(-total, kind="stable")[: len(CATEGORIES)].tolist())
    own = iter(CATEGORIES)
    stops = tuple(next(own) if code in frequent else OTHER for code in range(len(labels)))
    return ColourScale(pictured.label, stops, 0, len(labels) - 1, "categories", labels)


def _signed(mean: F64) -> str:
    """Say whether 0 parts the values, so that the colours should show it."""
    return "diverging" if mean.min() < 0 < mean.max() else "values"


def _density(boxes: Extents, count: F64) -> Pictured:
    volume = log_volume(boxes)
    dense = density(count, volume)
    label = "density (samples / volume)"
    # Weighted by volume (Appendix C): the samples behind a cell, divided by the volume behind it.
    return Pictured("Sample density", label, dense[:, None], np.exp(volume), "amount")
