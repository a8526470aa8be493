"""The whole page on small logs: everything is drawn, and nothing is missing."""

from __future__ import annotations

import re
import sys

import pytest

from tripletree.demos import lander
from tripletree.errors import MissingDependencyError
from tripletree.reproduce import lander_tree
from tripletree.reproduce.page import FAILS, HOLDS, PARTLY
from tripletree.reproduce.run import reproduce
from tripletree.reproduce.work import Work


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    def run(what):
        told = []
        folder = tmp_path_factory.mktemp(what)
        done = reproduce(what, folder, lambda *counts: told.append(counts), road_samples=1_500, lander_samples=6_000)
        return done, folder, told

    return run


@pytest.mark.parametrize(("what", "number", "figures"), [("road", 15, 35), ("lander", 12, 18)])
def test_a_part(small, what, number, figures):
    done, folder, told = small(what)
    assert len(done.claims) == number
    assert {claim.verdict for claim in done.claims} <= {HOLDS, PARTLY, FAILS}
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1]
    assert [count for count, _ in told] == sorted(count for count, _ in told)
    page = done.page.read_text(encoding="utf-8")
    shown = re.findall(r'<img src="([^"]+)"', page)
    assert len(shown) == figures
    assert len(set(shown)) == figures
    assert sorted(f"figures/{file.name}" for file in (folder / "figures").iterdir()) == sorted(shown)
    assert "nan" not in re.sub(r"<[^>]+>", " ", page).split()


def test_without_matplotlib_the_pip_command_is_told_at_once(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "tripletree\[plot\]"'):
        reproduce("all", tmp_path / "page")
    assert not (tmp_path / "page").exists()


def test_without_gymnasium_the_recorded_log_is_used(monkeypatch, tmp_path):
    def missing(**_):
        raise MissingDependencyError("This needs Gymnasium.")

    monkeypatch.setattr(lander, "record", missing)
    part = lander_tree.prepare(Work(tmp_path, 3))
    assert part.training.n_episodes + part.validation.n_episodes == lander.log().n_episodes
    assert part.source.startswith("from the log of the package")
