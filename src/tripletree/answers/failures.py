"""Failures: how many episodes fail, from when on each was likely to, what crosses there, and what they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.answers.rules import conditions
from tripletree.language.numbers import all_of, capital, percent, rounded
from tripletree.text import count, plural

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SURE = 0.9
"""The risk from which on there is said to be no return."""
MOST_NAMED = 4
"""Features, and episodes, that a sentence names at most."""
CAUSES = {
    "policy": "the agent did what it does not do in such states of healthy episodes",
    "world": "the world answered as it does not in healthy episodes",
    "neither": "nothing stood out",
}


@dataclass(frozen=True, eq=False, repr=False)
class RiskJudgement(Answer):
    """How far to believe the risk: predicted and observed on episodes that were left out.

    Attributes
    ----------
    skill : float
        Share of the squared error that looking at the state takes away, every episode weighing the same; 0: none.
    interval : pair of float
        95 % interval of the skill; episodes (or groups) are independent, their steps are not.
    error : float
        Mean distance of predicted and observed shares over the groups below, weighted by steps.
    predicted, observed : float64 arrays of shape (groups,)
        In groups of steps with about the same risk: the risk, and the share of them whose episode failed.
    low, high : float64 arrays of shape (groups,)
        95 % intervals of the share observed.
    steps : int64 array of shape (groups,)
        Steps of each group.
    """

    skill: float
    interval: tuple[float, float]
    error: float
    predicted: F64
    observed: F64
    low: F64
    high: F64
    steps: I64

    def __bool__(self) -> bool:
        return self.interval[0] > 0

    def __str__(self) -> str:
        low, high = self.interval
        told = f"skill {self.skill:.2f} (95 % interval {low:.2f} to {high:.2f})"
        if not self:
            return f"On episodes left out, the state does not tell which will fail: {told}."
        return (
            f"On episodes left out, the risk has {told}, and group by group it is {percent(self.error)} away from the "
            "share that failed."
        )


@dataclass(frozen=True, eq=False, repr=False)
class FailedEpisode(Answer):
    """One episode that failed.

    Attributes
    ----------
    id : int or str
        What the log calls it.
    episode, steps : int
        Its place in the log, and its length.
    kind : {"foreseen", "start", "unforeseen", "untold"}
        Whether the risk passed the level and stayed there till the end, was there from the first step on, or never
        stayed; "untold" where risk cannot be told.
    turning : int or None
        The step from which on the risk stays at the level or above it.
    interval : pair of int, or None
        Where nine of ten trees put it, each grown on other episodes; the number of steps means "never".
    no_return : int or None
        The step from which on the risk stays at 90 % or above it; None where it does not.
    because : str
        What crossed there, as a tree says that has not seen the episode; empty where it sees no crossing.
    crossed : tuple of str
        The features of that.
    lower : str
        What such states have in common that failed less; empty where no model confirms any.
    risks : pair of float, or None
        The risk at the turning point, and in the state that ``lower`` speaks of, by the trees of the risk.
    novel : int or None
        The first step in a state further from all other episodes than theirs are from each other.
    cause : {"policy", "world", "neither", ""}
        Who was unlike the reference before the turning point; empty where nobody can tell.
    surprise : pair of float, or None
        How much so, agent and world: 1 is as much as 5 % of the reference episodes reach.
    """

    id: Any
    episode: int
    steps: int
    kind: str
    turning: int | None = None
    interval: tuple[int, int] | None = None
    no_return: int | None = None
    because: str = ""
    crossed: tuple[str, ...] = ()
    lower: str = ""
    risks: tuple[float, float] | None = None
    novel: int | None = None
    cause: str = ""
    surprise: tuple[float, float] | None = None

    def __str__(self) -> str:
        return _episode(self)


@dataclass(frozen=True, eq=False, repr=False)
class FailureRoute(Answer):
    """A box that many failures pass and few others do, chosen on one half of the episodes and counted on the other.

    Attributes
    ----------
    when : tuple of str
        Its conditions.
    lower, upper : float64 arrays of shape (features,)
        Its bounds.
    passing, failing : int
        Episodes that pass it, and those of them that fail.
    more : int
        Failures among them that no route before passes.
    interval : pair of float
        95 % interval of the share that fails.
    lead : float
        Steps before the end at which failures first pass it, in the median.
    """

    when: tuple[str, ...]
    lower: F64
    upper: F64
    passing: int
    failing: int
    more: int
    interval: tuple[float, float]
    lead: float


@dataclass(frozen=True, eq=False, repr=False)
class EpisodeRisk(Answer):
    """The risk along one episode, which may have failed or not.

    Attributes
    ----------
    id : int or str
        What the log calls it.
    failed : bool
        Whether it failed.
    risk, low, high : float64 arrays of shape (steps,)
        The risk, smoothed, and between what nine of ten trees say; empty where it cannot be told.
    level : float
        The level that turning points are at.
    case : FailedEpisode or None
        What is told about it, if it failed.
    """

    id: Any
    failed: bool
    risk: F64
    low: F64
    high: F64
    level: float
    case: FailedEpisode | None

    def __str__(self) -> str:
        if self.case is not None:
            return str(self.case)
        if not len(self.risk):
            return f"Episode {self.id} did not fail."
        top = int(self.risk.argmax())
        return (
            f"Episode {self.id} did not fail. Its risk was highest at step {top:,} of {len(self.risk):,}: "
            f"{percent(float(self.risk[top]))}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Failures(Answer):
    """A briefing on the episodes that failed.

    Attributes
    ----------
    when : str
        The condition that says which failed.
    episodes, failed : int
        How many there are, and how many failed.
    groups : int or None
        Groups of episodes, where the log has any.
    interval : pair of float, or None
        95 % interval of the share that fails.
    how : {"risk", "novelty", "none"}
        How failures were looked at: by the risk from held-out models; by how unusual their states are, where failures
        are few; or not at all.
    why : str
        Why not by the risk; empty if it was.
    level : float
        The risk that turning points are at: 0.5, or less where failures are rare.
    judged : RiskJudgement or None
        How far to believe the risk.
    cases : tuple of FailedEpisode
        Every failure.
    routes : tuple of FailureRoute
        What they share.
    counted, counted_failed : int
        The episodes that routes are counted on, and the failures among them.
    reference : {"", "given", "successes"}
        What causes were judged against: a log of a healthy agent, this log's own successes, or nothing.
    odd : float or None
        The share of successes that ever come into states as unusual (by novelty).
    notes : tuple of str
        What else to know.
    risk : float64 array of shape (samples,), or None
        The risk in every step of the log, smoothed; not part of ``to_dict()``, nor are the next three.
    starts : int64 array of shape (episodes + 1,)
        Where episodes begin in it.
    fails : bool array of shape (episodes,)
        Which of them failed.
    tell : callable
        Makes the answer about one episode, see :meth:`episode`.
    """

    when: str
    episodes: int
    failed: int
    groups: int | None
    interval: tuple[float, float] | None
    how: str
    why: str
    level: float
    judged: RiskJudgement | None
    cases: tuple[FailedEpisode, ...]
    routes: tuple[FailureRoute, ...]
    counted: int
    counted_failed: int
    reference: str
    odd: float | None
    notes: tuple[str, ...]
    risk: F64 | None
    starts: I64
    fails: Mask
    tell: Callable[[Any], EpisodeRisk]

    def episode(self, name: Any) -> EpisodeRisk:
        """Return the risk along one episode, by what the log calls it.

        Parameters
        ----------
        name : int or str
            The id of the episode.
        """
        return self.tell(name)

    @property
    def kinds(self) -> dict[str, int]:
        """How many failures there are of each kind."""
        found = Counter(case.kind for case in self.cases)
        return {kind: found[kind] for kind in ("foreseen", "start", "unforeseen", "untold") if found[kind]}

    @property
    def causes(self) -> dict[str, int]:
        """How many failures have each cause."""
        found = Counter(case.cause for case in self.cases if case.cause)
        return {cause: found[cause] for cause in CAUSES if found[cause]}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the curves as JSON types."""
        left_out = ("risk", "starts", "fails", "tell")
        found = {name: value for name, value in super().to_dict().items() if name not in left_out}
        return {**found, "kinds": self.kinds, "causes": self.causes}

    def __str__(self) -> str:
        return "\n".join(sentences(self))


