from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.questions.trees import boxes, random_fitted, random_states
from tripletree.questions.explain_change import turning_points


def moves(fitted, n, seed, wild=True):
    """Moves whose leaves predict different labels: before, after, the label of each leaf."""
    states = random_states(fitted, 2 * n, seed, wild)
    leaf = fitted.tree.apply(states)
    label = fitted.leaves.mode
    pairs = [(i, i + n) for i in range(n) if label[leaf[i]] != label[leaf[i + n]]]
    return [(states[i], states[j]) for i, j in pairs], label


def turn(fitted, pairs, label):
    before, after = (np.stack(ends) for ends in zip(*pairs, strict=True))
    became = label[fitted.tree.apply(after)]
    return turning_points(fitted, before, after, lambda move, leaf: label[leaf] == became[move])


def met(box, low, high):
    return all(low[f] < upper and high[f] >= lower for f, (lower, upper) in enumerate(box))


def meets_only_foil(fitted, all_boxes, label, point, after):
    """Whether the box of a point and ``after`` meets no leaf but those with the label of ``after``, by all leaves."""
    wanted = label[fitted.tree.apply(after[None])[0]]
    low, high = np.minimum(point, after), np.maximum(point, after)
    return all(label[i] == wanted for i, box in enumerate(all_boxes) if met(box, low, high))


def norm(fitted, before, point):
    return int((point != before).sum()), float(np.linalg.norm((point - before) / fitted.span))


def candidates(fitted, f, before, after):
    """All coordinates at which a best point can lie: where it begins, and either side of every threshold between."""
    here, there = before[f], after[f]
    if fitted.whole[f]:
        return np.arange(min(here, there), max(here, there) + 1).tolist()
    taus = fitted.tree.threshold[(fitted.tree.left >= 0) & (fitted.tree.feature == f)]
    found = {here, there}
    for tau in taus.tolist():
        for number in (tau, math.nextafter(tau, -math.inf)):
            if min(here, there) <= number <= max(here, there):
                found.add(number)
    return sorted(found)


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_equal_to_brute_force_over_every_place_where_a_best_point_can_lie(seed, features):
    fitted = random_fitted(seed, features, 10)
    all_boxes = boxes(fitted)
    pairs, label = moves(fitted, 12, seed)
    if not pairs:
        return
    for (before, after), point in zip(pairs, turn(fitted, pairs, label), strict=True):
        assert meets_only_foil(fitted, all_boxes, label, point, after)
        best = min(
            norm(fitted, before, np.array(other))
            for other in itertools.product(*(candidates(fitted, f, before, after) for f in range(features)))
            if meets_only_foil(fitted, all_boxes, label, np.array(other), after)
        )
        mine = norm(fitted, before, point)
        assert mine[0] == best[0]
        assert mine[1] == pytest.approx(best[1], rel=1e-12, abs=1e-15)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
