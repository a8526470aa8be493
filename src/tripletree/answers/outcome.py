"""Outcome: how many episodes succeed, how those differ from the others, and what failures share."""

from __future__ import annotations

from dataclasses import dataclass

from tripletree.answers.answer import Answer
from tripletree.answers.rules import conditions
from tripletree.language.numbers import all_of, percent, rounded
from tripletree.text import count, plural

FEWEST = 5
"""Fewer failures than this, or successes, share too little to speak of."""

ENDINGS = {"terminated": "ended by themselves", "truncated": "were cut off", "unknown": "have unknown endings"}
ONE_ENDING = {"terminated": "ended by itself", "truncated": "was cut off", "unknown": "has an unknown ending"}


@dataclass(frozen=True, eq=False, repr=False)
class Side(Answer):
    """The episodes that succeed, or those that fail.

    Attributes
    ----------
    episodes : int
        How many.
    returns, lengths : three floats, or None
        The smallest, the median and the largest; None without any.
    endings : dict of str to int
        How many ended in each way.
    """

    episodes: int
    returns: tuple[float, float, float] | None
    lengths: tuple[float, float, float] | None
    endings: dict[str, int]


@dataclass(frozen=True, eq=False, repr=False)
class Shared(Answer):
    """Conditions that most failures meet and few successes do.

    Attributes
    ----------
    where : {"start", "end"}
        Whether they are on the first or on the last state of an episode.
    when : tuple of str
        The conditions, all of which hold.
    failures, successes : int
        Episodes of each kind that meet them.
    right : float
        On episodes left out when conditions were chosen, the share told apart rightly: the mean over failures and
        successes, so that guessing gets one half.
    chance : float
        How often chance would do as well there.
    """

    where: str
    when: tuple[str, ...]
    failures: int
    successes: int
    right: float
    chance: float


@dataclass(frozen=True, eq=False, repr=False)
class Outcome(Answer):
    """How many episodes succeed, and how they differ from those that fail.

    Attributes
    ----------
    success : str
        The condition; empty where nobody said what success is.
    source : {"given", "log", "absent"}
        Who said it: the question, the log (its description, or the task that it was recorded in), or nobody.
    episodes, succeeded : int
        How many there are, and how many succeed.
    groups : int or None
        Groups of episodes that the interval counts, where they are fewer.
    interval : pair of float, or None
        95 % interval of the share that succeeds.
    successes, failures : Side
        Returns, lengths and endings of each; without a condition all episodes count among the successes.
    shared : tuple of Shared
        What failures share, beyond chance: at the start, at the end.
    has_reward : bool
        Whether the log has rewards, and so returns.
    """

    success: str
    source: str
    episodes: int
    succeeded: int
    groups: int | None
    interval: tuple[float, float] | None
    successes: Side
    failures: Side
    shared: tuple[Shared, ...]
    has_reward: bool

    @property
    def share(self) -> float | None:
        """The share that succeeds; None where nobody said what success is."""
        return self.succeeded / self.episodes if self.success else None

    def __str__(self) -> str:
        return _outcome(self)


ABSENT = (
    "Nobody said what success is, so it is not told here. Give it as a condition on episodes, such as "
    '"return > 200", "ending = terminated" or "ends (x > 1)".'
)


def _outcome(answer: Outcome) -> str:
    if not answer.success:
        return f"{ABSENT}\n{_side('The', answer.successes, answer)}"
    share = answer.succeeded / answer.episodes
    low, high = answer.interval or (0.0, 1.0)
    whose = "" if answer.source == "given" else ", as the log says"
    means = f" Success means {answer.success}{whose}."
    total = count(answer.episodes, "episode")
    counted = f", counted by {count(answer.groups, 'group')}" if answer.groups is not None else ""
    if answer.succeeded in (0, answer.episodes):
        none = answer.succeeded == 0
        who = f"None of {total} succeeds" if none else f"All {total} succeed"
        bound = f"fewer than {percent(high)}" if none else f"more than {percent(low)}"
        told = f"{who}: {bound} do (95 %{counted}).{means} So failure and success cannot be compared here."
        return f"{told}\n{_side('The', answer.failures if none else answer.successes, answer)}"
    lines = [
        f"{answer.succeeded:,} of {total} {plural(answer.succeeded, 'succeeds', 'succeed')}: {percent(share)} "
        f"(95 % interval {percent(low)} to {percent(high)}{counted}).{means}",
        _side("The successful", answer.successes, answer),
        _side("The failed", answer.failures, answer),
    ]
    lines += [_shared(one, answer) for one in answer.shared]
    if not answer.shared:
        fewer = min(answer.failures.episodes, answer.successes.episodes)
        few = f"With {fewer:,} of a kind" if fewer < FEWEST else "On episodes left out of the search"
        lines.append(f"{few}, neither the first nor the last states tell failures from successes better than chance.")
    return "\n".join(lines)


def _side(who: str, side: Side, answer: Outcome) -> str:
    if side.returns is None or side.lengths is None:
        return ""
    last = f"last {_middle(side.lengths)} {plural(side.lengths[2], 'step')}"
    paid = f"return {_middle(side.returns)} and " if answer.has_reward else ""
    known = {name: number for name, number in side.endings.items() if number}
    total = sum(known.values())
    ends = all_of(
        [
            f"{number:,} {(ENDINGS if number > 1 else ONE_ENDING)[name]}" if number < total else f"all {ENDINGS[name]}"
            for name, number in known.items()
        ]
    )
    if total == 1:
        paid = f"returns {rounded(side.returns[1])} and " if answer.has_reward else ""
        return f"{who} episode {paid}lasts {count(round(side.lengths[1]), 'step')}; it {ONE_ENDING[next(iter(known))]}."
    return f"{who} episodes {paid}{last}; {ends}."


def _middle(numbers: tuple[float, float, float]) -> str:
    low, middle, high = (rounded(number, 3) for number in numbers)
    return middle if low == high else f"{middle} (median; {low} to {high})"


def _shared(one: Shared, answer: Outcome) -> str:
    where = {"start": "begin with", "end": "end with"}[one.where]
    share = f"{one.failures:,} of {answer.failures.episodes:,} failures {where} {conditions(one.when)}"
    others = f"{one.successes:,} of {answer.successes.episodes:,} successes {plural(one.successes, 'does', 'do')}"
    return f"What failures share: {share}; {others} (right for {percent(one.right)} of the episodes left out)."
