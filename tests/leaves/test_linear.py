"""Linear leaves against their slow definition, and what must hold for any log; `tests/oracle/test_ridge.py` goes on."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.leaves.ridge import Case, assert_as_defined, case, choices
from tests.leaves.ridge import told as told_by
from tests.leaves.test_attributes import chain
from tests.logs import logs, make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import Log
from tripletree.leaves.linear import FOLDS, PENALTIES, LinearLeaves, folds_of, node_means
from tripletree.leaves.linear_losses import linear_curve, linear_training_curve
from tripletree.log.derive import derivatives, values
from tripletree.log.log import TERMINATED
from tripletree.tree.structure import Tree
from tripletree.tree.targets import make_targets

SINGLE = np.finfo(np.float32)


def same(one: LinearLeaves, other: LinearLeaves) -> bool:
    """Whether models are the same bit for bit."""
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)]
    return all((a is None and b is None) or a.tobytes() == b.tobytes() for a, b in pairs)


def told(made: Case, states: np.ndarray | None = None) -> np.ndarray:
    """What the leaf of each sample says, about its own state or others."""
    return told_by(made.models, made.log.states if states is None else states, made.node, made.state_mean)


# The definition


@given(log=logs(most_steps=25), seed=st.integers(0, 99), most=st.sampled_from([None, None, 1, 2]))
# A node in which an action varies by a millionth of what it does over the log: no feature is worth choosing there.
@example(log=random_log(seed=398, lengths=(1, 11, 2), features=2, dimensions=2, grid=1, finals=False), seed=0, most=1)
@settings(max_examples=50)
def test_models_are_as_defined(log, seed, most):
    assert_as_defined(case(log, seed=seed, steps=4, most=most), most)


@pytest.mark.parametrize("dimensions", [0, 2])
def test_angles_and_times_between_steps(dimensions):
    """Derivatives are what `derivatives` says: the shorter way round, per second."""
    log = random_log(5, lengths=(30, 1, 20, 25, 1, 30), features=3, dimensions=dimensions)
    first, angle, last = log.schema.features
    schema = replace(log.schema, features=(first, replace(angle, unit="rad", kind="angle"), last), per_second=True)
    dt, wider = np.random.default_rng(0).uniform(0.1, 2, log.n_samples), np.array([1.0, 3.0, 1.0])
    log = replace(log, states=log.states * wider, final_states=log.final_states * wider, dt=dt, schema=schema)
    made = case(log, steps=4)
    change = derivatives(log, 0, log.n_samples)
    straight = np.diff(log.states, axis=0) / dt[:-1, None]
    assert not np.allclose(change[:29, 1], straight[:29, 1])  # or this would say nothing about angles
    np.testing.assert_array_equal(made.targets[:, made.plain :], change)
    assert_as_defined(made)


def test_where_all_models_tell_the_same_the_mean_does():
    """With two rows in a node, each is told by the other alone, whatever the strength."""
    log = random_log(0, lengths=(1,) * 60, features=4, dimensions=3)
    thirds = folds_of(log)
    tree, _ = chain(log, np.random.default_rng(0), 1)
    for other in np.flatnonzero(thirds != thirds[0]):
        node = np.full(60, 2, np.int32)
        node[[0, other]] = 1
        assert not case(log, (tree, node)).models.slope[1].any()


def test_a_line_is_found():
    """Below 0 the action is 2 x + 1, above it is 5 - x: two leaves tell it exactly, where means would not."""
    x = np.random.default_rng(0).uniform(-1, 1, (300, 1))
    actions = np.where(x < 0, 2 * x + 1, 5 - x)
    log = make_log(x, actions, np.zeros(300), np.arange(0, 301, 30))
    linear, mean = (quietly_fitted(log, max_leaves=2, leaf_model=name) for name in ("linear", "mean"))
    assert linear.predict([-0.5]).action[0] == pytest.approx(0, abs=0.01)
    assert linear.predict([0.8]).action[0] == pytest.approx(4.2, abs=0.01)
    assert linear.losses(log)[0] < 0.01 * mean.losses(log)[0]
    # The weakest ridge takes a thousandth off.
    slope = linear.fitted_.linear.slope[linear.tree_.leaf_nodes, 0, 0]
    assert slope.tolist() == pytest.approx([2 / 1.001, -1 / 1.001], rel=1e-5)


def test_the_root_has_no_slopes_and_is_the_yardstick():
    made = case(random_log(3, features=3, dimensions=2))
    assert not made.models.slope[0].any()
    assert made.models.centre[0].tolist() == node_means(made.attributes)[0].tolist()
    known = ~np.isnan(made.targets)
    np.testing.assert_allclose(made.models.spread[0], np.nanstd(made.targets, axis=0), rtol=1e-6)
    np.testing.assert_allclose(made.squares[0], known.sum(axis=0), rtol=1e-9)
    assert made.models.slope[1:].any()


@given(log=logs(most_steps=20), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_predictions_stay_within_the_range_of_the_node(log, seed):
    made = case(log, seed=seed, steps=4)
    rng = np.random.default_rng(seed)
    far = log.states + rng.normal(size=log.states.shape) * rng.choice([1, 1e3, 1e9])
    said = told(made, far)
    for leaf in np.unique(made.node):
        here = made.node == leaf
        for target in range(made.targets.shape[1]):
            seen = made.targets[here, target]
            seen = seen[~np.isnan(seen)]
            if not len(seen):
                continue
            # In single precision, and never rounded inwards.
            low, high = made.models.low[leaf, target], made.models.high[leaf, target]
            assert low <= seen.min() < np.nextafter(low, SINGLE.max) or low == seen.min()
            assert high >= seen.max() > np.nextafter(high, SINGLE.min) or high == seen.max()
            assert low <= said[here, target].min()
            assert said[here, target].max() <= high


def test_held_within_range_beyond_the_log():
    x = np.linspace(0, 1, 200)[:, None]
    log = make_log(x, x, x[:, 0], np.arange(0, 201, 10))
    tree = quietly_fitted(log, max_leaves=2, gamma=0.0)
    low, middle, high = tree.predict([[-50.0], [0.25], [50.0]]).value
    assert (low, high) == (0.0, 1.0)
    assert middle == pytest.approx(0.25, abs=1e-3)


# Folds


def test_folds_are_of_whole_episodes():
    log = random_log(1, lengths=(5, 1, 9, 30, 2, 2, 7, 11))
    fold = folds_of(log)
    assert fold.dtype == np.uint8
    assert set(fold.tolist()) == set(range(FOLDS))
    for begin, end in zip(log.starts[:-1], log.starts[1:], strict=True):
        assert len(set(fold[begin:end].tolist())) == 1
    each = np.bincount(fold[log.starts[:-1]])
    assert each.max() - each.min() <= 1
    assert fold.tolist() == folds_of(log).tolist()


def test_groups_of_episodes_stay_together():
    log = random_log(1, lengths=(6,) * 12)
    pilots = np.array(list("abcabcabcdde"))
    fold = folds_of(replace(log, groups=pilots))[log.starts[:-1]]
    assert set(fold.tolist()) == set(range(FOLDS))
    for pilot in "abcde":
        assert len(set(fold[pilots == pilot].tolist())) == 1
    # Two pilots are fewer than folds, and so they are parted.
    fold = folds_of(replace(log, groups=np.arange(12) % 2))
    assert fold.tolist() == (np.arange(72) * FOLDS // 72).tolist()


@pytest.mark.parametrize("lengths", [(10,), (7, 4), (1,), (1, 1)])
def test_with_fewer_episodes_than_folds_stretches_take_their_place(lengths):
    fold = folds_of(random_log(1, lengths=lengths))
    assert (np.diff(fold.astype(int)) >= 0).all()
    sizes = np.bincount(fold, minlength=FOLDS)
    assert sizes.max() - sizes.min() <= 1


# Where a model cannot be had


def test_constant_features_have_no_slope():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(200, 3))
    states[:, 1] = 7.5
    states[states[:, 0] < 0, 2] = -1e6  # constant in one part only
    log = make_log(states, states[:, :1], rng.normal(size=200), np.arange(0, 201, 20))
    made = case(log, (Tree(*stump(0.0)), np.where(states[:, 0] < 0, 1, 2)))
    assert not made.models.slope[:, :, 1].any()
    assert not made.models.slope[1, :, 2].any()
    assert made.models.slope[2, :, 2].any()
    assert made.models.slope[1:, 0, 0].tolist() == pytest.approx([1, 1], rel=2e-3)
    assert_as_defined(made)


def stump(threshold: float) -> tuple[np.ndarray, ...]:
    left = np.array([1, -1, -1], np.int32)
    return np.array([0, -1, -1], np.int32), np.array([threshold, 0.0, 0.0]), left, np.zeros(3)


def test_a_leaf_may_have_fewer_samples_than_features():
    rng = np.random.default_rng(1)
    states = rng.normal(size=(60, 12))
    states[:4, 0] -= 100
    # Its four samples are in four episodes, so that some folds have one of them.
    order = np.concatenate([np.insert(np.arange(4 + k * 14, 18 + k * 14), 0, k) for k in range(4)])
    log = make_log(states[order], states[order, 1:3], states[order, 3], np.arange(0, 61, 15))
    node = np.where(log.states[:, 0] < -50, 1, 2)
    assert (node == 1).sum() == 4
    made = case(log, (Tree(*stump(-50.0)), node))
    assert_as_defined(made)
    assert np.isfinite(made.models.slope).all()
    one = case(log, (Tree(*stump(-50.0)), np.where(np.arange(60) == 0, 1, 2)))
    assert not one.models.slope[1].any()
    assert one.models.spread[1].tolist() == [0.0] * one.targets.shape[1]


def test_a_leaf_that_one_fold_alone_has_seen_has_its_mean():
    log = random_log(2, lengths=(40,) * 6, dimensions=1)
    fold = folds_of(log)
    made = case(log, (Tree(*stump(0.0)), np.where(fold == 1, 1, 2)))
    assert not made.models.slope[1].any()
    assert made.models.slope[2].any()
    mine = made.targets[fold == 1]
    np.testing.assert_allclose(made.models.centre[1], np.nanmean(mine, axis=0), rtol=1e-9)
    np.testing.assert_allclose(made.models.spread[1], np.nanstd(mine, axis=0), rtol=1e-6)


def test_missing_derivatives_are_left_out_of_derivatives_and_only_there():
    log = random_log(5, lengths=(4,) * 40, features=3, dimensions=1, finals=False)
    tree, node = chain(log, np.random.default_rng(1), 4)
    made = case(log, (tree, node))
    missing = np.isnan(made.targets)
    assert missing[:, 2:].all(axis=1).sum() == 40
    assert not missing[:, :2].any()
    assert_as_defined(made)
    # The same log with final states: nothing changes but the derivatives.
    final = log.states[log.starts[1:] - 1] + np.random.default_rng(2).normal(size=(40, 3))
    whole = case(replace(log, final_states=final), (tree, node))
    for name in ("centre", "slope", "low", "high", "spread"):
        a, b = getattr(made.models, name), getattr(whole.models, name)
        np.testing.assert_allclose(a[:, :2], b[:, :2], rtol=1e-5, atol=1e-9)
        assert not np.allclose(a[:, 2:], b[:, 2:], rtol=1e-5) or not a[:, 2:].any()
    # Without a single derivative there are no such targets.
    alone = case(make_log(log.states, log.actions, log.rewards, np.arange(161)), (tree, node))
    assert alone.attributes.derivative_mean is None
    assert alone.models.slope.shape[1] == 2


@pytest.mark.parametrize("seed", range(5))
def test_a_feature_that_varies_only_where_no_derivative_is_known(seed):
    """Its spread over the other samples is nothing but rounding, and no slope can come from it."""
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(90, 3))
    states[:, 0] = 0.1 * (np.arange(90) % 9 == 8)  # 0.1 at the last step of each episode, which has no final state
    log = make_log(states, rng.normal(size=(90, 1)), rng.normal(size=90), np.arange(0, 91, 9))
    made = case(log, (Tree(*stump(0.0)), np.where(states[:, 1] < 0, 1, 2)))
    assert not made.models.slope[:, 2:, 0].any()
    assert made.models.slope[1:, 2:].any()


# Few features


@pytest.mark.parametrize("dimensions", [0, 2])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_model_uses_more_features_than_it_may(dimensions, most):
    log = random_log(7, lengths=(40,) * 6, features=5, dimensions=dimensions)
    made = case(log, most=most)
    used = made.models.slope != 0
    assert used.sum(axis=2).max() == most
    if not dimensions:
        # Labels share their features, but for those that do not vary in a node.
        labels = used[:, :3]
        assert ((labels == labels.any(axis=1, keepdims=True)).all(axis=2) | ~labels.any(axis=2)).all()
    whole = case(log)
    assert whole.models.full is None
    assert made.models.full is not None
    np.testing.assert_array_equal(made.models.full, whole.models.spread)


def test_as_many_features_as_there_are_is_all_of_them():
    log = random_log(7, lengths=(40,) * 6, features=3, dimensions=1)
    for most in (3, 4, 100):
        assert same(case(log, most=most).models, case(log).models)


def test_the_features_that_tell_most_are_chosen():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(600, 6))
    actions = states @ np.array([[0, 3, 0, 1, 0, 0.3], [0, 0, -1, 0, 0, 0]]).T
    log = make_log(states, actions + 0.01 * rng.normal(size=(600, 2)), rng.normal(size=600), np.arange(0, 601, 30))
    node = np.where(states[:, 0] < 0, 1, 2)
    for most, expected in ((1, {1}), (2, {1, 3}), (3, {1, 3, 5})):
        made = case(log, (Tree(*stump(0.0)), node), most=most)
        for leaf in (1, 2):
            assert set(np.flatnonzero(made.models.slope[leaf, 0])) == expected
            assert 2 in np.flatnonzero(made.models.slope[leaf, 1])


# What must not matter


@given(
    log=logs(most_steps=20),
    seed=st.integers(0, 99),
    feature=st.tuples(st.sampled_from([1e-6, 0.3048, 3600.0, 1e7]), st.floats(-50, 50)),
    action=st.tuples(st.sampled_from([1e-4, 2.0, 1e5]), st.floats(-50, 50)),
    worth=st.tuples(st.sampled_from([1e-3, 57.3, 1e6]), st.floats(-50, 50)),
)
@settings(max_examples=40)
def test_units_do_not_matter(log, seed, feature, action, worth):
    tree, node = chain(log, np.random.default_rng(seed), 4)
    one = case(log, (tree, node))
    discrete = log.schema.action.kind == "discrete"
    moved = replace(
        log,
        states=(log.states + feature[1]) * feature[0],
        final_states=(log.final_states + feature[1]) * feature[0],
        actions=log.actions if discrete else (log.actions + action[1]) * action[0],
    )
    other = case(moved, (tree, node), (one.value + worth[1]) * worth[0])
    width = len(log.schema.action.labels) or log.actions.shape[1]
    parts = [(1.0, 0.0) if discrete else action] * width + [worth]
    parts += [(feature[0], 0.0)] * (one.targets.shape[1] - len(parts))
    unit, shift = np.array(parts).T
    sigma = np.nanstd(one.targets, axis=0)
    apart = np.abs(told(other) / unit - shift - told(one))
    # Ranges have single precision: far from 0, they are wider by as much.
    allowed = 1e-5 * sigma + 2e-7 * (np.abs(shift) + np.nanmax(np.abs(one.targets), axis=0))
    # A tie between two strengths may be decided by rounding; then both are right.
    tied = [
        [len(choices(one, leaf, target)) > 1 for target in range(one.targets.shape[1])] for leaf in range(tree.n_nodes)
    ]
    assert (apart <= allowed)[~np.array(tied)[node]].all()


@pytest.mark.parametrize(("dimensions", "most"), [(0, None), (2, None), (2, 1)])
def test_any_number_of_threads_gives_the_same_bits(dimensions, most):
    log = random_log(4, lengths=(400,) * 20, features=4, dimensions=dimensions)
    tree, node = chain(log, np.random.default_rng(0), 60)
    one, *others = (case(log, (tree, node), threads=threads, most=most) for threads in (1, 2, 3, 8))
    for other in others:
        assert same(one.models, other.models)
        assert one.squares.tobytes() == other.squares.tobytes()


@given(seed=st.integers(0, 999), dimensions=st.sampled_from([0, 1]))
@settings(max_examples=30)
def test_the_order_of_features_does_not_matter(seed, dimensions):
    log = random_log(seed, lengths=(15, 20, 12, 18), features=4, dimensions=dimensions)
    tree, node = chain(log, np.random.default_rng(seed), 3)
    order = np.random.default_rng(seed).permutation(4)
    turned = replace(
        log,
        states=np.ascontiguousarray(log.states[:, order]),
        final_states=np.ascontiguousarray(log.final_states[:, order]),
    )
    one, other = case(log, (tree, node)), case(turned, (tree, node))
    columns = np.r_[: one.plain, one.plain + order]
    sigma = np.nanstd(one.targets, axis=0)[columns]
    assert (np.abs(told(other) - told(one)[:, columns]) <= 1e-5 * sigma).all()
    reach = sigma[:, None] / log.states.std(axis=0)[order]
    assert (np.abs(other.models.slope - one.models.slope[:, columns][:, :, order]) <= 1e-4 * reach).all()


# Seeds without a tie between two strengths, which rounding would decide.
@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_episodes_matters_for_the_folds_alone(seed):
    """Samples may come in any order as long as each keeps its fold."""
    log = random_log(seed, lengths=(30, 30, 30), dimensions=1)
    tree, node = chain(log, np.random.default_rng(seed), 3)
    fold = folds_of(log)[::30]
    order = np.roll(np.arange(3), 1)
    rows = np.concatenate([np.arange(30 * e, 30 * e + 30) for e in order])
    turned = log.select(order)
    one, other = case(log, (tree, node)), case(turned, (tree, node[rows]))
    assert sorted(fold.tolist()) == [0, 1, 2]
    sigma = np.nanstd(one.targets, axis=0)
    assert (np.abs(told(other) - told(one)[rows]) <= 1e-5 * sigma).all()


# Labels


@given(seed=st.integers(0, 999), labels=st.integers(1, 4))
@settings(max_examples=40)
def test_scores_of_labels(seed, labels):
    log = random_log(seed, lengths=(15, 20, 12, 18), labels=labels)
    tree = quietly_fitted(log, max_leaves=6)
    linear, node = tree.fitted_.linear, tree.tree_.leaf_nodes[tree.apply(log.states)]
    # Before they are held within range, scores sum to 1, in every state.
    np.testing.assert_allclose(linear.centre[:, :labels].sum(axis=1), 1, atol=1e-9)
    size = np.abs(linear.slope[:, :labels]).sum(axis=1)
    assert (np.abs(linear.slope[:, :labels].sum(axis=1)) <= 1e-6 * size).all()
    scores = told_by(linear, log.states, node, tree.fitted_.attributes.state_mean)[:, :labels]
    assert ((scores >= 0) & (scores <= 1)).all()
    answer = tree.predict(log.states)
    assert answer.action.tolist() == [log.schema.action.labels[k] for k in scores.argmax(axis=1)]
    # All of a leaf's labels have slopes, or none of those that vary has; then the most frequent one is told.
    count = tree.fitted_.attributes.action_count
    plain = ~linear.slope[node, :labels].any(axis=(1, 2))
    assert (scores[plain].argmax(axis=1) == count[node[plain]].argmax(axis=1)).all()
    np.testing.assert_allclose(scores[plain], (count / count.sum(axis=1, keepdims=True))[node[plain]], atol=1e-12)


def test_a_tie_of_labels_goes_to_the_first():
    log = make_log(np.zeros((6, 1)), [1, 0, 2, 2, 1, 0], np.zeros(6), np.arange(7), labels=("a", "b", "c"))
    tree = quietly_fitted(log)
    assert tree.predict([0.0]).action == "a"
    assert tree.fitted_.second.best(np.array([0.0])) == 0


# Smaller trees


@pytest.mark.parametrize("dimensions", [0, 2])
def test_a_smaller_tree_has_the_models_of_a_fit_on_its_nodes(dimensions):
    log = random_log(11, lengths=(40,) * 6, features=3, dimensions=dimensions)
    tree, node = chain(log, np.random.default_rng(3), 9)
    whole = case(log, (tree, node))
    for size in range(1, tree.n_leaves + 1):
        small = tree.truncate(size)
        alone = case(log, (small, small.leaf_nodes[small.apply(log.states)]))
        cut = whole.models.truncate(size)
        assert cut.slope.shape == (2 * size - 1, *whole.models.slope.shape[1:])
        for name in ("low", "high"):
            np.testing.assert_array_equal(getattr(cut, name), getattr(alone.models, name))
        for name in ("centre", "spread"):
            np.testing.assert_allclose(getattr(cut, name), getattr(alone.models, name), rtol=1e-5, atol=1e-7)
        reach = np.nanstd(whole.targets, axis=0)[:, None] / log.states.std(axis=0)
        assert (np.abs(cut.slope - alone.models.slope) <= 1e-5 * reach).all()
    assert_as_defined(whole)


def test_truncating_and_picking_models():
    made = case(random_log(3, dimensions=1), most=1)
    some = made.models.at([4, 2])
    assert some.centre.tolist() == made.models.centre[[4, 2]].tolist()
    assert some.full.tolist() == made.models.full[[4, 2]].tolist()
    assert same(made.models.truncate(made.tree.n_leaves), made.models)


# Losses


def scale_of(log: Log, value: np.ndarray):
    scales = make_targets(log, value, (1, 1, 1), "sigma").scales
    return scales.action.std if log.schema.action.kind == "continuous" else None, scales.derivative.std


def brute_force(made: Case, log: Log, size: int, clamped: bool = True) -> list[float]:
    """Truncate, predict every sample, and follow the definitions of the losses."""
    small, models = made.tree.truncate(size), made.models.truncate(size)
    node = small.leaf_nodes[small.apply(log.states)]
    if not clamped:
        models = replace(models, low=np.full_like(models.low, -np.inf), high=np.full_like(models.high, np.inf))
    said = told_by(models, log.states, node, made.state_mean)
    width = made.plain - 1
    action_scale, derivative_scale = scale_of(made.log, made.value)

    def scaled(error, sigma):
        rmse = np.sqrt((error**2).mean(axis=0))
        return sum(r / s for r, s in zip(rmse, sigma, strict=True) if s > 0)

    if action_scale is None:
        action = float((said[:, :width].argmax(axis=1) != log.actions).mean())
    else:
        action = scaled(log.actions - said[:, :width], action_scale)
    value = np.sqrt(((values(log, 0.9) - said[:, width]) ** 2).mean())
    change = derivatives(log)
    known = ~np.isnan(change[:, 0])
    derivative = 0.0
    if known.any() and made.attributes.derivative_mean is not None:
        derivative = scaled((change - said[:, width + 1 :])[known], derivative_scale)
    return [action, value, derivative]


@given(
    seeds=st.tuples(st.integers(0, 99), st.integers(0, 99)),
    dimensions=st.sampled_from([0, 2]),
    finals=st.booleans(),
)
@settings(max_examples=30)
def test_losses_at_every_size_equal_brute_force(seeds, dimensions, finals):
    log = random_log(seeds[0], lengths=(20, 15, 18, 9), dimensions=dimensions, finals=finals)
    made = case(log, seed=seeds[1], steps=6)
    scales = scale_of(log, made.value)
    for other in (log, random_log(seeds[1] + 1000, lengths=(1, 9, 25), dimensions=dimensions)):
        codes = None if dimensions else other.actions
        curve = linear_curve(made.tree, made.attributes, made.models, *scales, other, values(other, 0.9), codes, 1)
        for size in range(1, made.tree.n_leaves + 1):
            assert curve[size - 1].tolist() == pytest.approx(brute_force(made, other, size), rel=1e-9, abs=1e-12)

    training = linear_training_curve(made.tree, made.attributes, made.models, made.squares, log, 1)
    for size in range(1, made.tree.n_leaves + 1):
        exact, before = brute_force(made, log, size), brute_force(made, log, size, clamped=False)
        if not dimensions:
            before[0] = exact[0]  # labels are counted after they are held within range
        assert training[size - 1].tolist() == pytest.approx(before, rel=1e-5, abs=1e-6 * before[1])
        assert (np.array(exact) <= training[size - 1] * (1 + 1e-6) + 1e-9).all()


def test_an_unknown_label_is_always_wrong():
    log = random_log(1, labels=2)
    made = case(log)
    codes = np.full(log.n_samples, -1, np.int32)
    curve = linear_curve(made.tree, made.attributes, made.models, None, np.ones(2), log, made.value, codes, 1)
    assert curve[:, 0].tolist() == [1.0] * made.tree.n_leaves


def test_losses_do_not_depend_on_threads():
    log = random_log(4, lengths=(400,) * 20, features=4, dimensions=1)
    made = case(log, steps=30)
    scales = scale_of(log, made.value)
    one, two = (
        linear_curve(made.tree, made.attributes, made.models, *scales, log, made.value, None, threads)
        for threads in (1, 2)
    )
    assert one.tobytes() == two.tobytes()


# Numbers of any size


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
@pytest.mark.parametrize("state", [5e-324, 1e-310, 1e-300, 1.0, 1e30, 1e100])
@pytest.mark.parametrize("target", [5e-324, 1e-310, 1e-60, 1.0, 1e38, 1e100])
@pytest.mark.parametrize("leaf_features", [None, 1])
def test_numbers_of_any_size_give_finite_models(state, target, leaf_features):
    rng = np.random.default_rng(0)
    x = np.clip(np.round(rng.normal(size=(120, 3)) * 3), -9, 9) / 9
    if state < 1e-290:
        x = np.round(x * 9)
    y = np.round((x[:, :1] + 0.3 * rng.normal(size=(120, 1))) * 3) / 9 if target > 1e-290 else np.round(x[:, :1] * 9)
    starts = np.arange(0, 121, 20)
    log = make_log(x * state, y * target, y[:, 0] * target, starts, endings=[TERMINATED] * 6)
    linear, mean = (
        quietly_fitted(log, max_leaves=6, gamma=0.5, leaf_model=name, leaf_features=leaf_features)
        for name in ("linear", "mean")
    )
    models = linear.fitted_.linear
    for part in (models.centre, models.slope, models.spread):
        assert np.isfinite(part).all()
    assert (models.low <= models.high).all()
    answer = linear.predict(log.states)
    low, high = values(log, 0.5).min(), values(log, 0.5).max()
    assert ((answer.value >= low - 1e-6 * (high - low)) & (answer.value <= high + 1e-6 * (high - low))).all() or (
        target < 1e-37  # where the range itself is smaller than single precision
    )
    curves = [tree.losses(log, "all") for tree in (linear, mean)]
    assert np.isfinite(curves[0]).all()
    # Models are at least as good as means on their own samples.
    assert (curves[0] <= curves[1] * (1 + 1e-5) + 1e-300).all()


def test_where_slopes_do_not_fit_single_precision_the_mean_stands():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 1))
    log = make_log(x * 1e-30, x * 1e30, x[:, 0], np.arange(0, 201, 20))
    made = case(log, (Tree(*stump(0.0)), np.where(x[:, 0] < 0, 1, 2)))
    assert not made.models.slope[:, 0].any()
    np.testing.assert_allclose(made.models.centre[:, 0], made.attributes.action_mean[:, 0], rtol=1e-12)
    assert made.models.slope[1:, 1].all()


# The compiled form


@given(log=logs(most_steps=12), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_the_compiled_form_says_the_same(log, seed):
    made = case(log, seed=seed, steps=4)
    policy = made.models.asked(made.tree, made.state_mean)
    rng = np.random.default_rng(seed)
    states = log.states + rng.normal(size=log.states.shape) * rng.choice([0, 1, 100])
    node = made.tree.leaf_nodes[made.tree.apply(states)]
    expected = told_by(made.models, states, node, made.state_mean)
    for threads in (1, 2):
        np.testing.assert_array_equal(policy.many(states, node.astype(np.int32), threads), expected)
    scores = made.models.asked(made.tree, made.state_mean, slice(0, max(made.joint, 1)))
    for state, one in zip(states, expected, strict=True):
        assert policy.one(state).tolist() == one.tolist()
        assert scores.one(state).tolist() == one[: max(made.joint, 1)].tolist()
        if made.joint:
            assert scores.best(state) == one[: made.joint].argmax()
        single = state.astype(np.float32)
        assert policy.one(single).tolist() == policy.one(single.astype(np.float64)).tolist()
    # At every node, inner ones included.
    everywhere = rng.integers(0, made.tree.n_nodes, len(states))
    said = told_by(made.models, states, everywhere, made.state_mean)
    np.testing.assert_array_equal(policy.many(states, everywhere.astype(np.int32), 1), said)


@pytest.mark.parametrize(
    ("rows", "dimensions", "weighted"), [(1, 2, False), (5, 1, True), (900, 2, False), (900, 0, True)]
)
def test_errors_at_every_node_add_up_row_by_row(rows, dimensions, weighted):
    """In parts of the log and in its order, whichever rows are worked on side by side."""
    made = case(random_log(rows, lengths=(rows, 60), dimensions=dimensions, features=3), steps=8)
    tree, scores, rng = made.tree, made.joint, np.random.default_rng(rows)
    states, targets = made.log.states[:rows], np.ascontiguousarray(made.targets[:rows])
    targets[rng.random(rows) < 0.1, made.plain :] = np.nan
    per_unit = rng.uniform(0, 2, targets.shape[1])
    weights = rng.uniform(0, 3, rows) if weighted else np.empty(0)
    policy = made.models.asked(tree, made.state_mean)
    squares, wrong = np.zeros((16, tree.n_nodes, targets.shape[1])), np.zeros((16, tree.n_nodes))
    node = tree.leaf_nodes[tree.apply(states)]
    ways = [[int(end)] for end in node]
    for way in ways:
        while way[0] > 0:
            way.insert(0, int(tree.parent[way[0]]))
    for part in range(16):
        for row in range(part * rows // 16, (part + 1) * rows // 16):
            one = weights[row] if weighted else 1.0
            for at in ways[row]:
                said = policy.many(states[row : row + 1], np.array([at], np.int32), 1)[0]
                off = (targets[row] - said) * per_unit
                squares[part, at, scores:] += np.nan_to_num(one * (off * off))[scores:]
                wrong[part, at] += one * (scores > 0 and targets[row, said[:scores].argmax()] == 0)
    for threads in (1, 2):
        found = policy.errors(states, targets, per_unit, weights, scores, threads)
        expected = [sum(parts[1:], parts[0]) for parts in (squares, wrong)]
        assert [part.tobytes() for part in found] == [part.tobytes() for part in expected]


def test_some_targets_alone():
    made = case(random_log(3, dimensions=2))
    some = slice(1, 3)
    alone = made.models.asked(made.tree, made.state_mean, some).many(made.log.states, made.node.astype(np.int32), 1)
    assert alone.tobytes() == np.ascontiguousarray(told(made)[:, some]).tobytes()


def test_of_equals_the_plainest_comes_first():
    assert sorted(PENALTIES, reverse=True) == list(PENALTIES)
    assert min(PENALTIES) > 0
