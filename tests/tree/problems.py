"""Random logs of every awkward kind, and the comparison of the compiled kernel with the reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.reference.codes import codes as reference_codes
from tests.reference.columns import Grid, columns, grid
from tests.reference.derive import derivatives, values
from tests.reference.grow import NO_LIMIT, Grown
from tests.reference.grow import grow as reference_grow
from tests.reference.split import split_by_sums
from tripletree import _kernel
from tripletree.tree.edges import Edges

BINS = 256


@dataclass
class Log:
    """The arrays of a log, and how many labels its action has (None: continuous)."""

    states: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    starts: np.ndarray
    final_states: np.ndarray
    n_labels: int | None


@dataclass
class Problem:
    """States, targets on the grid, and options of growth."""

    states: np.ndarray
    grid: Grid
    options: dict[str, Any] = field(default_factory=dict)
    weights: np.ndarray | None = None


def feature(rng: np.random.Generator, n: int, others: list[np.ndarray]) -> np.ndarray:
    """One column of states, of a random kind."""
    walk = np.cumsum(rng.normal(size=n))
    smooth = np.sin(np.arange(n) * rng.uniform(0.01, 0.5) + rng.uniform(0, 6))
    base = rng.normal(size=n)
    kinds = [
        base,
        walk,
        smooth,
        rng.integers(0, 3, n).astype(float),
        rng.integers(-1000, 1000, n).astype(float),
        np.full(n, base[0]),
        rng.choice(base[: max(1, n // 5)], n),
        np.round(base, 1),
        np.clip(base, -0.3, 0.3),
        np.where(rng.random(n) < 0.7, 0.1, base),
        (walk > 0).astype(float),
        # The speeds of a simulated car: equal but for rounding.
        0.1 + 1e-18 * rng.integers(0, 5, n) + 0.01 * rng.integers(0, 9, n),
        # Chains of neighbours, each nearer to the next than what counts as equal, and some that are not.
        (np.arange(n) * 1e-11 + (rng.random(n) < 0.1).cumsum() / (n + 1))[rng.permutation(n)],
        # Outliers: one that is far, a few that are further than everything else together, and heavy tails.
        np.where(np.arange(n) == n // 2, 1e6, base),
        np.where(rng.random(n) < 0.03, np.copysign(1e300, base), base),
        rng.standard_t(2, n),
        # Noise about zero and about a large number, and a spell of rest.
        np.where(rng.random(n) < 0.8, 1e-17 * base, walk),
        1e9 + 1e-7 * rng.integers(0, 50, n),
        base * 1e300,
        base * 1e-300,
        rng.integers(0, 9, n) * 5e-324,
        base * 10.0 ** rng.integers(-200, 200, n),
        others[-1] if others else base,
        -others[0] if others else base,
    ]
    return kinds[rng.integers(len(kinds))]


def random_log(rng: np.random.Generator, n: int, d: int) -> Log:
    """Features, actions, rewards and episodes of random kinds; the agent and the rewards may depend on the state."""
    features: list[np.ndarray] = []
    for _ in range(d):
        features.append(feature(rng, n, features))
    states = np.ascontiguousarray(np.stack(features, axis=1))
    ranks = reference_codes(states) / max(n, 1)
    signal = ranks @ rng.normal(size=d) + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=n)
    n_labels = [1, 2, 3, 7, None][rng.integers(5)]
    if n_labels is None:
        m = int(rng.integers(1, 4))
        actions = signal[:, None] * rng.normal(size=m) + rng.choice([0.0, 0.3]) * rng.normal(size=(n, m))
        actions = np.clip(actions, -0.5, 0.5) if rng.random() < 0.5 else actions
        actions = np.round(actions) if rng.random() < 0.2 else actions
    else:
        low, high = signal.min(), signal.max()
        actions = np.minimum(((signal - low) / (high - low + 1e-300) * n_labels).astype(int), n_labels - 1)
    rewards = [
        rng.normal(size=n),
        rng.integers(-2, 3, n).astype(float),
        np.full(n, 1.0),
        (rng.random(n) < 0.05) * 100.0,
        signal,
        signal * 1e300,
        signal * 1e-300,
        np.where(rng.random(n) < 2 / n, -1e6, 0.09 * rng.random(n)),
        signal * rng.standard_t(1, n) ** 3,
    ][rng.integers(9)]
    cuts = rng.random(n - 1) < rng.choice([0.0, 0.1, 0.9, 1.0])
    starts = np.concatenate([[0], np.flatnonzero(cuts) + 1, [n]]).astype(np.int64)
    final_states = states[rng.integers(0, n, len(starts) - 1)]
    final_states[rng.random(len(final_states)) < rng.choice([0.0, 0.5, 1.0])] = np.nan
    return Log(states, actions, rewards, starts, final_states, n_labels)


def targets(log: Log, theta: tuple[float, float, float] = (1.0, 1.0, 1.0), scale: str = "sigma") -> Grid:
    """Value, derivative, columns and grid of a log, all by the reference."""
    value = values(log.rewards, log.starts, 0.9)
    derivative = derivatives(log.states, log.starts, log.final_states)
    return grid(columns(log.actions, log.n_labels, value, derivative, theta, scale, log.states))


def random_problem(rng: np.random.Generator, n: int, d: int, max_leaves: int) -> Problem:
    """A random log with random options; never one without any target."""
    while True:
        theta = rng.choice([0.0, 0.2, 1.0, 30.0], 3)
        made = random_log(rng, n, d)
        if theta.any():
            on_grid = targets(made, tuple(theta.tolist()), str(rng.choice(["sigma", "paper"])))
            if on_grid.n_plain + on_grid.n_derivative or n == 1:
                break
    options = {
        "max_leaves": int(rng.integers(1, max_leaves + 1)),
        "max_depth": int(rng.choice([1, 3, NO_LIMIT], p=[0.1, 0.2, 0.7])),
        "min_samples_leaf": int(rng.choice([1, 2, 7, 1 + n // 3], p=[0.6, 0.2, 0.1, 0.1])),
        "min_gain": float(rng.choice([0.0, 0.013], p=[0.8, 0.2])) * on_grid.scale**2,
        "by_gain": bool(rng.random() < 0.4),
        "midpoints": bool(rng.random() < 0.3),
    }
    return Problem(made.states, on_grid, options)


def weighted(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with random whole weights; targets become shorter where the kernel has no room for both."""
    n, bits = len(problem.states), int(rng.choice([1, 2, 5, 12, 20]))
    bits = min(bits, int(np.log2(2**36 / (n + 1))))
    weights = rng.choice([rng.integers(1, 2**bits, n, endpoint=True), np.where(rng.random(n) < 0.9, 1, 2**bits)])
    on_grid, k = problem.grid, problem.grid.n_plain + problem.grid.n_derivative
    targets = on_grid.targets.astype(np.int64)
    shift = max(0, int(np.abs(targets).max()).bit_length() - min(45 - bits, 30))
    targets[:, :k] >>= shift
    return Problem(
        problem.states,
        Grid(targets, on_grid.n_plain, on_grid.n_derivative, on_grid.scale / 2**shift),
        problem.options | {"min_gain": problem.options.get("min_gain", 0.0) / 4**shift},
        weights,
    )


