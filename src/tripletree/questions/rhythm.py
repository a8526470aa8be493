"""Rhythm: whether a log repeats itself, with which period, what happens in a cycle, and where it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tripletree.answers.rhythm import Break, CyclePart, Rhythm, steps_text
from tripletree.language.numbers import all_of, exact, percent, rounded, unit, within_range
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log
from tripletree.questions import cycle, periods
from tripletree.text import count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

FAR = 4.0
"""Standard deviations beyond which a column is cut off: a fall must not outweigh a thousand steps."""
MOST_COLUMNS = 32
"""Columns that periods are searched in; of more, the directions with the most variance."""
MOST_LABELS = 8
"""Labels of a discrete action that become columns, the commonest ones."""
LOOSE = 0.15
"""Spread of the cycles, as a share of the period, from which on there is no rhythm."""
BOTH_SIGNS = 0.05
"""Share of the steps that each sign of an action must have for its sign to be what is told."""
EDGE, MOVES = 0.25, 0.5
"""Share of a feature's range along the cycle that is low or high, and by which it rises or falls within a part."""
MIXED = 0.7
"""Share of a part's steps that must have its level; below, the level is not told."""
FEATURES = 2
"""Features that are told of a part."""


@dataclass(frozen=True, eq=False)
class _Column:
    """A column that parts are cut by: what it is called, its levels in words, and the level of each step."""

    name: str
    levels: tuple[str, ...]
    codes: I64


def rhythm(log: Log) -> Rhythm:
    """Return what repeats in a log: its period, the parts of a cycle, how regular it is and where it breaks.

    A period is searched in one half of the episodes and tested on the other half (of a single episode, on its second
    half), in windows of eight cycles. Half of them must repeat after one period and after two, and cycles must not
    differ by more than 15 %.

    Parameters
    ----------
    log : Log
        The recording; episodes need at least five cycles to be tested on.

    Returns
    -------
    Rhythm
        Whose ``str()`` tells the cycle, and which is false if there is none. ``phase`` has where in the cycle each
        step is.

    Examples
    --------
    >>> import numpy as np
    >>> from tripletree import Log, rhythm
    >>> step = np.arange(2400)
    >>> height, push = np.cos(2 * np.pi * step / 40), np.where(step % 40 < 10, 1.0, -1.0)
    >>> names = {"feature_names": ["height"], "action_names": ["push"]}
    >>> log = Log.from_arrays(height, push, 0 * step, episodes=step // 400, **names)
    >>> print(rhythm(log))
    Repeats every 40 steps (8 of 10 cycles take 40 steps; 100 % of 3 unseen windows repeat).
      1  10 steps  push positive; height high (0.69)
      2  30 steps  push negative; height -0.23 on average
    No episode gets out of step.
    """
    check_log(log, "log")
    columns = _columns(log)
    episodes = [columns[a:b] for a, b in zip(log.starts[:-1], log.starts[1:], strict=True)]
    longest = max(len(part) for part in episodes)
    if not columns.shape[1]:
        return _none(log, "nothing in the log ever changes")
    seen, unseen = _halves(log, episodes)
    tested = periods.candidates(seen, unseen)
    found = periods.chosen(tested)
    if found is None:
        return _none(log, _why_not(tested, longest, min(map(_longest, (seen, unseen)))))
    period = cycle.period_of(found, episodes)
    read = cycle.phases(found, episodes, period)
    lengths = cycle.lengths(read)
    if not len(lengths):
        return _none(log, f"something repeats every {rounded(period, 3)} steps, but never for a whole cycle")
    quick, slow = np.quantile(lengths, [0.1, 0.9])
    spread = float(slow - quick) / 2.563  # of a normal distribution, 80 % lie within 1.28 standard deviations
    if spread > LOOSE * period:
        reason = (
            f"cycles of about {rounded(period, 2)} steps are too different (8 of 10 take {quick:.0f} to {slow:.0f})"
        )
        return _none(log, reason)
    told = period >= cycle.SHORTEST_TOLD and cycle.noise(read) * cycle.CREDIBLE <= cycle.OFF
    phase, parts = _parts(log, read)
    return Rhythm(
        True,
        period=period,
        spread=spread,
        quick=float(quick),
        slow=float(slow),
        cycles=len(lengths) // 4,
        share=found.share,
        windows=found.windows,
        regularity=found.coherence,
        parts=parts,
        breaks=_breaks(log, read, phase) if told else (),
        told=told,
        phase=phase,
    )


