"""The house style: fonts, sizes and spacing, legible at the column width of a paper."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tripletree.errors import MissingDependencyError, ParameterError
from tripletree.scenes.colours import FAINT, INK
from tripletree.text import visible
from tripletree.writing import reason, replacing

# A picture that goes into an article without being scaled keeps the sizes of its text.
COLUMN = 3.3
"""Width of a paper's column, in inches: the width of one picture."""
PAGE = 6.9
"""Width of a paper's text, in inches: the width of a sheet of pictures."""
SCREEN = 130
"""Pixels of an inch in a notebook: letters are as large as its own, and a sheet fits into it."""
HEADING, TITLE, TEXT, SMALL = 9.0, 8.0, 7.0, 6.5
"""Sizes of headings of sheets, titles, labels and side remarks, in points."""

DASHES = (0, (4, 2))
"""The pattern of dashed lines, in their widths."""

RC: dict[str, Any] = {
    # DejaVu comes with matplotlib, so that a picture is the same on every machine.
    "font.family": "DejaVu Sans",
    "font.size": TEXT,
    "axes.titlesize": TITLE,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.labelsize": TEXT,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # A "+1.2e3" in the corner of an axis is easily missed.
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 6),
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "legend.handlelength": 1.2,
    "legend.handleheight": 0.9,
    "legend.columnspacing": 1.2,
    "legend.handletextpad": 0.5,
    "figure.dpi": 150,
    "figure.constrained_layout.h_pad": 0.04,
    "figure.constrained_layout.w_pad": 0.04,
    "savefig.dpi": 300,
    "savefig.facecolor": "white",
    # Text stays text in vector files: it can be searched and edited.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
}


def literal(text: str) -> str:
    """Return text that matplotlib shows as it is: users' names may hold dollars or begin with an underscore."""
    # Between dollars matplotlib sets formulas, and it leaves out of legends what begins with an underscore.
    escaped = visible(text).replace("$", r"\$")
    return f"\N{HAIR SPACE}{escaped}" if escaped.startswith("_") else escaped


def matplotlib() -> Any:
    """Return the package matplotlib; if it is missing, the error says how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise MissingDependencyError('Pictures need matplotlib. Type: pip install "tripletree[plot]"') from None
    return matplotlib


@contextmanager
def styled() -> Iterator[None]:
    """Let matplotlib draw in the house style."""
    with matplotlib().rc_context(RC), warnings.catch_warnings():
        # The font that comes with matplotlib has no emoji and few scripts. Boxes stand for what is missing, and an SVG
        # keeps the text: not worth a warning for each letter.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        # Nor can matplotlib shape these scripts.
        warnings.filterwarnings("ignore", "Matplotlib currently does not support .* natively", UserWarning)
        yield


def new_figure(size: tuple[float, float]) -> Any:
    """Return an empty figure of a size in inches.

    It is not one of pyplot's, which keeps each of its figures until it is closed, and which shows in a notebook what it
    keeps rather than what a cell returns.
    """
    matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def write_figure(figure: Any, path: Any, options: Mapping[str, Any]) -> None:
    """Write a figure to a file, whole or not at all, or to a stream; ``options`` go to ``savefig``."""
    with styled():
        if not isinstance(path, str | os.PathLike):
            figure.savefig(path, **options)
            return
        name, known = os.fspath(path), dict(options)
        # The file is written as a stream, and a stream has no name from which matplotlib could take the format.
        form = known.pop("format", None) or os.path.splitext(name)[1].lstrip(".")
        if not form:
            form = matplotlib().rcParams["savefig.format"]
            name = f"{name.rstrip('.')}.{form}"
        try:
            with replacing(name) as stream:
                figure.savefig(stream, format=form, **known)
        except OSError as error:
            raise ParameterError(f"The picture cannot be written to {name}: {reason(error)}.") from error


def png(figure: Any) -> bytes:
    """Return a figure as a notebook shows it, in pixels."""
    stream = io.BytesIO()
    with styled():
        figure.savefig(stream, format="png", dpi=SCREEN)
    return stream.getvalue()


def svg(figure: Any) -> str:
    """Return a figure as a notebook shows it, as a drawing."""
    stream = io.StringIO()
    # Letters become outlines, because the reader's browser may lack the font. With neither a date nor random names, a
    # notebook that is run again stays the same.
    with styled(), matplotlib().rc_context({"svg.fonttype": "path", "svg.hashsalt": "tripletree"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    # A drawing measures itself in points of print, too small for a screen: there it is as large as the pixels are, and
    # never wider than its place.
    width, height = figure.get_size_inches() * SCREEN
    size = f'width="{width:.0f}" height="{height:.0f}" style="max-width:100%;height:auto"'
    return re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', size, stream.getvalue(), count=1)


def width_of(figure: Any) -> float:
    """Return the width of a figure, or of a subfigure, in inches."""
    # A subfigure has no size in inches of its own.
    return float(figure.bbox.width / figure.dpi)
