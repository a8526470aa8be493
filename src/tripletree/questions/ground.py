"""Ground: the recorded states that ways go over, final states and ends included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.trajectories import Source
from tripletree.asking.places import Zone
from tripletree.graph.segments import Segments, smoothed
from tripletree.model.track import Track
from tripletree.questions.evidence import Evidence

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ground:
    """Rows of states, with those after the last action of each episode.

    Attributes
    ----------
    states : float64 array of shape (rows, features)
        The states, column by column in memory: distances go over one feature at a time.
    starts : int64 array of shape (episodes + 1,)
        Episode ``e`` is rows ``starts[e]`` to ``starts[e + 1]``.
    leaf : int32 array of shape (rows,)
        The leaf of each row.
    place : int32 array of shape (rows,)
        The same, but the number of leaves in rows that are the end of an episode.
    unknown : bool array of shape (episodes,)
        Whether the last row is an end whose state was not recorded: there the one before is repeated.
    ids : array of shape (episodes,)
        What the user called the episodes.
    track : Track or None
        What rounded the states, if they are those that a model kept.
    first : int64 array of shape (episodes,), or None
        The step of its episode that each begins with, where a model kept only stretches of them.
    """

    states: F64
    starts: I64
    leaf: npt.NDArray[np.int32]
    place: npt.NDArray[np.int32]
    unknown: Bool
    ids: npt.NDArray[np.generic]
    track: Track | None
    first: I64 | None = None

    @classmethod
    def of(cls, found: Evidence, to_end: bool) -> Ground:
        """Return the ground of recorded episodes; with ``to_end``, those that ended have a row for it."""
        recording, known = found.recording, found.episodes.final
        ended = found.episodes.terminated if to_end else np.zeros(len(known), bool)
        more = known | ended
        starts = np.append(0, np.cumsum(np.diff(recording.starts) + more))
        extra = starts[1:][more] - 1
        recorded = np.ones(starts[-1], bool)
        recorded[extra] = False
        last = recording.starts[1:] - 1
        states = np.empty((len(recorded), recording.states.shape[1]), order="F")
        states[recorded] = recording.states
        states[extra] = np.where(known[:, None], recording.final_states, recording.states[last])[more]
        leaf = np.empty(len(recorded), np.int32)
        leaf[recorded], leaf[extra] = found.leaf, np.where(known, found.final_leaf, found.leaf[last])[more]
        place = leaf.copy()
        place[starts[1:][ended] - 1] = found.fitted.tree.n_leaves
        track = found.fitted.track
        kept = track if track is not None and recording is track.recording else None
        return cls(states, starts, leaf, place, ended & ~known, recording.ids, kept, recording.first)

    def path(self, first: int, stop: int) -> F64:
        """Return the rows from one on, up to another; without the stairs that a track makes of states."""
        rows = self.states[first:stop]
        return rows.copy() if self.track is None else smoothed(rows, *self.track.rounded_from(rows))

    def rows_in(self, zone: Zone) -> Bool:
        """Return which rows lie in a zone."""
        if zone.end:
            return np.asarray(zone.mask[self.place])
        return np.asarray(zone.holds(self.states, self.leaf) & (self.place == self.leaf))

    def sources(self, segments: Segments) -> list[Source]:
        """Return where segments come from, as the user knows it."""
        begin = (self.starts[:-1] if self.first is None else self.starts[:-1] - self.first)[segments.episode]
        rows = zip(
            self.ids[segments.episode].tolist(),
            (segments.first - begin).tolist(),
            (segments.last - begin).tolist(),
            strict=True,
        )
        return [Source(*row) for row in rows]


def ground_of(found: Evidence, *, to_end: bool) -> Ground:
    """Return the ground of some evidence; that of the model's own track is laid once and kept."""
    kept = found.fitted.memory
    if kept.get("evidence") is not found:
        return Ground.of(found, to_end)
    name = f"ground to the end: {to_end}"
    if name not in kept:
        kept[name] = Ground.of(found, to_end)
    ground: Ground = kept[name]
    return ground
