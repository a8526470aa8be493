"""The same tree, bit for bit, whichever instruction set the inner loops were compiled for."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.tree.problems import kernel_grow, random_problem
from tests.tree.test_frontier import counted_in_bins
from tripletree import _kernel
from tripletree.tree.edges import find_edges


@functools.cache
def digest() -> str:
    """Return a hash over trees of all sizes and widths, codes, grids and leaves."""
    rng = np.random.default_rng(0)
    found = hashlib.sha256()
    for n, d in ((5, 1), (60, 2), (900, 3), (3_000, 12), (6_000, 3), (12_000, 20), (9_000, 40)):
        for exact in (True, False):
            problem = random_problem(rng, n, d, 40)
            edges = None if exact else find_edges(problem.states, 128)
            codes = (
                _kernel.encode(problem.states, 128, 1)
                if edges is None
                else _kernel.encode_edges(problem.states, edges.numbers, edges.first, 1)
            )
            grown = kernel_grow(problem, codes, edges=edges)
            number = np.arange(len(grown.left), dtype=np.int32)
            leaf = _kernel.apply(problem.states, grown.feature, grown.threshold, grown.left, number, 1)
            rounded = np.zeros((n, 16), np.int32)
            targets = rng.normal(size=(n, 9)) * 1000
            targets[::7, 2] = np.nan
            source, numbers = _kernel.Source(targets.T), (np.full(9, 0.1), np.full(9, 3.0), np.full(9, 0.2))
            _kernel.quantise(source, np.arange(9), *numbers, np.full(9, 64.0), rounded, 1)
            lowest, highest, sums = np.full(9, np.inf), np.full(9, -np.inf), np.zeros((9, 4))
            _kernel.widen_ranges(source, lowest, highest)
            counted = _kernel.add_sums(source, np.full(9, 0.1), np.full(9, 1e-4), (1.5 * 2.0**16, 1.5 * 2.0**-20), sums)
            binned = kernel_grow(problem, codes, pool=20, edges=edges)
            for array in (
                codes,
                *vars(grown).values(),
                *vars(binned).values(),
                leaf,
                rounded,
                lowest,
                highest,
                sums,
                counted,
            ):
                found.update(np.ascontiguousarray(array).tobytes())
    for seed in range(40):
        found.update(counted_in_bins(seed)[0].tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_grows_the_same_tree(isa):
    # A set that this machine lacks falls back to the baseline, which must agree as well.
    done = subprocess.run(
        [sys.executable, "-c", "from tests.tree.test_growth_machines import digest; print(digest())"],
        env=os.environ | {"TRIPLETREE_ISA": isa},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest()
