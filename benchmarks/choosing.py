"""Which defaults serve users best: trees sized on some episodes and judged on others, each log left out in turn."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Options, Report, say

TITLE = "Defaults: what is lost on unseen episodes"
PRIORITIES = ("impurity", "gain")
SMALLEST = (1, 2, 5, 10, 20, 50)
LIMITS = (50, 100, 200, 500, 1000, 2000)
SEEDS = (0, 1, 2)


def logs(small: bool, files: tuple[str, ...]) -> dict[str, Any]:
    """Return the built-in agents' logs, and files of the user's own."""
    from tripletree import read_log
    from tripletree.demos import lander, road

    samples = 2_000 if small else 20_000
    found = {f"road {name}": road.record(name, n_samples=samples) for name in ("left", "either", "alive", "hurry")}
    found["lander"] = lander.log().select(slice(0, 30 if small else None))
    return found | {Path(file).stem: read_log(file) for file in files}


def unseen_losses(log: Any, priority: str, smallest: int, seed: int, limits: tuple[int, ...]) -> list[list[float]]:
    """Return the mean share of the losses that is left on unseen episodes, for each limit of the leaves.

    First with the size that is best on validation episodes, then with as many leaves as allowed.
    """
    from tripletree import TripleTree

    rest, unseen = log.split(0.2, seed)
    training, validation = rest.split(0.25, seed)
    options = {"priority": priority, "min_samples_leaf": smallest, "early_stopping": False}
    tree = TripleTree(max_leaves=max(limits), **options).fit(training, validation)
    sized = np.column_stack([tree.curve_[f"validation_{name}"] for name in ("action", "value", "derivative")])
    judged = tree.losses(unseen, "all")
    kept = judged[0] > 0
    left = (judged[:, kept] / judged[0, kept]).mean(axis=1)
    choice = (sized[:, kept] / sized[0, kept]).mean(axis=1)
    sizes = [int(choice[:limit].argmin()) for limit in limits], [min(limit, len(left)) - 1 for limit in limits]
    return [[float(left[size]) for size in side] for side in sizes]


def run(options: Options, report: Report) -> None:
    """Measure every combination on every log, and what choosing on the others costs the one left out."""
    limits = LIMITS[:3] if options.quick else LIMITS
    seeds = SEEDS[:1] if options.quick else SEEDS
    combinations = list(itertools.product(PRIORITIES, SMALLEST))
    measured = logs(options.quick, options.logs)
    table = np.empty((len(measured), len(combinations), 2, len(limits)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row, (name, log) in enumerate(measured.items()):
            say(f"{name}: {log.n_samples:,} samples in {log.n_episodes:,} episodes")
            for column, (priority, smallest) in enumerate(combinations):
                runs = [unseen_losses(log, priority, smallest, seed, limits) for seed in seeds]
                table[row, column] = np.mean(runs, axis=0)
    sized = table[:, :, 0].reshape(len(measured), -1)
    least = sized.min(axis=1, keepdims=True)
    regret, unsized = sized / least - 1, table[:, :, 1].reshape(len(measured), -1) / least - 1
    chosen = []
    for row in range(len(measured)):
        best = int(np.delete(regret, row, axis=0).mean(axis=0).argmin())
        chosen.append((best, regret[row, best]))
    for index, (priority, smallest) in enumerate(combinations):
        for at, limit in enumerate(limits):
            where = index * len(limits) + at
            report.rows.append(
                {
                    "priority": priority,
                    "min_samples_leaf": smallest,
                    "max_leaves": limit,
                    "mean regret": f"{regret[:, where].mean():.2%}",
                    "worst regret": f"{regret[:, where].max():.2%}",
                    "without validation": f"{unsized[:, where].mean():.2%}",
                    "best for the other logs": sum(best == where for best, _ in chosen),
                }
            )
    report.notes += [
        "Regret: how much larger the mean loss on unseen episodes is than with the best combination for that log, when "
        "validation episodes choose the size up to `max_leaves`; and, on average, when nothing chooses it.",
        f"Chosen on the other logs, the one left out loses {np.mean([cost for _, cost in chosen]):.2%} on average.",
        f"Logs: {', '.join(measured)}.",
    ]