def _none(log: Log, reason: str) -> Rhythm:
    return Rhythm(False, reason, phase=np.full(log.n_samples, np.nan))


def _columns(log: Log) -> F64:
    """Return features and actions without their units, in directions of their own where there are many."""
    columns = [
        part
        for feature, values in zip(log.schema.features, log.states.T, strict=True)
        for part in ((np.cos(values), np.sin(values)) if feature.kind == "angle" else (values,))
    ]
    if log.schema.has_action and log.schema.action.kind == "discrete":
        commonest = np.argsort(-np.bincount(log.actions), kind="stable")[:MOST_LABELS]
        columns += [(log.actions == code).astype(np.float64) for code in commonest]
    elif log.schema.has_action:
        columns += list(log.actions.T)
    # One by one: all of them at once would need several times the memory of the log.
    kept = []
    for column in map(np.ascontiguousarray, columns):
        spread = column.std()
        if spread > 1e-9 * max(-column.min(), column.max()):
            kept.append(np.clip((column - column.mean()) / spread, -FAR, FAR))
    scaled = np.array(kept).T.reshape(log.n_samples, -1)
    if scaled.shape[1] > MOST_COLUMNS:
        _, basis = np.linalg.eigh(scaled.T @ scaled)
        scaled = scaled @ basis[:, -MOST_COLUMNS:]
        scaled = scaled / scaled.std(axis=0)
    return np.ascontiguousarray(scaled)


