"""Hand-made transitions for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree.graph.transitions import Transitions


def transitions(
    n_leaves: int,
    edges: dict[tuple[int, int], int],
    lengths: Any = 1,
    starts: Any = None,
    lost: dict[int, int] | None = None,
) -> Transitions:
    """Put transitions together: ``edges`` are counts, ``lengths`` steps of every sequence, ``lost`` censored ones."""
    ordered = sorted(edges)
    source = np.array([edge[0] for edge in ordered], np.int32)
    count = np.array([edges[edge] for edge in ordered], np.int64)
    steps = count * np.broadcast_to(lengths, n_leaves)[source]
    censored = np.zeros(n_leaves, np.int64)
    for leaf, times in (lost or {}).items():
        censored[leaf] = times
    total = np.bincount(source, steps, n_leaves).astype(np.int64)
    first = np.zeros(n_leaves, np.int64)
    first[0] = 1
    return Transitions(
        n_leaves=n_leaves,
        source=source,
        target=np.array([edge[1] for edge in ordered], np.int32),
        count=count,
        steps=steps,
        censored=censored,
        censored_steps=censored.copy(),
        stays=np.zeros(n_leaves, np.int64),
        starts=first if starts is None else np.array(starts, np.int64),
        samples=total + censored,
    )


def random_transitions(seed: int, n_leaves: int = 12, degree: int = 3, endings: float = 0.3) -> Transitions:
    """Connect leaves at random; every leaf is left, and some lead to the end."""
    rng = np.random.default_rng(seed)
    edges = {}
    for leaf in range(n_leaves):
        others = [other for other in range(n_leaves) if other != leaf]
        for target in rng.choice(others, min(degree, len(others)), replace=False):
            edges[leaf, int(target)] = int(rng.integers(1, 20))
        if rng.random() < endings:
            edges[leaf, n_leaves] = int(rng.integers(1, 10))
    return transitions(n_leaves, edges, rng.integers(1, 6, n_leaves), rng.integers(0, 5, n_leaves) + 1)
