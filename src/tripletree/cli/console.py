"""The only printer: results on standard output; notes, progress and errors on standard error."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from tripletree.errors import TripleTreeWarning

_out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)


def show(*parts: RenderableType) -> None:
    """Print results, one below the other."""
    for part in parts:
        _out.print(part, markup=False)


def show_wide(*lines: str) -> None:
    """Print lines that must not be broken, such as one to copy."""
    for line in lines:
        _out.print(line, markup=False, soft_wrap=True)


def table(title: str, *columns: str) -> Table:
    """Return an empty table of numbers in the house's style."""
    grid = Table(
        title=title, title_justify="left", title_style="bold", caption_justify="left", box=None, pad_edge=False
    )
    for name in columns:
        grid.add_column(name, justify="right", header_style="dim", no_wrap=True)
    return grid


def note(text: str) -> None:
    """Print something worth knowing."""
    _err.print(Text.assemble(("note: ", "yellow"), text), soft_wrap=True)


def error(text: str) -> None:
    """Print what went wrong and what to do about it, on one line."""
    _err.print(Text.assemble(("error: ", "bold red"), " ".join(text.split())), soft_wrap=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Show the library's warnings as notes instead of Python's two lines with a file name."""
    with warnings.catch_warnings():
        python = warnings.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, TripleTreeWarning):
                note(str(message))
            else:
                python(message, category, *where, **more)

        warnings.simplefilter("always", TripleTreeWarning)
        warnings.showwarning = show_warning
        yield


@contextmanager
def working(doing: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error during some work; yields the callback that moves it."""
    columns = TextColumn(doing), BarColumn(), MofNCompleteColumn(), TextColumn(unit)
    with Progress(*columns, console=_err, transient=True, disable=not _err.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, wanted: bar.update(task, completed=done, total=wanted)


def growing() -> AbstractContextManager[Callable[[int, int], None]]:
    """Show the progress bar of a growing tree."""
    return working("Growing the tree", "leaves")
