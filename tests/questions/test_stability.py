"""Worlds with known truth: what is steady is called so, what is not, is not, and bands hold what fresh logs say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.stability import AT, grown, record, tried

from tests.logs import make_log
from tests.test_api import quietly_fitted
from tripletree import ParameterError
from tripletree.model.fit import fit
from tripletree.questions.regrown import LEAST_PAIRS, WIDER, band, halves_of, regrown

RNG = np.random.default_rng(0)
STEP = record("a sharp step", 40, RNG)
SLOPE = record("a slope", 40, RNG)
NOISE = record("noise", 40, RNG)
MODEL = grown(STEP)


def labelled(episodes=30, steps=40, seed=0, blur=0.0):
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(episodes * steps, 2))
    right = states[:, 0] + blur * rng.normal(size=len(states)) > 0.3
    return make_log(states, right, states[:, 1], np.arange(0, len(states) + 1, steps), labels=("left", "right"))


def test_weights_count_in_every_half():
    log = labelled(episodes=12)
    weights = np.random.default_rng(0).integers(0, 4, log.n_samples).astype(float)
    weights[:80] = 0  # two episodes that do not count
    weighted = log.weighted(weights)
    tree = quietly_fitted(weighted, max_leaves=6)
    found = regrown(tree.fitted_, weighted, 20)
    assert found.units == 10
    for half, one in zip(halves_of(weighted.select(slice(2, None)), 20, 0), found.trees, strict=True):
        mine = weighted.select(slice(2, None)).select(half).weights
        assert one.attributes.count[0] == np.count_nonzero(mine)
        assert one.attributes.mass[0] == mine.sum()
    # Equal weights are none.
    plain, equal = (regrown(tree.fitted_, one, 20) for one in (log, log.weighted(np.full(log.n_samples, 0.3))))
    for one, other in zip(plain.trees, equal.trees, strict=True):
        assert one.tree.threshold.tolist() == other.tree.threshold.tolist()


def test_a_sharp_rule_is_steady():
    found = MODEL.stability(STEP)
    assert found.steady
    assert found.verdict == "Another log would say much the same about action."
    first = found.splits[0]
    assert first.same == first.trees == 50
    assert first.low <= 0.31731 <= first.high
    assert first.high - first.low < 0.05
    assert first.low <= first.threshold <= first.high
    assert "First split: s0 < " in str(found)
    assert "another log would put it between 0.3" in str(found)
    assert found.first_reason == pytest.approx(1)


def test_noise_is_not():
    found = grown(NOISE).stability(NOISE)
    assert found.steady is False
    assert found.verdict == "Another log would say something else about action."
    assert found.short.startswith("Another log would say something else about action: trees grown on random halves")
    assert abs(found.predictions[0].alike) < 0.3
    assert any(split.same < 40 for split in found.splits)


def test_bands_hold_what_fresh_logs_say():
    """A small version of ``python -m benchmarks stability``."""
    for world, episodes in (("a step in noise", 12), ("a slope", 20)):
        row = tried(world, episodes, logs=8, fresh=60, curves=1)
        for what in ("threshold", "bound", "prediction", "curve"):
            assert row[f"{what} covered"] > 0.8, (world, what)
            assert row[f"{what} width"] < 5, (world, what)


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads():
    one, other = grown(SLOPE), grown(SLOPE)
    other.threads = 3
    found = one.stability(SLOPE, trees=20, seed=1)
    assert found.to_dict() == other.stability(SLOPE, trees=20, seed=1).to_dict()
    assert found.to_dict() != one.stability(SLOPE, trees=20, seed=2).to_dict()


def test_halves_share_no_episode_and_groups_stay_whole():
    log = labelled(11)
    for one, other in zip(*[iter(halves_of(log, 10, 0))] * 2, strict=True):
        assert len(one) == len(other) == 5
        assert not set(one) & set(other)
    grouped = replace(log, groups=np.arange(11) // 2)
    for half in halves_of(grouped, 10, 0):
        groups = set(grouped.groups[half])
        assert sorted(half) == [e for e in range(11) if grouped.groups[e] in groups]
    found = quietly_fitted(grouped, max_leaves=4).stability(grouped, trees=20)
    assert (found.units, found.grouped) == (6, True)
    assert "half of the 6 groups" in str(found)
    assert "With only 6 groups these are rough." in str(found)


@pytest.mark.parametrize("leaf_model", ["mean", "linear"])
def test_a_tree_of_a_half_is_the_tree_of_its_episodes(leaf_model):
    """Grown on rows of an encoded log, it splits as one that sees only these episodes, but for the targets' scales."""
    log = labelled()
    fitted = quietly_fitted(log, max_leaves=2, leaf_model=leaf_model, theta=(1, 0, 0)).fitted_
    found = regrown(fitted, log, 20, 0)
    half = halves_of(log, 1, 0)[0]
    options = {**fitted.options, "threads": 1, "progress": None, "keep": "nothing", "truncation": "paper"}
    alone = fit(log.select(half), None, options)
    tree = found.trees[0]
    assert tree.tree.threshold.tolist() == alone.tree.threshold.tolist()
    np.testing.assert_array_equal(tree.attributes.count, alone.attributes.count)
    states = log.states[:100]
    np.testing.assert_allclose(
        tree.told(states, tree.tree.apply(states))[:, :2],
        alone.told(states, alone.tree.apply(states))[:, :2],
        atol=0.05,
    )


