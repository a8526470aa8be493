from __future__ import annotations

import itertools
import json
import math
import signal
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.questions.trees import random_fitted, random_states
from tests.test_api import quietly_fitted
from tripletree import LogError, ParameterError
from tripletree.leaves.linear import LinearLeaves, node_means
from tripletree.questions.attribute import attribute, sample

BACKGROUND = 7


def linear_fitted(seed, features=4, leaves=9, held=True, **options):
    """Return a random tree with linear leaves; ``held`` limits them so tightly that many predictions are clamped."""
    fitted = random_fitted(seed, features, leaves, **options)
    rng = np.random.default_rng(seed)
    centre = node_means(fitted.attributes)
    slope = rng.normal(size=(*centre.shape, features)) * (rng.random((*centre.shape, features)) < 0.7)
    room = rng.uniform(0, 1, (2, *centre.shape)) if held else np.full((2, *centre.shape), np.inf)
    linear = LinearLeaves(
        centre,
        slope.astype(np.float32),
        (centre - room[0]).astype(np.float32) - np.float32(1e-3),
        (centre + room[1]).astype(np.float32) + np.float32(1e-3),
        np.zeros(centre.shape, np.float32),
    )
    attributes = replace(fitted.attributes, state_mean=rng.normal(size=(fitted.tree.n_nodes, features)))
    return replace(fitted, linear=linear, attributes=attributes, options={"leaf_model": "linear"})


def asked(fitted, states, about, others=None, threads=1):
    """Return the answer, against a background of states where there is one."""
    if others is None:
        return attribute(fitted, states, about, None, None, threads)
    n, action = len(others), fitted.schema.action
    log = make_log(others, np.zeros(n if action.labels else (n, 2)), np.zeros(n), labels=action.labels or None)
    return attribute(fitted, states, about, None, replace(log, schema=fitted.schema), threads)


class Game:
    """What the tree predicts of one number when it is told only some features of a state, as the manual defines it."""

    def __init__(self, fitted, column, x, others=None):
        self.fitted, self.x, self.others = fitted, x, others
        tree = fitted.tree
        self.weight = np.where(tree.left < 0, fitted.attributes.count, 0).astype(float)
        tree.add_up(self.weight)
        model = fitted.model
        means = node_means(fitted.attributes)[:, column]
        shape = (tree.n_nodes, len(x))
        self.centre = means if model is None else model.centre[:, column]
        self.slope = np.zeros(shape) if model is None else model.slope[:, column].astype(float)
        self.low = means - np.inf if model is None else model.low[:, column].astype(float)
        self.high = means + np.inf if model is None else model.high[:, column].astype(float)
        self.mean = np.zeros(shape) if model is None else fitted.attributes.state_mean
        self.box = {node: self._bounds(node) for node in np.flatnonzero(tree.left < 0)}

    def _bounds(self, node):
        lower, upper = self.fitted.bounds
        leaf = self.fitted.tree.leaf_number[node]
        return lower[leaf], upper[leaf]

    def __call__(self, told):
        if self.others is None:
            return self._average(0, told)
        return float(np.mean([self._mixed(b, told) for b in self.others]))

    def _average(self, node, told):
        """Follow features that are told; others go both ways, as often as the samples did."""
        tree = self.fitted.tree
        if tree.left[node] < 0:
            inside = (self.box[node][0] <= self.x) & (self.x < self.box[node][1])
            return self._between(node, self.mean[node], np.where(inside, self.x, self.mean[node]), inside, told)
        left, f = int(tree.left[node]), int(tree.feature[node])
        if f in told:
            return self._average(left + int(self.x[f] >= tree.threshold[node]), told)
        return sum(self.weight[k] * self._average(k, told) for k in (left, left + 1)) / self.weight[node]

    def _mixed(self, b, told):
        """Predict the state that has told features from x and the others from b."""
        mixture = np.array([self.x[f] if f in told else b[f] for f in range(len(b))])
        node = int(self.fitted.tree.leaf_nodes[self.fitted.tree.apply(mixture[None])[0]])
        low, high = self.box[node]
        own, its = (low <= self.x) & (self.x < high), (low <= b) & (b < high)
        return self._between(node, np.where(own & ~its, self.x, b), np.where(own, self.x, b), own & its, told)

    def _between(self, node, least, most, free, told):
        """Go from one end to the other in proportion to the linear terms of the free features that are told."""
        first, last = (self.centre[node] + self.slope[node] @ (end - self.mean[node]) for end in (least, most))
        begin, end = np.clip([first, last], self.low[node], self.high[node])
        rho = 1.0 if first == begin and last == end else (end - begin) / (last - first) if last != first else 0.0
        terms = rho * self.slope[node] * (most - least)
        return begin + sum(terms[f] for f in told if free[f])


