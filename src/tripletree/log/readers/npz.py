"""NumPy .npz files to columns; never unpickles."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError


def read_npz(path: Path) -> tuple[list[str], list[npt.NDArray[Any]]]:
    """Return the names and arrays of the file; raises LogError when it is damaged or holds Python objects."""
    names, columns = [], []
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise LogError(f"{path} holds a single array, not an .npz archive.")
            for name in archive.files:
                names.append(name)
                columns.append(archive[name])
    except ValueError as error:
        if "pickle" in str(error):
            raise LogError(
                f"{path} holds Python objects{f' in `{names[-1]}`' if names else ''}, which are never loaded, for they "
                "could run code; save plain arrays of numbers or text."
            ) from None
        raise LogError(f"{path} is damaged: {error}.") from None
    except (zipfile.BadZipFile, EOFError, KeyError, SyntaxError, NotImplementedError, RuntimeError) as error:
        raise LogError(f"{path} is no .npz file, or damaged: {error}.") from None
    return names, columns
