"""Trees of logs on disk: bit for bit those of the same log in memory, in histogram mode."""

from __future__ import annotations

import shutil
import threading
import warnings

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from tests.scale.folders import differences, random_columns, write_folder
from tripletree import Log, LogError, ParameterError, TripleTree, open_log, read_log
from tripletree.log import cutting, ranks
from tripletree.scale import executors, plan
from tripletree.scale.cache import Cache, DiskFullError


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def random_options(rng: np.random.Generator) -> dict[str, object]:
    return {
        "mode": "histogram",
        "max_leaves": int(rng.choice([2, 20, 200])),
        "bins": int(rng.choice([4, 64, 1024])),
        "priority": str(rng.choice(["impurity", "gain"])),
        "truncation": str(rng.choice(["bootstrap", "paper"])),
        "keep": str(rng.choice(["track", "leaves"])),
        "gamma": float(rng.choice([0.9, 0.99, 1.0])),
        "leaf_model": str(rng.choice(["mean", "linear"])),
        "min_samples_leaf": int(rng.choice([1, 3])),
    }


def pieces_of(monkeypatch, rows: int) -> None:
    """Let pieces be of so many rows; longer episodes are cut."""
    monkeypatch.setattr(cutting, "PIECE", rows)
    monkeypatch.setattr(plan, "PIECE", rows)


@pytest.mark.parametrize("block", range(6))
def test_the_tree_on_disk_is_that_in_memory(block, tmp_path, monkeypatch):
    for seed in range(8 * block, 8 * block + 8):
        rng = np.random.default_rng(seed)
        folder = write_folder(tmp_path / f"log{seed}", random_columns(rng), rng, int(rng.choice([1, 7, 50])))
        pieces_of(monkeypatch, int(rng.choice([5, 17, 64, 2**18])))
        options = random_options(rng)
        there = TripleTree(**options).fit(open_log(folder, cache=tmp_path / "cache", workers=2))
        assert differences(TripleTree(**options).fit(read_log(folder)), there) == []


@pytest.mark.parametrize("seed", range(8))
def test_a_part_of_the_log_has_the_schema_of_the_whole(seed, tmp_path, monkeypatch):
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, episodes=12)
    n = len(columns["reward"])
    # A label, and a number that is neither 0 nor 1, occur once.
    columns["x0"] = np.where(np.arange(n) == rng.integers(n), 5.0, np.array(columns["x0"]) > 0).tolist()
    if "action" in columns:
        columns["action"] = np.where(np.arange(n) == rng.integers(n), 7, columns["action"]).tolist()
    folder = write_folder(tmp_path / "log", columns, rng, 3)
    pieces_of(monkeypatch, 10)
    there = open_log(folder, cache=tmp_path / "cache").split(0.5)
    for here, part in zip(read_log(folder).split(0.5), there, strict=True):
        expected = TripleTree(10, mode="histogram").fit(here)
        assert differences(expected, TripleTree(10).fit(part)) == []
        # What was seen of other episodes is not read again.
        assert differences(expected, TripleTree(10).fit(part)) == []


