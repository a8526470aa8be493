"""Pieces of a log on disk: whole episodes as far as they are short enough, and each read as a log of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.log.coerce import Array, as_numbers
from tripletree.log.disk_files import iter_rows
from tripletree.log.disk_gaps import Mending, mended_rows
from tripletree.log.disk_holes import columns_of, sources_of
from tripletree.log.disk_times import clock_of, given_steps
from tripletree.log.endings import TRUNCATED, UNKNOWN
from tripletree.log.findings import Findings
from tripletree.log.gaps import row_of
from tripletree.log.log import Log
from tripletree.log.roles import Roles
from tripletree.log.runs import Index
from tripletree.log.sources import Table
from tripletree.log.tables import from_table
from tripletree.writing import shown

if TYPE_CHECKING:
    from tripletree.log.disk import DiskLog

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

PIECE = 2**18
"""Steps that are worked on at a time; an episode of more than twice as many is cut into pieces."""
EPISODE = "episode"
"""The weights with which every episode counts the same."""
ELSEWHERE = ("episode", "endless", "success", "group", "time", "dt", "weight", "gap", "order", "missing")
"""What the whole log tells, and a piece by itself does not."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of a log on disk: whole episodes, but that the first or the last may be cut.

    Attributes
    ----------
    number, start, stop : int
        Its place among the pieces, and its rows among those of the log.
    starts, ids : arrays
        The episodes, from ``start`` on.
    before, after : int
        Steps of the first episode before this piece, and of the last one after it; 0 where they are whole.
    groups, group_name, cut, usual
        Those of the episodes, and the seconds of a step where they are not known; as in `Index`.
    place : (int, int)
        The rows of the files that it is read from, and the one after it where its last episode goes on.
    left_out : int64 array
        Those of them that are none of the log.
    mending : Mending or None
        How its rows are read, where values are missing in the log.
    held : Held or None
        Where only some episodes of the files count: the piece that they are part of.
    """

    number: int
    start: int
    stop: int
    starts: I64
    ids: Array = field(repr=False)
    before: int = 0
    after: int = 0
    groups: Array | None = field(default=None, repr=False)
    group_name: str = "group"
    cut: npt.NDArray[np.bool_] | None = field(default=None, repr=False)
    usual: float = 1.0
    place: tuple[int, int] = (0, 0)
    left_out: I64 = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    mending: Mending | None = None
    held: Held | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.stop - self.start

    @property
    def begin(self) -> int:
        """The first row in the files that it is read from."""
        return self.place[0] if self.held is None else self.held.whole.place[0]


@dataclass(frozen=True, eq=False)
class Held:
    """A piece of the whole log, and which of its episodes count."""

    whole: Piece
    kept: npt.NDArray[np.bool_]


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
        after = int(starts[last + 1]) - stop
        episodes = slice(first, last + 1)
        place = int(row_of(at, index.left_out)), int(row_of(stop - (after == 0), index.left_out)) + 1
        mending = index.mending
        if mending is not None:
            # The final state of the last episode may be in the row after it.
            place = place[0], place[1] + int(after == 0 and mending.shown[last])
            mending = mending.part(episodes, (at, stop), place, after > 0)
        pieces.append(
            Piece(
                len(pieces),
                at,
                stop,
                local,
                index.ids[episodes],
                at - int(starts[first]),
                after,
                None if index.groups is None else index.groups[episodes],
                index.group_name,
                None if index.cut is None else index.cut[episodes],
                index.usual,
                place,
                index.left_out[slice(*np.searchsorted(index.left_out, place))],
                mending,
            )
        )
        at = stop
    if not index.ordered and any(piece.before for piece in pieces):
        raise LogError(
            "The steps of a long episode are out of order. Sort its rows, or read the log into memory: read_log."
        )
    return pieces


def keep(pieces: Sequence[Piece], kept: npt.NDArray[np.bool_]) -> tuple[list[Piece], list[Piece]]:
    """Return the same with some episodes only, numbered as if there were no others; and those without any of them."""
    found: list[Piece] = []
    without: list[Piece] = []
    episode = row = 0
    for piece in pieces:
        first = episode - (piece.before > 0)
        episode = first + len(piece.ids)
        here = kept[first:episode]
        length = np.diff(piece.starts)[here]
        if not here.any():
            without.append(piece)
            continue
        starts = np.append(0, np.cumsum(length))
        stop = row + int(starts[-1])
        before, after = piece.before * bool(here[0]), piece.after * bool(here[-1])
        found.append(Piece(len(found), row, stop, starts, piece.ids[here], before, after, held=Held(piece, here)))
        row = stop
    return found, without


def read_pieces(disk: DiskLog, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, Log, Log]]:
    """Yield pieces that follow each other as logs, of the episodes that count and of all of theirs.

    Of a cut episode the next row's state is the final one.
    """
    for piece, log in _read([piece if piece.held is None else piece.held.whole for piece in pieces], disk):
        mine = pieces[piece[0]]
        yield mine, log if mine.held is None or mine.held.kept.all() else log.select(mine.held.kept), log


def _read(pieces: Sequence[Piece], disk: DiskLog) -> Iterator[tuple[tuple[int, Piece], Log]]:
    elsewhere = [disk.roles.get(role) for role in ("episode", "group")]
    columns = [name for name in disk.columns if name not in elsewhere]
    held: list[dict[str, Any]] = []
    have, begin, mending = 0, pieces[0].place[0], pieces[0].mending
    known = None
    if mending is not None and mending.carried is not None:
        begin, known = mending.carried[0]
    batches = iter_rows(disk.files, begin, pieces[-1].place[1], columns)
    if mending is not None:
        recorded = np.unique(np.concatenate([piece.mending.starts for piece in pieces if piece.mending is not None]))
        batches = mended_rows(disk, batches, begin, known, recorded, mending.lacking)
    for number, piece in enumerate(pieces):
        rows = slice(piece.place[0] - begin, piece.place[1] - begin)
        while have < rows.stop:
            batch = next(batches)
            held.append(batch)
            have += len(next(iter(batch.values())))
        table = {name: np.concatenate([batch[name] for batch in held]) for name in held[0]}
        yield (number, piece), _log_of(disk, piece, {name: column[rows] for name, column in table.items()})
        # The row after a cut is the first one of the next piece.
        rest = rows.stop - (piece.after > 0)
        held = [{name: column[rest:] for name, column in table.items()}]
        have -= rest
        begin += rest


def _log_of(disk: DiskLog, piece: Piece, columns: Mapping[str, Array]) -> Log:
    """Return a piece as a log, given its rows of the files."""
    roles = {key: value for key, value in disk.roles.items() if key not in ELSEWHERE}
    n, more, episodes = piece.rows, piece.after > 0, len(piece.ids)
    lost = piece.left_out - piece.place[0]
    here = {name: np.delete(column, lost, 0) if len(lost) else column for name, column in columns.items()}
    weights = _weights(disk, piece, here, lost)
    seconds = _seconds(disk, piece, here)
    if seconds is not None:
        # By a name of its own; a feature may be called dt.
        roles["dt"] = next(name for k in range(len(here) + 1) if (name := "dt" + "_" * k) not in here)
        here[roles["dt"]] = seconds
    starts = np.append(piece.starts, n + 1) if more else piece.starts
    ended = np.empty(0, np.int64) if piece.mending is None else np.flatnonzero(piece.mending.shown)
    if piece.mending is not None:
        for role, rows in piece.mending.moved.items():
            here[disk.roles[role]] = here[disk.roles[role]].copy()
            here[disk.roles[role]][rows] = True
    if len(ended):
        # Rows that are final states come along at the end, each as an episode.
        after = row_of(piece.starts[ended + 1] - 1, lost) + 1
        here = _with_rows(disk, here, {name: column[after] for name, column in columns.items()})
        starts = np.append(starts, n + more + 1 + np.arange(len(ended)))
    where = f"rows {piece.place[0]:,} to {piece.place[1] - more:,}"
    findings = Findings(f"{shown(disk.path)}, {where}")
    ids = np.arange(len(starts) - 1)
    source = Table(list(here), list(here.values()), shown(disk.path), starts=starts[:-1], ids=ids)
    fields = from_table(source, cast(Roles, roles), findings)
    fields.pop("reading", None)
    if not np.array_equal(fields["starts"], starts):
        raise LogError(
            f"Values are missing in {where} of {shown(disk.path)} that were there before. Was the log changed while it "
            "was read? Start again."
        )
    finals, endings = fields["final_states"][:episodes].copy(), fields["endings"][:episodes].copy()
    finals[ended] = fields["states"][n + more :]
    if disk.roles.get("endless"):
        endings[:] = TRUNCATED
    if piece.cut is not None:
        endings[piece.cut] = TRUNCATED
    if more:
        finals[-1] = fields["states"][n]
        endings[-1] = UNKNOWN
    timed = () if seconds is None else ("dt",)
    fields |= {name: fields[name][:n] for name in ("states", "actions", "rewards", *timed)}
    fields |= {"starts": piece.starts, "final_states": finals, "endings": endings, "episode_ids": piece.ids}
    if weights is not None:
        fields["weights"] = weights
    if piece.groups is not None:
        fields |= {"groups": piece.groups, "group_name": piece.group_name}
    return Log(**fields)


def _with_rows(disk: DiskLog, columns: Mapping[str, Array], more: Mapping[str, Array]) -> dict[str, Array]:
    """Return columns with the states of more rows, in which actions, rewards and seconds are those of the first row."""
    done = [column.name for column in columns_of(disk) if not column.of_state]
    same = {*sources_of(disk, [name for name in done if name not in columns]), *done, *(columns.keys() - more.keys())}
    number = len(next(iter(more.values())))
    return {
        name: np.concatenate([column, np.repeat(column[:1], number, axis=0) if name in same else more[name]])
        for name, column in columns.items()
    }


def _weights(disk: DiskLog, piece: Piece, columns: dict[str, Array], lost: I64) -> F64 | None:
    """Return how much each row of a piece counts, by a column that is taken out of its columns, or by its episodes."""
    column = disk.roles.get("weight")
    found = None if column is None else columns.pop(column)[: piece.rows]
    if disk.weighting == EPISODE:
        here = np.diff(piece.starts)
        lengths = here.copy()
        lengths[0] += piece.before
        lengths[-1] += piece.after
        return np.repeat(1.0 / lengths, here)
    if found is None or disk.weighting is None:
        return None
    findings = Findings(shown(disk.path))
    numbers = as_numbers(found, f"The weight `{column}`", findings)
    findings.stop_if_failed()
    weights = np.asarray(numbers, np.float64)
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        first = int(bad.argmax())
        row = piece.place[0] + int(row_of(np.array([first]), lost)[0])
        raise LogError(
            f"The weight `{column}` holds {weights[first]:g} in row {row:,}; weights are finite, at least 0, and not "
            "all 0."
        )
    return weights


def _seconds(disk: DiskLog, piece: Piece, columns: dict[str, Array]) -> Array | None:
    """Return the seconds from each row of a piece to the next, by its times, which are taken out of its columns."""
    time, given = disk.roles.get("time"), disk.roles.get("dt")
    column = None if given is None else columns.pop(given)
    clock = None if time is None else clock_of(disk)
    if clock is None:
        seconds = None if column is None else given_steps(disk, column)
        return None if seconds is None else np.where(np.isnan(seconds), piece.usual, seconds)
    times = clock.times(columns.pop(clock.column), piece.place[0])
    seconds = np.append(times.between(np.arange(len(times.values))), piece.usual)
    # What follows an episode's last row was not recorded, so neither was when.
    ends = piece.starts[1:] - 1
    seconds[ends[:-1] if piece.after else ends] = piece.usual
    return seconds
