"""Chances: what the chain over leaves says about reaching, avoiding and staying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.chance import Chance, Duration, Unreachable, Whereabouts
from tripletree.asking.places import Start, Zone, read_start, read_zone
from tripletree.checks import check_whole, generator
from tripletree.errors import ParameterError
from tripletree.graph import chain as chains
from tripletree.graph.chain import Chain
from tripletree.graph.transitions import Transitions, wilson
from tripletree.language import conditions
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]

MOST_STEPS = 1_000_000
"""No question looks further ahead."""


def chance(
    fitted: Fitted,
    transitions: Transitions,
    reach: Any,
    start: Any,
    before: Any,
    within: int | None,
    draws: int,
    seed: Any,
) -> Chance:
    """Return the probability of reaching a zone: ever, before another one, within so many steps."""
    begin, goal, avoid = _places(fitted, transitions, reach, start, before)
    mask = None if avoid is None else avoid.mask
    check_whole(within, "within", 0, MOST_STEPS, 100, none="no deadline")

    def ask(chain: Chain, share: F64, target: npt.NDArray[np.bool_], stop: npt.NDArray[np.bool_] | None) -> Any:
        if within is None:
            return np.dot(share, chains.reach(chain, target, stop))
        return np.dot(share, chains.reach_within(chain, target, within, stop))

    chain = Chain.of(transitions)
    probability = float(ask(chain, begin.share, goal.mask, mask))
    stop = goal.mask if mask is None else goal.mask | mask
    lost = np.append(transitions.unknown, False) & ~stop
    interval = _interval(transitions, lambda drawn, share: ask(drawn, share, goal.mask, mask), begin, draws, seed)
    sure = min(probability, 1 - probability) < 1e-9
    if interval is not None and sure and interval[1] - interval[0] < 1e-9:
        interval = _sure(transitions, begin, goal, float(round(probability)))
    return Chance(
        probability=probability,
        interval=interval,
        reach=goal.text,
        start=begin.text,
        before=None if avoid is None else avoid.text,
        within=within,
        unknown=float(ask(chain, begin.share, lost, stop)) if lost.any() else 0.0,
        there=_there(begin, goal),
        partly=goal.partly,
        outside=begin.outside,
        draws=draws,
        markov=transitions.markov,
    )


def expected_steps(
    fitted: Fitted, transitions: Transitions, reach: Any, start: Any, before: Any, draws: int, seed: Any
) -> Duration:
    """Return how many steps it takes to reach a zone, over the rollouts that arrive."""
    begin, goal, avoid = _places(fitted, transitions, reach, start, before)
    mask = None if avoid is None else avoid.mask

    def ask(chain: Chain, share: F64) -> Any:
        probability, weighted = chains.steps_to(chain, goal.mask, mask)
        arriving = np.dot(share, probability)
        return np.dot(share, weighted) / arriving if arriving > 0 else np.nan

    chain = Chain.of(transitions)
    steps = float(ask(chain, begin.share))
    return Duration(
        steps=None if np.isnan(steps) else steps,
        interval=None if np.isnan(steps) else _interval(transitions, ask, begin, draws, seed, times=True),
        probability=float(begin.share @ chains.reach(chain, goal.mask, mask)),
        reach=goal.text,
        start=begin.text,
        before=None if avoid is None else avoid.text,
        there=_there(begin, goal),
        partly=goal.partly,
        draws=draws,
        markov=transitions.markov,
    )


def after(fitted: Fitted, transitions: Transitions, steps: int, start: Any, draws: int, seed: Any) -> Whereabouts:
    """Return where the agent is so many steps later."""
    check_whole(steps, "steps", 0, MOST_STEPS, 100)
    begin = read_start(fitted, transitions, start)

    def ask(chain: Chain, share: F64) -> F64:
        return chains.after(chain, share, steps)

    share = ask(Chain.of(transitions), begin.share)
    interval = _interval(transitions, ask, begin, draws, seed)
    return Whereabouts(share[:-1], interval, float(share[-1]), steps, begin.text, draws, transitions.markov)


def occupancy(fitted: Fitted, transitions: Transitions, start: Any, draws: int, seed: Any) -> Whereabouts:
    """Return the share of time that is spent in each leaf."""
    begin = read_start(fitted, transitions, start)
    share = chains.occupancy(Chain.of(transitions), begin.share)
    interval = _interval(transitions, chains.occupancy, begin, draws, seed)
    return Whereabouts(share, interval, None, None, begin.text, draws, transitions.markov)


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


def _places(
    fitted: Fitted, transitions: Transitions, reach: Any, start: Any, before: Any
) -> tuple[Start, Zone, Zone | None]:
    goal = read_zone(fitted, reach, "reach")
    avoid = None if before is None else read_zone(fitted, before, "before")
    if avoid is not None and (goal.mask & avoid.mask).any():
        both = goal.mask & avoid.mask
        raise ParameterError(
            Message(
                "{} and {} must not overlap; both have {}. A leaf that lies partly in a zone belongs to it as a whole: "
                "try zones further apart.",
                Option("reach"),
                Option("before"),
                conditions.END if both[-1] else conditions.leaves(np.flatnonzero(both).tolist()),
            )
        )
    return read_start(fitted, transitions, start), goal, avoid


def _interval(
    transitions: Transitions,
    ask: Callable[[Chain, F64], Any],
    start: Start,
    draws: int,
    seed: Any,
    times: bool = False,
) -> F64 | None:
    check_whole(draws, "draws", 0, 1_000_000, 200)
    rng = generator(seed)
    if draws == 0:
        return None
    return chains.interval(transitions, ask, start.share, draws, rng, start.episodes, times)


def _sure(transitions: Transitions, start: Start, goal: Zone, probability: float) -> F64:
    """Return the interval of what always or never happened: Wilson's, with the sequences that begin at the start."""
    if _there(start, goal):
        return np.array([1.0, 1.0])
    begun = start.share[:-1] > 0
    times = transitions.n_episodes if start.episodes is not None else int(transitions.sequences[begun].sum())
    return wilson(np.array(probability * times), np.array(times))


def _there(start: Start, goal: Zone) -> bool:
    return bool(start.share[goal.mask].sum() >= 1 - 1e-12)
