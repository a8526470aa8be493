"""Grids of cells as small PNG pictures: thousands of cells as shapes would be slow to show."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

from tripletree.scenes.guides import palette, shade_of
from tripletree.scenes.types import ColourScale

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]


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
    colours = palette(scale)
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
    table = np.concatenate([colours, np.zeros((1, 3), np.uint8)])
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", table.tobytes()),
            _chunk(b"tRNS", b"\xff" * len(colours) + b"\x00"),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
