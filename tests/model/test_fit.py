"""Fitting: how the best size is found, and what a user is told about a log's ends."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import TripleTree, TripleTreeWarning
from tripletree.errors import ParameterError
from tripletree.log.log import TERMINATED, TRUNCATED, UNKNOWN
from tripletree.model.fit import _percent, options, score, truncation_notes

# Losses of trees with one, two and three leaves.
CURVE = np.array([[0.5, 10.0, 2.0], [0.25, 5.0, 1.5], [0.1, 8.0, 0.5]])


@pytest.mark.parametrize(
    ("theta", "expected"),
    [
        ((1, 0, 0), [1.0, 0.5, 0.2]),
        ((0, 1, 0), [1.0, 0.5, 0.8]),
        ((1, 1, 1), [3.0, 1.75, 1.25]),
        ((2, 1, 0), [3.0, 1.5, 1.2]),
    ],
)
def test_losses_are_added_up_each_relative_to_that_of_one_leaf(theta, expected):
    np.testing.assert_allclose(score(CURVE, theta), expected)


def test_a_loss_that_is_nothing_with_one_leaf_does_not_count():
    curve = CURVE.copy()
    curve[:, 0] = [0.0, 0.3, 0.3]
    np.testing.assert_allclose(score(curve, (1, 1, 1)), [2.0, 1.25, 1.05])


def test_the_size_that_is_best_on_other_episodes_is_kept():
    """Two groups that are really there, and noise that only the training log has."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 2, 400)
    value = np.where(x < 1, 0.0, 10.0) + rng.normal(size=400)
    training, other = (
        make_log(x[rows, None], [0] * 200, value[rows], np.arange(201), endings=[TERMINATED] * 200, labels=("a",))
        for rows in (slice(0, 200), slice(200, 400))
    )
    tree = quietly_fitted(training, other, max_leaves=60, gamma=0.0, theta=(0, 1, 0))
    curve = tree.curve_["score"]
    assert len(curve) == 60
    assert tree.n_leaves_ == int(curve.argmin()) + 1
    assert 2 <= tree.n_leaves_ < 15
    assert quietly_fitted(training, other, max_leaves=60, gamma=0.0, early_stopping=False).n_leaves_ == 60


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.001, "0.1 %"), (0.0456, "4.6 %"), (0.456, "46 %"), (0.994, "99 %"), (0.996, "100 %"), (1.0, "100 %")],
)
def test_shares_of_samples_have_two_digits(share, text):
    assert _percent(share) == text


def cut_off(steps, final=True):
    """One long episode that ended, and a short one that was cut off."""
    n = steps + 1
    return make_log(
        np.arange(float(n))[:, None],
        [0, 1] * (n // 2) + [0] * (n % 2),
        np.arange(float(n)),
        [0, steps, n],
        final_states=[[np.nan], [5.0 if final else np.nan]],
        endings=[TERMINATED, TRUNCATED],
        labels=("a", "b"),
    )


def test_even_a_few_samples_near_a_cut_are_told():
    # One sample of 501.
    (note,) = truncation_notes(cut_off(500), {"gamma": 0.9, "truncation": "paper"})
    assert note.startswith("0.2 % of the samples lie near the end of a truncated episode")
    assert note.endswith('Try truncation="bootstrap", or a log of whole episodes.')
    with pytest.warns(TripleTreeWarning, match=r"0\.2 % of the samples"):
        TripleTree(2, gamma=0.9, truncation="paper").fit(cut_off(500))


def test_with_bootstrap_only_missing_final_states_are_told():
    parameters = {"gamma": 0.9, "truncation": "bootstrap"}
    assert truncation_notes(cut_off(20), parameters) == []
    (note,) = truncation_notes(cut_off(20, final=False), parameters)
    assert "no recorded final state" in note


def test_nothing_is_told_where_nothing_was_cut_off():
    log = random_log(1)
    whole = make_log(log.states, log.actions, log.rewards, log.starts, endings=[TERMINATED] * 3, labels=tuple("abc"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TripleTree(4).fit(whole)
    assert truncation_notes(whole, {"gamma": 0.99, "truncation": "paper"}) == []


def test_only_what_shapes_the_model_is_kept_with_it():
    kept = options({"theta": (1, np.float64(2), 3), "gamma": np.float64(0.5), "threads": 2, "progress": print})
    assert kept == {"theta": [1.0, 2.0, 3.0], "gamma": 0.5}
    assert type(kept["gamma"]) is float


def test_what_is_kept_of_the_log() -> None:
    log = replace(random_log(5, lengths=(30, 40, 20)), endings=[TERMINATED, TERMINATED, UNKNOWN])
    expected = TripleTree(8, keep="leaves").fit(log)
    assert expected.fitted_.track is None
    tracked = TripleTree(8).fit(log)
    assert tracked.fitted_.track is not None
    assert tracked.fitted_.transitions is None  # they follow from the track
    nothing = TripleTree(8, keep="nothing").fit(log)
    assert (nothing.fitted_.track, nothing.fitted_.transitions) == (None, None)
    one, two = expected.transitions(), tracked.transitions()
    for name in ("source", "target", "count", "steps", "censored", "censored_steps", "stays", "starts", "samples"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), strict=True)
    assert one.markov == two.markov
    assert tracked.transitions() is two
    with pytest.raises(ParameterError, match=r'grown with keep="nothing" or keep="leaves" and .* Give the log: log='):
        nothing.transitions()
    with pytest.raises(ParameterError, match="made smaller"):
        expected.truncate(3).transitions()
    np.testing.assert_array_equal(
        tracked.truncate(3).transitions().count, expected.truncate(3).transitions(log).count, strict=True
    )


def test_of_a_sample_of_episodes_the_transitions_are_kept_too(monkeypatch: pytest.MonkeyPatch) -> None:
    log = replace(random_log(5, lengths=(30, 40, 20)), endings=[TERMINATED, TERMINATED, UNKNOWN])
    monkeypatch.setattr("tripletree.model.track.MOST_EPISODES", 2)
    tree = TripleTree(8).fit(log)
    assert tree.fitted_.track is not None
    assert tree.fitted_.track.n_episodes == 2
    assert tree.transitions().n_episodes == 3
