"""The paper's figures: one is drawn here, all of them by ``make figures``."""

from __future__ import annotations

import pytest
from figures.__main__ import DOCS, FIGURES, main


def test_the_manual_shows_figures_that_are_drawn():
    assert set(DOCS) <= set(FIGURES)
    assert {name.partition("-")[0] for name in FIGURES} >= {"road", "lander"}


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
def test_a_figure_is_saved(tmp_path, capsys):
    assert main(["road-why-not", "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["road-why-not.pdf", "road-why-not.png"]
    assert "road-why-not" in capsys.readouterr().out


def test_an_unknown_figure(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["moon"])
    assert "no figure is called so; there are road-losses-left" in capsys.readouterr().err
