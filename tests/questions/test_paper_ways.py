from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import ParameterError
from tripletree.graph.align import align_all, visible
from tripletree.graph.markov import count_transitions
from tripletree.graph.paths import Graph, Path, all_pairs, best_paths
from tripletree.log.log import TERMINATED
from tripletree.questions import paper_ways as module
from tripletree.questions.evidence import evidence
from tripletree.questions.paper_ways import paper_ways

# A corridor: from 0.5 to 3.5 in steps of 1 four times, twice from 2.5 on; "up" below 2, "down" above.
STATES = [0.5, 1.5, 2.5, 3.5] * 4 + [2.5, 3.5] * 2
ACTIONS = [0, 0, 1, 1] * 4 + [1, 1] * 2
LOG = make_log(
    [[x, 0.0] for x in STATES],
    ACTIONS,
    [int(x) ** 2 for x in STATES],
    [0, 4, 8, 12, 16, 18, 20],
    endings=[TERMINATED] * 6,
    labels=("up", "down"),
    names=("pos", "still"),
)


def ask(start, end, log=LOG, **options):
    tree = quietly_fitted(log, max_leaves=options.pop("max_leaves", 4), gamma=0.0, theta=(0, 1, 0)).fitted_
    found = evidence(tree, log)
    return paper_ways(tree, count_transitions(tree.tree, log), start, end, found=found, **options)


def test_the_way_through_a_corridor():
    answer = ask([0.5, 0.0], [3.5, 0.0])
    (way,) = answer
    assert way.leaves.tolist() == [0, 1, 2, 3]
    assert (way.probability, way.duration, way.ends) == (1.0, 3.0, False)
    assert way.counts.tolist() == [4, 4, 6]
    assert way.nodes[:, 0].tolist() == [0.5, 1.0, 2.0, 3.0, 3.5]
    assert way.objective == pytest.approx(0, abs=1e-9)
    assert str(answer) == str(way)
    assert str(way) == (
        "From pos = 0.5, still = 0 it most likely (p = 1, about 3 steps, 4 leaves) goes to pos = 2 with action = up; "
        "then to pos = 3.5 with action = down; and ends in leaf 3 (pos = 3.5, still = 0). "
        "The rarest transition on this path was seen 4 times."
    )


def test_paths_have_no_nodes():
    (way,) = ask(0, {"pos": (3, None)}, aligned=False)
    assert way.nodes is None
    assert way.angles is None
    assert way.objective is None
    assert "ends in leaf 3." in str(way)


def test_the_way_to_the_end():
    (way,) = ask(2, "end")
    assert way.leaves.tolist() == [2, 3]
    assert way.ends
    assert (way.probability, way.duration) == (1.0, 2.0)
    assert "and then the episode ends." in str(way)


def test_no_way_says_what_can_be_reached():
    answer = ask(2, 0)
    assert len(answer) == 0
    assert not answer
    assert answer.reachable.tolist() == [2, 3]
    assert str(answer) == (
        "From leaf 2 this log never leads to leaf 0. It leads to 2 of 4 leaves and the end: pos from 2 to 3.5 and "
        "still from 0 to 0."
    )


def test_start_at_the_end():
    (way,) = ask(1, 1)
    assert (way.probability, way.duration, way.leaves.tolist()) == (1.0, 0.0, [1])
    assert str(way) == "From leaf 1 it is in leaf 1 already."
    (way,) = ask([1.2, 0], [1.4, 0])
    assert way.nodes.tolist() == [[1.2, 0], [1.4, 0]]


def test_a_model_of_one_leaf():
    (way,) = ask([0.5, 0], "end", max_leaves=1)
    assert (way.leaves.tolist(), way.ends) == ([0], True)
    assert "goes straight to the end of the episode" in str(way)


def test_a_state_outside_the_log_is_said_to_be():
    answer = ask([-5, 0], 3)
    assert answer.outside
    assert answer[0].nodes[0].tolist() == [-5, 0]
    assert str(answer).endswith("The state lies outside the range of the log.")


def test_pairs_of_one_leaf_are_there_already():
    answer = ask(3, 3, pairs=True)
    assert [way.leaves.tolist() for way in answer] == [[3]]
    assert "already" in str(answer)


