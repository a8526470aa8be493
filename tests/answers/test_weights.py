"""Weights: the best theta is the one whose worst loss is least, at every size."""

from __future__ import annotations

import numpy as np

from tripletree.answers.weights import Weights, theta

THETA = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.25, 0.25]])
# The worst of each: 0.9, 0.5, 0.6 with 10 leaves and 0.4, 0.45, 0.3 with 200.
RATIO = np.array(
    [
        [[0.1, 0.9, 0.2], [0.5, 0.3, 0.4], [0.3, 0.5, 0.6]],
        [[0.1, 0.4, 0.2], [0.45, 0.3, 0.1], [0.3, 0.2, 0.25]],
    ]
)


def weights(ratio=RATIO, validation=False) -> Weights:
    return Weights(THETA, np.array([10, 200])[: len(ratio)], ratio, validation)


def test_the_worst_and_the_best_of_each_size():
    found = weights()
    np.testing.assert_allclose(found.worst, [[0.9, 0.5, 0.6], [0.4, 0.45, 0.3]])
    assert found.worst_attribute.tolist() == [[1, 0, 2], [1, 0, 0]]
    assert found.best.tolist() == [1, 2]
    assert found.best_theta.tolist() == [[0.0, 1.0, 0.0], [0.5, 0.25, 0.25]]


def test_a_loss_that_says_nothing_does_not_count():
    ratio = RATIO.copy()
    ratio[..., 0] = np.nan
    found = weights(ratio)
    np.testing.assert_allclose(found.worst, [[0.9, 0.4, 0.6], [0.4, 0.3, 0.25]])
    assert found.worst_attribute.tolist() == [[1, 2, 2], [1, 1, 2]]


def test_the_sentence_is_about_the_largest_size_and_names_the_others():
    assert str(weights(validation=True)) == (
        "With 200 leaves, theta = [0.5, 0.25, 0.25] does best: the worst of its three losses on held-out episodes, "
        "that of the action, is 30 % of a one-leaf tree's. Of all 3 weights tried, the worst gives 45 %. "
        "Best with fewer: [0, 1, 0] with 10 leaves."
    )
    alone = str(weights(RATIO[:1]))
    assert alone.startswith("With 10 leaves, theta = [0, 1, 0] does best: ")
    assert "on the training log" in alone
    assert "Best with fewer" not in alone


def test_weights_have_at_most_four_decimals():
    assert theta([1 / 3, 1 / 3, 1 / 3]) == "[0.3333, 0.3333, 0.3333]"
    assert theta([0.2, 0.6, 0.2]) == "[0.2, 0.6, 0.2]"
    assert theta([0.12346, 0.87654, 0]) == "[0.1235, 0.8765, 0]"


def test_the_table_has_a_row_for_each_size_and_theta():
    table = weights().table
    assert len(table) == 6
    assert table["leaves"].tolist() == [10] * 3 + [200] * 3
    assert table["theta_value"].tolist() == [0.0, 1.0, 0.25] * 2
    assert table["ratio_derivative"].tolist() == [0.2, 0.4, 0.6, 0.2, 0.1, 0.25]
    assert table["worst_attribute"].tolist() == ["value", "action", "derivative", "value", "action", "action"]
