"""Times and groups in a log on disk: the same steps, the same gaps and the same groups as in memory."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from tests.scale.folders import differences, random_columns, with_times, write_folder
from tests.scale.test_counting import compared, random_questions
from tests.scale.test_fit import pieces_of, quiet, random_options  # noqa: F401 - a fixture
from tripletree import LogError, TripleTree, TripleTreeWarning, open_log, read_log
from tripletree.log import disk_times, gaps
from tripletree.log.runs import find_episodes

GROW = {"mode": "histogram", "max_leaves": 20}
PARTS = (
    "states",
    "actions",
    "rewards",
    "starts",
    "final_states",
    "endings",
    "episode_ids",
    "dt",
    "groups",
    "group_name",
)


def same_parts(here: Any, there: Any) -> None:
    for name in PARTS:
        one, other = getattr(here, name), getattr(there, name)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(other, one, err_msg=name)
        else:
            assert one == other, name


@pytest.mark.parametrize("block", range(8))
def test_trees_on_times_are_those_of_memory(block, tmp_path, monkeypatch):
    for seed in range(6 * block, 6 * block + 6):
        rng = np.random.default_rng(seed)
        columns, roles = with_times(random_columns(rng), rng)
        folder = write_folder(tmp_path / f"log{seed}", columns, rng, int(rng.choice([1, 7, 20])))
        rows = int(rng.choice([5, 17, 64, 2**18]))
        pieces_of(monkeypatch, rows)
        options = random_options(rng)
        here, there = read_log(folder, **roles), open_log(folder, cache=tmp_path / "cache", workers=2, **roles)
        tree = TripleTree(**options).fit(here)
        assert differences(tree, TripleTree(**options).fit(there)) == []
        np.testing.assert_allclose(tree.losses(there, "all"), tree.losses(here, "all"), rtol=1e-9)
        compared(tree, here, there, random_questions(rng, here, tree)[0])
        if rows > 50 and len(np.unique(here.units)) > 1:  # otherwise episodes are cut where a piece ends
            for one, other in zip(here.split(0.3), there.split(0.3), strict=True):
                same_parts(one, other.sample(10**6))


def table(n: int = 60, **changes: Any) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    columns = {"episode": np.arange(n) // 10, "x": rng.normal(size=n), "ts": np.arange(n) / 10.0}
    return {**columns, "action": rng.integers(0, 3, n), "reward": rng.normal(size=n), **changes}


def files_in(folder: Path, columns: dict[str, Any], *cuts: int) -> Path:
    folder.mkdir()
    whole = pyarrow.table({name: column for name, column in columns.items() if column is not None})
    for number, (begin, end) in enumerate(zip((0, *cuts), (*cuts, len(whole)), strict=True)):
        parquet.write_table(whole.slice(begin, end - begin), folder / f"part{number}.parquet")
    return folder


def both(path: Path, **roles: Any) -> tuple[TripleTree, TripleTree]:
    """Return the trees in memory and on disk."""
    there = TripleTree(**GROW).fit(open_log(path, cache=path.parent / "cache", **roles))
    return TripleTree(**GROW).fit(read_log(path, **roles)), there


@pytest.mark.parametrize("gap_at", [14, 15, 16, 31, 32, 33])
def test_a_gap_where_a_piece_or_a_file_ends(gap_at, tmp_path, monkeypatch):
    pieces_of(monkeypatch, 16)
    times = np.arange(60) / 10.0 + 100 * (np.arange(60) >= gap_at)
    folder = files_in(tmp_path / "log", table(episode=np.zeros(60, int), ts=times), 15, 33)
    assert differences(*both(folder)) == []
    index = find_episodes(open_log(folder))
    assert index.starts.tolist() == [0, gap_at, 60]
    assert index.ids.tolist() == ["0/1", "0/2"]
    assert index.cut is not None
    assert index.cut.tolist() == [True, False]


def test_a_log_of_one_recording_is_divided_by_its_clock_alone(tmp_path, monkeypatch):
    pieces_of(monkeypatch, 16)
    times = np.arange(60) / 10.0 + 100 * (np.arange(60) >= 40) + 100 * (np.arange(60) >= 50)
    for name, roles in (("alone", {}), ("endless", {"endless": True, "time": "ts"})):
        folder = files_in(tmp_path / name, table(episode=None, ts=times))
        assert differences(*both(folder, **roles)) == []
        assert find_episodes(open_log(folder, **roles)).n_episodes == 3
    # Without a word about it, every file is an episode.
    folder = files_in(tmp_path / "files", table(episode=None, ts=times), 20)
    assert differences(*both(folder)) == []
    assert find_episodes(open_log(folder)).ids.tolist() == ["part0", "part1/1", "part1/2", "part1/3"]


def test_a_gap_between_steps_divides_if_it_is_asked_for(tmp_path):
    steps = np.arange(60) % 10 + 5 * (np.arange(60) % 10 > 6)
    folder = files_in(tmp_path / "log", table(step=steps, ts=None), 25)
    assert find_episodes(open_log(folder)).n_episodes == 6
    assert differences(*both(folder, gap=3)) == []
    assert find_episodes(open_log(folder, gap=3)).n_episodes == 12
    assert differences(*both(folder, gap=100)) == []
    assert differences(*both(folder)) == []  # nothing of the other gaps is in the cache


def test_the_usual_step_is_found_in_a_sample_of_a_long_log(tmp_path, monkeypatch):
    monkeypatch.setattr(gaps, "MOST_STEPS", 7)
    monkeypatch.setattr(disk_times, "MOST_STEPS", 7)
    rng = np.random.default_rng(0)
    for seed in range(8):
        times = (rng.choice([1, 2, 3, 40], 60, p=[0.4, 0.3, 0.2, 0.1])).cumsum() / 10.0
        folder = files_in(tmp_path / f"log{seed}", table(ts=times), 11, 12, 40)
        same_parts(read_log(folder), open_log(folder).sample(60))


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ("ms", "ms since 1970"),
        ("us", "us since 1970"),
        (pyarrow.timestamp("us", tz="Asia/Tokyo"), "dates"),
        (pyarrow.timestamp("s"), "dates"),
        ("text", "ISO 8601"),
        ("zones", "ISO 8601"),
    ],
)
def test_times_of_any_kind(times, told, tmp_path):
    # Six episodes, of which the third is interrupted; steps of a second.
    since = 1_700_000_000 + np.arange(60) + 500 * (np.arange(60) >= 25)
    dates = since.astype("M8[s]").astype(str)
    columns: Any = {
        "ms": lambda: since * 1000,
        "us": lambda: since * 10**6,
        "text": lambda: np.array([f"{date}Z" for date in dates], object),
        "zones": lambda: np.array([f"{date}{zone}" for date, zone in zip(dates, ["+02:00"] * 60, strict=True)], object),
    }
    column = columns[times]() if times in columns else pyarrow.array(since.astype("M8[s]")).cast(times)
    folder = files_in(tmp_path / "log", table(ts=column), 5, 29)
    assert differences(*both(folder)) == []
    log = open_log(folder)
    assert f"time         ts (guessed); times are {told}, derivatives are per second" in log.reading
    assert find_episodes(log).n_episodes == 7
    assert log.sample(60).dt.tolist() == [1.0] * 60


def test_gaps_are_told_in_the_words_of_memory_when_the_tree_grows(tmp_path):
    folder = files_in(tmp_path / "log", table(ts=np.arange(60) / 10.0 + 100 * (np.arange(60) >= 35)), 7)
    with warnings.catch_warnings(record=True) as here:
        warnings.simplefilter("always")
        read_log(folder)
    with pytest.warns(TripleTreeWarning) as there:
        TripleTree(**GROW).fit(open_log(folder, cache=tmp_path / "cache"))
    text = next(str(one.message) for one in here if "episodes are divided there" in str(one.message))
    assert text in {str(one.message) for one in there}


def test_times_that_a_log_on_disk_does_not_take_are_explained(tmp_path):
    times = np.arange(60) / 10.0
    times[[12, 13]] = times[[13, 12]]
    folder = files_in(tmp_path / "back", table(ts=times), 7)
    with pytest.raises(LogError, match=r"not in the order of their times, first in row 13.*sort the rows"):
        TripleTree().fit(open_log(folder, cache=tmp_path / "cache"))
    column = [None if k == 33 else k / 10.0 for k in range(60)]
    folder = files_in(tmp_path / "missing", table(ts=column), 7)
    with pytest.raises(LogError, match="`ts` is missing in row 33; every row needs a time"):
        TripleTree().fit(open_log(folder, cache=tmp_path / "cache"))
    texts = [f"2026-11-18T00:00:{k:02}Z" if k != 33 else "soon" for k in range(60)]
    folder = files_in(tmp_path / "text", table(ts=texts), 7)
    with pytest.raises(LogError, match="`ts` holds 'soon' in row 33; expected dates as ISO 8601"):
        TripleTree().fit(open_log(folder, cache=tmp_path / "cache", time="ts"))
    folder = files_in(tmp_path / "dt", table(ts=None, dt=[0.1] * 59 + [-1.0]), 7)
    with pytest.raises(LogError, match="`dt` holds -1 in row"):
        TripleTree().fit(open_log(folder, cache=tmp_path / "cache", dt="dt"))


@pytest.mark.parametrize("rows", [4, 2**18])
def test_rows_that_repeat_a_time_are_left_out(rows, tmp_path, monkeypatch):
    pieces_of(monkeypatch, rows)
    place = np.arange(60)
    cases = {
        "pairs": (place // 2 / 10.0, (7,)),
        "borders": (np.where(np.isin(place, [19, 20, 21, 59]), place - 1, place) / 10.0, (20, 21)),
        "whole": (place // 10 * 1.0, (5, 11)),
        "gaps": (place // 3 / 10.0 + 100 * (place >= 24), (24, 25)),
    }
    for name, (times, cuts) in cases.items():
        # A group that is there in rows only that are left out is none.
        pilot = np.where(place == 1, "Cy", "Eva") if name == "pairs" else np.array(["Eva"] * 60)
        pilot[30:] = "Bo"
        # So is it with an action of text, while a category is one of the log wherever it is.
        action = np.where(place == 1, "never", np.array(["up", "down"])[place % 2])
        mode = np.where(place == 1, "rare", np.array(["a", "b", "b"])[place % 3])
        folder = files_in(tmp_path / name, table(ts=times, pilot=pilot, action=action, mode=mode), *cuts)
        here, there = read_log(folder, group="pilot"), open_log(folder, group="pilot")
        assert here.n_samples < 60
        assert find_episodes(there).starts.tolist() == here.starts.tolist()
        assert differences(*both(folder, group="pilot")) == []
        if rows > 60:
            same_parts(here, there.sample(60))
    monkeypatch.setattr(disk_times, "MOST_LEFT_OUT", 2)
    with pytest.raises(LogError, match=r"30 rows have the `ts` of the row before .*at most 2 others are left out"):
        find_episodes(open_log(tmp_path / "pairs"))


def test_groups_are_those_of_memory(tmp_path):
    pilots = np.array(["Eva", "Bo", "Al"])[np.arange(60) // 10 % 3]
    for name, column in (("text", pilots), ("numbers", np.arange(60) // 10 % 3)):
        folder = files_in(tmp_path / name, table(pilot=column), 5, 30, 31)
        here, there = read_log(folder, group="pilot"), open_log(folder, group="pilot")
        same_parts(here, there.sample(60))
        for one, other in zip(here.split(0.3), there.split(0.3), strict=True):
            same_parts(one, other.sample(60))
        tree = both(folder, group="pilot")[0]
        compared(tree, here, there, {"reach": {"x": (0.5, None)}, "start": {"x": (None, 0)}, "within": 5})
        assert "group        pilot" in there.reading
    folder = files_in(tmp_path / "varies", table(pilot=np.where(np.arange(60) == 33, "Al", pilots)), 33)
    with pytest.raises(LogError) as here:
        read_log(folder, group="pilot")
    with pytest.raises(LogError) as there:
        find_episodes(open_log(folder, group="pilot"))
    assert str(there.value) == str(here.value)
    folder = files_in(tmp_path / "one", table(pilot=["Eva"] * 60))
    with pytest.warns(TripleTreeWarning, match="All episodes have the group `Eva`"):
        TripleTree(**GROW).fit(open_log(folder, group="pilot", cache=tmp_path / "cache"))


def test_episodes_are_looked_for_once(tmp_path, monkeypatch):
    folder = files_in(tmp_path / "log", table(), 20)
    log = open_log(folder, cache=tmp_path / "cache")
    training, held_out = log.split(0.4)
    monkeypatch.setattr("tripletree.log.runs.find_runs", None)
    tree = TripleTree(**GROW).fit(training, held_out)
    assert tree.fitted_.provenance["episodes"] == 4
    assert log.bare().known == []  # others need not be told
