"""Agents at the command line: ``record`` and ``explain-agent``."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

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
    assert "--samples must be a whole number of at least 1; got 0. Try --samples 10000." in result.stderr
    result = record("left", "--out", "log.csv")
    assert result.exit_code == 1
    assert "must end in .npz" in result.stderr


def test_a_log_is_recorded_to_an_npz_file_only(record, tmp_path):
    result = record("left", "--out", "x.csv")
    assert result.exit_code == 1
    assert result.output == "error: --out must end in .npz; got 'x.csv'. Try --out x.npz.\n"
    assert list(tmp_path.iterdir()) == []


def test_an_agent_is_recorded_in_an_environment(record):
    result = record("CartPole-v1", "--agent", "random", "--episodes", "5", "--seed", "2", "-o", "poles.npz")
    assert result.exit_code == 0, result.output
    assert " in 5 episodes, mean return " in result.stdout
    log = tripletree.read_log("poles.npz")
    assert log.fingerprint() == tripletree.record("CartPole-v1", "random", episodes=5, seed=2).fingerprint()
    assert log.schema.action.labels == ("push left", "push right")


def test_an_id_with_a_module_becomes_the_name_of_a_file(record, tmp_path):
    result = record("tripletree.demos.road_env:tripletree/Road-v0", "--agent", "random", "--samples", "50")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out/logs/tripletree.demos.road_env-tripletree-Road-v0-0.npz").exists()


def test_ctrl_c_writes_whole_episodes_and_says_so(record, monkeypatch):
    step, calls = CartPoleEnv.step, iter(range(1_000))

    def stopped(self, action):
        if next(calls) == 150:
            raise KeyboardInterrupt
        return step(self, action)

    monkeypatch.setattr(CartPoleEnv, "step", stopped)
    result = record("CartPole-v1", "--agent", "random", "--samples", "500", "-o", "some.npz")
    assert result.exit_code == 130
    assert "note: Stopped by Ctrl-C: the log has " in result.stderr
    log = tripletree.read_log("some.npz")
    assert log.n_samples <= 150
    assert f"the log has {log.n_episodes} whole episodes." in result.stderr


SLIPS = [
    (["CartPole-v1"], 2, "Who acts in CartPole-v1? Give --agent FILE.zip, --agent FILE.onnx or --agent random."),
    (["lender"], 2, "Did you mean `lander`?"),
    (["left", "--episodes", "5"], 2, "left is one of the paper's agents: it takes --samples, --seed and --out."),
    (["CartPole-v1", "--agent", "nowhere.zip"], 1, "There is no file nowhere.zip. --agent is the file of an agent"),
    (["CartPale-v1", "--agent", "random"], 1, "Did you mean: `CartPole`?"),
    (["LunarLander-v2", "--agent", "random"], 1, "Please use `LunarLander-v3` instead."),
    (["CarRacing-v3", "--agent", "random"], 1, "Observations of this environment are images"),
    (
        ["CartPole-v1", "--agent", "random", "--samples", "5", "--episodes", "5"],
        1,
        "Give either --episodes or --samples",
    ),
    (["CartPole-v1", "--agent", "random", "--samples", "-1"], 1, "--samples must be a whole number of at least 1"),
    (["CartPole-v1", "--agent", "random", "--normalize", "x.pkl"], 1, "There is no file x.pkl."),
    (["CartPole-v1", "--agent", "random", "-o", "log.csv"], 1, "--out must end in .npz"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), SLIPS)
def test_slips_are_one_line_with_the_cure(record, arguments, code, said):
    result = record(*arguments)
    assert result.exit_code == code, result.output
    assert said in result.stderr
    line = result.stderr.strip().splitlines()
    assert len(line) == (1 if code == 1 else 4)  # the usage, an empty line, and the sentence


def test_an_agent_is_explained_in_one_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["explain-agent", "CartPole-v1", "--agent", "random", "--samples", "600", "--max-leaves", "30"]
    result = CliRunner().invoke(main, [*arguments, "-o", "poles", "--title", "A pole", "--seed", "1"])
    assert result.exit_code == 0, result.output
    assert "A tree of " in result.stdout
    assert "What it gets wrong on " in result.stdout
    assert "Open poles/report.html in a browser" in result.stdout
    assert "<h1>A pole</h1>" in (tmp_path / "poles/report.html").read_text()
    log, tree = tripletree.read_log("poles/log.npz"), tripletree.load("poles/tree.tripletree")
    assert log.fingerprint() == tripletree.record("CartPole-v1", "random", samples=600, seed=1).fingerprint()
    assert tree.n_leaves_ <= 30
    assert tree.fitted_.schema == log.schema


def test_nobody_cannot_be_explained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["explain-agent", "CartPole-v1"])
    assert result.exit_code == 2
    assert "Who acts in CartPole-v1?" in result.stderr
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(main, ["explain-agent", "CartPole-v1", "--agent", "random", "-o", "file/x"])
    assert result.exit_code == 1
    assert result.stderr.startswith("error: The folder file/x cannot be made: ")
