"""Diff: what changed between two logs, where, how sure that is, and which cause is claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.numbers import all_of, estimate, percent, unit
from tripletree.log.schema import Schema
from tripletree.text import count

F64 = npt.NDArray[np.float64]

CHANGED, SAME, EXPLAINED, UNCLEAR = "changed", "same", "explained", "cannot tell"
CAUSES = ("policy", "world", "start")
FAILURES = (*CAUSES, "outcome", "outcome:worse", "known")
"""What can be asked to fail."""
MOST_TOLD = 3

WHAT = {"policy": "What it does", "world": "How the world answers", "start": "Where it starts"}


@dataclass(frozen=True, eq=False, repr=False)
class RegionDiff(Answer):
    """A part of the state space in which something differs, and by how much: new less old.

    The region was found on half of the episodes, and measured on the others. Intervals of all regions of an answer hold
    together, 95 times in 100.

    Attributes
    ----------
    target, unit : str
        What differs: a dimension of the action, a label (its share), or a feature (how it changes); and its unit.
    kind : {"mean", "spread"}
        Whether it is more or less there, or varies more or less.
    when : tuple of str
        The conditions; none: everywhere.
    effect, interval : float, pair of float
        By how much it differs.
    scale : float
        The standard deviation of what differs, over both logs: what the tolerance is a share of.
    beyond, surely : bool
        Whether the difference may be, and whether it surely is, beyond the tolerance.
    share, episodes : float or None, int
        Share of the steps that are there (None for first states), and episodes that pass there.
    lower, upper : float64 arrays
        The conditions as numbers; of the world, features and then actions.
    """

    target: str
    unit: str
    kind: str
    when: tuple[str, ...]
    effect: float
    interval: tuple[float, float]
    scale: float
    beyond: bool
    surely: bool
    share: float | None
    episodes: int
    lower: F64
    upper: F64

    @property
    def what(self) -> str:
        """What differs, as a name: the target, or its spread."""
        return self.target if self.kind == "mean" else f"spread of {self.target}"

    def __str__(self) -> str:
        where = f"Where {all_of(self.when)}: " if self.when else "" if self.share is None else "Everywhere: "
        low, high = self.interval
        size = f"{_signed(self.effect)}{unit(self.unit)} (95 % interval {_signed(low)} to {_signed(high)})"
        seen = "" if self.share is None else f"; {percent(self.share)} of the steps, {count(self.episodes, 'episode')}"
        small = "" if self.beyond else "; within the tolerance"
        return f"{where}{self.what} {size}{seen}{small}."


@dataclass(frozen=True, eq=False, repr=False)
class CauseDiff(Answer):
    """Whether one possible cause differs between the logs.

    Attributes
    ----------
    name : {"policy", "world", "start"}
        What the agent does in a state; how the world answers a state and an action; where episodes start.
    status : {"changed", "same", "explained", "cannot tell"}
        Whether a change is claimed. "same": none was found, which is no proof. "explained": the logs differ in it, but
        no more than the change of another cause (``reason``) can explain.
    p, adjusted : float or None
        How often shuffled episodes differ as much; and adjusted for how many things were tested, as Holm does. None
        where there was nothing to test.
    comparable : float or None
        Share of the steps in places where both logs are, so that they can be compared there.
    regions : tuple of RegionDiff
        Where it changed, the largest change first.
    visible : dict of str to float
        For each target, the smallest change everywhere that nine of ten pairs of such logs would show.
    reason : str
        Why it is not claimed, or was not tested.
    """

    name: str
    status: str
    p: float | None
    adjusted: float | None
    comparable: float | None
    regions: tuple[RegionDiff, ...]
    visible: dict[str, float]
    reason: str

    def __str__(self) -> str:
        return _cause(self)


@dataclass(frozen=True, eq=False, repr=False)
class Measure(Answer):
    """The mean of something over the episodes of each log, and a 95 % interval of new less old.

    The interval is None where a log has too few episodes (or groups of them) to say.
    """

    old: float
    new: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, eq=False, repr=False)
class OutcomeDiff(Answer):
    """What became of the episodes: a consequence, which is reported and never blamed.

    Attributes
    ----------
    status : {"changed", "same", "cannot tell"}
        Whether it differs.
    p, adjusted : float
        As in :class:`CauseDiff`.
    measures : dict of str to Measure
        ``"return"``, ``"length"``, the shares of ``"terminated"``, ``"truncated"``, and of ``"success"``.
    judged : str
        Which of them says what is better: ``"success"`` or ``"return"``; empty without either.
    worse : bool
        Whether the outcome changed, and the interval of that one is below 0.
    returns : pair of float64 arrays, or None
        The returns of both logs, from low to high.
    """

    status: str
    p: float
    adjusted: float
    measures: dict[str, Measure]
    judged: str
    worse: bool
    returns: tuple[F64, ...] | None

    def __str__(self) -> str:
        return _outcome(self)


@dataclass(frozen=True, eq=False, repr=False)
class Visited(Answer):
    """Where the logs go: a consequence, too.

    Attributes
    ----------
    old_alone, new_alone : float
        Share of the steps of each log in places that the other visits less than a tenth as often.
    overlap : float
        What the two have in common: the sum, over places, of the smaller share.
    """

    old_alone: float
    new_alone: float
    overlap: float

    def __str__(self) -> str:
        return (
            f"Visited: the logs share {percent(self.overlap)} of their ground; {percent(self.new_alone)} of the new "
            f"steps are where the old log hardly goes, and {percent(self.old_alone)} the other way round."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Known(Answer):
    """Whether a model still knows the new log: does as well there as on unseen episodes of the old one.

    Attributes
    ----------
    status : {"changed", "same", "cannot tell"}
        "changed": it does not.
    p : float or None
        How often shuffled episodes differ as much.
    errors : dict of str to (float, float)
        Its mean errors on both logs, as shares of what varies, and the share of novel states.
    episodes : (int, int)
        Episodes that the model was not grown on: only these can tell.
    """

    status: str
    p: float | None
    errors: dict[str, tuple[float, float]]
    episodes: tuple[int, int]

    def __str__(self) -> str:
        if self.p is None:
            return (
                f"The model: cannot tell. It has not seen {self.episodes[0]} of the old and {self.episodes[1]} of the "
                "new episodes, and only unseen ones can; record more, or grow it on a part of the old log."
            )
        told = [
            f"{name if name == 'novel states' else f'error of the {name}'} {percent(old)} → {percent(new)}"
            for name, (old, new) in self.errors.items()
        ]
        verdict = "no longer knows the new log" if self.status == CHANGED else "still knows the new log"
        return f"The model {verdict} (p {_p(self.p)}): {'; '.join(told)}, on episodes that it has not seen."


@dataclass(frozen=True, eq=False, repr=False)
class Diff(Answer):
    """What changed between two logs.

    ``bool(diff)`` tells whether a change of policy, world or start is claimed; ``diff.code()`` is the exit code of
    ``tripletree diff``.

    Attributes
    ----------
    names : (str, str)
        What the logs are called.
    episodes, steps, units : (int, int)
        How many each log has; units are what was shuffled: episodes, or groups of them.
    unit : str
        What units are called.
    left_out : int
        Episodes of groups that only one log has, where others are in both.
    alpha, tolerance : float
        As asked for.
    smallest : float
        The smallest adjusted p value that so many units can have, at most 1.
    causes : tuple of CauseDiff
        Policy, world and start.
    outcome : OutcomeDiff
        What became of the episodes.
    ground : Visited or None
        Where the logs go.
    known : Known or None
        Whether a model still knows the new log, where one was given.
    spans : tuple of (float, float)
        The smallest and the largest value of each feature in both logs.
    schema : Schema
        Names of features and actions.
    """

    names: tuple[str, str]
    episodes: tuple[int, int]
    steps: tuple[int, int]
    units: tuple[int, int]
    unit: str
    left_out: int
    alpha: float
    tolerance: float
    smallest: float
    causes: tuple[CauseDiff, ...]
    outcome: OutcomeDiff
    ground: Visited | None
    known: Known | None
    spans: tuple[tuple[float, float], ...]
    schema: Schema = field(repr=False)

    def __bool__(self) -> bool:
        return bool(self.changed) or self.either

    def __getitem__(self, name: str) -> CauseDiff:
        return next(cause for cause in self.causes if cause.name == name)

    @property
    def changed(self) -> tuple[str, ...]:
        """The causes whose change is claimed."""
        return tuple(cause.name for cause in self.causes if cause.status == CHANGED)

    @property
    def either(self) -> bool:
        """Whether policy or world changed, and these logs cannot tell which."""
        return self["policy"].reason == self["world"].reason == "either"

    @property
    def claimed(self) -> str:
        """What is claimed, in words."""
        return all_of([*["policy or world"] * self.either, *self.changed]) or "nothing"

    def code(self, fail_on: Sequence[str] = CAUSES) -> int:
        """Return 3 where something that was asked for changed, 4 where that cannot be told, 0 where nothing was found.

        Parameters
        ----------
        fail_on : sequence of str
            Of ``"policy"``, ``"world"``, ``"start"``, ``"outcome"``, ``"outcome:worse"`` and ``"known"``.
        """
        # Which of the two it was does not matter to who asks for both.
        states = [CHANGED] if self.either and {"policy", "world"} <= set(fail_on) else []
        for name in fail_on:
            if name in CAUSES:
                states.append(self[name].status)
            elif name == "known":
                states.append(UNCLEAR if self.known is None else self.known.status)
            elif name == "outcome:worse" and self.outcome.status == CHANGED:
                states.append(CHANGED if self.outcome.worse else UNCLEAR if _too_few(self.outcome) else SAME)
            else:
                states.append(self.outcome.status)
        return 3 if CHANGED in states else 4 if UNCLEAR in states else 0

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the schema as JSON types, with what is claimed first."""
        return {"changed": list(self.changed), "code": self.code(), **super().to_dict()}

    def __str__(self) -> str:
        return _diff(self)


