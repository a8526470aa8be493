"""Fidelity: the tree flies beside its agent from the same starts; who gets more, and where do they agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.fidelity import Agreement, Estimate, Fidelity
from tripletree.checks import check_whole
from tripletree.log.endings import TERMINATED, TRUNCATED, UNKNOWN
from tripletree.log.identity import episode_hashes
from tripletree.log.log import Log
from tripletree.log.schema import Action, Schema
from tripletree.model.evaluate import sightings
from tripletree.model.fitted import Fitted
from tripletree.policy.flying import Airfield, Flight, Progress, TreePilot
from tripletree.policy.policy import TreePolicy, as_policy, check_features
from tripletree.policy.translate import Translation

F64 = npt.NDArray[np.float64]
CONFIDENCE = 0.95
SEED = 1_000_000
"""Far from the seeds that people record with."""


def fidelity(
    fitted: Fitted,
    env: Any,
    agent: Any,
    *,
    episodes: int = 100,
    seed: int = SEED,
    workers: int | None = None,
    leaf_model: str | None = None,
    trust: bool = False,
    normalize: Any = None,
    progress: Progress | None = None,
) -> Fidelity:
    """Let tree and agent fly the same fresh episodes, and compare them.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    env : str, function or environment
        An id of Gymnasium, a function that makes an environment, or one environment; see `flying.Airfield`.
    agent : callable, model, path or "random"
        As in :func:`tripletree.record`. A function that draws random numbers of its own, or that remembers, may answer
        differently with another number of workers.
    episodes : int
        Episodes that each of the two flies.
    seed : int
        The first episode begins with ``env.reset(seed=seed)``, the next with ``seed + 1``, and so on.
    workers : int or None
        Processes; None: one for each core.
    leaf_model : {"mean", "linear"} or None
        What the leaves do; None: what the tree was grown with.
    trust, normalize
        As in :func:`tripletree.record`.
    progress : function of (done, all), or None
        Called after every episode.
    """
    check_whole(episodes, "episodes", 1, example=100)
    check_whole(seed, "seed", 0, example=SEED)
    policy = as_policy(fitted, leaf_model)
    with Airfield(env, workers=workers, trust=trust, normalize=normalize) as field:
        check_features(field.layout, fitted)
        translation = field.translation(fitted.schema.action)
        return beside(fitted, policy, field, translation, field.seated(agent), int(seed), int(episodes), progress)


def beside(
    fitted: Fitted,
    policy: TreePolicy,
    field: Airfield,
    translation: Translation,
    agent: Any,
    seed: int,
    episodes: int,
    progress: Progress | None = None,
) -> Fidelity:
    """Return how a tree does beside an agent that is seated already."""
    seeds = range(seed, seed + episodes)
    both = 2 * episodes
    late = None if progress is None else lambda done, _: progress(episodes + done, both)
    early = None if progress is None else lambda done, _: progress(done, both)
    theirs = field.fly(agent, seeds, progress=early)
    ours = field.fly(TreePilot(policy, translation), seeds, adviser=agent, progress=late)
    paired = all(np.array_equal(a.states[0], b.states[0]) for a, b in zip(ours, theirs, strict=True))
    tree, other = (np.array([flight.rewards.sum() for flight in flights]) for flights in (ours, theirs))
    scale = fitted.action_scale
    visited = np.concatenate([flight.states[:-1] for flight in ours])
    known = np.concatenate([flight.states[:-1] for flight in theirs])
    said = [translation.numbers(joined(flights, "actions")) for flights in (ours, theirs)]
    return Fidelity(
        episodes=episodes,
        seed=seed,
        tree=mean_of(tree),
        agent=mean_of(other),
        difference=mean_of(tree - other) if paired else apart(tree, other),
        paired=paired,
        at_least=float((tree >= other).mean()),
        tree_returns=tree,
        agent_returns=other,
        tree_lengths=np.array([len(flight.rewards) for flight in ours]),
        agent_lengths=np.array([len(flight.rewards) for flight in theirs]),
        on_agent=agreement(policy.numbers(known), said[1], fitted.schema.action, scale),
        on_tree=agreement(said[0], translation.numbers(joined(ours, "advice")), fitted.schema.action, scale),
        outside=float(fitted.outside(visited).mean()),
        seen=_seen(fitted, theirs, said[1]),
        leaf_model=policy.leaf_model,
    )


def joined(flights: Sequence[Flight], part: str) -> npt.NDArray[Any]:
    """Return the actions, or the advice, of several flights one after the other."""
    return np.concatenate([getattr(flight, part) for flight in flights])


def mean_of(numbers: F64) -> Estimate:
    """Return the mean of independent numbers with Student's interval."""
    mean, n = float(numbers.mean()), len(numbers)
    if n < 2:
        return Estimate(mean, None)
    return _around(mean, float(numbers.std(ddof=1)) / n**0.5, n - 1)


