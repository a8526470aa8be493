"""Aligning trajectories: the solver against plain gradient descent, the paper's method, on the same leaf sequences.

Descent: every node starts in the middle of the nearest face that is visible from the node before, moves against the
gradient (in standard deviations), and is put back on the nearest visible face; 1,000 times. The best of all its paths
counts, not the last, and of several rates the one with the smallest mean objective is shown.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Options, Report, interleave, ratio, say
from tripletree import TripleTree
from tripletree.demos import road
from tripletree.graph.align import align, align_all, objective, visible
from tripletree.graph.markov import count_transitions
from tripletree.leaves.boxes import bounds

TITLE = "Aligning a trajectory with the derivatives of its leaves"
BASE = "plain descent"
RATES = (0.03, 0.1, 0.3)
SEED = 1


@dataclass(frozen=True)
class Problem:
    """A sequence of boxes, what each segment should follow, and 1 / sigma."""

    lower: np.ndarray
    upper: np.ndarray
    directions: np.ndarray
    weight: np.ndarray


def descend(problem: Problem, iterations: int, rate: float) -> float:
    """Return the least objective that plain gradient descent comes across."""
    lower, upper, weight = problem.lower, problem.upper, problem.weight
    nodes = (lower + upper) / 2
    project(nodes, problem)
    best = np.inf
    for _ in range(iterations):
        value, gradient = objective(nodes, problem.directions, weight)
        best = min(best, value)
        nodes -= rate * gradient / weight**2
        project(nodes, problem)
    return min(best, objective(nodes, problem.directions, weight)[0])


def project(nodes: np.ndarray, problem: Problem) -> None:
    """Put every node on the nearest face of its box that is visible from the node before, in place."""
    d = nodes.shape[1]
    for j, node in enumerate(nodes):
        lower, upper = problem.lower[j], problem.upper[j]
        np.clip(node, lower, upper, out=node)
        planes = np.stack([lower, upper], axis=-1)
        away = (np.abs(node[:, None] - planes) * problem.weight[:, None]).reshape(2 * d)
        if j:
            away[~visible(nodes[j - 1], lower, upper)] = np.inf
        face = int(away.argmin())
        node[face // 2] = planes[face // 2, face % 2]


def together(problems: list[Problem]) -> list[float]:
    """Return the objectives of all problems, solved in one call as a picture's trajectories are."""
    size = [len(p.lower) for p in problems]
    paths = [np.arange(n) + last - n for n, last in zip(size, np.cumsum(size), strict=True)]
    lower, upper = (np.vstack([getattr(p, name) for p in problems]) for name in ("lower", "upper"))
    directions = np.vstack([np.vstack([p.directions, np.zeros_like(p.lower[:1])]) for p in problems])
    return [made.objective for made in align_all(lower, upper, directions, problems[0].weight, paths)]


def road_problems(variant: str, pairs: int, n_samples: int, seed: int) -> list[Problem]:
    """Return the most probable leaf sequences between random leaves of a road tree with 200 leaves."""
    from tripletree.graph.paths import most_probable

    log = road.record(variant, n_samples=n_samples)
    fitted = TripleTree(200, (0.2, 0.6, 0.2), threads=1).fit(log).fitted_
    transitions = count_transitions(fitted.tree, log)
    lower, upper = bounds(fitted.tree, log.n_features)
    lower, upper = np.maximum(lower, fitted.feature_min), np.minimum(upper, fitted.feature_max)
    means = fitted.attributes.derivative_mean[fitted.tree.leaf_nodes]
    rng = np.random.default_rng(seed)
    problems: list[Problem] = []
    while len(problems) < pairs:
        first, last = rng.integers(0, transitions.n_leaves, 2)
        path = most_probable(transitions, int(first), int(last)) if first != last else None
        if path is not None:
            p = path.leaves
            problems.append(Problem(lower[p], upper[p], means[p[:-1]], 1 / fitted.derivative_scale))
    return problems


def run(options: Options, report: Report) -> None:
    """Measure 100 random leaf pairs on each road tree."""
    pairs, iterations = (5, 100) if options.quick else (100, 1000)
    for variant in road.VARIANTS:
        if options.wants(variant):
            measure(variant, road_problems(variant, pairs, 10_000, SEED), iterations, options, report)
    report.notes += [
        "Most probable leaf sequences between random leaves of the road trees (200 leaves, theta .2 .6 .2).",
        f"Plain descent: {iterations:,} iterations; the best of the rates {', '.join(map(str, RATES))}; its time is of "
        "that rate alone.",
        "'worse' counts the pairs on which the solver's objective is larger than descent's, by more than 1e-6.",
        "Times are the processor's; 'faster' is the median over the repetitions of descent's time / this time.",
    ]


def measure(variant: str, problems: list[Problem], iterations: int, options: Options, report: Report) -> None:
    """Measure one tree with both methods."""
    say(f"  {variant}: {len(problems)} pairs")
    trial = {rate: np.mean([descend(p, iterations, rate) for p in problems[::5]]) for rate in RATES}
    rate = min(trial, key=lambda key: trial[key])
    methods = {
        BASE: lambda: [descend(p, iterations, rate) for p in problems],
        "solver, one by one": lambda: [align(p.lower, p.upper, p.directions, p.weight).objective for p in problems],
        "solver, all at once": lambda: together(problems),
    }
    timings, made = interleave({m: methods[m] for m in options.chosen(list(methods))}, options.repetitions(2))
    for name, timing in timings.items():
        found = np.array(made[name])
        report.rows.append(
            {
                "tree": variant,
                "method": f"{name}, rate {rate:g}" if name == BASE else name,
                "pairs": len(problems),
                "leaves in a path": statistics.median(len(p.lower) for p in problems),
                "ms a path": statistics.median(timing.processor) / len(problems) * 1e3,
                "faster": ratio(timings[BASE].processor, timing.processor) if BASE in timings else None,
                "mean objective": float(found.mean()),
                "largest": float(found.max()),
                "worse": int((found > np.array(made[BASE]) + 1e-6).sum()) if BASE in made else None,
                "_seconds": timing.seconds,
                "_processor": timing.processor,
                "_objectives": found.tolist(),
            }
        )