def weighted_rows(on_grid: Grid, weights: np.ndarray) -> np.ndarray:
    """Return targets and weights in the layout of the kernel: two halves, and beside each weight a 1."""
    k = on_grid.n_plain + on_grid.n_derivative
    product = on_grid.targets[:, : k + 1].astype(np.int64) * weights[:, None]
    width = -(-(k + 4) // 8) * 8
    rows = np.zeros((len(product), 2 * width), np.int32)
    rows[:, :k] = (product[:, :k] + 2**21) >> 22
    rows[:, width : width + k] = product[:, :k] - (rows[:, :k].astype(np.int64) << 22)
    rows[:, k], rows[:, k + 1], rows[:, width + k + 1] = product[:, k], weights, 1
    return rows


def kernel_grow(
    problem: Problem,
    codes: np.ndarray | _kernel.Codes,
    threads: int = 1,
    progress: Any = None,
    pool: int = 0,
    edges: Edges | None = None,
) -> Grown:
    """Grow with the compiled kernel; it sorts nodes of at most ``pool`` rows, and bins the others."""
    options = {"max_leaves": NO_LIMIT, "max_depth": NO_LIMIT, "min_samples_leaf": 1, "min_gain": 0.0}
    options |= {"by_gain": False, "midpoints": False} | problem.options
    on_grid = problem.grid
    result = _kernel.grow(
        problem.states,
        codes,
        on_grid.rows if problem.weights is None else weighted_rows(on_grid, problem.weights),
        on_grid.n_plain,
        on_grid.n_derivative,
        min(options["max_leaves"], len(problem.states)),
        options["max_depth"],
        options["min_samples_leaf"],
        options["min_gain"],
        options["by_gain"],
        options["midpoints"],
        threads,
        progress,
        pool,
        on_grid.fine or problem.weights is not None,
        problem.weights is not None,
        None if edges is None else edges.numbers,
        None if edges is None else edges.first,
    )
    return Grown(*result)


def assert_same(got: Grown, expected: Grown, *, thresholds: bool = True) -> None:
    """Compare two trees bit for bit, gains to 1e-12."""
    assert got.feature.tolist() == expected.feature.tolist()
    assert got.left.tolist() == expected.left.tolist()
    assert np.array_equal(got.node, expected.node)
    if thresholds:
        assert got.threshold.tolist() == expected.threshold.tolist()
    np.testing.assert_allclose(got.gain, expected.gain, rtol=1e-12, atol=0)


def check(problem: Problem, threads: int = 1, split: Any = split_by_sums, edges: Edges | None = None) -> Grown:
    """Grow with the reference and with the kernel, which may sort all nodes, none, or the small ones, and compare."""
    on_grid = problem.grid
    if edges is None:
        codes = numbers = _kernel.encode(problem.states, BINS, threads)
    else:
        codes = _kernel.encode_edges(problem.states, edges.numbers, edges.first, threads)
        numbers = _kernel.bin_rows(problem.states, edges.numbers, edges.first)
    expected = reference_grow(
        problem.states,
        numbers,
        on_grid.targets,
        on_grid.n_plain,
        on_grid.n_derivative,
        weights=problem.weights,
        split=split,
        edges=None if edges is None else [part.tolist() for part in np.split(edges.numbers, edges.first[1:-1])],
        **({"max_leaves": len(problem.states)} | problem.options),
    )
    for pool in (1, 30, 0):
        for held in (codes, _kernel.Codes(codes, threads, compact=True)):
            got = kernel_grow(problem, held, threads, pool=pool, edges=edges)
            assert_same(got, expected)
    return got
