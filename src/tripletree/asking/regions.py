"""Regions: the few large parts of the state space in which an agent does one thing, or one simple thing; with names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.asking.attribute import known_attributes, main_attributes, read_attribute
from tripletree.asking.levels import AUTO, Classes, Wanted, read_levels
from tripletree.language.naming import EVERYWHERE, Word, joined, plain_words, vocabulary
from tripletree.language.numbers import short_between
from tripletree.leaves.boxes import bounds
from tripletree.log.log import Log
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.tree.small import grow_small
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

REGIONS = 8
"""Regions, at most: what a reader can keep in mind."""
RULE, LONGEST_RULE, POOR = 4, 6, 0.8
"""Leaves of a rule inside a region, at most; and where it would be right less often than so."""
BRIEF = 3
"""Visits that are shorter than this many steps do not count, unless somebody asks."""
ENOUGH = 30_000
"""Samples that regions are found from, at most: whole episodes, spread over the log."""
ENOUGH_WORDS = 6_000
"""Samples on which words are tried."""
QUANTILES = 32
"""Parts with about as many samples each, and parts of the same width, between which a feature may be divided."""
FINEST = 50
"""A border is rounded to a power of ten that is at most this part of what a feature spans."""
OFTEN, LONG = 10, 50
"""A visit to one side of a border lasts a tenth of a usual episode on average, or so many steps in long ones."""
SHORTER = 0.02
"""A rule has no more leaves than it needs to be right that nearly as often as with four."""
INSIDE, OUTSIDE = 0.88, 0.12
"""A name holds for at least this share of the samples inside a region, and at most that share of those outside."""
MOST_PREFIXES = 20
"""Words, and pairs of words, that another word is added to."""
CONFUSING = 0.3
"""What it counts against a name that it holds all over some other region."""
LAG = 8
"""Steps over which the change of a feature is compared with another feature, to see whether that is its rate."""
SMALLEST = 1e-12
"""Spread of a column, as a share of its largest number, below which it is rounding noise."""
RATE = 0.9
"""Share of the variance of a feature's change that its rate explains."""


@dataclass(frozen=True, eq=False)
class Rule:
    """What is done in a region, in one column: a small tree, and the level in each of its leaves."""

    tree: Tree
    levels: I64

    def of(self, states: F64) -> I64:
        """Return the level in each state."""
        return self.levels[self.tree.apply(states)]


@dataclass(frozen=True, eq=False)
class Regions:
    """Parts of the state space, the one with most of the samples first.

    Attributes
    ----------
    classes : Classes
        What is told apart.
    tree : Tree
        Its leaves are the regions.
    number : int64 array of shape (regions,)
        The number of each leaf among the regions.
    names : tuple of str
        What they are called.
    words : tuple of tuples of Word
        What the names are made of.
    lower, upper : float64 arrays of shape (regions, features)
        Their bounds; infinite where there is none.
    rules : tuple of tuples of Rule
        What is done in each region, column by column.
    rate_of : dict of int to int
        Which features were found to be the rate of which others.
    """

    classes: Classes
    tree: Tree
    number: I64
    names: tuple[str, ...]
    words: tuple[tuple[Word, ...], ...]
    lower: F64
    upper: F64
    rules: tuple[tuple[Rule, ...], ...]
    rate_of: dict[int, int]

    def __len__(self) -> int:
        return len(self.names)

    def of(self, states: F64, threads: int = 1) -> I64:
        """Return the region of each state."""
        return self.number[self.tree.apply(states, threads)]

    def numbers(self, log: Log | None, leaf: npt.NDArray[np.int32] | None = None) -> F64:
        """Return the numbers of each column that a log shows, or else those of the leaves; shape (steps, columns)."""
        about = self.classes.about
        if log is not None and about.kind == "action":
            return np.asarray(
                log.actions[:, list(about.columns)] if about.columns else log.actions[:, None], np.float64
            )
        steps = len(leaf) if leaf is not None else 0 if log is None else log.n_samples
        rows = [
            column.attribute.leaves[leaf] if leaf is not None else np.zeros(steps) for column in self.classes.columns
        ]
        return np.stack(rows, axis=1).astype(np.float64)

    @cached_property
    def leaves(self) -> I64:
        """The level of each leaf of the whole tree, shape (leaves, columns)."""
        return leaf_levels(self.classes)


def leaf_levels(classes: Classes) -> I64:
    """Return the level of each leaf of a tree, shape (leaves, columns)."""
    return np.stack([column.leaves for column in classes.columns], axis=1)


