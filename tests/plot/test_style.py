"""The house style stays inside, and matplotlib is an extra."""

from __future__ import annotations

import subprocess
import sys

import matplotlib
import numpy as np
import pytest

from tests.logs import make_log
from tests.scenes.models import gears
from tripletree import MissingDependencyError, TripleTree, plot


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
