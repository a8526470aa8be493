"""The tree diagram: its top levels as boxes, and what each split separates.

The picture is measured in points of length, so that text of a known size fits its box.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import main_attributes, read_attribute
from tripletree.checks import check_whole
from tripletree.language.conditions import clause
from tripletree.language.numbers import measured, percent
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.model.fitted import Fitted
from tripletree.scenes.colours import FAINT, GREY, INK, PALE, PAPER, TRACK
from tripletree.scenes.guides import category_entries, category_scale
from tripletree.scenes.types import Axis, ColourScale, Entry, Labels, Lines, Mark, Rectangles, Scene
from tripletree.scenes.view import read_model
from tripletree.text import count

F64 = npt.NDArray[np.float64]

BOX, COLUMN = 106.0, 124.0
"""Width of a box, and of a level."""
LINE, PAD, GAP, STRIPE = 7.8, 3.5, 4.5, 4.0
"""Height of a line of text, padding within boxes, gap between boxes, and width of the stripe of actions."""
# Inks, not the colours of the attributes elsewhere: beside them stand the stripes of actions, whose colours would seem
# to mean the same.
BAR_INKS = (INK, GREY, FAINT)
"""Colours of the bars of action, value and derivative."""
MOST_CHANGES = 2
"""Derivatives that a box has in place of actions, in a log without them."""
BAR, WIDEST = 2.6, 4.0
"""Height of a bar, and width of a line that all samples pass through."""
NARROWEST = 230.0
"""Width that a single box leaves for the words above and below."""
LETTERS = 29
"""Characters that fit in a line of a box."""
MOST_DIMENSIONS = 3
"""Action dimensions that a box shows."""
DEEPEST = 6
"""Levels of splits at most; with one more, 128 boxes would stand below each other."""


@dataclass
class _Node:
    """A node of the picture: where its box is, the nodes on its two sides, and whether its split is shown (open)."""

    number: int
    level: int
    text: list[str]
    open: bool
    children: list[_Node] = field(default_factory=list)
    middle: float = 0.0

    @property
    def height(self) -> float:
        return LINE * len(self.text) + 2 * PAD + (3 * BAR + 2 if self.open else 0)


def diagram(model: Any, depth: Any = 3) -> Scene:
    """Return the top levels of a tree, from left to right.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    depth : int
        Levels of splits to show.
    """
    fitted = read_model(model)
    check_whole(depth, "depth", 1, DEEPEST, example=3)
    below = (fitted.tree.left < 0).astype(np.int64)
    fitted.tree.add_up(below)
    nodes: list[_Node] = []
    root = _grow(fitted, below, int(depth), 0, 0, "all states", nodes)
    total = _stack(root, 0.0) - GAP
    # Boxes were stacked from the top down, and the y axis of a scene points up.
    for node in nodes:
        node.middle = total - node.middle
    levels = 1 + max(node.level for node in nodes)
    shown = sum(not node.open for node in nodes)
    leaves = fitted.tree.n_leaves
    opened = [node for node in nodes if node.open]
    legend = tuple(Entry(f"impurity of {n}", c) for n, c in zip(ATTRIBUTES, BAR_INKS, strict=True)) if opened else ()
    if leaves == 1:
        title = "A tree with one leaf"
    elif shown < leaves:
        title = f"Top {count(levels - 1, 'level')} of a tree with {leaves:,} leaves"
    else:
        title = f"A tree with {leaves:,} leaves"
    return Scene(
        title,
        Axis("", -1.0, max(COLUMN * (levels - 1) + BOX + 1, NARROWEST), shown=False),
        Axis("", -1.0, total + 1, shown=False),
        (*_lines(fitted, nodes), *_boxes(nodes), *_stripes(fitted, nodes), *_bars(fitted, opened), *_texts(nodes)),
        "Bars: how much of its impurity a split removes; lines: share of the samples" if opened else "",
        legend=(*legend, *category_entries(_colours(fitted))),
        equal=True,
    )


def separated(fitted: Fitted, node: int) -> F64:
    """Return which share of a node's impurity of action, value and derivative its split removes."""
    at, left = fitted.attributes, int(fitted.tree.left[node])
    # Impurities of two children are averaged by the samples that each of them was computed from.
    samples = np.stack([at.mass, at.mass, at.mass_derivative], axis=1)
    weighted = samples[[node, left, left + 1]] * at.impurity[[node, left, left + 1]]
    share: F64 = 1 - weighted[1:].sum(axis=0) / np.where(weighted[0] > 0, weighted[0], np.inf)
    # A split is chosen for all three together, and may leave one of them no purer than before.
    return np.where(weighted[0] > 0, np.clip(share, 0.0, 1.0), 0.0)


