"""A tree on any numbers: grown on columns of targets over columns of inputs, whatever these are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log
from tripletree.log.schema import Action, Feature, Schema
from tripletree.tree.grow import Encoded, encode, grow
from tripletree.tree.structure import Tree
from tripletree.tree.targets import make_targets
from tripletree.tree.weights import weigh

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

BINS = 256


def grow_plain(inputs: F64, targets: F64, max_leaves: int, min_samples_leaf: int) -> tuple[Tree, I64]:
    """Return the tree that predicts the targets best, and the node of the leaf that each row falls in.

    Parameters
    ----------
    inputs : float64 array of shape (rows, features)
        What may be split on.
    targets : float64 array of shape (rows, columns)
        What is to be told apart; every column counts the same, whatever its unit.
    max_leaves, min_samples_leaf : int
        As in :class:`tripletree.TripleTree`.
    """
    rows = len(inputs)
    log = _as_log(inputs, targets)
    tree, node = grow(
        log,
        encode(log, "binned", max(BINS, -(-rows // 2**20)), 1),
        make_targets(log, np.zeros(rows), (1.0, 0.0, 0.0), "sigma"),
        max_leaves=max_leaves,
        max_depth=None,
        min_samples_leaf=min_samples_leaf,
        min_quality=0.0,
        priority="gain",
        thresholds="short",
        threads=1,
        progress=None,
    )
    return tree, node.astype(np.int64)


def grow_marked(
    log: Log, codes: Encoded, marks: F64, weights: F64, max_leaves: int, min_samples_leaf: int
) -> tuple[Tree, I64]:
    """Return the tree that predicts a mark of each step best, as the value would be, and the node of each step.

    Many trees on the same steps with other weights cost little beyond their growth: codes are made once, and only the
    marks are measured.

    Parameters
    ----------
    log : Log
        The steps.
    codes : Encoded
        Their states, encoded.
    marks, weights : float64 arrays of shape (samples,)
        What is to be told apart, and how much each step counts; some count nothing.
    max_leaves, min_samples_leaf : int
        As in :class:`tripletree.TripleTree`.
    """
    weighing = weigh(weights)
    tree, node = grow(
        log,
        codes.take(weighing.rows),
        # Targets are made of a log without anything to measure beside the marks.
        make_targets(_as_log(np.zeros((len(marks), 1)), marks[:, None]), marks, (0.0, 1.0, 0.0), "sigma", weighing),
        max_leaves=max_leaves,
        max_depth=None,
        min_samples_leaf=min_samples_leaf,
        min_quality=0.0,
        priority="gain",
        thresholds="short",
        threads=1,
        progress=None,
        weighing=weighing,
    )
    return tree, node.astype(np.int64)


def _as_log(inputs: F64, targets: F64) -> Log:
    """Return a log of one episode whose states are the inputs, and whose actions are the targets: growth knows logs."""
    rows, width = len(inputs), targets.shape[1]
    schema = Schema(
        tuple(Feature(f"x{f}") for f in range(inputs.shape[1])),
        Action("continuous", tuple(f"y{f}" for f in range(width)), units=("",) * width),
    )
    return Log(
        inputs,
        targets,
        np.zeros(rows),
        np.array([0, rows]),
        np.full((1, inputs.shape[1]), np.nan),
        np.zeros(1, np.uint8),
        np.zeros(1, np.int64),
        schema,
    )


def nodes_at(tree: Tree, node: I64, n_leaves: int) -> I64:
    """Return the leaf, from left to right, that rows were in when the tree had ``n_leaves`` leaves."""
    keep = 2 * n_leaves - 1
    ancestor = np.arange(tree.n_nodes)
    # Parents come before their children.
    for number in range(keep, tree.n_nodes):
        ancestor[number] = ancestor[tree.parent[number]]
    return tree.truncate(n_leaves).leaf_number[ancestor[node]].astype(np.int64)
