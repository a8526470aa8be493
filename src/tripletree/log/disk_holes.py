"""What is missing in a log on disk, found in one pass over its columns, and what was known before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.log.actions import say_no_action
from tripletree.log.build import say_no_reward, say_not_finite
from tripletree.log.categories import KIND, blanks
from tripletree.log.coerce import Array
from tripletree.log.disk_files import iter_rows, may_lack
from tripletree.log.disk_times import MOST_LEFT_OUT, Each
from tripletree.log.findings import Findings
from tripletree.log.gaps import is_missing
from tripletree.log.roles import ABSENT, listed
from tripletree.log.tables import add_column
from tripletree.text import count
from tripletree.writing import shown

if TYPE_CHECKING:
    from tripletree.log.disk import DiskLog
    from tripletree.log.runs import Index

Bool = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]
Table = dict[str, Array]
Known = dict[str, Any]
"""The last known value of each column."""


def _no_rows() -> I64:
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class Column:
    """A column that must not lack a value: its name, and that for the user; whether its values are names of things."""

    name: str
    called: str
    category: bool
    of_state: bool

    def lacks(self, values: Array) -> Bool | None:
        """Return which values are missing; None where none is."""
        found = blanks(values) if self.category else is_missing(values)
        return None if found is None or not found.any() else found


def columns_of(disk: DiskLog) -> list[Column]:
    """Return the columns of states, actions and rewards, in this order."""
    features, actions, reward = (listed(disk.roles[role]) for role in ("features", "action", "reward"))
    called = {role: listed(disk.roles.get(f"{role}_names")) for role in ("feature", "action")}
    kinds = disk.roles.get("kinds") or {}
    found = []
    for pair in zip(features, called["feature"] or features, strict=True):
        kind = kinds.get(pair[1])
        found.append(Column(*pair, category=kind == KIND or isinstance(kind, list | tuple), of_state=True))
    if actions != [ABSENT]:
        pairs = zip(actions, called["action"] or actions, strict=True)
        found += [Column(*pair, category=False, of_state=False) for pair in pairs]
    if reward != [ABSENT]:
        found.append(Column(reward[0], "reward", category=False, of_state=False))
    return found


def sources_of(disk: DiskLog, names: Iterable[str]) -> list[str]:
    """Return the columns of the files that hold these columns: a list there is several here."""
    wanted = list(names)
    return [base for base in disk.columns if any(name == base or name.startswith(f"{base}_") for name in wanted)]


class Carrier:
    """Carries the last known state of an episode on, a few rows at a time.

    ``known`` has the last known values, and nothing for a column that was not known yet in the episode.
    """

    def __init__(self, columns: Sequence[Column], starts: I64, known: Known) -> None:
        self.columns, self.starts, self.known = columns, starts, dict(known)

    def fill(self, table: Table, at: int) -> dict[str, Bool]:
        """Fill the columns of a table, the first row of which has this number; return which rows stay unknown."""
        unknown: dict[str, Bool] = {}
        n = len(next(iter(table.values())))
        begins = self.begins(at, n)
        for column in self.columns:
            values = table[column.name]
            lacks = column.lacks(values)
            if lacks is None:
                self.known[column.name] = values[-1]
                continue
            if column.category and lacks.all():
                values = np.full(n, None, object)  # which takes text and numbers
            known = ~lacks
            source = np.where(known, np.arange(n), -1)
            source[begins] = begins
            source = np.maximum.accumulate(source)
            filled, lost = values[source], ~known[source]
            before = source < 0
            if column.name in self.known:
                filled[before] = self.known[column.name]
            lost[before] = column.name not in self.known
            table[column.name], unknown[column.name] = filled, lost
            if source[-1] >= 0:
                self.known.pop(column.name, None)
                if known[source[-1]]:
                    self.known[column.name] = values[source[-1]]
        return unknown

    def begins(self, at: int, n: int) -> I64:
        """Return in which of ``n`` rows an episode begins."""
        return self.starts[slice(*np.searchsorted(self.starts, (at, at + n)))] - at


@dataclass(eq=False)
class Holes:
    """What is missing in one file.

    Attributes
    ----------
    told : dict of str to (int, int)
        For each column, by the name for the user, how many rows lack it and the first of them.
    lacking : set of str
        These columns.
    either : int
        Rows that lack something.
    many : bool
        Whether too many rows are left out to keep track of them.
    lost, whole : int64 arrays
        Rows that are left out, and those of them of which the state is known.
    carried : list of (int, Known, tuple of str)
        For some rows, the states that are known before them, and the columns of which another file decides it; the last
        entry is for the row after the file.
    undecided : dict of str to int
        For these columns, the rows at the beginning of which it depends on other files whether they are known.
    """

    told: dict[str, tuple[int, int]] = field(default_factory=dict)
    lacking: set[str] = field(default_factory=set)
    either: int = 0
    many: bool = False
    lost: I64 = field(default_factory=_no_rows)
    whole: I64 = field(default_factory=_no_rows)
    carried: list[tuple[int, Known, tuple[str, ...]]] = field(default_factory=list)
    undecided: dict[str, int] = field(default_factory=dict)


def find_holes(common: tuple[DiskLog, I64 | None], number: int) -> Holes:
    """Return what is missing in a file.

    With the first row of each episode, rows are left out only where nothing is known that could be carried on.
    """
    disk, starts = common
    file, columns = disk.files[number], columns_of(disk)
    names = sources_of(disk, (column.name for column in columns))
    if starts is None:
        names = may_lack(file, names, sources_of(disk, (column.name for column in columns if column.category)))
    found = Holes()
    if not names:
        return found
    carrier = None if starts is None else Carrier([column for column in columns if column.of_state], starts, {})
    if carrier is not None and not len(carrier.begins(file.begin, 1)):
        found.undecided = dict.fromkeys((column.name for column in carrier.columns), 0)
    still = set(found.undecided)
    lost, whole, number_lost = [], [], 0
    findings, at = Findings(shown(file.path)), file.begin
    for batch in iter_rows([file], file.begin, file.begin + file.rows, names):
        table: Table = {}
        for name, values in batch.items():
            add_column(table, name, values, findings)
        findings.stop_if_failed()
        n = len(next(iter(table.values())))
        blank, bare = np.zeros(n, bool), np.zeros(n, bool)
        for column in columns:
            lacks = column.lacks(table[column.name]) if column.name in table else None
            if lacks is None:
                continue
            before, first = found.told.get(column.called, (0, at + int(lacks.argmax())))
            found.told[column.called] = before + int(lacks.sum()), first
            found.lacking.add(column.name)
            into = blank if column.of_state else bare
            into |= lacks
        missing = blank | bare
        found.either += int(missing.sum())
        out = missing
        if carrier is not None:
            found.carried.append((at, dict(carrier.known), tuple(still)))
            out = bare.copy()
            begins = carrier.begins(at, n)
            unknown = carrier.fill(table, at)
            for name in list(still):
                rows = unknown.get(name, np.zeros(n, bool))
                open_until = int(begins[0]) if len(begins) else n
                open_until = min(open_until, n if rows.all() else int(rows.argmin()))
                found.undecided[name] += open_until
                rows[:open_until] = False
                still -= {name} if open_until < n else set()
            for rows in unknown.values():
                out |= rows
        number_lost += int(out.sum())
        found.many = number_lost > MOST_LEFT_OUT
        if not found.many:
            lost.append(np.flatnonzero(out) + at)
            whole.append(np.flatnonzero(bare & ~blank) + at)
        at += n
    if carrier is not None:
        found.carried.append((at, dict(carrier.known), tuple(still)))
    found.lost, found.whole = (np.concatenate([_no_rows(), *rows]) for rows in (lost, whole))
    return found


def look_for_holes(disk: DiskLog, index: Index, way: str, each: Each) -> tuple[Holes, list[tuple[int, Known]] | None]:
    """Return what is missing in the whole log, and what is known before some of its rows if states are carried on."""
    found = each("looking for missing values", find_holes, (disk, index.starts if way == "fill" else None))
    whole = Holes(either=sum(part.either for part in found))
    for column in columns_of(disk):
        told = [part.told[column.called] for part in found if column.called in part.told]
        if told:
            whole.told[column.called] = sum(number for number, _ in told), told[0][1]
    if not whole.told:
        return whole, None
    if not index.ordered:
        raise LogError(
            "Values are missing, and the rows of episodes are not in the order of their steps. A log on disk is read "
            "in one go: sort the rows of each episode, or read it into memory: read_log."
        )
    whole.lacking = set().union(*(part.lacking for part in found))
    lost: list[I64] = []
    known: Known = {}
    carried: list[tuple[int, Known]] = []
    for file, part in zip(disk.files, found, strict=True):
        # What no file before knows is never known.
        unknown = max((rows for name, rows in part.undecided.items() if name not in known), default=0)
        whole.many |= part.many or unknown > MOST_LEFT_OUT
        lost.append(np.union1d(part.lost, np.arange(file.begin, file.begin + min(unknown, MOST_LEFT_OUT))))
        here = [
            (row, values | {name: known[name] for name in still if name in known})
            for row, values, still in part.carried
        ]
        carried += [(row, {name: of[name] for name in whole.lacking & of.keys()}) for row, of in here]
        known = here[-1][1] if here else {}
    whole.lost, whole.whole = (np.concatenate(rows) for rows in (lost, [part.whole for part in found]))
    whole.many |= len(whole.lost) > MOST_LEFT_OUT
    return whole, carried if way == "fill" else None


def refuse(disk: DiskLog, holes: Holes, findings: Findings) -> None:
    """Say what is missing so often that nothing is done about it, in the words for a log in memory."""
    told = [(column, *holes.told[column.called]) for column in columns_of(disk) if column.called in holes.told]
    places = [
        f"`{column.called}` in {count(number, 'row')} (first in row {row})"
        for column, number, row in told
        if column.of_state
    ]
    if places:
        say_not_finite(places, findings)
    for column, number, row in told:
        if column.called == "reward" and not column.of_state:
            say_no_reward(number, row, findings)
        elif not column.of_state:
            say_no_action(column.called, number, row, findings)
    findings.stop_if_failed()
