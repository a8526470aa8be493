"""Scenes as matplotlib figures; matplotlib (an extra) is imported when the first picture is drawn."""

from tripletree.plot.curves import curves
from tripletree.plot.maps import leaf_map

__all__ = ["curves", "leaf_map"]
