"""Graphviz: a tree as a diagram in the DOT language."""

from __future__ import annotations

import math
from typing import Any

from tripletree.asking.attribute import Attribute
from tripletree.export.program import wanted
from tripletree.language.conditions import clause, condition
from tripletree.language.numbers import percent, unit
from tripletree.model.fitted import Fitted
from tripletree.text import count, shortened, visible

LONGEST = 60
"""Letters of a line in a box."""


def to_dot(fitted: Fitted, *, about: Any = None) -> str:
    """Return a tree in the DOT language of Graphviz: splits with their condition, leaves with what they predict.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str or None
        What boxes show, such as "action"; None: all that the tree knows.
    """
    tree, samples = fitted.tree, fitted.attributes.count.tolist()
    shown = wanted(fitted, about)
    lines = [
        "digraph tree {",
        '  node [shape=box, fontname="sans-serif", fontsize=10];',
        '  edge [fontname="sans-serif", fontsize=9];',
    ]
    for node, left in enumerate(tree.left.tolist()):
        size = count(samples[node], "sample")
        if left < 0:
            leaf = int(tree.leaf_number[node])
            text = _label([f"leaf {leaf}", *(line for part in shown for line in _told(part, node)), size])
            lines.append(f"  n{node} [label={text}, style=rounded];")
            continue
        feature, threshold = fitted.schema.features[tree.feature[node]], float(tree.threshold[node])
        says = clause(feature, -math.inf, threshold) or condition(feature.name, -math.inf, threshold, feature.unit)
        lines += [
            f"  n{node} [label={_label([says, size])}];",
            f'  n{node} -> n{left} [label="yes"];',
            f'  n{node} -> n{left + 1} [label="no"];',
        ]
    return "\n".join([*lines, "}", ""])


def _told(part: Attribute, node: int) -> list[str]:
    """Return what a leaf predicts, a line for each column."""
    if part.labels:
        label, share = part.labels[int(part.mean[node, 0])], float(part.std[node, 0])
        return [f"{part.names[0]} = {label} ({percent(share)})"]
    numbers = zip(part.names, part.units, part.mean[node].tolist(), strict=True)
    return [f"{name} = {number:.4g}{unit(of)}" for name, of, number in numbers]


def _label(lines: list[str]) -> str:
    r"""Return lines as one string of DOT, in which nothing is an order to Graphviz.

    >>> print(_label(['a "b" \\N &lt;', "c"]))
    "a \"b\" \\N &amp;lt;\nc"
    """
    plain = (shortened(visible(line, line_breaks=False), LONGEST) for line in lines)
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in plain)
    return '"{}"'.format("\\n".join(escaped))
