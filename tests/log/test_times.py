"""Times of rows: what dates and numbers mean, which columns hold them, and units in names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree import Log
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log.findings import Findings
from tripletree.log.times import guess_dt, guess_time, holds_dates, read_dt, read_times, unit_in


def objects(*values: Any) -> Any:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def seconds(column: Any, name: str = "timestamp") -> list[float]:
    findings = Findings()
    times = read_times(column, name, findings)
    assert times is not None, findings.report()
    return [float(x) for x in times.between(np.arange(len(column)))]


@pytest.mark.parametrize(
    ("texts", "apart"),
    [
        (("2026-11-16T15:39:15", "2026-11-16T15:39:17.25"), 2.25),
        (("2026-11-16 15:39:15", "2026-11-16 15:40:15"), 60),
        (("2026-11-16T15:39:15Z", "2026-11-16T15:39:15,5Z"), 0.5),
        (("2026-11-16T15:39:15+01:00", "2026-11-16T15:39:15Z"), 3600),
        (("2026-11-16T15:39:15-0230", "2026-11-16T15:39:15-02"), -1800),
        (("20261116T153915", "20261116T153916"), 1),
        (("2024-02-28", "2024-03-01"), 2 * 86400),
        (("2026-12-31T23:59", "2027-01-01T00"), 60),
        (("2026-11-16T15:39:15.123456789", "2026-11-16T15:39:15.123457"), 1e-6),
    ],
)
def test_text_is_read_as_iso_8601(texts: tuple[str, str], apart: float) -> None:
    assert holds_dates(objects(*texts))
    assert seconds(objects(*texts)) == pytest.approx([apart])


@given(st.lists(st.integers(0, 2**40), min_size=2, max_size=6))
def test_text_and_dates_say_the_same(microseconds: list[int]) -> None:
    dates = np.array(microseconds, "datetime64[us]")
    texts = objects(*(str(date) for date in dates))
    assert seconds(texts) == pytest.approx(seconds(dates))
    assert seconds(dates) == pytest.approx(np.diff(np.array(microseconds) * 1e-6).tolist(), abs=1e-9)


@pytest.mark.parametrize(("scale", "unit"), [(1, "s"), (10**3, "ms"), (10**6, "us"), (10**9, "ns")])
def test_numbers_since_1970_are_known_by_their_size(scale: int, unit: str) -> None:
    column = np.array([1_763_300_000 * scale, 1_763_300_000 * scale + 3 * scale])
    times = read_times(column, "timestamp", Findings())
    assert times is not None
    assert times.told == f"{unit} since 1970"
    # Nanoseconds do not fit into a double, so this fails if they become one too early.
    assert seconds(column) == pytest.approx([3.0], rel=1e-12)


def test_other_numbers_are_seconds_unless_the_name_says_more() -> None:
    assert seconds(np.array([0.0, 0.5])) == [0.5]
    assert seconds(np.array([0, 500]), "timestamp_ms") == pytest.approx([0.5])
    assert seconds(np.array(["2026-01-01", "2026-01-02"], "datetime64[D]")) == [86400]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (objects("2026-11-16", "yesterday"), "`when` holds 'yesterday' in row 1; expected dates as ISO 8601"),
        (objects("2026-13-16"), "`when` holds '2026-13-16' in row 0"),
        (objects("2023-02-29"), "`when` holds '2023-02-29' in row 0"),
        (objects("2026-11-16T25:00"), "holds '2026-11-16T25:00'"),
        (objects("2026-11-16", None), "`when` is missing in row 1; every row needs a time"),
        (np.array([1.0, np.nan]), "`when` is missing in row 1"),
        (np.array(["2026-11-16", "NaT"], "datetime64[s]"), "`when` is missing in row 1"),
        (np.array([True, False]), "`when` holds True and False; expected dates"),
    ],
)
def test_what_is_no_time(column: Any, message: str) -> None:
    findings = Findings()
    assert read_times(column, "when", findings) is None
    (error,) = findings.report().errors
    assert message in error.text
    assert "ignore=" in error.fix


def test_columns_of_times_are_known_by_name_and_content() -> None:
    table = {"time": np.arange(3), "wall_time": np.arange(3.0), "created": objects("a"), "timestamp": np.arange(3.0)}
    assert guess_time(table, table) == "timestamp"
    del table["timestamp"]
    assert guess_time(table, table) is None
    assert guess_time(["time"], {"time": objects("2026-11-16", "2026-11-17")}) == "time"
    assert guess_dt(["x", "dt"], {"x": np.ones(2), "dt": np.array([0.5, np.nan])}) == "dt"
    assert guess_dt(["dt"], {"dt": np.array([0.5, 0.0])}) is None


def test_times_of_steps() -> None:
    assert np.allclose(read_dt(np.array([500, 1500]), "dt_ms", Findings()), [0.5, 1.5])  # type: ignore[arg-type]
    findings = Findings()
    assert read_dt(np.array([0.5, -1.0, 0.0]), "dt", findings) is None
    assert "`dt` holds -1 in row 1 (2 such rows); the time to the next row must be above 0" in str(findings.report())


def test_a_log_that_counts_its_steps_keeps_its_clock_aside() -> None:
    # Otherwise trees of such logs would change, and their clock is that of the computer.
    table = {
        "step": [0, 1, 2],
        "timestamp": [0.0, 0.1, 0.2],
        "x": [1.5, 2, 0],
        "action": [0, 1, 0],
        "reward": [0, 1, 1],
    }
    with pytest.warns(TripleTreeWarning, match="`timestamp` was set aside"):
        log = Log.from_dict(table)
    assert log.dt is None
    log = Log.from_dict(table, time="timestamp")
    assert log.dt is not None
    assert np.allclose(log.dt, 0.1)


def test_dates_of_pandas_are_times() -> None:
    frame = pd.DataFrame({"timestamp": pd.date_range("2026", periods=4, freq="250ms"), "x": [1.5, 2, 0, 1]})
    log = Log.from_frame(frame.assign(timestamp=frame["timestamp"].dt.tz_localize("UTC")), reward="none", action="none")
    assert log.dt is not None
    assert np.allclose(log.dt, 0.25)


def test_a_second_column_of_dates_is_set_aside() -> None:
    dates = ["2026-11-16", "2026-11-17", "2026-11-18"]
    log = Log.from_dict({"timestamp": dates, "due": dates[::-1], "x": [1.5, 2, 0]}, reward="none", action="none")
    assert log.schema.feature_names == ("x",)
    assert "`due` was set aside: it holds dates" in str(log.check())


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("speed_kmh", "km/h"),
        ("Speed_KMH", "km/h"),
        ("acc_m_s2", "m/s²"),
        ("yaw_rate_deg_s", "deg/s"),
        ("soc_pct", "%"),
        ("kmh", ""),
        ("_kmh", ""),
        ("speed", ""),
        ("x_m", ""),
        ("rpm_limit", ""),
    ],
)
def test_units_in_names(name: str, unit: str) -> None:
    assert unit_in(name) == unit


def test_a_unit_that_is_given_counts_more_than_the_name() -> None:
    table = {"episode": [0, 0], "speed_kmh": [1.5, 2.0], "v_mps": [0.5, 1], "action": [0, 1], "reward": [0, 1]}
    log = Log.from_dict(table, units={"speed_kmh": "kn", "v_mps": ""})
    assert [feature.unit for feature in log.schema.features] == ["kn", ""]
    assert "units" not in log.reading
    log = Log.from_dict(table)
    assert "units        speed_kmh in km/h, v_mps in m/s (guessed)" in log.reading
    with pytest.raises(LogError, match="There is no feature `speed`"):
        Log.from_dict(table, units={"speed": "m"})
