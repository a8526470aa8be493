"""What changed between two logs as one page: the verdict, causes with their regions, consequences, pictures."""

from __future__ import annotations

import os

from tripletree.answers.diff import CHANGED, EXPLAINED, SAME, UNCLEAR, WHAT, Diff
from tripletree.language.numbers import all_of, estimate, percent
from tripletree.markup import Markup, paragraphs, table, tag, together
from tripletree.report.case import Section
from tripletree.report.document import plain_page, write_page
from tripletree.report.svg import Drawer
from tripletree.scenes.change import forest, ground, region_map, returns, told_regions

FOOTER = (
    "Made with tripletree from the two logs alone. Whole episodes were shuffled between them; intervals are 95 %, of "
    "regions that other episodes chose."
)
VERDICTS = {CHANGED: "changed", SAME: "no change found", EXPLAINED: "explained by another", UNCLEAR: "cannot tell"}


def diff_html(found: Diff, title: str = "What changed") -> str:
    """Return the page."""
    draw = Drawer()
    lines = str(found).splitlines()
    sections = [Section("verdict", "What is claimed", together([_causes(found), paragraphs(lines[1:])]))]
    drawn = [draw.figure(scene) for scene in (forest(found), region_map(found)) if scene is not None]
    if drawn:
        sections.append(
            Section(
                "where", "Where, and by how much", together([tag("div", *drawn, class_="figures"), _regions(found)])
            )
        )
    after = [draw.figure(scene) for scene in (returns(found), ground(found)) if scene is not None]
    if after:
        sections.append(Section("consequences", "What came of it", tag("div", *after, class_="figures")))
    facts = [
        ("changed", found.claimed),
        ("old episodes", f"{found.episodes[0]:,}"),
        ("new episodes", f"{found.episodes[1]:,}"),
        ("outcome", VERDICTS[found.outcome.status]),
        ("false alarms", f"at most {percent(found.alpha)}"),
    ]
    return plain_page(title, lines[0], facts, sections, FOOTER)


def write_diff(found: Diff, path: str | os.PathLike[str]) -> None:
    """Write the page to a file, whole or not at all."""
    write_page(path, diff_html(found), "The page")


def _causes(found: Diff) -> Markup:
    rows = [
        (
            WHAT[cause.name],
            VERDICTS[cause.status],
            "" if cause.adjusted is None else estimate(cause.adjusted, 2),
            "" if cause.comparable is None else percent(cause.comparable),
        )
        for cause in found.causes
    ]
    return table("Causes", ("cause", "verdict", "p, adjusted", "comparable steps"), rows, numbers=(2, 3))


def _regions(found: Diff) -> Markup:
    rows = [
        (
            str(number),
            region.what,
            all_of(region.when) or ("everywhere" if region.share is not None else "first states"),
            estimate(region.effect, 2),
            f"{estimate(region.interval[0], 2)} to {estimate(region.interval[1], 2)}",
            "" if region.share is None else percent(region.share),
            f"{region.episodes:,}",
        )
        for number, (_, region) in enumerate(told_regions(found), 1)
    ]
    head = ("row", "what", "where", "new less old", "95 % interval", "steps", "episodes")
    return table("Regions that changed, by the rows of the picture", head, rows, numbers=(0, 3, 4, 5, 6))
