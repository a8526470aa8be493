"""Frames: what a recorded step looked like, drawn by the environment that it was recorded in.

Exact where the recording can be played again: from a seed that is the episode's name, or all of it from the start. Else
the environment is put into the recorded state, which shows the agent as it was, but maybe not the world around it.
"""

from __future__ import annotations

import base64
import math
import struct
import threading
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_whole
from tripletree.errors import MissingDependencyError, ParameterError
from tripletree.log.log import Log
from tripletree.log.worlds import make

F64 = npt.NDArray[np.float64]

LONGEST = 20_000
"""Steps that are played again to get to an episode, at most."""
NEAR = 1e-5
"""How far a state may be from the recorded one when it is played again, as a share of the feature's range."""
EXACT = "Played again from the recorded actions: this is the very frame."
PLACED = "Drawn from the recorded state: the agent is where it was, but what is not part of the state may differ."


class Frames:
    """An environment that draws recorded steps; one at a time.

    Parameters
    ----------
    env : gymnasium.Env
        An environment with ``render_mode="rgb_array"``.
    translation : Translation
        The log's actions as it takes them.
    """

    def __init__(self, env: Any, translation: Any) -> None:
        self.env, self.translation = env, translation
        self._lock = threading.Lock()
        self._plans: dict[int, tuple[int, int] | None] = {}
        self._at: tuple[int, int] | None = None

    @classmethod
    def of(cls, env: str, translation: Any) -> Frames | None:
        """Return the frames of an environment; None if it cannot be drawn."""
        try:
            made = make(env, render_mode="rgb_array")
        except (MissingDependencyError, ParameterError):
            return None
        return cls(made, translation)

    def __call__(self, log: Log, episode: Any, step: Any) -> dict[str, Any]:
        """Return the picture of a step as PNG in base64, and how it was made."""
        check_whole(episode, "episode", 0, log.n_episodes - 1)
        begin, end = (int(row) for row in log.starts[int(episode) : int(episode) + 2])
        check_whole(step, "step", 0, end - begin - 1)
        with self._lock:
            exact = self._play(log, int(episode), int(step))
            if not exact:
                self._at = None
                place = PLACES.get(_task(self.env))
                if place is None:
                    raise ParameterError(
                        "This recording cannot be played again (its episodes are not called by their seeds), and a "
                        "state alone does not say what this environment looked like."
                    )
                self.env.reset(seed=0)
                place(self.env.unwrapped, log.states[begin + int(step)])
            picture = np.asarray(self.env.render())
        told = EXACT if exact else PLACED
        return {"png": base64.b64encode(png(picture)).decode(), "text": told, "exact": exact}

    def _play(self, log: Log, episode: int, step: int) -> bool:
        """Play an episode up to a step, if it can be played again; return whether it could."""
        if episode not in self._plans:
            self._plans[episode] = self._plan(log, episode)
        plan = self._plans[episode]
        if plan is None:
            return False
        seed, first = plan
        done = self._at[1] + 1 if self._at is not None and self._at[0] == episode and self._at[1] < step else -1
        if done < 0:
            if not self._begin(log, seed, first, episode):
                return False
            done = 0
        row = int(log.starts[episode])
        for k in range(max(done - 1, 0), step):
            seen = self.env.step(self._action(log, row + k))[0]
            if not self._near(log, seen, row + k + 1):
                self._at, self._plans[episode] = None, None
                return False
        self._at = (episode, step)
        return True

    def _plan(self, log: Log, episode: int) -> tuple[int, int] | None:
        """Return the seed, and the episode from which on it leads to this one."""
        name = log.episode_ids[episode].item()
        candidates = [(int(name), episode)] if isinstance(name, int) and name >= 0 else []
        candidates += [(0, 0)] if log.starts[episode] <= LONGEST else []
        for seed, first in candidates:
            if self._begin(log, seed, first, first):
                return seed, first
        return None

    def _begin(self, log: Log, seed: int, first: int, episode: int) -> bool:
        """Begin an episode, by playing those from ``first`` on that come before it."""
        seen = self.env.reset(seed=seed)[0]
        if not self._near(log, seen, int(log.starts[first])):
            return False
        for before in range(first, episode):
            for row in range(int(log.starts[before]), int(log.starts[before + 1])):
                self.env.step(self._action(log, row))
            seen = self.env.reset()[0]
            if not self._near(log, seen, int(log.starts[before + 1])):
                return False
        return True

    def _near(self, log: Log, seen: Any, row: int) -> bool:
        state = np.asarray(seen, np.float64).reshape(-1)
        if state.shape != (log.n_features,):
            return False
        span = np.ptp(log.states, axis=0)
        return bool((np.abs(state - log.states[row]) <= NEAR * np.where(span > 0, span, 1.0)).all())

    def _action(self, log: Log, row: int) -> Any:
        table = self.translation.table
        if table:
            label = log.schema.action.labels[int(log.actions[row])]
            known = self.translation.action.labels
            return table[known.index(label)] if label in known else table[0]
        space = self.env.action_space
        return np.asarray(log.actions[row], space.dtype).reshape(space.shape)


def png(picture: npt.NDArray[Any]) -> bytes:
    """Return an array of red, green and blue, shape (height, width, 3), as a PNG file."""
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = picture.astype(np.uint8).reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def _task(env: Any) -> str:
    spec = getattr(env, "spec", None)
    return str(getattr(spec, "id", "")).rpartition("/")[2].partition("-v")[0]


def _as_it_is(world: Any, state: F64) -> None:
    world.state = state.copy()


def _pendulum(world: Any, state: F64) -> None:
    world.state = np.array([math.atan2(state[1], state[0]), state[2]])
    world.last_u = None


def _acrobot(world: Any, state: F64) -> None:
    cos1, sin1, cos2, sin2, speed1, speed2 = state.tolist()
    world.state = np.array([math.atan2(sin1, cos1), math.atan2(sin2, cos2), speed1, speed2])


def _lander(world: Any, state: F64) -> None:
    """Put the lander, with its legs, where its observation says that it is; the inverse of what the task does."""
    from gymnasium.envs.box2d import lunar_lander as task

    half_width, half_height = task.VIEWPORT_W / task.SCALE / 2, task.VIEWPORT_H / task.SCALE / 2
    x = state[0] * half_width + half_width
    y = state[1] * half_height + world.helipad_y + task.LEG_DOWN / task.SCALE
    body, angle = world.lander, float(state[4])
    old, turn = (float(body.position[0]), float(body.position[1])), angle - float(body.angle)
    cos, sin = math.cos(turn), math.sin(turn)
    for leg in world.legs:
        away = float(leg.position[0]) - old[0], float(leg.position[1]) - old[1]
        leg.position = (x + cos * away[0] - sin * away[1], y + sin * away[0] + cos * away[1])
        leg.angle = float(leg.angle) + turn
    body.position, body.angle = (float(x), float(y)), angle


PLACES: dict[str, Callable[[Any, F64], None]] = {
    "CartPole": _as_it_is,
    "MountainCar": _as_it_is,
    "MountainCarContinuous": _as_it_is,
    "Pendulum": _pendulum,
    "Acrobot": _acrobot,
    "LunarLander": _lander,
    "LunarLanderContinuous": _lander,
}
"""How the environment of a task is put into a recorded state."""