@dataclass(frozen=True, eq=False, repr=False)
class Briefings(Answer):
    """Several definitions of failure, each briefed apart.

    Attributes
    ----------
    parts : tuple of Failures
        One for each definition, in the order given.
    """

    parts: tuple[Failures, ...]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.parts))


def sentences(answer: Failures) -> list[str]:
    """Return the briefing, a paragraph for each subject."""
    told = [_how_many(answer), answer.why]
    if answer.judged is not None:
        told.append(str(answer.judged))
    if answer.how == "risk":
        told += [_turning(answer), _crossing(answer), *_routes(answer)]
    elif answer.how == "novelty":
        told.append(_novelty(answer))
    told.append(_causes(answer))
    return [part for part in (*told, *answer.notes) if part]


def _how_many(answer: Failures) -> str:
    total = count(answer.episodes, "episode")
    means = f"Failed means {answer.when}."
    low, high = answer.interval or (0.0, 1.0)
    grouped = "" if answer.groups is None else f", counted by {count(answer.groups, 'group')}"
    if answer.failed == 0:
        return f"None of {total} failed: fewer than {percent(high)} do (95 %{grouped}). {means}"
    if answer.failed == answer.episodes:
        return f"All {total} failed. {means}"
    share = percent(answer.failed / answer.episodes)
    within = f"95 % interval {percent(low)} to {percent(high)}{grouped}"
    return f"{answer.failed:,} of {total} failed: {share} ({within}). {means}"


