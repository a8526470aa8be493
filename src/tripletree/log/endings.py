"""How an episode ended, as small numbers, and how that follows from the flags of its last step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

UNKNOWN = 0
TERMINATED = 1
TRUNCATED = 2
ENDING_NAMES = ("unknown", "terminated", "truncated")


def decide(
    terminated: npt.NDArray[np.bool_] | None,
    truncated: npt.NDArray[np.bool_] | None,
    done: npt.NDArray[np.bool_] | None,
    shape: int,
) -> npt.NDArray[np.uint8]:
    """Return the ending of each episode from the flags of its last step.

    An episode that a log shows to its last row without its flags being set was cut off by the end of the recording:
    truncated. ``done`` alone does not say which of the two it was. Terminated and truncated at once is terminated,
    for nothing follows.
    """
    if terminated is None and done is not None and truncated is not None:
        terminated = done & ~truncated
    endings: npt.NDArray[Any] = np.full(shape, UNKNOWN, np.uint8)
    if terminated is not None:
        endings[:] = np.where(terminated, TERMINATED, TRUNCATED)
    elif done is not None:
        endings[:] = np.where(done, UNKNOWN, TRUNCATED)
    elif truncated is not None:
        endings[truncated] = TRUNCATED
    return endings
