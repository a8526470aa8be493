"""Record a Gymnasium environment while a policy acts in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from tripletree.checks import check_whole
from tripletree.errors import MissingDependencyError, ParameterError
from tripletree.log.log import Log
from tripletree.log.roles import Naming
from tripletree.text import Message, Option


def record(
    env: Any,
    policy: Callable[[Any], Any],
    *,
    episodes: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    feature_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    **naming: Unpack[Naming],
) -> Log:
    """Let a policy act in a Gymnasium environment, and return the log of whole episodes.

    Parameters
    ----------
    env : gymnasium.Env or str
        The environment, or its id; one made from an id is closed afterwards. Its observations must be vectors of
        numbers, its actions discrete or vectors of numbers.
    policy : callable
        Takes an observation, returns an action. For a model of stable-baselines3:
        ``lambda state: model.predict(state, deterministic=True)[0]``.
    episodes, samples : int, optional
        How much to record, one of the two: this many episodes, or enough episodes for this many samples.
    seed : int
        Seed of the environment, given to it once. The same seed gives the same log, if the policy itself draws nothing.
    progress : callable, optional
        Called after every episode with the episodes (or samples) recorded so far and those wanted.
    feature_names, action_names, **naming
        As in :meth:`Log.from_episodes`: names, ``units``, ``kinds``, ``labels``.

    Returns
    -------
    Log
        With final states and endings.

    Raises
    ------
    ParameterError
        If an argument, or one of the environment's two spaces, is not of an allowed kind.
    MissingDependencyError
        If ``env`` is an id and Gymnasium is not installed.

    Examples
    --------
    >>> from tripletree import record
    >>> from tripletree.demos import road
    >>> record(road.environment("left"), lambda state: 0, episodes=3, feature_names=["pos", "speed"])
    Log(41 samples, 3 episodes, 2 features: pos, speed; discrete action: 0, 1)
    """
    wanted = _amount(episodes, samples)
    check_whole(seed, "seed", 0)
    if not callable(policy):
        raise ParameterError(
            Message(
                "{} must be a function from a state to an action; got {}. For a model of stable-baselines3 type: "
                "lambda state: model.predict(state, deterministic=True)[0]",
                Option("policy"),
                type(policy).__name__,
            )
        )
    made_here = isinstance(env, str)
    if made_here:
        env = make(env)
    try:
        count = _discrete_count(env)
        if count is not None and "labels" not in naming:
            # An action that the policy never takes is still one that it could take.
            first = int(env.action_space.start)
            naming["labels"] = {first + code: str(first + code) for code in range(count)}
        recorded: list[dict[str, Any]] = []
        done = 0
        while done < wanted:
            # Seeded once: a seed for every reset would give the same episode again and again.
            recorded.append(_episode(env, policy, None if recorded else int(seed), count is not None))
            done += len(recorded[-1]["rewards"]) if episodes is None else 1
            if progress is not None:
                progress(min(done, wanted), wanted)
    finally:
        if made_here:
            env.close()
    return Log.from_episodes(recorded, feature_names=feature_names, action_names=action_names, **naming)


def make(name: str, **options: Any) -> Any:
    """Return a Gymnasium environment; where a library is missing, the error has the pip command."""
    try:
        import gymnasium
    except ImportError:
        raise MissingDependencyError('This needs Gymnasium. Type: pip install "tripletree[gym]"') from None
    try:
        return gymnasium.make(name, **options)
    except gymnasium.error.DependencyNotInstalled as error:
        raise MissingDependencyError(f"{name} needs another package: {error}") from None
    except gymnasium.error.Error as error:
        raise ParameterError(f"Gymnasium cannot make {name!r}: {error}") from None


def _amount(episodes: int | None, samples: int | None) -> int:
    given = {"episodes": episodes, "samples": samples}
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) != 1:
        raise ParameterError(
            Message(
                "Give either {} or {}; got {}. Try {} or {}.",
                *map(Option, given),
                "both" if named else "neither",
                Option("episodes", 100),
                Option("samples", 10_000),
            )
        )
    ((name, value),) = named.items()
    check_whole(value, name, 1, example=100 if name == "episodes" else 10_000)
    return int(value)


def _discrete_count(env: Any) -> int | None:
    """Return the number of actions, or None if they are vectors of numbers; refuses other spaces."""
    shape = getattr(env.observation_space, "shape", None)
    if shape is None or len(shape) != 1:
        raise ParameterError(
            f"Observations must be vectors of numbers; this environment has {env.observation_space}."
            " Type: env = gymnasium.wrappers.FlattenObservation(env)"
        )
    if hasattr(env.action_space, "n") and hasattr(env.action_space, "start"):
        return int(env.action_space.n)
    shape = getattr(env.action_space, "shape", None)
    if shape is None or len(shape) != 1 or not np.issubdtype(env.action_space.dtype, np.floating):
        raise ParameterError(
            f"Actions must be discrete or vectors of real numbers; this environment has {env.action_space}."
        )
    return None


def _episode(env: Any, policy: Callable[[Any], Any], seed: int | None, discrete: bool) -> dict[str, Any]:
    """Return one episode as Log.from_episodes takes it: with one more state than actions."""
    state, _ = env.reset(seed=seed)
    states, actions, rewards = [np.array(state, np.float64)], [], []
    while True:
        action = policy(state)
        # A copy, since a policy may return the same array every time.
        action = int(action) if discrete else np.array(action, env.action_space.dtype)
        state, reward, terminated, truncated, _ = env.step(action)
        states.append(np.array(state, np.float64))
        actions.append(action)
        rewards.append(float(reward))
        if terminated or truncated:
            return {
                "states": np.array(states),
                "actions": np.array(actions),
                "rewards": np.array(rewards),
                "terminated": bool(terminated),
                "truncated": bool(truncated),
            }
