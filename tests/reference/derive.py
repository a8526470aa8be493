"""Value and derivative of every step of a log, step by step."""

from __future__ import annotations

import numpy as np


def values(rewards: np.ndarray, starts: np.ndarray, gamma: float, tail: np.ndarray | None = None) -> np.ndarray:
    """V_t = R_t + gamma V_{t+1}; after the last step of an episode stands its tail (0 unless given)."""
    out = np.zeros(len(rewards))
    for episode in range(len(starts) - 1):
        following = 0.0 if tail is None else float(tail[episode])
        for t in reversed(range(int(starts[episode]), int(starts[episode + 1]))):
            following = float(rewards[t]) + gamma * following
            out[t] = following
    return out


def derivatives(states: np.ndarray, starts: np.ndarray, final_states: np.ndarray) -> np.ndarray:
    """D_t = S_{t+1} - S_t; a row of NaN where the successor was not recorded."""
    out = np.full(states.shape, np.nan)
    for episode in range(len(starts) - 1):
        first, end = int(starts[episode]), int(starts[episode + 1])
        for t in range(first, end):
            successor = states[t + 1] if t + 1 < end else final_states[episode]
            if not np.isnan(successor).any():
                out[t] = successor - states[t]
    return out
