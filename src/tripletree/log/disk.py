"""Logs on disk: a folder of Parquet files, or one file, that is never read whole; episodes may span files."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_choice, check_whole, did_you_mean, listing
from tripletree.errors import LogError, LogNotFoundError, ParameterError
from tripletree.log.boundaries import FLAGS
from tripletree.log.coerce import Array, as_flags, as_ids, plain
from tripletree.log.findings import Findings
from tripletree.log.frames import OWN
from tripletree.log.log import Log
from tripletree.log.parquet_reader import INSTALL
from tripletree.log.roles import ABSENT, Naming, Roles, assign, check_options, listed
from tripletree.log.schema import Schema
from tripletree.log.sources import Table, library, natural
from tripletree.log.tables import add_column, from_table
from tripletree.text import Message, Option, count
from tripletree.writing import reason, shown

I64 = npt.NDArray[np.int64]

HEAD = 20_000
"""Rows that the roles of columns are guessed from."""
PIECE = 2**18
"""Steps that are worked on at a time; an episode of more than twice as many is cut into pieces."""
BATCH = 2**16
"""Rows that are decoded at a time."""
ENDINGS = (".parquet", ".pq")
EXECUTORS = ("threads", "processes", "dask")
SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
REFUSED = {
    "time": "times",
    "dt": "times",
    "weight": "weights",
    "group": "groups",
    "previous_row": "row pointers",
    "next_row": "row pointers",
}
"""Roles that a log on disk does not have; read_log has them."""


@dataclass(frozen=True)
class File:
    """One file: where it is, its first row in the log, and the rows of its row groups."""

    path: str
    begin: int
    groups: tuple[int, ...]
    size: int
    changed: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.groups)


@dataclass(frozen=True, eq=False, repr=False)
class DiskLog:
    """A log on disk, as :func:`open_log` makes it: only its files' own descriptions and its first rows were read.

    Attributes
    ----------
    path : str
        The folder or file.
    files : tuple of File
        Its files, in natural order.
    columns : tuple of str
        The columns that are read.
    roles : dict
        What each of them is, and how names, units and kinds were given.
    reading : str
        How the first rows were read, in words.
    how : Resources
        Who works on it, and with how much memory.
    """

    path: str
    files: tuple[File, ...]
    columns: tuple[str, ...]
    roles: dict[str, Any]
    features: tuple[str, ...]
    reading: str
    how: Resources

    @property
    def n_samples(self) -> int:
        """Number of steps."""
        return self.files[-1].begin + self.files[-1].rows

    @property
    def n_features(self) -> int:
        """Number of state features."""
        return len(self.features)

    @property
    def n_bytes(self) -> int:
        """Size of the files."""
        return sum(file.size for file in self.files)

    def __len__(self) -> int:
        return self.n_samples

    def __repr__(self) -> str:
        names = ", ".join(self.features[:6]) + ", ..." * (len(self.features) > 6)
        return (
            f"DiskLog({count(self.n_samples, 'sample')} in {count(len(self.files), 'file')}, "
            f"{count(self.n_features, 'feature')}: {names})"
        )


Progress = Callable[[str, int, int, int, str], None]
"""Called with what is done, how much of it is done, the whole, the bytes that it took, and who does it."""


@dataclass(frozen=True)
class Resources:
    """How a log on disk is worked on; the tree is the same whatever they are. See `open_log`."""

    memory: int | None = None
    executor: str = "threads"
    workers: int | None = None
    scheduler: str | None = None
    cache: str | None = None
    sample: int | None = None
    progress: Progress | None = field(default=None, compare=False)


def open_log(
    source: str | os.PathLike[str],
    *,
    memory: int | str | None = None,
    executor: str = "threads",
    workers: int | None = None,
    scheduler: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    sample: int | None = None,
    progress: Progress | None = None,
    **roles: Unpack[Roles],
) -> DiskLog:
    """Open a folder of Parquet files, or one file, as a log that may be larger than memory.

    Rows of an episode must lie one after the other, in the natural order of the files; an episode may go on in the next
    file. The roles of columns are guessed from the first rows unless given. :meth:`TripleTree.fit` takes such a log, in
    histogram mode.

    Parameters
    ----------
    source : path
        A folder of Parquet files with the same columns, or one Parquet file.
    memory : int or str, optional
        Bytes to work with at most, such as ``"2GB"``; by default half of what is free.
    executor : {"threads", "processes", "dask"}
        Who works: threads of this process, processes on this machine, or a Dask cluster on it.
    workers : int, optional
        How many; by default one for each core.
    scheduler : str, optional
        The address of a Dask scheduler that is running, such as ``"tcp://10.0.0.1:8786"``. Its workers must see the
        log and the cache under the same paths.
    cache : path, optional
        A folder for the cache, which then stays for the next time; by default the user's cache folder, and the cache is
        removed at the end.
    sample : int, optional
        Grow on about so many steps only, of whole random episodes, in memory; what leaves know is counted on all steps.
    progress : function, optional
        Called now and then with what is done, how much of it, the whole, bytes, and who does it.
    **roles
        As in :meth:`Log.from_dict`: ``episode=``, ``action=``, ``features=[...]``, ``ignore=[...]``, ...

    Raises
    ------
    LogError
        If there is no Parquet file, one is damaged, or their columns differ.
    MissingDependencyError
        If pyarrow is not installed.
    """
    check_options(roles, Roles)
    check_choice(executor, "executor", EXECUTORS)
    for name, number in (("workers", workers), ("sample", sample)):
        if number is not None:
            check_whole(number, name, 1, example=2 if name == "workers" else 1_000_000)
    how = Resources(
        None if memory is None else read_size(memory, "memory"),
        executor,
        workers,
        scheduler,
        None if cache is None else str(cache),
        sample,
        progress,
    )
    path = Path(source)
    files, names, told = _files(path)
    roles = cast(Roles, {**told, **roles})
    findings = Findings(shown(path))
    if roles.get("missing") is not None or roles.get("gap") is not None:
        raise LogError(
            Message(
                "Gaps are mended in logs that are read into memory: {} and {} cannot be given for a log on disk. Leave "
                "them out, or mend the log first.",
                Option("missing"),
                Option("gap"),
            )
        )
    ignored = [name for name in names if name in listed(roles.get("ignore"))]
    columns_read = [name for name in names if name not in ignored]
    head = _rows(files, 0, min(files[-1].begin + files[-1].rows, HEAD), columns_read)
    table: dict[str, Array] = {}
    base: dict[str, str] = {}
    for name, values in head.items():
        for made in add_column(table, name, values, findings):
            base[made] = name
    result = assign([*table, *ignored], roles, findings, table)
    findings.stop_if_failed()
    for role, what in REFUSED.items():
        if role in result.single:
            column = result.single[role]
            raise LogError(
                Message(
                    "Column `{}` would be read as {}, and a log on disk has no {} yet. Leave it out: {}; or read the "
                    "log into memory: read_log(...).",
                    column,
                    role,
                    what,
                    Option("ignore", [column]),
                )
            )
    explicit: dict[str, Any] = {key: roles[key] for key in roles if key in Naming.__annotations__}  # type: ignore[literal-required]
    explicit |= {"features": list(result.features), "action": list(result.action) or ABSENT}
    explicit |= {"reward": ABSENT} | result.single
    for renamed in ("feature_names", "action_names"):
        if roles.get(renamed) is not None:
            explicit[renamed] = list(listed(cast(Any, roles.get(renamed))))
    kept = {*result.features, *result.action, *result.single.values(), *result.next_columns}
    text = [name for name in result.features if table[name].dtype.kind not in "biuf"]
    if text:
        raise LogError(
            Message(
                "{} {} text, and a log on disk takes numbers as features. Leave out what is no feature: {}; or read "
                "the log into memory: read_log(...).",
                listing(text),
                "holds" if len(text) == 1 else "hold",
                Option("ignore", text),
            )
        )
    columns = tuple(dict.fromkeys(base[name] for name in table if name in kept))
    features = tuple(explicit.get("feature_names") or result.features)
    disk = DiskLog(str(path), tuple(files), columns, explicit, features, "", how)
    return replace(disk, reading=_reading(disk, result.guessed))


def read_size(given: int | str, name: str) -> int:
    """Return a size in bytes.

    >>> read_size("2GB", "memory"), read_size("1.5 GiB", "memory"), read_size(1000, "memory")
    (2000000000, 1610612736, 1000)
    """
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?i?b?)\s*", str(given), re.IGNORECASE)
    unit = "" if match is None else match[2].lower()
    unit = f"{unit}b" if unit and not unit.endswith("b") else unit
    if match is None or unit not in SIZES or not math.isfinite(float(match[1])) or float(match[1]) <= 0:
        raise ParameterError(Message("{} is no size; type {}.", Option(name, given), Option(name, "2GB")))
    return int(float(match[1]) * SIZES[unit])


def _reading(disk: DiskLog, guessed: set[str]) -> str:
    lines = [f"Opened {count(disk.n_samples, 'sample')} in {count(len(disk.files), 'file')} of {shown(disk.path)}."]
    for role in ("episode", "step", "reward", *FLAGS, "action", "features"):
        columns = listed(disk.roles.get(role))
        if columns:
            how = " (guessed)" if role in guessed else ""
            lines.append(f"  {role:<11}  {', '.join(columns[:12])}{', ...' * (len(columns) > 12)}{how}")
    return "\n".join(lines)


def _files(path: Path) -> tuple[list[File], list[str], dict[str, Any]]:
    """Return the files of a log, the columns that all of them have, and the roles that they tell by themselves."""
    arrow = library("pyarrow", "Reading Parquet files", INSTALL)
    parquet = library("pyarrow.parquet", "Reading Parquet files", INSTALL)
    try:
        if not path.exists():
            names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
            raise LogNotFoundError(f"There is no file or folder {shown(path)}.{did_you_mean(path.name, names)}")
        inside = list(path.iterdir()) if path.is_dir() else [path]
    except OSError as error:
        if isinstance(error, LogNotFoundError):
            raise
        raise LogError(f"{shown(path)} cannot be read: {reason(error)}.") from error
    found = [p for p in inside if p.suffix.lower() in ENDINGS and not p.name.startswith(".") and p.is_file()]
    if not found:
        held = f"It holds {listing(sorted(shown(p.name) for p in inside))}" if inside else "It is empty"
        what = "is a folder without a Parquet file" if path.is_dir() else "is no Parquet file"
        raise LogError(
            f"{shown(path)} {what}. {held}. Logs on disk are Parquet; others are read into memory: read_log."
        )
    files: list[File] = []
    first: Any = None
    begin = 0
    for one in sorted(found, key=lambda p: natural(p.name)):
        try:
            with parquet.ParquetFile(one) as opened:
                schema, metadata = opened.schema_arrow, opened.metadata
        except (arrow.ArrowException, ValueError, OSError) as error:
            raise LogError(
                f"{shown(one)} is not a Parquet file, or damaged: {reason(error)}. Write it again, or move it away."
            ) from None
        if first is None:
            first = schema
        _same_columns(path, found[0].name if not files else Path(files[0].path).name, one, first, schema)
        groups = tuple(metadata.row_group(k).num_rows for k in range(metadata.num_row_groups))
        status = one.stat()
        if sum(groups):
            files.append(File(str(one), begin, groups, status.st_size, status.st_mtime_ns))
            begin += sum(groups)
    if not files:
        raise LogError(f"{shown(path)} holds no samples; a log needs at least one step.")
    return files, list(first.names), _own_roles(first)


def _own_roles(schema: Any) -> dict[str, Any]:
    """Return which columns are features and actions, where `Log.to_parquet` has written that down."""
    told = (schema.metadata or {}).get(OWN.encode())
    try:
        content = json.loads(told) if told else None
        known = None if content is None else Schema.from_dict(content)
    except (ValueError, LogError):
        return {}
    if known is None or not set(known.feature_names) <= set(schema.names):
        return {}
    actions = [column for name in known.action.names for column in name.split(", ")]
    return {"features": list(known.feature_names)} | ({"action": actions} if set(actions) <= set(schema.names) else {})


def _same_columns(folder: Path, name: str, file: Path, first: Any, schema: Any) -> None:
    lacking = [column for column in first.names if column not in schema.names]
    extra = [column for column in schema.names if column not in first.names]
    if lacking or extra:
        differs = " and ".join(f"{verb} {listing(n)}" for verb, n in (("lacks", lacking), ("also has", extra)) if n)
        raise LogError(
            f"The files in {shown(folder)} differ: {shown(file.name)} {differs}, compared with {shown(name)}. A folder "
            "is one log: give all files the same columns, or move the others elsewhere."
        )
    for column in first.names:
        here, there = schema.field(column).type, first.field(column).type
        if str(here) != str(there):
            raise LogError(
                f"Column `{column}` holds {there} in {shown(name)} and {here} in {shown(file.name)}; it must hold the "
                "same in all files of a folder."
            )


def iter_rows(files: Sequence[File], start: int, stop: int, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the columns of some rows, a batch at a time; only the row groups in question are decoded."""
    arrow = library("pyarrow", "Reading Parquet files", INSTALL)
    parquet = library("pyarrow.parquet", "Reading Parquet files", INSTALL)
    for file in files:
        if file.begin >= stop or file.begin + file.rows <= start:
            continue
        ends = np.cumsum(file.groups) + file.begin
        some = [k for k, end in enumerate(ends.tolist()) if end > start and end - file.groups[k] < stop]
        at = int(ends[some[0]]) - file.groups[some[0]]
        try:
            with parquet.ParquetFile(file.path, memory_map=True) as opened:
                for batch in opened.iter_batches(BATCH, row_groups=some, columns=list(columns), use_threads=False):
                    low, high = max(start - at, 0), min(stop - at, batch.num_rows)
                    at += batch.num_rows
                    if low < high:
                        part = batch.slice(low, high - low)
                        yield {name: plain(part.column(name)) for name in columns}
                    if at >= stop:
                        break
        except (arrow.ArrowException, ValueError, OSError) as error:
            raise LogError(
                f"{shown(file.path)} is damaged, or was changed while it was read: {reason(error)}. Write it again."
            ) from None


