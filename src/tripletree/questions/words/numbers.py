"""The English of numbers: counts, shares, intervals."""

from __future__ import annotations

from typing import Any


def count(number: int, one: str, many: str) -> str:
    """Return "1 leaf" or "7 leaves"."""
    return f"{number:,} {one if number == 1 else many}"


def percent(share: float) -> str:
    """Return "12 %"."""
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def between(interval: Any) -> str:
    """Return " (95 % interval 0.1 to 0.2)", or nothing without an interval."""
    return "" if interval is None else f" (95 % interval {interval[0]:.3g} to {interval[1]:.3g})"
