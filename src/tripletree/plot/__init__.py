"""Scenes as matplotlib figures; matplotlib (an extra) is imported when the first picture is drawn."""

from tripletree.plot.figures import (
    after,
    attribution,
    beeswarm,
    change,
    curves,
    effects,
    episode,
    failures,
    importance,
    leaf_map,
    overview,
    requirements,
    rhythm,
    simplex,
    transitions,
    tree,
)

__all__ = [
    "after",
    "attribution",
    "beeswarm",
    "change",
    "curves",
    "effects",
    "episode",
    "failures",
    "importance",
    "leaf_map",
    "overview",
    "requirements",
    "rhythm",
    "simplex",
    "transitions",
    "tree",
]
