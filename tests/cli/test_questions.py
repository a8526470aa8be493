"""Questions to a model, as sentences, data and mistakes."""

from __future__ import annotations

import csv

import pytest

import tripletree

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


def test_predict_a_step_of_a_log(run, tree, folder):
    log = tripletree.read_log(folder / "run.csv")
    state = log.states[log.starts[3] + 5]
    assert run("predict", MODEL, "--log", "run.csv", "--episode", 3, "--step", 5).out == f"{tree.predict(state)}\n"
    first = run("predict", MODEL, "--log", "run.csv", "--json").json()
    assert first == tree.predict(log.states[0]).to_dict()


def test_a_log_is_read_by_the_model_s_own_columns(run, folder):
    lines = (folder / "run.csv").read_text().splitlines()
    (folder / "more.csv").write_text(
        "\n".join([f"{lines[0]},wind", *(f"{line},{i % 7}" for i, line in enumerate(lines[1:]))])
    )
    assert run("predict", MODEL, "--log", "more.csv").code == 0
    told = run("predict", MODEL, "--log", "coded.csv", "--describe", "coded.toml")
    assert told.code == 0
    (folder / "bare.toml").write_text('[columns]\naction = "acc"\n')
    told = run("predict", MODEL, "--log", "coded.csv", "--describe", "bare.toml")
    assert told.code == 1
    assert "The actions of coded.csv are `0`, `1`, those of the model `left`, `right`." in told.err


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


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, 'Which state? Give --state "pos=0, speed=0", or --log LOG --episode ID --step N.'),
        (["--state", "1,2", "--log", "run.csv"], 2, "Give --state or --log, not both."),
        (["--state", "1,2", "--step", "3"], 2, "--episode and --step point into a log: give --log LOG, too."),
        (["states.csv", "--state", "1,2"], 2, "not both"),
        (["--state", "1.2"], 1, "states must have 2 features"),
        (["--state", "pos=1.2, sped=0.03"], 1, "Did you mean `speed`?\n  pos=1.2, sped=0.03\n           ^^^^\n"),
        (
            ["--state", "pos > 1"],
            1,
            "A state has one number for each feature; got 'pos > 1'. Try 'pos = 0, speed = 0'.",
        ),
        (["--log", "run.csv", "--episode", "x"], 1, "The log has no episode `x`; it has `0`, `1`, "),
        (["--log", "run.csv", "--step", "10000"], 1, "Episode 0 has the steps 0 to "),
        (["--log", "states.csv"], 1, "error: "),
        (["run.toml"], 1, "run.toml ends in `.toml`"),
    ],
)
def test_states_that_are_not_understood(run, arguments, code, message):
    told = run("predict", MODEL, *arguments)
    assert told.code == code
    assert message in told.err
    assert told.out == ""


def test_chances(run, tree):
    sentence = str(tree.chance("pos < 0.5", "pos=1.2, speed=0", before="pos > 2.5", within=100, draws=20, seed=3))
    options = ["--from", "pos=1.2, speed=0", "--before", "pos > 2.5", "--within", 100, "--draws", 20, "--seed", 3]
    assert run("chance", MODEL, "--reach", "pos < 0.5", *options).out == f"{sentence}\n"
    assert run("chance", MODEL, "--reach", "pos < 0.5", *options, "--json").json()["within"] == 100
    few = ("--draws", 0)
    assert run("chance", MODEL, "--reach", "end", "--steps", *few).out == f"{tree.expected_steps('end', draws=0)}\n"
    assert run("chance", MODEL, "--after", 30, *few).out == f"{tree.after(30, draws=0)}\n"
    assert run("chance", MODEL, "--occupancy", *few).out == f"{tree.occupancy(draws=0)}\n"
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
        (["--reach", "pos > 9"], 1, "reach is empty: it wants pos > 9, and in the log `pos` goes from"),
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
    assert [line[:3] for line in three] == ["1. ", "2. ", "3. "]
    data = run("simulate", MODEL, *options, "--json").json()
    assert data["found"][0]["nodes"][0] == [1.2, 0.0]
    pairs = run("paths", MODEL, "--from", "pos > 2", "--to", "pos < 1", "--pairs", 4, "--json").json()
    assert len(pairs["found"]) == 4
    told = run("simulate", MODEL, "--from", "pos=1.2", "--to", "emd")
    assert (told.code, "simulate" in told.err) == (1, False)


def test_moves_of_another_log(run, tree, folder):
    log = tripletree.read_log(folder / "run.csv").select(range(10))
    log.to_npz(folder / "ten.npz")
    told = run("chance", MODEL, "--reach", "pos < 0.5", "--log", "ten.npz", "--draws", 0)
    assert told.out == f"{tree.chance('pos < 0.5', log=log, draws=0)}\n"


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
    assert run("rules", MODEL, "--most", 2).out == f"{tree.rules(most=2)}\n"


def test_pictures(run, tmp_path):
    for ending, begin in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
        picture = tmp_path / f"map{ending}"
        told = run("plot", "map", MODEL, "-x", "pos", "-y", "speed", "--colour", "value", "-o", picture)
        assert (told.code, told.out) == (0, f"The picture is in {picture}.\n")
        assert picture.read_bytes().startswith(begin)
    marks = ["--log", "run.csv", "--zone", "pos < 0.5", "--state", "1.2,0", "--arrows", "--where", "speed > 0"]
    assert "where limits `speed`" in run("plot", "map", MODEL, "-x", "pos", "-y", "speed", *marks, "-o", picture).err
    assert run("plot", "map", MODEL, "-x", "pos", "-y", "speed", *marks[:-2], "-o", picture).code == 0
    assert run("plot", "map", MODEL, "--where", "speed in [0, 0.05]", "-o", picture).code == 0
    assert len(list(tmp_path.iterdir())) == 3


def test_sheets(run, tmp_path):
    picture = tmp_path / "sheet.svg"
    assert run("plot", "overview", MODEL, "-o", picture).code == 0
    assert "density" in picture.read_text().lower()
    assert run("plot", "curves", MODEL, "--log", "run.csv", "-o", picture).code == 0
    assert run("plot", "tree", MODEL, "--depth", 2, "-o", picture).code == 0
    assert run("plot", "transitions", MODEL, "-x", "pos", "-y", "speed", "--log", "run.csv", "-o", picture).code == 0
    assert run("plot", "importance", MODEL, "-o", picture).code == 0
    told = run("plot", "overview", MODEL, "-x", "pos", "-o", picture)
    assert told.code == 2
    assert "A picture of kind overview has no option -x." in told.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-x", "poss", "-o", "p.png"], 1, "Did you mean `pos`?"),
        (["-o", "p.gif"], 1, "p.gif ends in `.gif`; pictures are written as `.png`, `.pdf`, `.svg`."),
        (["--episode", "3", "-o", "p.png"], 2, "--episode points into a log: give --log LOG, too."),
        (["--where", "speeed > 0", "-o", "p.png"], 1, "Did you mean `speed`?\n  speeed > 0\n  ^^^^^^\n"),
    ],
)
def test_pictures_that_cannot_be_drawn(run, folder, arguments, code, message):
    told = run("plot", "map", MODEL, *arguments)
    assert told.code == code
    assert message in told.err
    assert not (folder / "p.png").exists()
