"""The command: ``python -m benchmarks [subject ...] [--only case] [--repeat n] [--quick]``."""

from __future__ import annotations

import argparse
import sys

from benchmarks import (
    aligning,
    applying,
    choosing,
    costing,
    explaining,
    fitting,
    growth,
    holding,
    picturing,
    reading,
    resembling,
    starting,
)
from benchmarks.harness import Options, Report, machine, save, say

SUBJECTS = {
    "growth": growth,
    "fitting": fitting,
    "applying": applying,
    "starting": starting,
    "aligning": aligning,
    "resembling": resembling,
    "holding": holding,
    "explaining": explaining,
    "picturing": picturing,
    "choosing": choosing,
    "costing": costing,
    "reading": reading,
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
        help="a log of your own (holding, resembling and choosing; nothing saved without --keep)",
    )
    parser.add_argument("--keep", action="store_true", help="save what was measured on logs of your own")
    parser.add_argument("--leaves", type=int, default=200, metavar="N", help="leaves of the trees of holding")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed of holding")
    parser.add_argument("--no-memory", action="store_true", help="leave out peak memory")
    given = parser.parse_args(arguments)
    unknown = [s for s in given.subjects if s not in SUBJECTS]
    if unknown:
        parser.error(f"unknown subject {unknown[0]!r}; known are {', '.join(SUBJECTS)}")
    options = Options(
        tuple(given.only),
        tuple(given.methods),
        given.repeat,
        given.quick,
        not given.no_memory,
        tuple(given.log),
        given.leaves,
        given.seed,
    )
    facts = machine()
    reports: list[Report] = []
    interrupted = False
    try:
        for name in given.subjects or SUBJECTS:
            say(name)
            reports.append(Report(name, SUBJECTS[name].TITLE))
            SUBJECTS[name].run(options, reports[-1])
    except KeyboardInterrupt:
        interrupted = True
        say("Interrupted.")
    # A quick run says nothing about speed: it must not replace results that do.
    print(save(reports, facts, interrupted, keep=not given.quick and (given.keep or not given.log)))
    return 130 if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
