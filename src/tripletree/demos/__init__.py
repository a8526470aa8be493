"""Demos: small worlds with solved agents, to try everything on without a log of one's own."""

from tripletree.demos import lander, road

__all__ = ["lander", "road"]
