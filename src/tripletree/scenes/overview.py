"""Overview: what a reader wants to see of a tree first, on one sheet; and which two features show most of it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import main_attributes
from tripletree.language.numbers import percent
from tripletree.leaves.project import Extents, project
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.scenes.colouring import read_colour
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.mixing import said_once
from tripletree.scenes.types import Scene, Sheet
from tripletree.scenes.view import View, leaf_boxes, read_model, read_view
from tripletree.text import count

MOST_ACTIONS = 4
"""Action dimensions that get a picture of their own."""


def overview(model: Any, log: Log | None = None) -> Sheet:
    """Return maps of action, value, density with moves, and impurity.

    With more than two features, each attribute is shown along the two features that show most of it.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    log : Log or None
        Whose samples decide what is faded, as in ``leaf_map``.
    """
    fitted = read_model(model)
    actions = main_attributes(fitted)
    value = ["value"] if fitted.varies[1] else []
    colours = [*actions[:MOST_ACTIONS], *value, "density"]
    # Two pictures a row: one more is drawn rather than leave a gap.
    if len(colours) % 2:
        known = "impurity of action" if fitted.schema.has_action else "impurity of derivative"
        colours.append("impurity of value" if value else known)
    scenes, legend = said_once([_panel(fitted, colour, log) for colour in colours])
    left_out = len(actions) - MOST_ACTIONS
    what = "action dimensions" if fitted.schema.has_action else "derivatives"
    more = f" {left_out} more {what} are not shown." if left_out > 0 else ""
    return Sheet(
        title="The agent at a glance: what it does, how it fares, where it moves",
        subtitle=_facts(fitted) + more,
        rows=tuple(tuple(scenes[k : k + 2]) for k in range(0, len(scenes), 2)),
        legend=legend,
    )


def _panel(fitted: Fitted, colour: str, log: Log | None) -> Scene:
    names = fitted.schema.feature_names
    if len(names) == 1:
        return leaf_map(read_view(fitted, names[0]), colour, log=log)
    moves = colour == "density" and fitted.attributes.derivative_mean is not None
    if len(names) == 2:
        return leaf_map(read_view(fitted, *names), colour, arrows=moves, log=log)
    boxes = leaf_boxes(fitted)
    # Density is shown under the moves, so the pair is the one on which these are seen best.
    if moves:
        pair = best_pair(fitted, boxes, *_moves(fitted))
    else:
        pictured = read_colour(fitted, boxes, colour)
        pair = best_pair(fitted, boxes, pictured.population, pictured.mean)
    scene = leaf_map(View(fitted, boxes, pair.features, {}), colour, arrows=moves, log=log)
    what = "the moves" if moves else "it"
    shown = f"No other pair of features shows more of {what}: {percent(pair.share)} of the variance between leaves"
    return replace(scene, subtitle=shown)


def _moves(fitted: Fitted) -> tuple[Any, Any]:
    """Return weights and derivatives of the leaves, each divided by its spread over the log."""
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    mean = np.zeros((len(nodes), 1)) if at.derivative_mean is None else at.derivative_mean[nodes]
    sigma = fitted.derivative_scale
    moved = at.mass_derivative[nodes].astype(np.float64)
    # A feature that never changes has no spread to divide by, and nothing to show.
    return moved, mean[:, sigma > 0] / sigma[sigma > 0]


def _facts(fitted: Fitted) -> str:
    """Return size and data in words, and losses if they are known on unseen episodes."""
    samples = int(fitted.attributes.count[0])
    text = f"{count(fitted.tree.n_leaves, 'leaf', 'leaves')} grown on {count(samples, 'sample')}."
    if fitted.judged is None:
        return text
    action, value, derivative = fitted.judged.losses
    if fitted.costs is not None:
        acted = f"actions cost {action:.3g} on average"
    else:
        discrete = fitted.schema.action.kind == "discrete"
        acted = f"{percent(action)} of actions wrong" if discrete else f"action {action:.2f}"
    told = (
        acted,
        f"value {value:.3g} (RMSE)",
        f"derivative {derivative:.2f} (sum of RMSE / sigma)",
    )
    # Nothing can be wrong about what is always the same.
    losses = ", ".join(text for text, whole in zip(told, fitted.judged.constant, strict=True) if whole > 0)
    return f"{text} Losses on {count(fitted.judged.episodes, 'unseen episode')}: {losses}."


F64 = npt.NDArray[np.float64]

MOST_FEATURES = 16
"""Pairs of this many features are compared; if there are more, those whose splits add most to the tree's quality."""
MOST_COLUMNS = 16
"""Columns that are compared, at most."""
CELLS = 24
"""Cells along each feature when pairs are compared."""


@dataclass(frozen=True)
class Pair:
    """Two features, and the share of the variance between leaves that remains when all others are averaged."""

    features: tuple[int, int]
    share: float


def best_pair(fitted: Fitted, boxes: Extents, population: F64, columns: F64) -> Pair:
    """Return the pair of features whose projection shows most of some columns.

    The share is the variance of the means over a grid of the two features, divided by the variance between leaves, both
    weighted by samples and summed over columns: 1 when the two features say everything.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    boxes : Extents
        Its leaves.
    population : float64 array of shape (leaves,)
        Weights of the leaves.
    columns : float64 array of shape (leaves, columns)
        What the leaves predict.
    """
    share = population / population.sum()
    centred = columns - share @ columns
    if centred.shape[1] > MOST_COLUMNS:
        # There may be a thousand labels; the few that vary most show which features matter.
        centred = centred[:, np.argsort(-(share @ centred**2), kind="stable")[:MOST_COLUMNS]]
    whole = float(share @ (centred**2).sum(axis=1))
    grids = [np.linspace(low, high, CELLS + 1) for low, high in zip(boxes.low, boxes.high, strict=True)]
    # Where nothing varies, rounding errors would be divided by each other; any pair shows all of it.
    varies = whole > 1e-18 * float(share @ (columns**2).sum(axis=1))
    found = []
    for pair in itertools.combinations(candidates(fitted), 2):
        seen = project(boxes, pair, {}, share, centred, [grids[f] for f in pair])
        # Cells without any weight have no mean, and add nothing.
        spread = float((seen.weight * (np.nan_to_num(seen.mean) ** 2).sum(axis=-1)).sum())
        found.append(Pair(pair, min(spread / whole, 1.0) if varies else 1.0))
    return max(found, key=lambda pair: pair.share)


def candidates(fitted: Fitted) -> list[int]:
    """Return the features worth comparing, in their own order."""
    count = len(fitted.schema.features)
    if count <= MOST_FEATURES:
        return list(range(count))
    tree = fitted.tree
    gain = np.zeros(count)
    inner = tree.split_order
    np.add.at(gain, tree.feature[inner], tree.quality[inner] * fitted.attributes.mass[inner])
    return sorted(np.argsort(-gain, kind="stable")[:MOST_FEATURES].tolist())
