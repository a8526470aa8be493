"""Levels of a continuous action, found in the log when a tree is grown: where the numbers mean something else.

First where the world answers differently (``log.switches``); otherwise numbers that mean something by themselves: sign,
zero, limits, values that the agent prefers, quarters. Then merged until the tree can tell them apart in episodes that
it has not seen. What was found is kept with the model, as JSON types.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.checks import is_number
from tripletree.log.log import Log
from tripletree.log.schema import GivenLevels
from tripletree.log.switches import Answers, Switch, find_switches, limit_of, rows_of
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

GOOD, POOR = 0.8, 0.7
"""Share of steps in unseen episodes that must agree with the words; and below which words are not used at all."""
MORE = 0.03
"""Share of the variance that a further level must explain."""
MOST_LEVELS = 5
NEAR, LIMIT = (0.05, 0.1, 0.25), 0.95
"""What counts as near 0, and as at the limit, as shares of the largest action."""
FEW_VALUES = 6
"""An action with no more different values than this has one level for each."""
PEAK, NARROW = 0.1, 0.05
"""A preferred value holds this share of the samples within this share of the range."""
BINS = 200
ROWS = 30_000
"""Rows, of whole episodes, that levels are judged on."""
DEPENDS = 0.25
"""An action whose effect depends on its number by less than this share of the jump is off there."""


class Found(NamedTuple):
    """The levels of one dimension of an action.

    Attributes
    ----------
    edges : tuple of floats
        Where one level ends and the next begins.
    names : tuple of str
        What the levels are called.
    how : {"switch", "number", "value", "given"}
        Whether they are where the world answers differently, numbers that mean something by themselves, the only values
        there are, or what the user or the environment said.
    agreement : float or None
        How often the tree's word fits the log in unseen episodes; None where that cannot be measured.
    """

    edges: tuple[float, ...]
    names: tuple[str, ...]
    how: str
    agreement: float | None = None


def level_of(numbers: F64, edges: Sequence[float]) -> I64:
    """Return the level of each number; an edge belongs to the level above it."""
    # There are a few edges, so it is faster to count those that lie below than to search for each number.
    level: I64 = np.zeros(np.shape(numbers), np.int64)
    for edge in edges:
        level += numbers >= edge
    return level


class Trial(NamedTuple):
    """A tree grown on some of the episodes, and the leaves of all samples: what levels are judged with."""

    train: I64
    train_leaf: I64
    test: I64
    test_leaf: I64

    def agreement(self, action: F64, edges: Sequence[float]) -> float:
        """Return how often the commonest level of a leaf is the level in unseen episodes."""
        said = commonest(self.train_leaf, level_of(action[self.train], edges), len(edges) + 1)
        known = self.test_leaf < len(said)
        right = said[np.where(known, self.test_leaf, 0)] == level_of(action[self.test], edges)
        return float((right & known).mean())


def commonest(leaf: I64, levels: I64, count: int) -> I64:
    """Return the commonest level of each leaf, the first of equals."""
    table = np.bincount(leaf * count + levels, minlength=(int(leaf.max(initial=0)) + 1) * count)
    found: I64 = table.reshape(-1, count).argmax(axis=1)
    return found


def find_levels(log: Log, trial: Callable[[], Trial | None]) -> list[Found]:
    """Return the levels of each dimension of a continuous action.

    Parameters
    ----------
    log : Log
        The log.
    trial : function
        Returns what to judge them with, if there is any; None where a log has too few episodes for that.
    """
    trial = cache(trial)
    given = log.schema.action.levels or ((),) * log.actions.shape[1]
    answers = Answers(log)
    return [_levels(log, k, ends, trial, answers) for k, ends in enumerate(given)]


def _levels(log: Log, k: int, given: GivenLevels, trial: Callable[[], Trial | None], answers: Answers) -> Found:
    action = np.ascontiguousarray(log.actions[:, k])
    if given:
        edges, names = split_given(given)
        return _judged(Found(edges, names or level_words(edges, action), "given"), action, trial)
    distinct = np.unique(action[:: max(len(action) // ROWS, 1)])
    if len(distinct) <= FEW_VALUES and len(distinct := np.unique(action)) <= FEW_VALUES:
        edges = tuple(_between(low, high) for low, high in pairwise(distinct.tolist()))
        return _judged(Found(edges, tuple(f"{value:.6g}" for value in distinct), "value"), action, trial)
    switches = find_switches(log, k, answers)
    if switches:
        edges = tuple(one.at for one in switches)
        found = Found(edges, switch_words(switches, action), "switch")
    else:
        edges = number_edges(action[:: max(len(action) // ROWS, 1)])
        found = Found(edges, level_words(edges, action), "number")
    return _merged(found, action, trial)


def _judged(found: Found, action: F64, trial: Callable[[], Trial | None]) -> Found:
    judge = trial() if found.edges else None
    if judge is None:
        return found
    return found._replace(agreement=judge.agreement(action, found.edges))


def _merged(found: Found, action: F64, trial: Callable[[], Trial | None]) -> Found:
    """Return levels with fewer edges, until the tree can tell them apart; none where it never can."""
    found = _judged(found, action, trial)
    # Where the world answers differently, a level less would hide it.
    enough = POOR if found.how == "switch" else GOOD
    explained: Explained | None = None
    while found.edges and found.agreement is not None and found.agreement < enough:
        if len(found.edges) == 1:
            return found if found.agreement >= POOR else Found((), (), "number", found.agreement)
        shorter = [found.edges[:i] + found.edges[i + 1 :] for i in range(len(found.edges))]
        explained = explained or Explained(action)
        edges = max(shorter, key=explained.share)
        names = level_words(edges, action)
        found = _judged(Found(edges, names, found.how), action, trial)
    return found


class Explained:
    """How much of an action's variance the means of its levels explain, for many levels of the same numbers."""

    def __init__(self, action: F64) -> None:
        self._action = np.sort(action)
        largest = float(np.abs(action).max(initial=0.0)) or 1.0
        centred = self._action / largest - (action / largest).mean()
        self._summed = np.append(0.0, np.cumsum(centred))
        self._whole = float((centred * centred).sum())

    def share(self, edges: Sequence[float]) -> float:
        """Return the share of the variance that levels with these edges explain."""
        # Without rounding errors the sum of all is 0.
        place = np.concatenate([[0], np.searchsorted(self._action, edges), [len(self._action)]])
        count, total = np.diff(place), np.diff(self._summed[place])
        return float((total * total / np.maximum(count, 1)).sum()) / self._whole if self._whole > 0 else 0.0


