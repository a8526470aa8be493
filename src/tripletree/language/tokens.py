"""The pieces of an expression such as ``y > 1 and vx in [-0.1, 0.1]``, and errors that point at one of them."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from tripletree.errors import ParameterError
from tripletree.language.conditions import Interval
from tripletree.text import Message, Option

LONGEST = 10_000
"""Characters that an expression may have."""
SHOWN = 64
"""Characters of an expression that an error shows around the place it points at."""

AND = ("and", "&", "&&")
OR = ("or", "|", "||")
CLOSING = {"[": "])", "(": "])", "{": "}"}
"""The words and brackets of the grammar."""

_QUOTES = "\"'`"
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "==": "=", "<>": "!=", "∈": "in"}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted> "(?:[^"]|"")*" | '(?:[^']|'')*' | `(?:[^`]|``)*` )
      | (?P<sign> <= | >= | == | != | <> | => | =< | [<>=≤≥≠] )
      | (?P<mark> [][(){},] )
      | (?P<word> ∈ | -> | [^\s<>=!≤≥≠∈,()\[\]{}"'`]+ )
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


def tokens(source: str, name: Option) -> list[Token]:
    """Return the tokens of ``source``, the last one of kind "end"; ``name`` is what messages call it."""
    if len(source) > LONGEST:
        raise ParameterError(Message("{} is {:,} characters long; {:,} are allowed.", name, len(source), LONGEST))
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
            fail(Message("{} has a {} without its partner", name, rest[0]), source, begin, len(source))
        advice = " For the opposite write `not`." if rest[0] == "!" else ""
        fail(Message("{} has a {!r} in a strange place", name, rest[0]), source, begin, begin + 1, advice)
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
    raise ParameterError(Message("{}.{}\n  {}{}{}\n  {}", message, advice, before, shown, after, marks))


def quoted(text: str, also: Iterable[str] = ("leaf", "leaves", "end", "any")) -> str:
    """Return a name or label as an expression may hold it: in quotes when it needs them."""
    words = text.split()
    plain = words and " ".join(words) == text and not any(c in "<>=!≤≥≠∈,()[]{}\"'`" for c in text)
    reserved = {*AND, *OR, "in", *also}
    if plain and split_number(text) is None and not any(word.casefold() in reserved for word in words):
        return text
    mark = next((mark for mark in "\"'`" if mark not in text), '"')
    return mark + text.replace(mark, mark * 2) + mark


@dataclass(frozen=True)
class Number:
    """A number with the text of its unit."""

    value: float
    unit: str
    begin: int
    end: int


@dataclass(frozen=True)
class Name:
    """The name of an attribute."""

    name: str
    begin: int
    end: int


@dataclass
class Wish:
    """What an expression wants of one attribute: an interval ``low <= x < high``, or some labels."""

    name: Name
    low: float = -math.inf
    high: float = math.inf
    labels: list[str] | None = None
    signs: list[tuple[str, float]] = field(default_factory=list)

    def compare(self, sign: str, number: float) -> None:
        """Add a comparison."""
        self.signs.append((sign, number))
        above = math.nextafter(number, math.inf)
        if sign in (">", ">=", "="):
            self.low = max(self.low, above if sign == ">" else number)
        if sign in ("<", "<=", "="):
            self.high = min(self.high, number if sign == "<" else above)

    def choose(self, labels: list[str]) -> None:
        """Keep only labels that are among these, too."""
        self.labels = labels if self.labels is None else [label for label in self.labels if label in labels]

    def outside(self, known: Iterable[str], yes_or_no: bool = False) -> list[Wish]:
        """Return the wishes of which one is met wherever this one is not, at least one.

        ``known`` are all labels; ``yes_or_no`` says that there is nothing but 0 and 1.
        """
        if self.labels is not None:
            return [Wish(self.name, labels=[label for label in known if label not in self.labels])]
        if yes_or_no:
            found = [
                Wish(self.name, k, math.nextafter(k, math.inf)) for k in (0.0, 1.0) if not self.low <= k < self.high
            ]
        else:
            found = [Wish(self.name, high=self.low)] if self.low > -math.inf else []
            found += [Wish(self.name, low=self.high)] if self.high < math.inf else []
        return found or [Wish(self.name, math.inf, -math.inf)]

    @property
    def empty(self) -> bool:
        """Whether nothing can be all that is wanted."""
        # No number is below the least that there is.
        return max(self.low, -sys.float_info.max) >= self.high if self.labels is None else not self.labels

    def condition(self) -> Any:
        """Return the condition as questions take it."""
        if self.labels is not None:
            return self.labels[0] if len(self.labels) == 1 else self.labels
        if self.high == math.nextafter(self.low, math.inf):
            return self.low
        return Interval(self.low, self.high)


Boxes = list[dict[str, Wish]]
"""Places of which one will do, each with what it wants of every name."""


def merged(boxes: Iterable[dict[str, Wish]]) -> dict[str, Wish]:
    """Return the box that lies in all boxes."""
    found: dict[str, Wish] = {}
    for key, wish in (pair for box in boxes for pair in box.items()):
        if key not in found:
            found[key] = wish
            continue
        first = found[key]
        found[key] = both = Wish(first.name, max(first.low, wish.low), min(first.high, wish.high), first.labels)
        if wish.labels is not None:
            both.choose(wish.labels)
    return found


def united(boxes: Boxes) -> Boxes:
    """Return boxes of which one will do; a choice of labels, and of nothing else, is one box."""
    keys = {key for box in boxes for key in box}
    if len(keys) > 1 or any(wish.labels is None for box in boxes for wish in box.values()):
        return boxes
    (key,) = keys
    chosen = [label for box in boxes for label in box[key].labels or ()]
    return [{key: Wish(boxes[0][key].name, labels=list(dict.fromkeys(chosen)))}]


class Placed(Protocol):
    """Whatever stands somewhere in an expression."""

    @property
    def begin(self) -> int:
        """Where it begins."""

    @property
    def end(self) -> int:
        """Where it ends."""


class Cursor:
    """A place in the tokens of an expression: what comes next, and errors that point at it.

    Parameters
    ----------
    source : str
        The expression.
    name : str
        What messages call it: the name of an argument, or words.
    """

    def __init__(self, source: str, name: str) -> None:
        self.source, self.name = source, Option(name)
        self.tokens = tokens(source, self.name)
        self.place = 0

    @property
    def next(self) -> Token:
        """The token to read next."""
        return self.tokens[self.place]

    def word(self, *texts: str) -> bool:
        """Whether one of these words comes next."""
        return self.next.kind == "word" and self.next.text.casefold() in texts

    def mark(self, text: str) -> bool:
        """Whether this comma or bracket comes next."""
        return self.next.kind == "mark" and self.next.text == text

    def starts_set(self) -> bool:
        """Whether this is an "in" with a bracket after it."""
        after = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        return self.word("in") and after.kind == "mark" and after.text in CLOSING

    def before_number(self) -> bool:
        """Whether a number comes after the next token."""
        after = self.tokens[self.place + 1]
        return after.kind == "word" and split_number(after.text) is not None

    def after_comma(self) -> bool:
        """Whether the last two tokens are a comma and a number."""
        before = self.tokens[max(self.place - 2, 0) : self.place]
        return len(before) == 2 and before[0].text == "," and split_number(before[1].text) is not None

    def shown(self) -> str:
        """Return the next token as messages call it."""
        return f"`{self.next.text}`" if self.next.kind != "end" else "nothing"

    def stop(self, message: str, advice: str = "") -> NoReturn:
        """Raise an error that points at the next token."""
        self.fail(message, self.next, advice or self.how())

    def unexpected(self, where: str, advice: str = "") -> NoReturn:
        """Raise the error that the next token stands ``where`` something else is expected."""
        self.stop(Message("{} has {} {}", self.name, self.shown(), where), advice)

    def fail(self, message: str, place: Placed, advice: str = "") -> NoReturn:
        """Raise an error that points at some part of the expression."""
        fail(message, self.source, place.begin, place.end, advice)

    def how(self) -> str:
        """Return an example of what is understood."""
        return ""
