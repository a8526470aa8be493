"""Fitted trees for the tests of pictures."""

from __future__ import annotations

import warnings
from functools import cache

from tests.logs import make_log, random_log
from tripletree import TripleTree, TripleTreeWarning
from tripletree.demos import road
from tripletree.model.fitted import Fitted


@cache
def road_tree(leaves: int = 40) -> TripleTree:
    """Two features, discrete actions."""
    return _fit(road.record("left", n_samples=2_000), leaves)


@cache
def walk(
    features: int = 4,
    leaves: int = 25,
    dimensions: int = 0,
    labels: int = 3,
    finals: bool = True,
    leaf_model: str = "linear",
) -> Fitted:
    """A random walk in any number of features x0, x1, ..."""
    log = random_log(5, lengths=(60, 50, 40), features=features, dimensions=dimensions, labels=labels, finals=finals)
    return _fit(log, leaves, leaf_model).fitted_


@cache
def gears() -> Fitted:
    """A real, a binary and an integer feature."""
    states = [[i * 0.37 % 1, i % 2, i % 5] for i in range(60)]
    actions = [int(s[2] > 2) + int(s[1] > 0) for s in states]
    log = make_log(
        states,
        actions,
        [s[0] + s[2] for s in states],
        labels=("a", "b", "c"),
        names=("x", "on", "gear"),
        kinds=("real", "binary", "integer"),
    )
    return _fit(log, 12).fitted_


def _fit(log, leaves: int, leaf_model: str = "linear") -> TripleTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(max_leaves=leaves, leaf_model=leaf_model).fit(log)
