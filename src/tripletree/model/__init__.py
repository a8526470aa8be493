"""The frozen bundle that every question receives."""

from tripletree.model.fitted import Fitted

__all__ = ["Fitted"]
