"""Places and foils as people write them: ``"y > 1 and vx in [-0.1, 0.1]"`` becomes the dict that a question takes.

::

    expression = "end" | "leaf" n | "leaves" n, n, ... | number, number, ... | condition ("and" | ",") condition ...
    condition  = number < name <= number | name <= number | number = name | name "in" [number, number)
               | action = label "or" label ... | action != label | action "in" {label, label, ...}

A number may be followed by the feature's unit. Names and labels go in quotes or backticks when they hold a word of the
grammar or a sign; a quote inside is written twice. Text is never run.
"""

from __future__ import annotations

import math
from typing import Any

from tripletree.checks import did_you_mean, listing
from tripletree.errors import ParameterError
from tripletree.language.conditions import DERIVATIVE_OF, attribute_hint
from tripletree.language.tokens import AND, CLOSING, OR, Cursor, Name, Number, Token, Wish, quoted, split_number
from tripletree.log.schema import Schema
from tripletree.text import Message

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf, "∞": math.inf, "-∞": -math.inf}

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


class Parser(Cursor):
    """One pass over an expression; what it wants is collected in ``wishes``."""

    who_knows = "the tree"
    """Whose labels are meant."""

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
        if state:
            self.units = features
        elif action.kind == "discrete":
            self.labels = {key: action.labels for key in ("action", *action.names) if key not in self.units}

    # The grammar, from the whole to its parts.

    def expression(self) -> Any:
        """Return the whole expression."""
        if self.next.kind == "end":
            raise ParameterError(Message("{} is empty text.{}", self.name, self.how()))
        if not self.foil and (place := self.place_alone()) is not None:
            return place
        self.condition()
        while self.next.kind != "end":
            if self.word(*OR):
                self.stop(
                    Message("{} has an `or` between conditions; all conditions must hold", self.name),
                    " Ask for each in turn; for several labels write action = left or right.",
                )
            if not self.word(*AND) and not self.mark(","):
                self.unexpected("where `and` or the end is expected")
            self.place += 1
            self.condition()
        for wish in self.wishes.values():
            if wish.empty:
                name = wish.name.name
                self.fail(Message("{} is empty: no `{}` meets all of its conditions", self.name, name), wish.name)
        return {key: wish.condition() for key, wish in self.wishes.items()}

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
        first = self.term()
        if isinstance(first, Name):
            self.wish(first)
        if self.starts_set():
            self.place += 1
            self.inside(first)
            return
        sign = self.sign()
        if isinstance(first, Name) and first.name in self.labels:
            self.choose(first, sign)
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

    def compare(self, name: Number | Name, sign: str, number: Number | Name, place: Token) -> None:
        """Wish for a comparison."""
        if isinstance(name, Number) or isinstance(number, Name):
            have = "two numbers" if isinstance(name, Number) else "two names"
            self.fail(Message("{} compares {}; a name and a number are needed", self.name, have), place)
        if sign == "!=":
            self.fail(f"`!=` is for labels; `{name.name}` is a number: write < or >", place)
        wish = self.wish(name)
        self.check_unit(name, number.unit, number)
        wish.compare(sign, number.value)

    def choose(self, name: Name, sign: Token) -> None:
        """Read labels that are set apart by "or"."""
        if sign.text not in ("=", "!="):
            self.fail(f"`{name.name}` has labels; allowed are `=`, `!=` and `in {{...}}`", sign)
        chosen = [self.label(name)]
        while self.word(*OR) and not self.another():
            self.place += 1
            chosen.append(self.label(name))
        if sign.text == "!=":
            chosen = [label for label in self.labels[name.name] if label not in chosen]
        self.wish(name).choose(list(dict.fromkeys(chosen)))

    def another(self) -> bool:
        """Whether this "or" has another condition after it instead of another label."""
        return False

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
            if [token.text for token in here] == words and not {"in", *AND, *OR}.isdisjoint(words[1:]):
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
        found = []
        while self.next.kind == "word" and not self.word(*AND, *OR) and not self.starts_set():
            # Inches are a unit, and "y in 3" a mistake.
            if names and self.word("in"):
                self.place += 1
                self.unexpected("after `in`; an interval is expected, such as [0, 1]")
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
        self.place += 1
        return token

    def close(self, opening: Token, allowed: str) -> Token:
        """Read a closing bracket."""
        token = self.next
        if token.kind != "mark" or token.text not in allowed:
            self.unexpected(f"where the bracket `{opening.text}` should be closed")
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
        if self.foil:
            return f" Try {label}, value >= 1, or {DERIVATIVE_OF}{first} > 0."
        return f" Try {first} > 1 and {label}, {first} in [0, 1], leaf 3, or end."
