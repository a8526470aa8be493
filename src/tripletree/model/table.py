"""Table: a small frozen table of named columns that prints well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_names


class Table:
    """Named columns of equal length.

    ``table["count"]`` is a column, ``len(table)`` the number of rows, and ``pandas.DataFrame(table.to_dict())`` works.

    Parameters
    ----------
    columns : mapping of names to sequences
        The columns, in order.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, npt.ArrayLike]) -> None:
        self._columns = {name: np.array(column) for name, column in columns.items()}
        for column in self._columns.values():
            column.setflags(write=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain Python values."""
        return {name: column.tolist() for name, column in self._columns.items()}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        check_names([name], self._columns, "The table")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __repr__(self) -> str:
        return self.render()

    def render(self, rows: int = 12, width: int = 120) -> str:
        """Return the table as text, at most ``rows`` rows and ``width`` characters wide; dots stand for the rest."""
        shown = list(range(len(self)))
        if len(self) > rows:
            shown = [*shown[: rows - rows // 2], *shown[len(self) - rows // 2 :]]
        texts = [[name, *(_text(column[row]) for row in shown)] for name, column in self._columns.items()]
        widths = [max(map(len, text)) for text in texts]
        # Columns go from the middle, so that the first and the last ones stay.
        kept = list(range(len(texts)))
        while len(kept) > 2 and sum(widths[k] + 2 for k in kept) + 5 > width:
            del kept[len(kept) // 2]
        cells = [[texts[k][line].rjust(widths[k]) for k in kept] for line in range(len(shown) + 1)]
        if len(kept) < len(texts):
            for line in cells:
                line.insert((len(kept) + 1) // 2, "...")
        lines = ["  ".join(line) for line in cells]
        if len(shown) < len(self):
            lines.insert(1 + rows - rows // 2, "...")
        hidden = [f"{len(self)} rows"] if len(shown) < len(self) else []
        hidden += [f"{len(texts)} columns"] if len(kept) < len(texts) else []
        return "\n".join([*lines, f"[{', '.join(hidden)}]"] if hidden else lines)


def _text(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
