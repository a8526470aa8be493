"""Growth on a log in parts: bit for bit the tree of the kernel in memory, whatever the parts and the room."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.tree.problems import Problem, kernel_grow, random_problem
from tripletree import _kernel
from tripletree.tree.edges import Edges, find_edges
from tripletree.tree.frontier import Growth, Lanes, Limits, Wanted, first_bins, nothing_but_the_root

DEFAULTS = {"max_leaves": 2**29, "max_depth": None, "min_samples_leaf": 1, "min_gain": 0.0}


def in_parts(problem: Problem, edges: Edges, rng: np.random.Generator) -> tuple[Growth, object]:
    """Return a growth whose histograms come from a few parts of the rows, in any order."""
    grid = problem.grid
    lanes, targets = Lanes(grid.n_plain, grid.n_derivative, grid.fine), grid.n_plain + grid.n_derivative
    first, half = grid.rows[:, :targets], grid.rows.shape[1] // 2
    rows = np.hstack([first, grid.rows[:, half : half + targets]]) if grid.fine else first
    rows, known = np.ascontiguousarray(rows), grid.rows[:, targets].astype(np.uint8)
    bins, first_bin = _kernel.bin_rows(problem.states, edges.numbers, edges.first), first_bins(edges)
    cuts = [0, *np.sort(rng.integers(0, len(bins) + 1, 3)).tolist(), len(bins)]
    parts = rng.permutation([slice(a, b) for a, b in pairwise(cuts)])
    at = np.zeros(len(bins), np.uint32)

    def count(wanted: Wanted) -> np.ndarray:
        found = np.zeros((wanted.slots, int(first_bin[-1]), lanes.width), np.int64)
        tree = (wanted.feature, wanted.cut, wanted.left, wanted.slot)
        # Some rows were lost on the way, and begin at the root again.
        at[rng.random(len(at)) < 0.1] = 0
        for part in parts:
            _kernel.add_histograms(
                bins[part],
                rows[part],
                known[part],
                first_bin,
                *tree,
                at[part],
                lanes.n_plain,
                lanes.n_derivative,
                lanes.fine,
                found,
            )
        return found

    options = DEFAULTS | {name: value for name, value in problem.options.items() if name != "midpoints"}
    options["by_gain"] = bool(options.get("by_gain", False))
    room = int(rng.choice([4, 8, 100]))
    return Growth(lanes, edges, count(nothing_but_the_root())[0], Limits(**options), room), count


@pytest.mark.parametrize("block", range(8))
def test_the_tree_of_the_parts_is_that_of_the_whole(block):
    fine = missing = deep = 0
    for seed in range(200 * block, 200 * block + 200):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, int(rng.choice([1, 2, 5, 50, 300, 1_500])), int(rng.integers(1, 5)), 20)
        problem = Problem(problem.states, problem.grid, problem.options | {"by_gain": bool(rng.integers(2))})
        edges = find_edges(problem.states, int(rng.choice([2, 4, 32, 256])))
        codes = _kernel.encode_edges(problem.states, edges.numbers, edges.first, 1)
        expected = kernel_grow(problem, codes, edges=edges)
        growth, count = in_parts(problem, edges, rng)
        tree, samples = growth.grow(count)
        assert tree.feature.tolist() == expected.feature.tolist()
        assert tree.left.tolist() == expected.left.tolist()
        assert tree.threshold.tolist() == expected.threshold.tolist()
        assert (tree.quality == expected.gain / samples).all()
        at_leaves = np.bincount(expected.node, minlength=tree.n_nodes)[tree.leaf_nodes]
        assert samples[tree.leaf_nodes].tolist() == at_leaves.tolist()
        fine, missing, deep = fine + problem.grid.fine, missing + growth._missing, max(deep, growth.passes)
    assert min(fine, missing, deep) > 5


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
