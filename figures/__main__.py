"""The command: ``python -m figures [part of a name ...] [--out folder] [--docs]``."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import diagrams, explorer, ideas, lander, rhythm, road
from tripletree import TripleTreeWarning

FIGURES: dict[str, Callable[[], Any]] = {
    **road.FIGURES,
    **lander.FIGURES,
    **ideas.FIGURES,
    **diagrams.FIGURES,
    **rhythm.FIGURES,
    **explorer.FIGURES,
}

#: What the manual shows, as small PNG files.
DOCS = (
    "road-overview",
    "road-value",
    "road-samples",
    "road-why-not",
    "road-why-changed",
    "road-trajectories-either",
    "road-along-pos",
    "lander-losses",
    "lander-overview",
    "lander-after",
    "lander-after-x-y",
    "lander-x-y",
    "lander-why-not-main",
    "lander-tutorial",
    "lander-linear",
    "lander-flight",
    "lander-trajectories-y-vy",
    "lander-fans",
    "road-weights-either",
    "road-graph-pos-speed",
    "lander-graph",
    "road-tree",
    "lander-importance",
    "lander-effects",
    "lander-attribution",
    "lander-beeswarm",
    "lander-stability",
    "lander-episode",
    "acrobot-rhythm",
    *explorer.VIEWS,
)
DOCS_DPI = 120


def main(arguments: list[str] | None = None) -> int:
    """Draw the figures asked for (all, when none is named) as PDF and PNG."""
    parser = argparse.ArgumentParser(prog="python -m figures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="figures whose name contains this; default: all")
    parser.add_argument("--out", type=Path, help="where they go (default: out/figures)")
    parser.add_argument("--docs", action="store_true", help="only those of the manual, small, into docs/images")
    given = parser.parse_args(arguments)
    known = DOCS if given.docs else tuple(FIGURES)
    chosen = [name for name in known if not given.names or any(part in name for part in given.names)]
    if not chosen:
        parser.error(f"no figure is called so; there are {', '.join(known)}")
    out = given.out or Path("docs/images" if given.docs else "out/figures")
    # The logs end where recording stopped; the manual says what that does to values.
    warnings.simplefilter("ignore", TripleTreeWarning)
    out.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        picture = FIGURES[name]()
        if given.docs:
            picture.save(out / f"{name}.png", dpi=DOCS_DPI)
            _shrink(out / f"{name}.png")
        else:
            picture.save(out / f"{name}.pdf").save(out / f"{name}.png")
        print(out / name, flush=True)
    return 0


def _shrink(path: Path) -> None:
    """Keep 256 colours of a PNG file: half the size, and nobody sees a difference."""
    from PIL import Image

    with Image.open(path) as image:
        few = image.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
