"""What changed between two logs: what the agent does, how the world answers, where it starts; and what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.diff import (
    CHANGED,
    SAME,
    UNCLEAR,
    CauseDiff,
    Diff,
    Measure,
    OutcomeDiff,
    RegionDiff,
    Visited,
)
from tripletree.checks import check_number, check_whole
from tripletree.language.conditions import clauses
from tripletree.log.derive import derivatives, has_successor
from tripletree.log.endings import ENDING_NAMES
from tripletree.log.log import Log
from tripletree.log.schema import Feature, Schema
from tripletree.log.shuffling import Shuffles, adjusted, largest, shuffles_of
from tripletree.questions.causes import verdicts
from tripletree.questions.changed import Place, places
from tripletree.questions.comparing import Problem, strength
from tripletree.questions.two_logs import Pair

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

MOST_ROWS = 200_000
"""Steps that are compared, at most: every second, or third, of longer logs."""
POWER = 1.2816
"""Standard errors beyond the critical value at which nine of ten such changes are seen."""
MOST_REGIONS = 6
LEAST_UNITS = 5
"""Episodes, or groups of them, that each log needs for an interval: of fewer, a spread is anybody's guess."""


def diff(pair: Pair, *, alpha: float = 0.01, tolerance: float = 0.1, seed: int = 0, known: Any = None) -> Diff:
    """Return what changed from the old log of a pair to the new one.

    Parameters
    ----------
    pair : Pair
        The logs, pooled.
    alpha : float
        How often any cause, or the outcome, may be called changed where nothing did.
    tolerance : float
        Differences that do not matter, as a share of how much the action or the derivative varies.
    seed : int
        Of shuffles, and of the half of the episodes that regions are found on.
    known : callable or None
        Returns what a model knows of the logs.
    """
    check_number(alpha, "alpha", above=0, below=0.5, example=0.01)
    check_number(tolerance, "tolerance", 0, example=0.1)
    check_whole(seed, "seed", 0)
    rng = np.random.default_rng(seed)
    shuffles = shuffles_of(pair.new, pair.block, rng)
    asked = {"policy": _policy(pair), "world": _world(pair), "start": _start(pair)}
    strengths = {
        name: strength(problem, shuffles) if isinstance(problem, Problem) else largest(shuffles.labels, problem)
        for name, problem in asked.items()
        if problem is not None
    }
    outcomes = _outcomes(pair)
    strengths["outcome"] = largest(shuffles.labels, _by_unit(pair, np.stack(list(outcomes.values()), axis=1)))
    p = {name: shuffles.p(found) for name, found in strengths.items()}
    holm = adjusted(p)
    least = min(shuffles.smallest * len(p), 1.0)
    few = least > alpha
    alarms = {name: not few and holm[name] <= alpha for name in p}
    claimed = {} if few else verdicts(asked, strengths, alarms, shuffles, tolerance)
    causes = []
    for name, problem in asked.items():
        if problem is None:
            causes.append(CauseDiff(name, SAME, None, None, None, (), {}, _untested(name, pair)))
            continue
        status, reason = claimed.get(name, (UNCLEAR, "few"))
        regions: tuple[RegionDiff, ...] = ()
        visible: dict[str, float] = {}
        share = None
        if isinstance(problem, Problem):
            share = float(problem.coarse.comparable.mean())
            visible = {} if few else _visible(pair, name, problem, strengths[name], shuffles, alpha)
            if status == CHANGED:
                regions = _regions(pair, name, problem, tolerance, rng)
        elif status == CHANGED:
            regions = _started(pair, tolerance)
        causes.append(CauseDiff(name, status, p[name], holm[name], share, regions, visible, reason))
    return Diff(
        names=pair.names,
        episodes=pair.episodes,
        steps=pair.steps,
        units=(int((~pair.new).sum()), int(pair.new.sum())),
        unit=pair.unit_name,
        left_out=pair.left_out,
        alpha=float(alpha),
        tolerance=float(tolerance),
        smallest=float(least),
        causes=tuple(causes),
        outcome=_outcome(pair, outcomes, p["outcome"], holm["outcome"], alarms["outcome"], few),
        ground=None if few else _ground(asked),
        known=None if known is None else known(),
        spans=tuple(zip(pair.log.states.min(axis=0).tolist(), pair.log.states.max(axis=0).tolist(), strict=True)),
        schema=pair.log.schema,
    )


