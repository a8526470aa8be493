"""Losses on unseen episodes: linear leaves beside constant ones, scikit-learn's tree and a boosted ensemble."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.faithful_cases import Case, names
from benchmarks.harness import Options, say
from tripletree import Log, TripleTree
from tripletree.leaves.linear import target_matrix
from tripletree.model.evaluate import known_codes, log_values
from tripletree.model.fitted import Fitted

Add = Callable[..., None]

SIZES = (50, 200, 450, 1000)
UNSEEN = 0.3
"""Share of the episodes that judge."""
SPLITS = 3
MODELS: dict[str, dict[str, Any]] = {
    "constant": {"leaf_model": "mean"},
    "linear": {},
    "linear, k = 2": {"leaf_features": 2},
}
PRIORITIES = ("impurity", "gain")
SMALLEST = (1, 5, 10, 20)
DEFAULT = ("impurity", 1)


def splits(options: Options) -> range:
    """Return the seeds of the divisions."""
    return range(options.seed, options.seed + options.repetitions(SPLITS))


def measure_losses(options: Options, add: Add) -> None:
    """Add a row for each log and size: action / value / derivative loss of every model."""
    for name, make in names(options).items():
        if not options.wants(f"losses {name}"):
            continue
        case = make()
        say(f"  losses {name}: {case.log}")
        found = [_losses(case, seed) for seed in splits(options)]
        for i, size in enumerate(SIZES):
            mean = {model: np.mean([one[model][i] for one in found], axis=0) for model in found[0]}
            shown = {model: _three(losses) for model, losses in mean.items()}
            numbers = {model: losses.tolist() for model, losses in mean.items()}
            add("losses", f"losses {name}", log=name, leaves=size, **shown, _losses=numbers)


def _three(losses: np.ndarray) -> str:
    return " / ".join(f"{loss:.3g}" if loss < 1000 else f"{loss:.0f}" for loss in losses.tolist())


def _losses(case: Case, seed: int) -> dict[str, np.ndarray]:
    """Return the losses of each model with each size, shape (sizes, 3), of one division."""
    training, unseen = case.log.split(UNSEEN, seed)
    found = {}
    for name, options in MODELS.items():
        tree = TripleTree(SIZES[-1], **options).fit(training)
        curve = tree.losses(unseen, "all")
        found[name] = np.array([curve[min(size, len(curve)) - 1] for size in SIZES])
    others = Others(tree.fitted_, training, unseen)
    found["scikit-learn"] = np.array([others.tree(size) for size in SIZES])
    found["boosted"] = np.tile(others.boosted(), (len(SIZES), 1))
    return found


class Others:
    """The same targets for other libraries."""

    def __init__(self, fitted: Fitted, training: Log, unseen: Log) -> None:
        self.x, self.unseen = training.states, unseen.states
        self.y, self.truth = (_targets(fitted, log) for log in (training, unseen))
        self.parts = fitted.targets
        self.discrete = bool(fitted.schema.action.labels)
        self.sigma = np.nanstd(self.y, axis=0)

    def losses(self, told: np.ndarray) -> np.ndarray:
        """Return the three losses of predictions, as the library defines them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            rmse = np.sqrt(np.nanmean((told - self.truth) ** 2, axis=0))
            relative = np.where(self.sigma > 0, rmse / self.sigma, 0.0)
        part = self.parts
        action = relative[part["action"]].sum()
        if self.discrete:
            said, did = (one[:, part["action"]].argmax(axis=1) for one in (told, self.truth))
            action = (said != did).mean()
        return np.array([action, rmse[part["value"]][0], relative[part["derivative"]].sum()])

    def tree(self, leaves: int) -> np.ndarray:
        """Return the losses of scikit-learn's tree on columns whose summed variances are the hybrid impurity."""
        from sklearn.tree import DecisionTreeRegressor

        mean, scale = np.nanmean(self.y, axis=0), np.zeros(len(self.sigma))
        for name, part in self.parts.items():
            sigma = self.sigma[part]
            if name == "action" and self.discrete:
                scale[part] = 1 / np.sqrt((sigma**2).sum()) if sigma.any() else 0.0
            else:
                scale[part] = np.where(sigma > 0, 1 / np.where(sigma > 0, sigma, 1), 0) / np.sqrt(
                    max((sigma > 0).sum(), 1)
                )
        # A step without a successor knows nothing about the derivative: as good as average.
        columns = np.nan_to_num((self.y - mean) * scale)
        used = scale > 0
        grown = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=1, random_state=0)
        said = grown.fit(self.x, columns[:, used]).predict(self.unseen).reshape(len(self.unseen), -1)
        told = np.tile(mean, (len(self.unseen), 1))
        told[:, used] += said / scale[used]
        return self.losses(told)

    def boosted(self) -> np.ndarray:
        """Return the losses of a boosted ensemble for each target."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        told = np.tile(np.nanmean(self.y, axis=0), (len(self.unseen), 1))
        action = self.parts["action"]
        numbers = set(np.flatnonzero(self.sigma > 0).tolist())
        if self.discrete and self.sigma[action].any():
            numbers -= set(range(action.start, action.stop))
            grown = HistGradientBoostingClassifier(random_state=0).fit(self.x, self.y[:, action].argmax(axis=1))
            told[:, action] = grown.predict(self.unseen)[:, None] == np.arange(action.stop)
        for k in sorted(numbers):
            known = ~np.isnan(self.y[:, k])
            grown = HistGradientBoostingRegressor(random_state=0).fit(self.x[known], self.y[known, k])
            told[:, k] = grown.predict(self.unseen)
        return self.losses(told)


def _targets(fitted: Fitted, log: Log) -> np.ndarray:
    codes = known_codes(fitted, log) if fitted.schema.action.kind == "discrete" else None
    return target_matrix(log, log_values(fitted, log), fitted.attributes, codes)


def measure_defaults(options: Options, add: Add) -> None:
    """Add how the losses change with other orders of growth and smallest leaves, as ratios to the defaults."""
    combinations = list(itertools.product(PRIORITIES, SMALLEST))
    sizes, everything = (200, 450), dict[str, np.ndarray]()
    for name, make in names(options).items():
        if not options.wants(f"defaults {name}"):
            continue
        case = make()
        say(f"  defaults {name}")
        table = np.zeros((len(combinations), len(sizes), 3))
        for seed in splits(options):
            training, unseen = case.log.split(UNSEEN, seed)
            for row, (priority, smallest) in enumerate(combinations):
                tree = TripleTree(max(sizes), priority=priority, min_samples_leaf=smallest).fit(training)
                curve = tree.losses(unseen, "all")
                table[row] += [curve[min(size, len(curve)) - 1] for size in sizes]
        with np.errstate(divide="ignore", invalid="ignore"):
            everything[name] = np.log(table / table[combinations.index(DEFAULT)])
        for at, size in enumerate(sizes):
            shown = {_called(one): _ratios(everything[name][row, at]) for row, one in enumerate(combinations)}
            add("defaults", f"defaults {name}", log=name, leaves=size, **shown)
    if everything:
        logs = np.array(list(everything.values()))
        logs[~np.isfinite(logs)] = np.nan  # a loss of 0 has no ratio
        for at, size in enumerate(sizes):
            mean = np.nanmean(logs[:, :, at], axis=0)
            shown = {_called(one): _ratios(mean[row]) for row, one in enumerate(combinations)}
            whole = {_called(one): f"{np.exp(np.nanmean(mean[row])):.3f}" for row, one in enumerate(combinations)}
            add("defaults", "defaults mean", log="geometric mean", leaves=size, **shown)
            add("defaults", "defaults mean", log="geometric mean, all three", leaves=size, **whole)


def _called(combination: tuple[str, int]) -> str:
    return f"{combination[0]}, {combination[1]}"


def _ratios(logs: np.ndarray) -> str:
    return " / ".join(f"{np.exp(one):.3f}" if np.isfinite(one) else "-" for one in logs.tolist())
