"""Replay and rollout buffers of Stable-Baselines3 to tables: the steps of each environment, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tripletree.errors import LogError
from tripletree.log.coerce import Array
from tripletree.log.endings import TRUNCATED
from tripletree.log.sources import Table, refuse_images

COMPUTED = ("values", "log_probs", "advantages", "returns")
"""What a rollout buffer holds besides what happened."""


def buffer_table(buffer: Any) -> Table:
    """Return the steps in a buffer, the oldest of the first environment first."""
    rollout = hasattr(buffer, "episode_starts")
    source = f"an SB3 {'rollout' if rollout else 'replay'} buffer"
    filled = int(buffer.buffer_size if buffer.full else buffer.pos)
    if not filled:
        raise LogError(f"{source[0].upper()}{source[1:]} is empty. Let the model learn first: model.learn(1000).")
    for name, array in _parts(buffer.observations).items():
        # Two dimensions are the steps and the environments.
        refuse_images(name, array.shape if getattr(buffer, "generator_ready", False) else array.shape[1:], source)
    return _rollout(buffer, filled, source) if rollout else _replay(buffer, filled, source)


def _parts(observed: Any) -> Mapping[str, Array]:
    """Return observations by name: those of a dict by their keys."""
    return observed if isinstance(observed, Mapping) else {"obs": observed}


def _streams(array: Array, places: Array) -> Array:
    """Return rows of an array of shape (steps, environments, ...) as one row after the other, by environment."""
    block = np.swapaxes(array, 0, 1)[:, places]
    return block.reshape(-1, *block.shape[2:])


def _replay(buffer: Any, filled: int, source: str) -> Table:
    size = int(buffer.buffer_size)
    shared = bool(getattr(buffer, "optimize_memory_usage", False))
    # With shared memory, the slot after the newest step holds its next state, not the oldest step.
    skipped = int(shared and buffer.full)
    oldest = int(buffer.pos) if buffer.full else 0
    order = (oldest + np.arange(skipped, filled)) % size
    done = _streams(buffer.dones, order).astype(bool)
    n = len(order)
    first = np.arange(len(done)) % n == 0
    first[1:] |= done[:-1]
    starts = np.append(np.flatnonzero(first), len(done)).astype(np.int64)
    flags = {"done": done}
    if getattr(buffer, "handle_timeout_termination", False):
        late = _streams(buffer.timeouts, order).astype(bool)
        flags = {"terminated": done & ~late, "truncated": done & late}
    last = starts[1:] - 1
    env, place = last // n, order[last % n]
    following = _parts(buffer.observations if shared else buffer.next_observations)
    finals = {}
    for name, array in following.items():
        final = array[(place + 1) % size if shared else place, env].astype(np.float64)
        if shared:
            # Only the newest step of each environment has its next state still: the others' was overwritten by a reset.
            final[last % n != n - 1] = np.nan
        finals[name] = final
    states = {name: _streams(array, order) for name, array in _parts(buffer.observations).items()}
    columns = {**states, "action": _streams(buffer.actions, order), "reward": _streams(buffer.rewards, order), **flags}
    return Table(list(columns), list(columns.values()), source, features=list(states), starts=starts, finals=finals)


def _rollout(buffer: Any, filled: int, source: str) -> Table:
    order = np.arange(filled)
    # Once a rollout was given out in batches, states and actions are in this order already, and nothing else is.
    given_out = bool(getattr(buffer, "generator_ready", False))
    parts = {**_parts(buffer.observations), "action": buffer.actions}
    columns = {name: array if given_out else _streams(array, order) for name, array in parts.items()}
    columns["reward"] = _streams(buffer.rewards, order)
    first = np.arange(len(columns["reward"])) % filled == 0
    first |= _streams(buffer.episode_starts, order).astype(bool)
    starts = np.append(np.flatnonzero(first), len(first)).astype(np.int64)
    # Where another episode starts, the one before has ended somehow; the last of each environment was cut off.
    endings = np.where(starts[1:] % filled == 0, TRUNCATED, 0).astype(np.uint8)
    return Table(
        list(columns),
        list(columns.values()),
        source,
        features=list(_parts(buffer.observations)),
        starts=starts,
        endings=endings,
        beside=dict.fromkeys(COMPUTED, "computed by the learner"),
    )
