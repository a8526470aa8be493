"""What changed? How often changes of the lander are found, told rightly, and seen where there are none."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import flights
from benchmarks.harness import Options, Report, say

TITLE = "Changes of the lander's agent and world, found from two logs at alpha = 0.05"
POOL, CHANGED_POOL = 1000, 400
"""Episodes that logs are drawn from, without replacement."""
USUAL_SEED, CHANGED_SEED = 31, 32
"""Of flights on which nothing was chosen: those of seeds 11 and 12 were looked at while the tests were made."""
ALPHA = 0.05
CASES = (
    ("none", 50, 100),
    ("corner", 50, 25),
    ("corner", 100, 20),
    ("gain", 100, 20),
    ("noise", 20, 40),
    ("gravity", 50, 25),
    ("labels", 50, 12),
    ("heuristic", 50, 12),
    ("starts", 50, 12),
    ("none", 20, 40),
    ("none", 100, 40),
    ("gain 20", 50, 12),
    ("gravity 8", 50, 25),
    ("wind", 50, 25),
    ("both", 50, 12),
)
PHYSICS = 0.5 * (400 / 30 / 2) / 50**2
"""What 0.5 m/s2 less of gravity adds to v_y in a step, in its own unit."""


def draw(name: str, n: int, seed: int) -> tuple[Any, Any]:
    """Return two logs of n episodes, the second with a change."""
    rng = np.random.default_rng([seed, n])
    usual = flights.fly("none", POOL, USUAL_SEED)
    if name == "none":
        order = rng.permutation(POOL)
        return usual.select(order[:n]), usual.select(order[n : 2 * n])
    if name == "starts":
        left, right = (flights.fly(side, CHANGED_POOL, CHANGED_SEED) for side in ("from left", "from right"))
        return right.select(rng.permutation(CHANGED_POOL)[:n]), left.select(rng.permutation(CHANGED_POOL)[:n])
    changed = flights.fly(name, CHANGED_POOL, CHANGED_SEED)
    return usual.select(rng.permutation(POOL)[:n]), changed.select(rng.permutation(CHANGED_POOL)[:n])


def run(options: Options, report: Report) -> None:
    """Ask pairs of logs with a known answer."""
    from tripletree import diff

    for name, n, usual in CASES:
        if not options.wants(f"{name} {n}"):
            continue
        times = 2 if options.quick else options.repetitions(usual)
        say(f"{name}, {n} + {n} episodes, {times} times")
        claims, right, within, seconds = [], [], [], []
        alarms = told = either = 0
        sizes: list[float] = []
        for seed in range(times):
            old, new = draw(name, n, options.seed + seed)
            begin = time.process_time()
            found = diff(old, new, alpha=ALPHA)
            seconds.append(time.process_time() - begin)
            alarms += any((cause.adjusted or 1.0) <= ALPHA for cause in found.causes)
            claims.append(found.changed)
            either += found.either
            told += any(cause.regions for cause in found.causes)
            if name == "corner" and found["policy"].regions:
                inside = _inside(found["policy"].regions, np.concatenate([old.states, new.states]))
                corner = flights.corner(np.concatenate([old.states, new.states]))
                right.append(float(corner[inside].mean()))
                within.append(float(inside[corner].mean()))
            sizes += [
                region.effect
                for region in found["world"].regions
                if name == "gravity" and (region.target, region.kind) == ("v_y", "mean")
            ][:1]
        share = {cause: np.mean([cause in one for one in claims]) for cause in ("policy", "world", "start")}
        report.rows.append(
            {
                "change": "other starts" if name == "starts" else flights.CHANGES[name].words,
                "episodes a side": n,
                "pairs": times,
                "alarms": alarms / times,
                "± alarms": float(np.sqrt(alarms / times * (1 - alarms / times) / times)),
                **{f"{cause} claimed": float(value) for cause, value in share.items()},
                "policy or world": either / times,
                "regions told": told / times,
                "precision of regions": float(np.mean(right)) if right else None,
                "± precision": float(np.std(right, ddof=1) / np.sqrt(len(right))) if len(right) > 1 else None,
                "found of the corner": float(np.mean(within)) if within else None,
                "size / true size": float(np.median(sizes)) / PHYSICS if sizes else None,
                "CPU s": float(np.median(seconds)),
            }
        )
    report.notes += [
        "Alarms: any of policy, world and start differs, adjusted for all tests (± standard errors). Claimed: what is "
        "called changed.",
        "Regions told: in how many pairs any claim comes with a place. Precision and size are of these alone.",
        "Without a change, every alarm is a false one: at 0.05, up to 8 of 100 are within chance.",
        "Policy or world: one of the two is claimed, and which is left open.",
        f"The agent of the package, seen from outside alone; logs are drawn from {POOL:,} of its flights and "
        f"{CHANGED_POOL} changed ones.",
    ]


def _inside(regions: Any, states: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(states), bool)
    for one in regions:
        found |= ((states >= one.lower) & (states < one.upper)).all(axis=1)
    return found
