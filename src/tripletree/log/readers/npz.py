"""NumPy .npz files to columns; never unpickles."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError


def read_npz(path: Path) -> tuple[list[str], list[npt.NDArray[Any]]]:
    """Return the names and arrays of the file; raises LogError when it is damaged or holds Python objects."""
    names: list[str] = []
    columns: list[npt.NDArray[Any]] = []
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                names.append(member.removesuffix(".npy"))
                with archive.open(member) as file:
                    columns.append(np.lib.format.read_array(file, allow_pickle=False))
    except ValueError as error:
        if "allow_pickle" in str(error):
            raise LogError(
                f"{path} holds Python objects in `{names[-1]}`, which are never loaded, for they could run code; save "
                "plain arrays of numbers or text."
            ) from None
        raise LogError(f"{path} is damaged: {error}.") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, SyntaxError, NotImplementedError, RuntimeError) as error:
        raise LogError(f"{path} is no .npz file, or damaged: {error}.") from None
    return names, columns
