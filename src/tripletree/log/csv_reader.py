"""CSV files, also gzipped, to columns of integers, floats, booleans or text, in pieces so that little memory is needed.

The compiled kernel splits the rows and reads plain numbers; what it leaves as text is judged here, cell by cell.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tripletree import _kernel
from tripletree.errors import LogError
from tripletree.log.coerce import Array
from tripletree.log.findings import Findings
from tripletree.log.npz_reader import refuse_bomb
from tripletree.log.sources import Table
from tripletree.text import Message, Option, count, plural
from tripletree.writing import open_regular, shown

# Bytes that are read together: few enough for a cache, enough that a call for each of them costs nothing.
BLOCK = 2**22
# Bytes in which the header is looked for first.
HEAD = 2**16
# No row may be longer, in bytes: a file without line ends must not be held as one row.
LONGEST_ROW = 2**24
SEPARATORS = ",;\t|"
# Missing among numbers; in a column of text only an empty cell is missing ("none" may well be an action).
MISSING = frozenset({"", "na", "n/a", "<na>", "nan", "null", "none"})
BOOLEANS = {"true": True, "false": False}

GZIP = b"\x1f\x8b"
"""The first bytes of a gzipped file."""

# What the kernel has seen in a column, as in csv.hpp.
_LARGE, _FRACTION, _VALUE, _WORD, _NAN, _BLANK, _TEXT, _PADDING = (1 << bit for bit in range(8))


def read_csv(path: Path, encoding: str) -> Table:
    """Return the columns of the file, which may be gzipped; raises one error for a file that is not a table."""
    name = shown(path.name)
    findings = Findings(name)
    codec = _codec(encoding, findings)
    try:
        names, columns = _parse(path, codec, frozenset(), findings)
        again = frozenset(k for k, column in enumerate(columns) if column.must_be_text)
        if again:
            # Text came after numbers, or what looks like numbers is not: read those columns as text from the start.
            names, columns = _parse(path, codec, again, findings)
    except UnicodeError as error:
        why, guess = str(error), "latin-1"
        if isinstance(error, UnicodeDecodeError):
            why = f"it holds byte {error.object[error.start]:#04x}"
            if error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                guess = "utf-16"
        fix = Message("Save it as UTF-8, or name its encoding: {}.", Option("encoding", guess))
        findings.fail("encoding", f"{name} is not {codec} text: {why}.", fix)
    except ValueError as error:
        # From the kernel; whatever this package raises on purpose is a ValueError as well.
        if not str(error).startswith("field larger"):
            raise
        findings.fail("csv", f"{name} cannot be read as CSV: {error}.", "Is a closing quote missing?")
    return Table(names, [_rows(column.join(), of, name) for of, column in zip(names, columns, strict=True)], name)


def _rows(column: Array, of: str, name: str) -> Array:
    """Return a column of cells such as "[0.1 0.2]" as a matrix, any other column as it is.

    So NumPy, pandas and Python write arrays and lists as text.
    """
    if column.dtype.kind != "O" or not all(cell and cell[0] in "[(" and cell[-1] in "])" for cell in column):
        return column
    cells = [" ".join(cell[1:-1].split()) if "\n" in cell else cell[1:-1] for cell in column]
    if any("..." in cell for cell in cells):
        raise LogError(
            f"Column `{of}` of {name} is cut short: it holds `...` where NumPy has left values out. Write every value "
            "as a column of its own, or write array.tolist()."
        )
    text = re.sub(r"[ ,\t]+", " ", "\n".join(cells)).replace("\n ", "\n").replace(" \n", "\n").strip()
    width = text.partition("\n")[0].count(" ") + 1
    _, rows, (odd, first, size), table = _kernel.csv_columns(text.encode(), " ", True, bytes(width))
    if odd:
        raise LogError(
            f"Column `{of}` of {name} is ragged: it has {count(width, 'value')} in row 0 and {size} in row {first}; "
            "every row must hold the same number of values."
        )
    # Words in brackets are labels like any other.
    labels = rows != len(column) or any(isinstance(values, list) for values, _ in table)
    return column if labels else np.column_stack([values for values, _ in table])


def _codec(encoding: object, findings: Findings) -> str:
    """Return the usual name of a text encoding."""
    try:
        codec = codecs.lookup(encoding).name  # type: ignore[arg-type]
        codecs.getincrementaldecoder(codec)
        # Codecs of bytes, such as hex, are no encodings of text: this raises LookupError for them.
        b"a".decode(codec)
    except UnicodeDecodeError:
        pass
    except Exception:
        # The look-up imports a module of that name, and many things can go wrong with a strange one.
        fix = Message("Type {} or {}.", Option("encoding", "utf-8"), Option("encoding", "latin-1"))
        findings.fail("encoding", f"There is no encoding {encoding!r:.60}.", fix)
    return codec


@dataclass
class _Column:
    """What was read of one column so far."""

    blocks: list[Array] = field(default_factory=list)
    labels: dict[str, str | None] = field(default_factory=dict)
    seen: int = 0

    def add(self, values: Array | list[str], seen: int) -> None:
        self.seen |= seen
        self.blocks.append(self._texts(values) if isinstance(values, list) else values)

    def _texts(self, cells: list[str]) -> Array:
        # One object for each different text, however often it occurs: labels of a long log would fill the memory
        # otherwise.
        for cell in set(cells):
            if cell not in self.labels:
                self.labels[cell] = cell.strip() or None
        block = np.empty(len(cells), object)
        block[:] = [self.labels[cell] for cell in cells]
        return block

    @property
    def must_be_text(self) -> bool:
        """Whether numbers that were read here have to be read again, as text."""
        if self.seen & _TEXT:
            return any(block.dtype.kind != "O" for block in self.blocks)
        if self.seen & _VALUE:
            # Integers beyond 64 bits keep all their digits as text, and 007 may have to differ from 7.
            return bool(self.seen & (_LARGE | _PADDING)) and not self.seen & _FRACTION
        # Where no cell is a number, words such as "none" are labels.
        return bool(self.seen & _WORD) or self.seen & (_NAN | _BLANK) == _NAN | _BLANK

    def join(self) -> Array:
        """Return the whole column."""
        column = np.concatenate(self.blocks)
        self.blocks.clear()
        if column.dtype.kind == "i":
            return column.view(np.int64)  # the kernel's integers are of a type that only prints in another way
        if column.dtype.kind == "f":
            return column
        if all(map(_readable, self.labels)):
            numbers = _numbers([cell or "" for cell in column])
            if numbers is not None:
                return numbers
        values = set(self.labels.values())
        if None not in values and {value.lower() for value in values if value is not None} <= set(BOOLEANS):
            return np.fromiter((BOOLEANS[value.lower()] for value in column), bool, len(column))
        return column


class _Unpacked:
    """What a gzipped file unpacks to; it may not be more than `refuse_bomb` allows."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.path = path
        self.stream = gzip.GzipFile(fileobj=file)
        self.size = 0

    def read(self, size: int) -> bytes:
        try:
            data = self.stream.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise LogError(f"{shown(self.path)} is damaged: {error}. Pack or download it again.") from None
        # How much there is in all is not known before: whoever has packed it may have written anything in the file.
        self.size += len(data)
        refuse_bomb(self.path, self.size, "unpack it first, with gunzip")
        return data