def test_all_pairs_with_progress():
    seen = []
    answer = ask({0, 1}, {2, 3}, pairs=True, progress=lambda done, of: seen.append((done, of)))
    assert sorted((int(way.leaves[0]), int(way.leaves[-1])) for way in answer) == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert seen == sorted(seen)
    assert seen[-1] == (4, 4)
    assert "There are 3 other paths." in str(answer)
    assert len(ask({0, 1}, {2, 3}, pairs=2)) == 2


def test_answers_are_data():
    assert json.loads(json.dumps(ask(0, 3).to_dict()))["found"][0]["leaves"] == [0, 1, 2, 3]
    assert repr(ask(0, 3)).startswith("<Trajectories: From leaf 0")
    assert repr(ask(0, 3)[0]).startswith("<Trajectory: From leaf 0")


@pytest.mark.parametrize(
    ("start", "end", "options", "message"),
    [
        (0, 9, {}, "end has leaf 9; leaves go from 0 to 3"),
        ("end", 0, {}, "start must hold leaves only: nothing follows the end"),
        ("home", 0, {}, "start has no `home`; it may have"),
        (0, {"poss": (0, 1)}, {}, "Did you mean `pos`"),
        (0, {"pos": (7, 8)}, {}, "end is empty"),
        ([[0, 0], [1, 0]], 0, {}, "start must be one state; got 2"),
        (0, 1, {"pairs": 0}, "pairs must be True, False or a whole number from 1 to 100,000; got 0"),
        (0, 1, {"k": 0}, "k must be a whole number from 1 to 100,000; got 0"),
    ],
)
def test_bad_questions(start, end, options, message):
    with pytest.raises(ParameterError, match=message):
        ask(start, end, **options)


def test_trajectories_need_derivatives():
    log = make_log([[0.0], [1.0]], [0, 1], [0, 1], [0, 1, 2], labels=("a", "b"))
    with pytest.raises(ParameterError, match="this tree has none"):
        ask(0, 1, log, max_leaves=2)
    assert len(ask(0, 1, log, max_leaves=2, aligned=False)) == 0


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0, 2]), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_random_trees(seed, features, dimensions, k):
    log = random_log(seed, features=features, dimensions=dimensions)
    tree = quietly_fitted(log, max_leaves=12).fitted_
    moves = count_transitions(tree.tree, log)
    rng = np.random.default_rng(seed)
    start, end = log.states[rng.integers(len(log), size=2)]
    answer = paper_ways(tree, moves, start, end, k=k)
    assert len(str(answer)) > 10
    assert [way.probability for way in answer] == sorted((way.probability for way in answer), reverse=True)
    for way in answer:
        assert np.array_equal(way.nodes[0], start)
        assert np.array_equal(way.nodes[-1], end)
        assert len(way.nodes) == len(way.leaves) + 1
        assert np.isfinite(way.nodes).all()
    if not answer:
        assert tree.tree.apply(np.atleast_2d(end))[0] not in answer.reachable


def test_the_nodes_of_a_trajectory_enter_its_leaves():
    log = random_log(3, features=3)
    tree = quietly_fitted(log, max_leaves=12)
    fitted = tree.fitted_
    answer = paper_ways(fitted, count_transitions(fitted.tree, log), range(6), range(6, 12), pairs=True)
    from tripletree.leaves.boxes import bounds

    lower, upper = bounds(fitted.tree, 3)
    lower, upper = np.maximum(lower, fitted.feature_min), np.minimum(upper, fitted.feature_max)
    assert len(answer) > 5
    for way in answer:
        for before, node, leaf in zip(way.nodes[:-1], way.nodes[1:], way.leaves[1:], strict=True):
            assert ((lower[leaf] <= node) & (node <= upper[leaf])).all()
            planes = np.stack([node == lower[leaf], node == upper[leaf]], axis=-1).reshape(-1)
            assert (planes & visible(before, lower[leaf], upper[leaf])).any()


