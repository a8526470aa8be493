"""Raw recordings for tests of the constructors: the same steps in every shape a user may bring them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tripletree.log import Log


@dataclass(frozen=True)
class Raw:
    """Episodes one after the other, as plain arrays."""

    lengths: tuple[int, ...]
    states: Any
    actions: Any  # (n,) discrete or (n, m) floats
    rewards: Any
    finals: Any  # (E, d), or None
    terminated: Any  # (E,)
    truncated: Any
    ids: Any

    @property
    def starts(self) -> Any:
        return np.append(0, np.cumsum(self.lengths))

    @property
    def names(self) -> list[str]:
        return [f"p{f}" for f in range(self.states.shape[1])]

    @property
    def action_names(self) -> list[str]:
        return ["action"] if self.actions.ndim == 1 else [f"action_{k}" for k in range(self.actions.shape[1])]

    def _at_last(self, flags: Any) -> Any:
        rows = np.zeros(len(self.rewards), bool)
        rows[self.starts[1:] - 1] = flags
        return rows

    def columns(self) -> dict[str, Any]:
        table: dict[str, Any] = {
            "episode": np.repeat(self.ids, self.lengths),
            "step": np.concatenate([np.arange(length) for length in self.lengths]),
        }
        table |= dict(zip(self.names, self.states.T, strict=True))
        moves = self.actions if self.actions.ndim == 2 else self.actions[:, None]
        table |= dict(zip(self.action_names, moves.T, strict=True))
        table |= {"reward": self.rewards}
        table |= {"terminated": self._at_last(self.terminated), "truncated": self._at_last(self.truncated)}
        if self.finals is not None:
            following = np.vstack([self.states[1:], self.states[:1]])
            following[self.starts[1:] - 1] = self.finals
            table |= {f"next_{name}": column for name, column in zip(self.names, following.T, strict=True)}
        return table

    def arrays(self) -> Log:
        return Log.from_arrays(
            self.states,
            self.actions,
            self.rewards,
            starts=self.starts,
            terminated=self.terminated,
            truncated=self.truncated,
            final_states=self.finals,
            feature_names=self.names,
            action_names=self.action_names,
            episode_ids=self.ids,
        )

    def episodes(self, gymnasium: bool) -> list[dict[str, Any]]:
        listed = []
        for e, (begin, end) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            episode = {
                "states": self.states[begin:end],
                "actions": self.actions[begin:end],
                "rewards": self.rewards[begin:end],
                "terminated": self.terminated[e],
                "truncated": self.truncated[e],
                "id": self.ids[e],
            }
            if self.finals is not None and gymnasium:
                episode["states"] = np.vstack([episode["states"], self.finals[e]])
            elif self.finals is not None:
                episode["final_state"] = self.finals[e]
            listed.append(episode)
        return listed


def write_csv(path: Path, columns: dict[str, Any], separator: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
    return path


@st.composite
def raws(draw: st.DrawFn) -> Raw:
    lengths = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    n, episodes = sum(lengths), len(lengths)
    d = draw(st.integers(1, 3))
    number = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float)

    def matrix(rows: int, columns: int) -> Any:
        size = rows * columns
        return np.array(draw(st.lists(number, min_size=size, max_size=size))).reshape(rows, columns)

    kind = draw(st.sampled_from(["codes", "words", "flags", "floats"]))
    if kind == "floats":
        actions = matrix(n, draw(st.integers(2, 3)))
    else:
        values: list[Any] = {"codes": [0, 1, 7], "words": ["left", "none", "right"], "flags": [False, True]}[kind]
        actions = np.array(draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)))
    flags = st.lists(st.booleans(), min_size=episodes, max_size=episodes)
    ids = draw(st.sampled_from([np.arange(episodes) + 5, np.array([f"run {e}" for e in range(episodes)])]))
    return Raw(
        lengths=lengths,
        states=matrix(n, d),
        actions=actions,
        rewards=matrix(n, 1)[:, 0],
        finals=matrix(episodes, d) if draw(st.booleans()) else None,
        terminated=np.array(draw(flags)),
        truncated=np.array(draw(flags)),
        ids=ids,
    )


STATES = [[0.5, 1.0], [1.5, 0.0], [2.5, 1.0], [3.5, 0.0]]
ACTIONS = [0, 1, 1, 0]
REWARDS = [0.5, 0.25, 0.0, 1.0]


def make(states: Any = STATES, actions: Any = ACTIONS, rewards: Any = REWARDS, **options: Any) -> Log:
    """Return a log of four steps in two episodes, or of what is given instead."""
    return Log.from_arrays(states, actions, rewards, **({"episodes": [0, 0, 1, 1]} | options))


TABLE: dict[str, Any] = {
    "episode": [0, 0, 1],
    "pos": [0.5, 1.5, 2.5],
    "speed": [0.25, 0.5, 0.75],
    "action": [0, 1, 0],
    "reward": [1, 2, 3],
}
BASE = {name: column for name, column in TABLE.items() if name != "episode"}
