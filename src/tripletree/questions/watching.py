"""Watching outcomes as episodes come in: a test that may be looked at after every one of them.

Each new episode is ranked among the old ones and the new ones before it. If they are all of one kind, the rank is
uniform, whatever came before: so a bet on low ranks is a fair game, and its wealth exceeds 1 / alpha with a chance of
alpha at most, however often somebody looks (Ville's inequality; such games are conformal test martingales).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.answers.watch import Watch
from tripletree.checks import check_number, check_whole
from tripletree.errors import LogError
from tripletree.questions.two_logs import Pair

F64 = npt.NDArray[np.float64]

LINES = (0.25, 0.5, 0.75, 1.0)
"""Slopes of bets that pay by how low a rank is."""
POWERS = (0.3, 0.5, 0.7)
"""Exponents of bets that pay for the lowest ranks above all."""


def watch(pair: Pair, *, alpha: float = 0.01, seed: int = 0) -> Watch:
    """Return whether the outcomes of the new log have become worse, or better, so far.

    Parameters
    ----------
    pair : Pair
        The logs; the new one in the order in which its episodes came.
    alpha : float
        Chance that it is ever called worse, or better, where nothing changed.
    seed : int
        Breaks ties.
    """
    check_number(alpha, "alpha", above=0, below=0.5, example=0.01)
    check_whole(seed, "seed", 0)
    if pair.log.groups is not None:
        raise LogError(
            "Episodes of one group depend on each other, so that they cannot be watched one by one. Read the logs "
            "without groups if every episode is by itself."
        )
    if pair.success is not None:
        judged, numbers = "success", pair.success.astype(np.float64)
    elif pair.log.schema.has_reward:
        judged, numbers = "return", np.add.reduceat(pair.log.rewards, pair.log.starts[:-1])
    else:
        raise LogError('The logs have no rewards: say which episodes succeed, such as success="length > 100".')
    old, new = numbers[~pair.episode_new], numbers[pair.episode_new]
    worse, better = wealth(old, new, np.random.default_rng(seed))
    limit = 2 / alpha  # of two games, each may use half of alpha
    reached = [int(np.argmax(game >= limit)) + 1 if (game >= limit).any() else None for game in (worse, better)]
    first = min((step for step in reached if step is not None), default=None)
    verdict = "" if first is None else "worse" if reached[0] == first else "better"
    return Watch(
        judged, verdict, first, worse, better, limit, float(alpha), (float(old.mean()), float(new.mean())), pair.names
    )


def wealth(old: F64, new: F64, rng: np.random.Generator) -> tuple[F64, F64]:
    """Return the wealth of a bet that outcomes became worse, and of one that they became better, after each episode."""
    before = np.sort(old)
    logs = np.zeros((2, len(LINES) + len(POWERS)))
    found = np.empty((2, len(new)))
    for step, outcome in enumerate(new.tolist()):
        below, upto = np.searchsorted(before, outcome, "left"), np.searchsorted(before, outcome, "right")
        rank = (below + rng.random() * (upto - below + 1)) / (len(before) + 1)
        for side, place in enumerate((rank, 1 - rank)):
            place = min(max(place, 1e-12), 1 - 1e-12)
            bets = [1 + slope * (1 - 2 * place) for slope in LINES] + [power * place ** (power - 1) for power in POWERS]
            logs[side] += np.log(np.maximum(bets, 1e-300))
            found[side, step] = np.exp(np.minimum(logs[side], 600)).mean()
        before = np.insert(before, below, outcome)
    return found[0], found[1]
