"""Anything array-like becomes plain columns, or one clear error."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tests.log.raw import STATES, make
from tripletree.errors import LogError, TripleTreeWarning


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
        ({"actions": np.array(["a", 1, "b", 2.5], object)}, r"`actions` holds Python objects \(number, str\)"),
        ({"rewards": np.zeros((4, 2))}, r"`rewards` has shape \(4, 2\); expected one value for each step"),
        ({"rewards": 1}, r"`rewards` has shape \(\)"),
    ],
)
def test_what_is_not_an_array_of_numbers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(**options)
