"""Track: what a model keeps of its log, one byte a feature and step, so that every state still falls into its leaf."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.log.log import TRUNCATED, Log
from tripletree.log.recording import Recording
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]

MOST_BYTES = 2**22
"""Bytes of codes that a track has at most, unpacked: 500,000 steps of 8 features. Of longer logs it keeps a sample."""
MOST_EPISODES = 100_000
"""Episodes that it keeps at most."""
LONGEST_ID = 64
"""Characters of an episode's id; where one is longer, episodes are called by their place in the log."""
LEVEL = 4
"""Of zlib: a quarter of the time of its usual one, for a twentieth more bytes."""
BINS = 256
"""What one byte can tell apart."""
STRETCHES = 20
"""Pieces that are kept of recordings which are too long to be kept whole: enough to see how much they differ."""
FEWEST_CUTS = 64
"""Bins that a feature has beyond those that the tree needs: a second byte is better than zones with coarse edges."""


@dataclass(frozen=True, eq=False)
class Track:
    """The states of whole episodes, each feature rounded to a recorded value on the same side of all thresholds.

    A feature's values are divided into bins: at every threshold of the tree, and so that no bin has many of the samples
    or much of the range. A code is the number of a bin. It is decoded as the median of the samples in the bin, so a
    feature with at most 256 values comes back exactly, and so do values that are often reached, and the smallest and
    the largest state. Codes are of one byte; of two where 256 bins are too few.

    Attributes
    ----------
    bins : int64 array of shape (features,)
        Number of bins of each feature.
    values : float64 array of shape (all bins,)
        What the codes stand for: the values of the first feature from small to large, then those of the next.
    packed : uint8 array
        The codes, as zlib packs their differences: feature by feature, first of all samples, then of all recorded
        final states; of a code with more than one byte the lowest bytes of all, then the next. A track that was made
        just now has them as they are, in zlib's format; see :attr:`smallest`.
    starts : int64 array of shape (episodes + 1,)
        Episode ``e`` is samples ``starts[e]`` to ``starts[e + 1]``.
    endings : uint8 array of shape (episodes,)
        As in `Log`.
    finals : uint8 array of shape (episodes,)
        1 where the final state was recorded, else 0.
    returns : float64 array of shape (episodes,)
        The sum of each episode's rewards.
    ids : int64 array of shape (episodes,)
        What the user called the episodes; with ``texts``, where each name ends in it.
    texts : uint8 array, or None
        Their names, if those are texts: UTF-8, one after the other.
    first : int64 array of shape (episodes,), or None
        Of stretches, cut out of recordings that are too long to be kept: the step that each begins with. None where
        whole episodes are kept.
    groups : int64 array of shape (episodes,), or None
        The number of each episode's group: which of them depend on each other. None without groups.
    group_ends : int64 array of shape (groups + 1,), or None
        Where the name of the groups' column and then the name of each group ends in ``group_texts``.
    group_texts : uint8 array, or None
        These names: UTF-8, one after the other.
    weights : float64 array of shape (episodes,), or None
        How much each episode counts where moves are counted; None: all the same.
    """

    bins: I64
    values: F64
    packed: U8
    starts: I64
    endings: U8
    finals: U8
    returns: F64
    ids: I64
    texts: U8 | None = None
    first: I64 | None = None
    groups: I64 | None = None
    group_ends: I64 | None = None
    group_texts: U8 | None = None
    weights: F64 | None = None

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def of(cls, log: Log, tree: Tree, most_bytes: int = MOST_BYTES, *, threads: int = 1) -> Self | None:
        """Return what a model keeps of a log; None when there is not even room for stretches of an episode.

        Parameters
        ----------
        log : Log
            The log.
        tree : Tree
            The tree whose leaves the decoded states must fall into; any smaller tree of the same growth will do, too.
        most_bytes : int
            Size of the codes, unpacked. If the log has more, whole episodes are kept: those with the smallest hashes,
            a fair sample that does not depend on the order of the episodes. If every episode is too long, stretches
            of them are kept, as episodes that are cut off at both ends.
        threads : int
            Threads to use; their number changes nothing.
        """
        cuts = _cuts(tree, log.n_features)
        most_rows = _room(cuts, most_bytes)
        kept = _sample(log, most_rows)
        begin, length, step = log.starts[kept], np.diff(log.starts)[kept], None
        if not len(kept):
            kept, begin, length = _stretches(log, most_rows)
            step = begin - log.starts[kept]
        if not len(kept):
            return None
        starts = np.append(0, np.cumsum(length))
        rows = np.repeat(begin - starts[:-1], length) + np.arange(starts[-1])
        whole, end = Recording.of(log), begin + length
        # What follows a stretch is known, unless it is the last of its episode.
        goes_on = end < log.starts[kept + 1]
        finals = np.where(goes_on[:, None], log.states[np.where(goes_on, end, 0)], log.final_states[kept])
        recorded = ~np.isnan(finals[:, 0])
        final = finals[recorded]
        first_cut = np.append(0, np.cumsum([len(cut) for cut in cuts]))
        packed = _kernel.pack_states(
            log.states, rows, final, np.concatenate(cuts), first_cut, BINS, FEWEST_CUTS, threads
        )
        ids, texts = _names(log.episode_ids, kept)
        groups = group_ends = group_texts = None
        if whole.groups is not None and whole.group_labels is not None:
            present, groups = np.unique(whole.groups[kept], return_inverse=True)
            names = [log.group_name, *whole.group_labels[present].tolist()]
            if max(map(len, names[1:])) > LONGEST_ID:
                names[1:] = map(str, present.tolist())
            group_ends, group_texts = _packed([names[0][:LONGEST_ID], *names[1:]])
        return cls(
            bins=np.array([len(decoded) for decoded, _ in packed], np.int64),
            values=np.concatenate([decoded for decoded, _ in packed]),
            packed=np.frombuffer(zlib.compress(b"".join(planes.tobytes() for _, planes in packed), 0), np.uint8),
            starts=starts,
            endings=np.where(goes_on, TRUNCATED, log.endings[kept]).astype(np.uint8),
            finals=recorded.astype(np.uint8),
            returns=whole.returns[kept] if step is None else np.add.reduceat(log.rewards[rows], starts[:-1]),
            ids=ids,
            texts=texts,
            first=step,
            groups=groups,
            group_ends=group_ends,
            group_texts=group_texts,
            weights=None if whole.episode_weights is None else whole.episode_weights[kept],
        )

    @property
    def n_samples(self) -> int:
        """Number of steps in all episodes."""
        return int(self.starts[-1])

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.endings)

    @property
    def n_rows(self) -> int:
        """Number of states that each feature has a code of: those of all steps, and the recorded final ones."""
        return self.n_samples + int(self.finals.sum(dtype=np.int64))

    @property
    def unpacked_size(self) -> int:
        """Bytes of the codes, unpacked."""
        return self.n_rows * sum(_code_type(bins).itemsize for bins in self.bins.tolist())

    @cached_property
    def smallest(self) -> U8:
        """The codes as they are saved. To press them takes as long as to make them, and many a tree is never saved."""
        if self.packed.nbytes <= self.unpacked_size:
            return self.packed
        return np.frombuffer(zlib.compress(zlib.decompress(self.packed.tobytes()), LEVEL), np.uint8)

    @cached_property
    def codes(self) -> tuple[npt.NDArray[Any], ...]:
        """The code of each sample and each recorded final state, one array for each feature.

        Raises
        ------
        ValueError
            If the packed bytes do not hold exactly so many codes; no more than those are ever unpacked.
        """
        size, rows = self.unpacked_size, self.n_rows
        stream = zlib.decompressobj()
        try:
            data = stream.decompress(self.packed.tobytes(), size + 1)
        except zlib.error as error:
            raise ValueError(f"the codes cannot be unpacked ({error})") from None
        if len(data) != size or not stream.eof or stream.unused_data:
            raise ValueError("the codes do not have the size that follows from the bins and the episodes")
        found, end = [], 0
        for bins in self.bins.tolist():
            dtype = _code_type(bins)
            begin, end = end, end + rows * dtype.itemsize
            planes = np.frombuffer(data, np.uint8, end - begin, begin).reshape(dtype.itemsize, rows)
            differences = np.ascontiguousarray(planes.T).view(dtype).ravel()
            # Sums wrap around as the differences did.
            found.append(np.cumsum(differences, dtype=dtype))
        return tuple(found)

    @cached_property
    def recording(self) -> Recording:
        """The episodes, decoded."""
        ends = np.cumsum(self.bins)
        tables = [self.values[end - size : end] for end, size in zip(ends, self.bins, strict=True)]
        decoded = np.stack([table[codes] for table, codes in zip(tables, self.codes, strict=True)], axis=1)
        final = np.full((self.n_episodes, len(self.bins)), np.nan)
        final[self.finals > 0] = decoded[self.n_samples :]
        parts = (decoded[: self.n_samples], self.starts, final, self.endings, self.returns, self.names)
        if self.groups is None:
            return Recording(*parts, first=self.first, episode_weights=self.weights)
        name, *labels = self.group_names
        return Recording(*parts, self.groups, np.array(labels, np.str_), name, self.first, self.weights)

    def rounded_from(self, states: F64) -> tuple[F64, F64]:
        """Return the least and the largest that decoded states may have been before they were rounded.

        That is halfway to the next values that there are. A feature with so few values that rounding cannot have been
        the reason is taken as exact.

        Parameters
        ----------
        states : float64 array of shape (rows, features)
            Rows of :attr:`recording`.
        """
        low, high = states.copy(), states.copy()
        ends = np.cumsum(self.bins)
        for f, (end, size) in enumerate(zip(ends, self.bins, strict=True)):
            if size <= FEWEST_CUTS:
                continue
            value = self.values[end - size : end]
            edges = np.concatenate([value[:1], (value[1:] + value[:-1]) / 2, value[-1:]])
            code = np.searchsorted(value, states[:, f])
            low[:, f], high[:, f] = edges[code], edges[code + 1]
        return low, high

    @cached_property
    def names(self) -> npt.NDArray[Any]:
        """What the user called the episodes: numbers or texts."""
        return self.ids if self.texts is None else np.array(unpacked(self.ids, self.texts), np.str_)

    @cached_property
    def group_names(self) -> list[str]:
        """The name of the groups' column, then the names of the groups; empty without groups."""
        if self.group_ends is None or self.group_texts is None:
            return []
        return unpacked(self.group_ends, self.group_texts)