def _turning(answer: Failures) -> str:
    found = [case for case in answer.cases if case.kind == "foreseen"]
    kinds, parts = answer.kinds, []
    if found:
        leads = [case.steps - (case.turning or 0) for case in found]
        ahead = f"{rounded(float(np.median(leads)), 3)} steps before the end"
        middle = f"in the median {ahead}" if len(found) > 1 else ahead
        parts.append(f"{len(found):,} {plural(len(found), 'was', 'were')} foreseen, {middle}")
    if number := kinds.get("start"):
        parts.append(f"{number:,} {plural(number, 'was', 'were')} risky from the first step")
    if number := kinds.get("unforeseen"):
        parts.append(f"{number:,} {plural(number, 'was', 'were')} never foreseen")
    lost = [case for case in answer.cases if case.no_return is not None]
    back = "" if lost else f" The risk never reaches {percent(SURE)} for good, so there is no point of no return."
    if lost:
        left = float(np.median([case.steps - (case.no_return or 0) for case in lost]))
        back = (
            f" In {len(lost):,} of them the risk reaches {percent(SURE)} and stays: no return, "
            f"{rounded(left, 3)} steps before the end in the median."
        )
    told = "; ".join(parts)
    return f"Turning points, where the risk passes {percent(answer.level)} for good: {told}.{back}"


def _crossing(answer: Failures) -> str:
    crossed = Counter(name for case in answer.cases for name in case.crossed)
    told = sum(1 for case in answer.cases if case.crossed)
    if not told:
        return ""
    named = [f"{name} ({number:,})" for name, number in crossed.most_common(MOST_NAMED)]
    rest = len(crossed) - MOST_NAMED
    named += [count(rest, "other")] if rest > 0 else []
    return f"What crosses there, in {told:,} of them: {all_of(named)}."