def number_edges(action: F64) -> tuple[float, ...]:
    """Return where levels end that mean something by themselves: sign, near 0, limits, preferred values, quarters.

    The first that a person would think of come first; each level more must explain 3 % more of the variance.
    """
    edges: tuple[float, ...] = ()
    explained = Explained(action).share
    for kind in _candidates(action):
        while True:
            before = explained(edges)
            tries = [tuple(sorted({*edges, *one})) for one in kind]
            gains = [
                ((explained(more) - before) / (len(more) - len(edges)), more)
                for more in tries
                if len(edges) < len(more) < MOST_LEVELS
            ]
            gain, more = max(gains, key=lambda one: one[0], default=(0.0, ()))
            if gain < MORE:
                break
            edges = more
    # What came first may have become superfluous.
    while edges:
        whole = explained(edges)
        shorter = [edges[:i] + edges[i + 1 :] for i in range(len(edges))]
        best = max(shorter, key=explained)
        if whole - explained(best) >= MORE:
            break
        edges = best
    return edges


def _candidates(action: F64) -> list[list[tuple[float, ...]]]:
    """Return edges that mean something, by kind: sign and near 0, limits, preferred values, quarters."""
    low, high, limit = float(action.min()), float(action.max()), limit_of(action)
    if min(abs(low), abs(high)) > limit / 4 and low * high > 0:
        # Far from 0: what counts is the range, at numbers with as few digits as it allows.
        places = 2 - math.ceil(math.log10(high - low)) if high > low else 0
        kinds: list[list[tuple[float, ...]]] = [[]] * 2
        quarters: list[tuple[float, ...]] = [
            (round(low + (high - low) * share, places),) for share in (0.25, 0.5, 0.75)
        ]
    else:
        near = [share * limit for share in NEAR]
        ends = (-LIMIT * limit, LIMIT * limit)
        zero: list[tuple[float, ...]] = [(0.0,), *((-size, size) for size in near), *((size,) for size in near)]
        limits: list[tuple[float, ...]] = [ends]
        limits += [(end,) for end in ends]
        zero += [(-size,) for size in near]
        kinds = [zero, limits]
        quarters = [(sign * share * limit,) for share in (0.25, 0.5, 0.75) for sign in (-1, 1)]
    kinds += [_peaks(action, low, high), quarters]
    short = [[tuple(float(f"{edge:.6g}") + 0.0 for edge in one) for one in kind] for kind in kinds]
    return [[one for one in kind if all(low < edge <= high for edge in one)] for kind in short]


