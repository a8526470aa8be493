"""DataFrames and Arrow tables, known by what they can do, to the fields of a Log."""

from __future__ import annotations

from typing import Any

from tripletree.log.report import Findings
from tripletree.log.roles import Roles
from tripletree.log.table import from_columns


def from_frame(frame: Any, roles: Roles, findings: Findings) -> dict[str, Any]:
    """Return the fields of a Log; ``frame`` has ``columns`` (or ``column_names``) and gives a column by position."""
    names = getattr(frame, "column_names", None)
    if names is None:
        names = getattr(frame, "columns", None)
    by_position = _by_position(frame)
    if names is None or isinstance(names, str) or by_position is None:
        findings.fail(
            "type",
            f"A DataFrame (pandas, polars) or an Arrow table is needed, {type(frame).__name__} came.",
            "For a dict type Log.from_dict(...), for arrays Log.from_arrays(...).",
        )
    texts = ["_".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in names]
    columns = [by_position(k) for k in range(len(texts))]
    return from_columns(texts, columns, roles, findings, f"a {type(frame).__module__.partition('.')[0]} table")


def _by_position(frame: Any) -> Any:
    # By position, since with doubled names a column's name would return two of them.
    if hasattr(frame, "iloc"):
        return lambda k: _plain(frame.iloc[:, k])
    if hasattr(frame, "to_series"):
        return lambda k: _plain(frame.to_series(k))
    if hasattr(frame, "column"):
        return lambda k: _plain(frame.column(k))
    if hasattr(frame, "__getitem__"):
        return lambda k: _plain(frame[list(frame.columns)[k]])
    return None


def _plain(series: Any) -> Any:
    return series.to_numpy() if hasattr(series, "to_numpy") else series
