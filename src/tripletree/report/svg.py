"""Draws a scene as SVG; ink follows the page, so that a picture works in light mode, in dark mode and in print."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace

from tripletree.markup import Markup, empty, tag, together
from tripletree.report import words
from tripletree.report.marks import DRAWERS, Canvas, Scale, on_paper
from tripletree.scenes.colours import PAPER
from tripletree.scenes.guides import bar_axis, category_entries, marked
from tripletree.scenes.types import ColourScale, Entry, Mesh, Rectangles, Scene, Sheet, Surface
from tripletree.text import shortened, visible

WIDTH, HEIGHT = 460.0, 320.0
"""Size of a picture when two stand in a row."""
BELOW = 42.0
"""Room for the labels of the x axis."""
# Only a browser can measure text, and the picture must be finished before one sees it.
CHARACTER = 6.1
"""Width of a typical character of a label."""
LETTER = 7.5
"""Width of a wide one, as phones show it: names are cut by it."""
MOST_ROOM = 0.3
"""Share of a picture's width that texts at the ticks of its y axis may take."""
LINE = 13.0
"""Height of a line of such text."""


class Drawer:
    """Draws the scenes of one page, each with names of its own: clips, bars and titles are found by them."""

    def __init__(self) -> None:
        self._drawn = 0

    def figure(self, scene: Scene, width: float = WIDTH, height: float = HEIGHT) -> Markup:
        """Return a picture with its legend, title and remarks."""
        entries = [*category_entries(scene.colours), *scene.legend]
        remark = ". ".join(part.rstrip(".") for part in (scene.subtitle, scene.note) if part)
        caption = [tag("strong", f"{scene.title.rstrip('.')}."), *([f" {remark}."] if remark else [])]
        return tag(
            "figure",
            self.svg(scene, width, height),
            self.legend(entries, _has_tiles(scene)) if entries else Markup(),
            tag("figcaption", *caption),
        )

    def legend(self, entries: Sequence[Entry], tiles: bool = False) -> Markup:
        """Return what symbols mean; ``tiles`` says whether they lie on coloured areas."""
        return tag("ul", *(tag("li", _swatch(entry, tiles), entry.label) for entry in entries), class_="legend")

    def stack(self, sheet: Sheet, width: float = 640.0, height: float = 64.0) -> Markup:
        """Return the pictures of a sheet below each other, along one common axis; rows of words alone are left out."""
        scenes = [scene for row in sheet.rows for scene in row]
        tall = sheet.heights or (1.0,) * len(scenes)
        drawn = [(scene, share) for scene, share in zip(scenes, tall, strict=True) if scene.x.shown or scene.y.shown]
        # All rows leave the same room, so that a step is at the same place in each of them.
        left = max(_left(_marked(scene), width) for scene, _ in drawn)
        right = max(_right(_marked(scene)) for scene, _ in drawn)
        pictures = [
            self.svg(scene, width, height * share + (BELOW if scene.x.shown else 10), left, right)
            for scene, share in drawn
        ]
        caption = tag("figcaption", tag("strong", f"{sheet.title}."), f" {sheet.subtitle.rstrip('.')}.")
        return tag("figure", *pictures, self.legend(sheet.legend), caption, class_="stack")

    def svg(
        self,
        scene: Scene,
        width: float = WIDTH,
        height: float = HEIGHT,
        left: float | None = None,
        right: float = 0.0,
    ) -> Markup:
        """Return the picture alone; ``left`` is the room for labels of the y axis, None for what they need.

        ``right`` is the least room at the other end.
        """
        self._drawn += 1
        # In this order: ticks may divide an axis by a power of ten and change its label, but words do not.
        said, scene = _said(scene), _marked(scene)
        name = f"picture-{self._drawn}"
        bar = scene.colours if scene.colours is not None and scene.colours.kind != "categories" else None
        x, y, beside = _room(scene, bar, width, height, _left(scene, width) if left is None else left, right)
        clip = f"{name}-clip"
        canvas = Canvas(x, y, scene.colours, _has_tiles(scene))
        marks = together(part for mark in scene.marks for part in DRAWERS[type(mark)](mark, canvas))
        frame = {"x": x.begin, "y": y.end, "width": x.end - x.begin, "height": y.begin - y.end}
        # Rows of a stack have no titles of their own, but each picture needs a name for those who do not see it.
        title = scene.title or scene.y.label or scene.x.label
        described = tag("title", title, id=f"{name}-title") + tag("desc", said, id=f"{name}-text")
        return tag(
            "svg",
            Markup(described),
            tag("clipPath", empty("rect", **{key: round(size, 1) for key, size in frame.items()}), id=clip),
            tag("g", marks, clip_path=f"url(#{clip})"),
            _axes(scene, x, y, height),
            _bar(bar, name, beside, y) if bar is not None else Markup(),
            viewBox=f"0 0 {width:g} {height:g}",
            role="img",
            aria_labelledby=f"{name}-title {name}-text",
        )


