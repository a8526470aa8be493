"""The best cut of one node: by plain loops and fractions, and by sorted sums of many rows at once. Both are exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

TIE = Fraction(1e-9)
NOISE = Fraction(1e-12)


@dataclass
class Node:
    """What growth knows of a node: its exact impurity-sum and, if it can be split, how."""

    rows: np.ndarray  # row numbers
    depth: int
    impurity: Fraction
    gain: Fraction = Fraction(0)
    feature: int = -1
    left: np.ndarray | None = None  # True for the rows that go left

    @property
    def can_split(self) -> bool:
        """Whether a cut was found that satisfies every condition."""
        return self.left is not None


@dataclass
class Sums:
    """Exact sums of one side: counts, and the sums of each column; of rows times their weights."""

    count: int
    count_derivative: int
    plain: list[int]
    derivative: list[int]


def sums(targets: np.ndarray, n_plain: int, n_derivative: int, weights: np.ndarray | None = None) -> Sums:
    """Sum integer rows times their weights (None: 1); a missing derivative is a row of zeros."""
    weights = np.ones(len(targets), np.int64) if weights is None else weights
    total = [int(x) for x in (targets.astype(np.int64) * weights[:, None]).sum(axis=0)]
    k = n_plain + n_derivative
    return Sums(int(weights.sum()), total[k], total[:n_plain], total[n_plain:k])


def long(targets: np.ndarray) -> bool:
    """Whether products of targets, times a number of rows, may exceed 64 bits."""
    return bool(np.abs(targets).max(initial=0) > 2**24)


def impurity(targets: np.ndarray, n_plain: int, n_derivative: int, weights: np.ndarray | None = None) -> Fraction:
    """Sum of squares within the node; the derivative's, over the rows that have one, as if all rows had one."""
    weights = np.ones(len(targets), np.int64) if weights is None else weights
    node = sums(targets, n_plain, n_derivative, weights)
    k = n_plain + n_derivative
    whole = object if long(targets) or weights.max() > 1 else np.int64
    squares = (targets.astype(whole) ** 2 * weights.astype(whole)[:, None]).sum(axis=0)
    total = Fraction(0)
    for s, q in zip(node.plain, squares[:n_plain].tolist(), strict=True):
        total += q - Fraction(s * s, node.count)
    for s, q in zip(node.derivative, squares[n_plain:k].tolist(), strict=True):
        if node.count_derivative:
            within = q - Fraction(s * s, node.count_derivative)
            total += within * Fraction(node.count, node.count_derivative)
    return total


def gain(node: Sums, left: Sums) -> Fraction:
    """How much of the impurity-sum a cut removes: n times Q* in squared grid units."""
    n, m = node.count, left.count
    total = Fraction(sum((n * u - m * s) ** 2 for u, s in zip(left.plain, node.plain, strict=True)), n * m * (n - m))
    n_d, m_d = node.count_derivative, left.count_derivative
    if 0 < m_d < n_d:
        between = sum((n_d * u - m_d * s) ** 2 for u, s in zip(left.derivative, node.derivative, strict=True))
        total += Fraction(between, n_d * m_d * (n_d - m_d)) * Fraction(n, n_d)
    return total


@dataclass
class Problem:
    """The inputs that every node shares."""

    codes: np.ndarray
    targets: np.ndarray
    n_plain: int
    n_derivative: int
    max_depth: int
    min_samples_leaf: int
    min_gain: float
    weights: np.ndarray  # whole numbers from 1 on

    @property
    def least(self) -> int:
        """The smallest weight: what one grid unit squared amounts to."""
        return int(self.weights.min())


def accept(problem: Problem, node: Node, best: Fraction) -> bool:
    """Whether the best gain of a node is worth a split."""
    return (
        node.depth < problem.max_depth
        and best > NOISE * node.impurity
        and best > problem.least
        and best / int(problem.weights[node.rows].sum()) >= Fraction(problem.min_gain)
    )


def split_by_fractions(problem: Problem, rows: np.ndarray, depth: int) -> Node:
    """Try every cut of every feature, one after the other: the definition."""
    targets, weights = problem.targets[rows], problem.weights[rows]
    shape = (problem.n_plain, problem.n_derivative)
    node = Node(rows, depth, impurity(targets, *shape, weights))
    whole = sums(targets, *shape, weights)
    candidates = []
    for feature in range(problem.codes.shape[1]):
        codes = problem.codes[rows, feature]
        for first_right in sorted(set(codes.tolist()))[1:]:
            left = codes < first_right
            n_left = int(left.sum())
            if min(n_left, len(rows) - n_left) >= problem.min_samples_leaf:
                candidates.append((gain(whole, sums(targets[left], *shape, weights[left])), feature, left))
    best = max((g for g, _, _ in candidates), default=Fraction(0))
    if accept(problem, node, best):
        node.gain, node.feature, node.left = next(c for c in candidates if c[0] >= best * (1 - TIE))
    return node


