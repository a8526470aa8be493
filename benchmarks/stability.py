"""Do bands hold? Thresholds, bounds, predictions and effect curves of fresh logs of simulated agents.

In each world 1,000 fresh logs are recorded and a tree is grown on each: the truth about what another log says. Of other
logs of the same world the stability is asked, and it is counted how many of the 1,000 lie within the bands, which mean
to cover 90 % of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import Options, Report, say
from tripletree import Log, TripleTree
from tripletree.answers import Stability

F64 = npt.NDArray[np.float64]

TITLE = "Bands for what another log would say"
STEPS = 40
"""Steps of an episode."""
FRESH, LOGS, CURVES = 1000, 100, 4
"""Fresh logs, logs whose bands are tried on them, and those of which the bands of effect curves are, too."""
STEP = 0.31731
"""Where steps are: no round number, which thresholds prefer."""
EPISODES = (10, 20, 50, 200)
AT = np.array([0.8, 0.0])
"""The state that is explained."""
POINTS = np.linspace(-1.2, 1.2, 9)
"""Where curves are compared."""

NOTES = [
    "Bands mean to cover 90 %. Width: of a typical band, in units of what the middle 90 % of fresh logs span; 1.4 "
    "is the least to be expected, because a band does not know where its own log lies among the others.",
    "Thresholds count where a log and the fresh one split on the same feature first.",
    f"{FRESH:,} fresh logs a row, {LOGS} logs with bands of 50 trees, {CURVES} of these with bands of curves.",
]
"""What the columns mean."""

World = Callable[[F64, F64, np.random.Generator], F64]
"""From states of shape (episodes, steps, 2), and noise of each step and episode, to actions."""

WORLDS: dict[str, World] = {
    "a sharp step": lambda x, _, __: (x[..., 0] > STEP) * 1.0,
    "a step in noise": lambda x, noise, _: (x[..., 0] > STEP) + 0.7 * noise,
    "a step that differs between episodes": lambda x, _, rng: (
        (x[..., 0] > STEP + 0.3 * rng.normal(size=(len(x), 1))) * 1.0
    ),
    "a smooth step": lambda x, noise, _: 1 / (1 + np.exp(-6 * (x[..., 0] - STEP))) + 0.3 * noise,
    "a slope": lambda x, noise, _: x[..., 0] + 0.5 * noise,
    "two equal steps": lambda x, noise, _: (x[..., 0] > -0.7123) + 1.0 * (x[..., 0] > 0.7123) + 0.5 * noise,
    "correlated features": lambda x, noise, _: (x[..., 0] > STEP) + 0.7 * noise,
    "noise": lambda x, noise, _: noise + 0 * x[..., 0],
}


def record(world: str, episodes: int, rng: np.random.Generator) -> Log:
    """Return a log: states wander from step to step, and episodes differ a little in what is done."""
    drive = rng.normal(size=(episodes, STEPS, 2))
    states = np.empty_like(drive)
    states[:, 0] = drive[:, 0]
    for step in range(1, STEPS):
        states[:, step] = 0.8 * states[:, step - 1] + 0.6 * drive[:, step]
    if world == "correlated features":
        states[..., 1] = 0.9 * states[..., 0] + 0.436 * states[..., 1]
    noise = rng.normal(size=(episodes, STEPS)) + 0.4 * rng.normal(size=(episodes, 1))
    actions = WORLDS[world](states, noise, rng)
    return Log.from_arrays(
        states.reshape(-1, 2),
        actions.reshape(-1, 1),
        np.zeros(actions.size),
        starts=np.arange(episodes) * STEPS,
        action_kind="continuous",
    )


def grown(log: Log) -> TripleTree:
    """Return a small tree of the actions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TripleTree(8, (1, 0, 0), leaf_model="mean", keep="nothing", threads=1).fit(log)


