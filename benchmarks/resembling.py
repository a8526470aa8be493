"""Do simulated trajectories resemble real ones? Held-out episodes against ways between the same two leaves.

The tree and its transitions come from the training episodes. For each held-out episode with at least two leaves, the
real path is compared with the most probable one from its first to its last state, at 50 points of equal progress along
the length of either; distances are in shares of the features' ranges, root mean square over features.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Options, Report, say
from tripletree import TripleTree
from tripletree.demos import road
from tripletree.graph.align import align
from tripletree.graph.paths import Graph
from tripletree.graph.transitions import count_transitions
from tripletree.leaves.boxes import bounds

TITLE = "Simulated trajectories against 100 held-out episodes"
POINTS = 50


def resample(path: np.ndarray, span: np.ndarray) -> np.ndarray:
    """Return points at equal shares of the length of a path, in shares of the features' ranges."""
    scaled = path / span
    along = np.append(0, np.cumsum(np.linalg.norm(np.diff(scaled, axis=0), axis=1)))
    share = np.linspace(0, along[-1], POINTS)
    return np.stack([np.interp(share, along, column) for column in scaled.T], axis=1)


def distance(real: np.ndarray, made: np.ndarray, span: np.ndarray) -> float:
    """Return the mean distance at matched progress."""
    gap = resample(real, span) - resample(made, span)
    return float(np.sqrt((gap**2).mean(axis=1)).mean())


def run(options: Options, report: Report) -> None:
    """Measure the four road agents."""
    for variant in road.VARIANTS:
        if options.wants(variant):
            measure(variant, 20 if options.quick else 100, report)
    report.notes += [
        "Mean over the episodes of the mean distance at matched progress; 0.01 is a hundredth of the features' ranges.",
        "'leaf centres' joins the centres of the same leaves; 'entering' aligns each segment with the leaf that it "
        "leads to (the index as printed in the paper) instead of the leaf that it crosses.",
        "'no way': held-out episodes whose leaves the training log does not connect; they are left out.",
        "'nearer than the line' is the share of the episodes on which the trajectory beats the straight line.",
    ]


def measure(variant: str, episodes: int, report: Report) -> None:
    """Measure one agent."""
    say(f"  {variant}")
    log = road.record(variant, n_samples=30_000)
    train, held_out = log.select(slice(episodes, None)), log.select(slice(0, episodes))
    fitted = TripleTree(200, (0.2, 0.6, 0.2), threads=1).fit(train).fitted_
    graph = Graph(count_transitions(fitted.tree, train))
    lower, upper = bounds(fitted.tree, log.n_features)
    lower, upper = np.maximum(lower, fitted.feature_min), np.minimum(upper, fitted.feature_max)
    span, weight = fitted.feature_max - fitted.feature_min, 1 / fitted.derivative_scale
    means = fitted.attributes.derivative_mean[fitted.tree.leaf_nodes]
    rows, missing, short = [], 0, 0
    for first, last in zip(held_out.starts[:-1], held_out.starts[1:], strict=True):
        real = held_out.states[first:last]
        leaf = fitted.tree.apply(np.ascontiguousarray(real[[0, -1]]))
        if leaf[0] == leaf[1]:
            short += 1
            continue
        found = graph.best(int(leaf[0]), {int(leaf[1])})
        if found is None:
            missing += 1
            continue
        p = np.array(found[1])
        centres = np.vstack([real[:1], (lower[p] + upper[p])[1:-1] / 2, real[-1:]])
        ends = {"start": real[0], "end": real[-1]}
        crossed = align(lower[p], upper[p], means[p], weight, **ends).nodes
        entering = align(lower[p], upper[p], means[np.append(p[1:], p[-1])], weight, **ends).nodes
        rows.append([distance(real, made, span) for made in (crossed, entering, real[[0, -1]], centres)])
    table = np.array(rows)
    report.rows.append(
        {
            "agent": variant,
            "episodes": len(table),
            "one leaf": short,
            "no way": missing,
            "simulated": float(table[:, 0].mean()),
            "entering": float(table[:, 1].mean()),
            "straight line": float(table[:, 2].mean()),
            "leaf centres": float(table[:, 3].mean()),
            "nearer than the line": float((table[:, 0] < table[:, 2]).mean()),
            "nearer than the centres": float((table[:, 0] < table[:, 3]).mean()),
            "_distances": table.tolist(),
        }
    )
