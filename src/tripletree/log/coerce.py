"""Anything array-like to plain NumPy columns: booleans, integers, floats, dates, or objects that are all text."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.findings import Findings
from tripletree.text import count

Array = npt.NDArray[Any]
NUMERIC = "biuf"
"""The kinds of NumPy types that are read as numbers."""
EXACT = 2**53
"""Beyond this, not every integer is a double."""
LARGEST = 1e100
"""No number of a log may be larger: sums of squares would overflow."""
DIGITS = re.compile(r"\s*[+-]?\d+\s*")
PADDED = re.compile(r"\s*[+-]?0\d")
"""The beginning of a number such as 007, which is another name than 7, but the same number."""


def freeze(array: Array) -> Array:
    """Return an array that nobody else holds, made read-only: a log keeps it without a copy."""
    array.setflags(write=False)
    return array


def extremes(matrix: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest value of each column of a C-contiguous matrix without NaN.

    Several rows at a time: NumPy is slow where a row is short.
    """
    n, d = matrix.shape
    together = max(1, 256 // d)
    whole = n - n % together
    if not whole:
        return matrix.min(axis=0), matrix.max(axis=0)
    wide = matrix[:whole].reshape(-1, together * d)
    low = np.vstack([wide.min(axis=0).reshape(together, d), matrix[whole:]]).min(axis=0)
    return low, np.vstack([wide.max(axis=0).reshape(together, d), matrix[whole:]]).max(axis=0)


def plain(values: Any) -> Any:
    """Return a column of a table library (pandas, polars, Arrow) as an array in which what is missing stays missing.

    Libraries are known by what their columns offer, so none of them has to be imported.
    """
    kind: Any = getattr(values, "type", None)
    if type(kind).__name__ == "DictionaryType":
        # Categories: a missing value has the code -1, which as a position would be the last of them.
        values = values.cast(kind.value_type)
    if type(getattr(values, "dtype", None)).__name__ in ("List", "String"):
        values = values.to_arrow()  # of polars, whose own way makes an object of each row
    made = _list_matrix(values)
    if made is None:
        made = _shared_texts(values)
    if made is None:
        made = _numbers(values)
    if made is not None:
        return made
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "tz", None) is not None:
        return values.to_numpy(f"datetime64[{getattr(dtype, 'unit', 'ns')}]")
    if hasattr(values, "to_pylist") and not hasattr(values, "num_chunks"):
        return values.to_numpy(zero_copy_only=False)
    return values.to_numpy() if hasattr(values, "to_numpy") else values


def _list_matrix(column: Any) -> Array | None:
    """Return an Arrow column of lists of numbers, all of the same length, as a matrix; None for anything else."""
    kind: Any = getattr(column, "type", None)
    size = getattr(kind, "list_size", None)
    if size is None and type(kind).__name__ not in ("ListType", "LargeListType"):
        return None
    if column.null_count:
        return None
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    parts = []
    for chunk in chunks:
        if not len(chunk):
            continue
        values = chunk.flatten()
        width, rest = divmod(len(values), len(chunk))
        # Lengths are looked at as offsets, all at once.
        if rest or not width or values.null_count or (size is None and not _even(chunk, width)):
            return None
        if str(values.type) not in _NUMBERS:
            return None
        parts.append(values.to_numpy(zero_copy_only=False).reshape(len(chunk), width))
    if not parts or any(part.shape[1] != parts[0].shape[1] for part in parts):
        return None
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _shared_texts(column: Any) -> Array | None:
    """Return an Arrow column of text with one object for each different text; None for anything else.

    Labels are few. As an object for each row they take ten times as long to make, and to compare.
    """
    kind: Any = getattr(column, "type", None)
    if str(kind) not in ("string", "large_string"):
        return None
    coded = column.dictionary_encode()
    parts = []
    for chunk in coded.chunks if hasattr(coded, "chunks") else [coded]:
        known = np.array([*chunk.dictionary.to_pylist(), None], object)
        parts.append(known[chunk.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)])
    return np.concatenate(parts) if parts else np.empty(0, object)


