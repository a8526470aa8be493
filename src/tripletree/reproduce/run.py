"""All parts in their order, and the page that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tripletree.plot.style import matplotlib
from tripletree.reproduce import lander_maps, lander_sides, lander_tree, road_losses, road_maps, road_theta, road_words
from tripletree.reproduce.page import Claim, Section, claims, write
from tripletree.reproduce.work import Work

PARTS = ("road", "lander", "all")
ROAD_STEPS, LANDER_STEPS = 20, 11
"""How often each of the two reports a step, for the progress bar."""
INTRODUCTION = (
    "The experiments of the paper (Bewley and Lawry, TripleTree, AAAI 2021), run by this project from end to end. "
    "Each claim of the paper stands beside what came out here. All seeds are fixed, so that a second run gives the "
    "same numbers."
)


@dataclass(frozen=True)
class Reproduction:
    """Where the page is, and its claims."""

    page: Path
    claims: list[Claim]


def reproduce(
    what: str,
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    *,
    road_samples: int = 10_000,
    lander_samples: int = 100_000,
) -> Reproduction:
    """Run the experiments of the road, of the lander, or all; write the page and its figures to a folder."""
    steps = (what != "lander") * ROAD_STEPS + (what != "road") * LANDER_STEPS
    matplotlib()  # a missing matplotlib is said now, not after all trees have been grown
    folder.mkdir(parents=True, exist_ok=True)
    work = Work(folder, steps, progress, road_samples, lander_samples)
    work.tell()
    sections: list[Section] = []
    if what != "lander":
        trees = road_losses.grow_all(work)
        sections += [road_losses.section(trees, work), road_theta.section(work)]
        sections.append(road_maps.section(trees, work))
        sections += road_words.section(work)
    if what != "road":
        part = lander_tree.prepare(work)
        sections.append(lander_tree.section(part, work))
        sections += lander_maps.section(part, work)
        sections.append(lander_sides.section(part))
    return Reproduction(write(sections, "The paper, reproduced", INTRODUCTION, folder), claims(sections))