def told_about(fitted: Fitted) -> str:
    """Return what regions and stories are about: the action; without actions what changes most, else the value."""
    if fitted.schema.has_action:
        return "action"
    return next(iter([*main_attributes(fitted), *known_attributes(fitted)]), "")


def read_regions(
    fitted: Fitted,
    about: str,
    levels: Wanted = AUTO,
    most: int = REGIONS,
    given: tuple[F64, I64] | None = None,
) -> Regions:
    """Return the regions of a tree, found from the states that it keeps; or, if it keeps none, from those given.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str
        The attribute whose levels they should tell apart.
    levels : "auto", int, sequence or mapping
        Its levels, as for rules.
    most : int
        Regions, at most.
    given : pair of arrays, or None
        States, and where episodes of them begin and end, to use where the tree keeps none.
    """
    classes = read_levels(fitted, read_attribute(fitted, about), levels)
    if fitted.track is None:
        return find_regions(fitted, classes, most, *_sample(*(given or _middle(fitted))))
    # What is found from the tree's own states is the same whenever somebody asks.
    key = f"regions {about} {levels} {most}"
    if key not in fitted.memory:
        recording = fitted.track.recording
        fitted.memory[key] = find_regions(fitted, classes, most, *_sample(recording.states, recording.starts))
    found: Regions = fitted.memory[key]
    return found


def find_regions(fitted: Fitted, classes: Classes, most: int, states: F64, starts: I64) -> Regions:
    """Return the regions that tell the tree's levels apart best along some episodes."""
    schema = fitted.schema
    thresholds = [_thresholds(states[:, f], feature.kind) for f, feature in enumerate(schema.features)]
    codes = np.stack([np.searchsorted(ends, states[:, f], "right") for f, ends in enumerate(thresholds)], axis=1)
    levels = leaf_levels(classes)[fitted.tree.apply(states)]
    tree = grow_small(codes, thresholds, levels, most, slow(codes, thresholds, starts))
    leaf = tree.apply(states).astype(np.int64)
    order = np.argsort(-np.bincount(leaf, minlength=tree.n_leaves), kind="stable")
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    region = number[leaf]
    lower, upper = (bound[order] for bound in bounds(tree, len(schema.features)))
    rules = []
    for one in range(len(order)):
        mine = np.flatnonzero(region == one)
        parts = []
        for column in levels[mine].T:
            grown = grow_small(codes[mine], thresholds, column[:, None], LONGEST_RULE)
            sizes = [_rule(tree, states[mine], column) for tree in _smaller(grown)]
            right = [float((rule.of(states[mine]) == column).mean()) for rule in sizes]
            # The fewest words that say nearly as much as the most.
            enough = next(k for k, share in enumerate(right) if share >= max(right[:RULE]) - SHORTER)
            if right[enough] < POOR:
                enough = next(k for k, share in enumerate(right) if share >= max(right) - SHORTER)
            parts.append(sizes[enough])
        rules.append(tuple(parts))
    rate_of = rates(states, starts)
    words = _names(schema, states, settled(region, starts), tree, lower, upper, thresholds, rate_of)
    names = tuple(joined(one) or EVERYWHERE for one in words)
    return Regions(classes, tree, number, names, words, lower, upper, tuple(rules), rate_of)


def _smaller(tree: Tree) -> list[Tree]:
    """Return the tree as it was with 1, 2, ... leaves."""
    return [tree.truncate(size) for size in range(1, tree.n_leaves + 1)]


def _rule(tree: Tree, states: F64, levels: I64) -> Rule:
    """Return the commonest level in each leaf of a tree."""
    count = int(levels.max()) + 1
    table = np.bincount(tree.apply(states) * count + levels, minlength=tree.n_leaves * count)
    return Rule(tree, table.reshape(tree.n_leaves, count).argmax(axis=1))


def _middle(fitted: Fitted) -> tuple[F64, I64]:
    """Return one state in the middle of the log's range, where nobody knows of any other."""
    return ((fitted.feature_min + fitted.feature_max) / 2)[None], np.array([0, 1])


