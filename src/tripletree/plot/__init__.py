"""Scenes as matplotlib figures; matplotlib (an extra) is imported when the first picture is drawn."""

from tripletree.plot.maps import leaf_map

__all__ = ["leaf_map"]
