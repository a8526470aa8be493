"""Text in a log on disk: the same categories and labels in all pieces, and those of the same log in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from tests.scale.folders import differences, random_columns, with_text, write_folder
from tests.scale.test_counting import compared
from tests.scale.test_fit import pieces_of, quiet, random_options  # noqa: F401 - a fixture
from tripletree import LogError, TripleTree, open_log, read_log
from tripletree.cli import main
from tripletree.log import disk_texts

GROW = {"mode": "histogram", "max_leaves": 20}


@pytest.mark.parametrize("block", range(6))
def test_trees_on_text_are_those_of_memory(block, tmp_path, monkeypatch):
    for seed in range(8 * block, 8 * block + 8):
        rng = np.random.default_rng(seed)
        columns = with_text(random_columns(rng), rng)
        folder = write_folder(tmp_path / f"log{seed}", columns, rng, int(rng.choice([1, 7, 50])))
        pieces_of(monkeypatch, int(rng.choice([5, 17, 64, 2**18])))
        options = random_options(rng)
        here, there = read_log(folder), open_log(folder, cache=tmp_path / "cache", workers=2)
        tree = TripleTree(**options).fit(here)
        assert differences(tree, TripleTree(**options).fit(there)) == []
        assert there.features == here.schema.feature_names
        np.testing.assert_allclose(tree.losses(there, "all"), tree.losses(here, "all"), rtol=1e-9)


def table(n: int = 60, **changes: Any) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    columns = {"episode": np.arange(n) // 10, "step": np.arange(n) % 10, "x": rng.normal(size=n)}
    columns |= {"mode": rng.choice(np.array(["a", "b"], object), n), "action": rng.integers(0, 3, n)}
    return {**columns, "reward": rng.normal(size=n), **changes}


def files_in(folder: Path, *tables: Any) -> Path:
    folder.mkdir()
    for number, one in enumerate(tables):
        parquet.write_table(pyarrow.table(one), folder / f"part{number}.parquet")
    return folder


def both(path: Path, **roles: Any) -> tuple[TripleTree, TripleTree]:
    """Return the trees in memory and on disk."""
    there = TripleTree(**GROW).fit(open_log(path, cache=path.parent / "cache", **roles))
    return TripleTree(**GROW).fit(read_log(path, **roles)), there


def test_a_category_of_the_last_file_is_a_feature_of_all(tmp_path):
    folder = files_in(tmp_path / "log", table(), table(mode=["c"] * 60, episode=np.arange(60) // 10 + 6))
    here, there = both(folder)
    assert differences(here, there) == []
    assert there.fitted_.schema.columns["mode"] == ["a", "b", "c"]
    log = open_log(folder)
    assert "x, mode is a, mode is b, mode is c" in log.reading
    assert log.sample(30).schema.feature_names == log.features
    assert {piece.schema.feature_names for piece in log.pieces()} == {log.features}
    question = {"reach": "mode is c", "start": "mode is a", "within": 9}
    compared(here, read_log(folder), log, question)


def test_dictionaries_of_any_kind_are_text(tmp_path):
    first = pyarrow.table(table())
    second = pyarrow.table(table(episode=np.arange(60) // 10 + 6))
    words = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1] * 30, pyarrow.int16()), ["c", "a", "unused"])
    second = second.set_column(3, "mode", words)
    here, there = both(files_in(tmp_path / "log", first, second))
    assert differences(here, there) == []
    assert there.fitted_.schema.columns["mode"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("changes", "roles"),
    [
        ({"mode": ["same"] * 60}, {}),
        ({"mode": ["007", "012"] * 30}, {"kinds": {"mode": "category"}}),
        ({"mode": [b"a", b"b", b"c"] * 20}, {}),
        ({"gear": np.arange(60) % 12}, {"kinds": {"gear": "category"}}),
        ({"gear": np.float32(np.arange(60) % 12 / 3)}, {"kinds": {"gear": "category", "mode": ["b", "never", "a"]}}),
        ({"after_mode": ["a", "z"] * 30, "after_x": np.sin(np.arange(60.0))}, {"next_state": "after_"}),
        ({"after_mode": ["a", "z"] * 30, "after_x": np.arange(60.0)}, {"next_state": "after_"}),  # set aside
        ({}, {"feature_names": ["X", "Mode"], "action_names": ["move"]}),
        ({"action": ["10", "2", " 2", "na", "1"] * 12}, {"action_names": ["move"]}),
        ({"action": ["up", "down", "stay"] * 20}, {"labels": {"up": "Up", "stay": "-", "down": "Down"}}),
        ({"action": [True, False] * 30}, {}),
    ],
)
def test_what_text_becomes_is_what_it_becomes_in_memory(changes, roles, tmp_path, monkeypatch):
    pieces_of(monkeypatch, 16)
    assert differences(*both(files_in(tmp_path / "log", table(**changes)), **roles)) == []


@pytest.mark.parametrize(
    ("changes", "roles"),
    [
        ({"mode": [str(k) for k in range(60)]}, {}),
        ({"mode": [f"id{k}" for k in range(60)]}, {}),
        ({"mode": ["a", "1 km"] * 30}, {}),
        ({"mode": ["a", "a\0b"] * 30}, {}),
        ({"mode": ["a"] * 60, "x": ["b"] * 60}, {}),
        ({"mode": pyarrow.array([None] * 60, pyarrow.string())}, {}),
        ({"mode": np.full(60, "2026-11-18", "M8[ms]")}, {}),
        ({}, {"kinds": {"mode": ["a", "c"]}}),
        ({"move": ["a", "b"] * 30, "force": [0.5, 1.5] * 30}, {"action": ["move", "force"]}),
    ],
)
def test_what_cannot_be_read_is_told_in_the_same_words(changes, roles, tmp_path):
    folder = files_in(tmp_path / "log", table(**changes))
    with pytest.raises(LogError) as here:
        read_log(folder, **roles)
    with pytest.raises(LogError) as there:
        TripleTree().fit(open_log(folder, cache=tmp_path / "cache", **roles))
    assert str(there.value) == str(here.value)


def test_more_texts_than_anybody_counts_are_not_all_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_texts, "MOST", 50)
    texts = [f"id{k}" for k in range(60)]
    with pytest.raises(LogError, match=r"`mode` holds more than 50 different texts; categories are made of 1 to 32"):
        open_log(files_in(tmp_path / "features", table(mode=texts)))
    with pytest.raises(LogError, match=r"`action` has more than 50 different values; a discrete action may have"):
        open_log(files_in(tmp_path / "actions", table(action=texts)))


def test_a_changed_kind_takes_no_piece_from_the_cache(tmp_path):
    folder = files_in(tmp_path / "log", table(gear=np.arange(60) % 3))
    for roles in ({}, {"kinds": {"gear": "category"}}, {"kinds": {"gear": [2, 1, 0]}}, {}):
        assert differences(*both(folder, **roles)) == []


def test_a_file_of_ours_tells_its_categories_and_labels(tmp_path):
    done = np.arange(60) % 10 == 9
    columns = table(terminated=done, x=np.arange(60) % 7 * 60.0, action=["up", "down", "up"] * 20)
    kinds = {"mode": ["b", "never", "a"], "x": "angle"}
    log = read_log(columns, kinds=kinds, units={"x": "deg"}, labels=["up", "down"])
    log.to_parquet(tmp_path / "log.parquet")
    here, there = both(tmp_path / "log.parquet")
    assert differences(here, there) == []
    assert there.fitted_.schema == log.schema


def test_a_folder_with_text_is_answered_with_a_folder(tmp_path):
    rng = np.random.default_rng(0)
    folder = write_folder(tmp_path / "log", table(), rng, 4)
    model, told = str(tmp_path / "m.tripletree"), tmp_path / "told"
    tree = both(folder)[0]
    tree.save(model)
    # A category that is not there changes nothing.
    states = write_folder(tmp_path / "states", {"x": [0.1, 0.2, 0.3], "mode": ["b"] * 3}, rng, 2)
    made = CliRunner().invoke(main, ["predict", model, str(states), "--folder", str(told)])
    assert made.exit_code == 0, made.output
    leaves = [leaf for file in sorted(told.iterdir()) for leaf in parquet.read_table(file)["leaf"].to_pylist()]
    assert leaves == tree.predict({"x": [0.1, 0.2, 0.3], "mode": ["b"] * 3}).leaf.tolist()
    states = write_folder(tmp_path / "strange", {"x": [0.1], "mode": ["c"]}, rng, 1)
    made = CliRunner().invoke(main, ["predict", model, str(states), "--folder", str(told)])
    assert "Feature `mode` holds `c`; known are `a`, `b`" in made.output
