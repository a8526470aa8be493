"""Stability: what trees grown on random halves of the episodes agree on, and where they put thresholds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.counterfactual import Counterfactual
from tripletree.answers.effects import Effect, Effects
from tripletree.answers.factual import Factual
from tripletree.answers.stability import Bound, FirstSplit, Likeness, Stability, Steadiness
from tripletree.asking.attribute import Attribute, main_attributes, read_attribute, targets_of
from tripletree.asking.foils import read_foil
from tripletree.checks import check_whole
from tripletree.log.log import Log
from tripletree.log.switches import rows_of
from tripletree.model.fitted import Fitted
from tripletree.questions.effects import effects_among
from tripletree.questions.explain import path_order
from tripletree.questions.importance import removed
from tripletree.questions.opinion import opinion_of
from tripletree.questions.predict import shares
from tripletree.questions.regrown import TREES, Regrown, band, caveat, regrown
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

STATES = 5_000
"""States of the log on which trees are compared."""
LEVELS = 3
"""Levels of splits that are compared, from the root down."""
LEAST_TREES, MOST_TREES = 20, 1000
"""Fewer trees than this have no band: it needs eight pairs that know a threshold."""


def stability(fitted: Fitted, log: Log, trees: int = TREES, seed: int = 0, threads: int = 1) -> Stability:
    """Return what trees grown on random halves of a log agree on; arguments as in :func:`regrown`."""
    check_whole(trees, "trees", LEAST_TREES, MOST_TREES, example=TREES)
    check_whole(seed, "seed", 0, example=0)
    found = regrown(fitted, log, trees, seed, threads)
    states = np.ascontiguousarray(log.states[:: -(-log.n_samples // STATES)])
    known = [*main_attributes(fitted), *(["value"] if fitted.schema.has_reward and fitted.varies[1] else [])]
    first, common = _reasons(found, states, known[0]) if known else (1.0, 1.0)
    return Stability(
        trees=trees,
        units=found.units,
        grouped=found.grouped,
        predictions=tuple(_likeness(fitted, found, states, name) for name in known),
        splits=tuple(_splits(fitted, found)),
        first_reason=first,
        reasons=common,
        caveat=caveat(found.units, found.grouped),
        schema=fitted.schema,
    )


def _told(fitted: Fitted, states: F64, about: str) -> tuple[Attribute, F64]:
    """Return what a tree predicts, shape (states, columns); of labels their scores."""
    attribute = read_attribute(fitted, about)
    return attribute, fitted.told(states, fitted.tree.apply(states))[:, targets_of(fitted, attribute)]


def _likeness(fitted: Fitted, found: Regrown, states: F64, about: str) -> Likeness:
    attribute, own = _told(fitted, states, about)
    # Once for each tree, though a tree is in one pair only: halves of a pair come one after the other.
    pairs = [(_told(one, states, about)[1], _told(other, states, about)[1]) for one, other in found.pairs]
    if attribute.labels:
        same, chance = [], []
        for one, other in pairs:
            left, right = one.argmax(axis=1), other.argmax(axis=1)
            same.append(float((left == right).mean()))
            size = len(attribute.labels)
            chance.append(
                float(np.bincount(left, minlength=size) @ np.bincount(right, minlength=size)) / len(left) ** 2
            )
        share, by_chance = float(np.mean(same)), float(np.mean(chance))
        alike = 1.0 if by_chance >= 1 else (share - by_chance) / (1 - by_chance)
        return Likeness("action", "", alike, share, None, 0.0)
    alike_of = [_correlation(one[:, 0], other[:, 0]) for one, other in pairs]
    apart = float(np.mean([np.median(np.abs(one - other)) for one, other in pairs]))
    name = attribute.names[0]
    return Likeness(name, attribute.units[0], float(np.mean(alike_of)), None, apart, float(own[:, 0].std()))


def _correlation(one: F64, other: F64) -> float:
    """Return the correlation of two trees' predictions; 1 where both are the same constant."""
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one**2).mean() * (other**2).mean()))
    if size > 0:
        return float((one * other).mean()) / size
    return 1.0 if one.any() == other.any() else 0.0


def _splits(fitted: Fitted, found: Regrown) -> list[FirstSplit]:
    paths = [format(k, f"0{level}b") if level else "" for level in range(LEVELS) for k in range(2**level)]
    told = []
    for path in (text.replace("0", "l").replace("1", "r") for text in paths):
        own = _way(fitted.tree, path)
        if own is None:
            continue
        ways = [_way(one.tree, path) for one in found.trees]
        # Only where the features above are the same does a split have the same meaning.
        like = [way if way is not None and way[0][:-1] == own[0][:-1] else None for way in ways]
        same = [way is not None and way[0] == own[0] for way in like]
        at = np.array([way[1] if way is not None and kept else np.nan for way, kept in zip(like, same, strict=True)])
        ends = np.clip(band(own[1], at), fitted.feature_min[own[0][-1]], fitted.feature_max[own[0][-1]])
        low, high = map(float, ends)
        others = [way[0][-1] for way, kept in zip(like, same, strict=True) if way is not None and not kept]
        known = bool(np.isfinite(low))
        told.append(
            FirstSplit(
                path=path,
                feature=own[0][-1],
                threshold=own[1],
                same=sum(same),
                low=low if known else None,
                high=high if known else None,
                instead=max(sorted(set(others)), key=others.count) if others else None,
                trees=len(ways),
            )
        )
    return told


