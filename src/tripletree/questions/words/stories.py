"""The English of stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tripletree.log.schema import Schema
from tripletree.questions.words.explanations import because
from tripletree.questions.words.facts import names
from tripletree.questions.words.levels import level_names, level_texts
from tripletree.questions.words.numbers import all_of, count, percent, rounded, unit

if TYPE_CHECKING:
    from tripletree.questions.about import About
    from tripletree.questions.story import Jump, Phase, Story

ENDINGS = {
    "terminated": "Then the episode ends.",
    "truncated": "Then the recording is cut off.",
    "unknown": "There the record ends.",
}


@dataclass(frozen=True)
class Column:
    """What a behaviour is made of: its name, and what each level is called at first and later on."""

    name: str
    first: tuple[str, ...]
    later: tuple[str, ...]


Parts = Sequence[tuple[tuple[int, ...], float]]
"""Behaviours that alternate: the level of every column, and the share of the steps."""


def columns(schema: Schema, about: About, edges: Sequence[Sequence[float]]) -> list[Column]:
    """Return the columns of an attribute; a discrete action is one column with its labels as levels."""
    if not edges:
        labels = tuple(f"{label}{unit(schema.action.units[0])}" for label in schema.action.labels)
        return [Column("action =", labels, labels)]
    named = zip(names(schema, about), edges, strict=True)
    return [Column(name, tuple(level_texts(of, ends)), tuple(level_names(of, ends))) for (name, of), ends in named]


def behaviours(parts: Sequence[Column], phases: Sequence[Parts]) -> list[str]:
    """Return what the agent does in each phase: what differs from the phase before; numbers at first mention only."""
    seen: set[tuple[int, int]] = set()
    before: list[set[int]] = [set() for _ in parts]
    told = []
    for phase in phases:
        here = [{levels[k] for levels, _ in phase} for k in range(len(parts))]
        fresh = [k for k in range(len(parts)) if here[k] != before[k]] or range(len(parts))
        texts = [_column(parts[k], k, phase, seen) for k in fresh]
        told.append(", and ".join(texts) if any(len(here[k]) > 1 for k in fresh) else all_of(texts))
        before = here
    return told


def _column(column: Column, k: int, phase: Parts, seen: set[tuple[int, int]]) -> str:
    shares: dict[int, float] = {}
    for levels, share in phase:
        shares[levels[k]] = shares.get(levels[k], 0.0) + share
    texts = {level: (column.later if (k, level) in seen else column.first)[level] for level in shares}
    seen.update((k, level) for level in shares)
    if len(shares) == 1:
        return f"{column.name} {next(iter(texts.values()))}"
    ranked = sorted(shares, key=lambda level: -shares[level])
    # Of two the first is the more frequent one; of more, the shares are told.
    shown = [texts[level] + (f" ({percent(shares[level])})" if len(ranked) > 2 else "") for level in ranked]
    return f"{column.name.removesuffix(' =')} alternating between {all_of(shown)}"


def phase(one: Phase, noun: tuple[str, str] = ("step", "steps"), way: str = "for", value: bool = True) -> str:
    """Return one phase: what, how long, why, and the value on the way."""
    text = f"{one.behaviour} {way} {count(one.end - one.begin, *noun)}"
    if reason := because(*filter(None, one.changes)):
        text += f" because {reason}"
    aside = [count(one.interruptions, "brief interruption", "brief interruptions")] if one.interruptions else []
    if value:
        begin, end = rounded3(one.value_begin), rounded3(one.value_end)
        aside.append(f"value {begin}" if begin == end else f"value {begin} to {end}")
    return f"{text} ({', '.join(aside)})" if aside else text


def jump(one: Jump) -> str:
    """Return where the value changes much, and why."""
    change = one.change
    moves = "rises" if change.became > change.was else "falls"
    ends = f"from {rounded3(change.was)} to {rounded3(change.became)}"
    return f"The value {moves} most at step {one.step}, {ends}, because {because(change)}."


def story(answer: Story) -> str:
    """Return the story, one line a phase."""
    steps = count(max(round(answer.steps), 1), "step", "steps")
    noun, way = (("leaf", "leaves"), "through") if answer.simulated else (("step", "steps"), "for")
    lasts = f"takes about {steps}" if answer.simulated else f"lasts {steps}"
    total = f" and returns {rounded(answer.total)}" if answer.total is not None else ""
    lines = [f"{answer.title} {lasts}{total}."]
    told = [phase(one, noun, way, answer.about != "value") for one in answer.phases]
    lines.append(f"First {told[0]}" + ("," if len(told) > 1 else "."))
    lines += [f"then {text}{',' if place < len(told) else '.'}" for place, text in enumerate(told[1:], start=2)]
    if answer.ending is not None:
        lines.append(ENDINGS[answer.ending])
    if not answer.simulated:
        lines += [jump(one) for one in answer.jumps]
    if answer.agreement is not None:
        lines.append(f"The log shows what the tree predicts at {percent(answer.agreement)} of the steps.")
    return "\n".join(lines)


def rounded3(number: float) -> str:
    """Return a value to three digits: more would only distract."""
    return rounded(float(f"{number:.3g}"))
