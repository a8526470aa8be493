"""Chances: what recorded episodes really did, and what the chain over leaves guesses where none was."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.chance import Chance, Duration, Seen, Unreachable, Whereabouts
from tripletree.asking.places import Zone, read_start, read_zone
from tripletree.checks import check_whole, generator
from tripletree.errors import ParameterError
from tripletree.graph import chain as chains
from tripletree.graph import count
from tripletree.graph.chain import Chain
from tripletree.graph.futures import Event
from tripletree.graph.transitions import Transitions
from tripletree.language import conditions
from tripletree.language.numbers import exact, unit, within_range
from tripletree.log.schema import Feature
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Counting, Evidence, Visits
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]

MOST_STEPS = 1_000_000
"""No question looks further ahead."""
PINNED, MOST_RANGES = 0.6, 5
"""A feature is told where 8 of 10 are within that share of its range; the narrowest, at most so many."""
REGIONS = 8
"""Regions between which the chain is compared with the count, to tell how far its guesses miss."""


def chance(
    fitted: Fitted,
    found: Counting | None,
    transitions: Transitions | None,
    reach: Any,
    start: Any,
    before: Any,
    within: Any,
    given: Any = None,
) -> Chance:
    """Return the probability of reaching a zone: ever, before another one, within so many steps.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    found : Counting or None
        The episodes to count; None where none are on record.
    transitions : Transitions or None
        For the chain: its guess, or its opinion beside the count; None where it is not known.
    reach, start, before, within, given
        As in `TripleTree.chance`.
    """
    check_whole(within, "within", 0, MOST_STEPS, 100, none="no deadline")
    goal, avoid = read_zones(fitted, reach, before)
    only, transitions = _condition(found, transitions, given)
    guess = None if transitions is None else _chain_chance(fitted, transitions, start, goal, avoid, within)
    if found is None:
        return _guessed(fitted, transitions, guess, start, goal, avoid, within, None, None)
    visits = found.visits(start, only)
    counted = found.chance(visits, goal, avoid, within)
    if visits.distance is not None and counted.probability is not None and not 1e-9 < counted.probability < 1 - 1e-9:
        # Where all neighbours agree, it does not matter how many votes each of them has.
        counted = found.chance(visits.once(), goal, avoid, within)
    seen = _seen(found, visits, counted, only)
    if counted.probability is None and only is not None:
        avoided = None if avoid is None else avoid.text
        return Chance(np.nan, None, goal.text, visits.text, avoided, within, seen, 0, 0.0, None, None, there=False)
    if counted.probability is None:
        miss = chain_miss(found.sample(), transitions)
        return _guessed(fitted, transitions, guess, start, goal, avoid, within, seen, miss)
    return Chance(
        probability=counted.probability,
        interval=None if counted.interval is None or seen.alone else np.array(counted.interval),
        reach=goal.text,
        start=visits.text,
        before=None if avoid is None else avoid.text,
        within=within,
        seen=seen,
        reached=counted.reached,
        unresolved=counted.unresolved,
        chain=guess,
        miss=None,
        there=counted.there and visits.distance is None,
    )


def expected_steps(
    fitted: Fitted,
    found: Counting | None,
    transitions: Transitions | None,
    reach: Any,
    start: Any,
    before: Any,
    given: Any = None,
) -> Duration:
    """Return how many steps it takes to reach a zone, over those that arrive; arguments as in `chance`."""
    goal, avoid = read_zones(fitted, reach, before)
    only, transitions = _condition(found, transitions, given)
    guess, likely = (None, 0.0) if transitions is None else _chain_steps(fitted, transitions, start, goal, avoid)
    avoided = None if avoid is None else avoid.text
    visits = None if found is None else found.visits(start, only)
    counted = None
    if found is not None and visits is not None:
        counted = found.steps(visits, goal, avoid)
    if found is None or visits is None or counted is None or not counted.visits:
        seen = None if found is None or visits is None or counted is None else _seen(found, visits, counted, only)
        text = _start_text(fitted, transitions, start) if visits is None or only is None else visits.text
        return Duration(guess, None, None, likely, 0.0, 0.0, goal.text, text, avoided, seen, guess, there=False)
    return Duration(
        steps=counted.mean,
        interval=None if counted.interval is None else np.array(counted.interval),
        quantiles=None if counted.quantiles is None else _three(counted.quantiles),
        probability=1 - counted.missed - counted.censored,
        missed=counted.missed,
        censored=counted.censored,
        reach=goal.text,
        start=visits.text,
        before=avoided,
        seen=_seen(found, visits, counted, only),
        chain=guess,
        there=counted.there and visits.distance is None,
    )


def after(
    fitted: Fitted, found: Evidence | None, transitions: Transitions | None, steps: int, start: Any, given: Any = None
) -> Whereabouts:
    """Return where the agent is so many steps later; arguments as in `chance`."""
    check_whole(steps, "steps", 0, MOST_STEPS, 100)
    return _whereabouts(fitted, found, transitions, start, int(steps), given)


def occupancy(
    fitted: Fitted, found: Evidence | None, transitions: Transitions | None, start: Any, given: Any = None
) -> Whereabouts:
    """Return the share of time that is spent in each leaf; arguments as in `chance`."""
    return _whereabouts(fitted, found, transitions, start, None, given)


def _whereabouts(
    fitted: Fitted, found: Evidence | None, transitions: Transitions | None, start: Any, steps: int | None, given: Any
) -> Whereabouts:
    seen = None
    only, transitions = _condition(found, transitions, given)
    if found is not None:
        visits = found.visits(start, only)
        episodes = found.episodes
        later = count.occupancy(episodes, visits.rows) if steps is None else count.after(episodes, visits.rows, steps)
        seen = _seen(found, visits, later, only)
        if later.visits:
            rows, samples = later.rows, found.recording.n_samples
            final = rows >= samples
            leaf = np.append(found.leaf, found.final_leaf)[rows]
            share, interval = count.shares(later, leaf, fitted.tree.n_leaves)
            states = np.where(
                final[:, None],
                found.recording.final_states[np.where(final, rows - samples, 0)],
                found.recording.states[np.where(final, 0, rows)],
            )
            quantiles = _quantiles(states, later.weight) if later.weight.sum() > 0 else None
            return Whereabouts(
                share=share[:-1],
                interval=None if seen.alone else interval if steps is not None else interval[:, :-1],
                quantiles=quantiles,
                end=float(share[-1]) if steps is not None else None,
                unresolved=later.unresolved,
                steps=steps,
                start=visits.text,
                seen=seen,
                ranges=_ranges(fitted, quantiles),
            )
        if only is not None:
            nowhere = np.zeros(fitted.tree.n_leaves)
            return Whereabouts(nowhere, None, None, None, 0.0, steps, visits.text, seen)
    if transitions is None:
        raise _nothing_known()
    begin, chain = read_start(fitted, transitions, start), Chain.of(transitions)
    if steps is None:
        return Whereabouts(chains.occupancy(chain, begin.share), None, None, None, 0.0, None, begin.text, seen)
    there = chains.after(chain, begin.share, steps)
    return Whereabouts(there[:-1], None, None, float(there[-1]), 0.0, steps, begin.text, seen)


def chain_miss(found: Evidence, transitions: Transitions | None) -> float | None:
    """Return how far the chain's chances are from those counted, on average over regions of this very log."""
    if transitions is None:
        return None
    fitted, kept = found.fitted, found.fitted.memory
    if "chain_miss" in kept and found is kept.get("evidence"):
        return float(kept["chain_miss"])
    regions = min(REGIONS, fitted.tree.n_leaves)
    region = fitted.tree.truncate(regions).apply(found.recording.states)
    inside = [
        np.append(np.bincount(found.leaf[region == k], minlength=fitted.tree.n_leaves) > 0, False)
        for k in range(regions)
    ]
    horizon = max(int(np.median(np.diff(found.recording.starts))) // 2, 1)
    samples, chain = transitions.samples, Chain.of(transitions)
    misses = []
    for goal in range(regions):
        said = chains.reach_within(chain, inside[goal], horizon)
        event = Event(region == goal)
        for here in range(regions):
            weight = samples * inside[here][:-1]
            counted = count.chance(found.episodes, region == here, event, None, horizon).probability
            if here != goal and counted is not None and weight.any():
                misses.append(abs(float(said[:-1] @ weight / weight.sum()) - counted))
    miss = float(np.mean(misses)) if misses else None
    if found is kept.get("evidence") and miss is not None:
        kept["chain_miss"] = miss
    return miss


def unreachable(fitted: Fitted, transitions: Transitions, start: Any) -> Unreachable:
    """Return the leaves that no recorded transitions lead to."""
    begin = read_start(fitted, transitions, start)
    found = chains.reachable(Chain.of(transitions), begin.share)
    return Unreachable(np.flatnonzero(~found[:-1]), len(found) - 1, bool(found[-1]), begin.text)


def rollouts(
    fitted: Fitted, transitions: Transitions, n: int, steps: int, start: Any, seed: Any
) -> npt.NDArray[np.int32]:
    """Return rollouts drawn from the chain, shape (n, steps + 1)."""
    check_whole(n, "n", 1, 10**9, 100)
    check_whole(steps, "steps", 0, MOST_STEPS, 100)
    begin = read_start(fitted, transitions, start)
    return chains.rollouts(Chain.of(transitions), begin.share, n, steps, generator(seed))


def read_zones(fitted: Fitted, reach: Any, before: Any) -> tuple[Zone, Zone | None]:
    """Return what to reach, and before what."""
    goal = read_zone(fitted, reach, "reach", may_be_empty=True)
    return goal, None if before is None else read_zone(fitted, before, "before", may_be_empty=True)


def _condition(found: Counting | None, transitions: Transitions | None, given: Any) -> tuple[Any, Transitions | None]:
    """Return which episodes and moments count, and what the chain may go by: nothing, where there is a condition."""
    if given is None:
        return None, transitions
    if found is None:
        raise ParameterError(
            Message(
                "{} chooses among recorded episodes, and this tree keeps none: it was grown with {} or {}, or is an "
                "older file. Give the log: {}.",
                Option("given"),
                Option("keep", "leaves"),
                Option("keep", "nothing"),
                Option("log", ...),
            )
        )
    return found.given(given), None


def _seen(found: Counting, visits: Visits, counted: count.Chance | count.Steps | count.Later, only: Any) -> Seen:
    return found.seen(visits, counted.episodes, counted.visits, counted.groups, only)


def _guessed(
    fitted: Fitted,
    transitions: Transitions | None,
    guess: float | None,
    start: Any,
    goal: Zone,
    avoid: Zone | None,
    within: int | None,
    seen: Seen | None,
    miss: float | None,
) -> Chance:
    if guess is None:
        raise _nothing_known()
    text, avoided = _start_text(fitted, transitions, start), None if avoid is None else avoid.text
    return Chance(guess, None, goal.text, text, avoided, within, seen, 0, 0.0, guess, miss, there=False)


def _nothing_known() -> ParameterError:
    return ParameterError(
        Message(
            "This tree knows neither the episodes nor the transitions of its log, because it was grown with {}, or "
            "with {} and made smaller. Give the log: {}.",
            Option("keep", "nothing"),
            Option("keep", "leaves"),
            Option("log", ...),
        )
    )


def _start_text(fitted: Fitted, transitions: Transitions | None, start: Any) -> str:
    if transitions is None:
        raise _nothing_known()
    return read_start(fitted, transitions, start).text


def _chain_chance(
    fitted: Fitted, transitions: Transitions, start: Any, goal: Zone, avoid: Zone | None, within: int | None
) -> float:
    """Return what the chain over leaves says; a leaf in both zones counts as reached."""
    begin, chain = read_start(fitted, transitions, start), Chain.of(transitions)
    stop = None if avoid is None else avoid.mask & ~goal.mask
    if within is None:
        return float(begin.share @ chains.reach(chain, goal.mask, stop))
    return float(begin.share @ chains.reach_within(chain, goal.mask, within, stop))


def _chain_steps(
    fitted: Fitted, transitions: Transitions, start: Any, goal: Zone, avoid: Zone | None
) -> tuple[float | None, float]:
    """Return how long the chain takes, and the probability that it arrives."""
    begin, chain = read_start(fitted, transitions, start), Chain.of(transitions)
    probability, weighted = chains.steps_to(chain, goal.mask, None if avoid is None else avoid.mask & ~goal.mask)
    arriving = float(begin.share @ probability)
    return (float(begin.share @ weighted) / arriving if arriving > 0 else None), arriving


def _three(numbers: tuple[int, ...]) -> tuple[float, float, float]:
    early, middle, late = map(float, numbers)
    return early, middle, late


def _ranges(fitted: Fitted, quantiles: F64 | None) -> tuple[str, ...]:
    """Return where 8 of 10 are, in words, in the features that are pinned down most."""
    if quantiles is None:
        return ()
    width = (quantiles[2] - quantiles[0]) / fitted.span
    changes = fitted.feature_min < fitted.feature_max
    told = [int(f) for f in np.argsort(width, kind="stable") if changes[f] and width[f] <= PINNED][:MOST_RANGES]
    low, _, high = quantiles
    return tuple(_range(fitted.schema.features[f], low[f], high[f], fitted.span[f]) for f in sorted(told))


def _range(feature: Feature, low: float, high: float, span: float) -> str:
    low, high = within_range(low, span), within_range(high, span)
    if feature.kind != "real":
        return conditions.clause(feature, low, high + 0.5)
    if low == high:
        return f"{feature.name} = {exact(low)}{unit(feature.unit)}"
    return f"{feature.name} = {exact(low)} to {exact(high)}{unit(feature.unit)}"


def _quantiles(states: F64, weight: F64) -> F64:
    """Return 10, 50 and 90 % of weighted states, feature by feature."""
    found = np.empty((len(count.QUANTILES), states.shape[1]))
    for f, column in enumerate(states.T):
        order = np.argsort(column, kind="stable")
        total = np.cumsum(weight[order])
        places = np.searchsorted(total, np.array(count.QUANTILES) * total[-1])
        found[:, f] = column[order[np.minimum(places, len(order) - 1)]]
    return found
