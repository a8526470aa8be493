"""Does the real agent do what a counterfactual says? ``python -m benchmarks.confirming LOG WEIGHTS [--leaves n]``.

LOG is a lander's recording (Parquet) with the actions ``action_main`` and ``action_side``; WEIGHTS an NPZ file with its
policy: two relu layers ``pi_fc0``, ``pi_fc1`` and ``pi_mean``, and the action is the tanh of the mean.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from benchmarks.harness import Report
from tripletree import TripleTree, TripleTreeWarning, read_log

FOILS = {
    "main engine on": {"action_main": (0.5, None)},
    "main engine off": {"action_main": (None, -0.5)},
    "side engine right": {"action_side": (0.5, None)},
    "side engine left": {"action_side": (None, -0.5)},
}
WAYS = {
    "plain": {},
    "margin 2 % of the range": {"margin": 0.02},
    "min_samples=30, min_purity=0.8": {"min_samples": 30, "min_purity": 0.8},
    "margin, samples and purity": {"margin": 0.02, "min_samples": 30, "min_purity": 0.8},
    "verified": {"verified": True},
    "verified, max_changes=2": {"verified": True, "max_changes": 2},
}


def policy(path: str):
    """Return the agent as a function of many states."""
    weights = dict(np.load(path))

    def act(states: np.ndarray) -> np.ndarray:
        hidden = states
        for layer in ("pi_fc0", "pi_fc1"):
            hidden = np.maximum(hidden @ weights[f"{layer}_w"] + weights[f"{layer}_b"], 0)
        return np.tanh(hidden @ weights["pi_mean_w"] + weights["pi_mean_b"])

    return act


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.confirming", description=__doc__)
    parser.add_argument("log")
    parser.add_argument("weights")
    parser.add_argument("--leaves", type=int, default=450)
    parser.add_argument("--states", type=int, default=2000)
    given = parser.parse_args()
    warnings.simplefilter("ignore", TripleTreeWarning)
    log, agent = read_log(given.log), policy(given.weights)
    tree = TripleTree(given.leaves).fit(log)
    rng = np.random.default_rng(0)
    states = np.ascontiguousarray(log.states[rng.choice(log.n_samples, given.states, replace=False)])
    report = Report("confirming", f"Counterfactuals that the real agent confirms ({given.leaves} leaves)")
    here = tree.predict(states)
    for foil, wanted in FOILS.items():
        ((name, (low, high)),) = wanted.items()
        column = log.schema.action.names.index(name)
        held = (here.action[:, column] >= low) if high is None else (here.action[:, column] <= high)
        truly = agent(states)[:, column]
        agreed = (truly >= low) if high is None else (truly <= high)
        for way, options in WAYS.items():
            begin = time.perf_counter()
            answers = tree.counterfactuals(states, wanted, agent=agent, **options)
            seconds = time.perf_counter() - begin
            asked = ~answers.already
            found = answers.found
            span = tree.fitted_.span
            change = np.linalg.norm((answers.foil_states[found] - states[found]) / span, axis=1)
            report.rows.append(
                {
                    "foil": foil,
                    "way": way,
                    "asked": int(asked.sum()),
                    "answered": float(found[asked].mean()),
                    "confirmed, of the answers": float(answers.confirmed[found].mean()),
                    "confirmed, of the questions": float(answers.confirmed[asked].mean()),
                    "features changed": float(answers.changed[found].sum(axis=1).mean()),
                    "size of the change": float(np.median(change)),
                    "us a state": seconds / len(states) * 1e6,
                    "agent agrees where the tree has it already": float(agreed[held].mean()),
                }
            )
    print(report.markdown())


if __name__ == "__main__":
    main()
