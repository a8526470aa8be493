"""Loss curves: action, value and derivative loss against leaf count, of one or several trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_whole
from tripletree.errors import ParameterError
from tripletree.language.numbers import count, exact
from tripletree.log.log import Log
from tripletree.model.fit import available_cores
from tripletree.model.fitted import Fitted
from tripletree.model.judge import check_log, losses
from tripletree.scenes.colours import GREY, MODELS, PAPER
from tripletree.scenes.types import Axis, Entry, Lines, Mark, Points, Scene, Sheet
from tripletree.scenes.view import read_model
from tripletree.text import Message, Option

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
        Held-out episodes for trees that were grown without; None: those that a tree was grown with, if any.
    most_leaves : int or None
        Where the pictures end.
    """
    named = read_models(models)
    check_log(validation, "validation", none="as the trees were grown")
    check_whole(most_leaves, "most_leaves", 2, example=100, none="all of them")
    held_out = {name: _held_out(fitted, validation) for name, fitted in named.items()}
    longest = max(len(fitted.curve_training) for fitted in named.values())
    end = max(min(longest, most_leaves or longest), 2)
    rows = tuple(_scene(g, named, held_out, end) for g in range(3))
    colour = dict(zip(named, _colours(len(named)), strict=True))
    legend = [Entry(name, colour[name], "line") for name in named] if len(named) > 1 else []
    judged = [name for name in named if held_out[name] is not None]
    if judged:
        only = MODELS[0] if len(named) == 1 else GREY
        legend += [Entry("validation", only, "line"), Entry("training", only, "dashes")]
    stopped = any(_chosen(fitted) for fitted in named.values())
    if stopped:
        legend.append(Entry("size chosen", MODELS[0] if len(named) == 1 else GREY, "disc"))
    return Sheet("Losses by size of the tree", (rows,), _said(named, bool(judged)), legend=tuple(legend))


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
    differing = [name for name in OPTIONS if len({repr(tree.options.get(name)) for tree in trees}) > 1]
    names = [", ".join(_told(name, tree.options.get(name)) for name in differing) for tree in trees]
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
    return fitted.curve_validation if validation is None else losses(fitted, validation, "all", available_cores())


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
        if _chosen(fitted) and size <= len(shown):
            here = np.array([float(size)]), np.array([shown[size - 1]])
            marks.append(Points(*here, size=5.0, colour=colour, edge=PAPER))
    schema = next(iter(named.values())).schema
    discrete = schema.action.kind == "discrete"
    label = ("share of wrong actions" if discrete else "sum of RMSE / σ", "RMSE", "sum of RMSE / σ")[g]
    x = Axis("leaves", 0.0, float(end) * 1.02)
    return Scene(NAMES[g], x, Axis(label, 0.0, 1.05 * top or 1.0), tuple(marks))


def _line(curve: F64) -> F64:
    return np.column_stack([np.arange(1, len(curve) + 1), curve])
