"""The sentences about memory and drift, in Python and in the shell."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tests.log.rememberers import steered
from tripletree import LogError, ParameterError, drift, memory
from tripletree.cli import main


def test_memory_in_words():
    answer = memory(steered("mode"), quick=True)
    assert str(answer).startswith("What it does depends on what came before: ")
    assert "of the variation of its actions beyond the state (p < 0.0" in str(answer)
    assert json.dumps(answer.to_dict())
    quiet = memory(steered(), quick=True)
    assert str(quiet).startswith(
        "No sign in 20 episodes that what it does depends on what came before. The state alone "
    )
    assert "of the variation of its actions on unseen episodes, so memory can be behind" in str(quiet)
    assert "explains only 30 % of the variation" in str(replace(quiet, unexplained=0.7))
    assert str(memory(steered(episodes=3))).startswith("This log cannot tell whether the agent remembers")


def test_drift_in_words():
    answer = drift(steered(episodes=40, length=40, pilots=2), quick=True)
    assert str(answer).startswith("The agent changes from early to late episodes (p < 0.0")
    assert "`push` is 0." in str(answer)
    assert "larger in late episodes than in early ones; most where" in str(answer)
    assert "No sign in 20 episodes that the agent changes" in str(drift(steered(), quick=True))
    assert str(drift(steered(episodes=3))).startswith("This log cannot tell whether the agent changes")


def test_groups_are_compared_with_each_other():
    log = steered(episodes=40, length=40, pilots=2)
    grouped = replace(log, groups=["ann"] * 20 + ["bob"] * 20, group_name="pilot")
    assert "from group to group" in str(drift(grouped, quick=True))
    assert "with bob than with ann" in str(drift(grouped, quick=True)) or "with ann than with bob" in str(
        drift(grouped, quick=True)
    )


def test_the_shell_says_the_same(tmp_path):
    log = steered("mode", length=40)
    path = tmp_path / "run.npz"
    log.to_npz(path)
    for name, ask in (("memory", memory), ("drift", drift)):
        result = CliRunner().invoke(main, [name, str(path), "--quick", "--json"])
        assert json.loads(result.output) == ask(log, quick=True).to_dict()


def test_what_is_no_log_is_refused():
    with pytest.raises(ParameterError, match="log must be a Log; got str"):
        memory("run.csv")
    with pytest.raises(ParameterError, match="quick must be"):
        drift(steered(episodes=3), quick="yes")
    assert issubclass(LogError, Exception)
