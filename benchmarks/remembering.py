"""Does the agent remember? How often logs of agents with a known answer are told rightly."""

from __future__ import annotations

import functools
import itertools
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness import Options, Report, say
from benchmarks.memory_machines import operate
from benchmarks.memory_trained import by_hand, trained
from benchmarks.memory_truth import TIMES, Play, all_known, explained
from benchmarks.memory_worlds import EPISODES, SWITCHED, Played, play

TITLE = "Memory found in agents that have some, and in agents that have none"
KINDS = {
    "none": "none",
    "mode": "one of two modes in each episode",
    "hysteresis": "switches at one threshold, back at another",
    "delay": "acts on the state 2 to 6 steps ago",
    "switching": "changes its mode now and then",
    "latch": "changes for good once a feature was high",
    "sticky": "repeats its action now and then",
    "smooth": "takes a part of its last action over",
}
RIGHT = {
    "mode": {"mode"},
    "delay": {"state"},
    "hysteresis": {"hysteresis", "event"},
    "switching": {"mode", "action", "change"},
    "latch": {"event", "hysteresis"},
    "sticky": {"repeat", "action", "change"},
    "smooth": {"action", "change", "repeat"},
}
"""Kinds of clue that name the memory rightly."""
LOGS = {
    "states that wander": (10, 3, 30),
    "textbook machine": (30, 5, 60),
    "random world": (35, 5, 100),
    "trained agent": (15, 5, 30),
    "lander by hand": (12, 4, 60),
}
"""Logs of each kind of memory that the bar is about, of other kinds, and without memory; in each kind of world."""
RARE = ("hysteresis",)
"""Kinds that mostly explain little where the agent moves the state: twice the logs."""
ASKED_FOR = ("mode", "hysteresis", "delay")
TELLABLE = (*SWITCHED, "delay")
WANDERING, MACHINE, RANDOM, TRAINED, BY_HAND = LOGS
PLAYS: dict[str, Play] = {
    WANDERING: functools.partial(play, wander=True),
    MACHINE: operate,
    RANDOM: play,
    TRAINED: trained,
    BY_HAND: by_hand,
}
LEAST = 0.05
"""Of the variation of the actions: what a memory explains, if it is to be found."""
TOLD, LEAST_GAIN, PART = 0.025, 0.01, 0.02
"""How often chance alone may do as well where the mode is told; what it must explain, and of what the state leaves."""
NOTES = [
    f"{EPISODES} episodes a log. Without memory, every finding is a false alarm. No agent changes from early to late "
    "episodes, so every change found is one, too (at a quick look).",
    "What a memory explains beyond the state is the mean squared distance between what the agent does on average given "
    "its state and its memory, and given its state alone, by the variance of its actions. The latter is learnt from "
    f"{TIMES * EPISODES} episodes of the same agent; where the log's own leave less unexplained, it is that.",
    "Told the mode of every step, or how old the state is that it acts on, but not what it does then, the same test "
    f"should find it; where it does not, {EPISODES} episodes do not show the memory.",
    "All known: the mode of every step, what is done on average in each mode, and how likely the state makes it.",
]


def run(options: Options, report: Report) -> None:
    """Ask logs of agents without memory, and of agents with some."""
    asked: dict[tuple[str, str], list[Asked]] = {}
    report.notes += NOTES
    try:
        with ProcessPoolExecutor() as pool:
            for kind, where in itertools.product(KINDS, LOGS):
                if options.wants(f"{where} {kind}"):
                    one_kind = functools.partial(ask, where, kind, options.quick)
                    asked[where, kind] = list(pool.map(one_kind, seeds(where, kind, options)))
                    table = rows(where, kind, asked[where, kind])
                    say(
                        "\n".join(
                            str({name: value for name, value in row.items() if value is not None}) for row in table
                        )
                    )
                    report.rows += table
    finally:  # Ctrl-C keeps what was measured until then
        for kind in ASKED_FOR:
            both = [one for (_, which), some in asked.items() for one in some if which == kind]
            report.rows += rows("all", kind, both)[:1] if both else []


def seeds(where: str, kind: str, options: Options) -> range:
    """Return the seeds of the logs of one kind."""
    asked_for, other, without = LOGS[where]
    usual = without if kind == "none" else asked_for if kind in ASKED_FOR else other
    usual *= 2 if kind in RARE and where != WANDERING else 1
    first = 171_000 + 1_000 * list(KINDS).index(kind) + options.seed
    return range(first, first + options.repetitions(usual))


