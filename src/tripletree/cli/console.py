"""The only printer: results on standard output; notes, progress and errors on standard error."""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from tripletree.cli.wording import for_shell
from tripletree.errors import TripleTreeWarning
from tripletree.text import visible, visible_json

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

# Programs that are not terminals set COLUMNS=0 for "unknown"; taken as a width, it would leave no room for a letter.
NARROWEST = 20
"""Columns below which the environment is not believed: tables need some room."""
_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name != "COLUMNS" or not value.isdigit() or int(value) >= NARROWEST
}
_out = Console(highlight=False, _environ=_ENVIRONMENT)
_err = Console(stderr=True, highlight=False, _environ=_ENVIRONMENT)
ENDLESS = 1_000_000
"""Wider than any line, for output that nobody breaks into lines."""
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


_LINES: dict[str, str] = {}
"""Names with line breaks, and how they are printed: a name must not look like a line of ours."""


def mind(names: Iterable[str]) -> None:
    """Print these names on one line from now on, wherever they occur."""
    _LINES.update({name: visible(name, line_breaks=False) for name in names if "\n" in name})


def _seen(text: str) -> str:
    """Return text as it is printed: see ``text.visible``."""
    for name, line in _LINES.items():
        text = text.replace(name, line)
    return visible(text)


def show(*parts: RenderableType) -> None:
    """Print results, one below the other: as wide as a terminal is, and in a pipe as wide as they are."""
    for part in parts:
        part = _seen(part) if isinstance(part, str) else part
        if _out.is_terminal:
            _out.print(part, markup=False)
            continue
        endless = Console(file=io.StringIO(), highlight=False, width=ENDLESS)
        with endless.capture() as kept:
            endless.print(part, markup=False)
        # Tables fill their last column with blanks.
        _out.file.writelines(f"{line.rstrip()}\n" for line in kept.get().split("\n")[:-1])


def say(*paragraphs: str) -> None:
    """Print sentences: broken into lines on a terminal, one line each in a pipe."""
    for text in paragraphs:
        _out.print(_seen(text), markup=False) if _out.is_terminal else show_wide(text)


def show_wide(*lines: str) -> None:
    """Print lines that must not be broken, such as one to copy."""
    _out.file.writelines(f"{_seen(line)}\n" for line in lines)


def flush() -> None:
    """Let whoever reads the output see what was printed, although the command goes on."""
    _out.file.flush()


def show_json(data: Any) -> None:
    """Print data on one line; a number that JSON does not have becomes null."""
    from tripletree.answers.answer import plain

    _out.file.write(visible_json(json.dumps(plain(data), ensure_ascii=False, allow_nan=False)) + "\n")


def show_csv(columns: dict[str, list[Any]]) -> None:
    """Print columns as CSV. A file gets names as they are, a terminal only what can be seen."""
    # Python does not quote a name for a carriage return in it, which readers take for the end of a line.
    plain, quoted = (
        csv.writer(_out.file, lineterminator="\n", quoting=how) for how in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    for row in ([*columns], *zip(*columns.values(), strict=True)):
        cells = [_seen(cell) if _out.is_terminal and isinstance(cell, str) else cell for cell in row]
        writer = quoted if any(isinstance(cell, str) and "\r" in cell for cell in cells) else plain
        writer.writerow(cells)


def answer(given: Any, as_json: bool) -> None:
    """Print an answer: its sentences, or its data."""
    show_json(given.to_dict()) if as_json else say(str(given))


def findings(title: str, found: Sequence[tuple[str, str, str]]) -> None:
    """Print what was found as (level, text, what to do)."""
    from rich.table import Table

    say(title)
    grid = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for level, text, fix in found:
        said = Text(_seen(text if not fix else f"{text}\n→ {fix}"))
        if _out.is_terminal:
            grid.add_row(Text(level, _STYLES[level]), said)
        else:
            show_wide(f"  {level:<7}  {text}", *([f"           → {fix}"] if fix else []))
    if _out.is_terminal:
        show(grid)


def table(title: str, *columns: str) -> Table:
    """Return an empty table of numbers in the house's style."""
    from rich.table import Table

    grid = Table(
        title=title or None, title_justify="left", title_style="bold", caption_justify="left", box=None, pad_edge=False
    )
    for name in columns:
        grid.add_column(name, justify="right", header_style="dim", no_wrap=True)
    return grid


def facts(*rows: tuple[str, str]) -> Table:
    """Return names with what there is to say about them, a line each; rows that say nothing are left out."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, show_header=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in rows:
        if text:
            grid.add_row(Text(name), Text(_seen(text)))
    return grid


def note(text: str) -> None:
    """Print something worth knowing."""
    for line in _seen(text).split("\n"):
        _err.print(Text.assemble(("note: ", "yellow"), line), soft_wrap=True)


def error(text: str) -> None:
    """Print what went wrong and what to do about it."""
    _err.print(Text.assemble(("error: ", "bold red"), _seen(text)), soft_wrap=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Show the library's warnings as notes instead of Python's two lines with a file name."""
    with warnings.catch_warnings():
        python = warnings.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, TripleTreeWarning):
                note(for_shell(message))
            else:
                python(message, category, *where, **more)

        warnings.simplefilter("always", TripleTreeWarning)
        warnings.showwarning = show_warning
        yield


