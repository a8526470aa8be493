"""The lander, third part: is this agent asymmetric, as the paper's is? Measured on the log, with intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tripletree.demos import lander
from tripletree.log.derive import values
from tripletree.log.log import Log
from tripletree.reproduce.lander_maps import PAD
from tripletree.reproduce.lander_tree import Lander
from tripletree.reproduce.page import Claim, Section, Table, Text, judged
from tripletree.reproduce.work import F64, by_episode, difference_interval, mean_interval, percent

TILT = 0.1
"""Tilt in rad from which a swing is counted."""
MEASURES = {
    "value": "value at the start",
    "widest": "widest |x|",
    "curved": "length of the flight / straight line",
    "missed": "share of touchdowns beside the zone",
    "shuffled": "steps from touchdown to the end",
}


def section(part: Lander) -> Section:
    """Return the section on left and right."""
    log = part.training
    found = by_episode(log, _measure)
    found["value"] = values(log, lander.GAMMA)[log.starts[:-1]]
    # A craft that is pushed to the left comes back from the left.
    left, right = found["kick"] < 0, found["kick"] > 0
    rows, differences = [], {}
    for name, words in MEASURES.items():
        one, other = (found[name][side & ~np.isnan(found[name])] for side in (left, right))
        differences[name] = difference_interval(one, other)
        rows.append([words, _spoken(one), _spoken(other), "{:.3f} ({:.3f} to {:.3f})".format(*differences[name])])
    tilts = {sign: found[f"overshoot {sign}"] for sign in ("left", "right")}
    tilts = {sign: ratio[~np.isnan(ratio)] for sign, ratio in tilts.items()}
    damping = difference_interval(tilts["left"], tilts["right"])
    rows.append(
        [
            "overshoot after a tilt",
            _spoken(tilts["left"]),
            _spoken(tilts["right"]),
            "{:.3f} ({:.3f} to {:.3f})".format(*damping),
        ]
    )
    unlike = [words for (name, words) in MEASURES.items() if _differs(differences[name])]
    unlike += ["overshoot after a tilt"] if _differs(damping) else []
    return Section(
        "Lander: is this agent asymmetric?",
        [
            Text(
                "The world is symmetric: its mirror image is the same world. The craft starts above the landing "
                f"zone with a random push; {left.sum()} episodes were pushed to the left and come back from there, "
                f"{right.sum()} to the right. For a symmetric agent the differences would be 0 but for chance. "
                f"Intervals: 95 %, by resampling episodes. Overshoot: the first time that |phi| has passed {TILT} "
                "rad and turned back, how far it swings to the other side, as a share of the tilt."
            ),
            Table("Left and right, all from the log.", ("per episode", "left", "right", "right minus left"), rows),
            Claim(
                "Left and right are alike in this world, and yet landings from the left are worth more and fly "
                "straighter.",
                f"Value at the start: {_compared(differences['value'], 'higher', 1)}. Length of the flight, as a "
                f"multiple of the straight line: {_compared(differences['curved'], 'longer', 3)}.",
                judged(differences["value"][2] < 0, differences["curved"][1] > 0),
            ),
            Claim(
                "From the right the craft swings out further; now and then it comes down beside the zone and loses "
                "value by crawling back.",
                f"Widest |x|: {_compared(differences['widest'], 'wider', 3)}. Touchdowns beside the zone: "
                f"{percent(found['missed'][left].mean(), 1)} from the left and "
                f"{percent(found['missed'][right].mean(), 1)} from the right. {_cost(found, log)}",
                judged(differences["widest"][1] > 0, differences["missed"][1] > 0),
            ),
            Claim(
                "Tilted to one side (in the paper: left) the craft comes upright without overshoot; tilted to the "
                "other it overshoots.",
                f"Mean overshoot after a tilt to the left (phi > 0, anticlockwise) is {percent(tilts['left'].mean())} "
                f"of the tilt, to the right {percent(tilts['right'].mean())} ({len(tilts['left'])} and "
                f"{len(tilts['right'])} episodes): {_compared(damping, 'more', 3)}.",
                judged(_differs(damping)),
            ),
            Claim(
                "The policy earns much, but treats left and right differently throughout.",
                "Differences whose interval excludes 0: "
                + (", ".join(unlike) if unlike else "none")
                + f". ({len(unlike)} of {len(rows)} "
                "measures; by chance alone one in twenty would.)",
                judged(len(unlike) >= 2),
            ),
        ],
    )


def _measure(states: F64, _actions: F64) -> Mapping[str, float]:
    """Return what one episode says about sides."""
    x, y, phi = states[:, 0], states[:, 1], states[:, 4]
    # Up to touchdown: on the ground the craft creeps, which says nothing about how it flies.
    down = np.flatnonzero(states[:, 6:].any(axis=1))
    touch = int(down[0]) if len(down) else len(states) - 1
    flown = np.hypot(np.diff(x[: touch + 1]), np.diff(y[: touch + 1])).sum()
    straight = np.hypot(x[touch] - x[0], y[touch] - y[0])
    return {
        "kick": float(np.sign(states[0, 2])),
        "widest": float(np.abs(x[: touch + 1]).max()),
        "curved": float(flown / straight),
        "missed": float(not PAD[0] <= x[touch] <= PAD[1]),
        "shuffled": float(len(states) - 1 - touch),
        "overshoot left": _overshoot(phi[: touch + 1]),
        "overshoot right": _overshoot(-phi[: touch + 1]),
    }


def _overshoot(phi: F64) -> float:
    """Return how far phi swings below 0 after its first peak above TILT, as a share of the peak; NaN without a peak."""
    peaks = np.flatnonzero((phi[1:-1] > TILT) & (phi[1:-1] >= phi[:-2]) & (phi[1:-1] > phi[2:])) + 1
    if not len(peaks):
        return np.nan
    rest = phi[peaks[0] :]
    # Until it comes back from the other side, or to touchdown: later swings have other causes.
    below = np.flatnonzero(rest < 0)
    if not len(below):
        return 0.0
    back = np.flatnonzero(rest[below[0] :] > 0)
    swing = rest[below[0] : below[0] + back[0]] if len(back) else rest[below[0] :]
    return float(-swing.min() / rest[0])


def _cost(found: Mapping[str, F64], log: Log) -> str:
    """Return what a touchdown beside the zone costs."""
    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    missed = found["missed"] > 0
    # Resampling so few returns would give an interval that means nothing.
    if missed.sum() < 5:
        return f"Only {missed.sum()} touchdowns are beside the zone, too few to estimate what they cost."
    return (
        f"After a touchdown beside the zone it takes {found['shuffled'][missed].mean():.0f} steps to the end, "
        f"otherwise {found['shuffled'][~missed].mean():.0f}; the return differs by "
        f"{_tell(difference_interval(returns[missed], returns[~missed]), 1)}."
    )


def _differs(interval: tuple[float, float, float]) -> bool:
    return interval[1] > 0 or interval[2] < 0


def _compared(interval: tuple[float, float, float], word: str, digits: int) -> str:
    """Return "longer from the left by 0.1 (0.05 to 0.15)", or that there is no difference beyond chance."""
    number, low, high = interval
    if not _differs(interval):
        return f"no difference beyond chance ({number:+.{digits}f}, interval {low:+.{digits}f} to {high:+.{digits}f})"
    if number < 0:
        number, low, high = -number, -high, -low
        return f"{word} from the left by {_tell((number, low, high), digits)}"
    return f"{word} from the right by {_tell(interval, digits)}"


def _tell(interval: tuple[float, float, float], digits: int) -> str:
    number, low, high = interval
    return f"{number:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def _spoken(sample: F64) -> str:
    return "{:.3f} ({:.3f} to {:.3f})".format(*mean_interval(sample))
