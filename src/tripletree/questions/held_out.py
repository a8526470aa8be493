"""Held out: how good a tree is on episodes that it has not seen, even when it has seen all of a log."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.errors import TripleTreeWarning
from tripletree.log.log import Log
from tripletree.model.fit import fit
from tripletree.model.fitted import Fitted
from tripletree.model.judge import losses
from tripletree.questions.answers import Answer
from tripletree.questions.calibration import Calibration, attributes, calibration
from tripletree.questions.words import reports

LEAST_EPISODES = 5
MOST_SAMPLES = 3_000_000
"""On larger logs a second growth would take too long."""


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut(Answer):
    """Losses and calibration, as honest as the log allows.

    Attributes
    ----------
    how : {"other", "regrown", "same"}
        Judged on another log than the tree was grown on; by growing such a tree again on 4 of 5 episodes and asking it
        about the others; or, when the log is too small or too large for that, on the very log that it was grown on.
    episodes, samples : int
        What it was judged on.
    losses : float64 array of shape (3,)
        Action, value and derivative loss there.
    training : float64 array of shape (3,)
        The tree's losses on the log it was grown on.
    constant : float64 array of shape (3,)
        The losses there of the same tree with one leaf: what can be known without looking at the state.
    discrete : bool
        Whether actions are labels.
    calibrations : tuple of Calibration
        One for each attribute.
    """

    how: str
    episodes: int
    samples: int
    losses: npt.NDArray[np.float64]
    training: npt.NDArray[np.float64]
    constant: npt.NDArray[np.float64]
    discrete: bool
    calibrations: tuple[Calibration, ...]

    def __str__(self) -> str:
        return reports.held_out(self)


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
