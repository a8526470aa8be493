"""Outline: a tree seen from afar. Few regions, what the agent does in each, and how it goes from one to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripletree.checks import is_integer
from tripletree.errors import ParameterError
from tripletree.graph.movement import observe
from tripletree.graph.transitions import leaves_of
from tripletree.log.endings import TERMINATED
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.model.judge import check_same_schema
from tripletree.questions.answers import Answer
from tripletree.questions.simulate import simulate
from tripletree.questions.words import reports
from tripletree.questions.words.conditions import clauses

REGIONS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Region(Answer):
    """One region of an outline.

    Attributes
    ----------
    number : int
        Its number, from 0 on.
    leaf : int
        The leaf of the small tree that it is.
    when : tuple of str
        What holds in it.
    share : float
        The share of the samples that lie in it.
    action : str
        What the agent does there, in words.
    value, spread : float
        The mean value there, and its standard deviation.
    begins, ends : float
        The shares of episodes that begin in it, and of those that end whose last state lies in it.
    following : tuple of (int or None, float)
        Where the agent goes from it, the most frequent first, with probabilities; None is the end.
    """

    number: int
    leaf: int
    when: tuple[str, ...]
    share: float
    action: str
    value: float
    spread: float
    begins: float
    ends: float
    following: tuple[tuple[int | None, float], ...]

    def __str__(self) -> str:
        return reports.region(self)


@dataclass(frozen=True, eq=False, repr=False)
class Route(Answer):
    """One way through the regions to the end of the episode.

    Attributes
    ----------
    regions : tuple of int
        Numbers of the regions, in order.
    probability : float
        That the agent, once in the first region, moves through just these.
    steps : float
        How long that takes on average.
    """

    regions: tuple[int, ...]
    probability: float
    steps: float

    def __str__(self) -> str:
        return reports.route(self)


@dataclass(frozen=True, eq=False, repr=False)
class Outline(Answer):
    """A tree as few regions, the most visited first.

    Attributes
    ----------
    regions : tuple of Region
        The regions.
    routes : tuple of Route
        The most probable ways through them, from where most episodes begin to the end; empty when none is recorded.
    ended : int
        Episodes of which the log shows the end.
    """

    regions: tuple[Region, ...]
    routes: tuple[Route, ...]
    ended: int

    def __str__(self) -> str:
        return "\n".join(map(str, self.regions))


def outline(fitted: Fitted, log: Log, regions: int = REGIONS, ways: int = 3, threads: int = 1) -> Outline:
    """Return the first regions that growth made out, with how the log moves between them.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log
        Whose moves and shares.
    regions : int
        How many regions, at most.
    ways : int
        How many routes.
    threads : int
        Threads that find the leaf of each sample.
    """
    check_same_schema(fitted.schema, log, "log")
    if not is_integer(regions) or regions < 1:
        raise ParameterError(f"regions must be a whole number of at least 1; got {regions!r}.")
    coarse = fitted.truncate(min(regions, fitted.tree.n_leaves))
    moves = observe(coarse.tree, log, threads)
    counted, size = moves.transitions, coarse.tree.n_leaves
    leaf, _ = leaves_of(coarse.tree, log, threads)
    count = np.bincount(leaf, minlength=size)
    order = np.argsort(-count, kind="stable").tolist()
    number = {where: place for place, where in enumerate(order)}
    matrix = counted.matrix().toarray()
    last = np.bincount(leaf[log.starts[1:] - 1][log.endings == TERMINATED], minlength=size)
    lower, upper = coarse.bounds
    found = []
    for place, where in enumerate(order):
        ways_on = sorted(((p, to) for to, p in enumerate(matrix[where].tolist()) if p > 0), key=lambda pair: -pair[0])
        found.append(
            Region(
                number=place,
                leaf=where,
                when=tuple(clauses(fitted.schema, lower[where].tolist(), upper[where].tolist())),
                share=float(count[where] / len(leaf)),
                action=reports.does(coarse, where),
                value=float(coarse.leaves.value_mean[where]),
                spread=float(coarse.leaves.value_std[where]),
                begins=float(counted.starts[where] / max(counted.starts.sum(), 1)),
                ends=float(last[where] / max(last.sum(), 1)),
                following=tuple((number.get(to), p) for p, to in ways_on[:3]),
            )
        )
    best = simulate(coarse, counted, int(counted.starts.argmax()), "end", k=ways, aligned=False)
    routes = tuple(
        Route(tuple(number[leaf] for leaf in way.leaves.tolist()), way.probability, way.duration) for way in best
    )
    return Outline(tuple(found), routes, int(last.sum()))
