"""Headers that lie: caps, JSON tricks, metadata of wrong types, arrays in impossible places."""

from __future__ import annotations

import copy
import json
import os
import re
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.hostile.forge import Raw, all_arrays, join, sign, split, with_arrays
from tests.store.models import OPTIONS
from tripletree.errors import ModelFileError, TripleTreeWarning
from tripletree.store import load

Refused = Callable[[bytes, str], None]


def edited(good: bytes, edit: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the file with an edited header and the right SHA-256."""
    header, arrays = split(good)
    edit(header)
    return join(header, arrays)


def test_unedited_file_is_fine(good: bytes, tmp_path: Path) -> None:
    (tmp_path / "same").write_bytes(edited(good, lambda header: None))
    assert load(tmp_path / "same").tree.n_leaves == 6


def raw_header(good: bytes) -> tuple[bytes, bytes]:
    (length,) = struct.unpack("<Q", good[:8])
    return good[8 : 8 + length].rstrip(), good[8 + length :]


@pytest.mark.parametrize(
    ("insert", "text"),
    [
        (b'"x":' + b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'"x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b'"x":' + b"[" * 40 + b"]" * 40, "nested too deeply"),
        (b'"x":' + b"[" * 500_000, "nested too deeply"),
        (b'"x":NaN', "NaN is not a number"),
        (b'"x":-Infinity', "-Infinity is not a number"),
        (b'"x":1e999', "the number '1e999' is too large"),
        (b'"x":' + b"9" * 900_000, "the integer .* has more than 64 bits"),
        (b'"x":' + b"9" * 20, "the integer .* has more than 64 bits"),
        (b'"x":0.' + b"1" * 900_000, "array 'x' must have dtype, shape and data_offsets"),
        (b'"x":1e' + b"9" * 900_000, "is too large"),
        (b'"x":1,"x":2', "the key 'x' appears twice"),
        (b'"x":{"dtype":"F64","dtype":"F64"}', "the key 'dtype' appears twice"),
        (b'"x":"\\ud800"', "not Unicode"),
        (b'"\\udfff":1', "not Unicode"),
        (b'"x":"\t"', "not valid JSON: Invalid control character"),
        (b'"x"', "not valid JSON"),
        (b'"x":1,', "not valid JSON"),
    ],
)
def test_json_tricks(insert: bytes, text: str, good: bytes, refused: Refused) -> None:
    header, arrays = raw_header(good)
    refused(sign(header[:-1] + b"," + insert + b"}", arrays), text)


def test_metadata_given_twice(good: bytes, refused: Refused) -> None:
    header, arrays = raw_header(good)
    refused(sign(header[:-1] + b',"__metadata__":{}}', arrays), "the key '__metadata__' appears twice")


@pytest.mark.parametrize("key", ["schema", "options", "provenance"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Raw('{"a":1,"a":2}'), "the key 'a' appears twice"),
        (Raw("[" * 100_000), "nested too deeply"),
        (Raw('{"a":NaN}'), "NaN is not a number"),
        (Raw(""), "not valid JSON"),
        (Raw("{} {}"), "not valid JSON"),
        (Raw(["a"]), "`__metadata__` must hold strings"),
        (Raw(None), "`__metadata__` must hold strings"),
        (Raw(3), "`__metadata__` must hold strings"),
        (Raw({}), "`__metadata__` must hold strings"),
        ([], "must be an object"),
        (Raw('"text"'), "must be an object"),
        (Raw("null"), "must be an object"),
        (1.5, "must be an object"),
        (True, "must be an object"),
    ],
)
def test_metadata_of_wrong_type(key: str, value: object, text: str, good: bytes, refused: Refused) -> None:
    refused(edited(good, lambda header: header["__metadata__"].update({key: value})), text)


@pytest.mark.parametrize("key", ["samples", "episodes", "tripletree", "numpy", "log_sha256"])
@pytest.mark.parametrize("value", [None, -1, 1.5, True, [], {}])
def test_provenance_of_wrong_type(key: str, value: object, good: bytes, refused: Refused) -> None:
    refused(
        edited(good, lambda header: header["__metadata__"]["provenance"].update({key: value})), f"provenance `{key}`"
    )


@pytest.mark.parametrize("key", ["sha256", "format", "schema", "options", "provenance"])
def test_metadata_missing(key: str, good: bytes, refused: Refused) -> None:
    text = "no `__metadata__` with a `format`" if key == "format" else f"`__metadata__` lacks `{key}`"
    refused(edited(good, lambda header: header["__metadata__"].pop(key)), text)


@pytest.mark.parametrize("value", [None, [], "x", 1, {"format": None}])
def test_metadata_itself_of_wrong_type(value: object, good: bytes, refused: Refused) -> None:
    refused(edited(good, lambda header: header.update({"__metadata__": value})), "`__metadata__`|`format`")


@pytest.mark.parametrize("value", [[1], [1, 0, 0], [1.0, 0], [True, False], [1, -1], ["1", "0"], {"1": 0}, 1, None, []])
def test_format_of_wrong_type(value: object, good: bytes, refused: Refused) -> None:
    refused(edited(good, lambda h: h["__metadata__"].update(format=value)), r"its `format` must be \[major, minor\]")


@pytest.mark.parametrize(("major", "hint"), [(0, "$"), (2, " Update with: pip install -U tripletree$")])
def test_other_major_is_refused_whatever_else_it_holds(major: int, hint: str, good: bytes, refused: Refused) -> None:
    def edit(header: dict[str, Any]) -> None:
        header["__metadata__"] = {"format": [major, 3], "new": "x"}

    refused(edited(good, edit), f"it has format {major}.3; this version reads 1.x only\\.{hint}")


def test_higher_minor_is_read_and_what_is_new_in_it_left_out_aloud(good: bytes, tmp_path: Path) -> None:
    header, _ = split(good)
    header["__metadata__"].update(format=[1, 7], colours={"left": "red"})
    header["__metadata__"]["schema"]["features"][0]["latex"] = ["x"]
    header["__metadata__"]["schema"]["action"]["extra"] = None
    header["__metadata__"]["options"]["speed"] = "fast"
    path = tmp_path / "new"
    path.write_bytes(with_arrays(header, all_arrays(good) | {"tree.flags": np.zeros(5, np.uint8)}))
    text = "later format than 1.6, .* left out 'colours', 'latex', 'extra', 'speed', 'tree.flags'.*pip install"
    with pytest.warns(TripleTreeWarning, match=text) as caught:
        assert load(path).options == OPTIONS
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_higher_minor_without_news_gives_no_warning(good: bytes, tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(edited(good, lambda header: header["__metadata__"].update(format=[1, 7])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path / "new")


def test_higher_minor_may_not_hide_a_giant(good: bytes, refused: Refused) -> None:
    def edit(header: dict[str, Any]) -> None:
        header["__metadata__"]["format"] = [1, 7]
        header["new"] = {"dtype": "U8", "shape": [2**40, 2**40], "data_offsets": [0, 2**63]}

    refused(edited(good, edit), "array 'new' of shape .* does not fit")


@pytest.mark.parametrize(
    "edit",
    [
        lambda meta: meta.update(extra="x"),
        lambda meta: meta["schema"].update(extra="x"),
        lambda meta: meta["schema"]["features"][1].update(extra="x"),
        lambda meta: meta["schema"]["action"].update(extra="x"),
    ],
)
def test_unknown_key_in_a_known_format(edit: Callable[[Any], object], good: bytes, refused: Refused) -> None:
    refused(edited(good, lambda header: edit(header["__metadata__"])), "'extra', which its format does not know")


def with_option(good: bytes, name: str, value: Any) -> bytes:
    return edited(good, lambda header: header["__metadata__"]["options"].update({name: value}))


NO_OPTION: list[Any] = [{}, [], "x", -1, [1, 1], [0, 0, 0], [1, 1, -1], [1, 1, "1"], [True, True, True], ["x"] * 3]


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_no_fit_allows(name: str, good: bytes, refused: Refused) -> None:
    for value in NO_OPTION:
        refused(with_option(good, name, value), f"option `{name}` must be")
    refused(edited(good, lambda header: header["__metadata__"]["options"].pop(name)), f"`options` lacks `{name}`")


@pytest.mark.parametrize(("name", "value"), [("threads", 10**9), ("progress", None), ("extra", 1)])
def test_options_of_the_machine_are_not_taken_from_a_file(
    name: str, value: object, good: bytes, refused: Refused
) -> None:
    refused(with_option(good, name, value), f"'{name}', which its format does not know")


WRONG: list[object] = [None, 3, 1.5, True, "text", [], {}, ["a", 3], [None], [["a"]], {"a": "b"}]
SCHEMA_PLACES: list[tuple[object, ...]] = [
    ("features",),
    ("features", 0),
    ("features", 0, "name"),
    ("features", 0, "unit"),
    ("features", 0, "kind"),
    ("action",),
    ("action", "kind"),
    ("action", "names"),
    ("action", "labels"),
    ("action", "units"),
]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (place, value)
        for place in SCHEMA_PLACES
        for value in WRONG
        if value != "text" or place[-1] not in ("name", "unit")
    ],
    ids=str,
)
def test_schema_of_wrong_types(place: tuple[Any, ...], value: object, good: bytes, refused: Refused) -> None:
    def edit(header: dict[str, Any]) -> None:
        inside = header["__metadata__"]["schema"]
        for step in place[:-1]:
            inside = inside[step]
        inside[place[-1]] = value

    refused(edited(good, edit), "schema|feature|action")


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda s: s["features"].clear(), "at least one"),
        (lambda s: s["features"].pop(), "must be F64 of shape"),
        (lambda s: s["features"][1].update(name="pos"), "two features named 'pos'"),
        (lambda s: s["features"][1].update(name=""), "its schema is not valid"),
        (lambda s: s["features"][1].update(kind="reel"), "a feature's kind must be one of .* got 'reel'"),
        (lambda s: s["features"][1].pop("unit"), "feature 1 of its schema lacks `unit`"),
        (lambda s: s["action"].update(kind="continuous"), "a continuous action cannot have"),
        (lambda s: s["action"].update(labels=["left"]), "must be I64 of shape"),
        (lambda s: s["action"].update(labels=["left", "left"]), "two labels named 'left'"),
        (lambda s: s["action"].update(labels=[str(i) for i in range(5000)]), "its schema is not valid|must be I64"),
        (lambda s: s["action"].update(codes=["0"]), "Got 1 code for 2 labels; give one for each"),
        (lambda s: s["action"].update(codes=["0", "0"]), "two codes named '0'"),
        (lambda s: s["action"].update(codes=["0", ""]), "its schema is not valid: An action's code is ''"),
        (lambda s: s["action"].update(codes=[0, 1]), "the action's codes must be a list of strings"),
        (lambda s: s["action"].update(codes=None), "the action's codes must be a list of strings"),
        (lambda s: s["action"].update(codes=[str(i) for i in range(50_000)]), "its schema is not valid"),
        (lambda s: s["action"].update(names=["a", "b"], units=["", ""]), "a discrete action cannot have 2 names"),
        (lambda s: s["action"].update(units=[]), "cannot have 1 name, 0 units and 2 labels"),
        (lambda s: s["action"].update(kind="x" * 500_000), "the action's kind must be one of"),
        (lambda s: s["action"].update(kind="continuous", labels=[]), "it lacks the array 'action_scale'"),
        (
            lambda s: s["action"].update(names=["a"] * 50_000, units=[""] * 50_000, kind="continuous", labels=[]),
            "two",
        ),
    ],
)
def test_schema_that_contradicts_itself(
    edit: Callable[[Any], object], text: str, good: bytes, refused: Refused
) -> None:
    refused(edited(good, lambda header: edit(header["__metadata__"]["schema"])), text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "must have dtype, shape and data_offsets"),
        ([], "must have dtype"),
        ("x", "must have dtype"),
        ({}, "must have dtype"),
        ({"dtype": "F64", "shape": [11]}, "must have dtype"),
        ({"dtype": "F64", "shape": [11], "data_offsets": [0, 88], "more": 1}, "must have dtype"),
        ({"dtype": "PYOBJ", "shape": [11], "data_offsets": [0, 88]}, "unknown dtype 'PYOBJ'"),
        ({"dtype": ["F64"], "shape": [11], "data_offsets": [0, 88]}, "unknown dtype"),
        ({"dtype": None, "shape": [11], "data_offsets": [0, 88]}, "unknown dtype"),
        ({"dtype": "F64", "shape": 11, "data_offsets": [0, 88]}, "impossible shape"),
        ({"dtype": "F64", "shape": [-11], "data_offsets": [0, 88]}, "impossible shape"),
        ({"dtype": "F64", "shape": [-1, -11], "data_offsets": [0, 88]}, "impossible shape"),
        ({"dtype": "F64", "shape": [11.0], "data_offsets": [0, 88]}, "impossible shape"),
        ({"dtype": "F64", "shape": [True], "data_offsets": [0, 8]}, "impossible shape"),
        ({"dtype": "F64", "shape": ["11"], "data_offsets": [0, 88]}, "impossible shape"),
        ({"dtype": "F64", "shape": [1] * 33, "data_offsets": [0, 8]}, "impossible shape"),
        ({"dtype": "F64", "shape": [2**62] * 32, "data_offsets": [0, 88]}, "does not fit"),
        ({"dtype": "F64", "shape": [2**61], "data_offsets": [0, 0]}, "does not fit"),
        ({"dtype": "F64", "shape": [12], "data_offsets": [0, 88]}, "does not fit"),
        ({"dtype": "F64", "shape": [11], "data_offsets": [0]}, "impossible data_offsets"),
        ({"dtype": "F64", "shape": [11], "data_offsets": [-88, 0]}, "impossible data_offsets"),
        ({"dtype": "F64", "shape": [11], "data_offsets": [0.0, 88.0]}, "impossible data_offsets"),
        ({"dtype": "F64", "shape": [11], "data_offsets": "0,88"}, "impossible data_offsets"),
        ({"dtype": "F64", "shape": [11], "data_offsets": [88, 0]}, "does not fit"),
        ({"dtype": "F64", "shape": [11], "data_offsets": [4, 92]}, "no multiple of its item size"),
        ({"dtype": "F64", "shape": [11], "data_offsets": [2**40, 2**40 + 88]}, "leaves a gap after"),
    ],
)
def test_impossible_array(value: object, text: str, good: bytes, refused: Refused) -> None:
    refused(edited(good, lambda header: header.update({"tree.threshold": value})), f"array '.*{text}")


def test_overlap_gap_and_tail(good: bytes, refused: Refused) -> None:
    header, arrays = split(good)
    first = header["tree.threshold"]["data_offsets"]
    assert first == [0, 88]

    overlapping = copy.deepcopy(header)
    overlapping["tree.quality"]["data_offsets"] = first
    refused(join(overlapping, arrays), "overlaps")

    gap = copy.deepcopy(header)
    for name, entry in gap.items():
        if name != "__metadata__" and name != "tree.threshold":
            entry["data_offsets"] = [place + 8 for place in entry["data_offsets"]]
    refused(join(gap, arrays[:88] + b"\0" * 8 + arrays[88:]), "leaves a gap after 'tree.threshold'")

    refused(join(header, arrays + b"\0" * 8), "cut off or has a tail")
    refused(join(header, arrays[:-4]), "cut off or has a tail")
    refused(join(header, b""), "cut off or has a tail")


OPTIONAL = {"curve_validation", "attributes.state_mean", "training_episodes", "validation_episodes", "judged"}
OPTIONAL |= {"track.first", "track.texts"}  # whole episodes, and those that are numbers, have none
OPTIONAL |= {"track.weights"}  # episodes that all count the same have none
OPTIONAL |= {"linear.full"}  # models with all features are full themselves


def test_arrays_missing_extra_or_of_the_wrong_kind(good: bytes, continuous: bytes, refused: Refused) -> None:
    for data in (good, continuous):
        header, arrays = split(data)[0], all_arrays(data)
        for name in sorted(arrays.keys() - OPTIONAL):
            refused(with_arrays(header, {key: value for key, value in arrays.items() if key != name}), f"{name}'")
        refused(with_arrays(header, arrays | {"extra": np.zeros(3)}), "'extra', which its format does not know")
    discrete, other = all_arrays(good), all_arrays(continuous)
    extra = {"action_scale": other["action_scale"]}
    refused(with_arrays(split(good)[0], discrete | extra), "'action_scale', which does not fit a discrete action")
    none = {name: value for name, value in discrete.items() if "derivative_" not in name or name == "derivative_scale"}
    # Models of derivatives that the nodes do not have, and nothing about derivatives at all.
    refused(
        with_arrays(split(good)[0], none), r"'linear\.centre' must be F64 of shape \(11, 3\), got F64 of shape \(11, 5"
    )
    header = split(good)[0]
    header["__metadata__"]["options"]["leaf_model"] = "mean"
    none = {name: value for name, value in none.items() if not name.startswith("linear.")}
    refused(with_arrays(header, none), "derivatives must be present if, and only if")


def test_wrong_dtype_or_shape_of_every_array(good: bytes, continuous: bytes, refused: Refused) -> None:
    for data in (good, continuous):
        header, arrays = split(data)[0], all_arrays(data)
        for name, value in arrays.items():
            for wrong in (
                np.zeros(value.shape, np.float32 if value.dtype != np.float32 else np.float64),
                np.zeros(value.shape, np.int64 if value.dtype != np.int64 else np.float64),
                value[..., None],
                value.reshape(-1)[:0],
                value.reshape(-1)[:1].reshape(()),
                np.concatenate([value, value[:1]]),
            ):
                if name == "curve_training" and wrong.size > value.size:
                    continue  # a curve may go further than the tree
                refused(
                    with_arrays(header, arrays | {name: wrong}), "array '|nodes|loss curve|hashes, from small|track"
                )


def test_too_many_nodes(good: bytes, refused: Refused) -> None:
    header, arrays = split(good)[0], all_arrays(good)
    arrays["tree.feature"] = np.full(2**21 + 1, -1, np.int32)
    refused(with_arrays(header, arrays), "it has 2,097,153 nodes; .* at most 2,097,151")
    arrays["tree.feature"] = np.full(10, -1, np.int32)
    refused(with_arrays(header, arrays), "it has 10 nodes; a tree has an odd number")


def test_sha256(good: bytes, refused: Refused) -> None:
    header, arrays = raw_header(good)
    digest = json.loads(header)["__metadata__"]["sha256"].encode()

    def rebuilt(new: bytes) -> bytes:
        text = header.replace(digest, new)
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + arrays

    refused(rebuilt(b"1" * 64), "it is damaged: its SHA-256 does not match")
    refused(rebuilt(digest[:-1] + (b"1" if digest[-1:] == b"0" else b"0")), "it is damaged")
    letter = re.search(rb"[a-f]", digest)
    assert letter
    escaped = digest.replace(letter[0], b"\\u00%x" % ord(letter[0]), 1)
    for wrong in (digest.upper(), digest[:-1], b"", digest + b"0", b"sha256-" + digest, escaped):
        refused(rebuilt(wrong), "its `sha256` must be 64")
    refused(good[:-1] + bytes([good[-1] ^ 1]), "it is damaged")


def test_digest_written_twice(good: bytes, refused: Refused) -> None:
    header, arrays = raw_header(good)
    digest = json.loads(header)["__metadata__"]["sha256"]
    text = header.replace(b'"provenance":"{', b'"provenance":"{\\"copy\\":\\"' + digest.encode() + b'\\",')
    assert text != header
    text += b" " * (-len(text) % 8)
    refused(struct.pack("<Q", len(text)) + text + arrays, "its `sha256` must be 64")


def test_cut_off_at_every_byte(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(good)
    for size in reversed(range(len(good))):
        os.truncate(path, size)
        with pytest.raises(ModelFileError, match=r"empty or cut off|it is cut off"):
            load(path)


def test_every_byte_matters(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "flipped"
    path.write_bytes(good)
    with open(path, "r+b", buffering=0) as file:
        for place, byte in enumerate(good):
            os.pwrite(file.fileno(), bytes([byte ^ 0x20]), place)
            with pytest.raises(ModelFileError, match="Cannot load"):
                load(path)
            os.pwrite(file.fileno(), bytes([byte]), place)
    load(path)
