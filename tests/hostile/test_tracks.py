"""Tracks that no log has: nothing is unpacked that is larger than it may be, and every code and name is checked."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.hostile.forge import all_arrays, split, with_arrays
from tests.logs import random_log
from tripletree import TripleTree
from tripletree.log.log import TERMINATED
from tripletree.model.track import LONGEST_ID, MOST_BYTES, MOST_EPISODES
from tripletree.store import load, save

Refused = Callable[[bytes, str], None]
Change = Callable[[dict[str, npt.NDArray[Any]]], object]


@pytest.fixture(scope="module")
def tracked(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A grown tree whose file holds the states of three episodes with texts for names."""
    log = random_log(4, lengths=(30, 25, 40))
    log = replace(log, episode_ids=np.array(["Flug 1", "größer", ""]), endings=np.full(3, TERMINATED))
    log = replace(log, groups=np.array(["Eva", "Bö", "Eva"]), group_name="pilot")
    fitted = TripleTree(6).fit(log).fitted_
    assert fitted.track is not None
    path = tmp_path_factory.mktemp("tracked") / "tracked"
    save(replace(fitted, track=replace(fitted.track, first=np.array([0, 3, 0]))), path)
    return path.read_bytes()


def changed(data: bytes, change: Change) -> bytes:
    arrays = all_arrays(data)
    change(arrays)
    return with_arrays(split(data)[0], arrays)


def put(name: str, place: Any, value: Any) -> Change:
    return lambda arrays: arrays[name].__setitem__(place, value)


def repack(change: Callable[[bytes], bytes]) -> Change:
    """Pack other codes."""

    def edit(arrays: dict[str, npt.NDArray[Any]]) -> None:
        data = zlib.compress(change(zlib.decompress(arrays["track.packed"].tobytes())))
        arrays["track.packed"] = np.frombuffer(data, np.uint8)

    return edit


def shorten(name: str) -> Change:
    return lambda arrays: arrays.update({name: arrays[name][:-1]})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (put("track.starts", 0, 1), "`track.starts` must increase from 0"),
        (put("track.starts", 1, 0), "`track.starts` must increase"),
        (put("track.starts", 1, -5), "`track.starts` must increase"),
        (put("track.starts", -1, 96), "at most the number of samples"),
        (put("track.starts", -1, 2**63 - 1), "at most the number of samples"),
        (put("track.starts", -1, 94), "more bins than states"),
        (put("track.finals", slice(None), 0), "more bins than states|do not have the size"),
        (shorten("track.starts"), "as many starts and one more"),
        (put("track.endings", 0, 3), "`track.endings` must be 0 to 2"),
        (put("track.finals", 0, 2), "`track.finals` 0 or 1"),
        (put("track.finals", 0, 255), "`track.finals` 0 or 1"),
        (put("track.bins", 0, 0), "`track.bins` does not fit"),
        (put("track.bins", 0, -1), "`track.bins` does not fit"),
        (put("track.bins", slice(None), 2**62), "`track.bins` does not fit"),
        (shorten("track.values"), "`track.bins` does not fit"),
        (put("track.values", 0, np.nan), "`track.values` must hold finite numbers"),
        (put("track.values", 0, -1e121), "`track.values` must hold finite numbers"),
        (put("track.values", 0, -1e100), "a state outside the range of the features"),
        (put("track.values", 1, 1e100), "`track.values` of a feature do not increase"),
        (put("track.returns", 0, np.inf), "`track.returns` must hold finite numbers"),
        (put("track.packed", 0, 0), "its track is damaged: the codes cannot be unpacked"),
        (put("track.packed", -1, 0), "its track is damaged: the codes cannot be unpacked"),
        (shorten("track.packed"), "its track is damaged: the codes do not have the size"),
        (repack(lambda data: data[:-1]), "its track is damaged: the codes do not have the size"),
        (repack(lambda data: data + b"\0"), "its track is damaged: the codes do not have the size"),
        (repack(lambda data: b"\xff" + data[1:]), r"its track has a code outside 0 \.\.\."),
        (put("track.ids", 0, -1), "`track.ids` must divide `track.texts`"),
        (put("track.ids", 0, 2**62), "`track.ids` must divide `track.texts`"),
        (put("track.ids", -1, 0), "`track.ids` must divide `track.texts`"),
        (put("track.ids", 1, 9), "`track.texts` is not UTF-8"),
        (put("track.texts", 0, 255), "`track.texts` is not UTF-8"),
        (put("track.first", 1, -1), r"`track.first` holds a step outside 0 \.\.\."),
        (put("track.first", 1, 2**62), r"`track.first` holds a step outside 0 \.\.\."),
        (shorten("track.first"), "'track.first' must be I64 of shape"),
        (shorten("track.groups"), "'track.groups' must be I64 of shape"),
        (put("track.groups", 0, 2), "`track.groups` does not number the groups"),
        (put("track.groups", 0, -1), "`track.groups` does not number the groups"),
        (put("track.groups", slice(None), 0), "`track.groups` does not number the groups"),
        (put("track.group_ends", 0, -1), "`track.group_ends` must divide `track.group_texts`"),
        (put("track.group_ends", -1, 2**62), "`track.group_ends` must divide `track.group_texts`"),
        (put("track.group_ends", slice(None), 11), "the name of a group twice"),
        (put("track.group_texts", 0, 255), "`track.group_texts` is not UTF-8"),
        (shorten("track.group_texts"), "`track.group_ends` must divide `track.group_texts`"),
        (
            lambda arrays: arrays.update(
                {"track.group_ends": np.zeros(0, np.int64), "track.group_texts": np.zeros(0, np.uint8)}
            ),
            "`track.group_ends` must divide `track.group_texts`",
        ),
        (
            lambda arrays: arrays.update(
                {"track.group_ends": np.zeros(1, np.int64), "track.group_texts": np.zeros(0, np.uint8)}
            ),
            "`track.groups` does not number the groups",
        ),
    ],
)
def test_tracks_that_no_log_has(change: Change, text: str, tracked: bytes, refused: Refused) -> None:
    refused(changed(tracked, change), text)


