"""Refusals: whatever argument is wrong, the message says which, and as data, so that each front end can word it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.test_api import quietly_fitted
from tripletree import ParameterError, compare_weights
from tripletree.demos import road
from tripletree.questions import judge
from tripletree.questions.outline import outline
from tripletree.text import Message

STATE = [1.2, 0.03]
FOIL = {"value": (0, None)}
RIGHT = {"action": "0.001"}


@pytest.fixture(scope="module")
def log():
    return road.record("left", n_samples=2000)


@pytest.fixture(scope="module")
def tree(log):
    return quietly_fitted(log, max_leaves=40)


# What is asked, and the arguments that the message mentions, in their order.
REFUSED = {
    "k": (lambda tree, _: tree.explain(STATE, FOIL, k=0), "k k=3"),
    "max_changes": (
        lambda tree, _: tree.explain(STATE, FOIL, max_changes=0),
        "max_changes max_changes=None max_changes=2",
    ),
    "min_samples": (lambda tree, _: tree.explain(STATE, FOIL, min_samples=0.5), "min_samples min_samples=20"),
    "min_purity": (lambda tree, _: tree.explain(STATE, FOIL, min_purity=2), "min_purity min_purity=0.9"),
    "margin": (lambda tree, _: tree.explain(STATE, FOIL, margin=1), "margin margin=0.01"),
    "margin of a feature": (
        lambda tree, _: tree.explain(STATE, FOIL, margin={"pos": -1}),
        'margin margin={"pos": 0.1}',
    ),
    "margin of no feature": (lambda tree, _: tree.explain(STATE, FOIL, margin={"x": 1}), "margin"),
    "fixed": (lambda tree, _: tree.explain(STATE, FOIL, fixed="pos"), 'fixed fixed=["pos"]'),
    "fixed number": (lambda tree, _: tree.explain(STATE, FOIL, fixed=1), 'fixed fixed=["pos"]'),
    "fixed no feature": (lambda tree, _: tree.explain(STATE, FOIL, fixed=["x"]), "fixed"),
    "one_way": (lambda tree, _: tree.explain(STATE, FOIL, one_way=["pos"]), 'one_way one_way={"pos": "down"}'),
    "one_way left": (
        lambda tree, _: tree.explain(STATE, FOIL, one_way={"speed": 3}),
        'one_way one_way={"speed": "down"}',
    ),
    "one_way of no feature": (lambda tree, _: tree.explain(STATE, FOIL, one_way={"x": "up"}), "one_way"),
    "verified": (lambda tree, _: tree.explain(STATE, FOIL, verified=1), "verified verified=True"),
    "verified alone": (lambda tree, _: tree.explain(STATE, RIGHT, verified=True), "verified=True agent"),
    "verified value": (lambda tree, _: tree.explain(STATE, FOIL, verified=True, agent=abs), "verified=True"),
    "agent": (lambda tree, _: tree.explain([0.9, 0.03], RIGHT, agent=3), "agent"),
    "agent's answer": (lambda tree, _: tree.explain([0.9, 0.03], RIGHT, agent=lambda s: [1, 2, 3]), "agent agent"),
    "foil": (lambda tree, _: tree.explain(STATE, {}), 'foil foil={"action": "-0.001"} foil={"value": (None, 0.3)}'),
    "foil's key": (lambda tree, _: tree.explain(STATE, {"speed": 1}), "foil"),
    "foil's text": (lambda tree, _: tree.explain(STATE, "speed > 1"), "foil"),
    "state": (lambda tree, _: tree.explain([1, 2, 3]), "state"),
    "states": (lambda tree, _: tree.predict([1, 2, 3]), "states"),
    "state's text": (lambda tree, _: tree.explain("pos > 1"), 'state state="pos = 0, speed = 0"'),
    "state's names": (lambda tree, _: tree.explain({"pos": 1}), "state"),
    "several states": (lambda tree, _: tree.explain([STATE, STATE]), "state"),
    "infinite states": (lambda tree, _: tree.counterfactuals([[1, np.inf]], FOIL), "states"),
    "missing numbers": (lambda tree, _: tree.predict([[1, np.nan]]), "states"),
    "words": (lambda tree, _: tree.predict([["a", "b"]]), "states"),
    "before": (lambda tree, _: tree.explain_change([1], STATE), "before"),
    "after": (lambda tree, _: tree.explain_change(STATE, [1]), "after"),
    "about": (lambda tree, _: tree.explain(STATE, about=3), 'about about="action"'),
    "about a feature": (lambda tree, _: tree.explain(STATE, about="speed"), "about"),
    "about two": (lambda tree, log: tree.explain_changes(log, about="derivative"), "about"),
    "threshold": (
        lambda tree, _: tree.explain_change(STATE, STATE, about="value", threshold="x"),
        "threshold threshold=None threshold=0.5",
    ),
    "threshold of labels": (lambda tree, _: tree.explain_change(STATE, STATE, threshold=1), "threshold"),
    "at_least": (lambda tree, log: tree.explain_changes(log, about="value", at_least=-1), "at_least at_least=0.1"),
    "reach": (lambda tree, _: tree.chance(9999), "reach"),
    "no reach": (lambda tree, _: tree.chance(set()), "reach"),
    "empty reach": (lambda tree, _: tree.chance({}), "reach"),
    "odd reach": (lambda tree, _: tree.chance(1.5), "reach"),
    "start nowhere": (lambda tree, _: tree.chance(1, {"value": (1e6, None)}), "start"),
    "start beyond": (lambda tree, _: tree.chance(1, {"pos": (9, 10)}), "start"),
    "start": (lambda tree, _: tree.chance(1, "end"), "start"),
    "start of a path": (lambda tree, _: tree.paths("end", 1), "start"),
    "within": (lambda tree, _: tree.chance(1, within=-1), "within within=None within=100"),
    "steps": (lambda tree, _: tree.after(-1), "steps steps=100"),
    "n": (lambda tree, _: tree.rollouts(0, 5), "n n=100"),
    "pairs": (lambda tree, _: tree.paths(0, 1, pairs=0), "pairs pairs=100"),
    "paths": (lambda tree, _: tree.paths(0, 1, 0), "k k=3"),
    "rules": (lambda tree, _: tree.rules(max_rules=0), "max_rules max_rules=None max_rules=7"),
    "levels": (lambda tree, _: tree.rules(about="value", levels=1), "levels levels=3"),
    "ends of levels": (lambda tree, _: tree.rules(about="value", levels=[2, 1]), "levels levels=[-0.5, 0.5]"),
    "shortest": (lambda tree, log: tree.story(0, log=log, shortest=0), "shortest shortest=3"),
    "phases": (lambda tree, log: tree.story(0, log=log, most=0), "most most=6"),
    "episode": (lambda tree, log: tree.story(-1, log=log), "episode episode=0"),
    "episode without log": (lambda tree, _: tree.story(0), "log=..."),
    "log of episodes": (lambda tree, log: tree.story(log), "episode=0 log=..."),
    "episode's states": (lambda tree, _: tree.story([[1, 2, 3]]), "episode"),
    "calibration": (lambda tree, log: judge.calibration(tree.fitted_, log, "x"), 'about about="value"'),
    "groups": (lambda tree, log: judge.calibration(tree.fitted_, log, groups=0), "groups groups=10"),
    "regions": (lambda tree, log: outline(tree.fitted_, log, 0), "regions regions=8"),
    "leaves": (lambda _, log: compare_weights(log, leaves=1), "leaves leaves=(10, 50, 200)"),
    "steps of weights": (lambda _, log: compare_weights(log, steps=0), "steps steps=5"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_every_argument_that_a_refusal_mentions_is_data(tree, log, case):
    ask, expected = REFUSED[case]
    with pytest.raises(ParameterError, match=re.escape(expected.split()[0])) as caught:
        ask(tree, log)
    message = caught.value.args[0]
    assert isinstance(message, Message)
    mentioned = []
    worded = message.worded(lambda option: mentioned.append(str(option)) or "OPTION")
    assert " ".join(mentioned) == expected
    assert not re.search(r"\b[a-z_]+=(?!lambda)", worded)


def test_what_a_refusal_proposes_is_accepted(tree, log):
    """The examples of messages are not decoration."""
    tree.explain(STATE, FOIL, k=3, max_changes=2, min_samples=20, min_purity=0.9, margin=0.01, fixed=["pos"])
    tree.explain(STATE, FOIL, margin={"pos": 0.1}, one_way={"pos": "down"}, verified=False)
    assert tree.explain("pos = 0, speed = 0")
    tree.explain(STATE, {"value": (None, 0.3)})
    tree.chance(1, within=None)
    assert tree.after(100).steps == 100
    assert len(tree.rules(about="value", levels=[-0.5, 0.5], max_rules=7)) == 1
    tree.rules(max_rules=None)
    assert len(judge.calibration(tree.fitted_, log, "value", 10).count) > 1
