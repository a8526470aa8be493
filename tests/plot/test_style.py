"""The house style stays inside, matplotlib is an extra, and figures are files: whole or not at all."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from tests.logs import make_log
from tests.scenes.models import gears
from tripletree import MissingDependencyError, TripleTree, plot
from tripletree.errors import ParameterError
from tripletree.plot.style import write_figure


def test_the_style_stays_inside():
    before = dict(matplotlib.rcParams)
    plot.leaf_map(gears(), "x", "gear", colour="value")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
def test_names_are_shown_as_they_are():
    log = make_log(
        np.random.default_rng(0).normal(size=(40, 2)),
        [0, 1] * 20,
        [1] * 40,
        labels=("_a$b$", "$x^"),
        names=("$a_b$", "_c$"),
    )
    picture = plot.leaf_map(TripleTree(5).fit(log), "$a_b$", "_c$").mark("$1 and $2", 0, 0).state([0, 0], "_mine")
    picture.figure_.canvas.draw()
    assert picture.ax_.get_xlabel() == r"\$a_b\$"
    assert len(picture.ax_.get_legend().get_texts()) == 3


def test_importing_it_leaves_matplotlib_alone():
    code = "import sys, tripletree.plot; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_matplotlib_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        MissingDependencyError, match=r'Pictures need matplotlib. Type: pip install "tripletree\[plot\]"'
    ):
        plot.leaf_map(gears(), "gear")


BEGINNINGS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xm", "ps": b"%!PS"}


@pytest.fixture
def figure():
    return pyplot.figure(figsize=(1, 1))


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_the_name_decides_the_format(figure, tmp_path: Path, kind: str):
    write_figure(figure, tmp_path / f"picture.{kind}", {})
    assert (tmp_path / f"picture.{kind}").read_bytes().startswith(BEGINNINGS[kind])


def test_a_format_can_be_given(figure, tmp_path: Path):
    write_figure(figure, str(tmp_path / "picture.dat"), {"format": "pdf"})
    assert (tmp_path / "picture.dat").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", ["picture", "picture."])
def test_without_a_format_matplotlibs_default_is_taken(figure, tmp_path: Path, name: str):
    write_figure(figure, tmp_path / name, {})
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]


def test_a_stream_will_do(figure):
    stream = io.BytesIO()
    write_figure(figure, stream, {"format": "svg"})
    assert stream.getvalue().startswith(b"<?xm")


def test_options_go_to_matplotlib(figure, tmp_path: Path):
    sizes = []
    for dpi in (30, 300):
        write_figure(figure, tmp_path / "picture.png", {"dpi": dpi})
        sizes.append(int.from_bytes((tmp_path / "picture.png").read_bytes()[16:20], "big"))
    assert sizes == [30, 300]


def test_what_cannot_be_drawn_leaves_the_old_picture(figure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "picture.png"
    path.write_bytes(b"old")

    def interrupt(stream, **_):
        stream.write(b"half")
        raise KeyboardInterrupt("Ctrl-C")

    with monkeypatch.context() as patch:
        patch.setattr(figure, "savefig", interrupt)
        with pytest.raises(KeyboardInterrupt, match="Ctrl-C"):
            write_figure(figure, path, {})
    with pytest.raises(ValueError, match="Format 'docx' is not supported"):
        write_figure(figure, tmp_path / "picture.docx", {})
    assert [entry.name for entry in tmp_path.iterdir()] == ["picture.png"]
    assert path.read_bytes() == b"old"


def test_places_that_do_not_exist(figure, tmp_path: Path):
    with pytest.raises(ParameterError, match=r"The picture cannot be written to .*a.png: No such file or directory\.$"):
        write_figure(figure, tmp_path / "nowhere" / "a.png", {})
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ParameterError, match=r"folder.png: it is a folder\. Give the name of a file in it\.$"):
        write_figure(figure, tmp_path / "folder.png", {})