def _numbers(column: Any) -> Array | None:
    """Return an Arrow column of numbers or flags, none of them missing, as it lies in memory; None for anything else.

    Arrow's own way imports pandas wherever that is installed, which takes longer than most files do, and Ctrl-C in that
    moment is lost.
    """
    name = str(getattr(column, "type", None))
    name = {"float": "float32", "double": "float64"}.get(name, name)
    if name not in _PRIMITIVE or not hasattr(column, "null_count") or column.null_count:
        return None
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    parts = [_held(one, name) for one in chunks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, name), *parts])


def _held(chunk: Any, name: str) -> Array:
    """Return what the memory of an Arrow array holds."""
    data = chunk.buffers()[1]
    if name != "bool":
        return np.frombuffer(data, name, len(chunk), chunk.offset * np.dtype(name).itemsize)
    # Eight flags a byte, the first one lowest.
    bits = np.unpackbits(np.frombuffer(data, np.uint8), count=chunk.offset + len(chunk), bitorder="little")
    return bits[chunk.offset :].view(bool)


_PRIMITIVE = frozenset({"bool", "float32", "float64", *(f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64))})
_NUMBERS = frozenset(
    {"float", "double", "halffloat", "bool", *(f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64))}
)


def _even(chunk: Any, width: int) -> bool:
    return bool((np.diff(chunk.offsets.to_numpy()) == width).all())


def as_array(values: object, what: str, findings: Findings) -> Array | None:
    """Return ``values`` as an array of numbers, dates or text (object), or None after an error was noted.

    Objects are looked at one by one: integers beyond 64 bits stay objects, missing values (None, NaN, NA, masked)
    become NaN among numbers and None among text, and lists of equal length become a second dimension. Bytes are UTF-8.
    """
    if values is None:
        findings.error("missing", f"{what} is None; expected an array or a list.")
        return None
    if isinstance(values, np.ma.MaskedArray) and values.dtype.names is None:
        masked = np.ma.getmaskarray(values)
        values = np.asarray(values.data)
        if masked.any():
            values = values.astype(object)
            values[masked] = None
    try:
        values = plain(values)
        array = np.asarray(values)
        if array.dtype.kind in "US" and array.ndim and not isinstance(values, np.ndarray):
            # From the objects themselves: NumPy makes text of numbers among text, and drops NUL characters at the end.
            array = np.asarray(values, object)
    except Exception as error:
        # Any type may come here and throw anything; the user needs to know which of the arguments it was.
        _say_ragged(values, what, error, findings)
        return None
    if array.dtype.kind in "SUT":
        array = array.astype(object)
    if array.dtype.kind == "O" and (array.ndim or not isinstance(array.item(), str)):
        return _from_objects(array, what, findings)
    if array.dtype.kind == "c":
        _refuse_complex(what, findings)
        return None
    if array.dtype.kind == "V":
        findings.error(
            "structured",
            f"{what} is a structured array ({array.dtype}); expected plain columns.",
            "Type Log.from_dict({name: array[name] for name in array.dtype.names}).",
        )
        return None
    return array


def as_matrix(values: object, what: str, findings: Findings) -> Array | None:
    """Return ``values`` as rows of values (a plain column becomes one value a row), or None after an error."""
    array = as_array(values, what, findings)
    if array is None:
        return None
    if array.ndim == 1:
        return array[:, None]
    if array.ndim == 2 and array.shape[1]:
        return array
    findings.error(
        "shape",
        f"{what} has shape {array.shape}; expected (steps, values), with at least one value.",
        "Flatten it first: array.reshape(len(array), -1)." if array.ndim > 2 else "",
    )
    return None


