"""Axes of a picture: where values lie on paper, and round numbers to mark on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.language.numbers import exact, rounded
from tripletree.scenes.types import Axis

F64 = npt.NDArray[np.float64]

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """One axis from ``begin`` to ``end`` on paper."""

    axis: Axis
    begin: float
    end: float

    def __call__(self, values: Any) -> F64:
        """Return where values lie; what is beyond the ends stays close to the paper."""
        low, high = self._moved(np.array([self.axis.low, self.axis.high]))
        share = (self._moved(np.asarray(values, np.float64)) - low) / (high - low)
        place: F64 = self.begin + np.clip(share, -2, 3) * (self.end - self.begin)
        return place

    def _moved(self, values: F64) -> F64:
        if not self.axis.log:
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            logs: F64 = np.log10(np.maximum(values, np.finfo(float).tiny))
        return logs

    def ticks(self) -> list[tuple[float, str]]:
        """Return places on paper and what to write there."""
        axis = self.axis
        if axis.ticks:
            marks = list(zip(axis.ticks, axis.tick_labels, strict=True))
        elif axis.log:
            marks = [(tick, power(tick)) for tick in log_ticks(axis.low, axis.high)]
        else:
            marks = [(tick, exact(tick)) for tick in round_numbers(axis.low, axis.high)]
        return [(float(self(tick)), text) for tick, text in marks]


def round_numbers(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers from ``low`` to ``high``, about so many."""
    width = (high - low) / about
    if not 0 < width < math.inf:
        return [low]
    power = 10.0 ** math.floor(math.log10(width))
    step = next(step for step in STEPS if step * power >= width * 0.999) * power
    # A range that begins a hair above a round number begins with it.
    hair = 0.02 * (high - low) / step
    first, last = math.ceil(low / step - hair), math.floor(high / step + hair)
    return [float(f"{k * step:.12g}") + 0.0 for k in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, every second or third when there are many; both ends when there is none."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    every = max(1, (last - first) // 5)
    powers = [10.0**k for k in range(first, last + 1, every)]
    return powers if len(powers) > 1 else [float(rounded(low)), float(rounded(high))]


def power(tick: float) -> str:
    """Return "100", but "10⁸" instead of a long number."""
    exponent = round(math.log10(tick))
    if -4 < exponent < 5 or not math.isclose(tick, 10.0**exponent):
        return exact(tick)
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
