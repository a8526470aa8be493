"""Answers: frozen, str() is the sentence and to_dict() the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.graph.markov import MarkovCheck
from tripletree.log.schema import Schema
from tripletree.questions.words import chances, markup, predictions


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """What all answers have in common: ``str()`` is the sentence, ``to_dict()`` the data, notebooks show a box."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the schema as JSON types; numbers that are not finite become None."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self) if field.name != "schema"}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        return markup.box(str(self))


def plain(value: Any) -> Any:
    """Return ``value`` as JSON types, whatever arrays, answers and collections it is made of."""
    if isinstance(value, Answer):
        return value.to_dict()
    if isinstance(value, MarkovCheck):
        return plain({**asdict(value), "verdict": value.verdict})
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Answer):
    """What the tree predicts in one or several states, and how far the samples of each leaf spread.

    For a single state the first axis of every array is gone: ``value`` is a float, ``action`` a label or the numbers
    of a continuous action.

    Attributes
    ----------
    action : array of labels, or float64 array of shape (states, dimensions)
        The leaf's most frequent label, or its mean action.
    action_probability : float64 array of shape (states, labels), or None
        Share of each label, in the order of ``schema.action.labels`` (discrete actions only).
    action_std : float64 array of shape (states, dimensions), or None
        Standard deviation of the action (continuous actions only).
    value, value_std : float64 arrays of shape (states,)
        Mean and standard deviation of the value.
    derivative, derivative_std : float64 arrays of shape (states, features), or None
        Mean and standard deviation of the derivative; None when the log has no successor states.
    leaf : int array of shape (states,)
        Leaf of each state.
    count : int array of shape (states,)
        Training samples in that leaf.
    outside : bool array of shape (states,)
        Whether the state lies outside the range of the training log in some feature.
    schema : Schema
        Names of features and actions.
    """

    action: Any
    action_probability: npt.NDArray[np.float64] | None
    action_std: npt.NDArray[np.float64] | None
    value: Any
    value_std: Any
    derivative: npt.NDArray[np.float64] | None
    derivative_std: npt.NDArray[np.float64] | None
    leaf: Any
    count: Any
    outside: Any
    schema: Schema

    def __str__(self) -> str:
        if isinstance(self.leaf, np.ndarray):
            return predictions.predictions(
                len(self.leaf), len(np.unique(self.leaf)), int(np.count_nonzero(self.outside))
            )
        spread = self.action_std if self.action_probability is None else float(self.action_probability.max())
        return predictions.prediction(
            self.schema, self.action, spread, self.value, self.value_std, self.leaf, self.count, self.outside
        )


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Answer):
    """How probable it is to reach a zone, by the chain over leaves.

    Attributes
    ----------
    probability : float
        The answer.
    interval : float64 array of shape (2,), or None
        95 % sampling interval: the question is asked of ``draws`` chains whose probabilities are drawn from the
        Dirichlet distributions of the counts (see ``graph.chain.interval``). Where always or never is all that was
        seen: Wilson's interval, with as many sequences as begin at the start. It says nothing about the error of
        forgetting the past: see ``markov``.
    reach, start, before : str
        The zones in words; ``before`` may be None.
    within : int or None
        Deadline in steps.
    unknown : float
        Probability to come first to a leaf of which the log does not show what follows; it counts as not reaching.
    there : bool
        Whether the start already lies in the zone.
    partly : int
        Leaves that lie in the zone only in part and, as their samples do on average, count as a whole.
    outside : bool
        Whether the start lies outside the range of the training log.
    draws : int
        Chains drawn for the interval.
    markov : MarkovCheck
        How well the chain describes the log.
    """

    probability: float
    interval: npt.NDArray[np.float64] | None
    reach: str
    start: str
    before: str | None
    within: int | None
    unknown: float
    there: bool
    partly: int
    outside: bool
    draws: int
    markov: MarkovCheck

    def __str__(self) -> str:
        return chances.chance(self)


@dataclass(frozen=True, eq=False, repr=False)
class Duration(Answer):
    """How many steps it takes to reach a zone, over the journeys that arrive.

    Attributes
    ----------
    steps : float or None
        Mean number of steps; None when the zone cannot be reached.
    interval : float64 array of shape (2,), or None
        95 % sampling interval, as in Chance.
    probability : float
        Probability to arrive at all.
    reach, start, before : str
        The zones in words; ``before`` may be None.
    there : bool
        Whether the start already lies in the zone.
    partly : int
        Leaves that lie in the zone only in part and, as their samples do on average, count as a whole.
    draws : int
        Chains drawn for the interval.
    markov : MarkovCheck
        How well the chain describes the log.
    """

    steps: float | None
    interval: npt.NDArray[np.float64] | None
    probability: float
    reach: str
    start: str
    before: str | None
    there: bool
    partly: int
    draws: int
    markov: MarkovCheck

    def __str__(self) -> str:
        return chances.duration(self)


@dataclass(frozen=True, eq=False, repr=False)
class Whereabouts(Answer):
    """Where the agent is after some steps, or which share of its time it spends where.

    Attributes
    ----------
    share : float64 array of shape (leaves,)
        Probability of each leaf, or share of time in it.
    interval : float64 array of shape (2, leaves) or, after some steps, (2, leaves + 1) with the end; or None
        95 % sampling intervals, as in Chance.
    end : float or None
        Probability that the episode has ended; None for shares of time.
    steps : int or None
        After how many steps; None for shares of time.
    start : str
        The start in words.
    draws : int
        Chains drawn for the intervals.
    markov : MarkovCheck
        How well the chain describes the log.
    """

    share: npt.NDArray[np.float64]
    interval: npt.NDArray[np.float64] | None
    end: float | None
    steps: int | None
    start: str
    draws: int
    markov: MarkovCheck

    def __str__(self) -> str:
        order = np.argsort(-self.share, kind="stable")
        return chances.whereabouts(
            self, [(int(leaf), float(self.share[leaf])) for leaf in order if self.share[leaf] > 0]
        )


@dataclass(frozen=True, eq=False, repr=False)
class Unreachable(Answer):
    """Which leaves no recorded moves lead to.

    Attributes
    ----------
    leaves : int array
        Leaves that cannot be reached.
    n_leaves : int
        Leaves of the tree.
    end : bool
        Whether the end can be reached.
    start : str
        The start in words.
    """

    leaves: npt.NDArray[np.int64]
    n_leaves: int
    end: bool
    start: str

    def __str__(self) -> str:
        return chances.unreachable(self.leaves.tolist(), self.n_leaves, self.end, self.start)
