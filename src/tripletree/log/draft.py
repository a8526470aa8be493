"""Draft: what a source delivers before it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tripletree.log.roles import Naming
from tripletree.log.tidy import Array

F64 = npt.NDArray[np.float64]
# Beyond this, sums of squares overflow.
LARGEST = 1e100


@dataclass
class Draft:
    """What a source delivers before it is checked: columns of n rows, already NumPy arrays (see tidy)."""

    feature_names: Sequence[str]
    states: Sequence[Array]
    action_names: Sequence[str]
    actions: Sequence[Array]
    rewards: Array
    episode: Array | None = None
    step: Array | None = None
    starts: Array | None = None
    previous_row: Array | None = None
    next_row: Array | None = None
    terminated: Array | None = None
    truncated: Array | None = None
    done: Array | None = None
    next_states: Sequence[Array] | None = None
    final_states: Array | None = None  # one row for each episode
    endings: npt.NDArray[np.uint8] | None = None  # one for each episode
    episode_ids: Array | None = None
    matrix: F64 | None = None  # the states as a matrix of this draft's own, to be used as it is
    naming: Naming = field(default_factory=Naming)
