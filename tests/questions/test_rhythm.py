"""Rhythm: made gaits whose period, parts and stumbles are known, and recordings that have none."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from benchmarks.wording_rhythm import NOISES, SHAPES, found_breaks, gait, noise
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import Log, ParameterError, rhythm
from tripletree.questions import cycle, periods, study


def wave_log(period: float, episodes: int = 6, steps: int = 400, **columns: object) -> Log:
    """A log whose state goes around a circle, and whose action is on in the first quarter of it."""
    phase = (np.arange(episodes * steps) % steps) / period
    data = {
        "x": np.cos(2 * np.pi * phase),
        "y": np.sin(2 * np.pi * phase),
        "push": np.where(phase % 1 < 0.25, 1.0, -1.0),
    }
    episode = np.arange(episodes * steps) // steps
    return Log.from_dict({"episode": episode, **data, **columns}, action="push", reward="none", ending="truncated")


# What it finds.


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("features", "level"), [(1, 0.0), (2, 1.0), (24, 1.0)])
def test_the_period_of_a_made_gait_is_found(shape, features, level):
    made = gait(3, 31.4, features=features, noise=level, shape=shape, cycles=14)
    answer = rhythm(made.log)
    assert answer
    assert answer.period == pytest.approx(made.period, abs=1)
    assert answer.quick <= answer.period + 1
    assert answer.slow >= answer.period - 1
    assert answer.share >= 0.5
    assert 0.5 <= answer.regularity <= 1


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    period=st.floats(8, 60),
    features=st.integers(1, 8),
    actions=st.integers(0, 3),
    distractors=st.integers(0, 4),
    level=st.floats(0, 0.8),
    drift=st.floats(0, 0.04),
    shape=st.sampled_from(SHAPES),
)
def test_any_gait_is_found(seed, period, features, actions, distractors, level, drift, shape):
    made = gait(
        seed,
        period,
        features=features,
        actions=actions,
        distractors=distractors,
        noise=level,
        drift=drift,
        shape=shape,
        cycles=13,
    )
    answer = rhythm(made.log)
    assert answer.found, answer.reason
    assert answer.period == pytest.approx(made.period, abs=1)
    assert sum(part.steps for part in answer.parts) == pytest.approx(answer.period)
    assert 2 <= len(answer.parts) <= cycle.MOST_PARTS


def test_a_gait_whose_second_harmonic_is_stronger_is_told_with_its_own_period():
    # Most columns repeat after every step of either leg; the legs themselves take turns.
    phase = np.arange(2400) % 400 / 40
    both = np.stack([np.cos(4 * np.pi * phase + k) for k in range(5)], axis=1)
    leg = np.cos(2 * np.pi * phase)[:, None]
    noisy = np.concatenate([both, leg], axis=1) + 0.2 * np.random.default_rng(0).standard_normal((2400, 6))
    answer = rhythm(Log.from_arrays(noisy, leg[:, 0], np.zeros(2400), episodes=np.arange(2400) // 400))
    assert answer.period == pytest.approx(40, abs=0.5)


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("seed", range(4))
def test_noise_has_no_rhythm(kind, seed):
    episodes, steps = [(1, 900), (2, 300), (5, 400), (15, 150)][seed]
    answer = rhythm(noise(seed, kind, columns=(2, 8)[seed % 2], episodes=episodes, steps=steps))
    assert not answer
    assert str(answer).startswith("No rhythm: ")
    assert np.isnan(answer.phase).all()


def test_a_swing_that_dies_down_is_no_rhythm():
    step = np.arange(200)
    swing = np.exp(-step / 12) * np.cos(2 * np.pi * step / 15)
    states = np.tile(np.stack([swing, np.gradient(swing)], axis=1), (12, 1))
    states += 0.01 * np.random.default_rng(0).standard_normal(states.shape)
    assert not rhythm(Log.from_arrays(states, -states[:, 1], np.zeros(2400), episodes=np.arange(2400) // 200))


def test_one_episode_is_tested_on_its_second_half():
    answer = rhythm(wave_log(25, episodes=1, steps=1500))
    assert answer.period == pytest.approx(25, abs=0.1)
    # Only the first half repeats: nothing to be told of the second.
    made = wave_log(25, episodes=1, steps=1500)
    states = made.states.copy()
    states[750:] = np.random.default_rng(0).standard_normal((750, 2))
    assert not rhythm(Log.from_arrays(states, states[:, 0], np.zeros(1500), endless=True))


def test_episodes_that_are_too_short_are_said_to_be():
    answer = rhythm(wave_log(40, episodes=20, steps=25))
    assert not answer
    assert answer.reason.startswith("the longest episode has 25 steps, too few for 5 cycles")
    # Long enough for some cycles, but not of this rhythm.
    assert not rhythm(wave_log(40, episodes=20, steps=60))


def test_short_episodes_among_long_ones_do_no_harm():
    made = wave_log(40)
    mixed = make_log(
        np.concatenate([made.states[:7], made.states]),
        np.concatenate([made.actions[:7], made.actions]),
        np.zeros(2407),
        [0, 7, *(made.starts[1:] + 7)],
    )
    answer = rhythm(mixed)
    assert answer.period == pytest.approx(40, abs=0.1)
    assert np.isnan(answer.phase[:7]).all()


def test_a_log_in_which_nothing_changes():
    assert rhythm(make_log(np.ones((60, 2)), np.zeros(60), np.zeros(60))).reason == "nothing in the log ever changes"


# What it is the same for.


def test_units_and_the_order_of_the_columns_do_not_matter():
    made = gait(5, 23.0, features=5, actions=2, noise=0.5, cycles=13).log
    answer = rhythm(made)
    scaled = make_log(
        made.states[:, ::-1] * [1e-3, 1e4, -1, 7, 1] + [0, 5e5, 1, 2, 3], made.actions, made.rewards, made.starts
    )
    other = rhythm(scaled)
    assert other.period == pytest.approx(answer.period, rel=1e-3)
    assert [part.actions for part in other.parts] == [part.actions for part in answer.parts]
    assert [part.begin for part in other.parts] == pytest.approx([part.begin for part in answer.parts], abs=0.05)


def test_angles_may_go_around():
    phase = np.arange(2400) % 400 / 40
    angle = (2 * np.pi * phase) % (2 * np.pi)
    log = Log.from_arrays(
        angle, np.sign(np.sin(angle)), np.zeros(2400), episodes=np.arange(2400) // 400, kinds={"s0": "angle"}
    )
    assert rhythm(log).period == pytest.approx(40, abs=0.1)


# What it tells.


def test_parts_are_what_the_action_does():
    answer = rhythm(wave_log(40))
    # The action is positive in a quarter of the cycle, which begins with the longer part's successor.
    first, second = answer.parts
    assert first.actions == ("push positive",)
    assert second.actions == ("push negative",)
    assert first.steps == pytest.approx(10, abs=1.1)
    assert second.steps == pytest.approx(30, abs=1.1)
    assert first.agreement > 0.9
    assert (first.begin, second.end) == (0.0, 1.0)
    assert len(first.features) == 2
    assert second.features


def test_the_phase_says_where_in_the_cycle_a_step_is():
    answer = rhythm(wave_log(40))
    known = ~np.isnan(answer.phase)
    assert known.mean() > 0.9
    truth = (np.arange(2400) % 400 / 40) % 1
    off = (answer.phase[known] - truth[known] + 0.5) % 1 - 0.5
    assert np.abs(off - np.median(off)).max() < 0.03
    assert abs(np.median(off)) < 0.05


def test_discrete_actions_and_no_actions():
    made = wave_log(40)
    labels = (made.actions[:, 0] > 0).astype(int)
    log = make_log(made.states, labels, np.zeros(2400), made.starts, labels=("rest", "push"), names=("x", "y"))
    assert [part.actions for part in rhythm(log).parts] == [("action = push",), ("action = rest",)]
    bare = Log.from_dict(
        {"episode": np.arange(2400) // 400, "x": made.states[:, 0], "y": made.states[:, 1]},
        action="none",
        reward="none",
    )
    answer = rhythm(bare)
    assert answer.period == pytest.approx(40, abs=0.1)
    assert all(part.actions == () and part.features for part in answer.parts)
    assert "nan" not in str(answer)


def test_an_action_that_does_not_go_with_the_cycle_does_not_cut_it():
    made = wave_log(40)
    random = np.random.default_rng(0).choice([-1.0, 1.0], 2400)
    answer = rhythm(make_log(made.states, random, np.zeros(2400), made.starts, names=("x", "y")))
    assert all(part.actions == () and part.features for part in answer.parts)


def test_stumbles_are_told_where_they_are():
    hits = false = stumbles = 0
    for seed, (level, drift) in enumerate([(0.0, 0.0), (0.3, 0.03), (0.6, 0.0)]):
        made = gait(seed, 34.0 + seed, features=4, noise=level, drift=drift, stumbling=True, cycles=16)
        answer = rhythm(made.log)
        assert answer.told
        found = found_breaks(made, [(one.episode, one.step) for one in answer.breaks])
        hits, false, stumbles = hits + found[0], false + found[1], stumbles + len(made.stumbles)
    assert (hits, false, stumbles) == (9, 0, 9)
    one = answer.breaks[0]
    assert str(one).startswith(f"Episode 0 breaks at step {one.step} of {one.length}: {one.feature} ")
    assert np.isclose(one.value, made.log.states[one.step, made.log.schema.feature_names.index(one.feature)])


def test_steady_gaits_have_no_breaks_and_loose_ones_are_not_told():
    steady = rhythm(gait(1, 40.0, noise=0.5, cycles=16).log)
    assert steady.told
    assert steady.breaks == ()
    assert str(steady).endswith("No episode gets out of step.")
    short = rhythm(gait(1, 9.0, noise=0.5, cycles=30).log)
    assert short
    assert not short.told
    assert str(short).endswith("The cycles are too short or too loose to tell where one breaks.")


def test_the_answer_as_data():
    data = rhythm(wave_log(40)).to_dict()
    assert "phase" not in data
    assert json.loads(json.dumps(data, allow_nan=False))["parts"][0]["actions"] == ["push positive"]
    assert rhythm(wave_log(40, episodes=20, steps=25)).to_dict()["period"] is None


def test_what_is_no_log_is_said():
    with pytest.raises(ParameterError, match="log must be a Log"):
        rhythm("run.csv")


# How it is found.


@pytest.mark.parametrize("lag", [0, 1, 7, 20])
def test_lagged_covariances_are_those_counted_by_hand(lag):
    random = np.random.default_rng(0)
    parts = [random.standard_normal((n, 3)) for n in (50, 9, 3000)]
    pairs = [part[: len(part) - lag].T @ part[lag:] for part in parts if len(part) > lag]
    by_hand = sum(pairs) / sum(max(len(part) - lag, 0) for part in parts)
    np.testing.assert_allclose(periods._lagged(parts, 20)[lag], by_hand, atol=1e-12)


def test_parts_are_cut_at_the_best_places_of_all():
    random = np.random.default_rng(1)
    for _ in range(5):
        shares = [random.integers(0, 9, (9, 2)).astype(float) for _ in range(2)]
        total = sum(one.sum() for one in shares)

        def wrong(begins, shares=shares):
            ends = [*begins[1:], begins[0] + 9]
            cuts = [np.arange(a, b) % 9 for a, b in zip(begins, ends, strict=True)]
            return sum(one[at].sum() - one[at].sum(axis=0).max() for one in shares for at in cuts)

        found = cycle.cut(shares)
        least = min(
            wrong([k for k in range(9) if which[k]]) for which in product([0, 1], repeat=9) if sum(which) == len(found)
        )
        assert wrong(found) == pytest.approx(least)
        assert total > 0


@pytest.mark.parametrize("turn", [0.0, 1.0, 3.0, -2.0])
def test_a_direction_is_the_same_however_it_was_turned(turn):
    # Two numbers of the same size, as sines and cosines have.
    direction = np.array([1 + 1j, 0.5, 2j, 2 + 0j])
    wanted = np.array([1 - 1j, -0.5j, 2, -2j])
    np.testing.assert_allclose(periods._upright(direction * np.exp(1j * turn)), wanted, atol=1e-12)


@pytest.mark.parametrize(("length", "steps"), [(7, 7), (50, 6), (40_000, 900), (20_000, 20)])
def test_filtering_block_by_block_is_a_convolution(length, steps):
    rng = np.random.default_rng(0)
    along, kernel = (rng.normal(size=n) + 1j * rng.normal(size=n) for n in (length, steps))
    np.testing.assert_allclose(periods._convolved(along, kernel), np.convolve(along, kernel, "valid"), atol=1e-9)


def test_a_study_of_a_long_log_tells_all_of_a_rhythm_that_some_episodes_show(monkeypatch):
    log = wave_log(40, episodes=12)
    tree = quietly_fitted(log, max_leaves=4)
    looked = []
    monkeypatch.setattr(study, "rhythm", lambda log: looked.append(log.n_samples) or rhythm(log))
    whole = study.Study(tree.fitted_, log, 1).rhythm
    assert looked == [log.n_samples]
    monkeypatch.setattr(study, "GLANCED", log.n_samples // 2)
    told = study.Study(tree.fitted_, log, 1).rhythm
    assert str(told) == str(whole) == str(rhythm(log))
    assert np.array_equal(told.phase, whole.phase, equal_nan=True)
    assert looked[1:] == [log.n_samples // 2, log.n_samples]
    # Where some episodes show none, the others are not looked at.
    still = random_log(0, (400,) * 8)
    assert not study.Study(quietly_fitted(still, max_leaves=4).fitted_, still, 1).rhythm
    assert looked[3:] == [2_400]