def test_one_endless_recording_is_cut_and_the_same(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    columns = random_columns(rng, episodes=15)
    for name in ("episode", "step", "terminated", "truncated"):
        columns.pop(name)
    folder = write_folder(tmp_path / "log", columns, rng, 1)
    pieces_of(monkeypatch, 16)
    for truncation in ("paper", "bootstrap"):
        options = {"mode": "histogram", "max_leaves": 30, "keep": "leaves", "truncation": truncation}
        there = TripleTree(**options).fit(open_log(folder, endless=True, cache=tmp_path / "cache"))
        here = TripleTree(**options).fit(read_log(next(folder.iterdir()), endless=True))
        assert here.fitted_.transitions is not None
        assert differences(here, there) == []


def test_a_file_that_is_cut_from_the_log_changes_nothing_but_files_are_in_natural_order(tmp_path):
    rng = np.random.default_rng(1)
    columns = random_columns(rng, episodes=8)
    one = write_folder(tmp_path / "one", columns, rng, 1)
    many = write_folder(tmp_path / "many", columns, rng, 25)
    assert len(list(many.iterdir())) > 10
    trees = [TripleTree(20, mode="histogram").fit(open_log(f, cache=tmp_path / "c")) for f in (one, many)]
    assert differences(*trees) == []


def test_episodes_are_found_by_flags_steps_or_files(tmp_path):
    rng = np.random.default_rng(2)
    columns = random_columns(rng, episodes=6)
    for left_out in (("episode",), ("episode", "step"), ("episode", "terminated", "truncated")):
        some = {name: column for name, column in columns.items() if name not in left_out}
        folder = write_folder(tmp_path / "-".join(left_out), some, rng, 4)
        there = TripleTree(20, mode="histogram").fit(open_log(folder, cache=tmp_path / "c"))
        assert differences(TripleTree(20, mode="histogram").fit(read_log(folder)), there) == []


def test_an_interrupted_run_goes_on_from_its_cache(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=11), rng, 7)
    pieces_of(monkeypatch, 16)
    expected = TripleTree(20, mode="histogram").fit(read_log(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    stages: dict[str, int] = {}
    every = ("reading", "measuring spreads", "binning", "growing", "gathering episodes")

    def note(what: str, *_: object) -> None:
        stages[what] = stages.get(what, 0) + 1

    TripleTree(20, mode="histogram").fit(open_log(folder, progress=note))
    assert list((tmp_path / "home").rglob("*-*")) == []  # nothing is left behind
    for stop in every:

        def interrupt(what: str, done: int, total: int, *_: object, stop: str = stop) -> None:
            if what.startswith(stop) and done == total:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            TripleTree(20, mode="histogram").fit(open_log(folder, progress=interrupt))
        left = {path.name.partition("-")[0] for path in (tmp_path / "home").rglob("*-*") if path.is_file()}
        assert left <= {"log"}
        stages.clear()
        again = TripleTree(20, mode="histogram").fit(open_log(folder, progress=note))
        assert differences(expected, again) == []
        # What was read is not read again.
        assert stop == "reading" or stages["reading"] == 1
        assert list((tmp_path / "home").rglob("*-*")) == []


def test_a_damaged_piece_of_the_cache_is_read_again(tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=11), rng, 3)
    pieces_of(monkeypatch, 16)
    first = TripleTree(20, mode="histogram").fit(open_log(folder, cache=tmp_path / "cache"))
    # The folder is called log-, too, and by a hash that may begin with 0.
    piece = min(path for path in (tmp_path / "cache").rglob("log-0*") if path.is_file())
    data = bytearray(piece.read_bytes())
    data[-70] ^= 1
    piece.write_bytes(data)
    sizes: list[int] = []

    def note(what: str, done: int, total: int, *_: object) -> None:
        sizes.append(total if what == "reading" else 0)

    second = TripleTree(20, mode="histogram").fit(open_log(folder, cache=tmp_path / "cache", progress=note))
    assert differences(first, second) == []
    assert 0 < max(sizes) < first.fitted_.provenance["samples"]


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=11), rng, 3)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    number = [0]

    def full(source: object, target: object) -> None:
        number[0] += 1
        if number[0] > 1:
            raise OSError(28, "No space left on device")

    pieces_of(monkeypatch, 16)
    monkeypatch.setattr("tripletree.scale.cache.os.replace", full)
    remove, at_work = Cache.remove, []

    def watched(cache: Cache) -> None:
        at_work.extend(thread.name for thread in threading.enumerate() if thread.name.startswith("tripletree"))
        remove(cache)

    monkeypatch.setattr(Cache, "remove", watched)
    with pytest.raises(DiskFullError, match=r"The disk of the cache .* is full. Make room, or name a folder"):
        TripleTree(20).fit(open_log(folder))
    assert list((tmp_path / "home").rglob("*-*")) == []
    # One who still worked could have written a piece into the folder that was just emptied.
    assert at_work == []


