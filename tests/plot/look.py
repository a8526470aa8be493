"""How tests look at a figure: its parts, and where its texts are."""

from __future__ import annotations

from typing import Any


def inside(figure: Any) -> None:
    """Every text lies within the figure, and none of a title crosses another."""
    figure.canvas.draw()
    whole = figure.bbox
    texts = [figure._suptitle, *figure.texts, *figure.artists]
    for ax in figure.axes:
        texts += [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
        texts += [] if ax.get_legend() is None else ax.get_legend().get_texts()
    texts += [text for legend in figure.legends for text in legend.get_texts()]
    for text in filter(None, texts):
        if not text.get_visible() or not getattr(text, "get_text", lambda: "x")():
            continue
        box = text.get_window_extent()
        assert box.x0 >= whole.x0 - 1, text
        assert box.x1 <= whole.x1 + 1, text
        assert box.y0 >= whole.y0 - 1, text
        assert box.y1 <= whole.y1 + 1, text


def artist(picture: Any, kind: type) -> Any:
    """The one thing of a kind that is drawn on a picture's axes."""
    (found,) = [part for part in picture.ax_.get_children() if type(part) is kind]
    return found
