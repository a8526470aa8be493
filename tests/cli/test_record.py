"""``tripletree record``: what it prints and what it leaves behind."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import tripletree
from tripletree.cli import main
from tripletree.demos import road


@pytest.fixture
def record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["record", *arguments])


def test_a_driver_is_recorded_to_a_file_that_can_be_read(record):
    result = record("alive", "--samples", "700", "--seed", "3")
    assert result.exit_code == 0, result.output
    assert "700 samples in " in result.stdout
    assert "The log is in out/logs/alive-3.npz." in result.stdout
    log = tripletree.read_log("out/logs/alive-3.npz")
    assert log.fingerprint() == road.record("alive", n_samples=700, seed=3).fingerprint()


def test_the_lander_flies(record, tmp_path):
    result = record("lander", "--samples", "300", "--out", "a/b.npz")
    assert result.exit_code == 0, result.output
    log = tripletree.read_log(tmp_path / "a/b.npz")
    assert log.n_samples >= 300
    assert log.schema.action.names == ("main engine", "side engine")


def test_mistakes_are_one_line(record):
    assert record("lender").exit_code == 2
    result = record("left", "--samples", "0")
    assert result.exit_code == 1
    assert "n_samples must be a whole number of at least 1; got 0." in result.stderr
    result = record("left", "--out", "log.csv")
    assert result.exit_code == 1
    assert "must end in .npz" in result.stderr
