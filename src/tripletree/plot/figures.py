"""The pictures of a tree, one function for each: it makes a scene and draws it with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from tripletree.answers.failures import Failures
from tripletree.asking.levels import Wanted
from tripletree.model.evaluate import check_log
from tripletree.plot.captions import WIDTH, columns_that_fit
from tripletree.plot.picture import Picture, SheetPicture
from tripletree.plot.style import COLUMN, PAGE, SMALL
from tripletree.scenes import overlays
from tripletree.scenes.attribution import bars as attribution_scene
from tripletree.scenes.attribution import beeswarm as beeswarm_scene
from tripletree.scenes.change import change as change_sheet
from tripletree.scenes.charts import curves as curves_sheet
from tripletree.scenes.charts import importances as importance_scene
from tripletree.scenes.charts import simplex as simplex_sheet
from tripletree.scenes.cycle import cycle as cycle_sheet
from tripletree.scenes.effects import effects as effects_scenes
from tripletree.scenes.fan import after as after_sheet
from tripletree.scenes.graph import transitions as transitions_scene
from tripletree.scenes.leaf_map import leaf_map as map_scene
from tripletree.scenes.margins import requirements as requirements_sheet
from tripletree.scenes.overview import overview as overview_sheet
from tripletree.scenes.risk import failures_sheet
from tripletree.scenes.strip import episode as episode_sheet
from tripletree.scenes.tree import diagram as tree_scene
from tripletree.scenes.view import View, read_view

PICTURE_ROW = 2.55
"""Height of a row of pictures in an overview, in inches."""
FAN_ROW = 0.62
"""Height of a row of a fan, in inches."""
CURVE_ROW, CURVE = 1.75, 1.8
"""Height of a row of effect curves and width of one, in inches."""
REQUIREMENT_ROW = 2.1
"""Height of the pictures of a requirement, in inches."""
STRIP_ROW = 0.5
"""Height of a row of an episode strip, in inches."""


class LeafMap(Picture):
    """A drawn map; its methods draw on it and return it, so that calls can be chained."""

    view_: View
    _places = 0

    def samples(self, log: Any, *, most: int = 2_000) -> Self:
        """Draw the samples of a log that lie in the visible leaves and limits, at most ``most`` of them."""
        return self.draw(overlays.samples(self.view_, log, most))

    def episodes(self, log: Any, which: Any = 0, *, most: int = overlays.MOST_EPISODES) -> Self:
        """Draw the course of one or several episodes of a log, by their positions from 0; at most ``most`` of them.

        The longer the lines, the thinner and paler they are, so that the map below stays visible.
        """
        return self.draw(overlays.episodes(self.view_, log, which, most))

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
        """Draw what ``simulate(...)`` returned; each call has its own colour.

        In a fan of recorded ways, the more episodes one stands for, the wider it is; of the paper's ways, the more
        probable, the more opaque.
        """
        return self.draw(overlays.trajectories(self.view_, found, label, self._next_place()))

    def after(self, steps: int, start: Any = None, label: str | None = None, *, log: Any = None) -> Self:
        """Draw where recorded episodes are this many steps after a start, and the way there; each has its own colour.

        Arguments are as in :func:`after`; ``label`` is what the legend calls the start.
        """
        return self.draw(overlays.after(self.view_, steps, start, log, label, self._next_place()))

    def mark(self, text: str, x: Any, y: Any) -> Self:
        """Write a note at a place; an interval for ``x`` or ``y`` draws a line, two draw a box."""
        return self.draw(overlays.mark(self.view_, text, x, y))

    def zoom(self, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None) -> Self:
        """Show only a part of the map."""
        scene = self.scene_
        if x is not None:
            scene = replace(scene, x=replace(scene.x, low=float(x[0]), high=float(x[1])))
        if y is not None:
            scene = replace(scene, y=replace(scene.y, low=float(y[0]), high=float(y[1])))
        return self._show(scene)

    def draw(self, layer: overlays.Layer) -> Self:
        """Draw your own marks (see ``tripletree.scenes.types``)."""
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
    linear: bool = False,
    log: Any = None,
    ax: Any = None,
) -> LeafMap:
    """Draw what a tree predicts along one or two features.

    When the tree has just these features, or all others are fixed (a slice), every leaf is a rectangle. Otherwise the
    leaves behind each cell are averaged, weighted by the samples expected there (a projection, or partial dependence).
    Where the log says nothing, the map is faded.

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
        Whether to show mean moves; for a projection, a number of arrows along each axis.
    where : dict or None
        Limits of other features, ``{"vx": (-0.1, 0.1), "vy": 0}``: an interval ``low <= x < high`` (None for no bound),
        or a number that fixes a feature; or text, ``"vx in [-0.1, 0.1] and vy = 0"``.
    at : state or None
        Fix all other features as in this state.
    limits : (low, high) or None
        Ends of the colour scale.
    linear : bool
        Shade each leaf by its linear model instead of its mean; on a map of two features, all others fixed.
    log : Log or None
        What the map is faded by: places without a state of this log nearby, in a patch a tenth of the map wide and
        high. None: places where a patch would hold less than one sample if each leaf were filled evenly; the tree
        itself does not know where in a leaf its samples lie.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure of a paper's column width.

    Returns
    -------
    LeafMap
        With ``ax_``, ``figure_``, ``scene_`` and ``save(path)``; ``samples``, ``episodes``, ``state``, ``explanation``,
        ``zone``, ``trajectories``, ``after`` and ``mark`` draw on it.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> log = road.record("left", n_samples=500)
    >>> tree = TripleTree(max_leaves=10).fit(log)
    >>> picture = plot.leaf_map(tree, "pos", "speed", colour="value", arrows=True).episodes(log, 0)
    >>> picture
    <LeafMap: Mean value by pos and speed>
    >>> picture.save("value.pdf").scene_.subtitle
    '10 leaves'
    """
    check_log(log, "log", none="the samples of each leaf, spread evenly")
    view = read_view(model, x, y, where=where, at=at)
    picture = LeafMap(map_scene(view, colour, arrows=arrows, limits=limits, linear=linear, log=log), ax)
    # What is drawn on the map later must know its axes.
    picture.view_ = view
    return picture


def overview(model: Any, *, log: Any = None, figure: Any = None) -> SheetPicture:
    """Draw a tree at a glance: action, value, density with moves, and impurity.

    With more than two features, each attribute is shown along the two features that explain it best; the picture says
    how much they explain: the variance of the means over these two, divided by the variance between leaves.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    log : Log or None
        What the maps are faded by, as in :func:`leaf_map`.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Returns
    -------
    SheetPicture
        With ``figure_``, ``axes_``, ``sheet_`` and ``save(path)``.
    """
    check_log(log, "log", none="the samples of each leaf, spread evenly")
    sheet = overview_sheet(model, log)
    return SheetPicture(sheet, figure, (PAGE, PICTURE_ROW * len(sheet.rows) + 0.4))


def tree(model: Any, depth: int = 3, *, ax: Any = None) -> Picture:
    """Draw the top levels of a tree, and what each split separates.

    Every box shows which condition leads to it, its share of the samples, how many leaves are below it, and what it
    predicts. Bars show which share of the box's impurity of action, value and derivative its split removes; lines are
    as wide as the share of the samples that goes through them; a stripe shows the shares of a discrete action.

    Parameters
    ----------
    model : TripleTree
        The tree.
    depth : int
        Levels of splits to show, from 1 to 6.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure that is large enough for all text (7 inches wide for three levels).

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> model = TripleTree(20).fit(road.record("left", n_samples=1000))
    >>> plot.tree(model, depth=2)
    <Picture: Top 2 levels of a tree with 20 leaves>
    """
    scene = tree_scene(model, depth)
    width, height = scene.x.high - scene.x.low, scene.y.high - scene.y.low
    # The scene is measured in points; the figure also has margins, the words above and the legend below.
    inches = max(width / 72 + 0.15, COLUMN)
    lengths = [len(entry.label) for entry in scene.legend]
    room = int(inches * 72 / (SMALL * WIDTH))
    rows = -(-len(lengths) // columns_that_fit(lengths, room)) if lengths else 0
    return Picture(scene, ax, (inches, height / 72 + 0.65 + 0.16 * rows))


def transitions(
    model: Any,
    x: str | None = None,
    y: str | None = None,
    *,
    colour: str = "value",
    share: float = 0.9,
    most: int = 100,
    log: Any = None,
    ax: Any = None,
) -> Picture:
    """Draw how the agent moves from leaf to leaf.

    A node is a leaf: the larger, the more time is spent there. An arrow is a move: the wider, the more probable it is
    on leaving the leaf, and the darker, the more often it happens. If there are many moves, only the most frequent are
    drawn, and the picture says what share of all moves they are. The end of episodes is a node of its own.

    Parameters
    ----------
    model : TripleTree
        The tree.
    x, y : str or None
        Features that place each leaf, by its middle; None: a layout that keeps neighbours close.
    colour : str
        What is shown by colour, as in :func:`leaf_map`.
    share : float
        Draw the most frequent moves until they are this share of all moves ...
    most : int
        ... or this many arrows are drawn.
    log : Log or None
        Whose moves to draw; None: the training log's.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> model = TripleTree(20).fit(road.record("left", n_samples=1000))
    >>> plot.transitions(model, share=0.5).scene_.subtitle
    '7 of 31 arrows, 54 % of all moves, between 7 of 20 leaves'
    """
    scene = transitions_scene(model, x, y, colour=colour, share=share, most=most, log=log)
    return Picture(scene, ax, (4.6, 3.9))


def importance(model: Any, *, most: int = 6, ax: Any = None) -> Picture:
    """Draw how much each feature matters to action, value and derivative (see ``TripleTree.importance``).

    Parameters
    ----------
    model : TripleTree
        The tree.
    most : int
        Maximum number of features shown one by one, the most important first; the others are summed up.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure of a paper's column width.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> tree = TripleTree(20).fit(road.record("left", n_samples=1000))
    >>> plot.importance(tree).scene_.y.tick_labels
    ('pos', 'speed')
    """
    scene = importance_scene(model, most)
    return Picture(scene, ax, (COLUMN, 1.15 + 0.34 * len(scene.y.ticks)))


def effects(
    model: Any,
    log: Any = None,
    *,
    about: str = "action",
    features: Sequence[str] | None = None,
    figure: Any = None,
) -> SheetPicture:
    """Draw how the prediction moves with each feature, all else fixed (see ``TripleTree.effects``).

    One small picture a feature, the strongest first, all on the same scale; the bars at the foot show where the states
    are (the root of how many). A band, where there is one, shows where the curve of another log would be.

    Parameters
    ----------
    model : TripleTree, or what ``TripleTree.effects`` or ``TripleTree.stability(...).effects`` is
        The tree, or curves to draw as they are.
    log : Log or None
        Where states come from; None: those that the model keeps.
    about : str
        The attribute, as in :meth:`TripleTree.effects`.
    features : sequence of str or None
        Features to show; None: those with an effect, at most eight.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> tree = TripleTree(20).fit(road.record("left", n_samples=1000))
    >>> plot.effects(tree, about="value")
    <SheetPicture: How value moves with each feature>
    """
    sheet = effects_scenes(model, log, about, features)
    width = min(PAGE, 0.6 + CURVE * max(map(len, sheet.rows)))
    return SheetPicture(sheet, figure, (max(width, COLUMN), CURVE_ROW * len(sheet.rows) + 0.4 + 3.2 / width))


def attribution(
    model: Any,
    state: Any,
    *,
    about: str = "action",
    method: str | None = None,
    background: Any = None,
    most: int = 12,
    ax: Any = None,
) -> Picture:
    """Draw what each feature added to one prediction (see ``TripleTree.attribute``).

    Parameters
    ----------
    model : TripleTree
        The tree.
    state : state or text
        The state.
    about : str
        One number: an action's name, ``"value"``, ``"derivative of pos"``; of a discrete action ``"action"``, for the
        label that the tree predicts, or ``"action = left"``.
    method, background
        As in ``TripleTree.attribute``.
    most : int
        Maximum number of features shown one by one, the largest first; the others are summed up.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure of a paper's column width.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> tree = TripleTree(20).fit(road.record("left", n_samples=1000))
    >>> plot.attribution(tree, "pos=1.2, speed=0.03", about="value").scene_.y.tick_labels
    ('speed = 0.03', 'pos = 1.2')
    """
    scene = attribution_scene(model, state, about, method, background, most)
    return Picture(scene, ax, (COLUMN, 1.35 + 0.24 * len(scene.y.ticks)))


def beeswarm(
    model: Any,
    log: Any,
    *,
    about: str = "action",
    method: str | None = None,
    background: Any = None,
    most: int = 12,
    dots: int = 1_000,
    ax: Any = None,
) -> Picture:
    """Draw what each feature adds to the predictions along a log: a row of dots for each, the most important first.

    A dot is a state, placed by what the feature contributed there and coloured by the value of the feature.

    Parameters
    ----------
    model : TripleTree
        The tree.
    log : Log
        Whose states.
    about, method, background
        As in :func:`attribution`.
    most : int
        Maximum number of features shown one by one; the others are summed up.
    dots : int
        Maximum number of states, a random sample of the log.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> log = road.record("left", n_samples=1000)
    >>> plot.beeswarm(TripleTree(20).fit(log), log, about="value")
    <Picture: What moves value>
    """
    scene = beeswarm_scene(model, log, about, method, background, most, dots)
    return Picture(scene, ax, (4.4, 1.2 + 0.36 * len(scene.y.ticks)))


def episode(
    model: Any,
    log: Any,
    number: int = 0,
    *,
    features: Sequence[str] | None = None,
    about: str = "action",
    levels: Wanted = "auto",
    shortest: int = 3,
    most: int = 6,
    figure: Any = None,
) -> SheetPicture:
    """Draw an episode: features, action and value over time, its phases, and why each of them begins.

    Each behaviour has its own colour. Where a feature explains the beginning of a phase, a disc marks it, and a short
    line marks the border that it crossed. The story of the episode is written below.

    Parameters
    ----------
    model : TripleTree
        The tree.
    log : Log
        Where the episode is.
    number : int
        Its position in the log, from 0.
    features : sequence of str or None
        Features to show; None: all, or of more than twelve those that vary most in the log.
    about, levels, shortest, most
        How phases are made, as in :meth:`TripleTree.story`.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> log = road.record("left", n_samples=1000)
    >>> model = TripleTree(20).fit(log)
    >>> plot.episode(model, log, 3)
    <SheetPicture: Episode 3: 121 steps, 4 phases>
    """
    sheet = episode_sheet(
        model, log, number, features=features, about=about, levels=levels, shortest=shortest, most=most
    )
    return SheetPicture(sheet, figure, (PAGE, STRIP_ROW * sum(sheet.heights) * 1.15 + 0.75))


def after(
    model: Any,
    steps: int,
    start: Any = None,
    *,
    features: Sequence[str] | None = None,
    log: Any = None,
    figure: Any = None,
) -> SheetPicture:
    """Draw where the agent is over the next steps: a fan for each feature, and the share of episodes that are over.

    Counted over recorded episodes, like :meth:`TripleTree.after`: the line is the median of those that still go on, the
    shaded band holds the middle 80 % of them, and thin lines are what some of them really did.

    Parameters
    ----------
    model : TripleTree
        The tree.
    steps : int
        How far to look ahead.
    start : None, state, leaf or zone
        Where from, as in :meth:`TripleTree.chance`: None is where episodes begin.
    features : sequence of str or None
        Features to show; None: those that move most, at most eight.
    log : Log or None
        Whose episodes to count; None: those of the training log that the model keeps.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> model = TripleTree(20).fit(road.record("either", n_samples=1000))
    >>> plot.after(model, 30, "pos = 1.2, speed = 0")
    <SheetPicture: Where it is over the next 30 steps>
    """
    sheet = after_sheet(model, steps, start, features=features, log=log)
    return SheetPicture(sheet, figure, (PAGE, FAN_ROW * sum(sheet.heights) + 0.95))


def requirements(log: Any, answer: Any, *, figure: Any = None) -> SheetPicture:
    """Draw the margins of requirements: of all episodes, from the worst to the best, and along the worst one.

    Parameters
    ----------
    log : Log
        The episodes.
    answer : Requirements or Requirement
        What :func:`tripletree.require` said of them.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import plot, require
    >>> from tripletree.demos import road
    >>> log = road.record("left", n_samples=2000)
    >>> plot.requirements(log, require(log, "always (speed > -0.07)"))
    <SheetPicture: Violated: always (speed > -0.07)>
    """
    sheet = requirements_sheet(log, answer)
    return SheetPicture(sheet, figure, (PAGE, REQUIREMENT_ROW * len(sheet.rows) + 0.7))


def rhythm(log: Any, answer: Any = None, *, features: Sequence[str] | None = None, figure: Any = None) -> SheetPicture:
    """Draw one cycle of a log's rhythm: its parts, and every action and feature along it.

    Lines are means over all cycles, and the bands around them one standard deviation. The parts are told below.

    Parameters
    ----------
    log : Log
        The recording.
    answer : Rhythm or None
        What :func:`tripletree.rhythm` said of it; None: asked here.
    features : sequence of str or None
        Features to show; None: all.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> import numpy as np
    >>> from tripletree import Log, plot
    >>> step = np.arange(2400)
    >>> log = Log.from_arrays(np.cos(step / 8), np.sin(step / 8), 0 * step, episodes=step // 400)
    >>> plot.rhythm(log)
    <SheetPicture: One cycle: 50 steps>
    """
    sheet = cycle_sheet(log, answer, features=features)
    return SheetPicture(sheet, figure, (PAGE, STRIP_ROW * sum(sheet.heights) * 1.15 + 0.95))


def change(answer: Any, *, figure: Any = None) -> SheetPicture:
    """Draw what changed between two logs: by how much, where, returns, and the ground that they visit.

    Parameters
    ----------
    answer : Diff
        What :func:`tripletree.diff` said.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import diff, plot
    >>> from tripletree.demos import road
    >>> found = diff(road.record("left", n_samples=3000), road.record("hurry", n_samples=3000))
    >>> plot.change(found)
    <SheetPicture: What changed>
    """
    sheet = change_sheet(answer)
    return SheetPicture(sheet, figure, (PAGE, 2.6 * len(sheet.rows) + 0.7))


def failures(answer: Failures, episode: Any = None, *, figure: Any = None) -> SheetPicture:
    """Draw the risk of all episodes up to their ends and how far to believe it, or the risk along one episode.

    Lines are episodes, judged by models that have not seen them; thick lines are medians, and bands quartiles. Of one
    episode the band is between what nine of ten trees say, and the grey area is the interval of its turning point.

    Parameters
    ----------
    answer : Failures
        What :func:`tripletree.failures` said.
    episode : int, str or None
        The id of an episode; None: all of them.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import failures, plot
    >>> from tripletree.demos import road
    >>> briefing = failures(road.record("left", n_samples=8000), "return < 1")
    >>> plot.failures(briefing)
    <SheetPicture: When episodes fail>
    """
    return SheetPicture(failures_sheet(answer, episode), figure, (PAGE, 2.9))


def curves(models: Any, *, validation: Any = None, most_leaves: int | None = None, figure: Any = None) -> SheetPicture:
    """Draw action, value and derivative loss against the number of leaves.

    Solid lines are losses on held-out episodes, dashed lines on the training log (solid, where there is nothing else).
    A disc marks the size that early stopping or ``truncate`` kept.

    Parameters
    ----------
    models : TripleTree, list of them, or dict of names to them
        Whose losses; those of a list are named by the parameters in which they differ.
    validation : Log or None
        Held-out episodes, for trees that were grown without any.
    most_leaves : int or None
        Maximum number of leaves shown; None: all.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> log, held_out = road.record("left", n_samples=2000).split(0.3)
    >>> trees = [TripleTree(40, theta).fit(log, held_out) for theta in ((1, 1, 1), (1, 0, 0))]
    >>> picture = plot.curves(trees)
    >>> [entry.label for entry in picture.sheet_.legend]
    ['theta 1, 1, 1', 'theta 1, 0, 0', 'validation', 'training', 'size chosen']
    """
    return SheetPicture(curves_sheet(models, validation, most_leaves), figure, (PAGE, 2.4))


def simplex(weights: Any, *, figure: Any = None) -> SheetPicture:
    """Draw how large the worst of the three losses is for every theta (paper, Appendix A).

    One triangle per leaf count. At a corner all weight is on one attribute; dots are the weights tried, coloured by the
    attribute whose loss is worst there; the darker, the larger that loss, on one scale for all sizes. A ring marks the
    best weights.

    Parameters
    ----------
    weights : Weights
        What :func:`tripletree.compare_weights` returns.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import compare_weights, plot
    >>> from tripletree.demos import road
    >>> log = road.record("left", n_samples=1000)
    >>> plot.simplex(compare_weights(log, leaves=(10, 50)))
    <SheetPicture: Which weights keep the worst loss small>
    """
    sheet = simplex_sheet(weights)
    width = min(PAGE, 1.6 + 2.0 * len(sheet.rows[0]))
    # The words above take more lines where the picture is narrow.
    return SheetPicture(sheet, figure, (width, 2.1 + 2.6 / width))