def growing() -> AbstractContextManager[Callable[[int, int], None]]:
    """Show the progress bar of a growing tree."""
    return progress_bar("Growing the tree", "leaves")


@contextmanager
def passing(expected: float | None = None) -> Iterator[Callable[[str, int, int, int, str], None]]:
    """Show the passes over a log on disk: what is done, how fast, bytes, workers, and how long it takes.

    Parameters
    ----------
    expected : float, optional
        Seconds that all passes together should take; without them, only the time left of a pass is shown.
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(compact=True) if expected is None else TextColumn("{task.fields[time]}"),
    )
    with Progress(*columns, console=_err, transient=True, disable=not (_err.is_terminal or _err.is_jupyter)) as bar:
        task = bar.add_task("", total=None, speed="", time="")
        whole = bar.add_task("", total=None, visible=False, speed="", time="")

        def tell(what: str, done: int, total: int, size: int, who: str) -> None:
            if done == 0:
                # Passes of growth are many and short: how fast they are stays while the next one begins.
                if bar.tasks[task].description.partition(" ")[0].lower() != what.partition(" ")[0]:
                    bar.update(task, speed="")
                bar.reset(task, total=total, description=f"{what[:1].upper()}{what[1:]} ({who})")
            rows, seconds = bar.tasks[task].speed, bar.tasks[whole].elapsed or 0.0
            told: dict[str, Any] = (
                {"speed": f"{rows / 1e6:.1f} million rows/s, cache {size / 1e9:.1f} GB"} if rows else {}
            )
            if expected is not None:
                told["time"] = f"{seconds:.0f} s" + (f" of about {expected:.0f}" if seconds < expected else "")
            bar.update(task, completed=done, total=total, **told)

        yield tell


@contextmanager
def progress_bar(doing: str = "Working", unit: str = "") -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error, when that is a terminal or a notebook.

    Yields a function of (done, all), for everything that takes ``progress=``.

    Parameters
    ----------
    doing, unit : str
        What stands before the bar, and after its numbers.

    Examples
    --------
    >>> import tripletree
    >>> from tripletree.demos import road
    >>> log = road.record("hurry", n_samples=2_000)
    >>> with tripletree.progress_bar("Growing", "leaves") as bar:
    ...     tree = tripletree.TripleTree(50, progress=bar).fit(log)
    >>> with tripletree.progress_bar("Aligning", "trajectories") as bar:
    ...     ways = tree.simulate("pos < 1", "pos > 2", pairs=100, progress=bar)
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = TextColumn(doing), BarColumn(), MofNCompleteColumn(), TextColumn(unit)
    with Progress(*columns, console=_err, transient=True, disable=not (_err.is_terminal or _err.is_jupyter)) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, most: bar.update(task, completed=done, total=most)
