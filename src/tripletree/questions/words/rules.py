"""The English of rules: as text, as Markdown and for notebooks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from tripletree.questions.words.facts import reasons as reasons
from tripletree.questions.words.markup import table
from tripletree.questions.words.numbers import all_of, count, percent

if TYPE_CHECKING:
    from tripletree.questions.rules import Rule, Rules


def conditions(when: Sequence[str]) -> str:
    """Return "pos >= 1 and speed < 0", or "always"."""
    return all_of(when) or "always"


def rule(one: Rule) -> str:
    """Return one rule as a sentence."""
    when = f" when {conditions(one.when)}" if one.when else " always"
    return f"{one.outcome}{when} ({_numbers([one])})."


def rules(answer: Rules) -> str:
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


def markdown(answer: Rules) -> str:
    """Return the same as Markdown."""
    lines = []
    for outcome, mine in _groups(answer):
        lines += [f"### {_plain(outcome)}", "", f"{_numbers(mine).capitalize()}.", ""]
        shown, rest = mine[: answer.most], mine[answer.most :]
        lines += [f"- {_plain(conditions(one.when))} ({_short([one])})" for one in shown]
        lines += [f"- {_rest(rest)}"] if rest else []
        lines.append("")
    return "\n".join(lines)


def html(answer: Rules) -> str:
    """Return the same as a small table a notebook can show."""
    rows = []
    for outcome, mine in _groups(answer):
        shown, rest = mine[: answer.most], mine[answer.most :]
        rows += [
            (outcome if place == 0 else "", ("or " if place else "") + conditions(one.when), *_cells([one]))
            for place, one in enumerate(shown)
        ]
        rows += [("", f"or {count(len(rest), 'more rule', 'more rules')}", *_cells(rest))] if rest else []
    return table(("outcome", "when", "samples", "right"), rows)


def _groups(answer: Rules) -> list[tuple[str, list[Rule]]]:
    return [(outcome, list(mine)) for outcome, mine in groupby(answer.rules, lambda one: one.outcome)]


def _rest(rest: Sequence[Rule]) -> str:
    return f"{count(len(rest), 'more rule', 'more rules')} ({_short(rest)})"


def _numbers(mine: Sequence[Rule]) -> str:
    share, right = _cells(mine)
    return f"{share} of the samples" + (f", {right} right" if right else "")


def _short(mine: Sequence[Rule]) -> str:
    share, right = _cells(mine)
    return f"{share}, {right} right" if right else share


def _cells(mine: Sequence[Rule]) -> tuple[str, str]:
    samples = sum(one.samples for one in mine)
    known = [one.accuracy * one.samples for one in mine if one.accuracy is not None]
    return percent(sum(one.coverage for one in mine)), percent(sum(known) / samples) if known and samples else ""


def _plain(text: str) -> str:
    """Return text that Markdown takes literally."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)
