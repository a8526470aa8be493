"""What can go wrong around a command: files, disks, pipes, Ctrl-C. One clear line each, nothing left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tripletree
from tests.cli.conftest import shell

posix = pytest.mark.skipif(os.name != "posix", reason="signals, limits and permissions")


@pytest.fixture
def log_text(folder):
    return (folder / "run.csv").read_bytes()


def one_line(told):
    assert told.code == 1, told.err
    assert told.failure is None
    told.err = re.sub(r"note: 1 of 1 truncated .*\n", "", told.err)
    assert re.fullmatch(r"error: [^\n]+\n", told.err), told.err
    assert told.out == ""
    return told.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "There is no file log.csv."),
        (b"", "log.csv is empty; expected a header line, and a line for each step."),
        (b"episode,pos,action,reward\n", "log.csv holds a header and no samples"),
        (
            "episode,größe,action,reward\n0,1,2,3\n".encode("latin-1"),
            "not utf-8 text: it holds byte 0xf6. Save it as UTF-8, or name its encoding: --encoding latin-1.",
        ),
        (b"1,2,3\n4,5,6\n", "log.csv has no header"),
        (b"episode,pos,action,reward\n0,1,2\n", "1 row of log.csv differ"),
        (b"PAR1 and so on", "log.csv is named as csv, but its content is parquet"),
    ],
)
def test_logs_that_are_none(run, work, monkeypatch, content, message):
    monkeypatch.chdir(work)
    if content is not None:
        Path("log.csv").write_bytes(content)
    assert message in one_line(run("grow", "log.csv", "-o", "m.tripletree"))
    assert not Path("m.tripletree").exists()


@pytest.mark.parametrize(
    "command", ["info", "predict", "chance", "paths", "simulate", "explain", "rules", "story", "plot"]
)
@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("nowhere.tripletree", "Cannot load 'nowhere.tripletree': No such file or directory."),
        (".", "Cannot load '.': it is a folder, not a file."),
        ("run.csv", "Cannot load 'run.csv': "),
        ("empty", "Cannot load 'empty': "),
    ],
)
def test_models_that_are_none(run, work, monkeypatch, command, model, message):
    monkeypatch.chdir(work)
    Path("empty").touch()
    more = {"predict": ["--state", "1,2"], "explain": ["--state", "1,2"], "chance": ["--reach", "end"]}
    more |= {"story": ["--from", "1,2", "--to", "end"], "plot": ["-o", "x.png"]}
    ways = ["--from", "leaf 0", "--to", "end"] if command in ("paths", "simulate") else []
    assert message in one_line(
        run(*(["plot", "map"] if command == "plot" else [command]), model, *more.get(command, ways))
    )


def test_a_directory_for_a_log(run, work, monkeypatch):
    monkeypatch.chdir(work)
    Path("empty").mkdir()
    message = one_line(run("grow", "empty", "-o", "m.tripletree"))
    assert message == (
        "error: empty is a folder without a CSV or Parquet file, and no LeRobot or Minari dataset. It is empty.\n"
    )


def test_places_where_no_file_can_go(run, work, monkeypatch):
    monkeypatch.chdir(work)
    Path("folder").mkdir()
    message = one_line(run("grow", "run.csv", "-o", "no where/m.tripletree"))
    assert message == "error: There is no folder no where. Make it first: mkdir -p 'no where'\n"
    assert one_line(run("grow", "run.csv", "-o", "folder")) == (
        "error: folder is a folder. Give the name of a file in it.\n"
    )


@posix
def test_a_read_only_folder_and_file(run, log_text, ordinary_user, monkeypatch):
    (ordinary_user / "run.csv").write_bytes(log_text)
    monkeypatch.chdir(ordinary_user)
    model = Path("m.tripletree")
    model.write_text("mine")
    model.chmod(0o444)
    assert "m.tripletree cannot be written: the file is read-only." in one_line(run("grow", "run.csv", "-o", model))
    assert model.read_text() == "mine"
    ordinary_user.chmod(0o555)
    try:
        message = one_line(run("grow", "run.csv", "-o", "new.tripletree"))
    finally:
        ordinary_user.chmod(0o755)
    assert "new.tripletree cannot be written: the folder is read-only." in message


@posix
def test_a_file_that_no_longer_fits_leaves_the_old_one(work):
    old = (work / "run.tripletree").read_bytes()
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    told = shell(work, "grow", "run.csv", "-o", "run.tripletree", "--truncation", "bootstrap", before=limit)
    assert told.returncode == 1
    assert told.stderr.endswith("\nerror: Cannot save the model to 'run.tripletree': File too large.\n")
    assert (work / "run.tripletree").read_bytes() == old
    assert sorted(path.name for path in work.iterdir()) == ["run.csv", "run.tripletree"]


def test_a_full_disk_leaves_the_old_file(run, work, monkeypatch):
    monkeypatch.chdir(work)
    old = Path("run.tripletree").read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    told = run("grow", "run.csv", "-o", "run.tripletree", "--truncation", "bootstrap")
    assert one_line(told) == "error: Cannot save the model to 'run.tripletree': No space left on device.\n"
    assert Path("run.tripletree").read_bytes() == old
    assert sorted(path.name for path in work.iterdir()) == ["run.csv", "run.tripletree"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["info", "run.tripletree"], ["info", "run.tripletree", "--json"]])
def test_a_result_that_cannot_be_written(work, arguments):
    with Path("/dev/full").open("w") as full:
        told = shell(work, *arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert told.returncode == 1
    assert told.stderr == "error: The output cannot be written: No space left on device.\n"


@posix
def test_a_reader_that_has_seen_enough(work):
    command = f"'{sys.executable}' -c 'from tripletree.cli import main; main()' info run.tripletree --leaves | head -1"
    told = subprocess.run(["sh", "-c", command], cwd=work, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("leaf,node")
    assert told.stderr == ""


@posix
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams(work, closed):
    program = f"'{sys.executable}' -c 'from tripletree.cli import main; main()'"
    for arguments in (
        "info run.tripletree",
        "info run.tripletree --json",
        "report run.tripletree --log run.csv -o a.html",
    ):
        told = subprocess.run(
            ["sh", "-c", f"{program} {arguments} {closed}"], cwd=work, capture_output=True, text=True, check=False
        )
        assert (told.returncode, told.stderr) == (0, "")
    # What would have been printed is not in the file that was opened after it.
    assert (work / "a.html").read_text().startswith("<!doctype html>")
    assert (work / "a.html").read_text().endswith("</html>\n")


@posix
def test_pipes_are_not_waited_for(run, work, monkeypatch):
    monkeypatch.chdir(work)
    os.mkfifo(work / "pipe.csv")
    for arguments in (("check", "pipe.csv"), ("info", "pipe.csv"), ("check", "run.csv", "--describe", "pipe.csv")):
        told = run(*arguments)
        assert told.code == 1
        assert "it is a pipe, not a regular file. Save what comes out of it to a file first" in told.out + told.err


@posix
def test_ctrl_c_during_growth_leaves_no_half_file_and_no_traceback(work):
    old = (work / "run.tripletree").read_bytes()
    stop = (
        "import os\nfrom contextlib import contextmanager\nfrom tripletree.cli import console\n"
        "@contextmanager\n"
        "def growing():\n"
        "    yield lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "console.growing = growing\n"
    )
    for name in ("run.tripletree", "new.tripletree"):
        told = shell(work, "grow", "run.csv", "-o", name, before=stop)
        assert told.returncode == 130
        assert told.stderr == "note: Stopped.\n"
        assert told.stdout == ""
    assert (work / "run.tripletree").read_bytes() == old
    assert sorted(path.name for path in work.iterdir()) == ["run.csv", "run.tripletree"]


def test_an_existing_model_is_replaced(run, work, monkeypatch):
    monkeypatch.chdir(work)
    assert run("grow", "run.csv", "-o", "run.tripletree", "--max-leaves", 3).code == 0
    assert tripletree.load("run.tripletree").n_leaves_ == 3


@pytest.mark.parametrize("module", ["tripletree.cli", "click", "rich.console", "tripletree.cli.trees", "numpy"])
def test_ctrl_c_while_modules_are_imported_is_a_word_not_a_traceback(work, module):
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "sys.argv = ['tripletree', 'info', 'run.tripletree']\n"
        "from tripletree.__main__ import main\n"
        "main()"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=work, text=True, check=False, capture_output=True)
    assert (told.returncode, told.stdout, told.stderr) == (130, "", "note: Stopped.\n")


def test_a_command_that_ends_does_not_look_for_garbage():
    code = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 0))\n"  # runs after those that are registered later
        "sys.argv = ['tripletree', '--version']\n"
        "from tripletree.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[1:] == ["True"]


def test_the_way_in_imports_next_to_nothing():
    code = "import sys; import tripletree.__main__; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-I", "-c", code], text=True, check=True, capture_output=True)
    assert {name for name in told.stdout.split() if name.startswith("tripletree")} == {
        "tripletree",
        "tripletree.__main__",
    }
    assert not {"click", "rich", "numpy"} & set(told.stdout.split())


@pytest.mark.parametrize(("said", "used"), [(None, "1"), ("2", "2")])
def test_linear_algebra_has_one_thread_unless_somebody_says_otherwise(said, used):
    code = "import tripletree.__main__; import os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    env = {name: text for name, text in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    env |= {} if said is None else {"OPENBLAS_NUM_THREADS": said}
    told = subprocess.run([sys.executable, "-c", code], env=env, text=True, check=True, capture_output=True)
    assert told.stdout == f"{used}\n"


def test_a_module_that_cannot_be_imported_ahead_is_left_to_whoever_needs_it():
    code = "from tripletree.cli.command import import_ahead; import_ahead('tripletree.nowhere')"
    told = subprocess.run([sys.executable, "-c", code], text=True, check=True, capture_output=True)
    assert (told.stdout, told.stderr) == ("", "")


@pytest.mark.parametrize("columns", ["0", "00", "", "1"])
def test_a_terminal_of_no_width_still_gets_everything(work, columns):
    told = shell(work, "info", "run.tripletree", env={**os.environ, "COLUMNS": columns})
    assert told.returncode == 0
    assert "".join(["2,000", "samples"]) in "".join(told.stdout.split())
