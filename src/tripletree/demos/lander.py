"""The lander: a Soft Actor-Critic agent that lands a craft on the moon, and what it recorded (paper, section 8).

The agent was trained by ``examples/train_lander.py`` and runs on NumPy alone; its recorded log is part of the package.
Only :func:`record`, which flies new episodes, needs Gymnasium and Box2D.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_whole
from tripletree.log.files import read_log
from tripletree.log.log import Log
from tripletree.log.record import record as record_env
from tripletree.log.tasks import LANDER_LEVELS
from tripletree.log.worlds import make

GAMMA = 0.99
"""Discount that the agent was trained with."""
ENVIRONMENT = "LunarLanderContinuous-v3"

#: The eight features. Gymnasium scales them: x by 10 m, y by 6.67 m, v_x by 5 m/s, v_y by 7.5 m/s, v_phi by 2.5 rad/s.
#: So only phi, which is not scaled, has a unit in the log.
FEATURES = ("x", "y", "v_x", "v_y", "phi", "v_phi", "left leg in contact", "right leg in contact")

#: The main engine is off up to 0 and burns with half to full power above. The side engine is off from -0.5 to 0.5;
#: below it pushes to the left and turns anticlockwise (phi grows), above to the right and clockwise.
ACTIONS = ("main engine", "side engine")


def log() -> Log:
    """Return the log that comes with the package: whole episodes of the agent, flown from random starts.

    Returns
    -------
    Log

    Examples
    --------
    >>> from tripletree.demos import lander
    >>> log = lander.log()
    >>> log.n_samples, log.n_episodes, log.n_features
    (70216, 266, 8)
    """
    with resources.as_file(_beside("lander.npz")) as path:
        recorded = read_log(path)
    action = replace(recorded.schema.action, levels=LANDER_LEVELS)
    return replace(recorded, schema=replace(recorded.schema, action=action))


def act(states: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return what the agent does, two numbers from -1 to 1, in a state or in each of several.

    Parameters
    ----------
    states : array-like of shape (..., 8)
        States, with the features in the order of ``FEATURES``.

    Returns
    -------
    float32 array of shape (..., 2)

    Examples
    --------
    >>> from tripletree.demos import lander
    >>> lander.act([0, 0.5, 0, -0.8, 0, 0, 0, 0]).round(1)  # falling fast
    array([ 1. , -0.2], dtype=float32)
    """
    # In single precision, as the network was trained.
    layer = np.asarray(states, np.float32)
    weights = _weights()
    for weight, bias in weights[:-1]:
        layer = np.maximum(layer @ weight + bias, 0)
    # The mean action of Soft Actor-Critic's policy, without its noise.
    weight, bias = weights[-1]
    action: npt.NDArray[np.float32] = np.tanh(layer @ weight + bias)
    return action


def environment() -> Any:
    """Return the world of the lander as a Gymnasium environment (needs the extra ``gym``)."""
    return make(ENVIRONMENT)


def record(*, n_samples: int = 100_000, seed: int = 0, progress: Callable[[int, int], None] | None = None) -> Log:
    """Fly new episodes and record them (needs the extra ``gym``).

    Parameters
    ----------
    n_samples : int
        Steps to record at least; the last episode is flown to its end.
    seed : int
        Seed of the starts. The log of the package has seed 0.
    progress : callable, optional
        Called with the samples done and wanted.

    Returns
    -------
    Log
    """
    check_whole(n_samples, "n_samples", 1, example=100_000)
    check_whole(seed, "seed", 0)
    env = environment()
    try:
        return record_env(
            env,
            act,
            samples=n_samples,
            seed=seed,
            progress=progress,
            feature_names=FEATURES,
            action_names=ACTIONS,
            units={"phi": "rad"},
            levels=dict(zip(ACTIONS, LANDER_LEVELS, strict=True)),
            kinds=dict.fromkeys(FEATURES[6:], "binary"),
        )
    finally:
        env.close()


@cache
def _weights() -> tuple[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]], ...]:
    """Return the layers of the network, each as weights (inputs, outputs) and biases."""
    with resources.as_file(_beside("lander_policy.npz")) as path, np.load(path, allow_pickle=False) as file:
        return tuple((file[f"w{i}"], file[f"b{i}"]) for i in range(len(file.files) // 2))


def _beside(name: str) -> Any:
    return resources.files("tripletree.demos").joinpath(name)
