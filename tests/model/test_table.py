from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pyarrow
import pytest

from tests.parsed import lines
from tripletree.errors import MissingDependencyError, ParameterError
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


@pytest.mark.parametrize(("rows", "lines"), [(11, 12), (12, 13), (13, 15)])
def test_twelve_rows_are_printed_whole(rows, lines):
    """A head and the rows; of thirteen, the first and the last six, dots between and how many there are."""
    text = repr(Table({"number": np.arange(rows)})).splitlines()
    assert len(text) == lines
    assert ("..." in text) == (rows > 12)


def test_a_hundred_and_twenty_characters_fit():
    # Each column is 8 wide and two blanks; the dots of a cut would need five more.
    fits, cut = (repr(Table({f"column{k:02}": [k] for k in range(n)})).splitlines() for n in (11, 12))
    assert "..." not in fits[0]
    assert "..." in cut[0]
    assert max(map(len, cut)) <= 120


def test_numbers_have_four_digits():
    assert repr(Table({"x": [1.23456, 12345.6, 0.000123456]})).split() == ["x", "1.235", "1.235e+04", "0.0001235"]


def test_more_may_be_asked_for():
    table = Table({"number": np.arange(20)})
    assert len(table.render(rows=20).splitlines()) == 21
    assert table.render(rows=2).splitlines() == ["number", "     0", "...", "    19", "[20 rows]"]


def test_pandas_and_others_take_a_table_as_it_is():
    table = Table({"leaf": [0, 1], "action": ["left", "right"], "value": [0.5, -1.0]})
    for frame in (pd.DataFrame(table), table.to_pandas(), pyarrow.table(table).to_pandas()):
        assert frame.to_dict("list") == table.to_dict()
    frame.loc[0, "value"] = 3.0
    assert table["value"][0] == 0.5


def test_without_pandas_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=r"needs pandas\. Type: pip install pandas"):
        Table({"x": [1]}).to_pandas()


def test_tables_are_equal_to_themselves_only():
    table = Table({"x": [1, 2]})
    assert table == table
    assert table != Table({"x": [1, 2]})
    assert len({table, table}) == 1


def test_a_notebook_shows_a_short_table_whole():
    shown = Table({"leaf": [0, 10], "<x>": [1 / 3, -2.0]})._repr_html_()
    assert lines(shown) == ["leaf|<x>|", "0|0.3333|", "10|-2|"]
    assert "<table" in Table({})._repr_html_()


def test_a_notebook_shows_the_ends_of_a_large_table():
    *rows, size = lines(Table({f"c{k}": np.arange(30) for k in range(25)})._repr_html_())
    assert len(rows) == 1 + 6 + 1 + 6
    assert rows[7] == "...|" * 21
    assert rows[0].split("|") == [*(f"c{k}" for k in range(10)), "...", *(f"c{k}" for k in range(15, 25)), ""]
    assert size == "[30 rows, 25 columns]"
