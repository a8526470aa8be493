"""Judge: a grown tree and a log. Do they fit, what are the log's values and transitions, how large are the losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tripletree.checks import listing
from tripletree.errors import LogError, ParameterError
from tripletree.graph.markov import count_transitions
from tripletree.graph.transitions import Transitions
from tripletree.leaves.attributes import Attributes
from tripletree.leaves.linear import LinearLeaves
from tripletree.leaves.losses import loss_curve
from tripletree.leaves.margin import margins
from tripletree.log.derive import NOISE, values
from tripletree.log.disk import DiskLog
from tripletree.log.identity import found_in
from tripletree.log.log import Log
from tripletree.log.schema import Schema
from tripletree.model.beside import beside
from tripletree.model.bootstrap import end_states, ends_of_truncated, settles
from tripletree.model.fitted import Fitted, Judged
from tripletree.text import Message, Option
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


class HasSchema(Protocol):
    """A log, in memory or on disk."""

    @property
    def schema(self) -> Schema:
        """Its features and actions."""


def check_log(log: object, name: str, none: str = "") -> None:
    """Raise ParameterError unless ``log`` is a Log; or None, when ``none`` says what that means."""
    if isinstance(log, Log) or (none and log is None):
        return
    without = Message(" Or type {} ({}).", Option(name, None), none) if none else ""
    if isinstance(log, DiskLog):
        raise ParameterError(
            Message(
                "This needs a log in memory, and {} is on disk. Give whole random episodes of it: {}.{}",
                Option(name),
                Option(name, "log.sample(1_000_000)"),
                without,
            )
        )
    raise ParameterError(
        Message(
            "{} must be a Log; got {}. Make one with read_log(path) from a file, or with Log.from_arrays(...).{}",
            Option(name),
            type(log).__name__,
            without,
        )
    )


def check_same_schema(expected: Schema, log: HasSchema, what: str) -> None:
    """Raise LogError unless ``log`` has the features and the kind of action that the tree was grown on."""
    names = [feature.name for feature in expected.features]
    given = [feature.name for feature in log.schema.features]
    if given != names:
        raise LogError(f"The {what} has the features {listing(given)}, the tree was grown on {listing(names)}.")
    for what_for, has in (("action", "has_action"), ("reward", "has_reward")):
        if getattr(log.schema, has) != getattr(expected, has):
            without, with_it = ("tree", what) if getattr(log.schema, has) else (what, "tree")
            fix = Message(" Read it with {}.", Option(what_for, "none")) if without == "tree" else ""
            raise LogError(Message("The {} knows no {}s, the {} does.{}", without, what_for, with_it, fix))
    if log.schema.per_second != expected.per_second:
        timed, other = (what, "tree") if log.schema.per_second else ("tree", what)
        raise LogError(f"The {timed} has derivatives per second, the {other} per step: only one of them has times.")
    theirs, ours = log.schema.action, expected.action
    if theirs.kind != ours.kind:
        raise LogError(f"The {what} has {theirs.kind} actions, the tree was grown on {ours.kind} ones.")
    if theirs.kind == "continuous" and theirs.names != ours.names:
        raise LogError(f"The {what} has the actions {listing(theirs.names)}, the tree {listing(ours.names)}.")


def judge(fitted: Fitted, log: Log, threads: int) -> F64:
    """Return the losses of every leaf count on ``log``, shape (leaf counts, 3)."""
    return loss_curve(*_measured(fitted, log), threads, fitted.costs)


def on_unseen(fitted: Fitted, log: Log, threads: int) -> Judged:
    """Return how a tree does on a log that it has not seen."""
    measured = _measured(fitted, log)
    with beside(threads) as start:
        found = start(lambda: margins(*measured, threads, fitted.costs).tolist())
        curve, margin = loss_curve(*measured, threads, fitted.costs).tolist(), found()
    return Judged(tuple(curve[-1]), tuple(curve[0]), tuple(margin), log.n_episodes, log.n_samples)


def _measured(
    fitted: Fitted, log: Log
) -> tuple[Tree, Attributes, LinearLeaves | None, F64 | None, F64, Log, F64, npt.NDArray[np.int32] | None]:
    """Return what the losses on a log follow from."""
    check_same_schema(fitted.schema, log, "log")
    if log.weights is not None and not log.weights.any():
        raise LogError("All steps of this log have the weight 0: there is nothing to judge the tree by.")
    return (
        fitted.tree,
        fitted.attributes,
        fitted.model,
        fitted.action_scale,
        fitted.derivative_scale,
        log,
        log_values(fitted, log),
        known_codes(fitted, log) if fitted.schema.action.kind == "discrete" else None,
    )


def in_labels(schema: Schema, log: Log) -> Log:
    """Return a log whose actions are called as the tree calls them, where only the codes in its source are the same.

    So a tree that was grown with ``labels={0: "left", 1: "right"}`` knows the actions 0 and 1 of a log without labels.
    """
    ours, theirs = schema.action, log.schema.action
    code = dict(zip(theirs.labels, theirs.codes or theirs.labels, strict=True))
    label = dict(zip(ours.codes or ours.labels, ours.labels, strict=True))
    # A label that both have, and that cannot be a code, shows that the log speaks in labels.
    spoken = set(theirs.labels) & (set(ours.labels) - (set() if theirs.codes else set(ours.codes)))
    if not (ours.codes or theirs.codes) or spoken or not label.keys() & set(code.values()):
        return log
    names = [label.get(code[name], name) for name in theirs.labels]
    new = [name for name in names if name not in ours.labels]
    known = (*ours.labels, *new)
    table = np.array([known.index(name) for name in names], np.int32)
    action = replace(theirs, labels=known, codes=ours.codes and (*ours.codes, *(code[name] for name in new)))
    return replace(log, actions=table[log.actions], schema=replace(log.schema, action=action))


def known_codes(fitted: Fitted, log: Log) -> npt.NDArray[np.int32]:
    """Return a log's discrete actions as numbers of the tree's labels, -1 for a label that the tree does not know."""
    log = in_labels(fitted.schema, log)
    number = {label: code for code, label in enumerate(fitted.schema.action.labels)}
    table = np.array([number.get(label, -1) for label in log.schema.action.labels], np.int32)
    codes: npt.NDArray[np.int32] = table[log.actions]
    return codes


def log_values(fitted: Fitted, log: Log) -> F64:
    """Return the value of each step of a log, with the discount and the ends of episodes that the tree was grown on."""
    found = values(log, fitted.options["gamma"], _tail(fitted, log))
    constant, spread = fitted.attributes.value_mean[0], fitted.attributes.value_std[0]
    # Two constants that should be the same may still differ in their last digits.
    if not spread and np.abs(found - constant).max() <= NOISE * max(abs(constant), np.abs(log.rewards).max()):
        found = np.full_like(found, constant)
    return found


def losses(fitted: Fitted, judged: Callable[[], F64], n_leaves: int | str | None) -> F64:
    """Return the losses at one leaf count (None: as many as there are), or at ``"all"``; ``judged`` has all of them."""
    size = fitted.tree.n_leaves
    if isinstance(n_leaves, str):
        if n_leaves != "all":
            raise ParameterError(
                Message(
                    '{} must be a number, None or "all"; got {!r}. Try {}.',
                    Option("n_leaves"),
                    n_leaves,
                    Option("n_leaves", "all"),
                )
            )
        return judged()
    k = size if n_leaves is None else n_leaves
    fitted.tree.check_size(k)
    row: F64 = judged()[k - 1]
    return row


def score(curve: F64) -> float:
    """Return the mean share of the losses of the one-leaf tree that the whole tree takes away."""
    root, leaves = curve[0], curve[-1]
    known = root > 0
    return float(np.mean(1 - leaves[known] / root[known])) if known.any() else 0.0


def _tail(fitted: Fitted, log: Log) -> F64 | None:
    """Return what follows each episode's end: the tree's own value of a truncated episode's final state."""
    if not settles(fitted.options):
        return None
    episodes = ends_of_truncated(log)
    tail = np.zeros(log.n_episodes)
    leaf = fitted.tree.apply(end_states(log, episodes))
    tail[episodes] = fitted.attributes.value_mean[fitted.tree.leaf_nodes[leaf]]
    return tail


