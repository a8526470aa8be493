"""Files of every released format are read, and hold what was written."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.store.golden import make
from tests.store.test_round_trip import assert_same
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
    assert_same(fitted, expected)


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
