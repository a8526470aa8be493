"""Memory and Drift: whether the state determines the action, and whether the agent changes within the log."""

from __future__ import annotations

from dataclasses import dataclass

from tripletree.answers.answer import Answer
from tripletree.language.numbers import percent, rounded, unit
from tripletree.log.drifting import Shift
from tripletree.log.remembering import Clue, Evidence
from tripletree.log.schema import Schema
from tripletree.text import count

LARGE = 0.5
"""Where the state explains less than the rest, it is not worth a bound."""


@dataclass(frozen=True, eq=False, repr=False)
class Memory(Answer):
    """Whether what the agent does depends on what came before.

    Attributes
    ----------
    found : bool
        Whether it does, on unseen episodes and beyond chance.
    clues : tuple of Clue
        What tells most of the past, the best of each family; ``clues[0]`` is named in the sentence.
    unexplained : float
        Share of the variation of the actions that the state does not explain, on unseen episodes; NaN where untested.
    episodes, samples : int
        What was looked at.
    schema : Schema
        Names of features and actions.
    """

    found: bool
    clues: tuple[Clue, ...]
    unexplained: float
    episodes: int
    samples: int
    schema: Schema

    @classmethod
    def of(cls, evidence: Evidence | None, episodes: int, samples: int, schema: Schema) -> Memory:
        """Return the answer of what was found; None is a log that is too short."""
        if evidence is None:
            return cls(False, (), float("nan"), episodes, samples, schema)
        return cls(
            evidence.found,
            evidence.clues,
            evidence.unexplained,
            evidence.episodes,
            evidence.samples,
            schema,
        )

    def __str__(self) -> str:
        if not self.clues:
            return (
                "This log cannot tell whether the agent remembers: that takes at least 8 episodes with 200 steps in "
                "all, and actions that vary."
            )
        if self.found:
            return _remembers(self)
        told = f"No sign in {count(self.episodes, 'episode')} that what it does depends on what came before"
        if self.unexplained > LARGE:
            share = 1 - self.unexplained
            known = f"only {percent(share)}" if share >= 0.005 else "next to nothing"
            return (
                f"{told}, but the state explains {known} of the variation of its actions on unseen episodes: much may "
                "be chance, or too fine for this log, or memory after all."
            )
        return (
            f"{told}. The state alone explains {percent(1 - self.unexplained)} of the variation of its actions on "
            f"unseen episodes, so memory can be behind {percent(self.unexplained)} at most. This is no proof "
            "that it has none: many memories are too faint for a log to show."
        )


def _remembers(answer: Memory) -> str:
    clue = answer.clues[0]
    if clue.kind == "repeat":
        told = f"in {percent(clue.gain)} of the steps it does exactly what it did the step before, in another state."
    else:
        share = f"{'at least ' if clue.at_least else ''}{percent(clue.gain)}"
        told = f"{clue.text} explains {share} of the variation of its actions beyond the state (p {_chance(clue.p)})."
    return f"What it does depends on what came before: {told} {ADVICE[clue.kind]}"


ADVICE = {
    "action": "It may repeat or smooth its actions, or have a mode that the log does not show.",
    "repeat": "It may hold or repeat its actions.",
    "state": "It may act on a delayed or filtered state.",
    "mode": "It may have a mode that the log does not show.",
    "clock": "It may follow a schedule.",
    "change": "It may hold an action for a while once it has chosen it.",
    "event": "It may have switched to another behaviour then.",
    "hysteresis": "It may switch at one threshold and back at another.",
}
"""What each kind of clue may come from."""


def _chance(p: float) -> str:
    return f"< {0.001 if p < 0.001 else 0.01}" if p < 0.01 else f"= {p:.2g}"


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Answer):
    """Whether the agent changes within the log: from early to late episodes, or from group to group.

    Attributes
    ----------
    found : bool
        Whether it does.
    p : float
        How often episodes that are shuffled between the parts differ as much; NaN where untested.
    change : Shift or None
        What changes most, and where.
    episodes : int
        What was looked at.
    schema : Schema
        Names of features and actions.
    """

    found: bool
    p: float
    change: Shift | None
    episodes: int
    schema: Schema

    @classmethod
    def of(cls, change: Shift | None, episodes: int, schema: Schema) -> Drift:
        """Return the answer of what was found; None is a log that is too short."""
        if change is None:
            return cls(False, float("nan"), None, episodes, schema)
        return cls(change.found, change.p, change, change.episodes, schema)

    def __str__(self) -> str:
        change = self.change
        if change is None:
            return (
                "This log cannot tell whether the agent changes: that takes at least 8 episodes with 200 steps in all, "
                "and actions that vary."
            )
        early = change.parts == ("early", "late")
        parts = "early to late episodes" if early else "group to group"
        if not self.found:
            looked = count(self.episodes, "episode")
            return f"No sign in {looked} that the agent changes from {parts} (p = {self.p:.2g})."
        feature = self.schema.features[change.feature]
        side = f"{feature.name} {'>' if change.above else '<='} {rounded(change.threshold, 3)}{unit(feature.unit)}"
        first, second = ("in early ones", "in late episodes") if early else (f"with {name}" for name in change.parts)
        return (
            f"The agent changes from {parts} (p {_chance(self.p)}): in like states, "
            f"{_difference(self, change)} {second} than {first}; most where {side} ({_amount(self, change.there)})."
        )


def _difference(answer: Drift, change: Shift) -> str:
    action, size = answer.schema.action, change.size
    more = "more" if size > 0 else "less"
    if action.kind == "discrete":
        return f"`{action.labels[change.column]}` is {abs(size) * 100:.2g} points {more} frequent"
    how = "larger" if size > 0 else "smaller"
    return f"`{action.names[change.column]}` is {rounded(abs(size), 3)}{unit(action.units[change.column])} {how}"


def _amount(answer: Drift, size: float) -> str:
    sign = "+" if size > 0 else "-"
    if answer.schema.action.kind == "discrete":
        return f"{sign}{abs(size) * 100:.2g} points"
    return f"{sign}{rounded(abs(size), 3)}"
