"""Environments to record in: one of Gymnasium, several at once, or those of Stable-Baselines3, behind one face."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripletree.errors import MissingDependencyError, ParameterError
from tripletree.text import Message, Option


class Seen(NamedTuple):
    """An observation, and what the environment says besides."""

    observation: Any
    info: Mapping[str, Any]


class Step(NamedTuple):
    """What followed an action in one copy of an environment.

    Attributes
    ----------
    seen : Seen
        What is seen after the action; where an episode has ended, its final state.
    reward, terminated, truncated
        As Gymnasium has them.
    first : Seen or None
        The beginning of the next episode, where it is known already.
    begins : bool
        The episode had ended before: the action was not used, and ``seen`` is the beginning of the next one.
    """

    seen: Seen
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    first: Seen | None = None
    begins: bool = False


class World:
    """One or more copies of an environment, stepped together.

    Attributes
    ----------
    observation_space, action_space : gymnasium.Space
        Of one copy.
    number : int
        How many copies there are.
    name : str or None
        The id by which Gymnasium knows the environment.
    measured : bool
        Whether observations come as the environment itself makes them; wrappers may scale them.
    normalizer : VecNormalize or None
        What an agent's observations go through before it sees them.
    """

    observation_space: Any
    action_space: Any
    number: int = 1
    name: str | None = None
    measured: bool = True
    normalizer: Any = None

    def begin(self, seed: int) -> list[Seen]:
        """Begin an episode in every copy. Seeded once: a seed for every episode would give the same one again."""
        raise NotImplementedError

    def step(self, actions: Sequence[Any]) -> list[Step]:
        """Take one action in every copy."""
        raise NotImplementedError

    def masks(self) -> Any:
        """Return which actions are possible, as sb3-contrib asks, or None if the environment does not say."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the environment."""
        raise NotImplementedError


