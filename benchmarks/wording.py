"""Do the words fit? Levels and rules on 30 % of the episodes of each log, made from the other 70 %.

For each dimension of a continuous action, the levels, how often the commonest level of a leaf is the one that the log
shows, and how much of the action's variance the means of the levels explain; beside terciles of the predictions, which
mean nothing. For each dimension, and each discrete action, a few rules: how often they are right, beside
the whole tree (theta 1, 1, 1; 200 leaves; a leaf says what is commonest in it), trees of scikit-learn of depth 3 and of
8 leaves, and the commonest answer.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.agents import AGENTS
from benchmarks.harness import Options, Report, say
from tripletree import Log, TripleTree, TripleTreeWarning, read_log, record
from tripletree.asking.attribute import read_attribute
from tripletree.asking.levels import AUTO, log_levels, read_levels
from tripletree.demos import lander, road
from tripletree.log.switches import find_switches
from tripletree.model.levels import Explained

TITLE = "Words on unseen episodes: levels and rules"
AGREE, EXPLAIN, NEAR = 0.8, 0.8, 0.05
"""The bars: agreement of the words, variance that they explain, and how far rules may be behind the whole tree."""
SLOW = 5.0
"""Seconds that the rules of one dimension may take."""


def logs(options: Options) -> Iterator[tuple[str, Log]]:
    """Return the logs given, the demos, and episodes of the agents of this folder."""
    for file in options.logs:
        yield Path(file).stem, read_log(file)
    steps = 5_000 if options.quick else 30_000
    if options.wants("lander"):
        yield "lander", lander.log()
    for variant in ("either", "alive"):
        if options.wants(variant):
            yield variant, road.record(variant, n_samples=steps)
    for name, agent in AGENTS.items():
        if options.wants(name):
            yield name, record(name, agent.act, samples=steps, seed=0)


def run(options: Options, report: Report) -> None:
    """Measure every log."""
    warnings.simplefilter("ignore", TripleTreeWarning)
    for name, log in logs(options):
        measure(name, log, options.seed, report)
    report.notes += [
        f"Bars: words agree in {AGREE:.0%} of the steps, or say that they do not; they explain {EXPLAIN:.0%} of the "
        f"variance; rules are at most {100 * NEAR:.0f} points behind the whole tree, not behind CART of depth 3, and "
        f"take at most {SLOW:.0f} s. 'missed' says which a row misses.",
        "'agree' is how often the commonest level of a leaf is that of the log, 'said' what the model expected when it "
        "was grown; 'terciles' the same two figures for low, medium and high with as many samples each.",
        "'shuffled' is how many switches are found when the action is shuffled: there are none.",
    ]


def measure(name: str, log: Log, seed: int, report: Report) -> None:
    """Measure one log."""
    say(f"  {name}")
    order = np.random.default_rng(seed).permutation(log.n_episodes)
    known = round(0.7 * log.n_episodes)
    train, test = (log.select(np.sort(part)) for part in (order[:known], order[known:]))
    tree = TripleTree(200, leaf_model="mean", threads=1).fit(train)
    fitted = tree.fitted_
    about = read_attribute(fitted, "action")
    classes = read_levels(fitted, about, AUTO)
    truth, learnt, leaf = log_levels(fitted, classes, test), log_levels(fitted, classes, train), tree.apply(test.states)
    begin = time.perf_counter()
    few = {one.name: one for one in tree.rules(log=log)}
    seconds = (time.perf_counter() - begin) / len(few)
    for k, column in enumerate(classes.columns):
        rules = few[column.name]
        if rules.source == "numbers":
            report.rows.append({"log": name, "about": column.name, "levels": "no words", "said": column.agreement})
            continue
        agree = float((column.leaves[leaf] == truth[:, k]).mean())
        row: dict[str, object] = {"log": name, "about": column.name}
        missed = []
        if not about.labels:
            action, unseen = train.actions[:, k], test.actions[:, k]
            told = Explained(unseen).share(column.edges)
            thirds = read_levels(fitted, read_attribute(fitted, column.name), 3)
            mixed = np.random.default_rng(seed).permutation(train.actions[:, k])
            shuffled = train.actions.copy()
            shuffled[:, k] = mixed
            row |= {
                "levels": ", ".join(column.texts),
                "by": column.how,
                "agree": agree,
                "said": column.agreement,
                "explained": told,
                "terciles agree": float((thirds.leaves[leaf] == log_levels(fitted, thirds, test)[:, 0]).mean()),
                "terciles explain": Explained(unseen).share(thirds.columns[0].edges),
                "shuffled": len(find_switches(_with(train, shuffled), k)) if action.std() else 0,
            }
            missed += ["agree"] if agree < AGREE and not column.doubtful else []
            missed += ["explained"] if column.edges and told < EXPLAIN and column.how == "number" else []
        deep = DecisionTreeClassifier(max_depth=3, random_state=0).fit(train.states, learnt[:, k])
        eight = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(train.states, learnt[:, k])
        depth_3 = float(deep.score(test.states, truth[:, k]))
        right = rules.accuracy or 0.0
        row |= {
            "rules": len(rules) - 1,
            "bounds": sum(len(rule.when) for rule in rules),
            "right": right,
            "unrounded": right + (rules.rounding or 0.0),
            "whole tree": agree,
            "CART of depth 3": depth_3,
            "CART of 8 leaves": float(eight.score(test.states, truth[:, k])),
            "always": rules.always,
            "seconds": seconds,
        }
        missed += ["tree"] if right < agree - NEAR else []
        missed += ["CART"] if right < depth_3 else []
        missed += ["seconds"] if seconds > SLOW else []
        row["missed"] = ", ".join(missed)
        report.rows.append(row)


def _with(log: Log, actions: np.ndarray) -> Log:
    return replace(log, actions=actions)
