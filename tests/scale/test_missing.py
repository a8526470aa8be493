"""Missing values in a log on disk: mended as those of the same log in memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from tests.scale.folders import differences, random_columns, with_holes, with_text, with_times, write_folder
from tests.scale.test_counting import compared, random_questions
from tests.scale.test_fit import pieces_of, quiet, random_options  # noqa: F401 - a fixture
from tests.scale.test_times import GROW, both, files_in, same_parts, table
from tripletree import LogError, ParameterError, TripleTree, TripleTreeWarning, open_log, read_log
from tripletree.log import disk_files, disk_gaps, disk_holes
from tripletree.log.runs import find_episodes

NAN = float("nan")


def told_by(action: Any) -> list[str]:
    """Return the warnings of a log in which values are missing; or that it is refused, which names no files."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            action()
        except LogError as error:
            return [str(error) if "changed while it was read" in str(error) else "refused"]
    words = (
        "Values are missing in",
        "have the time of the row",
        "has the time of the row",
        "episodes are divided there",
    )
    lines = [line for one in told for line in str(one.message).splitlines()]
    return [line for line in lines if any(word in line for word in words)]


@pytest.mark.parametrize("block", range(10))
def test_trees_with_holes_are_those_of_memory(block, tmp_path, monkeypatch):
    for seed in range(8 * block, 8 * block + 8):
        rng = np.random.default_rng(seed)
        columns, roles = with_times(random_columns(rng), rng) if rng.random() < 0.5 else (random_columns(rng), {})
        columns = with_text(columns, rng) if rng.random() < 0.5 else columns
        columns, more = with_holes(columns, rng)
        roles |= more
        if "action" in columns and rng.random() < 0.5:
            roles["action_kind"] = "discrete"
        folder = write_folder(tmp_path / f"log{seed}", columns, rng, int(rng.choice([1, 7, 50])))
        rows = int(rng.choice([5, 17, 64, 2**18]))
        pieces_of(monkeypatch, rows)
        # What is known is carried over the borders of what is read at a time, too.
        monkeypatch.setattr(disk_files, "BATCH", int(rng.choice([4, 2**16])))
        options = random_options(rng)
        log: list[Any] = []
        said = told_by(lambda folder=folder, roles=roles, log=log: log.append(read_log(folder, **roles)))
        there = open_log(folder, cache=tmp_path / "cache", workers=2, **roles)
        assert told_by(lambda there=there: TripleTree(2).fit(there)) == said, seed
        if not log:
            continue
        here = log[0]
        tree = TripleTree(**options).fit(here)
        assert differences(tree, TripleTree(**options).fit(there)) == [], seed
        np.testing.assert_allclose(tree.losses(there, "all"), tree.losses(here, "all"), rtol=1e-9)
        compared(tree, here, there, random_questions(rng, here, tree)[0])
        if rows > 50:  # otherwise episodes are cut where a piece ends
            same_parts(here, there.sample(10**6))
        if rows > 50 and len(np.unique(here.units)) > 1:
            for one, other in zip(here.split(0.3), there.split(0.3), strict=True):
                same_parts(one, other.sample(10**6))


@pytest.mark.parametrize("at", [0, 14, 15, 16, 31, 32, 33, 59])
@pytest.mark.parametrize("way", ["split", "drop", "fill"])
def test_a_hole_where_a_piece_a_file_or_the_log_ends(at, way, tmp_path, monkeypatch):
    pieces_of(monkeypatch, 16)
    x = np.where(np.arange(60) == at, NAN, np.arange(60.0))
    columns = table(episode=np.zeros(60, int), x=x, ts=None, step=np.arange(60))
    folder = files_in(tmp_path / "log", columns, 15, 33)
    assert differences(*both(folder, missing=way)) == []
    index = find_episodes(open_log(folder, missing=way))
    inside = way == "split" and 0 < at < 59
    assert index.starts.tolist() == ([0, at, 59] if inside else [0, 60 if way == "fill" and at else 59])
    assert index.ids.tolist() == (["0/1", "0/2"] if inside else [0])


