"""20,000 spoiled files: each raises the project's own error, or loads as a consistent model."""

from __future__ import annotations

import copy
import json
import re
import struct
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.hostile.forge import Raw, join, resign, split
from tripletree.errors import ModelFileError, TripleTreeWarning
from tripletree.store import load

Random = np.random.Generator

NUMBERS = [0, 1, -1, 2, 3, 7, 8, 2**21 + 1, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**70]
VALUES: list[Any] = [
    *(None, True, False, "", "x", "é", "\ud800", "F64", "I32", [], {}, [0], [0, 0], {"a": 1}, [[]], 0.5, 1e308, -0.0),
    *NUMBERS,
]
DOUBLES = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 5e-324, 1.8e308, 1e-9, 0.5]


def patch(rng: Random, data: bytes) -> bytes:
    """Change bytes somewhere: flip bits, overwrite, insert, delete, repeat, cut."""
    place = int(rng.integers(len(data)))
    length = int(rng.choice([1, 1, 2, 4, 8, 16, 100]))
    match rng.integers(7):
        case 0:
            return data[:place] + bytes([data[place] ^ (1 << int(rng.integers(8)))]) + data[place + 1 :]
        case 1:
            return data[:place] + rng.bytes(length) + data[place + length :]
        case 2:
            return data[:place] + rng.bytes(length) + data[place:]
        case 3:
            return data[:place] + data[place + length :]
        case 4:
            return data[:place] + data[place : place + length] + data[place:]
        case 5:
            return data[:place]
        case _:
            return data[:place] + bytes([int(rng.choice([0, 0x20, 0x22, 0x2C, 0x5B, 0x7B, 0x7F, 0xFF]))]) * length


def patch_number(rng: Random, data: bytes) -> bytes:
    """Overwrite one aligned number of the arrays by one that likes to break things."""
    (length,) = struct.unpack("<Q", data[:8])
    place = 8 + length + int(rng.integers((len(data) - 8 - length) // 4)) * 4
    kind = rng.integers(4)
    if kind == 0:
        new = struct.pack("<d", rng.choice(DOUBLES))
    elif kind == 1:
        new = struct.pack("<Q", int(rng.choice(NUMBERS[:-1])) % 2**64)
    elif kind == 2:
        new = struct.pack("<I", int(rng.choice(NUMBERS[:-1])) % 2**32)
    else:
        other = 8 + length + int(rng.integers((len(data) - 8 - length) // 8)) * 8
        new = data[other : other + 8]
    return data[:place] + new[: len(data) - place] + data[place + len(new) :]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of everything inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [deeper for key, item in items for deeper in places(item, (*path, key))]


def patch_header(rng: Random, data: bytes) -> bytes:
    """Change the structure of the header: replace, delete, rename, add, swap, double."""
    header, arrays = split(data)
    for _ in range(int(rng.integers(1, 4))):
        paths = places(header)
        # Most paths lead to arrays: look at the metadata half of the time.
        inner = [path for path in paths if path[0] == "__metadata__"] if rng.random() < 0.5 else []
        path = (inner or paths)[rng.integers(len(inner or paths))]
        inside: Any = header
        for step in path[:-1]:
            inside = inside[step]
        key, value = path[-1], copy.deepcopy(VALUES[rng.integers(len(VALUES))])
        match rng.integers(7):
            case 0 | 1 | 2:
                near = isinstance(inside[key], int) and rng.random() < 0.7
                inside[key] = inside[key] + int(rng.choice([-8, -4, -1, 1, 4, 8])) if near else value
            case 3:
                del inside[key]
            case 4:
                other = paths[rng.integers(len(paths))]
                there = header
                for step in other[:-1]:
                    there = there[step]
                inside[key] = copy.deepcopy(there[other[-1]])
            case 5 if isinstance(inside, dict):
                inside[str(value)[:20]] = inside.pop(key)
            case _ if isinstance(inside, list):
                inside.insert(0, copy.deepcopy(inside[key]))
            case _:
                inside[str(value)[:20]] = copy.deepcopy(inside[key])
    metadata = header.get("__metadata__")
    if isinstance(metadata, dict):
        for key, value in metadata.items():
            # Now and then the value itself, not its JSON text.
            metadata[key] = Raw(value) if not isinstance(value, str) and rng.random() < 0.01 else value
    return join(header, arrays)


def outcomes(rng: Random, mutate: Callable[[Random], bytes], times: int, folder: Path) -> Counter[str]:
    """Load so many mutations; return how often each kind of error came ("" for none)."""
    result: Counter[str] = Counter()
    path = folder / "mutated"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        for _ in range(times):
            data = mutate(rng)
            path.write_bytes(data)
            try:
                fitted = load(path)
            except ModelFileError as error:
                text = str(error).split("': ", 1)[1]
                assert len(text) < 500
                result[re.sub(r"'.*?'|\".*?\"|`.*?`|[\d,.]+|\[.*\]", "_", text)] += 1
            else:
                count = fitted.attributes.count
                assert count[fitted.tree.leaf_nodes].sum() == count[0]
                # The compiled code follows the children without looking: they must lead to leaves.
                leaves = fitted.tree.apply(np.zeros((1, len(fitted.schema.features))))
                assert 0 <= leaves[0] < fitted.tree.n_leaves
                result[""] += 1
    return result


@pytest.mark.parametrize("sample", range(4))
def test_changed_bytes(sample: int, good: bytes, continuous: bytes, tmp_path: Path) -> None:
    seen = outcomes(
        np.random.default_rng(sample),
        lambda rng: patch(rng, good if rng.random() < 0.5 else continuous),
        1000,
        tmp_path,
    )
    # A byte may be replaced by itself; nothing else gets through.
    assert seen[""] < 20
    assert len(seen) > 10


@pytest.mark.parametrize("sample", range(4))
def test_changed_bytes_with_the_right_sha256(sample: int, good: bytes, continuous: bytes, tmp_path: Path) -> None:
    seen = outcomes(
        np.random.default_rng(100 + sample),
        lambda rng: resign(patch(rng, good if rng.random() < 0.5 else continuous)),
        1500,
        tmp_path,
    )
    assert len(seen) > 15


@pytest.mark.parametrize("sample", range(4))
def test_changed_numbers_with_the_right_sha256(sample: int, good: bytes, continuous: bytes, tmp_path: Path) -> None:
    seen = outcomes(
        np.random.default_rng(200 + sample),
        lambda rng: resign(patch_number(rng, good if rng.random() < 0.5 else continuous)),
        1000,
        tmp_path,
    )
    assert seen["it is damaged: its SHA-_ does not match its content_ Use another copy of it_"] == 0
    assert len(seen) > 12


@pytest.mark.parametrize("sample", range(4))
def test_changed_structure_with_the_right_sha256(sample: int, good: bytes, continuous: bytes, tmp_path: Path) -> None:
    seen = outcomes(
        np.random.default_rng(300 + sample),
        lambda rng: patch_header(rng, good if rng.random() < 0.5 else continuous),
        1500,
        tmp_path,
    )
    assert len(seen) > 30


def test_the_tools_of_these_tests_keep_a_good_file_good(good: bytes, tmp_path: Path) -> None:
    header, arrays = split(good)
    for data in (resign(good), join(header, arrays)):
        (tmp_path / "same").write_bytes(data)
        assert load(tmp_path / "same").tree.n_leaves == 6
    assert resign(good) == good
    assert json.loads(json.dumps(header)) == header
