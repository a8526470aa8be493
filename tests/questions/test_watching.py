"""Watching outcomes: false alarms stay below alpha however often one looks, and changes are seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.questions.test_diff import simulated
from tripletree import LogError, watch
from tripletree.questions.watching import wealth


@pytest.mark.parametrize("binary", [False, True])
def test_looking_all_the_time_costs_no_false_alarms(binary):
    rng = np.random.default_rng(0)
    ever = 0
    for _ in range(400):
        numbers = rng.standard_t(2, 70)
        numbers = (numbers > 0.5).astype(float) if binary else numbers
        worse, better = wealth(numbers[:20], numbers[20:], rng)
        ever += bool((worse >= 40).any() or (better >= 40).any())
    # At 5 % of 400, 20 are the most to expect; 33 or more come in 1 of 300 runs.
    assert ever <= 32


def test_wealth_is_a_fair_game():
    rng = np.random.default_rng(1)
    ends = [wealth(*np.split(rng.normal(size=23), [20]), rng)[0][-1] for _ in range(4000)]
    assert np.mean(ends) == pytest.approx(1, abs=4 * np.std(ends) / np.sqrt(4000))


def test_a_drop_is_seen_soon_and_told():
    rng = np.random.default_rng(2)
    worse, better = wealth(rng.normal(size=50), rng.normal(-1.5, size=50), rng)
    assert np.argmax(worse >= 200) < 25
    assert better.max() < 10
    found = watch(simulated(30, 1), simulated(40, 2, gain=-0.5), alpha=0.05)
    assert (found.verdict, found.code(), bool(found)) == ("worse", 3, True)
    assert str(found).startswith("The outcome has become worse: shown with episode ")
    quiet = watch(simulated(30, 1), simulated(20, 2))
    assert (quiet.verdict, quiet.code(), quiet.after) == ("", 0, None)
    assert str(quiet).startswith("Nothing shown so far: return ")


def test_groups_cannot_be_watched_one_by_one():
    logs = [replace(simulated(4, seed), groups=np.arange(4)) for seed in (1, 2)]
    with pytest.raises(LogError, match="Episodes of one group depend on each other"):
        watch(*logs)
