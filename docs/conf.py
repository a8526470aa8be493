"""Sphinx configuration: furo, Markdown by MyST, the reference from numpydoc docstrings; builds without a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

from tripletree import __version__ as release

project = "tripletree"
author = "The tripletree maintainers"
copyright = author  # noqa: A001 - Sphinx's name

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
numpydoc_show_class_members = False
nitpicky = False

html_theme = "furo"
html_title = f"tripletree {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_math_renderer = "mathml"


def _formula(translator: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers draw by themselves: Sphinx's own renderers want a network or LaTeX."""
    translator.body.append(tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block)))
    raise nodes.SkipNode


def _signature(_app: Any, what: str, name: str, *_rest: Any) -> tuple[str, str] | None:
    """Hide how answers and pictures are made: only tripletree makes them."""
    return ("", "") if what == "class" and name.count(".") > 1 else None


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-signature", _signature)
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))
