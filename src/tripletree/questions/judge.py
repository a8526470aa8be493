"""Judge: is a tree calibrated, how good is it on unseen episodes, and where should it not be believed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.judgement import CONFIDENCE, Calibration, HeldOut, Trust
from tripletree.checks import check_choice, check_whole
from tripletree.errors import TripleTreeWarning
from tripletree.language.numbers import FEW
from tripletree.leaves.linear import node_spreads
from tripletree.log.log import Log
from tripletree.model.evaluate import (
    check_same_schema,
    in_labels,
    known_codes,
    log_values,
    on_unseen,
    sightings,
    unseen,
)
from tripletree.model.fit import fit
from tripletree.model.fitted import Fitted
from tripletree.questions.kept import identity, keep, recall
from tripletree.questions.predict import shares

F64 = npt.NDArray[np.float64]
U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

GROUPS = 10
LEAST_EPISODES = 5
MOST_SAMPLES = 3_000_000
"""On larger logs a second growth would take too long."""


def attributes(fitted: Fitted) -> tuple[str, ...]:
    """Return what the calibration of a tree can be asked of."""
    action = fitted.schema.action
    return (*(action.names if action.kind == "continuous" else (CONFIDENCE,)), "value")


def calibration(fitted: Fitted, log: Log, about: str = "value", groups: int = GROUPS) -> Calibration:
    """Compare predictions with the episodes of a log that the tree has not seen, or with all of them if it has.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log
        Any log with the same features and actions.
    about : str
        "value", the name of a continuous action's dimension, or "confidence" of a discrete action.
    groups : int
        How many groups, with about as many samples each; fewer when many samples have the same prediction.
    """
    check_same_schema(fitted.schema, log, "log")
    check_calibration(fitted, about, groups)
    fresh = unseen(fitted, log)
    return _calibration(fitted, log if fresh is None else fresh, about, groups, fresh is not None)


def check_calibration(fitted: Fitted, about: str, groups: int) -> None:
    """Raise ParameterError unless the calibration of this can be asked for, in so many groups."""
    check_choice(about, "about", attributes(fitted), "value")
    check_whole(groups, "groups", 1, example=GROUPS)


def shares_between(groups: int) -> npt.NDArray[np.float64]:
    """Return the shares of the samples that lie below each border between groups."""
    return np.linspace(0, 1, groups + 1)[1:-1]


def compared(
    fitted: Fitted, log: Log, about: str, values: Callable[[], F64], told: F64 | None = None
) -> tuple[F64, F64]:
    """Return what is predicted in every step of a log, and what is observed; ``values`` has the log's own.

    ``told`` is what the tree predicts there, where that is known.
    """
    part = fitted.targets
    told = fitted.told(log.states, fitted.tree.apply(log.states)) if told is None else told
    if about == "value":
        return told[:, part["value"]][:, 0], values()
    if fitted.schema.action.kind == "discrete":
        table = shares(told[:, part["action"]])
        return table.max(axis=1), (known_codes(fitted, log) == table.argmax(axis=1)).astype(np.float64)
    k = fitted.schema.action.names.index(about)
    return told[:, k], log.actions[:, k]


def _calibration(
    fitted: Fitted, log: Log, about: str, groups: int, fresh: bool, told: F64 | None = None
) -> Calibration:
    predicted, observed = compared(fitted, log, about, lambda: log_values(fitted, log), told)
    edges = np.unique(np.quantile(np.sort(predicted), shares_between(groups)))  # sorts with vectors, selects without
    place = np.searchsorted(edges, predicted, side="right")
    group = (np.cumsum(np.bincount(place) > 0) - 1)[place]
    weight = np.ones(len(group)) if log.weights is None else log.weights
    total = np.bincount(group, weight)
    # A group of steps that do not count tells nothing.
    kept = total > 0
    number = np.where(kept, total, 1.0)
    mean = np.bincount(group, observed * weight) / number
    spread = np.sqrt(np.bincount(group, (observed - mean[group]) ** 2 * weight) / number)
    # As many steps of equal weight as would say as much (Kish); without weights, all of them.
    effective = number * number / np.where(kept, np.bincount(group, weight * weight), 1.0)
    return Calibration(
        about=about,
        predicted=(np.bincount(group, predicted * weight) / number)[kept],
        observed=mean[kept],
        error=(spread / np.sqrt(effective))[kept],
        count=np.bincount(group)[kept].astype(np.int64),
        scale=1.0 if about == CONFIDENCE else float(observed.std()),
        episodes=log.n_episodes,
        unseen=fresh,
    )


def held_out(fitted: Fitted, log: Log, threads: int = 1, *, sampled: bool = False) -> HeldOut:
    """Judge a tree on the episodes of a log that it has not seen; if there are none, judge one that is grown alike.

    A tree that is grown on a sample of a larger log says nothing about one that was grown on all of it.
    """
    return judgement(fitted, log, threads, sampled=sampled)[0]


def judgement(fitted: Fitted, log: Log, threads: int = 1, *, sampled: bool = False) -> tuple[HeldOut, Fitted]:
    """Return the answer of `held_out`, and the tree with it: of the same log, it need not be measured again."""
    check_same_schema(fitted.schema, log, "log")
    log = in_labels(fitted.schema, log)
    hashes = log.hashes
    log_id = identity(log, hashes)
    known = recall(fitted, log_id, _calibrated(fitted))
    if known is not None:
        return known, fitted
    answer = _held_out(fitted, log, hashes, threads, sampled)
    return answer, keep(fitted, answer, log_id)


def _calibrated(fitted: Fitted) -> tuple[str, ...]:
    return tuple(about for about in attributes(fitted) if fitted.varies[1 if about == "value" else 0])


def _held_out(fitted: Fitted, log: Log, hashes: U64, threads: int, sampled: bool) -> HeldOut:
    seen, chose, fresh = sightings(fitted, hashes)
    how, judged = "unseen", fitted
    part = None if not fresh.any() else log if fresh.all() else log.select(fresh)
    if part is None:
        how, judged, part = ("large", fitted, None) if sampled else _regrown(fitted, log, hashes, chose, threads)
    return HeldOut(
        how=how,
        seen=int(seen.sum()),
        chose=int(chose.sum()),
        remembers=fitted.training_episodes is not None,
        discrete=fitted.schema.action.kind == "discrete",
        judged=None if part is None else on_unseen(judged, part, threads),
        calibrations=() if part is None else _calibrations(judged, part, threads),
        costs=fitted.costs is not None,
    )


def _calibrations(judged: Fitted, log: Log, threads: int) -> tuple[Calibration, ...]:
    told = judged.told(log.states, judged.tree.apply(log.states, threads), threads)
    return tuple(_calibration(judged, log, about, GROUPS, True, told) for about in _calibrated(judged))


def _regrown(fitted: Fitted, log: Log, hashes: U64, chose: Mask, threads: int) -> tuple[str, Fitted, Log | None]:
    """Grow such a tree again without a fifth of the episodes, to be judged on them."""
    # Not on those that chose the size, which they made look good; and equal episodes stay on one side, as do groups.
    grouped = log.groups is not None and len(np.unique(log.units[~chose])) >= LEAST_EPISODES
    same: npt.NDArray[Any] = log.units if grouped else hashes
    distinct = np.unique(same[~chose])
    if len(distinct) < LEAST_EPISODES:
        return "few", fitted, None
    if log.n_samples > MOST_SAMPLES:
        return "large", fitted, None
    aside = np.isin(same, np.random.default_rng(0).permutation(distinct)[: round(len(distinct) / 5)]) & ~chose
    # Only its losses are wanted.
    for_losses = {"threads": threads, "progress": None, "keep": "nothing"}
    options = {**fitted.options, "max_leaves": fitted.tree.n_leaves, **for_losses}
    with warnings.catch_warnings():
        # They were said when the tree itself was grown.
        warnings.simplefilter("ignore", TripleTreeWarning)
        return "regrown", fit(log.select(~aside), None, options, words=False), log.select(aside)


def _unknown(fitted: Fitted) -> npt.NDArray[np.float64]:
    """Return the share of the squared error of a single leaf that each leaf leaves, of action, value and derivative."""
    alone = node_spreads(fitted.attributes)[0]
    widths = np.where(alone > 0, alone, 1.0)
    labels = len(fitted.schema.action.labels)
    # The labels of a discrete action have one unit, as in its impurity; other columns are as wide as they vary.
    widths[:labels] = 1.0
    left = np.zeros((fitted.tree.n_leaves, 3))
    for g, columns in enumerate(fitted.targets.values()):
        whole = ((alone / widths)[columns] ** 2).sum()
        if whole > 0:
            left[:, g] = ((fitted.spread / widths)[:, columns] ** 2).sum(axis=1) / whole
    return left


def trust(fitted: Fitted, log: Log, threads: int = 1) -> Trust:
    """Return the doubts about a tree, with shares of a log."""
    check_same_schema(fitted.schema, log, "log")
    leaf = fitted.tree.apply(log.states, threads)
    number = np.bincount(leaf, minlength=fitted.tree.n_leaves)
    # A log that lies within the range as a whole, as that of the growth does, need not be looked at state by state.
    outside = int(fitted.outside(log.states).sum()) if fitted.outside(np.stack(log.ranges)).any() else 0
    return trust_of(fitted, number, outside)


def trust_of(fitted: Fitted, number: npt.NDArray[np.int64], outside: int) -> Trust:
    """Return the doubts about a tree, given how many steps are in each leaf, and how many outside what it knows."""
    total = int(number.sum())
    return Trust(few=fitted.leaves.count < FEW, left=_unknown(fitted), share=number / total, outside=outside / total)