def transitions_on(fitted: Fitted, log: Log | None, threads: int) -> Transitions:
    """Return how ``log`` goes over the leaves of a tree; None is the training log, as far as the tree kept it."""
    if log is not None:
        check_same_schema(fitted.schema, log, "log")
        counted: Transitions = fitted.recall(log, "transitions", lambda: count_transitions(fitted.tree, log, threads))
        return counted
    if fitted.transitions is not None:
        return fitted.transitions
    if fitted.track is None:
        raise ParameterError(
            Message(
                "This tree does not know the transitions of its log, because it was grown with {} or {} and made "
                "smaller, or read from a file without them. Give the log: {}.",
                Option("keep", "nothing"),
                Option("keep", "leaves"),
                Option("log", ...),
            )
        )
    if "transitions" not in fitted.memory:
        fitted.memory["transitions"] = count_transitions(fitted.tree, fitted.track.recording, threads)
    found: Transitions = fitted.memory["transitions"]
    return found


def sightings(fitted: Fitted, hashes: U64) -> tuple[Mask, Mask, Mask]:
    """Return which episodes the tree was grown on, which others chose its size, and which it surely has not seen."""
    if fitted.training_episodes is None:
        # A file of an early format: for all that is known, it may have seen any of them.
        return np.zeros(len(hashes), bool), np.zeros(len(hashes), bool), np.zeros(len(hashes), bool)
    seen, known = found_in(hashes, fitted.training_episodes)
    chose = np.zeros(len(hashes), bool)
    if fitted.validation_episodes is not None:
        chose, decided = found_in(hashes, fitted.validation_episodes)
        known = known & decided
    return seen, chose & ~seen, known & ~seen & ~chose


def unseen(fitted: Fitted, log: Log) -> Log | None:
    """Return the episodes of a log that the tree has neither been grown on nor sized by; None when there are none."""
    fresh = sightings(fitted, in_labels(fitted.schema, log).hashes)[2]
    if not fresh.any():
        return None
    return log if fresh.all() else log.select(fresh)
