"""Small random logs on every executor in turn, with the same workers for all of them; as a command, thousands.

``python -m tests.scale.every_executor --cases 3000`` takes 40 minutes on two cores; ``--minutes 10`` ends it before.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from tests.scale.folders import (
    differences,
    random_columns,
    with_holes,
    with_text,
    with_times,
    with_weights,
    write_folder,
)
from tests.scale.test_counting import compared, random_questions
from tests.scale.test_fit import random_options
from tripletree import LogError, TripleTree, open_log, read_log
from tripletree.scale.executors import KINDS, Workers, make_workers


class Shared:
    """Workers that stay when a log is done with."""

    def __init__(self, workers: Workers) -> None:
        self.workers, self.number = workers, workers.number

    def map(self, task: Callable[[Any, Any], Any], common: Any, items: Sequence[Any]) -> Iterator[Any]:
        return self.workers.map(task, common, items)

    def close(self, *, at_once: bool = False) -> None:
        """Stay, unless something went wrong."""
        if at_once:
            self.workers.close(at_once=True)


@contextmanager
def shared_workers(kinds: Sequence[str]) -> Iterator[None]:
    """Give all sessions the same two workers of each kind."""
    made = {kind: make_workers(kind, 2) for kind in kinds}
    try:
        with mock.patch("tripletree.scale.session.make_workers", lambda kind, *_: Shared(made[kind])):
            yield
    finally:
        for workers in made.values():
            workers.close()


def one_case(seed: int, executor: str, place: Path) -> None:
    """Compare tree, leaves, transitions, losses and chances of one random log with those in memory."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng)
    columns, roles = with_times(columns, rng) if rng.random() < 0.4 else (columns, {})
    columns = with_text(columns, rng) if rng.random() < 0.4 else columns
    columns, more = with_holes(columns, rng) if rng.random() < 0.4 else (columns, {})
    roles |= more
    columns, more = with_weights(columns, rng) if rng.random() < 0.3 else (columns, {})
    roles |= more
    folder = write_folder(place / "log", columns, rng, int(rng.choice([1, 7, 50])))
    rows = int(rng.choice([5, 17, 64, 2**18]))
    options = random_options(rng)
    with mock.patch("tripletree.log.cutting.PIECE", rows), mock.patch("tripletree.scale.plan.PIECE", rows):
        try:
            here = read_log(folder, **roles)
        except LogError:  # too much is missing, and after an error the workers would be gone
            return
        # Who is told how far it is stays here: it cannot be sent to other processes.
        there = open_log(folder, cache=place / "cache", executor=executor, workers=2, progress=lambda *_: None, **roles)
        if rng.random() < 0.1:
            here, there = here.weighted("episode"), there.weighted("episode")
        tree, other = TripleTree(**options).fit(here), TripleTree(**options).fit(there)
        found = differences(tree, other)
        assert found == [], (seed, executor, found)
        np.testing.assert_allclose(
            other.losses(there, "all"), tree.losses(here, "all"), rtol=1e-9, atol=1e-12, err_msg=f"{seed}"
        )
        compared(tree, here, there, random_questions(rng, here, tree)[0])


def run(
    cases: int,
    kinds: Sequence[str] = KINDS,
    first: int = 0,
    minutes: float = float("inf"),
    tell: Callable[[dict[str, int]], None] | None = None,
) -> dict[str, int]:
    """Try so many logs, each on the next executor; returns how many each of them had, and tells it now and then."""
    done = dict.fromkeys(kinds, 0)
    begin = time.monotonic()
    with warnings.catch_warnings(), shared_workers(kinds):
        warnings.simplefilter("ignore")
        for seed in range(first, first + cases):
            if time.monotonic() - begin > 60 * minutes:
                break
            executor = kinds[seed % len(kinds)]
            with tempfile.TemporaryDirectory() as place:
                one_case(seed, executor, Path(place))
            done[executor] += 1
            if tell is not None and not sum(done.values()) % 100:
                tell(done)
    return done


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    given = parser.parse_args()

    def tell(done: dict[str, int]) -> None:
        """Say how many cases are done: what was interrupted was not for nothing."""
        print(sum(done.values()), "cases, all the same as in memory:", done, flush=True)  # noqa: T201

    tell(run(given.cases, first=given.first, minutes=given.minutes, tell=tell))
