from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaves.test_attributes import chain, stump
from tests.logs import make_log, random_log
from tripletree.log.derive import values
from tripletree.log.log import TERMINATED, TRUNCATED
from tripletree.model.bootstrap import end_states, ends_of_truncated, settled_tail


def test_an_endless_reward_of_one_is_worth_the_geometric_sum():
    # Two states, 0 and 1, visited in turn; the recording stops, and goes on in state 0.
    log = make_log(
        [[0.0], [1.0]] * 3, [0, 1] * 3, [1.0] * 6, final_states=[[0.0]], endings=[TRUNCATED], labels=("a", "b")
    )
    tail = settled_tail(log, stump(threshold=0.5), np.array([0, 1] * 3, np.int32), 0.9)
    assert tail.tolist() == pytest.approx([10.0])
    assert values(log, 0.9, tail).tolist() == pytest.approx([10.0] * 6)


def test_only_truncated_episodes_count_and_the_last_state_may_stand_in():
    log = make_log(
        [[0.0], [1.0], [0.0], [1.0]],
        [0, 1, 0, 1],
        [1.0] * 4,
        [0, 1, 2, 4],
        final_states=[[0.0], [np.nan], [1.0]],
        endings=[TERMINATED, TRUNCATED, TRUNCATED],
        labels=("a", "b"),
    )
    assert ends_of_truncated(log).tolist() == [1, 2]
    assert end_states(log, np.array([0, 1, 2])).tolist() == [[0.0], [1.0], [1.0]]
    tail = settled_tail(log, stump(threshold=0.5), np.array([0, 1, 0, 1], np.int32), 0.5)
    # Leaf 1 holds twice the value 1 + v / 2, so v = 2.
    assert tail.tolist() == pytest.approx([0.0, 2.0, 2.0])


def test_nothing_to_bootstrap():
    log = make_log([[0.0], [1.0]], [0, 1], [1.0, 1.0], endings=[TERMINATED], labels=("a", "b"))
    assert settled_tail(log, stump(threshold=0.5), np.array([0, 1], np.int32), 0.5).tolist() == [0.0]


@given(seed=st.integers(0, 9999), gamma=st.sampled_from([0.0, 0.5, 0.9, 0.99]))
def test_the_tail_is_the_trees_own_value_of_the_final_state(seed, gamma):
    log = random_log(seed, lengths=(5, 1, 12, 7, 3))
    tree, node = chain(log, np.random.default_rng(seed), 6)
    leaf = tree.leaf_number[node]
    tail = settled_tail(log, tree, leaf, gamma)
    value = values(log, gamma, tail)
    mean = np.bincount(leaf, value) / np.bincount(leaf)
    episodes = ends_of_truncated(log)
    assert tail[episodes].tolist() == pytest.approx(mean[tree.apply(end_states(log, episodes))].tolist(), abs=1e-9)
    assert not np.delete(tail, episodes).any()


def test_values_settle_to_ten_digits_however_slowly():
    """A reward of 1 for ever is worth 1000 at a discount of 0.999: it takes thousands of rounds to find out."""
    log = make_log(
        [[0.0], [1.0]] * 3, [0, 1] * 3, [1.0] * 6, final_states=[[0.0]], endings=[TRUNCATED], labels=("a", "b")
    )
    tail = settled_tail(log, stump(threshold=0.5), np.array([0, 1] * 3, np.int32), 0.999)
    assert tail[0] == pytest.approx(1000.0, rel=1e-9)
