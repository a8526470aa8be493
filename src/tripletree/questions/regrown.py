"""Regrown: trees like a given one, each grown on a random half of the episodes, to see what another log would say.

Halves come in pairs without a common episode. So two trees of a pair differ as trees of two separate logs of half the
size do, and nothing has to be assumed about how thresholds scatter. A bootstrap, which counts some episodes twice,
would call them far too sure: for the place of a step it is known not to be consistent.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import ParameterError
from tripletree.leaves.attributes import describe
from tripletree.leaves.linear import fit_linear
from tripletree.log.log import Log
from tripletree.log.switches import rows_of
from tripletree.model.evaluate import check_same_schema, in_labels, log_values
from tripletree.model.fit import GROWTH
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option, count, plural
from tripletree.tree.costs import cost_matrix
from tripletree.tree.grow import encode, grow
from tripletree.tree.targets import Targets, empty_rows, make_targets
from tripletree.tree.weights import Weighing, weigh

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

TREES = 50
"""Trees that are grown unless the caller says otherwise."""
LEAST_UNITS, FEW_UNITS = 4, 10
"""Episodes (or groups) without which there is nothing to compare, and below which everything is rough."""
RATE = 0.9
"""Share of other logs that bands are meant to cover."""
WIDER = 1.25
"""How much wider a band is than what 90 % of the pairs differ by: the pairs of one log know their spread only so well.
With it the thresholds of fresh simulated logs are covered (``python -m benchmarks stability``)."""
LEAST_PAIRS = 8
"""Pairs of trees, at least, that a band rests on."""


@dataclass(frozen=True, eq=False)
class Regrown:
    """Trees grown on halves of a log.

    Attributes
    ----------
    trees : tuple of Fitted
        Trees 0 and 1 share no episode, nor do 2 and 3, and so on.
    halves : tuple of int64 arrays
        The episodes of the log that each was grown on.
    units : int
        What was divided: episodes, or groups of them.
    grouped : bool
        Whether these are groups.
    """

    trees: tuple[Fitted, ...]
    halves: tuple[I64, ...]
    units: int
    grouped: bool

    @property
    def pairs(self) -> list[tuple[Fitted, Fitted]]:
        """The trees that share no episode."""
        return list(zip(self.trees[::2], self.trees[1::2], strict=False))


def regrown(fitted: Fitted, log: Log, trees: int = TREES, seed: int = 0, threads: int = 1) -> Regrown:
    """Return trees with the options and the size of this one, each grown on a random half of a log.

    The log is encoded once. Its values are those that this tree settled, and targets have the scales of the whole log,
    so that trees differ by the episodes alone.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log
        The log: usually the one that it was grown on.
    trees : int
        How many.
    seed : int
        Which halves.
    threads : int
        How many trees are grown at a time; they are the same for any number.
    """
    check_same_schema(fitted.schema, log, "log")
    log = in_labels(fitted.schema, log)
    key = f"{trees} trees of {log.weighted_fingerprint} by {seed}"
    if key not in fitted.memory:
        fitted.memory[key] = _regrown(fitted, log, trees, seed, threads)
    found: Regrown = fitted.memory[key]
    return found


def _regrown(fitted: Fitted, log: Log, trees: int, seed: int, threads: int) -> Regrown:
    # Episodes that do not count are in no half.
    some = np.arange(log.n_episodes) if log.episode_weights is None else np.flatnonzero(log.episode_weights)
    counting = log if len(some) == log.n_episodes else log.select(some)
    halves = [some[half] for half in halves_of(counting, trees, seed)]
    options = fitted.options
    weighing = weigh(log.weights)
    # The place of each row among those that count.
    place = np.full(log.n_samples, -1)
    place[slice(None) if weighing.rows is None else weighing.rows] = np.arange(len(weighing.take(place)))
    codes = encode(log, options["mode"], options["bins"], threads, weighing, options.get("thresholds") or "short")
    value = log_values(fitted, log)
    theta = tuple(map(float, options["theta"]))
    costs = cost_matrix(options.get("costs"), log.schema.action.labels)
    targets = make_targets(log, value, theta, options["derivative_scale"], weighing, costs)  # type: ignore[arg-type]
    growth: dict[str, Any] = {name: options.get(name) for name in GROWTH} | {
        "max_leaves": fitted.tree.n_leaves,
        "progress": None,
    }

    def grown(episodes: I64) -> Fitted:
        part = log.select(episodes)
        rows = rows_of(log, episodes)
        counts = np.flatnonzero(place[rows] >= 0)
        kept = place[rows][counts]
        own = Weighing(
            None if len(counts) == len(rows) else counts, None if weighing.counts is None else weighing.counts[kept]
        )
        tree, node = grow(part, codes.take(kept), _some(targets, kept), threads=1, weighing=own, **growth)
        attributes = describe(tree, node, part, value[rows], targets.scales, options["derivative_scale"], own, costs)
        linear = None
        if fitted.model is not None:
            most = options["leaf_features"]
            linear, _ = fit_linear(tree, node, part, value[rows], attributes, targets.scales, fitted.span, most, 1, own)
        return replace(
            fitted,
            tree=tree,
            attributes=attributes,
            linear=linear,
            transitions=None,
            training_episodes=None,
            validation_episodes=None,
            judged=None,
            track=None,
        )

    with ThreadPoolExecutor(threads) as pool:
        found = tuple(pool.map(grown, halves))
    return Regrown(found, tuple(halves), int(counting.units.max()) + 1, log.groups is not None)


def halves_of(log: Log, trees: int, seed: int) -> list[I64]:
    """Return the episodes of each half, whole groups of them; two halves that follow each other have none in common."""
    unit = log.units
    units = int(unit.max()) + 1
    if units < LEAST_UNITS:
        what = "group" if log.groups is not None else "episode"
        raise ParameterError(
            Message(
                "The log has {}, and stability compares trees grown on different halves of the {}s: it needs {} at "
                "least, better {}. Give {}, or a longer recording cut into episodes.",
                count(units, what),
                what,
                LEAST_UNITS,
                20,
                Option("log", ...),
            )
        )
    rng, halves = np.random.default_rng(seed), list[I64]()
    while len(halves) < trees:
        order = rng.permutation(units)
        for part in (order[: units // 2], order[units // 2 : 2 * (units // 2)]):
            halves.append(np.flatnonzero(np.isin(unit, part)))
    return halves[:trees]


def _some(targets: Targets, rows: I64) -> Targets:
    found = empty_rows(len(rows), targets.n_plain + targets.n_derivative, targets.fine)
    np.take(targets.rows, rows, axis=0, out=found)
    return replace(targets, rows=found)


def band(own: Any, found: F64) -> tuple[F64, F64]:
    """Return between which numbers nine of ten other logs would put theirs; NaN where too few pairs know.

    It reaches as far to either side as 90 % of the pairs of trees without a common episode are apart, and a quarter
    more. Its middle is what this log says: trees of halves know less, and so their curves are a little flatter.

    Parameters
    ----------
    own : float64 array, or number
        What the tree itself says.
    found : float64 array of shape (trees, ...)
        What the trees of the halves say; NaN where one says nothing.
    """
    even = found[: len(found) // 2 * 2]
    apart = np.abs(even[::2] - even[1::2])
    enough = np.isfinite(apart).sum(axis=0) >= LEAST_PAIRS
    reach = WIDER * np.nanquantile(np.where(enough, apart, 0.0), RATE, axis=0)
    return np.where(enough, own - reach, np.nan), np.where(enough, own + reach, np.nan)


def caveat(units: int, grouped: bool) -> str:
    """Return the sentence about logs with few episodes, or nothing."""
    if units >= FEW_UNITS:
        return ""
    which = count(units, "group" if grouped else "episode")
    return f"With only {which} {plural(units, 'this is', 'these are')} rough."