def test_the_good_one_is_good(tracked: bytes, tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(changed(tracked, lambda _: None))
    track = load(tmp_path / "good").track
    assert track is not None
    assert track.recording.ids.tolist() == ["Flug 1", "größer", ""]
    assert track.n_samples == 95
    assert track.group_names == ["pilot", "Bö", "Eva"]


@pytest.mark.parametrize("name", ["bins", "values", "packed", "starts", "endings", "finals", "returns", "ids"])
def test_half_a_track(name: str, tracked: bytes, refused: Refused) -> None:
    refused(changed(tracked, lambda arrays: arrays.pop(f"track.{name}")), f"it lacks the array 'track.{name}'")


@pytest.mark.parametrize("name", ["groups", "group_ends", "group_texts"])
def test_half_of_the_groups(name: str, tracked: bytes, refused: Refused) -> None:
    refused(changed(tracked, lambda arrays: arrays.pop(f"track.{name}")), f"it lacks the array 'track.{name}'")


def test_neither_groups_nor_stretches(tracked: bytes, tmp_path: Path) -> None:
    def edit(arrays: dict[str, npt.NDArray[Any]]) -> None:
        for name in ("groups", "group_ends", "group_texts", "first"):
            del arrays[f"track.{name}"]

    (tmp_path / "plain").write_bytes(changed(tracked, edit))
    track = load(tmp_path / "plain").track
    assert track is not None
    assert (track.recording.groups, track.recording.first) == (None, None)


def test_names_alone(tracked: bytes, refused: Refused) -> None:
    def edit(arrays: dict[str, npt.NDArray[Any]]) -> None:
        for name in [name for name in arrays if name.startswith("track.") and name != "track.texts"]:
            del arrays[name]

    refused(changed(tracked, edit), "it lacks the array 'track.bins'")


@pytest.mark.parametrize(("letter", "fits"), [("x", True), ("✈", True), ("x", False), ("✈", False)])
def test_long_names(letter: str, fits: bool, tracked: bytes, tmp_path: Path, refused: Refused) -> None:
    text = letter * (LONGEST_ID + 1 - fits)

    def edit(arrays: dict[str, npt.NDArray[Any]]) -> None:
        arrays["track.texts"] = np.frombuffer(text.encode(), np.uint8)
        arrays["track.ids"][:] = len(text.encode())

    data = changed(tracked, edit)
    if fits:
        (tmp_path / "long").write_bytes(data)
        track = load(tmp_path / "long").track
        assert track is not None
        assert track.recording.ids.tolist() == [text, "", ""]
    else:
        refused(data, f"texts of at most {LONGEST_ID} characters")


def bomb(arrays: dict[str, npt.NDArray[Any]], steps: int) -> None:
    """Let the log be longer, so that only the size of the codes is in the way, and pack that many zeros and more."""
    for name in [name for name in arrays if name.startswith("transitions.") or name == "markov"]:
        del arrays[name]
    for name in ("count", "count_derivative", "action_count"):
        arrays[f"attributes.{name}"] *= 10**6
    arrays["track.starts"][-1] = steps
    arrays["track.packed"] = np.frombuffer(zlib.compress(bytes(2**26)), np.uint8)


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (MOST_BYTES, f"bytes of codes; at most {MOST_BYTES:,} are unpacked"),
        (10**6, "the codes do not have the size"),
        (95, "the codes do not have the size"),
    ],
)
def test_a_bomb_is_never_unpacked(steps: int, text: str, tracked: bytes, refused: Refused) -> None:
    data = changed(tracked, lambda arrays: bomb(arrays, steps))
    assert len(data) < 100_000
    tracemalloc.start()
    try:
        refused(data, text)
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST_BYTES
    finally:
        tracemalloc.stop()


def test_too_many_episodes(tracked: bytes, refused: Refused) -> None:
    def edit(arrays: dict[str, npt.NDArray[Any]]) -> None:
        n = MOST_EPISODES + 1
        arrays["track.starts"] = np.arange(n + 1)
        for name in ("endings", "finals"):
            arrays[f"track.{name}"] = np.zeros(n, np.uint8)
        arrays["track.returns"] = np.zeros(n)
        for name in ("ids", "first", "groups"):
            arrays[f"track.{name}"] = np.zeros(n, np.int64)

    refused(changed(tracked, edit), "its track must have 1 to 100,000 episodes")


def test_a_file_of_an_earlier_format_may_lack_the_option(tracked: bytes, tmp_path: Path, refused: Refused) -> None:
    header, arrays = split(tracked)[0], all_arrays(tracked)
    del header["__metadata__"]["options"]["keep"]
    refused(with_arrays(header, arrays), "its `options` lacks `keep`")
    header["__metadata__"]["format"] = [1, 2]
    (tmp_path / "old").write_bytes(with_arrays(header, arrays))
    assert load(tmp_path / "old").options["keep"] == "leaves"
