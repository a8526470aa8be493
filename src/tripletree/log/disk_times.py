"""The times of a log on disk: where episodes are divided, and how long steps are, found in passes over one column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.log.boundaries import FLAGS
from tripletree.log.coerce import Array, as_array
from tripletree.log.disk_files import iter_rows, rows_of
from tripletree.log.findings import Findings
from tripletree.log.gaps import MOST_STEPS, limit_of, row_of, say_gaps, say_twice
from tripletree.log.ranks import Ranks
from tripletree.log.times import Times, read_dt, read_times
from tripletree.text import count, plural
from tripletree.writing import shown

if TYPE_CHECKING:
    from tripletree.log.disk import DiskLog
    from tripletree.log.runs import Index

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Common = TypeVar("Common")
Result = TypeVar("Result")

LOOKING = "looking at times"
MOST_LEFT_OUT = 2**23
"""Rows that are none of the log: they are kept track of one by one."""


class Each(Protocol):
    """Does a task for every file; returns the results in the order of the files."""

    def __call__(self, what: str, task: Callable[[Common, int], Result], common: Common) -> list[Result]:
        """Do the task, which ``what`` calls by a name for the user."""


@dataclass(frozen=True, eq=False)
class Clock:
    """When the rows of a log were, or what their steps are called where only ``gap`` is asked for.

    Attributes
    ----------
    disk : DiskLog
        The log.
    column : str
        The column of times, or of steps.
    counts : bool
        Whether it holds steps.
    middle : float
        The number in the middle of the column, which shows whether numbers are seconds or milliseconds.
    starts : int64 array
        The first row of each episode; the number of rows may close them.
    before : list
        For each file, the time of the row before its first one; empty where there is none.
    limit : float
        Steps that are longer are gaps.
    left_out : int64 array
        Rows that are none of the log: steps lead over them.
    """

    disk: DiskLog
    column: str
    counts: bool
    middle: float
    starts: I64
    before: list[Array] = field(default_factory=list)
    limit: float = np.inf
    left_out: I64 = field(default_factory=lambda: np.empty(0, np.int64))

    def times(self, column: Any, first: int) -> Times:
        """Return the times of some rows, the first of which has this number."""
        findings = Findings(shown(self.disk.path))
        array = as_array(column, f"Column `{self.column}`", findings)
        times = None
        if array is not None and self.counts:
            times = Times(array.astype(np.int64) if array.dtype.kind in "ui" else array, 1.0, "", "steps")
        elif array is not None:
            times = read_times(array, self.column, findings, first, self.middle)
        findings.stop_if_failed()
        if times is None:
            raise ValueError("no times, and no error")
        return times

    def steps(self, number: int) -> Iterator[tuple[I64, F64]]:
        """Yield the steps inside the episodes of a file, some at a time: the rows that they lead to, and how long."""
        file = self.disk.files[number]
        last, at = self.before[number], file.begin
        for batch in iter_rows([file], file.begin, file.begin + file.rows, [self.column]):
            times = self.times(batch[self.column], at)
            until = at + len(times.values)
            lost = self.left_out[slice(*np.searchsorted(self.left_out, (at, until)))]
            rows = np.delete(np.arange(at, until), lost - at)
            values = np.concatenate([last, np.delete(times.values, lost - at)])
            seconds = replace(times, values=values).between(np.arange(len(values)))
            rows = rows[len(rows) - len(seconds) :]
            begins = self.starts[slice(*np.searchsorted(self.starts, (rows[0] if len(rows) else until, until)))]
            inside = np.ones(len(rows), bool)
            inside[np.searchsorted(rows, begins)] = False
            yield rows[inside].astype(np.int64), seconds[inside]
            last, at = values[-1:], until

    def joined(self, each: Each) -> Clock:
        """Return the same with the times before the files."""
        ends = each(LOOKING, find_ends, self)
        before = [ends[0][:0]]
        for end in ends[:-1]:
            before.append(end if len(end) else before[-1])
        return replace(self, before=before)


def find_ends(clock: Clock, number: int) -> Array:
    """Return the time of a file's last row; nothing where all of its rows are left out."""
    file = clock.disk.files[number]
    end = file.begin + file.rows
    last = max(int(row_of(end - np.searchsorted(clock.left_out, end) - 1, clock.left_out)), file.begin)
    values = clock.times(rows_of([file], last, last + 1, [clock.column])[clock.column], last).values
    return values[: int(last not in clock.left_out)]


