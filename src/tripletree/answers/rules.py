"""Rules: everything that the tree says about one attribute, as rules that each hold on their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.asking.states import read_states
from tripletree.language.numbers import all_of, percent
from tripletree.log.schema import Schema
from tripletree.markup import notebook_table
from tripletree.model.table import Table
from tripletree.text import count

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Rule(Answer):
    """What the tree predicts wherever some conditions hold.

    Attributes
    ----------
    outcome : str
        What it predicts, in words.
    when : tuple of str
        The conditions; none when it holds always.
    lower, upper : float64 arrays of shape (features,)
        The same as numbers: ``lower <= state < upper``.
    samples : int
        Samples that count for it. Where rules of one outcome overlap, a sample counts once: for the rule that had
        more to add when the rules were made.
    coverage : float
        Their share of all samples.
    tested : int
        Samples of episodes that the tree has not seen.
    accuracy : float or None
        The share of those that is as predicted; None where there are none.
    leaves : tuple of int
        The leaves that those samples are in.
    """

    outcome: str
    when: tuple[str, ...]
    lower: F64
    upper: F64
    samples: int
    coverage: float
    tested: int
    accuracy: float | None
    leaves: tuple[int, ...]

    def __str__(self) -> str:
        return _rule(self)


@dataclass(frozen=True, eq=False, repr=False)
class Rules(Answer):
    """All rules on one attribute: by outcome, the most frequent one first, and in each by what they add.

    Every state meets a rule, and all the rules that it meets have the same outcome: what the tree predicts there.

    Attributes
    ----------
    about : str
        The attribute.
    rules : tuple of Rule
        The rules.
    most : int
        How many of each outcome the text shows; the others are summed up.
    features : tuple of str
        Names of the features.
    judged : str
        What accuracy is from: "unseen" episodes, or "nothing".
    schema : Schema
        Names and kinds of features and actions.
    """

    about: str
    rules: tuple[Rule, ...]
    most: int
    features: tuple[str, ...]
    judged: str
    schema: Schema

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, number: int) -> Rule:
        return self.rules[number]

    def apply(self, states: Any) -> Any:
        """Return the number of the first rule that each state meets, by its conditions alone; an int for one state."""
        array, single = read_states(states, self.schema)
        first = np.full(len(array), -1)
        for number in reversed(range(len(self.rules))):
            rule = self.rules[number]
            first[((rule.lower <= array) & ((array < rule.upper) | np.isinf(rule.upper))).all(axis=1)] = number
        return int(first[0]) if single else first

    @property
    def table(self) -> Table:
        """One row a rule: outcome, conditions in words, samples, coverage, samples tested, accuracy, and the bounds."""
        columns: dict[str, Any] = {
            "outcome": np.array([rule.outcome for rule in self.rules]),
            "when": np.array([conditions(rule.when) for rule in self.rules]),
            "samples": np.array([rule.samples for rule in self.rules]),
            "coverage": np.array([rule.coverage for rule in self.rules]),
            "tested": np.array([rule.tested for rule in self.rules]),
            "accuracy": np.array([np.nan if rule.accuracy is None else rule.accuracy for rule in self.rules]),
        }
        for f, name in enumerate(self.features):
            columns[f"{name}_min"] = np.array([rule.lower[f] for rule in self.rules])
            columns[f"{name}_max"] = np.array([rule.upper[f] for rule in self.rules])
        return Table(columns)

    def to_markdown(self) -> str:
        """Return the rules as Markdown: a heading and a list for every outcome."""
        return _markdown(self)

    def __str__(self) -> str:
        return _rules(self)

    def _repr_html_(self) -> str:
        return _html(self)


def conditions(when: Sequence[str]) -> str:
    """Return "pos >= 1 and speed < 0", or "always"."""
    return all_of(when) or "always"


def _rule(one: Rule) -> str:
    """Return one rule as a sentence."""
    when = f" when {conditions(one.when)}" if one.when else " always"
    return f"{one.outcome}{when} ({_numbers([one])})."


def _rules(answer: Rules) -> str:
    """Return a paragraph for every outcome: "Action = brake (31 % of the samples) when ..., or when ..."."""
    lines = []
    for outcome, mine in _groups(answer):
        if not mine[0].when:
            lines.append(f"{outcome} always ({_numbers(mine)}).")
            continue
        lines.append(f"{outcome} ({_numbers(mine)})")
        shown, rest = mine[: answer.most], mine[answer.most :]
        for place, one in enumerate(shown):
            lines.append(f"  {'or ' if place else ''}when {conditions(one.when)} ({_short([one])})")
        if rest:
            lines.append(f"  or in {_rest(rest)}")
    return "\n".join(lines)


def _markdown(answer: Rules) -> str:
    """Return the same as Markdown."""
    lines = []
    for outcome, mine in _groups(answer):
        lines += [f"### {plain_markdown(outcome)}", "", f"{_numbers(mine).capitalize()}.", ""]
        shown, rest = mine[: answer.most], mine[answer.most :]
        lines += [f"- {plain_markdown(conditions(one.when))} ({_short([one])})" for one in shown]
        lines += [f"- {_rest(rest)}"] if rest else []
        lines.append("")
    return "\n".join(lines)


def _html(answer: Rules) -> str:
    """Return the same as a small table a notebook can show."""
    rows = []
    for outcome, mine in _groups(answer):
        shown, rest = mine[: answer.most], mine[answer.most :]
        rows += [
            (outcome if place == 0 else "", ("or " if place else "") + conditions(one.when), *_cells([one]))
            for place, one in enumerate(shown)
        ]
        rows += [("", f"or {count(len(rest), 'more rule')}", *_cells(rest))] if rest else []
    return notebook_table(("outcome", "when", "samples", "right"), rows, numbers=(2, 3))


def _groups(answer: Rules) -> list[tuple[str, list[Rule]]]:
    return [(outcome, list(mine)) for outcome, mine in groupby(answer.rules, lambda one: one.outcome)]


def _rest(rest: Sequence[Rule]) -> str:
    return f"{count(len(rest), 'more rule')} ({_short(rest)})"


def _numbers(mine: Sequence[Rule]) -> str:
    share, right = _cells(mine)
    return f"{share} of the samples" + (f", {right} right on unseen episodes" if right else "")


def _short(mine: Sequence[Rule]) -> str:
    share, right = _cells(mine)
    return f"{share}, {right} right" if right else share


def _cells(mine: Sequence[Rule]) -> tuple[str, str]:
    tested = sum(one.tested for one in mine)
    right = sum(one.accuracy * one.tested for one in mine if one.accuracy is not None)
    return percent(sum(one.coverage for one in mine)), percent(right / tested) if tested else ""


def plain_markdown(text: str) -> str:
    """Return text that Markdown takes literally."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)
