"""Do regions, names and stories fit? On 30 % of the episodes of each log, found on the other 70 %.

Stories: lines, how often they say what the recording shows, for each action and for all at once; beside the whole tree
(theta 1, 1, 1; 200 leaves; the commonest level of each leaf) and the ceiling: what the best six constant phases of each
episode, which know its actions, could say. Names: how often the words are true inside a region and outside.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import Options, Report, say
from benchmarks.wording import logs
from tripletree import Log, TripleTree, TripleTreeWarning
from tripletree.asking.levels import log_levels
from tripletree.asking.regions import read_regions, settled

TITLE = "Words on unseen episodes: regions, names and stories"
I64 = npt.NDArray[np.int64]
LINES, RIGHT, NEAR, INSIDE, OUTSIDE = 10, 0.8, 0.1, 0.85, 0.15
"""The bars: lines of a story, how often it is right or how far behind the tree, and how often names are true."""
PHASES, EPISODES, STEPS = 6, 12, 1_500
"""Phases of the ceiling, and episodes and steps that it is worked out for."""


def run(options: Options, report: Report) -> None:
    """Measure every log."""
    warnings.simplefilter("ignore", TripleTreeWarning)
    for name, log in logs(options):
        say(f"  {name}")
        report.rows.append(measure(name, log, options.seed, report))
    report.notes.append(
        f"Bars: fewer than {LINES} lines; right for {RIGHT:.0%} of the steps per action, or at most "
        f"{100 * NEAR:.0f} points behind the whole tree; every name true for {INSIDE:.0%} of the samples inside its "
        f"region (of those with 1 % of the samples) and at most {OUTSIDE:.0%} outside, all names different. 'missed' "
        "says which a row misses."
    )


def measure(name: str, log: Log, seed: int, report: Report) -> dict[str, Any]:
    """Return the row of one log."""
    order = np.random.default_rng(seed).permutation(log.n_episodes)
    known = max(round(0.7 * log.n_episodes), 1)
    train, test = (log.select(np.sort(part)) for part in (order[:known], order[known:]))
    tree = TripleTree(200, leaf_model="mean", threads=1).fit(train)
    fitted = tree.fitted_
    begin = time.perf_counter()
    regions = read_regions(fitted, "action")
    seconds = time.perf_counter() - begin
    shown, said = log_levels(fitted, regions.classes, test), regions.leaves[tree.apply(test.states)]
    worded = [k for k, column in enumerate(regions.classes.columns) if column.edges or regions.classes.about.labels]
    whole = float((shown == said)[:, worded].mean()) if worded else np.nan
    told = [tree.story(k, log=test) for k in range(test.n_episodes)]
    lines = [len(str(one).splitlines()) for one in told]
    weight = np.diff(test.starts)
    right, together = (
        float(np.average([np.nan if share is None else share for share in shares], weights=weight))
        for shares in ([one.agreement for one in told], [one.together for one in told])
    )
    inside, outside = _names(regions, test)
    missed = ["lines"] * (max(lines) >= LINES)
    missed += ["right"] * bool(worded and right < RIGHT and right < whole - NEAR)
    missed += ["names"] * (inside < INSIDE or outside > OUTSIDE or len(set(regions.names)) < len(regions))
    report.notes.append(f"{name}: {'; '.join(regions.names)}")
    return {
        "log": name,
        "regions": len(regions),
        "lines": float(np.mean(lines)),
        "most lines": max(lines),
        "phases": float(np.mean([len(one.phases) for one in told])),
        "per action": right,
        "all at once": together,
        "whole tree": whole,
        "whole tree, all": float((shown == said).all(axis=1).mean()),
        "ceiling": ceiling(shown[:, worded], test.starts) if worded else np.nan,
        "rules": float(np.mean([kind == "rule" for one in told for phase in one.phases for kind in phase.kinds])),
        "inside": inside,
        "outside": outside,
        "seconds": seconds,
        "missed": ", ".join(missed),
    }


def _names(regions: Any, test: Log) -> tuple[float, float]:
    """Return how often the least true name is true inside, and the least false one outside."""
    region = settled(regions.of(test.states), test.starts)
    inside, outside = 1.0, 0.0
    for one, words in enumerate(regions.words):
        mine = region == one
        if words and mine.mean() >= 0.01:
            true = np.all([word.holds(test.states) for word in words], axis=0)
            inside, outside = min(inside, float(true[mine].mean())), max(outside, float(true[~mine].mean()))
    return inside, outside


def ceiling(levels: I64, starts: I64) -> float:
    """Return how often the best constant phases of each episode would be right, all columns changing together."""
    right, steps = 0.0, 0
    for begin, end in list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))[:EPISODES]:
        part = levels[begin:end][:STEPS]
        n = len(part)
        sums = [np.cumsum(np.vstack([0 * np.eye(1, c.max() + 2), np.eye(c.max() + 2)[c]]), axis=0) for c in part.T]
        best = np.full((PHASES + 1, n + 1), -np.inf)
        best[0, 0] = 0.0
        for stop in range(1, n + 1):
            gain = sum((total[stop] - total[:stop]).max(axis=1) for total in sums)
            best[1:, stop] = (best[:-1, :stop] + gain).max(axis=1)
        right, steps = right + best[1:, n].max() / part.shape[1], steps + n
    return float(right / steps)
