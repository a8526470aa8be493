"""Understand what an autonomous agent does, from its log alone."""