def shapley(game, features):
    """Return Shapley's definition: the mean of what a feature adds, over all orders of the features."""
    value = {
        told: game(told)
        for size in range(features + 1)
        for told in map(frozenset, itertools.combinations(range(features), size))
    }
    found = np.zeros(features)
    for told, before in value.items():
        for f in set(range(features)) - told:
            found[f] += (value[told | {f}] - before) / features / math.comb(features - 1, len(told))
    return found, value[frozenset()], value[frozenset(range(features))]


def check_against_all_subsets(fitted, seed, about, column, background):
    features = len(fitted.schema.features)
    states = random_states(fitted, 3, seed)
    others = random_states(fitted, BACKGROUND, seed + 1) if background else None
    answer = asked(fitted, states, about, others)
    told = fitted.told(states, fitted.tree.apply(states))[:, column]
    for k, x in enumerate(states):
        wanted, base, prediction = shapley(Game(fitted, column, x, others), features)
        assert answer.contributions[k] == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        assert answer.base[k] == pytest.approx(base, rel=1e-12, abs=1e-13)
        assert answer.prediction[k] == told[k] == pytest.approx(prediction, rel=1e-12, abs=1e-13)


@given(
    seed=st.integers(0, 10**6),
    features=st.integers(1, 4),
    leaves=st.integers(1, 14),
    model=st.sampled_from(["mean", "linear", "held"]),
    background=st.booleans(),
)
def test_equals_the_definition_over_all_subsets(seed, features, leaves, model, background):
    options = {"discrete": False}
    if model == "mean":
        fitted = random_fitted(seed, features, leaves, **options)
    else:
        fitted = linear_fitted(seed, features, leaves, held=model == "held", **options)
    check_against_all_subsets(fitted, seed, "side", 1, background)


@pytest.mark.parametrize("background", [False, True])
def test_equals_the_definition_with_ten_features(background):
    fitted = linear_fitted(3, 10, 16, discrete=False)
    # A path that splits on one feature again and again, and on most others too.
    assert (np.isfinite(fitted.bounds[0]) | np.isfinite(fitted.bounds[1])).sum(axis=1).max() > 4
    states = random_states(fitted, 1, 5)
    others = random_states(fitted, 3, 6) if background else None
    wanted = shapley(Game(fitted, 2, states[0], others), 10)[0]
    assert asked(fitted, states[0], "value", others).contributions == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@given(seed=st.integers(0, 10**6), label=st.sampled_from(["left", "right", "brake"]))
def test_scores_of_labels(seed, label):
    fitted = linear_fitted(seed, 3, 8)
    states = random_states(fitted, 20, seed)
    told = fitted.told(states, fitted.tree.apply(states))
    named, own = asked(fitted, states, f"action = {label}"), asked(fitted, states, "action")
    column = ("left", "right", "brake").index(label)
    assert set(named.labels) == {label}
    assert named.prediction.tolist() == told[:, column].tolist()
    assert own.prediction.tolist() == told[:, :3].max(axis=1).tolist()
    same = own.labels == label
    assert own.contributions[same] == pytest.approx(named.contributions[same], rel=1e-12, abs=1e-14)
    check_against_all_subsets(fitted, seed, f"action = {label}", column, background=False)


@given(seed=st.integers(0, 10**6), background=st.booleans())
def test_axioms(seed, background):
    fitted = linear_fitted(seed, 5, 20, held=bool(seed % 2), discrete=False)
    # A null player: no split and no slope knows the last feature.
    rows = fitted.tree.feature == 4
    linear, at = fitted.linear, fitted.attributes
    slope = linear.slope.copy()
    slope[:, :, 4] = 0
    tree = replace(fitted.tree, feature=np.where(rows, 3, fitted.tree.feature).astype(np.int32))
    # Linearity: without limits, the second dimension of the action is a sum of the first and of the value.
    centre = linear.centre.copy()
    centre[:, 1] = 2 * centre[:, 0] - 3 * centre[:, 2]
    slope[:, 1] = 2 * slope[:, 0] - 3 * slope[:, 2]
    infinite = np.full_like(linear.low, np.inf)
    held = replace(linear, slope=slope)
    free = LinearLeaves(centre, slope, -infinite, infinite, linear.spread)
    states = random_states(fitted, 6, seed)
    others = random_states(fitted, BACKGROUND, seed + 1) if background else None
    fitted = replace(fitted, tree=tree, linear=held, attributes=at)
    for about in ("action", "value", "derivative"):
        answer = asked(fitted, states, about, others)
        assert not answer.contributions[:, 4].any()
        gap = answer.contributions.sum(axis=1) - (answer.prediction - answer.base)
        assert np.abs(gap).max() <= 1e-9 * np.abs(answer.prediction).max()
    fitted = replace(fitted, linear=free)
    both, value = asked(fitted, states, "action", others), asked(fitted, states, "value", others)
    combined = 2 * both.contributions[..., 0] - 3 * value.contributions
    assert both.contributions[..., 1] == pytest.approx(combined, rel=1e-5, abs=1e-5)  # slopes are single precision


