from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.chains import random_transitions
from tests.graph.test_transitions import grown
from tests.logs import logs, make_log
from tripletree.graph import markov
from tripletree.graph.chain import Chain, rollouts
from tripletree.graph.markov import _drawn, _memory, check_markov
from tripletree.graph.moves import count_sequences
from tripletree.graph.transitions import MarkovCheck, leaves_of
from tripletree.log.log import TERMINATED, TRUNCATED


def checked(paths, n_leaves, ending=TRUNCATED):
    """Check a log whose episodes are paths of leaves; a path that comes to the end terminates there."""
    paths = [np.array(path) for path in paths]
    ended = [(path == n_leaves).any() for path in paths]
    paths = [path[path < n_leaves] for path in paths]
    leaf = np.concatenate(paths).astype(np.int32)
    starts = np.append(0, np.cumsum([len(path) for path in paths]))
    log = make_log(leaf[:, None], leaf, leaf, starts, endings=[TERMINATED if e else ending for e in ended])
    final = np.full(len(paths), -1, np.int32)
    found = count_sequences(n_leaves, leaf, final, log)
    return check_markov(found, leaf, final, log)


def test_a_log_of_the_chain_itself_is_called_good():
    source = random_transitions(5, n_leaves=8, endings=0.5)
    start = np.append(source.starts / source.starts.sum(), 0)
    paths = rollouts(Chain.of(source), start, 2_000, 50, np.random.default_rng(1))
    check = checked(paths, 8)
    assert check.verdict == "good"
    assert check.memory == pytest.approx(check.memory_chance, abs=0.01)
    assert check.distance < 0.05
    assert check.moves > 1_000
    assert check.episodes == 2_000


def test_a_leaf_that_remembers_where_it_was_entered_is_called_poor():
    # Through leaf 1 from 0 always to 3, from 2 always to 4.
    check = checked([[0, 1, 3, 5], [2, 1, 4, 5]] * 50, 5)
    assert check.memory == pytest.approx(0.25)  # half of the moves from leaf 1, which are half of all
    assert check.memory_chance < 0.05
    assert check.verdict == "poor"


def test_a_clockwork_is_called_poor_for_its_timing():
    # Ten steps in each leaf, always: no memory of leaves, but the chain does not know the time.
    check = checked([np.repeat([0, 1, 2, 3], 10)] * 100, 3)
    assert check.memory == 0
    assert check.distance - check.distance_chance > 0.3
    assert check.horizon in (5, 10, 20)
    assert check.verdict == "poor"


def test_nothing_to_test():
    check = checked([[0]], 1)
    assert (check.verdict, check.moves, check.horizon) == ("untested", 0, 0)
    assert check.excess == 0


@given(logs(), st.integers(1, 12))
def test_any_log_can_be_checked(log, leaves):
    tree = grown(log, leaves)
    leaf, final = leaves_of(tree, log)
    found = count_sequences(tree.n_leaves, leaf, final, log)
    one = check_markov(found, leaf, final, log)
    for share in (one.memory, one.memory_chance, one.distance, one.distance_chance):
        assert 0 <= share <= 1
    assert one.verdict in ("good", "fair", "poor", "untested")


def distance(previous, here, following):
    """The mean distance of next places given both leaves from those given one, move by move."""
    total = 0.0
    for before, leaf in {*zip(previous, here, strict=True)}:
        both = (previous == before) & (here == leaf)
        for place in np.unique(following):
            share = np.mean(following[here == leaf] == place)
            total += both.sum() * abs(np.mean(following[both] == place) - share) / 2
    return total / len(here)


@pytest.mark.parametrize("seed", range(4))
def test_chance_alone_is_the_mean_over_shuffled_logs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 120))
    here, previous, following = rng.integers(0, 3, n), rng.integers(0, 4, n) ** 2, rng.integers(0, 5, n)
    found, chance = _memory(previous, here, following)
    assert found == pytest.approx(distance(previous, here, following))
    shuffled = []
    for _ in range(300):
        mixed = previous.copy()
        for leaf in range(3):
            mixed[here == leaf] = rng.permutation(mixed[here == leaf])
        shuffled.append(distance(mixed, here, following))
    assert chance == pytest.approx(np.mean(shuffled), abs=4 * np.std(shuffled) / np.sqrt(300) + 1e-9)


def test_the_distance_of_draws_is_that_of_a_multinomial():
    rng = np.random.default_rng(0)
    for n in (1, 7, 300):
        share = np.append(rng.dirichlet(np.full(6, 0.5)), 0.0)
        drawn = np.abs(rng.multinomial(n, share, 20_000) / n - share).sum(axis=1) / 2
        assert _drawn(share, n) == pytest.approx(drawn.mean(), abs=5 * drawn.std() / np.sqrt(20_000))
    assert _drawn(np.array([0.0, 1.0]), 5) == 0


@pytest.mark.parametrize(
    ("stay", "total", "horizon"),
    [
        # The agent leaves its first leaf at a fixed step, the chain at a constant rate: before, they differ most.
        (3, 9, 2),
        (7, 20, 5),
        (15, 40, 10),
        (250, 300, 200),
    ],
)
def test_the_horizon_is_where_prediction_and_log_differ_most(stay, total, horizon):
    check = checked([np.repeat([0, 1], [stay, total - stay])] * 40, 2)
    assert check.horizon == horizon
    # Still in the first leaf: the chain has left it at each of these steps with probability 1 / stay.
    assert check.distance == pytest.approx(1 - (1 - 1 / stay) ** horizon)
    assert check.episodes == 40


@pytest.mark.parametrize(("known", "horizon"), [(10, 5), (9, 5), (8, 2)])
def test_steps_count_as_far_as_nine_of_ten_episodes_are_known(known, horizon):
    """All stay in the first leaf for six steps, but some are cut off after three: nobody knows their fifth."""
    long, short = np.repeat([0, 1], [6, 3]), np.zeros(3, int)
    check = checked([long] * known + [short] * (10 - known), 2)
    assert (check.horizon, check.episodes) == (horizon, 10 if horizon == 2 else known)


def test_episodes_that_are_over_are_known_to_be_over():
    # Half end after one step, half after three: at the second step all is known, and after the third nothing is left.
    check = checked([[0, 2]] * 20 + [[1, 1, 1, 2]] * 20, 2)
    assert check.episodes == 40
    assert check.horizon in (1, 2)


def test_of_very_many_moves_some_are_looked_at(monkeypatch):
    paths = [[0, 1, 3, 5], [2, 1, 4, 5]] * 50
    every = checked(paths, 5)
    monkeypatch.setattr(markov, "_MOST_MOVES", every.moves)
    assert checked(paths, 5) == every
    monkeypatch.setattr(markov, "_MOST_MOVES", every.moves - 1)
    some = checked(paths, 5)
    assert some.moves == every.moves - 1
    assert some.memory == pytest.approx(every.memory, abs=0.01)


@pytest.mark.parametrize(
    ("excess", "verdict"),
    [(0.0, "good"), (0.049, "good"), (0.05, "fair"), (0.149, "fair"), (0.15, "poor"), (1.0, "poor")],
)
def test_a_chain_is_fair_from_a_twentieth_and_poor_from_fifteen_percent_on(excess, verdict):
    assert MarkovCheck(excess, 0.0, 1, 0.0, 0.0, 0, 0).verdict == verdict
    assert MarkovCheck(0.0, 0.0, 0, excess, 0.0, 1, 1).verdict == verdict
