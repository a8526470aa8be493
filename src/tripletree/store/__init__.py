"""Model files (``.tripletree``): safetensors layout with a JSON header, never pickle."""

from tripletree.store.files import load, save

__all__ = ["load", "save"]