@pytest.mark.parametrize("method", ["path", "background"])
def test_features_that_do_the_same_contribute_the_same(method):
    every = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    states = np.repeat(every, 25, axis=0)
    # The first two features take part alike, and the third does not.
    log = make_log(states, np.zeros(200, int), states[:, 0] * states[:, 1], np.arange(201), labels=("a",))
    tree = quietly_fitted(log, max_leaves=10, gamma=0.0, theta=(0, 1, 0), leaf_model="mean")
    found = tree.attribute(every, "value", method=method)
    assert found.contributions[:, 0] == pytest.approx(found.contributions[[0, 1, 4, 5, 2, 3, 6, 7], 1], abs=1e-12)
    # At (1, 1) the prediction is 1 instead of 1/4, and each has half of that.
    assert found.contributions[-1] == pytest.approx([0.375, 0.375, 0.0], abs=1e-12)
    assert not found.contributions[:, 2].any()


@given(seed=st.integers(0, 10**6), background=st.booleans(), model=st.sampled_from(["mean", "linear"]))
def test_one_state_or_many_and_any_threads_give_the_same_bits(seed, background, model):
    make = random_fitted if model == "mean" else linear_fitted
    fitted = make(seed, 3, 12, discrete=False)
    states = random_states(fitted, 37, seed)
    others = random_states(fitted, BACKGROUND, seed) if background else None
    many = asked(fitted, states, "action", others)
    assert (asked(fitted, states, "action", others, threads=4).contributions == many.contributions).all()
    for k in (0, 7, 36):
        one = asked(fitted, states[k], "action", others)
        assert (one.contributions == many.contributions[k]).all()
        assert (one.base == many.base[k]).all()
        assert (one.prediction == many.prediction[k]).all()


def test_many_states_on_several_threads():
    fitted = linear_fitted(1, 4, 30, discrete=False)
    states = np.repeat(random_states(fitted, 500, 2), 20, axis=0)
    one, four = (asked(fitted, states, "value", threads=threads).contributions for threads in (1, 4))
    assert (one == four).all()
    assert (one[::20] == one[19::20]).all()


def test_real_trees_add_up_to_what_predict_says():
    log = random_log(4, dimensions=2)
    tree = quietly_fitted(log, max_leaves=20)
    said = tree.predict(log.states)
    for method in ("path", "background"):
        for about, told in (("action", said.action), ("value", said.value), ("derivative", said.derivative)):
            found = tree.attribute(log, about, method=method)
            assert (found.prediction == told).all()
            total = found.contributions.sum(axis=1) + found.base
            assert total == pytest.approx(told, rel=1e-9, abs=1e-9)
    assert tree.attribute(log, "value").base == pytest.approx(tree.predict(log.states).value.mean(), abs=0.3)


def test_the_base_is_the_mean_of_the_log():
    log = random_log(4)
    tree = quietly_fitted(log, max_leaves=20, leaf_model="mean", gamma=0.0)
    found = tree.attribute(log, "value")
    assert found.base == pytest.approx(np.full(log.n_samples, log.rewards.mean()))
    against = tree.attribute(log, "value", background=log)
    assert against.background == min(log.n_samples, 200)
    assert against.method == "background"


def test_large_numbers_cost_no_digits():
    fitted = random_fitted(5, 3, 10, discrete=False)
    shifted = replace(fitted, attributes=replace(fitted.attributes, value_mean=fitted.attributes.value_mean + 1e9))
    states = random_states(fitted, 20, 5)
    assert asked(shifted, states, "value").contributions == pytest.approx(
        asked(fitted, states, "value").contributions, abs=1e-6
    )


