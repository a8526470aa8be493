"""Growth on a log in parts: bit for bit the tree of the kernel in memory, whatever the parts and the room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from tests.tree.problems import Problem, kernel_grow, random_problem, weighted
from tripletree import _kernel
from tripletree.tree.edges import Edges, find_edges
from tripletree.tree.frontier import Growth, Lanes, Limits, Wanted, first_bins, no_counts, nothing_but_the_root

DEFAULTS = {"max_leaves": 2**29, "max_depth": None, "min_samples_leaf": 1, "min_gain": 0.0}
NO_LIE = np.zeros((0, 0), np.int64)


AS_IT_IS = (0.0, 1.0, 0.0, 1.0)
"""Centre, unit, mean and scale of a target that is rounded to itself."""


def recipe(kept: Sequence[int]) -> tuple[np.ndarray, ...]:
    """Return what columns are rounded by that become targets as they are."""
    return np.array(kept, np.int64), *(np.full(len(kept), number) for number in AS_IT_IS)


def in_parts(problem: Problem, edges: Edges, rng: np.random.Generator) -> tuple[Growth, object]:
    """Return a growth whose histograms come from a few parts of the rows, in any order.

    States are the numbers of their bins, and each row is an episode, whose final state makes its derivative.
    """
    grid, weights = problem.grid, problem.weights
    # With weights a target is one number: what it is multiplied to is divided afterwards.
    fine, heavy = grid.fine and weights is None, weights is not None
    lanes = Lanes(grid.n_plain, grid.n_derivative, fine or heavy, heavy)
    plain, targets = grid.n_plain, grid.rows.shape[1] // 2
    rows = grid.targets if heavy else grid.rows
    bins = _kernel.bin_rows(problem.states, edges.numbers, edges.first)
    n, d = bins.shape
    between = np.concatenate([np.arange(count - 1) + 0.5 for count in edges.bins])
    more = rows[:, targets : targets + plain] if fine else np.zeros((n, 0), np.int32)
    given = np.ascontiguousarray(np.hstack([rows[:, :plain], more]).astype(np.int32))
    change = rows[:, plain : plain + grid.n_derivative].astype(float)
    if fine:
        change += rows[:, targets + plain : targets + plain + grid.n_derivative] / 2.0**22
    final = bins + np.pad(change, ((0, 0), (0, d - grid.n_derivative)))
    final[rows[:, plain + grid.n_derivative] == 0] = np.nan
    cuts = [0, *np.sort(rng.integers(0, n + 1, 3)).tolist(), n]
    parts = rng.permutation([slice(a, b) for a, b in pairwise(cuts) if a < b])
    at = np.zeros(n, np.uint16)
    kind = rng.choice([np.float32, np.float64])

    def count(wanted: Wanted) -> np.ndarray:
        found = no_counts(wanted.slots, edges, lanes)
        tree = (wanted.feature, wanted.cut, wanted.left, wanted.slot)
        derivative, none = recipe(range(grid.n_derivative)), np.zeros((0, 0), np.int32)
        counter = _kernel.Counter(
            between,
            edges.first,
            recipe([]),
            none,
            derivative,
            *tree,
            plain,
            grid.n_derivative,
            lanes.fine,
            heavy,
            12,
            found,
            NO_LIE,
        )
        # Some rows were lost on the way, and begin at the root again.
        at[rng.random(len(at)) < 0.1] = 0
        for part in parts:
            size = len(at[part])
            counter.add(
                _kernel.Piece(
                    bins[part].astype(kind),
                    np.arange(size + 1),
                    final[part],
                    np.zeros(d),
                    np.zeros(size, np.uint8),
                    given[part],
                    at[part],
                    weights=None if weights is None else weights[part].astype(np.int32),
                )
            )
        counter.finish()
        return found

    options = DEFAULTS | {name: value for name, value in problem.options.items() if name != "midpoints"}
    options["by_gain"] = bool(options.get("by_gain", False))
    room = int(rng.choice([4, 8, 100]))
    least = 1 if weights is None else int(weights.min())
    return Growth(lanes, edges, count(nothing_but_the_root())[0], Limits(**options), room, least=least), count


@pytest.mark.parametrize("block", range(8))
def test_the_tree_of_the_parts_is_that_of_the_whole(block):
    fine = missing = deep = heavy = 0
    for seed in range(200 * block, 200 * block + 200):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, int(rng.choice([1, 2, 5, 50, 300, 1_500])), int(rng.integers(1, 5)), 20)
        problem = Problem(problem.states, problem.grid, problem.options | {"by_gain": bool(rng.integers(2))})
        problem = weighted(rng, problem) if rng.random() < 0.3 else problem
        edges = find_edges(problem.states, int(rng.choice([2, 4, 32, 256])))
        codes = _kernel.encode_edges(problem.states, edges.numbers, edges.first, 1)
        expected = kernel_grow(problem, codes, edges=edges)
        growth, count = in_parts(problem, edges, rng)
        tree, samples = growth.grow(count)
        assert tree.feature.tolist() == expected.feature.tolist()
        assert tree.left.tolist() == expected.left.tolist()
        assert tree.threshold.tolist() == expected.threshold.tolist()
        assert (tree.quality == expected.gain / samples).all()
        at_leaves = np.bincount(expected.node, problem.weights, tree.n_nodes)[tree.leaf_nodes]
        assert samples[tree.leaf_nodes].tolist() == at_leaves.tolist()
        fine, missing, deep = fine + problem.grid.fine, missing + growth._missing, max(deep, growth.passes)
        heavy += problem.weights is not None
    assert min(fine, missing, deep, heavy) > 5


def test_a_larger_budget_needs_fewer_passes():
    problem = random_problem(np.random.default_rng(3), 3_000, 3, 200)
    states = np.random.default_rng(4).normal(size=(3_000, 3))
    problem = Problem(states, problem.grid, {"max_leaves": 200})
    passes = []
    for room in (4, 1_000):
        growth, count = in_parts(problem, find_edges(states, 64), np.random.default_rng(0))
        growth._room = room
        growth.grow(count)
        passes.append(growth.passes)
    assert passes[0] > 2 * passes[1]
    assert passes[1] < 40


@for_all(st.integers(0, 2**32))
def test_histograms_are_those_of_the_rows_one_by_one(seed):
    rng = np.random.default_rng(seed)
    n, d, fine, labels = (
        int(rng.integers(1, 400)),
        int(rng.integers(1, 11)),
        bool(rng.integers(2)),
        int(rng.integers(4)),
    )
    states = rng.normal(size=(n, d)).astype(rng.choice([np.float32, np.float64]))
    starts = np.unique([0, *rng.integers(0, n, int(rng.integers(n))).tolist(), n])
    final = np.where(rng.random((len(starts) - 1, 1)) < 0.5, np.nan, rng.normal(size=(len(starts) - 1, d)))
    periods = np.where(rng.random(d) < 0.3, 1.0, 0.0)
    edges = find_edges(states.astype(float), 8)
    kept = np.flatnonzero(rng.random(d) < 0.7)
    limbs = 2 if fine else 1
    table = rng.integers(-(2**20), 2**20, (labels, 2 * limbs)).astype(np.int32)
    actions = rng.integers(0, labels, n).astype(np.uint8) if labels else rng.normal(size=(n, 2)).astype(np.float32)
    given = rng.integers(-(2**20), 2**20, (n, limbs)).astype(np.int32)
    scale = 2.0**18
    by = tuple(np.full(2, number) for number in (0.5, 2.0, -1.0, scale))
    action = recipe([]) if labels else (np.arange(2), *by)
    weights = None if fine or rng.random() < 0.5 else rng.integers(0, 2**20, n, np.int32, endpoint=True)
    lanes = Lanes(3, len(kept), fine or weights is not None, weights is not None)
    at = np.zeros(n, np.uint16)
    piece = _kernel.Piece(states, starts, final, periods, actions, given, at, weights=weights)

    # The definition: each target as two limbs, row by row.
    following = np.vstack([states[1:].astype(float), final[-1:]])
    following[starts[1:] - 1] = final
    change = following - states.astype(float)
    change = np.where((periods > 0) & (np.abs(change) > 0.5), change - np.round(change), change)
    known = ~np.isnan(change[:, 0])

    def limbed(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first = np.round(numbers)
        return first.astype(np.int64), np.round((numbers - first) * 2.0**22).astype(np.int64)

    pairs = [limbed(np.where(known[:, None], change[:, kept] * scale, 0.0))]
    pairs.insert(0, (given[:, :1].astype(np.int64), given[:, limbs - 1 :].astype(np.int64)))
    if labels:
        pairs.insert(0, (table[actions, :2].astype(np.int64), table[actions, -2:].astype(np.int64)))
    else:
        pairs.insert(0, limbed(((actions.astype(float) - 0.5) * 2.0 + 1.0) * scale))
    first, second = (np.hstack([pair[k] for pair in pairs]) for k in range(2))
    whole = first.astype(object) * 2**22 + second.astype(object) if fine else first.astype(object)
    times = np.ones(n, np.int64) if weights is None else weights.astype(np.int64)
    product = first * times[:, None]
    if weights is None:
        high, low = first, second
    else:
        high = np.round(product / 2.0**22).astype(np.int64)
        low = product - high * 2**22
    sums = [*high.T, *(low.T if lanes.fine else ()), known * times, times, *([] if weights is None else [times > 0])]
    for group in (whole[:, :3], whole[:, 3:]):
        squares = (group * group).sum(axis=1) * times.astype(object)
        limb = [squares & (2**32 - 1), (squares >> 32) & (2**32 - 1), squares >> 64] if lanes.fine else [squares]
        sums += [np.broadcast_to(part, n).astype(np.int64) for part in limb]
    bins = np.stack(
        [
            np.searchsorted(edges.numbers[a:b], states[:, f], side="right")
            for f, (a, b) in enumerate(pairwise(edges.first))
        ],
        axis=1,
    )
    splits = [f for f in range(d) if edges.bins[f] > 1]
    wanted = nothing_but_the_root()
    if splits:
        f = int(rng.choice(splits))
        cut = int(rng.integers(edges.bins[f] - 1))
        wanted = Wanted(*(np.array(v, np.int32) for v in ([f, -1, -1], [cut, -1, -1], [1, -1, -1], [-1, 1, 0])))
    side = (bins[:, wanted.feature[0]] <= wanted.cut[0]).astype(int) if splits else np.zeros(n, int)
    found, lie = no_counts(wanted.slots, edges, lanes), np.zeros((3 + len(kept), 2**12 + 1), np.int64)
    derivative = (kept, *(np.full(len(kept), number) for number in (0.0, 1.0, 0.0, scale)))
    counter = _kernel.Counter(
        edges.numbers,
        edges.first,
        action,
        table,
        derivative,
        wanted.feature,
        wanted.cut,
        wanted.left,
        wanted.slot,
        3,
        len(kept),
        lanes.fine,
        weights is not None,
        12,
        found,
        NO_LIE if fine else lie,
    )
    counter.add(piece)
    counter.finish()
    expected = np.zeros_like(found)
    for f, place in enumerate(first_bins(edges)[:-1].tolist()):
        for lane, column in enumerate(sums):
            np.add.at(expected[:, :, lane], (side, place + bins[:, f]), column)
    assert np.array_equal(found, expected)
    # Rows that do not count stay where they are.
    assert at.tolist() == (((2 - side) if splits else side) * (times > 0)).tolist()
    if not fine:
        counts = [
            np.bincount((column[(known | (k < 3)) & (times > 0)] + 2**23) >> 12, minlength=2**12 + 1)
            for k, column in enumerate(first.T)
        ]
        assert np.array_equal(lie, counts)


def counted_in_bins(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many random states lie in which bin, as the kernel counts them and by the definition.

    Edges are few or many, and lie at states, beside them, and between neighbours in single precision.
    """
    rng = np.random.default_rng(seed)
    n, d = 200, int(rng.integers(1, 4))
    states = (rng.normal(size=(n, d)) * rng.choice([1e-40, 1e-3, 1, 1e6])).astype(rng.choice([np.float32, np.float64]))
    numbers = []
    for column in states.T:
        near = np.concatenate(
            [column.astype(float), np.nextafter(column.astype(float), np.inf), rng.normal(size=5_000)]
        )
        near = np.append(near, np.nextafter(column.astype(float), -np.inf))
        most = int(rng.choice([0, 1, 31, 32, 33, 1023, 1024, 1025, 4095]))
        numbers.append(np.sort(rng.choice(np.unique(near), most, replace=False)))
    edges = Edges(np.concatenate(numbers), np.append(0, np.cumsum([len(some) for some in numbers])).astype(np.int64))
    found = no_counts(1, edges, Lanes(1, 0, False))
    root, none = nothing_but_the_root(), np.zeros((0, 0), np.int32)
    tree = (root.feature, root.cut, root.left, root.slot)
    counter = _kernel.Counter(
        edges.numbers, edges.first, recipe([]), none, recipe([]), *tree, 1, 0, False, False, 12, found, NO_LIE
    )
    final, given = np.full((1, d), np.nan), np.ones((n, 1), np.int32)
    starts, labels, at = np.array([0, n]), np.zeros(n, np.uint8), np.zeros(n, np.uint16)
    counter.add(_kernel.Piece(states, starts, final, np.zeros(d), labels, given, at))
    counter.finish()
    expected = [
        np.bincount(np.searchsorted(some, column.astype(float), side="right"), minlength=len(some) + 1)
        for some, column in zip(numbers, states.T, strict=True)
    ]
    return found[0, :, 0], np.concatenate(expected)


