"""Write an exported tree to a file, in the format that its ending says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tripletree.checks import check_choice, check_ending
from tripletree.errors import ParameterError
from tripletree.export.c import to_c
from tripletree.export.graphviz import to_dot
from tripletree.export.onnx_model import to_onnx
from tripletree.export.python_source import to_python
from tripletree.export.rules_json import to_json
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option
from tripletree.writing import reason, replace_file, shown

FORMATS = {"c": ".c", "python": ".py", "onnx": ".onnx", "dot": ".dot", "json": ".json"}
"""What a tree can be written as, and how such files end."""


def export(
    fitted: Fitted, to: str | None, path: str | os.PathLike[str], *, about: Any = None, leaf_model: Any = None
) -> tuple[Path, ...]:
    """Write a tree to a file, and return what was written: C comes with a header and a test.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    to : {"c", "python", "onnx", "dot", "json"} or None
        The format; None: the one that the file's ending says.
    path : str or path-like
        The file; an existing one is replaced.
    about : str or None
        What it predicts: "action", "value", "derivative", or one column of these; None: all that the tree knows.
    leaf_model : {"mean", "linear"} or None
        What leaves predict; None: as the tree itself.
    """
    check_choice(to, "to", FORMATS, none="as the file's ending says")
    # C needs its ending: the header beside it has another one.
    guessed = to is None or to == "c"
    target = check_ending(path, [*FORMATS.values()] if to is None else [".c"]) if guessed else Path(path)
    if to is None:
        to = next(name for name, ending in FORMATS.items() if ending == target.suffix.lower())
    written = []
    for name, content in _contents(fitted, to, target, about, leaf_model).items():
        file = target.with_name(name)
        try:
            replace_file(file, content)
        except OSError as error:
            raise ParameterError(f"Cannot write '{shown(file)}': {reason(error)}.") from error
        written.append(file)
    return tuple(written)


def _contents(fitted: Fitted, to: str, target: Path, about: Any, leaf_model: Any) -> dict[str, bytes]:
    """Return what becomes of a tree: the content of each file by its name."""
    options = {"about": about, "leaf_model": leaf_model}
    if to == "c":
        return {name: text.encode() for name, text in to_c(fitted, name=target.stem, **options).items()}
    if to == "onnx":
        return {target.name: to_onnx(fitted, **options).SerializeToString()}
    if to == "dot":
        if leaf_model == "linear":
            raise ParameterError(
                Message("A diagram shows the means of its leaves; leave out {}.", Option("leaf_model", "linear"))
            )
        return {target.name: to_dot(fitted, about=about).encode()}
    return {target.name: {"python": to_python, "json": to_json}[to](fitted, **options).encode()}
