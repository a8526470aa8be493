"""The benchmark of faithfulness: a small run of its quick parts, and the figures that the manual quotes from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.__main__ import main

ROOT = Path(__file__).parents[1]
RESULTS = (ROOT / "benchmarks" / "results" / "faithful.md").read_text()

pytestmark = pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")


def test_a_small_run_measures_and_saves_nothing(capsys):
    assert main(["faithful", "--quick", "--only", "fit road", "--only", "counterfactuals lander"]) == 0
    said = capsys.readouterr().out
    rows = re.findall(
        r"^\| lander \| 450 \| ([\w. ]+) \| [\d,]+ \| ([\d.]+) \| ([\d.]*) \| ([\d.]+) ", said, re.MULTILINE
    )
    confirmed = {way: float(share) for way, _, _, share in rows}
    # Few questions, and yet the order is plain.
    assert confirmed["verified"] == 1
    assert confirmed["nearest border"] < confirmed["second opinion"]
    assert "| road | 1,000 x 2, 200 leaves | 1 |" in said
    assert (ROOT / "benchmarks" / "results" / "faithful.md").read_text() == RESULTS


def test_the_targets_are_met_in_what_was_saved():
    # The last column of every row with a target says whether it is kept.
    kept = re.findall(r"\| [<>]= [\d.]+ \| (yes|no) \|$", RESULTS, re.MULTILINE)
    assert len(kept) > 20
    assert set(kept) == {"yes"}


@pytest.mark.parametrize("agent", ["lander", "lander_sac_train", "LunarLander-v3"])
def test_the_manual_quotes_the_table(agent):
    manual = (ROOT / "docs" / "explaining.md").read_text()
    for way in ("nearest border", "margin 0.05", "second opinion", "bag", "verified"):
        share, changed = re.search(
            rf"^\| {agent} \| 450 \| {way} \| [\d,]+ \| [\d.]+ \| [\d.]* \| ([\d.]+) \| ([\d.]+) ",
            RESULTS,
            re.MULTILINE,
        ).groups()
        assert f"{100 * float(share):.0f} % ({float(changed):.1f})" in manual, way