@dataclass(frozen=True)
class Asked:
    """What was found out about one log: how much the memory explains, whether it was found, and as what.

    Attributes
    ----------
    explains : float
        Share of the variation of the actions; infinite where that is not known.
    found : bool
        Whether memory was found.
    named : str
        The kind of clue that was named.
    told : bool or None
        Whether it was found by one who was told the mode, or the delay; None where nobody was.
    known : bool or None
        Whether it was found by one who knows both modes, too, and how well the state tells them apart.
    changed : bool or None
        Whether a change was found; None where nobody asked.
    """

    explains: float
    found: bool
    named: str
    told: bool | None
    known: bool | None
    changed: bool | None


def ask(where: str, kind: str, quick: bool, seed: int) -> Asked:
    """Ask one log. Whether the agent changes is asked where it has no memory: it never does."""
    from tripletree import drift, memory

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        playing = PLAYS[where]
        played = playing(kind, seed)
        log = played.log()
        answer = memory(log, quick=quick)
        share = np.inf if kind == "none" else explained(kind, seed, playing)
        # What the state tells needs no memory.
        share = min(share, answer.unexplained) if share < np.inf else share
        told = told_it(played, log) if kind in TELLABLE and share >= LEAST else None
        known = knows_all(kind, seed, playing, log) if kind in SWITCHED and share >= LEAST else None
        changed = drift(log, quick=True).found if kind == "none" else None
        return Asked(share, answer.found, answer.clues[0].kind if answer.clues else "", told, known, changed)


def told_it(played: Played, log: Any) -> bool:
    """Return whether memory is found by one who knows the mode in every step, or the delay, but not what is done."""
    from tripletree.log.remembering import LEVEL, MOST_EPISODES, ROWS, Agent
    from tripletree.log.telling import case_of, targets_of

    case = case_of(log, ROWS, MOST_EPISODES)
    acts = None if case is None else targets_of(case)
    if case is None or acts is None:
        return False
    agent = Agent(case, acts.columns, quick=False, seed=0)
    if played.lag:
        return agent.late(played.lag).p < LEVEL
    told = agent.leftovers.by_clues(2.0 * played.bit[case.taken][case.rows, None] - 1)
    return told.p < TOLD and told.gain >= max(LEAST_GAIN, PART * agent.unexplained)


def knows_all(kind: str, seed: int, playing: Play, log: Any) -> bool:
    """Return whether memory is found by one who knows the mode, what each does, and what the state tells of it."""
    from tripletree.log.leftovers import Leftovers
    from tripletree.log.remembering import MOST_EPISODES, ROWS
    from tripletree.log.telling import case_of

    case = case_of(log, ROWS, MOST_EPISODES)
    if case is None:
        return False
    left, guess, likely, whole = all_known(kind, seed, playing, case.taken[case.rows])
    basis = np.concatenate([np.ones_like(likely), likely], axis=1)
    told = Leftovers(left, basis, case.fold, case.episode[case.rows], whole).by_guesses([guess])
    return told.p < TOLD and told.gain >= max(LEAST_GAIN, PART * float((left**2).sum()) / whole)


def rows(where: str, kind: str, asked: list[Asked]) -> list[dict[str, Any]]:
    """Return the rows of a kind: one, or one for memories that explain enough to be found and one for the others."""
    parted = kind != "none"
    ranges = [(LEAST, np.inf, "5 % or more"), (-np.inf, LEAST, "less")] if parted else [(-np.inf, np.inf, "")]
    table = []
    for low, high, words in ranges:
        some = [one for one in asked if low <= one.explains < high or not parted]
        found = [one for one in some if one.found]
        told = [one for one in some if one.told]
        row: dict[str, Any] = {"agent": where, "memory": KINDS[kind], "it explains": words, "logs": len(some)}
        row["found"] = len(found)
        row["named rightly"] = None if kind == "none" else sum(one.named in RIGHT[kind] for one in found)
        tellable = kind in TELLABLE and parted and low > 0
        row["found if told"] = len(told) if tellable else None
        row["of these found"] = sum(one.found for one in told) if tellable else None
        row["found if all is known"] = sum(bool(one.known) for one in some) if tellable and kind in SWITCHED else None
        known = [one.changed for one in some if one.changed is not None]
        row["change found"] = sum(known) if known else None
        table.append(row)
    return table
