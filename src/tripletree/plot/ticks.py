"""The ticks of scenes in matplotlib's terms; imported only where something is drawn, as it needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.ticker import Formatter, Locator, NullFormatter

from tripletree.scenes.guides import marked, tick_texts
from tripletree.scenes.types import Axis


def put_ticks(along: Any, axis: Axis, most: int) -> None:
    """Put the ticks of a scene's axis on one of matplotlib's."""
    along.set_major_locator(Places(along, axis, most))
    along.set_major_formatter(Texts(axis))
    along.set_minor_formatter(NullFormatter())  # a logarithmic axis would write numbers there


class Places(Locator):  # type: ignore[misc, unused-ignore]
    """Finds ticks as scenes do, even after somebody has moved the limits of the axes."""

    def __init__(self, along: Any, axis: Axis, most: int) -> None:
        self._along, self._axis, self._most = along, axis, most

    def __call__(self) -> tuple[float, ...]:
        """Return the ticks between the limits as they are now."""
        return self.tick_values(*sorted(self._along.get_view_interval()))

    def tick_values(self, vmin: float, vmax: float) -> tuple[float, ...]:
        """Return the ticks between two limits."""
        return marked(replace(self._axis, low=vmin, high=vmax), self._most).ticks


class Texts(Formatter):  # type: ignore[misc, unused-ignore]
    """Writes what scenes do."""

    def __init__(self, axis: Axis) -> None:
        # The limits of the scene, not those of the moment: the label names the power of ten that goes with them.
        self._axis = axis

    def __call__(self, x: float, pos: int | None = None) -> str:  # noqa: ARG002
        """Return one number, as for the place of a pointer."""
        return self.format_ticks([x])[0]

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Return the texts of all ticks, which have the same number of decimals."""
        return list(tick_texts(self._axis, values))