def _diff(answer: Diff) -> str:
    old, new = answer.episodes
    lines = [f"{_sized(answer, 0)}. {_sized(answer, 1)}."]
    if answer.left_out:
        lines.append(
            f"{count(answer.left_out, 'episode is', 'episodes are')} left out: each group is compared with itself, and "
            "theirs are in one log alone."
        )
    if answer.smallest > answer.alpha:
        lines.append(
            f"Cannot tell: there are so few ways to divide {answer.units[0]} + {count(answer.units[1], answer.unit)} "
            f"into two logs that even the largest change could not reach p = {answer.alpha:g}. Record more."
        )
    else:
        lines += [str(cause) for cause in answer.causes]
        missed = _silence(answer)
        lines += [missed] if missed else []
    if min(old, new) > 0:
        lines.append(str(answer.outcome))
    if answer.ground is not None:
        lines.append(str(answer.ground))
    if answer.known is not None:
        lines.append(str(answer.known))
    return "\n".join(lines)


def _sized(answer: Diff, side: int) -> str:
    which = ("The old log", "The new log")[side]
    name = answer.names[side]
    called = f", {name}" if name not in ("old", "new") else ""
    return f"{which}{called}: {count(answer.episodes[side], 'episode')}, {count(answer.steps[side], 'step')}"