def _peaks(action: F64, low: float, high: float) -> list[tuple[float, ...]]:
    """Return the edges of values that the agent prefers: many samples in a narrow range, and few beside it."""
    if not (np.diff(np.linspace(low, high, BINS + 1)) > 0).all():
        return []  # numbers that are the same, or differ by their last digits only
    count, ends = np.histogram(action, BINS, (low, high))
    width = max(round(NARROW * BINS), 1)
    places = 3 - math.ceil(math.log10(high - low))
    found: list[tuple[float, ...]] = []
    for top in np.argsort(-count, kind="stable")[:3].tolist():
        first = last = top
        while first > 0 and count[first - 1] > 0.1 * count[top] and last - first < width:
            first -= 1
        while last < BINS - 1 and count[last + 1] > 0.1 * count[top] and last - first < width:
            last += 1
        size = last - first + 1
        beside = int(count[max(first - size, 0) : first].sum() + count[last + 1 : last + 1 + size].sum())
        inside = int(count[first : last + 1].sum())
        if size <= width and inside >= PEAK * len(action) and beside < inside / 4:
            step = 10.0**-places
            edges = (math.floor(ends[first] / step) * step, math.ceil(ends[last + 1] / step) * step)
            found.append(tuple(round(edge, places) for edge in edges if low < edge < high))
    return [one for one in found if one]


def _between(low: float, high: float) -> float:
    middle = low / 2 + high / 2
    tries = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
    return next((number for number in tries if low < number <= high), high)


def switch_words(switches: Sequence[Switch], action: F64) -> tuple[str, ...]:
    """Return the names of levels between switches: with two, what holds 0 is off; with one, what does not answer."""
    edges = tuple(one.at for one in switches)
    words = list(level_words(edges, action))
    if len(edges) == 2 and edges[0] < 0 < edges[1]:
        words[1] = "off"
    elif len(edges) == 1 and (answers := switches[0].answers) is not None:
        below, above = map(abs, answers)
        if min(below, above) < DEPENDS and max(below, above) > 2 * DEPENDS:
            words = ["off", "on"] if below < above else ["on", "off"]
    return tuple(words)


def level_words(edges: Sequence[float], action: F64) -> tuple[str, ...]:
    """Return neutral names of the levels of some numbers, all different: "negative", "near 0", "about 0.87"."""
    limit = limit_of(action)
    low, high = float(action.min()), float(action.max())
    if not edges:
        return ()
    borders = [-math.inf, *edges, math.inf]
    words = [_word(begin, end, action, limit, low, high) for begin, end in pairwise(borders)]
    for word in ("negative", "positive"):
        same = [i for i, one in enumerate(words) if one == word]
        if len(same) == 2:
            # The one nearer to 0 is slight, unless something else lies between.
            near, far = same if word == "positive" else same[::-1]
            apart = abs(near - far) > 1
            words[near] = f"small {word}" if apart else f"slightly {word}"
            words[far] = f"large {word}" if apart else f"strongly {word}"
    if len(set(words)) < len(words) or "" in words:
        numbers = range_words(edges)
        words = [
            word if word and words.count(word) == 1 else number for word, number in zip(words, numbers, strict=True)
        ]
    return tuple(words)