def _routes(answer: Failures) -> list[str]:
    if not answer.routes:
        return ["No few boxes are passed by many failures and by few other episodes."]
    lines = []
    for number, route in enumerate(answer.routes, 1):
        share, (low, high) = route.failing / max(route.passing, 1), route.interval
        new = "" if number == 1 else f" ({route.more:,} that no route before has)"
        passed = f"{route.failing:,} of {answer.counted_failed:,} failures pass{new}"
        of_these = f"of {count(route.passing, 'episode')} that do, {percent(share)} fail"
        when = f"first {rounded(route.lead, 3)} steps before the end in the median"
        lines.append(
            f"Route {number}: {conditions(route.when)}: {passed}, {when}; {of_these} "
            f"(95 % interval {percent(low)} to {percent(high)})."
        )
    covered = sum(route.more for route in answer.routes)
    lines.append(
        f"Together {covered:,} of {answer.counted_failed:,} failures pass a route. Routes were chosen on one half of "
        f"the episodes and counted on the other {answer.counted:,}."
    )
    return lines


def _novelty(answer: Failures) -> str:
    found = [case for case in answer.cases if case.novel is not None]
    if not found:
        return "None of them comes into states that are unusual among the other episodes."
    leads = [case.steps - (case.novel or 0) for case in found]
    who = f"{len(found):,} of {count(answer.failed, 'failure')}" if answer.failed > 1 else "It"
    does = plural(len(found), "comes", "come")
    when = f"{rounded(float(np.median(leads)), 3)} steps before the end" + (" in the median" if len(found) > 1 else "")
    others = "" if answer.odd is None else f" {percent(answer.odd)} of the other episodes ever do."
    return (
        f"{who} {does} into states further from all other episodes than 99.9 % of their states are from each other, "
        f"first {when}.{others}"
    )


def _causes(answer: Failures) -> str:
    causes = answer.causes
    if not causes:
        return ""
    against = "the reference" if answer.reference == "given" else "this log's own successes"
    parts = [f"in {count(number, 'failure')} {CAUSES[cause]}" for cause, number in causes.items()]
    weak = "" if answer.reference == "given" else " That is weaker than a reference log of a healthy agent."
    return f"Cause, beside {against}, before the turning point: {all_of(parts)}.{weak}"


def _episode(case: FailedEpisode) -> str:
    who = f"Episode {case.id} failed after {count(case.steps, 'step')}."
    told = [who]
    if case.kind == "foreseen" and case.turning is not None:
        low, high = case.interval or (case.turning, case.turning)
        told.append(
            f"It turned at step {case.turning:,}, {count(case.steps - case.turning, 'step')} before the end "
            f"(90 % interval: step {_step(low, case)} to {_step(high, case)})."
        )
    elif case.kind == "start":
        told.append("It was risky from its first step on: the risk was never below the level.")
    elif case.kind == "unforeseen":
        told.append("It was never foreseen: the risk did not pass the level for good.")
    if case.kind in ("foreseen", "start"):
        if case.no_return is None:
            told.append(f"The risk never stayed at {percent(SURE)}: there was no point of no return.")
        else:
            told.append(f"From step {case.no_return:,} on the risk stayed at {percent(SURE)} or more: no return.")
    if case.because:
        told.append(f"What crossed there: {case.because}.")
    if case.lower and case.risks is not None:
        here, there = case.risks
        told.append(
            f"Such states failed less with {case.lower}: {percent(there)} instead of {percent(here)}. That says what "
            "such states were like, not that this would have saved it."
        )
    if case.novel is not None:
        told.append(f"At step {case.novel:,} it came into states that no other episode is near.")
    if case.cause:
        told.append(f"{capital(_cause(case))}.")
    return " ".join(told)


def _cause(case: FailedEpisode) -> str:
    agent, world = case.surprise or (0.0, 0.0)
    told = f"before that, {CAUSES[case.cause]}"
    return f"{told} (agent {agent:.1f}, world {world:.1f}; 1 is what one in twenty reference episodes reaches)"


def _step(number: int, case: FailedEpisode) -> str:
    return "never" if number >= case.steps else f"{number:,}"


def ids(cases: Sequence[FailedEpisode], most: int = MOST_NAMED) -> str:
    """Return the names of some episodes, and how many others there are."""
    named = [str(case.id) for case in cases[:most]]
    return all_of([*named, *([f"{len(cases) - most:,} more"] if len(cases) > most else [])])
