"""A folder as a user has it: a log, a description, states to ask about, a model; and the command line to run in it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

from tripletree import TripleTree, TripleTreeWarning, read_log
from tripletree.cli import main
from tripletree.demos import road

DESCRIPTION = """\
[columns]
action = "acc"

[features]
pos = "m"
speed = { unit = "m/step", kind = "real" }

[action]
labels = { 0 = "left", 1 = "right" }
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A road log of 2,000 steps whose actions are 0 and 1, and a model of 120 leaves grown on it."""
    folder = tmp_path_factory.mktemp("user")
    own = road.record("either", n_samples=2_000)
    words = ("left", "right")
    for name, column, codes, log in (
        ("old.csv", "action", words, road.record("either", n_samples=1_000, seed=1)),
        ("new.csv", "action", words, road.record("either", n_samples=1_000, seed=2)),
        ("run.csv", "action", words, own),
        ("coded.csv", "acc", (0, 1), own),
    ):
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["episode", "step", "pos", "speed", column, "reward", "terminated"])
            for e in range(log.n_episodes):
                begin, end = log.starts[e : e + 2]
                for row in range(begin, end):
                    ends = row == end - 1 and log.endings[e] == 1
                    moved = codes[log.actions[row]], log.rewards[row], int(ends)
                    writer.writerow([e, row - begin, *log.states[row], *moved])
    (folder / "run.toml").write_text(
        DESCRIPTION.replace('"acc"', '"action"').replace("0 =", "left =").replace("1 =", "right =")
    )
    (folder / "coded.toml").write_text(DESCRIPTION)
    np.savetxt(folder / "states.csv", own.states[:50], delimiter=",", header="pos,speed", comments="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        tree = TripleTree(120).fit(read_log(folder / "run.csv", units={"pos": "m"}))
    tree.save(folder / "run.tripletree")
    return folder


@pytest.fixture
def work(folder, tmp_path):
    """A folder of this test alone with the log and the model."""
    for name in ("run.csv", "run.tripletree"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    return tmp_path


class Answer:
    """What a command gave back."""

    def __init__(self, result):
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr
        self.lines = self.out.splitlines()
        self.failure = result.exception if not isinstance(result.exception, SystemExit) else None

    def json(self):
        assert (self.code, self.failure) == (0, None), self.err
        assert self.out.count("\n") == 1
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.fixture
def run(folder, monkeypatch):
    """Return a function that runs ``tripletree`` with some arguments in the user's folder."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)

    def command(*arguments, **options):
        return Answer(CliRunner().invoke(main, [str(a) for a in arguments], prog_name="tripletree", **options))

    return command


PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nfrom tripletree.cli import main\n"


def shell(folder, *arguments, before="", **options):
    """Run the command line in a process of its own; ``before`` is Python code to run first."""
    code = f"{PROGRAM}{before}\nmain({[str(a) for a in arguments]!r}, prog_name='tripletree')"
    options = {"capture_output": True, **options}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, text=True, check=False, **options)