def _way(tree: Tree, path: str) -> tuple[tuple[int, ...], float] | None:
    """Return the features of the splits down a path, the last one included, and its threshold; None past a leaf."""
    node, features = 0, []
    for step in [*path, ""]:
        if tree.left[node] < 0:
            return None
        features.append(int(tree.feature[node]))
        if step:
            node = int(tree.left[node]) + (step == "r")
    return tuple(features), float(tree.threshold[node])


def _reasons(found: Regrown, states: F64, about: str) -> tuple[float, float]:
    """Return how often pairs of trees name the same feature first, and which share of the features both name."""
    first, common = [], []
    for pair in found.pairs:
        leads, named = zip(*(_reason(one, states, about) for one in pair), strict=True)
        first.append(float((leads[0] == leads[1]).mean()))
        either = (named[0] | named[1]).sum(axis=1)
        both = (named[0] & named[1]).sum(axis=1)
        common.append(float(np.where(either > 0, both / np.maximum(either, 1), 1.0).mean()))
    return float(np.mean(first)), float(np.mean(common))


def _reason(fitted: Fitted, states: F64, about: str) -> tuple[I64, npt.NDArray[np.bool_]]:
    """Return the feature that an explanation of each state names first, and all that it names."""
    tree = fitted.tree
    gain = removed(fitted, read_attribute(fitted, about))
    total = np.zeros((tree.n_nodes, len(fitted.schema.features)))
    for nodes in tree.levels:
        below = total[nodes]
        below[np.arange(len(nodes)), tree.feature[nodes]] += gain[nodes]
        total[tree.left[nodes]] = total[tree.left[nodes] + 1] = below
    leaf = tree.apply(states)
    lower, upper = fitted.bounds
    named = np.isfinite(lower) | np.isfinite(upper)
    return total[tree.leaf_nodes].argmax(axis=1)[leaf], named[leaf]


def steady_factual(fitted: Fitted, answer: Factual, found: Regrown) -> Factual:
    """Return an explanation that says what became of it in trees grown on halves of the log."""
    attribute = read_attribute(fitted, answer.about)
    state = answer.state[None]
    told = np.stack([_told(one, state, answer.about)[1][0] for one in found.trees])
    same, low, high = None, (), ()
    if attribute.labels:
        labels = np.array(attribute.labels)[shares(told).argmax(axis=1)]
        same = int((labels == answer.prediction).sum())
    else:
        low, high = (tuple(end.tolist()) for end in band(np.asarray(answer.prediction), told))
    leaves = [int(one.tree.apply(state)[0]) for one in found.trees]
    sides = [np.stack([one.bounds[k][leaf] for one, leaf in zip(found.trees, leaves, strict=True)]) for k in (0, 1)]
    bounds = []
    for feature in path_order(fitted, attribute, answer.leaf):
        for side, own, ends in ((">=", answer.lower, sides[0]), ("<", answer.upper, sides[1])):
            if np.isfinite(own[feature]):
                at = np.where(np.isfinite(ends[:, feature]), ends[:, feature], np.nan)
                low_end, high_end = band(own[feature], at)
                # Whichever log it is, its leaf holds the state, and its thresholds lie among the states.
                least = max(float(low_end), fitted.feature_min[feature], state[0, feature] if side == "<" else -np.inf)
                most = min(float(high_end), fitted.feature_max[feature], state[0, feature] if side != "<" else np.inf)
                known = bool(np.isfinite(low_end))
                trees = int(np.isfinite(at).sum())
                ends_of = (min(least, own[feature]), max(most, own[feature])) if known else (None, None)
                bounds.append(Bound(feature, side, float(own[feature]), trees, *ends_of))
    steady = Steadiness(len(found.trees), same, low, high, tuple(bounds), caveat(found.units, found.grouped))
    return replace(answer, stability=steady)


def steady_counterfactual(answer: Counterfactual, foil: Any, found: Regrown) -> Counterfactual:
    """Return a counterfactual that says in how many trees grown on halves of the log its foil holds."""
    if answer.foil_state is None:
        return answer
    state, held = answer.foil_state[None], 0
    for one in found.trees:
        told = one.told(state, one.tree.apply(state))
        demands = opinion_of(one, read_foil(one, foil), None).demands
        held += all(demand.held(told)[0] for demand in demands)
    return replace(answer, stability=Steadiness(len(found.trees), held, caveat=caveat(found.units, found.grouped)))


def banded(log: Log, answer: Effects, features: Any, found: Regrown, threads: int) -> Effects:
    """Return effect curves with bands: where the curves of nine of ten other logs would be."""
    others = []
    for one, half in zip(found.trees, found.halves, strict=True):
        # By its own states, as another log would have its own.
        rows = rows_of(log, half)
        states = np.ascontiguousarray(log.states[rows[:: -(-len(rows) // STATES)]])
        others.append(effects_among(one, states, answer.about, features, threads).curves)
    by_feature = [{curve.feature: curve for curve in curves} for curves in others]
    curves = []
    for own in answer.curves:
        lines = [_at(known[own.feature], own.grid) for known in by_feature if own.feature in known]
        # A feature that hardly ever varies may have one value only among fewer states.
        low, high = band(own.curve, np.stack(lines)) if lines else (None, None)
        curves.append(replace(own, low=low, high=high))
    return replace(answer, curves=tuple(curves))


def _at(curve: Effect, grid: F64) -> F64:
    return np.stack([np.interp(grid, curve.grid, column) for column in curve.curve.T], axis=1)
