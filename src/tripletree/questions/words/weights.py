"""The English of weights compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tripletree.questions.words.numbers import all_of, exact, percent

if TYPE_CHECKING:
    from tripletree.questions.weights import Weights

ATTRIBUTES = ("action", "value", "derivative")


def weights(answer: Weights) -> str:
    """Return which weights are best at the largest size, how good they are, and whether other sizes agree."""
    worst, last = answer.worst[-1], int(answer.best[-1])
    on = "held-out episodes" if answer.validation else "the training log"
    name = ATTRIBUTES[answer.worst_attribute[-1, last]]
    told = (
        f"With {answer.leaves[-1]:,} leaves, theta = {theta(answer.theta[last])} does best: the worst of its three "
        f"losses on {on}, that of the {name}, is {percent(worst[last])} of a one-leaf tree's. "
        f"Of all {len(worst)} weights tried, the worst gives {percent(worst.max())}."
    )
    others = [
        f"{theta(best)} with {size:,} leaves"
        for size, best in zip(answer.leaves[:-1].tolist(), answer.best_theta[:-1], strict=True)
    ]
    return f"{told} Best with fewer: {all_of(others)}." if others else told


def theta(row: Iterable[float]) -> str:
    """Return "[0.2, 0.6, 0.2]"."""
    return f"[{', '.join(exact(round(float(weight), 4)) for weight in row)}]"
