"""Words that agree with their numbers, and messages that remember which arguments they mention."""

from __future__ import annotations

import copy
import json
import pickle
import unicodedata
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree.errors import ParameterError, TripleTreeWarning
from tripletree.text import (
    Message,
    Option,
    count,
    joined,
    message_of,
    on_a_page,
    plural,
    shortened,
    some_of,
    visible,
    visible_json,
)


@pytest.mark.parametrize(("number", "expected"), [(0, "rows"), (1, "row"), (2, "rows"), (-1, "rows"), (1_000, "rows")])
def test_most_words_take_an_s(number, expected):
    assert plural(number, "row") == expected


def test_other_words_are_given():
    assert [plural(number, "leaf", "leaves") for number in (0, 1, 2)] == ["leaves", "leaf", "leaves"]
    assert [plural(number, "has", "have") for number in (0, 1, 2)] == ["have", "has", "have"]


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 errors"), (1, "1 error"), (2, "2 errors"), (1_234_567, "1,234,567 errors")]
)
def test_counts(number, expected):
    assert count(number, "error") == expected


def test_counts_of_whole_phrases():
    assert count(1, "episode has", "episodes have") == "1 episode has"
    assert count(41, "episode has", "episodes have") == "41 episodes have"


def test_numpy_counts_too():
    assert count(np.int64(1), "row") == "1 row"
    assert count(np.array([True, True]).sum(), "row") == "2 rows"


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, ""), (1, "0"), (3, "0, 1, 2"), (4, "0, 1, 2, 3"), (5, "0, 1, 2 and 2 more"), (2003, "0, 1, 2 and 2,000 more")],
)
def test_long_lists_are_cut(number, expected):
    assert some_of([str(k) for k in range(number)], 3) == expected


def loud(option: Option) -> str:
    return option.name.upper()


@pytest.mark.parametrize(
    ("option", "text"),
    [
        (Option("within"), "within"),
        (Option("within", 100), "within=100"),
        (Option("within", None), "within=None"),
        (Option("endless", True), "endless=True"),
        (Option("theta", (1, 1, 1)), "theta=(1, 1, 1)"),
        (Option("truncation", "bootstrap"), 'truncation="bootstrap"'),
        (Option("title", 'the "best" agent'), r'title="the \"best\" agent"'),
        (Option("reward", ...), "reward=..."),
        (Option("features", [..., "größe"]), 'features=[..., "größe"]'),
        (Option("labels", {0: "left", 1: ...}), 'labels={0: "left", 1: ...}'),
    ],
)
def test_an_option_in_python_s_words(option, text):
    assert str(option) == f"{option}" == text


def test_a_message_is_its_text():
    message = Message("{} must be one of {!r} and {:,}; got {}.", Option("most"), "a", 1_000, 2)
    assert message == "most must be one of 'a' and 1,000; got 2."
    assert isinstance(message, str)
    assert message.worded(loud) == "MOST must be one of 'a' and 1,000; got 2."


def test_messages_within_messages_are_worded_too():
    hint = Message(" Try {}.", Option("most", 3))
    message = Message("{} is wrong.{}", Option("most"), hint)
    assert message == "most is wrong. Try most=3."
    assert message.worded(loud) == "MOST is wrong. Try MOST."


@given(st.text())
def test_what_a_user_typed_is_never_a_template(typed):
    message = Message("got {}. Try {}.", typed, Option("most", typed))
    assert message.startswith(f"got {typed}. Try most=")
    assert message.worded(loud) == f"got {typed}. Try MOST."


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_keep_everything(duplicate):
    message = duplicate(Message("{{}} holds {}; {} and {}.", "{}", Option("most"), Option("log", ...)))
    assert message == "{} holds {}; most and log=...."
    assert message.worded(loud) == "{} holds {}; MOST and LOG."
    error = duplicate(ParameterError(message))
    assert error.args[0].worded(loud) == message.worded(loud)


def test_errors_and_warnings_keep_it():
    with pytest.raises(ParameterError, match="most is wrong") as caught:
        raise ParameterError(Message("{} is wrong", Option("most")))
    assert caught.value.args[0].worded(loud) == "MOST is wrong"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.warn(Message("{} is odd", Option("most")), TripleTreeWarning, stacklevel=1)
    assert told[0].message.args[0].worded(loud) == "MOST is odd"


@pytest.mark.parametrize("parts", [[], ["{}"], ["a", Option("most", 1)], ["a", "b", Message("{}!", Option("most"))]])
def test_joined_parts_keep_their_options(parts):
    text = joined(", ", iter(parts))
    assert text == ", ".join(map(str, parts))
    assert text.worded(loud) == text.replace("most=1", "MOST").replace("most!", "MOST!")


def test_what_an_error_says():
    message = Message("{} is odd", Option("most"))
    assert message_of(ParameterError(message)) is message
    assert message_of(TripleTreeWarning("plain")) == "plain"
    assert message_of(KeyError("key")) == "'key'"
    assert message_of(ValueError()) == ""


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("speed\x1b[2J", r"speed\x1b[2J"),
        ("\x9b31m", r"\x9b31m"),
        ("a\x00b\x7f", r"a\x00b\x7f"),
        ("a\rb\tc", r"a\rb\tc"),
        ("safe\u202egpj.exe", r"safe\u202egpj.exe"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("lone \ud800 surrogate", r"lone \ud800 surrogate"),
        ("flag \U000e0067", r"flag \U000e0067"),
        # What people write stays: any script, accents, joined emoji, line breaks.
        ("Größe ± ½ 漢字 الموقع", "Größe ± ½ 漢字 الموقع"),
        ("👩\u200d👧 e\u0301", "👩\u200d👧 e\u0301"),
        ("one\ntwo", "one\ntwo"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text, seen):
    assert visible(text) == seen


def test_a_name_has_no_line_breaks():
    assert visible("one\ntwo\r\n", line_breaks=False) == r"one\ntwo\r\n"


@given(st.text())
def test_nothing_invisible_is_left(text):
    for character in visible(text):
        assert character == "\n" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
    assert visible(visible(text)) == visible(text)


@given(st.dictionaries(st.text(), st.text()))
def test_json_says_the_same_in_characters_that_can_be_seen(data):
    text = visible_json(json.dumps(data, ensure_ascii=False))
    assert json.loads(text) == data
    assert visible(text) == text


def test_words_from_right_to_left_are_set_apart_on_a_page():
    assert on_a_page("الموقع الحالي >= 3") == "\u2068الموقع الحالي\u2069 >= 3"
    assert on_a_page("from מהירות (m/s) to pos") == "from \u2068מהירות\u2069 (m/s) to pos"
    # Marks of the name itself cannot end what we begin.
    assert on_a_page("\u2069\u202eabc") == r"\u2069\u202eabc"
    assert on_a_page("pos >= 3") == "pos >= 3"


@pytest.mark.parametrize(("letters", "text"), [(5, "speed"), (4, "spe…"), (2, "s…"), (1, "s…"), (0, "s…")])
def test_long_names_are_cut(letters, text):
    assert shortened("speed", letters) == text
