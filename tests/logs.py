"""Small logs for tests: by hand, at random, and as a hypothesis strategy."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tripletree.log.log import TERMINATED, TRUNCATED, UNKNOWN, Log
from tripletree.log.schema import Action, Feature, Schema


def make_log(
    states: Any,
    actions: Any,
    rewards: Any,
    starts: Any = None,
    *,
    final_states: Any = None,
    endings: Any = None,
    labels: tuple[str, ...] | None = None,
    names: tuple[str, ...] | None = None,
    kinds: tuple[str, ...] | None = None,
) -> Log:
    """Put a log together; actions are discrete when ``labels`` are given."""
    states = np.array(states, float)
    n, d = states.shape
    starts = np.array([0, n] if starts is None else starts)
    episodes = len(starts) - 1
    actions = np.array(actions)
    if labels is None:
        actions = actions.reshape(n, -1).astype(float)
        width = actions.shape[1]
        action = Action("continuous", tuple(f"a{k}" for k in range(width)), (), ("",) * width)
    else:
        actions = actions.astype(np.int32)
        action = Action("discrete", ("action",), labels, ("",))
    names = names or tuple(f"x{f}" for f in range(d))
    kinds = kinds or ("real",) * d
    return Log(
        states=states,
        actions=actions,
        rewards=np.array(rewards, float),
        starts=starts,
        final_states=np.full((episodes, d), np.nan) if final_states is None else np.array(final_states, float),
        endings=np.full(episodes, UNKNOWN) if endings is None else np.array(endings),
        episode_ids=np.arange(episodes),
        schema=Schema(tuple(Feature(name, "", kind) for name, kind in zip(names, kinds, strict=True)), action),
    )


def joined(*logs: Log) -> Log:
    """Put the episodes of logs with one schema one after the other."""
    offsets = np.cumsum([0, *(log.n_samples for log in logs)])
    starts = [log.starts[:-1] + offset for log, offset in zip(logs, offsets[:-1], strict=True)]
    return Log(
        *(np.concatenate([getattr(log, name) for log in logs]) for name in ("states", "actions", "rewards")),
        starts=np.append(np.concatenate(starts), offsets[-1]),
        final_states=np.concatenate([log.final_states for log in logs]),
        endings=np.concatenate([log.endings for log in logs]),
        episode_ids=np.arange(sum(log.n_episodes for log in logs)),
        schema=logs[0].schema,
    )


def random_log(
    seed: int = 0,
    lengths: tuple[int, ...] = (40, 30, 50),
    features: int = 2,
    labels: int = 3,
    dimensions: int = 0,
    grid: int = 0,
    finals: bool = True,
) -> Log:
    """Walk at random; ``dimensions`` > 0 makes actions continuous, ``grid`` > 0 rounds so that there are ties."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    starts = np.append(0, np.cumsum(lengths))
    states = np.cumsum(rng.normal(size=(n, features)), axis=0)
    final = states[starts[1:] - 1] + rng.normal(size=(len(lengths), features))
    if grid:
        states, final = np.round(states / grid), np.round(final / grid)
    if dimensions:
        actions: Any = np.tanh(states[:, :1] + rng.normal(size=(n, dimensions)))
    else:
        actions = np.floor(states[:, 0] + rng.normal(size=n)).astype(int) % labels
    endings = rng.choice([TERMINATED, TRUNCATED, UNKNOWN], len(lengths))
    final[rng.random(len(lengths)) < (0.3 if finals else 2)] = np.nan
    return make_log(
        states,
        actions,
        np.round(states[:, -1] + rng.normal(size=n), 2),
        starts,
        final_states=final,
        endings=endings,
        labels=None if dimensions else tuple("abcdefgh"[:labels]),
    )


def logs(most_steps: int = 12) -> st.SearchStrategy[Log]:
    """Logs of a few short episodes, with ties, missing derivatives, one or more labels or dimensions."""
    return st.builds(
        random_log,
        seed=st.integers(0, 2**32 - 1),
        lengths=st.lists(st.integers(1, most_steps), min_size=1, max_size=5).map(tuple),
        features=st.integers(1, 3),
        labels=st.integers(1, 4),
        dimensions=st.sampled_from([0, 0, 1, 2]),
        grid=st.sampled_from([0, 0, 1, 2]),
        finals=st.booleans(),
    )
