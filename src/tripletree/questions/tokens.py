"""The tokens of an expression such as ``y > 1 and vx in [-0.1, 0.1]``, and errors that point at one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from tripletree.errors import ParameterError

LONGEST = 10_000
"""Characters that an expression may have."""
SHOWN = 64
"""Characters of an expression that an error shows around the place it points at."""

_QUOTES = "\"'`"
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "==": "=", "<>": "!=", "∈": "in"}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted> "(?:[^"]|"")*" | '(?:[^']|'')*' | `(?:[^`]|``)*` )
      | (?P<sign> <= | >= | == | != | <> | [<>=≤≥≠] )
      | (?P<mark> [][(){},] )
      | (?P<word> ∈ | [^\s<>=!≤≥≠∈,()\[\]{}"'`]+ )
    )""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Token:
    """A piece of an expression.

    Attributes
    ----------
    kind : {"word", "quoted", "sign", "mark", "end"}
        A word as it stands, a name in quotes, a comparison, a bracket or comma, or the end of the text.
    text : str
        What it says, without quotes.
    begin, end : int
        Where it stands.
    """

    kind: str
    text: str
    begin: int
    end: int


def tokens(source: str, name: str) -> list[Token]:
    """Return the tokens of ``source``, the last one of kind "end"; ``name`` is what messages call it."""
    if len(source) > LONGEST:
        raise ParameterError(f"{name} is {len(source):,} characters long; {LONGEST:,} are allowed.")
    found, place = [], 0
    while match := _TOKEN.match(source, place):
        kind = str(match.lastgroup)
        text, place = match[kind], match.end()
        begin = match.start(kind)
        if kind == "quoted":
            text = text[1:-1].replace(text[0] * 2, text[0])
        elif text in _SIGNS:
            text = _SIGNS[text]
        found.append(Token(kind, text, begin, place))
    rest = source[place:].lstrip()
    if rest:
        begin = len(source) - len(rest)
        if rest[0] in _QUOTES:
            fail(f"{name} has a {rest[0]} without its partner", source, begin, len(source))
        fail(f"{name} has a {rest[0]!r} in a strange place", source, begin, begin + 1)
    return [*found, Token("end", "", len(source), len(source))]


def split_number(text: str) -> tuple[float, str] | None:
    """Return the number that a word begins with and the rest of the word, or None."""
    text = text.replace("−", "-")
    match = _NUMBER.match(text)
    return None if match is None else (float(match[0]), text[match.end() :])


def fail(message: str, source: str, begin: int, end: int, advice: str = "") -> NoReturn:
    """Raise an error that shows the expression with the characters from ``begin`` to ``end`` underlined."""
    first = max(0, min(begin - SHOWN // 2, len(source) - SHOWN))
    last = min(len(source), first + SHOWN)
    # One column a character, so that the marks stand under what they mean.
    shown = "".join(c if c.isprintable() else " " for c in source[first:last])
    before, after = "..." if first else "", "..." if last < len(source) else ""
    marks = " " * (len(before) + begin - first) + "^" * max(1, min(end, last) - begin)
    raise ParameterError(f"{message}.{advice}\n  {before}{shown}{after}\n  {marks}")
