"""The grammar of requirements: what it reads, that it reads what it prints, and what it refuses, with which advice."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.questions.formulas import formulas
from tripletree import Action, Feature, ParameterError, Schema
from tripletree.language.formula import Choice, Comparison, Joined, Opposite, Timed, Until, Window
from tripletree.language.requirement import read_requirement
from tripletree.language.tokens import Token

SCHEMA = Schema(
    (
        Feature("y", "m"),
        Feature("vx", "m/s"),
        Feature("left leg in contact", kind="binary"),
        Feature("mode is auto", kind="binary", column="mode", category="auto"),
        Feature("mode is off", kind="binary", column="mode", category="off"),
        Feature("always on", kind="binary"),
        Feature("once"),
    ),
    Action("discrete", labels=("left", "right")),
)
TIMED = Schema(SCHEMA.features[:2], Action("continuous", names=("main engine",), units=("N",)), per_second=True)
ANY = Token("word", "", 0, 0)


def read(text, schema=SCHEMA):
    return read_requirement(text, schema)


def compare(name, sign, number):
    return Comparison(name, sign, float(number), ANY)


def whole(name, sign, number):
    return Comparison(name, sign, float(number), ANY, True)


HIGH, SLOW = compare("y", ">", 0), compare("vx", "<", 0.5)
NEXT = Timed("eventually", SLOW, Window(1, 1))
MANUAL = compare("mode is auto", "=", 0)
ON = compare("always on", "=", 1)
UP = compare("left leg in contact", "=", 0)
LEG = compare("left leg in contact", "=", 1)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("always (y > 0 or vx < 0.5)", Timed("always", Joined(False, (HIGH, SLOW)))),
        ("ALWAYS y > 0 m", Timed("always", HIGH)),
        ("never (y > 0)", Timed("always", Opposite(HIGH))),
        ("eventually[0,300] ('left leg in contact' = 1)", Timed("eventually", LEG, Window(0, 300))),
        ("eventually [0, 300 steps] left leg in contact", Timed("eventually", LEG, Window(0, 300))),
        ("always[10, inf] (y > 0)", Timed("always", HIGH, Window(10, math.inf))),
        ("next (y > 0)", Timed("eventually", HIGH, Window(1, 1))),
        ("always (once[0, 5] (y > 0))", Timed("always", Timed("once", HIGH, Window(0, 5)))),
        ("always historically y > 0", Timed("always", Timed("historically", HIGH))),
        ("initially (y > 0) and ends (vx < 0.5)", Joined(True, (Timed("initially", HIGH), Timed("ends", SLOW)))),
        ("(y > 0) until (vx < 0.5)", Until(HIGH, SLOW)),
        ("y > 0 until[2, 9] vx < 0.5", Until(HIGH, SLOW, Window(2, 9))),
        ("(y > 0 until vx < 0.5) or always (y > 0)", Joined(False, (Until(HIGH, SLOW), Timed("always", HIGH)))),
        ("always (if y > 0 then vx < 0.5)", Timed("always", Joined(False, (Opposite(HIGH), SLOW)))),
        ("always (y > 0 implies vx < 0.5)", Timed("always", Joined(False, (Opposite(HIGH), SLOW)))),
        ("always (y > 0 -> next (vx < 0.5))", Timed("always", Joined(False, (Opposite(HIGH), NEXT)))),
        (
            "always (y > 0 -> vx < 0.5 -> left leg in contact)",
            Timed("always", Joined(False, (Opposite(HIGH), Joined(False, (Opposite(SLOW), LEG))))),
        ),
        ("always not not (y > 0)", Timed("always", Opposite(Opposite(HIGH)))),
        ("always (0 < y <= 3 m)", Timed("always", Joined(True, (HIGH, compare("y", "<=", 3))))),
        ("always (y in (0, 3])", Timed("always", Joined(True, (HIGH, compare("y", "<=", 3))))),
        ("always (y != 3)", Timed("always", compare("y", "!=", 3))),
        ("always (3 != y)", Timed("always", compare("y", "!=", 3))),
        ("always (action = left or y > 0)", Timed("always", Joined(False, (Choice("action", ("left",), ANY), HIGH)))),
        ("never (action = left or right)", Timed("always", Opposite(Choice("action", ("left", "right"), ANY)))),
        ("always (action != left)", Timed("always", Choice("action", ("right",), ANY))),
        ("eventually (mode is auto)", Timed("eventually", compare("mode is auto", "=", 1))),
        ("eventually (mode is not auto and y > 0)", Timed("eventually", Joined(True, (MANUAL, HIGH)))),
        ("eventually (reward >= 1)", Timed("eventually", compare("reward", ">=", 1))),
        ("never (left leg not in contact)", Timed("always", Opposite(UP))),
        ("always (left leg in contact = no or y > 0)", Timed("always", Joined(False, (UP, HIGH)))),
        ("always (left leg in contact != false)", Timed("always", LEG)),
        ("return > 100 and always (y > 0)", Joined(True, (whole("return", ">", 100), Timed("always", HIGH)))),
        ("if length > 9 then ends (y > 0)", Joined(False, (Opposite(whole("length", ">", 9)), Timed("ends", HIGH)))),
        # Names that begin like a word of the grammar.
        ("always (always on)", Timed("always", compare("always on", "=", 1))),
        ("always (not always on or y > 0)", Timed("always", Joined(False, (Opposite(ON), HIGH)))),
        ("once > 1 until once = 0", Until(compare("once", ">", 1), compare("once", "=", 0))),
    ],
)  # fmt: skip
def test_what_is_read(text, formula):
    assert read(text) == formula


def test_seconds_where_the_log_has_them():
    main = compare("main engine", ">", 0)
    assert read("always[0 s, 2.5 s] (main engine > 0 N)", TIMED) == Timed("always", main, Window(0, 2.5, True))
    assert read("always[0, 2.5s] (main engine > 0)", TIMED) == Timed("always", main, Window(0, 2.5, True))
    assert read("always[0, 2] (main engine > 0)", TIMED) == Timed("always", main, Window(0, 2))
    with pytest.raises(
        ParameterError, match=r"does not say how long a step is, so that a window is in steps\. Read the"
    ):
        read("always[0, 2 s] (y > 0)")
    with pytest.raises(ParameterError, match=r"whole number of steps\. For seconds, write always\[0 s, 0.5 s\]"):
        read("always[0, 0.5] (y > 0)", TIMED)
    with pytest.raises(ParameterError, match="must be in the same unit"):
        read("always[0 steps, 2 s] (y > 0)", TIMED)
    with pytest.raises(ParameterError, match="A window is in steps or seconds, such as 2 s, not in `min`"):
        read("always[0, 2 min] (y > 0)", TIMED)


@pytest.mark.parametrize(
    ("text", "message", "marked"),
    [
        (
            "y > 0",
            r"does not say when `y > 0` must hold\. Write always \(y > 0\), eventually \(y > 0\) or ends",
            "y > 0",
        ),
        ("always (y > 0) and vx < 0.5", "does not say when `vx < 0.5` must hold", "vx < 0.5"),
        (
            "always y > 0 or vx < 0.5",
            r"how far `always` reaches\. Put brackets around .*: always \(y > 0\) or \.\.\.",
            "or",
        ),
        ("always not y > 0 and vx < 0.5", "how far `always` reaches", "and"),
        ("always y > 0 until vx < 0.5", "how far `always` reaches", "until"),
        ("(always (y > 0) and y > 0 until vx < 0.5)", "has an `until` beside `and`", "and"),
        ("y > 0 until vx < 0.5 until y > 3", "two `until` side by side", "until"),
        ("globally (y > 0)", r"`globally` where a condition is expected\. Did you mean `always`\?", "globally"),
        ("allways (y > 0)", r"Did you mean `always`\?", "allways"),
        ("eventualy[0, 3] (y > 0)", r"Did you mean `eventually`\?", "eventualy"),
        ("foo (y > 0)", "Operators are always, never, eventually, ", "foo"),
        ("always (abs(vx) < 1)", r"There is no arithmetic\. For \|vx\| < 1 write vx in \(-1, 1\)", "abs"),
        ("always (y + vx > 1)", r"has `y \+ vx`; there is no arithmetic", "y + vx"),
        ("always (y - vx > 1)", r"has `y - vx`; there is no arithmetic", "y - vx"),
        ("always (y > vx)", "compares two names; a name and a number are needed", ">"),
        ("always (z > 1)", r"has no `z`; it may have ", "z"),
        ("always (Y > 1)", r"Did you mean `y`\?", "Y"),
        ("always (value > 1)", "`value`, which is not recorded", "value"),
        ("always (y > 1 km)", "`y` is in m, not in `km`", "1 km"),
        ("always (y)", r"`\)` where a comparison is expected", ")"),
        ("always", r"nothing after `always`; a condition is expected", ""),
        ("always ()", r"`\)` where a name or a number is expected", ")"),
        ("always (y > 0", r"nothing where the bracket `\(` should be closed", ""),
        ("always (y > 0))", r"`\)` where `and`, `or`, `implies`, `until` or the end is expected", ")"),
        ("always (y > 0) eventually (y > 1)", "`eventually` where `and`, `or`", "eventually"),
        (
            "always[3] (y > 0)",
            r"`\]` where a comma and the end of the window are expected\. Write always\[0, 3\]",
            "]",
        ),
        ("always[0, 3 (y > 0)", r"`\(` where the window should be closed", "("),
        ("always[0, 3) (y > 0)", "A window includes both of its ends", ")"),
        ("always[a, 3] (y > 0)", "`a` where a number of steps is expected", "a"),
        ("eventually[-3, 0] (y > 0)", r"cannot begin before 0\. To look back, write once\[0, 3\]", "-3"),
        ("always[3, 1] (y > 0)", "The window is empty: 3 is above 1", "3"),
        ("always[0.5, 1] (y > 0)", "A window is a whole number of steps", "["),
        ("always[inf, inf] (y > 0)", "A window begins after a finite time", "inf"),
        ("always[0, 3 km] (y > 0)", "A window is in steps, not in `km`", "3 km"),
        ("next[3, 3] (y > 0)", r"`next` is one moment and has no window\. Write eventually\[3, 3\]", "["),
        ("always (if y > 0 vx < 1)", "`vx` after a number. Between conditions goes `and`", "0 vx"),
        ("always (if y > 0)", r"`\)` where `then` is expected", ")"),
        ("always (y => 0)", r"`=>` where a comparison is expected\. Did you mean `>=`\?", "=>"),
        ("always (y > 0 => vx > 0)", "For an implication write `implies` or `->`", "=>"),
        ("always y > 0 always vx > 0", "`always` where `and`, `or`", "always"),
        ("y > 0 U vx > 0", "`U vx` after a number. Between conditions goes", "0 U vx"),
        ("always(0,300) (y > 0)", r"a window in round brackets\. Write always\[0, 300\] ", "("),
        ("always[0:300] (y > 0)", r"Write always\[0, 300\]", "]"),
        ("always [y > 0]", r"A window is \[0, 100\] or \[10, inf\]; what must hold goes in round brackets", "y"),
        ("always {y > 0}", r"What must hold goes in round brackets: always \(\.\.\.\)", "{"),
        ("always (!(y > 0))", "For the opposite write `not`", "!"),
        ("always (Left leg in contact)", r"Did you mean `left leg in contact`\?", "contact"),
        ("if y > 0 then vx < 1", r"Write always \(if y > 0 then vx < 1\), eventually", "y > 0"),
        ("always if y > 0 then vx < 1", r"an `if` without brackets\. Write always \(if", "if"),
        ("when y > 0 always vx > 0", r"has no `when`\. Write if \.\.\. then", "when y"),
        ("eventually (y > 0) within 300", r"Write eventually\[0, 300\] ", "within"),
        ("always (y > 0) for 300 steps", r"Write always\[0, 300\] ", "for"),
        ("always (y > 0) until vx > 3", "has `always` before an `until`. `until` itself means", "always"),
        ("once (y > 0)", "does not say when `y > 0` must hold", "y > 0"),
        ("always (y between 0 and 1)", r"has no `between`\. Write y in \[0, 1\]", "y between 0"),
        ("always (y is 3)", "has an `is` after a number. Write y = 3", "y is 3"),
        ("always (left leg in contact > yes)", "is yes or no; allowed are `=` and `!=`", ">"),
        ("always (|y| < 1)", "there is no arithmetic", "|y|"),
        ("always (any y)", "a condition that is always met", "any y"),
        ("always (action = up)", "the log knows `left`, `right`", "up"),
        ("always (action > 1)", "`action` has labels", ">"),
    ],
)
def test_what_is_refused_and_where(text, message, marked):
    with pytest.raises(ParameterError, match=message) as raised:
        read(text)
    _, shown, marks = str(raised.value).split("\n")
    begin, end = marks.index("^"), len(marks)
    assert shown[begin:end] == marked


def test_nothing_and_too_much_are_refused():
    with pytest.raises(ParameterError, match=r"requirement is empty text\. Try always \(y > 0\)"):
        read(" ")
    for deep in (
        "(" * 60 + "y > 0",
        "always " * 60 + "y > 0",
        "not " * 60 + "y > 0",
        "always (" + "y > 0 -> " * 60 + "y > 0)",
    ):
        with pytest.raises(ParameterError, match="more than 50 brackets inside of each other"):
            read(deep)


@given(formulas(seconds=True))
def test_what_is_printed_is_read_back(formula):
    schema = Schema(
        (Feature("a"), Feature("b"), Feature("c", kind="binary")),
        Action("discrete", labels=("left", "right")),
        per_second=True,
    )
    whole = Timed("always", formula)
    assert read_requirement(str(whole), schema) == whole


WORDS = (
    "always never eventually until next once if then implies -> not and or ( ) [ ] [0,3] , < >= = 3 -1 y vx mode is "
    "auto action left 'x left leg in contact reward"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))
def test_any_text_is_read_or_refused(text):
    try:
        found = read(text)
    except ParameterError:
        return
    assert read(str(found)) == found
