"""Record an environment while an agent acts in it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack, cast

import numpy as np

from tripletree.checks import check_flag, check_whole
from tripletree.errors import ParameterError, TripleTreeWarning
from tripletree.log.agents import ALLOWED, Act, act_of
from tripletree.log.log import Log
from tripletree.log.roles import Naming
from tripletree.log.spaces import Layout, Moves, NonsenseError, layout_like, layout_of, moves_of
from tripletree.log.tasks import task_of
from tripletree.log.worlds import Seen, Step, World, world_of
from tripletree.text import Message, Option, count

State = Callable[[Any, Any], Any]

LONGEST = 100_000
"""Steps after which an episode is cut: some environments go on for ever."""


def record(
    env: Any,
    agent: Any = None,
    *,
    episodes: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    trust: bool = False,
    normalize: Any = None,
    state: State | None = None,
    progress: Callable[[int, int], None] | None = None,
    feature_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    policy: Any = None,
    **naming: Unpack[Naming],
) -> Log:
    """Let an agent act in an environment, and return the log of whole episodes.

    Parameters
    ----------
    env : str, gymnasium.Env, gymnasium.vector.VectorEnv or VecEnv
        The environment or its id; one made from an id is closed afterwards. Observations may be Box, Dict, Tuple,
        Discrete, MultiDiscrete or MultiBinary, actions Discrete, Box, MultiDiscrete or MultiBinary. Every episode that
        is begun is recorded to its end, in all copies of a vector environment.
    agent : callable, model, path or "random"
        Who acts: a function that takes an observation and returns an action; a model of Stable-Baselines3 or
        sb3-contrib, its ``predict``, or the path of its ``.zip``; the path of an ``.onnx`` network; or ``"random"``.
        Models act without exploring; for anything else, write a function.
    episodes, samples : int, optional
        How much to record, one of the two: this many episodes, or enough episodes for this many samples.
    seed : int
        Seed of the environment, given to it once, and of ``"random"``. The same seed gives the same log, if a function
        draws nothing by itself.
    trust : bool
        Load files that hold pickled Python objects (models of Stable-Baselines3, VecNormalize). Such files can run any
        code when they are loaded: say so only of files whose source you trust.
    normalize : path or VecNormalize, optional
        What the agent's observations go through. The log has the observations as they were before. A model in memory
        that was trained with one, and an environment wrapped in one, need no mention.
    state : callable, optional
        Takes an observation and the environment's ``info``, and returns what is recorded as the state: a vector of
        numbers, or numbers by name. The agent sees the observation. For images, and whatever else people cannot name.
    progress : callable, optional
        Called after every episode with the episodes (or samples) recorded so far and those wanted; see
        :func:`tripletree.progress_bar`.
    feature_names, action_names, **naming
        As in :meth:`Log.from_episodes`: names, ``units``, ``kinds``, ``labels``. The classic tasks of Gymnasium and
        those of Box2D and MuJoCo have theirs already.
    policy : callable, optional
        The old name of ``agent``.

    Returns
    -------
    Log
        With final states and endings. Ctrl-C ends a recording early: whole episodes are kept, with a warning.

    Raises
    ------
    ParameterError
        If an argument, or one of the environment's two spaces, is not of an allowed kind; if the agent does not fit the
        environment, or returns what cannot be an action.
    MissingDependencyError
        If a library is needed that is not installed.

    Examples
    --------
    >>> from tripletree import record
    >>> from tripletree.demos import road
    >>> record(road.environment("left"), lambda state: 0, episodes=3, feature_names=["pos", "speed"])
    Log(41 samples, 3 episodes, 2 features: pos, speed; discrete action: 0, 1)
    >>> record("CartPole-v1", "random", samples=50)
    Log(59 samples, 4 episodes, 4 features: cart position, cart velocity, pole angle, pole angular velocity; ...)
    """
    wanted = _amount(episodes, samples)
    check_whole(seed, "seed", 0)
    check_flag(trust, "trust")
    if policy is not None:
        warnings.warn(
            TripleTreeWarning(Message("{} is now called {}.", Option("policy"), Option("agent"))), stacklevel=2
        )
        agent = policy if agent is None else agent
    if agent is None:
        raise ParameterError(Message("Who acts? {} must be {}.", Option("agent"), ALLOWED))
    world = world_of(env)
    try:
        task = task_of(world.name)
        moves = moves_of(world.action_space, task)
        # Before anything is loaded, which takes a while.
        layout = layout_of(world.observation_space, task, world.measured) if state is None else None
        act = act_of(agent, world, seed=int(seed), trust=trust, normalize=normalize)
        taker = _Recorder(world, act, moves, layout, state, "" if task is None else task.success)
        taker.run(wanted, by_steps=episodes is None, seed=int(seed), progress=progress)
    finally:
        if isinstance(env, str):
            world.close()
    if moves.aloud and "labels" not in naming and "action_kind" not in naming:
        warnings.warn(TripleTreeWarning(moves.aloud), stacklevel=2)
    return taker.log(feature_names, action_names, naming)


@dataclass(eq=False)
class _Episode:
    """An episode while it is recorded."""

    states: list[Any]
    actions: list[Any] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    ending: tuple[bool, bool] = (False, False)


class _Recorder:
    """Runs a world and an agent, and keeps every episode that was begun, in the order of their beginnings."""

    def __init__(
        self, world: World, act: Act, moves: Moves, layout: Layout | None, state: State | None, success: str
    ) -> None:
        self.world, self.act, self.moves, self.state, self.success = world, act, moves, state, success
        self.layout = layout
        self.begun: list[_Episode] = []
        self.running: list[_Episode | None] = [None] * world.number

    def run(self, wanted: int, by_steps: bool, seed: int, progress: Callable[[int, int], None] | None) -> None:
        """Record until enough episodes have begun, and all of those have ended."""
        steps = 0

        # Keeping those that end first would prefer short episodes: so all are kept that begin before there is enough.
        def more() -> bool:
            return steps < wanted if by_steps else len(self.begun) < wanted

        seen = self.world.begin(seed)
        # For copies in which nothing is recorded. One environment alone has none, and its random numbers are its own.
        spare = None if self.world.number == 1 else self.world.action_space.sample()
        for i, first in enumerate(seen):
            if by_steps or more():
                self._begin(i, first)
        starts, done = [True] * self.world.number, 0
        try:
            while any(episode is not None for episode in self.running) or more():
                needed = [episode is not None for episode in self.running]
                said = self.act([now.observation for now in seen], starts, needed) if any(needed) else ()
                actions = [self._checked(said[i], i) if needs else spare for i, needs in enumerate(needed)]
                for i, step in enumerate(self.world.step(actions)):
                    seen[i], starts[i] = (step.seen, step.begins) if step.first is None else (step.first, True)
                    episode = self.running[i]
                    if episode is not None:
                        steps += 1
                        if self._ended(episode, actions[i], step):
                            self.running[i] = None
                            starts[i] = starts[i] or not (step.terminated or step.truncated)
                            done += len(episode.rewards) if by_steps else 1
                            if progress is not None:
                                progress(min(done, wanted), wanted)
                # After all steps are counted, so that copies which end together are treated alike.
                for i, first in enumerate(seen):
                    if starts[i] and more():
                        self._begin(i, first)
        except KeyboardInterrupt:
            whole = [episode for episode in self.begun if any(episode.ending)]
            if not whole:
                raise
            self.begun = whole
            warnings.warn(
                TripleTreeWarning(f"Stopped by Ctrl-C: the log has {count(len(whole), 'whole episode')}."),
                stacklevel=3,
            )

    def _begin(self, i: int, seen: Seen) -> None:
        self.running[i] = _Episode([self._read(seen)])
        self.begun.append(cast(_Episode, self.running[i]))

    def _ended(self, episode: _Episode, action: Any, step: Step) -> bool:
        episode.states.append(self._read(step.seen))
        episode.actions.append(action)
        episode.rewards.append(step.reward)
        episode.ending = step.terminated, step.truncated
        if not any(episode.ending) and len(episode.rewards) >= LONGEST:
            episode.ending = False, True
            warnings.warn(
                TripleTreeWarning(
                    f"An episode had no end after {LONGEST:,} steps and was cut there. For shorter ones make the "
                    "environment with max_episode_steps=1000."
                ),
                stacklevel=4,
            )
        return any(episode.ending)

    def _read(self, seen: Seen) -> Any:
        shown = seen.observation if self.state is None else self.state(seen.observation, seen.info)
        if self.layout is None:
            self.layout = layout_like(shown)
        return self.layout.read(shown)

    def _checked(self, given: Any, i: int) -> Any:
        try:
            return self.moves.check(given)
        except NonsenseError as error:
            episode = cast(_Episode, self.running[i])
            number = next(k for k, one in enumerate(self.begun) if one is episode)
            raise ParameterError(
                f"In step {len(episode.rewards)} of episode {number} the agent returned {error}."
            ) from None

    def log(self, feature_names: Sequence[str] | None, action_names: Sequence[str] | None, naming: Naming) -> Log:
        """Return what was recorded; what the user calls things comes before what the task calls them."""
        layout, moves = cast(Layout, self.layout), self.moves
        named: Naming = {**naming}
        own_features = list(layout.names) if feature_names is None else feature_names
        own_actions = list(moves.names) or None if action_names is None else action_names
        units = {**(layout.units if feature_names is None else {}), **(moves.units if action_names is None else {})}
        if units:
            named["units"] = {**units, **naming.get("units", {})}
        if feature_names is None and layout.kinds:
            named["kinds"] = {**layout.kinds, **naming.get("kinds", {})}
        if action_names is None and moves.levels and "levels" not in naming:
            named["levels"] = moves.levels
        if self.success and "success" not in naming:
            named["success"] = self.success
        if "action_kind" not in naming:
            named["action_kind"] = "discrete" if moves.discrete or "labels" in naming else "continuous"
        if moves.discrete and "labels" not in naming and named["action_kind"] == "discrete":
            # An action that the agent never takes is still one that it could take.
            named["labels"] = moves.labels
        recorded = [
            {
                "states": np.array(episode.states),
                "actions": np.array(episode.actions).reshape(len(episode.rewards), -1),
                "rewards": np.array(episode.rewards),
                "terminated": episode.ending[0],
                "truncated": episode.ending[1],
            }
            for episode in self.begun
        ]
        return Log.from_episodes(recorded, feature_names=own_features, action_names=own_actions, **named)


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
