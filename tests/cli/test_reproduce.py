"""``tripletree reproduce``: what it prints; what it finds is tested in tests/reproduce."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripletree.reproduce import run as module
from tripletree.reproduce.page import FAILS, HOLDS, Claim


@pytest.fixture
def asked(monkeypatch):
    calls = []

    def reproduce(what, folder, progress):
        progress(1, 2)
        calls.append((what, folder))
        found = [Claim("It flies.", "It does.", HOLDS), Claim("It lands on its feet, always.", "Never.", FAILS)]
        return module.Reproduction(folder / "index.html", found)

    monkeypatch.setattr(module, "reproduce", reproduce)
    return calls


def test_verdicts_and_where_the_page_is(run, asked, tmp_path):
    told = run("reproduce", "road", "--out", str(tmp_path / "page"))
    assert told.code == 0
    assert asked == [("road", tmp_path / "page")]
    assert "holds  It flies." in told.out
    assert "does not hold  It lands on its feet, always." in told.out
    assert f"The page is {tmp_path / 'page' / 'index.html'}." in told.out


def test_without_words_all_of_it(run, asked):
    assert run("reproduce").code == 0
    assert asked == [("all", Path("out/reproduce"))]


def test_an_unknown_part(run, asked):
    told = run("reproduce", "lender")
    assert told.code == 2
    assert asked == []
