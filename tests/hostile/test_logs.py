"""Malformed logs of every format: each ends in an error that says what came and what to do, or in a right log."""

from __future__ import annotations

import contextlib
import gzip
import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.logs import random_log
from tripletree.errors import LogError
from tripletree.log import Log, npz_reader, read_log
from tripletree.writing import open_regular

HEADER = "episode,x,action,reward\n"
GOOD = HEADER + "0,0.5,1,2\n0,0.7,0,1\n"
COLUMNS: dict[str, Any] = {
    "episode": np.array([0, 0, 1]),
    "x": np.array([0.5, 1.0, 2.0]),
    "action": np.array([0, 1, 0]),
    "reward": np.array([1.0, 2.0, 3.0]),
}
MOST_MEMORY = 40_000_000
"""Bytes that any of the files below may take: each has at most a few million."""


def npy(
    descr: str = "'<f8'", shape: str = "(3,)", data: bytes = bytes(24), header: str = "", version: int = 1
) -> bytes:
    """Return the bytes of an array with a header of one's own."""
    text = header or f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    length = struct.pack("<H" if version == 1 else "<I", len(text) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode("latin-1") + b"\n" + data


def zipped(folder: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(folder / "log.npz", "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return folder / "log.npz"


def crafted(**how: Any) -> Callable[[Path], Path]:
    """Return the maker of an NPZ file in which the rewards are such an array."""

    def make(folder: Path) -> Path:
        return zipped(folder, {"reward.npy": npy(**how)})

    return make


def native(**changes: Any) -> Callable[[Path], Path]:
    """Return the maker of a file as Log.to_npz writes it, with some arrays replaced."""

    def make(folder: Path) -> Path:
        path = folder / "log.npz"
        random_log().to_npz(path)
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files} | changes
        np.savez(path, **arrays)
        return path

    return make


def text(content: str | bytes, name: str = "log.csv") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder / name

    return make


def parquet(table: Any, **options: Any) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        made = table() if callable(table) else table
        pq.write_table(made if isinstance(made, pa.Table) else pa.table(made), folder / "log.parquet", **options)
        return folder / "log.parquet"

    return make


def patched(make: Callable[[Path], Path], change: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    """Return the maker of a file whose bytes are changed after it was made."""

    def patch(folder: Path) -> Path:
        path = make(folder)
        path.write_bytes(change(path.read_bytes()))
        return path

    return patch


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "log.csv")
    return folder / "log.csv"


def bomb(folder: Path, arrays: int = 1) -> Path:
    """Write zeros that unpack to 320 million bytes."""
    values = 40_000_000 // arrays
    with zipfile.ZipFile(folder / "log.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for k in range(arrays):
            with archive.open(f"x{k}.npy", "w") as stream:
                stream.write(npy(shape=f"({values},)", data=b""))
                for _ in range(8 * values // 1_000_000):
                    stream.write(bytes(1_000_000))
    return folder / "log.npz"


def overlapping(content: bytes) -> bytes:
    """Write the one entry of a directory 200 times: all of them mean the same bytes."""
    begin, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    entry = content[begin:end]
    last = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 200, 200, 200 * len(entry), begin, 0)
    return content[:begin] + 200 * entry + last


def encrypted(content: bytes) -> bytes:
    """Set the flag of encryption in the local header and in the directory."""
    local, central = content.index(b"PK\x03\x04"), content.index(b"PK\x01\x02")
    return b"".join(
        bytes([byte | 1]) if place in (local + 6, central + 8) else bytes([byte]) for place, byte in enumerate(content)
    )


AGAIN = r"Save it again with Log\.to_npz or np\.savez\.$"
IGNORE = r"If it is not a feature: ignore="
FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "nothing": (text(""), "log.csv is empty; expected a header line, and a line for each step"),
    "blank lines": (text("\n\r\n\n"), "log.csv is empty; expected a header line"),
    "a header alone": (text(HEADER), "holds a header and no samples; it needs at least one step"),
    "no header": (text("0,0.5,1,2\n"), "its first line holds only numbers .*Put the column names in the first line"),
    "ragged": (text(GOOD + "0,0.5\n"), "row 2 has 2 cells, the header has 4.*put the value in quotes"),
    "an open quote": (text(GOOD + '0,"0.5,1,2\n'), "row 2 has 2 cells, the header has 4.*put the value in quotes"),
    "a field without end": (text(GOOD + '0,"' + "x" * 3_000_000), "field larger than .*Is a closing quote missing"),
    "a row without end": (text(GOOD + "1," * 1_000_000), "row 2 has 1,000,001 cells, the header has 4"),
    "NUL": (text(GOOD + "0,\0,1,2\n"), r"`x` holds text with a NUL character \(first in row 2: '.x00'\)"),
    "latin-1": (text("episode,höhe\n".encode("latin-1")), 'not utf-8 text: it holds byte 0xf6.*encoding="latin-1"'),
    "UTF-16": (text(GOOD.encode("utf-16")), 'not utf-8 text: it holds byte 0xff.*encoding="utf-16"'),
    "surrogates as UTF-8": (text(GOOD.encode() + b"0,\xed\xa0\x80,1,2\n"), "is not utf-8 text: it holds byte 0xed"),
    "a picture": (text(b"\x89PNG\r\n\x1a\n" + bytes(range(256))), "is not utf-8 text: it holds byte 0x89"),
    "a compressed file": (text(gzip.compress(GOOD.encode())[:-9]), "is damaged: Compressed file ended before"),
    "a web page": (text("<!doctype html>\n<p>404, not found\n"), "row 0 has 2 cells, the header has 1"),
    "JSON": (
        text('{"episode": 0, "x": 1}\n{"episode": 0, "x": 2}\n'),
        "No column is left for the state: all of them always hold the same text",
    ),
    "two columns of one name": (text("x,x,reward\n0,1,2\n"), "`x` is the name of more than one column.*Rename or drop"),
    "a column without a name": (
        text("episode,,action,reward\n0,1.5,1,2\n0,0.5,1,2\n"),
        "Column 2 has no name.*Give it",
    ),
    "text as a feature": (text(GOOD + "0,fast,1,2\n"), rf"first in row 2: 'fast'\); only numbers.*{IGNORE}"),
    "dates as a feature": (text(HEADER + "0,2024-01-01,1,2\n"), rf"first in row 0: '2024-01-01'\).*{IGNORE}"),
    "decimal commas": (
        text("episode;x;action;reward\n0;0,5;1;2\n"),
        rf"first in row 0: '0,5'\); only numbers.*{IGNORE}",
    ),
    "no episodes": (text("x,action\n1,2\n"), "Nothing says where episodes begin or end"),
    "no reward but one": (
        text(HEADER + "0,0.5,1,\n0,0.5,1,\n0,0.5,1,2\n"),
        "The reward is NaN or infinite in 2 rows, first in row 0; only finite",
    ),
    "no action but one": (
        text(HEADER + "0,0.5,,2\n0,0.5,,2\n0,0.5,1,2\n"),
        "`action` is .* in 2 rows, first in row 0",
    ),
    "an infinite feature": (text(GOOD + "0,inf,1,2\n"), r"`x` in 1 row \(first in row 2\).*Leave such rows out"),
    "a huge reward": (text(GOOD + "0,0.5,1,1e101\n"), r"The reward goes beyond 1e\+100; .*Divide it by a constant"),
    "an integer of 30 digits": (text(HEADER + f"0,{10**30},1,2\n"), rf"`x` holds text .*{IGNORE}"),
    "a step twice": (text("episode,step,x,action,reward\n0,1,1,1,1\n0,1,2,0,1\n"), "holds step 1 twice.*its own id"),
    "2,000 labels": (
        text(HEADER + "".join(f"0,1,a{k},2\n" for k in range(2000))),
        "2,000 different .*Group the values",
    ),
    "a pipe": (pipe, "log.csv cannot be read: it is a pipe, not a regular file. Save what comes out of it to a file"),
    "a folder": (
        lambda folder: folder,
        "is a folder without a CSV or Parquet file, and no LeRobot or Minari dataset. It is empty",
    ),
    "a device": (lambda _: "/dev/zero", "/dev/zero cannot be read: it is a device, not a regular file. Save what"),
    "no such file": (lambda folder: folder / "log.csv", "There is no file .*log.csv"),
    "a name with NUL": (lambda folder: f"{folder}/a\0.csv", "There is no file"),
    "Parquet under another name": (text(b"PAR1" + bytes(20)), "its content is parquet; rename it to end in .parquet"),
    "a bomb": (bomb, "would unpack to 320,000,075; a file may unpack to 100 times its size, or to 268,435,456 bytes"),
    "a bomb in many arrays": (lambda folder: bomb(folder, 10), "would unpack to .* save it without compression"),
    "overlapping arrays": (patched(crafted(), overlapping), rf"(?i)overlap.*{AGAIN}"),
    "a shape that lies": (crafted(shape="(1000000000000,)"), f"shape .1000000000000,. .*not fit its 24 bytes.*{AGAIN}"),
    "a negative shape": (crafted(shape="(-3,)"), rf"shape \(-3,\) of float64, which does not fit .*{AGAIN}"),
    "a shape of no bytes": (
        crafted(shape="(0, 1000000000)", data=b""),
        "at most 1,048,576 values. Expected one row for",
    ),
    "items of no bytes": (
        crafted(descr="'<U0'", shape="(9999999999,)", data=b""),
        f"does not fit its 0 bytes.*{AGAIN}",
    ),
    "items of a gigabyte": (crafted(descr="'<U1000000000'", shape="(0,)", data=b""), f"not a NumPy array.*{AGAIN}"),
    "a header without end": (crafted(header="{'descr': '''"), f"its header cannot be read.*{AGAIN}"),
    "a header of brackets": (crafted(header="(" * 500), f"its header cannot be read.*{AGAIN}"),
    "a header of signs": (crafted(header="-" * 9000 + "1"), f"its header cannot be read.*{AGAIN}"),
    "a header of another type": (crafted(header="{1: 2, 'descr': 3}"), f"its header cannot be read.*{AGAIN}"),
    "a header of a list": (crafted(header="[1, 2]"), rf"Header is not a dictionary: \[1, 2\].*{AGAIN}"),
    "a header of 60,000 bytes": (crafted(header="{" + " " * 60_000 + "}"), f"Header info length .60003. is.*{AGAIN}"),
    "a shape of text": (crafted(shape="('a',)"), f"shape is not valid.*{AGAIN}"),
    "a type that is none": (crafted(descr="'zz'"), f"descr is not a valid dtype descriptor: 'zz'.*{AGAIN}"),
    "a type of types": (
        crafted(descr="[('a', [('b', '<f8')])]"),
        "holds records in `reward`.*Save each field as an array",
    ),
    "objects": (crafted(descr="'|O'"), "holds Python objects in `reward`. They are never loaded"),
    "a pickle": (text(b"\x80\x04\x95", "log.npz"), f"is not an .npz file.*{AGAIN}"),
    "another version": (crafted(version=3), f"records are not read, only plain columns.*{AGAIN}"),
    "a version to come": (crafted(version=9), f"its header cannot be read.*{AGAIN}"),
    "another compression": (
        lambda folder: zipped(folder, {"x.npy": npy()}, zipfile.ZIP_LZMA),
        "another way than deflate",
    ),
    "a damaged compression": (patched(crafted(), lambda b: b[:60] + b"\xff" * 9 + b[69:]), f"damaged: .*{AGAIN}"),
    "a password": (patched(crafted(), encrypted), f"is encrypted, password required.*{AGAIN}"),
    "half an archive": (patched(native(), lambda content: content[: len(content) // 2]), f"not an .npz file.*{AGAIN}"),
    "a picture in an archive": (lambda folder: zipped(folder, {"a.png": b"PNG" * 99}), f"`a.png` is not a .*{AGAIN}"),
    "complex states": (native(states=np.full((120, 2), 1j)), "Log.states holds complex128 values; only real numbers"),
    "huge states": (native(states=np.full((120, 2), 1e101)), r"Log.states goes beyond 1e\+100"),
    "a schema without end": (
        native(tripletree_log=np.array("[" * 50_000)),
        r"damaged: it does .*again with Log\.to_npz",
    ),
    "a code without a label": (native(actions=np.full(120, 2**30)), "a code without a label; there are 3 labels"),
    "half a Parquet file": (patched(parquet(COLUMNS), lambda b: b[: len(b) // 2]), "damaged: .*Write it again"),
    "noise as Parquet": (text(b"PAR1" + bytes(range(256)) + b"PAR1", "log.parquet"), "damaged: .*Write it again"),
    "zeros as Parquet": (parquet(dict.fromkeys("abcd", np.zeros(10**7))), "to 320,000,000; .*type Log.from_frame"),
    "structures as Parquet": (parquet(COLUMNS | {"x": [{"a": 1}] * 3}), r"`x` holds Python objects \(dict\)"),
    "no rows as Parquet": (
        parquet({name: column[:0] for name, column in COLUMNS.items()}),
        "it needs at least one step",
    ),
    "only missing values": (
        parquet({name: pa.nulls(3) for name in COLUMNS}),
        "it has 4 errors:\n  1. `episode` is missing",
    ),
    "two names in Parquet": (
        parquet(pa.table(list(COLUMNS.values()), ["episode", "x", "x", "reward"])),
        "`x` is the name of more than one column",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path: Path, name: str) -> None:
    make, message = FILES[name]
    path = make(tmp_path)
    refused(lambda: read_log(path), message)


def refused(read: Callable[[], Log], message: str) -> None:
    """Check that something is refused with a sentence, before it takes much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(LogError, match=message) as caught:
            read()
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 2000
    assert caught.value.__cause__ is None or isinstance(caught.value.__cause__, OSError)


def table(**changes: Any) -> Callable[[], Log]:
    return lambda: Log.from_dict({name: column for name, column in (COLUMNS | changes).items() if column is not None})


def frame(**changes: Any) -> Callable[[], Log]:
    return lambda: Log.from_frame(pd.DataFrame(COLUMNS | changes))


def arrays(
    states: Any = ((1.0,), (2.0,)), actions: Any = (0, 1), rewards: Any = (1, 2), **more: Any
) -> Callable[[], Log]:
    return lambda: Log.from_arrays(states, actions, rewards, **({"episodes": [0, 0]} | more))


MASKED = np.ma.MaskedArray(np.zeros(3, [("a", float), ("b", int)]), mask=[(True, False)] * 3)
OBJECTS: dict[str, tuple[Callable[[], Log], str]] = {
    "ragged lists": (arrays([[1.0], [2.0, 3.0]]), "`states` is ragged: row 0 has 1 value, row 1 has 2 values"),
    "no list": (arrays(None), "`states` is None; expected an array or a list"),
    "one number": (arrays(rewards=3), r"`rewards` has shape \(\); expected one value for each step"),
    "pictures as states": (arrays(np.zeros((2, 3, 3))), r"shape \(2, 3, 3\).*Flatten it first: array.reshape"),
    "no states": (arrays([], [], [], episodes=[]), "it needs at least one step|expected .steps, values."),
    "objects as states": (arrays([[object()], [2]]), r"`states` holds Python objects \(number, object\)"),
    "complex rewards": (
        arrays(rewards=[1j, 2]),
        "holds complex numbers; only real numbers are allowed.*columns of their own",
    ),
    "too few rewards": (arrays(rewards=[1]), "differ in length: 1 reward, but feature `s0` has 2"),
    "an integer beyond doubles": (arrays([[10**400], [1]]), "does not fit in a double; the limit is 1.8e308"),
    "a masked structured array": (
        table(x=MASKED),
        r"Column `x` is a structured array .*Type Log.from_dict\(\{name: array",
    ),
    "half a character as a name": (table(**{"p\ud800": COLUMNS["x"]}), r"'p.ud800', which is not Unicode.*Rename it"),
    "half a character as a label": (table(action=["a", "\ud800", "a"]), "'.ud800', which is not Unicode"),
    "half a character as an id": (table(episode=["a", "a", "\ud800"]), "'.ud800', which is not Unicode"),
    "a generator": (table(x=(value for value in (1, 2, 3))), "`x` is <generator object.*; expected an array or a list"),
    "a set": (table(x={1, 2, 3}), r"`x` is \{1, 2, 3\}, of type set; expected an array or a list"),
    "a column of another length": (table(x=[1.0, 2.0]), "differ in length: 3 rewards, but feature `x` has 2"),
    "text and numbers": (
        table(x=["a", 1.5, 2.5]),
        r"mixes numbers and text \('a' in row 0, 1.5 in row 1\). Make all of them",
    ),
    "no state": (table(x=None), "No column is left for the state.*Type features="),
    "dates": (frame(x=pd.date_range("2024", periods=3)), rf"`x` holds dates or times; only numbers.*{IGNORE}"),
    "periods": (frame(x=pd.period_range("2024", periods=3)), r"`x` holds Python objects \(Period\)"),
    "a missing action": (
        frame(action=pd.array([0, None, None], "Int64")),
        "Action `action` is .* in 2 rows, first in row 1",
    ),
    "no table": (lambda: Log.from_frame(3), r"got int. For a dict type Log.from_dict\(...\)"),
    "no columns": (lambda: Log.from_dict({}), "The table has no columns; it needs states, actions and rewards"),
    "no episodes": (lambda: Log.from_episodes([]), "(?i)no episodes|at least one"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name: str) -> None:
    refused(*OBJECTS[name])


def test_there_are_as_many_as_promised() -> None:
    assert len(FILES) + len(OBJECTS) >= 60


@pytest.mark.parametrize(
    "content",
    [
        GOOD.replace("\n", "\r"),
        "\ufeff" + GOOD,
        "\n\n" + GOOD + "\n\n",
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        '"episode","x","action","reward"\n0,"0.5",1,2\n0,0.7,"0",1',
        HEADER + " 0 , 0.5, 1,2\n0,+7e-1,0,1.\n",
        HEADER + "00,0.50,1,2\n00,.7,0,1\n",
    ],
)
def test_odd_files_that_are_right(tmp_path: Path, content: str) -> None:
    log = read_log(text(content)(tmp_path))
    assert log.states.tolist() == [[0.5], [0.7]]
    assert log.rewards.tolist() == [2, 1]
    assert log.schema.action.labels == ("0", "1")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [native(), parquet(COLUMNS), crafted()])
def test_damage_anywhere(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    good = path.read_bytes()
    for seed in range(300):
        rng = np.random.default_rng(seed)
        damaged = bytearray(good)
        # Half of the damage where the directory of a file is: at its end.
        for place in rng.integers(0 if seed % 2 else max(0, len(good) - 600), len(good), 3).tolist():
            damaged[place] = int(rng.choice([0, 1, 127, 128, 255, rng.integers(256)]))
        path.write_bytes(damaged)
        with contextlib.suppress(LogError):
            read_log(path)


HEADER_WORDS = "{}()[],:'-\\ \n\0 1 3L -3 1e9 None True 'descr' 'fortran_order' 'shape' '<f8' '|O' '<U0' 1j lambda"


@pytest.mark.filterwarnings("ignore")
def test_any_header_of_an_array(tmp_path: Path) -> None:
    words = [*HEADER_WORDS[:14], *HEADER_WORDS[14:].split()]
    for seed in range(500):
        rng = np.random.default_rng(seed)
        header = "".join(rng.choice(words, int(rng.integers(1, 25))))
        if seed % 2:
            header = f"{{'descr': {header}, 'fortran_order': False, 'shape': (3,)}}"
        path = crafted(header=header)(tmp_path)
        with pytest.raises(LogError, match=r"log\.npz|No column is left"):
            read_log(path)


def test_a_small_log_that_compresses_well_is_no_bomb(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "log.npz", **COLUMNS, z=np.zeros(3), w=np.array(["a" * 9] * 3))
    assert len(read_log(tmp_path / "log.npz", ignore=["w"])) == 3


def test_what_is_written_is_read_however_well_it_compresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 20_000
    log = Log.from_arrays(np.zeros((n, 2)), np.zeros(n, int), np.zeros(n), endless=True)
    log.to_npz(tmp_path / "small.npz", compress=True)
    monkeypatch.setattr(npz_reader, "FREE_BYTES", 1000)
    with pytest.raises(LogError, match="would unpack to"):
        read_log(tmp_path / "small.npz")
    log.to_npz(tmp_path / "log.npz", compress=True)
    assert read_log(tmp_path / "log.npz").fingerprint() == log.fingerprint()


def test_arrow_gives_its_memory_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(COLUMNS)(tmp_path)
    real = pa.default_memory_pool()
    held: list[int] = []

    class Pool:
        def release_unused(self) -> None:
            held.append(real.bytes_allocated() - before)

    with monkeypatch.context() as patch:
        patch.setattr(pa, "default_memory_pool", Pool)
        for _ in range(5):
            before = real.bytes_allocated()
            read_log(path)
    # At the moment when what is free is given back, all that the log was made of must be free. More than once, because
    # a thread of Arrow's may not have let go of a few bytes yet.
    # Twice each time: when the file is read, and when the log is made.
    assert len(held) == 10
    assert 0 in held[1::2]


@pytest.mark.parametrize("make", [text(GOOD), parquet(COLUMNS), native()])
def test_names_that_are_not_utf8(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    path = path.rename(tmp_path / os.fsdecode(b"l\xe4uf" + path.suffix.encode()))
    assert read_log(path).reading.encode().split(b"\n")[0].endswith(b"from l?uf" + path.suffix.encode() + b".")
    path.write_bytes(b"")
    with pytest.raises(LogError, match=r"l\?uf\.") as caught:
        read_log(path)
    assert str(caught.value).encode()


def test_a_pipe_that_comes_after_the_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.csv").write_text(GOOD)
    regular = os.stat(tmp_path / "log.csv")
    (tmp_path / "log.csv").unlink()
    path = pipe(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("tripletree.writing.os.stat", lambda *_, **__: regular)
        with pytest.raises(OSError, match="it is a pipe"):
            open_regular(path)
