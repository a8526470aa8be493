"""Things that are not model files at all, or not even files."""

from __future__ import annotations

import io
import os
import pickle
import socket
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from safetensors.numpy import save as safetensors_bytes

from tests.store.models import random_model
from tripletree.errors import ModelFileError
from tripletree.store import load, model_file, save

Refused = Callable[[bytes, str], None]


class Trap:
    """Unpickling this would run code."""

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return (os.mkdir, ("trap",))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused(pickle.dumps(Trap(), protocol), "it is a pickle, .* never opened")
    assert not (tmp_path / "trap").exists()


def test_pickle_as_text(refused: Refused) -> None:
    refused(pickle.dumps(Trap(), 0), "not a tripletree file")


def test_zip_and_npz(refused: Refused) -> None:
    buffer = io.BytesIO()
    zipfile.ZipFile(buffer, "w").close()
    refused(buffer.getvalue(), "it is a zip archive")
    np.savez(buffer := io.BytesIO(), a=np.zeros(3))
    refused(buffer.getvalue(), "it is a zip archive")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "empty or cut off: 0 bytes"),
        (b"\0" * 7, "empty or cut off: 7 bytes"),
        (b"\0" * 8, "no JSON header"),
        (b"\0" * 1000, "no JSON header"),
        (b"\xff" * 1000, "not a tripletree file"),
        (b"\xff" * 8 + b"{", "its header claims 18,446,744,073,709,551,615 bytes"),
        (b"\x89HDF\r\n\x1a\n" * 10, "not a tripletree file"),
        (b"episode,pos,speed\n" * 10, r"not a tripletree file\. Models are written by TripleTree\.save"),
        (b"import os\n", "not a tripletree file"),
        (b'{"format": [1, 0]}', "not a tripletree file"),
        (struct.pack("<Q", 2**20 + 1) + b"{" + b" " * 2**20, "its header claims 1,048,577 bytes; at most 1,048,576"),
        (struct.pack("<Q", 2**63) + b"{}", "its header claims"),
        (struct.pack("<Q", 100) + b"{}", "cut off: its header claims 100 bytes, 2 are there"),
        (struct.pack("<Q", 2) + b"{}", "not a tripletree model"),
        (struct.pack("<Q", 2) + b"[]", "no JSON header"),
        (struct.pack("<Q", 3) + b" {}", "no JSON header"),
        (struct.pack("<Q", 4) + b"{}{}", "not valid JSON: Extra data"),
        (struct.pack("<Q", 3) + b"{\xff}", "not UTF-8"),
        (struct.pack("<Q", 5) + b"{}\0\0\0", "not valid JSON"),
        (safetensors_bytes({"weights": np.zeros(3)}), "not a tripletree model"),
        (safetensors_bytes({"weights": np.zeros(3)}, {"format": "pt"}), "its `format` is not valid JSON"),
    ],
)
def test_other_bytes(data: bytes, text: str, refused: Refused) -> None:
    refused(data, text)


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"Cannot load '.*no\.tripletree': No such file or directory\.$"
    ) as caught:
        load(tmp_path / "no.tripletree")
    assert isinstance(caught.value, ModelFileError)


def test_file_above_the_cap_is_not_read(tmp_path: Path, good: bytes) -> None:
    path = tmp_path / "large"
    path.write_bytes(good)
    os.truncate(path, 2**30 + 1)
    with pytest.raises(ModelFileError, match=r"it has 1,073,741,825 bytes; at most 1,073,741,824 are read"):
        load(path)


def test_sparse_file_is_refused_by_its_header(tmp_path: Path, good: bytes) -> None:
    path = tmp_path / "sparse"
    path.write_bytes(good)
    os.truncate(path, 2**30)
    with pytest.raises(ModelFileError, match="cut off or has a tail"):
        load(path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"Cannot load '.*nothing': No such file or directory\."):
        load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="it is a folder"):
        load(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ModelFileError, match="Not a directory"):
        load(tmp_path / "file" / "model")
    with pytest.raises(ModelFileError, match="File name too long"):
        load(tmp_path / ("x" * 300))


def test_pipes_sockets_and_devices_are_neither_read_nor_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "link", tmp_path / "socket", Path("/dev/zero"), Path("/dev/null")):
            with pytest.raises(ModelFileError, match=r"Cannot load .* not a regular file"):
                load(path)
            with pytest.raises(ModelFileError, match=r"Cannot save .* not a regular file"):
                save(random_model(1), path)
            assert not path.is_file()


def test_a_pipe_put_there_after_the_first_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    regular = Path(__file__).stat()
    monkeypatch.setattr(Path, "stat", lambda self: regular)
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path / "pipe")


def test_symbolic_links(tmp_path: Path, good: bytes) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ModelFileError, match="Too many levels of symbolic links"):
        load(tmp_path / "loop")
    with pytest.raises(ModelFileError, match="Too many levels of symbolic links"):
        save(random_model(1), tmp_path / "loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(ModelFileError, match="No such file"):
        load(tmp_path / "dangling")
    (tmp_path / "real").write_bytes(good)
    (tmp_path / "fine").symlink_to("real")
    assert load(tmp_path / "fine").tree.n_leaves == 6


def test_file_that_shrinks_or_grows_while_it_is_read(
    tmp_path: Path, good: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    path.write_bytes(good)
    small, large = good[:-8], good + b"\0"
    for content in (small, large):
        real = model_file._decode

        def change(stream: BinaryIO, size: int, real: Any = real, new: bytes = content) -> object:
            path.write_bytes(new)
            return real(stream, size)

        path.write_bytes(good)
        with monkeypatch.context() as patch:
            patch.setattr(model_file, "_decode", change)
            with pytest.raises(ModelFileError, match="its size changed while it was read"):
                load(path)
