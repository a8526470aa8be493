"""Random fitted trees that no log made: bounds next to each other, unbounded sides, whole numbers, any prediction."""

from __future__ import annotations

import numpy as np

from tripletree.leaves.attributes import Attributes
from tripletree.log.schema import Action, Feature, Schema
from tripletree.model.fitted import Fitted
from tripletree.tree.structure import Tree

LABELS = ("left", "right", "brake")


def random_fitted(
    seed: int, features: int = 3, leaves: int = 12, discrete: bool = True, real: bool = False, grid: bool = False
) -> Fitted:
    """Return a tree split at random; ``real`` leaves out features with whole numbers and bounds next to each other.

    ``grid`` puts the thresholds on whole numbers.
    """
    rng = np.random.default_rng(seed)
    kinds = [
        "real" if real else str(rng.choice(["real", "real", "angle", "binary", "integer"])) for _ in range(features)
    ]
    boxes = {0: [(-np.inf, np.inf)] * features}
    feature, threshold, left = [-1], [0.0], [-1]
    tries = 0
    while len(boxes) < leaves and tries < 20 * leaves:
        tries += 1
        node = int(rng.choice(list(boxes)))
        f = int(rng.integers(features))
        low, high = boxes[node][f]
        tau = float(rng.integers(-3, 4)) if grid else _threshold(rng, kinds[f], low, high, real)
        if not low < tau < high:
            continue
        box = boxes.pop(node)
        feature[node], threshold[node], left[node] = f, tau, len(feature)
        for side in ((low, tau), (tau, high)):
            boxes[len(feature)] = [*box[:f], side, *box[f + 1 :]]
            feature, threshold, left = [*feature, -1], [*threshold, 0.0], [*left, -1]
    nodes = len(feature)
    tree = Tree(np.array(feature, np.int32), np.array(threshold), np.array(left, np.int32), np.zeros(nodes))
    count = rng.integers(1, 60, nodes)
    table = np.array([rng.multinomial(n, rng.dirichlet(np.ones(3))) for n in count])
    numbers = np.round(rng.normal(size=(nodes, 2)), 1)
    spreads = np.abs(rng.normal(size=(nodes, 2)))
    attributes = Attributes(
        count=count,
        count_derivative=count,
        action_count=table if discrete else None,
        action_mean=None if discrete else numbers,
        action_std=None if discrete else spreads,
        value_mean=np.round(rng.normal(size=nodes), 1),
        value_std=np.abs(rng.normal(size=nodes)),
        derivative_mean=np.round(rng.normal(size=(nodes, features)), 1),
        derivative_std=np.abs(rng.normal(size=(nodes, features))),
        impurity=np.zeros((nodes, 3)),
    )
    action = (
        Action("discrete", ("action",), LABELS) if discrete else Action("continuous", ("main", "side"), (), ("", ""))
    )
    names = ("pos", "speed", "fuel", "tilt", "gear", "wind", "heat", "load", "mass", "drag")[:features]
    whole = np.array([kind in ("binary", "integer") for kind in kinds])
    return Fitted(
        schema=Schema(tuple(Feature(name, "", kind) for name, kind in zip(names, kinds, strict=True)), action),
        tree=tree,
        attributes=attributes,
        feature_min=np.where(whole, 0.0, -rng.uniform(1, 3, features)),
        feature_max=np.where(np.array(kinds) == "binary", 1.0, np.where(whole, 4.0, rng.uniform(1, 3, features))),
        action_scale=None if discrete else np.array([1.0, 2.0]),
        derivative_scale=np.ones(features),
        curve_training=np.zeros((len(boxes), 3)),
        curve_validation=None,
        options={"leaf_model": "mean"},
        provenance={},
    )


def _threshold(rng: np.random.Generator, kind: str, low: float, high: float, real: bool) -> float:
    if kind in ("binary", "integer"):
        tau = float(rng.integers(1, 2 if kind == "binary" else 5) - rng.choice([0.0, 0.5]))
        # As in a tree grown on a log, there is a whole number on either side.
        return tau if np.ceil(low) < np.ceil(tau) < np.ceil(high) else np.nan
    ends = [end for end in (low, high) if np.isfinite(end)]
    if ends and not real and rng.random() < 0.2:  # the next number above or below a bound
        return float(np.nextafter(rng.choice(ends), rng.choice([-np.inf, np.inf])))
    return float(np.round(rng.normal(), int(rng.integers(0, 3)))) if not real else float(rng.normal())


def random_states(fitted: Fitted, n: int, seed: int, wild: bool = True) -> np.ndarray:
    """Return states of the right kinds; ``wild`` puts some on thresholds, next to them, and outside the log."""
    rng = np.random.default_rng(seed)
    states = rng.normal(scale=1.5, size=(n, len(fitted.schema.features)))
    inner = fitted.tree.left >= 0
    for f, feature in enumerate(fitted.schema.features):
        taus = fitted.tree.threshold[inner & (fitted.tree.feature == f)]
        if feature.kind == "binary":
            states[:, f] = rng.integers(0, 2, n)
        elif feature.kind == "integer":
            states[:, f] = rng.integers(0, 5, n)
        elif wild and len(taus):
            on = rng.random(n) < 0.3
            tau = rng.choice(taus, n)
            states[on, f] = tau[on]
            nudge = on & (rng.random(n) < 0.5)
            states[nudge, f] = np.nextafter(tau[nudge], rng.choice([-np.inf, np.inf], n)[nudge])
    return states


def boxes(fitted: Fitted) -> list[list[tuple[float, float]]]:
    """Return the bounds of each leaf, from left to right, by walking down from the root."""
    tree, d = fitted.tree, len(fitted.schema.features)

    def walk(node: int, box: list[tuple[float, float]]) -> list[list[tuple[float, float]]]:
        if tree.left[node] < 0:
            return [box]
        f, tau, child = int(tree.feature[node]), float(tree.threshold[node]), int(tree.left[node])
        low, high = box[f]
        under = [*box[:f], (low, min(high, tau)), *box[f + 1 :]]
        over = [*box[:f], (max(low, tau), high), *box[f + 1 :]]
        return walk(child, under) + walk(child + 1, over)

    return walk(0, [(-np.inf, np.inf)] * d)
