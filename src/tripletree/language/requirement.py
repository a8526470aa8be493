"""Requirements as people write them: ``"always (y > 0 or vx < 0.5)"`` becomes a formula of signal temporal logic.

::

    requirement = either | either "implies" requirement | "if" either "then" requirement
    single      = term | term "until" [WINDOW] term
    term        = "not" term | OPERATOR [WINDOW] term | "(" requirement ")" | comparison
    OPERATOR    = "always" | "never" | "eventually" | "next" | "historically" | "once" | "initially" | "ends"
    WINDOW      = "[" number "," number "]"          in steps, or in seconds: [0 s, 2.5 s]

``either`` is what :mod:`tripletree.language.joining` reads, and comparisons are those of
:mod:`tripletree.language.parser`, on features, actions and the reward, and on the ``return`` and the ``length`` of the
whole episode. What is said of steps must be said of some time: a comparison outside of all operators is refused, for
nobody means the first step alone by it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from tripletree.checks import did_you_mean
from tripletree.errors import ParameterError
from tripletree.language.formula import (
    AHEAD,
    FIXED,
    IMPLIES,
    LENGTH,
    OPERATORS,
    RESERVED,
    RETURN,
    REWARD,
    Choice,
    Comparison,
    Formula,
    Joined,
    Opposite,
    Timed,
    Until,
    Window,
    every_part,
    timeless,
)
from tripletree.language.parser import _INFINITE, Parser
from tripletree.language.tokens import AND, OR, Name, Number, Token, Wish, quoted, split_number
from tripletree.log.schema import Schema
from tripletree.text import Message

SECONDS = ("s", "sec", "second", "seconds")
STEPS = ("step", "steps")
_OTHERS = {
    "globally": "always",
    "finally": "eventually",
    "f": "eventually",
    "g": "always",
    "x": "next",
    "visits": "eventually",
    "sometimes": "eventually",
    "sometime": "eventually",
    "after": "once",
    "whenever": "if",
    "when": "if",
}
"""What operators are called elsewhere."""
_WHEN = {
    "when": "if ... then ...",
    "whenever": "if ... then ...",
    "within": "eventually[0, 100] (...)",
    "after": "if once (...) then ...",
}
"""And what is written otherwise."""


def read_requirement(text: str, schema: Schema, name: str = "requirement") -> Formula:
    """Return what a text demands of an episode.

    Parameters
    ----------
    text : str
        The requirement.
    schema : Schema
        What it may speak of.
    name : str
        What messages call it.

    Raises
    ------
    ParameterError
        With the place underlined.

    Examples
    --------
    >>> from tripletree import Action, Feature, Schema
    >>> schema = Schema((Feature("y", "m"), Feature("legs", kind="binary")), Action("discrete", labels=("up", "down")))
    >>> print(read_requirement("always (if y < 0.5 then eventually[0, 9] legs)", schema))
    always ((not (y < 0.5) or eventually[0, 9] (legs = 1.0)))
    """
    return _Parser(text, schema, name).requirement()


class _Parser(Parser):
    """One pass over a requirement."""

    who_knows = "the log"
    may_differ = True
    stops = (*AND, *OR, *IMPLIES, "until", "then", *OPERATORS)

    def __init__(self, source: str, schema: Schema, name: str) -> None:
        super().__init__(source, schema, name)
        action = schema.action
        units = {feature.name: feature.unit for feature in schema.features}
        if action.kind == "continuous" and schema.has_action:
            units = units | dict(zip(action.names, action.units, strict=True)) | units
        self.of_episodes = {LENGTH, RETURN} - set(units)
        # A feature's name is a feature.
        self.units = {**units, **dict.fromkeys((REWARD, RETURN) if schema.has_reward else (), ""), LENGTH: "", **units}
        self.closed = True

    def requirement(self) -> Formula:
        if self.next.kind == "end":
            raise ParameterError(Message("{} is empty text.{}", self.name, self.how()))
        found: Formula = self.whole()
        if self.next.kind != "end":
            self.unexpected("where `and`, `or`, `implies`, `until` or the end is expected", self.elsewhere())
        if (bare := next(timeless(found), None)) is not None:
            said = self.source[bare.place.begin : bare.place.end]
            if isinstance(found, Joined | Opposite) and not any(
                isinstance(part, Timed | Until) for part in every_part(found)
            ):
                said = " ".join(self.source.split())  # all of it wants one operator
            self.fail(
                Message("{} does not say when `{}` must hold", self.name, said),
                bare.place,
                f" Write always ({said}), eventually ({said}) or ends ({said}); for the first step alone, "
                f"initially ({said}).",
            )
        return found

    def elsewhere(self) -> str:
        """Return what to write instead of what other languages have after a condition."""
        number = next((token.text for token in self.tokens[self.place :] if split_number(token.text)), "100")
        steps = f"[0, {(split_number(number) or (100, ''))[0]:g}]"
        if self.word("within", "in", "before", "by"):
            return f" Write eventually{steps} (...)."
        if self.word("for", "during"):
            return f" Write always{steps} (...)."
        return " For an implication write `implies` or `->`." if self.next.text == "=>" else ""

    def whole(self) -> Formula:
        if self.says("if"):
            self.place += 1
            left: Formula = self.either()
            if not self.says("then"):
                self.unexpected("where `then` is expected", " Write if ... then ....")
        else:
            left = self.either()
            if not self.word(*IMPLIES):
                return left
        place = self.next
        self.place += 1
        with self.deeper(place):
            return self.joined(False, (Opposite(left), self.whole()), place)

    def joined(self, every: bool, parts: tuple[Formula, ...], place: Token) -> Formula:
        for part in parts:
            if isinstance(part, Until) and part.bare:
                self.fail(Message("{} has an `until` beside `{}`", self.name, place.text), place, _BRACKETS_UNTIL)
        return Joined(every, parts)

    def opposite(self, part: Formula, place: Token) -> Formula:  # noqa: ARG002 - others need it
        return Opposite(part)

    def single(self) -> Formula:
        before = self.next
        left = self.term_in_time()
        if not self.says("until"):
            return left
        if isinstance(left, Timed) and before.kind == "word":
            what = before.text.casefold()
            advice = " `until` itself means at every step before: leave it out, or put brackets around it."
            self.fail(Message("{} has `{}` before an `until`", self.name, what), before, advice)
        self.place += 1
        window = self.window("until")
        right = self.term_in_time()
        if self.says("until"):
            self.stop(Message("{} has two `until` side by side", self.name), _BRACKETS_UNTIL)
        return Until(left, right, window, bare=True)

    def term_in_time(self) -> Formula:
        place = self.next
        if self.says("not"):
            self.place += 1
            with self.deeper(place):
                return Opposite(self.term_in_time())
        if self.says(*OPERATORS) and not self.says_next("until"):
            return self.operator()
        if self.mark("("):
            found: Formula = self.bracketed()
            self.closed = True
            return replace(found, bare=False) if isinstance(found, Until) else found
        self.closed = False
        if self.says("if"):
            self.stop(Message("{} has an `if` without brackets", self.name), " Write always (if ... then ...).")
        if self.mark("{") or self.mark("["):
            self.unexpected("where a condition is expected", " What must hold goes in round brackets: always (...).")
        return self.atom()

    def close(self, opening: Token, allowed: str) -> Token:
        if self.next.text == "=>":
            self.unexpected(f"where the bracket `{opening.text}` should be closed", self.elsewhere())
        return super().close(opening, allowed)

    def says_next(self, word: str) -> bool:
        """Whether a word comes after the next one."""
        after = self.tokens[self.place + 1]
        return after.kind == "word" and after.text.casefold() == word

    def operator(self) -> Formula:
        """Read an operator and what it is about."""
        place, name = self.next, self.next.text.casefold()
        self.place += 1
        window = self.window(name) if name not in FIXED else self.no_window(name)
        if self.mark("(") and [token.text for token in self.tokens[self.place + 2 : self.place + 5 : 2]] == [",", ")"]:
            low, high = (self.tokens[self.place + k].text for k in (1, 3))
            self.stop(Message("{} has a window in round brackets", self.name), f" Write {name}[{low}, {high}] (...).")
        ends = self.next.kind == "end" or (self.word(*self.stops) and not self.says(*OPERATORS))
        if ends and not any(self.after(one, self.place) for one in self.names()):
            self.unexpected(f"after `{name}`; a condition is expected")
        with self.deeper(place):
            part = self.term_in_time()
        if not self.closed and (self.word(*AND, *OR, *IMPLIES, "until") or self.mark(",")):
            said = self.source[place.begin : self.tokens[self.place - 1].end]
            about = self.source[self.tokens[self.tokens.index(place) + 1].begin : self.tokens[self.place - 1].end]
            self.fail(
                Message("{} does not say how far `{}` reaches", self.name, name),
                self.next,
                f" Put brackets around what it is about: {name} ({about}) {self.next.text} ..., or around all of it: "
                f"{name} ({about} {self.next.text} ...)."
                if "[" not in said
                else " Put brackets around what it is about.",
            )
        self.closed = True
        if name == "never":
            return Timed("always", Opposite(part), window)
        return Timed("eventually", part, Window(1, 1)) if name == "next" else Timed(name, part, window)

    def no_window(self, name: str) -> Window:
        if self.mark("["):
            example = "eventually[3, 3]" if name == "next" else f"{name} (...)"
            self.stop(f"`{name}` is one moment and has no window", f" Write {example}.")
        return Window()

    def window(self, name: str) -> Window:
        """Read how far an operator looks, if that is said."""
        if not self.mark("["):
            return Window()
        opening = self.next
        self.place += 1
        low, first = self.end_of_window(), self.tokens[self.place - 1]
        if not self.mark(","):
            inside = re.findall(r"\d+", self.source[opening.begin : self.next.begin]) or ["100"]
            low_end, high_end = ("0", inside[0]) if len(inside) == 1 else inside[:2]
            advice = f" Write {name}[{low_end}, {high_end}]."
            self.unexpected("where a comma and the end of the window are expected", advice)
        self.place += 1
        high = self.end_of_window()
        closing = self.next
        if closing.kind != "mark" or closing.text not in "])":
            self.unexpected("where the window should be closed", f" Write {name}[0, 100].")
        if closing.text == ")":
            self.stop("A window includes both of its ends", f" Write {name}[{low.value:g}, {high.value:g}].")
        self.place += 1
        units = {self.unit_of_time(one) for one in (low, high) if one.unit or math.isfinite(one.value)}
        # "[0, 2 s]": nothing is as long in steps as in seconds.
        seconds = True in units
        if len(units) > 1 and low.unit and high.unit:
            self.fail("The two ends of a window must be in the same unit", first)
        if low.value < 0 or high.value < 0:
            back = "once" if name == "eventually" else "historically"
            advice = f" To look back, write {back}[0, {abs(min(low.value, high.value)):g}]." if name in AHEAD else ""
            self.fail("A window cannot begin before 0", low if low.value < 0 else high, advice)
        if low.value > high.value:
            self.fail(f"The window is empty: {low.value:g} is above {high.value:g}", low)
        if math.isinf(low.value):
            self.fail("A window begins after a finite time", low)
        whole = all(math.isinf(one) or one.is_integer() for one in (low.value, high.value))
        if not seconds and not whole:
            hint = f" For seconds, write {name}[{low.value:g} s, {high.value:g} s]." if self.schema.per_second else ""
            self.fail("A window is a whole number of steps", opening, hint)
        return Window(low.value, high.value, seconds)

    def end_of_window(self) -> Number:
        token = self.next
        if token.kind == "word" and token.text.casefold() in _INFINITE:
            self.place += 1
            return Number(_INFINITE[token.text.casefold()], "", token.begin, token.end)
        split = split_number(token.text) if token.kind == "word" else None
        if split is None:
            advice = " A window is [0, 100] or [10, inf]; what must hold goes in round brackets."
            self.unexpected("where a number of steps is expected", advice)
        unit = self.words()
        end = self.tokens[self.place - 1].end
        return Number(self.finite(split[0], token), " ".join([split[1], *unit.split()[1:]]).strip(), token.begin, end)

    def unit_of_time(self, number: Number) -> bool:
        """Whether a number is in seconds; raises for what is neither seconds nor steps."""
        if number.unit in ("", *STEPS):
            return False
        if number.unit not in SECONDS:
            known = "steps or seconds, such as 2 s" if self.schema.per_second else "steps"
            self.fail(f"A window is in {known}, not in `{number.unit}`", number)
        if not self.schema.per_second:
            self.fail("The log does not say how long a step is, so that a window is in steps", number, _READ_DT)
        return True

    def atom(self) -> Formula:
        begin = self.next
        self.known_operator()
        self.wishes = {}
        self.condition()
        place = Token("word", "", begin.begin, self.tokens[self.place - 1].end)
        found = [part for wish in self.wishes.values() for part in self.demanded(wish, place)]
        if not found:
            self.fail(Message("{} has a condition that is always met", self.name), place, self.how())
        return found[0] if len(found) == 1 else Joined(True, tuple(found))

    def demanded(self, wish: Wish, place: Token) -> Iterator[Formula]:
        name = wish.name.name
        if wish.labels is not None:
            yield Choice(name, tuple(wish.labels), place)
        for sign, number in wish.signs:
            yield Comparison(name, sign, number, place, name in self.of_episodes)

    def known_operator(self) -> None:
        """Raise for a word before a bracket that is neither a name nor an operator."""
        after = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        word = self.next.text
        if self.next.kind != "word" or after.kind != "mark" or after.text not in "([" or word in self.names():
            return
        if word.casefold() == "abs":
            inside = self.tokens[self.place + 2].text
            self.stop("There is no arithmetic", f" For |{inside}| < 1 write {inside} in (-1, 1).")
        if self.word("in", *self.stops):
            return
        other = _OTHERS.get(word.casefold())
        hint = f" Did you mean `{other}`?" if other else did_you_mean(word.casefold(), (*OPERATORS, "not", "if"))
        self.stop(
            Message("{} has `{}` where a condition is expected", self.name, word),
            hint or f" Operators are {', '.join(OPERATORS)} and until.",
        )

    def wish(self, name: Number | Name) -> Wish:
        if isinstance(name, Name) and name.name not in {*self.units, *self.labels}:
            self.unknown(name)
        return super().wish(name)

    def check_unit(self, name: Name, unit: str, place: Number | Token) -> None:
        if not {"U", *self.names()}.isdisjoint(unit.split()):
            self.fail(
                Message("{} has `{}` after a number", self.name, unit),
                place,
                " Between conditions goes `and`, `or`, `until`, `implies` or `then`.",
            )
        super().check_unit(name, unit, place)

    def known_name(self) -> Name | None:
        ends = [(end, name) for name in self.names() if (end := self.after(name, self.place)) is not None]
        end, name = max(ends, default=(0, ""))
        # Only names that a word of the grammar would cut short; the others may be part of something longer.
        if not ends or {"in", *self.stops}.isdisjoint(name.casefold().split()):
            return None
        found = Name(name, self.next.begin, self.tokens[end - 1].end)
        self.place = end
        return found

    def unknown(self, name: Name) -> None:
        """Raise the error for a name that nobody knows, where there is more to say than which are known."""
        first = name.name.split()[0]
        known = [*self.units, *self.labels]
        if any(sign in name.name for sign in "+*/^|") or (" - " in name.name and name.name.split(" - ")[0] in known):
            self.fail(
                Message("{} has `{}`; there is no arithmetic", self.name, name.name),
                name,
                " Compare one feature with a number (|x| < 1 is x in (-1, 1)), or add a column to the log.",
            )
        if name.name.partition(" between ")[0] in known:
            feature = name.name.partition(" between ")[0]
            self.fail(Message("{} has no `between`", self.name), name, f" Write {feature} in [0, 1].")
        if name.name.partition(" is ")[0] in known:
            feature, _, number = name.name.partition(" is ")
            self.fail(Message("{} has an `is` after a number", self.name), name, f" Write {feature} = {number}.")
        if first.casefold() in _WHEN:
            self.fail(Message("{} has no `{}`", self.name, first), name, f" Write {_WHEN[first.casefold()]}.")
        if first in ("value", "derivative"):
            self.fail(
                Message("{} has `{}`, which is not recorded; a requirement is about the log", self.name, name.name),
                name,
                f" It may have {', '.join(f'`{one}`' for one in known[:8])}.",
            )

    def another(self, labels: tuple[str, ...]) -> bool:
        after = self.tokens[self.place + 1]
        operator = after.kind == "word" and after.text.casefold() in (*OPERATORS, "if") and after.text not in labels
        return operator or super().another(labels)

    def how(self) -> str:
        first = quoted(self.schema.feature_names[0], RESERVED)
        return f" Try always ({first} > 0), eventually[0, 100] ({first} > 0) or always (if {first} > 0 then ...)."


_BRACKETS_UNTIL = " Put brackets around it: (a until b)."
_READ_DT = " Read the log with its times to use seconds."
