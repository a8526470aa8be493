"""Text among the features: each category of a column becomes a feature of its own, which is 0 or 1."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, listing
from tripletree.log.actions import BLANK
from tripletree.log.coerce import NUMERIC, Array, factorise, reads_as_number
from tripletree.log.findings import Findings
from tripletree.log.schema import Feature
from tripletree.text import Message, Option, count

MOST = 32
"""Categories that a column may have: with more of them it is most likely an id, a date or a remark."""
KIND = "category"
"""The kind to give for numbers that are names, such as the codes of a mode."""
NO_TEXT_VARIES = "No column is left for the state: all of them always hold the same text."
# Also 1,5 and 3 km/h: a comma for a point, or a unit in the cell, makes text of numbers.
_NUMERIC = re.compile(r"\s*[+-]?[.,]?\d")


@dataclass
class Expanded:
    """The features of a log after text was expanded: their names, columns, next states, and what each stands for.

    ``columns`` are those that were taken for categories.
    """

    names: list[str]
    states: list[Array]
    following: list[Array] | None
    features: dict[str, Feature]
    columns: list[str]


def expand(
    names: Sequence[str],
    states: Sequence[Array],
    following: Sequence[Array] | None,
    kinds: Mapping[str, Any],
    guess: bool,
    findings: Findings,
) -> Expanded:
    """Return the features with one column for each category in place of text; what cannot be one stays as it is.

    ``kinds`` may say "category" for a column, or list its categories; with ``guess``, text speaks for itself.
    """
    found = Expanded([], [], None if following is None else [], {}, [])
    for f, (name, column) in enumerate(zip(names, states, strict=True)):
        wanted = kinds.get(name)
        after = None if following is None else following[f]
        known = [str(category) for category in wanted] if isinstance(wanted, list | tuple) else None
        if known is None and wanted != KIND and not (guess and wanted is None and _is_text(column)):
            found.names.append(name)
            found.states.append(column)
            if found.following is not None and after is not None:
                found.following.append(after)
            continue
        found.columns.append(name)
        categories = find_categories(name, [column] if after is None else [column, after], known, findings)
        if len(categories) == 1 and wanted is None:
            findings.note("one-text", f"`{name}` is always `{categories[0]}`, so it was set aside.")
            continue
        for category, made in zip(categories, category_names(name, categories), strict=True):
            found.names.append(made)
            found.features[made] = Feature(made, "", "binary", name, category)
        found.states += _zero_or_one(column, categories)
        if found.following is not None and after is not None:
            found.following += _zero_or_one(after, categories)
    return found


def category_names(name: str, kind: object) -> list[str]:
    """Return the features that a column becomes, given its kind: a word, or a list of categories.

    >>> category_names("mode", ["auto", "manual"]), category_names("x", "angle")
    (['mode is auto', 'mode is manual'], ['x'])
    """
    return [f"{name} is {category}" for category in kind] if isinstance(kind, list | tuple) else [name]


def _is_text(column: Array) -> bool:
    """Return whether a column holds text, none of which begins like a number: then it is numbers with a mistake."""
    return column.dtype.kind == "O" and are_names(set(column.tolist()))


def are_names(values: Collection[object]) -> bool:
    """Return whether the different values of a column are text, none of which begins like a number."""
    known = [value for value in values if not _is_blank(value)]
    return bool(known) and all(isinstance(value, str) and not _NUMERIC.match(value) for value in known)


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() in BLANK)


def blanks(column: Array) -> npt.NDArray[np.bool_] | None:
    """Return which values of a column stand for no category; None where all do for one."""
    if column.dtype.kind == "O" and not any(map(_is_blank, set(column.tolist()))):
        return None
    texts, codes = _texts(column)
    blank: npt.NDArray[np.bool_] = codes == len(texts) - 1
    return blank


def find_categories(
    name: str, columns: list[Array], known: list[str] | None, findings: Findings, more: bool = False
) -> list[str]:
    """Return the categories of a column and of its next states, none after an error.

    ``more`` tells that the columns hold other texts as well, too many to be looked at.
    """
    ignore = Message("If it is not a feature: {}.", Option("ignore", [name]))
    texts = sorted({text for column in columns for text in _texts(column)[0] if text is not None}, key=_in_order)
    if known is not None:
        strange = [text for text in texts if text not in known]
        if strange:
            findings.error(
                "categories",
                f"Feature `{name}` holds {listing(strange)}; known are {listing(known, 12)}."
                f"{did_you_mean(strange[0], known)}",
                ignore,
            )
            return []
        texts = known
    if not texts or len(texts) > MOST:
        number = "more than " * more + count(len(texts), "different text")
        findings.error(
            "categories",
            f"Feature `{name}` holds {number}; categories are made of 1 to {MOST}.",
            ignore,
        )
        return []
    return texts


def _in_order(text: str) -> tuple[int, float, str]:
    # Codes such as 2 and 10 are in the order of numbers.
    return (0, float(text), text) if reads_as_number(text) else (1, 0.0, text)


def _texts(column: Array) -> tuple[list[str | None], Array]:
    """Return the different values of a column as text (None for those that are missing), and each row's place."""
    if column.dtype.kind == "O":
        values = column.tolist()
        held = set(values)
        known = sorted(value for value in held if not _is_blank(value))
        places = dict.fromkeys(held, len(known)) | {value: place for place, value in enumerate(known)}
        codes = np.fromiter(map(places.__getitem__, values), np.int64, len(values))
    else:
        blank = np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), bool)
        known, place = factorise(column[~blank])
        codes = np.full(len(column), len(known))
        codes[~blank] = place
    texts = [_text(value) if column.dtype.kind in NUMERIC else str(value) for value in known]
    return [*texts, None], codes


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _zero_or_one(column: Array, categories: Sequence[str]) -> list[Array]:
    texts, codes = _texts(column)
    blank = np.array([np.nan if text is None else 0.0 for text in texts])
    return [(blank + [text == category for text in texts])[codes] for category in categories]
