"""Judge: is a tree calibrated, how good is it on unseen episodes, and where should it not be believed."""

from __future__ import annotations

import warnings

import numpy as np

from tripletree.answers.judgement import CONFIDENCE, Calibration, HeldOut, Trust
from tripletree.checks import check_choice, check_whole
from tripletree.errors import TripleTreeWarning
from tripletree.language.numbers import FEW
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema, known_codes, log_values, losses
from tripletree.model.fit import fit
from tripletree.model.fitted import Fitted

GROUPS = 10
LEAST_EPISODES = 5
MOST_SAMPLES = 3_000_000
"""On larger logs a second growth would take too long."""


def attributes(fitted: Fitted) -> tuple[str, ...]:
    """Return what the calibration of a tree can be asked of."""
    action = fitted.schema.action
    return (*(action.names if action.kind == "continuous" else (CONFIDENCE,)), "value")


def calibration(fitted: Fitted, log: Log, about: str = "value", groups: int = GROUPS) -> Calibration:
    """Compare predictions with a log.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log
        Best one that the tree was not grown on: on its own log, means agree by construction.
    about : str
        "value", the name of a continuous action's dimension, or "confidence" of a discrete action.
    groups : int
        How many groups, with about as many samples each; fewer when many samples have the same prediction.
    """
    check_same_schema(fitted.schema, log, "log")
    check_choice(about, "about", attributes(fitted), "value")
    check_whole(groups, "groups", 1, example=GROUPS)
    leaf = fitted.tree.apply(log.states)
    at = fitted.leaves
    if about == "value":
        predicted, observed = at.value_mean[leaf], log_values(fitted, log)
    elif at.action_count is not None:
        table = at.action_count
        predicted = (table.max(axis=1) / at.count)[leaf]
        observed = (known_codes(fitted, log) == table.argmax(axis=1)[leaf]).astype(np.float64)
    else:
        k = fitted.schema.action.names.index(about)
        predicted, observed = np.asarray(at.action_mean)[leaf, k], log.actions[:, k]
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, groups + 1)[1:-1]))
    group = np.unique(np.searchsorted(edges, predicted, side="right"), return_inverse=True)[1]
    count = np.bincount(group)
    mean = np.bincount(group, observed) / count
    spread = np.sqrt(np.bincount(group, (observed - mean[group]) ** 2) / count)
    return Calibration(
        about=about,
        predicted=np.bincount(group, predicted) / count,
        observed=mean,
        error=spread / np.sqrt(count),
        count=count.astype(np.int64),
        scale=1.0 if about == CONFIDENCE else float(observed.std()),
    )


def held_out(fitted: Fitted, log: Log, threads: int = 1) -> HeldOut:
    """Judge a tree on a log, with a second tree where the first has seen all of it."""
    size = fitted.tree.n_leaves
    judged, seen, how = fitted, log, "other"
    if log.fingerprint() == fitted.provenance.get("log_sha256"):
        how = "same"
        if log.n_episodes >= LEAST_EPISODES and log.n_samples <= MOST_SAMPLES:
            training, seen = log.split(0.2, seed=0)
            options = {**fitted.options, "max_leaves": size, "threads": threads, "progress": None}
            with warnings.catch_warnings():
                # They were said when the tree itself was grown.
                warnings.simplefilter("ignore", TripleTreeWarning)
                judged, how = fit(training, None, options), "regrown"
    return HeldOut(
        how=how,
        episodes=seen.n_episodes,
        samples=seen.n_samples,
        losses=losses(judged, seen, None, threads),
        training=fitted.curve_training[size - 1],
        constant=losses(judged, seen, 1, threads),
        discrete=fitted.schema.action.kind == "discrete",
        calibrations=tuple(calibration(judged, seen, about) for about in attributes(judged)),
    )


def trust(fitted: Fitted, log: Log, threads: int = 1) -> Trust:
    """Return the doubts about a tree, with shares of a log."""
    check_same_schema(fitted.schema, log, "log")
    leaf = fitted.tree.apply(log.states, threads)
    at = fitted.attributes
    whole = at.impurity[0]
    left = np.where(whole > 0, at.impurity[fitted.tree.leaf_nodes] / np.where(whole > 0, whole, 1.0), 0.0)
    return Trust(
        few=fitted.leaves.count < FEW,
        left=left,
        share=np.bincount(leaf, minlength=fitted.tree.n_leaves) / len(leaf),
        outside=float(fitted.outside(log.states).mean()),
    )
