"""CSV as it is defined: Python's csv splits, Python's float() reads, and a whole column decides what it is."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

MISSING = {"", "na", "n/a", "<na>", "nan", "null", "none"}
BOOLEANS = {"true": True, "false": False}


def read(text: str) -> tuple[list[str], list[Any]] | str:
    """Return the names and columns of a text; if it is not a table, the code of the finding."""
    first = next((line for line in io.StringIO(text, newline="") if line.strip()), "")
    separator = max(",;\t|", key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
    except csv.Error:
        return "csv"
    if not rows:
        return "no-samples"
    names, *rows = rows
    names = [name.strip() for name in names]
    if all(map(_is_number, names)):
        return "no-header"
    if any(len(row) != len(names) for row in rows):
        return "ragged"
    if not rows:
        return "no-samples"
    return names, [_column(list(cells)) for cells in zip(*rows, strict=True)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _column(cells: list[str]) -> Any:
    numbers = None if any("_" in cell for cell in cells) else _numbers(cells)
    if numbers is not None:
        return numbers
    texts = [cell.strip() or None for cell in cells]
    if all(text is not None and text.lower() in BOOLEANS for text in texts):
        return np.array([BOOLEANS[str(text).lower()] for text in texts])
    column = np.empty(len(texts), object)
    column[:] = texts
    return column


def _numbers(cells: list[str]) -> Any:
    if any(not _is_number(cell) and cell.strip().lower() not in MISSING for cell in cells):
        return None
    values = np.array([float(cell) if _is_number(cell) else np.nan for cell in cells])
    if not all(map(_is_number, cells)) and np.isnan(values).all() and any(cell.strip() for cell in cells):
        return None
    if not np.isfinite(values).all() or any(mark in "".join(cells) for mark in ".eE"):
        return values
    digits = [cell.strip() for cell in cells]
    padded = any(cell.lstrip("+-")[0] in "0٠" and len(cell.lstrip("+-")) > 1 for cell in digits)
    if padded and len(set(map(int, cells))) < len(set(digits)):
        return None
    try:
        return np.array([int(cell) for cell in cells], np.int64)
    except OverflowError:
        return None
