"""What is missing in a log: rows without a value, repeated rows, and times at which nothing was recorded.

A hole is never bridged by a step that nobody has seen, unless a user asks for it: the episode is divided there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from tripletree.log.boundaries import FLAGS, Boundaries
from tripletree.log.coerce import Array, as_flags
from tripletree.log.findings import Findings
from tripletree.log.times import Times
from tripletree.text import Message, Option, count, plural, some_of

if TYPE_CHECKING:
    from tripletree.log.build import Draft

Bool = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]

LEAST_WHOLE = 5
"""With fewer episodes than this, their pieces are what there is to count."""
WAYS = ("split", "drop", "fill")
"""What can be done about a missing value: divide the episode, leave the row out, or carry the last value on."""
LONG = 10.0
"""So many times the upper quartile of the step times is a gap, if nobody says how long one is."""
MOST_STEPS = 100_001
"""Steps, at most, that show how long a step usually is."""
MOST_MISSING = 0.5
"""With more of a column missing, nothing is done about it by itself."""
MOST_NAMED = 6


@dataclass(frozen=True)
class Mended:
    """A draft without holes: its rows in order, the episodes, and which of these were cut at a hole.

    ``rows`` are the numbers of the rows in the source, or None where they are what they were.
    """

    draft: Draft
    found: Boundaries
    cut: Bool
    rows: I64 | None
    dt: npt.NDArray[np.float64] | None


def mend(
    draft: Draft, found: Boundaries, times: Times | None, dt: npt.NDArray[np.float64] | None, findings: Findings
) -> Mended:
    """Return a draft in which no value is missing, its episodes divided where something was not recorded."""
    n, episodes = int(found.starts[-1]), len(found.ids)
    order = np.arange(n) if found.order is None else found.order
    episode = np.repeat(np.arange(episodes), np.diff(found.starts))
    way = draft.naming.get("missing") or ("split" if draft.roles is not None else None)
    blank, bare = _missing(draft, way, order, findings)
    keep, cuts, again = ~(blank | bare), np.zeros(n, bool), np.zeros(n, bool)
    if times is not None:
        again = _look_at_times(times, order, episode, draft.naming.get("gap"), cuts, findings)
        keep &= ~again
    if way == "fill" and blank.any():
        draft, keep = _filled(draft, order, episode, keep | (blank & ~bare & ~again))
    unchanged = bool(keep.all()) and not cuts.any()
    fits = _fits(draft, episodes)
    if findings.failed or unchanged or not keep.any() or not fits:
        if not keep.any() and not findings.failed:
            fail_without_rows(way, findings)
        return Mended(draft, found, np.zeros(episodes, bool), None, _seconds(times, dt, order, found.starts))
    # A row that only repeats another leaves no hole.
    holes = ~keep & ~again if way != "drop" else np.zeros(n, bool)
    parts = divided(found.starts, np.flatnonzero(~keep), np.flatnonzero(cuts | holes))
    if way == "drop":
        draft = _with_flags_moved(draft, order, episode, keep)
    of, starts, rows = parts.of, parts.starts, order[keep]
    whole = Boundaries(None, starts, piece_names(found.ids if draft.episode_ids is None else draft.episode_ids, of))
    # What repeats a time is no state that came a step later.
    shown = parts.shown(np.flatnonzero(bare & ~blank & ~again), np.flatnonzero(cuts))
    finals = _final_states(draft, parts, shown, order)
    draft = _taken(replace(draft, final_states=finals, episode_ids=None), rows, of, n)
    if draft.groups is None and whole_groups(of):
        name = "episode" if draft.roles is None else draft.roles.single.get("episode", "episode")
        draft = replace(draft, groups=np.repeat(found.ids[of], np.diff(starts)), group_name=f"whole {name}")
    return Mended(draft, whole, ~parts.at_end, rows, _seconds(times, dt, rows, starts))


@dataclass(frozen=True, eq=False)
class Parts:
    """What is left of episodes where rows were left out and others divide them.

    Attributes
    ----------
    starts : int64 array of shape (parts + 1,)
        Their first rows, counted without those that are left out, and closed by the number of rows.
    of : int64 array of shape (parts,)
        The episode that each is a part of.
    at_end : array of bool of shape (parts,)
        Whether nothing divides the episode after it.
    following : int64 array of shape (parts,)
        The row after its last one, counted with those that are left out.
    """

    starts: I64
    of: I64
    at_end: Bool
    following: I64

    def shown(self, whole: I64, cuts: I64) -> Bool:
        """Return after which parts a state is known that came next, in one of these rows that were left out."""
        return ~self.at_end & np.isin(self.following, whole) & ~np.isin(self.following, cuts)


def divided(starts: I64, lost: I64, crossed: I64) -> Parts:
    """Return what is left of episodes without the rows that are ``lost``, divided in front of or at those ``crossed``.

    Rows are sorted.
    """
    n = int(starts[-1]) - len(lost)
    begins = np.unique(np.concatenate([starts[:-1], crossed]))
    begins = np.unique(begins - np.searchsorted(lost, begins))
    begins = begins[begins < n]
    ends = np.append(begins[1:], n)
    of = np.searchsorted(starts, row_of(begins, lost), side="right") - 1
    last = row_of(ends - 1, lost)
    at_end = np.searchsorted(crossed, last, side="right") == np.searchsorted(crossed, starts[of + 1])
    return Parts(np.append(begins, n).astype(np.int64), of, at_end, last + 1)


def row_of(rows: Any, lost: I64) -> Any:
    """Return the numbers of rows among all, given those that they have without the rows that are ``lost``."""
    # Of the rows that are lost, how many others lie before each.
    return rows + np.searchsorted(lost - np.arange(len(lost)), rows, side="right")


def whole_groups(of: I64) -> bool:
    """Return whether pieces of episodes, given by the episode of each, are grouped by these.

    They depend on each other as the episodes of one pilot do.
    """
    return bool(LEAST_WHOLE <= len(np.unique(of)) < len(of))


def _missing(draft: Draft, way: str | None, order: I64, findings: Findings) -> tuple[Bool, Bool]:
    """Return the rows, in order, that lack a part of the state, and those that lack an action or a reward."""
    parts = [
        *((name, column, True) for name, column in zip(draft.feature_names, draft.states, strict=True)),
        *((name, column, False) for name, column in zip(draft.action_names, draft.actions, strict=True)),
        *([] if draft.rewards is None else [("reward", draft.rewards, False)]),
    ]
    n = len(order)
    blank, bare = np.zeros(n, bool), np.zeros(n, bool)
    if way is None:
        return blank, bare
    told: dict[str, tuple[int, int]] = {}
    for name, column, of_state in parts:
        lacks = is_missing(column)
        if lacks is None or not lacks.any():
            continue
        number = int(lacks.sum())
        # Categories are several columns of which all lack the same rows; one name for them is enough.
        category = draft.categories.get(name)
        told[category.column if category else name] = (number, int(lacks.argmax()))
        into = blank if of_state else bare
        into |= lacks
    if told and too_much(told, n, draft.naming.get("missing")):
        # It stays missing, and so is an error when the columns are read.
        return np.zeros(n, bool), np.zeros(n, bool)
    if told:
        say_missing(told, int((blank | bare).sum()), n, way, draft.naming.get("missing"), findings)
    return blank[order], bare[order]


def too_much(told: Mapping[str, tuple[int, int]], n: int, given: str | None) -> bool:
    """Return whether so many of ``n`` rows lack a column that nothing is done about it, as `say_missing` gets them."""
    most = max(number for number, _ in told.values())
    return most == n or (most > MOST_MISSING * n and not given)


def say_missing(
    told: Mapping[str, tuple[int, int]], either: int, n: int, way: str, given: str | None, findings: Findings
) -> None:
    """Tell what is missing and what is done about it.

    ``told`` has for each column how many rows lack it and the first of them; ``either`` is how many lack something.
    """
    places = [f"`{name}` in {count(number, 'row')} (first in row {row})" for name, (number, row) in told.items()]
    done = {
        "split": "those rows are left out, and their episodes are divided there",
        "drop": "those rows are left out, and the rows around them follow each other",
        "fill": "the last known state is carried on; rows before the first one, and those without an action or a "
        "reward, are left out",
    }[way]
    say = findings.note if given else findings.warning
    say(
        "missing",
        Message(
            "Values are missing in {:,} of {}: {}. {}, because of {}.",
            either,
            count(n, "row"),
            some_of(places, MOST_NAMED),
            done[0].upper() + done[1:],
            Option("missing", way),
        ),
        _ways(way),
    )


def fail_without_rows(way: str | None, findings: Findings) -> NoReturn:
    """Raise the error that no row is whole."""
    findings.fail("states-not-finite", "In every row of the log a value is missing.", _ways(way))


def _ways(way: str | None) -> Any:
    others = [Option("missing", other) for other in WAYS if other != way]
    return Message("To change that, type {}.", Message(" or ".join(["{}"] * len(others)), *others))


def is_missing(column: Array) -> Bool | None:
    """Return which values are missing; None where none is."""
    if column.dtype.kind == "f":
        with np.errstate(all="ignore"):
            # A sum takes half the time, and shows whether there may be one.
            return np.isnan(column) if np.isnan(column.sum()) else None
    if column.dtype.kind == "O":
        return np.array([value is None for value in column.tolist()], bool)
    return np.isnat(column) if column.dtype.kind in "mM" else None


def _look_at_times(times: Times, order: I64, episode: I64, gap: float | None, cuts: Bool, findings: Findings) -> Bool:
    """Mark the rows before which an episode is cut; return those that repeat the time of the row before."""
    again = np.zeros(len(order), bool)
    steps = times.between(order)
    inside = np.diff(episode) == 0
    same = inside & (steps == 0)
    if same.any():
        again[1:] = same
        say_twice(int(same.sum()), int(order[1:][same][0]), findings)
    back = inside & (steps < 0)
    forward = steps[inside & (steps > 0)]
    if not len(forward):
        return again
    # An odd sample will do, and sorting a long log is what would take the time.
    limit = limit_of(forward[:: -(-len(forward) // MOST_STEPS)]) if gap is None else float(gap)
    far = inside & (steps > limit)
    cuts[1:] = far | back
    if cuts.any():
        first = int(order[int(cuts.argmax())])
        longest = float(steps[far].max(initial=0.0))
        say_gaps(int(cuts.sum()), int(back.sum()), first, longest, limit, times.unit, gap, findings)
    return again


def limit_of(steps: npt.NDArray[np.float64]) -> float:
    """Return how long a step is that counts as a gap, by a sample of them."""
    return LONG * float(np.quantile(steps, 0.75))


def say_twice(number: int, first: int, findings: Findings) -> None:
    """Tell how many rows repeat the time of the row before, and the first one of them."""
    findings.warning(
        "time-twice",
        f"{count(number, 'row')} {plural(number, 'has', 'have')} the time of the row before in the same episode, first "
        f"row {first}; only the first row of each time is used.",
        "Give every episode its own id, or times with more digits.",
    )


def say_gaps(
    cuts: int, back: int, first: int, longest: float, limit: float, unit: str, gap: float | None, findings: Findings
) -> None:
    """Tell where episodes are divided: in so many places, the first before this row; in some the clock goes back."""
    named = "seconds" if unit == "s" else unit
    what = f"; the longest is {longest:,.4g} {unit}" if longest else ""
    clock = f" and {count(back, 'place')} where the clock goes back" if back else ""
    say = findings.warning if gap is None else findings.note
    say(
        "gaps",
        f"There are {count(cuts - back, 'gap')} of more than {limit:.4g} {unit} between rows"
        f"{what}{clock} (first before row {first}); episodes are divided there.",
        Message("For gaps of another length, in {}, type {}.", named, Option("gap", round(2 * limit, 3))),
    )


def _filled(draft: Draft, order: I64, episode: I64, keep: Bool) -> tuple[Draft, Bool]:
    """Return a draft whose states carry on the last known value of each episode, and the rows that are then known."""
    begins = np.append(True, np.diff(episode) != 0)
    keep = keep.copy()
    states: list[Array] = []
    for column in draft.states:
        lacks = is_missing(column)
        if lacks is None or not lacks.any():
            states.append(column)
            continue
        ordered, known = column[order], ~lacks[order]
        source = np.maximum.accumulate(np.where(known | begins, np.arange(len(order)), 0))
        filled = np.empty_like(column)
        filled[order] = ordered[source]
        keep &= known[source]
        states.append(filled)
    return replace(draft, states=states, matrix=None), keep


def _fits(draft: Draft, episodes: int) -> bool:
    """Return whether what is given for each episode is as long as it should be; if not, that is an error later."""
    given = (draft.final_states, draft.endings, draft.episode_ids)
    return all(part is None or (part.ndim > 0 and len(part) == episodes) for part in given)


def piece_names(ids: Array, of: I64) -> Array:
    """Return the names of the pieces of episodes: 7/1, 7/2, ... for an episode 7 that was divided."""
    number = np.bincount(of, minlength=len(ids))
    if (number <= 1).all():
        return np.asarray(ids)[of]
    place = np.arange(len(of)) - np.searchsorted(of, of)
    return np.array(
        [
            f"{ids[e]}/{k + 1}" if number[e] > 1 else str(ids[e])
            for e, k in zip(of.tolist(), place.tolist(), strict=True)
        ]
    )


def _final_states(draft: Draft, parts: Parts, shown: Bool, order: I64) -> Array | None:
    """Return the final states of the pieces: given ones, and states of rows that lack only an action or a reward."""
    if draft.next_states is not None or (draft.final_states is None and not shown.any()):
        return draft.final_states
    columns = [column for column in draft.states if column.dtype.kind in "biuf"]
    finals = np.full((len(parts.of), len(draft.states)), np.nan)
    if draft.final_states is not None and draft.final_states.dtype.kind in "biuf":
        finals[parts.at_end] = draft.final_states[parts.of[parts.at_end]]
    if len(columns) == len(draft.states):
        finals[shown] = np.stack([column[order[parts.following[shown]]] for column in columns], axis=1)
    return finals


def _with_flags_moved(draft: Draft, order: I64, episode: I64, keep: Bool) -> Draft:
    """Return a draft in which the row before one that is left out has its flags: the episode still ends there."""
    moved: dict[str, Array] = {}
    source = np.maximum.accumulate(np.where(keep, np.arange(len(order)), -1))
    into = (source >= 0) & ~keep
    into[into] = episode[source[into]] == episode[into]
    for role in FLAGS:
        column = getattr(draft.markers, role)
        if column is None or len(column) != len(order):
            continue
        flags = as_flags(column, f"`{role}`", Findings())
        if flags is not None:
            flags = flags.copy()
            set_in = np.flatnonzero(into & flags[order])
            flags[order[source[set_in]]] = True
            moved[role] = flags
    return replace(draft, markers=replace(draft.markers, **moved)) if moved else draft


def _taken(draft: Draft, rows: I64, of: I64, n: int) -> Draft:
    """Return a draft of some rows only; what it has for each episode goes to the episode's pieces."""

    def take(columns: Sequence[Array]) -> list[Array]:
        return [column[rows] for column in columns]

    flags = {
        role: column[rows] if len(column) == n else column[of]
        for role in FLAGS
        if (column := getattr(draft.markers, role)) is not None
    }
    return replace(
        draft,
        states=take(draft.states),
        actions=take(draft.actions),
        rewards=None if draft.rewards is None else draft.rewards[rows],
        next_states=None if draft.next_states is None else take(draft.next_states),
        markers=replace(draft.markers, **flags),
        endings=None if draft.endings is None else draft.endings[of],
        groups=None if draft.groups is None else draft.groups[rows if len(draft.groups) == n else of],
        weights=None if draft.weights is None else draft.weights[rows],
        matrix=None,
    )


def _seconds(
    times: Times | None, dt: npt.NDArray[np.float64] | None, rows: I64, starts: I64
) -> npt.NDArray[np.float64] | None:
    """Return the seconds from each row to the next; the usual time where an episode ends or it is not known."""
    if times is not None and times.unit == "s":
        dt = np.append(times.between(rows), np.nan)
        dt[starts[1:] - 1] = np.nan
    elif dt is not None:
        dt = dt[rows]
    else:
        return None
    # What follows an episode's last row was not recorded, so neither was when.
    known = np.isfinite(dt) & (dt > 0)
    dt[~known] = float(np.median(dt[known])) if known.any() else 1.0
    return dt
