"""Charts: loss curves, the simplex of weights, bars of importance, calibration, and how numbers are spread."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.judgement import CONFIDENCE, Calibration
from tripletree.answers.weights import Weights, theta
from tripletree.checks import check_whole
from tripletree.errors import ParameterError
from tripletree.language.numbers import exact, percent
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log, judge
from tripletree.model.fit import available_cores
from tripletree.model.fitted import Fitted
from tripletree.questions.importance import importance
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, FAINT, GREY, GREYS, INK, MODELS, PAPER
from tripletree.scenes.types import (
    Axis,
    ColourScale,
    Entry,
    Labels,
    Lines,
    Mark,
    Points,
    Rectangles,
    Scene,
    Sheet,
    Surface,
)
from tripletree.scenes.view import read_model
from tripletree.text import Message, Option, count, visible

F64 = npt.NDArray[np.float64]

NAMES = ("Action", "Value", "Derivative")
OPTIONS = ("theta", "priority", "truncation", "gamma", "mode", "min_samples_leaf", "max_depth", "derivative_scale")
"""What the trees of a list are named by, where they differ in it."""


def curves(models: Any, validation: Any = None, most_leaves: Any = None) -> Sheet:
    """Return three pictures, one an attribute, with the curves of every tree.

    Parameters
    ----------
    models : tree, list of trees, or dict of names to trees
        Whose losses.
    validation : Log or None
        Held-out episodes for trees that were grown without any; None: those that a tree was grown with, if any.
    most_leaves : int or None
        Maximum number of leaves shown.
    """
    named = read_models(models)
    check_log(validation, "validation", none="as the trees were grown")
    check_whole(most_leaves, "most_leaves", 2, example=100, none="all of them")
    held_out = {name: _held_out(fitted, validation) for name, fitted in named.items()}
    longest = max(len(fitted.curve_training) for fitted in named.values())
    # A curve of one leaf is a point; its axis still needs a width.
    end = max(min(longest, most_leaves or longest), 2)
    # A loss of 0 already with one leaf has no curve to show; but something must be drawn.
    kept = [g for g in range(3) if any(fitted.curve_training[0, g] > 0 for fitted in named.values())]
    rows = tuple(_scene(g, named, held_out, end) for g in kept or range(3))
    colour = dict(zip(named, _colours(len(named)), strict=True))
    legend = [Entry(name, colour[name], "line") for name in named] if len(named) > 1 else []
    judged = any(losses is not None for losses in held_out.values())
    # With several trees, colours tell the trees apart and grey stands for any of them.
    any_tree = MODELS[0] if len(named) == 1 else GREY
    if judged:
        legend += [Entry("validation", any_tree, "line"), Entry("training", any_tree, "dashes")]
    if any(_chosen(fitted) for fitted in named.values()):
        legend.append(Entry("size chosen", any_tree, "disc"))
    return Sheet("Losses by size of the tree", (rows,), _said(named, judged), legend=tuple(legend))


def read_models(models: Any) -> dict[str, Fitted]:
    """Return trees by name; those of a list are named by the parameters in which they differ."""
    if isinstance(models, Mapping):
        if not models or not all(isinstance(name, str) for name in models):
            raise ParameterError(
                Message('{} must be a tree, a list of trees or a dict such as {{"mine": tree}}.', Option("models"))
            )
        return {name: read_model(model) for name, model in models.items()}
    if not isinstance(models, Iterable) or isinstance(models, str):
        return {"": read_model(models)}
    trees = [read_model(model) for model in models]
    if not trees:
        raise ParameterError(Message("{} is empty; give at least one fitted TripleTree.", Option("models")))
    if len(trees) == 1:
        return {"": trees[0]}
    # Compared by repr, because some options are lists, which a set cannot hold.
    differing = [name for name in OPTIONS if len({repr(tree.options.get(name)) for tree in trees}) > 1]
    names = [", ".join(_told(name, tree.options.get(name)) for name in differing) for tree in trees]
    # Trees with the same options were grown on different logs, which have no names.
    if len(set(names)) < len(names):
        names = [f"tree {number}" for number in range(1, len(trees) + 1)]
    return dict(zip(names, trees, strict=True))


def _told(name: str, option: Any) -> str:
    if name == "theta":
        return f"theta {', '.join(exact(weight) for weight in option)}"
    return f"{name.replace('_', ' ')} {option}"


def _colours(n: int) -> list[str]:
    return [MODELS[k % len(MODELS)] for k in range(n)]


def _held_out(fitted: Fitted, validation: Log | None) -> F64 | None:
    return fitted.curve_validation if validation is None else judge(fitted, validation, available_cores())


def _chosen(fitted: Fitted) -> bool:
    """Tell whether the size of a tree was a choice: by validation, or because it was made smaller."""
    return fitted.curve_validation is not None or fitted.tree.n_leaves < len(fitted.curve_training)


def _said(named: Mapping[str, Fitted], judged: bool) -> str:
    sizes = sorted({fitted.tree.n_leaves for fitted in named.values() if _chosen(fitted)})
    log = "On the training log and on held-out episodes" if judged else "On the training log"
    if len(named) == 1 and sizes:
        return f"{log}; {count(sizes[0], 'leaf was', 'leaves were')} kept"
    return log


def _scene(g: int, named: Mapping[str, Fitted], held_out: Mapping[str, F64 | None], end: int) -> Scene:
    marks: list[Mark] = []
    top = 0.0
    for (name, fitted), colour in zip(named.items(), _colours(len(named)), strict=True):
        training, judged = fitted.curve_training[:end, g], held_out[name]
        size = fitted.tree.n_leaves
        shown = training
        if judged is not None:
            marks.append(Lines((_line(training),), colour, 0.9, np.array([0.85]), dashed=True))
            shown = judged[:end, g]
        marks.append(Lines((_line(shown),), colour, 1.2))
        top = max(top, float(training.max()), float(shown.max()))
        # The chosen size may lie beyond ``most_leaves``.
        if _chosen(fitted) and size <= len(shown):
            here = np.array([float(size)]), np.array([shown[size - 1]])
            marks.append(Points(*here, size=5.0, colour=colour, edge=PAPER))
    label = (_action_label(list(named.values())), "RMSE", "sum of RMSE / σ")[g]
    x = Axis("leaves", 0.0, float(end) * 1.02)
    # From 0, so that curves of different trees can be compared by eye; losses of 0 alone would give no height.
    return Scene(NAMES[g], x, Axis(label, 0.0, 1.05 * top or 1.0), tuple(marks))


def _action_label(trees: Sequence[Fitted]) -> str:
    if trees[0].schema.action.kind != "discrete":
        return "sum of RMSE / σ"
    costs = {tree.costs is not None for tree in trees}
    # Trees with and without costs in one picture: each in its own unit.
    return "share of wrong actions" if costs == {False} else "mean cost of actions"


def _line(curve: F64) -> F64:
    return np.column_stack([np.arange(1, len(curve) + 1), curve])


CORNERS = np.array([[0.5, np.sqrt(0.75)], [1.0, 0.0], [0.0, 0.0]])
"""Where all weight is on action, value and derivative, as in the paper."""


def simplex(weights: Any) -> Sheet:
    """Return one triangle for each leaf count, all on one colour scale."""
    if not isinstance(weights, Weights):
        raise ParameterError(
            Message(
                "{} must be what compare_weights(log) returns; got {}. "
                "Type: plot.simplex(tripletree.compare_weights(log)).",
                Option("weights"),
                type(weights).__name__,
            )
        )
    low, high = float(weights.worst.min()), float(weights.worst.max())
    # A loss of 0 has no logarithm; an even scale still gets a little width.
    low = max(low, 1e-4 * high)
    scale = ColourScale("worst loss (one leaf: 1)", GREYS, low / 1.02, max(high, low * 1.02), kind="log")
    corner = place(weights.theta)
    # The smallest weight above 0 is one step of the grid.
    triangle = triangles(round(1 / weights.theta[weights.theta > 0].min()))
    on = "held-out episodes" if weights.validation else "the training log"
    legend = [
        Entry(f"worst: {name}", colour, "disc") for name, colour in zip(ATTRIBUTES, ATTRIBUTE_COLOURS, strict=True)
    ]
    row = tuple(_triangle(weights, k, corner, triangle, scale) for k in range(len(weights.leaves)))
    return Sheet(
        "Which weights keep the worst loss small",
        (row,),
        f"Each of the {len(corner)} dots is a tree grown with its own theta = [action, value, derivative]. Shown is "
        f"the worst of its three losses on {on}, each relative to a tree with one leaf",
        scale,
        (*legend, Entry("best weights", INK, "ring")),
    )


def place(points: F64) -> F64:
    """Return where weights are drawn, shape (points, 2)."""
    total = np.asarray(points, np.float64)
    at: F64 = total / total.sum(axis=-1, keepdims=True) @ CORNERS
    return at


def triangles(steps: int) -> npt.NDArray[np.int64]:
    """Return the small triangles between the points of ``questions.weights.simplex(steps)``, by their numbers."""
    number: dict[tuple[int, int], int] = {}
    for a in range(steps + 1):
        for b in range(steps + 1 - a):
            number[a, b] = len(number)
    up = [(number[a, b], number[a + 1, b], number[a, b + 1]) for a in range(steps) for b in range(steps - a)]
    down = [
        (number[a + 1, b], number[a, b + 1], number[a + 1, b + 1])
        for a in range(steps - 1)
        for b in range(steps - 1 - a)
    ]
    return np.array(up + down, np.int64)


def _triangle(weights: Weights, k: int, at: F64, triangle: npt.NDArray[np.int64], scale: ColourScale) -> Scene:
    worst, attribute, best = weights.worst[k], weights.worst_attribute[k], int(weights.best[k])
    outline = Lines((CORNERS[[0, 1, 2, 0]],), FAINT, 0.6)
    # The more dots, the smaller they are, so that the shades between them are seen.
    size = float(np.clip(20 / np.sqrt(len(at)), 3.0, 4.4))
    dots = [
        Points(at[attribute == g, 0], at[attribute == g, 1], size, ATTRIBUTE_COLOURS[g], edge=PAPER)
        for g in range(3)
        if (attribute == g).any()
    ]
    ring = Points(at[[best], 0], at[[best], 1], 2 * size, INK, symbol="ring")
    top = Labels(CORNERS[:1, 0], CORNERS[:1, 1], ("action",), shift=(0, 8))
    right = Labels(CORNERS[1:2, 0], CORNERS[1:2, 1], ("value",), align="right", shift=(8, -9))
    left = Labels(CORNERS[2:, 0], CORNERS[2:, 1], ("derivative",), align="left", shift=(-8, -9))
    return Scene(
        f"{weights.leaves[k]:,} leaves",
        Axis("", -0.12, 1.12, shown=False),
        Axis("", -0.14, 1.0, shown=False),
        (Surface(at[:, 0], at[:, 1], triangle, np.maximum(worst, scale.low)), outline, *dots, ring, top, right, left),
        f"Best: {theta(weights.theta[best])}, {percent(float(worst[best]))}",
        scale,
        equal=True,
    )


LETTERS = 24
"""Longest line of a feature's name, in characters."""
BAR = 0.26
"""Height of a bar; a feature with its three bars has height 1."""


