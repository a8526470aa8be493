"""The README holds on its own, wherever it is shown: its links, its commands, its calls and its numbers."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import tripletree
from tests.test_docs import anchors

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FILES = "https://github.com/tripletree/tripletree/blob/main/"
IMAGES = "https://raw.githubusercontent.com/tripletree/tripletree/main/"
# Inline, `](target)`, or by name, `[name]: target`.
LINKS = re.findall(r"\]\(([^)\s]+)\)|^\[[\w-]+\]: (\S+)$", README, re.MULTILINE)
TARGETS = sorted({inline or named for inline, named in LINKS})


def test_no_link_is_relative():
    # A package index shows the README without the files beside it.
    assert len(TARGETS) > 20
    assert [target for target in TARGETS if not target.startswith("https://")] == []
    assert not re.search(r"<(img|a)\b", README)


@pytest.mark.parametrize("target", [target for target in TARGETS if "tripletree/tripletree" in target])
def test_a_link_into_the_project_names_a_file_and_a_heading_that_exist(target):
    base = IMAGES if target.endswith(".png") else FILES
    assert target.startswith(base)
    path, _, anchor = target.removeprefix(base).partition("#")
    assert (ROOT / path).is_file()
    assert not anchor or anchor in anchors(ROOT / path)


def test_every_named_link_is_used_and_every_use_is_named():
    named = set(re.findall(r"^\[([\w-]+)\]: ", README, re.MULTILINE))
    assert named == set(re.findall(r"\]\[([\w-]+)\]", README))


def test_its_picture_is_small():
    assert 10_000 < (ROOT / "docs/images/report.png").stat().st_size < 300_000


def test_its_commands_exist():
    commands = set(re.findall(r"`make (\w+)`|^make (\w+) ", README, re.MULTILINE))
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= {inline or listed for inline, listed in commands} <= set(targets)


def test_it_installs_what_there_is():
    # From a clone: whether an index has the package is not for the README to know.
    assert re.findall(r"pip install (\S+)", README) == ["."]
    extras = re.findall(r'`"\.\[(\w+)\]"`', README)
    assert sorted(extras) == sorted(PROJECT["optional-dependencies"])
    assert f"git clone {PROJECT['urls']['Source']} " in README


def test_its_calls_exist():
    table = README.split("## What it answers")[1].split("## ")[0]
    methods = re.findall(r"\btree\.(\w+)\(", table)
    pictures = re.findall(r"\bplot\.(\w+)\(", table)
    assert len(methods) > 10
    assert [name for name in methods if not hasattr(tripletree.TripleTree, name)] == []
    assert [name for name in pictures if not hasattr(tripletree.plot, name)] == []


def test_its_speed_is_the_one_that_was_measured():
    leaves, steps, features, seconds, faster = re.findall(
        r"Growing ([\d,]+) leaves on ([\d,]+) steps of (\d+)\s+features takes ([\d.]+) s on one thread, (\d+) times",
        README,
    )[0]
    kept = json.loads((ROOT / "benchmarks/results/growth.json").read_text(encoding="utf-8"))
    (row,) = (row for row in kept["rows"] if row["case"] == "long" and row["method"] == "exact, 1 thread")
    assert row["size"].startswith(f"{steps} x {features},")
    assert f"{row['leaves']:,}" == leaves
    assert f"{row['seconds']:.1f}" == seconds
    assert f"{row['faster']:.0f}" == faster


def test_it_cites_the_paper_as_the_citation_file_does():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8").split("preferred-citation:")[1]
    title, url = re.search(r'title: "(.+)"', citation), re.search(r'url: "(.+)"', citation)
    assert title
    assert url
    assert f"title     = {{{title[1]}}}" in README
    assert f"url       = {{{url[1]}}}" in README
