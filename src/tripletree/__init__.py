"""Understand what an autonomous agent does, from its log alone."""

__version__ = "0.1.0"
