"""Compare weights: the losses of one tree for every theta on the simplex (paper, Appendix A)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.weights import Weights
from tripletree.checks import Rule, check_whole, is_integer
from tripletree.errors import ParameterError, TripleTreeWarning
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema, judge
from tripletree.model.fit import available_cores, describe_grown, grow_settled, truncation_notes
from tripletree.text import Message, Option
from tripletree.tree.grow import encode
from tripletree.tree.weights import weigh

F64 = npt.NDArray[np.float64]
MOST_TREES = 5_151
"""Those of 100 steps; a picture cannot show more."""


def simplex(steps: int) -> F64:
    """Return all triples of multiples of 1 / steps that add up to 1, shape (points, 3)."""
    return np.array([(a, b, steps - a - b) for a in range(steps + 1) for b in range(steps + 1 - a)]) / steps


def compare_weights(
    log: Log,
    validation: Log | None,
    leaves: Sequence[int],
    steps: int,
    progress: Callable[[int, int], None] | None,
    parameters: Mapping[str, Any],
) -> Weights:
    """Return the losses of a tree for each theta on the simplex; one growth gives those of all sizes.

    Parameters
    ----------
    log, validation : Log
        What to grow on, and what to judge on; None: the training log.
    leaves : sequence of int
        Leaf counts; a tree that stops growing before counts as it is.
    steps : int
        Steps along each side of the simplex; at most 100.
    progress : function of (trees so far, all), or None
        Called after each tree.
    parameters : mapping
        All parameters of TripleTree, checked.
    """
    sizes = _read_sizes(leaves)
    check_whole(steps, "steps", 1, example=5)
    trees = (int(steps) + 1) * (int(steps) + 2) // 2
    if trees > MOST_TREES:
        raise ParameterError(
            Message(
                "{} would grow {:,} trees; the most is {:,}. Try {} for 21 trees, or {} for 66.",
                Option("steps", int(steps)),
                trees,
                MOST_TREES,
                Option("steps", 5),
                Option("steps", 10),
            )
        )
    if validation is not None:
        check_same_schema(log.schema, validation, "validation log")
    threads = parameters["threads"] or available_cores()
    weighing = weigh(log.weights)
    codes = encode(log, parameters["mode"], parameters["bins"], threads, weighing)
    grid = simplex(int(steps))
    ratio = np.empty((len(sizes), len(grid), 3))
    for done, theta in enumerate(grid):
        wish = {**parameters, "theta": theta.tolist(), "max_leaves": int(sizes[-1])}
        fitted = describe_grown(log, grow_settled(log, codes, wish, threads, weighing), wish)
        curve = fitted.curve_training if validation is None else judge(fitted, validation, threads)
        alone = np.where(curve[0] > 0, curve[0], np.nan)
        ratio[:, done] = curve[np.minimum(sizes, len(curve)) - 1] / alone
        if progress is not None:
            progress(done + 1, len(grid))
    if np.isnan(ratio).all(axis=2).any():
        raise ParameterError("There is nothing to compare: a tree with one leaf makes no errors on this log.")
    for note in truncation_notes(log, parameters):
        warnings.warn(note, TripleTreeWarning, stacklevel=3)
    return Weights(grid, sizes, ratio, validation is not None)


def _read_sizes(leaves: Any) -> npt.NDArray[np.int64]:
    sizes = [leaves] if is_integer(leaves) else list(leaves) if isinstance(leaves, Sequence | np.ndarray) else []
    good = bool(sizes) and all(is_integer(size) and size >= 2 for size in sizes)
    Rule(lambda _: good, "whole numbers of at least 2", (10, 50, 200)).check(leaves, "leaves")
    return np.array(sorted({int(size) for size in sizes}), np.int64)
