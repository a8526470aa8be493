"""Finding the leaf of each row, and predicting, against scikit-learn on the very same tree."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from benchmarks import worlds
from benchmarks.harness import Options, Report, interleave, ratio, say

TITLE = "Apply and predict: 1,000 leaves"
BASE = "scikit-learn apply"


def run(options: Options, report: Report) -> None:
    """Measure apply on float64 rows and on what scikit-learn holds internally, and predict."""
    from sklearn.tree import DecisionTreeRegressor

    from tripletree import _kernel

    n = 10**5 if options.quick else 10**6
    recording = worlds.lander(n)
    # scikit-learn compares float32 numbers; values that are exact in both make the same tree possible.
    states = np.ascontiguousarray(recording.states.astype(np.float32).astype(np.float64))
    single = states.astype(np.float32)
    targets = recording.targets()
    some = np.random.default_rng(0).choice(n, 20_000, replace=False)
    say("  growing one tree for both")
    peer = DecisionTreeRegressor(max_leaf_nodes=1000, random_state=0).fit(states[some], targets[some])
    feature, threshold, left, number = same_tree(peer)
    mean = np.ascontiguousarray(peer.tree_.value[:, :, 0])

    def ours(threads: int) -> np.ndarray:
        return _kernel.apply(states, feature, threshold, left, number, threads)

    methods: dict[str, Any] = {
        BASE: lambda: peer.apply(states),
        "scikit-learn apply, float32 given, unchecked": lambda: peer.tree_.apply(single),
        "apply, 1 thread": lambda: ours(1),
        "apply, 2 threads": lambda: ours(2),
        "scikit-learn predict": lambda: peer.predict(states),
        "predict (leaf means), 1 thread": lambda: mean[ours(1)],
    }
    methods = {name: methods[name] for name in options.chosen(list(methods))}
    timings, made = interleave(methods, options.repetitions(9))
    if BASE in made and "apply, 1 thread" in made and not np.array_equal(made[BASE], made["apply, 1 thread"]):
        raise RuntimeError("the two trees put a row into different leaves")
    for name, timing in timings.items():
        report.rows.append(
            {
                "method": name,
                "rows": n,
                "ns per row": statistics.median(timing.seconds) / n * 1e9,
                "faster": ratio(timings[BASE].seconds, timing.seconds) if BASE in timings else None,
                "_seconds": timing.seconds,
            }
        )
    report.notes.append("'faster' compares with scikit-learn's apply on the same float64 rows. One tree, made equal.")


def same_tree(peer: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return scikit-learn's tree as our arrays: siblings become neighbours, leaves keep their numbers."""
    tree = peer.tree_
    order, at = [0], 0
    left = np.full(tree.node_count, -1, np.int32)
    while at < len(order):
        if tree.children_left[order[at]] >= 0:
            left[at] = len(order)
            order += [int(tree.children_left[order[at]]), int(tree.children_right[order[at]])]
        at += 1
    inner = left >= 0
    feature = np.where(inner, tree.feature[order], -1).astype(np.int32)
    # It sends x <= t to the left, we send x < t: the next number above t does the same.
    threshold = np.where(inner, np.nextafter(tree.threshold[order], np.inf), 0.0)
    return feature, threshold, left, np.array(order, np.int32)