def room(tree: Tree, features: int, most_bytes: int = MOST_BYTES) -> int:
    """Return how many states, the final ones of episodes included, a track has room for."""
    return _room(_cuts(tree, features), most_bytes)


def has_room(log: Log, tree: Tree) -> bool:
    """Tell whether a track keeps all episodes of a log."""
    return _fits(log, room(tree, log.n_features))


def _fits(log: Log, most_rows: int) -> bool:
    # Each has its final state, too.
    return log.n_samples + log.n_episodes <= most_rows and log.n_episodes <= MOST_EPISODES


def _room(cuts: list[F64], most_bytes: int) -> int:
    # Besides the cuts there are four edges, at the smallest and the largest state.
    sizes = [_code_type(max(BINS, len(cut) + 5 + FEWEST_CUTS)).itemsize for cut in cuts]
    return most_bytes // sum(sizes)


def _cuts(tree: Tree, features: int) -> list[F64]:
    """Return the thresholds of each feature."""
    return [np.unique(tree.threshold[tree.feature == f]) for f in range(features)]


def _code_type(bins: int) -> np.dtype[Any]:
    """Return the smallest type for the numbers of so many bins."""
    return np.dtype("u1" if bins <= BINS else "<u2" if bins <= BINS**2 else "<u4")


def _sample(log: Log, most_rows: int) -> I64:
    """Return the episodes to keep, in the order of the log: all, or those with the smallest hashes while they fit."""
    if _fits(log, most_rows):
        return np.arange(log.n_episodes)
    rows = np.diff(log.starts) + 1
    order = np.argsort(log.hashes, kind="stable")
    order = order[rows[order] <= most_rows]
    # Up to the first for which there is no more room: going on with shorter ones would prefer them.
    fit = int(np.searchsorted(np.cumsum(rows[order]), most_rows, side="right"))
    return np.sort(order[: min(fit, MOST_EPISODES)])


