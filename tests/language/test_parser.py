"""Zones and states as text: what is understood, what is refused and how, and random expressions of either sort."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree import Action, Feature, ParameterError, Schema
from tripletree.asking.states import read_states
from tripletree.language.conditions import Interval
from tripletree.language.conditions import condition as in_words
from tripletree.language.parser import read_expression, read_foil_expression
from tripletree.language.tokens import quoted

SCHEMA = Schema(
    (Feature("y", "m"), Feature("vx", "m/s"), Feature("main engine"), Feature("h", "in")),
    Action("discrete", ("gear",), ("left", "right", "fire both", "0", "0.1"), ("",)),
)
PUSH = Schema((Feature("y"),), Action("continuous", ("push", "turn left"), units=("N", "")))


def above(number):
    return math.nextafter(number, math.inf)


def pairs(found):
    """Return what an expression says with intervals as pairs, None for no bound."""
    if not isinstance(found, dict):
        return found
    assert all(isinstance(one, Interval | str | float | list) for one in found.values())
    return {
        key: tuple(None if math.isinf(end) else end for end in one) if isinstance(one, Interval) else one
        for key, one in found.items()
    }


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("y > 1 and vx in [-0.1, 0.1]", {"y": (above(1), None), "vx": (-0.1, above(0.1))}),
        ("y >= 1", {"y": (1, None)}),
        ("y<1", {"y": (None, 1)}),
        ("y ≤ 1 & vx≥2", {"y": (None, above(1)), "vx": (2, None)}),
        ("value <= 0", {"value": (None, above(0))}),
        ("1 > y", {"y": (None, 1)}),
        ("0 < y <= 1", {"y": (above(0), above(1))}),
        ("1 >= y > 0", {"y": (above(0), above(1))}),
        ("y in [0, 0.5)", {"y": (0, 0.5)}),
        ("y in (0, inf)", {"y": (above(0), None)}),
        ("y in (-inf, -2.5e-1] m", {"y": (None, above(-0.25))}),
        ("y > 0 and y > 1 and y < 3", {"y": (above(1), 3)}),
        ("y = 1", {"y": 1}),
        ("y == 1.50 m", {"y": 1.5}),
        ("y >= 1 and y <= 1", {"y": 1}),
        ("any y", {"y": (None, None)}),
        ("0 m < y < 1m AND vx > −2 m/s", {"y": (above(0), 1), "vx": (above(-2), None)}),
        ("h > 3 in and h in [0 in, 5 in]", {"h": (above(3), above(5))}),
        ("main engine > 0.5", {"main engine": (above(0.5), None)}),
        ("`main engine` > 0.5 and 'y' > 0", {"main engine": (above(0.5), None), "y": (above(0), None)}),
        ("action = left", {"action": "left"}),
        ("gear = fire both", {"action": "fire both"}),
        ('action = "fire both" or left', {"action": ["fire both", "left"]}),
        ("action in {left, fire both}", {"action": ["left", "fire both"]}),
        ("gear in [right, right]", {"action": "right"}),
        ("action != left and action ≠ 0 or right", {"action": ["fire both", "0.1"]}),
        ("action = +0.10", {"action": "0.1"}),
        ("leaf 12", {12}),
        ("Leaves 3, 7", {3, 7}),
        ("leaves 3, 4, and 7", {3, 4, 7}),
        (" end ", "end"),
        ("the end", "end"),
        ("1.2,0.03, -1, 2e-3", [1.2, 0.03, -1, 0.002]),
        ("7", [7]),
        ("y=1.2, vx=0.03", {"y": 1.2, "vx": 0.03}),
    ],
)
def test_what_is_understood(text, meaning):
    found = pairs(read_expression(text, SCHEMA))
    assert found == meaning
    assert type(found) is type(meaning)


def test_actions_that_are_numbers():
    found = pairs(read_expression("push >= 0.5 N and turn left < 0", PUSH))
    assert found == {"push": (0.5, None), "turn left": (None, 0)}
    with pytest.raises(ParameterError, match="has no `action`; it may have `y`, `value`, `push`, `turn left`"):
        read_expression("action = left", PUSH)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("action = left", {"action": "left"}),
        ("gear != left and value > 0", {"action": ["right", "fire both", "0", "0.1"], "value": (above(0), None)}),
        ("value <= 0", {"value": (None, above(0))}),
        ("value < 1", {"value": (None, 1)}),
        ("value = 1", {"value": 1}),
        ("derivative of vx >= 0.5 m/s", {"derivative of vx": (0.5, None)}),
        ("-1 <= derivative of main engine <= 1", {"derivative of main engine": (-1, above(1))}),
    ],
)
def test_foils_mean_what_zones_mean(text, meaning):
    assert pairs(read_foil_expression(text, SCHEMA)) == meaning


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y > 1", r"foil has no `y`; it may have .*. Did you mean `derivative of y`\?"),
        ("leaf 3", "foil has no `leaf 3`"),
        ("end", "foil has no `end`"),
        ("1, 2", r"`,` where a comparison is expected. Try action = left, value >= 1, or derivative of y > 0."),
        ("derivative of y > 1 km", "`derivative of y` is in m, not in `km`"),
    ],
)
def test_foils_speak_of_what_is_predicted(text, message):
    with pytest.raises(ParameterError, match=message):
        read_foil_expression(text, SCHEMA)


def test_known_names_with_words_of_the_grammar_need_no_quotes():
    legs = Schema((Feature("leg in contact"), Feature("leg"), Feature("up and away")), PUSH.action)
    assert read_expression("leg in contact = 1 and leg in [0, 1)", legs, "reach") == {
        "leg in contact": 1,
        "leg": (0, 1),
    }
    assert pairs(read_expression("0 < up and away and leg < 1", legs, "reach")) == {
        "up and away": (above(0), None),
        "leg": (None, 1),
    }


def test_names_of_the_grammar_are_names_in_quotes():
    names = ("end", "leaf", "and", "in", "or", "any", "7", "2nd leg", 'a "b"', "a'b`\"c", "x<y", "value", " pad ")
    schema = Schema(tuple(map(Feature, names)), Action("discrete", labels=("and", "or", "in [", "1")))
    for name in names:
        assert pairs(read_expression(f"{quoted(name)} > 1", schema)) == {name: (above(1), None)}
    assert pairs(read_expression("end > 1 and leaf = 3 and 2nd leg < 2", schema)) == {
        "end": (above(1), None),
        "leaf": 3,
        "2nd leg": (None, 2),
    }
    assert pairs(read_expression('action = "and" or "or" or "in ["', schema)) == {"action": ["and", "or", "in ["]}


@pytest.mark.parametrize(
    ("text", "message", "marked"),
    [
        ("y > 1 or vx < 3", "`or` between conditions; it is one box, in which all conditions must hold. Ask for", "or"),
        ("vx < 3 and (y > 1 or y < 0)", "`or` between conditions; it is one box", "or"),
        ("not (y > 1 and vx < 3)", "a `not` that leaves two; it is one box", "not"),
        ("not y = 3", "a `not` that leaves two; it is one box", "not"),
        ("not any y", "is empty: no `y` meets all of its conditions", "y"),
        ("(y > 1", r"nothing where the bracket `\(` should be closed", ""),
        ("not", "nothing where a name or a number is expected", ""),
        ("action = left or y > 1", "an `or` between conditions; it is one box", "or"),
        ("vvx > 3", r"zone has no `vvx`; it may have .*. Did you mean `vx`\?", "vvx"),
        ("y > 1 and Y < 3", r"zone has no `Y`.* Did you mean `y`\?", "Y"),
        ("y vx > 3", "has no `y vx`", "y vx"),
        ("y in 3", r"`3` after `in`; an interval is expected", "3"),
        ("y > 1,5", r"nothing where a comparison is expected. Write decimal numbers with a point: 1.5.", ""),
        ("y >", r"nothing where a name or a number is expected. Try y > 1 and action = left", ""),
        ("> 3", "`>` where a name or a number is expected", ">"),
        ("y", "nothing where a comparison is expected", ""),
        ("and", "`and` where a name is expected", "and"),
        ("0 < y > 3", "around `y` must point the same way", ">"),
        ("0 = y = 3", "around `y` must point the same way", "="),
        ("y = 3 = vx", "`=` where `and` or the end is expected", "="),
        ("y > 3 km", "`y` is in m, not in `km`; units are not converted", "3 km"),
        ("main engine > 3 kW", "`main engine` has no unit, not in `kW`", "3 kW"),
        ("y in [0, 1] km", "`y` is in m, not in `km`", "]"),
        ("vx < 0 and y > 3 and y < 1", "is empty: no `y` meets all of its conditions", "y"),
        ("y < 1 and y >= 1", "is empty", "y"),
        ("y > 1.7976931348623157e308", "is empty", "y"),
        ("action = left and gear = right", "is empty: no `action` meets all of its conditions", "action"),
        ("action = lefft", r"to be `lefft`; the tree knows .* Did you mean `left`\?", "lefft"),
        ("action > 3", r"`action` has labels; allowed are `=`, `!=` and `in \{...\}`", ">"),
        ("action =", "where a label of `action` is expected: `left`, `right`", ""),
        ("left = action", "has no `left`", "left"),
        ("3 = action", "`action` has labels: write `action = label`", "action"),
        ("1 < 2", "compares two numbers", "<"),
        ("y < vx", "compares two names", "<"),
        ("3 < y < vx", "compares two names", "<"),
        ("y != 3", "`!=` is for labels; `y` is a number: write < or >", "!="),
        ("3 in [0, 1]", "a number before `in`", "3"),
        ("any 3", "a number where the name of a feature is expected", "3"),
        ("leaf x", "has no `leaf x`", "leaf x"),
        ("leaf 1.5", "`1.5` where the number of a leaf is expected", "1.5"),
        ("leaf 1e999", "`1e999` where the number of a leaf is expected", "1e999"),
        ("leaf 3 y", "`y` after a leaf; leaves go alone", "y"),
        ("leaf 3 and y > 1", "`y` where the number of a leaf is expected", "y"),
        ("leaf 3,", "nothing where the number of a leaf is expected", ""),
        ("y in [1, 0]", "The interval of `y` is empty: 1 is above 0", "1"),
        ("y in [0", "nothing where a comma and the upper bound are expected", ""),
        ("y in [0, 1", r"nothing where the bracket `\[` should be closed", ""),
        ("y in [x, 1]", "`x` where a number is expected", "x"),
        ("y in {0, 1}", r"Braces are for labels; `y` is a number: write \[low, high\]", "{"),
        ("vx > 3 'abc", "a ' without its partner", "'abc"),
        ("y ! 3", "a '!' in a strange place", "!"),
        ("y > 1e999", "a number that is too large", "1e999"),
        ("1, 1e999", "a number that is too large", "1e999"),
    ],
)
def test_what_is_refused_and_where(text, message, marked):
    with pytest.raises(ParameterError, match=message) as raised:
        read_expression(text, SCHEMA)
    _, shown, marks = str(raised.value).split("\n")
    assert shown == f"  {text}"
    begin, end = marks.index("^"), len(marks)
    assert marks[begin:] == "^" * (end - begin)
    assert shown[begin:end] == marked


@pytest.mark.parametrize("text", ["", " \n"])
def test_nothing_is_refused(text):
    with pytest.raises(ParameterError, match=r"reach is empty text. Try y > 1"):
        read_expression(text, SCHEMA, "reach")


def test_a_long_expression_is_shown_around_the_place():
    text = "y > 0 and " * 50 + "vvx > 1" + " and y > 0" * 50
    with pytest.raises(ParameterError, match="has no `vvx`") as raised:
        read_expression(text, SCHEMA)
    _, shown, marks = str(raised.value).split("\n")
    assert len(shown) < 80
    assert shown[marks.index("^") : len(marks)] == "vvx"
    with pytest.raises(ParameterError, match="10,001 characters long; 10,000 are allowed"):
        read_expression(" " * 10_001, SCHEMA)


# Random expressions: the oracle is the truth of each comparison on numbers near its bounds.

NAMES = st.text(min_size=1, max_size=6) | st.sampled_from(["and", "in", "leaf", "1", "x y", "m/s", "end", "or"])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3).map(float)
TRUTH = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@st.composite
def conjunctions(draw):
    """Return names, a text, and the comparisons (name, sign, number) that it stands for."""
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    texts, facts = [], []
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from(names))
        low, high = sorted((draw(NUMBERS), draw(NUMBERS)))
        gap = draw(st.sampled_from(["", " ", "  "]))
        form = draw(st.sampled_from(["plain", "flipped", "chained", "interval"]))
        shown = quoted(name)
        if form in ("plain", "flipped"):
            sign = draw(st.sampled_from(list(TRUTH)))
            facts.append((name, sign, low))
            left, right, sign = (shown, repr(low), sign) if form == "plain" else (repr(low), shown, FLIPPED[sign])
            texts.append(f"{left}{gap}{sign}{gap}{right}")
        elif form == "chained":
            first, second = draw(st.sampled_from(["<", "<="])), draw(st.sampled_from(["<", "<="]))
            facts += [(name, FLIPPED[first], low), (name, second, high)]
            texts.append(f"{low!r}{gap}{first}{gap}{shown}{gap}{second}{gap}{high!r}")
        else:
            opening, closing = draw(st.sampled_from("[(")), draw(st.sampled_from("])"))
            facts += [(name, ">=" if opening == "[" else ">", low), (name, "<=" if closing == "]" else "<", high)]
            texts.append(f"{shown} in{gap}{opening}{low!r}{gap},{gap}{high!r}{closing}")
    return names, draw(st.sampled_from([" and ", " AND ", ", ", " & "])).join(texts), facts


@given(conjunctions())
def test_a_random_expression_holds_where_its_comparisons_hold(drawn):
    names, text, facts = drawn
    schema = Schema(tuple(map(Feature, names)), Action("discrete", labels=("a",)))
    numbers = [number for _, _, number in facts]
    tried = {near for x in numbers for near in (x, math.nextafter(x, -math.inf), math.nextafter(x, math.inf))}
    tried = [x for x in tried if math.isfinite(x)]

    def holds(name, x):
        return all(TRUTH[sign](x, number) for other, sign, number in facts if other == name)

    asked = {name for name, _, _ in facts}
    if any(not any(holds(name, x) for x in tried) for name in asked):
        with pytest.raises(ParameterError, match="is empty"):
            read_expression(text, schema)
        return
    found = read_expression(text, schema)
    assert set(found) == asked
    for name, condition in found.items():
        low, high = condition if isinstance(condition, tuple) else (condition, above(condition))
        for x in tried:
            inside = (low is None or x >= low) and (high is None or x < high)
            assert inside == holds(name, x), (name, x)


@given(NAMES, st.integers(-9999, 9999), st.integers(0, 9999), st.booleans(), st.booleans(), st.booleans())
def test_what_answers_say_can_be_asked_again(name, low, width, above_low, below_high, bounded):
    least, most = low / 100, (low + width + 1) / 100
    interval = above(least) if above_low else least, above(most) if below_high else most
    interval = interval if bounded else (interval[0], math.inf)
    schema = Schema((Feature(name, "m/s"),), Action("discrete", labels=("a",)))
    said = in_words(quoted(name), *interval, "m/s")
    assert pairs(read_expression(said, schema)) == {name: tuple(None if math.isinf(x) else x for x in interval)}


WORDS = ("y", "vx", "action", "left", "and", "or", "in", "leaf", "end", "any", "1", "-2e9", "m", "__import__")
PIECES = st.sampled_from([*WORDS, *"`\"'<>=![](){},≤∈ \n\0"])


@given(st.lists(PIECES, max_size=25).map("".join) | st.lists(PIECES, max_size=25).map(" ".join) | st.text(max_size=40))
def test_garbage_is_an_error_or_a_place(text):
    with contextlib.suppress(ParameterError):
        found = read_expression(text, SCHEMA)
        assert isinstance(found, dict | set | list) or found == "end"


@pytest.mark.parametrize("piece", ["y > 1 and ", "1, ", "leaf 1 ", "((((", '"', "`` ", "y in [", "a ", "or ", "0 < "])
def test_the_longest_garbage_takes_no_time(piece):
    # A hundred thousand steps are a blink; anything worse than linear would be felt here.
    with pytest.raises(ParameterError, match=r"zone|compares|empty|interval"):
        read_expression(piece * (10_000 // len(piece)), SCHEMA)


def test_states_are_written_by_name_or_by_place():
    schema = Schema((Feature("y", "m"), Feature("vx")), Action("discrete", labels=("a",)))
    for text in ("y=1.5 m, vx=-2", "vx = -2 and y = 1.5", "1.5, -2"):
        states, single = read_states(text, schema)
        assert single
        assert states.tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "y > 1, vx = 2",
            "states must have one number for each feature; got 'y > 1, vx = 2'. Try states=.y = 0, vx = 0.\\.",
        ),
        ("leaf 3", "states must have one number for each feature"),
        ("end", "states must have one number for each feature"),
        ("y = 1", "states must have the feature `vx`; got `y`."),
        ("1, 2, 3", r"states must have 2 features"),
        ("y = 1, vxx = 3", r"states has no `vxx`; it may have `y`, `vx`. Did you mean `vx`\?"),
        ("y = 1, value = 3", r"states has no `value`; it may have `y`, `vx`\.\n"),
        ("action = a", r"states has no `action`; it may have `y`, `vx`\.\n"),
        ("derivative of y = 1", r"states has no `derivative of y`; it may have `y`, `vx`\."),
        ("", r"states is empty text\. Try y = 0, vx = 0\.$"),
    ],
)
def test_states_that_are_none(text, message):
    schema = Schema((Feature("y", "m"), Feature("vx")), Action("discrete", labels=("a",)))
    with pytest.raises(ParameterError, match=message):
        read_states(text, schema)
