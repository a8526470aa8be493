"""The Markov check: how wrong is it to forget the past? Asked of the log that the transitions were counted on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tripletree.graph.chain import Chain, after
from tripletree.graph.moves import UNKNOWN, count_sequences, find_sequences
from tripletree.graph.transitions import MarkovCheck, Transitions, leaves_of
from tripletree.log.log import TERMINATED, Log
from tripletree.log.recording import Recording
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_HORIZONS = (1, 2, 5, 10, 20, 50, 100, 200)
_MOST_MOVES = 200_000


def count_transitions(tree: Tree, log: Log | Recording, threads: int = 1) -> Transitions:
    """Count how ``log`` goes from leaf to leaf of ``tree``, and check the chain that the counts make."""
    leaf, final = leaves_of(tree, log, threads)
    counts = count_sequences(tree.n_leaves, leaf, final, log)
    return replace(counts, markov=check_markov(counts, leaf, final, log))


def check_markov(
    transitions: Transitions, leaf: npt.NDArray[np.int32], final: npt.NDArray[np.int32], log: Log | Recording
) -> MarkovCheck:
    """Compare the chain with the log it was counted on.

    Parameters
    ----------
    transitions : Transitions
        The counts.
    leaf, final : int32 arrays
        Leaf of each sample and of each final state (see ``leaves_of``).
    log : Log or Recording
        The log.
    """
    moves = _triples(transitions.n_leaves, leaf, final, log)
    if moves.shape[1] > _MOST_MOVES:
        moves = moves[:, np.linspace(0, moves.shape[1] - 1, _MOST_MOVES).astype(np.int64)]
    memory, chance = _memory(*moves) if moves.shape[1] else (0.0, 0.0)
    return MarkovCheck(memory, chance, moves.shape[1], *_worst_distance(transitions, leaf, final, log))


def _triples(n_leaves: int, leaf: npt.NDArray[np.int32], final: npt.NDArray[np.int32], log: Log | Recording) -> I64:
    """Return the leaf before, the leaf, and the place after each sequence that has both, shape (3, moves)."""
    _, here, following, last = find_sequences(n_leaves, leaf, final, log)
    previous = np.append(np.int32(UNKNOWN), here[:-1])
    previous[np.append(0, last[:-1] + 1)] = UNKNOWN  # an episode's first sequence has none before it
    both = (previous != UNKNOWN) & (following != UNKNOWN)
    return np.stack([previous[both], here[both], following[both]]).astype(np.int64)


def _memory(previous: I64, here: I64, following: I64) -> tuple[float, float]:
    """Return the mean distance (total variation) of next places given both leaves from those given one; and by chance.

    The latter is its mean if it were shuffled which previous leaf belongs to which move from the same leaf.
    """
    size = int(max(previous.max(), following.max())) + 1
    pairs, pair = np.unique(here * size + previous, return_inverse=True)
    onwards, onward = np.unique(here * size + following, return_inverse=True)
    by_pair, by_onward, by_leaf = np.bincount(pair), np.bincount(onward), np.bincount(here)
    cell, times = np.unique(pair * len(onwards) + onward, return_counts=True)
    before, then = np.divmod(cell, len(onwards))
    expected = by_pair[before] * by_onward[then] / by_leaf[onwards[then] // size]
    # Differences add up to 0 within a pair of leaves, so their positive half is the distance.
    distance = float(np.maximum(times - expected, 0).sum() / len(here))
    return distance, _shuffled(pairs // size, by_pair, onwards // size, by_onward, by_leaf) / len(here)


def _shuffled(first: I64, by_pair: I64, second: I64, by_onward: I64, by_leaf: I64) -> float:
    """Return the mean sum of positive differences over all shuffles, exactly.

    Shuffled, the number of moves with given leaves before and after is hypergeometric. With ``n`` of ``N`` moves from a
    leaf coming from one place and ``K`` going to another, the mean of what exceeds ``n K / N`` is
    ``m (N - K - n + m) / N * P(m)``, m being the first whole number above it (the sum telescopes). Places with the same
    counts are taken together.
    """
    most = int(by_leaf.max()) + 1
    left, left_times = np.unique(first * most + by_pair, return_counts=True)
    right, right_times = np.unique(second * most + by_onward, return_counts=True)
    opening, of_leaf = np.searchsorted(right, np.arange(len(by_leaf)) * most), np.bincount(right // most)
    a = np.repeat(np.arange(len(left)), of_leaf[left // most])
    b = opening[left[a] // most] + np.arange(len(a)) - np.searchsorted(a, a)
    n, k, total = left[a] % most, right[b] % most, by_leaf[left[a] // most]
    m = n * k // total + 1
    m, at_most = np.minimum(m, np.minimum(n, k)), m <= np.minimum(n, k)
    f = np.append(0.0, np.cumsum(np.log(np.arange(1.0, most))))
    chosen = f[k] - f[m] - f[k - m] + f[total - k] - f[n - m] - f[np.maximum(total - k - n + m, 0)]
    share = np.exp(chosen - (f[total] - f[n] - f[total - n]))
    mean = m * (total - k - n + m) / total * share * at_most
    return float((mean * left_times[a] * right_times[b]).sum())


def _worst_distance(
    transitions: Transitions, leaf: npt.NDArray[np.int32], final: npt.NDArray[np.int32], log: Log | Recording
) -> tuple[float, float, int, int]:
    """Return distance, distance by chance, horizon and episodes where prediction and log differ most."""
    chain, end = Chain.of(transitions), transitions.n_leaves
    length = np.diff(log.starts)
    terminated = log.endings == TERMINATED
    weight = np.ones(len(length)) if log.episode_weights is None else log.episode_weights
    worst, found = -np.inf, (0.0, 0.0, 0, 0)
    begun, predicted, steps = None, np.empty(0), 0
    for horizon in _HORIZONS:
        # An episode that was cut off earlier is not known. To leave out many would favour the short ones.
        inside = horizon < length
        at_final = (horizon == length) & ~terminated & (final >= 0)
        known = inside | at_final | (terminated & (horizon >= length))
        if np.count_nonzero(known) < 0.9 * len(known) or (terminated & (horizon >= length)).all():
            break
        place = np.full(len(length), end)
        place[inside] = leaf[log.starts[:-1][inside] + horizon]
        place[at_final] = final[at_final]
        mine = weight[known]
        if not mine.any():
            break
        start = np.bincount(leaf[log.starts[:-1][known]], mine, end + 1) / mine.sum()
        if begun is None or not np.array_equal(begun, start):
            begun, predicted, steps = start, start, 0
        predicted, steps = after(chain, predicted, horizon - steps), horizon
        episodes = int(np.count_nonzero(known))
        observed = np.bincount(place[known], mine, end + 1) / mine.sum()
        chance = _drawn(predicted, episodes)
        distance = float(np.abs(observed - predicted).sum() / 2)
        if distance - chance > worst:
            worst, found = distance - chance, (distance, chance, horizon, episodes)
    return found


def _drawn(share: F64, n: int) -> float:
    """Return the mean distance of ``n`` draws from the shares that they are drawn with (De Moivre's formula)."""
    p = share[(share > 0) & (share < 1)]
    m = np.minimum(np.floor(n * p) + 1, n)
    f = np.append(0.0, np.cumsum(np.log(np.arange(1.0, n + 1))))
    whole = m.astype(np.int64)
    log_share = f[n] - f[whole] - f[n - whole] + m * np.log(p) + (n - m) * np.log1p(-p)
    return float((m * (1 - p) * np.exp(log_share)).sum() / n)