def test_the_front_door():
    tree = quietly_fitted(LOG, max_leaves=4, gamma=0.0, theta=(0, 1, 0))
    paper = {"method": "paper"}
    assert str(tree.simulate([0.5, 0.0], [3.5, 0.0], **paper)) == str(ask([0.5, 0.0], [3.5, 0.0]))
    assert tree.paths(0, "end", **paper)[0].nodes is None
    assert len(tree.paths(0, 3, k=3, **paper)) == 1
    assert len(tree.paths({0, 1}, {2, 3}, pairs=True, **paper)) == 4
    # Another log on the same tree: this one never leaves the first half.
    other = LOG.select([4, 5])
    assert not tree.simulate(0, 3, log=other, **paper)
    assert tree.simulate(2, 3, log=other, **paper)[0].counts.tolist() == [2]


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([False, True, 3]))
@settings(max_examples=25, deadline=None)
def test_the_front_door_gives_what_search_and_alignment_give(seed, zones, pairs):
    log = random_log(seed, features=2)
    tree = quietly_fitted(log, max_leaves=8)
    fitted, moves = tree.fitted_, tree.transitions()
    rng = np.random.default_rng(seed)
    start, end = ({0, 1}, {2, 3}) if zones else log.states[rng.integers(len(log), size=2)]
    answer = tree.simulate(start, end, 2, method="paper", pairs=pairs)
    places = (
        [sorted(place) for place in (start, end)] if zones else [fitted.tree.apply(one[None]) for one in (start, end)]
    )
    graph = Graph(moves)
    paths = all_pairs(graph, *places, None if pairs is True else pairs) if pairs else []
    paths = paths or ([] if pairs and not set(places[0]) & set(places[1]) else best_paths(graph, *places, 2))
    assert [way.leaves.tolist() for way in answer] == [path.leaves.tolist() for path in paths]
    assert [way.probability for way in answer] == [path.probability for path in paths]
    assert [way.duration for way in answer] == [path.duration for path in paths]
    lower, upper = (np.clip(bound, fitted.feature_min, fitted.feature_max) for bound in fitted.bounds)
    sigma = fitted.derivative_scale
    made = align_all(
        lower,
        upper,
        fitted.attributes.derivative_mean[fitted.tree.leaf_nodes],
        np.where(sigma > 0, 1 / np.where(sigma > 0, sigma, 1), 0),
        [path.leaves for path in paths],
        **({} if zones else {"start": start, "end": end}),
    )
    for way, one in zip(answer, made, strict=True):
        assert np.array_equal(way.nodes, one.nodes)
        assert way.objective == one.objective
        assert (way.method, way.sources, way.share) == ("paper", (), None)


def test_a_duration_is_told_only_if_some_recorded_episode_was_as_quick(monkeypatch):
    fitted = quietly_fitted(LOG, max_leaves=4, gamma=0.0, theta=(0, 1, 0)).fitted_
    found = evidence(fitted, LOG)
    # From the last step in one leaf to the first in the other, or to the end, one step after the last.
    assert module._quickest(found, np.array([0]), np.array([3])) == 3
    assert module._quickest(found, np.array([0, 2]), np.array([3])) == 1
    assert module._quickest(found, np.array([2]), np.array([4])) == 2
    assert module._quickest(found, np.array([3]), np.array([0])) == np.inf
    assert module._quickest(None, np.array([0]), np.array([3])) == np.inf
    assert "(p = 1, about 3 steps, 4 leaves)" in str(ask(0, 3))
    monkeypatch.setattr(module, "_quickest", lambda *_: 4.0)
    assert "(p = 1, 4 leaves)" in str(ask(0, 3))
    assert ask(0, 3)[0].duration == 3.0


@pytest.mark.parametrize(("ways", "starts"), [(1, 3), (100, 3), (101, 1)])
def test_up_to_a_hundred_trajectories_are_searched_for_with_all_care(monkeypatch, ways, starts):
    used = []

    def fake(*_, paths=None, starts=None, **__):
        used.append(starts)
        return [None] * ways

    monkeypatch.setattr(module, "align_all", lambda *given, **options: fake(paths=given[4], **options))
    fitted = quietly_fitted(LOG, max_leaves=4, gamma=0.0, theta=(0, 1, 0)).fitted_
    place = module._read(fitted, 0, "start")
    path = Path(np.array([0, 1]), 1.0, 1.0, np.array([4]))
    module._align(fitted, module._Boxes(fitted), [path] * ways, place, place, None)
    assert used == [starts]


def test_more_pairs_than_anybody_looks_at_are_refused(monkeypatch):
    everywhere = {0, 1, 2, 3}
    assert len(ask(everywhere, everywhere, pairs=True, aligned=False)) == 6
    monkeypatch.setattr(module, "MOST", 5)
    with pytest.raises(
        ParameterError, match=r"^More than 5 pairs of leaves are connected\. Type pairs=100 for the most"
    ):
        ask(everywhere, everywhere, pairs=True, aligned=False)
    assert len(ask(everywhere, everywhere, pairs=4, aligned=False)) == 4
