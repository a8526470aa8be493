"""Faults of a recording that can be seen in its numbers: sensors, units, doubled episodes, sampling rates.

Each look passes over the rows a fixed number of times, and sorts no more than a sample of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tripletree.checks import listing
from tripletree.log.delay import delay
from tripletree.log.derive import wrapped
from tripletree.log.findings import Level
from tripletree.log.log import Log
from tripletree.log.schema import DEGREES
from tripletree.text import Message, Option, count, plural

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

SAMPLE = 20_000
"""Rows that are sorted or multiplied with each other, at most."""
FEWER = 5_000
"""Rows that equations are solved with, at most."""
LONG_STILL = 20
"""Steps for which a number that otherwise always changes must be the same to count as frozen."""
FAR = 20.0
"""So many times the span of the middle 90 % away from it, a number is an outlier."""


@dataclass(frozen=True, eq=False)
class Fault:
    """One fault, and what can be done about it.

    Attributes
    ----------
    level, code, text, fix
        As in a Finding.
    done : str
        What a repair does, in words; empty where only a person can tell.
    rows, episodes : array of bool, optional
        What a repair leaves out; an episode is divided where rows are.
    feature : int
        The feature that a repair changes; -1 for none.
    factor : float
        What that feature is multiplied by in ``scaled`` episodes.
    angle : str
        The unit of an angle that the feature is.
    limit : tuple of (int, float), optional
        An action and the largest number, of either sign, that it may have.
    leave_out : tuple of int
        Features that a repair leaves out.
    """

    level: Level
    code: str
    text: str
    fix: str
    done: str = ""
    rows: Bool | None = None
    episodes: Bool | None = None
    feature: int = -1
    factor: float = 1.0
    scaled: Bool | None = None
    angle: str = ""
    limit: tuple[int, float] | None = None
    leave_out: tuple[int, ...] = field(default=())


def _mended(done: str) -> tuple[str, str]:
    """Return what to type for a repair, and what it does."""
    return f"To have {done}: log.repaired(), or tripletree check LOG --fix -o OUT.", done


def place(log: Log, row: int) -> str:
    """Return where a row is: "episode 7, step 12"."""
    episode = int(np.searchsorted(log.starts, row, side="right")) - 1
    return f"episode {log.episode_ids[episode]}, step {row - int(log.starts[episode])}"


def find_faults(log: Log) -> list[Fault]:
    """Return all faults, each kind at most once for a feature."""
    inside = np.ones(log.n_samples, bool)
    inside[log.starts[1:] - 1] = False
    found: list[Fault] = []
    measured = [f for f, feature in enumerate(log.schema.features) if feature.kind in ("real", "integer")]
    moving = _moving(log, measured)
    for f in measured:
        # One column at a time in a row of memory: the matrix has its features side by side.
        column = np.ascontiguousarray(log.states[:, f])
        change = np.diff(column, append=column[-1])
        change[~inside] = 0.0
        far = list(_outliers(log, f, column))
        found += far
        if not far:
            found += [
                *_wraps(log, f, column, change),
                *_scale_jumps(log, f, column, change),
                *_wrong_unit(log, f, column),
            ]
            if log.schema.features[f].kind == "real":
                found += [*_frozen(log, f, column, change, inside, moving), *_clipped(log, f, column, measured)]
    return [*found, *_dependent(log), *_doubled(log), *_beyond(log), *_rates(log), *delay_fault(log)]


def _moving(log: Log, measured: list[int]) -> npt.NDArray[np.int64]:
    """Return how many of some features change in each step; at rest they tremble, which does not count."""
    number = np.zeros(log.n_samples, np.int64)
    for f in measured:
        if log.schema.features[f].kind == "real":
            change = np.abs(np.diff(log.states[:, f]))
            usual = _sample(change[change > 0])
            number[:-1] += change > (0.01 * np.median(usual) if len(usual) else 0.0)
    return number


def _sample(column: F64) -> F64:
    return column[:: max(-(-len(column) // SAMPLE), 1)]


def _outliers(log: Log, f: int, column: F64) -> Iterator[Fault]:
    name = log.schema.features[f].name
    low, high = np.quantile(_sample(column), (0.05, 0.95))
    span = float(high - low)
    if not span > 0:
        return
    far = (column < low - FAR * span) | (column > high + FAR * span)
    number = int(far.sum())
    if not 0 < number <= 0.01 * len(column):
        return
    row = int(far.argmax())
    yield Fault(
        "warning",
        "outliers",
        f"`{name}` is far outside its usual range ({low:.4g} to {high:.4g}) in {count(number, 'row')}, "
        f"first {column[row]:.4g} in {place(log, row)}. Such rows are used like any other.",
        *_mended(f"{count(number, 'row')} with an outlier of `{name}` left out, and episodes divided there"),
        rows=far,
    )


def _wraps(log: Log, f: int, column: F64, change: F64) -> Iterator[Fault]:
    feature = log.schema.features[f]
    low, high = float(column.min()), float(column.max())
    for turn, unit in ((2 * math.pi, "rad"), (360.0, "deg")):
        full = 0.9 * turn <= high - low <= 1.01 * turn
        if not full or min(abs(low), abs(low + turn / 2)) > 0.05 * turn:
            continue
        jumps = np.abs(change) > turn / 2
        number = int(jumps.sum())
        if number < 3 or float((np.abs(change[~jumps]) > turn / 4).mean()) > 0.01:
            continue
        if float((np.abs(wrapped(change[jumps], turn)) > turn / 4).mean()) > 0.05:
            continue
        yield Fault(
            "warning",
            "wraps",
            f"`{feature.name}` looks like an angle in {unit} that begins again after a full turn: "
            f"{count(number, 'jump')}, first in {place(log, int(jumps.argmax()))}. "
            "Its derivative there is a whole turn too large.",
            Message("If it is an angle, type {}.", Option("kinds", {feature.name: "angle"})),
            f"`{feature.name}` taken as an angle in {unit}",
            feature=f,
            angle=feature.unit or unit,
        )


def _frozen(log: Log, f: int, column: F64, change: F64, inside: Bool, moving: npt.NDArray[np.int64]) -> Iterator[Fault]:
    name = log.schema.features[f].name
    still = (change == 0) & inside
    if not still.any():
        return
    begin, length = _runs(still)
    long = length >= LONG_STILL
    # What is often the same for a while by nature is not frozen when it is the same for longer.
    if not long.any() or int(length[~long].sum()) > 0.01 * len(column):
        return
    ends = (float(column.min()), float(column.max()), 0.0)
    others = np.append(0, np.cumsum(moving > 0))
    runs = [
        (int(start), int(size))
        for start, size in zip(begin[long], length[long], strict=True)
        if column[start] not in ends and others[start + size] - others[start] >= 0.9 * size
    ]
    if not runs:
        return
    rows = np.zeros(len(column), bool)
    for start, size in runs:
        rows[start + 1 : start + size + 1] = True
    yield Fault(
        "warning",
        "frozen",
        f"`{name}` does not change for {LONG_STILL} steps and more while other features do, "
        f"{count(len(runs), 'time')} ({count(int(rows.sum()), 'row')}), first from {place(log, runs[0][0])} on. "
        "Such rows are used like any other.",
        *_mended(f"{count(int(rows.sum()), 'row')} with a frozen `{name}` left out, and episodes divided there"),
        rows=rows,
    )


def _clipped(log: Log, f: int, column: F64, measured: list[int]) -> Iterator[Fault]:
    """Look for numbers that stay at an end where another feature shows that what they measure goes on.

    Without that, a world that ends there, such as a speed limit, would look the same as a sensor that does.
    """
    name = log.schema.features[f].name
    for end, which in ((float(column.max()), "largest"), (float(column.min()), "smallest")):
        at_end = column == end
        number = int(at_end.sum())
        if number < 20 or not 0.01 * len(column) <= number <= 0.5 * len(column):
            continue
        rows = np.flatnonzero(at_end)[:SAMPLE]
        others = np.flatnonzero(~at_end)
        others = others[:: -(-len(others) // SAMPLE)]
        shown = _shown_beyond(log, f, end, rows, others, measured)
        if shown is None:
            continue
        yield Fault(
            "warning",
            "clipped",
            f"`{name}` is exactly {end:.6g}, its {which} value, in {count(number, 'row')} (first in "
            f"{place(log, int(at_end.argmax()))}), while `{log.schema.feature_names[shown]}` shows that it goes on: "
            "the sensor ends there. Such rows are used like any other.",
            *_mended(f"{count(number, 'row')} with a clipped `{name}` left out, and episodes divided there"),
            rows=at_end,
        )


def _shown_beyond(
    log: Log, f: int, end: float, rows: npt.NDArray[np.int64], others: npt.NDArray[np.int64], measured: list[int]
) -> int | None:
    """Return a feature that, or whose change, is proportional to feature ``f`` and says that it is beyond its end."""
    begins, ends = np.zeros(log.n_samples, bool), np.zeros(log.n_samples, bool)
    begins[log.starts[:-1]], ends[log.starts[1:] - 1] = True, True
    # The other feature itself, its change to the next row, and that from the row before.
    for here, there, cut in ((0, 0, None), (0, 1, ends), (-1, 0, begins)):
        known, asked = (part if cut is None else part[~cut[part]] for part in (others, rows))
        truth = log.states[known, f]
        span = float(np.ptp(truth)) if len(known) > 10 else 0.0
        if not span > 0 or not len(asked):
            continue
        sign = 1.0 if end > truth.max() else -1.0
        for other in measured:
            column = log.states[:, other]
            shown, beyond = (
                column[part + there] - column[part + here] if cut is not None else column[part]
                for part in (known, asked)
            )
            spread = float(shown.std())
            if other == f or not spread > 0:
                continue
            slope, offset = np.polyfit(shown / spread, truth, 1)
            left = truth - slope * shown / spread - offset
            if float(np.median(np.abs(left))) > 0.02 * span:
                continue
            if float((sign * (slope * beyond / spread + offset - end) > 0.02 * span).mean()) >= 0.5:
                return other
    return None


def _runs(mask: Bool) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where runs of true values begin, and how long they are."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return edges[::2], edges[1::2] - edges[::2]


def _scale_jumps(log: Log, f: int, column: F64, change: F64) -> Iterator[Fault]:
    """Look for episodes in which a feature and its changes are larger by the same, well-known factor."""
    lengths = np.diff(log.starts)
    if log.n_episodes < 3:
        return
    first = log.starts[:-1]
    size = np.add.reduceat(np.abs(column), first) / lengths
    speed = np.add.reduceat(np.abs(change), first) / lengths
    known = (size > 0) & (speed > 0) & (lengths >= 10)
    if known.sum() < 3:
        return
    order = np.argsort(size[known])
    logs = np.log(np.stack([size[known], speed[known]]))[:, order]
    cut = int(np.diff(logs[0]).argmax()) + 1
    small, large = logs[:, :cut], logs[:, cut:]
    ratio = np.exp(np.median(large, axis=1) - np.median(small, axis=1))
    for factor, told in ((1000.0, "1,000"), (180 / math.pi, "57.3, as degrees are than radians")):
        close = bool((np.abs(np.log(ratio / factor)) < math.log(1.6)).all())
        # Each group must be a group: far from the other, and close to itself.
        apart = bool((large.min(axis=1) - small.max(axis=1) > 0.6 * math.log(factor)).all())
        if not (close and apart):
            continue
        large_ones = np.flatnonzero(known)[order[cut:]]
        odd_large = len(large_ones) <= known.sum() / 2
        odd = np.zeros(log.n_episodes, bool)
        odd[large_ones if odd_large else np.flatnonzero(known)[order[:cut]]] = True
        if _acts_alike(log, odd, factor if odd_large else 1 / factor):
            continue
        number = int(odd.sum())
        name = log.schema.features[f].name
        how = "larger" if odd_large else "smaller"
        yield Fault(
            "warning",
            "scale-jumps",
            f"`{name}` seems to be in another unit in {number:,} of {count(log.n_episodes, 'episode')} (first: "
            f"{place(log, int(first[odd.argmax()]))}): there it is {how} by a factor of about {told}.",
            *_mended(
                f"`{name}` {'divided' if odd_large else 'multiplied'} by {factor:.6g} in {count(number, 'episode')}"
            ),
            feature=f,
            factor=1 / factor if odd_large else factor,
            scaled=odd,
        )
        return


def _acts_alike(log: Log, odd: Bool, factor: float) -> bool:
    """Return whether actions are larger or smaller there, too: then the episode is a wild or a quiet one."""
    if not log.schema.has_action or log.schema.action.kind == "discrete":
        return False
    rows = np.repeat(odd, np.diff(log.starts))
    there, elsewhere = (np.abs(log.actions[part]).mean(axis=0) for part in (rows, ~rows))
    moved = (there > 0) & (elsewhere > 0)
    ratio = np.log(there[moved] / elsewhere[moved]) / math.log(factor)
    return bool((ratio > 0.5).any())


def _wrong_unit(log: Log, f: int, column: F64) -> Iterator[Fault]:
    feature = log.schema.features[f]
    reach = float(np.abs(column).max())
    if feature.unit.lower() in ("rad", "radian", "radians") and 170 <= reach <= 361 and feature.unit not in DEGREES:
        yield Fault(
            "warning",
            "wrong-unit",
            f"`{feature.name}` is said to be in {feature.unit}, but goes to {reach:.4g} (first beyond 170 in "
            f"{place(log, int((np.abs(column) >= 170).argmax()))}), as degrees do.",
            Message("If they are degrees, type {}.", Option("units", {feature.name: "deg"})),
        )


def _dependent(log: Log) -> Iterator[Fault]:
    """Look for features that are sums of others, by elimination on what features have in common."""
    wanted = [f for f, feature in enumerate(log.schema.features) if not feature.column and feature.kind != "binary"]
    rows = log.states[:: -(-log.n_samples // FEWER)][:, wanted]
    if len(wanted) < 2 or len(rows) < 10 * len(wanted):
        return
    centred = rows - rows.mean(axis=0)
    scale = np.abs(centred).max(axis=0)
    used: list[int] = []
    for k, f in enumerate(wanted):
        if not scale[k] > 0:
            continue
        column = centred[:, k] / scale[k]
        if used:
            basis = centred[:, used] / scale[used]
            weights = np.linalg.lstsq(basis, column, rcond=None)[0]
            left = float(np.abs(column - basis @ weights).max())
            parts = [j for j, weight in zip(used, weights, strict=True) if abs(weight) > 1e-6]
            if left < 1e-9:
                # Of two that are the same it is told elsewhere.
                if not any(np.array_equal(log.states[:, wanted[j]], log.states[:, f]) for j in parts):
                    names = [log.schema.feature_names[wanted[j]] for j in parts]
                    own = log.schema.feature_names[f]
                    yield Fault(
                        "note",
                        "dependent",
                        f"`{own}` follows from {listing(names)}: it is always a weighted sum of "
                        f"{plural(len(names), 'it', 'them')} and a constant. Splits may name any of them.",
                        Message("To leave it out: {}.", Option("ignore", [own])),
                        f"`{own}` left out, which follows from {listing(names)}",
                        leave_out=(f,),
                    )
                continue
        used.append(k)


def _doubled(log: Log) -> Iterator[Fault]:
    lengths = np.diff(log.starts)
    hashes = log.hashes
    _, first = np.unique(hashes, return_index=True)
    again = np.ones(log.n_episodes, bool)
    again[first] = False
    # In worlds of few states short episodes are alike by themselves.
    whole = (log.states[:: -(-log.n_samples // SAMPLE)] % 1 == 0).all()
    again &= lengths >= 10
    # An agent that does the same in the same place has made all of them itself.
    if whole or not again.any() or len(first) < 2:
        return
    number = int(again.sum())
    episode = int(again.argmax())
    twin = int(np.flatnonzero(hashes == hashes[episode])[0])
    yield Fault(
        "warning",
        "doubled-episodes",
        f"{count(number, 'episode')} {plural(number, 'is a copy', 'are copies')} of another, number by number "
        f"(first: episode {log.episode_ids[episode]} of episode {log.episode_ids[twin]}). Each of them counts.",
        *_mended(f"{count(number, 'copy', 'copies')} of episodes left out"),
        episodes=again,
    )


def _beyond(log: Log) -> Iterator[Fault]:
    """Look for actions beyond a limit that shows: many are exactly at it, and hardly any beyond."""
    if log.schema.action.kind != "continuous":
        return
    for k, name in enumerate(log.schema.action.names):
        size = np.abs(log.actions[:, k])
        values, counts = np.unique(_sample(size), return_counts=True)
        limit = float(values[counts.argmax()])
        if not limit > 0 or float((size == limit).mean()) < 0.05:
            continue
        beyond = size > limit * (1 + 1e-6)
        number = int(beyond.sum())
        if 0 < number <= 0.01 * len(size):
            row = int(beyond.argmax())
            yield Fault(
                "warning",
                "beyond-limit",
                f"Action `{name}` is often exactly {limit:.4g}, which looks like its limit, but goes beyond it in "
                f"{count(number, 'row')}, first {log.actions[row, k]:.4g} in {place(log, row)}.",
                *_mended(f"action `{name}` limited to {limit:.4g} in {count(number, 'row')}"),
                limit=(k, limit),
            )


def _rates(log: Log) -> Iterator[Fault]:
    """Look for episodes that were sampled at another rate than most."""
    lengths = np.diff(log.starts)
    if log.dt is None or log.n_episodes < 2:
        return
    # Geometric means: of steps that differ by a factor, no single one decides.
    typical = np.exp(np.add.reduceat(np.log(log.dt), log.starts[:-1]) / lengths)
    usual = float(np.median(typical))
    odd = (np.abs(np.log(typical / usual)) > math.log(1.8)) & (lengths >= 10)
    if not odd.any():
        return
    number, first = int(odd.sum()), int(odd.argmax())
    yield Fault(
        "warning",
        "sampling-rates",
        f"{number:,} of {count(log.n_episodes, 'episode')} {plural(number, 'was', 'were')} sampled at another rate "
        f"(first: episode {log.episode_ids[first]}, every {typical[first]:.4g} s instead of {usual:.4g} s). "
        "Derivatives are per second all the same, but whatever is counted in steps means different times.",
        "Resample the log, or grow a tree for each rate: log.select(...).",
    )


def delay_fault(log: Log) -> Iterator[Fault]:
    """Look for actions that fit the state of the row before or after better than that of their own row."""
    found = delay(log)
    if found is None:
        return
    shift, own, other = found
    where = "before" if shift < 0 else "after"
    yield Fault(
        "warning",
        "delay",
        f"Actions fit the state one row {where} them better than that of their own row: on other episodes it explains "
        f"{other:.0%} of their variance, their own {own:.0%}. They are used as they are.",
        "Does the recorder write an action into the row of the state that it was chosen in? If not, shift the column.",
    )