def _marked(scene: Scene) -> Scene:
    """Return a picture whose axes have ticks."""
    return replace(scene, x=marked(scene.x), y=marked(scene.y))


def _said(scene: Scene) -> str:
    """Return what a picture shows, for people who cannot see it."""
    scale = scene.colours
    colours = "" if scale is None else words.colours(scale.label, scale.low, scale.high, scale.categories)
    # An axis without a label has names at its ticks, and its numbers mean nothing.
    x, y = (((axis.label, axis.low, axis.high) if axis.shown and axis.label else None) for axis in (scene.x, scene.y))
    return words.picture(x, y, colours)


def _has_tiles(scene: Scene) -> bool:
    """Return whether marks lie on coloured areas, which are the same on a light and on a dark page."""
    return any(
        isinstance(m, Mesh | Surface) or (isinstance(m, Rectangles) and m.value is not None) for m in scene.marks
    )


def _left(scene: Scene, width: float) -> float:
    """Return the room that labels of the y axis need, and may have."""
    if not scene.y.shown:
        return 4.0
    ticks = [line for _, label in Scale(scene.y, 0, 1).ticks() for line in visible(label).split("\n")]
    longest = CHARACTER * max(map(len, ticks), default=1)
    # An upright label stands beside the ticks with its full width; others are turned, and take one line's height.
    beside = 28.0 if scene.y.label else 12.0
    if scene.y.upright:
        beside = 18 + CHARACTER * max(map(len, _wrapped(scene.y.label)))
    # Longer ones are cut: names of a hundred letters would leave less than nothing for the picture.
    return min(longest, MOST_ROOM * width) + beside


def _wrapped(label: str) -> list[str]:
    return textwrap.wrap(visible(label), 16, max_lines=3, placeholder="…") or [""]


def _right(scene: Scene) -> float:
    """Return the room that labels of the x axis need at its end."""
    # The text of a tick at the very end of the axis is centred there, so half of it is beyond.
    last = Scale(scene.x, 0, 1).ticks()[-1:] if scene.x.shown else []
    return 6 + (CHARACTER * len(last[0][1]) / 2 if last and last[0][0] > 0.93 else 0)


def _room(
    scene: Scene, bar: ColourScale | None, width: float, height: float, left: float, least: float
) -> tuple[Scale, Scale, float]:
    """Return both axes, after leaving room for labels and a colour bar, and where the bar begins."""
    bottom, right = BELOW if scene.x.shown else 4.0, max(_right(scene), least)
    if bar is not None:
        longest = max(len(label) for _, label in Scale(bar_axis(bar), 0, 1).ticks())
        right = 46 + CHARACTER * longest
    x, y = Scale(scene.x, left, width - right), Scale(scene.y, height - bottom, 8 if scene.x.shown else 4)
    if scene.equal:
        x, y = _equal(x, y)
    return x, y, width - right + 12


def _equal(x: Scale, y: Scale) -> tuple[Scale, Scale]:
    """Return both axes with units of the same length, in the middle of the room."""
    spans = (x.axis.high - x.axis.low, y.axis.high - y.axis.low)
    unit = min((x.end - x.begin) / spans[0], (y.begin - y.end) / spans[1])
    across, up = unit * spans[0], unit * spans[1]
    middle, centre = (x.begin + x.end) / 2, (y.begin + y.end) / 2
    return Scale(x.axis, middle - across / 2, middle + across / 2), Scale(y.axis, centre + up / 2, centre - up / 2)


