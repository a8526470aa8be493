"""Small trained agents, plain NumPy functions of one state or many.

`examples/train_agents.py` made them, and `examples/train_hopper.py` the hopper. The walker is Gymnasium's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

HOPPER, WALKER = "Hopper-v5", "BipedalWalker-v3"
Layers = tuple[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]], ...]


@dataclass(frozen=True)
class Agent:
    """What one agent does, without exploration."""

    act: Callable[[npt.ArrayLike], int | npt.NDArray[np.int64] | npt.NDArray[np.float32]]
    """From states (..., features) to labels (...), an int for one state, or to float32 actions (..., dimensions)."""
    critic: Callable[[npt.ArrayLike], npt.NDArray[np.float32]] | None
    """From states (..., features) to the value of every label (..., labels); None where actions are numbers."""
    note: str
    """How it was trained, and its mean return in 100 episodes that neither training nor choosing has seen."""


def load(path: Path) -> Agent:
    """Return the agent of a file: layers `w0, b0, ...`, `note`, and `scale` where actions are numbers."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    layers = tuple((arrays[f"w{i}"], arrays[f"b{i}"]) for i in range(sum(name[0] == "w" for name in arrays)))
    note, scale = str(arrays["note"]), arrays.get("scale")

    def outputs(states: npt.ArrayLike) -> npt.NDArray[np.float32]:
        return _outputs(layers, states)

    def number(states: npt.ArrayLike) -> npt.NDArray[np.float32]:
        action: npt.NDArray[np.float32] = np.tanh(outputs(states)) * scale
        return action

    def label(states: npt.ArrayLike) -> int | npt.NDArray[np.int64]:
        best = outputs(states).argmax(axis=-1)
        return int(best) if best.ndim == 0 else best

    return Agent(label, outputs, note) if scale is None else Agent(number, None, note)


def _outputs(layers: Layers, states: npt.ArrayLike) -> npt.NDArray[np.float32]:
    # In single precision, as the networks were trained.
    layer = np.asarray(states, np.float32)
    for weight, bias in layers[:-1]:
        layer = np.maximum(layer @ weight + bias, 0)
    weight, bias = layers[-1]
    output: npt.NDArray[np.float32] = layer @ weight + bias
    return output


AGENTS: dict[str, Agent] = {path.stem: load(path) for path in sorted(Path(__file__).parent.glob("*.npz"))}
"""The agents by the id of their environment in Gymnasium."""


class Walker(gym.Wrapper):  # type: ignore[type-arg]
    """A walker with the heuristic that Gymnasium has for it, which remembers what it is about to do.

    So it is no function of the state, and begins anew with every episode; `record(env, env.act, ...)` records it. Its
    return is about 20 on average, and 300 in the few episodes that it walks to the end.
    """

    def __init__(self) -> None:
        super().__init__(gym.make(WALKER))

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        from gymnasium.envs.box2d.bipedal_walker import BipedalWalkerHeuristics

        self._heuristic = BipedalWalkerHeuristics()
        return self.env.reset(**options)

    def act(self, state: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return what it does next."""
        action: npt.NDArray[np.float32] = self._heuristic.step_heuristic(state).astype(np.float32)
        return action
