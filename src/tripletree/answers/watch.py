"""Watch: whether outcomes have become worse so far, looked at as often as one likes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.numbers import estimate, percent
from tripletree.text import count


@dataclass(frozen=True, eq=False, repr=False)
class Watch(Answer):
    """Whether outcomes have become worse or better since the old log.

    Attributes
    ----------
    judged : {"success", "return"}
        What is watched.
    verdict : {"worse", "better", ""}
        What became of it; nothing: not shown so far.
    after : int or None
        The new episode with which that was shown.
    worse, better : float64 arrays of shape (new episodes,)
        The evidence after each: what a fair bet of 1 on it has become.
    limit : float
        The evidence that is asked for.
    alpha : float
        Chance that it is ever reached where nothing changed.
    means : (float, float)
        The mean of both logs.
    names : (str, str)
        What the logs are called.
    """

    judged: str
    verdict: str
    after: int | None
    worse: npt.NDArray[np.float64]
    better: npt.NDArray[np.float64]
    limit: float
    alpha: float
    means: tuple[float, float]
    names: tuple[str, str]

    def __bool__(self) -> bool:
        return bool(self.verdict)

    def code(self, fail_on: tuple[str, ...] = ("outcome:worse",)) -> int:
        """Return 3 where what was asked for is shown, else 0: nothing so far, go on."""
        return 3 if self.verdict == "worse" or (self.verdict and "outcome" in fail_on) else 0

    def __str__(self) -> str:
        show = percent if self.judged == "success" else estimate
        moved = f"{self.judged} {show(self.means[0])} → {show(self.means[1])} after {count(len(self.worse), 'episode')}"
        peek = "You may look after every episode."
        if self.verdict:
            return (
                f"The outcome has become {self.verdict}: shown with episode {self.after}, and by chance in fewer than "
                f"{percent(self.alpha)} of all cases. {moved.capitalize()}. {peek}"
            )
        most = max(float(self.worse[-1]), float(self.better[-1])) if len(self.worse) else 1.0
        return (
            f"Nothing shown so far: {moved}; evidence {estimate(most, 2)} of the {estimate(self.limit)} that are asked "
            f"for. {peek}"
        )