class Single(World):
    """One environment of Gymnasium."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.name = _id(getattr(env, "spec", None))
        self.measured = bool(env.unwrapped.observation_space == env.observation_space)
        self.ended = False

    def begin(self, seed: int | None) -> list[Seen]:
        """Reset the environment."""
        self.ended = False
        return [Seen(*self.env.reset(seed=seed))]

    def step(self, actions: Sequence[Any]) -> list[Step]:
        """Act; or, after the end of an episode, begin the next one, which is not done before somebody wants it."""
        if self.ended:
            return [Step(seen, begins=True) for seen in self.begin(None)]
        observation, reward, terminated, truncated, info = self.env.step(actions[0])
        self.ended = bool(terminated or truncated)
        return [Step(Seen(observation, info), float(reward), bool(terminated), bool(truncated))]

    def masks(self) -> Any:
        """Ask the environment for its ``action_masks``."""
        has = hasattr(self.env, "has_wrapper_attr") and self.env.has_wrapper_attr("action_masks")
        return np.array([self.env.get_wrapper_attr("action_masks")()]) if has else None

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


class Vector(World):
    """A vector environment of Gymnasium, in any of its ways to begin again after an episode."""

    def __init__(self, env: Any) -> None:
        self.env, self.number = env, int(env.num_envs)
        self.observation_space, self.action_space = env.single_observation_space, env.single_action_space
        spec = getattr(env, "spec", None)
        if spec is None and hasattr(env.unwrapped, "get_attr"):
            spec = env.unwrapped.get_attr("spec")[0]
        self.name = _id(spec)
        self.measured = bool(env.unwrapped.single_observation_space == self.observation_space)
        mode = env.metadata.get("autoreset_mode", "next_step")
        self.mode = str(getattr(mode, "name", mode)).lower()
        self.ended = np.zeros(self.number, bool)

    def begin(self, seed: int) -> list[Seen]:
        """Reset all copies."""
        self.ended[:] = False
        return self._seen(*self.env.reset(seed=seed))

    def step(self, actions: Sequence[Any]) -> list[Step]:
        """Act in all copies."""
        observations, rewards, terminated, truncated, infos = self.env.step(np.array(actions))
        before, self.ended = self.ended, np.logical_or(terminated, truncated)
        seen = self._seen(observations, infos)
        first: list[Seen] | list[None] = [None] * self.number
        if self.mode == "next_step":
            return [
                Step(now, begins=True) if old else Step(now, float(reward), bool(end), bool(cut))
                for now, reward, end, cut, old in zip(seen, rewards, terminated, truncated, before, strict=True)
            ]
        if self.mode == "same_step":
            first = [*seen]
            for i in np.flatnonzero(self.ended).tolist():
                final = infos.get("final_obs", infos.get("final_observation"))
                seen[i] = Seen(final[i], _info(infos.get("final_info", {}), i))
        elif self.ended.any():
            first = self._seen(*self.env.reset(options={"reset_mask": self.ended}))
        return [
            Step(now, float(reward), bool(end), bool(cut), new if end or cut else None)
            for now, reward, end, cut, new in zip(seen, rewards, terminated, truncated, first, strict=True)
        ]

    def _seen(self, observations: Any, infos: Mapping[str, Any]) -> list[Seen]:
        from gymnasium.vector.utils import iterate

        each = iterate(self.env.observation_space, observations)
        return [Seen(observation, _info(infos, i)) for i, observation in enumerate(each)]

    def masks(self) -> Any:
        """Ask all copies for their ``action_masks``."""
        try:
            return np.array(self.env.unwrapped.call("action_masks"))
        except AttributeError:
            return None

    def close(self) -> None:
        """Close all copies."""
        self.env.close()


class Baselines(World):
    """A VecEnv of Stable-Baselines3. What VecNormalize does is done for the agent alone: the log has the states."""

    def __init__(self, env: Any) -> None:
        if hasattr(env, "normalize_obs"):
            self.normalizer, env = env, env.venv
        self.env, self.number = env, int(env.num_envs)
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.name = _id(env.get_attr("spec")[0] if env.has_attr("spec") else None)
        self.measured = bool(env.unwrapped.observation_space == env.observation_space)

    def begin(self, seed: int) -> list[Seen]:
        """Seed and reset all copies."""
        self.env.seed(seed)
        return self._seen(self.env.reset(), self.env.reset_infos)

    def step(self, actions: Sequence[Any]) -> list[Step]:
        """Act in all copies; one whose episode has ended is at the beginning of the next at once."""
        observations, rewards, dones, infos = self.env.step(np.array(actions))
        steps = []
        for seen, reward, done, info in zip(self._seen(observations, infos), rewards, dones, infos, strict=True):
            if not done:
                steps.append(Step(seen, float(reward)))
                continue
            cut = bool(info.get("TimeLimit.truncated", False))
            steps.append(Step(Seen(info["terminal_observation"], info), float(reward), not cut, cut, seen))
        return steps

    def _seen(self, observations: Any, infos: Sequence[Mapping[str, Any]]) -> list[Seen]:
        def one(part: Any, i: int) -> Any:
            return {key: values[i] for key, values in part.items()} if isinstance(part, dict) else part[i]

        return [Seen(one(observations, i), info) for i, info in enumerate(infos)]

    def masks(self) -> Any:
        """Ask all copies for their ``action_masks``."""
        return np.array(self.env.env_method("action_masks")) if self.env.has_attr("action_masks") else None

    def close(self) -> None:
        """Close all copies."""
        self.env.close()


def world_of(env: Any) -> World:
    """Return the face of an environment of any kind; an id is made."""
    if isinstance(env, str):
        return Single(make(env))
    if any(kind.__module__.split(".")[0] == "gym" for kind in type(env).__mro__):
        raise ParameterError(
            "This environment is one of gym, which Gymnasium has replaced. Make it with gymnasium.make(...), or wrap "
            "it: pip install shimmy, and gymnasium.make('GymV26Environment-v0', env=env)."
        )
    if not isinstance(env, type):
        if hasattr(env, "single_observation_space"):
            return Vector(env)
        if hasattr(env, "step_wait") and hasattr(env, "num_envs"):
            return Baselines(env)
        if all(hasattr(env, name) for name in ("observation_space", "action_space", "reset", "step", "unwrapped")):
            return Single(env)
    kind = "a class" if isinstance(env, type) else "a function" if callable(env) else type(env).__name__
    call = " Call it: env()." if callable(env) else ""
    raise ParameterError(
        Message(
            "{} must be an environment of Gymnasium or of Stable-Baselines3, or an id such as 'CartPole-v1'; got {}.{}",
            Option("env"),
            kind,
            call,
        )
    )


def make(name: str, **options: Any) -> Any:
    """Return a Gymnasium environment; where a library is missing, the error has the pip command."""
    try:
        import gymnasium
    except ImportError:
        raise MissingDependencyError('This needs Gymnasium. Type: pip install "tripletree[gym]"') from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of older versions, which may be what is wanted
            return gymnasium.make(name, **options)
    except gymnasium.error.DependencyNotInstalled as error:
        raise MissingDependencyError(f"{name} needs another package: {_line(error)}") from None
    except gymnasium.error.DeprecatedEnv as error:
        raise ParameterError(
            f"Gymnasium no longer has {name!r}. {_line(error)} An agent of the old version can often act in the new."
        ) from None
    except (gymnasium.error.Error, ImportError) as error:
        raise ParameterError(f"Gymnasium cannot make {name!r}: {_line(error)}") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def _id(spec: Any) -> str | None:
    name = getattr(spec, "id", None)
    return name if isinstance(name, str) else None


def _info(infos: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Return what Gymnasium says about one copy, of what it says about all: ``_x`` tells where there is an ``x``."""
    if not infos:
        return {}
    return {
        key: _info(values, i) if isinstance(values, Mapping) else values[i]
        for key, values in infos.items()
        if not key.startswith("_") and (f"_{key}" not in infos or infos[f"_{key}"][i])
    }
