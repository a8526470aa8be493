"""Opinion: does a second model of the same log agree that a foil holds? By default the linear models of its nodes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree._kernel import Policy
from tripletree.asking.attribute import Attribute, targets_of
from tripletree.asking.foils import Condition, Foil
from tripletree.errors import TripleTreeWarning
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema, in_labels
from tripletree.model.fit import fit
from tripletree.model.fitted import Fitted

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

ABOVE = 3
"""Nodes above a leaf whose linear models are asked as well: they have seen both sides of the borders in between."""
TREES = 8
"""Trees of the bag that is grown where the log is given."""
LEAD = 0.3
"""By how much the score of a wanted label must exceed those of the others."""
MARGIN, BAG_MARGIN = 0.02, 0.05
"""How far beyond a border a state goes where a second model, or a bag, is asked: a share of the feature's range."""


@dataclass(frozen=True, eq=False)
class Demand:
    """What a second model must say for one condition of a foil to hold beyond its own error.

    Attributes
    ----------
    condition : Condition
        The condition.
    columns : slice
        The targets that it is about: one number, or the scores of all labels.
    wanted : bool array of shape (labels,), or None
        The labels that would do.
    least, below : float64 arrays of shape (leaves,)
        The numbers that would do in each leaf, from ``least`` to less than ``below``; of labels, ``least`` is the lead
        that the best of the wanted scores must have over all others.
    """

    condition: Condition
    columns: slice
    wanted: Mask | None
    least: F64
    below: F64

    def met(self, told: F64, leaves: Any) -> Mask:
        """Return where what was told, shape (points, targets), is enough."""
        if self.wanted is None:
            number, least, below = told[:, self.columns.start], self.least[leaves], self.below[leaves]
            return np.asarray(((number >= least) & (number < below)) | ((least == below) & (number == least)))
        return np.asarray(self._lead(told) >= self.least[leaves])

    def held(self, told: F64) -> Mask:
        """Return where what was told is as wanted, by however little."""
        if self.wanted is None:
            return self.condition.interval.holds(told[:, self.columns.start])
        return np.asarray(self._lead(told) >= 0)

    def _lead(self, told: F64) -> F64:
        said = told[:, self.columns]
        lead: F64 = said[:, self.wanted].max(axis=1) - said[:, ~np.asarray(self.wanted)].max(axis=1, initial=-np.inf)
        return lead

    def says(self, told: F64) -> Any:
        """Return what was told about one point: a label, or a number."""
        said = told[self.columns]
        labels = self.condition.attribute.labels
        return labels[int(said.argmax())] if labels else float(said[0])


@dataclass(frozen=True, eq=False)
class Opinion:
    """A second model of a tree's log, asked about a foil.

    Attributes
    ----------
    fitted : Fitted
        The tree.
    demands : tuple of Demand
        One for each condition of the foil.
    bag : tuple of Fitted
        Trees grown on other choices of the log's episodes; without any, the linear leaves of the tree itself are asked.
    """

    fitted: Fitted
    demands: tuple[Demand, ...]
    bag: tuple[Fitted, ...] = ()

    def told(self, points: F64, nodes: I64) -> F64:
        """Return what the second model predicts at points by the models of nodes, shape (points, targets)."""
        points = np.ascontiguousarray(points)
        if self.bag:
            told: F64 = np.mean([one.told(points, one.tree.apply(points)) for one in self.bag], axis=0)
            return told
        # Only what is asked about: of fifty features, their derivatives would be most of the work.
        said = np.zeros((len(points), self.fitted.targets["derivative"].stop))
        for demand in self.demands:
            said[:, demand.columns] = compiled(self.fitted, demand.columns).many(points, nodes.astype(np.int32), 1)
        return said

    def agrees(self, points: F64, leaves: I64) -> Mask:
        """Return at which points the foil holds: by the leaf's model beyond its error, by those above it at all."""
        tree, held = self.fitted.tree, np.ones(len(points), bool)
        told, nodes = self.told(points, tree.leaf_nodes[leaves]), tree.leaf_nodes[leaves]
        for demand in self.demands:
            held &= demand.met(told, leaves)
        for _ in range(0 if self.bag else ABOVE):
            nodes = tree.parent[nodes]
            # The root is the mean of all, which knows nothing of the state.
            asked = np.flatnonzero(held & (nodes > 0))
            nodes = np.maximum(nodes, 0)
            if len(asked):
                above = self.told(points[asked], nodes[asked])
                for demand in self.demands:
                    held[asked] &= demand.held(above)
        return held

    def holds(self, points: F64, leaves: I64) -> Mask:
        """Return at which points the foil holds as the leaf's model predicts, by however little."""
        told = self.told(points, self.fitted.tree.leaf_nodes[leaves])
        return np.asarray(np.all([demand.held(told) for demand in self.demands], axis=0))

    def predicts(self, point: F64, leaf: int) -> tuple[Any, ...]:
        """Return what the leaf's model predicts at one point, for each condition of the foil."""
        told = self.told(point[None], self.fitted.tree.leaf_nodes[[leaf]])[0]
        return tuple(demand.says(told) for demand in self.demands)

    def says(self, point: F64, leaf: int) -> tuple[Any, ...]:
        """Return what the second model predicts at one point, for each condition of the foil.

        Of several models it is the first that objects, so that a reader sees why.
        """
        tree, leaves = self.fitted.tree, np.array([leaf])
        node = tree.leaf_nodes[leaves]
        told = first = self.told(point[None], node)
        objects = not all(demand.met(told, leaves)[0] for demand in self.demands)
        for _ in range(0 if objects or self.bag else ABOVE):
            node = tree.parent[node]
            if node[0] <= 0:
                break
            told = self.told(point[None], node)
            if not all(demand.held(told)[0] for demand in self.demands):
                first = told
                break
        return tuple(demand.says(first[0]) for demand in self.demands)


