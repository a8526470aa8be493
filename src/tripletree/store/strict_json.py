"""JSON as model files allow it: no duplicate key, no NaN, no huge number, no bottomless nesting."""

from __future__ import annotations

import json
import math
from typing import Any

from tripletree.errors import ModelFileError

MAX_DEPTH = 32
"""Far below the depth at which Python's own recursion ends."""
MAX_INTEGER = 2**64 - 1
"""The largest that other readers of JSON, in C or Rust, can hold."""


def show(value: object, width: int = 60) -> str:
    """Return ``repr(value)``, cut short: what came from a stranger's file may be a megabyte."""
    # Strings are cut first, so that even the repr stays small; containers were bounded by the header's cap.
    text = repr(value[: width + 1] if isinstance(value, str) else value)
    return text if len(text) <= width else text[: width - 3] + "..."


def parse(text: str, what: str) -> Any:
    """Return the value of a JSON ``text``; ``what`` names it in errors."""
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_integer, parse_float=_finite
        )
    # The parser recurses before anything can be counted.
    except RecursionError:
        raise ModelFileError(f"{what} is nested too deeply; at most {MAX_DEPTH} levels are allowed.") from None
    except ModelFileError as error:
        raise ModelFileError(f"{what} is not allowed JSON: {error}") from None
    except ValueError as error:
        raise ModelFileError(f"{what} is not valid JSON: {error}.") from None
    check(value, what)
    return value


def dump(value: object, what: str) -> str:
    """Return the JSON text of ``value``; only what `parse` gives back equal is accepted."""
    check(value, what)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check(value: object, what: str, depth: int = 0) -> None:
    """Refuse what is not plain JSON data: other types, NaN, huge integers, lone surrogates, deep nesting."""
    if depth > MAX_DEPTH:
        raise ModelFileError(f"{what} is nested too deeply; at most {MAX_DEPTH} levels are allowed.")
    if isinstance(value, str):
        _check_text(value, what)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ModelFileError(f"{what} has the key {show(key)}; keys must be strings.")
            _check_text(key, what)
            check(item, what, depth + 1)
    elif isinstance(value, list):
        for item in value:
            check(item, what, depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ModelFileError(f"{what} holds {value}; numbers must be finite.")
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise ModelFileError(f"{what} holds an integer of more than 64 bits.")
    elif value is not None:
        raise ModelFileError(
            f"{what} holds {show(value)} of type {type(value).__name__}; only JSON types are allowed "
            "(dict, list, str, int, float, bool, None)."
        )


def _check_text(text: str, what: str) -> None:
    # A half of a surrogate pair is legal in JSON and in a Python string, but not in UTF-8.
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ModelFileError(f"{what} holds a text that is not Unicode: {show(text)}.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Parsers differ in which of two equal keys wins: two programs could read two models from one file.
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ModelFileError(f"the key {show(key)} appears twice.")
        result[key] = value
    return result


def _no_constant(name: str) -> float:
    raise ModelFileError(f"{name} is not a number; numbers must be finite.")


def _integer(digits: str) -> int:
    # The length first: converting a megabyte of digits would take long. 21 is a sign and the 20 digits of 2^64.
    if len(digits) > 21 or abs(int(digits)) > MAX_INTEGER:
        raise ModelFileError(f"the integer {show(digits)} has more than 64 bits.")
    return int(digits)


def _finite(digits: str) -> float:
    # "1e999" is valid JSON, and becomes infinity.
    number = float(digits)
    if not math.isfinite(number):
        raise ModelFileError(f"the number {show(digits)} is too large.")
    return number
