"""Whoever acts: a function, a model of Stable-Baselines3 or its file, an ONNX network, or chance."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tripletree.errors import ParameterError
from tripletree.log.agent_files import load_normalizer, load_policy, open_network
from tripletree.log.worlds import World
from tripletree.text import Message, Option

Act = Callable[[Sequence[Any], Sequence[bool], Sequence[bool]], Sequence[Any]]
"""From what is seen in each copy of the environment, where an episode begins and where an action is needed at all, to
an action for each copy."""

RANDOM = "random"
ALLOWED = (
    "a function from a state to an action, a model of Stable-Baselines3 or its .zip file, an .onnx file, or 'random'"
)


def act_of(agent: Any, world: World, *, seed: int, trust: bool, normalize: Any) -> Act:
    """Return the function that acts for an agent of any kind.

    Parameters
    ----------
    agent : callable, model, path or "random"
        As in :func:`tripletree.record`.
    world : World
        Where it acts.
    seed : int
        For the agent that acts at random.
    trust : bool
        Whether files that hold pickled objects may be loaded.
    normalize : path, VecNormalize or None
        What the agent's observations go through.
    """
    normalizer = world.normalizer
    if normalize is not None:
        normalizer = normalize if hasattr(normalize, "normalize_obs") else load_normalizer(normalize, trust)
        own = getattr(normalizer, "observation_space", world.observation_space)
        if _size(own) != _size(world.observation_space):
            raise ParameterError(
                f"The VecNormalize was made for observations {own}, and this environment has {world.observation_space}."
            )
    if isinstance(agent, str) and agent == RANDOM:
        world.action_space.seed(seed)
        return _each(lambda _: world.action_space.sample())
    if isinstance(agent, str | Path):
        path = Path(agent)
        if path.suffix.lower() == ".onnx":
            return _behind(normalizer, open_network(path, world))
        policy = load_policy(path, world, trust, normalizer is not None)
        _check_spaces(policy, world)
        return _model(policy, world, normalizer)
    # `model.predict` is as good as the model, and of the model one can ask more: whether it remembers, for one.
    owner = getattr(agent, "__self__", None)
    model: Any = owner if _is_model(owner) and getattr(agent, "__name__", "") == "predict" else agent
    if _is_model(model):
        if normalizer is None and hasattr(model, "get_vec_normalize_env"):
            normalizer = model.get_vec_normalize_env()
        _check_spaces(model, world)
        return _model(model, world, normalizer)
    if not callable(agent) and callable(getattr(agent, "predict", None)):
        agent = agent.predict
    if not callable(agent):
        raise ParameterError(Message("{} must be {}; got {}.", Option("agent"), ALLOWED, type(agent).__name__))
    return _behind(normalizer, _each(agent))


def _is_model(agent: Any) -> bool:
    parts = ("predict", "observation_space", "action_space")
    return all(hasattr(agent, part) for part in parts) and not isinstance(agent, type)


def _each(function: Callable[[Any], Any]) -> Act:
    """Return how a function acts that takes one observation: it is called only where an action is needed."""

    def act(observations: Sequence[Any], _: Sequence[bool], needed: Sequence[bool]) -> list[Any]:
        return [
            _action(function(observation)) if needs else None
            for observation, needs in zip(observations, needed, strict=True)
        ]

    return act


def _behind(normalizer: Any, act: Act) -> Act:
    """Return how somebody acts who sees only what a normalizer lets through."""

    def behind(observations: Sequence[Any], starts: Sequence[bool], needed: Sequence[bool]) -> Sequence[Any]:
        return act([_first(normalizer.normalize_obs(_stack([seen]))) for seen in observations], starts, needed)

    return act if normalizer is None else behind


def _action(said: Any) -> Any:
    """Return the action of what may be an action and a memory, as `predict` of many libraries has it."""
    if isinstance(said, tuple) and len(said) == 2:
        action, memory = said
        if memory is None or isinstance(memory, tuple | dict) or np.ndim(action) > 0:
            return action
    return said


def _model(model: Any, world: World, normalizer: Any) -> Act:
    """Return how a model of Stable-Baselines3 acts: all copies at once, and with what it remembers of each episode."""
    memory: Any = None
    masked = "action_masks" in inspect.signature(model.predict).parameters

    def act(observations: Sequence[Any], starts: Sequence[bool], _: Sequence[bool]) -> Any:
        nonlocal memory
        batch = _stack(observations)
        if normalizer is not None:
            batch = normalizer.normalize_obs(batch)
        masks = world.masks() if masked else None
        more = {} if masks is None else {"action_masks": masks}
        try:
            actions, memory = model.predict(
                batch, state=memory, episode_start=np.array(starts), deterministic=True, **more
            )
        except (ValueError, RuntimeError, AssertionError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ParameterError(f"The model cannot act on the observations of this environment: {reason}") from error
        return actions

    return act


def _stack(observations: Sequence[Any]) -> Any:
    """Return several observations as the one array, or dict of arrays, that models take."""
    if isinstance(observations[0], dict):
        return {key: np.stack([observation[key] for observation in observations]) for key in observations[0]}
    return np.stack([np.asarray(observation) for observation in observations])


def _first(batch: Any) -> Any:
    return {key: values[0] for key, values in batch.items()} if isinstance(batch, dict) else batch[0]


def _check_spaces(model: Any, world: World) -> None:
    for what, own, there in (
        ("observations", model.observation_space, world.observation_space),
        ("actions", model.action_space, world.action_space),
    ):
        if _size(own) != _size(there):
            raise ParameterError(
                f"The model was trained with {what} {own}, and this environment has {there}. Record it in the "
                "environment it was trained in, with the same wrappers."
            )


def _size(space: Any) -> Any:
    """Return what two spaces must have in common for a network to fit both."""
    if hasattr(space, "spaces"):
        items = space.spaces.items() if isinstance(space.spaces, dict) else enumerate(space.spaces)
        return {key: _size(part) for key, part in items}
    number = getattr(space, "nvec", getattr(space, "n", None))
    shape = tuple(space.shape or ())
    # Stable-Baselines3 puts the colours of an image first, and turns images round by itself.
    return tuple(sorted(shape)) if len(shape) == 3 else shape, None if number is None else np.array(number).tolist()
