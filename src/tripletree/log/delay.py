"""Does an action fit the state of its own row, or that of a row before or after? Small trees on other episodes tell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

ROWS = 8_000
"""Steps that are looked at, at most; from whole episodes."""
LEAST_ROWS, LEAST_EPISODES = 400, 6
BINS, DEPTH, LEAST_LEAF = 32, 6, 10
GAIN, REMAINS, GOOD = 0.15, 0.5, 0.6
"""What another row must explain in addition, what may remain of the unexplained, and what it must explain at least."""
MOSTLY = 0.8
"""Share of the episodes in which it must predict better."""


def delay(log: Log) -> tuple[int, float, float] | None:
    """Return a shift in rows with which actions fit much better, and what is explained without and with it; or None."""
    if not log.schema.has_action or log.n_episodes < LEAST_EPISODES:
        return None
    # Every k-th episode, so that all of a long log is represented.
    chosen = np.arange(log.n_episodes)
    total = log.n_samples
    if total > ROWS:
        chosen = chosen[:: -(-total // ROWS)] if log.n_episodes > 2 * LEAST_EPISODES * (total // ROWS) else chosen[:12]
    chosen = chosen[np.diff(log.starts)[chosen] >= 3]
    if len(chosen) < LEAST_EPISODES:
        return None
    rows = np.concatenate(
        [np.arange(log.starts[e] + 1, min(log.starts[e + 1] - 1, log.starts[e] + ROWS // 6)) for e in chosen]
    )
    if len(rows) < LEAST_ROWS:
        return None
    episode = np.searchsorted(log.starts, rows, side="right")
    targets = _targets(log, rows)
    if targets is None:
        return None
    # Neighbours go to different sides, so that both see the beginning and the end of a long recording.
    number = np.unique(episode, return_inverse=True)[1].ravel()
    side = number % 2 == 1
    error = {shift: _errors(log.states[rows + shift], targets, side) for shift in (-1, 0, 1)}
    best = min((-1, 1), key=lambda shift: float(error[shift].sum()))
    # On either side, and in most episodes: a few odd ones prove nothing.
    shares = []
    for part in (side, ~side):
        whole = float((targets[part] ** 2).sum())
        own, other = (1 - float(error[shift][part].sum()) / whole for shift in (0, best))
        if other < GOOD or other - own < GAIN or 1 - other > REMAINS * (1 - own):
            return None
        shares.append((own, other))
    better = np.bincount(number, error[0]) > np.bincount(number, error[best])
    if better.mean() < MOSTLY:
        return None
    own, other = np.mean(shares, axis=0).tolist()
    return best, max(own, 0.0), other


def _targets(log: Log, rows: I64) -> F64 | None:
    """Return the actions as columns of about the same weight; None where they do not vary."""
    actions = log.actions[rows]
    if log.schema.action.kind == "discrete":
        codes, place = np.unique(actions, return_inverse=True)
        columns = np.eye(len(codes))[place.ravel()] if len(codes) <= 64 else np.zeros((len(rows), 0))
    else:
        spread = actions.std(axis=0)
        columns = actions[:, spread > 0] / spread[spread > 0]
    return columns - columns.mean(axis=0) if columns.shape[1] and columns.std() > 0 else None


def _errors(states: F64, targets: F64, side: npt.NDArray[np.bool_]) -> F64:
    """Return the squared error of each row, predicted by a line and a small tree from the other side."""
    edges = [np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1])) for column in states.T]
    codes = np.stack(
        [np.searchsorted(edge, column, side="right") for edge, column in zip(edges, states.T, strict=True)]
    )
    # From edge to edge, so that neither outliers nor huge numbers tilt the line.
    spans = [edge[-1] / 2 - edge[0] / 2 for edge in edges]
    scaled = [
        (np.clip(column, edge[0], edge[-1]) / 2 - edge[0] / 2) / span
        for edge, span, column in zip(edges, spans, states.T, strict=True)
        if span > 0
    ]
    inputs = np.column_stack([np.ones(len(states)), *scaled])
    error = np.empty(len(targets))
    for test in (side, ~side):
        # A line first: steps of a small tree fit a smooth agent badly enough for a neighbouring row to look better.
        line = np.linalg.lstsq(inputs[~test], targets[~test], rcond=1e-6)[0]
        bent = targets - inputs @ line
        error[test] = ((bent - _predicted(codes, bent, ~test))[test] ** 2).sum(axis=1)
    return error


def _predicted(codes: I64, targets: F64, train: npt.NDArray[np.bool_]) -> F64:
    """Return the mean of the training rows in the leaf of each row; leaves are made by the splits that explain most.

    All nodes of one depth are split at once.
    """
    node = np.zeros(len(targets), np.int64)
    known, rows = targets[train].T, np.arange(len(targets))
    for _ in range(DEPTH):
        mine, size = node[train], int(node.max()) + 1
        here = np.bincount(mine, minlength=size)[:, None]
        total = np.stack([np.bincount(mine, target, size) for target in known])[:, :, None]
        best, feature, place = np.full(size, 1e-9), np.full(size, -1), np.zeros(size, np.int64)
        for f, column in enumerate(codes):
            key = mine * BINS + column[train]
            number = np.cumsum(np.bincount(key, minlength=size * BINS).reshape(size, BINS), axis=1)[:, :-1]
            sums = np.stack([np.bincount(key, target, size * BINS).reshape(size, BINS) for target in known])
            sums = np.cumsum(sums, axis=2)[:, :, :-1]
            low, high = np.maximum(number, 1), np.maximum(here - number, 1)
            gain = (sums**2).sum(axis=0) / low + ((total - sums) ** 2).sum(axis=0) / high
            fine = (number >= LEAST_LEAF) & (here - number >= LEAST_LEAF)
            gain = np.where(fine, gain - (total**2).sum(axis=0) / here, -1.0)
            at = gain.argmax(axis=1)
            better = gain[np.arange(size), at] > best
            best[better], feature[better], place[better] = gain[np.arange(size), at][better], f, at[better]
        parted = feature >= 0
        if not parted.any():
            break
        above = parted[node] & (codes[feature[node], rows] > place[node])
        node = np.cumsum(1 + parted)[node] - 1 - parted[node] + above
    count = np.bincount(node[train])
    return np.stack([np.bincount(node[train], target) / count for target in known], axis=1)[node]
