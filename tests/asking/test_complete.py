"""Features that the text of a state does not name: the training log's medians stand in, and the answer says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log
from tripletree import ParameterError, TripleTree, load
from tripletree.asking.states import Written, complete
from tripletree.demos import road


@pytest.fixture(scope="module")
def log():
    return road.record("left", n_samples=1_001)


@pytest.fixture(scope="module")
def tree(log):
    return TripleTree(20, truncation="bootstrap").fit(log)


def test_the_median_stands_in(tree, log):
    medians = np.median(log.states, axis=0)
    np.testing.assert_array_equal(tree.fitted_.medians, medians)
    answer = tree.predict("pos = 1.2")
    assert answer.assumed == {"speed": medians[1]}
    assert answer.leaf == tree.apply([1.2, medians[1]])
    assert str(answer).endswith(f". Not given, so the log's median: speed = {medians[1]:.4g}.")
    assert answer.to_dict()["assumed"] == {"speed": medians[1]}
    assert tree.predict("speed = 0.01").leaf == tree.apply([medians[0], 0.01])


def test_every_answer_about_a_state_says_so(tree):
    told = " Not given, so the log's median: speed = "
    for answer in (
        tree.explain("pos = 1.2"),
        tree.explain("pos = 1.2", "value > 100"),
        tree.explain("pos = 1.2", "acc = 0.001"),
        tree.explain_change("pos = 1.2", "pos = 0.1"),
        tree.explain_change("pos = 1.2, speed = 0", "pos = 0.1"),
    ):
        assert told in str(answer)
        assert list(answer.to_dict()["assumed"]) == ["speed"]


def test_a_whole_state_needs_nothing(tree):
    for state in ("pos = 1.2, speed = 0", "1.2, 0", [1.2, 0], {"pos": 1.2, "speed": 0}):
        for answer in (tree.predict(state), tree.explain(state), tree.explain(state, "acc = 0.001")):
            assert "Not given" not in str(answer)
            assert "assumed" not in answer.to_dict()


def test_only_texts_may_leave_features_out(tree):
    for ask in (
        lambda: tree.predict({"pos": 1.2}),
        lambda: tree.explain({"pos": 1.2}),
        lambda: tree.apply("pos = 1.2"),
    ):
        with pytest.raises(ParameterError, match="must have the feature `speed`; got `pos`"):
            ask()
    with pytest.raises(ParameterError, match=r"states must have 2 features .*got shape \(1,\)"):
        tree.predict("1.2")


def test_whole_numbers_stay_whole():
    log = make_log([[0, 0.5], [0, 0.5], [1, 1.5], [1, 2.5]], [0, 1, 0, 1], [0, 1, 0, 1], names=("on", "x"))
    fitted = TripleTree(2, theta=(1, 0, 0)).fit(log).fitted_
    assert fitted.medians.tolist() == [0.0, 0.5]


def test_a_model_file_keeps_them(tree, tmp_path):
    tree.save(tmp_path / "m.tripletree")
    assert load(tmp_path / "m.tripletree").predict("pos = 1.2").assumed == tree.predict("pos = 1.2").assumed


@pytest.mark.parametrize(
    "medians", [None, 3, [1.0], [1.0, None], [1.0, "x"], [1.0, True], [1.0, float("nan")], {"a": 1}]
)
def test_a_model_that_does_not_know_them_asks_for_the_whole_state(tree, medians):
    fitted = replace(tree.fitted_, provenance={**tree.fitted_.provenance, "medians": medians})
    assert fitted.medians is None
    with pytest.raises(ParameterError, match="states must have the feature `speed`; got `pos`"):
        complete("pos = 1.2", fitted, "states")


def test_medians_of_a_stranger_stay_within_the_range(tree):
    fitted = replace(tree.fitted_, provenance={"medians": [-1e300, 1e300]})
    assert fitted.medians.tolist() == [fitted.feature_min[0], fitted.feature_max[1]]


def test_what_was_completed_is_not_completed_again(tree):
    once = complete("pos = 1.2", tree.fitted_)
    assert complete(once, tree.fitted_) is once
    assert isinstance(once, Written)
    assert tree.predict(once).assumed == once.assumed


def test_of_many_features_some_are_named():
    rng = np.random.default_rng(0)
    names = [f"x{k}" for k in range(12)]
    tree = TripleTree(3, theta=(1, 0, 0)).fit(
        make_log(rng.normal(size=(30, 12)), rng.integers(0, 2, 30), [0, 1] * 15, names=names)
    )
    assert str(tree.predict("x3 = 0")).endswith(" and 5 more.")
    assert len(tree.predict("x3 = 0").assumed) == 11
