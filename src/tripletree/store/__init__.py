"""Model files (``.tripletree``): safetensors layout with a JSON header, never pickle."""

from tripletree.store.model_file import load, save

__all__ = ["load", "save"]
