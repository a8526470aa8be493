"""The tree as JSON: all that a browser needs to draw its leaves and to answer, with texts, ticks and colours ready.

Words and ticks are made here rather than in the browser, because a second implementation of them would drift apart.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.factual import Factual
from tripletree.asking.attribute import Attribute, main_attributes, read_attribute
from tripletree.asking.foils import Foil, read_foil
from tripletree.language.conditions import changed_clause
from tripletree.language.numbers import capital, significant, spread_places, spread_text, unit
from tripletree.leaves.entry import EntryPoints, decimal_scale, entry_points
from tripletree.leaves.project import Extents
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.questions.explain import factual
from tripletree.questions.opinion import ABOVE, MARGIN, has_opinion, opinion_of, target_of
from tripletree.scenes.colouring import colour_scale, known_colours, read_colour
from tripletree.scenes.guides import bar_axis, category_entries, marked, shade_of, shades, share
from tripletree.scenes.leaf_map import fades
from tripletree.scenes.support import EXPECTED, RECORDED, all_pairs, patch
from tripletree.scenes.types import Axis
from tripletree.scenes.view import View, leaf_boxes

F64 = npt.NDArray[np.float64]


MOST_FEATURES = 16
"""With more features there are too many pairs to count the samples on a map of each, and to send them."""


class _Texts:
    """Every text once, and its number: many leaves share a sentence or a condition."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.number.setdefault(text, len(self.number))


