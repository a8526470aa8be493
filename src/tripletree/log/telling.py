"""What the state tells about the action, as well as other episodes of the log can say it, without growing a tree."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

LEAST_EPISODES = 8
"""With fewer, chance alone may put all of them on one side."""
LEAST_ROWS = 200
FOLDS = 5
CENTRES, FINE = 150, 400
"""Places that functions of the state are around: while the right ones are looked for, and then."""
WIDTHS = (0.2, 0.5, 1.0)
ROUNDS = 3
RIDGE = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SMOOTH = 20
"""Functions of the state that change least."""
NEAREST = 10
MOST_LABELS = 6


@dataclass(frozen=True)
class Case:
    """The part of a log that is looked at: whole episodes, and the rows of them that are judged."""

    log: Log
    taken: I64
    starts: I64
    episode: I64
    rows: I64
    fold: I64
    chosen: I64
    states: F64
    features: I64

    def before(self, lag: int) -> I64:
        """Return the row ``lag`` steps before each judged one, or the first of its episode."""
        return np.maximum(self.rows - lag, self.starts[self.episode[self.rows]])

    def each(self, function: Callable[[slice], F64]) -> F64:
        """Return what a function makes of every episode, one after the other."""
        return np.concatenate([function(slice(a, b)) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)])


@dataclass(frozen=True)
class Targets:
    """Actions as columns, which label or dimension each is, and how much a unit of it is in the log's own."""

    columns: F64
    which: I64
    scale: F64


