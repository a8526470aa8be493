"""Names that are markup, orders to a terminal or very long, through everything that prints or draws."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import warnings
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from rich.console import Console

from tests.hostile.names import NAMES, hostile_log
from tripletree import TripleTree, TripleTreeWarning, load, plot, read_log
from tripletree.cli import console, main
from tripletree.text import visible

BEGINS = range(0, len(NAMES), 3)
"""With four features, three labels and six episodes, every name takes every part."""


def grown(log, leaves=20):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(leaves).fit(log)


@pytest.fixture(scope="module", params=BEGINS)
def case(request, tmp_path_factory):
    """A hostile log and its tree, in files too."""
    folder = tmp_path_factory.mktemp("names")
    log = hostile_log(request.param)
    tree = grown(log)
    tree.save(folder / "run.tripletree")
    log.to_npz(folder / "run.npz")
    return folder, log, tree


@pytest.fixture
def run(case, monkeypatch):
    monkeypatch.chdir(case[0])

    def command(*arguments):
        return CliRunner().invoke(main, [str(a) for a in arguments], prog_name="tripletree")

    return command


def commands(log):
    """Commands that print names, with the arguments that make them."""
    first = log.schema.feature_names[0]
    return (
        ("info", "run.tripletree"),
        ("check", "run.npz"),
        ("rules", "run.tripletree"),
        ("predict", "run.tripletree", "--state", "0.5,0,1,3"),
        ("explain", "run.tripletree", "--state", "0.5,0,1,3"),
        ("explain", "run.tripletree", "--state", "0.5,0,1,3", "--foil", "value > 1"),
        ("story", "run.tripletree", "--log", "run.npz", "--episode", log.episode_ids[2]),
        ("chance", "run.tripletree", "--reach", "value > 1"),
        ("futures", "run.tripletree", "--from", "value < 1"),
        ("paths", "run.tripletree", "--from", "value < 1", "--to", "end"),
        # Mistakes, whose messages repeat what was given.
        ("explain", "run.tripletree", "--state", "0.5,0,1,3", "--about", first),
        ("explain", "run.tripletree", "--state", f"{first}=1"),
        ("story", "run.tripletree", "--log", "run.npz", "--episode", f"{first} "),
        ("predict", "run.tripletree", "--state", first),
        (first,),
        ("info", "run.tripletree", f"--{first}"),
        ("check", f"{first[:40].replace('/', '')}.npz"),
    )


def assert_harmless(text):
    for character in text:
        assert character == "\n" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert character not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u200b"


def test_nothing_reaches_a_terminal_that_cannot_be_seen(case, run):
    _, log, _ = case
    for arguments in commands(log):
        if any("\0" in str(part) for part in arguments):
            continue  # no program can be given one
        told = run(*arguments)
        assert told.exit_code in (0, 1, 2), told.exception
        assert told.exception is None or isinstance(told.exception, SystemExit), arguments
        assert_harmless(told.stdout + told.stderr)


def test_names_are_printed_on_one_line(case, run):
    _, log, _ = case
    told = run("info", "run.tripletree")
    for name in log.schema.feature_names:
        # Wrapped by the table, but never broken by the name itself.
        assert "".join(visible(name, line_breaks=False).split())[:30] in "".join(told.stdout.split())
    assert not any(
        line.startswith("error: line two")
        for arguments in commands(log)[:9]
        for line in run(*arguments).stdout.splitlines()
    )


def test_data_for_programs_keep_the_names(case, run):
    _, _, tree = case
    told = run("info", "run.tripletree", "--json")
    assert_harmless(told.stdout.rstrip("\n"))
    assert json.loads(told.stdout)["schema"] == tree.fitted_.schema.to_dict()
    rows = list(csv.reader(io.StringIO(run("info", "run.tripletree", "--leaves").stdout, newline="")))
    assert len(rows) == tree.n_leaves_ + 1
    columns = list(tree.leaves_.to_dict())
    # A file is data, so it has the names themselves.
    assert rows[0] == columns


def test_a_terminal_gets_csv_that_can_be_seen(case, run, monkeypatch):
    monkeypatch.setattr(console, "_out", Console(highlight=False, force_terminal=True, width=80, no_color=True))
    assert_harmless(run("info", "run.tripletree", "--leaves").stdout)


def test_files_give_the_names_back(case):
    folder, log, tree = case
    assert read_log(folder / "run.npz").schema == log.schema
    assert read_log(folder / "run.npz").episode_ids.tolist() == log.episode_ids.tolist()
    assert load(folder / "run.tripletree").fitted_.schema == tree.fitted_.schema


@pytest.mark.parametrize("begin", range(0, len(NAMES), 9))
def test_pictures_are_drawn(begin, tmp_path):
    log = hostile_log(begin)
    tree = grown(log)
    a, b = log.schema.feature_names[:2]
    coarse = tree.truncate(6)
    for name, picture in (
        ("map", plot.leaf_map(tree, a, b, colour="action", log=log).episodes(log, [0, 1]).zone({a: (0.2, 0.5)})),
        ("curve", plot.leaf_map(tree, a, colour="value")),
        ("tree", plot.tree(tree)),
        ("importance", plot.importance(tree)),
        ("attribution", plot.attribution(tree, log.states[3], about="value")),
        ("beeswarm", plot.beeswarm(tree, log, about="value", most=3)),
        ("effects", plot.effects(tree, features=[a, b])),
        ("transitions", plot.transitions(coarse, log=log)),
        ("episode", plot.episode(tree, log, 3)),
        ("overview", plot.overview(tree)),
        ("after", plot.after(tree, 5, f"leaf {tree.n_leaves_ - 1}")),
    ):
        picture.save(tmp_path / f"{name}.svg")
        picture.figure_.figure.set_layout_engine("none")  # everything has its place by now
        picture.save(tmp_path / f"{name}.png", dpi=40)
        drawn = ElementTree.parse(tmp_path / f"{name}.svg").getroot()
        said = "".join(drawn.itertext())
        assert_harmless(re.sub(r"\s", " ", said))
        assert "hacked" not in "".join(
            value for part in drawn.iter() for key, value in part.items() if key.startswith("on")
        )
        assert not list(drawn.iter("{http://www.w3.org/2000/svg}script"))
        width, height = (float(drawn.get(side).removesuffix("pt")) for side in ("width", "height"))
        assert width < 800
        assert height < 2_000


@pytest.mark.parametrize("name", ["$x^2$ and $\\frac{1}{0}$", "a\\", "_hidden"])
def test_a_picture_shows_a_name_as_it_is(name, tmp_path):
    log = hostile_log(NAMES.index(name))
    plot.importance(grown(log)).save(tmp_path / "a.svg")
    texts = ElementTree.parse(tmp_path / "a.svg").getroot().iter("{http://www.w3.org/2000/svg}text")
    # A thin space keeps matplotlib from leaving out what begins with an underscore.
    assert name in ["".join(part.itertext()).lstrip("\N{HAIR SPACE}") for part in texts]
