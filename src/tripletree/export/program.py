"""Program: a tree as arrays of its leaves alone, which is all that C, Python and ONNX need to act like it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import Attribute, read_attribute, targets_of
from tripletree.checks import check_choice
from tripletree.errors import ParameterError
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.leaves.linear import LinearLeaves, node_means
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]

LEAF_MODELS = ("mean", "linear")
TRIALS = 96
"""States that an exported program is tested on, by itself."""
CLOSE = 1e-12
"""How far its numbers may be off: absolute for those below 1, else relative."""


class Part(NamedTuple):
    """Something that a program predicts, and where in the table of targets it is.

    Attributes
    ----------
    kind : {"action", "value", "derivative"}
        What it is.
    first, last : int
        Its columns, from ``first`` to before ``last``.
    names, units : tuples of str
        What each column is called, and its unit; empty units for the scores of labels.
    labels : tuple of str
        The labels of a discrete action, whose columns are scores; empty for numbers.
    """

    kind: str
    first: int
    last: int
    names: tuple[str, ...]
    units: tuple[str, ...]
    labels: tuple[str, ...]


class Terms(NamedTuple):
    """The slopes that are not 0: those of row ``leaf * targets + target`` are ``begin[row]`` to ``begin[row + 1]``."""

    begin: I64
    feature: I64
    slope: F32


class Slopes(NamedTuple):
    """What linear leaves add to their centres.

    Attributes
    ----------
    slope : float32 array of shape (leaves, targets, features)
        How much more for each unit of a feature.
    origin : float64 array of shape (leaves, features)
        Where that starts from.
    low, high : float32 arrays of shape (leaves, targets)
        Predictions are cut to these.
    """

    slope: F32
    origin: F64
    low: F32
    high: F32

    def terms(self) -> Terms:
        """Return the slopes that are not 0; most are, and programs leave them out."""
        row, feature = np.nonzero(self.slope.reshape(-1, self.slope.shape[2]))
        return Terms(np.searchsorted(row, np.arange(self.low.size + 1)), feature, self.slope[self.slope != 0])


@dataclass(frozen=True, eq=False)
class Program:
    """A tree and what its leaves predict.

    Attributes
    ----------
    schema : Schema
        Names and units.
    feature, threshold : arrays of shape (splits,)
        What each split compares: a state goes right where ``state[feature] >= threshold``.
    child : int array of shape (splits, 2)
        What is on the left and on the right: a split, or ``-1 - leaf``.
    parts : tuple of Part
        What is predicted.
    centre : float64 array of shape (leaves, targets)
        What each leaf predicts: the mean, or the centre of its linear model.
    slopes : Slopes or None
        The rest of linear models; None where all slopes are 0.
    """

    schema: Schema
    feature: I64
    threshold: F64
    child: I64
    parts: tuple[Part, ...]
    centre: F64
    slopes: Slopes | None = None

    @property
    def start(self) -> int:
        """Where the walk begins: at the first split, or in the only leaf."""
        return 0 if len(self.feature) else -1


def program(fitted: Fitted, *, about: Any = None, leaf_model: Any = None) -> Program:
    """Return a tree as a program.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str or None
        What it predicts, as in `read_attribute`; None: all that it knows.
    leaf_model : {"mean", "linear"} or None
        What its leaves predict; None: as the tree itself.
    """
    linear = linear_leaves(fitted, leaf_model)
    tree, leaves = fitted.tree, fitted.tree.leaf_nodes
    parts, columns = list[Part](), list[int]()
    for attribute in wanted(fitted, about):
        first, names, units = len(columns), attribute.names, attribute.units
        columns += targets_of(fitted, attribute)
        if attribute.labels:
            names, units = attribute.labels, ("",) * len(attribute.labels)
        parts.append(Part(attribute.kind, first, len(columns), names, units, attribute.labels))
    centre, slopes = node_means(fitted.leaves)[:, columns], None
    if linear is not None:
        here, origin = linear.at(leaves), np.asarray(fitted.leaves.state_mean)
        centre, low, high = here.centre[:, columns], here.low[:, columns], here.high[:, columns]
        slopes = Slopes(here.slope[:, columns], origin, low, high)
        if not slopes.slope.any():
            centre, slopes = np.clip(centre, low, high), None
    inner = tree.split_order
    number = -1 - tree.leaf_number.astype(np.int64)
    number[inner] = np.arange(len(inner))
    return Program(
        schema=fitted.schema,
        feature=tree.feature[inner].astype(np.int64),
        threshold=tree.threshold[inner],
        child=number[tree.left[inner, None] + np.arange(2)],
        parts=tuple(parts),
        centre=centre,
        slopes=slopes,
    )


def wanted(fitted: Fitted, about: Any) -> list[Attribute]:
    """Return the attributes that an export is about; all that the tree knows for None."""
    if about is not None:
        return [read_attribute(fitted, about)]
    known = (fitted.schema.has_action, fitted.schema.has_reward, fitted.attributes.derivative_mean is not None)
    return [read_attribute(fitted, name) for name, knows in zip(ATTRIBUTES, known, strict=True) if knows]


def linear_leaves(fitted: Fitted, leaf_model: Any) -> LinearLeaves | None:
    """Return the linear models of a tree's nodes where they are wanted, None where means are."""
    check_choice(leaf_model, "leaf_model", LEAF_MODELS, none="as the tree predicts")
    if (leaf_model or fitted.options.get("leaf_model", "mean")) != "linear":
        return None
    if fitted.linear is None or fitted.attributes.state_mean is None:
        raise ParameterError(
            Message(
                "This tree has no linear leaves. Export it with {}, or grow it again with {}.",
                Option("leaf_model", "mean"),
                Option("leaf_model", "linear"),
            )
        )
    return fitted.linear


class Trials(NamedTuple):
    """States, and what the tree says there: leaves, and a row of targets for each."""

    states: F64
    leaf: npt.NDArray[np.int32]
    told: F64


def trials(fitted: Fitted, *, about: Any = None, leaf_model: Any = None, number: int = TRIALS) -> Trials:
    """Return states on which an exported program can test itself: anywhere, on thresholds, and right next to them."""
    rng = np.random.default_rng(0)
    # A quarter of the range beyond its ends, in a way that does not overflow early.
    share = rng.uniform(-0.25, 1.25, (number, len(fitted.feature_min)))
    with np.errstate(over="ignore"):
        states = np.nan_to_num(fitted.feature_min * (1 - share) + fitted.feature_max * share)
    inner = fitted.tree.split_order
    if len(inner):
        split = rng.choice(inner, number)
        edge = fitted.tree.threshold[split]
        below, above = np.nextafter(edge, -np.inf), np.nextafter(edge, np.inf)
        rows, columns = np.arange(number), fitted.tree.feature[split]
        states[rows, columns] = np.choose(rows % 4, [edge, below, above, states[rows, columns]])
    leaf = fitted.tree.apply(states)
    model = "mean" if linear_leaves(fitted, leaf_model) is None else "linear"
    told = replace(fitted, options={**fitted.options, "leaf_model": model}).told(states, leaf)
    columns = [column for attribute in wanted(fitted, about) for column in targets_of(fitted, attribute)]
    return Trials(states, leaf, told[:, columns])


def in_lines(literals: Iterable[str], indent: str = "    ", each: int = 6) -> str:
    """Return literals with commas, a few on each line."""
    words = list(literals)
    return "\n".join(f"{indent}{', '.join(words[k : k + each])}," for k in range(0, len(words), each))
