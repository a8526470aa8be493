"""How a source was interpreted, in words."""

from __future__ import annotations

import copy
import logging

import pytest

from tests.log.raw import TABLE
from tests.parsed import lines
from tripletree.log import Log


def test_what_was_guessed_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tripletree"):
        log = Log.from_dict(TABLE | {"index": [0, 1, 2]}, step="speed")
    assert log.reading.splitlines() == [
        "Read 3 samples in 2 episodes from a dict.",
        "  episode      episode (guessed)",
        "  step         speed",
        "  reward       reward (guessed)",
        "  features     pos (real)",
        "  action       action (discrete, 2 labels: 0, 1) (guessed)",
        "  endings      2 unknown",
        "  final state  not recorded",
        "  set aside    index",
        'To change a guess, name the column: episode="...", action=[...], features=[...], ignore=[...].',
    ]
    assert caplog.messages == [log.reading]


def test_long_readings_are_cut() -> None:
    columns = {f"x{i}": [0.5, 1, 2] for i in range(30)}
    assert "x11 and 20 more (real); pos" not in (reading := Log.from_dict(TABLE | columns).reading)
    assert "and 20 more (real)" in reading


def test_sources_without_names_have_no_guesses() -> None:
    log = Log.from_arrays([[0.5, 1], [1.5, 0]], [0.5, 0.25], [1, 2], starts=[0, 1], terminated=[True, False])
    assert log.reading.splitlines() == [
        "Read 2 samples in 2 episodes from arrays.",
        "  features     s0 (real); s1 (binary)",
        "  action       action (continuous)",
        "  endings      1 terminated, 1 truncated",
        "  final state  not recorded",
    ]


def test_one_of_everything() -> None:
    log = Log.from_episodes([{"states": [[0.5], [1]], "actions": [3], "rewards": [1], "truncated": True}])
    assert log.reading.splitlines() == [
        "Read 1 sample in 1 episode from a list of episodes.",
        "  features     s0 (constant)",
        "  action       action (discrete, 1 label: 3)",
        "  endings      1 truncated",
        "  final state  known for 1 of 1 episode",
    ]


def test_all_roles_of_a_table() -> None:
    flags = {"terminated": [0, 1, 0], "truncated": [0, 0, 0], "prev": [-1, 0, -1], "next": [1, -1, -1]}
    table = {name: column for name, column in TABLE.items() if name != "episode"}
    log = Log.from_dict(table | flags | {"next_pos": [1.5, 9, 8], "next_speed": [0.5, 9, 8]})
    assert log.reading.splitlines()[1:] == [
        "  previous row prev (guessed)",
        "  next row     next (guessed)",
        "  reward       reward (guessed)",
        "  terminated   terminated (guessed)",
        "  truncated    truncated (guessed)",
        "  features     pos, speed (real)",
        "  action       action (discrete, 2 labels: 0, 1) (guessed)",
        "  endings      1 terminated, 1 truncated",
        "  final state  known for 2 of 2 episodes, from next_pos, next_speed (guessed)",
        'To change a guess, name the column: episode="...", action=[...], features=[...], ignore=[...].',
    ]


def test_a_notebook_shows_a_table() -> None:
    shown = Log.from_dict(TABLE | {"index": [0, 1, 2]}, step="speed").reading._repr_html_()
    assert lines(shown) == [
        "Read 3 samples in 2 episodes from a dict.",
        "episode|episode| (guessed)|",
        "step|speed||",
        "reward|reward| (guessed)|",
        "features|pos (real)||",
        "action|action (discrete, 2 labels: 0, 1)| (guessed)|",
        "endings|2 unknown||",
        "final state|not recorded||",
        "set aside|index||",
        'To change a guess, name the column: episode="...", action=[...], features=[...], ignore=[...].',
    ]


def test_a_copied_reading_is_a_reading() -> None:
    reading = Log.from_dict(TABLE).reading
    again = copy.copy(reading)
    assert (again, again._repr_html_()) == (reading, reading._repr_html_())


def test_a_feature_that_never_changes_is_called_constant() -> None:
    features = {"pos": [0.5, 1.5, 2.5], "key": [0, 1, 0], "zero": [0, 0, 0]}
    table = features | {"action": ["a", "b", "a"], "reward": [0, 0, 1]}
    log = Log.from_dict(table, endless=True)
    assert "pos (real); key (binary); zero (constant)" in log.reading
    # What it is called changes nothing: the schema keeps the kind that its values allow.
    assert log.schema.features[2].kind == "binary"