def _silence(answer: Diff) -> str:
    """Return what would have been seen, where nothing was."""
    silent = [cause for cause in answer.causes if cause.status == SAME and cause.visible]
    if not silent:
        return ""
    told = []
    for cause in silent:
        sizes = [f"{name} by {estimate(size, 2)}" for name, size in list(cause.visible.items())[:MOST_TOLD]]
        more = len(cause.visible) - len(sizes)
        told.append(all_of(sizes) if not more else f"{', '.join(sizes)} or {more} more")
    return (
        "No sign of a change is no proof that there is none. What nine of ten such pairs of logs would show, were it "
        f"everywhere: {'; '.join(told)}."
    )


def _cause(cause: CauseDiff) -> str:
    what = WHAT[cause.name]
    if cause.p is None:
        return f"{what}: nothing to compare ({UNTESTED[cause.reason]})."
    p = f"p {_p(cause.adjusted)}"
    if cause.status == UNCLEAR:
        if cause.reason == "few":
            return f"{what}: cannot tell from so few episodes."
        if cause.reason == "either":
            return f"{what}: the logs differ ({p}). It CHANGED, or {OTHER[cause.name]} did: which, they do not tell."
        share = percent(cause.comparable or 0.0)
        return f"{what}: cannot tell ({p}). Only {share} of the steps are where both logs are, and so comparable."
    if cause.status == SAME:
        return f"{what}: no change found ({p})."
    if cause.status == EXPLAINED:
        by = {"policy": "in what it does", "world": "of the world", "start": "in where it starts"}[cause.reason]
        return f"{what}: the logs differ ({p}), but the change {by} explains it; not claimed."
    head = f"{what} CHANGED ({p})."
    if not cause.regions:
        return f"{head} Where, and by how much, these episodes do not tell."
    more = len(cause.regions) - MOST_TOLD
    told = [str(one) for one in cause.regions[:MOST_TOLD]]
    return " ".join([head, *told, *([f"And {count(more, 'region')} more."] if more > 0 else [])])


