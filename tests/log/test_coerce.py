"""Anything array-like becomes plain columns, or one clear error."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log.raw import STATES, make
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log import coerce
from tripletree.log.findings import Findings


@pytest.mark.parametrize(
    "states",
    [
        np.array(STATES, np.float32),
        np.array(STATES, np.float16),
        np.array(STATES, object),
        np.asfortranarray(STATES),
        np.ma.masked_array(STATES, False),
        np.array(STATES, np.longdouble),
        tuple(map(tuple, STATES)),
        [[Decimal("0.5"), 1], [Decimal("1.5"), 0], [Decimal("2.5"), 1], [Decimal("3.5"), False]],
    ],
    ids=["float32", "float16", "object", "fortran", "masked", "longdouble", "tuples", "decimals"],
)
def test_any_array_of_numbers_will_do(states: Any) -> None:
    assert make(states).fingerprint() == make().fingerprint()


def test_one_column_is_one_feature() -> None:
    assert make([1, 2, 3, 4]).states.tolist() == [[1], [2], [3], [4]]


def test_integers_beyond_double_precision_are_said() -> None:
    with pytest.warns(TripleTreeWarning, match="beyond 2\\*\\*53"):
        make(np.array([1, 2, 2**60, 3]))
    with pytest.warns(TripleTreeWarning, match="beyond 2\\*\\*53"):
        make([1, 2, 2**70, 3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": None}, "`states` is None; expected an array or a list"),
        ({"states": 3.0}, r"`states` has shape \(\); expected \(steps, values\)"),
        ({"states": "abc"}, r"`states` has shape \(\)"),
        ({"states": {1, 2}}, "of type set; expected an array or a list"),
        ({"states": {"x": [1, 2]}}, "of type dict; expected an array or a list"),
        ({"states": np.zeros((4, 0))}, r"shape \(4, 0\).* with at least one value"),
        ({"states": np.zeros((4, 2, 2))}, r"shape \(4, 2, 2\).*reshape\(len\(array\), -1\)"),
        ({"states": [[1, 2], [3], [4, 5], [6, 7]]}, "ragged: row 0 has 2 values, row 1 has 1 value;"),
        ({"states": [[1, 2], 3, [4, 5], [6, 7]]}, "ragged: row 0 has 2 values, row 1 has a single value;"),
        ({"states": [np.ma.masked, [1, 2], [3, 4], [5, 6]]}, "ragged: row 0 has a single value, row 1 has 2 values"),
        (
            {"states": [["1", "x"], ["2", "y"], ["3", "z"], ["4", "w"]]},
            r"`s1` holds text \(first in row 0: 'x'\); only numbers are allowed",
        ),
        ({"states": np.array(STATES, complex)}, "`states` holds complex numbers; only real numbers are allowed"),
        ({"states": [1j, None, 2, 3]}, "`states` holds complex numbers; only real numbers are allowed"),
        ({"states": np.zeros(4, [("x", float)])}, "structured array .* Type Log.from_dict"),
        (
            {"states": np.array(["2024-01-01"] * 4, "datetime64[D]")},
            "`s0` holds dates or times; only numbers are allowed",
        ),
        ({"states": [datetime.date(2024, 1, 1)] * 4}, r"holds Python objects \(date\), for example"),
        ({"states": [object()] * 4}, r"holds Python objects \(object\)"),
        ({"states": [10**400, 1, 2, 3]}, "does not fit in a double"),
        ({"states": [10**400, 1.5, 2, 3]}, "does not fit in a double"),
        ({"actions": [{}, {}, {}, {}]}, r"`actions` holds Python objects \(dict\)"),
        ({"actions": np.array(["a", 1, "b", 2.5], object)}, r"mixes numbers and text \('a' in row 0, 1 in row 1\)"),
        ({"actions": ["a", 1, "b", 2]}, r"`actions` mixes numbers and text \('a' in row 0, 1 in row 1\)"),
        ({"actions": [[0, "a"], [1, "b"], [0, "c"], ["0", "d"]]}, r"mixes numbers .*\(0 in row 0, '0' in row 3\)"),
        ({"actions": ["a", b"b", "c", "d"]}, r"`actions` holds Python objects \(bytes, str\)"),
        ({"rewards": np.zeros((4, 2))}, r"`rewards` has shape \(4, 2\); expected one value for each step"),
        ({"rewards": 1}, r"`rewards` has shape \(\)"),
    ],
)
def test_what_is_not_an_array_of_numbers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(**options)


def array(values: Any) -> Any:
    """Return what as_array makes of values that it accepts."""
    findings = Findings()
    found = coerce.as_array(values, "It", findings)
    assert findings.items == []
    return found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], np.array([1, 2])),
        ([True, False], np.array([True, False])),
        (np.array([True, np.bool_(False)], object), np.array([True, False])),
        (np.array([1, 2.5], object), np.array([1, 2.5])),
        (np.array([1, None], object), np.array([1, np.nan])),
        (pd.array([1, None], "Int64"), np.array([1, np.nan])),
        ([None, None], np.array([np.nan, np.nan])),
        (["a", "b"], np.array(["a", "b"], object)),
        (["a", None, np.nan], np.array(["a", None, None], object)),
        (np.array([b"a", "ä".encode()]), np.array(["a", "ä"], object)),
        ([b"a", None], np.array(["a", None], object)),
        ([[1, "a"], [2, "b"]], np.array([["1", "a"], ["2", "b"]], object)),
        (pd.Series(["a", None], dtype="category"), np.array(["a", None], object)),
        (pa.array(["a", None]).dictionary_encode(), np.array(["a", None], object)),
        (pa.chunked_array([pa.array([7, None, 9]).dictionary_encode()]), np.array([7, np.nan, 9])),
        (pa.array([True, None]), np.array([1, np.nan])),
        (pd.to_datetime(["2024-01-01 01:00+01:00"]), np.array(["2024-01-01"], "datetime64[us]")),
        (np.array([1, 2**70], object), np.array([1, 2**70], object)),
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]])),
        (pd.Series([[1, 2], (3, 4)]), np.array([[1, 2], [3, 4]])),
        (np.ma.masked_array([1, 2], [False, True]), np.array([1, np.nan])),
        (np.ma.masked_array([1, 2]), np.array([1, 2])),
        ([Decimal("0.5"), 1], np.array([0.5, 1])),
        (range(3), np.array([0, 1, 2])),
    ],
)
def test_arrays(values: Any, expected: Any) -> None:
    found = array(values)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_what_throws_is_named() -> None:
    class Angry:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("no")

    findings = Findings()
    assert coerce.as_array(Angry(), "It", findings) is None
    assert findings.items[0].text == (
        "It cannot be read as an array (RuntimeError); every row must hold the same number of values."
    )


def test_long_values_are_shortened_in_messages() -> None:
    findings = Findings()
    assert coerce.as_numbers(np.array(["x" * 100], object), "It", findings, "Fix it.") is None
    assert findings.items[0].text == f"It holds text (first in row 0: '{'x' * 36}...); only numbers are allowed."
    assert findings.items[0].fix == "Fix it."


def test_text_that_reads_as_numbers_is_text_all_the_same() -> None:
    findings = Findings()
    assert coerce.as_numbers(np.array(["1", None, "2x"], object), "It", findings) is None
    assert "(first in row 2: '2x')" in findings.items[0].text
    assert coerce.as_numbers(np.array(["1", "2"], object), "It", findings) is None
    assert "(first in row 0: '1')" in findings.items[1].text


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, False], [True, False]),
        ([0, 1], [False, True]),
        ([1.0, 0.0], [True, False]),
    ],
)
def test_flags(values: Any, expected: list[bool]) -> None:
    found = coerce.as_flags(np.array(values), "It", Findings())
    assert found is not None
    assert found.dtype == bool
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("values", "odd"),
    [([0, 2], "2"), ([0.5, 1], "0.5"), ([np.nan, 1], "nan"), (np.array(["yes", "no"], object), "'yes'")],
)
def test_odd_flags(values: Any, odd: str) -> None:
    findings = Findings()
    assert coerce.as_flags(np.array(values), "It", findings) is None
    assert findings.items[0].text == f"It holds {odd}; only True / False or 1 / 0 are allowed."


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([3, 1], np.int8), [3, 1]),
        (np.array([3, 1], np.uint64), [3, 1]),
        (np.array([2**64 - 1, 1], np.uint64), [str(2**64 - 1), "1"]),
        (np.array([3.0, 1.0]), [3, 1]),
        (np.array(["b", "a"], object), ["b", "a"]),
        (np.array([2**70, 1], object), [str(2**70), "1"]),
        (np.array(["2024-01-01"], "datetime64[D]"), ["2024-01-01"]),
        (np.array([True, False]), [1, 0]),
    ],
)
def test_ids(values: Any, expected: list[Any]) -> None:
    found = coerce.as_ids(values, "It", Findings())
    assert found is not None
    assert found.tolist() == expected


ROUND = "rounded, and different ids may have become equal."


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 1], "It holds 0.5 in row 0; only whole numbers or text are allowed."),
        (
            [0, 2.0**53],
            "It holds 9007199254740992.0 in row 1; from 9007199254740992 on, numbers of type float64 are " + ROUND,
        ),
        (
            np.array([2**24], np.float32),
            "It holds 16777216.0 in row 0; from 16777216 on, numbers of type float32 are " + ROUND,
        ),
        (
            np.array([0, 2048], np.float16),
            "It holds 2048.0 in row 1; from 2048 on, numbers of type float16 are " + ROUND,
        ),
        (
            np.array([2**53], np.longdouble),
            "It holds 9007199254740992.0 in row 0; from 9007199254740992 on, numbers of "
            f"type {np.dtype(np.longdouble)} are " + ROUND,
        ),
        (np.array(["2024", "NaT"], "datetime64[Y]"), "It is missing (NaT) in row 1; every row needs a value."),
        ([1, np.inf], "It is missing (NaN) in row 1; every row needs a value."),
        (np.array(["a", None], object), "It is missing in row 1; every row needs a value."),
    ],
)
def test_odd_ids(values: Any, message: str) -> None:
    findings = Findings()
    assert coerce.as_ids(np.array(values), "It", findings) is None
    assert findings.items[0].text == message


@given(values=st.lists(st.integers(-3, 3), min_size=1) | st.lists(st.sampled_from(["a", "b", "ab", ""]), min_size=1))
def test_factorise(values: list[Any]) -> None:
    column = np.array(values) if isinstance(values[0], int) else np.array(values, object)
    distinct, codes = coerce.factorise(column)
    assert distinct == sorted(set(values))
    assert [distinct[code] for code in codes] == values


def test_columns_and_matrices() -> None:
    findings = Findings()
    matrix = coerce.as_matrix([1, 2], "It", findings)
    column = coerce.as_column([[1], [2]], "It", findings)
    assert matrix is not None
    assert column is not None
    assert (matrix.shape, column.shape) == ((2, 1), (2,))
    assert findings.items == []


def test_sorts() -> None:
    sorts = [coerce.sort_of(array(values)) for values in ([1.5], [True], ["a"], np.array(["2024"], "datetime64[Y]"))]
    assert sorts == ["numbers", "numbers", "text", "dates"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([b"a", b"\xff", b"\xfe"]), r"It holds bytes that are not UTF-8 (first in row 1: b'\xff')."),
        ([[b"a", b"b"], [b"a", b"\xff"]], r"It holds bytes that are not UTF-8 (first in row 1: b'\xff')."),
        (["b", "a\0", "a"], r"It holds text with a NUL character (first in row 1: 'a\x00'); it is not allowed."),
        (np.array(["b", "a\0b"]), r"It holds text with a NUL character (first in row 1: 'a\x00b'); it is not allowed."),
        ([None, "a\0"], r"It holds text with a NUL character (first in row 1: 'a\x00'); it is not allowed."),
    ],
)
def test_text_that_numpy_cannot_keep_is_refused(values: Any, message: str) -> None:
    findings = Findings()
    assert coerce.as_array(values, "It", findings) is None
    assert findings.items[0].text == message


def test_a_column_that_does_not_become_an_array_is_named() -> None:
    class Broken:
        def to_numpy(self) -> Any:
            raise NotImplementedError

    findings = Findings()
    assert coerce.as_array(Broken(), "It", findings) is None
    assert findings.items[0].text.startswith("It cannot be read as an array (NotImplementedError)")


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["007", "7"], [7, 7]),
        (["-01", " 10", "+2"], [-1, 10, 2]),
        (["00", "01"], [0, 1]),
    ],
)
def test_numbers_with_zeros_in_front_are_numbers_where_numbers_are_needed(texts: list[str], numbers: list[int]) -> None:
    found = coerce.as_numbers(np.array(texts, object), "It", Findings())
    assert found is not None
    assert found.dtype == np.int64
    assert found.tolist() == numbers


@pytest.mark.parametrize("texts", [["007", "x"], ["7", "8"], ["007", None], ["007", "7.5"], ["07", "--1"]])
def test_other_text_is_not_a_number(texts: list[str]) -> None:
    findings = Findings()
    assert coerce.as_numbers(np.array(texts, object), "It", findings) is None
    assert findings.items[0].code == "not-numeric"


@given(rows=st.integers(1, 700), columns=st.integers(1, 300), seed=st.integers(0, 9))
def test_extremes_are_those_of_each_column(rows: int, columns: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(rows, columns))
    low, high = coerce.extremes(matrix)
    np.testing.assert_array_equal(low, matrix.min(axis=0))
    np.testing.assert_array_equal(high, matrix.max(axis=0))


@pytest.mark.parametrize("size", [3, -1])
@pytest.mark.parametrize("kind", [pa.float32(), pa.int64(), pa.bool_(), pa.float16()])
def test_lists_are_matrices_at_once(size: int, kind: Any) -> None:
    rows = (np.arange(60).reshape(20, 3) % 2).tolist()
    whole = pa.array([[kind.to_pandas_dtype()(one) for one in row] for row in rows], pa.list_(kind, size))
    parts = pa.chunked_array([whole[:7], whole[7:7], whole[7:]])
    for column in (whole, parts, parts.slice(3, 12), whole.slice(5)):
        found = coerce.plain(column)
        assert found.dtype == kind.to_pandas_dtype()
        assert found.tolist() == [
            [bool(one) if kind == pa.bool_() else one for one in row] for row in column.to_pylist()
        ]


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [1.0]], [[1.0], None], [[1.0, None], [1.0, 2.0]], [["a"], ["b"]]])
def test_lists_that_are_no_matrix_are_looked_at_one_by_one(rows: list[Any]) -> None:
    findings = Findings()
    found = coerce.as_array(pa.array(rows), "Column `obs`", findings)
    if rows == [["a"], ["b"]]:
        assert found is not None
        assert found.tolist() == rows
    elif rows[0] == [1.0, None]:
        assert found is not None
        np.testing.assert_array_equal(found, [[1, np.nan], [1, 2]])
    else:
        assert found is None
        assert findings.failed


def test_arrays_in_a_data_frame_are_a_matrix() -> None:
    frame = pd.DataFrame({"obs": list(np.arange(12.0).reshape(4, 3))})
    found = coerce.as_array(frame["obs"], "Column `obs`", Findings())
    assert found is not None
    np.testing.assert_array_equal(found, np.arange(12.0).reshape(4, 3))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_texts_are_shared_and_missing_ones_stay_missing(kind: Any) -> None:
    texts = ["left", None, "right", "left", "", "none"] * 3
    whole = pa.array(texts, kind)
    for column in (whole, pa.chunked_array([whole[:4], whole[4:4], whole[4:]]), whole.slice(3)):
        found = coerce.plain(column)
        assert found.tolist() == column.to_pylist()
    assert len({id(text) for text in coerce.plain(whole).tolist()}) == 5
    assert coerce.plain(pa.chunked_array([], kind)).tolist() == []


@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "uint64", "float32", "float64"])
def test_columns_of_numbers_are_taken_as_they_lie_in_memory(kind):
    numbers = np.arange(7).astype(kind)
    whole = pa.array(numbers)
    for column in (whole, whole[2:5], pa.chunked_array([whole[1:3], whole[3:3], whole[4:]])):
        found = coerce.plain(column)
        assert found.dtype == kind
        np.testing.assert_array_equal(found, column.to_pylist())
    assert coerce.plain(pa.chunked_array([], type=whole.type)).shape == (0,)


def test_missing_numbers_stay_missing():
    np.testing.assert_array_equal(coerce.plain(pa.array([1.0, None, 3.0])), [1.0, np.nan, 3.0])


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 40), st.lists(st.booleans(), max_size=9))
def test_flags_of_arrow_are_read_as_they_lie_in_memory(flags: list[bool], begin: int, more: list[bool]) -> None:
    whole = pa.array(flags, pa.bool_())
    for column in (whole, whole.slice(begin), pa.chunked_array([whole.slice(begin), pa.array(more, pa.bool_())])):
        read = coerce.plain(column)
        assert read.dtype == bool
        assert read.tolist() == column.to_pylist()
