"""Words of messages that depend on how many there are: "1 row", "7 rows", "a, b and 5 more"."""

from __future__ import annotations

from collections.abc import Sequence


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


def some_of(parts: Sequence[str], most: int) -> str:
    """Return the parts with commas, cut short when there are many.

    >>> some_of("abcd", 4), some_of("abcde", 4), some_of("abcdef", 4)
    ('a, b, c, d', 'a, b, c, d, e', 'a, b, c, d and 2 more')
    """
    # "and 1 more" would take as much room as the one itself.
    if len(parts) <= most + 1:
        return ", ".join(parts)
    return f"{', '.join(parts[:most])} and {len(parts) - most:,} more"