@dataclass
class Covered:
    """How often bands hold what fresh logs say, and how wide they are beside what 90 % of these span."""

    shares: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)

    def add(self, low: float | None, high: float | None, fresh: F64) -> None:
        """Try one band."""
        known = fresh[np.isfinite(fresh)]
        if low is None or high is None or len(known) < 0.5 * len(fresh):
            return
        self.shares.append(float(((known >= low) & (known <= high)).mean()))
        span = float(np.quantile(known, 0.95) - np.quantile(known, 0.05))
        if span > 0:
            self.widths.append((high - low) / span)

    @property
    def share(self) -> float | None:
        """The share of fresh logs within the bands."""
        return float(np.mean(self.shares)) if self.shares else None

    @property
    def width(self) -> float | None:
        """The typical width."""
        return float(np.median(self.widths)) if self.widths else None


def said(tree: TripleTree, log: Log, curve: bool) -> dict[str, Any]:
    """Return what a log says: first split, prediction and bounds in one state, and the first feature's effect."""
    root, why = tree.tree_, tree.explain(AT)
    found = {
        "feature": int(root.feature[0]),
        "threshold": float(root.threshold[0]),
        "prediction": float(why.prediction[0]),
        "bound": float(why.lower[0]) if np.isfinite(why.lower[0]) else np.nan,
    }
    if curve:
        line = tree.effects(log, features=["s0"]).curves[0]
        found["curve"] = np.interp(POINTS, line.grid, line.curve[:, 0])
    return found


def tried(world: str, episodes: int, logs: int, fresh: int, curves: int, seed: int = 0) -> dict[str, Any]:
    """Return how the bands of some logs hold for fresh ones."""
    rng = np.random.default_rng(seed)
    many = [record(world, episodes, rng) for _ in range(fresh)]
    truth = [said(grown(log), log, k < 50 * curves) for k, log in enumerate(many)]
    feature = np.array([one["feature"] for one in truth])
    threshold = np.array([one["threshold"] if one["feature"] == 0 else np.nan for one in truth])
    covered = {name: Covered() for name in ("threshold", "bound", "prediction", "curve")}
    same, alike = [], []
    for k in range(logs):
        log = record(world, episodes, rng)
        tree = grown(log)
        answer: Stability = tree.stability(log)
        first = answer.splits[0]
        same.append(first.same / first.trees)
        alike.append(answer.predictions[0].alike)
        if first.feature == 0:
            covered["threshold"].add(first.low, first.high, threshold)
        steady = tree.explain(AT, stability=True, log=log).stability
        covered["prediction"].add(steady.low[0], steady.high[0], np.array([one["prediction"] for one in truth]))
        for bound in steady.bounds:
            if (bound.feature, bound.side) == (0, ">="):
                covered["bound"].add(bound.low, bound.high, np.array([one["bound"] for one in truth]))
        if k < curves:
            line = tree.effects(log, features=["s0"], stability=True).curves[0]
            ends = [np.interp(POINTS, line.grid, side[:, 0]) for side in (line.low, line.high)]
            for place in range(len(POINTS)):
                known = np.array([one["curve"][place] for one in truth if "curve" in one])
                covered["curve"].add(float(ends[0][place]), float(ends[1][place]), known)
    row: dict[str, Any] = {
        "world": world,
        "episodes": episodes,
        "fresh logs that split on it first": float((feature == 0).mean()),
        "trees of halves that split as their log": float(np.mean(same)),
        "likeness": float(np.mean(alike)),
    }
    for name, found in covered.items():
        row[f"{name} covered"], row[f"{name} width"] = found.share, found.width
    return row


def run(options: Options, report: Report) -> None:
    """Try bands in every world."""
    for episodes in EPISODES:
        for world in WORLDS:
            if options.wants(world):
                say(f"{world}, {episodes} episodes")
                size = (10, 100, 1) if options.quick else (LOGS, FRESH, CURVES)
                report.rows.append(tried(world, episodes, *size, seed=options.seed))
    report.notes += NOTES
