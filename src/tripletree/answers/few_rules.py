"""Few rules: what an agent does as short lists, "if ..., else if ..., else ...", one for each thing that it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripletree.answers.answer import Answer
from tripletree.answers.rules import Rule, conditions, plain_markdown
from tripletree.asking.states import read_states
from tripletree.language.numbers import FEW, all_of, capital, percent
from tripletree.log.schema import Schema
from tripletree.markup import notebook_table
from tripletree.model.table import Table
from tripletree.text import count

WEAK = 0.7
"""A rule that is right less often than this is named as an exception."""


@dataclass(frozen=True, eq=False, repr=False)
class RuleList(Answer):
    """Rules in order: the first that holds counts, and the last one is "else".

    Attributes
    ----------
    name : str
        What it is about: "action", or a dimension of it.
    rules : tuple of Rule
        The rules. Coverage is the share of samples that come to a rule and meet it; in "else" nothing is asked.
    accuracy : float or None
        How often the list is right in steps of episodes that it was not made from; None where there are none.
    tree : float or None
        How often the whole tree is, if it has not seen these episodes either.
    always : float or None
        How often it would be right to say the commonest outcome every time.
    rounding : float or None
        What short numbers cost: accuracy of the same rules with unrounded numbers, less theirs.
    agreement : float or None
        How often the words for a number fitted the log when the tree was grown.
    source : {"log", "track", "leaves", "numbers"}
        What the rules are about: a log, or what a tree says in the states that it kept of its log, or in its leaves.
        "numbers": there are no rules, because no words fit the numbers of this dimension.
    """

    name: str
    rules: tuple[Rule, ...]
    accuracy: float | None
    tree: float | None
    always: float | None
    rounding: float | None
    agreement: float | None
    source: str
    schema: Schema

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, number: int) -> Rule:
        return self.rules[number]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def apply(self, states: Any) -> Any:
        """Return the number of the rule that counts in each state; an int for one state."""
        array, single = read_states(states, self.schema)
        first = np.full(len(array), len(self.rules) - 1)
        for number in reversed(range(len(self.rules))):
            rule = self.rules[number]
            first[((rule.lower <= array) & (array < rule.upper)).all(axis=1)] = number
        return int(first[0]) if single else first

    @property
    def weakest(self) -> int | None:
        """The number of the rule that is right least often, if that is seldom."""
        judged = [(one.accuracy, number) for number, one in enumerate(self.rules) if one.tested >= FEW]
        worst = min(((share, number) for share, number in judged if share is not None), default=(1.0, 0))
        return worst[1] if worst[0] < WEAK else None

    def __str__(self) -> str:
        return "\n".join(
            [heading(self), *(f"  {line}" for line in lines(self)), *(f"  {note}" for note in notes(self))]
        )


@dataclass(frozen=True, eq=False, repr=False)
class FewRules(Answer):
    """A list of rules for each thing that an agent does, the one that the state tells most about first.

    Attributes
    ----------
    about : str
        The attribute.
    lists : tuple of RuleList
        The lists.
    together : tuple of str
        What is done together more often than by chance, in sentences.
    features : tuple of str
        Names of the features.
    """

    about: str
    lists: tuple[RuleList, ...]
    together: tuple[str, ...]
    features: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.lists)

    def __getitem__(self, number: int) -> RuleList:
        return self.lists[number]

    def __iter__(self) -> Iterator[RuleList]:
        return iter(self.lists)

    @property
    def table(self) -> Table:
        """One row a rule: what it is about, outcome, conditions, coverage, samples tested, accuracy, and the bounds."""
        rows = [(one.name, rule) for one in self.lists for rule in one.rules]
        columns: dict[str, Any] = {
            "about": np.array([name for name, _ in rows]),
            "outcome": np.array([rule.outcome for _, rule in rows]),
            "when": np.array([all_of(rule.when) or "else" for _, rule in rows]),
            "samples": np.array([rule.samples for _, rule in rows]),
            "coverage": np.array([rule.coverage for _, rule in rows]),
            "tested": np.array([rule.tested for _, rule in rows]),
            "accuracy": np.array([np.nan if rule.accuracy is None else rule.accuracy for _, rule in rows]),
        }
        for f, name in enumerate(self.features):
            columns[f"{name}_min"] = np.array([rule.lower[f] for _, rule in rows])
            columns[f"{name}_max"] = np.array([rule.upper[f] for _, rule in rows])
        return Table(columns)

    def to_markdown(self) -> str:
        """Return the rules as Markdown: a heading and a numbered list for each."""
        parts = []
        for one in self.lists:
            parts += [f"### {plain_markdown(heading(one))}", ""]
            parts += [f"{number}. {plain_markdown(line)}" for number, line in enumerate(lines(one), start=1)]
            parts += ["", *(f"{plain_markdown(note)}\n" for note in notes(one))]
        return "\n".join([*parts, *(f"{plain_markdown(text)}\n" for text in self.together)])

    def __str__(self) -> str:
        return "\n".join([*map(str, self.lists), *self.together])

    def _repr_html_(self) -> str:
        rows = [
            (one.name if place == 0 else "", said(one, place), rule.outcome, percent(rule.coverage), _right(rule))
            for one in self.lists
            for place, rule in enumerate(one.rules)
        ]
        return notebook_table(("about", "when", "outcome", "samples", "right"), rows, numbers=(3, 4))


def heading(one: RuleList) -> str:
    """Return "Main engine: right in 91 % of the steps of unseen episodes (the whole tree: 92 %, always off: 56 %)"."""
    name = capital(one.name)
    if one.source == "numbers":
        return f"{name}: {one.rules[0].outcome}, and no words for it fit what the log shows"
    if one.accuracy is None:
        about = {
            "log": "there are no unseen episodes to judge these rules by",
            "track": "what the tree says in the states that it kept of its log",
            "leaves": "what the tree says in its leaves",
        }[one.source]
        return f"{name} ({about})"
    compared = [f"the whole tree: {percent(one.tree)}"] if one.tree is not None else []
    if one.always is not None and len(one.rules) > 1:
        compared.append(f"without looking: {percent(one.always)}")
    aside = f" ({', '.join(compared)})" if compared else ""
    return f"{name}: right in {percent(one.accuracy)} of the steps of unseen episodes{aside}"


def said(one: RuleList, place: int) -> str:
    """Return the condition of one rule of a list: "if pos >= 1", "else if speed < 0", "else"."""
    if place == len(one.rules) - 1:
        return "else" if place else "always"
    return f"{'else ' if place else ''}if {conditions(one.rules[place].when)}"


def lines(one: RuleList) -> list[str]:
    """Return the rules of a list, one a line: "if v_y >= -0.14: off (46 %, 97 % right)"."""
    if one.source == "numbers":
        return []
    told = []
    for place, rule in enumerate(one.rules):
        right = f", {_right(rule)} right" if rule.accuracy is not None else ""
        told.append(f"{said(one, place)}: {rule.outcome} ({percent(rule.coverage)}{right})")
    return told


def notes(one: RuleList) -> list[str]:
    """Return what else there is to know about a list: its weakest rule, what rounding cost, doubtful words."""
    told = []
    weakest = one.weakest
    if weakest is not None and len(one.rules) > 1:
        rule = one.rules[weakest]
        which = "else" if weakest == len(one.rules) - 1 else f"rule {weakest + 1}"
        told.append(
            f"The weakest is {which}: right in {_right(rule)} of the {count(rule.tested, 'step')} that come to it."
        )
    if one.rounding is not None and one.rounding >= 0.001:
        told.append(f"With unrounded numbers these rules would be right {100 * one.rounding:.1f} points more often.")
    if one.agreement is not None and one.agreement < 0.8 and one.source != "numbers":
        told.append(
            f"These words are rough: the tree's word fitted the log in {percent(one.agreement)} of the steps of "
            "episodes left out for this."
        )
    return told


def _right(rule: Rule) -> str:
    return "" if rule.accuracy is None else percent(rule.accuracy)
