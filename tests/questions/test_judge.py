"""How good a tree is, seen from afar, and where not to trust it: against plain loops over the log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.logs import joined, make_log, random_log
from tests.report.models import fitted, of_lander, of_road
from tests.test_api import quietly_fitted
from tripletree import Log, ParameterError
from tripletree.demos import road
from tripletree.log.identity import episode_hashes
from tripletree.model.evaluate import log_values, on_unseen
from tripletree.model.fit import fit
from tripletree.questions import judge
from tripletree.questions.judge import attributes, calibration, held_out, trust


def test_calibration_groups_by_prediction_and_averages_what_the_log_shows():
    tree, _ = of_road()
    log = road.record("either", n_samples=2_000, seed=9)
    found = calibration(tree.fitted_, log, "value")
    predicted, observed = tree.predict(log.states).value, log_values(tree.fitted_, log)
    assert found.count.sum() == len(log)
    assert (np.diff(found.predicted) > 0).all()
    assert np.dot(found.count, found.predicted) == pytest.approx(predicted.sum())
    assert np.dot(found.count, found.observed) == pytest.approx(observed.sum())
    lowest = np.argsort(predicted, kind="stable")[: found.count[0]]
    assert found.observed[0] == pytest.approx(observed[lowest].mean())
    assert found.gap == pytest.approx(np.sum(np.abs(found.predicted - found.observed) * found.count) / len(log))


def test_on_its_own_log_a_tree_is_calibrated_by_construction():
    _, log = of_lander()
    tree = quietly_fitted(log, max_leaves=60, leaf_model="mean")
    for about in ("main engine", "side engine"):
        assert calibration(tree.fitted_, log, about).gap < 1e-9
    assert attributes(tree.fitted_) == ("main engine", "side engine", "value")


def test_on_its_own_log_a_linear_tree_is_nearly_calibrated():
    tree, log = of_lander()
    assert tree.fitted_.model is not None
    for about in ("main engine", "side engine"):
        found = calibration(tree.fitted_, log, about)
        # Leaf by leaf the two agree; groups part leaves, and predictions are held within range.
        assert 1e-9 < found.gap < 0.05 * found.scale
        k = tree.fitted_.schema.action.names.index(about)
        told = tree.predict(log.states).action[:, k]
        assert np.dot(found.count, found.predicted) == pytest.approx(told.sum())
        assert np.dot(found.count, found.observed) == pytest.approx(log.actions[:, k].sum())


def test_confidence_is_compared_with_how_often_the_tree_is_right():
    tree, _ = of_road()
    log = road.record("either", n_samples=2_000, seed=9)
    found = calibration(tree.fitted_, log, "confidence")
    labels = np.array(log.schema.action.labels)[log.actions]
    right = tree.predict(log.states).action == labels
    assert np.dot(found.count, found.observed) == pytest.approx(right.sum())
    assert "right in" in str(found)


def test_an_unknown_attribute_is_refused():
    tree, log = of_road()
    with pytest.raises(ParameterError, match="about must be 'confidence' or 'value'; got 'speed'"):
        calibration(tree.fitted_, log, "speed")


def test_numbers_of_groups_and_regions_are_checked():
    tree, log = of_road()
    with pytest.raises(ParameterError, match="groups must be a whole number of at least 1; got 0"):
        tree.calibration(log, groups=0)
    with pytest.raises(ParameterError, match=r"regions must be a whole number of at least 1; got 2\.5"):
        tree.outline(log, regions=2.5)
    with pytest.raises(ParameterError, match="log must be a Log; got list"):
        tree.trust([])


def test_a_tree_that_has_seen_the_log_is_judged_by_another_one():
    tree, log = of_road()
    found = tree.held_out(log)
    assert (found.how, found.seen, found.chose) == ("regrown", log.n_episodes, 0)
    assert found.judged.episodes == round(0.2 * len(np.unique(episode_hashes(log))))
    assert (np.array(found.judged.losses) > tree.losses(log)).all()  # new episodes are harder
    assert "a second tree of the same size" in str(found)
    assert tree.fitted_.judged == found.judged  # and so a model file keeps it


def test_another_log_is_judged_as_it_is():
    tree, _ = of_road()
    log = road.record("either", n_samples=2_000, seed=9)
    found = held_out(tree.fitted_, log)
    assert (found.how, found.seen, found.judged.episodes) == ("unseen", 0, log.n_episodes)
    np.testing.assert_allclose(found.judged.losses, tree.losses(log))
    np.testing.assert_allclose(found.judged.constant, tree.losses(log, 1))


def test_a_part_of_its_own_log_is_no_other_log():
    """The log that was split for growth holds training and validation episodes, and nothing else."""
    log = road.record("either", n_samples=3_000)
    training, validation = log.split(0.2, seed=3)
    tree = quietly_fitted(training, validation, max_leaves=40)
    found = held_out(tree.fitted_, log)
    assert (found.how, found.seen + found.chose) == ("regrown", log.n_episodes)
    assert found.chose <= validation.n_episodes
    assert "chose its size" in str(found)
    # Neither are its episodes in another order, or some of them.
    for part in (log.select(slice(None, None, -2)), training, validation.select([0, 1])):
        assert held_out(tree.fitted_, part).how != "unseen"


def test_only_unseen_episodes_count():
    tree, log = of_road()
    fresh = road.record("either", n_samples=1_000, seed=77)
    both = joined(log.select(slice(0, 20)), fresh, log.select(slice(40, 60)))
    found = held_out(tree.fitted_, both)
    assert (found.how, found.seen, found.judged.episodes) == ("unseen", 40, fresh.n_episodes)
    np.testing.assert_allclose(found.judged.losses, tree.losses(fresh))
    measured = calibration(tree.fitted_, both)
    assert (measured.unseen, measured.episodes, measured.count.sum()) == (True, fresh.n_episodes, fresh.n_samples)
    assert not calibration(tree.fitted_, log).unseen


def test_a_second_tree_is_judged_on_episodes_that_neither_it_nor_the_size_has_seen(monkeypatch):
    log = random_log(5, lengths=(20,) * 40)
    training, validation = log.split(0.5, seed=1)
    tree = quietly_fitted(training, validation, max_leaves=30)
    seen = {}

    def spy(fitted, part, threads):
        seen["test"] = episode_hashes(part)
        return on_unseen(fitted, part, threads)

    monkeypatch.setattr(judge, "on_unseen", spy)
    monkeypatch.setattr(
        judge, "fit", lambda part, *rest, **how: seen.update(grown=episode_hashes(part)) or fit(part, *rest, **how)
    )
    assert held_out(tree.fitted_, log).how == "regrown"
    assert not set(seen["test"]) & set(seen["grown"])
    assert set(seen["test"]) <= set(episode_hashes(training))
    assert len(seen["test"]) == 4


def test_equal_episodes_stay_on_one_side():
    once = random_log(7, lengths=(15,) * 10)
    twice = joined(once, once)
    tree, _ = fitted(twice, 5)
    assert held_out(tree.fitted_, twice).judged.episodes == 4  # two of ten, each of them twice


def test_a_model_that_does_not_remember_is_judged_by_another_one():
    tree, log = of_road()
    old = replace(tree.fitted_, training_episodes=None)
    for one in (log, road.record("either", n_samples=2_000, seed=9)):
        found = held_out(old, one)
        assert (found.how, found.remembers) == ("regrown", False)


def test_a_log_of_few_episodes_is_not_judged():
    tree, log = fitted(random_log(1, lengths=(30, 30)), 5)
    found = held_out(tree.fitted_, log)
    assert (found.how, found.judged, found.calibrations) == ("few", None, ())


def test_on_noise_nothing_is_claimed_about_action_and_value():
    """Features, labels and rewards are independent; a derivative is not, because what is high comes down."""
    n, claimed, own = 40 * 30, 0, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        states, starts = rng.normal(size=(n, 3)), np.arange(0, n, 30)
        log = Log.from_arrays(states, rng.integers(0, 2, n), rng.normal(size=n), starts=starts, ending="terminated")
        tree = quietly_fitted(*log.split(0.2, seed=seed), max_leaves=100)
        own.append(1 - tree.losses(log)[0] / tree.losses(log, 1)[0])
        action, value, derivative = tree.held_out(log).judged.explained
        claimed += (action > 0) + (value > 0)
        assert derivative > 0
    assert np.mean(own) > 0.05  # what trees would claim of their own logs
    assert claimed <= 3  # of 40, each with a chance of 2.5 %


def test_trust_names_leaves_with_few_samples_and_those_that_are_torn():
    _, log = of_road()
    tree, _ = fitted(log, 40, leaf_model="mean")
    found = trust(tree.fitted_, log)
    leaf = tree.apply(log.states)
    count = np.bincount(leaf, minlength=tree.n_leaves_)
    np.testing.assert_array_equal(found.few, count < 10)
    values = log_values(tree.fitted_, log)
    spread = np.array([values[leaf == k].var() for k in range(tree.n_leaves_)]) / values.var()
    np.testing.assert_allclose(found.left[:, 1], spread, atol=1e-6)
    for attribute in range(3):
        doubt = found.share * found.left[:, attribute]
        worst = found.worst(attribute, most=3)
        assert doubt[worst].tolist() == sorted(doubt[doubt > 0], reverse=True)[:3]
    assert found.outside == 0


def test_states_outside_the_training_log_are_counted():
    tree, _ = of_lander()
    from tripletree.demos import lander

    other = lander.log().select(range(30, 60))
    found = trust(tree.fitted_, other)
    low, high = tree.fitted_.feature_min, tree.fitted_.feature_max
    beyond = ((other.states < low) | (other.states > high)).any(axis=1).mean()
    assert found.outside == pytest.approx(beyond)
    assert beyond > 0
    assert "lie outside the range that the tree was grown on" in str(found)


@pytest.mark.parametrize(("episodes", "how", "held"), [(4, "few", None), (5, "regrown", 1), (10, "regrown", 2)])
def test_a_fifth_of_five_episodes_or_more_is_held_out(episodes, how, held):
    tree, log = fitted(random_log(2, lengths=(20,) * episodes), 4)
    found = held_out(tree.fitted_, log)
    assert found.how == how
    assert (found.judged and found.judged.episodes) == held


def test_a_log_that_is_too_long_to_grow_on_again_is_not_judged(monkeypatch):
    tree, log = fitted(random_log(2, lengths=(20,) * 6), 4)
    monkeypatch.setattr(judge, "MOST_SAMPLES", log.n_samples)
    assert held_out(tree.fitted_, log).how == "regrown"
    monkeypatch.setattr(judge, "MOST_SAMPLES", log.n_samples - 1)
    assert held_out(tree.fitted_, log).how == "large"


def test_predictions_are_compared_in_ten_groups_unless_asked_otherwise():
    # Forty samples with forty predictions: four in each group.
    states, values = np.arange(40.0)[:, None], np.arange(40.0)
    log = make_log(states, [0] * 40, values, np.arange(41), labels=("a",))
    tree, _ = fitted(log, 40, gamma=0.0, theta=(0, 1, 0))
    assert tree.n_leaves_ == 40
    assert tree.calibration(log).count.tolist() == [4] * 10
    assert tree.calibration(log, groups=4).count.tolist() == [10] * 4
    assert tree.calibration(log, groups=1).predicted.tolist() == [19.5]


def test_errors_of_groups_are_those_of_their_means():
    """Two predictions, each with observations 1 above and 1 below in turn."""
    observed = np.concatenate([np.tile([-1.0, 1.0], 8), np.tile([9.0, 11.0], 2)])
    states = np.repeat([0.0, 5.0], [16, 4])[:, None]
    log = make_log(states, [0] * 20, observed, np.arange(21), labels=("a",))
    tree, _ = fitted(log, 2, gamma=0.0, theta=(0, 1, 0))
    found = tree.calibration(log)
    assert found.count.tolist() == [16, 4]
    assert found.predicted.tolist() == found.observed.tolist() == [0, 10]
    # A standard deviation of 1 over the roots of 16 and of 4.
    assert found.error.tolist() == [0.25, 0.5]
    assert found.scale == pytest.approx(observed.std())


@pytest.mark.parametrize(("samples", "few"), [(9, True), (10, False), (11, False)])
def test_leaves_with_fewer_than_ten_samples_are_few(samples, few):
    states = [[0.0]] * samples + [[1.0]] * 30
    log = make_log(states, [0] * samples + [1] * 30, [0.0] * len(states), np.arange(len(states) + 1), labels=("a", "b"))
    tree, _ = fitted(log, 2)
    assert trust(tree.fitted_, log).few.tolist() == [few, False]


def test_what_is_left_of_an_impurity_is_a_share_of_the_logs():
    # Half of the left leaf's actions and none of the right one's are odd; of all, a quarter.
    states = [[0.0]] * 8 + [[1.0]] * 8
    log = make_log(states, [0, 1] * 4 + [0] * 8, [0.0] * 8 + [4.0] * 8, np.arange(17), labels=("a", "b"))
    tree, _ = fitted(log, 2, gamma=0.0, leaf_model="mean")
    found = trust(tree.fitted_, log)
    # Gini: 1/2 in the left leaf, 3/8 in the whole log.
    np.testing.assert_allclose(found.left[:, 0], [4 / 3, 0])
    np.testing.assert_allclose(found.left[:, 1], [0, 0])
    assert found.left[:, 2].tolist() == [0, 0]  # no derivative is known
    assert found.torn[:, 0].tolist() == [True, False]


def test_a_group_is_on_one_side_when_a_tree_is_grown_again(monkeypatch):
    log = replace(random_log(3, lengths=(6,) * 30), groups=np.arange(30) // 3)
    tree = quietly_fitted(log, max_leaves=5)
    sides = []
    monkeypatch.setattr(judge, "fit", lambda part, *rest, **how: sides.append(part) or fit(part, *rest, **how))
    found = held_out(tree.fitted_, log)
    assert found.how == "regrown"
    assert found.judged.episodes == 6
    held = set(range(10)) - set(sides[0].groups.tolist())
    assert len(held) == 2
    # Fewer groups than it takes: episodes are held out, as without groups.
    few = replace(log, groups=np.arange(30) % 2)
    assert held_out(tree.fitted_, few).judged.episodes == 6
    assert len(set(sides[1].groups.tolist())) == 2


def test_a_leaf_that_its_linear_model_knows_is_not_torn():
    """One leaf, in which actions differ as much as in the whole log, and follow from the state."""
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (600, 1))
    log = make_log(states, 2 * states, np.zeros(600), np.arange(0, 601, 20))
    found = {
        leaves: trust(fitted(log, 2, leaf_model=leaves)[0].fitted_, log).left[:, 0] for leaves in ("mean", "linear")
    }
    np.testing.assert_allclose(found["mean"], 0.25, atol=0.05)  # a half of a uniform range: a quarter of its variance
    np.testing.assert_allclose(found["linear"], 0.0, atol=0.01)
