"""The English of feature importance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tripletree.questions.words.numbers import percent

if TYPE_CHECKING:
    from tripletree.questions.importance import Importance

MOST_FEATURES = 5


def importance(answer: Importance) -> str:
    """Return one line an attribute: its features from the most important on."""
    lines = []
    for name, share, removed in zip(answer.attributes, answer.share, answer.removed, strict=True):
        ranked = sorted(zip(answer.features, share.tolist(), strict=True), key=lambda pair: -pair[1])
        ranked = [(feature, part) for feature, part in ranked if part > 0]
        if not ranked:
            lines.append(f"{name.capitalize()}: no split tells anything about it.")
            continue
        told = [f"{feature} {percent(part)}" for feature, part in ranked[:MOST_FEATURES]]
        rest = ranked[MOST_FEATURES:]
        if rest:
            others = "1 other" if len(rest) == 1 else f"{len(rest)} others"
            told.append(f"{others} {percent(sum(part for _, part in rest))}")
        lines.append(f"{name.capitalize()}: {', '.join(told)}. The tree removes {percent(removed)} of its impurity.")
    return "\n".join(lines)
