"""Failures: which episodes fail, from when on, what crosses there, what they share, and who was unlike a reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.change import because
from tripletree.answers.counterfactual import Counterfactual
from tripletree.answers.failures import SURE, Briefings, EpisodeRisk, FailedEpisode, Failures, RiskJudgement
from tripletree.asking.given import episodes_given
from tripletree.checks import listing
from tripletree.errors import ParameterError
from tripletree.graph.intervals import share_bounds
from tripletree.language.conditions import changed_clause
from tripletree.language.numbers import all_of
from tripletree.log.log import TRUNCATED, UNKNOWN, Log
from tripletree.log.recording import Recording
from tripletree.model.evaluate import check_log, check_same_schema, in_labels
from tripletree.model.fitted import Fitted
from tripletree.questions.blame import blame
from tripletree.questions.counterfactuals import counterfactual
from tripletree.questions.explain_change import explain_change
from tripletree.questions.novelty import novelty
from tripletree.questions.risk import WINDOW, Risk, find_risk, smoothed, told_tree, turn
from tripletree.questions.routes import Routes, find_routes
from tripletree.text import Message, Option, count, plural

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Progress = Callable[[int, int], None]

LEAST = 10
"""Failures (or groups with some), at least, to learn a risk from; and successes."""
LEVEL, LIFT = 0.5, 9.0
"""The risk at a turning point; where failures are rare, as much as these odds over those of all episodes."""
GROUPS = 10
SHARE = 0.9
"""Share of the trees whose turning points the interval holds."""
TRIES = 4
"""Counterfactuals that are tried on the second model."""


def failures(
    log: Log,
    when: Any,
    reference: Log | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Failures | Briefings:
    """Brief on the failures of a log; arguments are those of :func:`tripletree.failures`."""
    check_log(log, "log")
    check_log(reference, "reference", none="the log's own successes")
    if reference is not None:
        check_same_schema(log.schema, reference, "reference")
        reference = in_labels(log.schema, reference)
    several = isinstance(when, list | tuple)
    if several and not when:
        raise ParameterError(Message("{} is empty. Try {}.", Option("when"), Option("when", "return < 100")))
    found = tuple(_failures(log, one, reference, seed, progress) for one in (when if several else [when]))
    return Briefings(found) if several else found[0]


def _failures(log: Log, when: Any, reference: Log | None, seed: int, progress: Progress | None) -> Failures:
    recording = Recording.of(log)
    if when is None:
        if not log.schema.success:
            raise ParameterError(
                Message(
                    "Nobody said which episodes failed, and the log does not say which succeed. Try {}.",
                    Option("when", "return < 100"),
                )
            )
        when = f"not ({log.schema.success})"
    given = episodes_given(log.schema, recording, when, "when")
    if isinstance(when, str) and "return" in given.text and not log.schema.has_reward:
        raise ParameterError(
            Message(
                "{} speaks of returns, but the log has no rewards. Try {}.",
                Option("when"),
                Option("when", "length < 100"),
            )
        )
    fails = np.asarray(given.episodes)
    size = np.bincount(log.units).astype(np.float64)
    share = float(fails.mean())
    influence = (np.bincount(log.units, fails) - share * size) / log.n_episodes
    why = _why_not(log, fails)
    risk = judged = None
    if not why:
        risk = find_risk(log, fails, seed=seed, progress=progress)
        judged = judge(log, fails, risk)
        if not judged:
            why = "So no turning points are told."
    level = _level(share)
    how, odd, cases = "none", None, [_case(log, e, "untold") for e in np.flatnonzero(fails).tolist()]
    routes = Routes((), 0, 0)
    if risk is not None and judged:
        how = "risk"
        cases = _turned(log, fails, risk, level)
        routes = find_routes(log, fails, seed)
    elif risk is None and 0 < fails.sum() < log.n_episodes:
        found = novelty(log, fails, seed)
        if found is not None:
            how, (far, limit, odd) = "novelty", found
            cases = [
                replace(case, novel=int((one > limit).argmax()) if (one > limit).any() else None)
                for case, one in zip(cases, far, strict=True)
            ]
    cases, source = _blamed(log, fails, cases, reference, seed)
    curve = None
    if how == "risk" and risk is not None:
        curve = np.concatenate([smoothed(part) for part in np.split(risk.curve, log.starts[1:-1])])

    def tell(name: Any) -> EpisodeRisk:
        e = episode_of(log, name)
        called = log.episode_ids[e].item()
        mine = next((case for case in cases if case.episode == e), None)
        if curve is None or risk is None:
            none = np.zeros(0)
            return EpisodeRisk(called, bool(fails[e]), none, none, none, level, mine)
        told = smoothed(risk.members(log, e))
        low, high = np.quantile(told, ((1 - SHARE) / 2, (1 + SHARE) / 2), axis=0)
        return EpisodeRisk(called, bool(fails[e]), curve[log.starts[e] : log.starts[e + 1]], low, high, level, mine)

    return Failures(
        when=given.text,
        episodes=log.n_episodes,
        failed=int(fails.sum()),
        groups=None if log.groups is None else len(size),
        interval=share_bounds(share, influence, size),
        how=how,
        why=why,
        level=level,
        judged=judged,
        cases=tuple(cases),
        routes=routes.routes,
        counted=routes.counted,
        counted_failed=routes.failed,
        reference=source,
        odd=odd,
        notes=tuple(_notes(log, fails)),
        risk=curve,
        starts=log.starts,
        fails=fails,
        tell=tell,
    )


def episode_of(log: Log, name: Any) -> int:
    """Return the place of an episode in the log, by what the log calls it."""
    found = np.flatnonzero(log.episode_ids.astype(np.str_) == str(name))
    if not len(found):
        known = listing([str(one) for one in log.episode_ids[:6].tolist()])
        raise ParameterError(
            f"There is no episode {name!r} in the log. Give the id of one of its {log.n_episodes:,}, such as {known}."
        )
    return int(found[0])


def _why_not(log: Log, fails: Mask) -> str:
    """Return why a risk cannot be told; nothing if it can."""
    bad, good = (len(np.unique(log.units[part])) for part in (fails, ~fails))
    what = "episode" if log.groups is None else "group"
    if not fails.any():
        return "So there is nothing to brief on; a stricter condition may find near misses."
    if fails.all():
        return "So failures cannot be told from successes; record some that succeed, or take a stricter condition."
    if good < LEAST:
        return f"With {count(good, what)} that did not fail, what leads to failure cannot be told: it takes {LEAST}."
    if bad < LEAST:
        with_one = count(bad, what) + ("" if log.groups is None else plural(bad, " with a failure", " with failures"))
        return f"{with_one} {plural(bad, 'is', 'are')} too few to learn a risk from: that takes {LEAST}."
    return ""


def _notes(log: Log, fails: Mask) -> list[str]:
    cut = int((log.endings[~fails] == TRUNCATED).sum())
    unknown = int((log.endings == UNKNOWN).sum())
    notes = []
    if cut and fails.any():
        notes.append(
            f"{count(cut, 'episode')} that did not fail {plural(cut, 'was', 'were')} cut off: what would have followed "
            "is not on record, and counts as no failure."
        )
    if unknown == log.n_episodes and fails.any():
        notes.append("The log does not say how episodes end: a recording that stops early looks like a success.")
    return notes


def _level(share: float) -> float:
    """Return the risk at turning points.

    >>> _level(0.3), round(_level(0.02), 3)
    (0.5, 0.155)
    """
    odds = LIFT * share / (1 - share) if share < 1 else np.inf
    return min(LEVEL, odds / (1 + odds)) if np.isfinite(odds) else LEVEL


def judge(log: Log, fails: Mask, risk: Risk) -> RiskJudgement:
    """Return how good the risk is on episodes that were left out."""
    lengths = np.diff(log.starts)
    unit = np.repeat(log.units, lengths)
    failed = np.repeat(fails, lengths).astype(np.float64)
    weight = np.repeat(1.0 / lengths, lengths)
    missed = np.bincount(unit, weight * (risk.curve - failed) ** 2)
    blind = np.bincount(unit, weight * (risk.base - failed) ** 2)
    ratio = missed.sum() / blind.sum()
    units = len(blind)
    change = (missed - ratio * blind) / blind.sum()
    wide = 1.96 * float(np.sqrt(units / max(units - 1, 1) * (change**2).sum()))
    edges = np.unique(np.quantile(risk.curve, np.linspace(0, 1, GROUPS + 1)[1:-1]))
    group = np.unique(np.searchsorted(edges, risk.curve, side="right"), return_inverse=True)[1].reshape(-1)
    steps = np.bincount(group)
    predicted, observed = np.bincount(group, risk.curve) / steps, np.bincount(group, failed) / steps
    bounds = []
    for g in range(len(steps)):
        mine = group == g
        size = np.bincount(unit[mine], minlength=units).astype(np.float64)
        hits = np.bincount(unit[mine], failed[mine], units)
        bounds.append(share_bounds(float(observed[g]), (hits - observed[g] * size) / steps[g], size))
    low, high = np.array(bounds).T
    error = float((np.abs(predicted - observed) * steps).sum() / steps.sum())
    skill = float(1 - ratio)
    return RiskJudgement(skill, (skill - wide, skill + wide), error, predicted, observed, low, high, steps)


def _case(log: Log, e: int, kind: str) -> FailedEpisode:
    return FailedEpisode(log.episode_ids[e].item(), e, int(log.starts[e + 1] - log.starts[e]), kind)


def _turned(log: Log, fails: Mask, risk: Risk, level: float) -> list[FailedEpisode]:
    """Return every failure with its turning point, what crossed there and what such states lack that failed less."""

    @cache
    def tree(part: int) -> Fitted:
        return told_tree(log, fails, np.flatnonzero(risk.fold != part))

    cases = []
    for e in np.flatnonzero(fails).tolist():
        rows = slice(int(log.starts[e]), int(log.starts[e + 1]))
        curve, members = smoothed(risk.curve[rows]), smoothed(risk.members(log, e))
        steps = len(curve)
        at, lost = turn(curve, level), turn(curve, SURE)
        turns = [turn(one, level) for one in members]
        low, high = np.quantile(turns, ((1 - SHARE) / 2, (1 + SHARE) / 2), method="closest_observation")
        interval = (int(min(low, at)), int(max(high, at)))
        # The running median knows nothing of less than half its window.
        late = steps - at <= min(WINDOW // 2, steps // 2)
        kind = "unforeseen" if late else "start" if at == 0 else "foreseen"
        case = replace(_case(log, e, kind), no_return=None if lost >= steps or late else lost)
        if kind != "unforeseen":
            case = replace(case, turning=at, interval=interval)
            states = log.states[rows]
            told = tree(int(risk.fold[e]))
            case = _crossed(case, told, states, level)
            case = _lowered(case, told, states[at], risk, level)
        cases.append(case)
    return cases


def _crossed(case: FailedEpisode, fitted: Fitted, states: F64, level: float) -> FailedEpisode:
    """Return the case with what crossed near its turning point, as a tree sees it that has not seen the episode."""
    at, (low, high) = case.turning or 0, case.interval or (0, 0)
    value = fitted.leaves.value_mean[fitted.tree.apply(np.ascontiguousarray(states))]
    step = np.flatnonzero((value[1:] >= level) & (value[:-1] < level)) + 1
    step = step[(step >= low - WINDOW) & (step <= high + WINDOW)]
    if case.kind != "foreseen" or not len(step):
        return case
    here = int(step[np.abs(step - at).argmin()])
    change = explain_change(fitted, states[here - 1], states[here], "value", level, opinion=False)
    if not change:
        return case
    names = tuple(fitted.schema.feature_names[f] for f in change.changed)
    return replace(case, because=because(change, short=3), crossed=names)


def _lowered(case: FailedEpisode, fitted: Fitted, state: F64, risk: Risk, level: float) -> FailedEpisode:
    """Return the case with the least change of the state at its turning point to states that failed less.

    A tree finds it, its linear leaves agree, and so does the bag of trees, which it has nothing in common with.
    """
    here = float(risk.at(case.episode, state[None])[0])
    foil = {"value": (None, level / 2)}
    # First by the features that crossed alone: a craft on the ground fails less, too, but is no answer.
    tries: list[Counterfactual] = []
    for fixed in [[name for name in fitted.schema.feature_names if name not in case.crossed]] * bool(case.crossed) + [
        []
    ]:
        first = counterfactual(fitted, state, foil, k=TRIES, fixed=fixed)
        tries += [first, *first.others] if first else []
    for one in tries:
        there = float(risk.at(case.episode, np.asarray(one.foil_state)[None])[0])
        if there < level and there < 0.75 * here:
            features = fitted.schema.features
            parts = zip(one.changed, one.relations, one.borders, strict=True)
            told = all_of([changed_clause(features[f], relation, border) for f, relation, border in parts])
            return replace(case, lower=told, risks=(here, there))
    return case


def _blamed(
    log: Log, fails: Mask, cases: list[FailedEpisode], reference: Log | None, seed: int
) -> tuple[list[FailedEpisode], str]:
    """Return the cases with who was unlike the reference before their turning points, and which reference that is."""
    if not cases or not log.schema.has_action or (reference is None and fails.all()):
        return cases, ""
    healthy = log.select(~fails) if reference is None else reference
    failed = log.select(fails)
    until = [_until(case) for case in cases]
    found = blame(failed, np.array(until), healthy, seed)
    if found is None:
        return cases, ""
    told = [
        replace(case, cause=found.cause(k), surprise=(float(found.policy[k]), float(found.world[k])))
        for k, case in enumerate(cases)
    ]
    return told, "successes" if reference is None else "given"


def _until(case: FailedEpisode) -> int:
    """Return the steps of a failure in which its cause is looked for."""
    if case.kind == "foreseen" and case.interval is not None:
        return max(min(case.interval[1], case.steps - WINDOW), 1)
    if case.kind == "untold" and case.novel:
        return case.novel
    return max(case.steps - WINDOW, 1)
