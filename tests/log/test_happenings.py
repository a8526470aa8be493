"""What may have happened before a step: of an agent with two thresholds, its mode is among the clues."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripletree import Log
from tripletree.log.happenings import NEAR, events, finer
from tripletree.log.telling import case_of

EPISODES, LENGTH = 8, 30


@given(
    seed=st.integers(0, 2**31),
    slow=st.floats(0.0, 0.98),
    thresholds=st.sampled_from([(1, 9), (2, 7), (3, 4), (5, 8), (1, 2)]),
    first=st.sampled_from([-1.0, 1.0]),
)
def test_the_mode_of_two_thresholds_is_among_the_clues_whichever_comes_first(seed, slow, thresholds, first):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(EPISODES, LENGTH))
    for step in range(1, LENGTH):
        x[:, step] = slow * x[:, step - 1] + np.sqrt(1 - slow**2) * x[:, step]
    low, high = np.quantile(x, [thresholds[0] / 10, thresholds[1] / 10])
    mode = np.empty_like(x)
    for episode in range(EPISODES):
        now = first
        for step in range(LENGTH):
            now = 1.0 if x[episode, step] >= high else -1.0 if x[episode, step] <= low else now
            mode[episode, step] = now
    starts = np.arange(EPISODES) * LENGTH
    log = Log.from_arrays(x.reshape(-1, 1), mode.reshape(-1, 1), np.zeros(x.size), starts=starts, ending="truncated")
    case = case_of(log, x.size, EPISODES)
    text = f"whether `{log.schema.feature_names[0]}` was last above {high:.3g} or below {low:.3g}"
    hints = [hint for hint in events(case) if hint.text == text]
    between = (x.ravel() > low) & (x.ravel() < high)
    assert hints
    for hint in hints:
        np.testing.assert_array_equal(hint.where, between)
        assert not (hint.columns == 0).any()
    assert any((hint.columns == mode.ravel())[between].all() for hint in hints)
    # Those nearby have every threshold within reach, and none beyond.
    near = list(finer(case, hints[:1]))
    for limit in (limit for hint in near for limit in hint.limits):
        assert min(abs((x < limit).mean() - (x < one).mean()) for one in (low, high)) < NEAR
    assert any(np.allclose(hint.limits, (low, high)) for hint in near if len(hint.limits) == 2)
