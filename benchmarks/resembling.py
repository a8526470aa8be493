"""Do simulated trajectories resemble real ones? Held-out episodes against ways between the same two states.

The tree, its track and its transitions come from the training episodes. For each held-out episode with at least two
leaves, the real path is compared with recorded ways and with the paper's from its first to its last state, at 50 points
of equal progress along the length of either; distances are in shares of the features' ranges, root mean square over
features. And once more by the clock: the real path at equal times, as a recorded way is, and the paper's as long in
each leaf as the log's moves took on average. Then the same for one random stretch of each episode.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.harness import Options, Report, say
from tripletree import Log, TripleTree, read_log
from tripletree.demos import lander, road
from tripletree.graph.align import align
from tripletree.graph.markov import count_transitions
from tripletree.graph.paths import Graph
from tripletree.leaves.boxes import bounds

TITLE = "Simulated trajectories against 100 held-out episodes"
POINTS = 50
METHODS = ("recorded", "paper")


def resample(path: np.ndarray, span: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
    """Return points of a path in shares of the features' ranges, at equal shares of its length, or of its time."""
    scaled = path / span
    if times is None:
        times = np.append(0, np.cumsum(np.linalg.norm(np.diff(scaled, axis=0), axis=1)))
    share = np.linspace(0, times[-1], POINTS)
    return np.stack([np.interp(share, times, column) for column in scaled.T], axis=1)


def distance(real: np.ndarray, made: np.ndarray) -> float:
    """Return the mean distance at matched progress."""
    return float(np.sqrt(((real - made) ** 2).mean(axis=1)).mean())


def run(options: Options, report: Report) -> None:
    """Measure the four road agents and the lander, or the logs given."""
    episodes = 20 if options.quick else 100
    for file in options.logs:
        measure(Path(file).stem, read_log(file), TripleTree(450, threads=1), episodes, report)
    for variant in road.VARIANTS:
        if options.wants(variant) and not options.logs:
            tree = TripleTree(200, (0.2, 0.6, 0.2), threads=1)
            measure(variant, road.record(variant, n_samples=30_000), tree, episodes, report)
    if options.wants("lander") and not options.logs:
        measure("lander", lander.log(), TripleTree(450, gamma=lander.GAMMA, threads=1), episodes, report)
    report.notes += [
        "Mean over the episodes of the mean distance at matched progress; 0.01 is a hundredth of the features' ranges.",
        "'recorded' is what simulate(...) gives, 'paper' the search and alignment of method=\"paper\".",
        "'leaf centres' joins the centres of the same leaves; 'entering' aligns each segment with the leaf that it "
        "leads to (the index as printed in the paper) instead of the leaf that it crosses.",
        "'true leaves' aligns along the leaves that the episode really visited, each once, in order: what remains is "
        "not the search's error.",
        "'by time' matches equal shares of time instead of length.",
        "'stretch' is a random stretch of each episode.",
        "'no way': held-out episodes whose leaves the training log does not connect; they are left out.",
        "'nearer than the line' is the share of the episodes on which the recorded way, or the paper's, beats the "
        "straight line; 'followed a segment' the share for which no fall-back was needed.",
    ]


def measure(name: str, log: Log, tree: TripleTree, episodes: int, report: Report) -> None:
    """Measure one agent."""
    say(f"  {name}")
    train, held_out = log.select(slice(episodes, None)), log.select(slice(0, episodes))
    fitted = tree.fit(train).fitted_
    graph = Graph(count_transitions(fitted.tree, train))
    stay = 1 / np.maximum(graph.transitions.leave, 1e-3)
    lower, upper = bounds(fitted.tree, log.n_features)
    lower, upper = np.maximum(lower, fitted.feature_min), np.minimum(upper, fitted.feature_max)
    span = np.maximum(fitted.feature_max - fitted.feature_min, 1e-12)
    sigma = fitted.derivative_scale
    weight = np.where(sigma > 0, 1 / np.where(sigma > 0, sigma, 1.0), 0.0)
    means = fitted.attributes.derivative_mean[fitted.tree.leaf_nodes]
    followed: list[str] = []
    rows, stretches, missing, short = [], [], 0, 0
    rng = np.random.default_rng(0)
    for first, last in zip(held_out.starts[:-1], held_out.starts[1:], strict=True):
        real = held_out.states[first:last]
        visited = fitted.tree.apply(np.ascontiguousarray(real))
        if visited[0] == visited[-1]:
            short += 1
            continue
        found = graph.best(int(visited[0]), {int(visited[-1])})
        if found is None:
            missing += 1
            continue
        p = np.array(found[1])
        ends = {
            "start": np.clip(real[0], lower[p[0]], upper[p[0]]),
            "end": np.clip(real[-1], lower[p[-1]], upper[p[-1]]),
        }
        centres = np.vstack([real[:1], (lower[p] + upper[p])[1:-1] / 2, real[-1:]])
        crossed = align(lower[p], upper[p], means[p], weight, **ends).nodes
        entering = align(lower[p], upper[p], means[np.append(p[1:], p[-1])], weight, **ends).nodes
        q = once(visited)
        true = align(lower[q], upper[q], means[q], weight, **ends).nodes
        recorded = tree.simulate(real[0], real[-1])[0]
        followed.append(recorded.method)
        by_length = resample(real, span)
        by_time = resample(real, span, np.arange(len(real)))
        clock = np.append(0, np.cumsum(stay[p]))
        rows.append(
            [
                distance(by_length, resample(made, span))
                for made in (recorded.nodes, crossed, real[[0, -1]], entering, true, centres)
            ]
            + [
                distance(by_time, resample(recorded.nodes, span, np.arange(len(recorded.nodes)))),
                distance(by_time, resample(crossed, span, clock)),
                distance(by_time, resample(real[[0, -1]], span)),
            ]
        )
        begin, end = np.sort(rng.choice(len(real), 2, replace=False))
        part = real[begin : end + 1]
        ways = [found[0].nodes for found in (tree.simulate(part[0], part[-1], method=m) for m in METHODS) if found]
        if len(part) > 2 and len(ways) == len(METHODS) and all(len(way) > 1 for way in ways):
            scaled = resample(part, span)
            stretches.append([distance(scaled, resample(made, span)) for made in (*ways, part[[0, -1]])])
    table, random = np.array(rows), np.array(stretches)
    names = ("recorded", "paper", "straight line", "entering", "true leaves", "leaf centres")
    names += ("recorded by time", "paper by time", "line by time")
    report.rows.append(
        {
            "agent": name,
            "episodes": len(table),
            "one leaf": short,
            "no way": missing,
            **{column: float(table[:, i].mean()) for i, column in enumerate(names)},
            "nearer than the line": float((table[:, 0] < table[:, 2]).mean()),
            "paper nearer than the line": float((table[:, 1] < table[:, 2]).mean()),
            **{f"stretch, {column}": float(random[:, i].mean()) for i, column in enumerate(names[:3])},
            "stretch nearer than the line": float((random[:, 0] < random[:, 2]).mean()),
            "followed a segment": followed.count("segment") / len(followed),
            "_distances": table.tolist(),
        }
    )


def once(leaves: np.ndarray) -> np.ndarray:
    """Return the leaves in the order of a path without its detours: what lies between two visits of a leaf is cut."""
    kept: list[int] = []
    for leaf in leaves.tolist():
        if leaf in kept:
            del kept[kept.index(leaf) + 1 :]
        else:
            kept.append(leaf)
    return np.array(kept)
