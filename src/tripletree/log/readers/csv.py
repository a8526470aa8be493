"""CSV files to columns of integers, floats, booleans or text, in blocks of rows so that memory stays low."""

from __future__ import annotations

import csv
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from tripletree.log.report import Findings, plural

BLOCK = 2048
SEPARATORS = ",;\t|"
# Missing among numbers; in a column of text only an empty cell is missing ("none" may well be an action).
MISSING = frozenset({"", "na", "n/a", "<na>", "nan", "null", "none"})
BOOLEANS = {"true": True, "false": False}

Array = npt.NDArray[Any]


def read_csv(path: Path, encoding: str, findings: Findings) -> tuple[list[str], list[Array]]:
    """Return the names and columns of the file; raises one error for a file that is no table."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        encoding = "utf-8-sig"  # the same, and takes off the mark that some programs put in front
    try:
        names, blocks = _parse(path, encoding, frozenset(), findings)
        mixed = frozenset(
            k for k, column in enumerate(blocks) if len({block.dtype.kind == "O" for block in column}) > 1
        )
        if mixed:
            # Text came after blocks of numbers: read those columns again, as text from the start.
            names, blocks = _parse(path, encoding, mixed, findings)
    except UnicodeDecodeError as error:
        findings.fail(
            "encoding",
            f"{path.name} is not {encoding.removesuffix('-sig')} text: it holds byte {error.object[error.start]:#04x}.",
            'Save it as UTF-8, or name its encoding: read_log(path, encoding="latin-1").',
        )
    except LookupError:
        findings.fail("encoding", f"There is no encoding {encoding!r}.", 'Type encoding="utf-8" or "latin-1".')
    except csv.Error as error:
        findings.fail("csv", f"{path.name} is no readable CSV file: {error}.")
    return names, [_join(column) for column in blocks]


def _parse(
    path: Path, encoding: str, as_text: frozenset[int], findings: Findings
) -> tuple[list[str], list[list[Array]]]:
    """Return the names and, for each column, its blocks; object blocks are text."""
    with path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=_separator(file))
        names = [name.strip() for name in next((row for row in reader if row), [])]
        if not names:
            findings.fail("no-samples", f"{path.name} is empty; a header line and one line for each step are needed.")
        if all(_number(name) for name in names):
            findings.fail(
                "no-header",
                f"{path.name} has no header: its first line holds numbers only ({', '.join(names[:4])}, ...).",
                "Put the column names in the first line.",
            )
        columns: list[list[Array]] = [[] for _ in names]
        ragged: list[tuple[int, int]] = []
        rows = 0
        while block := list(islice(reader, BLOCK)):
            if any(len(row) != len(names) for row in block):
                block = [row for row in block if row]
                ragged += [(rows + i, len(row)) for i, row in enumerate(block) if len(row) != len(names)]
                block = [row for row in block if len(row) == len(names)]
            rows += len(block)
            for k, cells in enumerate(zip(*block, strict=True)):
                numbers = None if k in as_text else _numbers(cells)
                columns[k].append(_text(cells) if numbers is None else numbers)
    if ragged:
        row, length = ragged[0]
        findings.fail(
            "ragged",
            f"{plural(len(ragged), 'row')} of {path.name} differ from the header in length: row {row} has {length} "
            f"cells, the header {len(names)}.",
            "Is there a separator inside a value? Then put the value in quotes.",
        )
    if not rows:
        findings.fail("no-samples", f"{path.name} holds a header and no samples; at least one step is needed.")
    return names, columns


def _separator(file: TextIO) -> str:
    first = next((line for line in file if line.strip()), "")
    file.seek(0)
    return max(SEPARATORS, key=first.count)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(cells: tuple[str, ...]) -> Array | None:
    """Return the cells as int64, as float64 (NaN where missing), or None when they are no numbers."""
    if "_" in (joined := "".join(cells)):
        return None  # Python reads 1_0 as ten, people as a label
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        try:
            values = np.array(["nan" if cell.strip().lower() in MISSING else cell for cell in cells], np.float64)
        except ValueError:
            return None
        if np.isnan(values).all() and any(cell.strip() for cell in cells):
            return None  # words such as "none" with no number among them are labels
    if not np.isfinite(values).all() or (values != np.floor(values)).any() or any(mark in joined for mark in ".eE"):
        return values
    if np.abs(values).max() < 2**53:
        return values.astype(np.int64)
    try:
        return np.array(list(map(int, cells)), np.int64)
    except OverflowError:
        return None  # as text, large identifiers keep all their digits


def _text(cells: tuple[str, ...]) -> Array:
    # One object for each different text, however often it occurs.
    known = {cell: cell.strip() or None for cell in set(cells)}
    block = np.empty(len(cells), object)
    block[:] = [known[cell] for cell in cells]
    return block


def _join(blocks: list[Array]) -> Array:
    column = np.concatenate(blocks)
    if column.dtype.kind != "O":
        return column
    values = set(column.tolist())
    if values <= {None}:
        return np.full(len(column), np.nan)
    if None not in values and {value.lower() for value in values} <= set(BOOLEANS):
        return np.fromiter((BOOLEANS[value.lower()] for value in column), bool, len(column))
    return column
