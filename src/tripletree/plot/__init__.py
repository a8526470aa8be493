"""Scenes as matplotlib figures; matplotlib (an extra) is imported when the first picture is drawn."""

from tripletree.plot.curves import curves
from tripletree.plot.graph import transitions
from tripletree.plot.importance import importance
from tripletree.plot.maps import leaf_map
from tripletree.plot.overview import overview
from tripletree.plot.simplex import simplex
from tripletree.plot.strip import episode
from tripletree.plot.tree import tree

__all__ = ["curves", "episode", "importance", "leaf_map", "overview", "simplex", "transitions", "tree"]