def as_column(values: object, what: str, findings: Findings) -> Array | None:
    """Return ``values`` as one value a row, or None after an error."""
    array = as_array(values, what, findings)
    if array is None or array.ndim == 1:
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    findings.error("shape", f"{what} has shape {array.shape}; expected one value for each step: (steps,).")
    return None


def as_numbers(array: Array, what: str, findings: Findings, fix: str = "") -> Array | None:
    """Return a column of numbers of any real dtype, or None after an error was noted."""
    if array.dtype.kind in NUMERIC:
        if array.dtype.kind == "f" and array.dtype.itemsize > 8:
            with np.errstate(over="ignore"):  # what overflows is found as infinite
                return array.astype(np.float64)
        if array.dtype.kind in "iu" and array.size and _magnitude(array) > EXACT:
            _say_digits_lost(what, findings)
        return array
    if array.dtype.kind in "mM":
        findings.error("dates", f"{what} holds dates or times; only numbers are allowed.", fix)
        return None
    values = array.ravel()
    if all(isinstance(value, int) for value in values):
        try:
            floats = values.astype(np.float64).reshape(array.shape)
        except OverflowError:
            _refuse_large(what, findings)
            return None
        _say_digits_lost(what, findings)
        return floats
    if all(isinstance(value, str) and DIGITS.fullmatch(value) for value in values) and any(map(PADDED.match, values)):
        # Text only because of zeros in front, as in a CSV file.
        parsed = _from_numbers(list(map(int, values)), {int}, set(), array.shape, what, findings)
        return None if parsed is None else as_numbers(parsed, what, findings, fix)
    row, value = next(((i, v) for i, v in enumerate(values) if not reads_as_number(v)), (0, values[0]))
    say_text(what, row, value, findings, fix)
    return None


def say_text(what: str, row: int, value: object, findings: Findings, fix: str = "") -> None:
    """Note that a column which must hold numbers holds text."""
    findings.error(
        "not-numeric", f"{what} holds text (first in row {row}: {_short(value)}); only numbers are allowed.", fix
    )


def as_flags(array: Array, what: str, findings: Findings) -> npt.NDArray[np.bool_] | None:
    """Return a column of booleans (also written as 0 and 1), or None after an error was noted."""
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in NUMERIC and bool(((array == 0) | (array == 1)).all()):
        return array.astype(bool)
    values = array.ravel().tolist()
    odd = next((v for v in values if not (isinstance(v, (int, float)) and v in (0, 1))), None)
    findings.error("flags", f"{what} holds {_short(odd)}; only True / False or 1 / 0 are allowed.")
    return None


def as_ids(array: Array, what: str, findings: Findings) -> Array | None:
    """Return a column of identifiers, int64 or text (object), or None after an error was noted."""
    if array.dtype.kind in "bi" or (array.dtype.kind == "u" and (not array.size or _magnitude(array) < 2**63)):
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f":
        row = _first(~np.isfinite(array))
        if row is None:
            return _whole_ids(array, what, findings)
        findings.error("ids", f"{what} is missing (NaN) in row {row}; every row needs a value.")
        return None
    if array.dtype.kind in "mM" and (row := _first(np.isnat(array))) is not None:
        findings.error("ids", f"{what} is missing (NaT) in row {row}; every row needs a value.")
        return None
    if array.dtype.kind in "mMu":
        return array.astype(str).astype(object)
    row = _first(np.array([value is None for value in array], bool))
    if row is not None:
        findings.error("ids", f"{what} is missing in row {row}; every row needs a value.")
        return None
    return _objects(str(value) for value in array)


def _whole_ids(array: Array, what: str, findings: Findings) -> Array | None:
    row = _first(array != np.floor(array))
    if row is not None:
        findings.error("ids", f"{what} holds {array[row]} in row {row}; only whole numbers or text are allowed.")
        return None
    # From here on not every whole number has a float of its own: two identifiers may have become one.
    limit = min(2.0 ** (np.finfo(array.dtype).nmant + 1), EXACT)
    row = _first(np.abs(array) >= limit)
    if row is not None:
        findings.error(
            "ids",
            f"{what} holds {array[row]} in row {row}; from {limit:.0f} on, numbers of type {array.dtype} are rounded, "
            "and different ids may have become equal.",
            "Store ids as integers or text.",
        )
        return None
    return array.astype(np.int64)


