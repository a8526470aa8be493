"""Simulate: ways from one place to another, as recorded episodes went, or guessed as in the paper where none did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tripletree.answers import trajectories
from tripletree.answers.trajectories import PAPER, Trajectories
from tripletree.checks import check_choice
from tripletree.graph.transitions import Transitions
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence
from tripletree.questions.paper_ways import check_number, paper_ways
from tripletree.questions.recorded_ways import recorded_ways

METHODS = ("recorded", PAPER)


def simulate(
    fitted: Fitted,
    found: Evidence | None,
    transitions: Callable[[], Transitions],
    start: Any,
    end: Any,
    *,
    k: int = 1,
    method: str = METHODS[0],
    pairs: bool | int = False,
    aligned: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Return ways from ``start`` to ``end``.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    found : Evidence or None
        The episodes to follow; None where none are on record.
    transitions : function without arguments
        Returns how the log moves over the leaves; called only if the paper's way is needed, which takes longer.
    start, end : state, leaf number or zone
        Where from and where to.
    k : int
        How many ways.
    method : {"recorded", "paper"}
        Follow recorded episodes, or search and align as in the paper.
    pairs : bool or int
        Instead of ``k`` ways a fan of them: so many that stand for all episodes, or all there are.
    aligned : bool
        Whether states are wanted; otherwise the sequences of leaves only.
    progress : function of (trajectories so far, all), or None
        Called now and then.
    """
    check_choice(method, "method", METHODS, METHODS[0])
    check_number(k, pairs)
    if method == PAPER:
        return paper_ways(
            fitted, transitions(), start, end, k=k, pairs=pairs, aligned=aligned, found=found, progress=progress
        )
    because = trajectories.NOT_KEPT
    if found is not None:
        answer = recorded_ways(fitted, found, start, end, k=k, pairs=pairs, aligned=aligned, progress=progress)
        if isinstance(answer, Trajectories):
            return answer
        because = answer
    guess = paper_ways(
        fitted, transitions(), start, end, k=k, pairs=pairs, aligned=aligned, found=found, progress=progress
    )
    if not guess:
        return guess
    reason = trajectories.instead(PAPER, because)
    return replace(guess, reason=reason, text=f"{reason} {guess.text}")