def test_what_does_not_differ_has_no_contributions():
    log = make_log(np.arange(12.0)[:, None], np.zeros(12, int), np.full(12, 0.1), labels=("go",))
    tree = quietly_fitted(log, max_leaves=5, gamma=0.0)
    for about in ("action", "value"):
        found = tree.attribute([3.0], about)
        assert not found.contributions.any()
        assert "no feature makes a difference" in str(found)
        assert "none. No feature" in str(tree.attribute([[3.0], [4.0]], about))


def test_one_leaf():
    tree = quietly_fitted(random_log(1), max_leaves=1)
    found = tree.attribute(random_log(1).states[:2], "value")
    assert not found.contributions.any()
    assert found.base == pytest.approx(found.prediction)


def test_shapes_and_plain_data():
    log = random_log(2, dimensions=2)
    tree = quietly_fitted(log, max_leaves=8)
    d = log.n_features
    assert tree.attribute(log.states[0]).contributions.shape == (d, 2)
    assert tree.attribute(log.states[0], "value").contributions.shape == (d,)
    assert isinstance(tree.attribute(log.states[0], "value").base, float)
    assert tree.attribute(log.states[:3], "value").contributions.shape == (3, d)
    assert tree.attribute(log.states[:3]).prediction.shape == (3, 2)
    assert tree.attribute(log.states[:0], "value").contributions.shape == (0, d)
    data = json.loads(json.dumps(tree.attribute(log.states[:3]).to_dict()))
    assert np.shape(data["contributions"]) == (3, d, 2)
    text = tree.attribute(f"{log.schema.feature_names[0]} = 0.3", "value")
    assert "Not given, so the log's median" in str(text)


def test_refusals():
    log = random_log(3)
    tree = quietly_fitted(log, max_leaves=8)
    state, features = log.states[0], log.schema.feature_names
    with pytest.raises(ParameterError, match=r"about must be .*Did you mean `value`"):
        tree.attribute(state, "valeu")
    with pytest.raises(ParameterError, match="about is 'action = sideways', but the tree knows only the actions `a`"):
        tree.attribute(state, "action = sideways")
    with pytest.raises(ParameterError, match="method must be"):
        tree.attribute(state, method="kernel")
    with pytest.raises(ParameterError, match='background is for method="background" only'):
        tree.attribute(state, method="path", background=log)
    with pytest.raises(ParameterError, match="background must be a Log"):
        tree.attribute(state, background=log.states)
    with pytest.raises(ParameterError, match="has no `nothing`; it may have"):
        tree.attribute("nothing = 3")
    with pytest.raises(ParameterError, match="must hold finite numbers only"):
        tree.attribute(np.full(len(features), np.inf))
    with pytest.raises(LogError, match="has the features"):
        tree.attribute(make_log(np.zeros((4, 1)), np.zeros(4, int), np.zeros(4), labels=("a",)))
    bare = quietly_fitted(log, max_leaves=8, keep="nothing")
    with pytest.raises(ParameterError, match=r"kept no states of its log.*give background"):
        bare.attribute(state, method="background")


def test_a_log_without_rewards_has_no_value_to_attribute():
    log = random_log(3)
    log = replace(log, schema=replace(log.schema, has_reward=False))
    tree = quietly_fitted(log, max_leaves=8)
    with pytest.raises(ParameterError, match="the log has no rewards"):
        tree.attribute(log.states[0], "value")


def test_labels_may_be_quoted_and_have_spaces_around_them():
    log = random_log(3)
    action = replace(log.schema.action, labels=("a = b", " c ", '"d"'))
    tree = quietly_fitted(replace(log, schema=replace(log.schema, action=action)), max_leaves=8)
    for label in action.labels:
        for about in (f"action = {label}", f"action={label.strip()}"):
            assert tree.attribute(log.states[0], about).labels == label
    assert tree.attribute(log.states[0], "action = 'c'").labels == " c "


def test_samples_are_the_same_each_time():
    states = np.arange(1000.0)[:, None]
    assert (sample(states, 50) == sample(states, 50)).all()
    assert len(np.unique(sample(states, 50))) == 50
    assert (sample(states[:7], 50) == states[:7]).all()


def test_ctrl_c_is_heard():
    fitted = linear_fitted(1, 6, 60, discrete=False)
    states = np.tile(random_states(fitted, 1000, 2), (2000, 1))

    # A timer signal whose handler does what Ctrl-C does: a shell starts what runs in its background with that ignored.
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            asked(fitted, states, "derivative")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
