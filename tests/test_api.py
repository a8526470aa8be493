"""TripleTree as users hold it."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import subprocess
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.logs import logs, make_log, random_log
from tripletree import LogError, NotFittedError, ParameterError, TripleTree, TripleTreeWarning, explain_agent, load
from tripletree.checks import PARAMETERS
from tripletree.demos import road
from tripletree.leaves.linear import MOST_FEATURES
from tripletree.log.derive import derivatives, values
from tripletree.log.log import TERMINATED, TRUNCATED, Log


def quietly_fitted(log: Log, validation: Log | None = None, **parameters) -> TripleTree:
    """Fit without the warnings about what a small random log lacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(**parameters).fit(log, validation)


def whole_episodes(seed: int = 0, **shape) -> Log:
    """A log that gives no cause for warnings."""
    log = random_log(seed, **shape)
    return Log(**{**vars(log), "endings": np.full(log.n_episodes, TERMINATED)})


# Manners of a scikit-learn estimator


def test_parameters_are_stored_untouched():
    theta = [1, 2, 3]
    tree = TripleTree(5, theta, 0.5, mode="nonsense")
    assert tree.theta is theta
    assert tree.get_params()["mode"] == "nonsense"
    assert set(tree.get_params()) == set(PARAMETERS)


def test_defaults_pass_their_own_checks():
    for name, value in TripleTree().get_params().items():
        assert PARAMETERS[name].passes(value)


def test_set_params():
    tree = TripleTree().set_params(gamma=0.5, max_leaves=3)
    assert (tree.gamma, tree.max_leaves) == (0.5, 3)
    with pytest.raises(ParameterError, match=r"TripleTree has no 'gama'; .* Did you mean `gamma`\?"):
        tree.set_params(gama=0.5)


def test_clone_takes_parameters_and_leaves_the_fit():
    tree = TripleTree(7, theta=(1, 0, 1), priority="gain").fit(whole_episodes())
    other = clone(tree)
    assert other.get_params() == tree.get_params()
    assert not hasattr(other, "leaves_")


def test_repr_shows_what_differs():
    assert repr(TripleTree()) == "TripleTree()"
    assert repr(TripleTree(50, gamma=0.9, priority="gain")) == "TripleTree(max_leaves=50, gamma=0.9, priority='gain')"
    assert repr(TripleTree(theta=np.ones(3))) == "TripleTree(theta=array([1., 1., 1.]))"


def test_fit_returns_self_and_is_deterministic():
    log = whole_episodes()
    tree = TripleTree(20)
    assert tree.fit(log) is tree
    again = TripleTree(20, threads=1).fit(log)
    assert tree.tree_.threshold.tobytes() == again.tree_.threshold.tobytes()
    assert tree.fitted_.curve_training.tobytes() == again.fitted_.curve_training.tobytes()


def test_wrong_parameters_are_found_by_fit():
    tree = TripleTree(theta=(1, 2))
    with pytest.raises(ParameterError, match=r"theta must be three non-negative numbers"):
        tree.fit(whole_episodes())


@pytest.mark.parametrize("log", [np.zeros((3, 2)), None, "log.csv"])
def test_what_is_no_log_is_explained(log):
    with pytest.raises(ParameterError, match=r"log must be a Log; got .*read_log\(path\).*Log.from_arrays"):
        TripleTree().fit(log)


@pytest.mark.parametrize("name", ["fitted_", "tree_", "leaves_", "n_leaves_", "curve_"])
def test_unfitted(name):
    assert not hasattr(TripleTree(), name)
    with pytest.raises(NotFittedError, match=r"Call fit\(log\) first"):
        getattr(TripleTree(), name)


def test_unfitted_questions():
    with pytest.raises(NotFittedError, match="has not been fitted"):
        TripleTree().predict([0.0])
    with pytest.raises(NotFittedError, match="has not been fitted"):
        TripleTree().losses(whole_episodes())


