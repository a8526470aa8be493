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
    """

    states: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]
    final_states: npt.NDArray[np.float64]
    endings: npt.NDArray[np.uint8]
    returns: npt.NDArray[np.float64]
    ids: npt.NDArray[Any]

    def __post_init__(self) -> None:
        for value in vars(self).values():
            value.setflags(write=False)

    @classmethod
    def of(cls, log: Log) -> Self:
        """Return a log as a recording; nothing is copied."""
        returns = np.add.reduceat(log.rewards, log.starts[:-1])
        return cls(log.states, log.starts, log.final_states, log.endings, returns, log.episode_ids)

    @property
    def n_samples(self) -> int:
        """Number of steps in all episodes."""
        return len(self.states)

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.endings)