@for_all(st.integers(0, 2**32))
def test_states_beside_edges_are_in_their_bins(seed):
    assert np.array_equal(*counted_in_bins(seed))


def test_states_of_a_piece_are_floating_point_numbers():
    with pytest.raises(ValueError, match="states must be float64 or float32"):
        _kernel.Piece(
            np.zeros((1, 1), np.int32),
            np.array([0, 1]),
            np.zeros((1, 1)),
            np.zeros(1),
            np.zeros(1, np.uint8),
            np.zeros((1, 1), np.int32),
            np.zeros(1, np.uint16),
        )


def test_a_node_whose_number_is_too_large_to_be_kept_is_found_again():
    edges, lanes = Edges(np.array([0.5]), np.array([0, 1])), Lanes(1, 0, False)
    nodes = 70_000
    feature, cut, left, slot = (np.full(nodes, -1, np.int32) for _ in range(4))
    feature[0], cut[0], left[0], slot[-2:] = 0, 0, nodes - 2, (0, 1)
    at = np.zeros(3, np.uint16)
    piece = _kernel.Piece(
        np.array([[0.0], [1.0], [1.0]]),
        np.array([0, 3]),
        np.full((1, 1), np.nan),
        np.zeros(1),
        np.zeros(3, np.uint8),
        np.array([[5], [6], [7]], np.int32),
        at,
    )
    for _ in range(2):
        found = no_counts(2, edges, lanes)
        counter = _kernel.Counter(
            edges.numbers,
            edges.first,
            recipe([]),
            np.zeros((0, 0), np.int32),
            recipe([]),
            feature,
            cut,
            left,
            slot,
            1,
            0,
            False,
            False,
            12,
            found,
            NO_LIE,
        )
        counter.add(piece)
        counter.finish()
        assert found[:, :, 0].tolist() == [[5, 0], [0, 13]]
        assert at.tolist() == [0, 0, 0]
