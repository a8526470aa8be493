"""Everything that can be asked in Python can be asked in a shell, with the same answer."""

from __future__ import annotations

import csv
import io
import warnings

import numpy as np
import pytest

from tripletree import TripleTree, TripleTreeWarning, compare_weights, load, read_log
from tripletree.answers.answer import plain
from tripletree.cli import COMMANDS
from tripletree.log.files import read_table

MODEL = "run.tripletree"
LOG = ["--log", "run.csv"]
# The command that asks each question.
ASKED_BY = {
    **{name: name for name in ("predict", "attribute", "explain", "story", "rules", "effects", "outline", "report")},
    **{name: name for name in ("chance", "futures", "paths", "simulate", "rollouts", "transitions")},
    **{name: name for name in ("losses", "calibration", "trust", "stability", "fidelity", "refine", "export")},
    "criticality": "criticality",
    **dict.fromkeys(("explore", "visits", "episodes", "disagreement"), "explore"),  # by pointing at things
    "novelty": "diff",  # with --model
    **dict.fromkeys(("expected_steps", "after", "occupancy", "unreachable"), "chance"),
    "importance": "importance",
    "summary": "report",
    "held_out": "held-out",
    **dict.fromkeys(("apply", "write_predictions"), "predict"),
    "counterfactuals": "explain",
    "explain_change": "explain",
    "explain_changes": "changes",
    "fit": "grow",
    "save": "grow",
    "load": "info",
    "score": "held-out",
}
# A function and an estimator live in Python only.
NO_QUESTIONS = {"get_params", "set_params", "truncate", "as_policy", "to_sklearn"}


def test_every_question_has_a_command():
    methods = {
        name
        for name, kind in vars(TripleTree).items()
        if not name.startswith("_") and (callable(kind) or isinstance(kind, classmethod))
    }
    assert methods == ASKED_BY.keys() | NO_QUESTIONS
    assert set(ASKED_BY.values()) <= COMMANDS.keys()


@pytest.fixture
def tree(folder):
    return load(folder / MODEL)


@pytest.fixture
def log(folder):
    return read_log(folder / "run.csv")


