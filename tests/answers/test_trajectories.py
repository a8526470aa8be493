from __future__ import annotations

import numpy as np

from tripletree.answers.trajectories import tell, turn
from tripletree.log.schema import Action, Feature, Schema

SCHEMA = Schema((Feature("x"), Feature("y", "m")), Action("discrete", labels=("left", "right")))


def test_a_turn_says_where_the_features_go_that_move():
    before, span = np.array([0.0, 0.0]), np.array([1.0, 1.0])
    assert turn(SCHEMA, "", before, np.array([0.5, 0.25]), span) == "to x = 0.5, y = 0.25 m"
    assert turn(SCHEMA, "action = left", before, np.array([0.5, 0.0]), span) == "to x = 0.5 with action = left"
    assert turn(SCHEMA, "action = left", before, before, span) == "on, hardly moving, with action = left"


def test_turns_without_moves_or_actions_read_well():
    still = turn(SCHEMA, "", np.zeros(2), np.zeros(2), np.ones(2))
    assert tell("leaf 1", "leaf 2", 0.5, 3, None, 2, [still, still]) == (
        "From leaf 1 it most likely (p = 0.5, about 3 steps, 2 leaves) goes on, hardly moving; then on, hardly moving; "
        "and ends in leaf 2."
    )
