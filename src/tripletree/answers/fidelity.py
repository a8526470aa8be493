"""Fidelity: a tree that acts beside its agent, from the same starts: who gets more, and where the two agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer, plain
from tripletree.language.numbers import FEW, all_of, estimate, percent, rounded
from tripletree.text import count

F64 = npt.NDArray[np.float64]

AS_WELL = 0.05
"""A tree does as well as its agent if it surely lacks less than this share of the agent's mean return."""


class Estimate(NamedTuple):
    """A mean over episodes with its 95 % interval; None where there is one episode only."""

    mean: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Agreement:
    """How far a tree and its agent would do the same in some states.

    Attributes
    ----------
    steps : int
        How many states.
    share : float or None
        In which share of them they choose the same label (discrete actions).
    rmse : dict of str to float
        Root mean square difference of each dimension of the action (continuous actions).
    relative : dict of str to float or None
        The same in standard deviations of that dimension over the training log; None where it did not vary there.
    explained : float or None
        Which share of the variance of the agent's actions in these states the tree explains; below 0 where a constant
        would be nearer, None where the agent always does the same, or where actions are labels.
    """

    steps: int
    share: float | None
    rmse: dict[str, float]
    relative: dict[str, float | None]
    explained: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Fidelity(Answer):
    """How well a tree does in the place of its agent, and how far the two agree.

    Attributes
    ----------
    episodes, seed : int
        How many episodes each of the two flew, and the seed of the first; the next ones count up.
    tree, agent : Estimate
        Mean return.
    difference : Estimate
        Mean return of the tree less that of the agent; from episode to episode where ``paired``.
    paired : bool
        Whether both began in the same states, seed by seed. If not, the environment does not obey its seed.
    at_least : float
        Share of the episodes in which the tree got at least as much as the agent from the same start.
    tree_returns, agent_returns : float64 arrays of shape (episodes,)
        Return of each episode.
    tree_lengths, agent_lengths : int64 arrays of shape (episodes,)
        Steps of each episode.
    on_agent : Agreement
        In the states that the agent visits.
    on_tree : Agreement
        In the states that the tree gets itself into.
    outside : float
        Share of the latter that lie outside the range of the training log in some feature.
    seen : int
        Episodes of the agent that the tree was grown on, or that chose its size.
    leaf_model : str
        What the leaves did, "mean" or "linear".
    """

    episodes: int
    seed: int
    tree: Estimate
    agent: Estimate
    difference: Estimate
    paired: bool
    at_least: float
    tree_returns: F64
    agent_returns: F64
    tree_lengths: npt.NDArray[np.int64]
    agent_lengths: npt.NDArray[np.int64]
    on_agent: Agreement
    on_tree: Agreement
    outside: float
    seen: int = 0
    leaf_model: str = "mean"

    @property
    def as_well(self) -> bool:
        """Whether the tree surely does as well as its agent: it lacks less than a twentieth of the mean return.

        Never on few episodes: where all of them come out the same, their interval is too narrow.
        """
        interval = self.difference.interval
        return interval is not None and self.episodes >= FEW and interval[0] >= -AS_WELL * abs(self.agent.mean)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON types."""
        found = super().to_dict()
        for name in ("tree", "agent", "difference"):
            found[name] = plain(getattr(self, name)._asdict())
        return {**found, "as_well": self.as_well}

    def __str__(self) -> str:
        return " ".join(part for part in (_returns(self), _lengths(self), _agreements(self), _caution(self)) if part)


def _returns(answer: Fidelity) -> str:
    """Return who gets how much."""
    flown = f"Flown on {count(answer.episodes, 'episode')}"
    if not answer.seen:
        flown = f"Flown on {count(answer.episodes, 'fresh episode')}"
    tree = told_estimate(answer.tree, " (95 % interval {} to {})")
    told = (
        f"{flown}, the tree gets {tree}, the agent {told_estimate(answer.agent)}: {told_difference(answer.difference)}."
    )
    if answer.as_well:
        told += " It does as well as the agent"
        lacks = answer.difference.interval is not None and answer.difference.interval[0] < 0
        told += f", to within {percent(AS_WELL)} of its return." if lacks else "."
    if answer.paired and answer.episodes > 1:
        told += f" {_often(answer.at_least)} at least as much."
    return told


def _often(share: float) -> str:
    if share in (0.0, 1.0):
        return "In every episode it gets" if share else "In no episode does it get"
    return f"In {percent(share)} of the episodes it gets"


def told_estimate(found: Estimate, template: str = " ({} to {})") -> str:
    """Return a mean and its interval."""
    if found.interval is None:
        return estimate(found.mean)
    if found.interval[0] == found.interval[1]:
        return f"{estimate(found.mean)} in every episode"
    return estimate(found.mean) + template.format(*map(estimate, found.interval))


def told_difference(found: Estimate) -> str:
    """Return "20 less (3 to 37)"; what may be nothing says so."""
    mean, interval = found.mean, found.interval
    if interval is not None and interval[0] == interval[1] == mean == 0:
        return "the same in every episode"
    if interval is None:
        return f"{estimate(abs(mean))} {more_or_less(mean)}" if mean else "the same"
    low, high = interval
    if low > 0 or high < 0:
        near, far = sorted((abs(low), abs(high)))
        return f"{estimate(abs(mean))} {more_or_less(mean)} ({estimate(near)} to {estimate(far)})"
    told = f"{estimate(abs(mean))} {more_or_less(mean)}" if mean else "no difference on average"
    ends = f"{estimate(abs(low))} less to {estimate(high)} more"
    return f"{told}, which may be chance ({ends})"


def more_or_less(number: float) -> str:
    """Return "less" below 0, otherwise "more"."""
    return "less" if number < 0 else "more"


def _lengths(answer: Fidelity) -> str:
    tree, agent = float(answer.tree_lengths.mean()), float(answer.agent_lengths.mean())
    if tree == agent:
        return ""
    return f"Its episodes last {estimate(tree)} steps on average, the agent's {estimate(agent)}."


def _agreements(answer: Fidelity) -> str:
    """Return how far the two agree, first where the agent goes, then where the tree goes."""
    there, here = answer.on_agent, answer.on_tree
    if there.share is not None and here.share is not None:
        return (
            f"On the agent's own states they agree in {percent(there.share)} of the steps; on the states that the tree "
            f"gets itself into, in {percent(here.share)}."
        )
    return (
        f"On the agent's own states {_explained(there, 'the tree')}; on the states that the tree gets itself into, "
        f"{_explained(here, 'it')}."
    )


def _explained(found: Agreement, who: str) -> str:
    known = [f"{name} {rounded(size, 2)}" for name, size in found.relative.items() if size is not None]
    apart = f" (RMSE / sigma: {all_of(known)})" if known else ""
    if found.explained is None:
        return f"the agent always does the same{apart}"
    if found.explained <= 0:
        return f"a constant would be at least as near to what the agent does{apart}"
    return f"{who} explains {percent(found.explained)} of what the agent does{apart}"


def _caution(answer: Fidelity) -> str:
    told = []
    if answer.outside:
        told.append(f"{percent(answer.outside)} of the latter lie outside the range of the log that it was grown on.")
    if not answer.paired:
        told.append(
            "The two did not begin in the same states: this environment does not obey its seed, so they are compared "
            "as two samples."
        )
    if answer.seen:
        told.append(
            f"The tree has seen {answer.seen:,} of the agent's {count(answer.episodes, 'episode')}: give another seed."
        )
    if answer.episodes == 1:
        told.append("One episode says little: fly more.")
    return " ".join(told)
