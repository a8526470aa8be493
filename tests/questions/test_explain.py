from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import Feature, Log, ParameterError, Schema, TripleTree
from tripletree.asking.attribute import read_attribute
from tripletree.demos import road
from tripletree.questions.explain import factual, path_order
from tripletree.questions.importance import removed


@pytest.fixture(scope="module")
def road_tree():
    return quietly_fitted(road.record("either", n_samples=4000), max_leaves=60, theta=(0.2, 0.6, 0.2))


def lander(**options) -> TripleTree:
    """In the air it fires when it is high; on its left leg it pushes when the gear is high."""
    rng = np.random.default_rng(3)
    n = 400
    height, leg, gear = rng.uniform(0, 2, n), rng.integers(0, 2, n), rng.integers(1, 7, n)
    act = 2 * leg + np.where(leg == 1, gear >= 5, height > 1)
    log = make_log(
        np.stack([height, leg, gear], axis=1),
        act,
        height * leg,
        np.append(np.arange(0, n, 10), n),
        labels=("nothing", "fire", "hold", "push"),
        names=("height", "left leg in contact", "gear"),
        kinds=("real", "binary", "integer"),
    )
    units = ("m", "", "")
    features = tuple(Feature(f.name, unit, f.kind) for f, unit in zip(log.schema.features, units, strict=True))
    log = Log(**{**vars(log), "schema": Schema(features, log.schema.action)})
    return quietly_fitted(log, theta=(1, 0, 0), **options)


def test_the_papers_sentence(road_tree):
    sentence = (
        r"Action = -?0\.001 because (pos|speed) in \[[-\d.]+, [-\d.]+\) and (pos|speed) in \[[-\d.]+, [-\d.]+\)\."
    )
    found = [str(road_tree.explain([pos, speed])) for pos in (0.6, 1.2, 1.9) for speed in (-0.03, 0.0, 0.03)]
    assert any(re.match(sentence, text) for text in found)
    assert all(re.match(r"Action = -?0\.001 because ", text) for text in found)


def test_kinds_and_units_in_words():
    tree = lander(max_leaves=5)
    told = [str(tree.explain(state)) for state in ([1.5, 0, 3], [0.5, 0, 3], [0.5, 1, 6], [0.5, 1, 2])]
    first, second, third, fourth = (text.partition(". ")[0] for text in told)
    assert first == "Action = fire because height >= 1 m and left leg not in contact"
    assert second == "Action = nothing because height < 1 m and left leg not in contact"
    assert third == "Action = push because left leg in contact and gear >= 5"
    assert fourth == "Action = hold because left leg in contact and gear <= 4"
    assert all(re.search(r"\. All \d+ samples in this leaf agree\.$", text) for text in told)


def test_one_leaf_is_always():
    answer = lander(max_leaves=1).explain([0.5, 1, 2])
    assert answer.because == ()
    assert re.match(
        r"Action = hold always: the tree has only one leaf\. "
        r"\d\d % of 400 samples in this leaf agree; \d\d % are (nothing|fire|push)\.",
        str(answer),
    )


def test_numbers_carry_their_spread():
    log = random_log(4, dimensions=2)
    tree = quietly_fitted(log, max_leaves=4)
    state = log.states[3]
    both, one, value = (tree.explain(state, about=about) for about in ("action", "a1", "value"))
    assert re.match(r"a0 = -?[\d.]+ ± [\d.]+ and a1 = -?[\d.]+ ± [\d.]+ because x", str(both))
    assert re.match(r"a1 = -?[\d.]+ ± [\d.]+ because x", str(one))
    assert re.match(r"Value = -?[\d.]+ ± [\d.]+ because x.*This is the mean of only \d+ samples\.$", str(value))
    told = tree.predict(state)
    assert both.prediction.tolist() == told.action.tolist()
    assert one.spread.tolist() == [told.action_std[1]]
    assert value.prediction.tolist() == [told.value]


def test_derivatives(road_tree):
    one = str(road_tree.explain([1.2, 0.03], about="derivative of pos"))
    assert re.match(r"Change of pos = 0\.0[\d.]+( ± [\d.e-]+)? per step because ", one)
    both = str(road_tree.explain([1.2, 0.03], about="derivative"))
    assert re.match(r"Change: pos 0\.0[\d.]+( ± [\d.e-]+)? and speed -?0\.00\d+( ± [\d.e-]+)? per step because ", both)


def test_nothing_changes():
    log = make_log([[1.0], [1.0], [2.0], [2.0]], [0, 0, 1, 1], [0] * 4, [0, 2, 4], labels=("a", "b"), names=("pos",))
    tree = quietly_fitted(log)
    assert str(tree.explain([1.0], about="derivative")).startswith("Nothing changes because pos < 2")
    assert str(tree.explain([1.0], about="derivative of pos")).startswith("Change of pos = 0 per step because pos < 2")


