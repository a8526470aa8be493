from __future__ import annotations

import numpy as np
import pytest

from tripletree.errors import ParameterError
from tripletree.model.table import Table


def test_columns_and_rows():
    table = Table({"leaf": [0, 1], "action": ["left", "right"]})
    assert table.columns == ("leaf", "action")
    assert len(table) == 2
    assert list(table) == ["leaf", "action"]
    assert table["leaf"].tolist() == [0, 1]
    assert table.to_dict() == {"leaf": [0, 1], "action": ["left", "right"]}
    assert all(type(value) is int for value in table.to_dict()["leaf"])


def test_frozen():
    source = np.array([1.0, 2.0])
    table = Table({"x": source})
    source[0] = 9
    assert table["x"][0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        table["x"][0] = 5


def test_an_unknown_column_is_explained():
    with pytest.raises(ParameterError, match=r"no 'value'; it has `values`\. Did you mean `values`"):
        Table({"values": [1.0]})["value"]


def test_short_tables_print_whole():
    assert repr(Table({"leaf": [0, 10], "x": [1 / 3, -2.0]})) == "leaf       x\n   0  0.3333\n  10      -2"


def test_long_tables_print_their_ends():
    text = repr(Table({"number": np.arange(100)}))
    assert text.splitlines() == [
        "number",
        *(f"{k:>6}" for k in range(6)),
        "...",
        *(f"{k:>6}" for k in range(94, 100)),
        "[100 rows]",
    ]


def test_wide_tables_lose_their_middle():
    lines = repr(Table({f"column_{k}": [k] for k in range(40)})).splitlines()
    assert max(map(len, lines)) <= 120
    assert lines[0].startswith("column_0  column_1")
    assert lines[0].endswith("column_38  column_39")
    assert "..." in lines[0]
    assert lines[-1] == "[40 columns]"


def test_an_empty_table():
    assert len(Table({})) == 0
