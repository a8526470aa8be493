"""Hashes of episodes: by their numbers alone, against a plain reimplementation, and through every file format."""

from __future__ import annotations

import hashlib
import struct
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import joined, logs, make_log, random_log
from tripletree import Log, _kernel, read_log
from tripletree.log import identity
from tripletree.log.identity import episode_hashes, found_in, kept_hashes

WORD = 2**64


def mixed(bits: int) -> int:
    """Splitmix64's finaliser, with Python's integers."""
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % WORD
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % WORD
    return bits ^ bits >> 31


def key(role: str, name: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{role}\n{name}".encode(), digest_size=8).digest(), "little")


def by_hand(log: Log) -> list[int]:
    action, found = log.schema.action, []
    for begin, end in zip(log.starts[:-1], log.starts[1:], strict=True):
        total = 0
        for step, row in enumerate(range(begin, end)):
            cells = [(key("state", f.name), x) for f, x in zip(log.schema.features, log.states[row], strict=True)]
            cells.append((key("reward", ""), log.rewards[row]))
            if action.kind == "discrete":
                label = key("label", action.labels[log.actions[row]]) >> 12
                cells.append((key("action", ""), float(label)))
            else:
                cells += [(key("action", name), x) for name, x in zip(action.names, log.actions[row], strict=True)]
            for secret, number in cells:
                (bits,) = struct.unpack("<Q", struct.pack("<d", number + 0.0))
                total += mixed((mixed(bits ^ secret) + 0x9E3779B97F4A7C15 * step) % WORD)
        found.append(total % WORD)
    return found


@given(logs())
def test_hashes_are_those_of_a_plain_loop(log: Log) -> None:
    assert episode_hashes(log).tolist() == by_hand(log)


@given(logs(), st.randoms(use_true_random=False))
def test_the_order_of_episodes_and_columns_does_not_matter(log: Log, random) -> None:
    order = random.sample(range(log.n_episodes), log.n_episodes)
    assert episode_hashes(log.select(order)).tolist() == episode_hashes(log)[order].tolist()
    names = [feature.name for feature in log.schema.features][::-1]
    turned = make_log(
        log.states[:, ::-1],
        log.actions,
        log.rewards,
        log.starts,
        labels=log.schema.action.labels or None,
        names=tuple(names),
    )
    assert episode_hashes(turned).tolist() == episode_hashes(log).tolist()


def test_labels_count_and_not_their_codes() -> None:
    few = make_log([[0.0], [1.0]], [0, 1], [0, 1], labels=("b", "c"))
    more = make_log([[0.0], [1.0]], [1, 2], [0, 1], labels=("a", "b", "c"))
    other = make_log([[0.0], [1.0]], [0, 1], [0, 1], labels=("a", "b"))
    assert episode_hashes(few) == episode_hashes(more) != episode_hashes(other)


@pytest.mark.parametrize("dimensions", [0, 2])
def test_every_number_counts_and_its_step_and_column(dimensions: int) -> None:
    log = random_log(3, lengths=(6,), features=2, dimensions=dimensions)
    hashes = {int(episode_hashes(log)[0])}
    for name in ("states", "rewards", "actions"):
        whole = getattr(log, name)
        for place in np.ndindex(whole.shape):
            changed = whole.copy()
            changed[place] = (
                (changed[place] + 1) % 3 if changed.dtype == np.int32 else np.nextafter(changed[place], 9e9)
            )
            hashes.add(int(episode_hashes(Log(**{**vars(log), name: changed}))[0]))
    swapped = log.states.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    hashes.add(int(episode_hashes(Log(**{**vars(log), "states": swapped}))[0]))
    hashes.add(int(episode_hashes(Log(**{**vars(log), "states": log.states[:, ::-1]}))[0]))
    assert len(hashes) == 1 + log.states.size + log.rewards.size + log.actions.size + 2


def test_zero_has_no_sign_and_ends_and_ids_do_not_count() -> None:
    log = make_log([[0.0], [1.0]], [0, 0], [0.0, 1.0], labels=("a",))
    signed = make_log([[-0.0], [1.0]], [0, 0], [-0.0, 1.0], labels=("a",), final_states=[[7.0]], endings=[1])
    assert episode_hashes(log) == episode_hashes(Log(**{**vars(signed), "episode_ids": ["x"]}))


def test_a_file_of_any_format_holds_the_same_episodes(tmp_path) -> None:
    table = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    log = random_log(4, lengths=(20, 7, 13), features=3)
    ids = np.repeat([3, 1, 2], np.diff(log.starts))
    names = np.array(log.schema.action.labels)[log.actions]
    columns = {"episode": ids, **{f"x{f}": log.states[:, f] for f in range(3)}, "action": names, "reward": log.rewards}
    parquet.write_table(table.table(columns), tmp_path / "log.parquet")
    lines = [",".join(columns), *(",".join(map(repr_of, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    log.to_npz(tmp_path / "log.npz")
    expected = sorted(episode_hashes(log).tolist())
    for name in ("log.parquet", "log.csv", "log.npz"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how the episodes end is not recorded
            found = read_log(tmp_path / name)
        assert sorted(episode_hashes(found).tolist()) == expected, name


def repr_of(cell) -> str:
    return str(cell) if isinstance(cell, str) else repr(cell.item())


def test_of_many_episodes_a_fair_sample_is_kept(monkeypatch) -> None:
    monkeypatch.setattr(identity, "MOST_KEPT", 8)
    log = random_log(1, lengths=(3,) * 40)
    kept = kept_hashes(log)
    assert kept.tolist() == sorted(episode_hashes(log).tolist())[:8]
    both = joined(log, random_log(2, lengths=(3,) * 40))
    seen, known = found_in(episode_hashes(both), kept)
    assert np.flatnonzero(seen).max() < 40
    assert seen.sum() == 8
    # Of those that are known, all of the first log are recognised, and none of the second.
    assert (seen[:40] == known[:40]).all()
    assert 0 < known[40:].sum() < 40
    monkeypatch.setattr(identity, "MOST_KEPT", 100)
    seen, known = found_in(episode_hashes(both), kept_hashes(log))
    assert known.all()
    assert seen.tolist() == [True] * 40 + [False] * 40


def test_the_kernel_refuses_arrays_that_do_not_fit() -> None:
    states, keys, starts, sums = np.zeros((4, 2)), np.zeros(2, np.uint64), np.array([0, 4]), np.zeros(1, np.uint64)
    with pytest.raises(ValueError, match="keys must have one entry for each column"):
        _kernel.add_hashes(states, keys[:1], starts, sums)
    for wrong in ([0, 5], [1, 4], [0, 2, 4]):
        with pytest.raises(ValueError, match="starts must run from 0 to the number of rows"):
            _kernel.add_hashes(states, keys, np.array(wrong), sums)
    with pytest.raises(ValueError, match="starts must ascend"):
        _kernel.add_hashes(states, keys, np.array([0, 3, 2, 4]), np.zeros(3, np.uint64))


def test_a_log_works_its_hashes_out_once() -> None:
    log = random_log(3, lengths=(6, 2), features=2)
    assert log.hashes is log.hashes
    assert log.hashes.tolist() == episode_hashes(log).tolist()
