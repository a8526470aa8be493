"""Axes of a picture: where values lie on paper, and where the ticks are that scenes chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.scenes.guides import share
from tripletree.scenes.types import Axis

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """One axis from ``begin`` to ``end`` on paper."""

    axis: Axis
    begin: float
    end: float

    def __call__(self, values: Any) -> F64:
        """Return where values lie; what is beyond the ends stays close to the paper."""
        along = share(self.axis, np.asarray(values, np.float64))
        place: F64 = self.begin + np.clip(along, -2, 3) * (self.end - self.begin)
        return place

    def ticks(self) -> list[tuple[float, str]]:
        """Return places on paper and what to write there."""
        return list(zip(self(self.axis.ticks).tolist(), self.axis.tick_labels, strict=True))
