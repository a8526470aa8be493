"""Does the real agent do what a counterfactual says? ``python -m benchmarks.confirming LOG WEIGHTS [--leaves n]``.

LOG is a lander's recording with two continuous actions, main and side engine; WEIGHTS an NPZ file with its policy, in
the form that `faithful_cases.policy` reads. For the built-in agents: ``python -m benchmarks faithful --only counter``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.faithful_cases import Case, names, own
from benchmarks.faithful_losses import UNSEEN, splits
from benchmarks.harness import Options, Report, say
from tripletree import Log, TripleTree, TripleTreeWarning
from tripletree.asking.agents import ask_agent, confirms
from tripletree.asking.foils import read_foil

SIZES = (200, 450)
STATES = 500
"""Unseen states of each division."""
LEVEL = 0.5
"""An engine is on from here, or off (pushes to the other side) up to minus this."""
BAG = "bag"
WAYS: dict[str, dict[str, Any]] = {
    "nearest border": {"opinion": False},
    "margin 0.05": {"opinion": False, "margin": 0.05},
    "second opinion": {},
    BAG: {},
    "verified": {"verified": True},
}
"""Options of each way to ask; the bag is grown on the training log."""
TARGETS = {"second opinion": 0.7, BAG: 0.8}
"""What is to be reached on continuous landers, at 450 leaves."""
LEADS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
LABELLED = ("LunarLander-v3", "Acrobot-v1", "CartPole-v1")
"""Agents that do one of several labels."""

Add = Callable[..., None]


class Tally:
    """Counts what came of some questions."""

    def __init__(self) -> None:
        self.asked = self.found = self.confirmed = self.agreed = 0
        self.changed = self.distance = self.seconds = 0.0

    def ask(self, tree: TripleTree, states: np.ndarray, foil: Any, agent: Any, options: dict[str, Any]) -> None:
        """Ask about all states at once."""
        begin = time.perf_counter()
        answers = tree.counterfactuals(states, foil, agent=agent, **options)
        self.seconds += time.perf_counter() - begin
        found = answers.found
        away = (answers.foil_states[found] - states[found]) / tree.fitted_.span
        self.asked += len(states)
        self.found += int(found.sum())
        self.confirmed += int(answers.confirmed[found].sum())
        self.agreed += 0 if answers.agreed is None else int(answers.agreed[found].sum())
        self.changed += float(answers.changed[found].sum())
        self.distance += float(np.linalg.norm(away, axis=1).sum())

    def row(self, second: bool) -> dict[str, Any]:
        """Return the shares and means."""
        of = max(self.found, 1)
        return {
            "questions": self.asked,
            "answered": round(self.found / max(self.asked, 1), 3),
            "second model agrees": round(self.agreed / of, 3) if second else None,
            "confirmed": round(self.confirmed / of, 3),
            "features changed": round(self.changed / of, 2),
            "distance": round(self.distance / of, 3),
            "ms": round(1e3 * self.seconds / max(self.asked, 1), 2),
        }


def foils(log: Log) -> list[dict[str, Any]]:
    """Return what is asked: every label, or each of two engines on and off."""
    action = log.schema.action
    if action.labels:
        return [{"action": label} for label in action.labels]
    return [{name: bounds} for name in action.names[:2] for bounds in ((LEVEL, None), (None, -LEVEL))]


def questions(tree: TripleTree, states: np.ndarray, log: Log, agent: Any) -> Iterator[tuple[np.ndarray, Any]]:
    """Yield each foil with the states in which neither the tree's leaf nor the agent meets it."""
    fitted = tree.fitted_
    does = ask_agent(agent, states, fitted.schema)
    leaf = tree.apply(states)
    for foil in foils(log):
        wanted = read_foil(fitted, foil)
        open_ = ~wanted.mask[leaf] & ~confirms(wanted, does)
        if open_.any():
            yield np.ascontiguousarray(states[open_]), foil


def divided(
    case: Case, leaves: int, options: Options, states: int = STATES
) -> Iterator[tuple[TripleTree, Log, np.ndarray]]:
    """Yield a tree, the log that it was grown on and unseen states, for each division."""
    for seed in splits(options):
        training, unseen = case.log.split(UNSEEN, seed)
        rng = np.random.default_rng(seed)
        chosen = rng.choice(unseen.n_samples, min(states, unseen.n_samples), replace=False)
        yield TripleTree(leaves).fit(training), training, unseen.states[np.sort(chosen)]


def measure(options: Options, add: Add) -> None:
    """Add how often the agent confirms, for each agent that can be asked and is a lander."""
    for name, make in names(options).items():
        if not options.wants(f"counterfactuals {name}"):
            continue
        case = make()
        if case.agent is None or (case.name != LABELLED[0] and not case.continuous_lander):
            continue
        for leaves in SIZES:
            say(f"  counterfactuals {name}, {leaves} leaves")
            for row in confirmed(case, leaves, options):
                add("counterfactuals", f"counterfactuals {name}", **row)


def confirmed(case: Case, leaves: int, options: Options, states: int = STATES) -> Iterator[dict[str, Any]]:
    """Yield a row for each way to ask."""
    tallies = {way: Tally() for way in WAYS}
    for tree, training, some in divided(case, leaves, options, states):
        # Growing the bag is no part of a question.
        tree.counterfactuals(some[:1], foils(case.log)[0], log=training)
        for asked, foil in questions(tree, some, case.log, case.agent):
            for way, given in WAYS.items():
                given = given | ({"log": training} if way == BAG else {})
                tallies[way].ask(tree, asked, foil, case.agent, given)
    for way, tally in tallies.items():
        row = tally.row(way in TARGETS)
        target = TARGETS.get(way) if case.continuous_lander and leaves == max(SIZES) else None
        kept = "" if target is None else "yes" if row["confirmed"] >= target else "no"
        sign = "" if target is None else f">= {target:g}"
        yield {"agent": case.name, "leaves": leaves, "way": way, **row, "target": sign, "kept": kept}


def measure_lead(options: Options, add: Add) -> None:
    """Add what other leads than the library's would give, where actions are labels."""
    cases = names(options)
    for name in LABELLED:
        if not options.wants(f"lead {name}"):
            continue
        case = cases[name]()
        for leaves in SIZES:
            say(f"  lead {name}, {leaves} leaves")
            tallies = {(lead, way): Tally() for lead in LEADS for way in TARGETS}
            for tree, training, states in divided(case, leaves, options):
                for some, foil in questions(tree, states, case.log, case.agent):
                    for lead, way in tallies:
                        with mock.patch("tripletree.questions.opinion.LEAD", lead):
                            given = {"log": training} if way == BAG else {}
                            tallies[lead, way].ask(tree, some, foil, case.agent, given)
            for (lead, way), tally in tallies.items():
                row = tally.row(True)
                del row["ms"]  # of the bag's growth, too
                add("lead", f"lead {name}", agent=name, leaves=leaves, way=way, lead=lead, **row)


def main() -> None:
    """Measure one log and print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.confirming", description=__doc__)
    parser.add_argument("log")
    parser.add_argument("weights")
    parser.add_argument("--leaves", type=int, default=450)
    parser.add_argument("--states", type=int, default=STATES, help="unseen states of each division")
    given = parser.parse_args()
    warnings.simplefilter("ignore", TripleTreeWarning)
    report = Report("confirming", f"Counterfactuals that the real agent confirms ({given.leaves} leaves)")
    report.rows += confirmed(own(given.log, given.weights), given.leaves, Options(), given.states)
    print(report.markdown())


if __name__ == "__main__":
    main()
