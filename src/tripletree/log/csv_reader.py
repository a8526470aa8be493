"""CSV files to columns of integers, floats, booleans or text, block by block so that little memory is needed."""

from __future__ import annotations

import csv
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from tripletree.log.coerce import PADDED, Array
from tripletree.log.findings import Findings
from tripletree.text import Message, Option, count, plural

# Rows that are read together. As Python's strings they take many times the memory of the numbers they become.
BLOCK = 2048
SEPARATORS = ",;\t|"
# Missing among numbers; in a column of text only an empty cell is missing ("none" may well be an action).
MISSING = frozenset({"", "na", "n/a", "<na>", "nan", "null", "none"})
BOOLEANS = {"true": True, "false": False}


def read_csv(path: Path, encoding: str, findings: Findings) -> tuple[list[str], list[Array]]:
    """Return the names and columns of the file; raises one error for a file that is not a table."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        encoding = "utf-8-sig"  # the same, without the byte order mark that some programs write first
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
            Message("Save it as UTF-8, or name its encoding: {}.", Option("encoding", "latin-1")),
        )
    except LookupError:
        fix = Message("Type {} or {}.", Option("encoding", "utf-8"), Option("encoding", "latin-1"))
        findings.fail("encoding", f"There is no encoding {encoding!r}.", fix)
    except csv.Error as error:
        findings.fail("csv", f"{path.name} cannot be read as CSV: {error}.")
    return names, [_join(column) for column in blocks]


def _parse(
    path: Path, encoding: str, as_text: frozenset[int], findings: Findings
) -> tuple[list[str], list[list[Array]]]:
    """Return the names and, for each column, its blocks; object blocks are text."""
    with path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=_separator(file))
        names = [name.strip() for name in next((row for row in reader if row), [])]
        if not names:
            findings.fail("no-samples", f"{path.name} is empty; expected a header line, and a line for each step.")
        if all(_number(name) for name in names):
            findings.fail(
                "no-header",
                f"{path.name} has no header: its first line holds only numbers ({', '.join(names[:4])}, ...).",
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
            f"{count(len(ragged), 'row')} of {path.name} {plural(len(ragged), 'differs', 'differ')} from the header in "
            f"length: row {row} has {count(length, 'cell')}, the header has {len(names)}.",
            "If a value contains the separator, put the value in quotes.",
        )
    if not rows:
        findings.fail("no-samples", f"{path.name} holds a header and no samples; it needs at least one step.")
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
    """Return the cells as int64, as float64 (NaN where missing), or None if they are not numbers."""
    if "_" in (joined := "".join(cells)):
        return None  # 1_0 is ten to Python, and a label to people
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        try:
            values = np.array(["nan" if cell.strip().lower() in MISSING else cell for cell in cells], np.float64)
        except ValueError:
            return None
        if np.isnan(values).all() and any(cell.strip() for cell in cells):
            return None  # where no cell is a number, words such as "none" are labels
    if not np.isfinite(values).all() or (values != np.floor(values)).any() or any(mark in joined for mark in ".eE"):
        return values
    if any(map(PADDED.match, cells)):
        return None  # as text, the identifiers 007 and 7 stay apart; as_numbers makes numbers of them where it must
    if np.abs(values).max() < 2**53:
        return values.astype(np.int64)
    try:
        return np.array(list(map(int, cells)), np.int64)
    except OverflowError:
        return None  # as text, large identifiers keep all their digits


def _text(cells: tuple[str, ...]) -> Array:
    # One object for each different text, however often it occurs: labels of a long log would fill the memory otherwise.
    known = {cell: cell.strip() or None for cell in set(cells)}
    block = np.empty(len(cells), object)
    block[:] = [known[cell] for cell in cells]
    return block


def _join(blocks: list[Array]) -> Array:
    column = np.concatenate(blocks)
    if column.dtype.kind != "O":
        return column
    values = set(column.tolist())
    if None not in values and {value.lower() for value in values} <= set(BOOLEANS):
        return np.fromiter((BOOLEANS[value.lower()] for value in column), bool, len(column))
    return column
