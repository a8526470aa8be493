"""Fits a tree to a log: values, targets, growth, attributes, losses, early stopping."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import __version__, _kernel
from tripletree.checks import listing
from tripletree.errors import TripleTreeWarning
from tripletree.graph.markov import count_transitions
from tripletree.leaves.attributes import Attributes, describe
from tripletree.leaves.linear import MOST_FEATURES, fit_linear
from tripletree.leaves.linear_losses import linear_training_curve
from tripletree.leaves.losses import training_curve
from tripletree.log.derive import truncation_share, values
from tripletree.log.identity import kept_hashes
from tripletree.log.log import TRUNCATED, Log
from tripletree.model.beside import Start, beside
from tripletree.model.bootstrap import ends_of_truncated, settled_tail, settles
from tripletree.model.evaluate import check_same_schema, judge
from tripletree.model.fitted import Fitted
from tripletree.model.levels import find_levels, to_json, trial_of
from tripletree.model.track import Track, has_room, room
from tripletree.text import Message, Option, count, plural
from tripletree.tree.columns import state_columns
from tripletree.tree.costs import cost_matrix
from tripletree.tree.grow import Encoded, encode, grow
from tripletree.tree.spread import ranges
from tripletree.tree.structure import Tree
from tripletree.tree.targets import Scales, make_targets
from tripletree.tree.weights import Weighing, weigh

F64 = npt.NDArray[np.float64]

GROWTH = (
    "max_leaves",
    "max_depth",
    "min_samples_leaf",
    "min_quality",
    "priority",
    "thresholds",
    "progress",
)
"""Parameters that growth itself takes."""

RUNTIME = ("threads", "progress")
"""Parameters that cannot change the result and so are not kept with the model."""

TRIAL_LEAVES = 200
"""Leaves, at most, of the tree that levels are judged with."""
ROWS_SORTED = 100_000
"""Rows that the medians are taken from, at most."""
MOST_MEDIANS = 1_000
"""With more features than this nobody writes states as text, and the header of a model file has its limits."""


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fit(log: Log, validation: Log | None, parameters: Mapping[str, Any], *, words: bool = True) -> Fitted:
    """Grow a tree on ``log``; with a validation log, keep the size that is best on it. Steps count as their logs say.

    Parameters
    ----------
    log : Log
        The training log.
    validation : Log or None
        Held-out episodes.
    parameters : mapping
        All parameters of TripleTree, checked; costs by name.
    words : bool
        Whether to look for words for the numbers of a continuous action, and to remember which episodes the log had:
        both take a while, and a tree that only judges needs neither.
    """
    if validation is not None:
        check_same_schema(log.schema, validation, "validation log")
    threads = parameters["threads"] or available_cores()
    with beside(threads) as start:
        return _fit(log, validation, parameters, words, threads, start)


def _fit(
    log: Log, validation: Log | None, parameters: Mapping[str, Any], words: bool, threads: int, start: Start
) -> Fitted:
    # Much of growth leaves a thread idle now and then, which reads meanwhile what the model remembers the log by.
    known = start(lambda: (log.fingerprint(), log.hashes) if words else None)
    # First of all: what encoding needs for a while is free again before the targets, as large as the log, come.
    weighing = weigh(log.weights)
    codes = encode(log, parameters["mode"], parameters["bins"], threads, weighing, parameters["thresholds"])
    grown = grow_settled(log, codes, parameters, threads, weighing)
    del codes
    levels = start(lambda: levels_of(log, grown, parameters, threads) if words and not bare(parameters) else {})
    known()
    fitted = describe_grown(log, grown, parameters, remembers=words)
    flat = fitted.feature_min == fitted.feature_max
    notes = (
        *weighing.notes,
        *grown.notes,
        *feature_notes(log, flat),
        *leaf_notes(log, parameters),
        *truncation_notes(log, parameters),
    )
    for note in notes:
        warnings.warn(note, TripleTreeWarning, stacklevel=4)
    if validation is not None:
        curve = judge(fitted, validation, threads)
        fitted = replace(fitted, curve_validation=curve)
        if parameters["early_stopping"]:
            fitted = fitted.truncate(int(score(curve, parameters["theta"]).argmin()) + 1)
            fitted = replace(fitted, validation_episodes=kept_hashes(validation))
    # A track of all episodes has the moves in it: they are counted when somebody asks.
    keep, tree = parameters["keep"], fitted.tree
    counts = keep == "leaves" or (keep == "track" and not has_room(log, tree))
    moves = start(lambda: count_transitions(tree, log, threads) if counts else None)
    track = Track.of(log, tree, threads=threads) if keep == "track" else None
    for note in _track_notes(log, tree, track):
        warnings.warn(note, TripleTreeWarning, stacklevel=4)
    return replace(fitted, track=track, transitions=moves(), provenance={**fitted.provenance, **levels()})


@dataclass(frozen=True, eq=False)
class Grown:
    """What growth leaves behind: the tree, the node and the value of each sample, scales, notes, and what counted."""

    tree: Tree
    node: npt.NDArray[np.int32]
    scales: Scales
    notes: tuple[str, ...]
    value: F64
    weighing: Weighing


def grow_settled(
    log: Log,
    codes: Encoded,
    parameters: Mapping[str, Any],
    threads: int,
    weighing: Weighing | None = None,
) -> Grown:
    """Grow a tree on an encoded log; with ``truncation="bootstrap"``, once more on the values that it settles.

    The codes are those of the samples that count.
    """
    gamma = float(parameters["gamma"])
    tail = None
    weighing = weigh(log.weights) if weighing is None else weighing
    tree, node, scales, notes = _grow(log, codes, tail, parameters, threads, weighing)
    if settles(parameters) and len(ends_of_truncated(log)):
        weights = weighing.everywhere(log.n_samples)
        tail = settled_tail(log, tree, tree.leaf_number[node], gamma, weights)
        tree, node, scales, notes = _grow(log, codes, tail, parameters, threads, weighing)
        # Settled once more, so that the values in the leaves are those of the tree that is kept.
        tail = settled_tail(log, tree, tree.leaf_number[node], gamma, weights)
    return Grown(tree, node, scales, notes, values(log, gamma, tail), weighing)


def describe_grown(
    log: Log,
    grown: Grown,
    parameters: Mapping[str, Any],
    attributes: Attributes | None = None,
    *,
    remembers: bool = True,
) -> Fitted:
    """Return a grown tree with what its nodes predict and its losses on the log, but not yet how the log moves.

    ``attributes`` are those of a larger log, of which this one is a part. ``remembers=False`` leaves out which log and
    which episodes it was, for a tree that only judges; its losses on its own log, which nobody asks for, are those of
    means, which need no pass over it.
    """
    tree, scales, weighing = grown.tree, grown.scales, grown.weighing
    costs = cost_matrix(parameters["costs"], log.schema.action.labels)
    threads, scale = parameters["threads"] or available_cores(), parameters["derivative_scale"]
    if attributes is None:
        attributes = describe(tree, grown.node, log, grown.value, scales, scale, weighing, costs, threads)
    action_scale = scales.action.std if log.schema.action.kind == "continuous" else None
    lowest, highest = ranges(state_columns(log), threads)
    linear = None
    if log.n_features <= MOST_FEATURES and not bare(parameters):
        span = np.where(highest > lowest, highest - lowest, 1.0)
        most = parameters["leaf_features"]
        linear, squares = fit_linear(
            tree, grown.node, log, grown.value, attributes, scales, span, most, threads, weighing
        )
    else:
        parameters = {**parameters, "leaf_model": "mean"}
    if linear is not None and parameters["leaf_model"] == "linear" and remembers:
        curve = linear_training_curve(tree, attributes, linear, squares, log, threads, weighing, costs)
    else:
        curve = training_curve(tree, attributes, action_scale, scales.derivative.std, costs)
    # Words for the numbers of an action are kept with the levels that they became.
    schema = replace(log.schema, action=replace(log.schema.action, levels=()), success="")
    return Fitted(
        schema=schema,
        tree=tree,
        attributes=attributes,
        feature_min=lowest,
        feature_max=highest,
        action_scale=action_scale,
        derivative_scale=scales.derivative.std,
        curve_training=curve,
        curve_validation=None,
        linear=linear,
        options=options(parameters),
        training_episodes=kept_hashes(log) if remembers else None,
        provenance={
            "tripletree": __version__,
            "numpy": np.__version__,
            **({"log_sha256": log.fingerprint()} if remembers else {}),
            "samples": log.n_samples,
            "episodes": log.n_episodes,
            **(_medians(log, weighing) if remembers else {}),
        },
    )


def bare(parameters: Mapping[str, Any]) -> bool:
    """Tell whether only the tree itself is wanted, as fast as it grows: no second opinion, no words for numbers."""
    return bool(parameters["leaf_model"] == "mean" and parameters["keep"] == "nothing")


def levels_of(log: Log, grown: Grown, parameters: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """Return what the numbers of a continuous action mean, judged by a smaller tree on episodes unknown to it."""
    if log.schema.action.kind == "discrete":
        return {}
    options = {**parameters, "max_leaves": min(parameters["max_leaves"], TRIAL_LEAVES), "progress": None}

    def grow_on(part: Log) -> tuple[Tree, npt.NDArray[np.int64]]:
        # What numbers mean does not depend on how much each counts.
        part = part if part.weights is None else part.weighted(None)
        small = grow_settled(
            part, encode(part, options["mode"], options["bins"], threads, None, options["thresholds"]), options, threads
        )
        return small.tree, small.tree.leaf_number[small.node].astype(np.int64)

    return {"levels": to_json(find_levels(log, lambda: trial_of(log, grow_on)), log, grown.tree, grown.node)}


def _medians(log: Log, weighing: Weighing) -> dict[str, list[float]]:
    """Return the middle value of each feature, which stands in where a state's text does not name it."""
    if log.n_features > MOST_MEDIANS:
        return {}
    # A value that occurs, so that whole numbers stay whole; of a long log, every k-th row will do.
    some = slice(None, None, -(-log.n_samples // ROWS_SORTED))
    if weighing.counts is None:
        rows = log.states[some] if weighing.rows is None else log.states[weighing.rows[some]]
        return {"medians": _kernel.middle(np.ascontiguousarray(rows).T)[0].tolist()}
    return {"medians": middle(weighing.take(log.states)[some], weighing.counts[some]).tolist()}


def middle(states: F64, counts: npt.NDArray[np.int64] | None) -> F64:
    """Return the middle value of each feature in some states, each of which counts so much: one that occurs."""
    if counts is None:
        lower: F64 = np.quantile(states, 0.5, axis=0, method="lower")
        return lower
    order = np.argsort(states, axis=0)
    until = np.cumsum(counts[order], axis=0)
    half = (until >= until[-1] / 2).argmax(axis=0)
    found: F64 = np.take_along_axis(states, order, axis=0)[half, np.arange(states.shape[1])]
    return found


def score(curve: F64, theta: Any) -> F64:
    """Return the theta-weighted sum of the losses, each divided by that of the one-leaf tree, at every leaf count.

    A loss that is already 0 with one leaf does not count.
    """
    weight = np.where(curve[0] > 0, np.array(theta, np.float64), 0.0)
    with np.errstate(over="ignore"):
        # No loss of a real tree is that large; a model file's may be, and times a weight it must stay a number.
        ratio = np.minimum(curve / np.where(curve[0] > 0, curve[0], 1.0), 1e200)
    total: F64 = ratio @ weight
    return total


def options(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that shape the model, as JSON types."""
    kept = {}
    for name, value in parameters.items():
        if name == "theta":
            kept[name] = [float(weight) for weight in value]
        elif name not in RUNTIME:
            kept[name] = value.item() if isinstance(value, np.generic) else value
    return kept


def _grow(
    log: Log,
    codes: Encoded,
    tail: F64 | None,
    parameters: Mapping[str, Any],
    threads: int,
    weighing: Weighing,
) -> tuple[Tree, npt.NDArray[np.int32], Scales, tuple[str, ...]]:
    """Return tree, node of each sample, scales and notes; targets are gone by then, and values while the tree grows."""
    action, worth, derivative = map(float, parameters["theta"])
    value = values(log, float(parameters["gamma"]), tail)
    costs = cost_matrix(parameters["costs"], log.schema.action.labels)
    theta, scale = (action, worth, derivative), parameters["derivative_scale"]
    targets = make_targets(log, value, theta, scale, weighing, costs, threads)
    del value
    given = {name: parameters[name] for name in GROWTH}
    tree, node = grow(log, codes, targets, threads=threads, weighing=weighing, **given)
    return tree, node, targets.scales, targets.notes


def still_falling(fitted: Fitted) -> bool:
    """Tell whether growth ended at its limit while the loss on validation episodes was still falling."""
    limit, curve = int(fitted.options["max_leaves"]), fitted.curve_validation
    if curve is None or len(curve) < limit:
        return False
    scores = score(curve, fitted.options["theta"])
    # Losses go up and down a little from leaf to leaf: the last fifth must be better by a hundredth.
    late = max(limit // 5, 1)
    return bool(len(scores) > late and scores[-late:].min() < 0.99 * scores[:-late].min())


def feature_notes(log: Log, constant: npt.NDArray[np.bool_]) -> list[str]:
    """Return which features no split can use."""
    names = [feature.name for feature, flat in zip(log.schema.features, constant, strict=True) if flat]
    them = plural(len(names), "it", "them")
    return [f"Constant in this log, so no split can use {them}: {listing(names)}."] if names else []


def leaf_notes(log: Log, parameters: Mapping[str, Any]) -> list[str]:
    """Return that leaves predict means, where there are too many features for linear models."""
    if parameters["leaf_model"] == "mean" or log.n_features <= MOST_FEATURES:
        return []
    return [
        Message(
            "Linear models are made for up to {} features, and the log has {:,}: leaves predict means, and there is no "
            "second opinion. With {} this is not said again.",
            MOST_FEATURES,
            log.n_features,
            Option("leaf_model", "mean"),
        )
    ]


def _track_notes(log: Log, tree: Tree, track: Track | None) -> list[str]:
    """Return what a user should know about episodes that are too long for a track."""
    if track is None or track.n_samples == log.n_samples:
        return []
    long = int((np.diff(log.starts) >= room(tree, log.n_features)).sum())
    if not long:
        return []
    if track.first is not None:
        which = f"{count(track.n_episodes, 'stretch', 'stretches')} of {count(int(track.starts[1]), 'step')} each"
        text = f"The log is too long to be kept with the tree: {which} are kept, as episodes cut off at both ends."
    else:
        text = f"{count(long, 'episode is', 'episodes are')} too long to be kept with the tree; others are."
    return [Message("{} To count all of it, give {} when you ask.", text, Option("log", ...))]


def truncation_notes(log: Log, parameters: Mapping[str, Any]) -> list[str]:
    """Return what a user should know about the ends of truncated episodes."""
    share = truncation_share(log, float(parameters["gamma"])) if log.schema.has_reward else 0.0
    if not share:
        return []
    if parameters["truncation"] != "bootstrap":
        return [
            Message(
                "{} of the samples lie near the end of a truncated episode, where the value leaves out rewards that "
                "were not recorded. Try {}, or a log of whole episodes.",
                _percent(share),
                Option("truncation", "bootstrap"),
            )
        ]
    truncated = log.endings == TRUNCATED
    if not settles(parameters):
        return [
            Message(
                "Without a discount, what would have followed the {} cannot be estimated, so their values leave out "
                "rewards that were not recorded. Try {}.",
                count(int(truncated.sum()), "truncated episode"),
                Option("gamma", 0.99),
            )
        ]
    unknown = int(np.isnan(log.final_states[truncated, 0]).sum())
    if not unknown:
        return []
    which = f"{unknown:,} of {count(int(truncated.sum()), 'truncated episode')} {plural(unknown, 'has', 'have')}"
    stand_in = plural(unknown, "its last recorded state stands", "their last recorded states stand")
    return [f"{which} no recorded final state: {stand_in} in for it."]


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"
