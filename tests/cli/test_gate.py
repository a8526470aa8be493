"""The gate of the manual: a script that fails where the candidate changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.questions.test_diff import simulated

ROOT = Path(__file__).parents[2]
GATE = ROOT / "examples" / "gate.sh"


@pytest.mark.parametrize(
    ("episodes", "gain", "code", "said"),
    [(20, 1.0, 0, "No change found."), (20, -0.5, 3, "What it does CHANGED"), (3, -0.5, 0, "Too few episodes to tell")],
)
def test_the_gate_fails_where_the_candidate_changed(tmp_path, episodes, gain, code, said):
    simulated(episodes, 1).to_npz(tmp_path / "baseline.npz")
    simulated(episodes, 2, gain=gain).to_npz(tmp_path / "candidate.npz")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", str(GATE), "baseline.npz", "candidate.npz"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


def test_the_manual_has_the_same_script():
    assert GATE.read_text() in (ROOT / "docs" / "diff.md").read_text()
