"""Two logs to compare: do they fit together, what is independent of what, and how one log becomes two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.given import episodes_given
from tripletree.checks import check_whole, is_number, listing
from tripletree.errors import LogError, ParameterError
from tripletree.log.log import Log
from tripletree.log.recording import Recording
from tripletree.log.schema import Schema
from tripletree.model.evaluate import in_labels
from tripletree.text import Message, Option, count

I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

STEP = 0.05
"""Share by which the length of steps may differ."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two logs, pooled: first the episodes of the old one, then those of the new one.

    Attributes
    ----------
    log : Log
        All episodes.
    episode_new : bool array of shape (episodes,)
        Which are of the new log.
    episode_unit : int64 array of shape (episodes,)
        What changes places as a whole: the episode, or its group.
    new : bool array of shape (units,)
        Which units are of the new log.
    block : int64 array of shape (units,)
        Units change places within a block: all are in one, or those of each group that is in both logs.
    unit_name : str
        What units are called: "episode", or the name of groups.
    left_out : int
        Episodes of groups that only one log has, where others are in both.
    names : (str, str)
        What the logs are called.
    success : bool array of shape (episodes,), or None
        Which episodes succeed, where somebody said what that is.
    """

    log: Log
    episode_new: Bool
    episode_unit: I64
    new: Bool
    block: I64
    unit_name: str
    left_out: int
    names: tuple[str, str]
    success: Bool | None

    @cached_property
    def episode(self) -> I64:
        """The episode of each step."""
        return np.repeat(np.arange(self.log.n_episodes), np.diff(self.log.starts))

    @cached_property
    def unit(self) -> I64:
        """The unit of each step."""
        return self.episode_unit[self.episode]

    @property
    def logs(self) -> tuple[Log, Log]:
        """The two logs again, as far as they are compared."""
        return self.log.select(~self.episode_new), self.log.select(self.episode_new)

    @property
    def episodes(self) -> tuple[int, int]:
        """How many episodes each log has."""
        return int((~self.episode_new).sum()), int(self.episode_new.sum())

    @property
    def steps(self) -> tuple[int, int]:
        """How many steps each log has."""
        lengths = np.diff(self.log.starts)
        return int(lengths[~self.episode_new].sum()), int(lengths[self.episode_new].sum())


def pair_of(old: Log, new: Log, names: Sequence[str] = ("old", "new"), success: Any = None) -> Pair:
    """Return two logs as a pair; LogError where they do not fit together."""
    old, new = (replace(log, weights=None) for log in _alike(old, new))
    groups = _groups(old, new)
    log = Log.concatenate([old, new])
    label = np.arange(log.n_episodes) >= old.n_episodes
    left_out = 0
    if groups is None:
        unit, unit_new, block, called = np.arange(log.n_episodes), label, np.zeros(log.n_episodes, np.int64), "episode"
    else:
        group = np.unique(groups, return_inverse=True)[1].reshape(-1)
        number = int(group.max()) + 1
        has_old, has_new = (np.bincount(group[side], minlength=number) > 0 for side in (~label, label))
        both = has_old & has_new
        if has_old.sum() == has_new.sum() == 1:
            # One pilot beside another, or beside himself: of these two, and not of pilots, the logs are to tell.
            unit, unit_new, block = np.arange(log.n_episodes), label, np.zeros(log.n_episodes, np.int64)
            called = "episode"
        elif both.any():
            # A pilot who flew both is compared with himself: his episodes change places among themselves.
            kept = both[group]
            left_out = int((~kept).sum())
            log, label, group = (log, label, group) if kept.all() else (log.select(kept), label[kept], group[kept])
            unit, unit_new, called = np.arange(log.n_episodes), label, "episode"
            block = np.unique(group, return_inverse=True)[1].reshape(-1)
        else:
            unit, unit_new, block, called = group, has_new, np.zeros(number, np.int64), old.group_name
    return Pair(log, label, unit, unit_new, block, called, left_out, (names[0], names[1]), _success(log, success))


def split_log(log: Log, at: Any) -> tuple[Log, Log, tuple[str, str]]:
    """Return the old and the new part of one log, and what they are called.

    Parameters
    ----------
    log : Log
        Everything.
    at : int, str or bool array of shape (episodes,)
        How many episodes are old, the first ones; or which are, as a condition on episodes such as "pilot = Anna".
    """
    if is_number(at):
        check_whole(at, "split", 1, log.n_episodes - 1, example=max(log.n_episodes // 2, 1))
        first = np.arange(log.n_episodes) < int(at)
        names = (f"the first {count(int(at), 'episode')}", "those after")
    else:
        given = episodes_given(log.schema, Recording.of(log), at, "split")
        first = np.asarray(given.episodes)
        if isinstance(at, str) and "group =" in given.text:
            # Pilots are what is compared: the episodes of each are the units.
            log = replace(log, groups=None)
        names = (given.text if isinstance(at, str) else "those chosen", "the others")
    if first.all() or not first.any():
        raise ParameterError(
            Message(
                "{} must divide the log, but {} of its episodes are old.",
                Option("split"),
                "all" if first.all() else "none",
            )
        )
    return log.select(first), log.select(~first), names


def _success(log: Log, success: Any) -> Bool | None:
    wanted = log.schema.success if success is None else success
    if isinstance(wanted, str) and not wanted:
        return None
    return np.asarray(episodes_given(log.schema, Recording.of(log), wanted, "success").episodes)


def _groups(old: Log, new: Log) -> npt.NDArray[Any] | None:
    has = [log.groups is not None for log in (old, new)]
    if any(has) and not all(has):
        which = "new" if has[0] else "old"
        name = (old if has[0] else new).group_name
        raise LogError(
            Message("The {} log has no groups and the other has: read both with {}.", which, Option("group", name))
        )
    return np.concatenate([np.asarray(log.groups).astype(np.str_) for log in (old, new)]) if all(has) else None


def _alike(old: Log, new: Log) -> tuple[Log, Log]:
    """Return both logs with one schema, or say in a sentence why there is none."""
    ours, theirs = old.schema, new.schema
    if ours.feature_names != theirs.feature_names:
        _different_features(ours, theirs)
    for one, other in zip(ours.features, theirs.features, strict=True):
        if one.unit != other.unit or one.period != other.period:
            units = [(part.unit or "no unit") + " (an angle)" * bool(part.period) for part in (one, other)]
            raise LogError(
                f"`{one.name}` has {units[0]} in the old log and {units[1]} in the new one: bring it to one unit first."
            )
    for what, has in (("actions", "has_action"), ("rewards", "has_reward")):
        if getattr(ours, has) != getattr(theirs, has):
            lacks = "new" if getattr(ours, has) else "old"
            raise LogError(
                Message(
                    "The {} log has no {}, the other has. To compare the rest, read both with {}.",
                    lacks,
                    what,
                    Option(what[:-1], "none"),
                )
            )
    if ours.per_second != theirs.per_second:
        timed = "old" if ours.per_second else "new"
        raise LogError(
            f"Only the {timed} log knows the time between its steps, so that its derivatives are per second: give both "
            "logs their times, or neither."
        )
    if old.dt is not None and new.dt is not None:
        was, now = float(np.median(old.dt)), float(np.median(new.dt))
        if abs(was - now) > STEP * max(was, now):
            raise LogError(
                f"A step takes {was:.4g} s in the old log and {now:.4g} s in the new one: bring them to one rate first."
            )
    if ours.action.kind != theirs.action.kind:
        raise LogError(
            Message(
                "The old log has {} actions, the new one {} ones. If they are the same, read both with {}.",
                ours.action.kind,
                theirs.action.kind,
                Option("action_kind", ours.action.kind),
            )
        )
    if ours.action.kind == "continuous":
        if ours.action.names != theirs.action.names:
            raise LogError(
                f"The old log has the actions {listing(ours.action.names)}, the new one {listing(theirs.action.names)}."
            )
        if ours.action.units != theirs.action.units:
            raise LogError("The actions have other units in the new log than in the old: bring them to one first.")
    else:
        old, new = _one_set_of_labels(old, new)
    schema = replace(old.schema, success=old.schema.success or new.schema.success)
    return replace(old, schema=schema), replace(new, schema=schema)


def _one_set_of_labels(old: Log, new: Log) -> tuple[Log, Log]:
    new = in_labels(old.schema, new)
    ours, theirs = old.schema.action, new.schema.action
    if not set(ours.labels) & set(theirs.labels):
        raise LogError(
            f"The actions of the old log are {listing(ours.labels)}, those of the new one {listing(theirs.labels)}: no "
            "label is in both, so nothing can be compared. If some mean the same, name them with labels=."
        )
    known = (*ours.labels, *(label for label in theirs.labels if label not in ours.labels))
    action = replace(ours, labels=known, codes=())
    schema = replace(old.schema, action=action)
    table = np.array([known.index(label) for label in theirs.labels], np.int32)
    return replace(old, schema=schema), replace(new, actions=table[new.actions], schema=schema)


def _different_features(ours: Schema, theirs: Schema) -> None:
    lacking = [name for name in ours.feature_names if name not in theirs.feature_names]
    extra = [name for name in theirs.feature_names if name not in ours.feature_names]
    parts = [f"lacks {listing(lacking)}"] * bool(lacking) + [f"also has {listing(extra)}"] * bool(extra)
    said = " and ".join(parts) or "has the same features in another order"
    shared = [name for name in ours.feature_names if name in theirs.feature_names]
    fix = Message(" To compare what both have, read both with {}.", Option("features", shared)) if shared else ""
    raise LogError(Message("The new log {}.{}", said, fix))
