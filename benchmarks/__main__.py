"""The command: ``python -m benchmarks [subject ...] [--only case] [--repeat n] [--quick]``."""

from __future__ import annotations

import argparse
import sys

from benchmarks import (
    aligning,
    applying,
    attributing,
    choosing,
    clustering,
    costing,
    critical,
    differing,
    enduring,
    explaining,
    exploring,
    failing,
    faithful,
    fitting,
    growth,
    holding,
    picturing,
    reading,
    remembering,
    resembling,
    scaling,
    stability,
    starting,
    whole,
    wording,
    wording_phases,
    wording_rhythm,
)
from benchmarks.faithful_cases import AgentOptions
from benchmarks.harness import Report, machine, save, say

SUBJECTS = {
    "growth": growth,
    "fitting": fitting,
    "whole": whole,
    "applying": applying,
    "starting": starting,
    "aligning": aligning,
    "resembling": resembling,
    "holding": holding,
    "explaining": explaining,
    "exploring": exploring,
    "attributing": attributing,
    "picturing": picturing,
    "choosing": choosing,
    "faithful": faithful,
    "costing": costing,
    "critical": critical,
    "failing": failing,
    "differing": differing,
    "reading": reading,
    "remembering": remembering,
    "scaling": scaling,
    "enduring": enduring,
    "clustering": clustering,
    "rhythm": wording_rhythm,
    "phases": wording_phases,
    "stability": stability,
    "wording": wording,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the subjects asked for, print their tables and save them under benchmarks/results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="subject", help=f"of {', '.join(SUBJECTS)}; default: all")
    parser.add_argument("--only", action="append", default=[], metavar="CASE", help="cases whose name contains this")
    parser.add_argument(
        "--methods", action="append", default=[], metavar="NAME", help="methods whose name contains this"
    )
    parser.add_argument("--repeat", type=int, metavar="N", help="repetitions of every measurement")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, once, nothing saved: does it run?")
    parser.add_argument(
        "--log",
        action="append",
        default=[],
        metavar="FILE",
        help="a log of your own (holding, resembling, choosing, faithful and wording; nothing saved without --keep)",
    )
    parser.add_argument(
        "--weights",
        action="append",
        default=[],
        metavar="NPZ",
        help="the agent of a log of your own, a lander (faithful): the first is that of the first log, and so on",
    )
    parser.add_argument("--keep", action="store_true", help="save what was measured on logs of your own")
    parser.add_argument("--leaves", type=int, default=200, metavar="N", help="leaves of the trees of holding")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed of holding")
    parser.add_argument("--no-memory", action="store_true", help="leave out peak memory")
    given = parser.parse_args(arguments)
    unknown = [s for s in given.subjects if s not in SUBJECTS]
    if unknown:
        parser.error(f"unknown subject {unknown[0]!r}; known are {', '.join(SUBJECTS)}")
    options = AgentOptions(
        tuple(given.only),
        tuple(given.methods),
        given.repeat,
        given.quick,
        not given.no_memory,
        tuple(given.log),
        given.leaves,
        given.seed,
        tuple(given.weights),
    )
    facts = machine()
    reports: list[Report] = []
    interrupted = False
    try:
        for name in given.subjects or SUBJECTS:
            say(name)
            reports.append(getattr(SUBJECTS[name], "REPORT", Report)(name, SUBJECTS[name].TITLE))
            SUBJECTS[name].run(options, reports[-1])
    except KeyboardInterrupt:
        interrupted = True
        say("Interrupted.")
    keep = not given.quick and (given.keep or not given.log)
    for report in reports:
        if keep and options.only and isinstance(report, faithful.Tables):
            report.complete()  # it takes long: some cases are measured anew, and the others are kept
    # A quick run says nothing about speed: it must not replace results that do.
    print(save(reports, facts, interrupted, keep))
    return 130 if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
