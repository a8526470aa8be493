"""Refined: what it brought to ask an agent about the states that its tree gets itself into, round by round."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from tripletree.answers.answer import Answer, plain
from tripletree.answers.fidelity import Estimate, Fidelity, more_or_less, told_difference, told_estimate
from tripletree.language.numbers import estimate, percent
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.text import count


@dataclass(frozen=True, eq=False)
class Round:
    """One round of refining.

    Attributes
    ----------
    number : int
        0 is the tree as it was given.
    samples, leaves : int
        Steps that the tree of this round was grown on, and its leaves.
    judged : Fidelity
        How it did, on episodes of which none were used for growing in any round, nor to judge another round.
    """

    number: int
    samples: int
    leaves: int
    judged: Fidelity

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON types."""
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}

    def __str__(self) -> str:
        judged = self.judged
        agree, does = judged.on_tree, ""
        if agree.share is not None:
            does = f"; in its own states they agree in {percent(agree.share)}"
        elif agree.explained is not None:
            does = f"; in its own states it explains {percent(max(agree.explained, 0.0))} of what the agent does"
        return (
            f"Round {self.number}: {told_estimate(judged.tree)}, the agent {estimate(judged.agent.mean)}: "
            f"{told_difference(judged.difference)}{does}; grown on {count(self.samples, 'sample')}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Refined(Answer):
    """A tree that was refined by asking its agent about states that the tree got itself into (DAgger).

    Attributes
    ----------
    rounds : tuple of Round
        All rounds; the first is the tree as it was given.
    kept : int
        Which round's tree was kept.
    keep : {"last", "best"}
        How it was chosen.
    again : Fidelity or None
        With ``keep="best"``, the kept tree judged once more on fresh episodes: those that it was chosen by flatter it.
    gain : Estimate
        How much the last tree's return, measured against the agent's, lies above that of the first.
    weighted : bool
        Whether steps counted by how much the action matters there (VIPER).
    episodes : int
        Episodes that were flown for growing in each round.
    fitted : Fitted
        The kept tree.
    log : Log
        What it was grown on: the given log, and episodes that trees flew and the agent labelled.
    tree : TripleTree or None
        The kept tree to ask, where a TripleTree was refined.
    """

    rounds: tuple[Round, ...]
    kept: int
    keep: str
    again: Fidelity | None
    gain: Estimate
    weighted: bool
    episodes: int
    fitted: Fitted = field(repr=False)
    log: Log = field(repr=False)
    tree: Any = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the tree and the log as JSON types."""
        left_out = {"fitted", "log", "tree", "assumed"}
        found = {one.name: plain(getattr(self, one.name)) for one in fields(self) if one.name not in left_out}
        return {**found, "gain": plain(self.gain._asdict())}

    def __str__(self) -> str:
        return _refined(self)


def _gained(gain: Estimate) -> str:
    """Return what refining brought; returns against the agent's, because every round has starts of its own."""
    against = "Measured against the agent, episode by episode,"
    low, high = gain.interval or (gain.mean, gain.mean)
    if low > 0 or high < 0:
        return f"{against} the last tree gets {told_difference(gain)} than the first."
    if low == high:
        return f"{against} the last tree does as the first."
    change = (
        f"{estimate(abs(gain.mean))} {more_or_less(gain.mean)} ({estimate(abs(low))} less to {estimate(high)} more)"
    )
    return f"{against} the last tree and the first do not differ beyond chance: {change}."


def _refined(answer: Refined) -> str:
    last = answer.rounds[-1]
    number = len(answer.rounds) - 1
    told = (
        f"Refined in {count(number, 'round')} of {count(answer.episodes, 'episode')}: the tree flew, and the agent "
        f"said what it would have done. {_gained(answer.gain)}"
    )
    lines = [told, *map(str, answer.rounds)]
    if answer.again is not None:
        judged = answer.again
        lines.append(
            f"Kept is the tree of round {answer.kept}, the best of {len(answer.rounds)}. The best of several on "
            f"{count(last.judged.episodes, 'episode')} each is partly the luckiest, so it was flown once more: "
            f"{told_estimate(judged.tree)}, the agent {estimate(judged.agent.mean)}: "
            f"{told_difference(judged.difference)}."
        )
    else:
        lines.append(f"Kept is the tree of the last round, {answer.kept}.")
    if answer.weighted:
        lines.append(
            "Steps counted by how much the action matters there, so shares and means in its leaves are not the log's."
        )
    lines.append(
        "Its actions are the agent's. Its values are not: in the episodes that trees flew, rewards and next states are "
        "those of the trees. Ask a tree grown on the agent's own log about value, chance and futures."
    )
    return "\n".join(lines)
