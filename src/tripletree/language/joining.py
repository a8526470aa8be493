"""Conditions joined by ``or``, ``and``, ``not`` and brackets, whatever a condition is: what all grammars share.

::

    either = every ("or" every) ...
    every  = single ("and" | ",") single ...
    single = "not" single | "(" either ")" | atom
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from tripletree.language.tokens import AND, OR, Cursor, Token
from tripletree.text import Message

DEEPEST = 50
"""Conditions inside of conditions."""


class Joining(Cursor):
    """Reads joined conditions; what a condition is, and what becomes of several, is up to the grammar."""

    depth = 0

    def names(self) -> Collection[str]:
        """Return the names that a condition may begin with; one that begins like a word of the grammar stays a name."""
        return ()

    def atom(self) -> Any:
        """Read one condition."""
        raise NotImplementedError

    def joined(self, every: bool, parts: tuple[Any, ...], place: Token) -> Any:
        """Return several conditions, of which all must hold or one; ``place`` is the first word between them."""
        raise NotImplementedError

    def opposite(self, part: Any, place: Token) -> Any:
        """Return the opposite of a condition; ``place`` is the "not"."""
        raise NotImplementedError

    def whole(self) -> Any:
        """Read what stands in brackets, or the whole text."""
        return self.either()

    def either(self) -> Any:
        """Read conditions with "or" between them."""
        return self._series(self.every, lambda: self.word(*OR), every=False)

    def every(self) -> Any:
        """Read conditions with "and", or a comma, between them."""
        return self._series(self.single, lambda: self.word(*AND) or self.mark(","), every=True)

    def _series(self, part: Callable[[], Any], joint: Callable[[], bool], *, every: bool) -> Any:
        parts, places = [part()], []
        while joint():
            places.append(self.next)
            self.place += 1
            parts.append(part())
        return self.joined(every, tuple(parts), places[0]) if places else parts[0]

    def single(self) -> Any:
        """Read one condition, the opposite of one, or several in brackets."""
        place = self.next
        if self.says("not"):
            self.place += 1
            with self.deeper(place):
                return self.opposite(self.single(), place)
        return self.bracketed() if self.mark("(") else self.atom()

    def bracketed(self) -> Any:
        """Read what stands in brackets."""
        opening = self.next
        with self.deeper(opening):
            self.place += 1
            found = self.whole()
            self.close(opening, ")")
        return found

    @contextmanager
    def deeper(self, place: Token) -> Iterator[None]:
        """Count conditions inside of conditions: a text of brackets alone must not exhaust Python's stack."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(Message("{} has more than {} brackets inside of each other", self.name, DEEPEST), place)
        yield
        self.depth -= 1

    def says(self, *words: str) -> bool:
        """Whether one of these words comes next, as a word and not as the beginning of a name."""
        return self.word(*words) and not any(self._is_name(name) for name in self.names())

    def _is_name(self, name: str) -> bool:
        at = self.after(name, self.place)
        if at is None:
            return False
        following = self.tokens[at]
        compared = following.kind == "sign" or (following.kind == "word" and following.text.casefold() in ("in", "is"))
        # "not moving" is a name wherever it stands; "not" alone only where something is said of it.
        return at > self.place + 1 or compared

    def after(self, text: str, place: int) -> int | None:
        """Return the place after a name that stands at a place, in quotes or as its words; None if it does not."""
        if self.tokens[place].kind == "quoted":
            return place + 1 if self.tokens[place].text == text else None
        words = text.split()
        here = self.tokens[place : place + len(words)]
        same = [token.text for token in here] == words and all(token.kind == "word" for token in here)
        return place + len(words) if same and words else None

    def close(self, opening: Token, allowed: str) -> Token:
        """Read a closing bracket."""
        token = self.next
        if token.kind != "mark" or token.text not in allowed:
            self.unexpected(f"where the bracket `{opening.text}` should be closed")
        self.place += 1
        return token
