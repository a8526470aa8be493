"""A disk that is full, for real: one line, nothing left on it, and an exit code."""

from __future__ import annotations

import pytest

from tests.scale.full_disk import grow_on_small_disk, write_log


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("kilobytes", [3_000, 13_000], ids=["reading", "binning"])
def test_a_full_disk_is_one_line_and_leaves_nothing(executor, kilobytes, tmp_path):
    code, told, left = grow_on_small_disk(write_log(tmp_path / "log"), tmp_path, kilobytes, executor)
    assert code == 1, told
    errors = [line for line in told.splitlines() if "disk of the cache" in line]
    assert len(errors) == 1, told
    assert "name a folder on another disk: --cache" in told
    assert "Traceback" not in told
    assert left == []
    assert not (tmp_path / "m.tripletree").exists()
