"""Times of rows: dates and numbers to the order of steps and the seconds between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.bookkeeping import folded
from tripletree.log.coerce import Array, as_numbers
from tripletree.log.findings import Findings
from tripletree.text import Message, Option, count

F64 = npt.NDArray[np.float64]

# Rows that show whether a column of text holds dates.
GLANCE = 64
# "time" alone counts steps in many logs, so it must hold dates; the wall clock of a simulation is no time of its own.
_NAMES = re.compile(
    r"(time_?stamps?|ts|date_?time|unix_?time|epoch_time|utc|(utc|gps|log|sample|event|recorded)_?(time|at|timestamp))"
    r"(_(s|sec|seconds|ms|us|ns|utc|gmt|local))?|epoch_(s|ms|us|ns)|time_(ms|us|ns|utc)"
)
_DATED = re.compile(r"time|t|date|when|day|(created|logged)_at")
_DT = re.compile(r"(dt|delta_t|delta_time|time_delta)(_(s|sec|ms|us|ns))?")
_SCALES = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_ISO = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
# Seconds since 1970 of the years 1973 to 5138; with three digits more they are milliseconds, and so on.
_EPOCH = ((1e8, 1e11, 1.0, "s"), (1e11, 1e14, 1e-3, "ms"), (1e14, 1e17, 1e-6, "us"), (1e17, 1e20, 1e-9, "ns"))


@dataclass(frozen=True)
class Times:
    """When each row was: ``values`` times ``seconds`` are seconds, counted from anywhere.

    The numbers stay as they came, because nanoseconds since 1970 do not fit into a double. ``told`` says what they are.
    With the unit "steps" they only count.
    """

    values: Array
    seconds: float
    told: str
    unit: str = "s"

    def between(self, rows: Array) -> F64:
        """Return the seconds from each of some rows to the next one of them."""
        steps: F64 = np.diff(self.values[rows]).astype(np.float64) * self.seconds
        return steps


def holds_dates(column: Array) -> bool:
    """Return whether a column holds dates: of NumPy, or as ISO text."""
    if column.dtype.kind == "M":
        return True
    head = [value for value in column[:GLANCE].tolist() if value is not None] if column.dtype.kind == "O" else []
    return bool(head) and all(isinstance(value, str) and _ISO.fullmatch(value.strip()) for value in head)


def guess_time(names: Collection[str], table: Mapping[str, Array]) -> str | None:
    """Return the column that says when a row was recorded, by its name and its content."""
    found = [name for name in names if _NAMES.fullmatch(folded(name)) and _usable(table.get(name))]
    dated = [name for name in names if _DATED.fullmatch(folded(name)) and name in table and holds_dates(table[name])]
    return next(iter([*found, *dated]), None)


def _usable(column: Array | None) -> bool:
    return column is not None and (column.dtype.kind in "iuf" or holds_dates(column))


def guess_dt(names: Collection[str], table: Mapping[str, Array]) -> str | None:
    """Return the column that says how long each step takes: called dt, and above 0."""
    for name in names:
        column = table.get(name)
        if _DT.fullmatch(folded(name)) and column is not None and column.dtype.kind in "iuf":
            known = column[~np.isnan(column)] if column.dtype.kind == "f" else column
            if len(known) and bool((known > 0).all()):
                return name
    return None


def read_times(
    column: Array, name: str, findings: Findings, first: int = 0, middle: float | None = None
) -> Times | None:
    """Return when each row was, or None after an error.

    Of a part of a column, ``first`` is the number of its first row, and ``middle`` the number in the column's middle.
    """
    if column.dtype.kind == "M":
        row = int(np.isnat(column).argmax())
        if np.isnat(column[row]):
            _say_missing(name, first + row, findings)
            return None
        unit = np.datetime_data(column.dtype)[0]
        if unit not in _SCALES:
            column, unit = column.astype("datetime64[us]"), "us"
        return Times(column.astype(np.int64) * np.datetime_data(column.dtype)[1], _SCALES[unit], "dates")
    if column.dtype.kind == "O":
        return _from_text(column, name, findings, first)
    if column.dtype.kind == "b":
        findings.error("time", f"`{name}` holds True and False; expected dates, or numbers of seconds.", _fix())
        return None
    numbers = as_numbers(column, f"`{name}`", findings, _fix())
    if numbers is None:
        return None
    bad = ~np.isfinite(numbers)
    if bad.any():
        _say_missing(name, first + int(bad.argmax()), findings)
        return None
    scale, told = _scale(float(numbers[len(numbers) // 2]) if middle is None else middle, name)
    return Times(numbers.astype(np.int64) if numbers.dtype.kind in "iu" else numbers, scale, told)


def _from_text(column: Array, name: str, findings: Findings, first: int) -> Times | None:
    """Return the times of ISO 8601 text; those without a time zone are taken as UTC."""
    dates: list[str] = []
    ahead = np.zeros(len(column), np.int64)
    for row, text in enumerate(column.tolist()):
        if text is None:
            _say_missing(name, first + row, findings)
            return None
        match = _ISO.fullmatch(text.strip())
        if match is None:
            _say_no_date(name, first + row, text, findings)
            return None
        year, month, day, hour, minute, second, fraction, zone = match.groups()
        clock = f"{hour or '00'}:{minute or '00'}:{second or '00'}.{(fraction or '0')[:6]}"
        dates.append(f"{year}-{month}-{day}T{clock}")
        if zone and zone != "Z":
            ahead[row] = int(f"{zone[0]}1") * (60 * int(zone[1:3]) + int(zone[3:].lstrip(":") or 0))
    # NumPy reads all of them at once, and knows no time zones.
    try:
        values = np.array(dates, "datetime64[us]").astype(np.int64) - 60_000_000 * ahead
    except ValueError:
        row = next(row for row, date in enumerate(dates) if not _is_date(date))
        _say_no_date(name, first + row, column[row], findings)
        return None
    return Times(values, 1e-6, "ISO 8601")


def _is_date(text: str) -> bool:
    """Return whether the numbers of a date are those of a day and a time of day: there is no 30th of February."""
    try:
        np.datetime64(text, "us")
    except ValueError:
        return False
    return True


def _say_no_date(name: str, row: int, text: str, findings: Findings) -> None:
    findings.error(
        "time",
        f"`{name}` holds {text!r:.40} in row {row}; expected dates as ISO 8601 writes them "
        "(2026-11-16T15:39:15.5Z), or numbers of seconds.",
        _fix(),
    )


def _scale(middle: float, name: str) -> tuple[float, str]:
    """Return the seconds in one unit of a column of numbers, by its name or middle, and how, for the user."""
    suffix = folded(name).rpartition("_")[2]
    if suffix in _SCALES and suffix != folded(name):
        return _SCALES[suffix], f"in {suffix}, by its name"
    typical = abs(middle)
    for least, most, seconds, unit in _EPOCH:
        if least <= typical < most:
            return seconds, f"{unit} since 1970"
    return 1.0, "in s"


def read_dt(column: Array, name: str, findings: Findings) -> F64 | None:
    """Return the seconds of each step, NaN where they are missing, or None after an error."""
    fix = Message("If it is not the time to the next row: {}.", Option("features", [..., name]))
    numbers = as_numbers(column, f"`{name}`", findings, fix)
    if numbers is None:
        return None
    scale = _scale(1.0, name)[0]
    seconds: F64 = numbers.astype(np.float64) * scale
    bad = np.isinf(seconds) | (seconds <= 0)
    if bad.any():
        row = int(bad.argmax())
        findings.error(
            "dt",
            f"`{name}` holds {numbers[row]:g} in row {row} ({count(int(bad.sum()), 'such row')}); the time to the next "
            "row must be above 0.",
            fix,
        )
        return None
    return seconds


def _say_missing(name: str, row: int, findings: Findings) -> None:
    findings.error("time", f"`{name}` is missing in row {row}; every row needs a time.", _fix())


def _fix() -> Any:
    return Message("If it is not the time of a row: {}.", Option("ignore", [...]))


UNITS = {
    "kmh": "km/h",
    "kph": "km/h",
    "mph": "mph",
    "mps": "m/s",
    "m_s": "m/s",
    "km_h": "km/h",
    "rads": "rad/s",
    "deg": "deg",
    "rad": "rad",
    "degps": "deg/s",
    "deg_s": "deg/s",
    "rad_s": "rad/s",
    "radps": "rad/s",
    "rpm": "rpm",
    "degc": "°C",
    "celsius": "°C",
    "degf": "°F",
    "kelvin": "K",
    "pct": "%",
    "percent": "%",
    "hz": "Hz",
    "khz": "kHz",
    "mm": "mm",
    "cm": "cm",
    "km": "km",
    "meters": "m",
    "metres": "m",
    "kg": "kg",
    "nm": "Nm",
    "kn": "kN",
    "kw": "kW",
    "kwh": "kWh",
    "watt": "W",
    "watts": "W",
    "volt": "V",
    "volts": "V",
    "amp": "A",
    "amps": "A",
    "mv": "mV",
    "ma": "mA",
    "pa": "Pa",
    "kpa": "kPa",
    "hpa": "hPa",
    "bar": "bar",
    "psi": "psi",
    "ms": "ms",
    "sec": "s",
    "seconds": "s",
    "minutes": "min",
    "hours": "h",
    "mps2": "m/s²",
    "m_s2": "m/s²",
}
"""Endings of names, after an underscore, that can only be a unit."""


def unit_in(name: str) -> str:
    """Return the unit that the name of a column ends in; nothing if it does not.

    >>> unit_in("speed_kmh"), unit_in("wheel_speed_m_s"), unit_in("speed")
    ('km/h', 'm/s', '')
    """
    words = name.lower().split("_")
    for number in (2, 1):
        if len(words) > number and "_".join(words[-number:]) in UNITS and all(words):
            return UNITS["_".join(words[-number:])]
    return ""