def test_equal_to_a_fine_grid_that_knows_only_predictions(seed, features):
    """Thresholds at whole numbers, states at halves, a grid of quarters; the tree is asked at every grid point."""
    fitted = random_fitted(seed, features, 12, real=True, grid=True)
    grown = fitted.tree
    label = fitted.leaves.mode
    rng = np.random.default_rng(seed)
    states = rng.integers(-4, 4, (12, 2, features)) + 0.5
    before, after = states[:, 0], states[:, 1]
    different = label[grown.apply(np.ascontiguousarray(before))] != label[grown.apply(np.ascontiguousarray(after))]
    for here, there in zip(before[different], after[different], strict=True):
        point = turn(fitted, [(here, there)], label)[0]
        wanted = label[grown.apply(there[None])[0]]
        axes = [np.arange(min(a, b), max(a, b) + 0.1, 0.25) for a, b in zip(here, there, strict=True)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        foil = (label[grown.apply(np.ascontiguousarray(grid.reshape(-1, features)))] == wanted).reshape(grid.shape[:-1])
        # A grid point is feasible when everything between it and `after` is foil: scan away from `after`.
        for f in range(features):
            flip = np.flip if here[f] < there[f] else (lambda array, axis: array)
            foil = flip(np.logical_and.accumulate(flip(foil, axis=f), axis=f), axis=f)
        feasible = grid[foil]
        best = min(norm(fitted, here, other) for other in feasible)
        mine = norm(fitted, here, point)
        assert mine[0] == best[0]
        # Short of a lower bound the grid stops a quarter earlier at most.
        slack = float(np.linalg.norm(0.25 / fitted.span))
        assert mine[1] <= best[1] + 1e-12
        assert best[1] <= mine[1] + slack + 1e-12


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_the_box_meets_only_foil_leaves_in_any_dimension(seed, features):
    fitted = random_fitted(seed, features, 30)
    all_boxes = boxes(fitted)
    pairs, label = moves(fitted, 30, seed)
    if not pairs:
        return
    rng = np.random.default_rng(seed)
    for (before, after), point in zip(pairs, turn(fitted, pairs, label), strict=True):
        assert meets_only_foil(fitted, all_boxes, label, point, after)
        share = rng.random((200, features))
        share[rng.random(share.shape) < 0.3] = 0.0
        share[rng.random(share.shape) < 0.3] = 1.0
        inside = np.clip(point + share * (after - point), np.minimum(point, after), np.maximum(point, after))
        leaf = fitted.tree.apply(inside)
        assert (label[leaf] == label[fitted.tree.apply(after[None])[0]]).all()
        # No feature that changes could stay where it was.
        for f in np.flatnonzero(point != before):
            less = point.copy()
            less[f] = before[f]
            assert not meets_only_foil(fitted, all_boxes, label, less, after)


def algorithm_1(all_boxes, foil, before, after):
    """Return the rectangles of the paper's Algorithm 1, as pairs of opposite corners (two features only)."""
    others = [box for box, good in zip(all_boxes, foil, strict=True) if not good]

    def extend(a, b, s1, s2):
        low, high = min(s1[b], s2[b]), max(s1[b], s2[b])
        met_boxes = [box for box in others if box[b][0] <= high and box[b][1] >= low]
        if before[a] > after[a]:
            return min([box[a][0] for box in met_boxes if box[a][0] >= s1[a]] + [before[a]])
        return max([box[a][1] for box in met_boxes if box[a][1] <= s1[a]] + [before[a]])

    s1, found = list(after), []
    while True:
        s2 = list(s1)
        s2[0] = extend(0, 1, s1, s2)
        s2[1] = extend(1, 0, s1, s2)
        if s1[1] == s2[1]:
            return found
        found.append((tuple(s1), tuple(s2)))
        s1[1] = s2[1]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_never_longer_than_the_papers_algorithm_for_two_features(seed):
    fitted = random_fitted(seed, 2, 12, real=True)
    all_boxes = boxes(fitted)
    pairs, label = moves(fitted, 12, seed, wild=False)
    if not pairs:
        return
    for (before, after), point in zip(pairs, turn(fitted, pairs, label), strict=True):
        foil = label == label[fitted.tree.apply(after[None])[0]]
        mine = norm(fitted, before, point)
        for first, second in algorithm_1(all_boxes, foil, before, after):
            low, high = np.minimum(first, second), np.maximum(first, second)
            theirs = norm(fitted, before, np.clip(before, low, high))
            assert mine[0] <= theirs[0]
            if mine[0] == theirs[0]:
                assert mine[1] <= theirs[1] + 1e-9


def test_many_moves_are_cut_into_chunks(monkeypatch):
    fitted = random_fitted(3, 3, 20)
    pairs, label = moves(fitted, 60, 3)
    whole = turn(fitted, pairs, label)
    monkeypatch.setattr("tripletree.questions.explain_change.CHUNK", 7)
    assert np.array_equal(turn(fitted, pairs, label), whole)
