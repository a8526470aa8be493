"""Logs on disk after growth: held-out episodes, losses, transitions and predictions are those of memory."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from tests.scale.folders import differences, random_columns, write_folder
from tests.scale.test_fit import pieces_of, quiet, random_options  # noqa: F401 - a fixture
from tripletree import LogError, ParameterError, TripleTree, load, open_log, read_log
from tripletree.cli import main
from tripletree.log.identity import episode_hashes


@pytest.mark.parametrize("block", range(3))
def test_held_out_episodes_losses_and_transitions_are_those_of_memory(block, tmp_path, monkeypatch):
    for seed in range(5 * block, 5 * block + 5):
        rng = np.random.default_rng(seed)
        episodes = int(rng.integers(4, 14))
        folder = write_folder(tmp_path / f"log{seed}", random_columns(rng, episodes), rng, int(rng.choice([1, 7])))
        pieces_of(monkeypatch, int(rng.choice([5, 17, 64, 2**18])))
        options, whole = random_options(rng), read_log(folder)
        there = open_log(folder, cache=tmp_path / "cache", workers=2)
        sides, apart = whole.split(0.4, seed), there.split(0.4, seed)
        assert [log.n_samples for log in apart] == [log.n_samples for log in sides]
        # Labels and kinds of features are those of what is read.
        if sides[0].schema != sides[1].schema or sides[0].schema != whole.schema:
            continue
        here, tree = TripleTree(**options).fit(*sides), TripleTree(**options).fit(*apart)
        curves = here.fitted_.curve_validation, tree.fitted_.curve_validation
        np.testing.assert_allclose(curves[1], curves[0], rtol=1e-9)
        assert differences(here, tree) == []
        np.testing.assert_allclose(tree.losses(there, "all"), here.losses(whole, "all"), rtol=1e-9)
        assert tree.score(there) == pytest.approx(here.score(whole), rel=1e-9)
        one, other = tree.transitions(there), here.transitions(whole)
        for name in ("source", "target", "count", "steps", "censored", "stays", "starts", "samples"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist(), name


def test_pieces_and_samples_are_the_log_and_part_of_it(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    folder = write_folder(tmp_path / "log", random_columns(rng, 30), rng, 7)
    pieces_of(monkeypatch, 64)
    log, whole = open_log(folder), read_log(folder)
    assert np.concatenate([part.rewards for part in log.pieces()]).tolist() == whole.rewards.tolist()
    some = log.sample(100)
    assert 50 < some.n_samples <= 100
    names = whole.episode_ids.tolist()
    for name, part in zip(some.episode_ids.tolist(), some.episodes(), strict=True):
        assert part.states.tolist() == whole.select([names.index(name)]).states.tolist()
    assert log.sample(10**6).states.tolist() == whole.states.tolist()
    training, held_out = log.split(0.2)
    assert set(held_out.sample(50).episode_ids.tolist()).isdisjoint(training.sample(10**6).episode_ids.tolist())
    with pytest.raises(LogError, match=r"No episode fits into 0 steps|steps must be|No episode fits into 1 step"):
        write_and_sample(tmp_path, rng)


def write_and_sample(tmp_path, rng: np.random.Generator) -> None:
    columns = {name: column[:2] for name, column in random_columns(rng, 1).items()}
    columns |= {"episode": [0, 0], "step": [0, 1]}
    open_log(write_folder(tmp_path / "short", columns, rng, 1)).sample(1)


@pytest.mark.parametrize("leaf_model", ["mean", "linear"])
def test_predictions_are_written_file_by_file(leaf_model, tmp_path):
    rng = np.random.default_rng(2)
    folder = write_folder(tmp_path / "log", random_columns(rng, 9), rng, 5)
    whole = read_log(folder)
    tree = TripleTree(20, leaf_model=leaf_model).fit(whole)
    written = tree.write_predictions(open_log(folder), tmp_path / "told")
    assert [file.name for file in written] == [f"part{k}.parquet" for k in range(len(written))]
    tables = [parquet.read_table(file) for file in written]
    expected = tree.predict(whole.states)
    told = {name: np.concatenate([table.column(name).to_numpy() for table in tables]) for name in ("leaf", "value")}
    assert told["leaf"].tolist() == expected.leaf.tolist()
    assert told["value"].tolist() == expected.value.tolist()
    with pytest.raises(LogError, match="is the folder of the log itself"):
        tree.write_predictions(open_log(folder), folder)
    with pytest.raises(ParameterError, match=r"must be on disk: open it with open_log"):
        tree.write_predictions(whole, tmp_path / "told")
    tree.save(tmp_path / "m.tripletree")
    command = ["predict", str(tmp_path / "m.tripletree"), str(folder), "--folder", str(tmp_path / "again")]
    made = CliRunner().invoke(main, command)
    assert made.exit_code == 0, made.output
    assert parquet.read_table(tmp_path / "again" / "part0.parquet").equals(tables[0])


def test_questions_that_need_memory_say_what_to_give(tmp_path):
    rng = np.random.default_rng(3)
    folder = write_folder(tmp_path / "log", random_columns(rng, 9), rng, 5)
    tree, log = TripleTree(20).fit(read_log(folder)), open_log(folder)
    with pytest.raises(ParameterError, match=r"Give whole random episodes of it: log=.*sample\(1_000_000\)"):
        tree.occupancy(log=log)
    assert tree.occupancy(log=log.sample()).seen.recorded == 9
    with pytest.raises(ParameterError, match="This needs a log in memory"):
        TripleTree().fit(read_log(folder), log)


def test_large_logs_are_judged_without_reading_them_whole(tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    folder = write_folder(tmp_path / "log", random_columns(rng, 9), rng, 5)
    model = str(tmp_path / "m.tripletree")
    TripleTree(20, leaf_model="mean").fit(read_log(folder)).save(model)
    expected = CliRunner().invoke(main, ["losses", model, "--log", str(folder)]).output
    monkeypatch.setattr("tripletree.scale.plan.free_memory", lambda: 10)
    monkeypatch.setattr("tripletree.scale.plan.USUAL", 2 * 10**9)
    told = CliRunner().invoke(main, ["losses", model, "--log", str(folder)])
    assert told.exit_code == 0, told.output
    assert told.output == expected


def test_a_tree_is_judged_on_unseen_episodes_on_disk(tmp_path):
    rng = np.random.default_rng(5)
    folder = write_folder(tmp_path / "log", random_columns(rng, 60), rng, 5)
    training, held_out = open_log(folder).split(0.4)
    tree = TripleTree(20).fit(training)
    told, expected = tree.held_out(held_out), tree.held_out(read_log(folder).split(0.4)[1])
    assert told.how == "unseen"
    assert str(told) == str(expected)
    assert told.judged == tree.fitted_.judged == expected.judged
    # What it was grown on cannot judge it, and a tree grown on a sample would be another one.
    assert tree.held_out(training).how == "large"


def test_a_folder_is_grown_on_sized_by_and_judged_by_different_episodes(tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    folder = write_folder(tmp_path / "log", random_columns(rng, 60), rng, 5)
    model, sides = tmp_path / "m.tripletree", open_log(folder).split(0.4, 3)
    chooses, judges = sides[1].split(0.5, 3)
    made = CliRunner().invoke(
        main, ["grow", str(folder), "-o", str(model), "--memory", "2GB", "--validation", "0.4", "--seed", "3"]
    )
    assert made.exit_code == 0, made.output
    assert (
        f"grown on {sides[0].n_samples:,} samples in 36 episodes on disk; {chooses.n_samples:,} samples" in made.output
    )
    assert f"judged on 12 episodes with {judges.n_samples:,} samples that it has not seen." in made.output
    tree = load(model)
    assert tree.fitted_.judged.samples == judges.n_samples
    kept, sized = set(tree.fitted_.training_episodes.tolist()), set(tree.fitted_.validation_episodes.tolist())
    asked = set(episode_hashes(judges.sample()).tolist())
    assert (len(kept), len(sized), len(asked)) == (36, 12, 12)
    assert kept.isdisjoint(sized | asked)
    assert sized.isdisjoint(asked)
    monkeypatch.setattr("tripletree.scale.plan.free_memory", lambda: 10)
    again = CliRunner().invoke(main, ["held-out", str(model), "--log", str(folder)])
    assert "judged on 12 episodes" in again.output