def _rows(files: Sequence[File], start: int, stop: int, columns: Sequence[str]) -> dict[str, Array]:
    """Return the columns of some rows."""
    batches = list(iter_rows(files, start, stop, columns))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in columns}


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
    """

    begins: I64
    ids: Array | None
    first: tuple[Any, Any, Any]
    last: tuple[Any, Any, Any]
    ordered: bool


def find_runs(disk: DiskLog, number: int) -> Runs:
    """Return where episodes begin in a file, as far as the file itself says."""
    file = disk.files[number]
    by_id = disk.roles.get("episode")
    step_column = disk.roles.get("step")
    flags = [disk.roles[role] for role in FLAGS if role in disk.roles]
    columns = [name for name in (by_id, step_column, *flags) if name]
    if not columns or disk.roles.get("endless"):
        return Runs(np.empty(0, np.int64), None, (None, None, None), (None, None, None), True)
    findings = Findings(shown(file.path))
    begins, ids, ordered = [], [], True
    first: tuple[Any, Any, Any] | None = None
    last: tuple[Any, Any, Any] = (None, None, None)
    at = file.begin
    for batch in iter_rows([file], file.begin, file.begin + file.rows, columns):
        name = None if by_id is None else as_ids(np.asarray(batch[by_id]), "`episode`", findings)
        step = None if step_column is None else np.asarray(batch[step_column])
        over = [as_flags(np.asarray(batch[flag]), f"`{flag}`", findings) for flag in flags]
        findings.stop_if_failed()
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
    return Runs(np.concatenate(begins).astype(np.int64), joined, first or last, last, ordered)


@dataclass(frozen=True, eq=False)
class Index:
    """The episodes of a log on disk: their first rows, closed by the number of rows, and their names."""

    starts: I64
    ids: Array

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.ids)


def join_runs(disk: DiskLog, runs: Sequence[Runs]) -> Index:
    """Return the episodes of all files, by the same rules as for a folder that is read into memory."""
    firsts = np.array([file.begin for file in disk.files], np.int64)
    borders = firsts[1:]
    if disk.roles.get("endless"):
        return Index(np.array([0, disk.n_samples]), np.zeros(1, np.int64))
    if disk.roles.get("episode") is not None:
        return _join_ids(disk, runs, firsts)
    if disk.roles.get("step") is not None:
        restarts = [bool(after.first[1] <= before.last[1] or before.last[2]) for before, after in pairwise(runs)]
        borders = borders[np.array(restarts, bool)] if len(borders) else borders
    elif not any(role in disk.roles for role in FLAGS):
        if len(disk.files) == 1:
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
        return Index(np.append(firsts, disk.n_samples), np.array(stems, np.str_))
    begins = np.sort(np.concatenate([[0], borders, *(run.begins for run in runs)])).astype(np.int64)
    return Index(np.append(begins, disk.n_samples), np.arange(len(begins), dtype=np.int64))


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
    index = Index(
        np.append(np.concatenate(starts), disk.n_samples).astype(np.int64),
        joined.astype(np.int64) if joined.dtype.kind in "iu" else np.array(joined.tolist(), np.str_),
    )
    if not all(run.ordered for run in runs) and np.diff(index.starts).max() > 2 * PIECE:
        raise LogError(
            "The steps of a long episode are out of order. Sort its rows, or read the log into memory: read_log."
        )
    return index


def _scattered(name: Any, path: str) -> LogError:
    return LogError(
        f"The rows of episode {name!r:.40} do not lie together: it comes back in {shown(path)}. A log on disk is read "
        "in one go: sort its rows by episode, or read it into memory: read_log."
    )


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of a log on disk: whole episodes, but that the first or the last may be cut.

    Attributes
    ----------
    number, start, stop : int
        Its place among the pieces, and its rows.
    starts, ids : arrays
        The episodes, from ``start`` on.
    before, after : int
        Steps of the first episode before this piece, and of the last one after it; 0 where they are whole.
    """

    number: int
    start: int
    stop: int
    starts: I64
    ids: Array = field(repr=False)
    before: int = 0
    after: int = 0

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.stop - self.start


