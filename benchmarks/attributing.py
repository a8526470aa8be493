"""Contributions of features to predictions, against SHAP's TreeExplainer on the very same tree, in one run."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from benchmarks import worlds
from benchmarks.harness import Options, Report, interleave, ratio, say

TITLE = "Attribution: 8 features, 200 leaves"
BASE = "SHAP TreeExplainer"
FEW = 1_000
"""States that are compared with a background, which takes SHAP long."""
OTHERS = 100
"""States of the background."""


def run(options: Options, report: Report) -> None:
    """Measure the contributions to the value, with mean and with linear leaves, by the path and by a background."""
    import shap

    from tripletree import Log, TripleTree

    n = 5_000 if options.quick else 10**5
    recorded = worlds.lander(n)
    # scikit-learn and SHAP hold float32 numbers; values that are exact in both make the same answer possible.
    states = np.ascontiguousarray(recorded.states.astype(np.float32).astype(np.float64))
    log = Log.from_arrays(
        states, recorded.actions, recorded.rewards, starts=recorded.starts[:-1], final_states=recorded.final_states
    )
    say("  growing the trees")
    mean, linear = (TripleTree(200, leaf_model=model).fit(log) for model in ("mean", "linear"))
    peer = mean.to_sklearn(about="value")
    rng = np.random.default_rng(0)
    few, some = (np.ascontiguousarray(states[np.sort(rng.choice(n, k, replace=False))]) for k in (FEW, OTHERS))
    others = Log.from_arrays(some, recorded.actions[:OTHERS], np.zeros(OTHERS), starts=[0])
    by_path = shap.TreeExplainer(peer)
    by_others = shap.TreeExplainer(peer, some, feature_perturbation="interventional")

    def ours(tree: Any, asked: np.ndarray, threads: int, background: Any = None) -> Any:
        tree.threads = threads
        return tree.attribute(asked, "value", background=background)

    cases: dict[str, tuple[int, dict[str, Any]]] = {
        "path": (
            n,
            {
                BASE: lambda: by_path.shap_values(states, check_additivity=False),
                "mean leaves, 1 thread": lambda: ours(mean, states, 1),
                "mean leaves, 2 threads": lambda: ours(mean, states, 2),
                "linear leaves, 1 thread": lambda: ours(linear, states, 1),
                "linear leaves, 2 threads": lambda: ours(linear, states, 2),
            },
        ),
        "background": (
            FEW,
            {
                BASE: lambda: by_others.shap_values(few, check_additivity=False),
                "mean leaves, 1 thread": lambda: ours(mean, few, 1, others),
                "linear leaves, 1 thread": lambda: ours(linear, few, 1, others),
            },
        ),
    }
    for case, (rows, methods) in cases.items():
        if not options.wants(case):
            continue
        say(f"  {case}")
        chosen = {name: methods[name] for name in options.chosen(list(methods))}
        timings, made = interleave(chosen, options.repetitions(3))
        peers = made.pop(BASE, None)
        usual = {name: answer.prediction - answer.base for name, answer in made.items()}
        found = {name: answer.contributions for name, answer in made.items()}
        if peers is not None:
            found[BASE], usual[BASE] = peers, usual[next(name for name in made if name.startswith("mean"))]
        for name, timing in timings.items():
            largest = np.abs(found[name]).max()
            same = peers is not None and name.startswith("mean")
            report.rows.append(
                {
                    "method": case,
                    "by": name,
                    "states": rows,
                    "seconds": statistics.median(timing.seconds),
                    "faster": ratio(timings[BASE].seconds, timing.seconds) if peers is not None else None,
                    "sum off by": np.abs(found[name].sum(axis=1) - usual[name]).max() / largest,
                    "differs from SHAP by": np.abs(found[name] - peers).max() / largest if same else None,
                    "_seconds": timing.seconds,
                }
            )
    report.notes.append(
        f"'faster' compares with SHAP on the tree that `to_sklearn` makes, one thread. The background has {OTHERS} "
        "states. 'sum off by' is how far contributions are from adding up to prediction minus average, relative to the "
        "largest contribution: against a background SHAP's are not always right (shap/shap#3267). SHAP cannot "
        "hold linear leaves."
    )
