"""Disagreement: a tree and somebody else, asked about the same recorded states: where they part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.disagreement import Both, Disagreement, Spot, spot
from tripletree.asking.agents import ask_agent
from tripletree.checks import check_whole
from tripletree.errors import ParameterError
from tripletree.graph.intervals import share_bounds
from tripletree.language.conditions import clauses
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence, recorded

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

STATES = 10_000
"""States that both are asked about, at most: spread evenly over the record."""
SPOTS = 5
"""Leaves that are told."""
EXAMPLES = 50
"""States that are shown."""
NEAR = 0.5
"""Standard deviations of an action that count as nearly the same."""
FEWEST = 5
"""States in a leaf from which on it can stand out."""


def disagreement(
    fitted: Fitted, found: Evidence | None, other: Any, who: str = "agent", states: int = STATES
) -> Disagreement:
    """Return where a tree does something else than an agent, or than another tree.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    found : Evidence or None
        Where both are asked: the recorded states; None where none are on record.
    other : callable or Fitted
        An agent, as in `asking.agents.ask_agent`; or another tree with the same features and actions.
    who : str
        What sentences call it.
    states : int
        How many states, at most.
    """
    check_whole(states, "states", 1, example=STATES)
    found = recorded(found)
    _check_acts(fitted)
    recording = found.recording
    rows = np.unique(np.linspace(0, recording.n_samples - 1, min(states, recording.n_samples)).round().astype(np.int64))
    seen, leaf, whose = recording.states[rows], found.leaf[rows], found.episodes.group[found.episodes.of_row[rows]]
    ours = _done(fitted, seen)
    theirs = _other(fitted, other, seen)
    labels = fitted.schema.action.kind == "discrete"
    scale = fitted.action_scale if fitted.action_scale is not None else np.ones(0)
    if labels:
        apart = (ours != theirs).astype(np.float64)
    else:
        safe = np.where(scale > 0, scale, 1.0)
        apart = np.sqrt((((ours - theirs) / safe) ** 2).mean(axis=1))
    number = np.bincount(leaf, minlength=fitted.tree.n_leaves)
    total = np.bincount(leaf, apart, minlength=fitted.tree.n_leaves).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(number > 0, total / number, np.nan)
    by_leaf = 1 - mean if labels else mean
    size = np.bincount(whose).astype(np.float64)
    share = None if not labels else float(1 - apart.mean())
    interval = None
    if share is not None and (size > 0).sum() > 1:
        known = size > 0
        influence = ((size - np.bincount(whose, apart, minlength=len(size))) - share * size)[known] / len(rows)
        interval = share_bounds(share, influence, size[known])
    worst = np.argsort(-apart, kind="stable")[:EXAMPLES]
    worst = worst[apart[worst] > 0]
    names = fitted.schema.action.names
    rms = [] if labels else np.sqrt(((ours - theirs) ** 2).mean(axis=0)).tolist()
    return Disagreement(
        who=who,
        states=len(rows),
        episodes=len(np.unique(found.episodes.of_row[rows])),
        agreement=share,
        interval=interval,
        apart=dict(zip(names, rms, strict=False)),
        relative={
            name: far / one if one > 0 else None for name, far, one in zip(names, rms, scale.tolist(), strict=False)
        },
        by_leaf=by_leaf,
        spots=_spots(fitted, number, total, by_leaf, labels),
        worst=rows[worst],
        ours=tuple(_told(row) for row in ours[worst]),
        theirs=tuple(_told(row) for row in theirs[worst]),
        units=dict(zip(names, fitted.schema.action.units, strict=False)),
    )


def both(fitted: Fitted, state: F64, other: Any, who: str = "agent") -> Both:
    """Return what a tree and somebody else do in one state, shape (features,); arguments as in `disagreement`."""
    _check_acts(fitted)
    ours, theirs = _done(fitted, state[None])[0], _other(fitted, other, state[None])[0]
    action = fitted.schema.action
    if action.kind == "discrete":
        return Both(who, str(ours), str(theirs), str(ours) == str(theirs), action.names, action.units)
    near = np.abs(ours - theirs) <= NEAR * np.asarray(fitted.action_scale)
    return Both(who, tuple(ours.tolist()), tuple(theirs.tolist()), bool(near.all()), action.names, action.units)


def _check_acts(fitted: Fitted) -> None:
    if not fitted.schema.has_action:
        raise ParameterError("This tree knows no actions, so there is nothing that somebody else could do instead.")


def _done(fitted: Fitted, states: F64) -> npt.NDArray[Any]:
    """Return what a tree does: labels as text, or numbers, shape (states, dimensions)."""
    told = fitted.told(states, fitted.tree.apply(states))[:, fitted.targets["action"]]
    if fitted.schema.action.kind == "discrete":
        labels: npt.NDArray[Any] = np.array(fitted.schema.action.labels)[told.argmax(axis=1)]
        return labels
    return told


def _other(fitted: Fitted, other: Any, states: F64) -> npt.NDArray[Any]:
    if isinstance(other, Fitted):
        ours, theirs = fitted.schema, other.schema
        if ours.feature_names != theirs.feature_names or ours.action.kind != theirs.action.kind:
            raise ParameterError(
                "The two trees have other features or another kind of action, so there is no state to ask both about."
            )
        return _done(other, states)
    agent: Callable[[F64], Any] = other
    return ask_agent(agent, states, fitted.schema)


def _spots(fitted: Fitted, number: I64, total: F64, by_leaf: F64, labels: bool) -> tuple[Spot, ...]:
    """Return the leaves that make up most of the difference, and in which it is larger than on the whole."""
    whole, mean = float(total.sum()), float(total.sum() / max(number.sum(), 1))
    if not whole > 0:
        return ()
    much = np.where(number > 0, total / np.maximum(number, 1), 0.0)
    ranked = np.argsort(-total, kind="stable")
    chosen = [k for k in ranked.tolist() if number[k] >= FEWEST and much[k] > mean][:SPOTS]
    lower, upper = fitted.bounds
    found = []
    for k in chosen:
        when = tuple(clauses(fitted.schema, lower[k].tolist(), upper[k].tolist()))
        share = float(by_leaf[k])
        text = spot(when, int(number[k]), share, labels, float(total[k]) / whole)
        found.append(Spot(k, when, int(number[k]), share, text))
    return tuple(found)


def _told(row: Any) -> Any:
    return row.item() if np.ndim(row) == 0 else tuple(row.tolist())
