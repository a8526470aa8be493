"""How faithful is a tree to its agent: losses, counterfactuals that the agent confirms, returns, and what it costs."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import Any

from benchmarks import confirming, faithful_costs, faithful_flying, faithful_losses
from benchmarks.harness import RESULTS, Options, Report

TITLE = "Faithful to the agent"

TABLES = {
    "losses": "Losses on unseen episodes: action / value / derivative",
    "defaults": "Order of growth and smallest leaf, as ratios of these losses to those of the defaults",
    "counterfactuals": "Counterfactuals in unseen states that the real agent confirms",
    "lead": "How much more than all others must speak for a label",
    "returns": "Returns of trees that act in the agent's place",
    "fit": "Fit with and without linear leaves",
    "speed": "Acting and size",
}
"""Every table and its title."""

NOTES = {
    "losses": "70 % of the episodes to grow on, 30 % to judge, mean of three divisions. Action: share of wrong labels, "
    "or the summed RMSE / sigma; value: RMSE; derivative: summed RMSE / sigma. 'k = 2' has at most two features in "
    "each model. scikit-learn's tree has the same targets and, as the default here, at least one sample a leaf; "
    "'boosted' is one HistGradientBoosting ensemble for each target, whatever the number of leaves.",
    "defaults": "Columns: `priority`, `min_samples_leaf`; linear leaves, the same divisions.",
    "counterfactuals": "States of unseen episodes in which neither the tree's leaf nor the agent meets the foil; three "
    "divisions. Confirmed: of the answers. Distance: 2-norm in ranges of the features. Milliseconds a question in one "
    "batch; the bag has been grown before.",
    "lead": "The same questions, when the best wanted score must exceed the others by this much.",
    "returns": "Mean and standard error on 100 fresh seeds, the same for all. Refined: six rounds of 30 episodes; "
    "'by importance' draws steps by the agent's critic, as VIPER does. Trees are grown on the whole log. 'Published' "
    "are figures of others for trees of that size on agents of their own, not measured here.",
    "fit": "Medians of interleaved repetitions. Without: constant leaves, and no linear models made.",
    "speed": "One state at a time, in random order. C: compiled with `cc -O2`. Files of 100,000 steps with 8 features.",
}


@dataclass
class Tables(Report):
    """A report of several tables: rows say in ``_table`` and ``_case`` where they belong and what was measured."""

    def add(self, table: str, case: str, /, **row: Any) -> None:
        """Add a row to one of the tables."""
        self.rows.append({"_table": table, "_case": case, **row})

    def complete(self) -> None:
        """Add rows of the results that were saved, for cases that were not measured this time."""
        saved = RESULTS / f"{self.subject}.json"
        if not saved.exists():
            return
        new = {(row["_table"], row["_case"]) for row in self.rows}
        old = json.loads(saved.read_text())["rows"]
        kept = [row for row in old if (row["_table"], row["_case"]) not in new]
        if kept:
            self.rows += kept
            self.notes.append("Measured in several runs; the first line is about the last of them.")

    def markdown(self) -> str:
        """Return all tables, each with its note."""
        parts = [f"# {self.title}\n"]
        for name, title in TABLES.items():
            rows = [row for row in self.rows if row["_table"] == name]
            if rows:
                parts.append(Report(name, title, [NOTES[name]], rows).markdown())
        return "\n".join([*parts, *(f"{note}\n" for note in self.notes)])


REPORT = Tables


def run(options: Options, report: Tables) -> None:
    """Measure everything asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        faithful_losses.measure_losses(options, report.add)
        faithful_losses.measure_defaults(options, report.add)
        confirming.measure(options, report.add)
        confirming.measure_lead(options, report.add)
        faithful_flying.measure(options, report.add)
        faithful_costs.measure_fit(options, report.add)
        faithful_costs.measure_speed(options, report.add)