def test_a_leaf_that_nothing_follows():
    log = make_log([[0.0], [0.1], [5.0], [0.0], [0.2]], [0, 0, 1, 0, 0], [0] * 5, [0, 3, 5], labels=("a", "b"))
    tree = quietly_fitted(log, theta=(1, 0, 0), max_leaves=2)
    answer = tree.explain([5.0], about="derivative of x0")
    assert answer.count == 0
    assert "The log does not show what follows in this leaf" in str(answer)


@pytest.mark.parametrize(
    ("samples", "text"),
    [(1, "Only 1 sample says so."), (3, "All of only 3 samples agree."), (12, "All 12 samples in this leaf agree.")],
)
def test_how_sure(samples, text):
    log = make_log([[0.0]] * samples + [[1.0]] * 20, [0] * samples + [1] * 20, [0] * (samples + 20), labels=("a", "b"))
    assert str(quietly_fitted(log, theta=(1, 0, 0)).explain([0.0])).endswith(text)


def test_beyond_the_log(road_tree):
    answer = road_tree.explain([7, -0.3])
    low, high = road_tree.fitted_.feature_min, road_tree.fitted_.feature_max
    assert answer.outside
    assert answer.beyond == pytest.approx([7 - high[0], -0.3 - low[1]])
    assert re.search(
        r"Careful, no such state is in the log: pos = 7 is 4\.\d+ above its largest value in the log \([23][\d.]*\) "
        r"and speed = -0\.3 is 0\.2\d* below its smallest value in the log \(-0\.[\d.]+\)\.$",
        str(answer),
    )
    assert not road_tree.explain([1, 0]).outside
    assert "inf above" in str(road_tree.explain([np.inf, 0]))


@given(seed=st.integers(0, 999), about=st.sampled_from(["action", "value", "derivative of x1", "derivative"]))
def test_the_reasons_are_the_leafs_box_and_nothing_else(seed, about):
    log = random_log(seed, features=3, grid=seed % 2)
    fitted = quietly_fitted(log, max_leaves=12).fitted_
    if fitted.attributes.derivative_mean is None:
        return
    state = log.states[seed % log.n_samples]
    answer = factual(fitted, state, about)
    assert ((answer.lower <= state) & (state < answer.upper)).all()
    leaf = fitted.tree.apply(log.states)
    # Everything in the box is in the leaf, and everything in the leaf is in the box.
    inside = ((answer.lower <= log.states) & (log.states < answer.upper)).all(axis=1)
    assert np.array_equal(inside, leaf == answer.leaf)
    bounded = np.isfinite(answer.lower) | np.isfinite(answer.upper)
    assert len(answer.because) == bounded.sum()
    assert "inf" not in str(answer)
    assert {text.split()[0] for text in answer.because} == {f"x{f}" for f in np.flatnonzero(bounded)}


def test_the_feature_that_matters_most_comes_first(road_tree):
    fitted = road_tree.fitted_
    for about in ("action", "value", "derivative of speed"):
        attribute = read_attribute(fitted, about)
        gain = removed(fitted, attribute)
        for leaf in (0, 7, 30):
            total = np.zeros(2)
            node = fitted.tree.leaf_nodes[leaf]
            while node:
                node = fitted.tree.parent[node]
                total[fitted.tree.feature[node]] += gain[node]
            order = path_order(fitted, attribute, leaf)
            assert order == sorted(order, key=lambda f: -total[f])


def test_data_are_json(road_tree):
    data = json.loads(json.dumps(road_tree.explain([1.2, 0.03]).to_dict(), allow_nan=False))
    assert data["about"] == "action"
    assert data["state"] == [1.2, 0.03]
    assert data["prediction"] in ("0.001", "-0.001")
    assert set(data) >= {"leaf", "lower", "upper", "because", "count", "spread", "runner_up", "beyond"}


def test_a_name_cannot_inject_html():
    log = make_log([[0.0], [1.0]] * 5, [0, 1] * 5, [0] * 10, labels=("<b>", "c"), names=("<script>",))
    shown = quietly_fitted(log, theta=(1, 0, 0)).explain([0.0])._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown
    assert "<b>" not in shown


@pytest.mark.parametrize(
    ("state", "about", "message"),
    [
        ([1.2], "action", r"must have 2 features \(`pos`, `speed`\)"),
        ([1.2, np.nan], "action", "feature `speed` is NaN"),
        ({"pos": 1, "sped": 2}, "action", "must have the feature `speed`.*Did you mean `speed`"),
        ([[1.2, 0], [1.3, 0]], "action", "one state; got 2"),
        ([1.2, 0], "vlue", "Did you mean `value`"),
        ([1.2, 0], "speed", "Did you mean `derivative of speed`"),
    ],
)
def test_bad_questions(road_tree, state, about, message):
    with pytest.raises(ParameterError, match=message):
        road_tree.explain(state, about=about)
