"""Answers as JSON: large arrays as the bytes of typed arrays, scenes with their ticks and the colour of every mark."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import plain
from tripletree.scenes.guides import bar_axis, category_entries, marked, shade_of, shades, share
from tripletree.scenes.types import Axis, ColourScale, Plain, Scene

FEW = 32
"""Numbers up to which an array is sent as a list."""
_TYPES = {"f": "f8", "i": "i4", "u": "u1", "b": "u1"}


def packed(value: Any, dtype: str | None = None) -> Any:
    """Return ``value`` as JSON types; an array with more than a few numbers as its type, its shape and its bytes.

    Parameters
    ----------
    value : any
        What an answer holds.
    dtype : {"f4", "f8", "i4", "u1"} or None
        How the numbers of an array are sent; None: by their kind.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in _TYPES:
        if value.size <= FEW:
            return plain(value)
        kind = dtype or ("i4" if value.dtype.kind == "u" and value.dtype.itemsize > 1 else _TYPES[value.dtype.kind])
        data = np.ascontiguousarray(value, np.dtype(f"<{kind}"))
        return {"dtype": kind, "shape": list(value.shape), "data": base64.b64encode(data.tobytes()).decode()}
    if isinstance(value, Plain):
        parts = {field.name: packed(getattr(value, field.name)) for field in fields(value)}  # type: ignore[arg-type]
        return {"type": type(value).__name__.lower(), **parts}
    if isinstance(value, Mapping):
        return {str(key): packed(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [packed(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "to_dict"):
        return {field.name: packed(getattr(value, field.name)) for field in fields(value)}
    return plain(value)


def encoded(answer: Any) -> bytes:
    """Return JSON types as the text of a reply."""
    return json.dumps(answer, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")


def scene_of(scene: Scene) -> dict[str, Any]:
    """Return a scene as it is drawn in a browser: axes with ticks, marks with colours, the scale's legend."""
    marks = [_mark(mark, scene.colours) for mark in scene.marks]
    told: dict[str, Any] = packed(replace(scene, marks=()))
    return told | {"x": _axis(scene.x), "y": _axis(scene.y), "marks": marks} | guide_of(scene.colours)


def guide_of(scale: ColourScale | None) -> dict[str, Any]:
    """Return the colours of a scale, and what stands beside it."""
    if scale is None:
        return {"palette": [], "entries": [], "bar": None}
    bar = None if scale.categories else bar_axis(scale)
    return {
        "palette": list(shades(scale)),
        "entries": [[entry.label, entry.colour] for entry in category_entries(scale)],
        "bar": None
        if bar is None
        else {
            "label": bar.label,
            "ticks": _pairs(share(bar, np.array(bar.ticks)).round(4), bar.tick_labels),
        },
    }


def ticks_of(axis: Axis) -> list[list[Any]]:
    """Return the ticks of an axis with their texts."""
    return _pairs(np.array(marked(axis).ticks), marked(axis).tick_labels)


def _axis(axis: Axis) -> dict[str, Any]:
    done = marked(axis) if axis.shown else axis
    return {**packed(done), "ticks": _pairs(np.array(done.ticks), done.tick_labels)}


def _pairs(places: npt.NDArray[Any], texts: tuple[str, ...]) -> list[list[Any]]:
    return [[place, text] for place, text in zip(places.tolist(), texts, strict=True)]


def _mark(mark: Any, scale: ColourScale | None) -> dict[str, Any]:
    value = getattr(mark, "value", None)
    shaded = value is not None and scale is not None
    told: dict[str, Any] = packed(replace(mark, value=None) if shaded else mark)
    if value is not None and scale is not None:
        # What is seen is a shade; the number itself is read to four digits.
        told["value"] = packed(value, "f4")
        code = shade_of(scale, value)
        told["code"] = packed(code, "i4" if code.max(initial=0) > 255 or code.min(initial=0) < 0 else "u1")
    return told
