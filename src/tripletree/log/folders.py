"""A folder of tables as one table: its files in natural order, and whether episodes go on from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tripletree.checks import listing
from tripletree.errors import LogError
from tripletree.log.boundaries import FLAGS, Markers
from tripletree.log.coerce import Array, as_array, as_flags, sort_of
from tripletree.log.findings import Findings
from tripletree.log.sources import Table, natural
from tripletree.text import Message, Option, count
from tripletree.writing import shown


def read_folder(folder: Path, files: Sequence[Path], read: Callable[[Path], Table]) -> Table:
    """Return the rows of all files, one file after the other; raises LogError where their columns differ."""
    ordered = sorted(files, key=lambda file: natural(file.name))
    tables = [read(file) for file in ordered]
    first = tables[0]
    for file, table in zip(ordered[1:], tables[1:], strict=True):
        lacking = [name for name in first.names if name not in table.names]
        extra = [name for name in table.names if name not in first.names]
        if lacking or extra:
            differs = " and ".join(
                f"{verb} {listing(names)}" for verb, names in (("lacks", lacking), ("also has", extra)) if names
            )
            raise LogError(
                f"The files in {shown(folder)} differ: {shown(file.name)} {differs}, compared with "
                f"{shown(ordered[0].name)}. A folder is read as one log: give all files the same columns, or move the "
                "others elsewhere."
            )
    columns = [
        _joined([table.columns[table.names.index(name)] for table in tables], name, ordered) for name in first.names
    ]
    lengths = [len(table.columns[0]) for table in tables]
    starts = np.cumsum([0, *lengths[:-1]]).tolist()
    names = [shown(file.name) for file in ordered]
    return Table(
        list(first.names),
        columns,
        f"{count(len(files), 'file')} in {shown(folder)}",
        files=list(zip(names, starts, strict=True)),
    )


def _joined(parts: Sequence[Array], name: str, files: Sequence[Path]) -> Array:
    parts = [np.asarray(part) for part in parts]
    if len({(part.dtype.kind == "O", part.shape[1:]) for part in parts}) > 1:
        # Numbers beside what is missing, such as flags or lists, come as objects.
        known = [as_array(part, f"Column `{name}`", Findings()) for part in parts]
        parts = [part if made is None else made for part, made in zip(parts, known, strict=True)]
    for file, part in zip(files, parts, strict=True):
        if sort_of(part) != sort_of(parts[0]) or part.shape[1:] != parts[0].shape[1:]:
            here, there = (f"{sort_of(array)} of shape {array.shape[1:] or 'one'} a row" for array in (part, parts[0]))
            if part.shape[1:] == parts[0].shape[1:]:
                here, there = sort_of(part), sort_of(parts[0])
            raise LogError(
                f"Column `{name}` holds {there} in {shown(files[0].name)} and {here} in {shown(file.name)}; it must "
                "hold the same in all files of a folder."
            )
    return np.concatenate(parts)


def join_files(markers: Markers, files: Sequence[tuple[str, int]], n: int, findings: Findings) -> Markers:
    """Return the markers of rows that come from several files, with ids of episodes that tell the files apart.

    An episode goes on in the next file if its id does and the step counter goes on; without an episode column, if the
    step counter goes on. Otherwise every file begins an episode. What was decided is a note among the findings.
    """
    if len(files) < 2 or markers.previous_row is not None or markers.next_row is not None or markers.starts is not None:
        return markers
    first = np.array([row for _, row in files])
    begins = np.zeros(n, bool)
    begins[first] = True
    if markers.episode is not None:
        return _by_ids(markers, files, findings)
    flags = [
        flag
        for role in FLAGS
        if (column := getattr(markers, role)) is not None and (flag := as_flags(column, role, Findings())) is not None
    ]
    step = markers.step
    if step is None or step.dtype.kind == "O":
        if not flags:
            findings.note(
                "files",
                f"Each of the {len(files)} files is one episode: no column says otherwise.",
                Message("If the rows have an episode, type {}.", Option("episode", "...")),
            )
            names = np.empty(n, object)
            for (name, row), end in zip(files, [*first[1:].tolist(), n], strict=True):
                names[row:end] = name.rpartition(".")[0] or name
            return replace(markers, episode=names)
        findings.note(
            "files",
            f"An episode ends where a flag is set, and at the end of each of the {len(files)} files.",
            Message(
                "If episodes go on in the next file, give {} or {}.", Option("episode", "..."), Option("step", "...")
            ),
        )
    else:
        restarts = step[first[1:]] <= step[first[1:] - 1]
        begins[first[1:]] = restarts
        begins[1:] |= step[1:] <= step[:-1]
        going = int((~restarts).sum())
        findings.note("files", f"{_going_on(going, len(files))}: that is where the step counter does not start again.")
    for flag in flags:
        begins[1:] |= flag[:-1]
    begins[0] = True
    return replace(markers, episode=np.cumsum(begins) - 1)


def _by_ids(markers: Markers, files: Sequence[tuple[str, int]], findings: Findings) -> Markers:
    """Keep ids as they are if each stands for one episode; where files count from the beginning, tell them apart."""
    ids: Any = markers.episode
    n = len(ids)
    first = [row for _, row in files]
    owners: dict[Any, int] = {}
    shared: list[tuple[Any, int, int]] = []
    for number, (row, end) in enumerate(zip(first, [*first[1:], n], strict=True)):
        block = ids[row:end]
        for name in dict.fromkeys(block[np.append(True, block[1:] != block[:-1])].tolist()):
            if name in owners:
                shared.append((name, owners[name], number))
            owners[name] = number
    if not shared:
        return markers
    goes_on = all(_continues(markers, first, n, *pair) for pair in shared)
    if goes_on:
        going = len({number for _, _, number in shared})
        findings.note("files", f"{_going_on(going, len(files))}: the episode's id and step go on there.")
        return markers
    example = shared[0][0]
    findings.note(
        "files",
        f"The {len(files)} files share ids of episodes ({example!r:.40} is in more than one), and their steps start "
        "again: episodes of different files are kept apart.",
        Message("If an id stands for one episode in all files, give {}.", Option("step", "...")),
    )
    names = np.empty(n, object)
    for (name, row), end in zip(files, [*first[1:], n], strict=True):
        stem = name.rpartition(".")[0] or name
        names[row:end] = [f"{stem}/{one}" for one in ids[row:end].tolist()]
    return replace(markers, episode=names)


def _continues(markers: Markers, first: Sequence[int], n: int, name: Any, earlier: int, later: int) -> bool:
    """Return whether the rows of an id in one file go on with those of the same id in an earlier one."""
    ids: Any = markers.episode
    ends = [*first[1:], n]
    before, after = slice(first[earlier], ends[earlier]), slice(first[later], ends[later])
    if markers.step is None:
        # Without steps, only what is last in one file and first in the next can be one episode.
        return bool(later == earlier + 1 and ids[ends[earlier] - 1] == name and ids[first[later]] == name)
    step = markers.step
    return bool(step[after][ids[after] == name].min() > step[before][ids[before] == name].max())


def _going_on(number: int, files: int) -> str:
    if not number:
        return f"Every one of the {files} files begins an episode"
    return f"An episode goes on from one file to the next at {count(number, 'place')} between {files} files"
