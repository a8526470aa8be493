from __future__ import annotations

import numpy as np

from tripletree.answers.attribution import Attribution
from tripletree.log.schema import Action, Feature, Schema

FEATURES = (
    Feature("v_y", "m/s", "real"),
    Feature("y", "m", "real"),
    Feature("left leg in contact", "", "binary"),
    Feature("x", "m", "real"),
    Feature("phi", "", "real"),
)
CONTINUOUS = Schema(FEATURES, Action("continuous", ("main engine",), (), ("N",)))
DISCRETE = Schema(FEATURES, Action("discrete", ("action",), ("left", "right")))


def answer(parts, base=0.11, labels=None, **changed):
    parts = np.array(parts)
    single = parts.ndim == 1
    states = np.array([-0.6, 0.2, 0.0, 1.5, 0.123456])
    fields = {
        "about": "action",
        "method": "path",
        "names": ("main engine",) if labels is None else ("action",),
        "units": ("N",) if labels is None else ("",),
        "labels": labels,
        "contributions": parts,
        "base": base,
        "prediction": base + parts.sum(axis=-1),
        "states": states if single else np.tile(states, (len(parts), 1)),
        "spans": np.full(5, 2.0),
        "named": False,
        "scored": True,
        "background": 0,
        "schema": CONTINUOUS if labels is None else DISCRETE,
    }
    return Attribution(**{**fields, **changed})


def test_reasons_and_what_speaks_against_them():
    assert str(answer([0.31, 0.22, -0.05, 0.02, 0.01])) == (
        "Main engine = 0.62 N (0.11 N on average), mostly because v_y = -0.6 m/s (+0.31) and y = 0.2 m (+0.22), in "
        "spite of left leg not in contact (-0.05). The other 2 features together: +0.03."
    )


def test_all_features_are_told_where_that_takes_no_more_words():
    assert str(answer([0.31, 0.22, -0.05, 0.0, 0.01])) == (
        "Main engine = 0.6 N (0.11 N on average), because v_y = -0.6 m/s (+0.31), y = 0.2 m (+0.22) and phi = 0.12 "
        "(+0.01), in spite of left leg not in contact (-0.05)."
    )


def test_a_prediction_like_the_average():
    assert str(answer([0.31, -0.31, 0.0, 0.0, 0.0])) == (
        "Main engine = 0.11 N (0.11 N on average): v_y = -0.6 m/s (+0.31) and y = 0.2 m (-0.31)."
    )
    assert str(answer([0.0] * 5)) == (
        "Main engine = 0.11 N, as everywhere: no feature makes a difference to it in this tree."
    )


def test_what_is_left_out_may_be_most_of_it():
    told = str(answer([0.3, -0.29, -0.28, 0.26, 0.27]))
    assert told.startswith(
        "Main engine = 0.37 N (0.11 N on average), partly because v_y = -0.6 m/s (+0.3), in spite of y"
    )
    assert told.endswith("The other 2 features together: +0.53.")


def test_labels():
    assert str(answer([0.5, 0.1, 0.0, 0.0, 0.0], 0.3, "left")).startswith(
        "Action = left with a score of 0.9 (0.3 on average), because v_y = -0.6 m/s (+0.5)"
    )
    named = answer([-0.2, 0.0, 0.0, 0.0, 0.0], 0.3, "left", named=True, scored=False)
    assert str(named) == "The share of action = left is 0.1 (0.3 on average), because v_y = -0.6 m/s (-0.2)."


def test_several_states():
    parts = [[0.3, -0.1, 0.0, 0.0, 0.02], [-0.1, 0.1, 0.0, 0.0, 0.0]]
    several = answer(parts, np.array([0.1, 0.1]))
    assert str(several) == "Contributions to main engine, mean size over 2 states: v_y 0.2, y 0.1, phi 0.01 N."
    assert several.importance.tolist() == [0.2, 0.1, 0.0, 0.0, 0.01]
    none = answer(np.zeros((2, 5)), np.array([0.1, 0.1]), np.array(["left", "right"]))
    assert str(none).startswith("Contributions to the score of the predicted action, mean size over 2 states: none.")


def test_large_numbers_have_as_many_digits_as_they_deserve():
    assert str(answer([81.3, -12.2, 0.0, 0.0, 0.0], 101.234)).startswith(
        "Main engine = 170 N (101 N on average), because v_y = -0.6 m/s (+81), in spite of y = 0.2 m (-12)."
    )
