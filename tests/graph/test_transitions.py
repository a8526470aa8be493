from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import logs, make_log, random_log
from tripletree.demos import road
from tripletree.graph.markov import count_transitions
from tripletree.graph.transitions import wilson
from tripletree.log.derive import values
from tripletree.log.log import TERMINATED, TRUNCATED, UNKNOWN
from tripletree.tree.grow import encode, grow
from tripletree.tree.structure import Tree
from tripletree.tree.targets import make_targets


def grown(log, leaves):
    targets = make_targets(log, values(log, 0.9), (1, 1, 1), "sigma")
    options = {"max_depth": None, "min_samples_leaf": 1, "min_quality": 0.0, "priority": "impurity"}
    codes = encode(log, "exact", 1024, 1)
    return grow(log, codes, targets, threads=1, max_leaves=leaves, thresholds="short", progress=None, **options)[0]


def by_hand(tree, log):
    """Walk through the log one step at a time."""
    end = tree.n_leaves
    count, steps = Counter(), Counter()
    censored, censored_steps, stays, starts, samples, moves, exposure = (Counter() for _ in range(7))
    for e in range(log.n_episodes):
        rows = range(log.starts[e], log.starts[e + 1])
        path = [int(tree.apply(log.states[row : row + 1])[0]) for row in rows]
        starts[path[0]] += 1
        samples.update(path)
        known = not np.isnan(log.final_states[e]).any()
        if log.endings[e] == TERMINATED:
            path.append(end)
        elif known:
            path.append(int(tree.apply(log.final_states[e : e + 1])[0]))
        for here, there in pairwise(path):
            exposure[here] += 1
            moves[here, there] += here != there
        length, t = 0, 0
        for t in range(len(rows)):
            length += 1
            if t + 1 < len(path) and path[t + 1] != path[t]:
                count[path[t], path[t + 1]] += 1
                steps[path[t], path[t + 1]] += length
                length = 0
        if length:
            censored[path[t]] += 1
            censored_steps[path[t]] += length
            stays[path[t]] += length - 1 + (len(path) > len(rows))
    return count, steps, censored, censored_steps, stays, starts, samples, moves, exposure


@given(logs(), st.integers(1, 12))
def test_counts_are_those_of_a_walk_through_the_log(log, leaves):
    tree = grown(log, leaves)
    found = count_transitions(tree, log)
    count, steps, *by_leaf, moves, exposure = by_hand(tree, log)
    edges = [*zip(found.source.tolist(), found.target.tolist(), strict=True)]
    assert edges == sorted(count)
    assert found.count.tolist() == [count[edge] for edge in edges]
    assert found.steps.tolist() == [steps[edge] for edge in edges]
    for name, expected in zip(("censored", "censored_steps", "stays", "starts", "samples"), by_leaf, strict=True):
        assert getattr(found, name).tolist() == [expected[leaf] for leaf in range(tree.n_leaves)], name
    # Rows sum to 1 wherever a sequence has a known continuation.
    rows = np.asarray(found.matrix().sum(axis=1)).ravel()
    np.testing.assert_allclose(rows, found.sequences > 0, atol=1e-12)
    assert (found.duration >= 1).all()
    # The chain by steps is the share of the recorded steps that went there.
    chain = found.step_matrix().toarray()
    np.testing.assert_allclose(chain.sum(axis=1), 1)
    for (here, there), times in moves.items():
        if here != there:
            assert chain[here, there] == pytest.approx(times / exposure[here])
    assert chain[-1, -1] == 1


@given(logs(), st.integers(1, 12))
def test_a_truncated_tree_and_another_log_are_counted_the_same_way(log, leaves):
    tree = grown(log, 12)
    tree = tree.truncate(min(leaves, tree.n_leaves))
    other = random_log(1, lengths=(5, 1, 9), features=log.n_features)
    found = count_transitions(tree, other)
    assert found.n_episodes == other.n_episodes
    assert int(found.steps.sum() + found.censored_steps.sum()) == other.n_samples
    count = by_hand(tree, other)[0]
    assert dict(zip(zip(found.source.tolist(), found.target.tolist(), strict=True), found.count, strict=True)) == count


def halves():
    return Tree(np.array([0, -1, -1], np.int32), np.array([0.5, 0, 0]), np.array([1, -1, -1], np.int32), np.zeros(3))


@pytest.mark.parametrize(
    ("ending", "final", "edges", "censored", "stays"),
    [
        (TERMINATED, np.nan, [(0, 2, 1, 2)], [0, 0], [0, 0]),
        (TERMINATED, 1.0, [(0, 2, 1, 2)], [0, 0], [0, 0]),
        (TRUNCATED, np.nan, [], [1, 0], [1, 0]),
        (TRUNCATED, 0.0, [], [1, 0], [2, 0]),
        (TRUNCATED, 1.0, [(0, 1, 1, 2)], [0, 0], [0, 0]),
        (UNKNOWN, np.nan, [], [1, 0], [1, 0]),
        (UNKNOWN, 1.0, [(0, 1, 1, 2)], [0, 0], [0, 0]),
    ],
)
def test_endings(ending, final, edges, censored, stays):
    log = make_log([[0.0], [0.1]], [0, 0], [0, 0], final_states=[[final]], endings=[ending])
    found = count_transitions(halves(), log)
    assert [*zip(found.source, found.target, found.count, found.steps, strict=True)] == edges
    assert found.censored.tolist() == censored
    assert found.stays.tolist() == stays
    assert found.unknown.tolist() == [not edges, True]


def test_one_leaf_and_one_step():
    log = make_log([[0.0]], [0], [0], endings=[TERMINATED])
    tree = Tree(np.array([-1], np.int32), np.zeros(1), np.array([-1], np.int32), np.zeros(1))
    found = count_transitions(tree, log)
    assert (found.source.tolist(), found.target.tolist(), found.probability.tolist()) == ([0], [1], [1.0])
    assert found.step_matrix().toarray().tolist() == [[0, 1], [0, 1]]
    assert not found.count.flags.writeable


def test_neighbouring_episodes_do_not_touch():
    log = make_log([[0.0], [0.0], [1.0]], [0, 0, 0], [0, 0, 0], [0, 1, 3], endings=[TERMINATED, TERMINATED])
    found = count_transitions(halves(), log)
    assert [*zip(found.source, found.target, found.count, found.steps, strict=True)] == [
        (0, 1, 1, 1),
        (0, 2, 1, 1),
        (1, 2, 1, 1),
    ]
    assert found.starts.tolist() == [2, 0]


def test_threads_change_nothing():
    log = road.record(n_samples=2_000)
    tree = grown(log, 30)
    one, two = count_transitions(tree, log), count_transitions(tree, log, threads=2)
    assert one.count.tolist() == two.count.tolist()


def test_many_leaves_are_sorted_instead_of_tabled(monkeypatch):
    log = road.record(n_samples=2_000)
    tree = grown(log, 30)
    tabled = count_transitions(tree, log)
    monkeypatch.setattr("tripletree.graph.moves._TABLE", 0)
    found = count_transitions(tree, log)
    for name in ("source", "target", "count", "steps"):
        assert getattr(found, name).tolist() == getattr(tabled, name).tolist()
        assert getattr(found, name).dtype == getattr(tabled, name).dtype


def test_wilson_interval():
    # Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    found = wilson(np.array([81, 15, 0, 1, 0]), np.array([263, 148, 20, 29, 0]))
    expected = [[0.2553, 0.3662], [0.0624, 0.1605], [0.0, 0.1611], [0.0061, 0.1718], [0, 1]]
    np.testing.assert_allclose(found, expected, atol=5e-5)