def _axes(scene: Scene, x: Scale, y: Scale, height: float) -> Markup:
    parts: list[Markup] = []
    if scene.x.shown:
        floor = y.begin
        ticks = x.ticks()
        parts.append(_line([f"M{at:.1f} {floor:.1f}v4" for at, _ in ticks], x.begin, x.end, floor))
        parts += [_text(label, at, floor + 17, "middle") for at, label in ticks]
        label = shortened(visible(scene.x.label), int((x.end - x.begin) / LETTER))
        parts.append(_text(label, (x.begin + x.end) / 2, height - 6, "middle"))
    if scene.y.shown:
        ticks = y.ticks()
        parts.append(
            empty(
                "path",
                d="".join(f"M{x.begin:.1f} {at:.1f}h-4" for at, _ in ticks)
                + f"M{x.begin:.1f} {y.end:.1f}V{y.begin:.1f}",
            )
        )
        # A stack leaves all its rows the room that one of them needs, so what is left of it is not asked here.
        letters = max(int(MOST_ROOM * (x.begin + x.end) / CHARACTER), 4)
        for at, label in ticks:
            lines = [shortened(line, letters) for line in visible(label).split("\n")]
            first = at + 4 - LINE / 2 * (len(lines) - 1)
            parts += [_text(line, x.begin - 7, first + LINE * k, "end") for k, line in enumerate(lines)]
        middle = (y.begin + y.end) / 2
        if scene.y.upright:
            lines = _wrapped(scene.y.label)
            first = middle + 4 - LINE / 2 * (len(lines) - 1)
            parts += [_text(line, 0, first + LINE * k, "start") for k, line in enumerate(lines)]
        elif scene.y.label:
            parts.append(_upright(shortened(visible(scene.y.label), int((y.begin - y.end) / LETTER)), 11, middle))
    return tag("g", *parts, class_="axes") if parts else Markup()


def _line(ticks: list[str], begin: float, end: float, floor: float) -> Markup:
    return empty("path", d=f"{''.join(ticks)}M{begin:.1f} {floor:.1f}H{end:.1f}")


def _text(label: str, x: float, y: float, anchor: str) -> Markup:
    return tag("text", label, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def _upright(label: str, x: float, y: float) -> Markup:
    return tag("text", label, transform=f"translate({x:.1f} {y:.1f}) rotate(-90)", text_anchor="middle")


def _bar(scale: ColourScale, name: str, left: float, y: Scale) -> Markup:
    """Return the colour bar at the right of a picture."""
    along = Scale(bar_axis(scale), y.begin, y.end)
    stops = together(
        empty("stop", offset=f"{k / (len(scale.stops) - 1):.3g}", stop_color=stop) for k, stop in enumerate(scale.stops)
    )
    ticks = along.ticks()
    beside = left + 30 + CHARACTER * max(len(label) for _, label in ticks)
    return tag(
        "g",
        tag("linearGradient", stops, id=f"{name}-bar", x1=0, x2=0, y1=1, y2=0),
        empty(
            "rect",
            x=f"{left:.1f}",
            y=f"{y.end:.1f}",
            width=10,
            height=f"{y.begin - y.end:.1f}",
            fill=f"url(#{name}-bar)",
        ),
        *(_text(label, left + 15, at + 4, "start") for at, label in ticks),
        _upright(shortened(visible(along.axis.label), int((y.begin - y.end) / LETTER)), beside, (y.begin + y.end) / 2),
        class_="axes",
    )


def _disc(ink: str) -> Markup:
    return empty("circle", cx=7, cy=7, r=4.5, fill=ink)


_SYMBOLS: dict[str, Callable[[str], Markup]] = {
    "area": lambda ink: empty("rect", width=14, height=14, rx=3, fill=ink),
    "outline": lambda ink: empty(
        "rect", x=1, y=1, width=12, height=12, rx=2, fill="none", stroke=ink, stroke_width=1.6
    ),
    "square": lambda ink: empty("rect", x=2, y=2, width=10, height=10, fill=ink),
    "arrow": lambda ink: empty("path", d="M0 7H12M8.5 3.5L12.5 7L8.5 10.5", stroke=ink, stroke_width=1.4, fill="none"),
    "hatching": lambda ink: empty("path", d="M0 7L7 0M0 14L14 0M7 14L14 7", stroke=ink, stroke_width=1),
    "line": lambda ink: empty("path", d="M0 7h14", stroke=ink, stroke_width=2),
    "dashes": lambda ink: empty("path", d="M0 7h14", stroke=ink, stroke_width=2, stroke_dasharray="4 2"),
}


def _swatch(entry: Entry, tiles: bool) -> Markup:
    """Return the symbol of an entry."""
    shape = _SYMBOLS.get(entry.symbol, _disc)(entry.colour if tiles else on_paper(entry.colour))
    # On tiles, ink stays dark: beside them, on a dark page, it would not be seen without a light ground.
    ground = (
        empty("rect", width=14, height=14, rx=3, fill=PAPER)
        if tiles and on_paper(entry.colour) != entry.colour
        else Markup()
    )
    opacity = None if entry.opacity == 1 else entry.opacity
    return tag(
        "svg", ground, tag("g", shape, opacity=opacity), viewBox="0 0 14 14", class_="swatch", aria_hidden="true"
    )
