"""What commands are given: logs with their columns, models and states."""

from __future__ import annotations

import pytest

import tripletree

MODEL = "run.tripletree"


@pytest.fixture(scope="module")
def tree(folder):
    return tripletree.load(folder / MODEL)


def test_a_description_and_options_go_together(run, tmp_path):
    model = tmp_path / "m.tripletree"
    options = ["--describe", "coded.toml", "--unit", "speed=m/s", "--kind", "speed=angle", "--max-leaves", 5]
    schema = run("grow", "coded.csv", "-o", model, *options, "--json").json()["schema"]
    assert [(f["name"], f["unit"], f["kind"]) for f in schema["features"]] == [
        ("pos", "m", "real"),
        ("speed", "m/s", "angle"),
    ]
    expected = {"kind": "discrete", "names": ["acc"], "labels": ["left", "right"], "units": [""], "codes": ["0", "1"]}
    assert schema["action"] == expected
    same = [
        "--column",
        "action=acc",
        "--label",
        "0=left",
        "--label",
        "1=right",
        "--ignore",
        "step",
        "--features",
        "speed",
    ]
    schema = run("grow", "coded.csv", "-o", model, *same, "--max-leaves", 5, "--json").json()["schema"]
    assert [feature["name"] for feature in schema["features"]] == ["speed"]
    assert schema["action"]["labels"] == ["left", "right"]


COMMANDS = (
    ["predict"],
    ["explain"],
    ["story", "--episode", 3],
    ["rules"],
    ["chance", "--reach", "end"],
    ["paths", "--from", "leaf 0", "--to", "end"],
    ["simulate", "--from", "leaf 0", "--to", "leaf 3"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_model_remembers_what_its_codes_mean(run, folder, tmp_path, command):
    lines = (folder / "coded.csv").read_text().replace("acc", "action", 1)
    (tmp_path / "codes.csv").write_text(lines)
    model = tmp_path / "m.tripletree"
    grown = run(
        "grow", tmp_path / "codes.csv", "-o", model, "--label", "0=left", "--label", "1=right", "--max-leaves", 9
    )
    assert grown.code == 0
    name, *options = command
    told = [run(name, model, "--log", log, *options) for log in (tmp_path / "codes.csv", folder / "run.csv")]
    assert [one.code for one in told] == [0, 0], told[0].err
    assert told[0].out == told[1].out


def test_a_report_needs_no_labels(run, folder, tmp_path):
    model, log = tmp_path / "m.tripletree", tmp_path / "codes.csv"
    log.write_text((folder / "coded.csv").read_text().replace("acc", "action", 1))
    run("grow", log, "-o", model, "--label", "0=left", "--label", "1=right", "--max-leaves", 9)
    assert run("report", model, "--log", log, "-o", tmp_path / "r.html").code == 0
    assert run("plot", "curves", model, "--log", log, "-o", tmp_path / "c.svg").code == 0


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


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, 'Which state? Give --state "pos=0, speed=0", or --log LOG --episode ID --step N.'),
        (["--state", "1,2", "--log", "run.csv"], 2, "Give --state or --log, not both."),
        (["--state", "1,2", "--step", "3"], 2, "--episode and --step point into a log: give --log LOG as well."),
        (["states.csv", "--state", "1,2"], 2, "not both"),
        (["--state", "1.2"], 1, "--state must have 2 features"),
        (["--state", "pos=1.2, sped=0.03"], 1, "Did you mean `speed`?\n  pos=1.2, sped=0.03\n           ^^^^\n"),
        (
            ["--state", "pos > 1"],
            1,
            "--state must have one number for each feature; got 'pos > 1'. Try --state 'pos = 0, speed = 0'.",
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


def test_moves_of_another_log(run, tree, folder):
    log = tripletree.read_log(folder / "run.csv").select(range(10))
    log.to_npz(folder / "ten.npz")
    told = run("chance", MODEL, "--reach", "pos < 0.5", "--log", "ten.npz")
    assert told.out == f"{tree.chance('pos < 0.5', log=log)}\n"


def test_advice_on_a_log_that_a_model_is_asked_about_is_for_its_description(run, folder):
    rows = [line.split(",") for line in (folder / "run.csv").read_text().splitlines()]
    rows[0][0] = "flight"
    (folder / "odd.csv").write_text(
        "\n".join(",".join([*row[:5], row[6], row[5]]) for row in rows).replace("reward", "r7")
    )
    told = run("losses", MODEL, "--log", "odd.csv")
    assert told.code == 1
    assert "The log knows no rewards, the tree does." in told.err
    assert '`reward = "..."` in --describe FILE.toml' in told.err
    assert "--column" not in told.err
    (folder / "odd.toml").write_text('[columns]\nreward = "r7"\nepisode = "flight"\n')
    assert run("predict", MODEL, "--log", "odd.csv", "--describe", "odd.toml").code == 0
    told = run("predict", MODEL, "--state", "1.2,0", "--describe", "odd.toml")
    assert (told.code, "--describe says how a log is read: give --log LOG as well." in told.err) == (2, True)


def test_what_is_typed_overrides_the_description(run, folder, tmp_path):
    (folder / "units.toml").write_text('[features]\npos = "km"\nspeed = "m/s"\n')
    options = ["--describe", "units.toml", "--unit", "pos=m", "--max-leaves", 3, "--json"]
    schema = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", *options).json()["schema"]
    assert [feature["unit"] for feature in schema["features"]] == ["m", "m/s"]