def test_a_folder_in_which_files_still_appear_is_removed(tmp_path, monkeypatch):
    cache = Cache(str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    rmtree, late = shutil.rmtree, iter([1, 2])

    def slow(path: str, ignore_errors: bool) -> None:
        for number in late:
            cache.write("log", number, {}, {})
            return
        rmtree(path, ignore_errors=ignore_errors)

    monkeypatch.setattr("tripletree.scale.cache.shutil.rmtree", slow)
    cache.remove()
    assert not (tmp_path / "cache").exists()


def test_growth_on_a_sample_counts_on_all(tmp_path):
    rng = np.random.default_rng(7)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=60), rng, 7)
    log = open_log(folder, cache=tmp_path / "cache", sample=300)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tree = TripleTree(20, keep="leaves").fit(log)
    assert any("grown on about 300 steps of whole random episodes" in str(one.message) for one in told)
    whole = read_log(folder)
    leaf = tree.tree_.apply(whole.states)
    assert tree.fitted_.attributes.count[0] == whole.n_samples
    assert tree.fitted_.leaves.count.tolist() == np.bincount(leaf, minlength=tree.n_leaves_).tolist()
    assert tree.fitted_.transitions.samples.sum() == whole.n_samples


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"memory": "two"}, r'memory="two" is no size; type memory="2GB"'),
        ({"memory": "1MB"}, r"1 MB are too little to work with: give at least memory=\"[34]\d0MB\""),
        ({"memory": "400MB", "sample": 10**6}, r"1,000,000 steps do not fit into 400 MB: give at most sample=\d+, or"),
        ({"executor": "spark"}, "executor must be"),
        ({"workers": 0}, "workers must be"),
        ({"sample": -1}, "sample must be"),
        ({"missing": "guess"}, "missing must be"),
    ],
)
def test_wrong_options_are_explained(given, match, tmp_path):
    folder = write_folder(tmp_path / "log", random_columns(np.random.default_rng(0)), np.random.default_rng(0), 2)
    with pytest.raises((ParameterError, LogError), match=match):
        TripleTree().fit(open_log(folder, **given))


def test_what_cannot_be_opened_is_explained(tmp_path):
    with pytest.raises(LogError, match="There is no file or folder"):
        open_log(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LogError, match=r"is a folder without a Parquet file. It is empty"):
        open_log(tmp_path / "empty")
    rng = np.random.default_rng(0)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=5), rng, 3)
    (folder / "part9.parquet").write_bytes(b"PAR1 but not quite PAR1")
    with pytest.raises(LogError, match=r"part9.parquet is not a Parquet file, or damaged"):
        open_log(folder)
    parquet.write_table(pyarrow.table({"x0": [1.0]}), folder / "part9.parquet")
    with pytest.raises(LogError, match=r"part9.parquet lacks .* compared with part0.parquet"):
        open_log(folder)
    table = parquet.read_table(folder / "part0.parquet")
    changed = table.set_column(table.column_names.index("reward"), "reward", pyarrow.array(["a"] * len(table)))
    parquet.write_table(changed, folder / "part9.parquet")
    with pytest.raises(LogError, match=r"Column `reward` holds double in part0.parquet and text in part9.parquet"):
        open_log(folder)
    (folder / "part9.parquet").unlink()
    with pytest.raises(LogError, match=r"would be read as previous_row, and a log on disk has no row pointers yet"):
        open_log(folder, previous_row="x0")


def test_scattered_episodes_are_named(tmp_path):
    rng = np.random.default_rng(0)
    columns = random_columns(rng, episodes=5)
    columns["episode"][-1] = columns["episode"][0]
    columns["step"][-1] = 1_000
    folder = write_folder(tmp_path / "apart", columns, rng, 1)
    with pytest.raises(LogError, match="The rows of episode 0 do not lie together"):
        TripleTree().fit(open_log(folder, cache=tmp_path / "c"))


def test_one_row(tmp_path):
    columns = {"x": [1.0], "action": [0], "reward": [1.0], "episode": [0]}
    folder = write_folder(tmp_path / "log", columns, np.random.default_rng(0), 1)
    assert TripleTree().fit(open_log(folder, cache=tmp_path / "c")).n_leaves_ == 1


def test_a_cache_folder_that_cannot_be_made_is_explained(tmp_path):
    folder = write_folder(tmp_path / "log", random_columns(np.random.default_rng(0)), np.random.default_rng(0), 2)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ParameterError, match=r"No cache can be made in .*file.*cache="):
        TripleTree().fit(open_log(folder, cache=tmp_path / "file"))


def test_groups_are_even():
    assert executors.groups_of(list(range(7)), 3) == [[0, 1], [2, 3], [4, 5, 6]]
    assert executors.groups_of([1], 3) == [[1]]


def test_numbers_and_bits_go_both_ways():
    numbers = np.array([-np.inf, -2.5, -1e-300, 0.0, 1e-300, 7.0, 1e300])
    bits = ranks.ordered_bits(numbers)
    assert (np.diff(bits.astype(object)) > 0).all()
    assert [ranks.number_of(int(one)) for one in bits] == numbers.tolist()


def test_places_of_a_sorted_column_are_found_by_counting():
    rng = np.random.default_rng(0)
    numbers = np.concatenate([rng.normal(size=100), np.repeat(rng.normal(size=3), 20), [-1e300, 0.0]])
    places = [0, 3, 80, 80, len(numbers) - 1]
    looking = ranks.Ranks.of(places)
    while not looking.found:
        looking = looking.narrowed(sum(looking.counted(part) for part in np.array_split(numbers, 4)))
    assert looking.numbers == np.sort(numbers)[places].tolist()


