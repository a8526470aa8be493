"""Contributions of features to predictions, against SHAP's TreeExplainer on the very same tree, in one run."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from benchmarks import worlds
from benchmarks.harness import Options, Report, interleave, ratio, say

TITLE = "Attribution: 8 features, 200 leaves"
BASE = "SHAP, path"
FEW = 1_000
"""States that are compared with a background, which takes SHAP long."""


def run(options: Options, report: Report) -> None:
    """Measure the contributions to the value with mean and linear leaves, and against a background."""
    import shap

    from tripletree import TripleTree

    n = 2_000 if options.quick else 10**5
    log = worlds.lander(n).log()
    # scikit-learn and SHAP hold float32 numbers; values that are exact in both make the same answer possible.
    states = np.ascontiguousarray(log.states.astype(np.float32).astype(np.float64))
    few = states[:: max(len(states) // FEW, 1)][:FEW]
    say("  growing the trees")
    mean, linear = (TripleTree(200, leaf_model=model).fit(log) for model in ("mean", "linear"))
    peer = mean.to_sklearn(about="value")
    against = np.ascontiguousarray(log.states[:: max(n // 100, 1)][:100].astype(np.float32).astype(np.float64))
    others = log.select([0])
    by_path, by_others = shap.TreeExplainer(peer), shap.TreeExplainer(peer, against, feature_perturbation="interventional")

    def ours(tree: Any, asked: np.ndarray, threads: int, **given: Any) -> np.ndarray:
        tree.threads = threads
        return np.asarray(tree.attribute(asked, "value", **given).contributions)

    path: dict[str, Any] = {
        BASE: lambda: by_path.shap_values(states, check_additivity=False),
        "path, mean leaves, 1 thread": lambda: ours(mean, states, 1),
        "path, mean leaves, 2 threads": lambda: ours(mean, states, 2),
        "path, linear leaves, 1 thread": lambda: ours(linear, states, 1),
        "path, linear leaves, 2 threads": lambda: ours(linear, states, 2),
    }
