"""Files of every released format are read, and hold what was written."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.store.golden import make
from tests.store.test_round_trip import assert_same
from tripletree.model.fitted import Fitted
from tripletree.store import load
from tripletree.store.container import FORMAT

FILES = sorted(make.FOLDER.glob("*.tripletree"))


def test_every_minor_of_this_major_has_its_files() -> None:
    names = {f"{FORMAT[0]}.{minor}-{kind}" for minor in range(FORMAT[1] + 1) for kind in ("discrete", "continuous")}
    assert {file.stem for file in FILES} == names


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_todays_code_reads_it_without_a_warning(file: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = load(file)
    expected = getattr(make, file.stem.split("-")[1])()
    if file.stem.startswith("1.0"):  # which did not keep the mean states yet
        expected = replace(expected, attributes=replace(expected.attributes, state_mean=None))
    if file.stem < "1.2":  # which did not keep what the tree has seen, how it was judged, and what labels stand for
        schema = replace(expected.schema, action=replace(expected.schema.action, codes=()))
        expected = replace(expected, schema=schema, training_episodes=None, validation_episodes=None, judged=None)
    if file.stem < "1.3":  # which did not keep states, and could not be told to
        expected = replace(expected, options=expected.options | {"keep": "leaves"}, track=None)
    if file.stem < "1.6":  # whose wrong labels all cost the same
        expected = replace(expected, options=expected.options | {"costs": None})
    if file.stem < "1.5":  # whose samples and episodes all counted the same
        expected = without_weights(expected)
    if file.stem < "1.4":  # whose leaves had no linear models
        options = expected.options | {"leaf_model": "mean", "leaf_features": None}
        expected = replace(expected, options=options, linear=None)
    assert_same(fitted, expected)


def without_weights(fitted: Fitted) -> Fitted:
    moves, track = fitted.transitions, fitted.track
    if moves is None or track is None:
        return fitted
    lacking = ("weight", "weighted_steps", "weighted_stays", "weighted_starts", "effective")
    return replace(
        fitted,
        attributes=replace(fitted.attributes, weight=None, weight_derivative=None, action_weight=None),
        transitions=replace(moves, **dict.fromkeys(lacking)),
        track=replace(track, weights=None),
    )


def test_weights_of_format_1_5() -> None:
    fitted = load(make.FOLDER / "1.5-discrete.tripletree")
    shares, moves, track = fitted.leaves.shares, fitted.transitions, fitted.track
    assert shares is not None
    assert moves is not None
    assert track is not None
    assert (fitted.leaves.count.tolist(), fitted.leaves.mass.tolist()) == ([4, 1, 5], [8, 1, 9])
    assert fitted.attributes.mode is not None
    np.testing.assert_allclose(fitted.attributes.shares, [[8 / 18, 10 / 18], [1, 0], [0, 1], [0, 1], [0, 1]])
    np.testing.assert_allclose(moves.probability, [3 / 11, 8 / 11, 1, 1])
    np.testing.assert_allclose(moves.leave, [1.375 / 2.75, 1, 1 / 3.75])
    assert track.recording.episode_weights is not None
    np.testing.assert_allclose(track.recording.episode_weights, [8 / 3, 1])


@pytest.mark.parametrize("minor", range(4))
def test_leaves_of_earlier_formats_predict_their_means(minor: int) -> None:
    fitted = load(make.FOLDER / f"1.{minor}-discrete.tripletree")
    assert (fitted.linear, fitted.model, fitted.second) == (None, None, None)
    told = fitted.told(np.array([[2.5, 0.05, 0.0]]), np.array([2], np.int32))
    assert told[0].tolist() == [0.0, 1.0, 0.75, 1.5, 1.625, 1.75]


def test_models_of_format_1_4() -> None:
    fitted = load(make.FOLDER / "1.4-discrete.tripletree")
    assert fitted.model is not None
    assert fitted.options["leaf_features"] == 2
    # Around its mean state (0.75, 0, 1): the scores held within 0 and 1, the others within -2 and 2 or -1 and 1.
    state = np.array([[0.75, 0.0, 1.0], [0.78, -0.01, 0.5]])
    told = fitted.told(state, np.zeros(2, np.int32))
    assert told[0].tolist() == [1.0, 0.0, -0.5, 0.375, 0.5, 0.625]
    away = np.array([0.03, -0.01])
    plain = told[0] + fitted.model.slope[1, :, :2].astype(float) @ away
    np.testing.assert_allclose(told[1], np.clip(plain, [0, 0, -1, -2, -2, -2], [1, 1, 1, 2, 2, 2]), rtol=1e-14)
    assert fitted.spread[0].tolist() == fitted.model.spread[1].tolist()
    assert fitted.model.low[4].tolist()[2] == -np.inf
    assert fitted.model.full is not None
    np.testing.assert_allclose(fitted.model.full, fitted.model.spread * (7 / 9), rtol=1e-6)

    fitted = load(make.FOLDER / "1.4-continuous.tripletree")
    assert fitted.model is not None
    assert (fitted.options["leaf_features"], fitted.model.full) == (None, None)
    assert fitted.told(np.array([[0.5]]), np.zeros(1, np.int32)).tolist() == [[0.25, -1.5, -100.0]]


def test_episodes_of_format_1_3() -> None:
    track = load(make.FOLDER / "1.3-discrete.tripletree").track
    assert track is not None
    recording = track.recording
    assert recording.states[:, 0].tolist() == [0, 0.5, 2.5, 2.5, 3, 0.5, 0.5, 1.5, 2.5, 3]
    assert recording.states[7].tolist() == [1.5, -0.1, 1]
    np.testing.assert_array_equal(recording.final_states, [[np.nan] * 3, [3.5, 0.05, 1]])
    assert (recording.starts.tolist(), recording.endings.tolist()) == ([0, 5, 10], [1, 2])
    assert (recording.returns.tolist(), recording.ids.tolist()) == ([-1.5, 1 / 3], ["Flug 1", "größer"])
    assert recording.group_labels is not None
    assert recording.groups is not None
    assert (recording.group_name, recording.group_labels[recording.groups].tolist()) == ("pilot", ["Bo", "Eva"])
    assert recording.first is not None
    assert recording.first.tolist() == [0, 7]
    assert load(make.FOLDER / "1.3-continuous.tripletree").track is None


def test_numbers_of_format_1_0() -> None:
    fitted = load(make.FOLDER / "1.0-discrete.tripletree")
    assert [(f.name, f.unit, f.kind) for f in fitted.schema.features] == [
        ("pos", "m", "real"),
        ("speed", "m/s", "real"),
        ("größe", "", "binary"),
    ]
    assert fitted.schema.action.labels == ("brake", "accelerate")
    assert fitted.tree.n_leaves == 3
    assert fitted.tree.leaf_nodes.tolist() == [1, 3, 4]
    assert fitted.tree.threshold.tolist() == [1.48, 0, 0.021, 0, 0]
    assert fitted.attributes.value_mean.tolist() == [0.1, -0.5, 0.5, 1 / 3, 0.75]
    assert fitted.attributes.value_std[4] == 5e-324
    assert fitted.attributes.action_count is not None
    np.testing.assert_array_equal(fitted.attributes.action_count[2], [0, 6])
    assert fitted.options["theta"] == [0.2, 0.6, 0.2]
    assert fitted.options["max_depth"] is None
    assert fitted.provenance["log_sha256"] == "ab" * 32

    fitted = load(make.FOLDER / "1.0-continuous.tripletree")
    assert fitted.schema.action.names == ("thrust", "turn")
    assert fitted.schema.action.units == ("N", "")
    assert fitted.attributes.action_mean is not None
    assert fitted.attributes.action_mean.tolist() == [[0.25, -1.5]]
    assert fitted.attributes.derivative_mean is None
    assert fitted.curve_validation is None
