"""Log: what an agent saw, did and got, as immutable columns; the input of everything else."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, Unpack

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_ending, check_flag, check_number, generator, listing
from tripletree.errors import LogError, ParameterError, TripleTreeWarning
from tripletree.log.arrays import SPELLED, from_arrays
from tripletree.log.build import own
from tripletree.log.card import log_card
from tripletree.log.coerce import NUMERIC, extremes, freeze
from tripletree.log.endings import ENDING_NAMES, TERMINATED, TRUNCATED, UNKNOWN
from tripletree.log.episodes import from_episodes
from tripletree.log.exact import add_weights, mean_weights
from tripletree.log.findings import Finding, Findings, Report
from tripletree.log.frames import OWN, data_frame, described, table_of, write_csv, write_parquet
from tripletree.log.minari_data import write_minari
from tripletree.log.npz_reader import unpacked_limit
from tripletree.log.objects import dict_table, frame_table
from tripletree.log.roles import Naming, Roles
from tripletree.log.schema import Schema, is_unicode
from tripletree.log.tables import from_table
from tripletree.text import Message, Option, count, joined
from tripletree.writing import reason, replacing, shown

__all__ = ["ENDING_NAMES", "TERMINATED", "TRUNCATED", "UNKNOWN", "Log"]

_logger = logging.getLogger("tripletree")


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Episodes of states, actions and rewards, one row for each step, one episode after the other.

    Make one with :meth:`from_arrays`, :meth:`from_episodes`, :meth:`from_dict`, :meth:`from_frame` or
    :func:`tripletree.read_log`. All arrays are read-only.

    Attributes
    ----------
    states : float64 array of shape (samples, features)
        The state before each action.
    actions : int32 array of shape (samples,), or float64 array of shape (samples, dimensions)
        Positions in ``schema.action.labels`` if discrete, the numbers themselves if continuous.
    rewards : float64 array of shape (samples,)
        The reward of each action.
    starts : int64 array of shape (episodes + 1,)
        Episode ``e`` is rows ``starts[e]`` to ``starts[e + 1]``.
    final_states : float64 array of shape (episodes, features)
        The state after the last action; rows of NaN where it was not recorded.
    endings : uint8 array of shape (episodes,)
        ``UNKNOWN``, ``TERMINATED`` or ``TRUNCATED``.
    episode_ids : int64 or str array of shape (episodes,)
        What the user called the episodes.
    schema : Schema
        Names, units and kinds of features and actions.
    reading : str
        How the source was interpreted, in words: which column became what, and what was guessed.
    findings : tuple of Finding
        What was noticed while reading; part of :meth:`check`.
    dt : float64 array of shape (samples,), or None
        Seconds from each step to the next, where the log knows them: then derivatives are per second.
    groups : int64 or str array of shape (episodes,), or None
        Which episodes depend on each other: those of one pilot, one vehicle. The unit of intervals, and of
        :meth:`split`; None: every episode by itself.
    group_name : str
        What the groups are called.
    weights : float64 array of shape (samples,), or None
        How much each step counts, at least 0; None: all the same. See :meth:`weighted`.

    Examples
    --------
    >>> log = Log.from_dict({"episode": [0, 0, 1], "pos": [1.5, 2.5, 0.5], "action": [0, 1, 0], "reward": [0, 1, 0]})
    >>> log
    Log(3 samples, 2 episodes, 1 feature: pos; discrete action: 0, 1)
    >>> print(log.reading)
    Read 3 samples in 2 episodes from a dict.
      episode      episode (guessed)
      reward       reward (guessed)
      features     pos (real)
      action       action (discrete, 2 labels: 0, 1) (guessed)
      endings      2 unknown
      final state  not recorded
    To change a guess, name the column: episode="...", action=[...], features=[...], ignore=[...].
    """

    states: npt.NDArray[np.float64]
    actions: npt.NDArray[Any]
    rewards: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]
    final_states: npt.NDArray[np.float64]
    endings: npt.NDArray[np.uint8]
    episode_ids: npt.NDArray[Any]
    schema: Schema
    reading: str = ""
    findings: tuple[Finding, ...] = ()
    dt: npt.NDArray[np.float64] | None = None
    groups: npt.NDArray[Any] | None = None
    group_name: str = "group"
    weights: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        discrete = self.schema.action.kind == "discrete"
        n, d, episodes = len(self.rewards), len(self.schema.features), len(self.endings)
        width = () if discrete else (len(self.schema.action.names),)
        named = {"episode_ids": self.episode_ids} | ({} if self.groups is None else {"groups": self.groups})
        for name, dtype, shape in (
            ("states", np.float64, (n, d)),
            ("actions", np.int32 if discrete else np.float64, (n, *width)),
            ("rewards", np.float64, (n,)),
            ("starts", np.int64, (episodes + 1,)),
            ("final_states", np.float64, (episodes, d)),
            ("endings", np.uint8, (episodes,)),
            *(
                (name, np.int64 if np.asarray(given).dtype.kind in "iu" else np.str_, (episodes,))
                for name, given in named.items()
            ),
            *([] if self.dt is None else [("dt", np.float64, (n,))]),
            *([] if self.weights is None else [("weights", np.float64, (n,))]),
        ):
            given = np.asarray(getattr(self, name))
            kinds, allowed = ("iuUSTO", "integers or text") if name in named else (NUMERIC, "real numbers")
            if given.dtype.kind not in kinds:
                raise LogError(f"Log.{name} holds {given.dtype} values; only {allowed} are allowed.")
            # A copy where the caller could still change it: what was checked here must stay so.
            try:
                array = own(getattr(self, name), dtype)
            except UnicodeDecodeError:
                raise LogError(f"Log.{name} holds bytes that are no text; decode them first.") from None
            if array.dtype.kind in "iu" and given.dtype != array.dtype and not np.array_equal(given, array):
                raise LogError(f"Log.{name} must hold whole numbers that fit {array.dtype}.")
            if array.shape != shape:
                raise LogError(f"Log.{name} has shape {array.shape}; expected {shape}.")
            object.__setattr__(self, name, array)
        for name in named:
            texts = getattr(self, name)
            if texts.dtype.kind == "U" and (
                wrong := next((text for text in texts.tolist() if not is_unicode(text)), "")
            ):
                raise LogError(f"Log.{name} holds {wrong!r:.60}, which is not Unicode; it cannot be written to a file.")
        if not isinstance(self.group_name, str) or not self.group_name or not is_unicode(self.group_name):
            raise LogError(f"Log.group_name must be a text of at least one character; got {self.group_name!r:.60}.")
        starts = self.starts
        if n == 0 or starts[0] != 0 or starts[-1] != n or (np.diff(starts) < 1).any():
            raise LogError(
                f"Log.starts must increase from 0 to the number of samples ({n}): every episode has at least one step."
            )
        if discrete and not ((self.actions >= 0) & (self.actions < len(self.schema.action.labels))).all():
            raise LogError(
                f"Log.actions holds a code without a label; there are {count(len(self.schema.action.labels), 'label')}."
            )
        if not all(np.isfinite(part).all() for part in (self.states, self.actions, self.rewards)):
            raise LogError(
                "Log.states, actions and rewards must be finite. Make the log with Log.from_arrays, which says where "
                "they are not."
            )
        if (self.dt is not None) != self.schema.per_second:
            raise LogError("Log.dt must be given if and only if the schema says that derivatives are per second.")
        if self.dt is not None and not (np.isfinite(self.dt) & (self.dt > 0)).all():
            raise LogError("Log.dt must hold finite numbers above 0: the seconds from each step to the next.")
        if self.weights is not None and not (np.isfinite(self.weights) & (self.weights >= 0)).all():
            raise LogError("Log.weights must hold finite numbers of at least 0: how much each step counts.")
        missing = np.isnan(self.final_states)
        if np.isinf(self.final_states).any() or (missing.any(axis=1) != missing.all(axis=1)).any():
            raise LogError("Log.final_states must be finite, or a whole row of NaN where one was not recorded.")
        if (self.endings > TRUNCATED).any():
            raise LogError(f"Log.endings holds {self.endings.max()}; the largest code is {TRUNCATED} (truncated).")

    @property
    def n_samples(self) -> int:
        """Number of steps in all episodes."""
        return len(self.rewards)

    @property
    def n_features(self) -> int:
        """Number of state features."""
        return int(self.states.shape[1])

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.endings)

    @property
    def units(self) -> npt.NDArray[np.int64]:
        """What is independent of what: a number for each episode, the same within a group; shape (episodes,)."""
        if self.groups is None:
            return np.arange(self.n_episodes)
        return np.unique(self.groups, return_inverse=True)[1].reshape(-1).astype(np.int64)

    @property
    def episode_weights(self) -> npt.NDArray[np.float64] | None:
        """How much each episode counts where moves are counted, shape (episodes,): the mean weight of its steps."""
        if self.weights is None:
            return None
        largest = float(self.weights.max())
        return mean_weights(
            add_weights(self.weights, self.starts, largest, self.n_samples), np.diff(self.starts), largest
        )

    def __len__(self) -> int:
        return self.n_samples

    def __repr__(self) -> str:
        names = self.schema.feature_names
        action = self.schema.action
        listed = ", ".join(names[:6]) + ", ..." * (len(names) > 6)
        values = action.labels or action.names
        moves = ", ".join(values[:6]) + ", ..." * (len(values) > 6)
        return (
            f"Log({count(self.n_samples, 'sample')}, {count(self.n_episodes, 'episode')}, "
            f"{count(self.n_features, 'feature')}: {listed}; "
            + (f"{action.kind} action: {moves})" if self.schema.has_action else "no actions)")
        )

    def _repr_html_(self) -> str:
        return log_card(self)

    @classmethod
    def from_arrays(
        cls,
        states: object,
        actions: object,
        rewards: object,
        *,
        episodes: object = None,
        steps: object = None,
        starts: object = None,
        terminated: object = None,
        truncated: object = None,
        done: object = None,
        next_states: object = None,
        final_states: object = None,
        feature_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        episode_ids: object = None,
        groups: object = None,
        weights: object = None,
        **naming: Unpack[Naming],
    ) -> Self:
        """Make a log from arrays with one row for each step.

        Parameters
        ----------
        states : array-like of shape (samples, features) or (samples,)
            The state before each action.
        actions : array-like of shape (samples,) or (samples, dimensions)
            Integers, booleans and text are discrete, floats are continuous; ``action_kind`` overrules this.
        rewards : array-like of shape (samples,)
            The reward of each action.
        episodes, steps : array-like of shape (samples,), optional
            The episode of each row, and its place in the episode. Rows are grouped by episode and sorted by step.
        starts : array-like of int, optional
            Instead of ``episodes``: the first row of every episode.
        terminated, truncated, done : array-like of bool of shape (samples,), optional
            Flags that are set in the last row of an episode; with ``starts``, also of shape (episodes,). Without
            ``episodes`` and ``starts``, they say where episodes end.
        next_states : array-like of shape (samples, features), optional
            The state after each action; used at the end of episodes.
        final_states : array-like of shape (episodes, features), optional
            The state after the last action of each episode; NaN where unknown.
        feature_names, action_names : sequence of str, optional
            Default ``s0, s1, ...`` and ``action`` or ``action_0, action_1, ...``.
        episode_ids : array-like of shape (episodes,), optional
            Names of the episodes, with ``starts``.
        groups : array-like of shape (samples,), optional
            Which episodes depend on each other, such as the pilot of each; with ``starts``, also of shape (episodes,).
            An episode has one group.
        weights : array-like of shape (samples,), optional
            How much each step counts: at least 0, and not all 0.
        **naming
            ``units={"speed": "m/s"}``, ``kinds={"phi": "angle"}`` (real, binary, integer, angle; category, or a list of
            categories, for values that are names), ``missing="split"``, ``"drop"`` or ``"fill"`` for missing values,
            ``gap=60`` for the longest time (in seconds, or in steps) between two steps of an episode,
            ``labels=["left", "right"]`` or ``{0: "left", 1: "right"}``, ``action_kind="discrete"`` or
            ``"continuous"``, ``ending="terminated"`` or ``"truncated"`` for episodes whose ending is not in the log,
            ``endless=True`` for one recording without end, ``success="return > 200"`` for which episodes succeed (see
            :func:`tripletree.outcome`).

        Returns
        -------
        Log

        Raises
        ------
        LogError
            With a list of all problems found.

        Examples
        --------
        >>> Log.from_arrays([[0.5], [1.5], [0.0]], ["up", "down", "up"], [0, 1, 0], episodes=[7, 7, 8])
        Log(3 samples, 2 episodes, 1 feature: s0; discrete action: down, up)
        """
        findings = Findings(spelled=SPELLED)
        markers = {
            "episode": episodes,
            "step": steps,
            "starts": starts,
            "terminated": terminated,
            "truncated": truncated,
            "done": done,
        }
        fields = from_arrays(
            states,
            actions,
            rewards,
            markers,
            feature_names,
            action_names,
            naming,
            findings,
            next_states=next_states,
            final_states=final_states,
            episode_ids=episode_ids,
            groups=groups,
            weights=weights,
        )
        return cls._announced(fields, findings)

    @classmethod
    def from_episodes(
        cls,
        episodes: object,
        *,
        feature_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        episode_ids: object = None,
        groups: object = None,
        **naming: Unpack[Naming],
    ) -> Self:
        """Make a log from a list of episodes.

        Parameters
        ----------
        episodes : iterable
            Each a dict or an object with ``states`` (or ``observations``), ``actions``, ``rewards`` and optionally
            ``final_state``, ``terminated``, ``truncated``, ``id`` and ``group``; or a tuple (states, actions, rewards)
            or (states, actions, rewards, final_state). If there is one more state than actions, the last one is the
            final state, as Gymnasium records it. The two flags may be single booleans, or one for each step.
        feature_names, action_names, episode_ids, groups, **naming
            As in :meth:`from_arrays`.

        Returns
        -------
        Log

        Raises
        ------
        LogError
            With a list of all problems found.

        Examples
        --------
        >>> Log.from_episodes([{"states": [[0.5], [1.5], [2.0]], "actions": [0, 1], "rewards": [0, 1]}])
        Log(2 samples, 1 episode, 1 feature: s0; discrete action: 0, 1)
        """
        findings = Findings()
        return cls._announced(
            from_episodes(episodes, feature_names, action_names, episode_ids, groups, naming, findings), findings
        )

    @classmethod
    def from_dict(cls, columns: Mapping[str, object], **roles: Unpack[Roles]) -> Self:
        """Make a log from a dict of columns with one value for each step.

        Two-dimensional columns become ``name_0``, ``name_1``, ...; the roles of columns are guessed from their names
        unless given.

        Parameters
        ----------
        columns : mapping of str to array-like
            The columns.
        **roles
            Column names: ``episode=``, ``step=``, ``action=`` (one or a list), ``reward=``, ``terminated=``,
            ``truncated=``, ``done=``, ``previous_row=``, ``next_row=`` (pointers to rows, -1 for none),
            ``next_state=`` (prefix of the columns of the state after the action), ``time=`` (dates, or numbers of
            seconds), ``dt=`` (seconds to the next row), ``group=`` (which episodes depend on each other, such as the
            pilot; the unit of intervals), ``weight=`` (how much each row counts), ``features=[...]`` (with ``...`` in
            the list: and all others that would be features), ``ignore=[...]``. And the options ``units``, ``kinds``,
            ``labels``, ``action_kind``, ``ending``, ``endless``, ``missing``, ``gap`` of :meth:`from_arrays`.
            ``reward="none"`` and ``action="none"`` say that the log has none.

        Returns
        -------
        Log

        Raises
        ------
        LogError
            With a list of all problems found.
        """
        findings = Findings()
        if not isinstance(columns, Mapping):
            findings.fail(
                "type",
                f"Expected a dict of columns, got {type(columns).__name__}.",
                "For arrays type Log.from_arrays(...), for a DataFrame Log.from_frame(...).",
            )
        return cls._announced(from_table(dict_table(columns), roles, findings), findings)

    @classmethod
    def from_frame(cls, frame: Any, **roles: Unpack[Roles]) -> Self:
        """Make a log from a DataFrame (pandas, polars) or an Arrow table; options as in :meth:`from_dict`."""
        findings = Findings()
        return cls._announced(from_table(frame_table(frame), roles, findings), findings)

    @classmethod
    def _announced(cls, fields: dict[str, Any], findings: Findings) -> Self:
        """Make the log, and announce how it was read: what is doubtful as a warning, all of it as a logging message."""
        log = cls(**fields, findings=findings.report().findings)
        _logger.info(log.reading)
        doubts = [finding.message for finding in log.findings if finding.level == "warning"]
        if doubts:
            warnings.warn(joined("\n", doubts), TripleTreeWarning, stacklevel=3)
        return log

    def check(self) -> Report:
        """Return what the doctor found: warnings and notes about this log."""
        # Imported here, since the doctor takes anything that can become a log and so imports this module.
        from tripletree.log.doctor import examine

        return examine(self)

    def repaired(self) -> Log:
        """Return a log without the faults that a program can remedy; ``findings`` has a note for each repair.

        Outliers and frozen sensors are left out, and their episodes divided there; copies of episodes and features
        that say nothing of their own are left out; angles that wrap become angles; episodes in another unit and
        actions beyond their limit are corrected. What only a person can tell, such as delays, stays as it is.
        """
        from tripletree.log.repair import repair

        return repair(self)[0]

    def select(self, episodes: Any) -> Log:
        """Return a log of some of the episodes.

        Parameters
        ----------
        episodes : slice, sequence of int, or array of bool
            Which episodes, counted from 0, in the order you want.

        Returns
        -------
        Log
        """
        try:
            chosen = np.atleast_1d(np.arange(self.n_episodes)[episodes])
        except (IndexError, TypeError, ValueError):
            raise ParameterError(
                Message(
                    "{} must be positions from 0 to {}, a slice, or a mask of {}; got {!r}. Try {}.",
                    Option("episodes"),
                    self.n_episodes - 1,
                    count(self.n_episodes, "boolean"),
                    episodes,
                    Option("episodes", [0]),
                )
            ) from None
        if chosen.ndim != 1 or not len(chosen):
            raise ParameterError(
                Message(
                    "{} must select at least one episode; got {!r}. Try {}.",
                    Option("episodes"),
                    episodes,
                    Option("episodes", [0]),
                )
            )
        lengths = np.diff(self.starts)[chosen]
        starts = np.append(0, np.cumsum(lengths))
        rows = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Log(
            freeze(self.states.take(rows, axis=0)),
            freeze(self.actions.take(rows, axis=0)),
            freeze(self.rewards.take(rows)),
            starts,
            self.final_states[chosen],
            self.endings[chosen],
            self.episode_ids[chosen],
            self.schema,
            self.reading,
            dt=None if self.dt is None else freeze(self.dt[rows]),
            groups=None if self.groups is None else self.groups[chosen],
            group_name=self.group_name,
            weights=None if self.weights is None else freeze(self.weights[rows]),
        )

    def with_lags(self, lags: Sequence[int]) -> Log:
        """Return the log with what features and actions were some steps ago, for an agent that remembers.

        Each feature becomes one more for each lag, such as "v_y 5 steps ago". So does each dimension of the action; a
        discrete action becomes a feature for each label, such as "action 1 step ago is left". Before an episode is so
        old, features are those of its first state, and actions are 0 or "none yet".

        How such features change plays no part in growth and losses: they are copies of the past.

        Parameters
        ----------
        lags : list of int
            How many steps ago, each at least 1.

        Examples
        --------
        >>> log = Log.from_arrays([[0.5], [1.5], [0.0]], [[1.0], [2.0], [3.0]], [0, 1, 0], episodes=[7, 7, 8])
        >>> lagged = log.with_lags([1])
        >>> lagged.schema.feature_names
        ('s0', 's0 1 step ago', 'action 1 step ago')
        >>> lagged.states[:2].tolist()
        [[0.5, 0.5, 0.0], [1.5, 0.5, 1.0]]
        """
        from tripletree.log.lagging import with_lags

        return with_lags(self, lags)

    def weighted(self, weights: Any) -> Log:
        """Return the log with other weights: what growth, statistics and losses count each step with.

        Parameters
        ----------
        weights : array of shape (samples,), "episode" or None
            How much each step counts: at least 0, and not all 0. ``"episode"``: every episode counts the same in total,
            however long it is. None: all steps count the same.

        Examples
        --------
        >>> log = Log.from_arrays([[0.5], [1.5], [0.0]], ["up", "down", "up"], [0, 1, 0], episodes=[7, 7, 8])
        >>> log.weighted("episode").weights
        array([0.5, 0.5, 1. ])
        """
        return replace(self, weights=self._read_weights(weights))

    def _read_weights(self, weights: Any) -> npt.NDArray[np.float64] | None:
        if weights is None:
            return None
        if isinstance(weights, str):
            if weights != "episode":
                raise ParameterError(
                    Message(
                        "{} must be an array with a number for each step, {} (every episode counts the same) or {} "
                        "(every step does); got {!r}. A column of a file is named when the log is read: {}.",
                        Option("weights"),
                        Option("weights", "episode"),
                        Option("weights", None),
                        weights,
                        Option("weight", weights),
                    )
                )
            lengths = np.diff(self.starts)
            return np.repeat(1.0 / lengths, lengths)
        try:
            array = np.array(weights, np.float64)
        except (TypeError, ValueError):
            raise ParameterError(Message("{} must hold numbers; got {!r:.60}.", Option("weights"), weights)) from None
        if array.shape != (self.n_samples,):
            raise ParameterError(
                Message(
                    "{} must have one number for each of the {}; got the shape {}.",
                    Option("weights"),
                    count(self.n_samples, "sample"),
                    array.shape,
                )
            )
        if wrong := wrong_weights(array):
            raise ParameterError(Message("{} {}.", Option("weights"), wrong))
        return array

    def episodes(self) -> list[Log]:
        """Return the episodes one by one, each a log of its own: what scikit-learn can divide."""
        return [self.select([episode]) for episode in range(self.n_episodes)]

    @classmethod
    def concatenate(cls, logs: Iterable[Log]) -> Log:
        """Return the episodes of several logs as one log; the inverse of :meth:`episodes`.

        Parameters
        ----------
        logs : iterable of Log
            At least one; all with the same features and actions.

        Raises
        ------
        LogError
            If their features or actions differ.
        """
        parts = list(logs)
        if not parts or not all(isinstance(part, Log) for part in parts):
            kinds = ", ".join(dict.fromkeys(type(part).__name__ for part in parts)) or "none"
            raise ParameterError(Message("{} must be at least one Log; got {}.", Option("logs"), kinds))
        schema = parts[0].schema
        for number, part in enumerate(parts):
            if part.schema != schema:
                raise LogError(
                    f"Logs that become one must have the same features and actions: log {number} is {part!r}, log 0 is "
                    f"{parts[0]!r}.{_difference(parts[0].schema, part.schema, number)}"
                )
        if len(parts) == 1:
            return parts[0]
        timed = ("dt",) if schema.per_second else ()
        grouped = [part.groups is not None for part in parts]
        if any(grouped) and not all(grouped):
            lone = grouped.index(False)
            raise LogError(f"Logs that become one must all have groups or none: log {lone} has none.")
        weighted = [part.weights is not None for part in parts]
        if any(weighted) and not all(weighted):
            lone = weighted.index(False)
            raise LogError(
                f"Logs that become one must all have weights or none: log {lone} has none. Give it some with "
                "log.weighted(...)."
            )
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("states", "actions", "rewards", "final_states", "endings", "episode_ids", *timed)
        }
        if all(weighted):
            columns["weights"] = np.concatenate([part.weights for part in parts])
        if all(grouped):
            columns |= {"groups": np.concatenate([part.groups for part in parts]), "group_name": parts[0].group_name}
        lengths = np.concatenate([np.diff(part.starts) for part in parts])
        return cls(**columns, starts=np.append(0, np.cumsum(lengths)), schema=schema, reading=parts[0].reading)

    def split(self, validation: float = 0.2, seed: int | np.random.Generator = 0) -> tuple[Log, Log]:
        """Split by whole episodes, so that no episode is on both sides; with two groups or more, by whole groups.

        Parameters
        ----------
        validation : float
            Share of the episodes (or groups) for the second log, above 0 and below 1; each side gets at least one.
        seed : int or numpy.random.Generator
            Decides which: the same seed gives the same split.

        Returns
        -------
        (Log, Log)
            Training and validation, both in the order of this log.
        """
        check_number(validation, "validation", above=0, below=1, example=0.2)
        rng = generator(seed)
        if self.n_episodes < 2:
            raise LogError(
                "A log with one episode cannot be split by episodes. Record more of them, or fit without a validation "
                "log."
            )
        # What a tree has learned about a pilot would help it with the pilot's other episodes.
        unit = self.units if self.units.any() else np.arange(self.n_episodes)
        units = int(unit.max()) + 1
        number = min(max(round(validation * units), 1), units - 1)
        held_out = np.zeros(units, bool)
        held_out[rng.permutation(units)[:number]] = True
        return self.select(~held_out[unit]), self.select(held_out[unit])

    def fingerprint(self) -> str:
        """Return the SHA-256 of the content (arrays and schema, but not weights), in hexadecimal digits."""
        return self._fingerprint

    @cached_property
    def ranges(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The smallest and the largest value of each feature."""
        return extremes(self.states)

    @cached_property
    def hashes(self) -> npt.NDArray[np.uint64]:
        """What tells an episode from others, by its own numbers; see `identity.episode_hashes`."""
        from tripletree.log.identity import episode_hashes  # which is about logs

        return episode_hashes(self)

    @cached_property
    def weighted_fingerprint(self) -> str:
        """What tells logs apart whose steps are the same and count differently."""
        if self.weights is None:
            return self._fingerprint
        return hashlib.sha256(self._fingerprint.encode() + self.weights.astype("<f8").tobytes()).hexdigest()

    @cached_property
    def _fingerprint(self) -> str:
        schema = self.schema.to_dict()
        schema["action"].pop("codes", None)  # how the source wrote the actions, not what they are
        schema.pop("success", None)  # an opinion on the episodes, not what they are
        digest = hashlib.sha256(json.dumps(schema, sort_keys=True).encode())
        for name, array in self._arrays().items():
            if name == "weights":
                continue  # how much steps count, not what they are
            if array.dtype.kind == "U":
                # NumPy pads text to the longest; JSON does not depend on that.
                array = np.frombuffer(json.dumps(array.tolist()).encode(), np.uint8)
            digest.update(f"{name} {array.dtype.kind}{array.dtype.itemsize} {array.shape}".encode())
            digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).data)
        return digest.hexdigest()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        # There are 2**52 different NaNs; equal logs must have equal bytes.
        finals = np.where(np.isnan(self.final_states), np.nan, self.final_states)
        return {
            "states": self.states,
            "actions": self.actions,
            "rewards": self.rewards,
            "starts": self.starts,
            "final_states": finals,
            "endings": self.endings,
            "episode_ids": self.episode_ids,
            **({} if self.dt is None else {"dt": self.dt}),
            **({} if self.groups is None else {"groups": self.groups}),
            **({} if self.weights is None else {"weights": self.weights}),
        }

    def to_npz(self, path: str | os.PathLike[str], *, compress: bool = False) -> None:
        """Write the log to a NumPy file that :func:`tripletree.read_log` reads back exactly, without guessing.

        Parameters
        ----------
        path : path
            The file; its name must end in ``.npz``. An existing file is replaced in one step.
        compress : bool
            True takes longer and makes the file smaller, but never by a factor that `read_log` would refuse.

        Raises
        ------
        LogError
            If the file cannot be written.
        """
        check_flag(compress, "compress")
        target = check_ending(path, (".npz",))
        text = np.array(described(self))
        arrays = {OWN: text, **self._arrays()}
        write = np.savez_compressed if compress else np.savez
        try:
            with replacing(target) as stream:
                write(stream, allow_pickle=False, **arrays)
                # A thousand bytes are more than the header of any array.
                unpacked = sum(array.nbytes + 1000 for array in arrays.values())
                if compress and unpacked > unpacked_limit(stream.tell()):
                    # So small that it would be taken for a bomb.
                    stream.seek(0)
                    stream.truncate()
                    np.savez(stream, allow_pickle=False, **arrays)
        except OSError as error:
            raise LogError(f"The log cannot be written to {shown(target)}: {reason(error)}.") from error

    def to_pandas(self) -> Any:
        """Return the log as a pandas DataFrame with a row for each step.

        Its columns are ``episode``, ``step``, the features, the action, ``reward``, ``terminated``, ``truncated``, and
        the state after each step as ``next_...``: what :meth:`from_frame` reads.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.

        Examples
        --------
        >>> log = Log.from_arrays([[0.5], [1.5]], ["up", "down"], [0, 1], starts=[0], final_states=[[2.0]])
        >>> log.to_pandas()
           episode  step   s0 action  reward  terminated  truncated  next_s0
        0        0     0  0.5     up     0.0       False      False      1.5
        1        0     1  1.5   down     1.0       False      False      2.0
        """
        return data_frame(table_of(self))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the log to a CSV file with the columns of :meth:`to_pandas`.

        :func:`tripletree.read_log` reads back the same numbers, to the last digit, the same actions, endings and final
        states. Units, kinds and the order of labels are not in a CSV file; :meth:`to_parquet` and :meth:`to_npz` keep
        them.

        Parameters
        ----------
        path : path
            The file; its name must end in ``.csv``, or in ``.tsv`` for tabs. An existing file is replaced in one step.

        Raises
        ------
        LogError
            If the file cannot be written.
        """
        write_csv(self, check_ending(path, (".csv", ".tsv")))

    def to_minari(self, name: str) -> Any:
        """Write the log as a local Minari dataset, which ``read_log(name)`` reads back exactly, without guessing.

        Parameters
        ----------
        name : str
            The name of the dataset, with a version at the end: ``"my/log-v0"``. It is kept where Minari keeps its
            datasets (``~/.minari/datasets``, or what the environment variable ``MINARI_DATASETS_PATH`` says). Where a
            final state was not recorded, the last observation is NaN.

        Returns
        -------
        minari.MinariDataset

        Raises
        ------
        LogError
            If it cannot be written, or there is a dataset of this name.
        MissingDependencyError
            If Minari is not installed.
        """
        return write_minari(self, name)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the log to a Parquet file that :func:`tripletree.read_log` reads back exactly, without guessing.

        Other programs find the columns of :meth:`to_pandas` in it.

        Parameters
        ----------
        path : path
            The file; its name must end in ``.parquet``. An existing file is replaced in one step.

        Raises
        ------
        LogError
            If the file cannot be written.
        MissingDependencyError
            If pyarrow is not installed.
        """
        write_parquet(self, check_ending(path, (".parquet", ".pq")))


def wrong_weights(weights: npt.NDArray[np.float64]) -> str:
    """Return what is wrong with the weights of steps, in words that follow their name; nothing if they can be used."""
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        place = int(bad.argmax())
        return f"must be finite numbers of at least 0; got {weights[place]:g} at step {place:,}"
    return "" if weights.any() else "are all 0, so that nothing would count"


def _difference(first: Schema, other: Schema, number: int) -> str:
    """Return which features only one of two logs has, as a sentence; empty where the features are the same."""
    lacking = [name for name in first.feature_names if name not in other.feature_names]
    extra = [name for name in other.feature_names if name not in first.feature_names]
    parts = [f"lacks {listing(lacking)}"] * bool(lacking) + [f"also has {listing(extra)}"] * bool(extra)
    return f" Log {number} {' and '.join(parts)}." if parts else ""
