"""Folders, datasets and names of datasets at the command line."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.data.make import HERE
from tests.logs import random_log

ROWS = "step,x,action,reward\n" + "".join(f"{k},{k / 7},{k % 2},1\n" for k in range(20))


def test_a_folder_of_tables_is_checked_and_grown_on(run, tmp_path):
    place = tmp_path / "runs"
    place.mkdir()
    for part in range(4):
        (place / f"run{part}.csv").write_text(ROWS)
    answer = run("check", place)
    assert answer.code == 0
    assert f"Read 80 samples in 4 episodes from 4 files in {place}." in answer.out.replace("\n", " ")
    assert "Every one of the 4 files begins an episode" in answer.out.replace("\n", " ")
    assert run("grow", place, "-o", tmp_path / "tree.tripletree", "--max-leaves", 3).code == 0
    predicted = run("predict", tmp_path / "tree.tripletree", "--log", place, "--episode", 2, "--json").json()
    assert predicted["derivative"] == pytest.approx([1 / 7])


def test_a_robot_dataset(run, tmp_path):
    shutil.copytree(HERE / "lerobot-v3.0", tmp_path / "robot")
    found = json.loads(run("check", tmp_path / "robot", "--json").out)
    assert found["ok"]
    assert "shoulder_pan.pos, gripper.pos" in found["reading"]


def test_a_name_that_no_dataset_has(run, tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    answer = run("grow", "mujoco/hopper/expert-v0", "-o", tmp_path / "tree.tripletree")
    assert answer.code == 1
    assert "minari download mujoco/hopper/expert-v0" in (answer.out + answer.err).replace("\n", " ")


@pytest.mark.parametrize("ending", ["npz", "parquet", "csv"])
def test_a_log_of_ours_answers_questions_about_its_tree(run, tmp_path, ending):
    log = random_log()
    getattr(log, f"to_{ending}")(tmp_path / f"log.{ending}")
    model = tmp_path / "tree.tripletree"
    assert run("grow", tmp_path / f"log.{ending}", "-o", model, "--max-leaves", 4).code == 0
    assert run("predict", model, "--log", tmp_path / f"log.{ending}", "--json").code == 0
