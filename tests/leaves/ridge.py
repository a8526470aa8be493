"""A slow, readable version of linear leaves: every node is regressed on its own rows, fold by fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.leaves.test_attributes import chain, rows_below
from tripletree.leaves.attributes import Attributes, describe
from tripletree.leaves.linear import PENALTIES, LinearLeaves, fit_linear, folds_of, target_matrix
from tripletree.log.derive import values
from tripletree.log.log import Log
from tripletree.tree.structure import Tree
from tripletree.tree.targets import make_targets

F64 = npt.NDArray[np.float64]
Ridge = Callable[[F64, F64, float], tuple[F64, F64]]
"""From features, targets and a penalty alpha to slopes of shape (targets, features) and constants."""

TIE = 1e-9
"""Errors this close may come out in either order, because sums are rounded."""
WORTH = 1e-12
"""A feature that tells less than this share of a target's variance over the log is not chosen: it is the size of
rounding there, however little the target varies in the node."""


@dataclass(frozen=True)
class Case:
    """A log with a tree on it, and everything that linear models are made of."""

    log: Log
    tree: Tree
    node: npt.NDArray[np.int32]
    value: F64
    attributes: Attributes
    models: LinearLeaves
    squares: F64

    @cached_property
    def targets(self) -> F64:
        """Action, value and derivatives of each sample."""
        return target_matrix(self.log, self.value, self.attributes)

    @cached_property
    def fold(self) -> npt.NDArray[np.uint8]:
        """The fold of each sample."""
        return folds_of(self.log)

    @property
    def state_mean(self) -> F64:
        """The mean state of each node."""
        return np.asarray(self.attributes.state_mean)

    @property
    def joint(self) -> int:
        """Scores that share their strength."""
        return len(self.log.schema.action.labels)

    @property
    def plain(self) -> int:
        """Targets that every sample has."""
        return (self.joint or len(self.log.schema.action.names)) + 1

    def rows(self, node: int) -> npt.NDArray[np.bool_]:
        """Which samples a node has."""
        return rows_below(self.tree, self.node, node)


def case(
    log: Log,
    tree: tuple[Tree, Any] | None = None,
    value: F64 | None = None,
    *,
    seed: int = 0,
    steps: int = 6,
    most: int | None = None,
    threads: int = 1,
) -> Case:
    """Fit linear models to the nodes of a random tree, or of the one given with the node of each sample."""
    grown, node = chain(log, np.random.default_rng(seed), steps) if tree is None else tree
    value = values(log, 0.9) if value is None else value
    scales = make_targets(log, value, (1, 1, 1), "sigma").scales
    node = node.astype(np.int32)
    attributes = describe(grown, node, log, value, scales, "sigma")
    reach = np.ptp(log.states, axis=0)
    span = np.where(reach > 0, reach, 1.0)
    models, squares = fit_linear(grown, node, log, value, attributes, scales, span, most, threads)
    return Case(log, grown, node, value, attributes, models, squares)


def plain_ridge(x: F64, y: F64, alpha: float) -> tuple[F64, F64]:
    """Solve the normal equations; the constant is not penalised."""
    middle, level = x.mean(axis=0), y.mean(axis=0)
    away = x - middle
    slope = np.linalg.solve(away.T @ away + alpha * np.eye(x.shape[1]), away.T @ (y - level)).T
    return slope, level - slope @ middle


@dataclass(frozen=True)
class Choice:
    """What one strength of the ridge, or the mean, gives for one target of a node."""

    penalty: float | None
    slope: F64
    centre: float
    spread: float
    squares: float


def choices(case: Case, node: int, target: int, most: int | None = None, ridge: Ridge = plain_ridge) -> list[Choice]:
    """Return the choice that the definition makes for one target; more than one where errors are as good as equal."""
    group = list(range(case.joint)) if target < case.joint else [target]
    rows = case.rows(node)
    if target >= case.plain:
        rows = rows & ~np.isnan(case.targets[:, target])
    states, y, fold = case.log.states[rows], case.targets[rows][:, group], case.fold[rows]
    place, k = case.state_mean[node], group.index(target)
    if node == 0 or not len(y):
        means = y.mean(axis=0) if len(y) else np.zeros(len(group))
        return [_mean(states.shape[1], y[:, k], float(means[k]))]
    deviation = states.std(axis=0)
    used = np.flatnonzero(deviation > 1e-12 * np.ptp(case.log.states, axis=0))
    z = (states[:, used] - states.mean(axis=0)[used]) / deviation[used]
    few = most is not None and most < case.log.n_features
    # Scores of labels are weighed as they are, so that a rare label does not count for more.
    unit = 1.0 if target < case.joint else float(np.nanvar(case.targets[:, target]))
    selections = sorted(forward(z, y, most, WORTH * unit * len(y))) if few else [tuple(range(len(used)))]
    found = []
    for some in selections:
        found += _strengths(
            case, y, z[:, some], used[list(some)], deviation, fold, k, place - states.mean(axis=0), ridge
        )
    return found


def _strengths(
    case: Case,
    y: F64,
    z: F64,
    used: npt.NDArray[np.int64],
    deviation: F64,
    fold: npt.NDArray[np.uint8],
    k: int,
    away: F64,
    ridge: Ridge,
) -> list[Choice]:
    """Return the best choices among the mean and all strengths of the ridge, on these features."""
    errors = np.zeros((1 + len(PENALTIES), y.shape[1]))
    judged = 0
    for one in np.unique(fold):
        out = fold == one
        if out.all():
            continue
        judged += out.sum()
        errors[0] += ((y[out] - y[~out].mean(axis=0)) ** 2).sum(axis=0)
        for p, penalty in enumerate(PENALTIES, start=1):
            slope, constant = _fitted(ridge, z[~out], y[~out], penalty)
            errors[p] += ((y[out] - z[out] @ slope.T - constant) ** 2).sum(axis=0)
    if not judged:
        return [_mean(case.log.n_features, y[:, k], float(y[:, k].mean()))]
    together = errors.sum(axis=1)
    # Where nothing is left to tell, rounding decides, and it decides nothing: all models say the same.
    close = together <= together.min() * (1 + TIE) + TIE * y.var(axis=0).sum()
    found = []
    for p in np.flatnonzero(close):
        spread = float(np.sqrt(errors[p, k] / judged))
        if p == 0:
            found.append(_mean(case.log.n_features, y[:, k], float(y[:, k].mean()), spread))
            continue
        slope, constant = _fitted(ridge, z, y, PENALTIES[p - 1])
        whole = np.zeros(case.log.n_features)
        whole[used] = slope[k] / deviation[used]
        centre = float(constant[k] + whole @ away)
        off = y[:, k] - z @ slope[k] - constant[k]
        found.append(Choice(PENALTIES[p - 1], whole, centre, spread, float(off @ off)))
    return found


def _fitted(ridge: Ridge, z: F64, y: F64, penalty: float) -> tuple[F64, F64]:
    if not z.shape[1]:
        return np.zeros((y.shape[1], 0)), y.mean(axis=0)
    return ridge(z, y, penalty * len(z))


def _mean(features: int, y: F64, mean: float, spread: float | None = None) -> Choice:
    deviation = float(y.std()) if len(y) else 0.0
    return Choice(None, np.zeros(features), mean, deviation if spread is None else spread, float(len(y) * deviation**2))


def forward(z: F64, y: F64, most: int, worth: float, some: tuple[int, ...] = ()) -> set[tuple[int, ...]]:
    """Choose features one by one: each time the one with which least squares leave the least, if it takes off `worth`.

    More than one choice where what they leave is as good as equal, as when three samples have three features.
    """
    away = y - y.mean(axis=0)

    def left(columns: tuple[int, ...]) -> float:
        x = z[:, columns]
        return float(((away - x @ np.linalg.lstsq(x, away, rcond=None)[0]) ** 2).sum()) if columns else (away**2).sum()

    rest = {}
    for f in range(z.shape[1]):
        # Not one that is known from those before it.
        if f not in some and np.linalg.matrix_rank(z[:, [*some, f]], tol=1e-4 * len(z) ** 0.5) > len(some):
            rest[f] = left((*some, f))
    if len(some) >= most or not rest:
        return {some}
    least, close = min(rest.values()), TIE * left(()) + 1e-3 * worth
    gain = left(some) - least
    found = {some} if gain <= worth + close else set()
    if gain > max(worth - close, 0.0):
        best = [f for f, remaining in rest.items() if remaining <= least + close]
        found = found.union(*(forward(z, y, most, worth, (*some, f)) for f in best))
    return found


def assert_as_defined(case: Case, most: int | None = None, ridge: Ridge = plain_ridge) -> set[float | None]:
    """Compare every target of every node with its definition; return the strengths that were chosen."""
    models, targets = case.models, case.targets
    sigma = np.nanstd(targets, axis=0)
    chosen: set[float | None] = set()
    for node in range(case.tree.n_nodes):
        rows = case.rows(node)
        reach = np.maximum(case.log.states[rows].std(axis=0), 1e-300)
        for target in range(targets.shape[1]):
            found = choices(case, node, target, most, ridge)
            off = []
            for one in found:
                # How much a rounded slope moves what is said within the node, in units of the target over the log.
                with np.errstate(over="ignore"):
                    slope = np.abs(models.slope[node, target] - one.slope) * reach
                    size = np.abs(one.slope) * reach
                unit = sigma[target] if sigma[target] > 0 else 1.0
                off.append(
                    max(
                        float((slope - 1e-6 * size).max()) / unit,
                        abs(models.centre[node, target] - one.centre) / unit - 1e-9,
                        abs(models.spread[node, target] - one.spread) / unit - 1e-6,
                        abs(case.squares[node, target] - one.squares / unit**2) / max(rows.sum(), 1) - 1e-7,
                    )
                )
            if case.attributes.count_derivative[node] or target < case.plain:
                assert min(off) <= 1e-7, (node, target, [one.penalty for one in found], off)
                chosen.add(found[int(np.argmin(off))].penalty)
            else:
                assert not models.slope[node, target].any()
    return chosen


def told(models, states, node, state_mean):
    """What each state's node predicts, shape (states, targets): the formula of `LinearLeaves`, written out."""
    away = states - state_mean[node]
    said = models.centre[node]
    for f in range(states.shape[1]):
        said = said + models.slope[node, :, f].astype(np.float64) * away[:, f, None]
    return np.minimum(np.maximum(said, models.low[node]), models.high[node])
