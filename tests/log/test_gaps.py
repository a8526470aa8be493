"""Missing values and gaps: what is left out, where episodes are divided, and what stays known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log import fleet
from tripletree import Log, ParameterError, read_log
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log.log import TERMINATED, TRUNCATED, UNKNOWN

NAN = float("nan")


def table(**changes: Any) -> dict[str, Any]:
    base = {"episode": [0, 0, 0, 0, 1, 1], "x": [1.5, 2, 3, 4, 5, 6], "action": [0, 1, 0, 1, 0, 1]}
    return {**base, "reward": [1.0, 2, 3, 4, 5, 6], **changes}


def test_the_default_divides_and_says_so() -> None:
    with pytest.warns(TripleTreeWarning, match=r"Values are missing in 1 of 6 rows: `x` in 1 row \(first in row 1\).*"):
        log = Log.from_dict(table(x=[1.5, NAN, 3, 4, 5, 6]))
    assert log.states[:, 0].tolist() == [1.5, 3, 4, 5, 6]
    assert log.episode_ids.tolist() == ["0/1", "0/2", "1"]
    assert log.starts.tolist() == [0, 1, 3, 5]
    # Nothing shows how the piece before the hole went on.
    assert log.endings.tolist() == [TRUNCATED, UNKNOWN, UNKNOWN]
    assert np.isnan(log.final_states).all()
    (finding,) = [one for one in log.findings if one.code == "missing"]
    assert 'missing="split"' in finding.text
    assert 'missing="drop" or missing="fill"' in finding.fix


def test_rows_can_be_dropped() -> None:
    log = Log.from_dict(table(x=[1.5, NAN, 3, 4, 5, NAN], terminated=[0, 0, 0, 1, 0, 1]), missing="drop")
    assert log.states[:, 0].tolist() == [1.5, 3, 4, 5]
    assert log.episode_ids.tolist() == [0, 1]
    # The flag was set in a row that is gone; the episode ended all the same.
    assert log.endings.tolist() == [TERMINATED, TERMINATED]


def test_values_can_be_carried_on() -> None:
    log = Log.from_dict(table(x=[NAN, 2, NAN, NAN, NAN, 6], y=[1.0, 2, 3, 4, 5, 6]), missing="fill")
    assert log.states.tolist() == [[2, 2], [2, 3], [2, 4], [6, 6]]
    assert log.episode_ids.tolist() == [0, 1]


def test_what_was_done_is_never_filled_in() -> None:
    log = Log.from_dict(table(action=[0, NAN, 0, 1, 0, 1]), missing="fill", action_kind="discrete")
    assert log.n_samples == 5
    assert log.episode_ids.tolist() == ["0/1", "0/2", "1"]


def test_a_last_row_without_an_action_is_the_final_state() -> None:
    with pytest.warns(TripleTreeWarning, match="`action` in 2 rows"):
        log = Log.from_dict(table(action=["a", "b", "a", None, "b", None]))
    assert log.states[:, 0].tolist() == [1.5, 2, 3, 5]
    assert log.final_states[:, 0].tolist() == [4, 6]


def test_the_next_state_of_the_last_row_before_a_hole_is_known() -> None:
    with pytest.warns(TripleTreeWarning, match="Values are missing"):
        log = Log.from_dict(table(x=[1.5, NAN, 3, 4, 5, 6], next_x=[2.0, 3, 4, 7, 6, 8]))
    assert log.final_states[:, 0].tolist() == [2, 7, 8]


@pytest.mark.parametrize("missing", [None, "split", "drop", "fill"])
def test_a_column_that_is_never_known_is_refused(missing: str | None) -> None:
    with pytest.raises(LogError, match=r"`x` in 6 rows \(first in row 0\); only finite.*ignore="):
        Log.from_dict(table(x=[NAN] * 6, y=range(6)), missing=missing)


def test_a_column_that_is_mostly_missing_is_left_to_the_user() -> None:
    holes = [NAN, NAN, NAN, NAN, 5, 6]
    with pytest.raises(LogError, match=r"`x` in 4 rows.*missing=\"split\""):
        Log.from_dict(table(x=holes))
    assert Log.from_dict(table(x=holes), missing="split").n_samples == 2


def test_arrays_say_what_to_do_and_do_it_when_asked() -> None:
    states, rest = [[1.5], [NAN], [3.0]], ([0, 1, 0], [0, 1, 2])
    with pytest.raises(LogError, match=r"`s0` in 1 row.*missing=\"split\""):
        Log.from_arrays(states, *rest, starts=[0])
    log = Log.from_arrays(states, *rest, starts=[0], missing="split", final_states=[[4.0]], episode_ids=["a"])
    assert log.episode_ids.tolist() == ["a/1", "a/2"]
    assert np.isnan(log.final_states[0, 0])
    assert log.final_states[1, 0] == 4


@pytest.mark.parametrize(("option", "wrong"), [("missing", "guess"), ("missing", 3), ("gap", -1), ("gap", "long")])
def test_options_are_checked(option: str, wrong: Any) -> None:
    with pytest.raises(ParameterError, match=f"{option} must be"):
        Log.from_dict(table(), **{option: wrong})


@given(
    st.lists(st.booleans(), min_size=4, max_size=30).filter(lambda kept: 2 * sum(kept) >= len(kept)),
    st.integers(0, 3),
)
def test_split_keeps_exactly_the_steps_that_were_recorded(kept: list[bool], cut: int) -> None:
    n = len(kept)
    x = np.where(kept, np.arange(n) + 0.5, NAN)
    log = Log.from_dict(
        {"episode": (np.arange(n) > cut).astype(int), "x": x, "action": np.arange(n) % 2, "reward": np.ones(n)},
        missing="split",
    )
    assert log.states[:, 0].tolist() == x[kept].tolist()
    inside = np.ones(log.n_samples - 1, bool)
    inside[log.starts[1:-1] - 1] = False
    # No step leads over a hole, and no hole is made where there was none.
    assert (np.diff(log.states[:, 0])[inside] == 1).all()
    pairs = [k for k in range(n - 1) if kept[k] and kept[k + 1] and k != cut]
    assert inside.sum() == len(pairs)


def field(tmp_path: Path, columns: dict[str, list[str]], **options: Any) -> Log:
    return read_log(fleet.write(tmp_path / "fleet.csv", columns), reward="none", action="none", **options)


def test_a_fleet_is_read_as_it_is(tmp_path: Path) -> None:
    columns = fleet.rows()
    columns["battery_pct"][5] = ""
    with pytest.warns(
        TripleTreeWarning, match="There are 3 gaps of more than .* s between rows; the longest is 3,600 s"
    ):
        log = field(tmp_path, columns)
    assert log.episode_ids.tolist() == [
        "truck-0/1",
        "truck-0/2",
        "truck-0/3",
        "truck-1/1",
        "truck-1/2",
        "truck-2/1",
        "truck-2/2",
    ]
    assert log.n_samples == 119
    assert log.dt is not None
    assert log.dt.max() <= 3
    for line in ("episode      vehicle_id (guessed)", "time         timestamp (guessed)", "times are ISO 8601"):
        assert line in log.reading


def test_rows_in_any_order_and_read_twice_are_the_same_log(tmp_path: Path) -> None:
    columns = fleet.rows(gap=None)
    log = field(tmp_path, columns)
    order = np.random.default_rng(1).permutation(len(columns["mode"])).tolist()
    # The first rows of the vehicles stay in their order, as episodes are in the order of their first rows.
    order.sort(key=lambda row: row % 40 != 0)
    shuffled = {name: [column[row] for row in order] for name, column in columns.items()}
    with pytest.warns(TripleTreeWarning, match="5 rows have the time of the row before"):
        again = field(tmp_path, {name: column + column[:5] for name, column in shuffled.items()})
    assert np.array_equal(np.unique(again.states, axis=0), np.unique(log.states, axis=0))
    assert again.n_samples == log.n_samples
    assert np.diff(again.starts).tolist() == np.diff(log.starts).tolist()


def test_gaps_of_a_given_length(tmp_path: Path) -> None:
    assert field(tmp_path, fleet.rows(), gap=7200).n_episodes == 3
    log = field(tmp_path, fleet.rows(), gap=2)
    assert log.n_episodes > 20
    assert "gaps of more than 2 s" in str(log.check().notes)


def test_a_clock_that_goes_back_divides(tmp_path: Path) -> None:
    times = ["2026-01-01T00:00:00", "2026-01-01T00:00:01", "2025-01-01T00:00:00", "2025-01-01T00:00:01"]
    with pytest.warns(TripleTreeWarning, match="1 place where the clock goes back"):
        log = Log.from_dict(
            {"timestamp": times, "done": [0, 0, 0, 1], "x": [1.5, 2, 3, 4]}, reward="none", action="none"
        )
    assert log.starts.tolist() == [0, 2, 4]


def test_a_repeated_time_before_a_gap_is_no_final_state() -> None:
    times, x = [0.0, 1, 2, 2, 100, 101], [0.5, 1, 2, 7, 3, 4]
    columns = {"ts": times, "x": x, "action": [0, 1] * 3, "reward": [0.0] * 6, "episode": [0] * 6}
    with pytest.warns(TripleTreeWarning, match=r"1 row has the time of the row before .*first row 3;"):
        log = Log.from_dict(columns, gap=10)
    assert log.states[:, 0].tolist() == [0.5, 1, 2, 3, 4]
    assert log.starts.tolist() == [0, 3, 5]
    assert np.isnan(log.final_states).all()


def test_a_row_that_repeats_a_time_is_left_out_even_if_it_could_be_filled() -> None:
    columns = table(x=[1.5, 2, NAN, 4, 5, 6], ts=[0.0, 1, 1, 2, 0, 1])
    with pytest.warns(TripleTreeWarning, match=r"1 row has the time of the row before .*first row 2;"):
        log = Log.from_dict(columns, missing="fill")
    assert log.states[:, 0].tolist() == [1.5, 2, 4, 5, 6]
    assert log.n_episodes == 2
    assert log.dt is not None
    assert log.dt.tolist() == [1.0] * 5


def test_an_endless_recording_may_have_times() -> None:
    table = {"timestamp": [0.0, 0.5, 1.0], "x": [1.5, 2, 3]}
    log = Log.from_dict(table, endless=True, reward="none", action="none")
    assert log.n_episodes == 1
    assert log.endings.tolist() == [TRUNCATED]
    assert log.dt is not None


def test_steps_without_a_vehicle_are_one_recording(tmp_path: Path) -> None:
    columns = fleet.rows(vehicles=1, gap=None)
    del columns["vehicle_id"]
    assert field(tmp_path, columns).n_episodes == 1


def test_pieces_keep_the_group_of_their_episode() -> None:
    log = Log.from_dict(
        table(x=[1.5, NAN, 3, 4, 5, 6], pilot=["a", "a", "a", "a", "b", "b"]), group="pilot", missing="split"
    )
    assert log.groups is not None
    assert log.groups.tolist() == ["a", "a", "b"]
    log = Log.from_arrays(
        [[1.5], [NAN], [3.0], [4.0]], [0, 1, 0, 1], [0, 1, 2, 3], starts=[0, 3], groups=[7, 8], missing="split"
    )
    assert log.groups is not None
    assert log.groups.tolist() == [7, 7, 8]


def test_a_fleet_without_rewards_may_have_groups(tmp_path: Path) -> None:
    columns = fleet.rows(gap=None)
    columns["pilot"] = ["ann" if vehicle == "truck-0" else "bob" for vehicle in columns["vehicle_id"]]
    log = field(tmp_path, columns, group="pilot")
    assert log.groups is not None
    assert log.groups.tolist() == ["ann", "bob", "bob"]
    for name in ("log.npz", "log.parquet"):
        log.to_npz(tmp_path / name) if name.endswith("npz") else log.to_parquet(tmp_path / name)
        assert read_log(tmp_path / name).fingerprint() == log.fingerprint()


def test_pieces_of_one_episode_are_one_group() -> None:
    # Six episodes of four rows with a hole in the second of each: pieces depend on each other.
    n = 24
    x = np.arange(n, dtype=float)
    x[1::4] = NAN
    trips = {
        "trip": np.repeat([f"t{k}" for k in range(6)], 4),
        "x": x,
        "action": np.arange(n) % 2,
        "reward": np.ones(n),
    }
    with pytest.warns(TripleTreeWarning, match="Values are missing"):
        log = Log.from_dict(trips, episode="trip")
    assert log.n_episodes == 12
    assert (log.group_name, log.groups.tolist()) == ("whole trip", [f"t{k}" for k in range(6) for _ in range(2)])
    training, held_out = log.split(0.3, seed=0)
    assert not set(training.groups) & set(held_out.groups)
    # What the user says is a group stays one; and a few episodes are no groups to count.
    with pytest.warns(TripleTreeWarning, match="Values are missing"):
        by_pilot = Log.from_dict({**trips, "pilot": np.repeat(["a", "b"], 12)}, episode="trip", group="pilot")
    assert by_pilot.group_name == "pilot"
    with pytest.warns(TripleTreeWarning, match="Values are missing"):
        few = Log.from_dict({name: column[:16] for name, column in trips.items()}, episode="trip")
    assert few.groups is None
    with pytest.warns(TripleTreeWarning, match="gap|missing|Values"):
        assert Log.from_dict(table(x=[1.5, NAN, 3, 4, 5, 6])).groups is None
