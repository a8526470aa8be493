"""What every reader delivers: columns by name, and what the format itself says about episodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import listing
from tripletree.errors import LogError, MissingDependencyError
from tripletree.log.coerce import Array
from tripletree.text import count

MOST_DIMENSIONS = 2
"""A column has one value a row, or a row of them; images have more dimensions."""
IMAGES = (
    "A tree splits on numbers that mean something by themselves, and a pixel does not. Log the state as well "
    "(positions, speeds), or give the output of a detector or an encoder as columns"
)
"""The way out for observations that are images."""


@dataclass
class Table:
    """Columns with a row a step; a column may be a matrix, which becomes several.

    Attributes
    ----------
    names, columns : list
        The columns; two may have the same name, which is refused later.
    source : str
        Where they come from, for the user: "run.csv", "an SB3 replay buffer".
    features : sequence of str
        The columns that are the state by the format's own definition; empty where names have to be guessed.
    roles : mapping of str to str
        Other roles that the format defines.
    beside : mapping of str to str
        What the format holds and a log does not, with the reason: said to the user.
    finals : mapping of str to array, optional
        The state after each episode's last step, by the name of the feature.
    starts, endings, ids : array, optional
        Where episodes begin, how they end and what they are called, where the format knows.
    said : str
        How the reader found the episodes, where it had to guess: said to the user.
    files : sequence of (str, int)
        The files that the rows come from, in order, and the first row of each; empty for a single source.
    schema, writer, restore : str, str, function
        Of a log that we wrote: its schema as JSON, the method that wrote it, and what makes its fields of the table and
        that JSON, or None for a table that was changed since.
    """

    names: list[str]
    columns: list[Any]
    source: str
    features: Sequence[str] = ()
    roles: Mapping[str, Any] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    finals: Mapping[str, Array] | None = None
    starts: npt.NDArray[np.int64] | None = None
    endings: npt.NDArray[np.uint8] | None = None
    ids: Array | None = None
    said: str = ""
    files: Sequence[tuple[str, int]] = ()
    schema: str | None = None
    writer: str = ""
    restore: Callable[[Table, Mapping[str, Any]], dict[str, Any] | None] = lambda *_: None


@dataclass(frozen=True)
class Reader:
    """A format: what is recognised as it, and what makes a table of it."""

    name: str
    recognises: Callable[[Any], bool]
    read: Callable[[Any, str], Table]  # of the source and the encoding of text


@dataclass
class Stack:
    """Columns of episodes, one episode after the other, for formats that keep each by itself."""

    source: str
    blocks: dict[str, list[Array]] = field(default_factory=dict)
    finals: dict[str, list[Array | None]] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)
    ids: list[Any] = field(default_factory=list)

    def add(
        self, steps: int, columns: Mapping[str, Array], name: Any, finals: Mapping[str, Array] | None = None
    ) -> None:
        """Add an episode; of a column with one row more than steps, the last row is the final state."""
        if not steps:
            return
        if self.lengths and set(columns) != set(self.blocks):
            odd = sorted(set(columns) ^ set(self.blocks))
            raise LogError(
                f"{self.source}: episode {name} differs from the first one in {listing(odd)}; all episodes must have "
                "the same parts."
            )
        for key, values in columns.items():
            if len(values) not in (steps, steps + 1):
                raise LogError(
                    f"{self.source}: `{key}` of episode {name} has {count(len(values), 'row')} for "
                    f"{count(steps, 'action')}; expected as many, or one more with the final state."
                )
            if self.lengths and values.shape[1:] != self.blocks[key][0].shape[1:]:
                raise LogError(
                    f"{self.source}: `{key}` of episode {name} has rows of shape {values.shape[1:]}, and of "
                    f"{self.blocks[key][0].shape[1:]} in the first one; all must be the same."
                )
            self.blocks.setdefault(key, []).append(values[:steps])
            last = values[-1] if len(values) > steps else (finals or {}).get(key)
            self.finals.setdefault(key, []).append(last)
        self.lengths.append(steps)
        self.ids.append(name)

    def table(self, features: Sequence[str], **known: Any) -> Table:
        """Return all episodes as one table, in which ``features`` are the state."""
        if not self.lengths:
            raise LogError(f"{self.source} holds no episode with at least one step.")
        ids = self.ids if len(set(self.ids)) == len(self.ids) else list(range(len(self.ids)))
        return Table(
            list(self.blocks),
            [np.concatenate(self.blocks.pop(name)) for name in list(self.blocks)],
            self.source,
            features=features,
            finals={name: _stacked(self.finals[name]) for name in features},
            starts=np.append(0, np.cumsum(self.lengths)).astype(np.int64),
            ids=np.array(ids),
            **known,
        )


def _stacked(rows: Sequence[Array | None]) -> Array:
    """Return final states as an array, NaN where there is none."""
    shape = next((np.shape(row) for row in rows if row is not None), ())
    return np.array([np.full(shape, np.nan) if row is None else row for row in rows], np.float64)


def natural(name: str) -> list[Any]:
    """Return a key to sort names by as people do: run2 comes before run10.

    >>> sorted(["run10", "run2", "run1"], key=natural)
    ['run1', 'run2', 'run10']
    """
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in re.split(r"(\d+)", name)]


def refuse_images(name: str, shape: Sequence[int], source: str) -> None:
    """Raise LogError for a column of the state whose rows are images, or have more than one dimension."""
    if len(shape) > MOST_DIMENSIONS:
        size = " x ".join(map(str, shape[1:]))
        raise LogError(f"`{name}` of {source} holds images or other blocks ({size} values a step). {IMAGES}.")


def library(module: str, what: str, install: str) -> Any:
    """Import an optional library; if it is missing, the error is one line with the command that installs it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingDependencyError(f"{what} needs {module.partition('.')[0]}. Type: pip install {install}") from None
