"""Numbers and their words in messages: "1 episode has", "7 episodes have"."""

from __future__ import annotations


def plural(number: int, one: str, many: str | None = None) -> str:
    """Return the word that agrees with ``number``: ``one`` or ``many`` (by default ``one`` with an s).

    >>> plural(1, "is", "are"), plural(0, "is", "are"), plural(2, "row")
    ('is', 'are', 'rows')
    """
    if number == 1:
        return one
    return f"{one}s" if many is None else many


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number and the word that agrees with it.

    >>> count(1, "row"), count(1_000, "row"), count(3, "leaf", "leaves")
    ('1 row', '1,000 rows', '3 leaves')
    >>> count(1, "episode has", "episodes have")
    '1 episode has'
    """
    return f"{number:,} {plural(number, one, many)}"