def compiled(fitted: Fitted, columns: slice) -> Policy:
    """Return the linear models of some targets in compiled form, made once."""
    key = f"models of {columns.start} to {columns.stop}"
    if key not in fitted.memory:
        linear, mean = fitted.linear, fitted.attributes.state_mean
        fitted.memory[key] = linear.asked(fitted.tree, mean, columns)  # type: ignore[union-attr, arg-type]
    found: Policy = fitted.memory[key]
    return found


def has_opinion(fitted: Fitted) -> bool:
    """Return whether a tree has linear leaves to ask; files of early formats have none."""
    return fitted.second is not None


def opinion_of(fitted: Fitted, foil: Foil, log: Log | None) -> Opinion:
    """Return the second model for a foil: a bag of trees grown on ``log``, or the tree's own linear leaves."""
    trees = () if log is None else bag_of(fitted, log)
    return Opinion(fitted, tuple(_demand(fitted, condition) for condition in foil.conditions), trees)


def bag_of(fitted: Fitted, log: Log) -> tuple[Fitted, ...]:
    """Return trees like this one, with linear leaves, each grown on a random choice of the log's episodes."""
    log = in_labels(fitted.schema, log)
    check_same_schema(fitted.schema, log, "log")
    key = f"bag of {log.weighted_fingerprint}"
    if key not in fitted.memory:
        rng, trees = np.random.default_rng(0), []
        options = {
            **fitted.options,
            "max_leaves": fitted.tree.n_leaves,
            "leaf_model": "linear",
            "keep": "nothing",
            "threads": None,
            "progress": None,
        }
        with warnings.catch_warnings():
            # They were said when the tree itself was grown.
            warnings.simplefilter("ignore", TripleTreeWarning)
            for _ in range(TREES):
                chosen = np.unique(rng.integers(log.n_episodes, size=log.n_episodes))
                trees.append(fit(log.select(chosen), None, options))
        fitted.memory[key] = tuple(trees)
    found: tuple[Fitted, ...] = fitted.memory[key]
    return found


def target_of(fitted: Fitted, attribute: Attribute) -> slice:
    """Return the columns of `Fitted.told` that an attribute of one number, or of labels, is about."""
    columns = targets_of(fitted, attribute)
    return slice(columns[0], columns[-1] + 1)


def _demand(fitted: Fitted, condition: Condition) -> Demand:
    columns, leaves = target_of(fitted, condition.attribute), fitted.tree.n_leaves
    if condition.attribute.labels:
        wanted = np.isin(condition.attribute.labels, condition.labels)
        lead = -np.inf if wanted.all() else LEAD
        return Demand(condition, columns, wanted, np.full(leaves, lead), np.full(leaves, np.inf))
    low, high = condition.interval
    linear = fitted.linear
    if linear is None:
        return Demand(condition, columns, None, np.full(leaves, low), np.full(leaves, np.nextafter(high, np.inf)))
    # As far beyond the foil's bounds as the leaf's model errs in unseen episodes, but no further than half of the way
    # to the other bound, or to what the log has at the most: a full throttle cannot be exceeded.
    error = linear.spread[fitted.tree.leaf_nodes, columns.start].astype(np.float64)
    bottom, top = float(linear.low[0, columns.start]), float(linear.high[0, columns.start])
    above, under = max(min(high, top) - low, 0.0) / 2, max(high - max(low, bottom), 0.0) / 2
    least = low + np.minimum(error, above) if np.isfinite(low) else np.full(leaves, low)
    below = high - np.minimum(error, under) if np.isfinite(high) else np.full(leaves, high)
    return Demand(condition, columns, None, least, below)
