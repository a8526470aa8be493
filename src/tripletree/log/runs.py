"""Where the episodes of a log on disk begin: what each file says by itself, and what follows for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.log.boundaries import FLAGS
from tripletree.log.build import check_groups, say_group_varies
from tripletree.log.coerce import Array, as_flags, as_ids
from tripletree.log.disk_files import iter_rows
from tripletree.log.disk_gaps import Mending, mend
from tripletree.log.disk_times import Each
from tripletree.log.findings import Findings
from tripletree.text import Message, Option
from tripletree.writing import shown

if TYPE_CHECKING:
    from tripletree.log.disk import DiskLog

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Runs:
    """What the columns that mark episodes say about one file.

    Attributes
    ----------
    begins : int64 array
        Rows of the log in which an episode begins, other than the file's first row.
    ids : array or None
        The ids of the file's first row and of these.
    first, last : tuple
        Id, step and flag of the file's first and last row; None where there is none.
    ordered : bool
        Whether steps go up inside all episodes.
    groups : Groups or None
        The groups of the rows, where the log has some.
    flagged : dict of str to int64 array
        The rows in which each flag is set, where those of rows that are left out go to others.
    """

    begins: I64
    ids: Array | None
    first: tuple[Any, Any, Any]
    last: tuple[Any, Any, Any]
    ordered: bool
    groups: Groups | None = None
    flagged: dict[str, I64] = field(default_factory=dict)


@dataclass(eq=False)
class Groups:
    """The rows of a file in which a group begins, and its name."""

    rows: list[I64] = field(default_factory=list)
    names: list[Array] = field(default_factory=list)

    def add(self, column: Array, at: int) -> None:
        """Add rows, the first of which has this number."""
        new = np.ones(len(column), bool)
        new[1:] = column[1:] != column[:-1]
        self.rows.append(np.flatnonzero(new) + at)
        self.names.append(column[new])


def find_runs(disk: DiskLog, number: int) -> Runs:
    """Return where episodes begin in a file, as far as the file itself says."""
    file = disk.files[number]
    endless = bool(disk.roles.get("endless"))
    by_id = None if endless else disk.roles.get("episode")
    step_column = None if endless else disk.roles.get("step")
    flags = [] if endless else [disk.roles[role] for role in FLAGS if role in disk.roles]
    roles = [] if endless or disk.roles.get("missing") != "drop" else [role for role in FLAGS if role in disk.roles]
    flagged: dict[str, list[I64]] = {role: [] for role in roles}
    group = disk.roles.get("group")
    columns = [name for name in (by_id, step_column, *flags, group) if name]
    if not columns:
        return Runs(np.empty(0, np.int64), None, (None, None, None), (None, None, None), True)
    findings = Findings(shown(file.path))
    begins, ids, ordered = [], [], True
    groups = None if group is None else Groups()
    first: tuple[Any, Any, Any] | None = None
    last: tuple[Any, Any, Any] = (None, None, None)
    at = file.begin
    for batch in iter_rows([file], file.begin, file.begin + file.rows, columns):
        name = None if by_id is None else as_ids(np.asarray(batch[by_id]), "`episode`", findings)
        step = None if step_column is None else np.asarray(batch[step_column])
        over = [as_flags(np.asarray(batch[flag]), f"`{flag}`", findings) for flag in flags]
        grouped = None if group is None else as_ids(np.asarray(batch[group]), f"The group `{group}`", findings)
        findings.stop_if_failed()
        if groups is not None and grouped is not None:
            groups.add(grouped, at)
        for set_in, part in zip(flagged.values(), over, strict=False):
            set_in.append(np.flatnonzero(np.asarray(part)) + at)
        flag = np.logical_or.reduce([part for part in over if part is not None]) if over else None
        n = len(next(iter(batch.values())))
        new = np.zeros(n, bool)
        if name is not None:
            new[1:] = name[1:] != name[:-1]
            new[0] = first is not None and name[0] != last[0]
        else:
            if step is not None:
                new[1:] = step[1:] <= step[:-1]
                new[0] = first is not None and step[0] <= last[1]
            if flag is not None:
                new[1:] |= flag[:-1]
                new[0] |= first is not None and bool(last[2])
        if name is not None and step is not None:
            ordered &= bool((new[1:] | (step[1:] > step[:-1])).all())
            ordered &= bool(first is None or new[0] or step[0] > last[1])
        here = [None if column is None else column for column in (name, step, flag)]
        if first is None:
            first = cast(tuple[Any, Any, Any], tuple(None if c is None else c[0] for c in here))
            if name is not None:
                ids.append(name[:1])
        last = cast(tuple[Any, Any, Any], tuple(None if c is None else c[-1] for c in here))
        begins.append(np.flatnonzero(new) + at)
        if name is not None:
            ids.append(name[new])
        at += n
    joined = np.concatenate(ids) if ids else None
    found = {role: np.concatenate(rows) for role, rows in flagged.items()}
    return Runs(np.concatenate(begins).astype(np.int64), joined, first or last, last, ordered, groups, found)


@dataclass(frozen=True, eq=False)
class Index:
    """The episodes of a log on disk.

    Attributes
    ----------
    starts : int64 array of shape (episodes + 1,)
        Their first rows, closed by the number of rows.
    ids : array of shape (episodes,)
        Their names.
    ordered : bool
        Whether steps go up inside all of them.
    groups, group_name : array of shape (episodes,) or None, str
        Which of them depend on each other, and what that is called; as in `Log`.
    cut : array of bool of shape (episodes,), or None
        Those after whose end nothing was recorded for a while: others go on where they do.
    usual : float
        The seconds of a step where they are not known.
    said : tuple of str
        What was found that deserves a look.
    left_out : int64 array
        Rows of the files that are none of the log, from the first to the last; other rows are counted without them.
    mending : Mending or None
        How its rows are read, where values are missing; of all episodes.
    """

    starts: I64
    ids: Array
    ordered: bool = True
    groups: Array | None = None
    group_name: str = "group"
    cut: npt.NDArray[np.bool_] | None = None
    usual: float = 1.0
    said: tuple[str, ...] = ()
    left_out: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    mending: Mending | None = None

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.ids)

    @property
    def units(self) -> I64:
        """What is independent of what; as `Log.units`."""
        if self.groups is None:
            return np.arange(self.n_episodes)
        return np.unique(self.groups, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def keep(self, kept: npt.NDArray[np.bool_]) -> Index:
        """Return some of the episodes, with rows as if there were no others."""
        starts = np.append(0, np.cumsum(np.diff(self.starts)[kept]))
        groups, cut = (None if of is None else of[kept] for of in (self.groups, self.cut))
        return replace(self, starts=starts, ids=self.ids[kept], groups=groups, cut=cut)


def find_episodes(disk: DiskLog, each: Each | None = None) -> Index:
    """Return the episodes of a log on disk; they are looked for the first time only.

    ``each`` does a task for every file; without it, they are done here in turn.
    """
    if disk.known:
        return disk.known[0]
    sent = disk.bare()

    tell = disk.how.progress

    def in_turn(what: str, task: Callable[[Any, int], Any], common: Any) -> list[Any]:
        found = []
        for number, file in enumerate(disk.files):
            if tell is not None:
                tell(what, file.begin, disk.n_rows, 0, "1 thread")
            found.append(task(common, number))
        return found

    do = in_turn if each is None else each
    runs = do("finding episodes", find_runs, sent)
    flagged = {role: np.concatenate([run.flagged[role] for run in runs]) for role in runs[0].flagged}
    index = _with_groups(disk, mend(sent, join_runs(disk, runs), flagged, do), runs)
    disk.known.append(index)
    return index


def _with_groups(disk: DiskLog, index: Index, runs: Sequence[Runs]) -> Index:
    """Return the same with the group of each episode, which must be that of all of its rows."""
    found = [run.groups for run in runs if run.groups is not None]
    if not found:
        return index
    rows = np.concatenate([part for groups in found for part in groups.rows])
    names = np.concatenate([part for groups in found for part in groups.names])
    if len(index.left_out):
        # Of groups that begin in the same row of the log, only the last one has rows of it.
        rows = rows - np.searchsorted(index.left_out, rows)
        there = np.append(rows[1:] != rows[:-1], True) & (rows < index.starts[-1])
        rows, names = rows[there], names[there]
    name = disk.roles["group"]
    findings = Findings(shown(disk.path))
    first = names[np.searchsorted(rows, index.starts[:-1], side="right") - 1]
    episode = np.searchsorted(index.starts, rows, side="right") - 1
    varies = names != first[episode]
    if varies.any():
        row = int(varies.argmax())
        say_group_varies(index.ids[episode[row]], first[episode[row]], names[row], name, findings)
        findings.stop_if_failed()
    groups = check_groups(first, name, findings)
    return replace(
        index, groups=groups, group_name=name, said=(*index.said, *(item.message for item in findings.items))
    )


def join_runs(disk: DiskLog, runs: Sequence[Runs]) -> Index:
    """Return the episodes of all files, by the same rules as for a folder that is read into memory."""
    firsts = np.array([file.begin for file in disk.files], np.int64)
    borders = firsts[1:]
    if disk.roles.get("endless"):
        return Index(np.array([0, disk.n_rows]), np.zeros(1, np.int64))
    if disk.roles.get("episode") is not None:
        return _join_ids(disk, runs, firsts)
    if disk.roles.get("step") is not None:
        restarts = [bool(after.first[1] <= before.last[1] or before.last[2]) for before, after in pairwise(runs)]
        borders = borders[np.array(restarts, bool)] if len(borders) else borders
    elif not any(role in disk.roles for role in FLAGS):
        if len(disk.files) == 1:
            if disk.roles.get("time") is not None:
                return Index(np.array([0, disk.n_rows]), np.zeros(1, np.int64))
            raise LogError(
                Message(
                    "Nothing says where episodes begin or end. Give {}, {} or {}; if all rows are one recording "
                    "without end, type {}.",
                    Option("episode", "..."),
                    Option("step", "..."),
                    Option("done", "..."),
                    Option("endless", True),
                )
            )
        stems = [Path(file.path).stem for file in disk.files]
        return Index(np.append(firsts, disk.n_rows), np.array(stems, np.str_))
    begins = np.sort(np.concatenate([[0], borders, *(run.begins for run in runs)])).astype(np.int64)
    return Index(np.append(begins, disk.n_rows), np.arange(len(begins), dtype=np.int64))


def _join_ids(disk: DiskLog, runs: Sequence[Runs], firsts: I64) -> Index:
    owners: dict[Any, tuple[int, int]] = {}  # of each id, the file and the run that it was last seen in
    goes_on = np.zeros(len(runs), bool)
    apart = False
    for number, run in enumerate(runs):
        for place, name in enumerate(cast(Array, run.ids).tolist()):
            seen = owners.get(name)
            if seen is not None:
                if seen[0] == number:
                    raise _scattered(name, disk.files[number].path)
                step_goes_on = run.first[1] is None or place > 0 or run.first[1] > runs[seen[0]].last[1]
                if not step_goes_on:
                    apart = True
                elif place > 0 or seen != (number - 1, len(cast(Array, runs[number - 1].ids)) - 1):
                    if run.first[1] is None:
                        apart = True
                    else:
                        raise _scattered(name, disk.files[number].path)
                else:
                    goes_on[number] = True
            owners[name] = (number, place)
    if apart:
        goes_on[:] = False
    starts, ids = [], []
    for number, run in enumerate(runs):
        begins, names = np.append(firsts[number], run.begins), cast(Array, run.ids)
        if apart:
            stem = Path(disk.files[number].path).stem
            names = np.array([f"{stem}/{name}" for name in names.tolist()], object)
        skip = 1 if goes_on[number] else 0
        starts.append(begins[skip:])
        ids.append(names[skip:])
    joined = np.concatenate(ids)
    return Index(
        np.append(np.concatenate(starts), disk.n_rows).astype(np.int64),
        joined.astype(np.int64) if joined.dtype.kind in "iu" else np.array(joined.tolist(), np.str_),
        all(run.ordered for run in runs),
    )


def _scattered(name: Any, path: str) -> LogError:
    return LogError(
        f"The rows of episode {name!r:.40} do not lie together: it comes back in {shown(path)}. A log on disk is read "
        "in one go: sort its rows by episode, or read it into memory: read_log."
    )
