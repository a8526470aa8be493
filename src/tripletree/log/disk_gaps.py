"""Missing values in a log on disk: rows are left out, and states carried on, as in a log in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.log.disk_holes import Carrier, Holes, Known, Table, columns_of, look_for_holes, refuse, sources_of
from tripletree.log.disk_times import MOST_LEFT_OUT, Each, look_at_times, usual_step
from tripletree.log.findings import Findings
from tripletree.log.gaps import divided, fail_without_rows, piece_names, row_of, say_missing, too_much, whole_groups
from tripletree.log.tables import add_column
from tripletree.writing import shown

if TYPE_CHECKING:
    from tripletree.log.disk import DiskLog
    from tripletree.log.runs import Index

Bool = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mending:
    """How pieces of a log in which something is missing are read; for the whole log, or for one piece of it.

    Attributes
    ----------
    lacking : frozenset of str
        Columns in which values are missing.
    shown : array of bool of shape (episodes,)
        Whether the row after an episode, which is left out, has its final state.
    moved : mapping of str to int64 array
        For each flag, the rows that have it from a row after them that was left out.
    starts : int64 array
        The first rows of the episodes as they were recorded, numbered as in the files.
    carried : sequence of (int, Known), or None
        For some rows of the files, the states that are known before them, if states are carried on.
    """

    lacking: frozenset[str]
    shown: Bool
    moved: Mapping[str, I64]
    starts: I64
    carried: Sequence[tuple[int, Known]] | None = None

    def part(self, episodes: slice, rows: tuple[int, int], place: tuple[int, int], cut_off: bool) -> Mending:
        """Return what concerns a piece: these episodes, rows of the log and rows of the files; the last may be cut."""
        carried = self.carried
        if carried is not None:
            since = bisect_right(carried, place[0], key=itemgetter(0)) - 1
            carried = carried[since : since + 1]
            place = carried[0][0], place[1]
        shown = self.shown[episodes].copy()
        shown[-1] &= not cut_off
        moved = {role: of[slice(*np.searchsorted(of, rows))] - rows[0] for role, of in self.moved.items()}
        starts = self.starts[slice(*np.searchsorted(self.starts, place))]
        return Mending(self.lacking, shown, moved, starts, carried)


def mended_rows(
    disk: DiskLog, batches: Iterable[dict[str, Any]], at: int, known: Known | None, starts: I64, lacking: frozenset[str]
) -> Iterator[Table]:
    """Yield rows in which columns that lack values anywhere are what they are in memory, with the state carried on.

    The first row has the number ``at``, and ``known`` is what is known before it; None if nothing is carried on.
    """
    columns = [column for column in columns_of(disk) if column.name in lacking]
    bases = set(sources_of(disk, lacking))
    carrier = None if known is None else Carrier([column for column in columns if column.of_state], starts, known)
    findings = Findings(shown(disk.path))
    for batch in batches:
        table: Table = {}
        for name, values in batch.items():
            if name in bases:
                add_column(table, name, values, findings)
            else:
                table[name] = values
        findings.stop_if_failed()
        for column in columns:
            values = table[column.name]
            # Beside what is missing, whole numbers and flags are floats.
            table[column.name] = values.astype(np.float64) if values.dtype.kind in "biu" else values
        if carrier is not None:
            carrier.fill(table, at)
        at += len(next(iter(table.values())))
        yield table


def mend(disk: DiskLog, index: Index, flagged: Mapping[str, I64], each: Each) -> Index:
    """Return the episodes of a log, divided where something was not recorded, with the usual time of a step.

    ``flagged`` has the rows in which each flag is set, if those of rows that are left out go to others.
    """
    given, findings, of_times = disk.roles.get("missing"), Findings(shown(disk.path)), Findings(shown(disk.path))
    way = given or "split"
    holes, carried = look_for_holes(disk, index, way, each)
    looked = look_at_times(disk, index, each, of_times)
    if holes.told and too_much(holes.told, disk.n_rows, given):
        if holes.many or len(np.setdiff1d(holes.lost, looked.again)):
            refuse(disk, holes, findings)
        # Those rows only repeat others, and are left out as such.
        holes = Holes(lacking=holes.lacking)
    elif holes.many:
        raise LogError(
            f"Values are missing in too many rows: on disk at most {MOST_LEFT_OUT:,} are left out. Leave columns out "
            "that are often missing, fill them in before, or read the log into memory: read_log."
        )
    elif holes.told:
        say_missing(holes.told, holes.either, disk.n_rows, way, given, findings)
    lost = np.union1d(holes.lost, looked.again)
    said = [item.message for item in (*findings.items, *of_times.items) if item.level == "warning"]
    index = replace(index, said=tuple(said))
    if len(lost) == disk.n_rows:
        fail_without_rows(way, findings)
    if holes.lacking or len(lost) or len(looked.cuts):
        crossed = looked.cuts
        if way != "drop":
            # A row that only repeats another leaves no hole.
            crossed = np.union1d(crossed, np.setdiff1d(holes.lost, looked.again))
        parts = divided(index.starts, lost, crossed)
        moved = {role: _moved(rows[np.isin(rows, lost)], index.starts, lost) for role, rows in flagged.items()}
        if disk.roles.get("group") is None and whole_groups(parts.of):
            name = f"whole {disk.roles.get('episode', 'episode')}"
            index = replace(index, groups=index.ids[parts.of], group_name=name)
        final = parts.shown(np.setdiff1d(holes.whole, looked.again), looked.cuts)
        final &= disk.roles.get("next_state") is None
        mending = Mending(frozenset(holes.lacking), final, moved, index.starts, carried)
        index = replace(
            index,
            starts=parts.starts,
            ids=piece_names(index.ids, parts.of),
            cut=~parts.at_end,
            left_out=lost,
            mending=mending if holes.lacking or any(map(len, moved.values())) else None,
        )
    return replace(index, usual=usual_step(disk, index, looked, each))


def _moved(rows: I64, starts: I64, lost: I64) -> I64:
    """Return the last rows before others that were left out, of the same episode; counted without those left out."""
    before = rows - np.searchsorted(lost, rows) - 1
    same = before >= 0
    episode = np.searchsorted(starts, rows, side="right")
    same[same] = np.searchsorted(starts, row_of(before[same], lost), side="right") == episode[same]
    return np.unique(before[same])
