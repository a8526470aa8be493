"""Require: whether every episode of a log does what is demanded of it, or enough of them do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.outcome import Shared
from tripletree.answers.requirements import Requirement, Requirements, Witnessed
from tripletree.checks import check_flag, check_number
from tripletree.errors import ParameterError
from tripletree.graph.intervals import share_bounds
from tripletree.language.conditions import contrary
from tripletree.language.formula import Choice, Comparison, Formula
from tripletree.language.numbers import rounded, unit
from tripletree.language.requirement import read_requirement
from tripletree.log.log import Log
from tripletree.questions.outcome import shared
from tripletree.questions.robustness import (
    Bounds,
    Places,
    Scale,
    Witness,
    bounds,
    measured,
    scale_of,
    units_of,
    witness,
)
from tripletree.questions.violations import always_demanded, ground_of
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MOST_WORST = 10
"""Episodes with the least margins that an answer keeps."""


def require(
    log: Log, requirements: Sequence[Any], *, share: float | None = None, as_recorded: bool = False, where: bool = True
) -> Requirements:
    """Return whether the episodes of a log meet requirements.

    Parameters
    ----------
    log : Log
        The episodes.
    requirements : sequence of str
        What is demanded, in the words of :mod:`tripletree.language.requirement`.
    share : float or None
        The share of episodes that must meet each, by the 95 % interval; None: every recorded one.
    as_recorded : bool
        Whether nothing lies beyond the end of an episode that was cut off.
    where : bool
        Whether to search for what violations have in common.
    """
    check_number(share, "share", example=0.95, none="every recorded episode", above=0, below=1)
    check_flag(as_recorded, "as_recorded")
    check_flag(where, "where")
    if not requirements:
        raise ParameterError(Message("{} is missing. {}", Option("requirement"), _how(log)))
    formulas = []
    for text in requirements:
        if not isinstance(text, str):
            raise ParameterError(
                Message("{} must be text; got {}. {}", Option("requirement"), type(text).__name__, _how(log))
            )
        formulas.append((" ".join(text.split()), read_requirement(text, log.schema)))
    places = Places(log, as_recorded)
    return Requirements(tuple(_required(places, text, formula, share, where) for text, formula in formulas))


def _how(log: Log) -> str:
    return f'Try "always ({log.schema.feature_names[0]} > 0)".'


def _required(places: Places, text: str, formula: Formula, share: float | None, where: bool) -> Requirement:
    log, scale = places.log, scale_of(places.log, formula)
    found = bounds(places, formula, scale)
    low, high = found.low[places.begin], found.high[places.begin]
    good, bad = low > 0, high < 0
    ground = shared_starts = None
    if where and bad.any():
        body = always_demanded(formula)
        ground = None if body is None else ground_of(places, body, bounds(places, body, scale))
        shared_starts = _starts(log, good, bad)
    return Requirement(
        text=text,
        share=share,
        episodes=log.n_episodes,
        held=int(good.sum()),
        violated=int(bad.sum()),
        undecided=int((~good & ~bad).sum()),
        groups=None if log.groups is None else len(np.unique(log.groups)),
        interval=(_interval(log, good)[0], _interval(log, ~bad)[1]),
        unit=scale.unit,
        ranges=scale.ranges,
        low=low,
        high=high,
        worst=_worst(places, formula, scale, low, high),
        ground=ground,
        shared=shared_starts,
        as_recorded=places.as_recorded,
    )


def _interval(log: Log, good: Mask) -> tuple[float, float]:
    """Return the 95 % interval of the share of episodes that are good; groups count, where episodes depend."""
    size = np.bincount(log.units).astype(np.float64)
    share = float(good.mean())
    return share_bounds(share, (np.bincount(log.units, good) - share * size) / log.n_episodes, size)


def _starts(log: Log, good: Mask, bad: Mask) -> Shared | None:
    decided = good | bad
    part = log if decided.all() else log.select(decided)
    return shared(part, good[decided], "start")


def _worst(places: Places, formula: Formula, scale: Scale, low: F64, high: F64) -> tuple[Witnessed, ...]:
    """Return the decided episodes with the least margins, and what these come from."""
    log = places.log
    margin = np.where(low > 0, low, np.where(high < 0, high, np.nan))
    order = np.argsort(margin, kind="stable")[: min(MOST_WORST, int((~np.isnan(margin)).sum()))]
    if not len(order):
        return ()
    # Only of these are the margins of all parts kept.
    few = Places(log.select(order), places.as_recorded)
    keep: dict[Formula, Bounds] = {}
    bounds(few, formula, scale, keep)
    found = []
    for episode, begin in zip(order.tolist(), few.begin.tolist(), strict=True):
        # What decides a violation is the upper bound, and what decides that it holds the lower one.
        one = witness(few, formula, keep, int(margin[episode] < 0), begin)
        found.append(
            Witnessed(
                episode=log.episode_ids[episode].item(),
                number=episode,
                step=None if _of_episode(one) else one.place - begin,
                margin=float(margin[episode]),
                reading=_reading(few, one),
                name=one.atom.name,
            )
        )
    return tuple(found)


def _of_episode(one: Witness) -> bool:
    return isinstance(one.atom, Comparison) and one.atom.whole


def _reading(places: Places, one: Witness) -> str:
    """Return what was recorded where a margin comes from."""
    log, name = places.log, one.atom.name
    if isinstance(one.atom, Choice):
        row = int(np.searchsorted(places.steps, one.place))
        return f"{name} = {log.schema.action.labels[int(log.actions[row])]}"
    if _of_episode(one):
        number = float(places.whole(name)[places.episode[one.place]])
        return f"{name} = {rounded(number, 3)}{unit(units_of(log)[name])}"
    number = float(places.column(name)[0][one.place])
    if not measured(log, name):
        feature = log.schema.features[log.schema.feature_names.index(name)]
        return feature.name if number == 1 else contrary(feature)
    return f"{name} = {rounded(number, 3)}{unit(units_of(log)[name])}" if math.isfinite(number) else name