def importances(model: Any, most: Any = 12) -> Scene:
    """Return bars for every feature, the most important on top; if there are many, the last row sums up the rest.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    most : int
        Maximum number of features shown one by one.
    """
    check_whole(most, "most", 1, example=12)
    found = importance(read_model(model))
    order = np.argsort(-found.share.sum(axis=0), kind="stable")
    share, names = found.share[:, order], [found.features[f] for f in order]
    # A last row for one feature more would take as much room as that feature itself.
    if len(names) > most + 1:
        share = np.column_stack([share[:, :most], share[:, most:].sum(axis=1)])
        names = [*names[:most], count(len(names) - most, "other")]
    rows = len(names)
    marks: list[Mark] = []
    drawn = [g for g, known in enumerate(found.recorded) if known]
    for place, g in enumerate(drawn):
        # The first row is the highest, and within it the action.
        top = rows - np.arange(rows, dtype=np.float64) - 0.5 - (1 - len(drawn) * BAR) / 2 - place * BAR
        marks.append(Rectangles(np.zeros(rows), share[g], top - BAR * 0.9, top, fill=ATTRIBUTE_COLOURS[g]))

        told = tuple(percent(part) if part > 0 else "0" for part in share[g].tolist())
        marks.append(Labels(share[g], top - BAR * 0.45, told, 5.5, GREY, "left", (2.0, 0.0)))
    # A tree of one leaf has no bars, and still needs an axis; 1.14 leaves room for the number at the longest bar.
    longest = float(share.max()) or 1.0
    ticks = tuple((rows - 1 - np.arange(rows, dtype=np.float64)).tolist())
    return Scene(
        "What the tree looks at",
        Axis("share of the impurity removed", 0.0, longest * 1.14),
        Axis(
            "",
            -0.5,
            rows - 0.5,
            ticks=ticks,
            tick_labels=tuple(
                "\n".join(textwrap.wrap(visible(name), LETTERS, max_lines=2, placeholder="…")) for name in names
            ),
        ),
        tuple(marks),
        "Which features the splits owe their effect to"
        if found.share.any()
        else "No split of this tree tells anything",
        legend=tuple(Entry(found.attributes[g], ATTRIBUTE_COLOURS[g]) for g in drawn),
    )


