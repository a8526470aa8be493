"""Why it failed: the risk, its turning points and the causes of failures, beside what the simulator knows of them."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import flights
from benchmarks.flights import Change
from benchmarks.harness import Options, Report, say

F64 = npt.NDArray[np.float64]

TITLE = "Why it failed: risk, turning points and causes, with the lander's own agent"
WHEN, LIMIT = "return < 100", 100.0
EPISODES = 300
AGAIN = 16
"""Continuations from a point, to see how many of them fail."""
REFERENCE = 100
FLEET = 60
"""Flights with each change whose cause is to be found."""


def _one_sided(state: F64, _: np.random.Generator) -> F64:
    """Fly like the agent, which has forgotten how to fire to the left."""
    main, side = flights.CHANGES["none"].act(state, _)
    return np.array([main, max(side, -0.4)])


def _timid(state: F64, rng: np.random.Generator) -> F64:
    return np.asarray(0.5 * flights.CHANGES["none"].act(state, rng))


def _biased(state: F64, rng: np.random.Generator) -> F64:
    return np.clip(flights.CHANGES["none"].act(state, rng) + np.array([0.0, 0.5]), -1, 1)


def _dead(action: F64) -> F64:
    return np.array([action[0], max(action[1], -0.4)])


def _windy(power: float, turbulence: float = 1.5) -> dict[str, Any]:
    return {"enable_wind": True, "wind_power": power, "turbulence_power": turbulence}


WORLDS: dict[str, tuple[Change, int, int]] = {
    "wind 20": (Change("wind of up to 20", world=_windy(20.0, 2.0)), 1, 24),
    "wind 15": (Change("wind of up to 15", world=_windy(15.0)), 3, 48),
    "corner": (flights.CHANGES["corner"], 2, 12),
}
"""What makes flights fail, the seed of their starts, and the failures that are flown on."""

CAUSES: dict[str, tuple[str, Change]] = {
    "corner": ("policy", flights.CHANGES["corner"]),
    "one-sided": ("policy", Change("never fires to the left", _one_sided)),
    "timid": ("policy", Change("half of every action", _timid)),
    "biased": ("policy", Change("side engine 0.5 to the right", _biased)),
    "wind 15": ("world", Change("wind of up to 15", world=_windy(15.0))),
    "wind 20": ("world", Change("wind of up to 20", world=_windy(20.0, 2.0))),
    "dead engine": ("world", Change("the left engine does not fire", engines=_dead)),
    "half power": ("world", Change("engines get half of every action", engines=lambda action: 0.5 * action)),
}


@dataclass(frozen=True)
class Truth:
    """What the simulator says of one failure: the steps that were looked at, and the share that failed from each."""

    episode: int
    steps: npt.NDArray[np.int64]
    chance: F64

    def turn(self, length: int) -> int:
        """Return the step from which on the chance to fail stays at one half or above it."""
        from tripletree.questions.risk import turn

        return turn(np.interp(np.arange(length), self.steps, self.smooth), 0.5)

    @property
    def smooth(self) -> F64:
        """The chances with their neighbours: sixteen continuations are a rough count."""
        wide = np.concatenate([self.chance[:1], self.chance, self.chance[-1:]])
        return np.asarray((wide[:-2] + 2 * wide[1:-1] + wide[2:]) / 4)

    def doubt(self, length: int, again: int = AGAIN) -> float:
        """Return how far apart the turning points of two such counts are, in the median: what nobody can do better."""
        random = np.random.default_rng(self.episode)
        drawn = random.binomial(again, self.smooth, (40, len(self.steps))) / again
        turns = [Truth(self.episode, self.steps, one).turn(length) for one in drawn]
        return float(np.median(np.abs(np.diff(turns)[::2])))


def chance(env: Any, change: Change, number: int, actions: F64, paid: float, again: int) -> float:
    """Return how often a flight fails that begins like another one, and goes on with other noise and other wind."""
    failed = 0
    for time in range(again):
        random = np.random.default_rng([number, len(actions), time])
        state = flights.replay(env, number, actions)
        world = env.unwrapped
        world.np_random = random
        if world.enable_wind:
            world.wind_idx, world.torque_idx = (int(one) for one in random.integers(-9999, 9999, 2))
        total, over = paid, False
        while not over:
            state, reward, ended, cut, _ = env.step(np.asarray(change.act(state, random), np.float32))
            total, over = total + float(reward), ended or cut
        failed += total < LIMIT
    return failed / again


def truths(name: str, log: Any, episodes: npt.NDArray[np.int64], again: int) -> list[Truth]:
    """Return what the simulator says of some failures: first every so often, then close to where the chance turns."""
    change = WORLDS[name][0]
    key = hashlib.sha256(
        f"{change.words} {change.world} {log.fingerprint()} {episodes.tolist()} {again}".encode()
    ).hexdigest()[:24]
    kept = Path(tempfile.gettempdir()) / "tripletree-flights" / f"truth-{key}.npy"
    if kept.exists():
        table = np.load(kept)
        parts = [table[table[:, 0] == e] for e in episodes.tolist()]
        return [Truth(int(part[0, 0]), part[:, 1].astype(np.int64), part[:, 2]) for part in parts]
    env, found = flights.world(change), []
    try:
        for place, e in enumerate(episodes.tolist()):
            say(f"{name}: failure {place + 1} of {len(episodes)}")
            first, end = int(log.starts[e]), int(log.starts[e + 1])
            actions, rewards = log.actions[first:end].astype(np.float32), log.rewards[first:end]
            number, known = int(log.episode_ids[e]), dict[int, float]()

            def look(steps: npt.NDArray[Any], number: int = number, known: dict[int, float] = known) -> None:
                for k in np.unique(steps.astype(int)).tolist():
                    if k not in known:
                        known[k] = chance(env, change, number, actions[:k], float(rewards[:k].sum()), again)  # noqa: B023

            look(np.linspace(0, end - first - 1, 11))
            rough = Truth(e, np.array(sorted(known)), np.array([known[k] for k in sorted(known)]))
            at, cell = rough.turn(end - first), (end - first) / 10
            look(np.clip(np.linspace(at - cell, at + cell, 8), 0, end - first - 1))
            found.append(Truth(e, np.array(sorted(known)), np.array([known[k] for k in sorted(known)])))
    finally:
        env.close()
    kept.parent.mkdir(exist_ok=True)
    rows = [(one.episode, k, c) for one in found for k, c in zip(one.steps, one.chance, strict=True)]
    np.save(kept, np.array(rows, float))
    return found


def run(options: Options, report: Report) -> None:
    """Judge the risk on episodes left out, its turning points by flying on from them, and causes that are known."""
    from tripletree import failures

    small = options.quick
    every: list[tuple[float, bool, float]] = []
    for name, (change, seed, judged) in WORLDS.items():
        if not options.wants(name):
            continue
        log = flights.flown(change, 60 if small else EPISODES, seed)
        told = failures(log, WHEN)
        row: dict[str, Any] = {"what": f"risk, {change.words}", "episodes": log.n_episodes, "failures": told.failed}
        if told.judged is not None:
            row |= {
                "skill": told.judged.skill,
                "± skill": (told.judged.interval[1] - told.judged.skill) / 1.96,
                "calibration error": told.judged.error,
            }
        row |= {"foreseen": told.kinds.get("foreseen", 0), "never": told.kinds.get("unforeseen", 0)}
        some = np.sort(np.random.default_rng(seed).permutation(np.flatnonzero(told.fails))[: 3 if small else judged])
        cases = {case.episode: case for case in told.cases}
        errors, inside, distance, doubts = [], [], [], []
        for true in truths(name, log, some, 2 if small else AGAIN):
            case = cases[true.episode]
            at = true.turn(case.steps)
            mine = case.steps if case.turning is None else case.turning
            errors.append(abs(mine - at))
            # A failure that was never foreseen has no interval: it says that the risk did not turn.
            low, high = case.interval or (case.steps, case.steps)
            inside.append(low <= at <= high)
            doubts.append(true.doubt(case.steps))
            if told.risk is not None:
                distance.append(told.risk[told.starts[true.episode] + true.steps] - true.chance)
        row |= _turned(list(zip(errors, inside, doubts, strict=True)))
        row |= {"risk minus chance": float(np.concatenate(distance).mean()) if distance else None}
        report.rows.append(row)
        every += zip(errors, inside, doubts, strict=True)
    if every:
        report.rows.append({"what": "turning points, all of these", **_turned(every)})
    if options.wants("cause"):
        _causes(options, report)
    report.notes += [
        f"Failed means {WHEN}. Skill and calibration are those of episodes left out; ± are standard errors.",
        f"Turning points: from about 19 points of a failure {AGAIN} flights go on with other noise and other wind, and "
        "the step is looked for from which on half of them or more fail. These counts are rough themselves: beside a "
        "chance of one half they are off by 0.12, and the table says how far apart two such counts put the step.",
        f"Causes: {FLEET} flights with each change and {REFERENCE} without, the latter also (others) as the reference. "
        "Bars: skill 0.45, calibration error 0.06, 8 steps, 80 % in the interval, 70 % of the causes, each within two "
        "standard errors. Wind is not in the log, so that no state tells what it will do.",
    ]


def _turned(found: list[tuple[float, bool, float]]) -> dict[str, Any]:
    """Return how far turning points are from those that were flown, and how often those lie in the intervals."""
    errors, inside, doubts = (np.array(column, float) for column in zip(*found, strict=True))
    drawn = np.random.default_rng(0).choice(errors, (400, len(errors)))
    return {
        "failures flown on": len(errors),
        "turning point off by (median)": float(np.median(errors)),
        "± off": float(np.median(drawn, axis=1).std()),
        "two such counts differ by": float(np.median(doubts)),
        "in the 90 % interval": float(inside.mean()),
        "± in": float(np.sqrt(inside.mean() * (1 - inside.mean()) / len(inside))),
    }


def _causes(options: Options, report: Report) -> None:
    from tripletree import Log, failures

    many = 20 if options.quick else FLEET
    parts = [flights.flown(change, many, 10 + k) for k, (_, change) in enumerate(CAUSES.values())]
    well = flights.flown(flights.CHANGES["none"], REFERENCE, 4)
    fleet = Log.concatenate([*parts, flights.flown(flights.CHANGES["none"], REFERENCE, 5)])
    known = [name for name in CAUSES for _ in range(many)]
    for label, reference in (("with a reference", well), ("beside its own successes", None)):
        say(f"causes {label}")
        told = failures(fleet, WHEN, reference)
        if reference is not None and told.judged is not None:
            report.rows.append(
                {
                    "what": "risk, a fleet with all causes",
                    "episodes": told.episodes,
                    "failures": told.failed,
                    "skill": told.judged.skill,
                    "± skill": (told.judged.interval[1] - told.judged.skill) / 1.96,
                    "calibration error": told.judged.error,
                    "foreseen": told.kinds.get("foreseen", 0),
                    "never": told.kinds.get("unforeseen", 0),
                }
            )
        right: dict[str, list[bool]] = {name: [] for name in CAUSES}
        for case in told.cases:
            if case.episode < len(known):
                right[known[case.episode]].append(case.cause == CAUSES[known[case.episode]][0])
        shares = {name: float(np.mean(found)) for name, found in right.items() if found}
        for name, share in shares.items():
            count, cause = len(right[name]), CAUSES[name][0]
            error = float(np.sqrt(share * (1 - share) / count))
            what = f"cause {label}: {CAUSES[name][1].words} ({cause})"
            report.rows.append({"what": what, "failures": count, "cause found": share, "± found": error})
        # Changes count alike, however many failures each makes.
        mean = float(np.mean(list(shares.values())))
        error = float(np.sqrt(sum(s * (1 - s) / len(right[n]) for n, s in shares.items())) / len(shares))
        total = sum(len(found) for found in right.values())
        report.rows.append({"what": f"cause {label}: mean", "failures": total, "cause found": mean, "± found": error})
