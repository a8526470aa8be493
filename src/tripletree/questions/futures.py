"""Futures: from here, which regions recorded episodes came to next, how often, when, and how they fared."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.chance import Seen
from tripletree.answers.futures import Future, Futures, tell
from tripletree.asking.places import one_state
from tripletree.checks import check_whole
from tripletree.graph.count import QUANTILES
from tripletree.graph.following import CUT, END, Next, commonest, following
from tripletree.graph.futures import read_rows
from tripletree.language.conditions import clauses
from tripletree.language.numbers import significant
from tripletree.log.log import TERMINATED
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence, recorded
from tripletree.questions.outline import does

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Words = tuple[str, ...]

CLEARLY, MUCH = 2.576, 0.2
"""Returns are called clearly different when this many standard errors (99 %) and more than so much apart from what is
expected of equals: that an episode with this future returns more than another one half the time."""
REGIONS = 10
"""Regions, at most: the leaves of the tree when it had that many."""
DIGITS = 3
"""Digits of a border in a sentence: regions are large."""


def futures(
    fitted: Fitted, found: Evidence | None, start: Any, k: int = 3, regions: int = REGIONS, given: Any = None
) -> Futures:
    """Return the commonest futures from a place.

    Each episode has one vote: from a zone, by its first step there.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    found : Evidence or None
        The episodes to count; None where none are on record.
    start : None, state, leaf or zone
        Where from, as in `TripleTree.chance`.
    k : int
        How many futures, at most.
    regions : int
        How many regions there are, at most: the leaves of the tree when it had that many.
    given : str, bool array or None
        Which episodes count, as in `TripleTree.chance`.
    """
    check_whole(k, "k", 1, example=3)
    check_whole(regions, "regions", 2, example=REGIONS)
    found = recorded(found)
    state = one_state(fitted, start)
    only = found.given(given)
    visits, recording = found.visits(start, only), found.recording
    whose = found.episodes.of_row[read_rows(visits.rows)]
    whose, first = np.unique(whose, return_index=True)
    rows = read_rows(visits.rows)[first]
    groups = len(np.unique(found.episodes.group[whose]))
    seen = found.seen(visits, len(rows), len(rows), groups, only)
    if not len(rows):
        return Futures((), 0.0, 0.0, 0, seen)
    coarse = fitted.truncate(min(regions, fitted.tree.n_leaves))
    # Neighbours of a state near a border may have crossed it; what they come to next is asked from the state's side.
    here = None if state is None else int(coarse.tree.apply(state[None])[0])
    region = region_of_leaves(fitted, coarse.tree.n_leaves)
    come, steps = following(found.episodes, region[found.leaf], region[found.final_leaf], rows, here)
    kinds, unresolved = commonest(come, steps, found.episodes.group[whose])
    before = [recording.states[rows[one.visits]] if state is None else state[None] for one in kinds]
    names = _names(coarse, [one.region for one in kinds], before, k)
    told = tuple(_future(coarse, found, one, whose, *name, seen) for one, name in zip(kinds[:k], names, strict=True))
    cut = int((come == CUT).sum())
    return Futures(told, sum(one.share for one in kinds[k:]), unresolved, cut, seen)


def region_of_leaves(fitted: Fitted, regions: int) -> I64:
    """Return the region that each leaf lies in: the leaf that it was when the tree had so many leaves."""
    coarse = fitted.truncate(regions)
    node, kept = fitted.tree.leaf_nodes.astype(np.int64), coarse.tree.n_nodes
    while (node >= kept).any():
        node = np.where(node >= kept, fitted.tree.parent[node], node)
    number = np.zeros(kept, np.int64)
    number[coarse.tree.leaf_nodes] = np.arange(coarse.tree.n_leaves)
    return np.asarray(number[node])


def _names(coarse: Fitted, regions: list[int], before: list[F64], k: int) -> list[tuple[Words, Words]]:
    """Return for each of the first ``k`` regions what is new in it, in words, and all that holds; for the end nothing.

    New is what was not so ``before``, and what tells it from the other regions.
    """
    # The end, region -1, has no bounds.
    nowhere = np.full((1, len(coarse.schema.features)), np.inf)
    lower = np.vstack([coarse.bounds[0], -nowhere])[regions]
    upper = np.vstack([coarse.bounds[1], nowhere])[regions]
    low, high = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
    for i, states in enumerate(before):
        low[i] = np.where((states < lower[i]).any(axis=0), lower[i], -np.inf)
        high[i] = np.where((states >= upper[i]).any(axis=0), upper[i], np.inf)
    for i, j in product(range(min(k, len(regions))), range(len(regions))):
        for one, other in ((i, j), (j, i)):
            between = np.flatnonzero(upper[one] <= lower[other])
            if len(between) and ((low[one] < high[other]) & (low[other] < high[one])).all():
                f = between[0]
                high[one, f], low[other, f] = upper[one, f], lower[other, f]
    states = np.concatenate([np.empty((0, lower.shape[1])), *before])
    return [
        (_clauses(coarse, low[i], high[i], states), tuple(clauses(coarse.schema, lower[i].tolist(), upper[i].tolist())))
        for i in range(min(k, len(regions)))
    ]


def _clauses(coarse: Fitted, low: F64, high: F64, states: F64) -> Words:
    """Return what a box says, with bounds of three digits where these are on the same side of all states."""
    short = []
    for bound in (low, high):
        rounded = np.array([significant(x, DIGITS) for x in bound.tolist()])
        short.append(np.where(((states < rounded) == (states < bound)).all(axis=0), rounded, bound))
    exact = coarse.whole | (short[0] >= short[1])
    low, high = np.where(exact, low, short[0]), np.where(exact, high, short[1])
    return tuple(clauses(coarse.schema, low.tolist(), high.tolist()))


def _future(coarse: Fitted, found: Evidence, one: Next, whose: I64, where: Words, when: Words, seen: Seen) -> Future:
    episodes, returns = whose[one.visits], found.recording.returns
    low, median, high = np.quantile(returns[episodes], QUANTILES, method="inverted_cdf").tolist()
    others, middle = np.delete(whose, one.visits), None
    clearly = apart(returns[episodes], returns[others])
    if clearly:
        middle = float(np.quantile(returns[others], 0.5, method="inverted_cdf"))
        # Ranks may differ where medians do not, and then there is nothing to show for it.
        middle = middle if clearly * (median - middle) > 0 else None
    future = Future(
        leaf=None if one.region == END else one.region,
        where=where,
        when=when,
        action="" if one.region == END else _action(coarse, one.region),
        episodes=len(episodes),
        share=one.share,
        interval=np.array(one.interval),
        steps=one.steps,
        returns=(low, median, high) if np.ptp(returns) else None,
        others=middle,
        ended=int((found.recording.endings[episodes] == TERMINATED).sum()),
    )
    return replace(future, text=tell(future, seen))


def _action(coarse: Fitted, region: int) -> str:
    name = f"{coarse.schema.action.names[0]} = " if coarse.schema.action.labels else ""
    return f"{name}{does(coarse, region)}"


def apart(one: F64, other: F64) -> int:
    """Return 1 or -1 where one sample is larger or smaller, surely (by Mann and Whitney's test) and much, or 0."""
    n, a, b = len(one) + len(other), len(one), len(other)
    if not a or not b:
        return 0
    _, index, ties = np.unique(np.concatenate([one, other]), return_inverse=True, return_counts=True)
    rank = (np.cumsum(ties) - (ties - 1) / 2)[index.reshape(-1)]
    # How often one of the first is the larger one, and what that varies by when it is half the time.
    larger = (rank[:a].sum() - a * (a + 1) / 2) / (a * b)
    variance = (n + 1 - (ties**3 - ties).sum() / (n * (n - 1))) / (12 * a * b)
    return int(np.sign(larger - 0.5)) if abs(larger - 0.5) > max(MUCH, CLEARLY * np.sqrt(variance)) else 0
