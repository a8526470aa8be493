"""Sphinx configuration: furo, Markdown by MyST, the reference from numpydoc docstrings; builds without a network."""

from __future__ import annotations

from importlib import metadata

project = "tripletree"
author = "The tripletree maintainers"
copyright = author  # noqa: A001 - Sphinx's name
release = metadata.version("tripletree")

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
autodoc_typehints = "none"
numpydoc_show_class_members = False
nitpicky = False

html_theme = "furo"
html_title = f"tripletree {release}"
html_copy_source = False
