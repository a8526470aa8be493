"""Refine: the tree flies, the agent says what it would have done there, and a new tree is grown on both (DAgger)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tripletree.answers.fidelity import Fidelity
from tripletree.answers.refined import Refined, Round
from tripletree.checks import check_choice, check_parameters, check_whole
from tripletree.errors import ParameterError, TripleTreeWarning
from tripletree.log.log import Log
from tripletree.log.schema import Action
from tripletree.log.spaces import Moves
from tripletree.model.evaluate import check_log, check_same_schema, in_labels
from tripletree.model.fit import available_cores, fit
from tripletree.model.fitted import Fitted
from tripletree.policy.critic import Critic, critic_of, weighed, with_moves
from tripletree.policy.fidelity import apart, as_log, beside, joined
from tripletree.policy.flying import Airfield, Flight, Progress, TreePilot
from tripletree.policy.policy import as_policy, check_features
from tripletree.policy.translate import Translation
from tripletree.text import Message, Option, count

SEED = 2_000_000
"""Far from the seeds that people record with, and from those of `fidelity`."""


def refine(
    fitted: Fitted,
    log: Log,
    env: Any,
    agent: Any,
    *,
    rounds: int = 6,
    episodes: int = 30,
    judge: int = 30,
    seed: int = SEED,
    weights: Any = None,
    keep: str = "last",
    theta: Sequence[float] | None = None,
    leaf_model: str | None = None,
    workers: int | None = None,
    trust: bool = False,
    normalize: Any = None,
    parameters: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Refined:
    """Grow better and better trees by asking the agent about states that the trees get themselves into.

    In every round the tree of the round before flies ``episodes`` episodes. The agent is asked at every step what it
    would do, and these answers take the place of what the tree did. A new tree is grown on the log and on the episodes
    of all rounds so far, and judged on fresh ones.

    Parameters
    ----------
    fitted : Fitted
        The tree to begin with; the others are grown with its parameters, and to its size where that was chosen.
    log : Log
        What it was grown on.
    env, agent
        As in `fidelity`.
    rounds, episodes : int
        How many rounds, and episodes that are flown for growing in each.
    judge : int
        Episodes that judge each round, the first tree included; they are used for nothing else.
    seed : int
        The first seed; every episode that is flown has one of its own, except that tree and agent are judged on the
        same.
    weights : function, "agent" or None
        From states to the value of each action, shape (states, actions): steps then count by the difference between
        best and worst action (VIPER). ``"agent"``: the agent's own critic (DQN, QR-DQN). None: all count the same.
    keep : {"last", "best"}
        Which tree is kept. The best of several is partly the luckiest, so it is judged once more.
    theta : three numbers or None
        Other weights of action, value and derivative for the new trees, such as ``(1, 0, 0)`` for trees that only act.
    leaf_model, workers, trust, normalize
        As in `fidelity`.
    parameters : mapping or None
        Parameters to grow with; None: those of the tree.
    progress : function of (done, all), or None
        Called after every episode.
    """
    for name, number, least in (("rounds", rounds, 1), ("episodes", episodes, 1), ("judge", judge, 2)):
        check_whole(number, name, least, example=6 if name == "rounds" else 30)
    check_whole(seed, "seed", 0, example=SEED)
    check_choice(keep, "keep", ("last", "best"))
    log = _usable(fitted, log)
    growing = _growing(fitted, theta, parameters)
    with Airfield(env, workers=workers, trust=trust, normalize=normalize) as field:
        check_features(field.layout, fitted)
        agent = field.seated(agent)
        critic = critic_of(weights, agent, field)
        course = _Course(field, agent, int(seed), leaf_model, progress)
        course.left = (int(rounds) + 1 + (keep == "best")) * 2 * int(judge) + int(rounds) * int(episodes)
        course.all = course.left
        log = _with_all_labels(log, field.moves, field.translation(log.schema.action))
        return _run(course, fitted, log, growing, critic, int(rounds), int(episodes), int(judge), keep)


def _run(
    course: _Course,
    fitted: Fitted,
    log: Log,
    growing: Mapping[str, Any],
    critic: Critic | None,
    rounds: int,
    episodes: int,
    judge: int,
    keep: str,
) -> Refined:
    trees, logs = [fitted], [log]
    done = [Round(0, log.n_samples, fitted.tree.n_leaves, course.judged(fitted, judge))]
    try:
        for number in range(1, rounds + 1):
            flown = course.advised(trees[-1], logs[-1], episodes)
            together = Log.concatenate([logs[-1], flown])
            tree = _grown(together, growing, critic)
            done.append(Round(number, together.n_samples, tree.tree.n_leaves, course.judged(tree, judge)))
            trees.append(tree)
            logs.append(together)
    except KeyboardInterrupt:
        if len(done) < 2:
            raise
        warnings.warn(TripleTreeWarning(f"Stopped by Ctrl-C after {count(len(done) - 1, 'round')}."), stacklevel=4)
    kept = len(done) - 1
    again: Fidelity | None = None
    if keep == "best":
        kept = int(np.argmax([one.judged.difference.mean for one in done]))
        again = course.judged(trees[kept], judge)
    first, last = (one.judged.tree_returns - one.judged.agent_returns for one in (done[0], done[-1]))
    return Refined(
        rounds=tuple(done),
        kept=kept,
        keep=keep,
        again=again,
        gain=apart(last, first),
        weighted=critic is not None,
        episodes=episodes,
        fitted=trees[kept],
        log=logs[kept],
    )


class _Course:
    """Flights one after the other, no two with the same seed."""

    def __init__(
        self, field: Airfield, agent: Any, seed: int, leaf_model: str | None, progress: Progress | None
    ) -> None:
        self.field, self.agent, self.seed, self.leaf_model = field, agent, seed, leaf_model
        self.progress = progress
        self.next = seed
        self.all = self.left = 0
        self.translations: dict[Action, Translation] = {}

    def translation(self, action: Action) -> Translation:
        """Return how actions are translated; what there is to say about it was said by the first."""
        if action not in self.translations:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TripleTreeWarning)
                self.translations[action] = self.field.translation(action)
        return self.translations[action]

    def judged(self, fitted: Fitted, episodes: int) -> Fidelity:
        """Return how a tree does on fresh episodes."""
        seed = self._seeds(episodes).start
        policy, translation = as_policy(fitted, self.leaf_model), self.translation(fitted.schema.action)
        shown = self._shown(2 * episodes)
        return beside(fitted, policy, self.field, translation, self.agent, seed, episodes, shown)

    def advised(self, fitted: Fitted, log: Log, episodes: int) -> Log:
        """Return episodes that a tree flies, with what the agent would have done at every step."""
        pilot = TreePilot(as_policy(fitted, self.leaf_model), self.translation(fitted.schema.action))
        flights = self.field.fly(pilot, self._seeds(episodes), adviser=self.agent, progress=self._shown(episodes))
        advice = self.translation(log.schema.action).numbers(joined(flights, "advice"))
        return _like(as_log(flights, advice, log.schema), log, flights)

    def _seeds(self, number: int) -> range:
        self.next += number
        return range(self.next - number, self.next)

    def _shown(self, number: int) -> Progress | None:
        before = self.all - self.left
        self.left -= number
        progress = self.progress
        return None if progress is None else lambda done, _: progress(before + done, self.all)


def _grown(log: Log, growing: Mapping[str, Any], critic: Critic | None) -> Fitted:
    with warnings.catch_warnings():
        # Said when the first tree was grown, and not again in every round.
        warnings.simplefilter("ignore", TripleTreeWarning)
        if critic is None:
            return fit(log, None, growing)
        tree = fit(weighed(log, critic), None, {**growing, "keep": "nothing"})
    return with_moves(tree, log, growing["keep"], growing["threads"] or available_cores())


def _growing(fitted: Fitted, theta: Sequence[float] | None, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the parameters of the new trees: those of the first, and its size if that was chosen afterwards."""
    found = {"threads": None, "progress": None, **(fitted.options if given is None else given)}
    if len(fitted.curve_training) > fitted.tree.n_leaves:
        found["max_leaves"] = fitted.tree.n_leaves
    if theta is not None:
        found["theta"] = theta
    found["costs"] = fitted.options.get("costs")  # by name: flights may add labels
    check_parameters(found)
    return found


