"""Figures as files: the format, whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from matplotlib import pyplot

from tripletree.errors import ParameterError
from tripletree.plot.style import write_figure

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