MOST_BARS = 24
"""Bars of a histogram, at most."""


def calibration_scene(answer: Calibration) -> Scene:
    """Return observations against predictions, with 95 % intervals and the diagonal on which both are the same."""
    error = 1.96 * answer.error
    ends = np.concatenate([answer.predicted, answer.observed - error, answer.observed + error])
    low, high = float(ends.min()), float(ends.max())
    sure = answer.about == CONFIDENCE
    # Shares end at 0 and 1, but an interval computed from a standard error may not.
    if sure:
        low, high = max(low, 0.0), 1.0
    pad = 0.05 * (high - low) or 0.5
    low, high = low - pad, high + pad
    colour = ATTRIBUTE_COLOURS[1 if answer.about == "value" else 0]
    bars = tuple(
        np.array([[x, y - e], [x, y + e]]) for x, y, e in zip(answer.predicted, answer.observed, error, strict=True)
    )
    marks: tuple[Mark, ...] = (
        Lines((np.array([[low, low], [high, high]]),), FAINT, 0.9, dashed=True),
        Lines(bars, colour, 1.0),
        Points(answer.predicted, answer.observed, 5.0, colour, edge=PAPER),
    )
    return Scene(
        "Action: how sure and how often right" if sure else f"{answer.about.capitalize()}: predicted and observed",
        Axis("how sure the tree is" if sure else f"{answer.about} predicted", low, high),
        Axis("share that is right" if sure else f"{answer.about} observed", low, high),
        marks,
        str(answer),
        legend=(
            Entry("steps with about the same prediction, 95 % interval", colour, "disc"),
            Entry("prediction = observation", FAINT, "dashes"),
        ),
    )


def spread_scene(title: str, label: str, numbers: F64) -> Scene:
    """Return a histogram of numbers, with more bars the more numbers there are."""
    low, high = float(numbers.min()), float(numbers.max())
    # Equal numbers would give bars of no width.
    if low == high:
        low, high = low - 0.5 * max(abs(low), 1.0), high + 0.5 * max(abs(high), 1.0)
    bars = int(np.clip(np.sqrt(len(numbers)) * 1.5, 4, MOST_BARS))
    count, edges = np.histogram(numbers, bars, (low, high))
    nothing = np.zeros(bars)
    tiles = Rectangles(edges[:-1], edges[1:], nothing, count.astype(np.float64), fill=ATTRIBUTE_COLOURS[0], edge=PAPER)
    return Scene(title, Axis(label, low, high), Axis("episodes", 0.0, 1.08 * float(count.max())), (tiles,))
