"""Table: a small table that prints well; the tables of a tree's leaves and of its losses at every size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_names
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.leaves.boxes import bounds, density, log_volume
from tripletree.log.frames import data_frame
from tripletree.markup import notebook_box, notebook_table
from tripletree.model.fit import score
from tripletree.model.fitted import Fitted

MOST_ROWS, MOST_COLUMNS = 12, 20
"""What a notebook shows of a table, at most."""


class Table(dict[str, npt.NDArray[Any]]):
    """Named columns of equal length: a dict of arrays that prints as a table, and of which ``len`` is the rows.

    ``table["count"]`` is a column. Since it is a dict, ``pandas.DataFrame(table)``, ``polars.DataFrame(table)`` and
    ``pyarrow.table(table)`` work, too.

    Parameters
    ----------
    columns : mapping of names to sequences
        The columns, in order.
    """

    __slots__ = ()
    # By identity: comparing dicts would ask arrays whether they are true.
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, columns: Mapping[str, npt.ArrayLike]) -> None:
        super().__init__({name: np.array(column) for name, column in columns.items()})
        for column in self.values():
            column.setflags(write=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain Python values."""
        return {name: column.tolist() for name, column in self.items()}

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return data_frame(self)

    def __missing__(self, name: str) -> NoReturn:
        check_names([name], self.columns, "The table")
        raise KeyError(name)  # pragma: no cover

    def __len__(self) -> int:
        return len(next(iter(self.values()), ()))

    def __repr__(self) -> str:
        return self.render()

    def render(self, rows: int = 12, width: int = 120) -> str:
        """Return the table as text, at most ``rows`` rows and ``width`` characters wide; dots stand for the rest."""
        texts, whole = self._shown(rows)
        widths = [max(map(len, text)) for text in texts]
        # Columns go from the middle, so that the first and the last ones stay.
        kept = list(range(len(texts)))
        while len(kept) > 2 and sum(widths[k] + 2 for k in kept) + 5 > width:
            del kept[len(kept) // 2]
        cells = [[texts[k][line].rjust(widths[k]) for k in kept] for line in range(len(texts[0]) if texts else 0)]
        if len(kept) < len(texts):
            for line in cells:
                line.insert((len(kept) + 1) // 2, "...")
        lines = ["  ".join(line) for line in cells]
        if not whole:
            lines.insert(1 + rows - rows // 2, "...")
        return "\n".join([*lines, *self._rest(whole, len(kept))])

    def _repr_html_(self) -> str:
        texts, whole = self._shown(MOST_ROWS)
        half = MOST_COLUMNS // 2
        kept = texts if len(texts) <= MOST_COLUMNS else [*texts[:half], ["..."] * len(texts[0]), *texts[-half:]]
        head, *rows = zip(*kept, strict=True) if kept else ((),)
        if not whole:
            rows.insert(MOST_ROWS - MOST_ROWS // 2, ("...",) * len(head))
        rest = self._rest(whole, min(len(texts), MOST_COLUMNS))
        return notebook_box(notebook_table(head, rows, range(len(head))), *rest)

    def _shown(self, rows: int) -> tuple[list[list[str]], bool]:
        """Return the name and the cells of each column, without the rows in the middle, and whether all rows are in."""
        shown = list(range(len(self)))
        if len(self) > rows:
            shown = [*shown[: rows - rows // 2], *shown[len(self) - rows // 2 :]]
        texts = [[name, *(_text(column[row]) for row in shown)] for name, column in self.items()]
        return texts, len(shown) == len(self)

    def _rest(self, whole: bool, kept: int) -> list[str]:
        """Return a line with the size of a table that is not shown whole."""
        names = len(self.columns)
        hidden = [] if whole else [f"{len(self)} rows"]
        hidden += [f"{names} columns"] if kept < names else []
        return [f"[{', '.join(hidden)}]"] if hidden else []


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
        **({} if at.weight is None else {"weight": at.weight[nodes] / at.weight[0]}),
    }
    for f, name in enumerate(names):
        columns[f"{name}_min"] = np.where(np.isinf(lower[:, f]), fitted.feature_min[f], lower[:, f])
        columns[f"{name}_max"] = np.where(np.isinf(upper[:, f]), fitted.feature_max[f], upper[:, f])
    if at.mode is not None and at.mode_share is not None:
        columns["action"] = np.array(action.labels)[at.mode[nodes]]
        columns["action_probability"] = at.mode_share[nodes]
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
