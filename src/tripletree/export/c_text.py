"""Words of C: names, literals, tables and comments, in which nothing that a user wrote becomes code."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.export.program import in_lines
from tripletree.text import shortened, visible

LONGEST = 60
"""Letters of a name in a comment."""


def identifier(name: str) -> str:
    """Return a name that C allows, as near as it gets.

    >>> identifier("policy"), identifier("run-7.best"), identifier("7th"), identifier("_x")
    ('policy', 'run_7_best', 'policy_7th', 'x')
    """
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:40] or "policy"
    return f"policy_{plain}" if plain[0].isdigit() else plain


def literal(text: str) -> str:
    r"""Return a string literal of C; what is not plain ASCII is written as bytes of UTF-8, in octal.

    >>> print(literal('say "hi"??/'), literal("5 °C"))
    "say \"hi\"\?\?/" "5 \302\260C"
    """
    return '"{}"'.format("".join(_character(byte) for byte in text.encode()))


def _character(byte: int) -> str:
    if chr(byte) in '"\\?':  # ? because of trigraphs
        return "\\" + chr(byte)
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def comment(text: str) -> str:
    """Return text in quotes that can stand in a comment of C, and cannot end it or the line.

    >>> comment("a */ b"), comment("??/")
    ('"a * / b"', '"? ?/"')
    """
    seen = shortened(visible(text, line_breaks=False), LONGEST)
    while (apart := re.sub(r"\*/|/\*|\?\?", lambda found: f"{found[0][0]} {found[0][1]}", seen)) != seen:
        seen = apart
    return f'"{seen}"'


def _number(value: float) -> str:
    """Return a literal that a compiler reads as the very same double."""
    return repr(float(value)) if np.isfinite(value) else "-HUGE_VAL" if value < 0 else "HUGE_VAL"


def _single(value: np.float32) -> str:
    """Return a literal that a compiler reads as the very same float."""
    return f"{np.format_float_scientific(value)}f" if np.isfinite(value) else _number(float(value))


def table(kind: str, name: str, values: npt.NDArray[Any]) -> str:
    """Return an array of C with these numbers, of kind "int", "float" or "double"."""
    write: dict[str, Callable[[Any], str]] = {"double": _number, "float": _single, "int": str}
    return f"static const {kind} {name}[{values.size}] = {{\n{in_lines(map(write[kind], values.ravel()))}\n}};\n"


def strings(name: str, texts: tuple[str, ...]) -> str:
    """Return an array of C with these texts."""
    return f"const char *const {name}[{len(texts)}] = {{\n{in_lines(map(literal, texts), each=1)}\n}};\n"
