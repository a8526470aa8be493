"""Rule search: a short ordered list of rules, "if ..., else if ..., else ...", that says best what was done.

Alternating search: one rule at a time is chosen anew, given the others, until nothing improves; from an empty list and
from a small tree. Bounds are short numbers before the search begins: numbers that are rounded afterwards no longer fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree import _kernel

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

CELLS, ROWS = 200_000, 20_000
"""Numbers and rows that the search looks at, at most."""
MOST_HELD = 1_000
"""Rules of which it is remembered where they hold, at most."""
QUANTILES = 40
"""Candidates for the bounds of a feature, before those that are the same are left out."""
STEPS, FINEST = 100, 800
"""Bounds are multiples of a short number of about this part of the feature's range; the second if that costs much."""
MOST_BOUNDS = 3
BEAM = 6
SWEEPS = 8
SHAKES = 1
COST = 0.0005
"""Share of the samples that a bound must put right, and a rule twice as many."""
FINE = 9
"""Unrounded numbers that are tried for each bound, to see what rounding costs."""


class Bound(NamedTuple):
    """One condition: a feature, the number of its candidate, and whether the feature must be at least that."""

    feature: int
    place: int
    above: bool


@dataclass(frozen=True)
class Clause:
    """One rule: its bounds, all of which must hold, and what it says."""

    bounds: tuple[Bound, ...]
    says: int


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules in order, what is said where none of them holds, and the numbers that bounds refer to."""

    rules: tuple[Clause, ...]
    default: int
    thresholds: tuple[F64, ...]

    def boxes(self, features: int) -> tuple[F64, F64]:
        """Return lower and upper bounds of the rules, shape (rules, features)."""
        lower, upper = np.full((len(self.rules), features), -math.inf), np.full((len(self.rules), features), math.inf)
        for number, rule in enumerate(self.rules):
            for bound in rule.bounds:
                threshold = self.thresholds[bound.feature][bound.place]
                if bound.above:
                    lower[number, bound.feature] = max(lower[number, bound.feature], threshold)
                else:
                    upper[number, bound.feature] = min(upper[number, bound.feature], threshold)
        return lower, upper

    def first(self, states: F64) -> I64:
        """Return the number of the first rule that holds in each state; the number of rules where none does."""
        found = np.full(len(states), len(self.rules))
        for number in reversed(range(len(self.rules))):
            held = np.ones(len(states), bool)
            for bound in self.rules[number].bounds:
                above = states[:, bound.feature] >= self.thresholds[bound.feature][bound.place]
                held &= above if bound.above else ~above
            found[held] = number
        return found

    def said(self, states: F64) -> I64:
        """Return what the rules say in each state."""
        return np.array([*(rule.says for rule in self.rules), self.default])[self.first(states)]


def candidates(states: F64, whole: Mask, also: Sequence[F64], steps: int = STEPS) -> tuple[F64, ...]:
    """Return short numbers at which each feature may be parted: near its quantiles, and near numbers given."""
    found = []
    for f, column in enumerate(states.T):
        low, high = np.quantile(column, (0.01, 0.99)) if len(column) else (0.0, 0.0)
        if not low < high:
            low, high = float(column.min(initial=0.0)), float(column.max(initial=0.0))
        if whole[f]:
            numbers = np.unique(np.rint(np.quantile(column, np.linspace(0, 1, 4 * QUANTILES))))
            found.append(numbers[1:] - 0.5 if len(numbers) > 1 else np.zeros(0))
            continue
        if not low < high:
            found.append(np.zeros(0))
            continue
        step = short_step((high - low) / steps)
        quantiles = np.quantile(column, np.linspace(0.01, 0.99, QUANTILES))
        numbers = np.unique(np.rint(np.concatenate([quantiles, also[f], [0.0]]) / step))
        numbers = np.array([float(f"{number * step:.12g}") for number in numbers])
        found.append(numbers[(numbers > column.min()) & (numbers <= column.max())])
    return tuple(found)


def short_step(size: float) -> float:
    """Return the number of 1, 2 or 5 times a power of ten that is next to ``size``.

    >>> short_step(0.0175), short_step(30)
    (0.02, 20.0)
    """
    power = 10.0 ** math.floor(math.log10(size))
    return float(min((power * k for k in (1, 2, 5, 10)), key=lambda step: abs(math.log(step / size))))


def thinned(rows: int, features: int) -> slice:
    """Return which rows to search on: every k-th."""
    most = max(min(ROWS, CELLS // max(features, 1)), 1000)
    return slice(None, None, max(-(-rows // most), 1))


def search(states: F64, classes: I64, thresholds: tuple[F64, ...], most: int) -> RuleSet:
    """Return at most ``most`` rules that say the class of as many states as possible.

    Parameters
    ----------
    states : float64 array of shape (samples, features)
        The states.
    classes : int64 array of shape (samples,)
        What was done in each, from 0.
    thresholds : tuple of arrays
        Where each feature may be parted.
    most : int
        How many rules, beside "else".
    """
    problem = _Problem(states, classes, thresholds)
    starts = [problem.improved(start, most) for start in ([], problem.tree(most + 1)[:most])]
    best = max(starts, key=lambda one: one[0])
    # Shaken: without some of its rules, in another order, the search may find a way to a better list.
    rng = np.random.default_rng(0)
    for shake in range(SHAKES if len(best[1]) > 1 else 0):
        kept = rng.permutation(len(best[1]))[: -(1 + shake % 3)] if len(best[1]) > 3 else np.arange(1)
        kept = kept if shake % 2 else np.sort(kept)
        found = problem.improved([best[1][i] for i in kept], most)
        best = max(best, found, key=lambda one: one[0])
    return RuleSet(tuple(best[1]), best[2], thresholds)


class _Problem:
    """The samples, with their features as numbers of candidates."""

    def __init__(self, states: F64, classes: I64, thresholds: tuple[F64, ...]) -> None:
        self.y = classes
        self.n, self.size = len(classes), int(classes.max(initial=0)) + 1
        self.bins = np.stack(
            [np.searchsorted(ends, column, side="right") for column, ends in zip(states.T, thresholds, strict=True)]
        )
        widths = np.array([len(ends) + 1 for ends in thresholds])
        self.offset = np.cumsum(widths) - widths
        self.total = int(widths.sum())
        self.keys = np.ascontiguousarray(self.bins.T + self.offset, np.int32)
        self.held: dict[tuple[Bound, ...], Mask] = {}
        self.refitted: dict[tuple[tuple[Clause, ...], int, int], Clause | None] = {}
        # Every bound as positions in cumulated sums: where its feature begins and ends, and where it parts it.
        feature = np.repeat(np.arange(len(widths)), widths - 1)
        place = np.concatenate([np.arange(width - 1) for width in widths]) if len(feature) else np.zeros(0, np.int64)
        self.feature, self.place = feature, place.astype(np.int64)
        self.begin, self.end = self.offset[feature], (self.offset + widths)[feature]
        self.part = self.begin + self.place + 1
        ends = np.flatnonzero(np.append(feature[1:] != feature[:-1], True)) + 1 if len(feature) else np.zeros(0, int)
        self.spans = list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)) if len(ends) else []
        self.first = np.array([begin for begin, _ in self.spans], np.int64)
        self.cost = max(COST * self.n, 1.0)
        self.correct = np.zeros(self.n, bool)

    def holds(self, bounds: tuple[Bound, ...]) -> Mask:
        """Return which samples meet all bounds; a search asks for the same rules again and again."""
        if bounds not in self.held:
            held = np.ones(self.n, bool)
            for bound in bounds:
                above = self.bins[bound.feature] > bound.place
                held &= above if bound.above else ~above
            if len(self.held) >= MOST_HELD:
                self.held.clear()
            self.held[bounds] = held
        return self.held[bounds]

    def tally(self, rows: I64, gain: F64) -> F64:
        """Return the gain of the rows on the lower and the upper side of every bound, shape (2, bounds)."""
        whole = np.concatenate([[0.0], np.cumsum(_kernel.gains(self.keys, rows, gain, self.total))])
        return np.stack([whole[self.part] - whole[self.begin], whole[self.end] - whole[self.part]])

    def best(self, rows: I64, right: Mask) -> tuple[float, Clause] | None:
        """Return the rule that puts most of the rows right that reach it, beyond those that are right without it."""
        tries: list[tuple[float, Clause, I64]] = []
        if not len(rows) or not len(self.part):
            return None
        y = self.y[rows]
        for says in np.flatnonzero(np.bincount(y[~right], minlength=self.size)).tolist():
            gain = (y == says).astype(np.float64) - right
            for score, bound in self.top(self.tally(rows, gain), BEAM):
                tries.append((score - 3 * self.cost, Clause((bound,), says), rows))
        tries.sort(key=lambda one: -one[0])
        beam = tries[:BEAM]
        found = beam[0] if beam else None
        for _ in range(MOST_BOUNDS - 1):
            tries = []
            for score, clause, mine in beam:
                inside = mine[self.holds(clause.bounds[-1:])[mine]]
                gain = (self.y[inside] == clause.says) - self.correct[inside].astype(np.float64)
                if not len(inside):
                    continue
                for more, bound in self.top(self.tally(inside, gain), 3):
                    value = more - (2 + len(clause.bounds) + 1) * self.cost
                    if value > score:
                        tries.append((value, replace(clause, bounds=(*clause.bounds, bound)), inside))
            tries.sort(key=lambda one: -one[0])
            beam = tries[:BEAM]
            if beam and (found is None or beam[0][0] > found[0]):
                found = beam[0]
        return None if found is None else self.polished(rows, found[0], found[1])

    def polished(self, rows: I64, score: float, clause: Clause) -> tuple[float, Clause]:
        """Return a rule each of whose bounds is the best, given the others."""
        for k in range(len(clause.bounds)):
            others = clause.bounds[:k] + clause.bounds[k + 1 :]
            inside = rows[self.holds(others)[rows]]
            if not len(inside):
                continue
            gain = (self.y[inside] == clause.says) - self.correct[inside].astype(np.float64)
            for more, bound in self.top(self.tally(inside, gain), 1):
                value = more - (2 + len(clause.bounds)) * self.cost
                if value > score:
                    score, clause = value, replace(clause, bounds=(*others, bound))
        return score, clause

    def top(self, sides: F64, number: int) -> list[tuple[float, Bound]]:
        """Return the best bounds of a tally."""
        # One of each feature and side: its neighbours are hardly different.
        best = np.maximum.reduceat(sides, self.first, axis=1)
        tries = []
        for rank in np.argsort(-best.ravel(), kind="stable")[:number].tolist():
            above, span = divmod(rank, len(self.spans))
            begin, end = self.spans[span]
            place = begin + int(sides[above, begin:end].argmax())
            tries.append(
                (float(best[above, span]), Bound(int(self.feature[place]), int(self.place[place]), bool(above)))
            )
        return tries

    def improved(self, rules: list[Clause], most: int) -> tuple[float, list[Clause], int]:
        """Return a list after alternating search, with its score and what is said else."""
        default = self.default(rules)
        score = self.score(rules, default)
        for sweep in range(SWEEPS):
            before = score
            while len(rules) < most:
                more = self.longer(rules, default)
                if more is None:
                    break
                rules = more
            default = self.default(rules)
            for r in range(len(rules)):
                others = rules[:r] + rules[r + 1 :]
                found = self.refit(others, default, r)
                tried = others if found is None else [*others[:r], found, *others[r:]]
                if len(tried) == len(rules) and self.score(tried, default) > self.score(rules, default) + 1e-9:
                    rules = tried
            default = self.default(rules)
            rules, default = self.pruned(rules, default)
            score = self.score(rules, default)
            if sweep and score <= before + 1e-9:
                break
        return score, rules, default

    def longer(self, rules: list[Clause], default: int) -> list[Clause] | None:
        """Return a list with one rule more, at the place where that helps most; None where it does not."""
        best, score = None, self.score(rules, default)
        for r in range(len(rules) + 1):
            found = self.refit(rules, default, r)
            tried = [] if found is None else [*rules[:r], found, *rules[r:]]
            if found is not None and self.score(tried, default) > score + 1e-9:
                best, score = tried, self.score(tried, default)
        return best

    def refit(self, others: list[Clause], default: int, r: int) -> Clause | None:
        """Return the best rule at place ``r`` among others; None if none is worth its length."""
        # A sweep in which little changes asks what the one before has asked.
        key = tuple(others), default, r
        if key not in self.refitted:
            self.refitted[key] = self._refit(others, default, r)
        return self.refitted[key]

    def _refit(self, others: list[Clause], default: int, r: int) -> Clause | None:
        taken = np.zeros(self.n, bool)
        for clause in others[:r]:
            taken |= self.holds(clause.bounds)
        rows = np.flatnonzero(~taken)
        later = np.full(self.n, default)
        for clause in reversed(others[r:]):
            np.putmask(later, self.holds(clause.bounds), clause.says)
        self.correct = later == self.y
        found = self.best(rows, self.correct[rows])
        return None if found is None or found[0] <= 0 else found[1]

    def said(self, rules: list[Clause], default: int) -> I64:
        said = np.full(self.n, default)
        for clause in reversed(rules):
            np.putmask(said, self.holds(clause.bounds), clause.says)
        return said

    def score(self, rules: list[Clause], default: int) -> float:
        """Return how many samples are right, less what the rules cost to read."""
        length = sum(2 + len(clause.bounds) for clause in rules)
        return float((self.said(rules, default) == self.y).sum()) - self.cost * length

    def default(self, rules: list[Clause]) -> int:
        """Return the commonest class where no rule holds; of all samples, where one always does."""
        rest = np.ones(self.n, bool)
        for clause in rules:
            rest &= ~self.holds(clause.bounds)
        return int(np.bincount(self.y[rest] if rest.any() else self.y, minlength=self.size).argmax())

    def pruned(self, rules: list[Clause], default: int) -> tuple[list[Clause], int]:
        """Return a list without rules and bounds that are not worth their length."""
        while rules:
            shorter = [rules[:r] + rules[r + 1 :] for r in range(len(rules))]
            shorter += [
                [*rules[:r], replace(rule, bounds=rule.bounds[:k] + rule.bounds[k + 1 :]), *rules[r + 1 :]]
                for r, rule in enumerate(rules)
                for k in range(len(rule.bounds))
                if len(rule.bounds) > 1
            ]
            scores = [(self.score(one, self.default(one)), place) for place, one in enumerate(shorter)]
            score, place = max(scores, key=lambda one: one[0])
            if score < self.score(rules, default):
                return rules, default
            rules = shorter[place]
            default = self.default(rules)
        return rules, default

    def tree(self, leaves: int) -> list[Clause]:
        """Return the leaves of a small tree as rules, the smallest first, with the last bounds on the way to each."""
        grown: list[tuple[I64, tuple[Bound, ...]]] = [(np.arange(self.n), ())]
        labels = np.eye(self.size)
        while len(grown) < leaves:
            best: tuple[float, int, Bound] | None = None
            for number, (rows, _) in enumerate(grown):
                found = self.split(rows, labels)
                if found is not None and (best is None or found[0] > best[0]):
                    best = found[0], number, found[1]
            if best is None:
                break
            rows, way = grown.pop(best[1])
            for above in (False, True):
                bound = best[2]._replace(above=above)
                same = tuple(b for b in way if (b.feature, b.above) != (bound.feature, above))
                grown.append((rows[self.holds((bound,))[rows]], (*same, bound)))
        grown.sort(key=lambda one: len(one[0]))
        return [
            Clause(way[-MOST_BOUNDS:], int(np.bincount(self.y[rows], minlength=self.size).argmax()))
            for rows, way in grown[:-1]
        ]

    def split(self, rows: I64, labels: F64) -> tuple[float, Bound] | None:
        """Return the bound that makes the classes of some rows purest."""
        counts = np.bincount(self.y[rows], minlength=self.size).astype(np.float64)
        if len(rows) < 2 or counts.max() == len(rows) or not len(self.part):
            return None
        squares, number = np.zeros(len(self.part)), self.tally(rows, np.ones(len(rows)))
        square = np.zeros((2, len(self.part)))
        for says in np.flatnonzero(counts).tolist():
            square += self.tally(rows, labels[self.y[rows], says]) ** 2
        parted = (number > 0).all(axis=0)
        squares = np.where(parted, (square / np.maximum(number, 1)).sum(axis=0), 0.0)
        place = int(squares.argmax())
        gain = float(squares[place] - (counts**2).sum() / len(rows))
        return (gain, Bound(int(self.feature[place]), int(self.place[place]), True)) if gain > 1e-9 else None


def unrounded(found: RuleSet, states: F64, classes: I64) -> RuleSet:
    """Return the same rules with the best numbers, however long, between the neighbours of those that they have."""
    thresholds = [ends.copy() for ends in found.thresholds]
    rules = list(found.rules)
    for r, rule in enumerate(rules):
        for k, bound in enumerate(rule.bounds):
            ends = found.thresholds[bound.feature]
            column = states[:, bound.feature]
            low = ends[bound.place - 1] if bound.place else column.min(initial=ends[bound.place])
            high = ends[bound.place + 1] if bound.place + 1 < len(ends) else column.max(initial=ends[bound.place])
            best: tuple[int, float] | None = None
            base = len(thresholds[bound.feature])
            for number in (ends[bound.place], *np.linspace(low, high, FINE)[1:-1]):
                grown = [*thresholds]
                grown[bound.feature] = np.append(thresholds[bound.feature], number)
                bounds = (*rule.bounds[:k], bound._replace(place=base), *rule.bounds[k + 1 :])
                tried = RuleSet(
                    (*rules[:r], replace(rule, bounds=bounds), *rules[r + 1 :]), found.default, tuple(grown)
                )
                right = int((tried.said(states) == classes).sum())
                if best is None or right > best[0]:
                    best = right, float(number)
            if best is not None:
                thresholds[bound.feature] = np.append(thresholds[bound.feature], best[1])
                rule = replace(rule, bounds=(*rule.bounds[:k], bound._replace(place=base), *rule.bounds[k + 1 :]))
                rules[r] = rule
    return RuleSet(tuple(rules), found.default, tuple(thresholds))
