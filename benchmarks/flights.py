"""Flights of the lander's agent with something changed: what it does, how the world answers, or where it starts.

Every episode has a seed of its own, so that it can be flown again up to any step (`replay`). Flights are kept in a
folder for temporary files, since flying takes longer than most questions about them.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import Log, read_log
from tripletree.demos import lander

F64 = npt.NDArray[np.float64]
Act = Callable[[F64, np.random.Generator], F64]
Where = Callable[[F64], npt.NDArray[np.bool_]]

CORNER = "y < 0.3 and v_x > 0.1"


@dataclass(frozen=True)
class Change:
    """What is different about a flight.

    Attributes
    ----------
    words : str
        The change, for tables.
    act : callable
        What is done in a state; it may draw from the generator of the episode.
    world : dict
        Options of the environment: ``gravity``, ``enable_wind``, ``wind_power``.
    engines : callable or None
        What the engines make of an action, while the log has the action itself; None: just that.
    start : callable or None
        Which first states are flown from, True or False for each; other seeds are passed over. None: all.
    where : callable or None
        Of an agent that acts differently in some states alone: which.
    """

    words: str
    act: Act = field(default=lambda state, _: _usual(state))
    world: dict[str, Any] = field(default_factory=dict)
    engines: Callable[[F64], F64] | None = None
    start: Where | None = None
    where: Where | None = None


def _usual(state: F64) -> F64:
    return np.asarray(lander.act(state), np.float64)


def corner(states: F64) -> npt.NDArray[np.bool_]:
    """Return which states are near the ground and moving to the right."""
    inside: npt.NDArray[np.bool_] = (states[..., 1] < 0.3) & (states[..., 2] > 0.1)
    return inside


def _reversed_there(state: F64, _: np.random.Generator) -> F64:
    action = _usual(state)
    return action * (1, -1) if corner(state) else action


def _gain(factor: float) -> Act:
    return lambda state, _: np.clip(factor * _usual(state), -1, 1)


def _noise(size: float) -> Act:
    return lambda state, rng: np.clip(_usual(state) + size * rng.normal(size=2), -1, 1)


def _labelled(state: F64, _: np.random.Generator) -> F64:
    """Fly like the agent of the lander with four labels: one engine at a time, at full power."""
    from benchmarks.agents import AGENTS

    return np.array([(-1.0, 0.0), (-1.0, -1.0), (1.0, 0.0), (-1.0, 1.0)])[int(AGENTS["LunarLander-v3"].act(state))]


def _heuristic(state: F64, _: np.random.Generator) -> F64:
    """Fly by the rule of thumb that Gymnasium has for the lander."""
    from gymnasium.envs.box2d.lunar_lander import heuristic

    return np.asarray(heuristic(SimpleNamespace(unwrapped=SimpleNamespace(continuous=True)), state), np.float64)


CHANGES: dict[str, Change] = {
    "none": Change("nothing"),
    "corner": Change(f"side engine reversed where {CORNER}", _reversed_there, where=corner),
    "gain": Change("5 % more of every action", _gain(1.05)),
    "gain 20": Change("20 % more of every action", _gain(1.2)),
    "noise": Change("noise of 0.1 on every action", _noise(0.1)),
    "gravity": Change("gravity -9.5 instead of -10", world={"gravity": -9.5}),
    "gravity 8": Change("gravity -8 instead of -10", world={"gravity": -8.0}),
    "wind": Change("wind", world={"enable_wind": True, "wind_power": 15.0}),
    "both": Change("20 % more of every action, and gravity -8", _gain(1.2), {"gravity": -8.0}),
    "labels": Change("an agent that uses one engine at a time, at full power", _labelled),
    "heuristic": Change("a rule of thumb for an agent", _heuristic),
    "from left": Change("starts that move to the right fast", start=lambda first: first[..., 2] > 0.25),
    "from right": Change("starts that move to the left fast", start=lambda first: first[..., 2] < -0.25),
}


def fly(name: str, episodes: int, seed: int = 0) -> Log:
    """Return flights with one of the ``CHANGES``; the same name and seed give the same first episodes.

    The id of an episode is the seed that its environment was reset with.
    """
    text = f"{name}|{episodes}|{seed}|{Path(__file__).read_text()}|{_versions()}"
    folder = Path(tempfile.gettempdir()) / "tripletree-flights"
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.npz"
    if path.exists():
        return read_log(path)
    log = flown(CHANGES[name], episodes, seed)
    folder.mkdir(exist_ok=True)
    log.to_npz(path)
    return log


def flown(change: Change, episodes: int, seed: int = 0) -> Log:
    """Return flights with a change, flown now."""
    env = world(change)
    recorded: list[dict[str, Any]] = []
    number = 1_000_000 * seed
    try:
        while len(recorded) < episodes:
            state, _ = env.reset(seed=number)
            if change.start is None or change.start(state):
                recorded.append({**_episode(env, state, change, number), "id": number})
            number += 1
    finally:
        env.close()
    return Log.from_episodes(
        recorded,
        feature_names=lander.FEATURES,
        action_names=lander.ACTIONS,
        units={"phi": "rad"},
        kinds=dict.fromkeys(lander.FEATURES[6:], "binary"),
        action_kind="continuous",
    )


def world(change: Change) -> Any:
    """Return the environment of a change."""
    import gymnasium

    env = gymnasium.make(lander.ENVIRONMENT, **change.world)
    faulty = change.engines
    if faulty is None:
        return env

    def engines(action: F64) -> F64:
        return np.asarray(faulty(action), np.float32)

    return gymnasium.wrappers.TransformAction(env, engines, env.action_space)


def replay(env: Any, number: int, actions: Sequence[F64] | F64) -> F64:
    """Bring an environment to where an episode was after these actions, and return the state there.

    ``number`` is the episode's id. Randomness of the world goes on from there as it did; for another continuation,
    give ``env.unwrapped.np_random`` a new generator.
    """
    state, _ = env.reset(seed=number)
    for action in actions:
        state, *_ = env.step(action)
    return np.asarray(state, np.float64)


def _episode(env: Any, state: F64, change: Change, number: int) -> dict[str, Any]:
    rng = np.random.default_rng([number, 7])
    states, actions, rewards = [state], [], []
    ended = cut = False
    while not (ended or cut):
        action = np.asarray(change.act(state, rng), np.float32)
        state, reward, ended, cut, _ = env.step(action)
        states.append(state)
        actions.append(action)
        rewards.append(float(reward))
    return {
        "states": np.array(states, np.float64),
        "actions": np.array(actions, np.float64),
        "rewards": np.array(rewards),
        "terminated": bool(ended),
        "truncated": bool(cut),
    }


def _versions() -> str:
    from importlib.metadata import version

    return " ".join(version(name) for name in ("gymnasium", "box2d", "numpy"))
