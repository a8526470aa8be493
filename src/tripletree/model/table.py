"""Table: a small frozen table that prints well; the tables of a tree's leaves and of its losses at every size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_names
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.leaves.boxes import bounds, density, log_volume
from tripletree.model.fit import score
from tripletree.model.fitted import Fitted


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


def leaf_table(fitted: Fitted) -> Table:
    """Return one row a leaf: its number, box, and what it predicts.

    ``pos_min`` and ``pos_max`` are the box in feature ``pos`` (``min <= pos < max``); where no split made a bound, the
    training log's own minimum or maximum stands.
    """
    tree, at, action = fitted.tree, fitted.attributes, fitted.schema.action
    nodes = tree.leaf_nodes
    names = [feature.name for feature in fitted.schema.features]
    lower, upper = bounds(tree, len(names))
    whole = np.array([feature.kind in ("binary", "integer") for feature in fitted.schema.features])
    volume = log_volume(lower, upper, fitted.feature_min, fitted.feature_max, whole)

    columns: dict[str, Any] = {
        "leaf": np.arange(tree.n_leaves),
        "node": nodes,
        "depth": tree.depth[nodes],
        "count": at.count[nodes],
    }
    for f, name in enumerate(names):
        columns[f"{name}_min"] = np.where(np.isinf(lower[:, f]), fitted.feature_min[f], lower[:, f])
        columns[f"{name}_max"] = np.where(np.isinf(upper[:, f]), fitted.feature_max[f], upper[:, f])
    if at.action_count is not None:
        table = at.action_count[nodes]
        columns["action"] = np.array(action.labels)[table.argmax(axis=1)]
        columns["action_probability"] = table.max(axis=1) / at.count[nodes]
    elif at.action_mean is not None and at.action_std is not None:
        prefix = "" if all(name.startswith("action") for name in action.names) else "action_"
        for k, name in enumerate(action.names):
            columns[f"{prefix}{name}_mean"] = at.action_mean[nodes, k]
            columns[f"{prefix}{name}_std"] = at.action_std[nodes, k]
    columns["value_mean"] = at.value_mean[nodes]
    columns["value_std"] = at.value_std[nodes]
    if at.derivative_mean is not None and at.derivative_std is not None:
        for f, name in enumerate(names):
            columns[f"derivative_{name}_mean"] = at.derivative_mean[nodes, f]
            columns[f"derivative_{name}_std"] = at.derivative_std[nodes, f]
    for g, name in enumerate(ATTRIBUTES):
        columns[f"impurity_{name}"] = at.impurity[nodes, g]
    columns["density"] = density(at.count[nodes], volume)
    return Table(columns)


def curve_table(fitted: Fitted) -> Table:
    """Return the losses with 1, 2, ... leaves, on the training and the validation log, and what early stopping saw."""
    columns: dict[str, Any] = {"leaves": np.arange(1, len(fitted.curve_training) + 1)}
    for log, curve in (("training", fitted.curve_training), ("validation", fitted.curve_validation)):
        if curve is not None:
            columns |= {f"{log}_{name}": curve[:, g] for g, name in enumerate(ATTRIBUTES)}
    if fitted.curve_validation is not None:
        columns["score"] = score(fitted.curve_validation, fitted.options["theta"])
    return Table(columns)
