"""A log as episodes with an outcome."""

from __future__ import annotations

import numpy as np
import pytest

from tests.logs import random_log
from tripletree.log.recording import Recording


def test_a_log_as_a_recording() -> None:
    log = random_log(2, lengths=(4, 1, 9))
    recording = Recording.of(log)
    assert (recording.n_samples, recording.n_episodes) == (14, 3)
    assert recording.states is log.states
    assert recording.final_states is log.final_states
    assert recording.ids is log.episode_ids
    expected = [log.rewards[begin:end].sum() for begin, end in ((0, 4), (4, 5), (5, 14))]
    np.testing.assert_allclose(recording.returns, expected)
    with pytest.raises(ValueError, match="read-only"):
        recording.returns[0] = 1
