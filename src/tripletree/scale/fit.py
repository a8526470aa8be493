"""Fits a tree to a log on disk: the same structure, leaves and transitions as in memory, in passes over a cache."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import TripleTreeWarning
from tripletree.graph.markov import check_markov
from tripletree.graph.moves import Moves
from tripletree.graph.transitions import Transitions, leaves_of
from tripletree.leaves.attributes import Attributes, attributes_of
from tripletree.leaves.losses import training_curve
from tripletree.leaves.sums import LeafSums
from tripletree.log.disk import DiskLog
from tripletree.log.identity import MOST_KEPT, kept_hashes
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema, judge
from tripletree.model.fit import (
    Grown,
    bare,
    describe_grown,
    feature_notes,
    leaf_notes,
    levels_of,
    options,
    score,
    truncation_notes,
)
from tripletree.model.fitted import Fitted
from tripletree.model.track import Track, room
from tripletree.scale import passes
from tripletree.scale.growing import Growing
from tripletree.scale.judging import curve_on
from tripletree.scale.pieces import Work
from tripletree.scale.plan import EPISODES, in_memory, shares_of
from tripletree.scale.session import Session
from tripletree.tree.costs import cost_matrix, named_costs
from tripletree.tree.parts import Model, Rounding
from tripletree.tree.structure import Tree
from tripletree.tree.weights import weigh

F64 = npt.NDArray[np.float64]


def fit_on_disk(
    disk: DiskLog, validation: Log | DiskLog | None, parameters: Mapping[str, Any], costs: Any = None
) -> Fitted:
    """Grow a tree on a log on disk, in histogram mode; arguments as those of `model.fit.fit`."""
    with Session.opened(disk) as session:
        fit = Fit(session, {**parameters, "mode": "histogram"}, costs)
        return fit.run(validation, shares_of(disk)[2])


class Fit:
    """One fit: a log, and how its tree is to be."""

    def __init__(self, session: Session, parameters: Mapping[str, Any], costs: Any) -> None:
        self.session, self.disk, self.seen = session, session.disk, session.seen
        self.parameters = {**parameters, "costs": named_costs(costs, session.seen.schema)}
        self.costs = cost_matrix(self.parameters["costs"], session.seen.schema.action.labels)

    def run(self, validation: Log | DiskLog | None, slots: int) -> Fitted:
        """Do all of it."""
        schema, given = self.seen.schema, self.parameters
        if isinstance(validation, Log):
            check_same_schema(schema, validation, "validation log")
        theta = tuple(map(float, given["theta"]))
        model = Model(schema, (theta[0], theta[1], theta[2]), given["derivative_scale"], self.costs)
        work = self.session.work(float(given["gamma"]))
        self.growing = Growing(self.session, model, given, slots)
        if self.disk.how.sample is not None and self.disk.how.sample < self.session.n_samples:
            tree, work, how = self.growing.grow_on_sample(work)
        else:
            tree, work, how = self.growing.grow_settled(work)
        attributes, moves = self._describe(work, tree, how)
        return self._finish(work, tree, how, attributes, moves, validation)

    def _describe(self, work: Work, tree: Tree, how: Rounding) -> tuple[Attributes, Transitions]:
        size = np.maximum(*map(np.abs, self.seen.states))
        empty = LeafSums.empty(
            self.seen.schema,
            how.scales,
            size,
            tree.n_leaves,
            value_size=self.growing.value_size,
            weighted=how.weighted,
        )
        sums: LeafSums | None = None
        moves: Moves | None = None
        work = self.session.moving(work)
        for part, more in self.session.each("describing leaves", passes.describe_leaves, (work, tree, empty)):
            if sums is None or moves is None:
                sums, moves = part, more
            else:
                sums.merge(part)
                moves.merge(more)
        if sums is None or moves is None:
            raise ValueError("no pieces")
        counted = self.session.finished(moves, tree)
        scale = self.parameters["derivative_scale"]
        return attributes_of(tree, sums, how.scales, scale, self.costs), counted

    def _finish(
        self,
        work: Work,
        tree: Tree,
        how: Rounding,
        attributes: Attributes,
        moves: Transitions,
        validation: Log | DiskLog | None,
    ) -> Fitted:
        given, seen, n = self.parameters, self.seen, self.session.n_samples
        most = max(EPISODES, room(tree, self.disk.n_features))
        some, values = self.session.gathered(work, in_memory(self.disk, most))
        threads = self.session.workers.number
        node = tree.leaf_nodes[tree.apply(some.states, threads)].astype(np.int32)
        weighing = weigh(some.weights)
        grown = Grown(tree, node, how.scales, how.notes, values, weighing)
        fitted = describe_grown(some, grown, given, attributes)
        all_there = some.n_samples == n
        action_scale = how.scales.action.std if seen.schema.action.kind == "continuous" else None
        curve = fitted.curve_training
        if fitted.options["leaf_model"] != "linear":
            curve = training_curve(tree, attributes, action_scale, how.scales.derivative.std, self.costs)
        fitted = replace(
            fitted,
            feature_min=seen.states[0],
            feature_max=seen.states[1],
            curve_training=curve,
            options=options({**given, "leaf_model": fitted.options["leaf_model"]}),
            training_episodes=np.unique(self.session.hashes)[:MOST_KEPT],
            provenance={
                **fitted.provenance,
                "log_sha256": fitted.provenance["log_sha256"] if all_there else self.session.fingerprint(),
                "samples": n,
                "episodes": self.session.index.n_episodes,
                **({} if all_there else {"in_memory": some.n_samples}),
                "medians": self.session.medians(),
                **({} if bare(given) else levels_of(some, grown, given, threads)),
            },
        )
        notes = (
            *self.session.index.said,
            *(() if self.session.weights is None else self.session.weights.notes),
            *how.notes,
            *feature_notes(some, seen.states[0] == seen.states[1]),
            *leaf_notes(some, given),
            *truncation_notes(some, given),
            *self._said(some, fitted),
        )
        for note in notes:
            warnings.warn(note, TripleTreeWarning, stacklevel=4)
        if validation is not None:
            if isinstance(validation, Log):
                judged, known = judge(fitted, validation, threads), kept_hashes(validation)
            else:
                judged, known = self._judged(fitted, validation)
            fitted = replace(fitted, curve_validation=judged)
            if given["early_stopping"]:
                best = int(score(judged, given["theta"]).argmin()) + 1
                if best < tree.n_leaves:
                    # How the log moves between fewer leaves is counted anew.
                    fitted = fitted.truncate(best)
                    _, moves = self._describe(work, fitted.tree, how)
                fitted = replace(fitted, validation_episodes=known)
        track = Track.of(some, fitted.tree) if given["keep"] == "track" else None
        if given["keep"] == "nothing" or (track is not None and track.n_samples == n):
            return replace(fitted, track=track)
        leaf, final = leaves_of(fitted.tree, some, threads)
        return replace(fitted, track=track, transitions=replace(moves, markov=check_markov(moves, leaf, final, some)))

    def _said(self, some: Log, fitted: Fitted) -> list[str]:
        """Return what a user should know about what was done on a part of the log."""
        found = []
        if self.disk.how.sample is not None and self.disk.how.sample < self.session.n_samples:
            found.append(
                f"The tree was grown on about {self.disk.how.sample:,} steps of whole random episodes; what its leaves "
                "know was counted on all. Its losses are larger than those of a tree that was grown on all steps."
            )
        if some.n_samples < self.session.n_samples and fitted.model is not None:
            share = f"{some.n_samples:,} of {self.session.n_samples:,} steps, whole random episodes"
            found.append(
                f"Linear models in the leaves were fitted on {share}; what leaves know besides was counted on all."
            )
        return found

    def _judged(self, fitted: Fitted, validation: DiskLog) -> tuple[F64, npt.NDArray[np.uint64]]:
        """Return the losses on a validation log on disk, and which episodes it has."""
        with Session.opened(replace(validation, how=self.disk.how), self.session.workers) as session:
            check_same_schema(self.seen.schema, session.seen, "validation log")
            return curve_on(session, fitted), np.unique(session.hashes)[:MOST_KEPT]
