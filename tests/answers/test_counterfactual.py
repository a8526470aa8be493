from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.questions.trees import random_fitted
from tripletree.answers.change import because
from tripletree.asking.foils import read_foil
from tripletree.language.conditions import changed_clause
from tripletree.log.schema import Action, Feature, Schema
from tripletree.questions.counterfactuals import counterfactual


@pytest.mark.parametrize(
    ("feature", "relation", "border", "text"),
    [
        (Feature("speed", "m/s"), ">=", 0.045, "speed >= 0.045 m/s"),
        (Feature("speed", "m/s"), "<", 0.045, "speed < 0.045 m/s"),
        (Feature("speed", "m/s"), "<=", 0.04, "speed <= 0.04 m/s"),
        (Feature("speed"), "=", 1 / 3, "speed = 0.333333"),
        (Feature("gear", kind="integer"), ">=", 3.0, "gear >= 3"),
        (Feature("gear", kind="integer"), "<=", 2.0, "gear <= 2"),
        (Feature("left leg in contact", kind="binary"), "=", 1.0, "left leg in contact"),
        (Feature("left leg in contact", kind="binary"), "=", 0.0, "left leg not in contact"),
    ],
)
def test_clauses(feature, relation, border, text):
    assert changed_clause(feature, relation, border) == text


def test_foils_in_words():
    fitted = random_fitted(1, 2, 6, discrete=False)
    schema = Schema(
        (Feature("pos", "m"), Feature("speed")), Action("continuous", ("main engine", "side"), (), ("N", ""))
    )
    fitted = replace(fitted, schema=schema)
    foil = read_foil(fitted, {"main engine": (0.5, None), "value": (None, 3), "derivative of pos": (-1, 1), "side": 0})
    assert foil.would() == (
        "Main engine would >= 0.5 N, value would < 3, change of pos would lie in [-1, 1) m per step and side would = 0"
    )
    assert foil.told() == "main engine >= 0.5 N, value < 3, change of pos in [-1, 1) m per step and side = 0"


def test_several_answers_are_joined_by_or():
    for seed in range(20):
        fitted = random_fitted(seed, 3, 20)
        answer = counterfactual(fitted, [0, 0, 0], {"action": "left"}, k=2, agent=lambda states: ["left"] * len(states))
        if answer and answer.others:
            first, second = str(answer).split(" Or if ")
            assert first.startswith("Action would = left if ")
            assert second.endswith("The real agent agrees: action = left there.")
            return
    raise AssertionError("none of the trees has two answers")


def test_what_explains_several_changes_is_said_once():
    schema = SimpleNamespace(features=(Feature("speed", "m/s"), Feature("left leg in contact", kind="binary")))

    def change(*parts):
        changed, relations, borders = zip(*parts, strict=True)
        return SimpleNamespace(changed=changed, relations=relations, borders=borders, schema=schema)

    both, one = change((0, ">=", 0.5), (1, "=", 1.0)), change((1, "=", 1.0))
    assert because(both) == "speed >= 0.5 m/s and left leg in contact"
    assert because(both, one) == "speed >= 0.5 m/s and left leg in contact"
    assert because(one, both) == "left leg in contact and speed >= 0.5 m/s"
    assert because() == ""
