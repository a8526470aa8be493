"""The road as a Gymnasium environment, registered as ``tripletree/Road-v0``; needs the extra ``gym``."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from tripletree.demos import road


class RoadEnv(gymnasium.Env[npt.NDArray[np.float64], np.int64]):
    """The vehicle between two walls, started anywhere at any speed."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own form

    def __init__(self, variant: str = "either") -> None:
        self.rewards = road.paid(variant)
        self.action_space = gymnasium.spaces.Discrete(len(road.ACCELERATIONS))
        # The last step may carry the vehicle beyond a wall by as much as its speed.
        reach = np.array([road.LENGTH + road.TOP_SPEED, road.TOP_SPEED])
        self.observation_space = gymnasium.spaces.Box(np.full(2, -road.TOP_SPEED), reach, dtype=np.float64)
        self._state = np.zeros(2)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float64], dict[str, Any]]:
        """Start anywhere between the walls; ``options={"state": (pos, speed)}`` to start there."""
        super().reset(seed=seed)  # makes self.np_random
        if options is not None and "state" in options:
            self._state = np.array(options["state"], np.float64)
        else:
            (self._state,) = road.start(self.np_random, 1)
        return self._state.copy(), {}

    def step(self, action: np.int64) -> tuple[npt.NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Accelerate by one of ACCELERATIONS."""
        self._state, reward, ended = road.step(self._state, road.ACCELERATIONS[int(action)], self.rewards)
        # A copy: what a caller does to a state must not move the vehicle. Gymnasium's own wrapper truncates.
        return self._state.copy(), float(reward), bool(ended), False, {}


gymnasium.register(
    "tripletree/Road-v0", entry_point="tripletree.demos.road_env:RoadEnv", max_episode_steps=road.MAX_STEPS
)