def case_of(log: Log, most_rows: int, most_episodes: int) -> Case | None:
    """Return episodes from all over a log; None where they are too few or too short."""
    if not log.schema.has_action or log.n_episodes < LEAST_EPISODES:
        return None
    lengths = np.diff(log.starts)
    # Fewer episodes rather than fewer steps of each, as long as there are enough of them.
    number = min(log.n_episodes, most_episodes, max(most_rows // int(lengths.mean()), 40))
    chosen = np.unique(np.linspace(0, log.n_episodes - 1, number).astype(np.int64))
    taken = np.concatenate([np.arange(log.starts[e], log.starts[e + 1]) for e in chosen])
    rows = np.arange(0, len(taken), -(-len(taken) // most_rows))
    raw = log.states[taken]
    features = np.flatnonzero(np.ptp(raw, axis=0) > 0)
    if len(rows) < LEAST_ROWS or not len(features):
        return None
    raw = raw[:, features]
    if not np.isfinite(raw.std(axis=0)).all():
        return None
    episode = np.repeat(np.arange(len(chosen)), lengths[chosen])
    # By lot: pilots and modes that take turns must not end up in folds of their own.
    lot = np.random.default_rng(len(chosen)).permutation(len(chosen))
    return Case(
        log,
        taken,
        np.append(0, np.cumsum(lengths[chosen])),
        episode,
        rows,
        lot[episode[rows]] % FOLDS,
        chosen,
        (raw - raw.mean(axis=0)) / raw.std(axis=0),
        features,
    )


def targets_of(case: Case) -> Targets | None:
    """Return the actions as columns of about the same weight; None where they do not vary."""
    actions = case.log.actions[case.taken]
    if case.log.schema.action.kind == "discrete":
        numbers = np.bincount(actions)
        labels = np.argsort(-numbers, kind="stable")[:MOST_LABELS]
        # Of two labels one says it all.
        which = labels[numbers[labels] > 0]
        which = which[: 1 if len(which) == 2 else None]
        columns, scale = (actions[:, None] == which).astype(np.float64), np.ones(len(which))
    else:
        which = np.arange(actions.shape[1])
        columns, scale = actions, actions[case.rows].std(axis=0)
    varies = columns[case.rows].std(axis=0) > 0
    columns = columns[:, varies] / scale[varies]
    return Targets(columns - columns[case.rows].mean(axis=0), which[varies], scale[varies]) if varies.any() else None


def ranks(numbers: F64) -> F64:
    """Return the rank of each of some numbers, from 1 on; equal ones share the mean of theirs."""
    _, inverse, times = np.unique(numbers, return_inverse=True, return_counts=True)
    found: F64 = (np.cumsum(times) - (times - 1) / 2)[inverse]
    return found


class Model:
    """What the state tells: a ridge regression on smooth functions of it, corrected by what was done nearby.

    Distances are measured in directions that matter to the agent: those in which what it does changes, as recursive
    feature machines have it (Radhakrishnan et al., Science 2024).
    """

    def __init__(self, case: Case, targets: F64, rng: np.random.Generator) -> None:
        from scipy.special import ndtri  # SciPy takes long to import, and few who import this need it

        self.case = case
        # Agents that hold a state stay in a tiny part of the space: ranks see it as large as the rest.
        self._values = [np.sort(column[case.rows]) for column in case.states.T]
        self._scores = [
            ndtri((ranks(values) - 0.5) / len(values)) if len(np.unique(values)) > 2 else values
            for values in self._values
        ]
        size = 2 * len(self._values)
        chosen = rng.permutation(len(case.rows))[:CENTRES]
        ranked = np.eye(size) / np.sqrt(size)
        turns = [ranked, ranked * np.sqrt(2) * (np.arange(size) < size // 2)]
        best = np.inf
        for _ in range(ROUNDS):
            for turn, width in itertools.product(turns, WIDTHS):
                places = self._plain(case.rows) @ turn
                root = _root(places[chosen], width)
                basis = _functions(places, places[chosen], width, root)
                predicted, weights = ridge(basis, targets, case.fold, RIDGE)
                error = float(((targets - predicted) ** 2).sum())
                if error < best:
                    best = error
                    self._turn, self._centres, self.width, self._root = turn, places[chosen], width, root
                    self.here, self._places, kept = basis, places, weights
            turns = [self._turn @ self._steep(kept)]
        self._centres = self._places[rng.permutation(len(case.rows))[: min(FINE, len(case.rows) // 3)]]
        self._root = _root(self._centres, self.width)
        self.here = _functions(self._places, self._centres, self.width, self._root)
        self.smooth = np.concatenate([np.ones((len(case.rows), 1)), self.here[:, -SMOOTH:]], axis=1)

    def _plain(self, rows: I64) -> F64:
        states = self.case.states[rows]
        known = enumerate(zip(self._values, self._scores, strict=True))
        ranked = [np.interp(states[:, f], values, scores) for f, (values, scores) in known]
        return np.concatenate([states, np.stack(ranked, axis=1)], axis=1)

    def _steep(self, weights: F64) -> F64:
        """Return the matrix that stretches directions in which predictions change: the root of gradients squared."""
        size = self._places.shape[1]
        kernel = _kernel(self._places, self._centres, self.width)
        total = np.zeros((size, size))
        for linear, own in zip(weights[1 : 1 + size].T, (self._root @ weights[1 + size :]).T, strict=True):
            pull = kernel * own
            slope = linear + (pull @ self._centres - pull.sum(axis=1, keepdims=True) * self._places) / self.width**2
            total += slope.T @ slope
        values, vectors = np.linalg.eigh(total / max(np.trace(total), 1e-12) * size)
        steep: F64 = (vectors * np.sqrt(np.maximum(values, 0) + 1e-3)) @ vectors.T
        return steep

    def predict(self, targets: F64) -> F64:
        """Return what other episodes say of each judged row."""
        from scipy.spatial import KDTree

        case = self.case
        predicted, _ = ridge(self.here, targets, case.fold, RIDGE)
        left = targets - predicted
        places = np.concatenate([self._places, 1.5 * predicted / np.sqrt(predicted.shape[1])], axis=1)
        fewest = min(np.count_nonzero(case.fold != fold) for fold in range(FOLDS))
        number = min(NEAREST + 3 * case.states.shape[1], fewest)
        nearest = np.empty((len(places), number), np.int64)
        for fold in range(FOLDS):
            test, train = case.fold == fold, np.flatnonzero(case.fold != fold)
            nearest[test] = train[KDTree(places[train]).query(places[test], number)[1]]
        best, correction = float((left**2).sum()), np.zeros_like(left)
        near = left[nearest]
        for mean in (near[:, 0], near[:, :3].mean(axis=1), near[:, :NEAREST].mean(axis=1), self._sloped(nearest, near)):
            shrunk = mean * np.clip((left * mean).sum() / max((mean**2).sum(), 1e-12), 0, 1)
            error = float(((left - shrunk) ** 2).sum())
            if error < best:
                best, correction = error, shrunk
        return predicted + correction

    def _sloped(self, nearest: I64, near: F64) -> F64:
        """Return what planes through the neighbours say: a steep agent changes even among them."""
        states = self.case.states[self.case.rows]
        apart = states[nearest] - states[:, None, :]
        scale = np.sqrt((apart**2).mean(axis=1, keepdims=True)) + 1e-9
        design = np.concatenate([np.ones((*nearest.shape, 1)), apart / scale], axis=2)
        squares = np.swapaxes(design, 1, 2) @ design + 0.3 * np.eye(design.shape[2])
        plane: F64 = np.linalg.solve(squares, np.swapaxes(design, 1, 2) @ near)[:, 0]
        return plane


def _kernel(places: F64, centres: F64, width: float) -> F64:
    squares = (places**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * places @ centres.T
    kernel: F64 = np.exp(-np.maximum(squares, 0) / (2 * width**2))
    return kernel


def _root(centres: F64, width: float) -> F64:
    values, vectors = np.linalg.eigh(_kernel(centres, centres, width))
    kept = values > 1e-6 * values[-1]
    root: F64 = vectors[:, kept] / np.sqrt(values[kept])
    return root


def _functions(places: F64, centres: F64, width: float, root: F64) -> F64:
    return np.concatenate([np.ones((len(places), 1)), places, _kernel(places, centres, width) @ root], axis=1)


def ridge(basis: F64, targets: F64, fold: I64, strengths: tuple[float, ...]) -> tuple[F64, F64]:
    """Return ridge predictions by the other folds with the best strength, and the weights of all."""
    parts = [(basis[fold == k], targets[fold == k]) for k in range(FOLDS)]
    squares, products = [x.T @ x for x, _ in parts], [x.T @ y for x, y in parts]
    all_squares, all_products = sum(squares), sum(products)
    tried = np.empty((len(strengths), *targets.shape))
    for k, (x, _) in enumerate(parts):
        values, vectors = np.linalg.eigh(all_squares - squares[k])
        within, turned = vectors.T @ (all_products - products[k]), x @ vectors
        for i, strength in enumerate(strengths):
            tried[i][fold == k] = turned @ (within / (np.maximum(values, 0)[:, None] + strength))
    errors = ((targets - tried) ** 2).sum(axis=1)
    best = int(errors.sum(axis=1).argmin())
    weights = np.linalg.solve(all_squares + strengths[best] * np.eye(basis.shape[1]), all_products)
    return tried[best], weights
