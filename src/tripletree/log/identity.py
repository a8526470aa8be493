"""Which episode is which: a hash of an episode's own numbers, so that a tree can tell what it has seen."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.log.log import Log

U64 = npt.NDArray[np.uint64]

MOST_KEPT = 100_000
"""Hashes that a model keeps: 0.8 MB. Of more episodes it keeps the smallest hashes, which are a fair sample."""


def episode_hashes(log: Log, before: int = 0) -> U64:
    """Return a hash of the states, actions and rewards of each episode, shape (episodes,).

    Equal episodes have equal hashes in every file format, in any order of episodes and columns, and under any ids.
    Final states and endings do not count, because not every format keeps them. Of an episode that is cut, the hashes of
    its parts add up; ``before`` is the number of steps that the first episode of the log had before.
    """
    action = log.schema.action
    sums = np.zeros(log.n_episodes, np.uint64)
    _kernel.add_hashes(log.states, _keys("state", log.schema.feature_names), log.starts, sums, before)
    _kernel.add_hashes(log.rewards[:, None], _keys("reward", ("",)), log.starts, sums, before)
    if action.kind == "discrete":
        # By label, since codes follow from the labels that happen to be in a log; 2^52 keeps them whole as doubles.
        numbers = (_keys("label", action.labels) >> np.uint64(12)).astype(np.float64)
        _kernel.add_hashes(numbers[log.actions][:, None], _keys("action", ("",)), log.starts, sums, before)
    else:
        _kernel.add_hashes(log.actions, _keys("action", action.names), log.starts, sums, before)
    return sums


def kept_hashes(log: Log) -> U64:
    """Return the distinct hashes of a log's episodes, from small to large: all of them, or the smallest."""
    return np.unique(log.hashes)[:MOST_KEPT]


def found_in(hashes: U64, kept: U64) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which episodes are among those kept, and for which of them that is known at all."""
    known = hashes <= kept[-1] if len(kept) == MOST_KEPT else np.ones(len(hashes), bool)
    return np.isin(hashes, kept), known


def _keys(role: str, names: tuple[str, ...]) -> U64:
    """Return a number for each name: the same in every process and on every machine."""
    digests = [hashlib.blake2b(f"{role}\n{name}".encode("utf-8", "surrogatepass"), digest_size=8) for name in names]
    return np.array([int.from_bytes(digest.digest(), "little") for digest in digests], np.uint64)
