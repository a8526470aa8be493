"""Episodes: the recorded ones that meet a condition, as a table and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.numbers import percent, rounded
from tripletree.text import count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Spread = tuple[float, float, float]


@dataclass(frozen=True, eq=False, repr=False)
class Episodes(Answer):
    """Recorded episodes, in the order of the record.

    Attributes
    ----------
    episode : int64 array of shape (episodes,)
        Their positions in the log, or among the episodes that the model keeps.
    names : tuple
        What the log calls them.
    length : int64 array
        Steps.
    total : float64 array, or None
        Sums of rewards; None in a log without rewards.
    ending : tuple of {"terminated", "truncated", "unknown"}
        How they ended.
    success : bool array, or None
        Which of them succeed; None where nobody said what success is.
    group : tuple of str, or None
        Their groups, if the log has any.
    recorded : int
        Episodes on record, with the others.
    given : str or None
        The condition.
    meaning : str
        What success means; empty where nobody said it.
    kept : bool
        Whether these are the episodes that a model keeps, rather than those of a log.
    """

    episode: I64
    names: tuple[int | str, ...]
    length: I64
    total: F64 | None
    ending: tuple[str, ...]
    success: npt.NDArray[np.bool_] | None
    group: tuple[str, ...] | None
    recorded: int
    given: str | None
    meaning: str
    kept: bool

    def __len__(self) -> int:
        return len(self.episode)

    def __str__(self) -> str:
        return _episodes(self)


def _episodes(answer: Episodes) -> str:
    """Return who they are, how they fared and how long they took."""
    n = len(answer)
    where = "that the model keeps" if answer.kept else "on record"
    if answer.given is None:
        who = f"{count(n, 'episode')} {where}"
    elif not n:
        return f"None of {count(answer.recorded, 'episode')} {where} meets the condition: {answer.given}."
    else:
        share = percent(n / answer.recorded)
        who = f"{n:,} of {count(answer.recorded, 'episode')} {where} ({share}) with {answer.given}"
    told = []
    if answer.total is not None:
        told.append(f"return {_spread(answer.total)}")
    told.append(f"{_spread(answer.length)} steps")
    text = f"{who}: {', '.join(told)} (median, and 10 to 90 %)."
    if answer.success is not None:
        good = int(answer.success.sum())
        text += f" {good:,} of them {'succeeds' if good == 1 else 'succeed'} ({percent(good / n)}): {answer.meaning}."
    return text


def _spread(numbers: npt.NDArray[np.float64] | I64) -> str:
    low, middle, high = np.quantile(numbers, (0.1, 0.5, 0.9), method="inverted_cdf").tolist()
    return f"{rounded(middle, 3)} ({rounded(low, 3)} to {rounded(high, 3)})" if low < high else rounded(middle, 3)
