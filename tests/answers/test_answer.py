from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import numpy as np
import pytest

from tripletree.answers.answer import Answer


@dataclass(frozen=True, eq=False, repr=False)
class Said(Answer):
    text: str
    numbers: Any = None
    schema: Any = None

    def __str__(self) -> str:
        return self.text


def test_data_are_json_types_whatever_they_were():
    inner = Said("inner", np.array([1.0, np.inf, np.nan]))
    data = Said("outer", ({"a": np.float64(0.5), 3: np.int32(7)}, [inner], True, None), schema=object()).to_dict()
    assert data == {
        "text": "outer",
        "numbers": [{"a": 0.5, "3": 7}, [{"text": "inner", "numbers": [1.0, None, None]}], True, None],
    }
    json.dumps(data, allow_nan=False)


def test_the_sentence_the_name_and_nothing_to_change():
    said = Said("It brakes.")
    assert (str(said), repr(said)) == ("It brakes.", "<Said: It brakes.>")
    with pytest.raises(FrozenInstanceError, match="text"):
        said.text = "It does not."


def test_the_box_of_a_notebook_escapes_and_takes_the_notebooks_colours():
    shown = Said("<script>alert(1)</script> & more")._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in shown
    assert "<script" not in shown
    assert "background" not in shown
