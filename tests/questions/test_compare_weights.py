from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tripletree import LogError, ParameterError, TripleTree, TripleTreeWarning, compare_weights
from tripletree.answers.weights import Weights
from tripletree.demos import road
from tripletree.questions.compare_weights import simplex


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return compare_weights(*arguments, **options)


@pytest.mark.parametrize("steps", [1, 2, 5, 10])
def test_the_grid_covers_the_simplex_evenly(steps):
    grid = simplex(steps)
    assert len(grid) == (steps + 1) * (steps + 2) // 2
    assert len(np.unique(grid, axis=0)) == len(grid)
    assert (grid >= 0).all()
    np.testing.assert_allclose(grid.sum(axis=1), 1)
    np.testing.assert_allclose(grid * steps, np.round(grid * steps), atol=1e-12)


@pytest.mark.parametrize("truncation", ["paper", "bootstrap"])
@pytest.mark.parametrize("validated", [False, True])
def test_ratios_are_those_of_trees_fitted_one_by_one(truncation, validated):
    log, held_out = road.record("either", n_samples=1_500).split(0.3)
    judged = held_out if validated else None
    answer = quietly(log, judged, leaves=(4, 20), steps=2, truncation=truncation, gamma=0.9)
    assert answer.ratio.shape == (2, 6, 3)
    for point, theta in enumerate(answer.theta):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TripleTreeWarning)
            tree = TripleTree(20, tuple(theta), 0.9, truncation=truncation, early_stopping=False).fit(log, judged)
        curve = tree.fitted_.curve_validation if validated else tree.fitted_.curve_training
        for k, size in enumerate((4, 20)):
            np.testing.assert_allclose(answer.ratio[k, point], curve[size - 1] / curve[0])
    np.testing.assert_allclose(answer.worst, answer.ratio.max(axis=2))
    np.testing.assert_array_equal(answer.worst_attribute, answer.ratio.argmax(axis=2))
    for k in range(2):
        assert answer.worst[k, answer.best[k]] == answer.worst[k].min()
    assert answer.validation is validated


def test_the_answer_tells_itself():
    ratio = np.array(
        [[[0.5, 0.9, 0.1], [0.6, 0.2, 0.3], [0.7, 0.1, 0.8]], [[0.5, 0.2, 0.1], [0.3, 0.2, 0.3], [0, 0, 1]]]
    )
    answer = Weights(simplex(1), np.array([10, 50]), ratio, False)
    assert str(answer) == (
        "With 50 leaves, theta = [0, 1, 0] does best: the worst of its three losses on the training log, that of the "
        "action, is 30 % of a one-leaf tree's. Of all 3 weights tried, the worst gives 100 %. "
        "Best with fewer: [0, 1, 0] with 10 leaves."
    )
    np.testing.assert_array_equal(answer.best_theta, [[0, 1, 0], [0, 1, 0]])
    assert answer.table["worst_attribute"].tolist() == ["value", "action", "derivative"] + ["action"] * 2 + [
        "derivative"
    ]
    assert answer.table["leaves"].tolist() == [10] * 3 + [50] * 3
    json.dumps(answer.to_dict(), allow_nan=False)


def test_a_loss_that_is_always_0_does_not_count():
    answer = quietly(random_log(labels=1), leaves=5, steps=2)
    assert np.isnan(answer.ratio[..., 0]).all()
    assert (answer.worst_attribute > 0).all()
    assert np.isfinite(answer.worst).all()


def test_a_tree_that_stops_growing_counts_as_it_is():
    answer = quietly(random_log(lengths=(6,)), leaves=(3, 100, 1_000), steps=1)
    np.testing.assert_array_equal(answer.ratio[1], answer.ratio[2])


def test_progress_is_told():
    seen = []
    quietly(random_log(), leaves=(3,), steps=2, progress=lambda done, of: seen.append((done, of)))
    assert seen == [(k, 6) for k in range(1, 7)]


def test_truncated_episodes_are_warned_of_once():
    with pytest.warns(TripleTreeWarning, match="near the end of a truncated episode") as told:
        compare_weights(road.record("alive", n_samples=500), leaves=(3,), steps=2, truncation="paper")
    assert len(told) == 1


def test_bad_input():
    log = random_log()
    with pytest.raises(ParameterError, match="log must be a Log; got int"):
        compare_weights(3)
    with pytest.raises(ParameterError, match="validation must be a Log; got str"):
        compare_weights(log, "x")
    with pytest.raises(LogError, match="the tree was grown on"):
        compare_weights(log, random_log(features=3))
    for leaves in ((), (1,), 0, "many", (2.5,), None):
        with pytest.raises(ParameterError, match="leaves must be whole numbers of at least 2"):
            compare_weights(log, leaves=leaves)
    with pytest.raises(ParameterError, match=r"steps must be a whole number of at least 1; got 0\. Try steps=5"):
        compare_weights(log, steps=0)
    with pytest.raises(
        ParameterError, match=r"^steps=3000 would grow 4,504,501 trees; the most is 5,151\. Try steps=5 for 21 trees"
    ):
        compare_weights(log, steps=3000)
    with pytest.raises(ParameterError, match=r"^steps=101 would grow 5,253 trees"):
        compare_weights(log, steps=101)
    with pytest.raises(ParameterError, match=r"compare_weights has no 'gama'; .*Did you mean `gamma`"):
        compare_weights(log, gama=0.9)
    with pytest.raises(ParameterError, match="compare_weights has no 'theta'"):
        compare_weights(log, theta=(1, 1, 1))
    with pytest.raises(ParameterError, match="gamma must be a number from 0 to 1"):
        compare_weights(log, gamma=2)
    still = make_log([[0.0], [0.0]], [0, 0], [0, 0], labels=("a",))
    with pytest.raises(ParameterError, match="nothing to compare"):
        compare_weights(still)
