"""Which cause is claimed where several show: the rules one by one, and twins in worlds whose function is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.questions.test_diff import simulated
from tripletree import diff
from tripletree.questions import causes
from tripletree.questions.comparing import Problem


def walks(changed, seed=0, episodes=40, steps=60):
    """Two logs of one steep function of two inputs, of which the new one goes elsewhere; or of another function."""
    rng = np.random.default_rng(seed)
    new = np.arange(2 * episodes) >= episodes
    unit = np.repeat(np.arange(2 * episodes), steps)
    middle = rng.normal(size=(2 * episodes, 2))[unit] + 0.5 * new[unit][:, None]
    inputs = middle + 0.5 * rng.normal(size=(len(unit), 2))
    target = np.tanh(3 * inputs[:, 0] - inputs[:, 1] ** 2) + changed * new[unit] * (inputs[:, 0] > 0)
    return Problem(inputs, target[:, None], unit, new, np.array([0]), np.arange(len(unit)))


def test_twins_of_one_function_hardly_differ_though_it_is_steep_and_the_logs_are_apart():
    assert max(causes.change_in_twins(walks(0.0, seed)) for seed in range(4)) < 0.1


def test_twins_of_two_functions_differ():
    assert min(causes.change_in_twins(walks(0.4, seed)) for seed in range(4)) > 0.25


def test_few_twins_say_nothing():
    problem = walks(0.4, episodes=4)
    assert causes.change_in_twins(problem) == 0.0


class Likely:
    """Stands for what was compared: its share of comparable steps, and how strongly it shows in like states."""

    def __init__(self, share, shows):
        self.coarse = self
        self.comparable = np.array([share])
        self.shows = np.array([shows, *np.ones(99)])


@pytest.mark.parametrize(
    ("policy", "world", "start", "twins", "expected"),
    [
        # alarm, strength in all states, in like states, share of comparable steps
        ((True, 1.5, 1.5, 1.0), (False, 0.9, 0.9, 1.0), False, 0.0, {"policy": "changed", "world": "same"}),
        ((True, 1.5, 1.5, 1.0), (True, 1.2, 1.0, 1.0), False, 0.0, {"policy": "changed", "world": "explained"}),
        ((True, 2.0, 2.0, 1.0), (True, 2.2, 2.2, 1.0), False, 0.05, {"policy": "explained", "world": "changed"}),
        ((True, 2.0, 2.0, 1.0), (True, 2.2, 2.2, 1.0), False, 0.15, {"policy": "changed", "world": "changed"}),
        ((True, 2.2, 2.2, 1.0), (True, 2.0, 2.0, 1.0), False, 0.0, {"policy": "changed", "world": "changed"}),
        ((True, 1.4, 0.8, 1.0), (True, 1.2, 0.9, 1.0), False, 0.0, {"policy": "cannot tell", "world": "cannot tell"}),
        ((True, 1.4, 1.0, 1.0), (True, 1.2, 0.9, 1.0), False, 0.0, {"policy": "changed", "world": "explained"}),
        ((True, 1.4, 0.9, 1.0), (True, 1.2, 0.9, 1.0), True, 0.0, {"policy": "explained", "world": "explained"}),
        ((True, 1.4, 0.9, 1.0), (False, 0.9, 0.9, 1.0), True, 0.0, {"policy": "explained", "world": "same"}),
        ((True, 1.4, 1.4, 0.4), (True, 2.0, 2.0, 0.4), False, 0.0, {"policy": "changed", "world": "cannot tell"}),
        ((True, 1.4, 1.4, 0.2), (True, 2.0, 2.0, 0.2), False, 0.0, {"policy": "cannot tell", "world": "cannot tell"}),
    ],
)
def test_rules(monkeypatch, policy, world, start, twins, expected):
    monkeypatch.setattr(causes, "fine_strength", lambda problem, _: problem.shows)
    monkeypatch.setattr(causes, "change_in_twins", lambda _: twins)
    given = {"policy": policy, "world": world}
    asked = {name: Likely(share, shows) for name, (_, _, shows, share) in given.items()} | {"start": np.zeros(1)}
    strengths = {name: np.array([one[1], *np.ones(99)]) for name, one in given.items()}
    alarms = {name: one[0] for name, one in given.items()} | {"start": start}
    found = causes.verdicts(asked, strengths, alarms, None, 0.1)
    assert {name: found[name][0] for name in given} == expected
    assert found["start"][0] == ("changed" if start else "same")


def test_a_change_of_one_of_the_two_is_a_change():
    found = diff(simulated(30, 1), simulated(30, 2, gain=0.2))
    told = [replace(one, status="cannot tell", reason="either", regions=()) for one in found.causes[:2]]
    either = replace(found, causes=(*told, found["start"]))
    assert (bool(either), either.changed, either.claimed) == (True, (), "policy or world")
    assert [either.code(names) for names in (["policy", "world"], ["policy"], ["world", "outcome"])] == [3, 4, 4]
    assert "It CHANGED, or how the world answers did: which, they do not tell." in str(either)
    assert "It CHANGED, or what the agent does did: which, they do not tell." in str(either)
