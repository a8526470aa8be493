"""What a model knows: novel states are told by a limit measured on unseen episodes, and new logs by its errors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.questions.test_diff import simulated
from tripletree import ParameterError, TripleTree, diff

TREE = TripleTree(60).fit(simulated(60, 1))


def test_states_of_fresh_episodes_are_hardly_ever_novel():
    fresh = simulated(60, 2).states
    assert (TREE.novelty(fresh) > 1).mean() < 0.01
    assert TREE.novelty(fresh[0]) == TREE.novelty(fresh[:1])[0]
    assert isinstance(TREE.novelty(fresh[0]), float)


def test_states_from_elsewhere_are_novel_even_within_all_ranges(tmp_path):
    log = simulated(60, 1)
    assert TREE.novelty([50.0, 0.0, 0.0]) > 10
    # Each feature is usual, the combination is not.
    corner = np.array([log.states[:, 0].max(), log.states[:, 1].min(), log.states[:, 2].max()])
    assert TREE.novelty(corner) > 1
    TREE.save(tmp_path / "run.tripletree")
    assert TripleTree.load(tmp_path / "run.tripletree").novelty(corner) == pytest.approx(TREE.novelty(corner))


def test_wrong_states_are_refused():
    with pytest.raises(ParameterError, match=r"state must have 3 features .* got shape \(2,\)"):
        TREE.novelty([1.0, 2.0])
    with pytest.raises(ParameterError, match="state must hold finite numbers only"):
        TREE.novelty([1.0, 2.0, np.inf])
    with pytest.raises(ParameterError, match="state"):
        TREE.novelty("high")
    few = TripleTree(5).fit(simulated(3, 1))
    with pytest.raises(ParameterError, match="at least 5 show what is usual"):
        few.novelty([0.0, 0.0, 0.0])


def test_a_model_is_judged_on_unseen_episodes_alone():
    fresh = simulated(30, 3)
    same = diff(fresh, simulated(30, 4), model=TREE)
    assert same.known.status == "same"
    assert "still knows the new log" in str(same)
    changed = diff(fresh, simulated(30, 5, gain=-1), model=TREE)
    assert changed.known.status == "changed"
    assert changed.code(["known"]) == 3
    seen = diff(simulated(60, 1), simulated(30, 5, gain=-1), model=TREE)
    assert seen.known.status == "cannot tell"
    assert "It has not seen 0 of the old" in str(seen)
