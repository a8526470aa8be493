"""Do answers hold on episodes that nobody has seen? Chances, times, whereabouts, single states and trajectories.

Episodes are divided: a tree is grown on two thirds, and all questions that ``unseen.zones`` makes of the log are asked.
The other third says what was true. An unseen share is itself uncertain, so coverage is given twice: whether the
interval holds the unseen share, and whether the difference between the two is at most the root of the summed squares
of the two intervals' halves that face each other, which holds for 95 % of the questions if both intervals cover 95 %.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import worlds
from benchmarks.harness import Options, Report, say
from benchmarks.resembling import distance, resample
from benchmarks.unseen import (
    KNOWN,
    SHORTEST,
    Asked,
    Setting,
    ask_after,
    ask_chances,
    ask_states,
    ask_steps,
    auc,
    calibration_error,
    resampled,
)
from tripletree import Log, TripleTree, read_log
from tripletree.demos import lander, road
from tripletree.graph.segments import distances
from tripletree.graph.ways import SEGMENT
from tripletree.log.recording import Recording
from tripletree.questions.evidence import Evidence

TITLE = "Answers on unseen episodes"
SPLITS = 3
"""How often a log is divided: one division may be lucky."""
WORST = 3
"""Worst cases that are told, for each log."""
SMALL = 100_000
"""Steps of the smaller log on which speed is measured."""
STRAIGHT = 0.01
"""Where the straight line is nearer than this to the path, in shares of the ranges, nothing is to be gained."""
EARLIER, NEAR = 0.8, 0.1
"""A path passes its end more than once if it is near it, by this sum over the features' ranges, before this share of
its time: how often it should go round, or how long it should rest there, is not part of the question."""
WAYS = 100
"""Unseen episodes whose trajectories are compared."""


def demo(name: str) -> Log:
    """Return the log of a built-in agent."""
    return lander.log() if name == "lander" else road.record(name, n_samples=20_000)


DEMOS = ("lander", *road.VARIANTS)


def run(options: Options, report: Report) -> None:
    """Measure the logs given or all built-in agents, then the speed on simulated ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in options.logs or DEMOS:
            name = Path(given).stem
            if options.wants(name):
                log = demo(given) if given in DEMOS else read_log(given)
                measure(name, log.select(slice(0, 60)) if options.quick else log, options, report)
        if options.wants("speed"):
            for samples, limit in ((SMALL // 10, 20),) if options.quick else ((SMALL, 20), (10 * SMALL, 200)):
                measure_speed(samples, limit, options.leaves, report)
    report.notes += [
        "'count' is what the library answers, 'chain' its second opinion from the chain over leaves. 'Yardstick' is, "
        "for errors, how far apart two random parts of all episodes are, as large as the two sides: no answer from the "
        "training episodes can be expected to be nearer. For single states it is what boosted trees reach that learnt "
        "each question by itself.",
        "Coverage: the share of 95 % intervals that hold the unseen share; 'both sides' allows for the uncertainty of "
        "the unseen share (the difference is at most the root of the summed squares of the halves that face each "
        "other).",
        "Alarm: how well |chain - count| tells where the chain is off by more than 0.1 (area under the curve).",
        f"Steps: questions whose unseen mean is at least {SHORTEST:g} steps, since relative errors of tiny times mean "
        f"nothing. Times are known where the interval over all episodes reaches at most {KNOWN:.0%} far.",
        "After: half the summed differences between shares of leaves, from where episodes begin.",
        "State: single unseen states that are not at the goal yet; skill is 1 - Brier score / that of always saying "
        "the training mean.",
        "Ways: distance from the unseen path at 50 points of equal progress in time, divided by that of the straight "
        "line; from the first to the last state, and between two random states of an episode. 'Nearer' counts paths "
        f"from which the line is at least {STRAIGHT:.0%} of the ranges away. A path passes its end once unless it is "
        f"within {NEAR:.0%} of the ranges, summed, in the first {EARLIER:.0%} of its time: where an agent goes round "
        "in circles or rests, how often or how long is not part of the question. Ratios 'by length' match equal "
        "shares of the length instead: there a leg that touches the ground is as long a way as a whole flight.",
        "Milliseconds are of one processor.",
    ]


def measure(name: str, log: Log, options: Options, report: Report) -> None:
    """Measure one log."""
    say(f"  {name}: {log.n_samples:,} steps in {log.n_episodes:,} episodes")
    divisions = 1 if options.quick else SPLITS
    chances, times, left, turns, states, ways = list[Asked](), list[Asked](), [0, 0], [], [], []
    alone, alone_times, reach, seconds = [], [], [], []
    for division in range(divisions):
        seed = options.seed + division
        rng = np.random.default_rng(seed)
        setting = Setting.of(log, options.leaves, seed)
        say(f"    division {division + 1} of {divisions}: chances")
        asked, out, spent = ask_chances(setting)
        chances, left[0] = chances + asked, left[0] + out
        seconds.append(spent)
        say(f"      {len(asked)} questions, {out} left out; by chance alone, then times")
        alone.append(resampled(setting, asked, False, rng)[0])
        asked, out = ask_steps(setting)
        times, left[1] = times + asked, left[1] + out
        apart, far = resampled(setting, asked, True, rng)
        alone_times.append(apart)
        reach.append(far)
        say("      whereabouts, states, trajectories")
        turns.append(ask_after(setting, rng))
        states.append(ask_states(setting, rng))
        ways.append(compare_ways(setting, rng))
    row = Rows(name, report)
    describe_chances(row, chances, np.concatenate(alone, axis=1), left[0])
    describe_steps(row, times, np.concatenate(alone_times, axis=1), np.concatenate(reach) <= KNOWN, left[1])
    for i, (k, *_) in enumerate(turns[0]):
        row(f"after {k} steps: total variation", *(float(np.mean([turn[i][j] for turn in turns])) for j in (1, 2, 3)))
    describe_states(row, np.concatenate(states, axis=1))
    describe_ways(row, np.concatenate(ways))
    row("milliseconds a question", *(1e3 * np.mean(seconds, axis=0)).tolist())
    tell_worst(name, chances, report)


class Rows:
    """Adds the rows of one log to a report."""

    def __init__(self, name: str, report: Report) -> None:
        self.name, self.report = name, report

    def __call__(
        self,
        measure: str,
        counted: float | None,
        chain: float | None = None,
        alone: float | None = None,
        target: float | None = None,
        *,
        least: bool = False,
    ) -> None:
        """Add a row; ``target`` is what the count must not exceed or, with ``least``, must reach."""
        kept = None
        if target is not None and counted is not None:
            kept = "yes" if (counted >= target if least else counted <= target) else "no"
        sign = "" if target is None else f"{'>=' if least else '<='} {target:g}"
        self.report.rows.append(
            {
                "log": self.name,
                "measure": measure,
                "count": counted,
                "chain": chain,
                "yardstick": alone,
                "target": sign,
                "kept": kept or "",
            }
        )


def describe_chances(row: Rows, asked: Sequence[Asked], alone: np.ndarray, left_out: int) -> None:
    """Add what chances are worth."""
    row("chances: questions (left out)", len(asked), left_out)
    if not asked:
        return
    unseen = np.array([one.unseen for one in asked])
    error = np.abs(np.array([one.count for one in asked]) - unseen)
    chain = np.array([one.chain for one in asked])
    miss = np.abs(chain - unseen)
    row("chances: mean error", error.mean(), miss.mean(), np.nanmean(alone), 0.03)
    row("chances: worst error", error.max(), miss.max(), np.nanmean(np.nanmax(alone, axis=1)), 0.25)
    row("chances: coverage", np.mean([one.low <= one.unseen <= one.high for one in asked]))
    row("chances: coverage, both sides", np.mean([covers(one) for one in asked]), target=0.93, least=True)
    row("chances: width of the interval", np.mean([one.high - one.low for one in asked]))
    apart = np.abs(chain - [one.count for one in asked])
    row("chances: alarm", auc(apart, miss > 0.1))


def describe_steps(row: Rows, asked: Sequence[Asked], alone: np.ndarray, known: np.ndarray, left_out: int) -> None:
    """Add what times are worth."""
    row("steps: questions (left out)", len(asked), left_out)
    if not asked:
        return
    error = np.array([abs(one.count / one.unseen - 1) for one in asked])
    chain = np.array([np.nan if one.chain is None else abs(one.chain / one.unseen - 1) for one in asked])
    for which, name, targets in ((known, "known times", (0.06, 0.03)), (~known, "others", (None, None))):
        if which.any():
            each = error[which], chain[which], alone[:, which]
            row(f"steps: {name}", int(which.sum()))
            row(f"steps: {name}, mean relative error", *(np.nanmean(one) for one in each), targets[0])
            row(f"steps: {name}, median relative error", *(np.nanmedian(one) for one in each), targets[1])
    row("steps: coverage", np.mean([one.low <= one.unseen <= one.high for one in asked]))
    logs = [covers(one, np.log) for one in asked]
    row("steps: coverage, both sides", np.mean(logs), target=0.9, least=True)


def describe_states(row: Rows, table: np.ndarray) -> None:
    """Add what answers from a single state are worth."""
    *said, usual, came = table
    base = ((usual - came) ** 2).mean()
    row("state: questions", len(came))
    row("state: Brier skill", *(1 - ((one - came) ** 2).mean() / base for one in said), 0.8, least=True)
    row("state: calibration error", *(calibration_error(one, came) for one in said), 0.02)


def describe_ways(row: Rows, table: np.ndarray) -> None:
    """Add what trajectories are worth: from the first to the last state (A), and between random ones (B)."""
    for kind, name, target in ((0, "first to last", 0.55), (1, "random stretch", 0.4)):
        made, line, longer, line_longer = table[table[:, 0] == kind, 1:5].T
        row(f"ways: {name}, ratio to the line", made.mean() / line.mean(), target=target)
        row(f"ways: {name}, ratio to the line by length", longer.mean() / line_longer.mean())
        once = table[table[:, 0] == kind, 6] > 0
        row(f"ways: {name}, share that passes its end once", once.mean())
        row(f"ways: {name}, ratio to the line of these", made[once].mean() / line[once].mean() if once.any() else None)
        bends = line >= STRAIGHT
        nearer = float((made < line)[bends].mean()) if bends.any() else None
        row(f"ways: {name}, nearer than the line", nearer, target=0.8, least=True)
    row("ways: no recorded segment near", table[:, 5].mean())


def tell_worst(name: str, asked: Sequence[Asked], report: Report) -> None:
    """Note the questions with the largest errors."""
    for one in sorted(asked, key=lambda one: -abs(one.count - one.unseen))[:WORST]:
        report.notes.append(
            f"Worst of {name}: {one.text}: count {one.count:.3f} ({one.low:.3f} to {one.high:.3f}), chain "
            f"{one.chain:.3f}, unseen {one.unseen:.3f} ({one.unseen_low:.3f} to {one.unseen_high:.3f})."
        )


def covers(one: Asked, scale: Callable[[float], float] = lambda x: x) -> bool:
    """Whether two answers differ by no more than their intervals explain together."""
    up = one.unseen > one.count
    side, other = (one.high, one.unseen_low) if up else (one.low, one.unseen_high)
    with np.errstate(divide="ignore"):
        mine, others = scale(side) - scale(one.count), scale(other) - scale(one.unseen)
        return bool((scale(one.unseen) - scale(one.count)) ** 2 <= mine**2 + others**2 + 1e-12)


def compare_ways(setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """Return a row for each way: kind (first to last, random), how far it and the line are, if none was near, if once.

    Distances are given by time, then by length.
    A way from first to last and one between two random states of the episode, at least three rows apart.
    """
    log, rows = setting.unseen, list[tuple[float, ...]]()
    for episode in rng.permutation(log.n_episodes)[:WAYS].tolist():
        first, last = log.starts[episode], log.starts[episode + 1] - 1
        if last - first < 3:
            continue
        begin, end = np.sort(rng.choice(np.arange(first, last + 1), 2, replace=False))
        for kind, (i, j) in enumerate(((first, last), (begin, end))):
            real = log.states[i : j + 1]
            if j - i < 3 or not (np.ptp(real, axis=0) > 0).any():
                continue
            made, far = follow(setting.tree, real[0], real[-1])
            span, two = setting.tree.fitted_.span, real[[0, -1]]
            apart = list[float]()
            for clock in (True, False):
                wanted, way, line = (
                    resample(path, span, np.arange(len(path)) if clock else None) for path in (real, made, two)
                )
                apart += [distance(wanted, way), distance(wanted, line)]
            before = real[: int(EARLIER * len(real))]
            once = not (distances(before, real[-1], span) < NEAR).any()
            rows.append((kind, *apart, far, once))
    return np.array(rows)


def follow(tree: TripleTree, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the way between two states that the library follows, and whether no recorded segment is near."""
    way = tree.simulate(a, b)[0]
    # Where it is there already, the way has one point.
    return (way.nodes if len(way.nodes) > 1 else np.stack([a, b])), way.method != SEGMENT


def measure_speed(samples: int, limit: float, leaves: int, report: Report) -> None:
    """Measure one question and one way, warm, on simulated landings of 8 features; on few also the model file."""
    say(f"  speed at {samples:,} steps")
    made = worlds.lander(samples)
    names = ["x", "y", "vx", "vy", "phi", "vphi", "left", "right"]
    log = Log.from_arrays(
        made.states,
        made.actions,
        made.rewards,
        starts=made.starts[:-1],
        final_states=made.final_states,
        feature_names=names,
    )
    tree = TripleTree(leaves).fit(log)
    # All steps are counted, not only as many as a model file keeps.
    tree.fitted_.memory["evidence"] = Evidence.of(tree.fitted_, Recording.of(log))
    row = Rows(f"{samples:,} simulated steps", report)
    state, other = log.states[len(log) // 2], log.states[len(log) // 2 + 100]
    for name, start in (("zone", {"x": (0.1, None)}), ("state", state)):
        taken = milliseconds(partial(tree.chance, {"y": (None, 0.2)}, start, within=100))
        row(f"milliseconds a question from a {name}", taken, target=limit)
    row("milliseconds a way between two states", milliseconds(partial(follow, tree, state, other)), target=1.5 * limit)
    if samples > SMALL:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.tripletree"
        tree.save(file)
        row("model file, MB", file.stat().st_size / 1e6, target=1.0)
        row("milliseconds to load it", milliseconds(partial(TripleTree.load, file)), target=20)


def milliseconds(run: Callable[[], object], repeat: int = 9) -> float:
    """Return the median of a call's time on one processor, after one that nobody times."""
    run()
    taken = []
    for _ in range(repeat):
        begin = time.process_time()
        run()
        taken.append(time.process_time() - begin)
    return 1e3 * float(np.median(taken))
