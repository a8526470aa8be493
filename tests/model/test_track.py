"""What a model keeps of its log: every decoded state in its leaf, whole episodes, never more than there is room for."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import logs, make_log, random_log
from tests.reference.track import packed
from tripletree import Log, TripleTree, TripleTreeWarning, _kernel
from tripletree.graph.segments import Segments
from tripletree.log.identity import episode_hashes
from tripletree.log.log import TERMINATED, TRUNCATED
from tripletree.model import track as module
from tripletree.model.track import BINS, FEWEST_CUTS, Track
from tripletree.questions.evidence import Evidence
from tripletree.questions.ground import Ground
from tripletree.tree.structure import Tree

STUMP = Tree(np.array([-1], np.int32), np.zeros(1), np.array([-1], np.int32), np.zeros(1))


def kept(log: Log, tree: Tree = STUMP, **limits: int) -> Track:
    track = Track.of(log, tree, **limits)
    assert track is not None
    return track


def splits(rng: np.random.Generator, states: npt.NDArray[np.float64], leaves: int) -> Tree:
    """Split random leaves at recorded values, between them and just beside them."""
    feature, threshold, left = [-1], [0.0], [-1]
    for _ in range(leaves - 1):
        node = int(rng.choice([i for i, child in enumerate(left) if child < 0]))
        f = int(rng.integers(states.shape[1]))
        cut = float(rng.choice(states[:, f]))
        cut = [cut, np.nextafter(cut, np.inf), (cut + float(rng.choice(states[:, f]))) / 2][rng.integers(3)]
        feature[node], threshold[node], left[node] = f, cut, len(left)
        feature, threshold, left = [*feature, -1, -1], [*threshold, 0.0, 0.0], [*left, -1, -1]
    return Tree(np.array(feature, np.int32), np.array(threshold), np.array(left, np.int32), np.zeros(len(left)))


def column(rng: np.random.Generator, n: int, kind: str) -> npt.NDArray[np.float64]:
    match kind:
        case "constant":
            return np.full(n, rng.normal())
        case "binary":
            return rng.integers(0, 2, n).astype(float)
        case "integer":
            return rng.integers(-100, 100, n).astype(float)
        case "large integer":
            return rng.integers(-(10**6), 10**6, n).astype(float)
        case "ties":
            return rng.normal(size=n).round(1)
        case "clipped":
            return np.clip(rng.normal(size=n), -0.5, 0.5)
        case "huge":
            return rng.normal(size=n) * 1e100
        case _:
            return np.cumsum(rng.normal(size=n))


KINDS = ("constant", "binary", "integer", "large integer", "ties", "clipped", "huge", "walk")


def recorded(seed: int, kinds: list[str], lengths: list[int], finals: float = 0.5) -> Log:
    rng, n = np.random.default_rng(seed), sum(lengths)
    final = np.stack([column(rng, len(lengths), kind) for kind in kinds], axis=1) * 1.5
    final[rng.random(len(lengths)) >= finals] = np.nan
    return make_log(
        np.stack([column(rng, n, kind) for kind in kinds], axis=1),
        np.zeros(n),
        rng.normal(size=n),
        np.append(0, np.cumsum(lengths)),
        final_states=final,
        endings=rng.integers(0, 3, len(lengths)),
    )


def check(log: Log, tree: Tree) -> Track:
    """Assert everything that holds for the track of a whole log."""
    track = kept(log, tree)
    back = track.recording
    np.testing.assert_array_equal(tree.apply(back.states), tree.apply(log.states))
    known = ~np.isnan(log.final_states[:, 0])
    np.testing.assert_array_equal(np.isnan(back.final_states).all(axis=1), ~known)
    np.testing.assert_array_equal(tree.apply(back.final_states[known]), tree.apply(log.final_states[known]))
    np.testing.assert_array_equal(back.states.min(axis=0), log.states.min(axis=0))
    np.testing.assert_array_equal(back.states.max(axis=0), log.states.max(axis=0))
    for name in ("starts", "endings"):
        np.testing.assert_array_equal(getattr(back, name), getattr(log, name), strict=True)
    for f in range(log.n_features):
        everything = np.concatenate([log.states[:, f], log.final_states[known, f]])
        assert np.isin(back.states[:, f], everything).all()  # so whole numbers stay whole
        if len(np.unique(everything)) <= 256:
            assert track.bins[f] <= 256
            np.testing.assert_array_equal(back.states[:, f], log.states[:, f])
            np.testing.assert_array_equal(back.final_states[known, f], log.final_states[known, f])
    return track


@given(
    seed=st.integers(0, 2**32),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    lengths=st.lists(st.integers(1, 400), min_size=1, max_size=6),
    leaves=st.integers(1, 60),
)
@settings(max_examples=150, deadline=None)
def test_every_decoded_state_is_in_its_leaf(seed: int, kinds: list[str], lengths: list[int], leaves: int) -> None:
    log = recorded(seed, kinds, lengths)
    tree = splits(np.random.default_rng(seed), log.states, leaves)
    check(log, tree)


@pytest.mark.parametrize("leaves", [150, 255, 256, 257, 600])
def test_a_second_byte_where_one_is_too_few(leaves: int) -> None:
    log = recorded(leaves, ["walk", "binary"], [1500, 1500])
    rng = np.random.default_rng(leaves)
    tree = splits(rng, log.states[:, :1], leaves)
    track = check(log, tree)
    wide = track.bins[0] > 256
    assert wide == (leaves > 256 - module.FEWEST_CUTS)  # every threshold at another value
    assert [codes.dtype.itemsize for codes in track.codes] == [1 + wide, 1]
    assert track.unpacked_size == track.n_rows * (2 + wide)


def test_more_than_two_bytes() -> None:
    n = 70_000
    states = np.arange(n, dtype=float)[:, None]
    left = np.full(2 * n - 1, -1, np.int32)
    left[0:-1:2] = np.arange(1, 2 * n - 1, 2)
    threshold = np.zeros(2 * n - 1)
    threshold[0:-1:2] = np.arange(1, n)
    tree = Tree(np.where(left < 0, -1, 0).astype(np.int32), threshold, left, np.zeros(2 * n - 1))
    track = kept(make_log(states, np.zeros(n), np.zeros(n)), tree)
    assert track.codes[0].dtype.itemsize == 4
    np.testing.assert_array_equal(track.recording.states, states)


@given(log=logs(most_steps=40), leaves=st.integers(1, 30))
@settings(max_examples=50, deadline=None)
@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
def test_trees_that_growth_makes_and_smaller_ones(log: Log, leaves: int) -> None:
    fitted = TripleTree(leaves).fit(log).fitted_
    assert fitted.track is not None
    for size in {1, (fitted.tree.n_leaves + 1) // 2, fitted.tree.n_leaves}:
        small = fitted.truncate(size)
        assert small.track is fitted.track
        np.testing.assert_array_equal(small.tree.apply(small.track.recording.states), small.tree.apply(log.states))


def test_a_value_that_is_often_reached_is_exact() -> None:
    rng = np.random.default_rng(0)
    speed = np.clip(rng.normal(size=5000), -1, 1)
    speed[rng.random(5000) < 0.1] = 0
    back = kept(make_log(speed[:, None], np.zeros(5000), np.zeros(5000))).recording.states[:, 0]
    for value in (-1, 0, 1):
        np.testing.assert_array_equal(back == value, speed == value)


def test_errors_are_as_small_as_256_bins_allow() -> None:
    states = np.random.default_rng(0).uniform(0, 1, (20_000, 1))
    track = kept(make_log(states, np.zeros(20_000), np.zeros(20_000)))
    assert track.bins.tolist() == [256]
    assert np.abs(track.recording.states - states).max() < 1.2 / 256


def test_final_states_beyond_the_range_of_the_states() -> None:
    rng = np.random.default_rng(0)
    states = rng.uniform(0, 1, (1000, 1))
    final = np.array([[-0.001], [1.001]] * 50)
    log = make_log(states, np.zeros(1000), np.zeros(1000), np.arange(0, 1001, 10), final_states=final)
    back = check(log, STUMP).recording
    np.testing.assert_array_equal(back.final_states, final)


def test_slow_states_are_packed_well() -> None:
    phase = np.linspace(0, 30, 50_000)
    log = make_log(np.stack([np.sin(phase), np.cos(phase)], axis=1), np.zeros(50_000), np.zeros(50_000))
    track = kept(log)
    assert track.smallest.nbytes < log.states.nbytes / 50
    saved = replace(track, packed=track.smallest)
    assert saved.smallest is saved.packed
    for one, other in zip(saved.codes, track.codes, strict=True):
        assert one.tolist() == other.tolist()


def test_whole_episodes_with_the_smallest_hashes_up_to_the_cap() -> None:
    log = random_log(3, lengths=tuple(range(5, 45)), features=3)
    hashes = episode_hashes(log)
    most = 3 * 250
    track = kept(log, most_bytes=most)
    chosen = track.recording.ids
    assert 5 < len(chosen) < log.n_episodes
    assert hashes[chosen].max() < np.delete(hashes, chosen).min()
    rows = np.diff(log.starts) + 1
    assert rows[chosen].sum() <= 250 < rows[chosen].sum() + rows[np.argsort(hashes)[len(chosen)]]
    assert track.unpacked_size <= most
    for place, episode in enumerate(chosen):
        mine = slice(track.starts[place], track.starts[place + 1])
        theirs = slice(log.starts[episode], log.starts[episode + 1])
        np.testing.assert_array_equal(track.recording.states[mine], log.states[theirs])
        assert track.returns[place] == pytest.approx(log.rewards[theirs].sum())
    assert track.endings.tolist() == log.endings[chosen].tolist()


def test_the_sample_does_not_depend_on_the_order_of_the_log() -> None:
    log = random_log(3, lengths=tuple(range(5, 45)))
    parts = list(log.episodes())
    turned = Log.concatenate(parts[::-1])
    one, two = (set(episode_hashes(part)[_places(part)]) for part in (log, turned))
    assert one == two


def _places(log: Log) -> npt.NDArray[np.int64]:
    log = replace(log, episode_ids=np.arange(log.n_episodes))
    return kept(log, most_bytes=2 * 200).ids


def test_no_more_episodes_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_EPISODES", 4)
    assert kept(random_log(1, lengths=(5,) * 9)).n_episodes == 4


def test_an_episode_that_does_not_fit_is_not_kept() -> None:
    assert Track.of(random_log(1, lengths=(50,)), STUMP, most_bytes=79) is None  # not even for stretches of it
    assert kept(random_log(1, lengths=(50,)), most_bytes=102).n_episodes == 1
    for seed in range(5):  # wherever its hash is among the others
        track = kept(random_log(seed, lengths=(5, 50, 6, 7)), most_bytes=99)
        assert track.ids.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([7, -3, 2**62], [7, -3, 2**62]),
        (["a", "", "flight 212"], ["a", "", "flight 212"]),
        (["größer", "✈", "\U0001f680"], ["größer", "✈", "\U0001f680"]),
        (["", "", ""], ["", "", ""]),
        (["x" * 64] * 3, ["x" * 64] * 3),
        (["x" * 65, "b", "c"], [0, 1, 2]),
    ],
)
def test_episodes_keep_their_names(ids: list[Any], expected: list[Any]) -> None:
    log = replace(random_log(1), episode_ids=np.array(ids))
    assert kept(log).recording.ids.tolist() == expected


def test_what_is_decoded_is_kept_and_read_only() -> None:
    track = kept(random_log(1))
    assert track.recording is track.recording
    for array in (track.packed, track.values, track.recording.states, track.recording.final_states):
        assert not array.flags.writeable
    assert track.recording.states.flags.c_contiguous


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-1], "cannot be unpacked|do not have the size"),
        (lambda data: data + b"x", "do not have the size"),
        (lambda data: b"no zlib", "cannot be unpacked"),
        (lambda data: b"", "do not have the size"),
        (lambda data: zlib.compress(zlib.decompress(data)[:-1]), "do not have the size"),
        (lambda data: zlib.compress(bytes(2**24)), "do not have the size"),
    ],
)
def test_codes_of_another_size_are_refused(change: Any, message: str) -> None:
    track = kept(random_log(1))
    packed = np.frombuffer(change(track.packed.tobytes()), np.uint8)
    with pytest.raises(ValueError, match=message):
        _ = replace(track, packed=packed).codes


def test_rare_states_far_away_are_not_rounded_more_than_a_hundredth_of_the_range() -> None:
    rng = np.random.default_rng(0)
    states = np.concatenate([rng.normal(0, 0.001, 20_000), rng.uniform(0, 10, 300)])[:, None]
    back = kept(make_log(states, np.zeros(20_300), np.zeros(20_300))).recording.states
    assert np.abs(back - states).max() < np.ptp(states) / 100
    near = np.abs(states) < 0.003
    assert np.abs(back - states)[near].max() < 0.001


def test_groups_are_kept_with_their_names() -> None:
    log = replace(random_log(2, lengths=(5, 6, 7, 8)), groups=np.array([30, 7, 30, 9]), group_name="pilot")
    recording = kept(log).recording
    assert recording.groups is not None
    assert recording.group_labels is not None
    assert recording.group_name == "pilot"
    assert recording.group_labels[recording.groups].tolist() == ["30", "7", "30", "9"]
    # Of a sample, only the groups that are in it.
    some = kept(log, most_bytes=2 * 16)
    assert some.group_names == ["pilot", *sorted({str(log.groups[e]) for e in some.ids}, key=int)]  # type: ignore[index]
    assert (kept(replace(log, groups=None)).groups, kept(replace(log, groups=None)).group_names) == (None, [])


def test_groups_with_long_names_are_numbered() -> None:
    log = replace(random_log(2, lengths=(5, 6)), groups=np.array(["z" * 65, "a"]), group_name="p" * 80)
    track = kept(log)
    assert track.group_names == ["p" * 64, "0", "1"]
    assert track.groups is not None
    assert track.groups.tolist() == [1, 0]


@pytest.mark.parametrize("lengths", [(1000,), (700, 900), (300,) * 30])
def test_of_recordings_without_end_stretches_are_kept(lengths: tuple[int, ...]) -> None:
    """As episodes that are cut off at both ends, and know the state that follows them."""
    log = random_log(4, lengths=lengths)
    room = 250
    track = kept(log, most_bytes=2 * room)
    recording = track.recording
    assert recording.first is not None
    assert room - module.STRETCHES < track.n_rows <= room
    size = np.unique(np.diff(track.starts))
    assert len(size) == 1
    taken = np.zeros(log.n_samples, int)
    for e, episode in enumerate(track.ids.tolist()):
        begin = log.starts[episode] + recording.first[e]
        rows = slice(begin, begin + size[0])
        taken[rows] += 1
        np.testing.assert_array_equal(recording.states[track.starts[e] : track.starts[e + 1]], log.states[rows])
        assert recording.returns[e] == pytest.approx(log.rewards[rows].sum())
        if rows.stop < log.starts[episode + 1]:
            assert recording.endings[e] == TRUNCATED
            np.testing.assert_array_equal(recording.final_states[e], log.states[rows.stop])
        else:
            assert recording.endings[e] == log.endings[episode]
            np.testing.assert_array_equal(recording.final_states[e], log.final_states[episode])
    assert taken.max() == 1
    assert len(set(track.ids.tolist())) == min(len(lengths), module.STRETCHES)
    again = kept(log, most_bytes=2 * room)
    assert again.starts.tolist() == track.starts.tolist()
    assert again.packed.tolist() == track.packed.tolist()


def test_a_stretch_may_begin_and_end_with_its_recording() -> None:
    """When nearly all of a recording fits, its first and last steps are in reach, too."""
    begins, ends = set(), set()
    for seed in range(40):
        log = random_log(seed, lengths=(80,))
        track = kept(log, most_bytes=2 * 80)
        assert track.first is not None
        begins.add(int(track.first[0]))
        ends.add(int(track.first[-1] + track.starts[1]))
    assert min(begins) == 0
    assert max(ends) == 80


def test_a_stretch_is_no_beginning_of_an_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (module.Track.of.__func__, module.room):
        monkeypatch.setattr(function, "__defaults__", (2 * 250,))
    log = replace(random_log(4, lengths=(1000,)), endings=np.array([TERMINATED]))
    with pytest.warns(
        TripleTreeWarning, match=r"too long to be kept .*: 20 stretches of 11 steps each are kept, .* log="
    ):
        tree = TripleTree(5).fit(log)
    track = tree.fitted_.track
    assert track is not None
    assert track.first is not None
    assert track.first.min() > 0
    answer = tree.chance("x0 > 0")
    assert not answer.counted
    assert str(answer).startswith("No beginning of an episode is on record. The chain over leaves guesses ")
    assert tree.chance("x0 > 0", "x1 > 0", within=5).seen.recorded == module.STRETCHES


def test_episodes_that_are_too_long_are_not_left_out_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (module.Track.of.__func__, module.room):
        monkeypatch.setattr(function, "__defaults__", (2 * 50,))
    log = replace(random_log(4, lengths=(10, 50, 20, 49)), endings=np.full(4, TERMINATED))
    with pytest.warns(
        TripleTreeWarning, match=r"^1 episode is too long to be kept with the tree; others are\. To count all"
    ):
        track = TripleTree(5).fit(log).fitted_.track
    assert track is not None
    assert track.first is None
    assert 1 not in track.ids


def test_what_decoded_states_may_have_been() -> None:
    rng = np.random.default_rng(3)
    states = np.stack([rng.normal(size=4_000), rng.integers(0, 9, 4_000), rng.normal(size=4_000) ** 3], axis=1)
    log = make_log(states, np.zeros(4_000), np.zeros(4_000), [0, 1_500, 4_000])
    track = kept(log)
    low, high = track.rounded_from(track.recording.states)
    assert ((low <= track.recording.states) & (track.recording.states <= high)).all()
    assert np.array_equal(low[:, 1], high[:, 1]), "nine values are exact"
    # A bin reaches at most to the next value on each side, so hardly any state was rounded from beyond halfway.
    inside = (low <= states) & (states <= high)
    assert inside.mean() > 0.9
    assert (high - low)[:, 0].max() < 0.05 * np.ptp(states[:, 0])


def test_a_way_along_a_stretch_is_counted_in_steps_of_its_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.Track.of.__func__, "__defaults__", (2 * 250,))
    log = replace(random_log(4, lengths=(1000,)), endings=np.array([TERMINATED]))
    tree = TripleTree(5).fit(log)
    assert tree.fitted_.track is not None
    track = tree.fitted_.track
    assert track.first is not None
    ground = Ground.of(Evidence.of(tree.fitted_, track.recording), to_end=False)
    rows = ground.starts[[3]] + [[1], [10]]
    (source,) = ground.sources(Segments(np.array([3]), *rows, np.zeros(1), np.zeros(1)))
    assert (source.episode, source.first, source.last) == (0, track.first[3] + 1, track.first[3] + 10)
    np.testing.assert_array_equal(log.states[source.first], ground.states[rows[0, 0]])


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 5, 300, 3_000, 9_000]),
    st.sampled_from([0, 3, 400]),
    st.sampled_from([1, 3, 1_000]),
)
@settings(max_examples=40, deadline=None)
def test_packing_is_the_definition(seed, rows, n_cuts, threads):
    rng = np.random.default_rng(seed)
    made = [
        rng.normal(size=rows),
        rng.integers(-3, 4, rows) * 1.0,
        np.where(rng.random(rows) < 0.5, -0.0, rng.normal(size=rows) ** 9),
        # Many values that differ by little, far from others.
        rng.choice([-1.0, 1.0, 1.0, 1e9], rows) + rng.normal(size=rows) * 1e-12,
    ]
    states, finals = np.stack(made, axis=1), rng.normal(size=(rng.integers(0, 4), 4)) * 3
    some = np.sort(rng.choice(rows, rng.integers(1, rows + 1), replace=False))
    cuts = [np.unique(rng.normal(size=n_cuts)) for _ in made]
    first = np.append(0, np.cumsum([len(cut) for cut in cuts]))
    found = _kernel.pack_states(states, some, finals, np.concatenate(cuts), first, BINS, FEWEST_CUTS, threads)
    for f, (values, planes) in enumerate(found):
        decoded, codes = packed(states[some, f], finals[:, f], cuts[f])
        np.testing.assert_array_equal(values, decoded)
        assert planes.tobytes() == codes