def count_steps(clock: Clock, number: int) -> tuple[int, int, int, int, int]:
    """Return how many steps of a file go on, stand still and go back; and the first rows that do the latter two."""
    forward = same = back = 0
    first_same = first_back = -1
    for rows, seconds in clock.steps(number):
        forward += int(np.count_nonzero(seconds > 0))
        if not same and (seconds == 0).any():
            first_same = int(rows[seconds == 0][0])
        if not back and (seconds < 0).any():
            first_back = int(rows[seconds < 0][0])
        same += int(np.count_nonzero(seconds == 0))
        back += int(np.count_nonzero(seconds < 0))
    return forward, same, back, first_same, first_back


def sample_steps(common: tuple[Clock, list[int], int], number: int) -> F64:
    """Return every so many-th of the steps that go on; of the whole log, not of the file."""
    clock, before, stride = common
    at, found = before[number], []
    for _, seconds in clock.steps(number):
        forward = seconds[seconds > 0]
        found.append(forward[-at % stride :: stride])
        at += len(forward)
    return np.concatenate(found)


def find_cuts(clock: Clock, number: int) -> tuple[I64, float, I64]:
    """Return where a file's episodes are divided, the longest gap, and which rows stand still."""
    cuts, longest, again = [], 0.0, []
    for rows, seconds in clock.steps(number):
        far = seconds > clock.limit
        cuts.append(rows[far | (seconds < 0)])
        again.append(rows[seconds == 0])
        longest = max(longest, float(seconds[far].max(initial=0.0)))
    return np.concatenate(cuts), longest, np.concatenate(again)


def rank_steps(common: tuple[Clock, Ranks], number: int) -> I64:
    """Count the steps by what their places depend on next."""
    clock, ranks = common
    parts = (seconds[seconds > 0] for _, seconds in clock.steps(number))
    found: I64 = np.sum([ranks.counted(part) for part in parts], axis=0)
    return found


def count_given(common: tuple[DiskLog, I64], number: int) -> tuple[int, int]:
    """Return how many of the times to the next row are known, and how many are missing."""
    known = missing = 0
    for seconds in _given(*common, number):
        lost = int(np.count_nonzero(np.isnan(seconds)))
        known, missing = known + len(seconds) - lost, missing + lost
    return known, missing


def rank_given(common: tuple[DiskLog, I64, Ranks], number: int) -> I64:
    """Count the known times to the next row by what their places depend on next."""
    disk, left_out, ranks = common
    parts = (seconds[~np.isnan(seconds)] for seconds in _given(disk, left_out, number))
    found: I64 = np.sum([ranks.counted(part) for part in parts], axis=0)
    return found


def _given(disk: DiskLog, left_out: I64, number: int) -> Iterator[F64]:
    file, name = disk.files[number], disk.roles["dt"]
    at = file.begin
    for batch in iter_rows([file], file.begin, file.begin + file.rows, [name]):
        seconds = given_steps(disk, batch[name])
        lost = left_out[slice(*np.searchsorted(left_out, (at, at + len(seconds))))]
        yield np.delete(seconds, lost - at)
        at += len(seconds)


def given_steps(disk: DiskLog, column: Any) -> F64:
    """Return the seconds to the next row that a column holds, NaN where they are missing."""
    findings, name = Findings(shown(disk.path)), disk.roles["dt"]
    array = as_array(column, f"Column `{name}`", findings)
    seconds = None if array is None else read_dt(array, name, findings)
    findings.stop_if_failed()
    if seconds is None:
        raise ValueError("no times, and no error")
    return seconds


def clock_of(disk: DiskLog, starts: I64 | None = None) -> Clock | None:
    """Return the clock of a log; None where it has none, and no gap of steps is asked for."""
    if disk.middle is None:
        return None
    time = disk.roles.get("time")
    column = disk.roles["step"] if time is None else time
    return Clock(disk, column, time is None, disk.middle, np.zeros(0, np.int64) if starts is None else starts)


def middle_of(disk: DiskLog) -> float | None:
    """Return the number in the middle of the column of times, 0 for dates; None for a log without a clock."""
    time, step = disk.roles.get("time"), disk.roles.get("step")
    column = time if time is not None or disk.roles.get("gap") is None else step
    if column is None:
        return None
    row = disk.n_rows // 2
    middle = np.asarray(rows_of(disk.files, row, row + 1, [column])[column])
    if middle.dtype.kind in "iuf":
        return float(middle[0])
    return None if time is None else 0.0


def times_told(disk: DiskLog) -> str:
    """Return what the times of a log are, for the user; empty where it has none."""
    clock = clock_of(disk)
    if clock is None or clock.counts:
        return ""
    row = disk.n_rows // 2
    told = clock.times(rows_of(disk.files, row, row + 1, [clock.column])[clock.column], row).told
    return f"times are {told}, derivatives are per second"


