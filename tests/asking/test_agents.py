from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log
from tests.questions.trees import random_fitted, random_states
from tripletree import ParameterError, TripleTree
from tripletree.asking.agents import ask_agent, confirms
from tripletree.asking.foils import read_foil
from tripletree.questions.counterfactuals import counterfactual, counterfactuals


@pytest.fixture(scope="module")
def road():
    """The agent turns right from 1.3 on; the log is sparse, so the tree puts the border at 1."""
    states = [[x, v] for x, v in zip((0.1, 0.5, 1.6, 2.0, 3.0), (-1, 1, -1, 1, 0), strict=True)]
    log = make_log(states, [0, 0, 1, 1, 1], [0, 0, 0, 0, 1], labels=("left", "right"), names=("pos", "speed"))
    return TripleTree(2, (1, 0, 0), 0.0).fit(log).fitted_


def late(states):
    return np.where(states[:, 0] >= 1.3, "right", "left")


def test_the_answer_says_what_the_real_agent_does(road):
    plain = counterfactual(road, [0.5, 0], {"action": "right"}, agent=late, opinion=False)
    assert (plain.agent_action, plain.confirmed) == ("left", False)
    assert str(plain).endswith("The real agent disagrees: action = left there.")
    sure = counterfactual(road, [0.5, 0], {"action": "right"}, agent=late, verified=True)
    assert sure.confirmed
    assert sure.foil_state[0] >= 1.3
    assert (sure.relations, sure.borders) == (("=",), (sure.foil_state[0],))
    assert str(sure).endswith("The real agent agrees: action = right there.")
    assert road.tree.apply(sure.foil_state[None])[0] == sure.foil_leaf
    already = counterfactual(road, [1.2, 0], {"action": "right"}, agent=late, opinion=False)
    assert str(already) == "Action = right here already. The real agent disagrees: action = left here."


def test_an_agent_that_never_confirms(road):
    none = counterfactual(
        road, [0.5, 0], {"action": "right"}, agent=lambda states: ["left"] * len(states), verified=True
    )
    assert not none
    assert none.tried == 4
    assert str(none) == "The real agent confirms action = right at none of 4 points where the tree predicts it."
    many = counterfactuals(
        road, [[0.5, 0], [2, 0]], {"action": "right"}, agent=lambda s: ["left"] * len(s), verified=True
    )
    assert (many.found.tolist(), many.already.tolist(), many.foil_leaf.tolist()) == (
        [False] * 2,
        [False, True],
        [-1, -1],
    )


def test_verified_finds_an_answer_whenever_some_point_it_may_try_holds():
    for seed in range(25):
        fitted = random_fitted(seed, 3, 15, discrete=False)
        foil = {"main": (0.3, None)}
        rng = np.random.default_rng(seed)
        weights = rng.normal(size=(3, 2))

        def agent(states, weights=weights):
            return np.tanh(states @ weights)

        states = random_states(fitted, 30, seed)
        plain = counterfactuals(fitted, states, foil, agent=agent)
        sure = counterfactuals(fitted, states, foil, agent=agent, verified=True)
        truth = agent(sure.foil_states[sure.found])[:, 0] >= 0.3
        assert truth.all()
        assert sure.confirmed[sure.found].all()
        assert (sure.found >= (plain.found & plain.confirmed)).all()
        assert np.array_equal(fitted.tree.apply(sure.foil_states[sure.found]), sure.foil_leaf[sure.found])
        for i in np.flatnonzero(sure.found)[:3].tolist():
            single = counterfactual(fitted, states[i], foil, agent=agent, verified=True)
            assert len(single.changed) == len(sure[i].changed)
            assert single.agent_action[0] >= 0.3


def test_foils_that_are_not_about_actions_are_not_confirmed():
    fitted = random_fitted(1, 2, 6)
    answer = counterfactual(fitted, [0, 0], {"value": (None, 9)}, agent=lambda states: ["left"] * len(states))
    assert answer.confirmed is None
    many = counterfactuals(fitted, [[0, 0]], {"value": (None, -9)}, agent=lambda states: ["left"] * len(states))
    assert many.confirmed is None


def test_what_agents_may_return(road):
    schema, states = road.schema, np.zeros((2, 2))
    assert ask_agent(lambda s: np.array([0, 1]), states, schema).tolist() == ["left", "right"]
    assert ask_agent(lambda s: (np.array([1, 1]), None), states, schema).tolist() == ["right", "right"]
    assert ask_agent(lambda s: ["left", "up"], states, schema).tolist() == ["left", "up"]
    coded = replace(schema, action=replace(schema.action, codes=("1", "7")))
    assert ask_agent(lambda s: np.array([1, 7]), states, coded).tolist() == ["left", "right"]
    assert ask_agent(lambda s: np.array([0, 7]), states, coded).tolist() == ["left", "right"]
    assert ask_agent(lambda s: ["left", "9"], states, coded).tolist() == ["left", "9"]
    assert confirms(read_foil(road, {"action": "left"}), np.array(["left", "up"])).tolist() == [True, False]
    numbers = random_fitted(1, 2, 6, discrete=False).schema
    assert ask_agent(lambda s: [[1, 2], [3, 4]], states, numbers).tolist() == [[1, 2], [3, 4]]
    for wrong in (lambda s: [1.0], lambda s: "left"):
        with pytest.raises(
            ParameterError,
            match=r"each state; for 2 states that is shape \(2, 2\).*one state at a time, try agent=lambda",
        ):
            ask_agent(wrong, states, numbers)
    with pytest.raises(ParameterError, match="not finite"):
        ask_agent(lambda s: np.full((2, 2), np.nan), states, numbers)
