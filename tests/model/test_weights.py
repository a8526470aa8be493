"""Weights of steps: what they must mean, whatever the log. A weight is a number of copies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripletree import Log, LogError, ParameterError, TripleTree, TripleTreeWarning, load
from tripletree.model.evaluate import transitions_on
from tripletree.tree.grow import encode
from tripletree.tree.plain import grow_marked
from tripletree.tree.weights import weigh

pytestmark = pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")


def wander(seed: int, episodes: int = 12, longest: int = 25, discrete: bool = True, whole: bool = False) -> Log:
    """Random walks of an agent that looks at where it is; some episodes are cut off, some end."""
    rng = np.random.default_rng(seed)
    states, ids, ends = [], [], []
    for episode in range(episodes):
        length = int(rng.integers(2, longest))
        walk = np.cumsum(rng.normal(size=(length, 3)), axis=0)
        states.append(np.round(walk) if whole else walk)
        ids += [episode] * length
        ends += [*[False] * (length - 1), bool(rng.random() < 0.7)]
    x = np.concatenate(states)
    noise = rng.normal(size=len(x))
    actions = (x[:, 0] + 0.3 * noise > 0).astype(int) + (x[:, 2] > 1) if discrete else x[:, :2] * 0.3 + noise[:, None]
    return Log.from_arrays(
        x, actions, -np.abs(x[:, 0]), episodes=ids, terminated=ends, truncated=_last(ids) & ~np.array(ends)
    )


def _last(ids: list[int]) -> np.ndarray:
    return np.append(np.diff(ids) != 0, True)


def per_step(log: Log, per_episode: np.ndarray) -> np.ndarray:
    return np.repeat(per_episode, np.diff(log.starts)).astype(float)


def same_tree(one: TripleTree, other: TripleTree) -> None:
    assert one.tree_.feature.tolist() == other.tree_.feature.tolist()
    assert one.tree_.threshold.tolist() == other.tree_.threshold.tolist()
    np.testing.assert_allclose(one.tree_.quality, other.tree_.quality, rtol=1e-4, atol=1e-9)


def close(one, other) -> None:
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


SETTINGS = settings(max_examples=15, deadline=None)


@pytest.mark.parametrize("discrete", [True, False])
@SETTINGS
@given(seed=st.integers(0, 10**6), most=st.integers(1, 5), mode=st.sampled_from(["exact", "histogram"]))
def test_a_weight_is_a_number_of_copies_of_an_episode(discrete, seed, most, mode):
    log = wander(seed, discrete=discrete)
    copies = np.random.default_rng(seed).integers(0, most, log.n_episodes, endpoint=True)
    copies[0] = 1
    repeated = log.select(np.repeat(np.arange(log.n_episodes), copies))
    parameters = {"max_leaves": 12, "leaf_model": "mean", "threads": 1, "mode": mode}
    if mode == "histogram":
        # Bins hold equally many rows each; with as many bins as rows they are the same for copies.
        parameters["bins"] = 1024
    weighted = TripleTree(**parameters).fit(log, weights=per_step(log, copies))
    plain = TripleTree(**parameters).fit(repeated)
    same_tree(weighted, plain)
    one, other = weighted.fitted_.attributes, plain.fitted_.attributes
    assert (one.count <= other.count).all()
    close(one.mass / one.mass[0], other.count / other.count[0])
    close(one.mass_derivative / one.mass[0], other.count_derivative / other.count[0])
    for name in ("action_mean", "action_std", "value_mean", "value_std", "derivative_mean", "derivative_std"):
        if getattr(other, name) is not None:
            close(getattr(one, name), getattr(other, name))
    close(one.impurity, other.impurity)
    close(one.state_mean, other.state_mean)
    if discrete:
        close(one.shares, other.shares)
        assert one.mode.tolist() == other.mode.tolist()
    close(weighted.fitted_.curve_training, plain.fitted_.curve_training)
    assert weighted.fitted_.provenance["medians"] == plain.fitted_.provenance["medians"]
    # Losses and scores on a log with weights, and margins, follow the copies too.
    close(weighted.losses(log.weighted(per_step(log, copies))), plain.losses(repeated))
    moves, counted = (transitions_on(tree.fitted_, None, 1) for tree in (weighted, plain))
    assert (moves.source.tolist(), moves.target.tolist()) == (counted.source.tolist(), counted.target.tolist())
    close(moves.probability, counted.probability)
    close(moves.duration, counted.duration)
    close(moves.leave, counted.leave)
    close(moves.beginnings / moves.beginnings.sum(), counted.starts / counted.starts.sum())
    if moves.markov.horizon == counted.markov.horizon:  # by chance, more episodes differ less from the chain
        close(moves.markov.distance, counted.markov.distance)


@SETTINGS
@given(seed=st.integers(0, 10**6))
def test_single_rows_repeated(seed):
    # Every step an episode by itself: then rows can be repeated.
    rng = np.random.default_rng(seed)
    n = 60
    states, actions, rewards = rng.normal(size=(n, 2)), rng.integers(0, 3, n), rng.normal(size=n)
    copies = rng.integers(1, 5, n)
    log = Log.from_arrays(states, actions, rewards, starts=range(n), ending="terminated", final_states=states + 1.0)
    parameters = {"max_leaves": 20, "leaf_model": "mean"}
    weighted = TripleTree(**parameters).fit(log, weights=copies)
    plain = TripleTree(**parameters).fit(log.select(np.repeat(np.arange(n), copies)))
    same_tree(weighted, plain)
    close(weighted.predict(states).value, plain.predict(states).value)


@SETTINGS
@given(seed=st.integers(0, 10**6), factor=st.sampled_from([0.1, 1 / 3, 7.0, 1e-200, 1e90]))
def test_a_common_factor_changes_nothing(seed, factor):
    log = wander(seed)
    weights = np.random.default_rng(seed).integers(1, 50, log.n_samples).astype(float)
    one, other = (TripleTree(12, threads=1).fit(log, weights=scaled) for scaled in (weights, weights * factor))
    assert one.tree_.threshold.tolist() == other.tree_.threshold.tolist()
    assert one.tree_.quality.tolist() == other.tree_.quality.tolist()
    assert np.array_equal(one.fitted_.linear.slope, other.fitted_.linear.slope)
    close(one.losses(log.weighted(weights)), one.losses(log.weighted(weights * factor)))


@pytest.mark.parametrize("weights", [1.0, 0.37])
def test_equal_weights_are_none_bit_for_bit(weights):
    log, other = wander(3), wander(4)
    plain = TripleTree(20).fit(log, other)
    weighted = TripleTree(20).fit(log, other, weights=np.full(log.n_samples, weights))
    for name in ("threshold", "quality"):
        assert getattr(plain.tree_, name).tolist() == getattr(weighted.tree_, name).tolist()
    for name, part in vars(plain.fitted_.attributes).items():
        assert np.array_equal(part, getattr(weighted.fitted_.attributes, name)), name
    assert np.array_equal(plain.fitted_.linear.slope, weighted.fitted_.linear.slope)
    assert np.array_equal(plain.fitted_.curve_training, weighted.fitted_.curve_training)
    assert np.array_equal(plain.fitted_.curve_validation, weighted.fitted_.curve_validation)


def test_steps_of_weight_0_do_not_matter():
    log = wander(5, episodes=20)
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, log.n_samples).astype(float)
    ignored = rng.random(log.n_episodes) < 0.4
    weights[np.repeat(ignored, np.diff(log.starts))] = 0.0
    one = TripleTree(15, threads=2).fit(log, weights=weights)
    other = TripleTree(15, threads=1).fit(log.select(~ignored), weights=weights[weights > 0])
    assert one.tree_.threshold.tolist() == other.tree_.threshold.tolist()
    assert one.fitted_.attributes.count.tolist() == other.fitted_.attributes.count.tolist()
    close(one.fitted_.attributes.value_mean, other.fitted_.attributes.value_mean)
    close(one.losses(log.weighted(weights)), one.losses(log.select(~ignored).weighted(weights[weights > 0])))


def test_threads_do_not_matter():
    log = wander(6, episodes=300, longest=60)
    weights = np.random.default_rng(0).random(log.n_samples)
    for mode in ("exact", "histogram"):
        one, *others = (TripleTree(80, threads=n, mode=mode).fit(log, weights=weights) for n in (1, 2, 5))
        for other in others:
            assert one.tree_.threshold.tolist() == other.tree_.threshold.tolist()
            assert one.tree_.quality.tolist() == other.tree_.quality.tolist()
            assert np.array_equal(one.fitted_.linear.slope, other.fitted_.linear.slope)


def test_the_order_of_episodes_does_not_matter():
    log = wander(7, episodes=40)
    weights = np.random.default_rng(0).random(log.n_episodes)
    order = np.random.default_rng(1).permutation(log.n_episodes)
    one = TripleTree(20).fit(log, weights=per_step(log, weights))
    shuffled = log.weighted(per_step(log, weights)).select(order)
    other = TripleTree(20).fit(shuffled)
    assert one.tree_.threshold.tolist() == other.tree_.threshold.tolist()
    assert one.tree_.quality.tolist() == other.tree_.quality.tolist()


def test_min_samples_leaf_counts_rows():
    log = wander(8)
    weights = np.where(np.arange(log.n_samples) % 7, 1.0, 1e6)
    tree = TripleTree(50, min_samples_leaf=9).fit(log, weights=weights)
    assert tree.fitted_.leaves.count.min() >= 9
    assert tree.n_leaves_ > 3


def test_every_episode_counts_the_same():
    log = wander(9)
    tree = TripleTree(1, leaf_model="mean").fit(log, weights="episode")
    value = tree.fitted_.attributes.value_mean[0]
    plain = TripleTree(1, leaf_model="mean", truncation="paper").fit(log, weights="episode")
    lengths = np.diff(log.starts)
    assert tree.fitted_.attributes.weight is not None
    assert value == pytest.approx(float(tree.predict(log.states[0]).value))
    returns = log.rewards.copy()
    for begin, end in zip(log.starts[:-1], log.starts[1:], strict=True):
        for step in range(end - 2, begin - 1, -1):
            returns[step] += 0.99 * returns[step + 1]
    means = np.add.reduceat(returns, log.starts[:-1]) / lengths
    assert float(plain.fitted_.attributes.value_mean[0]) == pytest.approx(means.mean(), rel=1e-5)


def test_episode_applies_to_the_validation_log():
    log, other = wander(10, episodes=30), wander(11, episodes=30)
    one = TripleTree(20).fit(log, other, weights="episode")
    two = TripleTree(20).fit(log.weighted("episode"), other.weighted("episode"))
    assert np.array_equal(one.fitted_.curve_validation, two.fitted_.curve_validation)
    plain = TripleTree(20).fit(log.weighted("episode"), other)
    assert not np.array_equal(one.fitted_.curve_validation, plain.fitted_.curve_validation)


def test_a_given_weight_replaces_the_logs_own():
    log = wander(12)
    own = log.weighted(np.arange(log.n_samples))
    one, other = TripleTree(9).fit(own, weights="episode"), TripleTree(9).fit(log, weights="episode")
    assert one.tree_.threshold.tolist() == other.tree_.threshold.tolist()


def test_growth_on_marks_with_codes_made_once():
    log = wander(13, episodes=30)
    codes = encode(log, "exact", 1024, 1)
    drawn = np.bincount(np.random.default_rng(0).integers(0, 30, 30), minlength=30)
    marks = -np.abs(log.states[:, 0])
    tree, node = grow_marked(log, codes, marks, per_step(log, drawn), 15, 1)
    # With a discount of 0, the value of a step is its reward.
    repeated = log.select(np.repeat(np.arange(30), drawn))
    plain = TripleTree(15, theta=(0, 1, 0), gamma=0.0, priority="gain", leaf_model="mean").fit(repeated)
    assert tree.threshold.tolist() == plain.tree_.threshold.tolist()
    assert tree.leaf_nodes[tree.apply(log.states)].tolist() == node.tolist()


def test_linear_leaves_of_copies():
    # With as many copies of each episode, and folds that keep copies together, strengths and slopes are the same.
    log = wander(14, episodes=30, discrete=False)
    groups = np.arange(30)
    log = Log.from_arrays(
        log.states,
        log.actions,
        log.rewards,
        episodes=np.repeat(groups, np.diff(log.starts)),
        groups=np.repeat(groups, np.diff(log.starts)),
        ending="terminated",
    )
    copies = np.random.default_rng(0).integers(1, 4, 30)
    repeated = log.select(np.repeat(np.arange(30), copies))
    one = TripleTree(6).fit(log, weights=per_step(log, copies)).fitted_
    other = TripleTree(6).fit(repeated).fitted_
    assert one.linear is not None
    assert other.linear is not None
    np.testing.assert_allclose(one.linear.slope, other.linear.slope, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(one.linear.centre, other.linear.centre, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.linear.spread, other.linear.spread, rtol=1e-5)
    close(one.curve_training, other.curve_training)
    weighted = log.weighted(per_step(log, copies))
    tree = TripleTree(6).fit(weighted)
    close(tree.losses(weighted, n_leaves="all"), tree.losses(repeated, n_leaves="all"))
    # Margins are about groups: the same ones, and each with all its copies.
    ours, theirs = tree.held_out(weighted).judged, tree.held_out(repeated).judged
    assert ours is not None
    assert theirs is not None
    close(ours.losses, theirs.losses)
    close(ours.margin, theirs.margin)


def test_calibration_of_copies():
    log = wander(15, episodes=30)
    copies = np.random.default_rng(0).integers(1, 4, 30)
    tree = TripleTree(10, leaf_model="mean").fit(wander(16, episodes=30))
    one = tree.calibration(log.weighted(per_step(log, copies)), groups=1)
    other = tree.calibration(log.select(np.repeat(np.arange(30), copies)), groups=1)
    close(one.observed, other.observed)
    close(one.predicted, other.predicted)


def test_a_model_with_weights_comes_back(tmp_path):
    log = wander(17)
    for keep in ("track", "leaves", "nothing"):
        tree = TripleTree(9, keep=keep).fit(log, weights=np.random.default_rng(0).random(log.n_samples))
        tree.save(tmp_path / "one.tripletree")
        again = load(tmp_path / "one.tripletree")
        assert again.fitted_.attributes.mass.tolist() == tree.fitted_.attributes.mass.tolist()
        close(again.predict(log.states).value, tree.predict(log.states).value)
        if keep != "nothing":
            one, other = (transitions_on(some.fitted_, None, 1) for some in (tree, again))
            close(one.probability, other.probability)
            close(one.intervals, other.intervals)


def test_wrong_weights():
    log = wander(18)
    n = log.n_samples
    for wrong, said in [
        (np.ones(3), rf"one number for each of the {n} samples; got the shape \(3,\)"),
        (np.zeros(n), "are all 0, so that nothing would count"),
        (np.full(n, np.nan), "finite numbers of at least 0; got nan at step 0"),
        (np.full(n, -1.0), "finite numbers of at least 0; got -1 at step 0"),
        ("pilot", "A column of a file is named when the log is read"),
        (["a"] * n, "must hold numbers"),
    ]:
        with pytest.raises(ParameterError, match=said):
            TripleTree(3).fit(log, weights=wrong)
    nothing = log.weighted(np.append(np.zeros(n - 1), 1.0)).select([0])
    with pytest.raises(LogError, match="All steps of this log have the weight 0"):
        TripleTree(3).fit(nothing)
    with pytest.raises(LogError, match="nothing to judge the tree by"):
        TripleTree(3).fit(log).losses(nothing)


def test_what_rounding_loses_is_said():
    log = wander(19)
    weights = np.ones(log.n_samples)
    weights[0], weights[1] = 1e-9, 0.5
    with pytest.warns(TripleTreeWarning, match="1 step weighs less than a 2,097,152th of the heaviest one"):
        TripleTree(3).fit(log, weights=weights)
    assert weigh(weights).notes