def _untested(name: str, pair: Pair) -> str:
    if name == "policy":
        return "constant actions" if pair.log.schema.has_action else "no actions"
    return "constant states" if name == "start" else "no derivatives"


# ------------------------------------------------------------------------------------------------ what is compared


def _thinned(rows: I64) -> I64:
    return rows[:: -(-len(rows) // MOST_ROWS)] if len(rows) > MOST_ROWS else rows


def action_matrix(log: Log) -> F64:
    """Return actions as numbers: a 0/1 column for each label of a discrete one."""
    if log.schema.action.kind == "continuous":
        return np.asarray(log.actions, np.float64)
    return np.asarray(log.actions[:, None] == np.arange(len(log.schema.action.labels)), np.float64)


def _varying(columns: F64) -> I64:
    """Return which columns vary; of two labels one says it all."""
    reach = np.abs(columns).max(axis=0, initial=0.0)
    return np.flatnonzero(columns.std(axis=0) > 1e-9 * reach)


def _policy(pair: Pair) -> Problem | None:
    log = pair.log
    if not log.schema.has_action:
        return None
    rows = _thinned(np.arange(log.n_samples))
    actions = action_matrix(log)[rows]
    which = _varying(actions)
    if log.schema.action.kind == "discrete" and len(which) == 2:
        which = which[1:]
    if not len(which):
        return None
    return Problem(log.states[rows], actions[:, which], pair.unit[rows], pair.new, which, rows)


def _world(pair: Pair) -> Problem | None:
    log = pair.log
    rows = _thinned(np.flatnonzero(has_successor(log)))
    if not len(rows):
        return None
    now = [f for f, feature in enumerate(log.schema.features) if not feature.lag]
    change = derivatives(log)[rows][:, now]
    kept = _varying(change)
    if not len(kept):
        return None
    inputs = log.states[rows]
    if log.schema.has_action:
        actions = action_matrix(log)[rows]
        inputs = np.concatenate([inputs, actions[:, _varying(actions)]], axis=1)
    return Problem(inputs, change[:, kept], pair.unit[rows], pair.new, np.array(now)[kept], rows)


def _start(pair: Pair) -> F64 | None:
    """Return what each unit's first states are, and how far from the mean."""
    first = pair.log.states[pair.log.starts[:-1]]
    which = _varying(first)
    if not len(which):
        return None
    first = first[:, which] - first[:, which].mean(axis=0)
    return _by_unit(pair, np.concatenate([first, np.abs(first) - np.abs(first).mean(axis=0)], axis=1))


def _by_unit(pair: Pair, episodes: F64) -> F64:
    """Return the mean of each unit's episodes, less the mean of all."""
    unit, units = pair.episode_unit, len(pair.new)
    number = np.bincount(unit, minlength=units)[:, None]
    means = np.stack([np.bincount(unit, column, units) for column in episodes.T], axis=1) / number
    centred: F64 = means - means.mean(axis=0)
    return centred


# ------------------------------------------------------------------------------------------------ where, and how much


def input_schema(log: Log, world: bool) -> Schema:
    """Return what the inputs of a comparison are called: features, and for the world actions as well."""
    if not world or not log.schema.has_action:
        return log.schema
    action, names = log.schema.action, set(log.schema.feature_names)
    every = action_matrix(log)
    extra = []
    for column in _varying(every).tolist():
        if action.kind == "continuous":
            name = action.names[column]
            extra.append(Feature(f"action {name}" if name in names else name, action.units[column]))
        else:
            called = f"action {action.names[0]}" if action.names[0] in names else action.names[0]
            label = action.labels[column]
            extra.append(Feature(f"{called} is {label}", kind="binary", column=called, category=label))
    return replace(log.schema, features=(*log.schema.features, *extra))


def _target_names(pair: Pair, name: str, problem: Problem) -> list[tuple[str, str]]:
    """Return what each target is called, and its unit."""
    schema = pair.log.schema
    action = schema.action
    if name == "world":
        per = "/s" if schema.per_second else ""
        features = [schema.features[f] for f in problem.which.tolist()]
        return [(one.name, f"{one.unit}{per}" if one.unit else ("per second" if per else "")) for one in features]
    if action.kind == "continuous":
        return [(action.names[k], action.units[k]) for k in problem.which.tolist()]
    return [(f"share of {action.names[0]} = {action.labels[k]}", "") for k in problem.which.tolist()]


def _regions(
    pair: Pair, name: str, problem: Problem, tolerance: float, rng: np.random.Generator
) -> tuple[RegionDiff, ...]:
    """Return where the targets differ, and by how much all over."""
    level = problem.coarse
    kinds = [(target, kind) for kind in ("mean", "spread") for target in range(problem.targets.shape[1])]
    schema = input_schema(pair.log, name == "world")
    names = _target_names(pair, name, problem)
    return tuple(
        _region(pair, problem, place, schema, names[place.target], tolerance)
        for place in places(level, kinds, rng)[:MOST_REGIONS]
    )


def _region(
    pair: Pair, problem: Problem, place: Place, schema: Schema, named: tuple[str, str], tolerance: float
) -> RegionDiff:
    inside = place.rows
    episode = pair.episode[problem.rows[inside]]
    scale = float(problem.scale[place.target])
    return RegionDiff(
        target=named[0],
        unit=named[1],
        kind=place.kind,
        when=tuple(clauses(schema, place.lower.tolist(), place.upper.tolist())),
        effect=place.size.effect,
        interval=(place.size.low, place.size.high),
        scale=scale,
        beyond=max(abs(place.size.low), abs(place.size.high)) > tolerance * scale,
        surely=min(abs(place.size.low), abs(place.size.high)) > tolerance * scale,
        share=float(inside.mean()),
        episodes=len(np.unique(episode)),
        lower=place.lower,
        upper=place.upper,
    )


def _started(pair: Pair, tolerance: float) -> tuple[RegionDiff, ...]:
    """Return by how much first states differ, feature by feature; those whose intervals leave out 0."""
    log = pair.log
    first = log.states[log.starts[:-1]]
    which = _varying(first)
    found = []
    for f in which.tolist():
        middle = _difference(pair, first[:, f], len(which))
        scale = float(first[:, f].std())
        if middle.interval is not None and not middle.interval[0] <= 0 <= middle.interval[1]:
            low, high = middle.interval
            bare = np.full(log.n_features, np.inf)
            one = RegionDiff(
                target=log.schema.features[f].name,
                unit=log.schema.features[f].unit,
                kind="mean",
                when=(),
                effect=middle.new - middle.old,
                interval=(low, high),
                scale=scale,
                beyond=max(abs(low), abs(high)) > tolerance * scale,
                surely=min(abs(low), abs(high)) > tolerance * scale,
                share=None,
                episodes=log.n_episodes,
                lower=-bare,
                upper=bare,
            )
            found.append(one)
    return tuple(sorted(found, key=lambda one: -abs(one.effect) / one.scale)[:MOST_REGIONS])


def _visible(
    pair: Pair, name: str, problem: Problem, strengths: F64, shuffles: Shuffles, alpha: float
) -> dict[str, float]:
    """Return the smallest change of each target, everywhere, that nine of ten such logs would have shown."""
    # Holm asks more of the first than of the last: this is what a change alone must reach.
    critical = float(np.quantile(strengths[1:], 1 - alpha / 4)) if len(strengths) > 1 else np.inf
    level = problem.level(1)
    marks = np.stack([np.bincount(problem.unit, column, len(problem.new)) for column in level.rest.T], axis=1)
    spread = np.sqrt(((shuffles.labels @ marks) ** 2).mean(axis=0))
    information = float((level.label**2).sum())
    if not information > 0:
        return {}
    smallest = (critical + POWER) * spread / information * problem.scale
    return {named: float(size) for (named, _), size in zip(_target_names(pair, name, problem), smallest, strict=True)}


# ------------------------------------------------------------------------------------------------ what came of it


def _outcomes(pair: Pair) -> dict[str, F64]:
    """Return what became of each episode: its return, its length, how it ended."""
    log = pair.log
    found = {"length": np.diff(log.starts).astype(np.float64)}
    if log.schema.has_reward:
        found = {"return": np.add.reduceat(log.rewards, log.starts[:-1]), **found}
    for code, name in enumerate(ENDING_NAMES):
        ended = (log.endings == code).astype(np.float64)
        if 0 < ended.mean() < 1:
            found[name] = ended
    if pair.success is not None:
        found["success"] = pair.success.astype(np.float64)
    return found


def _difference(pair: Pair, numbers: F64, tests: int = 1) -> Measure:
    """Return the means of both logs and an interval of their difference, which counts units."""
    from scipy.special import stdtrit

    unit, units = pair.episode_unit, len(pair.new)
    sums, sizes = np.bincount(unit, numbers, units), np.bincount(unit, minlength=units)
    parts, squares, freedom = [], [], []
    for side in (~pair.new, pair.new):
        mean = float(sums[side].sum() / sizes[side].sum())
        number = int(side.sum())
        parts.append(mean)
        if number >= LEAST_UNITS:
            influence = (sums[side] - mean * sizes[side]) / sizes[side].sum()
            squares.append(float((influence**2).sum()) * number / (number - 1))
            freedom.append(number - 1)
    if len(squares) < 2:
        return Measure(parts[0], parts[1], None)
    whole = sum(squares)
    # Welch's degrees of freedom.
    worth = whole**2 / sum(one**2 / n for one, n in zip(squares, freedom, strict=True)) if whole > 0 else 1.0
    wide = float(stdtrit(max(worth, 1.0), 1 - 0.025 / tests)) * float(np.sqrt(whole))
    apart = parts[1] - parts[0]
    return Measure(parts[0], parts[1], (apart - wide, apart + wide))


def _outcome(pair: Pair, outcomes: dict[str, F64], p: float, holm: float, alarm: bool, few: bool) -> OutcomeDiff:
    measures = {name: _difference(pair, numbers) for name, numbers in outcomes.items()}
    if few:
        # An interval beside "cannot tell" would tell.
        measures = {name: replace(one, interval=None) for name, one in measures.items()}
    judged = "success" if "success" in measures else "return" if "return" in measures else ""
    status = UNCLEAR if few else CHANGED if alarm else SAME
    worse = False
    if status == CHANGED and judged:
        interval = measures[judged].interval
        worse = interval is not None and interval[1] < 0
    returns = outcomes.get("return")
    sides = (~pair.episode_new, pair.episode_new)
    values = None if returns is None else tuple(np.sort(returns[side]) for side in sides)
    return OutcomeDiff(status, p, holm, measures, judged, worse, values)


def _ground(asked: dict[str, Any]) -> Visited | None:
    """Return where each log goes: the share of its steps in places that the other hardly visits."""
    problem = asked["policy"] or asked["world"]
    if not isinstance(problem, Problem):
        return None
    leaf, size = problem.coarse.leaf, problem.coarse.size
    new = problem.label > 0
    shares = [np.bincount(leaf[side], minlength=size) / max(int(side.sum()), 1) for side in (~new, new)]
    alone = [shares[0][shares[1] < shares[0] / 10].sum(), shares[1][shares[0] < shares[1] / 10].sum()]
    return Visited(float(alone[0]), float(alone[1]), float(np.minimum(*shares).sum()))
