"""Maps of a tree, as matplotlib pictures, and what can be drawn upon them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from tripletree.plot.picture import Picture
from tripletree.scenes import leaf_map as scenes
from tripletree.scenes import overlays
from tripletree.scenes.view import View, read_view


class LeafMap(Picture):
    """A drawn map; its methods draw upon it and return it, so that they can be chained."""

    view_: View
    _places = 0

    def samples(self, log: Any, *, most: int = 2_000) -> Self:
        """Draw the samples of a log in the leaves and limits that are seen, at most so many."""
        return self.draw(overlays.samples(self.view_, log, most))

    def episodes(self, log: Any, which: Any = 0) -> Self:
        """Draw the ways of one or several episodes of a log, by their numbers from 0 on."""
        return self.draw(overlays.episodes(self.view_, log, which))

    def state(self, state: Any, label: str = "state") -> Self:
        """Draw one or several states as stars."""
        return self.draw(overlays.state(self.view_, state, label))

    def explanation(self, answer: Any) -> Self:
        """Draw what ``explain(state, foil)`` or ``explain_change(before, after)`` returned, with its sentence."""
        return self.draw(overlays.explanation(self.view_, answer))

    def zone(self, zone: Any, label: str | None = None) -> Self:
        """Outline a zone (as in ``TripleTree.chance``); each has its own colour."""
        return self.draw(overlays.zone(self.view_, zone, label, self._next_place()))

    def trajectories(self, found: Any, label: str | None = None) -> Self:
        """Draw what ``simulate(...)`` returned: the more probable, the more opaque; each call has its own colour."""
        return self.draw(overlays.trajectories(self.view_, found, label, self._next_place()))

    def mark(self, text: str, x: Any, y: Any) -> Self:
        """Write a note at a place; an interval for ``x`` or ``y`` makes a line of it, two make a box."""
        return self.draw(overlays.mark(self.view_, text, x, y))

    def zoom(self, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None) -> Self:
        """Show a part of the map only."""
        scene = self.scene_
        if x is not None:
            scene = replace(scene, x=replace(scene.x, low=float(x[0]), high=float(x[1])))
        if y is not None:
            scene = replace(scene, y=replace(scene.y, low=float(y[0]), high=float(y[1])))
        return self._show(scene)

    def draw(self, layer: overlays.Layer) -> Self:
        """Draw marks of one's own (see ``tripletree.scenes.types``)."""
        return self._show(overlays.add(self.scene_, layer))

    def _next_place(self) -> int:
        self._places += 1
        return self._places - 1


def leaf_map(
    model: Any,
    x: str,
    y: str | None = None,
    *,
    colour: str | None = "action",
    arrows: bool | int = False,
    where: dict[str, Any] | str | None = None,
    at: Any = None,
    limits: tuple[float, float] | None = None,
    ax: Any = None,
) -> LeafMap:
    """Draw what a tree says along one or two features.

    When the tree has just these features, or all others are fixed (a slice), every leaf is a rectangle. Otherwise the
    leaves behind each cell are averaged, weighted by the samples to be expected there (a projection, or partial
    dependence).

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    x, y : str
        Features along the axes; without ``y``, a curve along ``x``.
    colour : str or None
        What is shown: ``"action"`` or an action's name, ``"value"``, ``"derivative of pos"``, ``"impurity of action"``
        (or of value, derivative), ``"density"``, ``"count"``, ``"leaf"``; None for outlines.
    arrows : bool or int
        Whether to show mean moves; a number for so many arrows along each axis of a projection.
    where : dict or None
        Limits of other features, ``{"vx": (-0.1, 0.1), "vy": 0}``: an interval ``low <= x < high`` (None for no bound),
        or a number that fixes a feature; or text, ``"vx in [-0.1, 0.1] and vy = 0"``.
    at : state or None
        Fix all other features as in this state.
    limits : (low, high) or None
        Ends of the colour scale.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure of a paper's column width.

    Returns
    -------
    LeafMap
        With ``ax_``, ``figure_``, ``scene_`` and ``save(path)``; ``samples``, ``episodes``, ``state``, ``explanation``,
        ``zone``, ``trajectories`` and ``mark`` draw upon it.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> log = road.record("left", n_samples=500)
    >>> tree = TripleTree(max_leaves=10, truncation="bootstrap").fit(log)
    >>> picture = plot.leaf_map(tree, "pos", "speed", colour="value", arrows=True).episodes(log, 0)
    >>> picture
    <LeafMap: Mean value by pos and speed>
    >>> picture.save("value.pdf").scene_.subtitle
    '10 leaves'
    """
    view = read_view(model, x, y, where=where, at=at)
    picture = LeafMap(scenes.leaf_map(view, colour, arrows=arrows, limits=limits), ax)
    picture.view_ = view
    return picture
