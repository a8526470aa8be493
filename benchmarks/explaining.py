"""Explanations: one counterfactual, many of them, and the reason of every change of a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import worlds
from benchmarks.fitting import fit, log_of
from benchmarks.harness import Options, Report, interleave, say

TITLE = "Explanations: counterfactual and temporal"
AUTHORS = 58e-3
"""Seconds of one counterfactual with the paper authors' code, on 450 leaves and 8 features."""
CASES = {"lander-450": (worlds.lander, 10**5, 450), "wide-1000": (worlds.plant, 10**5, 1000)}
STATES = 400
FOIL = {"action 0": (0.5, None)}


def run(options: Options, report: Report) -> None:
    """Measure both kinds of explanation on both trees."""
    report.notes += [
        "'faster' compares with 58 ms, what one counterfactual takes with the paper authors' code on 450 leaves x 8 "
        "features (another machine, so a rough comparison).",
        f"Counterfactuals: {STATES} states of the log whose action is not the foil; 'search' is the nearest leaf "
        "alone, 'explain' the call with its checks and its answer, 'with sentence' the text too.",
        "Seconds of processor time (of all cores), the least of the repetitions, because these are microseconds on a "
        "shared machine; all repetitions, by the clock and by the processor, are in the JSON file.",
        "Temporal: 'each' is per change; the whole log is explained in one call.",
    ]
    for name, (world, rows, leaves) in CASES.items():
        if options.wants(name):
            say(f"  {name}")
            measure(name, world(rows // 10 if options.quick else rows), leaves, options, report)


def measure(name: str, recording: worlds.Recording, leaves: int, options: Options, report: Report) -> None:
    """Measure one tree."""
    from tripletree.asking.foils import read_foil
    from tripletree.asking.limits import read_limits
    from tripletree.questions.counterfactuals import nearest

    log = log_of(recording)
    tree = fit(log, leaves, 2)
    fitted = tree.fitted_
    foil = read_foil(fitted, FOIL)
    limits = read_limits(fitted, foil)
    rng = np.random.default_rng(0)
    others = np.flatnonzero(~foil.mask[tree.apply(log.states)])
    many = np.ascontiguousarray(log.states[rng.choice(others, 20_000)])
    some = list(many[:STATES])
    tree.explain(some[0], FOIL)  # what is kept with the tree is made once

    def each(ask: Callable[[Any], Any]) -> Callable[[], Any]:
        def ask_all() -> None:
            for state in some:
                ask(state)

        return ask_all

    methods: dict[str, tuple[int, Callable[[], Any]]] = {
        "counterfactual, search": (STATES, each(lambda state: nearest(limits, state, fitted.span))),
        "counterfactual, explain": (STATES, each(lambda state: tree.explain(state, FOIL, opinion=False))),
        "counterfactual, with sentence": (STATES, each(lambda state: str(tree.explain(state, FOIL, opinion=False)))),
        "counterfactual, 3 answers": (STATES, each(lambda state: tree.explain(state, FOIL, k=3, opinion=False))),
        "counterfactuals, 20,000 states": (len(many), lambda: tree.counterfactuals(many, FOIL, opinion=False)),
        "counterfactual, second opinion": (STATES, each(lambda state: tree.explain(state, FOIL))),
    }
    moves = [(before, after) for before, after in zip(log.states[:STATES], log.states[1 : STATES + 1], strict=True)]
    methods["temporal, one move"] = (STATES, lambda: [tree.explain_change(*move, about="action 0") for move in moves])
    for about in ("action 0", "value", f"derivative of {log.schema.features[0].name}"):
        found = len(tree.explain_changes(log, about=about))
        methods[f"temporal, whole log, {about}"] = (found, lambda about=about: tree.explain_changes(log, about=about))
    chosen = options.chosen(list(methods))
    timings, _ = interleave({method: methods[method][1] for method in chosen}, options.repetitions(9))
    for method in chosen:
        seconds = min(timings[method].processor)
        count = methods[method][0]
        report.rows.append(
            {
                "tree": f"{fitted.tree.n_leaves:,} leaves x {log.n_features} features",
                "question": method,
                "answers": count,
                "seconds": seconds,
                "us each": seconds / count * 1e6,
                "faster": AUTHORS / (seconds / count) if name == "lander-450" and method.startswith("count") else None,
                "_seconds": timings[method].seconds,
                "_processor": timings[method].processor,
            }
        )
