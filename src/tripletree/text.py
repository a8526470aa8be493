"""Texts for users: words that agree with numbers, and messages that remember which arguments they mention."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

# Control characters, and those that change the direction of text or take no room: a terminal would obey them, a reader
# would not see them. Not among them are the joiners of emoji and of many scripts.
_UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BREAKS = {ord("\n"): "\\n"}


def visible(text: str, line_breaks: bool = True) -> str:
    r"""Return text in which every character can be seen, and none is an order to a terminal or to a browser.

    Parameters
    ----------
    text : str
        Any text; names in it come from logs and model files, which may be anybody's.
    line_breaks : bool
        Whether line breaks stay; a name has none to keep.

    Examples
    --------
    >>> print(visible("speed\x1b[2J"), visible("safe\u202exe"), visible("a\nb", line_breaks=False))
    speed\x1b[2J safe\u202exe a\nb
    """
    seen = _UNSEEN.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)
    return seen if line_breaks else seen.translate(_BREAKS)


def visible_json(text: str) -> str:
    """Return JSON that says the same in characters that can be seen: such as are not are written as escapes."""
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


# Letters that are written from right to left, with what lies between them.
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_LEFTWARDS = re.compile(f"[{_RIGHT_TO_LEFT}](?:[{_RIGHT_TO_LEFT}\\s]*[{_RIGHT_TO_LEFT}])?")


def on_a_page(text: str) -> str:
    """Return text for a browser: visible, and with words from right to left set apart by the marks that Unicode has.

    Without these, "x >= 3" with an Arabic x would be shown as "3 =< x".
    """
    return _LEFTWARDS.sub("\u2068\\g<0>\u2069", visible(text))


def shortened(text: str, letters: int) -> str:
    """Return text that is cut to a number of letters, at least one.

    >>> shortened("temperature", 11), shortened("temperature", 6)
    ('temperature', 'tempe…')
    """
    return text if len(text) <= letters else f"{text[: max(letters - 1, 1)]}…"


class Nothing:
    """The value of an option that is mentioned by its name alone; None is a value."""


@dataclass(frozen=True)
class Option:
    """An argument as a message mentions it; as text, in Python's words.

    Parameters
    ----------
    name : str
        The argument's name in Python.
    value : any
        What to give it; ``...`` stands for something to fill in, and ``"..."`` for a name. Left out: the argument is
        only named.

    Examples
    --------
    >>> print(Option("within"), Option("within", 100), Option("labels", {0: "left"}), Option("ignore", [...]))
    within within=100 labels={0: "left"} ignore=[...]
    """

    name: str
    value: Any = Nothing

    def __str__(self) -> str:
        return self.name if self.value is Nothing else f"{self.name}={_literal(self.value)}"


class Message(str):
    """A text that keeps what it was made of; everywhere else it is the string in Python's words.

    Parameters
    ----------
    template : str
        Text with the fields of ``str.format``, filled in order.
    *values
        What fills them: options, other messages, anything.

    Examples
    --------
    >>> message = Message("{} must be at least {:,}. Try {}.", Option("within"), 1, Option("within", 100))
    >>> message
    'within must be at least 1. Try within=100.'
    >>> message.worded(lambda option: f"--{option.name}")
    '--within must be at least 1. Try --within.'
    """

    template: str
    values: tuple[Any, ...]

    def __new__(cls, template: str, *values: Any) -> Message:
        """Return the text in Python's words, with what it was made of."""
        message = super().__new__(cls, template.format(*values))
        message.template, message.values = template, values
        return message

    def __getnewargs__(self) -> tuple[Any, ...]:
        # For copies and other processes: the text alone would be taken for a template.
        return self.template, *self.values

    def worded(self, word: Callable[[Option], str]) -> str:
        """Return the text with every option as ``word`` has it, also within messages in this one."""

        def in_words(value: Any) -> Any:
            if isinstance(value, Option):
                return word(value)
            return value.worded(word) if isinstance(value, Message) else value

        return self.template.format(*map(in_words, self.values))


def joined(separator: str, parts: Iterable[Any]) -> Message:
    """Return several texts as one message, which keeps the options in them.

    >>> joined(" or ", [Option("ending", "terminated"), Option("ending", "truncated")])
    'ending="terminated" or ending="truncated"'
    """
    values = tuple(parts)
    return Message(separator.join(["{}"] * len(values)), *values)


def message_of(said: BaseException) -> str:
    """Return what an error or a warning says; a Message, where it was made with one."""
    first = said.args[0] if said.args else ""
    return first if isinstance(first, Message) else str(said)


def _literal(value: Any) -> str:
    """Return a value as Python code, with dots for what is to be filled in."""
    if value is ...:
        return "..."
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_literal(key)}: {_literal(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)


def plural(number: float, one: str, many: str | None = None) -> str:
    """Return the word that agrees with ``number``: ``one`` or ``many`` (by default ``one`` with an s).

    >>> plural(1, "is", "are"), plural(0, "is", "are"), plural(2, "row")
    ('is', 'are', 'rows')
    """
    if number == 1:
        return one
    return f"{one}s" if many is None else many


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number and the word that agrees with it.

    >>> count(1, "row"), count(1_000, "row"), count(3, "leaf", "leaves")
    ('1 row', '1,000 rows', '3 leaves')
    >>> count(1, "episode has", "episodes have")
    '1 episode has'
    """
    return f"{number:,} {plural(number, one, many)}"


def some_of(parts: Sequence[str], most: int) -> str:
    """Return the parts with commas, cut short when there are many.

    >>> some_of("abcd", 4), some_of("abcde", 4), some_of("abcdef", 4)
    ('a, b, c, d', 'a, b, c, d, e', 'a, b, c, d and 2 more')
    """
    # "and 1 more" would take as much room as the one itself.
    if len(parts) <= most + 1:
        return ", ".join(parts)
    return f"{', '.join(parts[:most])} and {len(parts) - most:,} more"
