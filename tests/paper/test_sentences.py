"""The paper's four example sentences, as the road's trees say them; only the numbers differ."""

from __future__ import annotations

import re

import pytest

from tests.test_api import quietly_fitted
from tripletree.demos import road

NUMBER = r"-?\d[\d.]*"
INTERVAL = rf"(pos|speed) in \[{NUMBER}, {NUMBER}\)"
BOUND = rf"(pos|speed) (>=|<) {NUMBER}"


@pytest.fixture(scope="module")
def log():
    return road.record("either")


@pytest.fixture(scope="module")
def tree(log):
    # As in the paper: leaves predict means, and nobody is asked for a second opinion.
    return quietly_fitted(log, max_leaves=200, theta=(0.2, 0.6, 0.2), truncation="paper", leaf_model="mean")


def test_factual(tree):
    # "Action = 0.001 because pos in [1.1, 1.32] and speed in [0.021, 0.045]."
    assert re.match(rf"Action = 0\.001 because {INTERVAL} and {INTERVAL}\.", str(tree.explain([1.2, 0.03])))


def test_counterfactual(tree):
    # "Action would = -0.001 if speed >= 0.045."
    told = str(tree.explain([1.2, 0.03], {"action": "-0.001"}, opinion=False))
    assert re.match(rf"Action would = -0\.001 if {BOUND}\.", told)
    assert "second model" not in told


def test_temporal(tree, log):
    # "Action changed 0.001 -> -0.001 because pos >= 1.48."
    changes = tree.explain_changes(log.select([4, 5, 9]), opinion=False)
    assert len(changes) > 10
    told = [*map(str, changes), str(tree.explain_change([1.2, 0.03], [1.3, -0.06], opinion=False))]
    assert all(re.fullmatch(rf"Action changed {NUMBER} -> {NUMBER} because {BOUND}( and {BOUND})?\.", t) for t in told)


def test_counterfactual_of_the_value(tree):
    # "Value would <= 0.3 if pos >= 2.64 and speed >= 0.024."
    told = str(tree.explain([1.2, 0.03], "value <= 0.3", opinion=False))
    assert re.match(rf"Value would <= 0\.3 if {BOUND}( and {BOUND})?\.", told)


def test_the_story_joins_them_phase_by_phase(tree, log):
    # "... combining them into a behavioural story using the conjunction 'then'." A line for each phase says as much.
    told = "\n".join(str(tree.story(episode, log=log)) for episode in range(10))
    assert re.search(rf"\n  \d+-\d+ +.*: acc = {NUMBER}, because {BOUND}", told)
