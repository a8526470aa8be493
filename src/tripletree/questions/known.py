"""What a model knows: how new a state is to it, and whether a new log is still what it was grown on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.diff import CHANGED, SAME, UNCLEAR, Known
from tripletree.asking.states import finite_states
from tripletree.errors import ParameterError
from tripletree.log.derive import derivatives
from tripletree.log.log import Log
from tripletree.log.shuffling import largest, shuffles_of
from tripletree.model.evaluate import check_same_schema, in_labels, known_codes, sightings
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]

USUAL = 0.999
"""Share of the steps of unseen episodes that count as known."""
FOLDS = 5
MOST_STATES = 40_000
LEAST_EPISODES = 5


@dataclass(frozen=True, eq=False)
class Familiar:
    """The states that a model knows, to measure the distance of others to.

    Attributes
    ----------
    nearest : scipy KDTree
        The states, in units of ``scale``.
    scale : float64 array of shape (features,)
        The standard deviation of each feature.
    limit : float
        The distance that 99.9 % of the steps of unseen episodes stay within.
    """

    nearest: Any
    scale: F64
    limit: float

    def novelty(self, states: F64) -> Any:
        """Return distances in units of what is usual: above 1 is novel."""
        return self.nearest.query(states / self.scale)[0] / self.limit


def familiar(fitted: Fitted) -> Familiar:
    """Return what a model knows of the states of its log; measured once."""
    if "familiar" not in fitted.memory:
        fitted.memory["familiar"] = _familiar(fitted)
    found: Familiar = fitted.memory["familiar"]
    return found


def _familiar(fitted: Fitted) -> Familiar:
    from scipy.spatial import KDTree

    if fitted.track is None:
        raise ParameterError(
            Message(
                "This tree kept no states of its log, so that nothing is novel to it. Grow it with {}.",
                Option("keep", "track"),
            )
        )
    recording = fitted.track.recording
    states, starts = recording.states, recording.starts
    unit = np.arange(len(starts) - 1) if recording.groups is None else recording.groups
    number = int(unit.max()) + 1
    if number < LEAST_EPISODES:
        raise ParameterError(
            f"This tree was grown on {number} episodes (or groups): at least {LEAST_EPISODES} show what is usual."
        )
    spread = states.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    rng = np.random.default_rng(0)
    fold = (rng.permutation(number) % FOLDS)[np.repeat(unit, np.diff(starts))]
    kept = np.sort(rng.permutation(len(states))[:MOST_STATES])
    near, fold = states[kept] / scale, fold[kept]
    # The model has rounded its states, and those that it is asked about are not: so are these, when they ask.
    asks = _dithered(fitted, states[kept], rng) / scale
    far = np.concatenate([KDTree(near[fold != k]).query(asks[fold == k])[0] for k in range(FOLDS) if (fold == k).any()])
    limit = max(float(np.quantile(far, USUAL)), 1e-9)
    return Familiar(KDTree(near), scale, limit)


def _dithered(fitted: Fitted, states: F64, rng: np.random.Generator) -> F64:
    """Return states anywhere between the middles to the next known numbers, where features are no whole numbers."""
    found = states.copy()
    for f, feature in enumerate(fitted.schema.features):
        if feature.kind in ("real", "angle"):
            values = np.unique(states[:, f])
            middle = (values[1:] + values[:-1]) / 2
            low, high = np.append(values[:1], middle), np.append(middle, values[-1:])
            place = np.searchsorted(values, states[:, f])
            found[:, f] = rng.uniform(low[place], high[place])
    return found


def novelty(fitted: Fitted, states: Any) -> Any:
    """Return how new one state is, or each of several: its distance to what is known, 1 being what is still usual."""
    given, single = finite_states(states, fitted.schema, "state")
    found = familiar(fitted).novelty(given)
    return float(found[0]) if single else found


def still_known(fitted: Fitted, old: Log, new: Log, alpha: float, seed: int = 0) -> Known:
    """Return whether a model does as well on a new log as on episodes of the old one that it has not seen.

    Parameters
    ----------
    fitted : Fitted
        The model.
    old, new : Log
        The logs; only episodes that the model was not grown on say how well it does.
    alpha : float
        Chance of a false alarm.
    seed : int
        Of the shuffles.
    """
    check_same_schema(fitted.schema, old, "old log")
    check_same_schema(fitted.schema, new, "new log")
    logs = [in_labels(fitted.schema, log) for log in (old, new)]
    fresh = [sightings(fitted, log.hashes)[2] for log in logs]
    counted = (int(fresh[0].sum()), int(fresh[1].sum()))
    if min(counted) < 1:
        return Known(UNCLEAR, None, {}, counted)
    parts = [_errors(fitted, log.select(mask)) for log, mask in zip(logs, fresh, strict=True)]
    label = np.repeat([False, True], [len(next(iter(part.values()))) for part in parts])
    marks = np.stack([np.concatenate([part[name] for part in parts]) for name in parts[0]], axis=1)
    shuffles = shuffles_of(label, np.zeros(len(label), np.int64), np.random.default_rng(seed))
    if shuffles.smallest > alpha:
        return Known(UNCLEAR, None, {}, counted)
    p = shuffles.p(largest(shuffles.labels, marks - marks.mean(axis=0)))
    means = {name: (float(parts[0][name].mean()), float(parts[1][name].mean())) for name in parts[0]}
    return Known(CHANGED if p <= alpha else SAME, p, means, counted)


def _errors(fitted: Fitted, log: Log) -> dict[str, F64]:
    """Return the mean errors of a model in each episode, as shares of what varies, and its share of novel states."""
    at, leaf = fitted.attributes, fitted.tree.leaf_nodes[fitted.tree.apply(log.states)]
    found: dict[str, F64] = {}
    if log.schema.has_action:
        if log.schema.action.kind == "continuous":
            scale = np.maximum(np.asarray(at.action_std)[0], 1e-300)
            found["action"] = (((log.actions - np.asarray(at.action_mean)[leaf]) / scale) ** 2).mean(axis=1)
        else:
            codes = known_codes(fitted, log)
            found["action"] = 1 - np.asarray(at.shares)[leaf, codes] * (codes >= 0)
    if at.derivative_mean is not None and at.derivative_std is not None:
        scale = np.where(at.derivative_std[0] > 0, at.derivative_std[0], 1.0)
        apart = ((derivatives(log) - at.derivative_mean[leaf]) / scale) ** 2
        found["derivative"] = np.nan_to_num(apart).mean(axis=1)
    if fitted.track is not None:
        found["novel states"] = (familiar(fitted).novelty(log.states) > 1).astype(np.float64)
    size = np.diff(log.starts)
    return {name: np.add.reduceat(error, log.starts[:-1]) / size for name, error in found.items()}