def _halves(log: Log, episodes: Sequence[F64]) -> tuple[list[F64], list[F64]]:
    """Return what to search in and what to test on: every other episode or group, or halves of the only one."""
    units = log.units
    if len(set(units.tolist())) > 1:
        halves = [[part for part, of in zip(episodes, units, strict=True) if of % 2 == side] for side in (0, 1)]
        return halves[0], halves[1]
    middles = [len(part) // 2 for part in episodes]
    seen = [part[:middle] for part, middle in zip(episodes, middles, strict=True)]
    return seen, [part[middle:] for part, middle in zip(episodes, middles, strict=True)]


def _longest(parts: Sequence[F64]) -> int:
    return max((len(part) for part in parts), default=0)


def _why_not(tested: Sequence[periods.Candidate], longest: int, usable: int) -> str:
    if usable < periods.SHORTEST * periods.FEWEST:
        return (
            f"the longest episode has {count(longest, 'step')}, too few for {periods.FEWEST} cycles to search in and "
            f"{periods.FEWEST} to test on"
        )
    if not tested:
        return "nothing comes back after the same number of steps"
    best = max(tested, key=lambda one: (one.share, one.coherence))
    nearest = f"what comes nearest, a cycle of {steps_text(best.period)} steps, repeats in"
    if best.share >= periods.HALF:
        return f"{nearest} too few unseen cycles to tell ({best.cycles:.0f}; {periods.FEWEST_UNSEEN} are needed)"
    share = f"only {percent(best.share)}" if best.share else "none"
    return f"{nearest} {share} of {count(best.windows, 'unseen window')} (half must)"


def _parts(log: Log, read: cycle.Phases) -> tuple[F64, tuple[CyclePart, ...]]:
    """Return the phase of every step from the first part on, and the parts."""
    good = np.concatenate(cycle.steady(read))
    turned = np.concatenate(read.turned)
    phase = np.where(np.isnan(turned), np.nan, np.angle(turned) / (2 * np.pi) % 1.0)
    bins = int(np.clip(round(read.period), 12, cycle.BINS))
    use = np.flatnonzero(good)
    place = np.minimum((phase[use] * bins).astype(np.int64), bins - 1)
    told = _action_columns(log, use)
    counts = [_counted(column.codes[use], place, bins, len(column.levels)) for column in told]
    by_action = cycle.goes_along(counts)
    if not by_action:
        told = _feature_columns(log, use, place, bins)
        counts = [_counted(column.codes[use], place, bins, len(column.levels)) for column in told]
    begins = cycle.cut(counts)
    # The first part is the longest one's successor: what follows the long rest is where people begin to count.
    spans = [(after - begin - 1) % bins + 1 for begin, after in zip(begins, [*begins[1:], begins[0]], strict=True)]
    # Of parts that are as long, up to a bin, whatever comes first among the levels.
    after = [(k + 1) % len(begins) for k, span in enumerate(spans) if span >= max(spans) - 1]
    first = max(after, key=lambda k: [_commonest(one, begins[k], spans[k]) for one in counts])
    order = [*range(first, len(begins)), *range(first)]
    origin = begins[first]
    lost = (np.abs(turned) <= periods.WEAK) | (np.abs(np.concatenate(read.off)) > cycle.OFF)
    phase = np.where(lost, np.nan, (phase - origin / bins) % 1.0)
    place = (place - origin) % bins
    counts = [np.roll(one, -origin, axis=0) for one in counts]
    means = _curves(log.states[use], place, bins)
    edges = np.cumsum([0, *(spans[k] for k in order)]).tolist()
    commonest = [[_commonest(one, a, b - a) for a, b in pairwise(edges)] for one in counts]
    varying = [k for k, levels in enumerate(commonest) if len(set(levels)) > 1]
    weight = _explained(log.states[use], place, bins)
    parts = []
    for number, (a, b) in enumerate(pairwise(edges)):
        shares = {k: float(counts[k][a:b].sum(axis=0).max() / max(counts[k][a:b].sum(), 1)) for k in varying}
        levels = {k: told[k].levels[commonest[k][number]] for k in varying}
        does: dict[str, list[str]] = {}
        for k in varying:
            does.setdefault(levels[k] if shares[k] >= MIXED else "mixed", []).append(told[k].name)
        parts.append(
            CyclePart(
                begin=a / bins,
                end=b / bins,
                steps=(b - a) / bins * read.period,
                actions=tuple(f"{all_of(names)} {level}" for level, names in does.items()) if by_action else (),
                agreement=float(np.mean(list(shares.values()))) if by_action and shares else np.nan,
                features=_feature_words(log, means, weight, a, b),
            )
        )
    return phase, tuple(parts)


def _commonest(counts: F64, begin: int, bins: int) -> int:
    """Return the level with most steps in some bins."""
    return int(counts[np.arange(begin, begin + bins) % len(counts)].sum(axis=0).argmax())


def _counted(codes: I64, place: I64, bins: int, levels: int) -> F64:
    return np.bincount(place * levels + codes, minlength=bins * levels).reshape(bins, levels).astype(np.float64)


def _action_columns(log: Log, use: I64) -> list[_Column]:
    """Return the action by its labels, or each dimension by its sign, or by low and high where it has but one sign."""
    action = log.schema.action
    if not log.schema.has_action:
        return []
    if action.kind == "discrete":
        labels = tuple(f"= {label}{unit(action.units[0])}" for label in action.labels)
        return [_Column(action.names[0], labels, log.actions.astype(np.int64))] if np.ptp(log.actions[use]) else []
    columns = []
    for name, of, numbers in zip(action.names, action.units, log.actions.T, strict=True):
        if not np.ptp(numbers[use]) > 0:
            continue
        positive = float((numbers[use] > 0).mean())
        if BOTH_SIGNS <= positive <= 1 - BOTH_SIGNS:
            columns.append(_Column(name, ("negative", "positive"), (numbers > 0).astype(np.int64)))
        else:
            low, high = np.quantile(numbers[use], [0.1, 0.9])
            border = within_range((low + high) / 2, float(np.ptp(numbers[use])))
            texts = f"low (< {exact(border)}{unit(of)})", f"high (>= {exact(border)}{unit(of)})"
            columns.append(_Column(name, texts, (numbers >= border).astype(np.int64)))
    return columns


def _feature_columns(log: Log, use: I64, place: I64, bins: int) -> list[_Column]:
    """Return the features that go with the cycle most, by whether they are above their middle."""
    most = np.argsort(-_explained(log.states[use], place, bins), kind="stable")[:3]
    middle = np.quantile(log.states[use], [0.1, 0.9], axis=0).mean(axis=0)
    names = log.schema.feature_names
    return [_Column(names[f], ("low", "high"), (log.states[:, f] > middle[f]).astype(np.int64)) for f in most]


def _curves(states: F64, place: I64, bins: int) -> F64:
    """Return the mean of each feature at each place of the cycle; shape (bins, features)."""
    count = np.maximum(np.bincount(place, minlength=bins), 1)
    return np.array([np.bincount(place, column, bins) / count for column in states.T]).T


def _explained(states: F64, place: I64, bins: int) -> F64:
    """Return the share of each feature's variance that its place in the cycle explains."""
    means = _curves(states, place, bins)
    total = states.var(axis=0)
    left = ((states - means[place]) ** 2).mean(axis=0)
    return np.where(total > 0, 1 - left / np.maximum(total, 1e-300), 0.0)


def _feature_words(log: Log, means: F64, weight: F64, a: int, b: int) -> tuple[str, ...]:
    """Return what is most special of the features in a part: low, high, rising or falling."""
    found, rest = [], []
    for f, feature in enumerate(log.schema.features):
        curve = means[:, f]
        low, span = float(curve.min()), float(np.ptp(curve))
        if not span > 0:
            continue
        inside, after = curve[a:b], curve[b % len(curve)]
        mean, change = float(inside.mean()), float(after - inside[0])
        where, of = (mean - low) / span, unit(feature.unit)
        at = exact(within_range(mean, span)) + of
        if feature.kind == "binary":
            text, special = f"{feature.name} {'on' if mean > 0.5 else 'off'}", abs(where - 0.5) * 2
        elif where >= 1 - EDGE or where <= EDGE:
            text, special = f"{feature.name} {'high' if where > 0.5 else 'low'} ({at})", abs(where - 0.5) * 2
        elif abs(change) >= MOVES * span:
            ends = [exact(within_range(number, span)) for number in (float(inside[0]), float(after))]
            text = f"{feature.name} {'rising' if change > 0 else 'falling'} ({ends[0]} to {ends[1]}{of})"
            special = abs(change) / span
        else:
            rest.append((-weight[f], f, f"{feature.name} {at} on average"))
            continue
        found.append((-special * weight[f], f, text))
    return tuple(text for *_, text in sorted(found)[:FEATURES] or sorted(rest)[:1])


def _breaks(log: Log, read: cycle.Phases, phase: F64) -> tuple[Break, ...]:
    """Return where the rhythm breaks, each with what was least usual there."""
    found = cycle.breaks(read)
    if not found:
        return ()
    good = np.flatnonzero(np.concatenate(cycle.steady(read)))
    step = round(read.period)
    # A flag that is on too early says less than the number that tells how far things have gone.
    flags = np.array([feature.kind == "binary" for feature in log.schema.features])
    told = []
    for episode, at in found:
        row = int(log.starts[episode]) + at
        # One period ago all was well: the phase of then says what should be now.
        apart = np.abs((phase[good] - phase[row - step] + 0.5) % 1.0 - 0.5)
        near = good[apart <= max(1.5 / read.period, 0.02)]
        if not len(near):
            continue
        usual = log.states[near]
        mean, std = usual.mean(axis=0), usual.std(axis=0)
        floor = np.maximum(std, 1e-3 * np.maximum(log.states.std(axis=0), 1e-300))
        unusual = np.abs(log.states[row] - mean) / floor
        f = int(np.where(flags & ~flags.all(), -1.0, unusual).argmax())
        feature = log.schema.features[f]
        told.append(
            Break(
                episode=episode,
                name=str(log.episode_ids[episode]),
                step=at,
                length=int(log.starts[episode + 1] - log.starts[episode]),
                feature=feature.name,
                value=float(log.states[row, f]),
                mean=float(mean[f]),
                std=float(std[f]),
                unit=feature.unit,
            )
        )
    return tuple(told)
