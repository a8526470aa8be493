"""Trees to export, states that find the borders of their leaves, and what the trees say there."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np

from tests.questions.trees import random_fitted
from tripletree import TripleTree, TripleTreeWarning
from tripletree.demos import lander, road
from tripletree.leaves.linear import LinearLeaves
from tripletree.model.fitted import Fitted

MODELS = ("mean", "linear")


@cache
def fitted_on(name: str, leaves: int = 120) -> Fitted:
    """A tree of a demo: labels on the road, numbers in the lander."""
    log = road.record("left", n_samples=2_000) if name == "road" else lander.log()
    return grown(log, leaves)


def grown(log, leaves: int) -> Fitted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(leaves).fit(log).fitted_


def made_up(seed: int, discrete: bool, leaves: int = 30) -> Fitted:
    """A tree that no log made, with thresholds next to each other and any slopes; a third of them is 0."""
    fitted = random_fitted(seed, features=4, leaves=leaves, discrete=discrete)
    rng = np.random.default_rng(seed)
    nodes, features = fitted.tree.n_nodes, 4
    targets = 3 + 1 + features if discrete else 2 + 1 + features
    slope = rng.normal(size=(nodes, targets, features)) * (rng.random((nodes, targets, features)) < 0.67)
    low, high = np.sort(rng.normal(size=(2, nodes, targets)), axis=0).astype(np.float32)
    centre = rng.normal(size=(nodes, targets))
    return replace(
        fitted,
        attributes=replace(fitted.attributes, state_mean=rng.normal(size=(nodes, features))),
        linear=LinearLeaves(centre, slope.astype(np.float32), low, high, high),
        options={"leaf_model": "linear", "leaf_features": None},
    )


def states_of(fitted: Fitted, n: int, seed: int = 0) -> np.ndarray:
    """States inside and outside the log's range, on thresholds, and right below and above them."""
    rng = np.random.default_rng(seed)
    width = fitted.feature_max - fitted.feature_min
    states = rng.uniform(fitted.feature_min - width / 2, fitted.feature_max + width / 2, (n, len(width)))
    inner = np.flatnonzero(fitted.tree.left >= 0)
    for split in rng.choice(inner, (2, n)) if len(inner) else ():
        edge = fitted.tree.threshold[split]
        near = np.choose(
            rng.integers(4, size=n), [edge, np.nextafter(edge, -np.inf), np.nextafter(edge, np.inf), np.nan]
        )
        on = np.flatnonzero(~np.isnan(near))
        states[on, fitted.tree.feature[split[on]]] = near[on]
    return states


def told_by(fitted: Fitted, leaf_model: str, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the tree itself says: the leaf, and all targets."""
    leaf = fitted.tree.apply(states)
    return leaf, replace(fitted, options={**fitted.options, "leaf_model": leaf_model}).told(states, leaf)


def assert_close(told, right) -> None:
    np.testing.assert_allclose(told, right, rtol=1e-12, atol=1e-12)
