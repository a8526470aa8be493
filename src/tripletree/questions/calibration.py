"""Calibration: when the tree says 0.7, is it 0.7? Predictions against what a log shows, group by group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.checks import is_integer, listing
from tripletree.errors import ParameterError
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.model.judge import check_same_schema, known_codes, log_values
from tripletree.questions.answers import Answer
from tripletree.questions.words import reports

F64 = npt.NDArray[np.float64]

GROUPS = 10
CONFIDENCE = "confidence"


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Answer):
    """Predictions and observations in groups of samples whose predictions are about the same.

    Attributes
    ----------
    about : str
        "value", the name of an action dimension, or "confidence": how sure the tree is of a discrete action, against
        how often it is right.
    predicted, observed : float64 arrays of shape (groups,)
        Means over the samples of each group, from small to large predictions.
    error : float64 array of shape (groups,)
        Standard error of the mean observed, as if samples were independent.
    count : int64 array of shape (groups,)
        Samples of each group.
    scale : float
        Spread of what is observed over the log (1 for a confidence).
    """

    about: str
    predicted: F64
    observed: F64
    error: F64
    count: npt.NDArray[np.int64]
    scale: float

    @property
    def gap(self) -> float:
        """The mean distance of predicted and observed, weighted by samples."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.count))

    def __str__(self) -> str:
        return reports.calibration(self)


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
    known = attributes(fitted)
    if about not in known:
        raise ParameterError(f"about must be one of {listing(known, 12)}; got {about!r}.")
    if not is_integer(groups) or groups < 1:
        raise ParameterError(f"groups must be a whole number of at least 1; got {groups!r}.")
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