def _usable(fitted: Fitted, log: Log) -> Log:
    """Return the log in the words of the tree, if flights can be added to it."""
    check_log(log, "log")
    log = in_labels(fitted.schema, log)
    check_same_schema(fitted.schema, log, "log")
    for lacks, what in ((not log.schema.has_action, "no actions"), (not log.schema.has_reward, "no rewards")):
        if lacks:
            raise ParameterError(
                f"This log has {what}, and episodes that are flown have them: a tree on both cannot be."
            )
    if log.schema.per_second:
        raise ParameterError(
            Message(
                "This log knows the time between its steps, and episodes that are flown do not. Read it without times, "
                "grow the tree again and refine that: {}.",
                Option("ignore", ["time"]),
            )
        )
    return log


def _with_all_labels(log: Log, moves: Moves, translation: Translation) -> Log:
    """Return a log whose labels are all actions of the environment: the agent may do what it never did before."""
    action = log.schema.action
    new = [
        (value, label)
        for value, label in moves.labels.items()
        if (tuple(map(int, value.split(", "))) if isinstance(value, str) else (value,)) not in translation.position
    ]
    if action.kind != "discrete" or not new:
        return log
    codes = (*action.codes, *(str(value) for value, _ in new)) if action.codes else ()
    names = tuple(label if action.codes else str(value) for value, label in new)
    action = replace(action, labels=(*action.labels, *names), codes=codes)
    return replace(log, schema=replace(log.schema, action=action))


def _like(flown: Log, log: Log, flights: Sequence[Flight]) -> Log:
    """Return flights whose episodes are called in the way of a log, so that both can be one."""
    if log.weights is not None:
        flown = flown.weighted(np.full(flown.n_samples, log.weights.mean()))
    names = np.array([f"flown from seed {flight.seed}" for flight in flights])
    ids = names if log.episode_ids.dtype.kind == "U" else flown.episode_ids
    if log.groups is None:
        return replace(flown, episode_ids=ids)
    # Each by itself: nobody who is in the log flew it.
    numbers = log.groups.max() + 1 + np.arange(len(flights)) if log.groups.dtype.kind != "U" else names
    return replace(flown, episode_ids=ids, groups=numbers, group_name=log.group_name)
