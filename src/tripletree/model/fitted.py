"""Fitted: everything a grown tree knows, frozen; the input of every question and the content of a model file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tripletree._kernel import Policy
from tripletree.checks import is_number
from tripletree.graph.transitions import Transitions
from tripletree.leaves.attributes import Attributes
from tripletree.leaves.boxes import bounds
from tripletree.leaves.entry import EntryPoints, entry_points
from tripletree.leaves.linear import LinearLeaves, node_means, node_spreads
from tripletree.log.log import Log
from tripletree.log.schema import Schema
from tripletree.model.track import Track
from tripletree.tree.costs import cost_matrix
from tripletree.tree.structure import Tree


class Judged(NamedTuple):
    """How a tree does on episodes that it has not seen.

    Attributes
    ----------
    losses, constant : three floats
        Action, value and derivative loss of the tree, and of the same tree with one leaf: what can be known without
        looking at the state.
    margin : three floats
        Half width of a 95 % interval around :attr:`explained`; infinite where the tree does not beat a single leaf
        episode by episode, beyond chance.
    episodes, samples : int
        What was judged.
    """

    losses: tuple[float, ...]
    constant: tuple[float, ...]
    margin: tuple[float, ...]
    episodes: int
    samples: int

    @property
    def explained(self) -> list[float | None]:
        """Which share of each loss looking at the state takes away; None where there is nothing to lose.

        0 where that is no more than chance.
        """
        found: list[float | None] = []
        for loss, whole, margin in zip(self.losses, self.constant, self.margin, strict=True):
            share = 1 - loss / whole if whole > 0 else None
            found.append(0.0 if share is not None and (share <= 0 or margin == float("inf")) else share)
        return found


@dataclass(frozen=True, eq=False)
class Fitted:
    """A grown tree with its schema, statistics and provenance; all arrays are read-only.

    Attributes
    ----------
    schema : Schema
        Names, units and kinds of features and actions.
    tree : Tree
        The structure.
    attributes : Attributes
        What each node predicts.
    feature_min, feature_max : float64 arrays of shape (features,)
        Range of each feature over the training log.
    action_scale : float64 array of shape (dimensions,), or None
        Standard deviation of each action dimension over the training log (continuous actions only).
    derivative_scale : float64 array of shape (features,)
        Standard deviation of each derivative over the training log; 0 where constant or unknown.
    curve_training, curve_validation : float64 arrays of shape (leaf counts, 3), or None
        Action, value and derivative loss with 1, 2, ... leaves, as far as growth went (which may be further than the
        size kept).
    options : dict
        The parameters of the fit (JSON types only).
    provenance : dict
        Versions, log hash, counts (JSON types only).
    transitions : Transitions or None
        How the training log goes from leaf to leaf; None where it follows from the track, with ``keep="nothing"``, and
        in a truncated tree. See `transitions_on`.
    training_episodes, validation_episodes : uint64 arrays, or None
        Hashes of the episodes that it was grown on, and of those that chose its size (see ``log.identity``); None in
        files of formats before 1.2, and when there was no validation log.
    judged : Judged or None
        How the tree, or one grown just like it, did on unseen episodes; None where nobody asked.
    linear : LinearLeaves or None
        A linear model of each target at every node; None in files of formats before 1.4.
    track : Track or None
        The states of the training log's episodes, or of a sample of them; None unless ``keep="track"``.
    """

    schema: Schema
    tree: Tree
    attributes: Attributes
    feature_min: npt.NDArray[np.float64]
    feature_max: npt.NDArray[np.float64]
    action_scale: npt.NDArray[np.float64] | None
    derivative_scale: npt.NDArray[np.float64]
    curve_training: npt.NDArray[np.float64]
    curve_validation: npt.NDArray[np.float64] | None
    options: dict[str, Any]
    provenance: dict[str, Any]
    transitions: Transitions | None = None
    training_episodes: npt.NDArray[np.uint64] | None = None
    validation_episodes: npt.NDArray[np.uint64] | None = None
    judged: Judged | None = None
    track: Track | None = None
    linear: LinearLeaves | None = None

    def __post_init__(self) -> None:
        for part in (self, self.tree, self.attributes, self.linear):
            for value in () if part is None else vars(part).values():
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)

    def truncate(self, n_leaves: int) -> Fitted:
        """Return the tree as it was when growth had made ``n_leaves`` leaves; the curves stay whole."""
        if n_leaves == self.tree.n_leaves:
            return self
        return replace(
            self,
            tree=self.tree.truncate(n_leaves),
            attributes=self.attributes.truncate(n_leaves),
            linear=None if self.linear is None else self.linear.truncate(n_leaves),
            transitions=None,
            # Episodes that chose the size had no part in the splits, and they have not chosen this size.
            validation_episodes=None,
            judged=None,
        )

    @cached_property
    def leaves(self) -> Attributes:
        """What each leaf predicts: the rows of :attr:`attributes` at the leaves, counted from left to right."""
        return self.attributes.at(self.tree.leaf_nodes)

    @cached_property
    def costs(self) -> npt.NDArray[np.float64] | None:
        """What each true label (rows) costs where another (columns) is predicted; None where all errors cost 1."""
        return cost_matrix(self.options.get("costs"), self.schema.action.labels)

    @property
    def model(self) -> LinearLeaves | None:
        """The linear models that predictions come from; None where they come from the means of the leaves."""
        return self.linear if self.options["leaf_model"] == "linear" else None

    @cached_property
    def second(self) -> Policy | None:
        """The linear models in compiled form, whether or not predictions come from them; None where there are none."""
        if self.linear is None or self.attributes.state_mean is None:
            return None
        return self.linear.asked(self.tree, self.attributes.state_mean)

    @cached_property
    def targets(self) -> dict[str, slice]:
        """Which columns of `told` are the action (a score for each label, or its dimensions), value and derivative."""
        action = len(self.schema.action.labels) or len(self.schema.action.names)
        end = action + 1 + (0 if self.attributes.derivative_mean is None else len(self.schema.features))
        return {"action": slice(0, action), "value": slice(action, action + 1), "derivative": slice(action + 1, end)}

    def told(
        self, states: npt.NDArray[np.float64], leaf: npt.NDArray[np.int32], threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Return what the tree predicts in each state, whose leaf is known: shape (states, targets), see `targets`."""
        node = self.tree.leaf_nodes[leaf]
        if self.model is None or self.second is None:
            return node_means(self.leaves)[leaf]
        return self.second.many(states, node.astype(np.int32), threads)

    @cached_property
    def spread(self) -> npt.NDArray[np.float64]:
        """How far each leaf's predictions are off, shape (leaves, targets).

        Linear models: in episodes that were left out; means: the standard deviation of the leaf's samples.
        """
        if self.model is not None:
            return self.model.spread[self.tree.leaf_nodes].astype(np.float64)
        return node_spreads(self.leaves)

    @cached_property
    def varies(self) -> tuple[bool, ...]:
        """Whether action, value and derivative differ at all in the training log: else there is nothing to say."""
        return tuple((self.attributes.impurity[0] > 0).tolist())

    @cached_property
    def bounds(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Lower and upper bounds of the leaves, shape (leaves, features); infinite where no split made one."""
        lower, upper = bounds(self.tree, len(self.schema.features))
        lower.setflags(write=False)
        upper.setflags(write=False)
        return lower, upper

    @cached_property
    def memory(self) -> dict[str, Any]:
        """What questions work out once and keep, by name; all of it follows from the tree."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        # What was worked out follows from the rest, and what hangs on a log cannot be sent to another process.
        return {name: value for name, value in vars(self).items() if name != "memory"}

    def recall(self, log: Log, name: str, work: Callable[[], Any]) -> Any:
        """Return what follows from the tree and a log: worked out once, and kept for as long as the log lives."""
        logs: WeakKeyDictionary[Log, dict[str, Any]] = self.memory.setdefault("logs", WeakKeyDictionary())
        known = logs.setdefault(log, {})
        if name not in known:
            known[name] = work()
        return known[name]

    @cached_property
    def span(self) -> npt.NDArray[np.float64]:
        """Range of each feature over the training log, 1 where it is constant: the scale of distances."""
        width = self.feature_max - self.feature_min
        return np.where(width > 0, width, 1.0)

    def outside(self, states: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Return which states, of shape (..., features), lie outside the training log's range in some feature."""
        return np.asarray(((states < self.feature_min) | (states > self.feature_max)).any(axis=-1))

    @cached_property
    def limits(self) -> npt.NDArray[np.float64]:
        """Smallest and largest value of each feature over the training log, shape (2, features)."""
        limits = np.stack([self.feature_min, self.feature_max])
        limits.setflags(write=False)
        return limits

    @cached_property
    def whole(self) -> npt.NDArray[np.bool_]:
        """Which features hold whole numbers only."""
        return np.array([feature.kind in ("binary", "integer") for feature in self.schema.features])

    @cached_property
    def medians(self) -> npt.NDArray[np.float64] | None:
        """The middle value of each feature over the training log; None where the model does not know it."""
        known = self.provenance.get("medians")
        # A model file may be a stranger's, and what it says about its origin is not checked when it is read.
        if not isinstance(known, list) or len(known) != len(self.schema.features) or not all(map(is_number, known)):
            return None
        return np.clip(np.array(known, np.float64), self.feature_min, self.feature_max)

    @cached_property
    def entry_points(self) -> EntryPoints:
        """Where states land that must enter a leaf."""
        return entry_points(*self.bounds, self.feature_min, self.feature_max, self.span, self.whole)