def split_by_sums(problem: Problem, rows: np.ndarray, depth: int) -> Node:
    """Evaluate all cuts of a feature at once in long doubles, and decide the close ones by fractions."""
    n, k = len(rows), problem.n_plain + problem.n_derivative
    targets, weights = problem.targets[rows][:, : k + 1].astype(np.int64), problem.weights[rows]
    node = Node(rows, depth, impurity(targets, problem.n_plain, problem.n_derivative, weights))
    # Gains do not change when a whole number is taken off a column, and numbers near 0 are added up more exactly.
    has, weight = targets[:, k:], weights[:, None]
    middle = (targets * weight).sum(axis=0) // np.maximum(int(weights.sum()), 1)
    middle_d = (targets * weight).sum(axis=0) // max(int((has * weight).sum()), 1)
    targets[:, : problem.n_plain] -= middle[: problem.n_plain]
    targets[:, problem.n_plain : k] -= middle_d[problem.n_plain : k] * has
    whole = sums(targets, problem.n_plain, problem.n_derivative, weights)
    targets *= weight
    total = targets.sum(axis=0)
    tables = []  # per feature: cuts (rows on the left), weights and sums on the left, approximate gains
    for feature in range(problem.codes.shape[1]):
        codes = problem.codes[rows, feature]
        order = np.argsort(codes, kind="stable")
        cuts = np.flatnonzero(np.diff(codes[order].astype(np.int64))) + 1
        cuts = cuts[np.minimum(cuts, n - cuts) >= problem.min_samples_leaf]
        left = np.cumsum(targets[order], axis=0)[cuts - 1] if len(cuts) else np.zeros((0, k + 1), np.int64)
        lighter = np.cumsum(weights[order])[cuts - 1]  # the weight on the left
        gains = approximate_gains(int(weights.sum()), total, lighter, left, problem.n_plain)
        tables.append((cuts, lighter, left, gains))
    top = max((float(gains.max()) for *_, gains in tables if len(gains)), default=0.0)
    if top < 0.5:
        return node

    def exact(left: np.ndarray, cut: int) -> Fraction:
        s = [int(x) for x in left]
        return gain(whole, Sums(int(cut), s[k], s[: problem.n_plain], s[problem.n_plain : k]))

    best = Fraction(0)
    for _, lighter, left, gains in tables:
        for i in np.flatnonzero(gains >= top * (1 - 1e-12)):
            best = max(best, exact(left[i], lighter[i]))
    if not accept(problem, node, best):
        return node
    for feature, (cuts, lighter, left, gains) in enumerate(tables):
        for i in np.flatnonzero(gains >= top * (1 - 1.001e-9)):
            chosen = exact(left[i], lighter[i])
            if chosen >= best * (1 - TIE):
                order = np.argsort(problem.codes[rows, feature], kind="stable")
                node.gain, node.feature, node.left = chosen, feature, np.zeros(n, bool)
                node.left[order[: cuts[i]]] = True
                return node
    raise RuntimeError("the best cut was lost")


def approximate_gains(n: int, total: np.ndarray, cuts: np.ndarray, left: np.ndarray, n_plain: int) -> np.ndarray:
    """Gains of cuts with a weight of ``cuts`` of ``n`` on the left; ``left`` holds exact sums, derivatives last."""
    # Of short targets, n * sum stays below 2^63 up to about 3 million rows: the differences are exact, squares rounded.
    if long(left[:, :-1]) or n > 2**21:
        left, total = left.astype(np.longdouble), total.astype(np.longdouble)
    plain = (n * left[:, :n_plain] - cuts[:, None] * total[:n_plain]).astype(np.longdouble)
    gains = (plain**2).sum(axis=1) / (n * cuts.astype(np.longdouble) * (n - cuts))
    n_d, left_d = int(total[-1]), left[:, -1]
    between = (n_d * left[:, n_plain:-1] - left_d[:, None] * total[n_plain:-1]).astype(np.longdouble)
    inside = (left_d > 0) & (left_d < n_d)
    weight = np.where(inside, left_d, 1).astype(np.longdouble) * np.where(inside, n_d - left_d, 1) * max(n_d, 1) ** 2
    return gains + np.where(inside, (between**2).sum(axis=1) * n / weight, 0)
