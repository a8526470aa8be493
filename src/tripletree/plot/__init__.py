"""Scenes as matplotlib figures; matplotlib (an extra) is imported when the first picture is drawn."""

from tripletree.plot.curves import curves
from tripletree.plot.maps import leaf_map
from tripletree.plot.overview import overview
from tripletree.plot.simplex import simplex

__all__ = ["curves", "leaf_map", "overview", "simplex"]
