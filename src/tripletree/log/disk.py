"""Logs on disk: a folder of Parquet files, or one file, that is never read whole; episodes may span files."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_choice, check_number, check_whole, generator
from tripletree.errors import LogError, ParameterError
from tripletree.log.boundaries import FLAGS
from tripletree.log.build import no_number
from tripletree.log.categories import NO_TEXT_VARIES, category_names
from tripletree.log.coerce import Array, as_numbers
from tripletree.log.cutting import EPISODE, cut, keep, read_pieces
from tripletree.log.disk_files import File, files_of, rows_of
from tripletree.log.disk_texts import find_texts
from tripletree.log.disk_times import middle_of, times_told
from tripletree.log.findings import Findings
from tripletree.log.log import Log
from tripletree.log.parts import join_parts
from tripletree.log.roles import ABSENT, Naming, Roles, assign, check_options, chosen_names, listed
from tripletree.log.runs import Index, find_episodes
from tripletree.log.tables import add_column
from tripletree.text import Message, Option, count
from tripletree.writing import shown

I64 = npt.NDArray[np.int64]

HEAD = 20_000
"""Rows that the roles of columns are guessed from."""
EXECUTORS = ("threads", "processes", "dask")
SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
REFUSED = {
    "previous_row": "row pointers",
    "next_row": "row pointers",
}
"""Roles that a log on disk does not have; read_log has them."""


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
    only : Part or None
        Which episodes count, if not all of them.
    middle : float or None
        The number in the middle of the column of times; None where there is no clock.
    weighting : {"log", "episode"} or None
        Whether steps count as the column of weights says, if there is one; so that every episode counts the same; or
        all the same.
    known : list of Index
        Its episodes, once somebody has looked for them.
    """

    path: str
    files: tuple[File, ...]
    columns: tuple[str, ...]
    roles: dict[str, Any]
    features: tuple[str, ...]
    reading: str
    how: Resources
    only: Part | None = None
    middle: float | None = None
    weighting: str | None = "log"
    known: list[Index] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Number of rows in the files."""
        return self.files[-1].begin + self.files[-1].rows

    @property
    def n_samples(self) -> int:
        """Number of steps."""
        return self.n_rows if self.only is None else self.only.n_samples

    @property
    def n_features(self) -> int:
        """Number of state features."""
        return len(self.features)

    @property
    def n_bytes(self) -> int:
        """Size of the files."""
        return sum(file.size for file in self.files)

    @property
    def has_weights(self) -> bool:
        """Whether steps may count differently."""
        return self.weighting == EPISODE or (self.weighting is not None and "weight" in self.roles)

    def weighted(self, weights: str | None) -> DiskLog:
        """Return the log with other weights, as :meth:`Log.weighted` does: ``"episode"``, or None for all the same.

        A weight for each step is a column of the files, which :func:`open_log` is told of: ``weight="importance"``.
        """
        if weights is not None and not (isinstance(weights, str) and weights == EPISODE):
            raise ParameterError(
                Message(
                    "A log on disk takes {} (every episode counts the same) or {} (every step does); got {!r:.60}. "
                    "Weights of steps are a column of its files, named when it is opened: {}.",
                    Option("weights", EPISODE),
                    Option("weights", None),
                    weights,
                    Option("weight", weights if isinstance(weights, str) else "importance"),
                )
            )
        return replace(self, weighting=weights)

    def split(self, validation: float = 0.2, seed: int | np.random.Generator = 0) -> tuple[DiskLog, DiskLog]:
        """Split by whole episodes (or groups), as :meth:`Log.split` does."""
        check_number(validation, "validation", above=0, below=1, example=0.2)
        index = find_episodes(self)
        mine = np.ones(index.n_episodes, bool) if self.only is None else self.only.episodes
        unit = index.keep(mine).units
        if len(unit) < 2:
            raise LogError(
                "A log with one episode cannot be split by episodes. Record more of them, or fit without a validation "
                "log."
            )
        unit = unit if unit.any() else np.arange(len(unit))
        number = int(unit.max()) + 1
        chosen = np.zeros(number, bool)
        chosen[generator(seed).permutation(number)[: min(max(round(validation * number), 1), number - 1)]] = True
        length = np.diff(index.starts)
        found = []
        for side in (~chosen, chosen):
            kept = mine.copy()
            kept[mine] = side[unit]
            found.append(replace(self, only=Part(kept, int(length[kept].sum()))))
        return found[0], found[1]

    def bare(self) -> DiskLog:
        """Return what other processes need to know to read it."""
        return replace(self, how=Resources(), only=None, known=[])

    def pieces(self) -> Iterator[Log]:
        """Iterate over the log in memory, some hundred thousand steps at a time: whole episodes in their order.

        An episode of more than half a million steps comes in several pieces. Labels and kinds of features are those of
        each piece.
        """
        pieces = cut(find_episodes(self))
        pieces = pieces if self.only is None else keep(pieces, self.only.episodes)[0]
        for _, log, _ in read_pieces(self, pieces):
            yield log

    def sample(self, steps: int = 1_000_000, seed: int | np.random.Generator = 0) -> Log:
        """Return whole random episodes of at most so many steps together, as a log in memory.

        For questions that need one, such as stories. All files are read once, a piece at a time.
        """
        check_whole(steps, "steps", 1, example=1_000_000)
        index = find_episodes(self)
        mine = np.arange(index.n_episodes) if self.only is None else np.flatnonzero(self.only.episodes)
        order = generator(seed).permutation(mine)
        chosen = order[np.cumsum(np.diff(index.starts)[order]) <= steps]
        if not len(chosen):
            raise LogError(
                Message(
                    "No episode fits into {}: type {}.",
                    count(steps, "step"),
                    Option("steps", int(np.diff(index.starts)[order[0]])),
                )
            )
        kept = np.zeros(index.n_episodes, bool)
        kept[chosen] = True
        return join_parts([log for _, log, _ in read_pieces(self, keep(cut(index), kept)[0])], self.roles)

    def __len__(self) -> int:
        return self.n_samples

    def __repr__(self) -> str:
        names = ", ".join(self.features[:6]) + ", ..." * (len(self.features) > 6)
        return (
            f"DiskLog({count(self.n_samples, 'sample')} in {count(len(self.files), 'file')}, "
            f"{count(self.n_features, 'feature')}: {names})"
        )


@dataclass(frozen=True, eq=False)
class Part:
    """Some episodes of a log on disk, and their steps together."""

    episodes: npt.NDArray[np.bool_]
    n_samples: int


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
    file. The roles of columns are guessed from the first rows unless given, and columns of text are read once for their
    categories. :meth:`TripleTree.fit` takes such a log, in histogram mode.

    Parameters
    ----------
    source : path
        A folder of Parquet files with the same columns, or one Parquet file.
    memory : int or str, optional
        Bytes to work with at most, such as ``"2GB"``; by default half of what is free, 1.5 GB at most.
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
        As in :meth:`Log.from_dict`: ``episode=``, ``action=``, ``features=[...]``, ``ignore=[...]``, ``missing=``, ...

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
    files, columns_there, told = files_of(path)
    roles = cast(Roles, {**told, **roles})
    findings = Findings(shown(path))
    ignored = [name for name in columns_there if name in listed(roles.get("ignore"))]
    columns_read = [name for name in columns_there if name not in ignored]
    head = rows_of(files, 0, min(files[-1].begin + files[-1].rows, HEAD), columns_read)
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
    feature_names = chosen_names(roles.get("feature_names"), result.features, "feature", findings)
    action_names = chosen_names(roles.get("action_names"), result.action, "action", findings)
    findings.stop_if_failed()
    following: Sequence[str | None] = result.next_columns or [None] * len(result.features)
    features = {
        name: (column, after) for name, column, after in zip(feature_names, result.features, following, strict=True)
    }
    for name, (column, _) in features.items():
        if table[column].dtype.kind in "mM":
            as_numbers(table[column], f"Feature `{name}`", findings, no_number(name, table[column]))
    findings.stop_if_failed()
    text = {name for name, is_text in columns_there.items() if is_text}
    actions = dict(zip(action_names, result.action, strict=True))
    number = files[-1].begin + files[-1].rows

    def tell(done: int) -> None:
        if progress is not None:
            progress("looking at text", done, number, 0, "1 thread")

    texts = find_texts(files, text, base, features, actions, roles, findings, tell)
    features = {name: columns for name, columns in features.items() if name not in texts.aside}
    if not features:
        findings.error("no-features", NO_TEXT_VARIES)
    findings.stop_if_failed()
    explicit: dict[str, Any] = {key: roles[key] for key in roles if key in Naming.__annotations__}  # type: ignore[literal-required]
    explicit |= {"features": [column for column, _ in features.values()], "action": list(result.action) or ABSENT}
    explicit |= {"reward": ABSENT} | result.single
    if result.next_columns:
        explicit["next_state"] = result.next_columns[0].removesuffix(result.features[0])
    if roles.get("feature_names") is not None:
        explicit["feature_names"] = list(features)
    if roles.get("action_names") is not None:
        explicit["action_names"] = list(action_names)
    kinds = {**(explicit.get("kinds") or {}), **texts.kinds}
    if kinds:
        explicit["kinds"] = kinds
    if texts.labels:
        explicit["order"] = list(texts.labels)
    used = {column for pair in features.values() for column in pair}
    kept = {*used, *result.action, *result.single.values()}
    columns = tuple(dict.fromkeys(base[name] for name in table if name in kept))
    names = tuple(one for name in features for one in category_names(name, kinds.get(name)))
    disk = DiskLog(str(path), tuple(files), columns, explicit, names, "", how)
    disk = replace(disk, middle=middle_of(disk))
    clock = times_told(disk)
    return replace(disk, reading=_reading(disk, result.guessed, texts.aside, clock))


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


def _reading(disk: DiskLog, guessed: set[str], aside: Sequence[str], clock: str) -> str:
    lines = [f"Opened {count(disk.n_samples, 'sample')} in {count(len(disk.files), 'file')} of {shown(disk.path)}."]
    for role in ("episode", "step", "time", "dt", "group", "weight", "reward", *FLAGS, "action", "features"):
        columns = disk.features if role == "features" else listed(disk.roles.get(role))
        if columns:
            how = " (guessed)" if role in guessed else ""
            how += f"; {clock}" if role == "time" and clock else ""
            lines.append(f"  {role:<11}  {', '.join(columns[:12])}{', ...' * (len(columns) > 12)}{how}")
    if aside:
        lines.append(f"  {'set aside':<11}  {', '.join(aside)} (always the same text)")
    return "\n".join(lines)