def factorise(column: Array) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the distinct values of a column, sorted, and the position of each row's value among them."""
    if column.dtype.kind != "O":
        values, codes = np.unique(column, return_inverse=True)
        return values.tolist(), codes.reshape(-1).astype(np.int64, copy=False)
    # A dictionary is about ten times as fast as sorting objects.
    items = column.tolist()
    known = sorted(set(items))
    place = {value: i for i, value in enumerate(known)}
    return known, np.fromiter(map(place.__getitem__, items), np.int64, len(items))


def sort_of(array: Array) -> str:
    """Return "numbers", "text" or "dates"."""
    return "numbers" if array.dtype.kind in NUMERIC else "dates" if array.dtype.kind in "mM" else "text"


def _from_objects(array: Array, what: str, findings: Findings) -> Array | None:
    items: list[Any] = array.ravel().tolist()
    if array.ndim == 0:
        kind = type(items[0]).__name__
        findings.error("type", f"{what} is {_short(items[0])}, of type {kind}; expected an array or a list.")
        return None
    types = set(map(type, items))
    # By name, for pandas' missing values are known without importing pandas.
    missing = {t for t in types if t is type(None) or t.__name__ in ("NAType", "NaTType", "MaskedConstant")}
    if types - missing and all(issubclass(t, bytes) for t in types - missing):
        return _from_bytes(array, what, findings)
    text = {t for t in types if issubclass(t, str)}
    number = {t for t in types if issubclass(t, (numbers.Number, np.number, np.bool_))}
    if text and types == text:
        return _without_nul(array, what, findings)
    if text and types <= text | missing | {float}:
        # A float among text is NaN, as pandas writes a missing value; any other float is a mixture, refused below.
        blank = [not isinstance(item, str) for item in items]
        if all(type(item) is not float or item != item for item in items):
            array = array.copy()
            array[np.reshape(blank, array.shape)] = None
            return _without_nul(array, what, findings)
    if text and number and types <= text | number | missing:
        return _from_mixture(array, what, findings)
    if number and types <= number | missing:
        return _from_numbers(items, types, missing, array.shape, what, findings)
    if types == {np.ndarray} and array.ndim == 1 and len({(item.dtype.str, item.shape) for item in items}) == 1:
        return as_array(np.stack(items), what, findings)
    if types and all(issubclass(t, (list, tuple, np.ndarray)) for t in types) and array.ndim == 1:
        return as_array([np.asarray(item).tolist() for item in items], what, findings)
    if types and types == missing:
        return np.full(array.shape, np.nan)
    odd = sorted({t.__name__ for t in types - number} | {"number" for _ in number})
    findings.error(
        "objects",
        f"{what} holds Python objects ({', '.join(odd)}), for example {_short(next(iter(items), None))}; "
        "only numbers are allowed, or text for a discrete action.",
    )
    return None


def _from_bytes(array: Array, what: str, findings: Findings) -> Array | None:
    texts = array.copy()
    for place, item in np.ndenumerate(array):
        if isinstance(item, bytes):
            try:
                texts[place] = item.decode()
            except UnicodeDecodeError:
                findings.error(
                    "encoding",
                    f"{what} holds bytes that are not UTF-8 (first in row {place[0]}: {_short(item)}).",
                    'Decode them first, for example with np.char.decode(array, "latin-1").',
                )
                return None
    return _from_objects(texts, what, findings)