def test_a_piece_that_is_lost_is_told(tmp_path):
    with pytest.raises(LogError, match="has lost a part"):
        Cache(str(tmp_path)).read("log", 3)


def test_a_log_on_disk_is_told_in_words(tmp_path):
    columns = random_columns(np.random.default_rng(1), episodes=3)
    log = open_log(write_folder(tmp_path / "log", columns, np.random.default_rng(0), 5))
    assert repr(log).startswith(f"DiskLog({len(columns['reward'])} samples in {len(log.files)} files")
    assert "episode" in log.reading
    assert str(plan.plan(log)).endswith("on disk for the cache.")
    assert isinstance(log.n_bytes, int)
    assert not isinstance(log, Log)


def test_memory_is_kept_and_told(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=40), rng, 5)
    few, much = open_log(folder, memory="400MB"), open_log(folder, memory="1.5GB")
    assert (plan.plan(few).memory, plan.plan(much).memory < 15 * 10**8) == (4 * 10**8, True)
    assert plan.shares_of(few)[1] < plan.shares_of(much)[1]
    # With many cores there are as many workers as there is room for.
    with monkeypatch.context() as patch:
        patch.setattr(plan, "available_cores", lambda: 500)
        assert 1 <= plan.shares_of(few)[0] < plan.shares_of(much)[0] < 500
    # As if steps were so large that there is room for fewer than 300 of them.
    monkeypatch.setattr(plan, "BYTES_A_STEP", 10**6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree, other = TripleTree(20).fit(few), TripleTree(20).fit(much)
    assert tree.fitted_.provenance["in_memory"] < 300 < few.n_samples
    assert "in_memory" not in other.fitted_.provenance
    assert np.array_equal(tree.tree_.threshold, other.tree_.threshold)
    assert tree.transitions(few).samples.sum() == few.n_samples


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_cache_takes_what_was_said_before(tmp_path, kind):
    rng = np.random.default_rng(1)
    n = 20_000
    columns = {f"x{k}": rng.normal(size=n).astype(kind) for k in range(4)}
    columns |= {"action_0": rng.normal(size=n).astype(kind), "reward": rng.normal(size=n)}
    columns |= {"episode": np.arange(n) // 250, "step": np.arange(n) % 250}
    folder = write_folder(tmp_path / "log", columns, rng, 3)
    cache, most = tmp_path / "cache", [0]

    def look(*_: object) -> None:
        most[0] = max(most[0], sum(path.stat().st_size for path in cache.rglob("*-*") if path.is_file()))

    log = open_log(folder, cache=cache, progress=look)
    TripleTree(20, mode="histogram", leaf_model="mean").fit(log)
    said = plan.cache_of(log)
    assert 0.9 * said < most[0] < 1.05 * said
    # Single precision takes half as much, but for the reward, six bytes a step, and rows that bins are chosen by.
    assert abs((said - plan.WHERE * n - 8 * 4 * 2 * n) / n - (5 * np.dtype(kind).itemsize + 8)) < 1


def test_the_command_line_grows_on_a_folder(tmp_path):
    from click.testing import CliRunner

    from tripletree import load
    from tripletree.cli import main

    rng = np.random.default_rng(8)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=9), rng, 7)
    out, cache = str(tmp_path / "m.tripletree"), str(tmp_path / "cache")
    command = ["grow", str(folder), "-o", out, "--memory", "2GB", "--cache", cache]
    made = CliRunner().invoke(main, [*command, "--validation", "none"])
    assert made.exit_code == 0, made.output
    assert "samples in" in made.output
    assert "on disk for the cache" in made.output
    here = TripleTree(mode="histogram").fit(read_log(folder))
    assert load(out).tree_.threshold.tolist() == here.tree_.threshold.tolist()
    wrong = CliRunner().invoke(main, ["grow", str(folder), "-o", out, "--memory", "lots"])
    assert "--memory lots is no size; type --memory 2GB" in wrong.output
    share = CliRunner().invoke(main, [*command, "--validation", "0.3"])
    assert "of other episodes chose its size" in share.output
    here = TripleTree(mode="histogram").fit(*read_log(folder).split(0.3))
    assert load(out).tree_.threshold.tolist() == here.tree_.threshold.tolist()
    lags = CliRunner().invoke(main, ["grow", str(folder), "-o", out, "--memory", "2GB", "--lags", "1"])
    assert "--lags needs the log in memory" in lags.output
