"""The doctor's look at the numbers: each fault where it was planted, once, and nothing in clean worlds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.log.worlds import log_of, world
from tripletree import Log, LogError
from tripletree.demos import lander, road
from tripletree.log.faults import find_faults
from tripletree.log.repair import repair

Table = dict[str, Any]
SEEDS = st.integers(0, 2**32 - 1)
LENGTH = 60
"""Steps of an episode in these worlds."""


@example(13916562, True, 0.02)  # its halves begin on different sides: a small tree alone took it for a delay
@example(350, True, 0.0)  # one episode begins at rest: small numbers, and small actions with them
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.02, 0.3]))
@settings(max_examples=25, deadline=None)
def test_clean_worlds_have_no_faults(seed: int, continuous: bool, noise: float) -> None:
    log = log_of(world(seed, continuous=continuous, noise=noise))
    assert [fault.code for fault in find_faults(log)] == []
    assert log.repaired() is log


@pytest.mark.parametrize("agent", ["left", "either", "hurry", "alive"])
@pytest.mark.parametrize("n_samples", [300, 3_000])
def test_demos_have_no_faults(agent: str, n_samples: int) -> None:
    assert find_faults(road.record(agent, n_samples=n_samples, seed=1)) == []


def test_the_lander_has_no_faults() -> None:
    assert find_faults(lander.log()) == []


def outlier(table: Table) -> None:
    table["heat"][130] = 1e6


def frozen(table: Table) -> None:
    table["heat"][70:105] = table["heat"][70]


def wraps(table: Table) -> None:
    rng = np.random.default_rng(0)
    table["heading"] = (np.cumsum(rng.normal(11, 1, len(table["x"])))) % 360


def clipped(table: Table) -> None:
    table["v"] = np.minimum(table["v"], 0.15)


def dependent(table: Table) -> None:
    table["sum"] = 2 * table["x"] - 3 * table["heat"] + 1


def thousand(table: Table) -> None:
    table["heat"][table["episode"] == 4] *= 1000


def degrees(table: Table) -> None:
    table["tilt_rad"] = np.random.default_rng(0).uniform(-179, 179, len(table["x"]))


def doubled(table: Table) -> None:
    for name, column in table.items():
        copy = column[:LENGTH]
        table[name] = np.concatenate([column, copy * 0 + 99 if name == "episode" else copy])


def late(table: Table) -> None:
    table["action"] = np.roll(table["action"], 1)


def early(table: Table) -> None:
    table["action"] = np.roll(table["action"], -1)


PLANTED: dict[str, tuple[Callable[[Table], None], str]] = {
    "outliers": (outlier, "`heat` is far outside its usual range .* in 1 row, first 1e+06 in episode 2, step 10"),
    "frozen": (
        frozen,
        r"`heat` does not change for 20 steps and more .*1 time \(34 rows\), first from episode 1, step 10",
    ),
    "wraps": (wraps, "`heading` looks like an angle in deg .* jumps, first in episode 0, step"),
    "clipped": (clipped, "`v` is exactly 0.15, its largest value, in .* while `x` shows that it goes on"),
    "dependent": (dependent, "`sum` follows from `x`, `heat`: it is always a weighted sum of them and a constant"),
    "scale-jumps": (thousand, r"`heat` seems to be in another unit in 1 of 12 episodes \(first: episode 4, step 0\)"),
    "wrong-unit": (degrees, "`tilt_rad` is said to be in rad, but goes to 17"),
    "doubled-episodes": (doubled, r"1 episode is a copy of another, .*\(first: episode 99 of episode 0\)"),
}


@pytest.mark.parametrize("code", PLANTED)
@given(seed=SEEDS)
@settings(max_examples=5, deadline=None)
def test_a_planted_fault_is_found_once_and_nothing_else(code: str, seed: int) -> None:
    plant, message = PLANTED[code]
    table = world(seed)
    plant(table)
    log = log_of(table)
    (fault,) = find_faults(log)
    assert fault.code == code

    assert re.search(message.replace("1e+06", r"1e\+06"), fault.text), fault.text
    assert code in {finding.code for finding in log.check()}


@pytest.mark.parametrize(("plant", "where"), [(late, "before"), (early, "after")])
@pytest.mark.parametrize("seed", range(4))
def test_actions_in_the_wrong_row(plant: Callable[[Table], None], where: str, seed: int) -> None:
    # An agent that does something else at every step: only then does a row more or less matter.
    rng = np.random.default_rng(seed)
    table = world(seed, episodes=20)
    table["x"] = rng.uniform(-1, 1, len(table["x"]))
    table["action"] = (table["x"] > 0.2).astype(int)
    assert find_faults(log_of(table)) == []
    plant(table)
    (fault,) = find_faults(log_of(table))
    assert fault.code == "delay"
    assert f"the state one row {where} them better than that of their own row" in fault.text
    assert not fault.done


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_actions_beyond_their_limit(seed: int) -> None:
    table = world(seed, continuous=True)
    table["action"] = np.clip(4 * table["action"], -1, 1)
    table["action"][75] = 3.0
    (fault,) = find_faults(log_of(table))
    assert fault.text.endswith("goes beyond it in 1 row, first 3 in episode 1, step 15.")
    assert repair(log_of(table))[0].actions.max() == 1


def test_sampling_rates() -> None:
    table = world(0)
    dt = np.full(len(table["x"]), 0.1)
    assert find_faults(log_of({**table, "dt": dt})) == []
    dt[table["episode"] == 3] = 0.5
    (fault,) = find_faults(log_of({**table, "dt": dt}))
    assert fault.code == "sampling-rates"
    assert "1 of 12 episodes was sampled at another rate (first: episode 3, every 0.5 s instead of 0.1 s)" in fault.text


def test_worlds_of_few_states_and_agents_that_repeat_themselves() -> None:
    table = world(0, episodes=6)
    grid = {**table, "x": np.round(table["x"]), "v": np.round(table["v"]), "heat": np.round(table["heat"])}
    doubled(grid)
    assert find_faults(log_of(grid)) == []
    one = {name: np.tile(column[:LENGTH], 5) for name, column in table.items()}
    one["episode"] = np.repeat(np.arange(5), LENGTH)
    assert find_faults(log_of(one)) == []


@pytest.mark.parametrize(
    "code", ["outliers", "frozen", "clipped", "doubled-episodes", "scale-jumps", "wraps", "dependent"]
)
def test_a_repair_removes_the_fault_and_says_so(code: str) -> None:
    table = world(3)
    PLANTED[code][0](table)
    log = log_of(table)
    mended, done = repair(log)
    assert len(done) == 1
    assert find_faults(mended) == []
    assert [finding.text for finding in mended.findings if finding.code == "repaired"] == done
    assert log.repaired().fingerprint() == mended.fingerprint()


def test_what_has_come_to_rest_is_not_frozen() -> None:
    """A vehicle that stands still: one number stays the same to the last digit, the others tremble."""
    table = world(0)
    still = np.flatnonzero(table["episode"] == 1)[20:]
    rng = np.random.default_rng(0)
    table["heat"][still] = table["heat"][still[0]]
    for name in ("x", "v"):
        table[name][still] = table[name][still[0]] + 1e-9 * rng.normal(size=len(still))
    assert not [fault for fault in find_faults(log_of(table)) if fault.code == "frozen"]


def test_rows_that_are_left_out_divide_their_episode() -> None:
    table = world(0)
    outlier(table)
    mended = log_of(table).repaired()
    assert mended.n_samples == len(table["x"]) - 1
    assert mended.episode_ids[2:4].tolist() == ["2/1", "2/2"]
    assert mended.endings[2:4].tolist() == [2, 1]
    assert np.isnan(mended.final_states[2]).all()
    assert 1e6 not in mended.states


def test_a_repair_brings_back_the_unit() -> None:
    table, clean = world(0), log_of(world(0))
    thousand(table)
    assert np.allclose(log_of(table).repaired().states, clean.states)


def test_an_angle_keeps_its_numbers() -> None:
    table = world(0)
    wraps(table)
    log = log_of(table)
    mended = log.repaired()
    assert np.array_equal(mended.states, log.states)
    assert (mended.schema.features[3].kind, mended.schema.features[3].unit) == ("angle", "deg")


def test_features_that_say_nothing_are_left_out() -> None:
    table = world(0)
    table["same"], table["seven"] = table["x"].copy(), np.full(len(table["x"]), 7.0)
    mended = log_of(table).repaired()
    assert mended.schema.feature_names == ("x", "v", "heat")
    assert "`same`, `seven` left out" in mended.findings[-1].text


def test_a_log_without_anything_good_is_not_repaired() -> None:
    from dataclasses import replace

    from tripletree.log.faults import Fault
    from tripletree.log.repair import _without

    log = log_of(world(0))
    everything = Fault("warning", "x", "", "", "all", rows=np.ones(log.n_samples, bool))
    with pytest.raises(LogError, match="Nothing would be left of 720 rows"):
        _without(log, [everything])
    assert _without(log, [replace(everything, rows=None)]) is log


def test_gaps_in_steps_have_a_place_and_a_remedy() -> None:
    table = world(0)
    kept = np.ones(len(table["x"]), bool)
    kept[100:110] = False
    table = {name: column[kept] for name, column in table.items()}
    with pytest.warns(UserWarning, match="1 time by more than 1 .first in episode 1 after step 39") as caught:
        log = log_of(table)
    assert "type gap=1." in str(caught[0].message)
    assert log.n_episodes == 12
    divided = log_of(table, gap=1)
    assert divided.episode_ids.tolist()[:3] == ["0", "1/1", "1/2"]
    assert divided.dt is None
    assert isinstance(divided, Log)
