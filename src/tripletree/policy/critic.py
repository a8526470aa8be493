"""Weighing steps by how much the action matters there, as VIPER does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import ParameterError
from tripletree.graph.markov import count_transitions
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.model.track import Track
from tripletree.policy.flying import Airfield
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
Critic = Callable[[F64], Any]
"""From states, shape (states, features), to what each action is worth there, shape (states, actions)."""

AGENT = "agent"


def critic_of(weights: Any, agent: Any, field: Airfield) -> Critic | None:
    """Return what ``weights`` means: nobody, a function, or the agent's own critic."""
    if weights is None or callable(weights):
        return weights  # type: ignore[no-any-return]
    if weights != AGENT:
        raise ParameterError(
            Message(
                "{} must be a function from states to the value of every action, {} or None (all steps count the "
                "same); got {!r}.",
                Option("weights"),
                Option("weights", AGENT),
                weights,
            )
        )
    policy = getattr(agent, "policy", agent)
    network = getattr(policy, "q_net", getattr(policy, "quantile_net", None))
    if network is None or not field.moves.discrete:
        raise ParameterError(
            Message(
                "The agent has no critic of its own that knows the value of every action, as DQN and QR-DQN have. Type "
                "{} with a function from states to an array of shape (states, actions), or leave it out.",
                Option("weights", ...),
            )
        )
    normalizer = field.normalizer or field.world.normalizer
    if normalizer is None and hasattr(agent, "get_vec_normalize_env"):
        normalizer = agent.get_vec_normalize_env()

    def critic(states: F64) -> Any:
        import torch

        shape = policy.observation_space.shape
        seen = states.reshape(len(states), *shape).astype(policy.observation_space.dtype)
        seen = seen if normalizer is None else normalizer.normalize_obs(seen)
        with torch.no_grad():
            worth = network(policy.obs_to_tensor(seen)[0]).cpu().numpy()
        # QR-DQN knows how the value is distributed: (states, quantiles, actions).
        return worth.mean(axis=1) if worth.ndim == 3 else worth

    return critic


def importance(critic: Critic, states: F64) -> F64:
    """Return how much the action matters in each state: the value of the best one less that of the worst."""
    worth = np.asarray(critic(states), np.float64)
    if worth.ndim != 2 or len(worth) != len(states) or not np.isfinite(worth).all():
        got = f"shape {worth.shape}" if worth.ndim != 2 or len(worth) != len(states) else "numbers that are not finite"
        raise ParameterError(
            Message(
                "{} must return the value of every action in every state, an array of shape ({}, actions); got {}.",
                Option("weights"),
                len(states),
                got,
            )
        )
    return np.asarray(worth.max(axis=1) - worth.min(axis=1))


def weighed(log: Log, critic: Critic) -> Log:
    """Return a log whose steps count by how much the action matters there, times the weights that they had."""
    weight = importance(critic, log.states) * (1.0 if log.weights is None else log.weights)
    return log.weighted(weight) if weight.any() else log


def with_moves(fitted: Fitted, log: Log, keep: str, threads: int) -> Fitted:
    """Return a tree that was grown on weighed steps with the moves of the log as it is."""
    track = Track.of(log, fitted.tree) if keep == "track" else None
    covered = track is not None and track.n_samples == log.n_samples
    return replace(
        fitted,
        track=track,
        transitions=None if covered or keep == "nothing" else count_transitions(fitted.tree, log, threads),
        options={**fitted.options, "keep": keep},
    )
