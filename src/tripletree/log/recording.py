"""Recording: what really happened in each episode, from a log or from what a model kept of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log


@dataclass(frozen=True, eq=False)
class Recording:
    """Episodes of states with their outcome: what can be counted without knowing actions; all arrays are read-only.

    Attributes
    ----------
    states : float64 array of shape (samples, features)
        The state before each action.
    starts : int64 array of shape (episodes + 1,)
        Episode ``e`` is rows ``starts[e]`` to ``starts[e + 1]``.
    final_states : float64 array of shape (episodes, features)
        The state after the last action; rows of NaN where it was not recorded.
    endings : uint8 array of shape (episodes,)
        ``UNKNOWN``, ``TERMINATED`` or ``TRUNCATED``.
    returns : float64 array of shape (episodes,)
        The sum of each episode's rewards, without discount.
    ids : int64 or str array of shape (episodes,)
        What the user called the episodes.
    groups : int64 array of shape (episodes,), or None
        The number of each episode's group (its pilot, its vehicle) in ``group_labels``; None without groups.
    group_labels : str array of shape (groups,), or None
        What the user called the groups.
    group_name : str
        The name of the column that they come from.
    first : int64 array of shape (episodes,), or None
        The step of the episode that its first row is; None where all episodes are kept from their beginning.
    episode_weights : float64 array of shape (episodes,), or None
        How much each episode counts where moves are counted; None: all the same.
    """

    states: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]
    final_states: npt.NDArray[np.float64]
    endings: npt.NDArray[np.uint8]
    returns: npt.NDArray[np.float64]
    ids: npt.NDArray[Any]
    groups: npt.NDArray[np.int64] | None = None
    group_labels: npt.NDArray[np.str_] | None = None
    group_name: str = "group"
    first: npt.NDArray[np.int64] | None = None
    episode_weights: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def of(cls, log: Log) -> Self:
        """Return a log as a recording; no state is copied."""
        returns = np.add.reduceat(log.rewards, log.starts[:-1])
        groups = labels = None
        if log.groups is not None:
            groups, labels = log.units, np.unique(log.groups).astype(np.str_)
        parts = (log.states, log.starts, log.final_states, log.endings, returns, log.episode_ids)
        return cls(*parts, groups, labels, log.group_name, episode_weights=log.episode_weights)

    @property
    def n_samples(self) -> int:
        """Number of steps in all episodes."""
        return len(self.states)

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.endings)
