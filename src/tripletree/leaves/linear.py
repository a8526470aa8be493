"""Linear leaves: in every node a linear model of each target beside its mean, as strong as unseen episodes bear out."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.leaves.attributes import Attributes
from tripletree.leaves.sums import kernel_columns
from tripletree.log.log import Log
from tripletree.tree.columns import Columns, action_columns, derivative_columns, value_column
from tripletree.tree.structure import Tree
from tripletree.tree.targets import Scales
from tripletree.tree.weights import Weighing

F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]

MOST_FEATURES = 64
"""With more features than this no linear models are made: their cost grows with the third power."""
FOLDS = 3
"""Parts of the log, of whole episodes each, that are left out in turn."""
PENALTIES = (1.0, 0.03, 0.001)
"""Strengths of the ridge that compete with each other and with the plain mean, as shares of a node's samples."""
LARGEST = 1e38
"""What fits single precision, as in the kernel: a spread beyond it is cut off there."""


@dataclass(frozen=True, eq=False)
class LinearLeaves:
    """A linear model at every node, inner nodes included, so that a smaller tree is a prefix.

    Targets are the columns of the action (a score for each label of a discrete one), the value, and the derivative of
    each feature where the log knows any. A node predicts ``centre + slope (state - mean state)``, but never beyond what
    its own samples showed, from ``low`` to ``high``. The root has no slopes: a tree of one leaf is the yardstick.

    Attributes
    ----------
    centre : float64 array of shape (nodes, targets)
        What the node predicts at the mean state of its samples.
    slope : float32 array of shape (nodes, targets, features)
        How much more for each unit of a feature; 0 where the mean does better in episodes that were left out.
    low, high : float32 arrays of shape (nodes, targets)
        The range of the node's own samples.
    spread : float32 array of shape (nodes, targets)
        Root mean square error in the episodes that were left out; the standard deviation where that cannot be told.
    full : float32 array of shape (nodes, targets), or None
        The same for models with all features, where those here may use only a few.
    """

    centre: F64
    slope: F32
    low: F32
    high: F32
    spread: F32
    full: F32 | None = None

    def at(self, nodes: Any) -> LinearLeaves:
        """Return the models of some nodes only."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        parts: dict[str, Any] = {name: None if part is None else part[nodes] for name, part in found.items()}
        return LinearLeaves(**parts)

    def truncate(self, n_leaves: int) -> LinearLeaves:
        """Return the models of the tree as it was with ``n_leaves`` leaves."""
        return self.at(slice(2 * n_leaves - 1))

    def asked(self, tree: Tree, state_mean: F64, targets: slice = slice(None)) -> _kernel.Policy:
        """Return the models of some targets in compiled form, to ask them many times."""
        models: list[Any] = [
            np.ascontiguousarray(part[:, targets]) for part in (self.centre, self.slope, self.low, self.high)
        ]
        return _kernel.Policy(tree.feature, tree.threshold, tree.left, state_mean, *models)


def fit_linear(
    tree: Tree,
    node: npt.NDArray[np.int32],
    log: Log,
    values: F64,
    attributes: Attributes,
    scales: Scales,
    span: F64,
    most: int | None,
    threads: int,
    weighing: Weighing | None = None,
) -> tuple[LinearLeaves, F64]:
    """Return a ridge regression of each target on the state, at every node, and its squared errors.

    At each node features count in units of their standard deviation there. The strength of the ridge, the plain mean
    included, is the one with the least squared error on whole episodes that were left out. A discrete action has a
    score for each label (the 0/1 column), and one strength for all of them.

    Parameters
    ----------
    tree, node, log, values, attributes, scales
        As in :func:`tripletree.leaves.attributes.describe`, and what it returned.
    span : float64 array of shape (features,)
        Range of each feature over the log, 1 where constant.
    most : int or None
        Features that one model may use, chosen greedily; None for all.
    threads : int
        Threads to use: the models are the same for any number.
    weighing : Weighing or None
        Which samples count, and how much; None: all, and the same.

    Returns
    -------
    LinearLeaves
        The models.
    float64 array of shape (nodes, targets)
        Their summed squared errors over each node's own samples, before they are held within range, in units of each
        target's variance over the log.
    """
    labels = len(log.schema.action.labels)
    # That of the values themselves: bootstrapped ones have settled once more since the scales were made.
    sigma = [scales.action.std, attributes.value_std[:1]]
    if attributes.derivative_mean is not None:
        sigma.append(scales.derivative.std)
    widths, n_plain = np.concatenate(sigma), len(sigma[0]) + 1
    # A feature whose whole range is so small that 1 / range is not a number counts as constant.
    wide = span >= np.finfo(np.float64).tiny
    weighing = weighing or Weighing()
    means, fold = node_means(attributes), weighing.take(folds_of(log))

    def fitted(at_most: int) -> Any:
        return _kernel.linear_leaves(
            **kernel_columns(log, values, weighing),
            node=weighing.take(node),
            fold=fold,
            left=tree.left,
            origin=np.asarray(attributes.state_mean),
            mean=means,
            per_span=np.where(wide, 1.0 / np.where(wide, span, 1.0), 0.0),
            sigma=widths,
            penalty=np.array(PENALTIES),
            n_labels=labels,
            folds=FOLDS,
            most=at_most,
            threads=threads,
        )

    few = most is not None and most < log.n_features
    centre, slope, low, high, spread, squares = fitted(most or 0 if few else 0)
    # What the short form loses is said, so the long one is measured, too.
    found = LinearLeaves(centre, slope, low, high, spread, fitted(0)[4] if few else None)
    found.slope[0] = 0.0
    found.centre[0] = means[0]
    whole = node_spreads(attributes.at(slice(1)))[0]
    for part in (found.spread, found.full):
        if part is not None:
            part[0] = np.minimum(whole, LARGEST)
    known = np.repeat([attributes.mass[0], attributes.mass_derivative[0]], [n_plain, len(whole) - n_plain])
    with np.errstate(divide="ignore", invalid="ignore"):
        squares[0] = np.where(widths > 0, known * (whole / widths) ** 2, 0.0)
    return found, squares


def node_means(attributes: Attributes) -> F64:
    """Return the mean of each target at every node, shape (nodes, targets)."""
    action = np.asarray(attributes.action_mean if attributes.shares is None else attributes.shares)
    rest = () if attributes.derivative_mean is None else (attributes.derivative_mean,)
    return np.hstack([action, attributes.value_mean[:, None], *rest])


def node_spreads(attributes: Attributes) -> F64:
    """Return the standard deviation of each target at every node, shape (nodes, targets)."""
    if attributes.shares is not None:
        action = np.sqrt(attributes.shares * (1 - attributes.shares))
    else:
        action = np.asarray(attributes.action_std)
    rest = () if attributes.derivative_std is None else (attributes.derivative_std,)
    return np.hstack([action, attributes.value_std[:, None], *rest])


def target_matrix(log: Log, values: F64, attributes: Attributes, codes: npt.NDArray[np.int32] | None = None) -> F64:
    """Return the targets of a log, shape (samples, targets); a missing derivative is NaN.

    ``codes`` are a log's discrete actions as numbers of the tree's labels, where it is not the training log; one that
    the tree does not know has no label.
    """
    parts: list[Columns] = [action_columns(log) if codes is None else _label_columns(codes, attributes)]
    parts.append(value_column(values))
    if attributes.derivative_mean is not None:
        parts.append(derivative_columns(log))
    matrix = np.empty((log.n_samples, sum(part.n_columns for part in parts)))
    begin = 0
    for part in parts:
        for rows, block in part.blocks():
            matrix[rows, begin : begin + part.n_columns] = block.T
        begin += part.n_columns
    return matrix


def _label_columns(codes: npt.NDArray[np.int32], attributes: Attributes) -> Columns:
    labels = np.arange(np.asarray(attributes.action_count).shape[1], dtype=np.int32)[:, None]
    return Columns(len(codes), len(labels), lambda a, b: (labels == codes[a:b]).astype(np.float64))


def folds_of(log: Log) -> npt.NDArray[np.uint8]:
    """Return the fold of each sample: whole episodes (or groups of them) stay together.

    A log with fewer of these than folds is divided into as many stretches of steps.
    """
    groups = int(log.units.max()) + 1
    if groups < FOLDS:
        return (np.arange(log.n_samples) * FOLDS // log.n_samples).astype(np.uint8)
    # In an order that has nothing to do with that of the recording, but is the same each time.
    fold = (np.random.default_rng(0).permutation(groups) % FOLDS).astype(np.uint8)
    return np.repeat(fold[log.units], np.diff(log.starts))
