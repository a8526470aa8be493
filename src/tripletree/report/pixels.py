"""Colours of values, and grids of cells as small PNG pictures: thousands of cells as shapes would be slow to show."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

from tripletree.scenes.types import ColourScale

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

LEVELS = 200
"""Colours of a continuous scale: more than an eye can tell apart."""


def shades(scale: ColourScale) -> tuple[str, ...]:
    """Return the colours that a scale is shown with."""
    if scale.kind == "categories":
        return scale.stops
    return tuple("#" + bytes(colour).hex() for colour in _palette(scale).tolist())


def shade_of(scale: ColourScale, values: F64) -> npt.NDArray[np.int64]:
    """Return which of the :func:`shades` each value has; -1 for what is not a number."""
    known = np.isfinite(values)
    safe = np.where(known, values, scale.low)
    if scale.kind == "categories":
        code = np.round(safe).astype(np.int64)
    else:
        if scale.kind == "log":
            share = np.log(np.maximum(safe, scale.low) / scale.low) / np.log(scale.high / scale.low)
        else:
            share = (safe - scale.low) / (scale.high - scale.low)
        code = np.round(np.clip(share, 0, 1) * (LEVELS - 1)).astype(np.int64)
    return np.where(known, code, -1)


def _palette(scale: ColourScale) -> U8:
    stops = np.array([[int(stop[k : k + 2], 16) for k in (1, 3, 5)] for stop in scale.stops], np.float64)
    if scale.kind == "categories":
        return stops.astype(np.uint8)
    at = np.linspace(0, len(stops) - 1, LEVELS)
    return np.stack([np.interp(at, np.arange(len(stops)), part) for part in stops.T], axis=1).round().astype(np.uint8)


def picture(scale: ColourScale, x: F64, y: F64, value: F64, width: int, height: int) -> str:
    """Return a data address of a grid of cells, as an indexed PNG.

    Parameters
    ----------
    scale : ColourScale
        Colours of the values.
    x, y : float64 arrays
        Edges of the cells in pixels, either way up.
    value : float64 array of shape (len(y) - 1, len(x) - 1)
        The cells.
    width, height : int
        Size in pixels.
    """
    columns, rows = _cells(x, width), _cells(y, height)
    inside = (rows >= 0)[:, None] & (columns >= 0)[None, :]
    code = shade_of(scale, value)[np.maximum(rows, 0)][:, np.maximum(columns, 0)]
    colours = _palette(scale)
    code = np.where(inside & (code >= 0), code, len(colours))
    return f"data:image/png;base64,{base64.b64encode(_png(code.astype(np.uint8), colours)).decode()}"


def _cells(edges: F64, size: int) -> npt.NDArray[np.int64]:
    """Return the cell that the middle of each pixel lies in, -1 for none."""
    up = edges[-1] >= edges[0]
    ordered = edges if up else edges[::-1]
    cell = np.searchsorted(ordered, np.arange(size) + 0.5, side="right") - 1
    known = (cell >= 0) & (cell < len(edges) - 1)
    return np.where(known, cell if up else len(edges) - 2 - cell, -1)


def _png(code: U8, colours: U8) -> bytes:
    """Return an indexed PNG; the colour after the last is transparent."""
    height, width = code.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), code], axis=1)
    palette = np.concatenate([colours, np.zeros((1, 3), np.uint8)])
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", palette.tobytes()),
            _chunk(b"tRNS", b"\xff" * len(colours) + b"\x00"),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
