"""Kept: how good a tree is on a log, measured once, stays with it: a report need not grow a second tree again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import __version__
from tripletree.answers.judgement import Calibration, HeldOut
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted

NAME = "held_out"
"""Its place in the provenance of a tree."""
MOST = 64
"""Calibrations that are kept, at most: the header of a model file has its limits."""
ARRAYS = ("predicted", "observed", "error", "count")
PLAIN: dict[str, type] = {"about": str, "scale": float, "episodes": int, "unseen": bool}
"""What there is to a calibration."""
COUNTS: dict[str, type] = {"how": str, "seen": int, "chose": int}
"""What is kept of the answer itself."""


def identity(log: Log, hashes: npt.NDArray[np.uint64]) -> str:
    """Return what tells apart logs on which a tree may be judged differently, and versions that may judge differently.

    Parameters
    ----------
    log : Log
        The log.
    hashes : uint64 array of shape (episodes,)
        Those of its episodes, which know states, actions and rewards.
    """
    digest = hashlib.sha256(__version__.encode())
    finals = np.where(np.isnan(log.final_states), np.nan, log.final_states)
    for part in (hashes, log.endings, finals, log.dt, None if log.groups is None else log.units, log.weights):
        digest.update(b"none" if part is None else part.tobytes())
    return digest.hexdigest()


def keep(fitted: Fitted, answer: HeldOut, log_id: str) -> Fitted:
    """Return a tree with a judgement: the losses, and if that is not too much, all else as JSON types."""
    if answer.judged is None:
        return fitted
    told = [
        {name: getattr(one, name) for name in PLAIN} | {name: getattr(one, name).tolist() for name in ARRAYS}
        for one in answer.calibrations
    ]
    numbers = [x for one in told for x in (one["scale"], *(x for name in ARRAYS for x in one[name]))]
    made = {name: value for name, value in fitted.provenance.items() if name != NAME}
    if len(told) <= MOST and np.isfinite(numbers).all():
        made[NAME] = {"log": log_id, **{name: getattr(answer, name) for name in COUNTS}, "calibrations": told}
    return replace(fitted, judged=answer.judged, provenance=made)


def recall(fitted: Fitted, log_id: str, abouts: tuple[str, ...]) -> HeldOut | None:
    """Return the judgement that a tree keeps, if it is about this log; ``abouts`` are its calibrations.

    A model file may come from elsewhere: what is not as `keep` writes it counts as nothing.
    """
    found = fitted.provenance.get(NAME)
    if fitted.judged is None or not isinstance(found, dict) or found.get("log") != log_id:
        return None
    told = found.get("calibrations")
    if not all(type(found.get(name)) is kind for name, kind in COUNTS.items()) or not isinstance(told, list):
        return None
    calibrations = tuple(one for one in map(_calibration, told) if one is not None)
    if len(told) != len(calibrations) or tuple(one.about for one in calibrations) != abouts:
        return None
    return HeldOut(
        **{name: found[name] for name in COUNTS},
        remembers=fitted.training_episodes is not None,
        discrete=fitted.schema.action.kind == "discrete",
        judged=fitted.judged,
        calibrations=calibrations,
        costs=fitted.costs is not None,
    )


def _calibration(told: Any) -> Calibration | None:
    if not isinstance(told, dict) or told.keys() != {*PLAIN, *ARRAYS}:
        return None
    if not all(type(told[name]) is kind for name, kind in PLAIN.items()):
        return None
    columns = [told[name] for name in ARRAYS]
    if not all(isinstance(column, list) and len(column) == len(columns[0]) > 0 for column in columns):
        return None
    if not all(type(x) is float and np.isfinite(x) for column in (*columns[:-1], [told["scale"]]) for x in column):
        return None
    if not all(type(x) is int and 0 < x <= 2**53 for x in told["count"]):
        return None
    arrays = {name: np.array(told[name], np.int64 if name == "count" else np.float64) for name in ARRAYS}
    return Calibration(**(told | arrays))
