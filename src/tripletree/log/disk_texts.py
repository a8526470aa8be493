"""Text in a log on disk: what all files hold is found before any piece is read, so that every piece means the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tripletree.log.actions import guess_kind, read_actions, say_too_many
from tripletree.log.build import no_number
from tripletree.log.categories import KIND, are_names, find_categories
from tripletree.log.coerce import Array, reads_as_number, say_text
from tripletree.log.disk_files import File, iter_rows
from tripletree.log.findings import Findings
from tripletree.log.tables import add_column

MOST = 2**16
"""Different values of a column that are looked at: with more of them, it holds neither categories nor actions."""


@dataclass
class Values:
    """The different values of some columns, side by side, and the first row of each.

    ``more`` tells that there are others, too many to be looked at, and ``lacking`` in which columns some are missing.
    """

    rows: dict[tuple[Any, ...], int] = field(default_factory=dict)
    more: bool = False
    lacking: set[int] = field(default_factory=set)

    def add(self, columns: Sequence[Array], at: int) -> None:
        """Add rows, of which the first has this number; those in which something is missing do not count."""
        lists = [column.tolist() for column in columns]
        items: list[Any] = lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))
        for item in set(items):
            values = (item,) if len(lists) == 1 else item
            lost = {k for k, value in enumerate(values) if value is None or value != value}
            self.lacking |= lost
            if lost or values in self.rows:
                continue
            if len(self.rows) == MOST:
                self.more = True
                return
            self.rows[values] = at + items.index(item)

    def column(self, k: int = 0) -> Array:
        """Return the values of one of the columns, text as objects."""
        values = [row[k] for row in self.rows]
        array = np.array(values, object if any(isinstance(value, str) for value in values) else None)
        if not len(values):
            return np.empty(0, object)
        # Beside what is missing, whole numbers and flags are floats.
        return array.astype(np.float64) if k in self.lacking and array.dtype.kind in "biu" else array


@dataclass(frozen=True)
class Texts:
    """What text means in all pieces.

    Attributes
    ----------
    kinds : dict of str to list of str
        The categories of each feature that has some.
    aside : list of str
        Features that always hold the same text.
    labels : tuple of str
        Those of an action that is text, in order; none for other actions. Rows that are left out may have more of them
        than others.
    """

    kinds: dict[str, list[str]]
    aside: list[str]
    labels: tuple[str, ...]


def find_texts(
    files: Sequence[File],
    text: Collection[str],
    base: Mapping[str, str],
    features: Mapping[str, tuple[str, str | None]],
    actions: Mapping[str, str],
    roles: Mapping[str, Any],
    findings: Findings,
    tell: Callable[[int], None] = lambda _: None,
) -> Texts:
    """Return the categories of features and the labels of actions, by the rules for a log in memory.

    Parameters
    ----------
    files : sequence of File
        The files of the log.
    text : collection of str
        Their columns that are text.
    base : mapping of str to str
        The column of the files that each column of the log comes from: a list is one column there, and several here.
    features, actions : mapping
        For each feature its column, and that of the next state or None; for each action its column.
    roles : mapping
        What was said about the columns.
    findings : Findings
        Gets what is wrong.
    tell : function
        Called with the number of rows that were looked at.
    """
    kinds = roles.get("kinds") or {}
    wanted: dict[str, tuple[str, ...]] = {}
    for name, (column, following) in features.items():
        listed = isinstance(kinds.get(name), list | tuple)
        if not listed and (kinds.get(name) == KIND or (name not in kinds and base[column] in text)):
            wanted[name] = (column, *([] if following is None else [following]))
    labelled = roles.get("labels") is None and roles.get("action_kind") != "continuous"
    acts = tuple(actions.values()) if labelled and any(base[column] in text for column in actions.values()) else ()
    if not wanted and not acts:
        return Texts({}, [], ())
    groups = [(column,) for column in dict.fromkeys(name for names in wanted.values() for name in names)]
    found = _look(files, [*groups, *([acts] if acts else [])], base, findings, tell)
    findings.stop_if_failed()
    made: dict[str, list[str]] = {}
    aside = []
    for name, columns in wanted.items():
        seen = [found[(column,)] for column in columns]
        texts = {value: row for (value,), row in seen[0].rows.items()}
        if not texts:
            continue  # all of it is missing, which the pieces tell
        if name not in kinds and not are_names(texts):
            odd = [value for value in texts if not reads_as_number(value)] or texts
            value = min(odd, key=lambda text: texts[text])
            say_text(f"Feature `{name}`", texts[value], value, findings, no_number(name, seen[0].column()))
            continue
        held = [one.column() for one in seen]
        made[name] = find_categories(name, held, None, findings, any(one.more for one in seen))
        if len(made[name]) == 1 and name not in kinds:
            aside.append(name)
            del made[name]
    return Texts(made, aside, _labels(found[acts], actions, findings) if acts else ())


def _look(
    files: Sequence[File],
    groups: Sequence[tuple[str, ...]],
    base: Mapping[str, str],
    findings: Findings,
    tell: Callable[[int], None],
) -> dict[tuple[str, ...], Values]:
    """Return the different values of groups of columns in all files."""
    found = {group: Values() for group in groups}
    read = list(dict.fromkeys(base[column] for group in groups for column in group))
    for batch, at in _batches(files, read):
        table: dict[str, Array] = {}
        for name in read:
            add_column(table, name, batch[name], findings)
        if findings.failed:
            break
        for group, values in found.items():
            # A list that is longer elsewhere, or text that is missing everywhere: the pieces tell.
            if not values.more and all(column in table for column in group):
                values.add([table[column] for column in group], at)
        tell(at)
        if all(values.more for values in found.values()):
            break
    return found


def _batches(files: Sequence[File], columns: Sequence[str]) -> Iterable[tuple[dict[str, Any], int]]:
    for file in files:
        at = file.begin
        for batch in iter_rows([file], file.begin, file.begin + file.rows, columns):
            yield batch, at
            at += len(batch[columns[0]])


def _labels(found: Values, actions: Mapping[str, str], findings: Findings) -> tuple[str, ...]:
    columns = [found.column(k) for k in range(len(actions))]
    if guess_kind(columns) == "continuous":
        return ()  # numbers beside text: what is read as numbers says so
    if found.more:
        say_too_many(f"more than {len(found.rows):,}", ", ".join(actions), columns, findings)
        return ()
    if not found.rows:
        return ()  # all of them are missing
    read = read_actions(columns, list(actions), "discrete", None, {}, {}, findings)
    return () if read is None else read[1].labels