def cut(index: Index, rows: int | None = None) -> list[Piece]:
    """Divide a log into pieces of about so many rows."""
    rows = PIECE if rows is None else rows
    starts, n = index.starts, int(index.starts[-1])
    pieces: list[Piece] = []
    at = 0
    while at < n:
        first = int(np.searchsorted(starts, at, side="right")) - 1
        inside = int(np.searchsorted(starts, min(at + rows, n), side="right")) - 1
        stop = int(starts[inside])
        if stop - at < rows // 2:
            stop = int(starts[min(inside + 1, index.n_episodes)])
            if stop - at > 2 * rows:
                stop = at + rows
        last = int(np.searchsorted(starts, stop, side="left")) - 1
        local = np.clip(starts[first : last + 2], at, stop) - at
        pieces.append(
            Piece(
                len(pieces),
                at,
                stop,
                local,
                index.ids[first : last + 1],
                at - int(starts[first]),
                int(starts[last + 1]) - stop,
            )
        )
        at = stop
    return pieces


def read_pieces(disk: DiskLog, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, Log]]:
    """Yield pieces that follow each other as logs; of a cut episode the next row's state is the final one."""
    columns = [name for name in disk.columns if name != disk.roles.get("episode")]
    held: list[dict[str, Any]] = []
    have, begin = 0, pieces[0].start
    end = pieces[-1].stop + (pieces[-1].after > 0)
    batches = iter_rows(disk.files, begin, end, columns)
    for piece in pieces:
        wanted = piece.rows + (piece.after > 0)
        while have < wanted:
            batch = next(batches)
            held.append(batch)
            have += len(next(iter(batch.values())))
        table = {name: np.concatenate([batch[name] for batch in held]) for name in columns}
        yield piece, _log_of(disk, piece, {name: column[:wanted] for name, column in table.items()})
        held = [{name: column[piece.rows :] for name, column in table.items()}]
        have -= piece.rows