def _grow(
    fitted: Fitted, below: npt.NDArray[np.int64], depth: int, number: int, level: int, said: str, nodes: list[_Node]
) -> _Node:
    tree = fitted.tree
    inner = tree.left[number] >= 0
    node = _Node(number, level, _told(fitted, number, said, int(below[number])), bool(inner and level < depth))
    nodes.append(node)
    if node.open:
        feature, threshold = fitted.schema.features[tree.feature[number]], float(tree.threshold[number])
        for side, (low, high) in enumerate(((-np.inf, threshold), (threshold, np.inf))):
            child = int(tree.left[number]) + side
            said = clause(feature, low, high)
            # The name is cut, not the end of the line: the number there is what tells the two sides apart.
            if len(said) > LETTERS:
                said = _fitting(feature.name, clause(replace(feature, name="{}"), low, high))
            node.children.append(_grow(fitted, below, depth, child, level + 1, said, nodes))
    return node


def _stack(node: _Node, top: float) -> float:
    """Put the boxes below each other and every inner one between its two children; return where the next begins."""
    if not node.children:
        node.middle = top + node.height / 2
        return top + node.height + GAP
    end = top
    for child in node.children:
        end = _stack(child, end)
    node.middle = (node.children[0].middle + node.children[1].middle) / 2
    # An inner box is taller than a leaf's, by its bars: it may reach below its two children.
    return max(end, node.middle + node.height / 2 + GAP)


def _told(fitted: Fitted, number: int, said: str, leaves: int) -> list[str]:
    at, action = fitted.attributes, fitted.schema.action
    samples = f"{percent(float(at.count[number] / at.count[0]))} of samples" if number else "all samples"
    lines = [said, f"{samples}, {count(leaves, 'leaf', 'leaves')}"]
    if not fitted.schema.has_action:
        # What changes there stands for what is done.
        for one in (read_attribute(fitted, name) for name in main_attributes(fitted)[:MOST_CHANGES]):
            text = measured(float(one.mean[number, 0]), float(one.std[number, 0]))
            lines.append(_fitting(one.name, f"{{}} {text}"))
    elif at.mode is not None and at.mode_share is not None:
        label, share = int(at.mode[number]), float(at.mode_share[number])
        lines.append(_fitting(action.labels[label], f"{action.names[0]} = {{}} ({percent(share)})"))
    elif at.action_mean is not None and at.action_std is not None:
        numbers = map(measured, at.action_mean[number].tolist(), at.action_std[number].tolist())
        told = [_fitting(name, f"{{}} {text}") for name, text in zip(action.names, numbers, strict=True)]
        lines += told if len(told) <= MOST_DIMENSIONS else [*told[: MOST_DIMENSIONS - 1], "..."]
    if fitted.schema.has_reward:
        lines.append(f"value {measured(float(at.value_mean[number]), float(at.value_std[number]))}")
    return [line if len(line) <= LETTERS else f"{line[: LETTERS - 1]}…" for line in lines]


def _fitting(name: str, line: str) -> str:
    """Return a line with a name at its braces, cut short when it is long, so that what comes after it has room."""
    room = LETTERS - len(line) + len("{}")
    return line.replace("{}", name if len(name) <= room else f"{name[: max(room - 1, 3)].rstrip()}…")


