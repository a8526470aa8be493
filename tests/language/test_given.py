"""The grammar of conditions on episodes: what it reads, that it reads what it prints, and what it refuses."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree import Action, Feature, ParameterError, Schema
from tripletree.language.conditions import Interval
from tripletree.language.given import Clause, Several, read_given_expression

SCHEMA = Schema(
    (Feature("pos", "m"), Feature("return"), Feature("left leg in contact", "", "binary")),
    Action("discrete", labels=("l", "r")),
)
LABELS = {
    "ending": ("unknown", "terminated", "truncated"),
    "episode": ("3", "5", "flight 212", "return", "a or b"),
    "group": ("pilot_a", "Bo"),
    "pilot": ("pilot_a", "Bo"),
}


def read(text: str) -> Clause | Several:
    return read_given_expression(text, SCHEMA, LABELS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("return < 100", Clause("return", Interval(-math.inf, 100))),
        ("100 > return", Clause("return", Interval(-math.inf, 100))),
        ("10 <= length < 20", Clause("length", Interval(10, 20))),
        ("length in [10, 20)", Clause("length", Interval(10, 20))),
        ("length = 7", Clause("length", Interval(7, 7))),
        ("ending = terminated", Clause("ending", ("terminated",))),
        ("ending != truncated", Clause("ending", ("unknown", "terminated"))),
        ("episode in {3, 5}", Clause("episode", ("3", "5"))),
        ("episode = 5 or 3", Clause("episode", ("5", "3"))),
        ("episode = 3.0", Clause("episode", ("3",))),
        ("episode = flight 212", Clause("episode", ("flight 212",))),
        ("episode = 'a or b'", Clause("episode", ("a or b",))),
        ("group = Bo", Clause("group", ("Bo",))),
        ("pilot = Bo", Clause("group", ("Bo",))),
        ("visits (pos > 1)", Clause("visits", "pos > 1")),
        ("VISITS(pos > 1)", Clause("visits", "pos > 1")),
        ("never visits (end)", Clause("visits", "end", True)),
        ("not never visits (end)", Clause("visits", "end")),
        ("not not after (leaf 3)", Clause("after", "leaf 3")),
        # Brackets inside of zones, closed by others; and a bracket in quotes.
        ("after (pos in (0, 1] and return = 3)", Clause("after", "pos in (0, 1] and return = 3")),
        ("after ( left leg in contact = 1 )", Clause("after", "left leg in contact = 1")),
        ("visits (`)` > 1)", Clause("visits", "`)` > 1")),
    ],
)
def test_one_clause(text: str, expected: Clause) -> None:
    assert read(text) == expected


def test_and_binds_tighter_than_or_and_brackets_tightest() -> None:
    low, high, seen = (
        Clause("return", Interval(-math.inf, 1)),
        Clause("length", Interval(5, math.inf)),
        Clause("after", "end"),
    )
    assert read("return < 1 and length >= 5, after (end)") == Several(True, (low, high, seen))
    assert read("return < 1 or length >= 5 and after (end)") == Several(False, (low, Several(True, (high, seen))))
    assert read("(return < 1 or length >= 5) & after (end)") == Several(True, (Several(False, (low, high)), seen))
    assert read("not (return < 1 or length >= 5)") == Several(False, (low, high), True)


def test_or_goes_on_with_labels_or_with_another_condition() -> None:
    endings, low = Clause("ending", ("terminated", "unknown")), Clause("return", Interval(-math.inf, 1))
    assert read("ending = terminated or unknown or return < 1") == Several(False, (endings, low))
    assert read("ending = terminated or unknown or (return < 1)") == Several(False, (endings, low))
    # An episode that is called like a word of the grammar goes in quotes.
    assert read('episode = 3 or "return"') == Clause("episode", ("3", "return"))


numbers = st.integers(-1000, 1000).map(float)
clauses = st.one_of(
    st.builds(
        lambda key, low, more: Clause(key, Interval(low, low + more)),
        st.sampled_from(["return", "length"]),
        numbers,
        st.integers(0, 9),
    ),
    st.builds(lambda key, low: Clause(key, Interval(low, math.inf)), st.sampled_from(["return", "length"]), numbers),
    st.builds(
        lambda key, wanted: Clause(key, tuple(wanted)),
        st.just("episode"),
        st.lists(st.sampled_from(LABELS["episode"]), min_size=1, max_size=3, unique=True),
    ),
    st.builds(lambda label: Clause("ending", (label,)), st.sampled_from(LABELS["ending"])),
    st.builds(
        Clause,
        st.sampled_from(["visits", "after"]),
        st.sampled_from(["pos > 1", "pos in (0, 1]", "end"]),
        st.booleans(),
    ),
)
trees = st.recursive(
    clauses,
    lambda part: st.builds(
        lambda every, parts, negated: Several(every, tuple(parts), negated),
        st.booleans(),
        st.lists(part, min_size=2, max_size=3),
        st.booleans(),
    ),
    max_leaves=6,
)


@given(trees)
def test_what_is_printed_is_read_back(tree: Clause | Several) -> None:
    assert read(str(tree)) == tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"given is empty text\. Try return < 100, length >= 200, ending = terminated, visits \(pos > 1\)"),
        (
            "retrun < 1",
            r"no `retrun`; it may have `return`, .* `after`, `ends`\. Did you mean `return`\?\n  retrun",
        ),
        ("vists (pos > 1)", r"no `vists`; .* Did you mean `visits`\?"),
        (
            "pos > 1",
            r"no `pos`; .* For its states write visits \(pos > 1\), never visits \(pos > 1\) or after \(pos > 1\)",
        ),
        ("left leg in contact = 1", r"has `contact` after `in`; .* visits \(pos > 1\) or after"),
        ("visits pos > 1", r"has `pos` after `visits`; a zone in brackets is expected\. Try .*\n.*\n         \^\^\^"),
        ("never after (pos > 1)", r"has `after` after `never`; `visits` is expected"),
        ("visits (pos > 1", r"has a bracket that is not closed\n|has a bracket that is not closed\."),
        ("visits ()", r"has an empty zone"),
        ("(return < 1", r"where the bracket `\(` should be closed"),
        ("return < 1)", r"where `and`, `or` or the end is expected"),
        ("return < 1 and", r"has nothing where a name or a number is expected"),
        ("return < 1 2", r"`return` has no unit, not in `2`"),
        ("return = low", r"compares two names"),
        ("5 < return < 3", r"is empty: no `return` meets its condition"),
        ("episode = 4", r"wants `episode` to be `4`; the recording knows `3`, `5`"),
        (
            "ending = trunkated",
            r"the recording knows `unknown`, `terminated`, `truncated`\. Did you mean `truncated`\?",
        ),
        ("ending < 3", r"`ending` has labels; allowed are `=`, `!=`"),
        ("return != 3", r"`!=` is for labels"),
        ("(" * 60 + "return < 1", r"has more than 50 brackets inside of each other"),
        ("visits (" + "(" * 5000, r"has a bracket that is not closed"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read(text)


def test_groups_must_be_on_record() -> None:
    with pytest.raises(ParameterError, match=r'no groups of episodes are on record\. Read the log with group="\.\.\."'):
        read_given_expression("group = a", SCHEMA, {"ending": ("unknown",)})


WORDS = (
    "return length ending episode group visits never after not and or in ( ) [ ] { } , < >= = != 3 -1e3 m pos 'x end"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read(text)
    except ParameterError:
        return
    assert read(str(found)) == found
