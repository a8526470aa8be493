"""Scenes as matplotlib figures; matplotlib (an extra) is imported when the first picture is drawn."""

from tripletree.plot.figures import (
    after,
    attribution,
    beeswarm,
    curves,
    effects,
    episode,
    importance,
    leaf_map,
    overview,
    rhythm,
    simplex,
    transitions,
    tree,
)

__all__ = [
    "after",
    "attribution",
    "beeswarm",
    "curves",
    "effects",
    "episode",
    "importance",
    "leaf_map",
    "overview",
    "rhythm",
    "simplex",
    "transitions",
    "tree",
]
