"""The surface of the linear leaves on a map of two features: what each leaf predicts, point by point."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import known_attributes, read_attribute
from tripletree.errors import ParameterError
from tripletree.questions.opinion import target_of
from tripletree.scenes.types import Mesh
from tripletree.scenes.view import View
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]

CELLS = 120
"""Cells along each axis, besides those that the borders of leaves make."""


def linear_mesh(view: View, colour: str) -> Mesh:
    """Return an attribute as the linear leaves predict it, on a grid that no border of a leaf runs through.

    Parameters
    ----------
    view : View
        Two features, all others fixed.
    colour : str
        The attribute.
    """
    fitted = view.fitted
    if len(view.axes) != 2 or not view.direct or colour not in known_attributes(fitted):
        raise ParameterError(
            Message(
                "{} shows what the tree predicts on a map of two features with all others fixed. Give {} and {}, and "
                "choose a colour that the tree predicts, such as {}.",
                Option("linear", True),
                Option("y"),
                Option("at", ...),
                Option("colour", "value"),
            )
        )
    if fitted.second is None:
        raise ParameterError(Message("This model has no linear leaves to show; leave out {}.", Option("linear", True)))
    edges = [_edges(view, f) for f in view.axes]
    across, up = ((edge[1:] + edge[:-1]) / 2 for edge in edges)
    states = np.zeros((len(across) * len(up), len(fitted.schema.features)))
    for f, (low, high) in view.limits.items():
        # A feature that is limited to an interval within one leaf stands at its middle, as far as the log goes.
        states[:, f] = (max(low, float(view.boxes.low[f])) + min(high, float(view.boxes.high[f]))) / 2
    states[:, view.axes[0]], states[:, view.axes[1]] = np.repeat(across, len(up)), np.tile(up, len(across))
    node = fitted.tree.leaf_nodes[fitted.tree.apply(states)].astype(np.int32)
    attribute = read_attribute(fitted, colour, "colour", single=True)
    told = fitted.second.many(states, node, 1)[:, target_of(fitted, attribute)]
    values = told.argmax(axis=1).astype(np.float64) if attribute.labels else told[:, 0]
    return Mesh(edges[0], edges[1], values.reshape(len(across), len(up)).T)


def _edges(view: View, f: int) -> F64:
    low, high = float(view.boxes.low[f]), float(view.boxes.high[f])
    borders = np.concatenate([view.boxes.lower[view.leaves, f], view.boxes.upper[view.leaves, f]])
    inside = borders[(borders > low) & (borders < high)]
    return np.unique(np.concatenate([np.linspace(low, high, CELLS + 1), inside]))