OTHER = {"policy": "how the world answers", "world": "what the agent does"}
UNTESTED = {
    "no actions": "the logs have no actions",
    "constant actions": "the action is always the same",
    "constant states": "all episodes start alike",
    "no derivatives": "no state of the logs has a successor that differs from it",
}


def _outcome(outcome: OutcomeDiff) -> str:
    told = []
    for name in ("return", "length", "success"):
        if name in outcome.measures:
            one = outcome.measures[name]
            show = percent if name == "success" else estimate
            told.append(f"{name} {show(one.old)} → {show(one.new)}{_between(one, name)}")
    ends = [
        f"{name} {percent(one.old)} → {percent(one.new)}"
        for name, one in outcome.measures.items()
        if name not in ("return", "length", "success")
    ][:1]
    verdict = {
        CHANGED: f"CHANGED for the {'worse' if outcome.worse else 'better'}"
        if outcome.judged and _clear(outcome)
        else "CHANGED",
        SAME: "no change found",
        UNCLEAR: "cannot tell",
    }[outcome.status]
    p = "" if outcome.status == UNCLEAR else f" (p {_p(outcome.adjusted)})"
    few = ["too few to say by how much"] if _too_few(outcome) and outcome.status != UNCLEAR else []
    return f"Outcome: {verdict}{p}. {_capital('; '.join(told + ends + few))}."


def _too_few(outcome: OutcomeDiff) -> bool:
    return any(one.interval is None for one in outcome.measures.values())


def _clear(outcome: OutcomeDiff) -> bool:
    interval = outcome.measures[outcome.judged].interval
    return interval is not None and not interval[0] <= 0 <= interval[1]


def _between(one: Measure, name: str) -> str:
    if one.interval is None:
        return ""
    low, high = one.interval
    if name == "success":
        return f" ({_signed(100 * low)} to {_signed(100 * high)} points)"
    return f" ({_signed(low)} to {_signed(high)})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _signed(number: float) -> str:
    text = estimate(number, 3 if abs(number) >= 100 else 2)
    return text if text.startswith("-") or number == 0 else f"+{text}"


def _p(p: float | None) -> str:
    if p is None:
        return "= 1"
    return f"= {estimate(p, 2)}" if p >= 0.001 else "< 0.001"
