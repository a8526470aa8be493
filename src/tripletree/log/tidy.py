"""Anything array-like to plain NumPy columns: booleans, integers, floats, dates, or objects that are all text."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.report import Findings

Array = npt.NDArray[Any]
NUMERIC = "biuf"


def as_array(values: object, what: str, findings: Findings) -> Array | None:
    """Return ``values`` as an array of numbers, dates or text (object), or None after an error was noted.

    Objects are looked at one by one: integers beyond 64 bits stay objects, missing values (None, NaN, NA, masked)
    become NaN among numbers and None among text, and equally long lists become a second dimension.
    """
    if values is None:
        findings.error("missing", f"{what} is None; an array or a list is needed.")
        return None
    if isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values)
        values = np.asarray(values.data)
        if masked.any():
            values = values.astype(object)
            values[masked] = None
    try:
        array = np.asarray(values)
    except Exception as error:
        # Whatever a foreign object throws here, the user's question is the same: what did I pass?
        _say_ragged(values, what, error, findings)
        return None
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind in "UT":
        return array.astype(object)
    if array.dtype.kind == "O":
        return _from_objects(array, what, findings)
    if array.dtype.kind == "c":
        findings.error("complex", f"{what} holds complex numbers; real numbers are allowed.", "Give the parts apart.")
        return None
    if array.dtype.kind == "V":
        findings.error(
            "structured",
            f"{what} is a structured array ({array.dtype}); plain columns are needed.",
            "Type Log.from_dict({name: array[name] for name in array.dtype.names}).",
        )
        return None
    return array


def _say_ragged(values: object, what: str, error: Exception, findings: Findings) -> None:
    text = f"{what} cannot be read as an array ({type(error).__name__})"
    if isinstance(values, (list, tuple)):
        lengths = [_length(v) for v in values]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            text = f"{what} is ragged: row 0 has {_count(lengths[0])}, row {odd} has {_count(lengths[odd])}"
    findings.error("ragged", f"{text}; every row must hold the same number of values.")


def _length(value: object) -> int:
    scalar = not isinstance(value, (list, tuple, np.ndarray)) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return -1 if scalar else len(value)  # type: ignore[arg-type]


def _count(length: int) -> str:
    return "a single value" if length < 0 else f"{length} value{'s' * (length != 1)}"


def _from_objects(array: Array, what: str, findings: Findings) -> Array | None:
    items: list[Any] = array.ravel().tolist()
    if array.ndim == 0:
        kind = type(items[0]).__name__
        findings.error("type", f"{what} is {_short(items[0])}, of type {kind}; an array or a list is needed.")
        return None
    types = set(map(type, items))
    missing = {t for t in types if t is type(None) or t.__name__ in ("NAType", "NaTType", "MaskedConstant")}
    text = {t for t in types if issubclass(t, str)}
    number = {t for t in types if issubclass(t, (numbers.Number, np.number, np.bool_))}
    if text and types == text:
        return array
    if text and types <= text | missing | {float}:
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
        "numbers, or text for a discrete action, are allowed.",
    )
    return None


def _from_numbers(
    items: list[Any], types: set[type], missing: set[type], shape: tuple[int, ...], what: str, findings: Findings
) -> Array | None:
    if any(issubclass(t, (complex, np.complexfloating)) for t in types):
        findings.error("complex", f"{what} holds complex numbers; real numbers are allowed.", "Give the parts apart.")
        return None
    if not missing and all(issubclass(t, (bool, np.bool_)) for t in types):
        return np.array(items, bool).reshape(shape)
    if not missing and all(issubclass(t, (int, np.integer, np.bool_)) for t in types):
        try:
            return np.array(items, np.int64).reshape(shape)
        except OverflowError:
            whole = np.empty(len(items), object)
            whole[:] = [int(item) for item in items]
            return whole.reshape(shape)
    try:
        floats = [np.nan if type(item) in missing else float(item) for item in items]
    except (OverflowError, ValueError, TypeError):
        findings.error("too-large", f"{what} holds a number that does not fit a double; the limit is 1.8e308.")
        return None
    return np.array(floats, np.float64).reshape(shape)


def as_numbers(array: Array, what: str, findings: Findings, fix: str = "") -> Array | None:
    """Return a column of numbers of any real dtype, or None after an error was noted."""
    if array.dtype.kind in NUMERIC:
        if array.dtype.kind == "f" and array.dtype.itemsize > 8:
            with np.errstate(over="ignore"):  # what overflows is found as infinite
                return array.astype(np.float64)
        if array.dtype.kind in "iu" and array.size and _magnitude(array) > 2**53:
            findings.warning("digits-lost", f"{what} holds integers beyond 2**53; as doubles they lose digits.")
        return array
    if array.dtype.kind in "mM":
        findings.error("dates", f"{what} holds dates or times; numbers are allowed.", fix)
        return None
    values = array.ravel()
    if all(isinstance(value, int) for value in values):
        try:
            floats = values.astype(np.float64).reshape(array.shape)
        except OverflowError:
            findings.error("too-large", f"{what} holds a number that does not fit a double; the limit is 1.8e308.")
            return None
        findings.warning("digits-lost", f"{what} holds integers beyond 2**53; as doubles they lose digits.")
        return floats
    row, value = next(((i, v) for i, v in enumerate(values) if not _reads_as_number(v)), (0, values[0]))
    findings.error("not-numeric", f"{what} holds text, first {_short(value)} in row {row}; numbers are allowed.", fix)
    return None


def _magnitude(array: Array) -> int:
    return max(abs(int(array.min())), abs(int(array.max())))


def _reads_as_number(value: object) -> bool:
    if value is None:
        return True
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def as_flags(array: Array, what: str, findings: Findings) -> npt.NDArray[np.bool_] | None:
    """Return a column of booleans (also written as 0 and 1), or None after an error was noted."""
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in NUMERIC and bool(((array == 0) | (array == 1)).all()):
        return array.astype(bool)
    values = array.ravel().tolist()
    odd = next((v for v in values if not (isinstance(v, (int, float)) and v in (0, 1))), None)
    findings.error("flags", f"{what} holds {_short(odd)}; True / False or 1 / 0 are allowed.")
    return None


def as_ids(array: Array, what: str, findings: Findings) -> Array | None:
    """Return a column of identifiers, int64 or text (object), or None after an error was noted."""
    if array.dtype.kind in "bi" or (array.dtype.kind == "u" and (not array.size or _magnitude(array) < 2**63)):
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f":
        row = _first(~np.isfinite(array))
        if row is None:
            row = _first((array != np.floor(array)) | (np.abs(array) > 2**53))
            if row is None:
                return array.astype(np.int64)
            findings.error("ids", f"{what} holds {array[row]} in row {row}; whole numbers or text are allowed.")
            return None
        findings.error("ids", f"{what} is missing (NaN) in row {row}; every row needs one.")
        return None
    if array.dtype.kind in "mMu":
        return array.astype(str).astype(object)
    row = _first(np.array([value is None for value in array], bool))
    if row is not None:
        findings.error("ids", f"{what} is missing in row {row}; every row needs one.")
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


def _objects(values: Iterable[str]) -> Array:
    listed = list(values)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def _first(mask: npt.NDArray[np.bool_]) -> int | None:
    return int(mask.argmax()) if mask.any() else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