class _Source:
    """The bytes of a file, as UTF-8 without a byte order mark, as many as are asked for."""

    def __init__(self, file: BinaryIO | _Unpacked, codec: str) -> None:
        self.file = file
        self.utf8 = codec in ("utf-8", "utf-8-sig")
        self.decoder = codecs.getincrementaldecoder(codec)()
        self.pending = b""
        self.ended = False
        self.more()
        if self.utf8:
            self.pending = self.pending.removeprefix(codecs.BOM_UTF8)

    def more(self) -> None:
        """Read on. Twice as much as is left over, so that a long row is not looked at again and again."""
        data = self.file.read(max(BLOCK, len(self.pending)))
        self.ended = not data
        if not self.utf8:
            data = self.decoder.decode(data, self.ended).encode()
        self.pending += data

    def drop(self, size: int) -> None:
        self.pending = self.pending[size:]

    def check(self) -> None:
        """Raise UnicodeDecodeError for bytes that are not UTF-8, up to the last line end."""
        if self.utf8 and not self.pending.isascii():
            whole = len(self.pending) if self.ended else self.pending.rfind(b"\n") + 1
            self.pending[:whole].decode()


def _parse(path: Path, codec: str, as_text: frozenset[int], findings: Findings) -> tuple[list[str], list[_Column]]:
    """Return the names and columns; those ``as_text`` are not read as numbers."""
    name = shown(path.name)
    with open_regular(path) as file:
        packed = file.read(len(GZIP)) == GZIP
        file.seek(0)
        source = _Source(_Unpacked(file, path) if packed else file, codec)
        separator = _separator(source)
        names = [cell.strip() for cell in _header(source, separator, name, findings)]
        if not names:
            findings.fail("no-samples", f"{name} is empty; expected a header line, and a line for each step.")
        if all(map(_number, names)):
            findings.fail(
                "no-header",
                f"{name} has no header: its first line holds only numbers ({', '.join(names[:4])}, ...).",
                "Put the column names in the first line.",
            )
        columns = [_Column(seen=_TEXT if k in as_text else 0) for k in range(len(names))]
        rows = odd = first = first_size = 0
        for number, (differ, row, size), table in _pieces(source, separator, columns, name, findings):
            if differ and not odd:
                first, first_size = rows + row, size
            rows, odd = rows + number, odd + differ
            for column, (values, seen) in zip(columns, table, strict=True):
                column.add(values, seen)
    if odd:
        findings.fail(
            "ragged",
            f"{count(odd, 'row')} of {name} {plural(odd, 'differs', 'differ')} from the header in "
            f"length: row {first} has {count(first_size, 'cell')}, the header has {len(names)}.",
            "If a value contains the separator, put the value in quotes.",
        )
    if not rows:
        findings.fail("no-samples", f"{name} holds a header and no samples; it needs at least one step.")
    return names, columns


