"""Anything array-like to plain NumPy columns: booleans, integers, floats, dates, or objects that are all text."""

from __future__ import annotations

import numbers
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


def as_array(values: object, what: str, findings: Findings) -> Array | None:
    """Return ``values`` as an array of numbers, dates or text (object), or None after an error was noted.

    Objects are looked at one by one: integers beyond 64 bits stay objects, missing values (None, NaN, NA, masked)
    become NaN among numbers and None among text, and lists of equal length become a second dimension.
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
        array = np.asarray(values)
    except Exception as error:
        # Any type may come here and throw anything; the user needs to know which of the arguments it was.
        _say_ragged(values, what, error, findings)
        return None
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind in "UT":
        return array.astype(object)
    if array.dtype.kind == "O":
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
    row, value = next(((i, v) for i, v in enumerate(values) if not _reads_as_number(v)), (0, values[0]))
    findings.error(
        "not-numeric", f"{what} holds text (first in row {row}: {_short(value)}); only numbers are allowed.", fix
    )
    return None


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
            row = _first((array != np.floor(array)) | (np.abs(array) > EXACT))
            if row is None:
                return array.astype(np.int64)
            findings.error("ids", f"{what} holds {array[row]} in row {row}; only whole numbers or text are allowed.")
            return None
        findings.error("ids", f"{what} is missing (NaN) in row {row}; every row needs a value.")
        return None
    if array.dtype.kind in "mMu":
        return array.astype(str).astype(object)
    row = _first(np.array([value is None for value in array], bool))
    if row is not None:
        findings.error("ids", f"{what} is missing in row {row}; every row needs a value.")
        return None
    return _objects(str(value) for value in array)


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
    text = {t for t in types if issubclass(t, str)}
    number = {t for t in types if issubclass(t, (numbers.Number, np.number, np.bool_))}
    if text and types == text:
        return array
    if text and types <= text | missing | {float}:
        # A float among text is NaN, as pandas writes a missing value; any other float is a mixture, refused below.
        blank = [not isinstance(item, str) for item in items]
        if all(type(item) is not float or item != item for item in items):
            array = array.copy()
            array[np.reshape(blank, array.shape)] = None
            return array
    if number and types <= number | missing:
        return _from_numbers(items, types, missing, array.shape, what, findings)
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


def _reads_as_number(value: object) -> bool:
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
