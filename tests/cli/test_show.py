"""A model to look at: ``plot`` and ``report``."""

from __future__ import annotations

import pytest

MODEL = "run.tripletree"


def test_pictures(run, tmp_path):
    for ending, begin in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
        picture = tmp_path / f"map{ending}"
        told = run("plot", "map", MODEL, "-x", "pos", "-y", "speed", "--colour", "value", "-o", picture)
        assert (told.code, told.out) == (0, f"The picture is in {picture}.\n")
        assert picture.read_bytes().startswith(begin)
    marks = ["--log", "run.csv", "--zone", "pos < 0.5", "--state", "1.2,0", "--arrows", "--where", "speed > 0"]
    assert "--where limits `speed`" in run("plot", "map", MODEL, "-x", "pos", "-y", "speed", *marks, "-o", picture).err
    assert run("plot", "map", MODEL, "-x", "pos", "-y", "speed", *marks[:-2], "-o", picture).code == 0
    assert run("plot", "map", MODEL, "--where", "speed in [0, 0.05]", "-o", picture).code == 0
    assert len(list(tmp_path.iterdir())) == 3


def test_sheets(run, tmp_path):
    picture = tmp_path / "sheet.svg"
    assert run("plot", "overview", MODEL, "-o", picture).code == 0
    assert "density" in picture.read_text().lower()
    assert run("plot", "curves", MODEL, "--log", "run.csv", "-o", picture).code == 0
    assert run("plot", "tree", MODEL, "--depth", 2, "-o", picture).code == 0
    assert run("plot", "transitions", MODEL, "-x", "pos", "-y", "speed", "--log", "run.csv", "-o", picture).code == 0
    assert run("plot", "importance", MODEL, "-o", picture).code == 0
    assert run("plot", "effects", MODEL, "--about", "value", "--features", "speed", "-o", picture).code == 0
    assert "How value moves with each feature" in picture.read_text()
    told = run("plot", "effects", MODEL, "--stability", "-o", picture)
    assert (told.code, "--log" in told.err) == (1, True)
    told = run("plot", "overview", MODEL, "-x", "pos", "-o", picture)
    assert told.code == 2
    assert "A picture of kind overview has no option -x." in told.err


def test_where_it_is_later(run, tmp_path):
    picture = tmp_path / "fan.svg"
    start = ["--from", "pos=1.2, speed=0"]
    assert run("plot", "after", MODEL, "-o", picture).code == 0
    assert "over the next 100 steps" in picture.read_text()
    assert run("plot", "after", MODEL, "--steps", 20, *start, "--log", "run.csv", "-o", picture).code == 0
    assert "over the next 20 steps" in picture.read_text()
    assert run("plot", "after", MODEL, "-x", "pos", "-y", "speed", "--steps", 20, *start, "-o", picture).code == 0
    assert "20 steps later" in picture.read_text()
    told = run("plot", "after", MODEL, "-y", "pos", "-o", picture)
    assert (told.code, "-x and -y are both `pos`" in told.err) == (1, True)
    told = run("plot", "after", MODEL, "--steps", 0, "-o", picture)
    assert (told.code, "--steps must be a whole number" in told.err) == (1, True)
    told = run("plot", "map", MODEL, "--steps", 5, "-o", picture)
    assert (told.code, "A picture of kind map has no option --steps." in told.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-x", "poss", "-o", "p.png"], 1, "Did you mean `pos`?"),
        (["-o", "p.gif"], 1, "p.gif ends in `.gif`; pictures are written as `.png`, `.pdf`, `.svg`."),
        (["--episode", "3", "-o", "p.png"], 2, "--episode points into a log: give --log LOG as well."),
        (["--where", "speeed > 0", "-o", "p.png"], 1, "Did you mean `speed`?\n  speeed > 0\n  ^^^^^^\n"),
    ],
)
def test_pictures_that_cannot_be_drawn(run, folder, arguments, code, message):
    told = run("plot", "map", MODEL, *arguments)
    assert told.code == code
    assert message in told.err
    assert not (folder / "p.png").exists()


def test_a_report_is_one_file(run, tmp_path):
    page = tmp_path / "run.html"
    told = run("report", MODEL, "--log", "run.csv", "-o", page, "--title", "Run <7>")
    assert told.code == 0
    assert told.out.startswith(f"The report is in {page} (")
    assert "Run &lt;7&gt;" in page.read_text(encoding="utf-8")
    assert run("report", MODEL, "-o", page).code == 2
    run("report", MODEL, "--log", "run.csv", "-o", page, "--failures", "return < 1", "--require", "always (pos > -9)")
    assert "Why episodes fail" in page.read_text()
    assert "What is required of it" in page.read_text()


def test_a_log_on_a_map_needs_both_axes(run, tmp_path):
    told = run("plot", "map", MODEL, "-x", "pos", "--log", "run.csv", "-o", tmp_path / "p.png")
    assert (told.code, told.err) == (1, "error: Overlays need a map of two features: give -y as well.\n")
    told = run("plot", "map", MODEL, "-o", tmp_path / "picture")
    assert told.err == "error: picture has no ending; pictures are written as `.png`, `.pdf`, `.svg`.\n"
    assert list(tmp_path.iterdir()) == []


def test_the_first_page_can_be_read_in_the_shell(run, tmp_path):
    told = run("report", MODEL, "--log", "run.csv", "--summary", "--success", "length > 1")
    assert told.code == 0
    assert "What it does" in told.out
    assert "Success means length > 1." in told.out
    nowhere = run("report", MODEL, "--log", "run.csv")
    assert nowhere.code == 2
    assert "Give -o FILE.html, or --summary" in nowhere.err
    wrong = run("report", MODEL, "--log", "run.csv", "--summary", "--success", "retrun > 1")
    assert wrong.code == 1
    assert "Did you mean `return`?" in wrong.err


def test_a_report_is_html(run):
    told = run("report", "run.tripletree", "--log", "run.csv", "-o", "x.pdf")
    assert told.code == 1
    assert "error: --out must end in .html or .htm; got 'x.pdf'. Try --out x.html." in told.err