def apart(ours: F64, theirs: F64) -> Estimate:
    """Return the difference of the means of two independent samples with Welch's interval."""
    mean = float(ours.mean() - theirs.mean())
    if min(len(ours), len(theirs)) < 2:
        return Estimate(mean, None)
    parts = [float(numbers.var(ddof=1)) / len(numbers) for numbers in (ours, theirs)]
    spread = sum(part**2 / (len(numbers) - 1) for part, numbers in zip(parts, (ours, theirs), strict=True))
    return _around(mean, sum(parts) ** 0.5, sum(parts) ** 2 / spread if spread else 1.0)


def _around(mean: float, error: float, freedom: float) -> Estimate:
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    return Estimate(mean, (mean - half, mean + half))


def agreement(tree: npt.NDArray[Any], agent: npt.NDArray[Any], action: Action, scale: F64 | None) -> Agreement:
    """Return how far two agree, from what both do in the same states.

    Parameters
    ----------
    tree, agent : arrays of shape (states,) or (states, dimensions)
        Positions of labels, or numbers.
    action : Action
        What an action is.
    scale : float64 array of shape (dimensions,), or None
        Standard deviation of each dimension over the training log.
    """
    if action.kind == "discrete":
        return Agreement(len(tree), float((tree == agent).mean()), {}, {}, None)
    wrong = ((tree - agent) ** 2).mean(axis=0)
    whole = agent.var(axis=0)
    sigma = np.ones(len(wrong)) if scale is None else scale
    weight = np.where(sigma > 0, 1 / np.where(sigma > 0, sigma, 1.0) ** 2, 0.0)
    total = float(weight @ whole)
    relative = [float(size) ** 0.5 / one if one > 0 else None for size, one in zip(wrong, sigma.tolist(), strict=True)]
    return Agreement(
        steps=len(tree),
        share=None,
        rmse=dict(zip(action.names, np.sqrt(wrong).tolist(), strict=True)),
        relative=dict(zip(action.names, relative, strict=True)),
        explained=1 - float(weight @ wrong) / total if total > 0 else None,
    )


def as_log(flights: Sequence[Flight], actions: npt.NDArray[Any], schema: Schema) -> Log:
    """Return flights as a log, with actions that may be the adviser's."""
    lengths = [len(flight.rewards) for flight in flights]
    endings = [TERMINATED if flight.terminated else TRUNCATED if flight.truncated else UNKNOWN for flight in flights]
    return Log(
        states=np.concatenate([flight.states[:-1] for flight in flights]),
        actions=actions,
        rewards=np.concatenate([flight.rewards for flight in flights]),
        starts=np.append(0, np.cumsum(lengths)),
        final_states=np.array([flight.states[-1] for flight in flights]),
        endings=np.array(endings, np.uint8),
        episode_ids=np.array([flight.seed for flight in flights], np.int64),
        schema=schema,
    )


def _seen(fitted: Fitted, flights: Sequence[Flight], actions: npt.NDArray[Any]) -> int:
    """Return how many of the agent's episodes the tree was grown on, or chosen by."""
    schema = fitted.schema
    if schema.per_second or not schema.has_reward or (actions.ndim == 1 and (actions < 0).any()):
        return 0  # not comparable, or certainly new
    seen, chose, _ = sightings(fitted, episode_hashes(as_log(flights, actions, schema)))
    return int((seen | chose).sum())
