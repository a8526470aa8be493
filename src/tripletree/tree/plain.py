"""A tree on any numbers: grown on columns of targets over columns of inputs, whatever these are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log
from tripletree.log.schema import Action, Feature, Schema
from tripletree.tree.grow import encode, grow
from tripletree.tree.structure import Tree
from tripletree.tree.targets import make_targets

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
    rows, width = len(inputs), targets.shape[1]
    schema = Schema(
        tuple(Feature(f"x{f}") for f in range(inputs.shape[1])),
        Action("continuous", tuple(f"y{f}" for f in range(width)), units=("",) * width),
    )
    # Growth knows logs: this is one whose actions are the targets.
    log = Log(
        inputs,
        targets,
        np.zeros(rows),
        np.array([0, rows]),
        np.full((1, inputs.shape[1]), np.nan),
        np.zeros(1, np.uint8),
        np.zeros(1, np.int64),
        schema,
    )
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


def nodes_at(tree: Tree, node: I64, n_leaves: int) -> I64:
    """Return the leaf, from left to right, that rows were in when the tree had ``n_leaves`` leaves."""
    keep = 2 * n_leaves - 1
    ancestor = np.arange(tree.n_nodes)
    # Parents come before their children.
    for number in range(keep, tree.n_nodes):
        ancestor[number] = ancestor[tree.parent[number]]
    return tree.truncate(n_leaves).leaf_number[ancestor[node]].astype(np.int64)
