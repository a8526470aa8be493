"""Log itself: immutable, selectable, splittable, storable."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import logs, random_log
from tripletree.errors import LogError, ParameterError
from tripletree.log import Log, read_log

ARRAYS = ("states", "actions", "rewards", "starts", "final_states", "endings", "episode_ids")


def test_nothing_can_be_changed() -> None:
    log = random_log()
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(log, name)[0] = 0
    with pytest.raises(FrozenInstanceError, match="cannot assign"):
        log.states = np.zeros((1, 1))  # type: ignore[misc]


def test_repr_is_one_line() -> None:
    assert repr(random_log()) == "Log(120 samples, 3 episodes, 2 features: x0, x1; discrete action: a, b, c)"
    wide = random_log(features=9, dimensions=1)
    assert repr(wide).endswith("9 features: x0, x1, x2, x3, x4, x5, ...; continuous action: a0)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": np.zeros((120, 3))}, r"Log.states has shape \(120, 3\); expected \(120, 2\)"),
        ({"states": np.full((120, 2), np.nan)}, "must be finite"),
        ({"rewards": np.full(120, np.inf)}, "must be finite"),
        ({"starts": np.array([0, 70, 70, 120])}, "Log.starts must increase from 0"),
        ({"starts": np.array([1, 40, 70, 120])}, "Log.starts must increase from 0"),
        ({"actions": np.full(120, 3)}, "holds a code without a label; there are 3 labels"),
        ({"actions": np.full(120, -1)}, "holds a code without a label; there are 3 labels"),
        ({"actions": np.full(120, 2**32)}, "Log.actions must hold whole numbers that fit int32"),
        ({"actions": np.full(120, 0.5)}, "Log.actions must hold whole numbers"),
        ({"final_states": np.full((3, 2), np.inf)}, "Log.final_states must be finite, or a whole row of NaN"),
        ({"final_states": np.array([[0, np.nan]] * 3)}, "Log.final_states must be finite, or a whole row of NaN"),
        ({"endings": np.array([0, 1, 3])}, "Log.endings holds 3; the largest code is 2"),
    ],
)
def test_a_log_put_together_by_hand_is_checked(change: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        replace(random_log(), **change)


@given(log=logs(), data=st.data())
def test_select(log: Log, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, log.n_episodes - 1), min_size=1, max_size=6))
    some = log.select(chosen)
    assert some.n_episodes == len(chosen)
    for new, old in enumerate(chosen):
        rows, origin = slice(some.starts[new], some.starts[new + 1]), slice(log.starts[old], log.starts[old + 1])
        np.testing.assert_array_equal(some.states[rows], log.states[origin])
        np.testing.assert_array_equal(some.actions[rows], log.actions[origin])
        np.testing.assert_array_equal(some.rewards[rows], log.rewards[origin])
        np.testing.assert_array_equal(some.final_states[new], log.final_states[old])
        assert some.endings[new] == log.endings[old]
        assert some.episode_ids[new] == log.episode_ids[old]
    assert some.schema == log.schema
    assert log.select(slice(None)).fingerprint() == log.fingerprint()


def test_select_by_mask_and_slice() -> None:
    log = random_log()
    assert log.select([True, False, True]).fingerprint() == log.select([0, 2]).fingerprint()
    assert log.select(slice(1, None)).fingerprint() == log.select([1, 2]).fingerprint()
    assert log.select(-1).fingerprint() == log.select([2]).fingerprint()


@pytest.mark.parametrize(
    ("episodes", "message"),
    [
        ([3], "positions from 0 to 2, a slice, or a mask of 3 booleans"),
        ("a", "positions from 0 to 2"),
        ([0.5], "positions from 0 to 2"),
        ([True, False], "positions from 0 to 2"),
        ([], "at least one episode"),
        ([[0, 1]], "at least one episode|positions from 0"),
        (slice(3, None), "must select at least one episode"),
    ],
)
def test_select_what_is_not_there(episodes: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        random_log().select(episodes)


@given(
    lengths=st.lists(st.integers(1, 9), min_size=2, max_size=20), share=st.floats(0.001, 0.999), seed=st.integers(0, 99)
)
def test_split_parts_the_episodes(lengths: list[int], share: float, seed: int) -> None:
    log = random_log(lengths=tuple(lengths))
    training, validation = log.split(share, seed)
    assert sorted([*training.episode_ids, *validation.episode_ids]) == log.episode_ids.tolist()
    assert validation.n_episodes == min(max(round(share * len(lengths)), 1), len(lengths) - 1)
    again = log.split(share, seed)
    assert [part.fingerprint() for part in again] == [training.fingerprint(), validation.fingerprint()]


def test_split_depends_on_the_seed() -> None:
    log = random_log(lengths=(3,) * 30)
    assert len({log.split(seed=seed)[1].fingerprint() for seed in range(5)}) > 1


def test_split_needs_two_episodes_and_a_share() -> None:
    with pytest.raises(LogError, match="A log with one episode cannot be split by episodes"):
        random_log(lengths=(5,)).split()
    for share in (0, 1, -1, 2.5, "0.2", True, None):
        with pytest.raises(
            ParameterError, match=r"validation must be a number above 0 and below 1; got .* Try validation=0.2"
        ):
            random_log().split(share)  # type: ignore[arg-type]


def test_to_npz_replaces_whole_files_only(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    random_log(0).to_npz(path)
    random_log(1).to_npz(path)
    assert [p.name for p in tmp_path.iterdir()] == ["log.npz"]
    assert read_log(path).fingerprint() == random_log(1).fingerprint()


@pytest.mark.parametrize("compress", [False, True])
def test_to_npz_that_is_interrupted_leaves_the_old_log(
    tmp_path: Path, compress: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.npz"
    random_log(0).to_npz(path)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt("Ctrl-C")

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", interrupt)
        with pytest.raises(KeyboardInterrupt, match="Ctrl-C"):
            random_log(1).to_npz(path, compress=compress)
    assert [p.name for p in tmp_path.iterdir()] == ["log.npz"]
    assert read_log(path).fingerprint() == random_log(0).fingerprint()


def test_to_npz_follows_links(tmp_path: Path) -> None:
    (tmp_path / "latest.npz").symlink_to("log.npz")
    random_log(0).to_npz(tmp_path / "latest.npz")
    assert (tmp_path / "latest.npz").is_symlink()
    assert read_log(tmp_path / "log.npz").fingerprint() == random_log(0).fingerprint()


def test_two_threads_write_one_log(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    logs_to_write = [random_log(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda log: log.to_npz(path), logs_to_write * 5))
    assert read_log(path).fingerprint() in {log.fingerprint() for log in logs_to_write}
    assert [p.name for p in tmp_path.iterdir()] == ["log.npz"]


def test_to_npz_says_what_is_wrong_with_a_path(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"path must end in .npz; got .*log.csv'. Try path=.*/log.npz.\.$"):
        random_log().to_npz(tmp_path / "log.csv")
    with pytest.raises(ParameterError, match=r"Expected a path, got int\."):
        random_log().to_npz(3)  # type: ignore[arg-type]
    with pytest.raises(LogError, match=r"cannot be written to .*: No such file or directory"):
        random_log().to_npz(tmp_path / "no" / "log.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(LogError, match=r"cannot be written to .*folder.npz: it is a folder\. Give the name of"):
        random_log().to_npz(tmp_path / "folder.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["folder.npz"]


def test_repr_of_one_of_everything() -> None:
    log = random_log(lengths=(1,), features=1)
    assert repr(log).startswith("Log(1 sample, 1 episode, 1 feature: x0;")


@pytest.mark.parametrize("seed", [-1, 0.5, None, "a", [1, 2]])
def test_seeds_are_whole_numbers_or_generators(seed: Any) -> None:
    with pytest.raises(ParameterError, match=r"seed must be a whole number of at least 0; got .* Try seed=0\."):
        random_log().split(seed=seed)
    one, other = (random_log().split(seed=np.random.default_rng(3)) for _ in range(2))
    assert [part.fingerprint() for part in one] == [part.fingerprint() for part in other]
    assert [part.fingerprint() for part in one] == [part.fingerprint() for part in random_log().split(seed=3)]


def test_compress_is_a_flag(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"compress must be True or False; got 'yes'\. Try compress=True\."):
        random_log().to_npz(tmp_path / "log.npz", compress="yes")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_the_callers_arrays_stay_writable_and_their_own() -> None:
    log = random_log()
    states, actions = np.array(log.states), np.array(log.actions)
    view = actions[:]
    view.setflags(write=False)
    other = replace(log, states=states, actions=view)
    states[0] = 7
    actions[0] = 10**9
    assert other.fingerprint() == log.fingerprint()
    assert not other.states.flags.writeable


@pytest.mark.parametrize("kind", ["arrays", "wide", "episodes", "frame", "list"])
def test_no_door_keeps_an_array_of_the_caller(kind: str) -> None:
    source = random_log()
    states, rewards, finals = (np.array(part) for part in (source.states, source.rewards, source.final_states))
    actions = np.array(source.states) if kind == "wide" else np.array(source.actions)
    starts, ids, endings = (np.array(part) for part in (source.starts, source.episode_ids, source.endings))
    mine = [states, actions, rewards, starts, finals, ids, endings]
    if kind in ("arrays", "wide"):
        log = Log.from_arrays(states, actions, rewards, starts=starts, final_states=finals, episode_ids=ids)
    elif kind == "episodes":
        log = Log.from_episodes([(states, actions, rewards, finals[0])])
    elif kind == "frame":
        columns = {"x": states[:, 0], "action": actions, "reward": rewards, "episode": np.repeat(ids, np.diff(starts))}
        log = Log.from_dict(columns)
    else:
        log = replace(source, states=states.tolist(), actions=pd.Series(actions))
    before = log.fingerprint()
    for array in mine:
        array[:] = 0
    assert replace(log).fingerprint() == before


def test_a_log_is_not_copied_without_need() -> None:
    log = random_log()
    for other in (replace(log, reading="read again"), replace(log, states=log.states[:])):
        assert np.shares_memory(other.states, log.states)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": np.full((120, 2), 1e101)}, r"Log.states goes beyond 1e\+100"),
        ({"states": np.full((120, 2), 1j)}, "Log.states holds complex128 values; only real numbers are allowed"),
        ({"states": np.full((120, 2), "1")}, "Log.states holds <U1 values; only real numbers are allowed"),
        ({"states": np.full((120, 2), None)}, "Log.states holds object values; only real numbers are allowed"),
        ({"rewards": np.full(120, -1e101)}, r"Log.rewards goes beyond 1e\+100"),
        ({"rewards": np.zeros(120, "m8[s]")}, "Log.rewards holds timedelta64"),
        ({"final_states": np.full((3, 2), 1e101)}, r"Log.final_states goes beyond 1e\+100"),
        ({"actions": np.full(120, np.nan)}, "Log.actions must hold whole numbers"),
        (
            {"episode_ids": np.zeros(3, complex)},
            "Log.episode_ids holds complex128 values; only integers or text are allowed",
        ),
        ({"episode_ids": np.array(["a", "b\ud800", "c"])}, "Log.episode_ids holds 'b.ud800', which is not Unicode"),
        ({"episode_ids": np.array([b"a", b"\xff", b"c"])}, "Log.episode_ids holds bytes that are no text"),
    ],
)
def test_every_door_has_the_same_limits(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    log = random_log()
    if "beyond" not in message:
        with pytest.raises(LogError, match=message):
            replace(log, **change)
    arrays = log._arrays() | change
    schema = np.array(json.dumps(log.schema.to_dict()))
    if not any(array.dtype.hasobject for array in change.values()):
        np.savez(tmp_path / "log.npz", allow_pickle=False, tripletree_log=schema, **arrays)
        with pytest.raises(LogError, match=f"log.npz is damaged: ({message}|it does not hold what)"):
            read_log(tmp_path / "log.npz")


@given(logs())
def test_episodes_make_the_log_again(log: Log) -> None:
    parts = log.episodes()
    assert [part.n_episodes for part in parts] == [1] * log.n_episodes
    assert [part.n_samples for part in parts] == np.diff(log.starts).tolist()
    assert Log.concatenate(parts).fingerprint() == log.fingerprint()


def test_logs_that_differ_do_not_become_one() -> None:
    log = random_log()
    other = replace(log, schema=replace(log.schema, features=log.schema.features[::-1]))
    with pytest.raises(LogError, match=r"same features and actions: log 1 is Log\(.*x1, x0;.*log 0 is Log\(.*x0, x1;"):
        Log.concatenate([log, other])
    with pytest.raises(ParameterError, match="logs must be at least one Log; got none"):
        Log.concatenate([])
    with pytest.raises(ParameterError, match="logs must be at least one Log; got Log, int"):
        Log.concatenate([log, 3])  # type: ignore[list-item]


@pytest.mark.parametrize("lengths", [(1,), (3, 4), (300, 41)])
def test_ranges_are_those_of_the_features(lengths):
    log = random_log(3, lengths, features=5)
    low, high = log.ranges
    assert np.array_equal(low, log.states.min(axis=0))
    assert np.array_equal(high, log.states.max(axis=0))