def _log_of(disk: DiskLog, piece: Piece, columns: Mapping[str, Array]) -> Log:
    roles = {key: value for key, value in disk.roles.items() if key not in ("episode", "endless", "success")}
    more = piece.after > 0
    starts = np.append(piece.starts, piece.rows + 1) if more else piece.starts
    ids = np.arange(len(starts) - 1)
    findings = Findings(f"{shown(disk.path)}, rows {piece.start:,} to {piece.stop:,}")
    source = Table(list(columns), list(columns.values()), shown(disk.path), starts=starts[:-1], ids=ids)
    fields = from_table(source, cast(Roles, roles), findings)
    fields.pop("reading", None)
    if not np.array_equal(fields["starts"], starts):
        raise LogError(
            f"Values are missing in rows {piece.start:,} to {piece.stop:,} of {shown(disk.path)}. In memory (read_log) "
            "such episodes are divided or mended; a log on disk must have all of them. Leave such rows or columns out."
        )
    finals, endings = fields["final_states"], fields["endings"].copy()
    if disk.roles.get("endless"):
        endings[:] = 2
    if more:
        n = piece.rows
        finals = np.concatenate([finals[:-2], fields["states"][n:]])
        fields |= {name: fields[name][:n] for name in ("states", "actions", "rewards")}
        endings = endings[:-1]
        endings[-1] = 0
    return Log(
        **(fields | {"starts": piece.starts, "final_states": finals, "endings": endings, "episode_ids": piece.ids})
    )
