"""A tree among scikit-learn's estimators: searched over episodes, scored, cloned, known to be fitted or not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.validation import check_is_fitted

import tripletree
from tests.logs import make_log
from tripletree import ParameterError, TripleTree
from tripletree.demos import road


@pytest.fixture(scope="module")
def log():
    return road.record("left", n_samples=1_000)


def new(**parameters):
    return TripleTree(truncation="bootstrap", **parameters)


def test_a_grid_is_searched_over_episodes(log):
    search = GridSearchCV(new(), {"max_leaves": [2, 60], "theta": [(1, 1, 1), (1, 0, 0)]}, cv=3)
    search.fit(log.episodes())
    assert search.best_params_["max_leaves"] == 60
    assert search.best_estimator_.fitted_.provenance["samples"] == log.n_samples
    # The same by hand: no episode is on both sides.
    thirds = np.array_split(np.arange(log.n_episodes), 3)
    by_hand = []
    for third in thirds:
        rest = np.setdiff1d(np.arange(log.n_episodes), third)
        tree = clone(search.best_estimator_).fit(log.select(rest))
        by_hand.append(tree.score(log.select(third)))
    assert search.best_score_ == pytest.approx(np.mean(by_hand), rel=1e-12)
    assert cross_val_score(search.best_estimator_, log.episodes(), cv=3).tolist() == pytest.approx(by_hand, rel=1e-12)


def test_the_score_is_the_mean_share_of_losses_that_are_gone(log):
    training, held_out = log.split()
    tree = new(max_leaves=30).fit(training)
    root, now = tree.losses(held_out, 1), tree.losses(held_out)
    assert tree.score(held_out) == pytest.approx(np.mean(1 - now / root), rel=1e-12)
    assert tree.score(held_out.episodes()) == tree.score(held_out)
    assert tree.truncate(1).score(held_out) == 0.0


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
def test_what_needs_no_prediction_does_not_count():
    # Rewards, and so values, are constant; the last states change by the same in every step.
    log = make_log(np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1], [0] * 8)
    assert TripleTree(2, theta=(1, 0, 0)).fit(log).score(log) == 1.0
    still = make_log(np.zeros((3, 1)), [0, 0, 0], [0, 0, 0])
    assert TripleTree(2).fit(still).score(still) == 0.0


def test_scikit_learn_knows_what_is_fitted(log):
    tree = new(max_leaves=3)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        check_is_fitted(tree)
    for name in ("feature_names_in_", "n_features_in_"):
        assert not hasattr(tree, name)
    check_is_fitted(tree.fit(log))
    assert tree.feature_names_in_.tolist() == ["pos", "speed"]
    assert tree.n_features_in_ == 2
    assert not is_classifier(tree)
    assert not is_regressor(tree)


def test_several_logs_are_fitted_as_one(log):
    half = log.n_episodes // 2
    parts = [log.select(slice(half)), log.select(slice(half, None))]
    one, other = new(max_leaves=10).fit(log), new(max_leaves=10).fit(parts)
    np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    with pytest.raises(ParameterError, match="logs must be at least one Log; got int"):
        new().fit([3])


def test_a_tree_that_is_not_fitted_has_no_score(log):
    with pytest.raises(tripletree.NotFittedError, match="has not been fitted"):
        new().score(log)