def _lines(fitted: Fitted, nodes: list[_Node]) -> list[Mark]:
    """Return lines from box to box, as wide as their share of the samples."""
    total = fitted.attributes.count[0]
    lines, widths = [], []
    for node in nodes:
        for child in node.children:
            begin, end = COLUMN * node.level + BOX, COLUMN * child.level
            bend = (begin + end) / 2
            lines.append(
                np.array([[begin, node.middle], [bend, node.middle], [bend, child.middle], [end, child.middle]])
            )
            # Not thinner: a line of a thousandth of the samples must still be visible.
            widths.append(max(WIDEST * fitted.attributes.count[child.number] / total, 0.4))
    return [Lines(tuple(lines), PALE, np.array(widths))] if lines else []


def _boxes(nodes: list[_Node]) -> list[Mark]:
    left = np.array([COLUMN * node.level for node in nodes])
    low = np.array([node.middle - node.height / 2 for node in nodes])
    high = np.array([node.middle + node.height / 2 for node in nodes])
    return [Rectangles(left, left + BOX, low, high, fill=PAPER, edge=FAINT, edge_width=0.6)]


def _stripes(fitted: Fitted, nodes: list[_Node]) -> list[Mark]:
    """Return at the left of each box the shares of the labels of a discrete action, from top to bottom."""
    table, scale = fitted.attributes.shares, _colours(fitted)
    if table is None or scale is None:
        return []
    marks: list[Mark] = []
    numbers = [node.number for node in nodes]
    ends = np.cumsum(table[numbers], axis=1)
    starts = np.column_stack([np.zeros(len(nodes)), ends[:, :-1]])
    left = np.array([COLUMN * node.level for node in nodes])
    top = np.array([node.middle + node.height / 2 for node in nodes])
    height = np.array([node.height for node in nodes])
    for label in range(table.shape[1]):
        seen = ends[:, label] > starts[:, label]
        low, high = (top - height * ends[:, label])[seen], (top - height * starts[:, label])[seen]
        marks.append(Rectangles(left[seen], left[seen] + STRIPE, low, high, fill=scale.stops[label]))
    return marks


def _bars(fitted: Fitted, nodes: list[_Node]) -> list[Mark]:
    """Return at the foot of each box whose split is shown how much the split separates."""
    if not nodes:
        return []
    share = np.array([separated(fitted, node.number) for node in nodes])
    left = np.array([COLUMN * node.level + STRIPE + PAD for node in nodes])
    width = BOX - STRIPE - 2 * PAD
    foot = np.array([node.middle - node.height / 2 + PAD for node in nodes])
    marks: list[Mark] = []
    for g, colour in enumerate(BAR_INKS):
        low = foot + (2 - g) * (BAR + 0.4)
        marks.append(Rectangles(left, left + width, low, low + BAR, fill=TRACK))
        marks.append(Rectangles(left, left + width * share[:, g], low, low + BAR, fill=colour))
    return marks


def _texts(nodes: list[_Node]) -> list[Mark]:
    marks: list[Mark] = []
    # A mark has one size and one colour: so one for the first lines, which are conditions, and one for all others.
    for first in (True, False):
        x, y, text = [], [], []
        for node in nodes:
            top = node.middle + node.height / 2 - PAD - LINE / 2
            for k, line in enumerate(node.text):
                if (k == 0) == first:
                    x.append(COLUMN * node.level + STRIPE + PAD)
                    y.append(top - LINE * k)
                    text.append(line)
        marks.append(
            Labels(np.array(x), np.array(y), tuple(text), 6.2 if first else 5.8, INK if first else GREY, "left")
        )
    return marks


def _colours(fitted: Fitted) -> ColourScale | None:
    """Return the colours of a discrete action, the same as on maps."""
    action, table = fitted.schema.action, fitted.attributes.action_mass
    if table is None or not fitted.schema.has_action:
        return None
    return category_scale(action.names[0], action.labels, table[0].astype(np.float64))
