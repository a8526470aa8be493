"""Save a fitted model to a file, and load it from one that a stranger may have written."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import BinaryIO

from tripletree.errors import ModelFileError, ModelNotFoundError, ParameterError, TripleTreeWarning
from tripletree.model.fitted import Fitted
from tripletree.store import container, contents, metadata
from tripletree.store.consistency import check_model
from tripletree.store.strict_json import show
from tripletree.text import Message, Option
from tripletree.writing import open_regular, reason, replace_file, shown


def save(fitted: Fitted, path: str | os.PathLike[str]) -> None:
    """Write ``fitted`` to ``path`` in one step: even if it fails, the old file or the new one is there, whole.

    Parameters
    ----------
    fitted : Fitted
        The model.
    path : str or path-like
        Where to; by convention the name ends in ``.tripletree``. An existing file is replaced and keeps its
        permissions; a symbolic link is followed.

    Raises
    ------
    ModelFileError
        If the file cannot be written, or the model is not one that `load` would accept.
    """
    target = _path(path)
    try:
        texts = metadata.to_texts(fitted.schema, fitted.options, fitted.provenance)
        data = container.pack(texts, contents.collect(fitted))
        # A model that could not be loaded must not replace a file that can be.
        _decode(io.BytesIO(data), len(data))
        replace_file(target, data)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot save the model to '{shown(target)}': {error}") from error
    except (OSError, ValueError) as error:
        raise ModelFileError(f"Cannot save the model to '{shown(target)}': {reason(error)}.") from error


def load(path: str | os.PathLike[str]) -> Fitted:
    """Read a model back.

    The file is checked before it is believed: nothing in it is ever run, memory is bounded by its size, and what comes
    back is a consistent model. The arrays are read-only.

    Parameters
    ----------
    path : str or path-like
        The file.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is damaged or hostile, or has a format that this version does not read; a
        ``FileNotFoundError``, too, if there is no such file.

    Warns
    -----
    TripleTreeWarning
        If the file is of a later minor format and holds things that this version does not know and leaves out.
    """
    source = _path(path)
    try:
        with open_regular(source) as stream:
            return _decode(stream, os.fstat(stream.fileno()).st_size)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load '{shown(source)}': {error}") from error
    except FileNotFoundError as error:
        raise ModelNotFoundError(f"Cannot load '{shown(source)}': {reason(error)}.") from error
    except (OSError, ValueError) as error:
        raise ModelFileError(f"Cannot load '{shown(source)}': {reason(error)}.") from error


def _decode(stream: BinaryIO, size: int) -> Fitted:
    """Read a model of ``size`` bytes, from the cheapest check to the most expensive."""
    header = container.read_header(stream, size)
    unknown: list[str] = []
    schema, options, provenance = metadata.from_texts(header.metadata, header.minor, unknown)
    names = contents.check_entries(header.entries, schema, unknown)
    # In a format that this version knows, an unknown name is no addition of a later version but a mistake.
    if unknown and header.minor <= container.FORMAT[1]:
        raise ModelFileError(f"it holds {show(unknown[0])}, which its format does not know.")
    found = container.read_arrays(stream, size, header, names)
    fitted = contents.build(found, schema, options, provenance)
    check_model(fitted)
    if unknown:
        left_out = ", ".join(map(show, unknown[:5])) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        known = ".".join(map(str, container.FORMAT))
        warnings.warn(
            f"The model file is of a later format than {known}, which this version knows: left out {left_out}. "
            "Update with: pip install -U tripletree",
            TripleTreeWarning,
            stacklevel=3,
        )
    return fitted


def _path(path: object) -> Path:
    # An integer would be taken for an open file descriptor.
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(
            Message("Expected a path, got {}. Try {}.", type(path).__name__, Option("path", "model.tripletree"))
        )
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise ParameterError(
            Message("Expected the name of a file, got {!r}. Try {}.", text, Option("path", "model.tripletree"))
        )
    return Path(text)