def _without_nul(array: Array, what: str, findings: Findings) -> Array | None:
    """Return the text; an error if NumPy could not keep it, because it ends in a NUL character."""
    if not any("\0" in text for text in set(array.ravel().tolist()) if text is not None):
        return array
    place, item = next((at, item) for at, item in np.ndenumerate(array) if item is not None and "\0" in item)
    findings.error(
        "nul", f"{what} holds text with a NUL character (first in row {place[0]}: {_short(item)}); it is not allowed."
    )
    return None


def _from_mixture(array: Array, what: str, findings: Findings) -> Array | None:
    """Return columns of numbers beside columns of text as text; refuse a column that holds both, such as 1 and "1"."""
    is_text = np.reshape([isinstance(item, str) for item in array.ravel()], array.shape)
    odd = np.argwhere(is_text != is_text[0])
    if len(odd):
        place = tuple(odd[0].tolist())
        pair = f"{_short(array[(0, *place[1:])])} in row 0, {_short(array[place])} in row {place[0]}"
        findings.error(
            "mixed", f"{what} mixes numbers and text ({pair}).", "Make all of them text, or all of them numbers."
        )
        return None
    return _from_objects(_objects(map(str, array.ravel())).reshape(array.shape), what, findings)


def _from_numbers(
    items: list[Any], types: set[type], missing: set[type], shape: tuple[int, ...], what: str, findings: Findings
) -> Array | None:
    if any(issubclass(t, (complex, np.complexfloating)) for t in types):
        _refuse_complex(what, findings)
        return None
    if not missing and all(issubclass(t, (bool, np.bool_)) for t in types):
        return np.array(items, bool).reshape(shape)
    if not missing and all(issubclass(t, (int, np.integer, np.bool_)) for t in types):
        try:
            return np.array(items, np.int64).reshape(shape)
        except OverflowError:
            # Objects keep all digits: as identifiers or labels, such numbers are fine.
            return _objects(int(item) for item in items).reshape(shape)
    try:
        floats = [np.nan if type(item) in missing else float(item) for item in items]
    except (OverflowError, ValueError, TypeError):
        _refuse_large(what, findings)
        return None
    return np.array(floats, np.float64).reshape(shape)


def _say_ragged(values: object, what: str, error: Exception, findings: Findings) -> None:
    text = f"{what} cannot be read as an array ({type(error).__name__})"
    if isinstance(values, (list, tuple)):
        lengths = [_length(v) for v in values]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            text = f"{what} is ragged: row 0 has {_values(lengths[0])}, row {odd} has {_values(lengths[odd])}"
    findings.error("ragged", f"{text}; every row must hold the same number of values.")


def _length(value: object) -> int:
    scalar = not isinstance(value, (list, tuple, np.ndarray)) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return -1 if scalar else len(value)  # type: ignore[arg-type]


def _values(length: int) -> str:
    return "a single value" if length < 0 else count(length, "value")


def _refuse_complex(what: str, findings: Findings) -> None:
    findings.error(
        "complex",
        f"{what} holds complex numbers; only real numbers are allowed.",
        "Give real and imaginary parts as columns of their own.",
    )


def _refuse_large(what: str, findings: Findings) -> None:
    findings.error("too-large", f"{what} holds a number that does not fit in a double; the limit is 1.8e308.")


def _say_digits_lost(what: str, findings: Findings) -> None:
    findings.warning("digits-lost", f"{what} holds integers beyond 2**53; as doubles they lose digits.")


def _magnitude(array: Array) -> int:
    # Python's integers: the absolute value of the smallest int64 is none.
    return max(abs(int(array.min())), abs(int(array.max())))


def reads_as_number(value: object) -> bool:
    """Return whether a value is a number, or text that Python reads as one; what is missing counts as well."""
    if value is None:
        return True
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def _objects(values: Iterable[object]) -> Array:
    # np.array(...) would look into the objects, and turn large integers or equal lengths into something else.
    listed = list(values)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def _first(mask: npt.NDArray[np.bool_]) -> int | None:
    return int(mask.argmax()) if mask.any() else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
