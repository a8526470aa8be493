"""Places and foils as people write them: ``"y > 1 and vx in [-0.1, 0.1]"`` becomes the dict that a question takes.

::

    expression = "end" | "leaf" n | "leaves" n, n, ... | number, number, ... | condition ("and" | ",") condition ...
    condition  = number < name <= number | name <= number | number = name | name "in" [number, number)
               | action = label "or" label ... | action != label | action "in" {label, label, ...}
               | column "is" category | column "is not" category | yes-or-no feature
               | "not" condition | "(" condition "and" condition ... ")"

Conditions are joined as :mod:`tripletree.language.joining` says. A place is one box, so that ``or`` and ``not`` must
leave one; the zones of conditions on episodes may be several. A number may be followed by the feature's unit. Names
and labels go in quotes or backticks when they hold a word of the grammar or a sign; a quote inside is written twice.
Text is never run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from typing import Any

from tripletree.checks import did_you_mean, listing
from tripletree.errors import ParameterError
from tripletree.language.conditions import DERIVATIVE_OF, attribute_hint, contrary
from tripletree.language.joining import Joining
from tripletree.language.tokens import (
    AND,
    CLOSING,
    OR,
    Name,
    Number,
    Token,
    Wish,
    merged,
    quoted,
    split_number,
    united,
)
from tripletree.log.schema import Schema
from tripletree.text import Message

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf, "∞": math.inf, "-∞": -math.inf}

_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}

MOST_BOXES = 64
"""Boxes that an expression may be, at most: every "or" between conditions that go with others makes more of them."""
MOST_SHOWN = 4
"""Features that an example of a state has, at most."""


def read_expression(text: str, schema: Schema, name: str = "zone", *, state: bool = False) -> Any:
    """Return what an expression says, in the form that questions take.

    Parameters
    ----------
    text : str
        The expression.
    schema : Schema
        The features and actions that it may speak of.
    name : str
        What messages call it: the name of an argument, or words.
    state : bool
        Whether only a state will do, so that nothing but features may be named.

    Returns
    -------
    dict, set of int, list of float, or "end"
        Conditions as an Interval ``low <= x < high`` (text means what it says: ``x <= 1`` ends at the next number above
        1), a number for equality, labels for actions; leaves; a state; or the end.

    Raises
    ------
    ParameterError
        With the place underlined.

    Examples
    --------
    >>> from tripletree import Action, Feature, Schema
    >>> schema = Schema((Feature("y", "m"), Feature("vx")), Action("discrete", labels=("left", "right")))
    >>> read_expression("-0.1 <= vx < 0.1 and action = left", schema)
    {'vx': Interval(low=-0.1, high=0.1), 'action': 'left'}
    >>> read_expression("leaves 3, 7", schema)
    {3, 7}
    """
    return Parser(text, schema, name, state=state).expression()


def read_boxes(text: str, schema: Schema, name: str = "zone") -> list[Any]:
    """Return what an expression says as places of which one will do, each as :func:`read_expression` returns it.

    >>> from tripletree import Action, Feature, Schema
    >>> schema = Schema((Feature("y", "m"), Feature("vx")), Action("discrete", labels=("left", "right")))
    >>> read_boxes("not (y > 1 and vx < 0)", schema)
    [{'y': Interval(low=-inf, high=1.0000000000000002)}, {'vx': Interval(low=0.0, high=inf)}]
    """
    return Parser(text, schema, name).places()


def read_foil_expression(text: str, schema: Schema, name: str = "foil") -> dict[str, Any]:
    """Return what a foil's text says, as in :func:`read_expression`.

    It may name the action, ``value``, and ``derivative of pos`` for a feature ``pos``.

    >>> from tripletree import Action, Feature, Schema
    >>> schema = Schema((Feature("y", "m"),), Action("discrete", labels=("left", "right")))
    >>> read_foil_expression("action = right and derivative of y >= 0.5 m", schema)
    {'action': 'right', 'derivative of y': Interval(low=0.5, high=inf)}
    """
    conditions: dict[str, Any] = Parser(text, schema, name, foil=True).expression()
    return conditions


class Parser(Joining):
    """One pass over an expression; what one condition wants is collected in ``wishes``."""

    who_knows = "the tree"
    """Whose labels are meant."""
    stops: tuple[str, ...] = (*AND, *OR)
    """Words between conditions, at which a name without quotes ends."""
    may_differ = False
    """Whether `!=` is understood for numbers, which leaves two boxes."""

    def __init__(self, source: str, schema: Schema, name: str, foil: bool = False, state: bool = False) -> None:
        super().__init__(source, name)
        self.schema, self.foil, self.state = schema, foil, state
        self.wishes: dict[str, Wish] = {}
        action, features = schema.action, {feature.name: feature.unit for feature in schema.features}
        own: dict[str, str] = {"value": ""}
        self.labels: dict[str, tuple[str, ...]] = {}
        if action.kind == "continuous":
            own |= dict(zip(action.names, action.units, strict=True))
        rates = {f"{DERIVATIVE_OF}{name}": unit for name, unit in features.items()}
        self.units = own | rates if foil else features | (own | rates | features)  # a feature's name is a feature
        self.categories = {} if foil else {column: known for column, known in schema.columns.items() if known}
        if state:
            self.units = features
        elif action.kind == "discrete" and schema.has_action:
            self.labels = {key: action.labels for key in ("action", *action.names) if key not in self.units}
        self.truths = [one.name for one in schema.features if one.kind == "binary" and one.name in self.units]

    # The grammar, from the whole to its parts.

    def expression(self) -> Any:
        """Return the whole expression, which is one place."""
        found = self.places()
        if len(found) > 1:
            what = f"an `{self.divided.text}` between conditions" if self.word_of(OR) else "a `not` that leaves two"
            self.fail(
                Message("{} has {}; it is one box, in which all conditions must hold", self.name, what),
                self.divided,
                " Ask for each in turn; for several labels write action = left or right.",
            )
        return found[0]

    def word_of(self, words: tuple[str, ...]) -> bool:
        """Whether the word that divides the expression is one of these."""
        return self.divided.text.casefold() in words

    def places(self) -> list[Any]:
        """Return the whole expression as places of which one will do."""
        if self.next.kind == "end":
            raise ParameterError(Message("{} is empty text.{}", self.name, self.how()))
        if not self.foil and (place := self.place_alone()) is not None:
            return [place]
        self.divided = self.next
        found = self.whole()
        if self.next.kind != "end":
            self.unexpected("where `and` or the end is expected")
        full = [box for box in found if not any(wish.empty for wish in box.values())]
        if not full:
            wish = next(wish for box in found for wish in box.values() if wish.empty)
            self.fail(Message("{} is empty: no `{}` meets all of its conditions", self.name, wish.name.name), wish.name)
        return [{key: wish.condition() for key, wish in box.items()} for box in full]

    def names(self) -> Collection[str]:
        """Return the names that a condition may begin with."""
        return [*self.units, *self.labels, *self.categories]

    def atom(self) -> Any:
        """Read one condition."""
        self.wishes = {}
        self.condition()
        return [self.wishes]

    def joined(self, every: bool, parts: tuple[Any, ...], place: Token) -> Any:
        """Return the boxes of several conditions, of which all must hold or one."""
        if every:
            found = [merged(boxes) for boxes in itertools.islice(itertools.product(*parts), MOST_BOXES + 1)]
        else:
            found = united([box for boxes in parts for box in boxes])
            self.divided = place if len(found) > 1 else self.divided
        if len(found) > MOST_BOXES:
            self.fail(Message("{} is more than {} places, one for each `or`", self.name, MOST_BOXES), place)
        return found

    def opposite(self, part: Any, place: Token) -> Any:
        """Return the boxes outside of all boxes."""
        outside = tuple(
            [
                {key: one}
                for key, wish in box.items()
                for one in wish.outside(self.labels.get(key, ()), yes_or_no=key in self.truths)
            ]
            for box in part
        )
        found = self.joined(True, outside, place)
        self.divided = place if len(found) > 1 else self.divided
        return found

    def place_alone(self) -> Any:
        """Return the end, leaves, or a state by its numbers; None when the expression is none of these."""
        words = [token.text.casefold() for token in self.tokens if token.kind == "word"]
        if len(words) == len(self.tokens) - 1 and words in (["end"], ["the", "end"]):
            return "end"
        if self.word("leaf", "leaves") and self.before_number():
            return self.leaves()
        return self.numbers()

    def leaves(self) -> set[int]:
        """Read the numbers of leaves."""
        found = set()
        self.place += 1
        while True:
            number = split_number(self.next.text) if self.next.kind == "word" else None
            if number is None or number[1] or not number[0].is_integer():
                self.unexpected("where the number of a leaf is expected")
            found.add(int(number[0]))
            self.place += 1
            if self.next.kind == "end":
                return found
            separators = 0
            while self.mark(",") or self.word("or", *AND):
                separators += 1
                self.place += 1
            if not separators:
                self.unexpected("after a leaf; leaves go alone, or several with commas: leaves 3, 7")

    def numbers(self) -> list[float] | None:
        """Return a state written as numbers only, or None when this is something else."""
        found = []
        for number, token in enumerate(self.tokens[:-1]):
            if number % 2:
                if (token.kind, token.text) != ("mark", ","):
                    return None
                continue
            split = split_number(token.text) if token.kind == "word" else None
            if split is None or split[1]:
                return None
            found.append(self.finite(split[0], token))
        return found if len(self.tokens) % 2 == 0 else None

    def condition(self) -> None:
        """Read one condition into ``wishes``."""
        if self.word("any") and self.tokens[self.place + 1].kind in ("word", "quoted"):
            self.place += 1
            self.wish(self.term())
            return
        if (self.categories and self.category()) or self.contrary():
            return
        first = self.term()
        if isinstance(first, Name):
            self.wish(first)
            if first.name in self.truths and self.next.kind != "sign" and not self.starts_set():
                self.wish(first).compare("=", 1.0)
                return
        if self.starts_set():
            self.place += 1
            self.inside(first)
            return
        sign = self.sign()
        if isinstance(first, Name) and first.name in self.labels:
            self.choose(first, sign)
            return
        if self.truth(first):
            return
        second = self.term()
        if isinstance(first, Number) and isinstance(second, Name):
            if second.name in self.labels:
                self.fail(f"`{second.name}` has labels: write `{second.name} = label`", second)
            self.compare(second, _FLIPPED[sign.text], first, sign)
            if self.next.kind == "sign":
                other = self.sign()
                if sign.text[0] != other.text[0] or sign.text[0] not in "<>":
                    self.fail(f"The two comparisons around `{second.name}` must point the same way", other)
                self.compare(second, other.text, self.term(), other)
        else:
            self.compare(first, sign.text, second, sign)

    def category(self) -> bool:
        """Read "mode is auto", "mode is not auto", "mode = auto" or "mode != auto"; return whether one stands here."""
        begin = self.place
        for column in sorted(self.categories, key=len, reverse=True):
            known = self.categories[column]
            at = self.after(column, begin)
            if at is None:
                continue
            word, after = self.tokens[at], self.tokens[min(at + 1, len(self.tokens) - 1)]
            if word.kind == "word" and word.text.casefold() == "is":
                differs = after.kind == "word" and after.text.casefold() == "not"
                at += 1 + differs
            elif word.kind == "sign" and word.text in ("=", "!="):
                differs = word.text == "!="
                at += 1
            else:
                continue
            ends = {category: end for category in known if (end := self.after(category, at)) is not None}
            if not ends:
                place = self.tokens[min(at, len(self.tokens) - 1)]
                message = Message(
                    "{} wants `{}` to be `{}`; it may be {}", self.name, column, place.text, listing(known)
                )
                self.fail(message, place, did_you_mean(place.text, known))
            chosen = max(ends, key=len)
            if self.tokens[ends[chosen]].kind == "sign":
                return False  # "mode is auto = 1" names the feature
            self.place = ends[chosen]
            # In one mode is in no other.
            others = known if self.state and not differs else [chosen]
            for category in others:
                wish = self.wish(Name(f"{column} is {category}", self.tokens[begin].begin, self.tokens[at].end))
                wish.compare("=", float((category == chosen) != differs))
            return True
        return False

    def contrary(self) -> bool:
        """Read "left leg not in contact", as sentences say it; return whether one stands here."""
        for feature in self.schema.features:
            end = self.after(contrary(feature), self.place) if feature.name in self.truths else None
            if end is not None and self.tokens[end].kind != "sign":
                self.wish(Name(feature.name, self.next.begin, self.tokens[end - 1].end)).compare("=", 0.0)
                self.place = end
                return True
        return False

    def truth(self, name: Number | Name) -> bool:
        """Read "true", "yes", "false" or "no" after a feature that is one of these; return whether one stands here."""
        said = self.next.text.casefold() if self.next.kind == "word" else ""
        if not isinstance(name, Name) or name.name not in self.truths or said not in _TRUTHS:
            return False
        sign = self.tokens[self.place - 1]
        if sign.text not in ("=", "!="):
            self.fail(f"`{name.name}` is yes or no; allowed are `=` and `!=`", sign)
        self.wish(name).compare("=", float(_TRUTHS[said] != (sign.text == "!=")))
        self.place += 1
        return True

    def compare(self, name: Number | Name, sign: str, number: Number | Name, place: Token) -> None:
        """Wish for a comparison."""
        if isinstance(name, Number) or isinstance(number, Name):
            have = "two numbers" if isinstance(name, Number) else "two names"
            self.fail(Message("{} compares {}; a name and a number are needed", self.name, have), place)
        if sign == "!=" and not self.may_differ:
            self.fail(f"`!=` is for labels; `{name.name}` is a number: write < or >", place)
        wish = self.wish(name)
        self.check_unit(name, number.unit, number)
        wish.compare(sign, number.value)

    def choose(self, name: Name, sign: Token) -> None:
        """Read labels that are set apart by "or"."""
        if sign.text not in ("=", "!="):
            self.fail(f"`{name.name}` has labels; allowed are `=`, `!=` and `in {{...}}`", sign)
        chosen = [self.label(name)]
        while self.word(*OR) and not self.another(self.labels[name.name]):
            self.place += 1
            chosen.append(self.label(name))
        if sign.text == "!=":
            chosen = [label for label in self.labels[name.name] if label not in chosen]
        self.wish(name).choose(list(dict.fromkeys(chosen)))

    def another(self, labels: tuple[str, ...]) -> bool:
        """Whether this "or" has another condition after it instead of another label."""
        here, following = self.place + 1, self.tokens[self.place + 1]
        ends = (end for label in labels if (end := self.after(label, here)) is not None)
        if any(self.tokens[end].kind != "sign" for end in ends):
            return False
        opens = following.kind == "mark" or (following.kind == "word" and following.text.casefold() == "not")
        return opens or any(self.after(name, here) is not None for name in self.names())

    def inside(self, name: Number | Name) -> None:
        """Read an interval, or a set of labels."""
        opening = self.next
        if isinstance(name, Number):
            self.fail(Message("{} has a number before `in`; the name of a feature is expected", self.name), name)
        self.place += 1
        if name.name in self.labels:
            chosen = [self.label(name)]
            while self.mark(","):
                self.place += 1
                chosen.append(self.label(name))
            self.close(opening, "])}")
            self.wish(name).choose(list(dict.fromkeys(chosen)))
            return
        low = self.bound()
        if not self.mark(","):
            self.unexpected("where a comma and the upper bound are expected")
        self.place += 1
        high = self.bound()
        closing = self.close(opening, CLOSING[opening.text])
        if opening.text == "{":
            self.fail(f"Braces are for labels; `{name.name}` is a number: write [low, high]", opening)
        wish = self.wish(name)
        # A unit after the closing bracket is the unit of both numbers.
        tail = self.words()
        for unit, place in ((low.unit, low), (high.unit, high), (tail, closing)):
            self.check_unit(name, unit, place)
        if low.value > high.value:
            self.fail(f"The interval of `{name.name}` is empty: {low.value:g} is above {high.value:g}", low)
        if low.value > -math.inf:
            wish.compare(">=" if opening.text == "[" else ">", low.value)
        if high.value < math.inf:
            wish.compare("<=" if closing.text == "]" else "<", high.value)

    # The parts.

    def term(self) -> Number | Name:
        """Read a name, or a number with its unit."""
        first = self.next
        if first.kind == "quoted":
            self.place += 1
            return Name(first.text, first.begin, first.end)
        if first.kind != "word":
            self.unexpected("where a name or a number is expected")
        if (known := self.known_name()) is not None:
            return known
        text, split = self.words(names=split_number(first.text) is None), split_number(first.text)
        end = self.tokens[self.place - 1].end
        if split is None or (text in {*self.units, *self.labels} and text != first.text.removesuffix(split[1])):
            return Name(text, first.begin, end)
        unit = " ".join([split[1], *text.split()[1:]]).strip()
        return Number(self.finite(split[0], first), unit, first.begin, end)

    def known_name(self) -> Name | None:
        """Return the longest name that stands here and has words of the grammar in it: ``left leg in contact``."""
        for name in sorted({*self.units, *self.labels}, key=len, reverse=True):
            words = name.split()
            here = self.tokens[self.place : self.place + len(words)]
            if [token.text for token in here] == words and not {"in", *self.stops}.isdisjoint(words[1:]):
                self.place += len(words)
                return Name(name, here[0].begin, here[-1].end)
        return None

    def bound(self) -> Number:
        """Read one end of an interval."""
        token = self.next
        if token.kind == "word" and token.text.casefold() in _INFINITE:
            self.place += 1
            return Number(_INFINITE[token.text.casefold()], "", token.begin, token.end)
        number = self.term()
        if isinstance(number, Name):
            self.fail(Message("{} has `{}` where a number is expected", self.name, number.name), number)
        return number

    def label(self, name: Name) -> str:
        """Read a label, one of those that are known."""
        token, labels = self.next, self.labels[name.name]
        if token.kind == "quoted":
            self.place += 1
            text = token.text
        elif token.kind == "word":
            text = self.words(names=True)
        else:
            self.unexpected(f"where a label of `{name.name}` is expected: {listing(labels)}")
        if text in labels:
            return text
        # 0.10 and 1e-1 are the same label to a person.
        split = split_number(text)
        same = [label for label in labels if split is not None and not split[1] and split == split_number(label)]
        if len(same) != 1:
            place = Name(text, token.begin, self.tokens[self.place - 1].end)
            message = Message(
                "{} wants `{}` to be `{}`; {} knows {}", self.name, name.name, text, self.who_knows, listing(labels)
            )
            self.fail(message, place, did_you_mean(text, labels))
        return same[0]

    def words(self, names: bool = False) -> str:
        """Return the words from here on, up to a sign, a comma or a word of the grammar."""
        found: list[str] = []
        while self.next.kind == "word" and not self.word(*self.stops) and not self.starts_set():
            # Inches are a unit, and "y in 3" a mistake.
            if names and self.word("in"):
                self.place += 1
                said = " ".join([*found, "in", self.next.text])
                hint = did_you_mean(said, [one for one in self.names() if " in " in one])
                self.unexpected("after `in`; an interval is expected, such as [0, 1]", hint)
            found.append(self.next.text)
            self.place += 1
        if not found and names:
            self.unexpected("where a name is expected")
        return " ".join(found)

    def sign(self) -> Token:
        """Read a comparison sign."""
        token = self.next
        if token.kind != "sign":
            advice = " Write decimal numbers with a point: 1.5." if self.after_comma() else ""
            self.unexpected("where a comparison is expected", advice)
        if token.text in ("=>", "=<"):
            self.unexpected("where a comparison is expected", f" Did you mean `{token.text[::-1]}`?")
        self.place += 1
        return token

    def wish(self, name: Number | Name) -> Wish:
        """Return what is wanted of a name so far; raises for one that is not known."""
        if isinstance(name, Number):
            self.fail(Message("{} has a number where the name of a feature is expected", self.name), name)
        known = list(dict.fromkeys([*self.units, *self.labels]))
        if name.name not in known:
            # Places are rarely about derivatives, and the list would be twice as long with them.
            usual = [key for key in known if self.foil or not key.startswith(DERIVATIVE_OF)]
            message = Message("{} has no `{}`; it may have {}", self.name, name.name, listing(usual, 20))
            self.fail(message, name, attribute_hint(name.name, known))
        # One action has two names.
        key = "action" if name.name in self.labels and "action" in self.labels else name.name
        return self.wishes.setdefault(key, Wish(name))

    def check_unit(self, name: Name, unit: str, place: Number | Token) -> None:
        """Raise for a unit that is not the name's own."""
        wanted = self.units[name.name]
        if unit and unit.split() != wanted.split():
            have = f"is in {wanted}" if wanted else "has no unit"
            self.fail(f"`{name.name}` {have}, not in `{unit}`; units are not converted", place)

    def finite(self, number: float, place: Token) -> float:
        """Return a number; raises if it is infinite."""
        if not math.isfinite(number):
            self.fail(Message("{} has a number that is too large", self.name), place)
        return number

    def how(self) -> str:
        """Return examples of what is understood."""
        first = quoted(self.schema.feature_names[0], ())
        if self.state:
            return f" Try {', '.join(f'{quoted(name, ())} = 0' for name in self.schema.feature_names[:MOST_SHOWN])}."
        action = self.schema.action
        label = f"action = {quoted(action.labels[0], ())}" if action.labels else "value < 0"
        if not self.schema.has_action:
            label = f"{DERIVATIVE_OF}{first} < 0"
        if self.foil:
            return f" Try {label}, value >= 1, or {DERIVATIVE_OF}{first} > 0."
        return f" Try {first} > 1 and {label}, {first} in [0, 1], leaf 3, or end."