@pytest.mark.parametrize("batch", [4, 2**16])
@pytest.mark.parametrize("rows", [7, 2**18])
def test_states_are_carried_over_the_borders_of_pieces_and_files(rows, batch, tmp_path, monkeypatch):
    pieces_of(monkeypatch, rows)
    monkeypatch.setattr(disk_files, "BATCH", batch)
    place = np.arange(60)
    # Episodes of 30 rows: in the first, x is known in row 2 only, and the mode from row 5 on; in the second, never x.
    x = np.where(place == 2, 2.5, np.where(place < 55, NAN, 1.0))
    mode = [None if k < 5 or (k > 30 and k < 50) else "up" if k < 7 or k > 55 else "" for k in range(60)]
    mode[45] = "down"
    columns = table(episode=place // 30, x=x, mode=mode, ts=None, step=place % 30)
    folder = files_in(tmp_path / "log", columns, 4, 6, 20, 47)
    log = open_log(folder, missing="fill", cache=tmp_path / "cache")
    assert differences(*both(folder, missing="fill")) == []
    index = find_episodes(log)
    assert index.left_out.tolist() == [*range(5), *range(30, 55)]
    states = np.concatenate([part.states for part in log.pieces()])
    assert log.features == ("x", "mode is down", "mode is up")
    assert states.tolist() == [[2.5, 0, 1]] * 25 + [[1, 1, 0]] + [[1, 0, 1]] * 4


@pytest.mark.parametrize("rows", [4, 5, 10, 2**18])
def test_a_row_without_an_action_is_a_final_state(rows, tmp_path, monkeypatch):
    pieces_of(monkeypatch, rows)
    place = np.arange(60)
    columns = table(ts=None, step=place % 10, action=[None if k % 10 == 9 else "go" for k in place.tolist()])
    for name, cuts in (("one", ()), ("borders", (9, 10, 19, 35)), ("many", tuple(range(1, 60)))):
        folder = files_in(tmp_path / name, columns, *cuts)
        assert differences(*both(folder)) == []
        parts = list(open_log(folder).pieces())
        # Where a piece ends inside an episode, its ending is unknown.
        finals = np.concatenate([part.final_states[part.endings > 0, 0] for part in parts])
        assert finals.tolist() == columns["x"][9::10].tolist()
    # Beside next states, which know it better, it is none.
    folder = files_in(tmp_path / "next", {**columns, "next_x": np.append(columns["x"][1:], 7.0) + 0.5}, 9, 19)
    assert differences(*both(folder)) == []


@pytest.mark.parametrize("rows", [4, 2**18])
def test_flags_of_dropped_rows_go_to_the_rows_before(rows, tmp_path, monkeypatch):
    pieces_of(monkeypatch, rows)
    place = np.arange(60)
    flags = {"terminated": place % 20 == 9, "truncated": np.int8(place % 20 == 19)}
    lost = (place % 10 >= 8) | ((place >= 20) & (place < 30))
    columns = table(ts=None, step=place % 10, x=np.where(lost, NAN, place), **flags)
    folder = files_in(tmp_path / "log", columns, 9, 19, 28)
    assert differences(*both(folder, missing="drop")) == []
    endings = [part.endings.tolist() for part in open_log(folder, missing="drop").pieces()]
    assert [one for part in endings for one in part if one] == [1, 2, 2, 1, 2]
    # By flags alone, episodes are what the flags of all rows say.
    folder = files_in(tmp_path / "flags", {**columns, "episode": None, "step": None}, 9, 19, 28)
    assert differences(*both(folder, missing="drop")) == []


def test_a_column_means_the_same_in_files_with_and_without_holes(tmp_path):
    numbers = [None if k == 33 else k % 3 for k in range(60)]
    folder = files_in(tmp_path / "actions", table(action=numbers), 10, 40)
    tree, there = both(folder)
    assert differences(tree, there) == []
    assert there.fitted_.schema.action.kind == "continuous"  # as whole numbers beside NaN are
    for name, column in (("flags", [None if k == 33 else k % 2 == 0 for k in range(60)]), ("numbers", numbers)):
        folder = files_in(tmp_path / name, table(action=column, y=column), 10, 40)
        for kind in ("continuous", "discrete"):
            assert differences(*both(folder, action_kind=kind)) == []
            assert differences(*both(folder, action_kind=kind, missing="fill")) == []


def test_text_that_is_missing_is_a_missing_value(tmp_path):
    place = np.arange(60)
    mode = [None if k % 9 == 1 else " NA " if k > 50 else "ba"[k % 2] for k in place.tolist()]
    gear = [None if k == 40 else k % 3 for k in place.tolist()]
    lamp = [None if k == 41 else k % 5 == 0 for k in place.tolist()]
    folder = files_in(tmp_path / "log", table(mode=mode, gear=gear, lamp=lamp, ts=None), 7, 53)
    names = {"gear": "category", "lamp": "category"}
    for kinds in ({}, names, {"gear": [2, 1, 0]}, {"mode": ["a", "b", "c"]}):
        for way in ("split", "drop", "fill"):
            assert differences(*both(folder, kinds=kinds, missing=way)) == []
    # Text that never changes is set aside, holes and all; text that is never there is missing.
    for name, column in (("same", ["a", None] * 30), ("never", [None] * 60)):
        folder = files_in(tmp_path / name, table(mode=pyarrow.array(column, pyarrow.string())), 7)
        if name == "same":
            assert differences(*both(folder)) == []
            assert find_episodes(open_log(folder)).mending is None
        else:
            with pytest.raises(LogError, match=r"States hold NaN or infinite values: `mode` in 60 rows"):
                find_episodes(open_log(folder, features=["x", "mode"]))


def test_lists_with_holes_are_several_columns(tmp_path, monkeypatch):
    pieces_of(monkeypatch, 16)
    pairs = [[None if k in (12, 40) else k % 7, None if k == 41 else k] for k in range(60)]
    for name, change in (("states", {"x": pairs}), ("actions", {"action": pairs})):
        folder = files_in(tmp_path / name, table(**change), 10, 41, 50)
        for way in ("split", "fill"):
            assert differences(*both(folder, missing=way)) == []
    folder = files_in(tmp_path / "rows", table(x=[None if k == 12 else [k, 1] for k in range(60)]), 10)
    with pytest.raises(LogError, match=r"Column `x` holds Python objects"):
        open_log(folder)


@pytest.mark.parametrize(
    ("change", "roles"),
    [
        ({"x": [NAN] * 31 + [1.0] * 29}, {}),
        ({"x": [NAN] * 60, "y": range(60)}, {}),
        ({"x": [NAN] * 60, "y": range(60)}, {"missing": "fill"}),
        ({"x": [NAN] * 20 + [1.0] * 40, "y": [1.0] * 20 + [NAN] * 40}, {"missing": "split"}),
        ({"x": [NAN] * 25 + [1.0] * 35, "y": [1.0] * 25 + [NAN] * 35}, {"missing": "drop"}),
        ({"action": [None] * 40 + ["a"] * 20}, {}),
        ({"reward": [NAN] * 40 + [1.0] * 20}, {}),
    ],
)
def test_with_too_much_missing_a_log_is_refused_in_the_words_of_memory(change, roles, tmp_path):
    folder = files_in(tmp_path / "log", table(ts=None, **change), 20)
    with pytest.raises(LogError) as here:
        read_log(folder, **roles)
    with pytest.raises(LogError) as there:
        find_episodes(open_log(folder, **roles))
    assert str(there.value) == str(here.value)


def test_what_is_mostly_missing_is_left_out_if_it_is_asked_for(tmp_path):
    folder = files_in(tmp_path / "log", table(x=[NAN] * 40 + [1.0, 2.0] * 10, ts=None), 20)
    for way, rows in (("split", 20), ("drop", 20), ("fill", 20)):
        assert differences(*both(folder, missing=way)) == []
        assert find_episodes(open_log(folder, missing=way)).starts[-1] == rows


def test_what_is_missing_in_repeated_rows_only_is_no_matter(tmp_path):
    place = np.arange(60)
    again = place % 3 > 0
    columns = table(x=np.where(again, NAN, place), ts=(place - place % 3) / 10.0, episode=place // 30)
    columns["action"] = [None if again[k] else k % 2 for k in range(60)]
    folder = files_in(tmp_path / "log", columns, 1, 21)
    assert differences(*both(folder)) == []
    assert find_episodes(open_log(folder)).starts.tolist() == [0, 10, 20]
    for way in ("split", "drop", "fill"):
        assert differences(*both(folder, missing=way)) == []


def test_what_was_asked_for_is_no_warning(tmp_path):
    folder = files_in(tmp_path / "log", table(x=np.where(np.arange(60) == 33, NAN, 1.0 * np.arange(60)), ts=None), 20)
    text = "Values are missing in 1 of 60 rows: `x` in 1 row (first in row 33). Those rows are left out, and their "
    text += 'episodes are divided there, because of missing="split". To change that, type missing="drop" or '
    text += 'missing="fill".'
    assert find_episodes(open_log(folder)).said == (text,)
    assert find_episodes(open_log(folder, missing="split")).said == ()
    with pytest.warns(TripleTreeWarning, match="Values are missing in 1 of 60 rows"):
        TripleTree(2).fit(open_log(folder, cache=tmp_path / "cache"))


def test_what_a_log_on_disk_does_not_take_is_explained(tmp_path, monkeypatch):
    place = np.arange(60)
    with pytest.raises(ParameterError, match=r'missing="guess".* must be|missing must be'):
        open_log(files_in(tmp_path / "way", table()), missing="guess")
    holes = np.where(place % 10 < 2, NAN, place)
    folder = files_in(tmp_path / "back", table(x=holes, ts=None, step=np.where(place == 33, 0, place % 10 + 1)), 20)
    with pytest.raises(LogError, match="Values are missing, and the rows of episodes are not in the order of their"):
        find_episodes(open_log(folder))
    for module in (disk_holes, disk_gaps):
        monkeypatch.setattr(module, "MOST_LEFT_OUT", 11)
    folder = files_in(tmp_path / "many", table(x=holes, ts=None), 20)
    for way in ("split", "drop", "fill"):
        with pytest.raises(LogError, match=r"missing in too many rows: on disk at most 11 are left out. Leave columns"):
            find_episodes(open_log(folder, missing=way))
    columns = table(x=np.where(place < 50, NAN, place), episode=np.zeros(60, int), ts=None)
    folder = files_in(tmp_path / "one", columns, 5, 20, 40)
    with pytest.raises(LogError, match="missing in too many rows"):
        find_episodes(open_log(folder, missing="fill"))
    folder = files_in(tmp_path / "inf", table(x=np.where(place == 33, np.inf, place)), 20)
    with pytest.raises(LogError, match="States hold NaN or infinite values"):
        TripleTree(2).fit(open_log(folder, cache=tmp_path / "cache"))


def test_columns_that_say_that_nothing_is_missing_are_not_read(tmp_path, monkeypatch):
    columns = table(x=np.arange(60) % 7, reward=np.arange(60), y=np.float32(np.sin(np.arange(60))), ts=None)
    folder = files_in(tmp_path / "log", columns, 20)
    read: list[str] = []

    def watched(files: Any, start: int, stop: int, names: Any) -> Any:
        read.extend(names)
        return disk_files.iter_rows(files, start, stop, names)

    monkeypatch.setattr(disk_holes, "iter_rows", watched)
    assert find_episodes(open_log(folder)).mending is None
    assert set(read) == {"y"}
    read.clear()
    parquet.write_table(parquet.read_table(folder / "part0.parquet"), folder / "part0.parquet", write_statistics=False)
    find_episodes(open_log(folder))
    assert set(read) == {"x", "action", "reward", "y"}  # nothing is said about them


def test_what_is_cached_is_of_one_way_only(tmp_path):
    x = np.where(np.arange(60) % 9 == 8, NAN, np.arange(60.0))
    folder = files_in(tmp_path / "log", table(x=x, ts=None, step=np.arange(60) % 10), 20)
    trees = [both(folder, **({"missing": way} if way else {})) for way in ("", "split", "drop", "fill", "drop", "")]
    assert [differences(*pair) for pair in trees] == [[]] * 6
    read: list[int] = []

    def note(what: str, done: int, total: int, *_: object) -> None:
        read.extend([total] if what == "reading" else [])

    TripleTree(2).fit(open_log(folder, missing="drop", cache=tmp_path / "cache", progress=note))
    assert set(read) == {0}


def test_predictions_are_row_by_row_and_empty_where_the_state_is_missing(tmp_path):
    place = np.arange(60)
    lost = np.isin(place, [0, 19, 20, 33])
    for name, action in (("words", np.array(["up", "down"])[place % 2]), ("numbers", place / 7)):
        mode = [None if k == 50 else "ab"[k % 3 == 0] for k in place.tolist()]
        columns = table(x=np.where(lost, NAN, place), mode=mode, action=action, ts=None, step=place % 10)
        folder = files_in(tmp_path / name, columns, 20)
        here, there = read_log(folder), open_log(folder, cache=tmp_path / "cache")
        tree = TripleTree(**GROW).fit(there)
        for log in (there, open_log(folder, missing="fill")):
            written = tree.write_predictions(log, tmp_path / f"{name}-told")
            told = pyarrow.concat_tables([parquet.read_table(file) for file in written])
            assert [path.name for path in written] == ["part0.parquet", "part1.parquet"]
            assert told.num_rows == 60
            for column in told.columns:
                assert np.flatnonzero(column.is_null()).tolist() == [0, 19, 20, 33, 50]
            leaf = told["leaf"].drop_null().to_numpy()
            assert leaf.tolist() == tree.tree_.apply(here.states).tolist()


def test_the_command_line_mends_a_folder(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from tripletree import load
    from tripletree.cli import main

    place = np.arange(600)
    columns = {"x": np.where(place % 7 == 3, NAN, np.sin(place)), "y": np.cos(place), "action": place % 3}
    columns |= {"reward": np.where(place % 50 == 49, NAN, place % 5), "episode": place // 50, "step": place % 50}
    folder = files_in(tmp_path / "log", columns, 130, 400)
    out = str(tmp_path / "m.tripletree")
    command = ["grow", str(folder), "-o", out, "--memory", "2GB", "--cache", str(tmp_path / "cache")]
    trees = {}
    for way in ("split", "drop", "fill"):
        made = CliRunner().invoke(main, [*command, "--missing", way, "--validation", "none"])
        assert made.exit_code == 0, made.output
        here = TripleTree(mode="histogram").fit(read_log(folder, missing=way))
        assert load(out).fitted_.provenance["log_sha256"] == here.fitted_.provenance["log_sha256"]
        trees[way] = load(out).tree_.threshold.tolist()
        assert trees[way] == here.tree_.threshold.tolist()
    assert trees["split"] != trees["fill"]
    made = CliRunner().invoke(main, [*command, "--validation", "0.3"])
    assert made.exit_code == 0, made.output
    assert "Values are missing in" in made.output
    monkeypatch.setattr("tripletree.cli.inputs.UNPACKED", 10**12)
    judged = CliRunner().invoke(main, ["losses", out, "--log", str(folder)])
    assert judged.exit_code == 0, judged.output
    told = CliRunner().invoke(main, ["predict", out, str(folder), "--folder", str(tmp_path / "told")])
    assert told.exit_code == 0, told.output
    wrong = CliRunner().invoke(main, [*command, "--missing", "guess"])
    assert wrong.exit_code == 2
    assert "guess" in wrong.output
