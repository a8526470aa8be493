"""Paths: every simple path of small graphs, listed one by one, is the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripletree.graph import paths
from tripletree.graph.paths import Graph, all_pairs, best_paths, most_probable
from tripletree.graph.transitions import Transitions


def transitions(n, edges):
    """Transitions from {(source, target): (count, steps)}."""
    keys = sorted(edges)
    nothing = np.zeros(n, np.int64)
    return Transitions(
        n_leaves=n,
        source=np.array([s for s, _ in keys], np.int32),
        target=np.array([t for _, t in keys], np.int32),
        count=np.array([edges[key][0] for key in keys], np.int64),
        steps=np.array([edges[key][1] for key in keys], np.int64),
        censored=nothing,
        censored_steps=nothing.copy(),
        stays=nothing.copy(),
        starts=nothing.copy(),
        samples=nothing.copy(),
    )


@st.composite
def moves(draw):
    n = draw(st.integers(1, 6))
    pairs = [(s, t) for s in range(n) for t in range(n + 1) if s != t]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    counts = {pair: draw(st.integers(1, 9)) for pair in chosen}
    return transitions(n, {pair: (count, count * (1 + pair[1])) for pair, count in counts.items()})


def every_path(moves, starts, ends):
    """All paths without repetition that stop at the first end leaf, as {leaves: probability}."""
    chance = {(int(s), int(t)): p for s, t, p in zip(moves.source, moves.target, moves.probability, strict=True)}
    found = {}

    def walk(leaves, p):
        if leaves[-1] in ends:
            found[leaves] = p
            return
        for (s, t), q in chance.items():
            if s == leaves[-1] and t not in leaves:
                walk((*leaves, t), p * q)

    for start in starts:
        walk((start,), 1.0)
    return found


@given(moves(), st.data())
@settings(max_examples=150, deadline=None)
def test_the_best_paths_are_those_of_the_whole_list(moves, data):
    leaf, place = st.integers(0, moves.n_leaves - 1), st.integers(0, moves.n_leaves)
    starts, ends = data.draw(st.sets(leaf, min_size=1)), data.draw(st.sets(place, min_size=1))
    k = data.draw(st.integers(1, 30))
    truth = every_path(moves, starts, ends)
    made = best_paths(Graph(moves), starts, ends, k)
    assert [path.probability for path in made] == pytest.approx(sorted(truth.values(), reverse=True)[:k])
    listed = [tuple(path.leaves.tolist()) for path in made]
    assert len(set(listed)) == len(listed)
    for path in made:
        assert path.probability == pytest.approx(truth[tuple(path.leaves.tolist())])
        assert path.duration == pytest.approx(sum(1 + t for t in path.leaves[1:].tolist()))
        assert len(path.counts) == len(path.leaves) - 1


@given(moves())
@settings(max_examples=60, deadline=None)
def test_all_pairs_are_the_best_path_of_each(moves):
    leaves = range(moves.n_leaves)
    made = {(int(p.leaves[0]), int(p.leaves[-1])): p.probability for p in all_pairs(Graph(moves), leaves, leaves)}
    for start in leaves:
        for end in leaves:
            best = most_probable(moves, start, end)
            if start == end or best is None:
                assert (start, end) not in made
            else:
                assert made[start, end] == pytest.approx(best.probability)


@given(moves(), st.data(), st.integers(1, 12))
@settings(max_examples=150, deadline=None)
def test_the_best_pairs_are_the_first_of_all(moves, data, most):
    leaf, place = st.integers(0, moves.n_leaves - 1), st.integers(0, moves.n_leaves)
    starts, ends = data.draw(st.sets(leaf, min_size=1)), data.draw(st.sets(place, min_size=1))
    graph = Graph(moves)
    truth = {}
    for start in starts:
        for end in ends - {start}:
            # The best path to a pair may pass through other ends, so each end is looked at alone.
            if between := every_path(moves, {start}, {end}):
                truth[start, end] = max(between.values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "TOGETHER", data.draw(st.integers(1, 3)))
        made = all_pairs(graph, starts, ends, most)
    assert [path.probability for path in made] == pytest.approx(sorted(truth.values(), reverse=True)[:most])
    first = all_pairs(graph, starts, ends)[:most]
    assert [path.leaves.tolist() for path in made] == [path.leaves.tolist() for path in first]
    for path in made:
        assert path.probability == pytest.approx(truth[int(path.leaves[0]), int(path.leaves[-1])])


def crowd(n):
    """A graph in which every leaf leads to four others, and the numbers say little about the best."""
    rng = np.random.default_rng(n)
    return transitions(
        n, {(s, int(t)): (int(rng.integers(1, 99)), 99) for s in range(n) for t in rng.choice(n, 5) if t != s}
    )


def test_only_what_is_wanted_is_made(monkeypatch):
    graph = Graph(crowd(300))
    made = []
    monkeypatch.setattr(
        Graph, "path", lambda self, leaves, plain=Graph.path: made.append(leaves) or plain(self, leaves)
    )
    found = all_pairs(graph, range(150), range(150, 300), 20)
    assert len(found) == 20
    assert len(made) <= 20 + paths.SPARE
    assert [path.probability for path in found] == [
        path.probability for path in all_pairs(graph, range(150), range(150, 300))[:20]
    ]


def test_no_search_is_made_twice(monkeypatch):
    """Each path that is taken leaves earlier ones at one place: only from there on others are looked for."""
    graph = Graph(crowd(60))
    asked = []
    plain = Graph.best
    monkeypatch.setattr(Graph, "best", lambda self, *given: asked.append(given[:1] + given[2:]) or plain(self, *given))
    found = best_paths(graph, [0], [59], 40)
    assert len(found) == 40
    assert len(set(asked)) == len(asked)


def test_many_equal_pairs_are_cut_in_their_order():
    n = 40
    ring = transitions(n, {(s, (s + 1) % n): (1, 1) for s in range(n)})
    found = all_pairs(Graph(ring), range(n), range(n), 5)
    assert [path.probability for path in found] == [1.0] * 5
    assert len({(int(path.leaves[0]), int(path.leaves[-1])) for path in found}) == 5


@given(moves(), st.data())
@settings(max_examples=60, deadline=None)
def test_reachable_is_where_some_path_leads(moves, data):
    start = data.draw(st.integers(0, moves.n_leaves - 1))
    truth = [end for end in range(moves.n_leaves + 1) if every_path(moves, {start}, {end})]
    assert Graph(moves).reachable([start]).tolist() == truth


def test_a_certain_transition_is_a_transition():
    moves = transitions(3, {(0, 1): (5, 10), (1, 2): (5, 15), (2, 3): (5, 5)})
    path = most_probable(moves, 0, 2)
    assert path is not None
    assert (path.leaves.tolist(), path.probability, path.duration) == ([0, 1, 2], 1.0, 5.0)
    assert [p.leaves.tolist() for p in all_pairs(Graph(moves), [0], [2])] == [[0, 1, 2]]


def test_a_long_sure_way_beats_a_short_rare_one():
    moves = transitions(4, {(0, 3): (1, 1), (0, 1): (9, 9), (1, 2): (1, 1), (2, 3): (1, 1)})
    first, second = best_paths(Graph(moves), [0], [3], 5)
    assert (first.leaves.tolist(), first.probability) == ([0, 1, 2, 3], 0.9)
    assert (second.leaves.tolist(), second.probability) == ([0, 3], 0.1)


def test_start_at_the_end_is_a_path_of_one_leaf():
    path = most_probable(transitions(1, {(0, 1): (1, 1)}), 0, 0)
    assert path is not None
    assert (path.leaves.tolist(), path.probability, path.duration) == ([0], 1.0, 0.0)


def test_nothing_leads_nowhere():
    assert most_probable(transitions(2, {(0, 2): (1, 1)}), 0, 1) is None
    assert all_pairs(Graph(transitions(2, {})), [], [1]) == []
