"""What work on a log on disk will take, told before it begins, and how it is shared out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripletree.errors import ParameterError
from tripletree.log.cutting import EPISODE, PIECE
from tripletree.log.disk import DiskLog
from tripletree.log.parquet_reader import INSTALL
from tripletree.log.roles import listed
from tripletree.log.sources import library
from tripletree.model.fit import ROWS_SORTED, available_cores
from tripletree.text import Message, Option, count
from tripletree.tree.edges import SAMPLE

BYTES_A_STEP = 400
"""Of memory, while a piece is worked on: its columns, the log, and what is made of it."""
WHERE = 6
"""Bytes of each step while a tree grows: the target of its value, and the node that it is at."""
WEIGHING = 4
"""Bytes more of each step then, where steps have weights: what these are rounded to."""
LENGTH = 100
"""Steps of an episode, for a guess at how many there are."""
BASE, DECODING, LEAST = 26 * 10**7, 24 * 10**5, 10**8
"""Bytes of memory that the program takes, that each worker takes for a column to decode, and for the work at least."""
FEWEST = 6
"""Histograms that growth cannot do without."""
USUAL = 15 * 10**8
"""Bytes of memory to work with, where nobody says otherwise: more makes little difference."""
EPISODES = 2**20
"""Steps of whole random episodes that are in memory for what needs them there: linear models, the track, the chain."""
NANOSECONDS = 1_200
"""Of a processor for each step of 8 features and 500 leaves, for a first guess; see the benchmark `scaling`."""
A_BYTE = 0.9
"""Nanoseconds for each byte of the histogram of a leaf, however few steps it has."""


@dataclass(frozen=True)
class Plan:
    """What a fit will take, told before it begins."""

    rows: int
    files: int
    cache: int
    memory: int
    seconds: float
    workers: int

    def __str__(self) -> str:
        minutes = f"about {self.seconds / 60:.0f} minutes" if self.seconds > 90 else f"about {self.seconds:.0f} s"
        minutes = minutes if self.seconds >= 10 else "a few seconds"
        return (
            f"{count(self.rows, 'sample')} in {count(self.files, 'file')}: {minutes} on {count(self.workers, 'core')}, "
            f"up to {self.memory / 1e9:.1f} GB of memory and {self.cache / 1e9:.2g} GB on disk for the cache."
        )


def plan(disk: DiskLog, parameters: Mapping[str, Any] | None = None) -> Plan:
    """Return what it will take to fit a tree to a log on disk; a guess by its size."""
    workers, _, slots = shares_of(disk)
    width, n = disk.n_features, disk.n_samples
    leaves = 1000 if parameters is None else int(parameters["max_leaves"])
    each = NANOSECONDS * (0.4 + 0.6 * (width / 8) ** 1.5) * (0.6 + 0.4 * leaves / 500)
    bins = 1024 if parameters is None else int(parameters["bins"])
    memory = workers * PIECE * a_step(disk) + slots * histogram_of(disk, bins) + taken(disk, workers) + LEAST
    memory = min(memory, memory_for(disk))
    seconds = (n * each / workers + leaves * histogram_of(disk, bins) * A_BYTE) / 1e9
    return Plan(n, len(disk.files), cache_of(disk), memory, seconds, workers)


def histogram_of(disk: DiskLog, bins: int = 1024) -> int:
    """Return about the bytes of the histogram of a node."""
    lanes = 2 * disk.n_features + 15 if disk.has_weights else disk.n_features + 7
    record = 8 * -(-lanes // 8) * 8
    return bins * disk.n_features * record


def least_for(disk: DiskLog, workers: int) -> int:
    """Return about the bytes of memory that so many workers cannot do without."""
    return taken(disk, workers) + max(LEAST, FEWEST * histogram_of(disk))


def taken(disk: DiskLog, workers: int) -> int:
    """Return about the bytes of memory that are taken whatever the work is."""
    return BASE + workers * DECODING * disk.n_features


def a_step(disk: DiskLog) -> int:
    """Return about the bytes of memory that a step takes while it is worked on."""
    return BYTES_A_STEP * max(disk.n_features, 4) // 8


def memory_for(disk: DiskLog) -> int:
    """Return the bytes of memory to work with."""
    usual = min(max(free_memory() // 2, 10**9), USUAL)
    return disk.how.memory or max(usual, least_for(disk, disk.how.workers or 1))


def in_memory(disk: DiskLog, steps: int) -> int:
    """Return so many steps of whole episodes, or how many there is room for; what is free now makes no difference."""
    return min(steps, ((disk.how.memory or USUAL) - BASE) // a_step(disk))


def cache_of(disk: DiskLog) -> int:
    """Return about the bytes of the cache while a tree grows: numbers as the files have them, and where each row is."""
    arrow = library("pyarrow", "Reading Parquet files", INSTALL)
    schema = library("pyarrow.parquet", "Reading Parquet files", INSTALL).read_schema(disk.files[0].path)
    single = (
        arrow.float32(),
        arrow.float16(),
        arrow.int8(),
        arrow.uint8(),
        arrow.int16(),
        arrow.uint16(),
        arrow.bool_(),
    )

    def size(name: str) -> int:
        column = max((one for one in schema.names if name.startswith(one)), key=len, default=None)
        kind = None if column is None else schema.field(column).type
        while kind is not None and hasattr(kind, "value_type"):
            kind = kind.value_type
        return 4 if kind in single else 8

    kinds = disk.roles.get("kinds") or {}
    numbers = [size(name) for name in disk.roles["features"] if not isinstance(kinds.get(name), list | tuple)]
    n, width = disk.n_samples, disk.n_features
    # Categories are 0 and 1, as wide as the numbers beside them.
    states = sum(numbers) + (width - len(numbers)) * max(numbers, default=4)
    per_row = states + sum(map(size, [*listed(disk.roles["action"]), *listed(disk.roles["reward"])])) + WHERE
    per_row += 8 if {"time", "dt"} & disk.roles.keys() else 0
    if disk.has_weights:
        per_row += WEIGHING + (8 if disk.weighting == EPISODE else size(disk.roles["weight"]))
    sample = 8 * width * (min(n, SAMPLE) + min(n, ROWS_SORTED))  # of rows that bins and medians are chosen by
    return n * per_row + sample + (8 * width + 30) * n // LENGTH


def shares_of(disk: DiskLog) -> tuple[int, int, int]:
    """Return the workers, the steps of a piece, and how many histograms may be in memory for a given budget."""
    how, memory = disk.how, memory_for(disk)
    # As many as there are cores, and as there is room for, unless somebody says how many.
    most = (memory - least_for(disk, 0)) // (DECODING * disk.n_features)
    workers = how.workers or max(min(available_cores(), most), 1)
    least = least_for(disk, workers)
    if memory < least:
        raise ParameterError(
            Message(
                "{:,.0f} MB are too little to work with: give at least {}.",
                memory / 1e6,
                Option("memory", f"{-(-least // 10**7)}0MB"),
            )
        )
    if how.memory is not None and how.sample is not None and how.sample > in_memory(disk, how.sample):
        raise ParameterError(
            Message(
                "A tree is grown on a sample in memory, and {} do not fit into {:,.0f} MB: give at most {}, or more "
                "memory.",
                count(how.sample, "step"),
                memory / 1e6,
                Option("sample", in_memory(disk, how.sample)),
            )
        )
    rows, room = PIECE, memory - taken(disk, workers)
    # Half for pieces under way, half for histograms.
    while rows > 2**14 and workers * rows * a_step(disk) > room / 2:
        rows //= 2
    return workers, rows, max(int(room / 2 / histogram_of(disk)), 4)


def free_memory() -> int:
    """Return the memory that is free."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 4 * 10**9