# Arguments in the shell, and the same question in Python.
SAME = {
    "importance": (["importance", MODEL], lambda tree, log: tree.importance()),
    "effects": (["effects", MODEL], lambda tree, log: tree.effects()),
    "effects on the value": (
        ["effects", MODEL, *LOG, "--about", "value", "--features", "speed"],
        lambda tree, log: tree.effects(log, about="value", features=["speed"]),
    ),
    "outline": (["outline", MODEL, *LOG, "--regions", 4], lambda tree, log: tree.outline(log, regions=4)),
    "criticality": (["criticality", MODEL, *LOG], lambda tree, log: tree.criticality(log)),
    "criticality of a state": (
        ["criticality", MODEL, *LOG, "--state", "pos=1.2, speed=0"],
        lambda tree, log: tree.criticality(log, state="pos=1.2, speed=0"),
    ),
    "moments": (
        ["criticality", MODEL, *LOG, "--episode", 3],
        lambda tree, log: tree.criticality(log, episode=[str(name) for name in log.episode_ids].index("3")),
    ),
    "held-out": (["held-out", MODEL, *LOG], lambda tree, log: tree.held_out(log)),
    "calibration": (["calibration", MODEL, *LOG], lambda tree, log: tree.calibration(log)),
    "confidence": (
        ["calibration", MODEL, *LOG, "--about", "confidence", "--groups", 4],
        lambda tree, log: tree.calibration(log, about="confidence", groups=4),
    ),
    "attribute a state": (
        ["attribute", MODEL, "--state", "1.2,0.03", "--about", "value"],
        lambda tree, log: tree.attribute([1.2, 0.03], "value"),
    ),
    "attribute a log": (
        ["attribute", MODEL, *LOG, "--method", "background"],
        lambda tree, log: tree.attribute(log, method="background"),
    ),
    "attribute a step against a log": (
        ["attribute", MODEL, *LOG, "--step", 2, "--background", "run.csv"],
        lambda tree, log: tree.attribute(log.states[2], background=log),
    ),
    "attribute an episode": (
        ["attribute", MODEL, *LOG, "--episode", 1],
        lambda tree, log: tree.attribute(log.select([1])),
    ),
    "futures": (["futures", MODEL], lambda tree, log: tree.futures()),
    "futures of a state": (
        ["futures", MODEL, "--from", "pos=1.2, speed=0", "-k", 2, "--regions", 5, *LOG],
        lambda tree, log: tree.futures("pos=1.2, speed=0", 2, regions=5, log=log),
    ),
    "trust": (["trust", MODEL, *LOG], lambda tree, log: tree.trust(log)),
    "stability": (["stability", MODEL, *LOG, "--trees", 20], lambda tree, log: tree.stability(log, trees=20)),
    "changes": (["changes", MODEL, *LOG], lambda tree, log: tree.explain_changes(log)),
    "changes of value": (
        ["changes", MODEL, *LOG, "--about", "value", "--threshold", 1, "--at-least", 0.2],
        lambda tree, log: tree.explain_changes(log, about="value", threshold=1.0, at_least=0.2),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_the_answer_is_that_of_python(run, tree, log, name):
    arguments, ask = SAME[name]
    answer = ask(tree, log)
    told = run(*arguments)
    assert (told.code, told.err) == (0, "")
    assert told.out == f"{answer}\n"
    assert run(*arguments, "--json").json() == plain(answer.to_dict())


def table(told):
    assert told.code == 0, told.err
    return list(csv.DictReader(io.StringIO(told.out)))


def test_losses_are_csv(run, tree, log):
    (row,) = table(run("losses", MODEL, *LOG))
    assert row["leaves"] == "120"
    assert [float(row[name]) for name in ("action", "value", "derivative")] == tree.losses(log).tolist()
    rows = table(run("losses", MODEL, *LOG, "--all"))
    assert [row["leaves"] for row in rows] == [str(k) for k in range(1, 121)]
    assert [float(row["value"]) for row in rows] == tree.losses(log, "all")[:, 1].tolist()
    (row,) = table(run("losses", MODEL, *LOG, "--leaves", 7))
    assert (row["leaves"], float(row["value"])) == ("7", tree.losses(log, 7)[1])
    assert run("losses", MODEL, *LOG, "--leaves", 7, "--json").json()["leaves"] == [7]
    told = run("losses", MODEL, *LOG, "--leaves", 7, "--all")
    assert (told.code, "Give --leaves or --all, not both." in told.err) == (2, True)


def test_changes_of_one_episode_are_told_one_by_one(run, tree, log):
    answer = tree.explain_changes(log.select([3]))
    told = run("changes", MODEL, *LOG, "--episode", "3")
    assert told.lines == [str(answer), *(f"Step {step}: {one}" for step, one in zip(answer.step, answer, strict=True))]


def test_a_file_of_states_is_changed_line_by_line(run, tree, folder):
    rows = table(run("explain", MODEL, "states.csv", "--foil", "action = left", "--fixed", "pos"))
    answer = tree.counterfactuals(read_table(folder / "states.csv"), "action = left", fixed=["pos"])
    assert [row["status"] == "found" for row in rows] == answer.found.tolist()
    assert [row["status"] == "already" for row in rows] == answer.already.tolist()
    assert {row["status"] for row in rows} >= {"found", "already"}
    np.testing.assert_array_equal([[float(row["pos"]), float(row["speed"])] for row in rows], answer.foil_states)
    assert [int(row["foil_leaf"]) for row in rows] == answer.foil_leaf.tolist()
    data = run("explain", MODEL, "states.csv", "--foil", "action = left", "--json").json()
    assert len(data["found"]) == len(rows)


@pytest.mark.parametrize("more", [[], ["--foil", "value > 1", "-k", 2], ["--foil", "value > 1", "--state", "1,2"]])
def test_a_file_of_states_needs_a_foil_and_nothing_else(run, more):
    told = run("explain", MODEL, "states.csv", *more)
    assert told.code == 2
    assert "A file of states goes with --foil FOIL, and with neither -k nor a single state." in told.err


def test_journeys_are_csv(run, tree):
    rows = table(run("rollouts", MODEL, "-n", 4, "--steps", 6, "--from", "leaf 3", "--seed", 2))
    drawn = tree.rollouts(4, 6, "leaf 3", seed=2)
    assert [[int(leaf) for leaf in row.values()] for row in rows] == drawn.tolist()
    assert list(rows[0]) == [str(k) for k in range(7)]
    assert run("rollouts", MODEL, "-n", 1, "--steps", 2, "--json").json() == tree.rollouts(1, 2).tolist()


def test_transitions_are_csv(run, tree, log):
    kept = tree.transitions()
    rows = table(run("transitions", MODEL))
    assert [int(row["count"]) for row in rows] == kept.count.tolist()
    assert [float(row["probability"]) for row in rows] == kept.probability.tolist()
    assert run("transitions", MODEL, *LOG, "--json").json()["target"] == tree.transitions(log).target.tolist()


def test_weights_are_compared(run, log):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        answer = compare_weights(*log.split(0.25), leaves=(5, 10), steps=2, gamma=0.9, truncation="bootstrap")
    arguments = ["weights", "run.csv", "--validation", 0.25, "--leaves", "5,10", "--steps", 2, "--gamma", 0.9]
    told = run(*arguments, "--truncation", "bootstrap")
    assert told.out == f"{answer}\n"
    assert run(*arguments, "--truncation", "bootstrap", "--json").json() == plain(answer.to_dict())
    told = run("weights", "run.csv", "--leaves", "few")
    assert (told.code, "`few` is not whole numbers with commas, such as 10,50,200." in told.err) == (2, True)


def test_features_that_are_not_named_have_the_logs_median(run, tree):
    told = run("predict", MODEL, "--state", "pos=1.2")
    assert told.out == f"{tree.predict('pos = 1.2')}\n"
    assert " Not given, so the log's median: speed = " in told.out
    assert run("predict", MODEL, "--state", "pos=1.2", "--json").json()["assumed"].keys() == {"speed"}
    assert "Not given" in run("explain", MODEL, "--state", "speed=0").out
    assert "Not given" not in run("predict", MODEL, "--state", "pos=1.2, speed=0").out
