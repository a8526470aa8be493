"""Questions to a model, as sentences, data and mistakes."""

from __future__ import annotations

import csv

import pytest

import tripletree
from tests.test_api import quietly_fitted

MODEL = "run.tripletree"


@pytest.fixture(scope="module")
def tree(folder):
    return tripletree.load(folder / MODEL)


def test_predict_one_state(run, tree):
    sentence = str(tree.predict([1.2, 0.03]))
    for state in ("1.2,0.03", "pos=1.2, speed=0.03", "speed = 0.03 and pos = 1.2 m"):
        assert run("predict", MODEL, "--state", state).out == f"{sentence}\n"
    data = run("predict", MODEL, "--state", "1.2,0.03", "--json").json()
    assert data == tree.predict([1.2, 0.03]).to_dict()


def test_predict_a_file_of_states(run, tree, folder):
    told = run("predict", MODEL, "states.csv")
    rows = list(csv.DictReader(told.lines))
    assert len(rows) == 50
    assert list(rows[0])[:3] == ["action", "action_probability", "value"]
    states = tripletree.read_log(folder / "run.csv").states[:50]
    answer = tree.predict(states)
    assert [float(row["value"]) for row in rows] == answer.value.tolist()
    assert [row["action"] for row in rows] == answer.action.tolist()
    assert len(run("predict", MODEL, "states.csv", "--json").json()["leaf"]) == 50


def test_chances(run, tree):
    sentence = str(tree.chance("pos < 0.5", "pos=1.2, speed=0", before="pos > 2.5", within=100))
    options = ["--from", "pos=1.2, speed=0", "--before", "pos > 2.5", "--within", 100]
    assert run("chance", MODEL, "--reach", "pos < 0.5", *options).out == f"{sentence}\n"
    assert run("chance", MODEL, "--reach", "pos < 0.5", *options, "--json").json()["within"] == 100
    assert run("chance", MODEL, "--reach", "end", "--steps").out == f"{tree.expected_steps('end')}\n"
    assert run("chance", MODEL, "--after", 30).out == f"{tree.after(30)}\n"
    assert run("chance", MODEL, "--occupancy").out == f"{tree.occupancy()}\n"
    assert run("chance", MODEL, "--unreachable").out == f"{tree.unreachable()}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Ask one of --reach ZONE, --after STEPS, --occupancy and --unreachable."),
        (["--reach", "end", "--after", "3"], 2, "Ask one of"),
        (["--after", "3", "--within", "3"], 2, "--before, --within and --steps go with --reach ZONE."),
        (["--reach", "end", "--steps", "--within", "3"], 2, "Give --steps or --within, not both."),
        (
            ["--reach", "posi < 1"],
            1,
            "it may have `pos`, `speed`, `value`, `action`. Did you mean `pos`?\n  posi < 1\n  ^^^^\n",
        ),
        (["--reach", "action=up"], 1, "  action=up\n         ^^\n"),
        (["--reach", "pos < 1 or speed > 0"], 1, "all conditions must hold"),
        (["--reach", "end", "--from", "pos > 9"], 1, "is empty: it wants pos > 9, and in the log `pos` goes from"),
        (["--reach", "leaf 120"], 1, "reach has leaf 120; leaves go from 0 to 119."),
    ],
)
def test_chances_that_are_not_understood(run, arguments, code, message):
    told = run("chance", MODEL, *arguments)
    assert told.code == code
    assert message in told.err


def test_ways(run, tree):
    options = ["--from", "pos=1.2, speed=0", "--to", "end"]
    assert run("paths", MODEL, *options).out == f"{tree.paths('pos=1.2, speed=0', 'end')}\n"
    three = run("paths", MODEL, *options, "-k", 3).lines
    assert [line[:3] for line in three] == ["1. ", "2. ", "3. ", "The"]
    assert three[0].startswith("1. Follows episode ")
    assert "(median)" in three[3]
    assert run("simulate", MODEL, *options).out == f"{tree.simulate('pos=1.2, speed=0', 'end')}\n"
    data = run("simulate", MODEL, *options, "--json").json()
    assert data["found"][0]["nodes"][0] == [1.2, 0.0]
    assert data["found"][0]["sources"][0].keys() == {"episode", "first", "last"}
    assert (data["method"], len(data["steps"])) == ("segment", 3)
    zones = ["--from", "pos > 2", "--to", "pos > 2.5"]
    pairs = run("paths", MODEL, *zones, "--pairs", 4, "--json").json()
    assert len(pairs["found"]) == 4
    assert sum(way["share"] for way in pairs["found"]) == pytest.approx(1)
    told = run("paths", MODEL, "--from", "pos > 2", "--to", "pos < 1", "--pairs", 0)
    assert (told.code, "whole number from 1 to 100,000; got 0" in told.err) == (1, True)
    told = run("simulate", MODEL, "--from", "pos=1.2", "--to", "emd")
    assert (told.code, "simulate" in told.err) == (1, False)


