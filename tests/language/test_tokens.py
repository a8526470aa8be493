"""The pieces of an expression: words, signs, quotes, numbers, and errors that point at one of them."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree import ParameterError
from tripletree.language.tokens import LONGEST, Cursor, Name, Wish, fail, quoted, split_number, tokens


def pieces(source):
    return [(token.kind, token.text) for token in tokens(source, "zone")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", [("end", "")]),
        ("  y  ", [("word", "y"), ("end", "")]),
        ("y>=1", [("word", "y"), ("sign", ">="), ("word", "1"), ("end", "")]),
        ("y≥1≤2≠3", [*(("word", "y"), ("sign", ">="), ("word", "1")), *(("sign", "<="), ("word", "2")),
                     *(("sign", "!="), ("word", "3"), ("end", ""))]),
        ("a == b <> c", [("word", "a"), ("sign", "="), ("word", "b"), ("sign", "!="), ("word", "c"), ("end", "")]),
        ("y ∈ [0, 1)", [*(("word", "y"), ("word", "in"), ("mark", "["), ("word", "0"), ("mark", ",")),
                        *(("word", "1"), ("mark", ")"), ("end", ""))]),
        ("{a,b}", [("mark", "{"), ("word", "a"), ("mark", ","), ("word", "b"), ("mark", "}"), ("end", "")]),
        ("'a b' \"c\" `d`", [("quoted", "a b"), ("quoted", "c"), ("quoted", "d"), ("end", "")]),
        ("'it''s' \"a\"\"b\" ```x```", [("quoted", "it's"), ("quoted", 'a"b'), ("quoted", "`x`"), ("end", "")]),
        ("''", [("quoted", ""), ("end", "")]),
        ("a-b_c.d/e", [("word", "a-b_c.d/e"), ("end", "")]),
    ],
)  # fmt: skip
def test_pieces(source, expected):
    assert pieces(source) == expected


def test_a_piece_knows_where_it_stands():
    source = " main engine>= '1 2' "
    for token in tokens(source, "zone")[:-1]:
        shown = source[token.begin : token.end]
        assert shown.strip("'") == token.text
    assert tokens(source, "zone")[-1].begin == len(source)


@given(st.lists(st.sampled_from(["y", "vx", ">=", "<", "=", "(", "]", ",", "'a b'", "1.5"]), max_size=12))
def test_pieces_between_blanks_come_back_one_by_one(parts):
    found = tokens(" ".join(parts), "zone")[:-1]
    assert [token.text for token in found] == [part.strip("'") for part in parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", (1.5, "")),
        ("-2e-3m", (-0.002, "m")),
        ("−2", (-2.0, "")),  # a real minus
        ("+.5", (0.5, "")),
        ("3.", (3.0, "")),
        ("2nd", (2.0, "nd")),
        ("1e", (1.0, "e")),
        ("1e999", (math.inf, "")),
        ("m", None),
        ("-", None),
        (".", None),
        ("٣", None),  # digits of other scripts are words
    ],
)
def test_the_number_that_a_word_begins_with(text, expected):
    assert split_number(text) == expected


def test_expressions_have_at_most_ten_thousand_characters():
    just = "y" + " " * 9_999
    assert pieces(just) == [("word", "y"), ("end", "")]
    assert len(just) == LONGEST
    with pytest.raises(ParameterError, match=r"reach is 10,001 characters long; 10,000 are allowed\."):
        tokens(just + " ", "reach")


@pytest.mark.parametrize(
    ("source", "message", "marks"),
    [
        ("y > 'a", "zone has a ' without its partner", "      ^^"),
        ('y > "a', 'zone has a " without its partner', "      ^^"),
        ("y ! 3", "zone has a '!' in a strange place. For the opposite write `not`", "    ^"),
    ],
)
def test_what_is_no_piece_is_pointed_at(source, message, marks):
    with pytest.raises(ParameterError, match=re.escape(message)) as raised:
        tokens(source, "zone")
    assert str(raised.value) == f"{message}.\n  {source}\n{marks}"


def shown(source, begin, end):
    with pytest.raises(ParameterError, match="Wrong") as raised:
        fail("Wrong", source, begin, end, " Try that.")
    first, *rest = str(raised.value).split("\n")
    assert first == "Wrong. Try that."
    return rest


def test_an_error_shows_sixty_four_characters_around_its_place():
    whole = "a" * 31 + "b" * 2 + "a" * 31
    assert shown(whole, 31, 33) == [f"  {whole}", f"  {' ' * 31}^^"]
    # Of longer ones the place stands in the middle, with dots where something is left out.
    long = "a" * 100 + "b" * 2 + "a" * 100
    assert shown(long, 100, 102) == [f"  ...{'a' * 32}bb{'a' * 30}...", f"  {' ' * 35}^^"]
    assert shown(long, 0, 1) == [f"  {'a' * 64}...", "  ^"]
    assert shown(long, 201, 202) == [f"  ...{'a' * 64}", f"  {' ' * 66}^"]
    # The end of an expression has a mark of its own.
    assert shown("y >", 3, 3) == ["  y >", "     ^"]
    assert shown("y\n>\t1", 0, 1)[0] == "  y > 1"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("main engine", "main engine"),
        ("leaf", '"leaf"'),
        ("the End", '"the End"'),
        ("up and away", '"up and away"'),
        ("a | b", '"a | b"'),
        ("2nd", '"2nd"'),
        ("x<y", '"x<y"'),
        ("in", '"in"'),
        ("", '""'),
        (" pad", '" pad"'),
        ('say "hi"', "'say \"hi\"'"),
        ('it\'s "so"', '`it\'s "so"`'),
        ("'\"`", '"\'""`"'),
    ],
)
def test_names_are_quoted_where_they_must_be(text, written):
    assert quoted(text) == written
    if written != text:
        assert pieces(written)[0] == ("quoted", text)


@given(st.text(min_size=1, max_size=12))
def test_a_quoted_name_is_one_piece_or_plain_words(text):
    kinds = [token.kind for token in tokens(quoted(text), "zone")[:-1]]
    assert kinds == ["quoted"] or set(kinds) == {"word"}


def wish(*comparisons):
    made = Wish(Name("y", 0, 1))
    for sign, number in comparisons:
        made.compare(sign, number)
    return made


@pytest.mark.parametrize(
    ("comparisons", "inside", "outside", "empty"),
    [
        ([(">", 1.0)], [1.1, math.nextafter(1, 2)], [1.0], False),
        ([(">=", 1.0)], [1.0], [0.9], False),
        ([("<", 1.0)], [0.9], [1.0], False),
        ([("<=", 1.0)], [1.0], [1.1, math.nextafter(1, 2)], False),
        ([("=", 1.0)], [1.0], [0.9, 1.1], False),
        ([(">", 1.0), ("<", 2.0), (">=", 1.5)], [1.5, 1.9], [1.4, 2.0], False),
        ([(">=", 1.0), ("<=", 1.0)], [1.0], [0.9, 1.1], False),
        ([(">=", 1.0), ("<", 1.0)], [], [0.9, 1.0, 1.1], True),
        ([(">", 1.0), ("<=", 1.0)], [], [1.0], True),
        ([("=", 1.0), ("=", 2.0)], [], [1.0, 2.0], True),
    ],
)
def test_comparisons_of_one_name_all_hold(comparisons, inside, outside, empty):
    made = wish(*comparisons)
    assert made.empty == empty
    assert all(made.low <= x < made.high for x in inside)
    assert not any(made.low <= x < made.high for x in outside)


def test_a_wish_becomes_what_questions_take():
    assert wish(("=", 1.5)).condition() == 1.5
    assert wish((">=", 1.0), ("<", 2.0)).condition() == (1.0, 2.0)
    labels = Wish(Name("action", 0, 6))
    labels.choose(["a", "b"])
    assert (labels.condition(), labels.empty) == (["a", "b"], False)
    labels.choose(["b", "c"])
    assert labels.condition() == "b"
    labels.choose(["c"])
    assert labels.empty


def test_a_cursor_knows_what_comes_next():
    cursor = Cursor("leaf 3 in [0, 1.5]", "zone")
    assert cursor.word("leaf", "leaves")
    assert not cursor.word("in")
    assert cursor.before_number()
    assert cursor.shown() == "`leaf`"
    cursor.place = 2
    assert cursor.starts_set()
    cursor.place = 3
    assert cursor.mark("[")
    assert not cursor.starts_set()
    cursor.place = 6
    assert cursor.after_comma() is False
    cursor.place = 7
    assert cursor.shown() == "`]`"
    assert Cursor("", "zone").shown() == "nothing"
    with pytest.raises(ParameterError, match=r"Wrong\.\n  leaf 3 in"):
        cursor.stop("Wrong")
