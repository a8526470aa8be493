"""Logs on disk with workers that die: processes and a real Dask cluster give the tree of memory all the same."""

from __future__ import annotations

import multiprocessing
import operator
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

from tests.scale.every_executor import run
from tests.scale.folders import differences, random_columns, write_folder
from tests.scale.full_disk import grow_on_small_disk, write_log
from tests.scale.test_fit import pieces_of
from tripletree import TripleTree, open_log, read_log
from tripletree.cli import main
from tripletree.scale.executors import QUIET, DaskWorkers, WorkersLostError

pytest.importorskip("distributed")


class Killer:
    """Told about progress, it kills one worker in every pass, once."""

    def __init__(self, *stages: str) -> None:
        self.stages = stages
        self.killed: list[str] = []

    def __call__(self, what: str, done: int, total: int, size: int, who: str) -> None:
        stage = what.partition(" (")[0]
        wanted = stage not in self.killed and (not self.stages or stage in self.stages)
        if done < total and wanted and (workers := multiprocessing.active_children()):
            self.killed.append(stage)
            workers[0].kill()


@pytest.mark.parametrize("executor", ["processes", "dask"])
def test_a_worker_killed_in_every_pass_changes_nothing(executor, tmp_path, monkeypatch):
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(3)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=40), rng, 7)
    pieces_of(monkeypatch, 32)
    options = {"mode": "histogram", "max_leaves": 40, "keep": "leaves", "leaf_model": "mean"}
    # New processes take their time: there, in three passes. Dask's are killed in every one.
    killer = Killer(*(() if executor == "dask" else ("reading", "growing", "describing leaves")))
    log = open_log(folder, executor=executor, workers=2, cache=tmp_path / "cache", progress=killer)
    there = TripleTree(**options).fit(log)
    assert differences(TripleTree(**options).fit(read_log(folder)), there) == []
    assert {"reading", "growing", "describing leaves"} <= set(killer.killed)
    assert executor == "processes" or {"measuring ranges", "measuring spreads", "binning"} <= set(killer.killed)
    assert multiprocessing.active_children() == []


def test_what_a_cluster_does_without_is_called_so_by_dask():
    import dask
    import distributed

    default = {"distributed": dask.config.get("distributed")}
    unknown = [name for name in QUIET if dask.config.get(name, None, config=default) is None]
    assert unknown == ["distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_"], distributed.__version__


def test_small_random_logs_on_every_executor_in_turn():
    assert run(18) == {"threads": 6, "processes": 6, "dask": 6}


@pytest.mark.parametrize("kilobytes", [3_000, 13_000], ids=["reading", "binning"])
def test_a_full_disk_that_workers_find_is_one_line(kilobytes, tmp_path):
    code, told, left = grow_on_small_disk(write_log(tmp_path / "log"), tmp_path, kilobytes, "dask")
    assert code == 1, told
    assert sum("disk of the cache" in line for line in told.splitlines()) == 1, told
    assert "Traceback" not in told
    assert left == []


def test_workers_that_dask_does_not_replace_are_asked_for_again():
    workers = DaskWorkers(1, None)
    try:
        workers._cluster.scale(0)
        assert sorted(workers.map(operator.add, 1, [1, 2, 3])) == [2, 3, 4]
    finally:
        workers.close(at_once=True)


def test_python_does_not_wait_for_a_cluster_whose_end_was_interrupted(monkeypatch):
    from distributed.core import Status
    from distributed.deploy.spec import close_clusters

    workers = DaskWorkers(1, None)
    cluster, asked = workers._cluster, []
    workers.close(at_once=True)
    # As Ctrl-C in the middle of its end leaves it; this is what Dask calls when Python ends.
    monkeypatch.setattr(cluster, "status", Status.closing)
    monkeypatch.setattr(cluster, "close", lambda **given: asked.append(given))
    close_clusters()
    assert asked == []


def test_a_scheduler_that_is_gone_is_one_clear_error(tmp_path):
    rng = np.random.default_rng(0)
    folder = write_folder(tmp_path / "log", random_columns(rng), rng, 2)
    with pytest.raises(WorkersLostError, match=r"There is no Dask scheduler at tcp://127.0.0.1:1"):
        TripleTree().fit(open_log(folder, scheduler="tcp://127.0.0.1:1", cache=tmp_path / "cache"))


@pytest.mark.parametrize("executor", ["processes", "dask"])
def test_the_command_line_with_every_executor(executor, tmp_path):
    rng = np.random.default_rng(8)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=9), rng, 3)
    command = ["grow", str(folder), "-o", str(tmp_path / "m.tripletree"), "--executor", executor, "--workers", "2"]
    made = CliRunner().invoke(main, [*command, "--cache", str(tmp_path / "cache")])
    assert made.exit_code == 0, made.output
    assert "A tree of" in made.output
