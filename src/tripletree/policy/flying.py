"""Flying: whole episodes of any agent, each from a seed of its own, in as many processes as there are cores."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_flag, check_whole
from tripletree.errors import ParameterError, TripleTreeWarning
from tripletree.log.agent_files import load_normalizer, load_policy
from tripletree.log.agents import ALLOWED, RANDOM, Act, act_of
from tripletree.log.record import LONGEST
from tripletree.log.schema import Action
from tripletree.log.spaces import NonsenseError, layout_of, moves_of
from tripletree.log.tasks import task_of
from tripletree.log.worlds import World, make, world_of
from tripletree.model.fit import available_cores
from tripletree.policy.policy import TreePolicy
from tripletree.policy.translate import Translation
from tripletree.policy.workers import UNFORKABLE, can_fork, in_order
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
MOST_WORKERS = 1024
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Flight:
    """One episode, as it was flown.

    Attributes
    ----------
    seed : int
        What the environment was reset with.
    states : float64 array of shape (steps + 1, features)
        The state before each action, and the final one.
    actions : array of shape (steps, numbers of an action)
        What the pilot did, as the environment took it.
    advice : array like ``actions``, or None
        What the adviser would have done in each of these states.
    rewards : float64 array of shape (steps,)
        The rewards.
    terminated, truncated : bool
        How it ended.
    """

    seed: int
    states: F64
    actions: npt.NDArray[Any]
    advice: npt.NDArray[Any] | None
    rewards: F64
    terminated: bool
    truncated: bool


class Airfield:
    """An environment in which episodes are flown; closed at the end of a ``with``, if it was made here.

    Parameters
    ----------
    env : str, function or environment
        An id, a function without arguments that makes an environment, or an environment. Of the first two every worker
        makes its own; an environment that cannot be copied is flown in this process alone.
    workers : int or None
        Processes; None: one for each core, or only this one where copies of it could not work.
    trust, normalize
        As in :func:`tripletree.record`.
    """

    def __init__(self, env: Any, *, workers: int | None = None, trust: bool = False, normalize: Any = None) -> None:
        check_whole(workers, "workers", 1, MOST_WORKERS, example=1, none="one for each core")
        check_flag(trust, "trust")
        self.workers, self.trust = workers, trust
        self.make: Callable[[], Any] | None = None
        if isinstance(env, str):
            self.make = lambda: make(env)
        elif callable(env) and (isinstance(env, type) or not hasattr(env, "step")):
            self.make = env
        self.world = world_of(env if self.make is None else self.make())
        try:
            if self.world.number != 1:
                raise ParameterError(
                    Message(
                        "Every episode has a seed of its own here, so {} must be one environment, not {} at once. Give "
                        "its id or a function that makes it; {} flies several.",
                        Option("env"),
                        self.world.number,
                        Option("workers"),
                    )
                )
            task = task_of(self.world.name)
            self.layout = layout_of(self.world.observation_space, task, self.world.measured)
            self.moves = moves_of(self.world.action_space, task)
            if normalize is not None and not hasattr(normalize, "normalize_obs"):
                normalize = load_normalizer(normalize, trust)
            self.normalizer = normalize
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the environment, unless it is the user's."""
        if self.make is not None:
            self.world.close()

    def translation(self, action: Action) -> Translation:
        """Return how the actions of a tree and of this environment belong together."""
        return Translation(action, self.moves)

    def seated(self, agent: Any) -> Any:
        """Return an agent that is ready for any number of flights: its file is read once."""
        if agent is None:
            raise ParameterError(Message("Who acts? {} must be {}.", Option("agent"), ALLOWED))
        if isinstance(agent, TreePolicy):
            return TreePilot(agent, self.translation(agent.action))
        if isinstance(agent, str | Path) and agent != RANDOM and Path(agent).suffix.lower() != ".onnx":
            normalized = self.normalizer is not None or self.world.normalizer is not None
            return load_policy(Path(agent), self.world, self.trust, normalized)
        return agent

    def fly(
        self, pilot: Any, seeds: Sequence[int], *, adviser: Any = None, progress: Progress | None = None
    ) -> list[Flight]:
        """Return one episode for each seed.

        Parameters
        ----------
        pilot : agent
            Who acts.
        seeds : sequence of int
            What the environment is reset with. A fresh beginning each, so that two pilots fly from the same starts.
        adviser : agent, optional
            Who is asked at every step what to do, and not obeyed.
        progress : function of (done, all), or None
            Called after each episode.
        """
        crew = [self.seated(one) for one in (pilot, adviser) if one is not None]

        def begin() -> Callable[[int], Flight]:
            # A copy of this process has a copy of its environment; but one with files or sockets must be a new one.
            world = self.world
            if self.make is not None and workers > 1:
                world = world_of(self.make())
                Finalize(None, world.close, exitpriority=1)
            acts = [self._act(one, world) for one in crew]
            return lambda i: self._flown(world, acts, int(seeds[i]), i)

        workers = self._workers(crew)
        return in_order(begin, len(seeds), workers, progress)

    def _workers(self, crew: Sequence[Any]) -> int:
        if not can_fork() or (self.make is None and not _can_be_copied(self.world)):
            return 1
        if self.workers is not None:
            return self.workers
        on_card = any(str(getattr(one, "device", "cpu")) != "cpu" for one in crew)
        strange = any(name in sys.modules for name in UNFORKABLE)
        if on_card or (strange and not all(isinstance(one, TreePilot | str | Path) for one in crew)):
            return 1
        return available_cores()

    def _act(self, agent: Any, world: World) -> Act:
        if isinstance(agent, TreePilot):
            # A tree knows states as the log has them: no normalizer comes between.
            read = self.layout.read
            return lambda observations, _, __: [agent(read(seen)) for seen in observations]
        return act_of(agent, world, seed=0, trust=self.trust, normalize=self.normalizer)

    def _flown(self, world: World, acts: Sequence[Act], seed: int, number: int) -> Flight:
        world.action_space.seed(seed)  # for those who act at random
        [seen] = world.begin(seed)
        states = [self.layout.read(seen.observation)]
        said: list[list[Any]] = [[] for _ in acts]
        rewards: list[float] = []
        first, terminated, truncated = True, False, False
        while not (terminated or truncated):
            for who, act in enumerate(acts):
                given = act([seen.observation], [first], [True])[0]
                try:
                    said[who].append(self.moves.check(given))
                except NonsenseError as error:
                    raise ParameterError(
                        f"In step {len(rewards)} of episode {number} (seed {seed}) the agent returned {error}."
                    ) from None
            [step] = world.step([said[0][-1]])
            seen, first = step.seen, False
            terminated, truncated = step.terminated, step.truncated
            rewards.append(step.reward)
            states.append(self.layout.read(seen.observation))
            if len(rewards) >= LONGEST and not (terminated or truncated):
                truncated = True
                warnings.warn(
                    TripleTreeWarning(f"An episode had no end after {LONGEST:,} steps and was cut there."), stacklevel=2
                )
        told = [np.array(one).reshape(len(rewards), -1) for one in said]
        advice = told[1] if len(told) > 1 else None
        return Flight(seed, np.array(states), told[0], advice, np.array(rewards), terminated, truncated)


class TreePilot:
    """A tree that acts in one environment: from a state to what the environment takes."""

    def __init__(self, policy: TreePolicy, translation: Translation) -> None:
        self.policy, self.translation = policy, translation

    def __call__(self, state: F64) -> Any:
        """Return the action in one state."""
        if self.translation.table:
            return self.translation.table[self.policy.position(state)]
        action = self.policy(state)
        return np.rint(action) if self.translation.whole else action


def _can_be_copied(world: World) -> bool:
    """Tell whether an environment is all memory: what holds a process, a socket or a window cannot be copied."""
    with suppress(Exception):  # of whatever kind: there are as many as there are environments
        copy.deepcopy(getattr(world, "env", None))
        return True
    return False