def _pieces(
    source: _Source, separator: str, columns: list[_Column], name: str, findings: Findings
) -> Iterator[tuple[int, tuple[int, int, int], list[tuple[Array | list[str], int]]]]:
    """Yield, for each piece of the file: its rows, those of another length, and for each column what was read."""
    while True:
        source.check()
        as_text = bytes(bool(column.seen & _TEXT) for column in columns)
        used, rows, odd, table = _kernel.csv_columns(source.pending, separator, source.ended, as_text)
        source.drop(used)
        if rows or odd[0]:
            yield rows, odd, table
        if source.ended:
            return
        _refuse_long(source, name, findings)
        source.more()


def _separator(source: _Source) -> str:
    """Return the separator that is most frequent in the first line that is not blank."""
    while True:
        # The header is near the beginning, and what is pending may be long.
        for size in (HEAD, len(source.pending)):
            lines = source.pending[:size].replace(b"\r", b"\n").split(b"\n")
            complete = lines if source.ended and size >= len(source.pending) else lines[:-1]
            for line in complete:
                text = line.decode("utf-8", "replace")
                if text.strip():
                    return max(SEPARATORS, key=text.count)
        if source.ended or len(source.pending) >= LONGEST_ROW:
            return SEPARATORS[0]
        source.more()


def _header(source: _Source, separator: str, name: str, findings: Findings) -> list[str]:
    """Take the first row that is not empty."""
    while True:
        source.check()
        found = _kernel.csv_header(source.pending, separator, source.ended)
        if found is not None:
            cells, used = found
            source.drop(used)
            return cells
        if source.ended:
            return []
        _refuse_long(source, name, findings)
        source.more()


def _refuse_long(source: _Source, name: str, findings: Findings) -> None:
    if len(source.pending) >= LONGEST_ROW:
        findings.fail(
            "csv",
            f"{name} cannot be read as CSV: it has a row of {LONGEST_ROW:,} bytes or more.",
            "Every step needs a line of its own.",
        )


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _readable(cell: str) -> bool:
    """Whether a cell can be one of a column of numbers; 1_0 is ten to Python, and a label to people."""
    return "_" not in cell and (_number(cell) or cell.strip().lower() in MISSING)


def _numbers(cells: list[str]) -> Array | None:
    """Return readable cells as int64, as float64 (NaN where missing), or None if they are labels after all."""
    missing = {cell for cell in set(cells) if not _number(cell)}
    values = np.fromiter((np.nan if cell in missing else float(cell) for cell in cells), np.float64, len(cells))
    if missing and np.isnan(values).all() and any(cell.strip() for cell in cells):
        return None
    if not np.isfinite(values).all() or any(mark in cell for cell in set(cells) for mark in ".eE"):
        return values
    integers = {cell: int(cell) for cell in set(cells)}
    # Identifiers such as 007 and 7 are two; where each number is written in one way only, they are numbers.
    padded = any(len(digits := cell.strip().lstrip("+-")) > 1 and int(digits[0]) == 0 for cell in integers)
    if padded and len(set(integers.values())) < len({cell.strip() for cell in integers}):
        return None
    try:
        return np.array([integers[cell] for cell in cells], np.int64)
    except OverflowError:
        return None  # as text, large identifiers keep all their digits