def test_trees_are_grown_once():
    fitted = MODEL.fitted_
    assert regrown(fitted, STEP) is regrown(fitted, STEP)


@pytest.mark.parametrize("episodes", [1, 2, 3])
def test_too_few_episodes_are_refused(episodes):
    log = labelled(episodes, 60)
    with pytest.raises(ParameterError, match=f"The log has {episodes} episode"):
        quietly_fitted(log, max_leaves=4).stability(log)


def test_few_episodes_have_a_caveat():
    log = labelled(6)
    tree = quietly_fitted(log, max_leaves=4)
    assert "With only 6 episodes these are rough." in str(tree.stability(log))
    assert "With only 6 episodes" in str(tree.explain([1.0, 0.0], stability=True, log=log))


def test_labels_are_compared():
    log = labelled()
    tree = quietly_fitted(log, max_leaves=10, gamma=0)
    found = tree.stability(log)
    action, value = found.predictions
    assert action.share > 0.97
    assert action.alike > 0.9
    assert value.name == "value"
    assert value.apart > 0
    assert "predict the same action in " in str(found)


def test_an_explanation_says_how_it_fares():
    why = MODEL.explain(AT, stability=True, log=STEP)
    steady = why.stability
    assert steady.low[0] <= why.prediction[0] <= steady.high[0]
    bound = next(one for one in steady.bounds if one.feature == 0)
    assert bound.side == ">="
    assert bound.low <= why.lower[0] <= bound.high <= AT[0]
    assert "50 trees grown on random halves of the episodes" in str(why)
    assert "Where nine of ten other logs would put the bounds: s0 >= 0.3" in str(why)
    log = labelled()
    tree = quietly_fitted(log, max_leaves=4)
    assert "50 of 50 trees grown on random halves of the episodes agree." in str(
        tree.explain([1.5, 0.0], stability=True, log=log)
    )
    loose = labelled(blur=0.5)
    near = quietly_fitted(loose, max_leaves=8).explain([0.3, 0.0], stability=True, log=loose)
    assert near.stability.same < 50
    assert near.to_dict()["stability"]["trees"] == 50


def test_a_counterfactual_says_how_it_fares():
    log = labelled()
    tree = quietly_fitted(log, max_leaves=4)
    answer = tree.explain([1.5, 0.0], "action = left", stability=True, log=log)
    assert answer.stability.same >= 40
    assert f"{answer.stability.same} of 50 trees" in str(answer)


def test_curves_have_bands():
    found = grown(SLOPE).effects(SLOPE, stability=True)
    for curve in found.curves:
        assert (curve.low <= curve.curve).all()
        assert (curve.curve <= curve.high).all()


def test_what_cannot_be_asked():
    with pytest.raises(ParameterError, match="stability grows trees on halves of the log"):
        MODEL.explain(AT, stability=True)
    with pytest.raises(ParameterError, match="stability grows trees on halves of the log"):
        MODEL.effects(stability=True)
    with pytest.raises(ParameterError, match="trees must be"):
        MODEL.stability(STEP, trees=3)
    with pytest.raises(ParameterError, match="log is for explain with a foil"):
        MODEL.explain(AT, log=STEP)


def test_a_band_is_as_wide_as_pairs_are_apart():
    rng = np.random.default_rng(0)
    found, own = rng.normal(size=(50, 3)), np.arange(3.0)
    low, high = band(own, found)
    for k in range(3):
        reach = WIDER * np.quantile(np.abs(found[::2, k] - found[1::2, k]), 0.9)
        assert low[k] == pytest.approx(own[k] - reach)
        assert high[k] == pytest.approx(own[k] + reach)
    found[2 * LEAST_PAIRS - 1 :, 0] = np.nan
    low, high = band(own, found)
    assert np.isnan([low[0], high[0]]).all()
    assert np.isfinite([low[1:], high[1:]]).all()


def test_a_single_leaf_has_no_splits():
    log = make_log(np.zeros((80, 1)), np.tile([0, 1], 40), np.zeros(80), np.arange(0, 81, 8), labels=("a", "b"))
    found = quietly_fitted(log, max_leaves=5).stability(log, trees=20)
    assert found.splits == ()
    assert "Two of them" in str(found)


@pytest.mark.parametrize(
    ("sign", "said"), [(1, "Where both hold, next: x0 < "), (-1, "Where neither holds, next: x0 < ")]
)
def test_splits_down_one_side_are_told_in_words(sign, said):
    states = np.random.default_rng(0).uniform(0, 1, (800, 1))
    # The largest step first, so that each split divides what the last one left on the same side.
    does = 9 * (states[:, 0] > 0.7) + 3 * (states[:, 0] > 0.4) + (states[:, 0] > 0.2)
    log = make_log(sign * states, does[:, None], np.zeros(800), np.arange(0, 801, 20))
    told = str(quietly_fitted(log, max_leaves=4, theta=(1, 0, 0)).stability(log, trees=20))
    assert said in told