@dataclass(frozen=True, eq=False)
class Looked:
    """What the times of a log say: the rows before which episodes are divided, and those that repeat a time.

    ``clock`` is None for a log without one, and ``goes_on`` tells whether any step of it does.
    """

    clock: Clock | None = None
    cuts: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    again: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    goes_on: bool = False


def look_at_times(disk: DiskLog, index: Index, each: Each, findings: Findings) -> Looked:
    """Return where nothing was recorded for a while, and which rows repeat the time of the row before."""
    clock = clock_of(disk, index.starts)
    if clock is None:
        return Looked()
    gap, what = disk.roles.get("gap"), LOOKING
    clock = clock.joined(each)
    counted = each(what, count_steps, clock)
    forward = [part[0] for part in counted]
    same, back = sum(part[1] for part in counted), sum(part[2] for part in counted)
    # A step that is there twice is an error, which the pieces tell.
    same = 0 if clock.counts else same
    if same > MOST_LEFT_OUT:
        raise LogError(
            f"{count(same, 'row')} {plural(same, 'has', 'have')} the `{clock.column}` of the row before in the same "
            f"episode. Only the first row of each time is used, and on disk at most {MOST_LEFT_OUT:,} others are left "
            "out in this way. Give times with more digits, every episode its own id, or read it into memory: read_log."
        )
    if not index.ordered or (back and _sorts(disk)):
        where = f", first in row {next(part[4] for part in counted if part[2]):,}" if back else ""
        raise LogError(
            f"The rows of episodes are not in the order of their times{where}. A log on disk is read in one go: sort "
            "the rows of each episode, or read it into memory: read_log."
        )
    total = sum(forward)
    found = Looked(clock, goes_on=total > 0)
    if same:
        say_twice(same, next(part[3] for part in counted if part[1]), findings)
    if total and gap is None:
        before = np.append(0, np.cumsum(forward))[:-1].tolist()
        stride = -(-total // MOST_STEPS)
        clock = replace(clock, limit=limit_of(np.concatenate(each(what, sample_steps, (clock, before, stride)))))
    elif total:
        clock = replace(clock, limit=float(disk.roles["gap"]))
    if total or same:
        parts = each(what, find_cuts, clock)
        found = replace(found, again=np.concatenate([part[2] for part in parts]) if same else found.again)
        if total:
            found = replace(found, cuts=np.concatenate([part[0] for part in parts]))
        if len(found.cuts):
            longest, unit = max(part[1] for part in parts), "steps" if clock.counts else "s"
            say_gaps(len(found.cuts), back, int(found.cuts[0]), longest, clock.limit, unit, gap, findings)
    return found


def usual_step(disk: DiskLog, index: Index, looked: Looked, each: Each) -> float:
    """Return the median of the seconds of a step, given the episodes as they are divided; 1 where none is known."""
    lost = index.left_out
    if looked.clock is not None and not looked.clock.counts:
        # No step inside a part of an episode stands still or goes back, if any goes on.
        known = int(index.starts[-1]) - index.n_episodes if looked.goes_on else 0
        clock = replace(looked.clock, starts=row_of(index.starts[:-1], lost), left_out=lost)
        # The time of the row before is also that of rows which only repeat it.
        clock = clock.joined(each) if len(lost) > len(looked.again) else clock
        return _median(known, lambda ranks: each(LOOKING, rank_steps, (clock, ranks))) if known else 1.0
    if disk.roles.get("dt") is not None and disk.roles.get("time") is None:
        found = each(LOOKING, count_given, (disk, lost))
        known = sum(there for there, _ in found)
        if known and any(missing for _, missing in found):
            return _median(known, lambda ranks: each(LOOKING, rank_given, (disk, lost, ranks)))
    return 1.0


def _sorts(disk: DiskLog) -> bool:
    """Return whether times put the rows of episodes in order, as `log.build` lets them."""
    if disk.roles.get("time") is None or disk.roles.get("step") is not None or disk.roles.get("endless"):
        return False
    alone = len(disk.files) == 1 and disk.roles.get("episode") is None
    return not (alone and any(role in disk.roles for role in FLAGS))


def _median(known: int, counted: Callable[[Ranks], list[I64]]) -> float:
    """Return the median of so many numbers, which are counted by their bits in passes."""
    ranks = Ranks.of([(known - 1) // 2, known // 2])
    while not ranks.found:
        ranks = ranks.narrowed(np.sum(counted(ranks), axis=0))
    return float(np.mean(ranks.numbers))
