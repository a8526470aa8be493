"""The sections on the tree: how far to believe it, and how it was made; and what it looks like."""

from __future__ import annotations

from tripletree.answers.judgement import HeldOut
from tripletree.answers.leaf_model import leaf_sentence
from tripletree.language.numbers import percent, rounded
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.markup import Markup, fold, paragraphs, region, table, tag, together
from tripletree.report import words
from tripletree.report.case import Case, Section
from tripletree.report.marks import THICK
from tripletree.report.svg import WIDTH
from tripletree.scenes.charts import calibration_scene, curves
from tripletree.scenes.tree import diagram
from tripletree.scenes.types import Sheet
from tripletree.text import count

SMALL = 320.0
"""Width of a picture when three stand in a row."""
DEPTH = 3
"""Levels of splits that are drawn; with four, the picture would be taller than most screens."""


def figures(case: Case, sheet: Sheet, height: float = 320) -> Markup:
    """Return the pictures of a sheet, and the words around them."""
    legend = sheet.legend
    scenes = [scene for row in sheet.rows for scene in row]
    # Three in a row are smaller, and their letters are not.
    width = SMALL if len(scenes) == 3 else WIDTH
    drawn = [case.draw.figure(scene, width, height) for scene in scenes]
    words = f"{sheet.subtitle.rstrip('.')}." if sheet.subtitle else ""
    kind = "figures three" if len(drawn) == 3 else "figures"
    return together(
        [tag("p", words), tag("div", *drawn, class_=kind), case.draw.legend(legend) if legend else Markup()]
    )


def belief_section(case: Case) -> Section:
    """Return how far to believe the tree: losses and calibration on unseen episodes, and where it knows little."""
    content = [
        tag("p", str(case.held_out)),
        *([tag("p", case.stability)] if case.stability else []),
        *_judged(case, case.held_out),
        tag("h3", "Where not to trust it"),
        *_doubts(case),
    ]
    if case.fitted.curve_validation is not None:
        content.append(fold("How its size was chosen", tag("p", words.SIZE), figures(case, curves(case.fitted), 230)))
    return Section("belief", "How far to believe it", together(content))


def _judged(case: Case, answer: HeldOut) -> list[Markup]:
    """Return losses and calibration on episodes that the tree has not seen; nothing when there are none."""
    judged = answer.judged
    if judged is None:
        return []
    rows = [
        (name, *(_loss(number, answer.discrete and not answer.costs and name == "action") for number in numbers))
        for name, *numbers in zip(ATTRIBUTES, judged.losses, judged.constant, strict=True)
        if numbers[1] > 0
    ]
    width = SMALL if len(answer.calibrations) == 3 else WIDTH
    calibrations = [case.draw.figure(calibration_scene(one), width, width * 0.7) for one in answer.calibrations]
    return [
        table("Losses on unseen episodes", ("loss of", "the tree", "one leaf"), rows, numbers=(1, 2)),
        tag("p", words.losses_note(answer.discrete, answer.costs), class_="note"),
        tag("p", leaf_sentence(case.fitted)),
        fold(
            "Calibration: do predictions match what was observed?",
            tag("p", words.CALIBRATION),
            tag("div", *calibrations, class_="figures three" if len(calibrations) == 3 else "figures"),
        ),
    ]


def _loss(number: float, share: bool) -> str:
    # The action loss of labels without costs is a share of wrong ones; all other losses have units of their own.
    return percent(float(number)) if share else rounded(number, 3)


def seen_at_once(case: Case) -> Markup:
    """Return the maps of the overview, and the first splits of the tree."""
    return together([figures(case, case.overview), _first_splits(case)])


def _first_splits(case: Case) -> Markup:
    """Return the top of the tree, drawn at its own size, which is measured in points."""
    scene = diagram(case.fitted, DEPTH)
    # Text is THICK times as large as its points: if boxes did not grow alike, it would run out of them. 10 and 8 are
    # the borders that svg leaves around a picture without axes.
    width = round((scene.x.high - scene.x.low) * THICK + 10)
    height = round((scene.y.high - scene.y.low) * THICK + 8)
    return region("broad", scene.title, case.draw.figure(scene, width, height))


def _doubts(case: Case) -> list[Markup]:
    """Return where the tree should not be trusted."""
    found = case.trust
    items = []
    # The answer has one doubt a line, each with its name before a colon: in a list the name is set in bold.
    for line in str(found).splitlines():
        what, _, rest = line.partition(": ")
        items.append(tag("li", tag("strong", f"{what}. "), words.sentence(rest)))
    count = case.fitted.leaves.count
    rows = [
        (
            leaf,
            case.where(leaf),
            percent(float(found.share[leaf])),
            words.doubt(attribute, float(found.left[leaf, attribute]), int(count[leaf]), bool(found.few[leaf])),
        )
        for attribute in range(3)
        for leaf in found.worst(attribute).tolist()
    ]
    weak = table(
        "Leaves that add most to what the tree does not know", ("leaf", "where", "of the log", "why"), rows, (0, 2)
    )
    return [tag("ul", *items), fold("The leaves that know least", weak) if rows else Markup()]


def made_section(case: Case) -> Section:
    """Return how it was made: versions, options, seeds, hash of the log."""
    fitted, made = case.fitted, case.fitted.provenance
    # A model file may come from elsewhere, and its provenance need not hold anything.
    log = [
        ("samples", f"{made.get('samples', 0):,} in {count(made.get('episodes', 0), 'episode')}"),
        ("SHA-256 of the training log", tag("code", made.get("log_sha256", "unknown"))),
        ("this report's log", "the same" if case.same_log else tag("code", case.log.fingerprint())),
    ]
    versions = [(name, made[name]) for name in ("tripletree", "numpy") if name in made]
    options = [(name.replace("_", " "), words.option(value)) for name, value in fitted.options.items()]
    content = [
        paragraphs([f"{words.size_of_tree(fitted)}. {words.SEEDS} {words.DRAWS}", *words.sampled(case.log, case.some)]),
        fold(
            "Log, versions and options",
            table("Log and versions", ("what", "which"), [*log, *versions]),
            table("Options of growth", ("option", "chosen"), options),
        ),
    ]
    return Section("made", "How it was made", together(content))