def test_copies_and_pickles_answer_alike():
    log = whole_episodes()
    tree = TripleTree(9).fit(log)
    for other in (copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert other.apply(log.states).tolist() == tree.apply(log.states).tolist()


# Growth


def test_progress_is_told_and_may_stop():
    log = whole_episodes(lengths=(3000,))

    def stop(done, most):
        raise KeyboardInterrupt("enough")

    tree = TripleTree(1000, progress=stop)
    with pytest.raises(KeyboardInterrupt, match="enough"):
        tree.fit(log)
    assert not hasattr(tree, "leaves_")


def test_an_interrupted_refit_leaves_nothing_behind():
    log = whole_episodes()
    tree = TripleTree(5).fit(log)
    with pytest.raises(ParameterError, match="gamma must be"):
        tree.set_params(gamma=7).fit(log)
    assert not hasattr(tree, "leaves_")


def test_growth_limits():
    log = whole_episodes(lengths=(80, 80))
    assert TripleTree(7).fit(log).n_leaves_ == 7
    assert TripleTree(max_depth=0).fit(log).n_leaves_ == 1
    assert max(TripleTree(max_depth=3).fit(log).leaves_["depth"]) <= 3
    assert min(TripleTree(min_samples_leaf=9).fit(log).leaves_["count"]) >= 9
    demanding = TripleTree(min_quality=0.2).fit(log)
    inner = demanding.tree_.left >= 0
    assert (demanding.tree_.quality[inner] >= 0.2).all()
    assert demanding.n_leaves_ < TripleTree().fit(log).n_leaves_


def test_options_reach_growth():
    log = whole_episodes(3, lengths=(200, 150))
    default = TripleTree(20).fit(log)
    for other in (
        {"priority": "gain"},
        {"thresholds": "midpoint"},
        {"mode": "histogram", "bins": 4},
        {"theta": (0, 1, 0)},
    ):
        assert TripleTree(20, **other).fit(log).tree_.threshold.tolist() != default.tree_.threshold.tolist()


def test_quality_is_the_loss_of_impurity():
    log = whole_episodes(2, lengths=(100, 60))
    tree = TripleTree(10, theta=(0.5, 1, 2)).fit(log)
    at, grown = tree.fitted_.attributes, tree.tree_
    theta = np.array([0.5, 1, 2]) / at.impurity[0]
    for node in grown.split_order:
        left = grown.left[node]
        n = np.stack([at.count, at.count, at.count_derivative], axis=1)
        children = (n[left] * at.impurity[left] + n[left + 1] * at.impurity[left + 1]) / n[node]
        assert grown.quality[node] == pytest.approx(((at.impurity[node] - children) * theta).sum(), rel=1e-5)


@pytest.mark.parametrize("features", [1, 1000])
def test_few_and_many_features(features):
    log = whole_episodes(1, lengths=(30, 30), features=features)
    if features > MOST_FEATURES:
        with pytest.warns(TripleTreeWarning, match="for up to 64 features, and the log has 1,000"):
            tree = TripleTree(10).fit(log)
        assert tree.fitted_.linear is None
        assert tree.fitted_.options["leaf_model"] == "mean"
    else:
        tree = TripleTree(10).fit(log)
    assert tree.n_leaves_ == 10
    assert np.isfinite(tree.leaves_["density"]).all()
    assert tree.predict(log.states).derivative.shape == (60, features)


def test_one_sample():
    log = make_log([[1.0, 2.0]], [0], [5.0], labels=("only",))
    with pytest.warns(TripleTreeWarning) as told:
        tree = TripleTree().fit(log)
    assert any("single leaf" in str(w.message) for w in told)
    assert tree.n_leaves_ == 1
    answer = tree.predict([1.0, 2.0])
    assert (answer.action, answer.value, answer.count, answer.derivative) == ("only", 5.0, 1, None)
    assert tree.losses(log).tolist() == [0.0, 0.0, 0.0]


def test_warnings_point_at_the_caller():
    log = make_log([[0.0], [1.0]], [0, 1], [1.0, 1.0], np.arange(3), labels=("a", "b"))
    with pytest.warns(TripleTreeWarning, match="All values in this log are the same") as told:
        TripleTree(theta=(1, 1, 0)).fit(log)
    assert {w.filename for w in told} == {__file__}


def test_constant_features_are_named():
    log = make_log([[0.0, 5.0], [1.0, 5.0]], [0, 1], [0, 1], np.arange(3), labels=("a", "b"), names=("t", "flat"))
    with pytest.warns(TripleTreeWarning, match="Constant in this log, so no split can use it: `flat`"):
        tree = TripleTree(theta=(1, 1, 0)).fit(log)
    assert tree.n_leaves_ == 2


@given(log=logs(), theta=st.sampled_from([(1, 1, 1), (0, 0, 1), (1, 0, 0)]), leaves=st.integers(1, 40))
def test_any_log_gives_a_tree_of_finite_numbers(log, theta, leaves):
    tree = quietly_fitted(log, max_leaves=leaves, theta=theta)
    for name, column in tree.leaves_.to_dict().items():
        if name != "action":
            assert np.isfinite(column).all()
    assert sum(tree.leaves_["count"]) == log.n_samples
    json.dumps(tree.leaves_.to_dict())


# Losses, sizes, early stopping


@given(log=logs(), other=st.integers(0, 999), leaf_model=st.sampled_from(["linear", "mean"]))
def test_losses_of_all_sizes_equal_those_of_truncated_trees(log, other, leaf_model):
    # The paper's values, which do not depend on the tree.
    tree = quietly_fitted(log, max_leaves=8, gamma=0.9, truncation="paper", leaf_model=leaf_model)
    shape = {"features": log.n_features, "lengths": (6, 4)}
    if log.schema.action.kind == "discrete":
        judged = random_log(other, labels=len(log.schema.action.labels), **shape)
    else:
        judged = random_log(other, dimensions=log.actions.shape[1], **shape)
    curve = tree.losses(judged, "all")
    assert curve.shape == (tree.n_leaves_, 3)
    for k in range(1, tree.n_leaves_ + 1):
        small = tree.truncate(k)
        assert small.n_leaves_ == k
        assert small.losses(judged).tolist() == pytest.approx(curve[k - 1].tolist(), rel=1e-9, abs=1e-12)
        assert tree.losses(judged, k).tolist() == curve[k - 1].tolist()
        answer = small.predict(judged.states)
        assert curve[k - 1, 1] == pytest.approx(np.sqrt(((values(judged, 0.9) - answer.value) ** 2).mean()), rel=1e-9)
        if log.schema.action.kind == "discrete":
            labels = np.array(judged.schema.action.labels)[judged.actions]
            assert curve[k - 1, 0] == pytest.approx((labels != answer.action).mean())
        change = derivatives(judged)
        known = ~np.isnan(change[:, 0])
        if answer.derivative is not None and known.any():
            error = np.sqrt(((change - answer.derivative)[known] ** 2).mean(axis=0))
            sigma = tree.fitted_.derivative_scale
            expected = sum(e / s for e, s in zip(error, sigma, strict=True) if s > 0)
            assert curve[k - 1, 2] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_training_curve_equals_the_losses_on_the_training_log():
    log = whole_episodes(4, lengths=(200, 100))
    tree = TripleTree(40, leaf_model="mean").fit(log)
    np.testing.assert_allclose(tree.fitted_.curve_training, tree.losses(log, "all"), atol=1e-9)


@pytest.mark.parametrize("dimensions", [0, 2])
def test_the_training_curve_of_linear_leaves_is_that_before_they_are_held_within_range(dimensions):
    log = whole_episodes(4, lengths=(200, 100), dimensions=dimensions)
    tree = TripleTree(40).fit(log)
    curve, exact = tree.fitted_.curve_training, tree.losses(log, "all")
    assert (exact <= curve * (1 + 1e-6)).all()
    np.testing.assert_allclose(curve[0], exact[0], rtol=1e-6)
    if not dimensions:
        assert curve[:, 0].tolist() == exact[:, 0].tolist()  # labels, which are counted
    # Held within range, a model is better, but not by much.
    np.testing.assert_allclose(curve, exact, rtol=0.1)
    assert (exact < curve * (1 - 1e-6)).any()


@pytest.mark.parametrize("n_leaves", [0, 41, 2.0, "every", True])
def test_wrong_sizes_are_explained(n_leaves):
    log = whole_episodes(4, lengths=(200, 100))
    tree = TripleTree(40).fit(log)
    with pytest.raises(ParameterError, match="n_leaves must be"):
        tree.losses(log, n_leaves)
    with pytest.raises(ParameterError, match="n_leaves must be"):
        tree.truncate(n_leaves)


def test_early_stopping_keeps_the_best_size():
    log, held_out = whole_episodes(1, lengths=(30,) * 8).split(0.4)
    theta = (1, 0.5, 0.2)
    tree = TripleTree(60, theta).fit(log, held_out)
    whole = TripleTree(60, theta, early_stopping=False).fit(log, held_out)
    assert whole.n_leaves_ == 60
    curve = whole.losses(held_out, "all")
    score = curve / curve[0] @ np.array(theta)
    assert tree.n_leaves_ == score.argmin() + 1
    assert 1 < tree.n_leaves_ < 60
    assert tree.curve_["score"].tolist() == pytest.approx(score.tolist())
    assert len(tree.curve_) == 60
    assert tree.curve_.columns == (
        "leaves",
        *(f"{part}_{name}" for part in ("training", "validation") for name in ("action", "value", "derivative")),
        "score",
    )
    assert "score" not in TripleTree(5).fit(log).curve_.columns


def test_a_loss_that_is_zero_from_the_start_does_not_count():
    log = make_log([[0.0], [1.0], [2.0], [3.0]], [0] * 4, [0, 0, 5, 5], np.arange(5), labels=("stay",))
    with pytest.warns(TripleTreeWarning, match="All actions"):
        tree = TripleTree(4, (1, 1, 0)).fit(log, log)
    assert tree.n_leaves_ == 2


def test_labels_are_matched_by_name():
    log = make_log([[0.0], [1.0], [2.0]], [0, 1, 1], [0, 1, 2], np.arange(4), labels=("a", "b"))
    tree = quietly_fitted(log, theta=(1, 0, 0))
    other = make_log([[0.0], [1.0], [2.0]], [1, 0, 2], [0, 1, 2], labels=("b", "a", "new"))
    assert tree.losses(other)[0] == pytest.approx(1 / 3)


def test_logs_about_other_things_are_refused():
    log = whole_episodes(0, features=2)
    tree = TripleTree(5).fit(log)
    with pytest.raises(LogError, match=r"The log has the features `x0`, `x1`, `x2`, the tree was grown on `x0`, `x1`"):
        tree.losses(random_log(features=3))
    with pytest.raises(
        LogError, match=r"The validation log has continuous actions, the tree was grown on discrete ones"
    ):
        TripleTree(5).fit(log, random_log(dimensions=1))
    with pytest.raises(LogError, match=r"has the actions `a0`, the tree `a0`, `a1`"):
        quietly_fitted(random_log(dimensions=2)).losses(random_log(dimensions=1))
    with pytest.raises(ParameterError, match=r"validation must be a Log; got .* Or type validation=None \("):
        TripleTree(5).fit(log, log.states)
    with pytest.raises(ParameterError, match="log must be a Log"):
        tree.losses(log.states)


# Truncated episodes


def endless(n: int = 400) -> Log:
    """Round and round on a circle of ten states, a reward of 1 in each of the first five; cut off at the end."""
    states = np.arange(n) % 10
    return make_log(
        states[:, None],
        states >= 5,
        states < 5,
        final_states=[[n % 10]],
        endings=[TRUNCATED],
        labels=("a", "b"),
        names=("place",),
    )


def test_truncated_episodes_are_warned_about():
    with pytest.warns(TripleTreeWarning, match=r"7 % of the samples lie near the end of a truncated episode") as told:
        TripleTree(gamma=0.9, truncation="paper").fit(endless())
    assert len(told) == 1


def test_by_default_what_would_have_followed_is_estimated():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settled = TripleTree(gamma=0.9).fit(endless())
    assert settled.predict([0]).value == TripleTree(gamma=0.9, truncation="bootstrap").fit(endless()).predict([0]).value


def test_without_a_discount_cut_episodes_are_the_papers_and_that_is_said():
    with pytest.warns(TripleTreeWarning, match=r"Without a discount, .* the 1 truncated episode .* Try gamma=0\.99"):
        tree = TripleTree(gamma=1).fit(endless())
    paper = quietly_fitted(endless(), gamma=1, truncation="paper")
    assert tree.leaves_["value_mean"].tolist() == paper.leaves_["value_mean"].tolist()


@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_a_solved_task_has_one_value_and_no_place_where_it_fails(leaf_model):
    """A balanced pole earns 1 at every step, and is cut off after 200: nothing is worth less than anything else."""
    rng = np.random.default_rng(0)
    n, starts = 200 * 12, np.arange(0, 200 * 12 + 1, 200)
    states = rng.normal(size=(n, 4))
    log = make_log(
        states,
        (states[:, 2] > 0).astype(int),
        np.ones(n),
        starts,
        final_states=rng.normal(size=(12, 4)),
        endings=[TRUNCATED] * 12,
        labels=("left", "right"),
    )
    training, validation = log.split(0.25)
    with pytest.warns(TripleTreeWarning, match="All values in this log are the same"):
        tree = TripleTree(30, leaf_model=leaf_model).fit(training, validation)
    assert tree.fitted_.varies == (True, False, True)
    assert set(tree.fitted_.attributes.value_mean.tolist()) == {tree.predict(states[0]).value}
    assert tree.predict(states[0]).value == pytest.approx(100)
    for side in ("training", "validation"):
        assert not np.asarray(tree.curve_[f"{side}_value"]).any()
    assert tree.held_out(log).judged.explained[1] is None
    assert "value" not in str(tree.held_out(log))


@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_bootstrap_gives_the_values_of_the_endless_recording(leaf_model):
    log = endless()
    tree = TripleTree(gamma=0.9, truncation="bootstrap", leaf_model=leaf_model).fit(log)
    # V at place p: five rewards of 1, then five of 0, for ever.
    lap = 1 - 0.9**10
    first = (1 - 0.9**5) / 0.1 / lap
    assert tree.predict([0]).value == pytest.approx(first, rel=1e-9)
    assert tree.predict([5]).value == pytest.approx(first * 0.9**5, rel=1e-9)
    assert max(tree.leaves_["value_std"]) < 1e-9
    assert tree.losses(log)[1] == pytest.approx(0, abs=1e-9)


def test_bootstrap_agrees_with_its_own_predictions():
    log = random_log(8, lengths=(30, 40, 20, 35))
    tree = quietly_fitted(log, max_leaves=15, truncation="bootstrap", leaf_model="mean")
    assert (log.endings == TRUNCATED).any()
    np.testing.assert_allclose(tree.losses(log, "all")[-1], tree.fitted_.curve_training[-1], atol=1e-9)
    # The ends of truncated episodes are settled by means, whatever the leaves predict by.
    linear = quietly_fitted(log, max_leaves=15, truncation="bootstrap")
    assert linear.fitted_.attributes.value_mean.tobytes() == tree.fitted_.attributes.value_mean.tobytes()
    exact, curve = linear.losses(log, "all"), linear.fitted_.curve_training
    assert (exact <= curve * (1 + 1e-6)).all()
    np.testing.assert_allclose(exact[0], curve[0], rtol=1e-6)


def test_bootstrapped_constant_rewards_are_warned_about():
    log = make_log(
        [[0.0], [1.0]] * 4, [0, 1] * 4, [1.0] * 8, final_states=[[0.0]], endings=[TRUNCATED], labels=("a", "b")
    )
    with pytest.warns(TripleTreeWarning, match="All values in this log are the same"):
        tree = TripleTree(gamma=0.9, truncation="bootstrap").fit(log)
    assert tree.predict([[0.0], [1.0]]).value.tolist() == pytest.approx([10.0, 10.0])


def test_bootstrap_without_final_states_is_warned_about():
    log = make_log([[0.0], [1.0]], [0, 1], [1.0, 2.0], np.arange(3), endings=[TRUNCATED, TERMINATED], labels=("a", "b"))
    with pytest.warns(TripleTreeWarning, match="1 of 1 truncated episode has no recorded final state"):
        TripleTree(truncation="bootstrap", theta=(1, 1, 0)).fit(log)


# Tables and files


def test_the_table_of_leaves():
    log = make_log(
        [[0.0, 0], [1.0, 1], [4.0, 0], [8.0, 1]],
        [0, 0, 1, 1],
        [0, 0, 4, 4],
        np.arange(5),
        labels=("left", "right"),
        names=("pos", "contact"),
        kinds=("real", "binary"),
    )
    table = quietly_fitted(log, max_leaves=2).leaves_
    data = table.to_dict()
    assert data["leaf"] == [0, 1]
    assert data["node"] == [1, 2]
    assert data["depth"] == [1, 1]
    assert data["count"] == [2, 2]
    assert data["pos_min"] == [0.0, data["pos_max"][0]]
    assert data["pos_max"][1] == 8.0
    assert data["contact_min"] == [0.0, 0.0]
    assert data["contact_max"] == [1.0, 1.0]
    assert data["action"] == ["left", "right"]
    assert data["action_probability"] == [1.0, 1.0]
    assert data["value_mean"] == [0.0, 4.0]
    assert data["value_std"] == [0.0, 0.0]
    assert data["impurity_action"] == [0.0, 0.0]
    cut = data["pos_max"][0] / 8
    assert data["density"] == pytest.approx([2 / cut, 2 / (1 - cut)])
    assert not any(name.startswith("derivative_") for name in table.columns)
    frame = pd.DataFrame(table.to_dict())
    assert frame.shape == (2, len(table.columns))


def test_continuous_columns_carry_the_names_of_the_actions():
    columns = quietly_fitted(random_log(1, dimensions=2), max_leaves=3).leaves_.columns
    assert {"a0_mean", "a0_std", "a1_mean", "a1_std"} <= {name.removeprefix("action_") for name in columns}
    assert {"derivative_x0_mean", "derivative_x0_std", "impurity_derivative", "density"} <= set(columns)


def test_save_and_load(tmp_path):
    log = whole_episodes()
    tree = TripleTree(9, theta=[1, 2, 3], threads=1).fit(log)
    path = tmp_path / "road.tripletree"
    tree.save(path)
    for other in (load(path), TripleTree.load(path)):
        assert other.predict(log.states).to_dict() == tree.predict(log.states).to_dict()
        assert other.leaves_.to_dict() == tree.leaves_.to_dict()
        assert other.curve_.to_dict() == tree.curve_.to_dict()
        assert other.losses(log).tolist() == tree.losses(log).tolist()
        assert other.get_params() == {**tree.get_params(), "theta": (1.0, 2.0, 3.0), "threads": None}


def test_a_truncated_tree_is_saved_too(tmp_path):
    tree = TripleTree(9).fit(whole_episodes()).truncate(4)
    tree.save(tmp_path / "small.tripletree")
    assert load(tmp_path / "small.tripletree").leaves_.to_dict() == tree.leaves_.to_dict()


def test_what_a_tree_knows_is_read_only():
    tree = TripleTree(5).fit(whole_episodes())
    with pytest.raises(ValueError, match="read-only"):
        tree.tree_.threshold[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        tree.truncate(2).fitted_.attributes.value_mean[0] = 1.0


@pytest.mark.parametrize("size", [1e-300, 1e99])
def test_only_the_ratios_of_theta_matter(size):
    log = whole_episodes()
    one, other = TripleTree(9, (1, 2, 3)).fit(log), TripleTree(9, (size, 2 * size, 3 * size)).fit(log)
    assert other.tree_.threshold.tolist() == one.tree_.threshold.tolist()
    assert (other.tree_.quality / size).tolist() == pytest.approx(one.tree_.quality.tolist())


def test_options_and_provenance_are_plain_data():
    tree = TripleTree(np.int64(5), np.array([1, 1, 1]), np.float64(0.9)).fit(whole_episodes())
    assert json.loads(json.dumps(tree.fitted_.options))["max_leaves"] == 5
    assert json.loads(json.dumps(tree.fitted_.provenance))["samples"] == 120


@given(
    seed=st.integers(0, 9999),
    dimensions=st.sampled_from([0, 1]),
    sizes=st.tuples(*[st.sampled_from([1e-300, 1e-150, 0.001, 1.0, 3600.0, 1e150, 1e300])] * 3),
)
def test_units_change_no_partition(seed, dimensions, sizes):
    log = random_log(seed, lengths=(25, 30), dimensions=dimensions)
    state, action, reward = sizes
    scaled = Log(
        **{
            **vars(log),
            "states": log.states * state,
            "final_states": log.final_states * state,
            "actions": log.actions * action if dimensions else log.actions,
            "rewards": log.rewards * reward,
        }
    )
    # A short threshold is short in one unit only, and a final state may lie between it and the other's.
    # Linear models have a test of their own, where the strengths that compete do not tie.
    growth = {"max_leaves": 12, "thresholds": "midpoint", "leaf_model": "mean"}
    one, other = (quietly_fitted(each, **growth) for each in (log, scaled))
    assert other.apply(scaled.states).tolist() == one.apply(log.states).tolist()
    for name, column in other.leaves_.to_dict().items():
        if name != "action":
            assert np.isfinite(column).all(), name
    units = np.array([1, reward, 1])
    value, expected = other.predict(scaled.states).value / reward, one.predict(log.states).value
    assert value.tolist() == pytest.approx(expected.tolist(), rel=1e-6, abs=1e-6 * np.abs(expected).max())
    assert (other.losses(scaled) / units).tolist() == pytest.approx(one.losses(log).tolist(), rel=1e-6)


def test_explanations_are_asked_of_the_tree():
    tree = quietly_fitted(random_log(1), max_leaves=8)
    state = [0.0, 0.0]
    labels = tree.fitted_.schema.action.labels
    other = next(label for label in labels if label != tree.predict(state).action)
    assert tree.explain(state).leaf == tree.apply(state)
    answer = tree.explain(state, {"action": other})
    assert bool(answer) == bool(tree.counterfactuals([state], {"action": other}).found[0])
    assert not answer or tree.predict(answer.foil_state).action == other
    changes = tree.explain_changes(random_log(1))
    first = changes[0]
    assert str(tree.explain_change(first.before, first.after)) == str(first)
    with pytest.raises(ParameterError, match="about is for explain without a foil; got 'value'"):
        tree.explain(state, {"action": other}, about="value")
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_change'"):
        tree.explain(state, {"action": other}, max_change=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", 2),
        ("max_changes", 1),
        ("fixed", np.array(["x0"])),
        ("one_way", {"x0": "up"}),
        ("margin", 0.1),
        ("min_samples", 5),
        ("min_purity", 0.5),
        ("agent", np.sum),
        ("verified", True),
    ],
)
def test_options_of_counterfactuals_need_a_foil(name, value):
    tree = quietly_fitted(random_log(1), max_leaves=8)
    with pytest.raises(ParameterError, match=f'{name} is for explain with a foil; got .*foil="action = left"'):
        tree.explain([0.0, 0.0], **{name: value})


def test_explain_shows_its_options_and_takes_the_defaults_for_nothing():
    shown = inspect.signature(TripleTree.explain).parameters
    assert list(shown)[:4] == ["self", "state", "foil", "about"]
    defaults = {name: one.default for name, one in shown.items() if one.kind is one.KEYWORD_ONLY}
    assert {"about", *inspect.signature(TripleTree.counterfactuals).parameters} - set(defaults) == {
        "self",
        "states",
        "foil",
    }
    tree = quietly_fitted(random_log(1), max_leaves=8)
    assert str(tree.explain([0.0, 0.0], **defaults)) == str(tree.explain([0.0, 0.0]))


@pytest.mark.parametrize("threads", ["x", 0, 1.5, 2**31])
def test_threads_set_after_the_fit_are_checked(threads):
    log = replace(random_log(), endings=np.full(3, TERMINATED))
    tree = TripleTree(5).fit(log)
    tree.threads = threads
    for ask in (lambda: tree.predict(log.states), lambda: tree.losses(log), lambda: tree.report(log, "report.html")):
        with pytest.raises(ParameterError, match=r"threads must be a whole number from 1 to 1,024, or threads=None"):
            ask()


def test_an_agent_is_explained_in_one_go(tmp_path):
    bars = []

    @contextmanager
    def bar(doing, unit):
        bars.append((doing, unit))
        yield lambda done, most: bars.append(done <= most)

    env = road.environment("left")
    names = {"feature_names": ["pos", "speed"], "labels": {0: "brake", 1: "push"}}
    agent = road.solve(road.VARIANTS["left"]).act
    found = explain_agent(env, agent, tmp_path / "a" / "b", episodes=20, progress=bar, max_leaves=40, **names)
    assert found.log.n_episodes == 20
    assert found.tree.n_leaves_ <= 40
    assert found.report == tmp_path / "a" / "b" / "report.html"
    assert found.report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in found.report.parent.iterdir()) == ["log.npz", "report.html", "tree.tripletree"]
    assert bars[0] == ("Recording", "episodes")
    assert ("Growing the tree", "leaves") in bars
    assert False not in bars
    assert str(found.judged) in str(found)
    assert found.tree.progress is None


def test_an_agent_with_few_episodes_is_explained_without_files():
    found = explain_agent(road.environment("alive"), lambda state: int(state[1] < 0), episodes=2)
    assert found.report is None
    assert found.log.n_episodes == 2
    with pytest.raises(ParameterError, match="max_leaves must be a whole number"):
        explain_agent("CartPole-v1", "random", max_leaves=0)


def test_heavy_libraries_are_imported_by_those_who_need_them():
    heavy = ["scipy", "matplotlib", "pandas", "pyarrow", "sklearn"]
    code = f"import sys, tripletree.api; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
