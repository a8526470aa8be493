"""The benchmark of answers on unseen episodes: what it measures with, and one run on a small log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from benchmarks import holding, unseen
from benchmarks.harness import Options, Report
from benchmarks.unseen import Asked, Setting, auc, calibration_error, zones

from tests.logs import make_log
from tripletree.demos import road
from tripletree.graph import count

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")


def asked(**changes):
    values = {"count": 0.5, "low": 0.4, "high": 0.6, "unseen": 0.5, "unseen_low": 0.3, "unseen_high": 0.7}
    return Asked((None, "end", 5), "the end", **values | changes, chain=0.5)


@pytest.mark.parametrize(
    ("unseen_share", "bounds", "held"),
    [(0.55, (0.35, 0.75), True), (0.7, (0.5, 0.85), True), (0.73, (0.53, 0.85), False), (0.27, (0.15, 0.47), False)],
)
def test_both_sides_add_the_halves_that_face_each_other(unseen_share, bounds, held):
    # A tenth on the one side and two tenths on the other are 0.224 together.
    one = asked(unseen=unseen_share, unseen_low=bounds[0], unseen_high=bounds[1])
    assert holding.covers(one) is held


def test_times_are_compared_on_a_logarithmic_scale():
    slow = asked(count=10.0, low=5.0, high=20.0, unseen=25.0, unseen_low=12.5, unseen_high=50.0)
    assert holding.covers(slow, np.log)
    assert not holding.covers(asked(count=10.0, low=9.0, high=11.0, unseen=25.0, unseen_low=23.0), np.log)


def test_the_alarm_is_the_share_of_pairs_in_order():
    assert auc([0.1, 0.2, 0.3, 0.4], [False, False, True, True]) == 1
    assert auc([0.1, 0.3, 0.2, 0.4], [False, False, True, True]) == 0.75
    assert auc([0.1, 0.1], [False, True]) == 0.5
    assert auc([0.1, 0.2], [True, True]) is None


def test_calibration_compares_tenths():
    said, came = np.array([0.05, 0.05, 0.95, 0.95]), np.array([0.0, 0.0, 1.0, 0.0])
    # In the lowest tenth 0.05 too much, in the highest 0.45.
    assert calibration_error(said, came) == pytest.approx((2 * 0.05 + 2 * 0.45) / 4)


def test_zones_of_any_log():
    rng = np.random.default_rng(0)
    states = np.stack([rng.normal(size=400), rng.integers(0, 2, 400), np.full(400, 7.0)], axis=1)
    log = make_log(states, np.arange(400) % 2, np.zeros(400), starts=np.arange(0, 401, 20))
    names = log.schema.feature_names
    starts, goals = zones(log)
    assert starts[0] is None
    assert goals[0] == "end"
    # A feature that never changes divides nothing, and one with two values has its border between them.
    assert all(names[2] not in zone for zone in (*starts[1:], *goals[1:]))
    assert {names[1]: (0.5, None)} in goals
    below = next(zone for zone in starts[1:] if list(zone) == [names[0]])[names[0]][1]
    assert (states[:, 0] < below).mean() == pytest.approx(0.25, abs=0.02)


def test_questions_are_judged_on_the_other_episodes():
    setting = Setting.of(road.record("hurry", n_samples=3_000), 20, 0)
    training, other = set(setting.training.episode_ids.tolist()), set(setting.unseen.episode_ids.tolist())
    assert not training & other
    assert len(other) == pytest.approx(len(training) / 2, abs=1)
    questions, left_out, seconds = unseen.ask_chances(setting)
    assert len(questions) + left_out == 7 * 5 * 2
    assert min(seconds) > 0
    one = next(one for one in questions if one.question[0] is not None)
    start, goal, within = one.question
    truth = setting.truth
    expected = count.chance(truth.episodes, truth.visits(start).rows, truth.event(setting.zone(goal)), None, within)
    assert one.unseen == expected.probability
    assert expected.episodes >= unseen.FEWEST


def test_a_quick_run_fills_the_table():
    report = Report("holding", holding.TITLE)
    holding.run(Options(quick=True, logs=("hurry",), only=("hurry",), leaves=20), report)
    rows = {row["measure"]: row for row in report.rows}
    assert {row["log"] for row in report.rows} == {"hurry"}
    assert 0 <= rows["chances: mean error"]["count"] <= 1
    assert rows["chances: mean error"]["target"] == "<= 0.03"
    assert rows["ways: random stretch, ratio to the line"]["count"] < 1
    assert rows["state: Brier skill"]["kept"] in ("yes", "no")
    assert any(note.startswith("Worst of hurry: ") for note in report.notes)


def test_the_manual_has_the_kept_figures():
    kept = json.loads((ROOT / "benchmarks/results/holding.json").read_text(encoding="utf-8"))["rows"]
    page = (ROOT / "docs/promises.md").read_text(encoding="utf-8")
    figures = {(row["log"], row["measure"]): row for row in kept}
    rows = re.findall(
        r"^\| `(\S+)` \| ([\d.]+) \(([\d.]+)\) \| ([\d.]+) \|.* ([\d.]+), ([\d.]+) \|$", page, re.MULTILINE
    )
    assert [name for name, *_ in rows] == list(dict.fromkeys(row["log"] for row in kept if " " not in row["log"]))
    for name, error, alone, chain, whole, part in rows:
        mean = figures[name, "chances: mean error"]
        assert [f"{mean[column]:.3f}" for column in ("count", "yardstick", "chain")] == [error, alone, chain]
        ways = [figures[name, f"ways: {kind}, ratio to the line"] for kind in ("first to last", "random stretch")]
        assert [f"{way['count']:.2f}" for way in ways] == [whole, part]