def _word(begin: float, end: float, action: F64, limit: float, low: float, high: float) -> str:
    if begin == -math.inf and end == math.inf:
        return ""
    width = min(end, high) - max(begin, low)
    signed = low < -limit / 4 and high > limit / 4
    if begin >= LIMIT * limit * (1 - 1e-9) and high > 0:
        return "at its maximum"
    if end <= -LIMIT * limit * (1 - 1e-9) and low < 0:
        return "at its minimum"
    if begin <= 0 < end and max(-max(begin, low), min(end, high)) <= 0.3 * limit and begin != 0.0:
        return "near 0"
    if width <= 1.5 * NARROW * (high - low) and -math.inf < begin and end < math.inf:
        part = action[(action >= begin) & (action < end)]
        if len(part):
            places = 3 - math.ceil(math.log10(high - low))
            return f"about {round(float(np.median(part)), places):.6g}"
    if signed and end <= 0:
        return "negative"
    if signed and begin >= 0:
        return "positive"
    return ""


def range_words(edges: Sequence[float]) -> tuple[str, ...]:
    """Return the numbers of levels as words: "below -0.5", "-0.5 to 0.5", "0.5 or more"."""
    if not edges:
        return ()
    between = (f"{begin:.6g} to {end:.6g}" for begin, end in pairwise(edges))
    return (f"below {edges[0]:.6g}", *between, f"{edges[-1]:.6g} or more")


def split_given(given: Sequence[Any]) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Return the numbers and the names of levels as a user gives them: "left", -0.5, "off", 0.5, "right"."""
    edges = tuple(float(part) for part in given if not isinstance(part, str))
    return edges, tuple(part for part in given if isinstance(part, str))


def trial_of(log: Log, grow: Any) -> Trial | None:
    """Return a trial of the levels: a tree grown on 70 % of some episodes, and where the others fall in it.

    Parameters
    ----------
    log : Log
        The log.
    grow : callable
        Grows a tree on a log, and returns it with the leaf of each sample.
    """
    units = log.units
    number = np.unique(units)
    if len(number) < 4:
        return None
    chosen = np.arange(0, log.n_episodes, max(-(-log.n_samples // ROWS), 1))
    chance = np.random.default_rng(0).permutation(len(number))
    # Whole groups go to one side: what depends on each other must not judge itself.
    fresh = chance[units[chosen]] % 10 >= 7
    if fresh.all() or not fresh.any():
        return None
    train, test = chosen[~fresh], chosen[fresh]
    tree, leaf = grow(log.select(train))
    at = [rows_of(log, part) for part in (train, test)]
    return Trial(at[0], leaf, at[1], tree.apply(log.states[at[1]]).astype(np.int64))


def to_json(found: Sequence[Found], log: Log, tree: Tree, node: npt.NDArray[np.int32]) -> dict[str, Any]:
    """Return levels as a model keeps them: by the action's name, with the commonest level at each node as digits."""
    kept = {}
    for k, (name, one) in enumerate(zip(log.schema.action.names, found, strict=True)):
        size = len(one.edges) + 1
        table = np.bincount(node * size + level_of(log.actions[:, k], one.edges), minlength=tree.n_nodes * size)
        table = table.reshape(-1, size)
        tree.add_up(table)
        kept[name] = {**one._asdict(), "nodes": "".join(map(str, table.argmax(axis=1)))}
        kept[name] |= {"edges": list(one.edges), "names": list(one.names)}
    return kept


def from_json(kept: Any, nodes: int) -> tuple[Found, I64] | None:
    """Return levels, and the commonest one at each node, from what a model kept; None if that is not what it is.

    A model file may be a stranger's, and what it says about its origin is not checked when it is read.
    """
    if not isinstance(kept, Mapping):
        return None
    edges, names, digits, agreement = (kept.get(key) for key in ("edges", "names", "nodes", "agreement"))
    if not isinstance(edges, list) or not isinstance(names, list) or not isinstance(digits, str):
        return None
    if len(digits) < nodes or not all(map(is_number, edges)) or sorted(set(edges)) != edges or len(edges) > 8:
        return None
    size = len(edges) + 1
    if len(names) not in (size, 0) or not all(isinstance(name, str) for name in names):
        return None
    if not digits.isascii() or not digits.isdigit() or not (agreement is None or is_number(agreement)):
        return None
    level = np.frombuffer(digits[:nodes].encode(), np.uint8).astype(np.int64) - ord("0")
    if level.max(initial=0) >= size:
        return None
    how = kept.get("how")
    return Found(tuple(edges), tuple(names), how if isinstance(how, str) else "number", agreement), level
