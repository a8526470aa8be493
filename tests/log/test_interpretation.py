"""How a source was interpreted, in words."""

from __future__ import annotations

import logging

import pytest

from tests.log.raw import TABLE
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