@pytest.mark.parametrize("command", ["paths", "simulate"])
def test_the_papers_ways(run, tree, command):
    options = ["--from", "pos=1.2, speed=0", "--to", "end", "--method", "paper"]
    expected = getattr(tree, command)("pos=1.2, speed=0", "end", method="paper")
    assert run(command, MODEL, *options).out == f"{expected}\n"
    assert [line[:3] for line in run(command, MODEL, *options, "-k", 3).lines] == ["1. ", "2. ", "3. "]
    data = run(command, MODEL, *options, "--json").json()
    assert data["found"][0]["probability"] == expected[0].probability
    refused = run(command, MODEL, *options[:-1], "guess")
    assert refused.code != 0
    assert "--method must be 'recorded' or 'paper'; got 'guess'" in refused.err
    assert "recorded|paper" in run(command, "--help").out


def test_a_guess_is_named_before_the_ways(run, folder, tmp_path):
    bare = quietly_fitted(tripletree.read_log(folder / "run.csv"), max_leaves=30, keep="leaves")
    bare.save(tmp_path / "bare.tripletree")
    lines = run("paths", tmp_path / "bare.tripletree", "--from", "pos=1.2, speed=0", "--to", "end", "-k", 2).lines
    assert lines[0].startswith("No recorded episodes are kept in this model; so this is a guess")
    assert [line[:3] for line in lines[1:]] == ["1. ", "2. "]


def test_explanations(run, tree):
    state = "pos=1.2, speed=0.03"
    assert run("explain", MODEL, "--state", state).out == f"{tree.explain([1.2, 0.03])}\n"
    told = run("explain", MODEL, "--state", state, "--about", "value", "--json").json()
    assert told == tree.explain([1.2, 0.03], about="value").to_dict()
    answer = tree.explain([1.2, 0.03], {"action": "left"}, k=2, fixed=["pos"], one_way={"speed": "down"}, margin=0.01)
    assert answer
    options = ["-k", 2, "--fixed", "pos", "--one-way", "speed=down", "--margin", 0.01]
    told = run("explain", MODEL, "--state", state, "--foil", "action = left", *options)
    assert told.out == f"{answer}\n"
    change = tree.explain_change([1.2, 0.03], [1.2, -0.05])
    assert run("explain", MODEL, "--state", state, "--then", "1.2,-0.05").out == f"{change}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--fixed", "pos"], 2, "--fixed goes with --foil FOIL."),
        (["-k", "3"], 2, "-k goes with --foil FOIL."),
        (["--foil", "action = left", "--then", "1,2"], 2, "Give --foil or --then, not both."),
        (["--foil", "action = left", "--about", "value"], 2, "--about goes without --foil"),
        (["--foil", "pos > 2"], 1, "Did you mean `derivative of pos`?\n  pos > 2\n  ^^^\n"),
        (["--foil", "action = up"], 1, "the tree knows `left`, `right`."),
        (["--foil", "action = left", "--fixed", "poss"], 1, "Did you mean `pos`?"),
        (["--about", "speed"], 1, "Did you mean `derivative of speed`?"),
    ],
)
def test_explanations_that_are_not_understood(run, arguments, code, message):
    told = run("explain", MODEL, "--state", "1.2,0.03", *arguments)
    assert told.code == code
    assert message in told.err


def test_stories_and_rules(run, tree, folder):
    log = tripletree.read_log(folder / "run.csv")
    told = run("story", MODEL, "--log", "run.csv", "--episode", 3)
    assert told.out == f"{tree.story(3, log=log)}\n"
    simulated = tree.story(tree.simulate([1.2, 0], "end"), about="value")
    options = ["--from", "1.2,0", "--to", "end", "--about", "value"]
    assert run("story", MODEL, *options).out == f"{simulated}\n"
    assert run("story", MODEL, *options, "--json").json()["phases"]
    assert run("story", MODEL).code == 2
    assert run("story", MODEL, "--from", "leaf 3").code == 2
    assert run("rules", MODEL, "--max-rules", 2).out == f"{tree.rules(max_rules=2)}\n"
    assert run("rules", MODEL, "--max-rules", "all").out == f"{tree.rules(max_rules=None)}\n"
    assert run("rules", MODEL, "--max-rules", "many").code == 2
    judged = tree.rules(log=log, about="value", levels=["bad", 0.5, "good"])
    options = ["--log", "run.csv", "--about", "value", "--levels", "bad,0.5,good"]
    assert run("rules", MODEL, *options).out == f"{judged}\n"
    told = run("rules", MODEL, "--about", "value", "--levels", "-0.5,0.5")
    assert told.out == f"{tree.rules(about='value', levels=[-0.5, 0.5])}\n"
    assert run("rules", MODEL, "--about", "value", "--levels", "0").out == f"{tree.rules(about='value', levels=[0])}\n"
    assert run("rules", MODEL, "--most", 2).code == 0
