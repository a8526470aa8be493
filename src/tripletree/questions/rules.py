"""Rules: the whole tree as rules about one attribute."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.answers.rules import Rule, Rules
from tripletree.asking.attribute import read_attribute
from tripletree.asking.levels import AUTO, Classes, Wanted, log_classes, read_levels
from tripletree.checks import check_whole
from tripletree.language.conditions import clauses
from tripletree.leaves.merge import Merged, merge
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema, unseen
from tripletree.model.fitted import Fitted
from tripletree.questions.importance import removed

I64 = npt.NDArray[np.int64]


def rules(
    fitted: Fitted,
    *,
    about: str = "action",
    levels: Wanted = AUTO,
    log: Log | None = None,
    most: int | None = None,
    threads: int = 1,
) -> Rules:
    """Return the whole tree as rules.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str
        The attribute.
    levels : "auto", int, sequence or mapping
        Levels of an attribute that is a number, as in :func:`tripletree.asking.levels.read_levels`.
    log : Log or None
        Where to take coverage from, and from its unseen episodes accuracy; None: coverage of the training log.
    most : int or None
        How many rules of each outcome to show; None: all.
    threads : int
        Threads that find the leaf of each sample.
    """
    check_whole(most, "most", 1, example=5, none="all")
    attribute = read_attribute(fitted, about)
    classes = read_levels(fitted, attribute, levels)
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    gain = np.bincount(
        fitted.tree.feature[fitted.tree.split_order],
        removed(fitted, attribute)[fitted.tree.split_order],
        len(fitted.schema.features),
    )
    order = np.argsort(gain, kind="stable").tolist()
    found = merge(fitted.tree, classes.leaves, at.count[nodes], order)
    count, judged = at.count[nodes], None
    if log is not None:
        check_same_schema(fitted.schema, log, "log")
        count, _ = _judged(fitted, classes, log, threads)
        fresh = unseen(fitted, log)
        # How often a rule holds where it was made says nothing about how often it holds elsewhere.
        judged = None if fresh is None else _judged(fitted, classes, fresh, threads)
    made = _rules(fitted, classes, found, count, judged, order[::-1])
    return Rules(
        about=about,
        rules=made,
        most=len(made) if most is None else int(most),
        features=fitted.schema.feature_names,
        judged="nothing" if judged is None else "unseen",
        schema=fitted.schema,
    )


def _rules(
    fitted: Fitted, classes: Classes, found: Merged, count: I64, judged: tuple[I64, I64] | None, order: list[int]
) -> tuple[Rule, ...]:
    samples = np.bincount(found.box, count, len(found.lower)).astype(np.int64)
    # Of the unseen samples that fall under each rule: how many there are, and how many are as it says.
    met, hits = (np.bincount(found.box, one, len(found.lower)) for one in judged or (0 * count, 0 * count))
    of_class = np.bincount(found.classes, samples, len(classes.names))
    ranked = np.lexsort((np.arange(len(samples)), -samples, found.classes, -of_class[found.classes]))
    ends = np.cumsum(np.bincount(found.box, minlength=len(samples)))[:-1]
    leaves = np.split(np.argsort(found.box, kind="stable"), ends)
    return tuple(
        Rule(
            outcome=classes.names[found.classes[box]],
            when=tuple(clauses(fitted.schema, found.lower[box].tolist(), found.upper[box].tolist(), order)),
            lower=found.lower[box],
            upper=found.upper[box],
            samples=int(samples[box]),
            coverage=float(samples[box] / count.sum()),
            tested=int(met[box]),
            accuracy=float(hits[box] / met[box]) if met[box] else None,
            leaves=tuple(leaves[box].tolist()),
        )
        for box in ranked
    )


def _judged(fitted: Fitted, classes: Classes, log: Log, threads: int) -> tuple[I64, I64]:
    """Return how many samples of a log fall in each leaf, and how many of them are as the leaf predicts."""
    leaf = fitted.tree.apply(log.states, threads)
    shown = log_classes(fitted, classes, log)
    seen = shown >= 0
    if classes.about.kind != "derivative":
        seen[:] = True  # a label that the tree does not know is wrong, not unseen
    right = seen & (shown == classes.leaves[leaf])
    size = fitted.tree.n_leaves
    return np.bincount(leaf[seen], minlength=size), np.bincount(leaf[right], minlength=size)