def _stretches(log: Log, most_rows: int) -> tuple[I64, I64, I64]:
    """Return the episode, the first row and the length of stretches of episodes that are all too long to be kept."""
    hashes = log.hashes
    chosen = np.sort(np.argsort(hashes, kind="stable")[:STRETCHES])
    each = STRETCHES // len(chosen)
    # Each has the state that follows it, too.
    size = most_rows // (each * len(chosen)) - 1
    if size < 1:
        chosen = chosen[:0]
    begin = [np.zeros(0, np.int64)]
    for episode in chosen.tolist():
        spare = int(log.starts[episode + 1] - log.starts[episode]) - each * size
        # Sorted offsets into what is left over are stretches that do not overlap, each arrangement as likely as others.
        rng = np.random.default_rng(int(hashes[episode]))
        places = np.sort(rng.integers(0, spare, each, endpoint=True)) + size * np.arange(each)
        begin.append(log.starts[episode] + places)
    found = np.concatenate(begin)
    return np.repeat(chosen, each), found, np.full(len(found), size)


def _names(ids: npt.NDArray[Any], kept: I64) -> tuple[I64, U8 | None]:
    """Return the ids of episodes as numbers; or where each text ends, and the texts."""
    if ids.dtype.kind != "U":
        return ids[kept], None
    if ids.dtype.itemsize > 4 * LONGEST_ID:
        return kept, None
    return _packed(ids[kept].tolist())


def _packed(names: list[str]) -> tuple[I64, U8]:
    """Return where each text ends, and the texts."""
    texts = [text.encode() for text in names]
    return np.cumsum([len(text) for text in texts]), np.array(bytearray(b"".join(texts)), np.uint8)


def unpacked(ends: I64, texts: U8) -> list[str]:
    """Return the texts that end at these places."""
    text = texts.tobytes()
    return [text[begin:end].decode() for begin, end in pairwise([0, *ends.tolist()])]