def packed(tree: dict[str, Any]) -> str:
    """Return a payload as it is inlined in a page: JSON, gzipped, in base64."""
    # Without a time of packing, so that the same tree gives the same page.
    text = json.dumps(tree, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def payload(
    fitted: Fitted, foils: dict[str, Any] | None = None, start: F64 | None = None, log: Log | None = None
) -> dict[str, Any]:
    """Return the tree as JSON types.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    foils : dict or None
        What a reader may ask for, by name, in the form of ``TripleTree.explain``; None: see :func:`usual_foils`.
    start : float64 array of shape (features,), or None
        The state to show first; None: the middle of the leaf with most samples.
    log : Log or None
        Whose states decide where maps are faded; None: the samples of the leaves, as in ``scenes.support``.
    """
    return {**shape(fitted, start, log), **sayings(fitted, foils)}


def shape(
    fitted: Fitted, start: F64 | None = None, log: Log | None = None, faded: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return what a browser needs to draw the leaves and to find that of a state; parameters as in `payload`.

    ``faded`` is what `support` found, where that is known: it is the same for all sizes of a tree.
    """
    tree, boxes = fitted.tree, leaf_boxes(fitted)
    colours, palettes = _colours(fitted, boxes, known_colours(fitted), log)
    return {
        "features": [_feature(fitted, boxes, f) for f in range(len(fitted.schema.features))],
        "splits": tree.feature.tolist(),
        # All digits: a rounded threshold would send a state near it to another leaf than in Python.
        "threshold": _numbers(tree.threshold),
        "left": tree.left.tolist(),
        "leafOf": tree.leaf_number.tolist(),
        "drawnLow": _numbers(boxes.lower),
        "drawnHigh": _numbers(boxes.upper),
        "count": fitted.leaves.count.tolist(),
        "colours": colours,
        "palettes": palettes,
        **(support(fitted, log) if faded is None else faded),
        "start": (_inside(fitted)[int(fitted.leaves.count.argmax())] if start is None else start).tolist(),
    }


def sayings(fitted: Fitted, foils: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what a browser needs to explain, beside `shape`: facts, foils, how leaves are entered, second models."""
    schema, place = fitted.schema, _place(fitted)
    texts = _Texts()
    # A log without anything that could be explained still has a page.
    abouts = [*main_attributes(fitted), *(["value"] if schema.has_reward else [])]
    asked = usual_foils(fitted) if foils is None else foils
    return {
        "lower": _numbers(place.lower.T),
        "upper": _numbers(place.upper.T),
        "nearHigh": _numbers(place.near_high.T),
        "landLow": _numbers(place.land_low.T),
        "landHigh": _numbers(place.land_high.T),
        **_clauses(fitted, place, texts),
        "facts": {about: _fact(fitted, about, texts) for about in abouts},
        "foils": {name: _foil(fitted, read_foil(fitted, foil), texts) for name, foil in asked.items()},
        "linear": _linear(fitted),
        "texts": list(texts.number),
    }


def foil_saying(fitted: Fitted, foil: Any) -> dict[str, Any]:
    """Return one more foil for a browser that has the `sayings`, with the texts that it refers to."""
    texts = _Texts()
    read = read_foil(fitted, foil)
    return {"name": read.told(), "foil": _foil(fitted, read, texts), "texts": list(texts.number)}


def support(fitted: Fitted, log: Log | None) -> dict[str, Any]:
    """Return where maps are faded by a log, as the cells of every pair of features, and the sentence that says so."""
    boxes = leaf_boxes(fitted)
    if log is None or len(fitted.schema.features) > MOST_FEATURES:
        return {"veil": None, "faded": f"{EXPECTED}."}
    edges, hidden = all_pairs(fitted, boxes, log)
    # A bit a cell, the second feature fastest.
    bits = {
        " ".join(map(str, axes)): base64.b64encode(np.packbits(mask).tobytes()).decode()
        for axes, mask in hidden.items()
    }
    return {"veil": {"edges": [edge.tolist() for edge in edges], "hidden": bits}, "faded": f"{RECORDED}."}


def usual_foils(fitted: Fitted) -> dict[str, Any]:
    """Return the foils that readers are offered: every action, or a high or low one, and a high or low value."""
    action = fitted.schema.action
    numbers = {"value": fitted.leaves.value_mean} if fitted.schema.has_reward else {}
    asked: list[dict[str, Any]] = []
    if not fitted.schema.has_action:
        numbers = {**{name: read_attribute(fitted, name).leaves for name in main_attributes(fitted)}, **numbers}
    elif action.kind == "discrete":
        asked = [{"action": label} for label in action.labels]
    elif fitted.leaves.action_mean is not None:
        numbers = {**dict(zip(action.names, fitted.leaves.action_mean.T, strict=True)), **numbers}
    for key, means in numbers.items():
        # Two digits: nobody asks what would make a value of at least 0.83914.
        low, high = (significant(quartile, 2) for quartile in _quartiles(means, fitted.leaves.count))
        asked += [{key: (high, None)}, {key: (None, low)}]
    return {read_foil(fitted, foil).told(): foil for foil in asked}


def _quartiles(means: F64, count: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return the values that a quarter of the samples lie below, and above."""
    order = np.argsort(means, kind="stable")
    share = np.cumsum(count[order]) / count.sum()
    first, last = np.searchsorted(share, (0.25, 0.75))
    return float(means[order[first]]), float(means[order[last]])


def _place(fitted: Fitted) -> EntryPoints:
    """Return where states land in each leaf: with the margin that a second opinion asks for, if there is one."""
    if not has_opinion(fitted):
        return fitted.entry_points
    bounds = (*fitted.bounds, fitted.feature_min, fitted.feature_max, fitted.span, fitted.whole)
    return entry_points(*bounds, MARGIN * fitted.span, short=True)


def _linear(fitted: Fitted) -> dict[str, Any] | None:
    """Return the linear models of all nodes, for the targets that a reader asks about, as the bytes of arrays."""
    linear, mean = fitted.linear, fitted.attributes.state_mean
    if linear is None or mean is None:
        return None
    kept = _told_targets(fitted)
    parts = {name: getattr(linear, name)[:, kept] for name in ("centre", "slope", "low", "high")}
    told = {name: _bytes(part) for name, part in parts.items()}
    predicts = fitted.model is not None
    return {"targets": len(kept), "above": ABOVE, "predicts": predicts, "origin": _bytes(mean), **told}


def _told_targets(fitted: Fitted) -> list[int]:
    """Return the targets that a reader asks about: actions and the value, or derivatives where there are no actions."""
    part = fitted.targets
    kept = list(range(part["derivative"].start))
    if not fitted.schema.has_action:
        kept += [target_of(fitted, read_attribute(fitted, name)).start for name in main_attributes(fitted)]
    return kept


def _bytes(array: npt.NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _fact(fitted: Fitted, about: str, texts: _Texts) -> dict[str, Any]:
    """Return the factual explanations: a whole sentence for each leaf, or what it is put together from."""
    attribute = read_attribute(fitted, about)
    columns = target_of(fitted, attribute)
    facts = _facts(fitted, about)
    moving = [False] * len(facts) if fitted.model is None else [one.linear for one in facts]
    spread = fitted.spread[:, columns.start].tolist()
    kept = _told_targets(fitted)
    return {
        # -1 for a leaf whose prediction depends on where in it the state is.
        "whole": [-1 if linear else texts(str(one)) for linear, one in zip(moving, facts, strict=True)],
        "head": "Action = " if attribute.labels else capital(f"{attribute.name} = "),
        "name": attribute.name,
        "unit": unit(attribute.units[0]),
        "labels": attribute.labels,
        "target": kept.index(columns.start),
        "why": [texts(one.why) if linear else -1 for linear, one in zip(moving, facts, strict=True)],
        "spread": [texts(spread_text(one)) if linear else -1 for linear, one in zip(moving, spread, strict=True)],
        "places": [spread_places(one) if linear else None for linear, one in zip(moving, spread, strict=True)],
        "sure": [
            [texts(text) for text in _sure(fitted, attribute, one)] if linear else []
            for linear, one in zip(moving, facts, strict=True)
        ],
    }


def _sure(fitted: Fitted, attribute: Attribute, fact: Factual) -> list[str]:
    """Return how sure a leaf is of its prediction; of labels, how sure it is of each."""
    if not attribute.labels:
        return [fact.sure]
    shares = zip(attribute.labels, np.asarray(fitted.leaves.shares)[fact.leaf].tolist(), strict=True)
    return [replace(fact, prediction=label, agreeing=share).sure for label, share in shares]


def _facts(fitted: Fitted, about: str) -> list[Factual]:
    """Return the factual explanation of each leaf, as it is for a state that the log knows."""
    # The middle of a leaf may lie outside the log; the browser adds that warning for the state that it is asked about.
    not_beyond = np.zeros(len(fitted.schema.features))
    # Where a leaf has a linear model, the browser tells it, for the state.
    told = (factual(fitted, state, about, models=False) for state in _inside(fitted))
    return [replace(one, beyond=not_beyond) for one in told]


def _inside(fitted: Fitted) -> F64:
    """Return a state in the middle of each leaf, shape (leaves, features)."""
    place = fitted.entry_points
    # Flags and counts are rounded to a whole number in the leaf, if there is one: a state of 0.5 flags does not exist.
    last = np.ceil(place.upper) - 1
    whole = np.clip(np.round(place.middle), np.ceil(place.lower), last)
    fits = fitted.whole[:, None] & (whole >= place.lower) & (whole < place.upper)
    return np.ascontiguousarray(np.where(fits, whole, place.middle).T)


def _clauses(fitted: Fitted, place: EntryPoints, texts: _Texts) -> dict[str, list[int]]:
    """Return what must hold to enter each leaf from below and from above, by feature, as numbers of texts."""
    margin = has_opinion(fitted)
    number = {"riseText": np.full(place.lower.T.shape, -1), "fallText": np.full(place.lower.T.shape, -1)}
    for f, feature in enumerate(fitted.schema.features):
        binary, whole = feature.kind == "binary", bool(fitted.whole[f])
        for leaf in np.flatnonzero(np.isfinite(place.lower[f])).tolist():
            relation = "=" if binary else ">="
            text = changed_clause(feature, relation, float(place.land_low[f, leaf]))
            number["riseText"][leaf, f] = texts(text)
        for leaf in np.flatnonzero(np.isfinite(place.upper[f])).tolist():
            # Below a threshold: "gear <= 2" for a whole number says the same as "gear < 2.5", in numbers that exist.
            exact_bound = not whole and not margin
            relation, border = ("<", place.upper) if exact_bound else ("=" if binary else "<=", place.land_high)
            text = changed_clause(feature, relation, float(border[f, leaf]))
            number["fallText"][leaf, f] = texts(text)
    return {name: part.ravel().tolist() for name, part in number.items()}


def _foil(fitted: Fitted, foil: Foil, texts: _Texts) -> dict[str, Any]:
    count = fitted.leaves.count.tolist()
    # -1 also marks the leaves that do not meet the foil, so that the browser needs no mask.
    support = [
        texts(foil.support(leaf, count[leaf])) if wanted else -1 for leaf, wanted in enumerate(foil.mask.tolist())
    ]
    already = [texts(foil.already(leaf)) if wanted else -1 for leaf, wanted in enumerate(foil.mask.tolist())]
    return {
        "would": foil.would(),
        "told": foil.told(),
        "nowhere": foil.nowhere(),
        "support": support,
        "already": already,
        "demands": _demands(fitted, foil),
    }


def _demands(fitted: Fitted, foil: Foil) -> list[dict[str, Any]] | None:
    """Return what the second model must say for each condition of a foil; None where there is none to ask."""
    if not has_opinion(fitted):
        return None
    kept = _told_targets(fitted)
    return [
        {
            "target": kept.index(demand.columns.start),
            "labels": demand.condition.attribute.labels,
            "wanted": None if demand.wanted is None else demand.wanted.tolist(),
            "least": _bytes(demand.least),
            "below": _bytes(demand.below),
            # What models above the leaf must say: the plain condition, or no label ahead of the wanted ones.
            "low": _bound(demand.condition.interval.low),
            "high": _bound(demand.condition.interval.high),
            "name": demand.condition.attribute.name,
            "head": capital(demand.condition.attribute.name),
            "unit": unit(demand.condition.attribute.units[0]),
        }
        for demand in opinion_of(fitted, foil, None).demands
    ]


def _bound(number: float) -> float | None:
    return number if np.isfinite(number) else None


def _feature(fitted: Fitted, boxes: Extents, f: int) -> dict[str, Any]:
    """Return a feature, its range in the log, and the axis along it as it is drawn."""
    feature = fitted.schema.features[f]
    view = View(fitted, boxes, (f,), {})
    plain = view.axis(0)
    axis = marked(plain)
    return {
        "name": feature.name,
        "unit": feature.unit,
        "whole": bool(boxes.whole[f]),
        "min": float(fitted.feature_min[f]),
        "max": float(fitted.feature_max[f]),
        "span": float(fitted.span[f]),
        "scale": float(decimal_scale(fitted.span[f : f + 1])[0]),
        "label": plain.label,
        "patch": patch(view, f),
        "axis": {"label": axis.label, "low": axis.low, "high": axis.high, "ticks": _ticks(axis, axis.ticks)},
    }


def _ticks(axis: Axis, places: Iterable[float]) -> list[tuple[float, str]]:
    return list(zip(places, axis.tick_labels, strict=True))


def _colours(
    fitted: Fitted, boxes: Extents, names: list[str], log: Log | None
) -> tuple[dict[str, Any], list[tuple[str, ...]]]:
    """Return every colour scale with what each leaf has on it, and the lists of shades that the scales share."""
    colours: dict[str, Any] = {}
    palettes: dict[tuple[str, ...], int] = {}
    for name in names:
        pictured = read_colour(fitted, boxes, name)
        values = pictured.mean.argmax(axis=1) if pictured.scale == "categories" else pictured.mean[:, 0]
        scale = colour_scale(pictured, values)
        colours[name] = {
            "title": pictured.title,
            "label": scale.label,
            "names": scale.categories,
            "values": [_short(x) for x in values.tolist()],
            "shades": shade_of(scale, values).tolist(),
            "fades": fades(pictured, log),
            "palette": palettes.setdefault(shades(scale), len(palettes)),
            "legend": [(entry.label, entry.colour) for entry in category_entries(scale)],
            "bar": None if scale.categories else _bar(bar_axis(scale)),
        }
    return colours, list(palettes)


def _bar(axis: Axis) -> dict[str, Any]:
    """Return the label of a colour bar and its ticks, as shares of its length."""
    return {"label": axis.label, "ticks": _ticks(axis, share(axis, np.array(axis.ticks)).round(4).tolist())}


def _numbers(array: F64) -> list[float | None]:
    """Return all digits of finite numbers; None stands for an infinite bound, whose side is known by its name."""
    return [number if math.isfinite(number) else None for number in array.ravel().tolist()]


def _short(number: float) -> float:
    """Return a number as exact as it is shown."""
    return number if float(number).is_integer() else significant(number, 4)
