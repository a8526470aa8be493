"""What a map can show by colour: an attribute of the leaves, how to average it, and its colour scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import known_attributes, main_attributes, read_attribute
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.leaves.boxes import density
from tripletree.leaves.project import Extents, log_volume
from tripletree.model.fitted import Fitted
from tripletree.scenes.colours import CIVIDIS, DIVERGING, EMBERS, SEA, VIRIDIS
from tripletree.scenes.guides import category_scale
from tripletree.scenes.types import ColourScale
from tripletree.scenes.view import named

F64 = npt.NDArray[np.float64]

NEXT_TO_NOTHING = 1e-200
"""What each sample of a leaf without any derivative weighs."""

IMPURITIES = tuple(f"impurity of {name}" for name in ATTRIBUTES)
OTHER_COLOURS = (*IMPURITIES, "density", "count", "leaf")
"""What a map can show besides the attributes."""


@dataclass(frozen=True, eq=False)
class Colouring:
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


def derivative_population(fitted: Fitted) -> F64:
    """Return what each leaf weighs when derivatives are averaged: the samples that have one."""
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    known = at.mass_derivative[nodes]
    # A weight of 0 would leave holes in a map: so a leaf without any counts only where there is no other.
    return np.where(known > 0, known, NEXT_TO_NOTHING * at.mass[nodes])


def read_colour(fitted: Fitted, boxes: Extents, colour: Any) -> Colouring:
    """Return what ``colour`` names: an attribute, as in every question, or a property of the leaves themselves."""
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    count, mass = at.count[nodes].astype(np.float64), at.mass[nodes].astype(np.float64)
    if colour == "density":
        return _density(boxes, count)
    if colour == "count":
        return Colouring("Samples", "samples in the leaf", count[:, None], count, "amount")
    if colour == "leaf":
        number = np.arange(len(nodes), dtype=np.float64)
        return Colouring("Leaf numbers", "leaf number", number[:, None], count, "number", averages=False)
    if colour in IMPURITIES:
        g = IMPURITIES.index(colour)
        what = ("action", "value", "change")[g]
        measure = ("Gini" if at.action_count is not None else "scaled variance", "variance", "scaled variances")[g]
        label = f"impurity of {what} ({measure})"
        weight = derivative_population(fitted) if g == 2 else mass
        return Colouring(f"Impurity of {what}", label, at.impurity[nodes, g, None], weight, "impurity")
    if colour == "action" and not fitted.schema.has_action:
        # The usual colour of a map; without actions a map shows what changes.
        return read_colour(fitted, boxes, next(iter(main_attributes(fitted)), "count"))
    about = read_attribute(fitted, colour, "colour", single=True, also=OTHER_COLOURS)
    if about.labels and at.shares is not None:
        shares = at.shares[nodes]
        return Colouring(f"Most frequent {about.names[0]}", about.names[0], shares, mass, "categories", about.labels)
    mean, scale = about.leaves, "values" if about.kind == "value" else _signed(about.leaves)
    label = "mean value (discounted rewards)" if about.kind == "value" else f"mean {named(about.name, about.units[0])}"
    weight = derivative_population(fitted) if about.kind == "derivative" else mass
    return Colouring(f"Mean {about.name}", label, mean[:, None], weight, scale, std=about.spread)


def known_colours(fitted: Fitted) -> list[str]:
    """Return the names of everything that a map of this tree can show, each once."""
    action = fitted.schema.action
    # A map shows one number a leaf, not all derivatives or all dimensions of an action, unless one is called "action".
    several = {"derivative"} | ({"action"} if action.kind == "continuous" else set()) - set(action.names)
    return [*(name for name in known_attributes(fitted) if name not in several), *OTHER_COLOURS]


def colour_scale(pictured: Colouring, values: F64, limits: tuple[float, float] | None = None) -> ColourScale:
    """Return the scale of the values that a picture shows."""
    if pictured.scale == "categories":
        # By what the whole log does, not by what is in view: a label has the same colour in every picture of a tree.
        total = (pictured.mean * pictured.population[:, None]).sum(axis=0)
        return category_scale(pictured.label, pictured.labels, total)
    low, high = (float(values.min()), float(values.max())) if limits is None else limits
    if pictured.scale == "amount":
        # An attribute that is the same everywhere still gets a scale, with its colour in the middle.
        low, high = (low / 2, high * 2) if high <= low * (1 + 1e-9) else (low, high)
        return ColourScale(pictured.label, SEA, low, high, "log")
    # The neutral middle of a diverging scale must be at 0, and an impurity of 0 is a fixed point too.
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


def _signed(mean: F64) -> str:
    """Return which scale suits the values: those on both sides of 0 get one that shows the sign."""
    return "diverging" if mean.min() < 0 < mean.max() else "values"


def _density(boxes: Extents, count: F64) -> Colouring:
    volume = log_volume(boxes)
    dense = density(count, volume)
    label = "density (samples / volume)"
    # Weighted by volume (Appendix C): the samples behind a cell, divided by the volume behind it.
    return Colouring("Sample density", label, dense[:, None], np.exp(volume), "amount")
