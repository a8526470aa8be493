"""Few rules: short ordered lists of rules about a log, one for each dimension of an action, and their judgement."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.answers.few_rules import FewRules, RuleList
from tripletree.answers.rules import Rule
from tripletree.asking.attribute import read_attribute
from tripletree.asking.levels import AUTO, Classes, Levels, Wanted, log_levels, read_levels
from tripletree.checks import check_whole
from tripletree.language.conditions import clauses
from tripletree.language.numbers import capital, percent, rounded
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema, in_labels, sightings
from tripletree.model.fitted import Fitted
from tripletree.questions.rule_search import FINEST, STEPS, RuleSet, candidates, search, thinned, unrounded

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

HELD_OUT = 0.3
"""Share of the episodes that judge, where the tree has seen all of them or none."""
SPLITS = 12
"""Splits of the tree in each feature, the first ones, whose thresholds are tried as bounds."""
ROUNDING = 0.003
"""Share of the samples that short numbers may cost; where they cost more, longer ones are tried."""
COUNTED = 100_000
"""Steps that say how often rules apply, and as many that judge them, at most."""
COMMON, LIFT = 0.05, 1.5
"""What is done together is told from this share of the steps on, if it is so many times as frequent as by chance."""
MOST_TOGETHER = 3


class _Samples(NamedTuple):
    """What rules are found on, what says how often they apply, and what they are judged by."""

    search_states: F64
    search_levels: I64
    states: F64
    levels: I64
    test_states: F64
    test_levels: I64
    fresh: bool
    source: str


def few_rules(
    fitted: Fitted,
    *,
    about: str = "action",
    levels: Wanted = AUTO,
    log: Log | None = None,
    max_rules: int = 7,
    threads: int = 1,
) -> FewRules:
    """Return a few rules for each column of an attribute.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str
        The attribute.
    levels : "auto", int, sequence or mapping
        Levels of an attribute that is a number, as in :func:`tripletree.asking.levels.read_levels`.
    log : Log or None
        What the rules are about; None: what the tree says in the states that it kept, or in its leaves.
    max_rules : int
        Most rules in a list, beside "else".
    threads : int
        Threads that find the leaf of each sample.
    """
    check_whole(max_rules, "max_rules", 1, example=7, none="the whole tree")
    classes = read_levels(fitted, read_attribute(fitted, about), levels)
    samples = _samples(fitted, classes, log, threads)
    leaf = fitted.tree.apply(samples.test_states, threads) if samples.fresh else None
    lists = []
    for k, column in enumerate(classes.columns):
        said = None if leaf is None else column.leaves[leaf]
        lists.append(_list(fitted, column, samples, k, said, max_rules))
    ranked = sorted(lists, key=lambda one: -_told(one))
    together = _together(classes, samples) if samples.source == "log" else ()
    return FewRules(about, tuple(ranked), together, fitted.schema.feature_names)


def _told(one: RuleList) -> float:
    """Return how much a list tells beyond the commonest outcome: by this, the dominant dimension comes first."""
    if one.accuracy is not None and one.always is not None:
        return one.accuracy - one.always
    by_outcome: dict[str, float] = {}
    for rule in one.rules:
        by_outcome[rule.outcome] = by_outcome.get(rule.outcome, 0.0) + rule.coverage
    return 1 - max(by_outcome.values())


def _samples(fitted: Fitted, classes: Classes, log: Log | None, threads: int) -> _Samples:
    if log is None:
        states, source = _own(fitted)
        leaf = fitted.tree.apply(states, threads)
        own = np.stack([column.leaves[leaf] for column in classes.columns], axis=1)
        thin = thinned(*states.shape)
        return _Samples(states[thin], own[thin], states, own, states[:0], own[:0], False, source)
    check_same_schema(fitted.schema, log, "log")
    shown = log_levels(fitted, classes, log)
    fresh = sightings(fitted, in_labels(fitted.schema, log).hashes)[2]
    test, truly = fresh, True
    if fresh.all() or not fresh.any():
        # The tree has seen all of them, or none: some are held out from the rules.
        truly = bool(fresh.all())
        units = log.units
        chance = np.random.default_rng(0).permutation(int(units.max()) + 1)
        test = chance[units] < round(HELD_OUT * len(chance))
    rows = np.repeat(test, np.diff(log.starts))
    known = np.asarray((shown >= 0).all(axis=1))
    rows_train = np.flatnonzero(~rows & known)
    # A label that the tree does not know is nothing to learn from, but wrong when judged.
    rows_test = np.flatnonzero(rows if classes.about.labels else rows & known)
    searched = rows_train[thinned(len(rows_train), log.n_features)]
    counted, judging = _counted(rows_train), _counted(rows_test)
    return _Samples(
        log.states[searched],
        shown[searched],
        log.states[counted],
        shown[counted],
        log.states[judging],
        shown[judging],
        truly and len(judging) > 0,
        "log",
    )


def _counted(rows: I64) -> I64:
    """Return rows evenly, of all episodes: neighbours say nearly the same, and shares need no more."""
    return rows[:: max(-(-len(rows) // COUNTED), 1)]


def _own(fitted: Fitted) -> tuple[F64, str]:
    """Return states that a tree knows: those that it kept of its log, or the middles of its leaves, by their counts."""
    if fitted.track is not None:
        return np.ascontiguousarray(fitted.track.recording.states), "track"
    at = fitted.leaves
    middle = at.state_mean
    if middle is None:
        lower, upper = fitted.bounds
        middle = (np.maximum(lower, fitted.feature_min) + np.minimum(upper, fitted.feature_max)) / 2
    times = np.maximum(at.count * 5_000 // max(int(at.count.sum()), 1), 1)
    return np.ascontiguousarray(np.repeat(middle, times, axis=0)), "leaves"


def _list(fitted: Fitted, column: Levels, samples: _Samples, k: int, said: I64 | None, max_rules: int) -> RuleList:
    found, free = _found(fitted, samples.search_states, samples.search_levels[:, k], max_rules)
    test, truth = samples.test_states, samples.test_levels[:, k]
    number = found.first(samples.states)
    size = len(found.rules) + 1
    samples_of = np.bincount(number, minlength=size)
    met, right = np.zeros(size, np.int64), np.zeros(size, np.int64)
    # Of one level everything is right, which says nothing.
    wordless = column.how == "number" and not column.edges
    judged = len(test) > 0 and not wordless
    outcomes = np.array([*(rule.says for rule in found.rules), found.default])
    accuracy = rounding = always = None
    if judged:
        reached = found.first(test)
        met = np.bincount(reached, minlength=size)
        right = np.bincount(reached, outcomes[reached] == truth, size).astype(np.int64)
        accuracy = float((outcomes[reached] == truth).mean())
        rounding = float((free.said(test) == truth).mean()) - accuracy
        commonest = int(np.bincount(samples.levels[:, k]).argmax())
        always = float((truth == commonest).mean())
    lower, upper = found.boxes(samples.states.shape[1])
    nothing = np.full((1, samples.states.shape[1]), np.inf)
    lower, upper = np.concatenate([lower, -nothing]), np.concatenate([upper, nothing])
    rules = tuple(
        Rule(
            outcome=column.names[outcomes[i]] if i and outcomes[i] in outcomes[:i] else column.texts[outcomes[i]],
            when=tuple(clauses(fitted.schema, lower[i].tolist(), upper[i].tolist())),
            lower=lower[i],
            upper=upper[i],
            samples=int(samples_of[i]),
            coverage=float(samples_of[i] / max(samples_of.sum(), 1)),
            tested=int(met[i]),
            accuracy=float(right[i] / met[i]) if met[i] else None,
            leaves=(),
        )
        for i in range(size)
    )
    return RuleList(
        name=column.name,
        rules=rules,
        accuracy=accuracy,
        tree=None if said is None or wordless else float((said == truth).mean()),
        always=always,
        rounding=rounding,
        agreement=column.agreement,
        source="numbers" if wordless else samples.source,
        schema=fitted.schema,
    )


def _found(fitted: Fitted, states: F64, y: I64, max_rules: int) -> tuple[RuleSet, RuleSet]:
    """Return rules with short numbers, and the same with unrounded ones."""
    tree = fitted.tree
    also = [tree.threshold[np.flatnonzero(tree.feature == f)[:SPLITS]] for f in range(states.shape[1])]
    best: tuple[int, RuleSet, RuleSet] | None = None
    for steps in (STEPS, FINEST):
        found = search(states, y, candidates(states, fitted.whole, also, steps), max_rules)
        free = unrounded(found, states, y)
        right, cost = (int((one.said(states) == y).sum()) for one in (found, free))
        if best is None or right > best[0] + ROUNDING * len(y):
            best = right, found, free
        if cost - right <= ROUNDING * len(y):
            break
    if best is None:
        raise RuntimeError("There are two kinds of steps.")
    return best[1], best[2]


def _together(classes: Classes, samples: _Samples) -> tuple[str, ...]:
    """Return which levels of two dimensions go together, where that is common and no chance."""
    shown = np.concatenate([samples.levels, samples.test_levels])
    found = []
    for a, b in combinations(range(len(classes.columns)), 2):
        one, other = classes.columns[a], classes.columns[b]
        table = np.zeros((len(one.names), len(other.names)))
        np.add.at(table, (shown[:, a], shown[:, b]), 1 / len(shown))
        chance = table.sum(axis=1)[:, None] * table.sum(axis=0)
        lift = table / np.maximum(chance, 1e-12)
        for i, j in np.argwhere((table >= COMMON) & (lift >= LIFT)).tolist():
            share = f"{percent(table[i, j])} of the steps, {rounded(lift[i, j], 2)} times as often as by chance"
            text = f"{one.name} {one.names[i]} goes with {other.name} {other.names[j]}: {share}."
            found.append((float(table[i, j] * (lift[i, j] - 1)), capital(text)))
    found.sort(key=lambda pair: -pair[0])
    return tuple(text for _, text in found[:MOST_TOGETHER])
