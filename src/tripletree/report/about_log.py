"""The section on the log: what it is, and its problems."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.language.numbers import percent, rounded
from tripletree.log.coerce import extremes
from tripletree.log.schema import kind_seen
from tripletree.markup import Markup, fold, paragraphs, table, tag, together, with_names
from tripletree.report import words
from tripletree.report.case import Case, Section
from tripletree.scenes.charts import spread_scene


def log_section(case: Case) -> Section:
    """Return the section."""
    log = case.log
    returns = words.log_returns(case.returns) if log.schema.has_reward else words.NO_REWARD
    said = paragraphs([words.log_size(log), f"{words.log_episodes(log)} {returns}"])
    ranges = fold("Features and actions, with their ranges", _features(case), _actions(case))
    world = [tag("h3", "What the world is like"), paragraphs(str(case.world).splitlines())]
    return Section("log", "The log", together([said, _pictures(case), *world, ranges, _findings(case)]))


def _pictures(case: Case) -> Markup:
    # So few numbers are read faster than their bars.
    if case.log.n_episodes < 5:
        return Markup()
    lengths = np.diff(case.log.starts).astype(np.float64)
    scenes = [spread_scene("Lengths of the episodes", "steps", lengths)]
    if case.log.schema.has_reward:
        scenes.insert(0, spread_scene("Returns of the episodes", "return", case.returns))
    return tag("div", *(case.draw.figure(scene, height=230) for scene in scenes), class_="figures")


def _features(case: Case) -> Markup:
    log, fitted = case.log, case.fitted
    spans = _spans(log.states)
    trained = zip(fitted.feature_min.tolist(), fitted.feature_max.tolist(), strict=True)
    rows = []
    for feature, (low, middle, high), (least, most) in zip(fitted.schema.features, spans, trained, strict=True):
        # On its own log, what the tree knows is what the columns before say already.
        known = [] if case.same_log else [f"{rounded(least)} to {rounded(most)}"]
        kind = kind_seen(feature, low, high)
        rows.append((feature.name, kind, feature.unit or "–", *map(rounded, (low, middle, high)), *known))
    head = ["feature", "kind", "unit", "least", "median", "largest", *([] if case.same_log else ["known to the tree"])]
    return table("Features of a state", head, rows, numbers=(3, 4, 5))


def _actions(case: Case) -> Markup:
    log, action = case.log, case.fitted.schema.action
    if not log.schema.has_action:
        return Markup()
    if action.kind == "discrete":
        # The log's labels, not the tree's: another log may have labels that the tree has never seen.
        labels = log.schema.action.labels
        count = np.bincount(log.actions, minlength=len(labels))
        shares = [(label, f"{n:,}", percent(n / len(log))) for label, n in zip(labels, count, strict=True)]
        return table(f"Actions ({action.names[0]})", ("action", "samples", "share"), shares, numbers=(1, 2))
    spans = _spans(log.actions)
    rows = [
        (name, unit or "–", *map(rounded, span))
        for name, unit, span in zip(action.names, action.units, spans, strict=True)
    ]
    return table("Dimensions of the action", ("action", "unit", "least", "median", "largest"), rows, numbers=(2, 3, 4))


def _spans(matrix: npt.NDArray[np.float64]) -> list[list[float]]:
    """Return least, median and largest value of each column."""
    low, high = extremes(matrix)
    below, above = _kernel.middle(matrix.T)
    spans: list[list[float]] = np.stack([low, (below + above) / 2, high], axis=1).tolist()
    return spans


def _findings(case: Case) -> Markup:
    found = case.findings
    parts = [tag("h3", words.findings(len(found)))] if len(found) else [tag("p", words.findings(0))]
    if len(found):
        items = (
            tag(
                "li",
                tag("span", one.level, class_=f"badge {one.level}"),
                " ",
                *with_names(one.text),
                tag("em", " ", *with_names(one.fix)) if one.fix else "",
            )
            for one in found
        )
        parts.append(tag("ul", *items, class_="findings"))
    if case.log.reading:
        parts.append(fold("How the log was read", tag("pre", case.log.reading, tabindex="0")))
    return together(parts)