def _sample(states: F64, starts: I64) -> tuple[F64, I64]:
    """Return the states and the starts of whole episodes, at most so many samples of them; or the first of one."""
    if len(states) <= ENOUGH:
        return states, starts
    kept = np.arange(0, len(starts) - 1, -(-len(states) // ENOUGH))
    lengths = np.minimum(np.diff(starts)[kept], ENOUGH)
    ends = np.append(0, np.cumsum(lengths))
    rows = np.repeat(starts[kept] - ends[:-1], lengths) + np.arange(ends[-1])
    return states[rows], ends


def _thresholds(column: F64, kind: str) -> F64:
    """Return where a feature may be divided: round numbers with about as many samples between each two."""
    low, high = float(column.min()), float(column.max())
    if not low < high:
        return np.zeros(0)
    if kind == "binary":
        return np.array([0.5])
    first, last = np.quantile(column, (0.01, 0.99)).tolist()
    if not first < last:
        first, last = low, high
    # Half of them by samples, half by distance: an agent that rests for long also moves.
    shares = np.arange(1, QUANTILES) / QUANTILES
    wanted = np.concatenate([np.quantile(column, shares), first + (last - first) * shares])
    places = -math.floor(math.log10((last - first) / FINEST))
    found = np.unique(np.ceil(wanted) if kind == "integer" else np.round(wanted, places) + 0.0)
    found = found[(found > low) & (found <= high)]
    # Where nobody has ever been, all borders mean the same: the one with the fewest digits, near the middle, will do.
    values = np.unique(column)
    gap = np.searchsorted(values, found)
    several = gap[1:][gap[1:] == gap[:-1]]
    alone = found[~np.isin(gap, several)]
    short = [short_between(float(values[g - 1]), float(values[g])) for g in np.unique(several).tolist()]
    return np.sort(np.concatenate([alone, short]))


def brief(starts: I64) -> int:
    """Return how many steps a visit must last to count: three, or fewer where episodes are short."""
    return int(min(max(np.median(np.diff(starts)) // OFTEN, 1), BRIEF))


def slow(codes: I64, thresholds: Sequence[F64], starts: I64) -> list[Mask]:
    """Return which borders are crossed so seldom that visits to either side are worth telling."""
    lengths, wait = np.diff(starts), brief(starts)
    least = min(max(float(np.median(lengths)) / OFTEN, wait), LONG)
    # Where the state is some steps later: what is undone until then is flicker.
    now = np.arange(max(len(codes) - wait, 0))
    episode = np.repeat(np.arange(len(lengths)), lengths)
    now = now[episode[now] == episode[now + wait]]
    found = []
    for f, ends in enumerate(thresholds):
        size = len(ends) + 1
        before, after, first = (np.bincount(codes[rows, f], minlength=size) for rows in (now, now + wait, starts[:-1]))
        low, high = (
            np.bincount(side(codes[now, f], codes[now + wait, f]), minlength=size) for side in (np.minimum, np.maximum)
        )
        # Of all moves across a border, the difference goes one way; each was counted ``wait`` times.
        across, net = np.cumsum(low - high)[:-1], np.cumsum(before - after)[:-1]
        begun, steps = np.cumsum(first)[:-1], np.cumsum(np.bincount(codes[:, f], minlength=size))[:-1]
        below = begun + (across - net) / (2 * wait)
        above = len(lengths) - begun + (across + net) / (2 * wait)
        found.append((steps >= least * below) & (len(codes) - steps >= least * above))
    return found


def rates(states: F64, starts: I64) -> dict[int, int]:
    """Return which features are the rate of which others: over some steps, one tells how far the other moves."""
    lengths = np.diff(starts)
    lag = LAG if (lengths > LAG).any() else 1
    now = np.arange(max(len(states) - lag, 0))
    episode = np.repeat(np.arange(len(lengths)), lengths)
    now = now[episode[now] == episode[now + lag]]
    if len(now) < 3:
        return {}
    states = _standard(states)
    total = np.concatenate([np.zeros((1, states.shape[1])), np.cumsum(states, axis=0)])
    # The mean of the rate over the way, its two ends counting half, is what an integrator adds up.
    way = total[now + lag] - total[now] + (states[now + lag] - states[now]) / 2
    fit = _standard(states[now + lag] - states[now]).T @ _standard(way) / len(now)
    np.fill_diagonal(fit, 0.0)
    found: dict[int, int] = {}
    for f, g in sorted(np.argwhere(fit > math.sqrt(RATE)).tolist(), key=lambda pair: -fit[pair[0], pair[1]]):
        # One rate for each feature, and one feature for each rate; nothing is the rate of its own rate.
        if g not in found and f not in found.values() and found.get(f) != g:
            found[g] = f
    return found


def _standard(columns: F64) -> F64:
    """Return columns with mean 0 and standard deviation 1; zeros where nothing changes."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(columns).max(axis=0)
        columns = columns / np.where(size > 0, size, 1.0)
        columns = columns - columns.mean(axis=0)
        spread = columns.std(axis=0)
    found: F64 = np.where(spread > SMALLEST, columns / np.where(spread > SMALLEST, spread, 1.0), 0.0)
    return found


def settled(region: I64, starts: I64, shortest: float | None = None) -> I64:
    """Return the regions without visits that are too brief: the way with the fewest steps told wrong.

    Every change of region costs almost as many steps as ``shortest``. So a visit between two others counts if it lasts
    that long, and one that leads back where it came from if it lasts twice as long. None: see `brief`.
    """
    shortest = brief(starts) if shortest is None else shortest
    rows, ends = (np.ascontiguousarray(part, np.int64) for part in (region, starts))
    return _kernel.settle(rows, ends, shortest - 0.5)


def _names(
    schema: Schema,
    states: F64,
    region: I64,
    tree: Tree,
    lower: F64,
    upper: F64,
    thresholds: Sequence[F64],
    rate_of: dict[int, int],
) -> tuple[tuple[Word, ...], ...]:
    """Return the words that tell each region from the others best; none where there is one region only."""
    if tree.n_leaves == 1:
        return ((),)
    # A few thousand samples are enough to see how often a word holds.
    part = slice(None, None, -(-len(states) // ENOUGH_WORDS))
    states, region = states[part], region[part]
    borders = [tree.threshold[tree.feature == f].tolist() for f in range(len(schema.features))]
    known = vocabulary(schema, states, borders, rate_of, thresholds)
    # Region after region, so that the samples of each are together.
    order = np.argsort(region, kind="stable")
    states, size = states[order], np.bincount(region, minlength=tree.n_leaves)
    taken: set[str] = set()
    found = []
    for one in range(tree.n_leaves):
        own = [
            word
            for f, feature in enumerate(schema.features)
            for word in plain_words(feature, f, float(lower[one, f]), float(upper[one, f]))
        ]
        name = _name([*known, *own], states, size, one, taken)
        taken.add(joined(name))
        found.append(name)
    return tuple(found)


def _name(words: list[Word], states: F64, size: I64, one: int, taken: set[str]) -> tuple[Word, ...]:
    """Return up to three words that hold inside and not outside; the fewest that do, words before conditions."""
    truth = np.stack([word.holds(states) for word in words], axis=1).astype(np.float32)
    cost = np.array([0.02 if word.plain else 0.1 for word in words])
    feature = [word.limits[0][0] for word in words]
    ends = np.cumsum(size)
    rows = [slice(end - count, end) for count, end in zip(size.tolist(), ends.tolist(), strict=True)]
    others = (np.arange(len(size)) != one) & (size > 0)
    best: tuple[float, tuple[int, ...]] = (-math.inf, ())

    def judge(prefixes: Sequence[tuple[int, ...]]) -> F64:
        """Look at all names that add one word to a prefix; return how good they are, shape (prefixes, words)."""
        nonlocal best
        held = np.stack([truth[:, list(prefix)].all(axis=1) for prefix in prefixes]).astype(np.float32)
        # Whole numbers, which are exact: in how many samples of each region a name holds.
        counts = np.stack([held[:, mine] @ truth[mine] for mine in rows]).astype(np.float64)
        share_in = counts[one] / max(size[one], 1)
        share_out = counts[others].sum(axis=0) / max(size[others].sum(), 1)
        # A small region that the name would fit as well is hardly seen in the share outside.
        worst = (counts[others] / size[others, None, None]).max(axis=0, initial=0.0)
        gain = share_in - share_out - CONFUSING * worst - cost
        gain -= np.array([cost[list(prefix)].sum() for prefix in prefixes])[:, None]
        honest = (share_in >= INSIDE) & (share_out <= OUTSIDE) & (worst <= 0.5)
        for prefix, scores in zip(prefixes, gain + honest, strict=True):
            for k in np.argsort(-scores, kind="stable").tolist():
                if any(feature[k] == feature[p] for p in prefix):
                    continue
                name = tuple(sorted((*prefix, k)))
                if joined([words[p] for p in name]) not in taken:
                    best = max(best, (float(scores[k]), name))
                    break
        # A word that is added must at least hold inside.
        return np.where(share_in >= INSIDE, gain, -math.inf)

    first = judge([()])[0]
    starts = [k for k in np.argsort(-first, kind="stable").tolist() if np.isfinite(first[k])][:MOST_PREFIXES]
    if len(words) > 1 and starts:
        pairs: set[tuple[float, tuple[int, ...]]] = set()
        for k, second in zip(starts, judge([(k,) for k in starts]), strict=True):
            other = [p for p in np.argsort(-second).tolist() if feature[p] != feature[k]]
            pairs |= {(float(second[p]), tuple(sorted((k, p)))) for p in other[:5] if np.isfinite(second[p])}
        if pairs:
            judge([pair for _, pair in sorted(pairs, reverse=True)[:MOST_PREFIXES]])
    return tuple(words[k] for k in best[1])
