"""Conditions on episodes as people write them: ``"return < 100 and after (y < 0.1)"`` becomes a tree of clauses.

::

    clause = "return" < number | "length" >= number | "ending" = terminated | "episode" in {id, id, ...}
           | "group" = label | "visits" (ZONE) | "never" "visits" (ZONE) | "after" (ZONE) | "ends" (ZONE)

Clauses are joined as :mod:`tripletree.language.joining` says. Comparisons are those of
:mod:`tripletree.language.parser`, and ZONE is what it reads, also several boxes with ``or`` between them. Features are
only named inside of zones, so that a feature may be called ``return``: ``visits (return < 3)`` is about the feature,
and ``return < 3`` is not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from tripletree.checks import did_you_mean, listing
from tripletree.errors import ParameterError
from tripletree.language.conditions import Interval, condition
from tripletree.language.parser import Parser
from tripletree.language.tokens import Name, Number, Token, Wish, quoted, split_number
from tripletree.log.schema import Schema
from tripletree.text import Message, Option

NUMBERS = ("return", "length")
LABELS = ("ending", "episode", "group")
ZONES = ("visits", "after", "ends")
KEYWORDS = (*NUMBERS, *LABELS, *ZONES, "never", "not")


@dataclass(frozen=True)
class Clause:
    """One condition.

    Attributes
    ----------
    key : str
        One of ``NUMBERS``, ``LABELS`` or ``ZONES``.
    wanted : Interval, tuple of str, or str
        The numbers; the labels; or the text of a zone.
    negated : bool
        Whether it must not hold.
    """

    key: str
    wanted: Interval | tuple[str, ...] | str
    negated: bool = False

    def __str__(self) -> str:
        if isinstance(self.wanted, Interval):
            text = condition(self.key, *self.wanted)
        elif isinstance(self.wanted, str):
            text = f"{self.key} ({self.wanted})"
        else:
            text = f"{self.key} = {' or '.join(map(_label, self.wanted))}"
        return f"not {text}" if self.negated else text


@dataclass(frozen=True)
class Several:
    """Conditions of which all must hold, or one.

    Attributes
    ----------
    every : bool
        Whether all of them must hold.
    parts : tuple of Clause or Several
        The conditions, at least two.
    negated : bool
        Whether the opposite is meant.
    """

    every: bool
    parts: tuple[Clause | Several, ...]
    negated: bool = False

    def __str__(self) -> str:
        inside = [f"({part})" if isinstance(part, Several) and not part.negated else str(part) for part in self.parts]
        text = (" and " if self.every else " or ").join(inside)
        return f"not ({text})" if self.negated else text


def read_given_expression(
    text: str, schema: Schema, labels: Mapping[str, Collection[str]], name: str = "given"
) -> Clause | Several:
    """Return what a text demands of episodes.

    Parameters
    ----------
    text : str
        The expression.
    schema : Schema
        Whose features zones speak of.
    labels : mapping of str to collection of str
        What ``ending``, ``episode`` and ``group`` may be; a key that is not among these is another name for "group".
    name : str
        What messages call it.

    Raises
    ------
    ParameterError
        With the place underlined.

    Examples
    --------
    >>> from tripletree import Action, Feature, Schema
    >>> schema = Schema((Feature("y", "m"),), Action("discrete", labels=("left", "right")))
    >>> print(read_given_expression("100 <= return < 200 and never visits (y < 0)", schema, {}))
    return in [100, 200) and not visits (y < 0)
    """
    return _Parser(text, schema, labels, name).given()


class _Parser(Parser):
    """One pass over a condition on episodes."""

    who_knows = "the recording"

    def __init__(self, source: str, schema: Schema, labels: Mapping[str, Collection[str]], name: str) -> None:
        super().__init__(source, schema, name)
        self.units = dict.fromkeys(NUMBERS, "")
        self.labels = {key: tuple(known) for key, known in labels.items()}
        self.truths, self.categories = [], {}

    def given(self) -> Clause | Several:
        if self.next.kind == "end":
            raise ParameterError(Message("{} is empty text.{}", self.name, self.how()))
        found: Clause | Several = self.whole()
        if self.next.kind != "end":
            self.unexpected("where `and`, `or` or the end is expected")
        return found

    def joined(self, every: bool, parts: tuple[Any, ...], place: Token) -> Several:  # noqa: ARG002 - others need it
        return Several(every, parts)

    def opposite(self, part: Any, place: Token) -> Any:  # noqa: ARG002 - others need it
        return replace(part, negated=not part.negated)

    def atom(self) -> Any:
        if self.word("never"):
            self.place += 1
            if not self.word("visits"):
                self.unexpected("after `never`; `visits` is expected")
            return replace(self.zone("visits"), negated=True)
        return self.zone(self.next.text.casefold()) if self.word(*ZONES) else self.comparison()

    def zone(self, key: str) -> Clause:
        """Read a zone in brackets, without looking at what it says."""
        self.place += 1
        if not self.mark("("):
            self.unexpected(f"after `{key}`; a zone in brackets is expected")
        opening, depth = self.next, 1
        while depth:
            self.place += 1
            if self.next.kind == "end":
                self.fail(Message("{} has a bracket that is not closed", self.name), opening)
            if self.next.kind == "mark":
                # An interval may be (0, 1]: any bracket closes any other.
                depth += (self.next.text in "([{") - (self.next.text in ")]}")
        text = self.source[opening.end : self.next.begin].strip()
        if not text:
            self.fail(Message("{} has an empty zone", self.name), opening, self.how())
        self.place += 1
        return Clause(key, text)

    def comparison(self) -> Clause:
        """Read a comparison of a number, or a choice of labels."""
        self.wishes = {}
        self.condition()
        ((key, wish),) = self.wishes.items()
        if wish.empty:
            self.fail(Message("{} is empty: no `{}` meets its condition", self.name, key), wish.name)
        if wish.labels is not None:
            return Clause(key if key in LABELS else "group", tuple(wish.labels))
        one = wish.condition()
        return Clause(key, one if isinstance(one, Interval) else Interval(one, one))

    def another(self, labels: tuple[str, ...]) -> bool:  # noqa: ARG002 - the words of this grammar decide
        after = self.tokens[self.place + 1]
        words = {*KEYWORDS, *self.labels}
        return (after.kind == "word" and after.text.casefold() in words) or (after.kind, after.text) == ("mark", "(")

    def wish(self, name: Number | Name) -> Wish:
        if isinstance(name, Name) and name.name not in {*self.units, *self.labels}:
            self.unknown(name)
        return super().wish(name)

    def unknown(self, name: Name) -> NoReturn:
        """Raise the error for a name that is no word of this grammar."""
        if name.name == "group":
            why = Message(" Read the log with {}.", Option("group", "..."))
            self.fail(Message("{} has `group`, but no groups of episodes are on record", self.name), name, why)
        known = [*self.units, *self.labels, *ZONES]
        advice = did_you_mean(name.name, known)
        if name.name in self.schema.feature_names:
            zone = f"({quoted(name.name)} > 1)"
            advice = f" For its states write visits {zone}, never visits {zone} or after {zone}."
        self.fail(Message("{} has no `{}`; it may have {}", self.name, name.name, listing(known, 20)), name, advice)

    def how(self) -> str:
        first = quoted(self.schema.feature_names[0])
        return f" Try return < 100, length >= 200, ending = terminated, visits ({first} > 1) or after ({first} > 1)."


def _label(text: str) -> str:
    """Return a label as an expression may hold it; numbers need no quotes here."""
    number = split_number(text)
    return text if number is not None and not number[1] else quoted(text, KEYWORDS)
