"""Messages in the shell's words: every argument is an option of the command that was typed."""

from __future__ import annotations

import re

import click
import pytest

from tripletree.cli import COMMANDS, main
from tripletree.cli.inputs import ROLES
from tripletree.cli.wording import for_shell, word
from tripletree.errors import LogError, ParameterError
from tripletree.text import Message, Option

MODEL = "run.tripletree"
WORLD = click.Context(main)


def command(name: str) -> click.Command:
    return main.get_command(WORLD, name)


@pytest.mark.parametrize(
    ("name", "option", "words"),
    [
        ("chance", Option("within"), "--within"),
        ("chance", Option("within", 100), "--within 100"),
        ("chance", Option("within", None), "no --within"),
        ("chance", Option("within", ...), "--within STEPS"),
        ("chance", Option("start", "pos > 1"), "--from 'pos > 1'"),
        ("chance", Option("steps", 3), "--after 3"),
        ("chance", Option("log", ...), "--log LOG"),
        ("grow", Option("log"), "LOG"),
        ("grow", Option("validation", ...), "--validation SHARE|LOG|none"),
        ("grow", Option("gamma", ...), "--gamma VALUE"),
        ("grow", Option("max_depth", None), "no --max-depth"),
        ("grow", Option("truncation", "bootstrap"), "--truncation bootstrap"),
        ("grow", Option("theta", (1, 1, 1)), "--theta 1,1,1"),
        ("grow", Option("endless", True), "--endless"),
        ("grow", Option("endless", False), "no --endless"),
        ("grow", Option("early_stopping", True), "--early-stopping"),
        ("grow", Option("early_stopping", False), "--no-early-stopping"),
        ("grow", Option("reward", ...), "--column reward=NAME"),
        ("grow", Option("reward", "..."), "--column reward=NAME"),
        ("grow", Option("action", ["...", "..."]), "--column action=NAME,NAME"),
        ("grow", Option("features", ["...", "..."]), "--features NAME,NAME"),
        ("grow", Option("encoding", "latin-1"), "--encoding latin-1"),
        ("grow", Option("reward"), "--column reward"),
        ("grow", Option("action", ["main", ...]), "--column action=main,NAME"),
        ("grow", Option("action", "left leg"), "--column 'action=left leg'"),
        ("grow", Option("ignore", ["x", "y"]), "--ignore x,y"),
        ("grow", Option("features", [..., "x"]), "--features ...,x"),
        ("rules", Option("features", [..., "x"]), '`features = ["...", "x"]` in --describe FILE.toml'),
        ("grow", Option("labels", {0: "left", 1: "right"}), "--label 0=left --label 1=right"),
        ("grow", Option("units", {"v x": "m/s"}), "--unit 'v x=m/s'"),
        ("plot", Option("colour", "value"), "--colour value"),
        ("plot", Option("y"), "-y"),
        ("plot", Option("at", ...), "--at STATE"),
        ("paths", Option("k", 3), "-k 3"),
        ("record", Option("samples", 500), "--samples 500"),
        ("demo", Option("max_leaves", 50), "--leaves 50"),
        ("predict", Option("reward", ...), "`reward` in --describe FILE.toml"),
        ("predict", Option("reward", "..."), '`reward = "..."` in --describe FILE.toml'),
        ("predict", Option("episode", "flight"), '`episode = "flight"` in --describe FILE.toml'),
        ("rules", Option("ignore", ["x"]), '`ignore = ["x"]` in --describe FILE.toml'),
        ("rules", Option("labels", {0: "left"}), "`labels` in --describe FILE.toml"),
        ("info", Option("n_leaves", 3), "n_leaves=3"),
    ],
)
def test_every_kind_of_option(name, option, words):
    assert word(option, command(name)) == words


def test_errors_are_said_in_the_words_of_their_command():
    error = ParameterError(Message("{} is odd.{}", Option("k"), Message(" Try {}.", Option("within", 5))))
    assert for_shell(error, command("chance")) == "k is odd. Try --within 5."
    assert for_shell(error, command("explain")) == "-k is odd. Try within=5."
    assert str(error) == "k is odd. Try within=5."


def test_what_was_typed_is_never_changed():
    error = ParameterError("within=3 is not understood\n  within=3\n  ^^^^^^")
    assert for_shell(error, command("chance")) == str(error)
    named = ParameterError(Message("{} has no {!r}.", Option("reach"), "within=3"))
    assert for_shell(named, command("chance")) == "--reach has no 'within=3'."


def test_nothing_but_data_is_worded():
    plain = 'Type reward="...", or endless=True; try max_leaves=200.'
    assert for_shell(plain, command("grow")) == plain
    assert for_shell(LogError(plain), command("grow")) == plain


FEW = ["--rounds", "1", "--episodes", "2", "--judge", "2"]
# What is asked of each command when one of its options is wrong, so that the option is looked at ...
ASKED = {
    "check": ["run.csv"],
    "memory": ["run.csv"],
    "drift": ["run.csv"],
    "rhythm": ["run.csv"],
    "outcome": ["run.csv"],
    "failures": ["run.csv", "--when", "return < 1"],
    "require": ["run.csv", "always (pos > -9)"],
    "diff": ["run.csv", "run.csv"],
    "explore": [MODEL, "--no-browser"],
    "world": ["run.csv"],
    "grow": ["run.csv", "-o", "new.tripletree"],
    "predict": [MODEL, "--state", "1.2,0.03"],
    "attribute": [MODEL, "--state", "1.2,0.03"],
    "explain": [MODEL, "--state", "1.2,0.03", "--foil", "action = left"],
    "story": [MODEL, "--log", "run.csv", "--about", "value"],
    "criticality": [MODEL, "--log", "run.csv"],
    "chance": [MODEL, "--reach", "pos < 0.5"],
    "futures": [MODEL],
    "paths": [MODEL, "--from", "pos=1.2, speed=0", "--to", "end"],
    "simulate": [MODEL, "--from", "pos=1.2, speed=0", "--to", "end"],
    "rules": [MODEL, "--about", "value"],
    "plot": ["map", MODEL, "-x", "pos", "-y", "speed", "-o", "new.png"],
    "report": [MODEL, "--log", "run.csv", "-o", "new.html"],
    "weights": ["run.csv", "--leaves", "5", "--steps", "1"],
    "changes": [MODEL, "--log", "run.csv"],
    "outline": [MODEL, "--log", "run.csv"],
    "importance": [MODEL],
    "effects": [MODEL],
    "rollouts": [MODEL, "-n", "2", "--steps", "3"],
    "transitions": [MODEL],
    "held-out": [MODEL, "--log", "run.csv"],
    "losses": [MODEL, "--log", "run.csv"],
    "calibration": [MODEL, "--log", "run.csv"],
    "trust": [MODEL, "--log", "run.csv"],
    "stability": [MODEL, "--log", "run.csv", "--trees", "20"],
    "export": [MODEL, "-o", "new.json"],
    "fidelity": [MODEL, "either", "--episodes", "2"],
    "refine": [MODEL, "either", *FEW, "--log", "run.csv", "-o", "new.tripletree"],
    "demo": [],
    "record": ["CartPole-v1", "--agent", "random", "--samples", "20"],
    "explain-agent": ["CartPole-v1", "--agent", "random", "--samples", "20", "-o", "new"],
}
# ... and where something else must be asked for that.
INSTEAD = {
    ("attribute", "--episode"): [MODEL, "--log", "run.csv"],
    ("attribute", "--step"): [MODEL, "--log", "run.csv"],
    ("predict", "--episode"): [MODEL, "--log", "run.csv"],
    ("predict", "--step"): [MODEL, "--log", "run.csv"],
    ("explain", "--episode"): [MODEL, "--log", "run.csv"],
    ("explain", "--step"): [MODEL, "--log", "run.csv"],
    ("explain", "--about"): [MODEL, "--state", "1.2,0.03"],
    ("explain", "--then"): [MODEL, "--state", "1.2,0.03"],
    ("story", "--from"): [MODEL, "--to", "end"],
    ("story", "--to"): [MODEL, "--from", "leaf 3"],
    ("chance", "--after"): [MODEL],
    ("plot", "--depth"): ["tree", MODEL, "-o", "new.png"],
    ("plot", "--about"): ["effects", MODEL, "-o", "new.png"],
    ("plot", "--features"): ["effects", MODEL, "-o", "new.png"],
    ("plot", "--steps"): ["after", MODEL, "-o", "new.png"],
    ("plot", "--from"): ["after", MODEL, "-o", "new.png"],
    ("plot", "--where"): ["map", MODEL, "-x", "pos", "-o", "new.png"],
    ("plot", "--at"): ["map", MODEL, "-x", "pos", "-o", "new.png"],
    ("plot", "--episode"): ["map", MODEL, "-x", "pos", "-y", "speed", "-o", "new.png", "--log", "run.csv"],
}
# Nothing can be wrong with a title; where files may go is tested in test_robust.
FREE = ("--title", "--out", "-o")
PAIRED = {"--unit": ["nonsense=m"], "--kind": ["pos=nonsense"], "--label": ["nonsense=x"]}
# States and zones in every way that they can be wrong: unknown, empty, of another shape, unfinished.
STATES = ["nonsense", "-3", "", "leaf 3", "pos > 1", "1, 2, 3", "pos = 1, sped = 2", "pos = 1 and"]
ZONES = [
    "nonsense",
    "-3",
    "",
    "pos > 9",
    "pos > 1 and pos < 0",
    "pos in [1",
    "leaf 9999",
    "leaf x",
    "pos > 1 or pos < 0",
]
PLACES = {
    "--state": STATES,
    "--then": STATES,
    "--at": [*STATES, "pos = 1"],
    # Where nobody has been, there is still an answer.
    "--reach": [zone for zone in (*ZONES, "action = up") if zone != "pos > 9"],
    "--before": [zone for zone in ZONES if zone != "pos > 9"],
    "--from": [*ZONES, "end"],
    "--to": ZONES,
    "--zone": ZONES,
    "--where": ["nonsense", "-3", "", "end", "pos > 1", "speed > 9", "speed in {1}"],
    "--foil": [
        "nonsense",
        "",
        "pos > 1",
        "action = up",
        "action < left",
        "value > 1 and value < 0",
        "action = left or",
    ],
    "--one-way": ["nonsense", "pos=nonsense", "nonsense=up"],
}


def wrong():
    for name in COMMANDS:
        for parameter in command(name).params:
            flag = parameter.opts[0]
            if isinstance(parameter, click.Argument) or parameter.is_flag or flag in FREE:
                continue
            values = ["-3"] if isinstance(parameter.type, click.types.IntParamType) else ["-3", "nonsense"]
            if flag == "--column":
                values = [f"{role}=nonsense" for role in ROLES]
            elif isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
                values = [*values, "x"]
            values = PAIRED.get(flag) or PLACES.get(flag) or values
            yield from (pytest.param(name, flag, value, id=f"{name} {flag} {value}") for value in values)


def said_by(told, *typed: str) -> str:
    """Return what was printed without what was typed, and without the shell's own pairs."""
    said = f"{told.out}{told.err}"
    for text in filter(None, typed):
        said = said.replace(text, "")
    return re.sub(r"--(column|unit|kind|label|one-way) \S+", "", said)


@pytest.mark.parametrize(("name", "flag", "value"), list(wrong()))
def test_no_option_that_is_wrong_is_answered_in_python_s_words(run, work, monkeypatch, name, flag, value):
    monkeypatch.chdir(work)
    asked = INSTEAD.get((name, flag), ASKED[name])
    log = ["--log", "run.csv"] if flag == "--describe" and not {"run.csv", "--log"} & {*asked} else []
    told = run(name, *asked, *log, flag, value)
    assert told.failure is None
    assert told.code in (1, 2), told.out
    said = said_by(told, value)
    assert not re.search(r"(?<![\w-])[a-z_]+=", said), said
    if flag in PLACES and told.code == 1:
        # The option is called as it was typed, or the mistake is underlined.
        assert flag in told.err or "^" in told.err, told.err


# Logs with something wrong, and what the shell is told to type.
BAD_LOGS = {
    "no reward": ("episode,x,action\n0,0.5,1\n", [], "type --column reward=NAME; if not, --column reward=none."),
    "no action": (
        "episode,x,reward\n0,0.5,1\n",
        [],
        "type --column action=NAME; if not, --column action=none.",
    ),
    "missing": (
        "episode,x,action,reward\n0,0.5,1,1\n0,,1,1\n",
        [],
        "because of --missing split.",
    ),
    "gaps": (
        "timestamp,x\n0,0.5\n1,1\n2,2\n3,3\n4,2\n99,3\n",
        ["--column", "reward=none", "--column", "action=none"],
        "type --gap 20.0.",
    ),
    "no features": ("episode,action,reward\n0,0.5,1\n", [], "Type --features NAME,NAME."),
    "no episodes": (
        "x,action,reward\n0.5,1,1\n",
        [],
        "Give --column episode=NAME (an id for each row), or --column step=NAME, or --column terminated=NAME / "
        "--column truncated=NAME / --column done=NAME; if all rows are one recording without end, type --endless.",
    ),
    "endless": (
        "episode,x,action,reward\n0,0.5,1,1\n",
        ["--endless"],
        "--endless means that all rows are one recording, but episodes were given as well.",
    ),
    "text": (
        "episode,x,who,action,reward\n0,1.5,me,1,1\n0,1.5,7,1,1\n",
        [],
        "If it is not a feature: --ignore who; if its values are names: --kind who=category.",
    ),
    "unknown column": (
        "episode,x,action,reward\n0,0.5,1,1\n",
        ["--column", "reward=rewad"],
        "There is no column `rewad` (given as --column reward).",
    ),
    "two roles": (
        "episode,x,action,reward\n0,0.5,1,1\n",
        ["--column", "action=x", "--features", "x"],
        "Column `x` was given as --features and as --column action; a column has only one role.",
    ),
    "unknown unit": ("episode,x,action,reward\n0,0.5,1,1\n", ["--unit", "y=m"], "There is no feature `y` (in --unit)."),
    "kind": (
        "episode,x,action,reward\n0,0.5,1,1\n",
        ["--kind", "x=zzz"],
        "Feature `x`: --kind must be 'real', 'binary', 'integer', 'angle' or 'category'; got 'zzz'. Try --kind x=real.",
    ),
    "labels": (
        "episode,x,action,reward\n0,0.5,1,1\n0,1.5,2,1\n",
        ["--label", "1=go"],
        "Type --label 0=left --label 1=right, with every value that occurs.",
    ),
    "kind of action": (
        "episode,x,action,reward\n0,0.5,up,1\n",
        ["--action-kind", "continuous"],
        "If the actions are choices, type --action-kind discrete.",
    ),
    "encoding": ("episode,x,action,reward\n0,0.5,\xe9,1\n", [], "or name its encoding: --encoding latin-1."),
    "no encoding": (
        "episode,x,action,reward\n0,0.5,1,1\n",
        ["--encoding", "utf-9"],
        "Type --encoding utf-8 or --encoding latin-1.",
    ),
    "constant": (
        "episode,x,y,action,reward\n0,0.5,1,0,1\n0,1.5,1,1,0\n",
        [],
        "To leave it out: --ignore y.",
    ),
    "endings": (
        "episode,x,action,reward\n0,0.5,0,1\n0,1.5,1,0\n",
        [],
        "Give --column terminated=NAME and --column truncated=NAME, or one for all: --ending terminated or --ending "
        "truncated.",
    ),
    "guesses": (
        "episode,x,action,reward\n0,0.5,0,1\n0,1.5,1,0\n",
        [],
        "name the column: --column episode=NAME, --column action=NAME, --features NAME, --ignore NAME.",
    ),
    "set aside": (
        "episode,x,rewards,action,reward\n0,0.5,1,0,1\n0,1.5,2,1,0\n",
        [],
        "type --features ...,rewards; if not, --ignore rewards.",
    ),
}


@pytest.mark.parametrize("case", BAD_LOGS)
def test_what_is_wrong_with_a_log_is_said_with_what_to_type(run, work, monkeypatch, case):
    monkeypatch.chdir(work)
    text, options, advice = BAD_LOGS[case]
    (work / "bad.csv").write_text(text, encoding="latin-1")
    told = run("check", "bad.csv", *options)
    assert told.failure is None
    assert advice in told.out
    said = said_by(told)
    assert not re.search(r"(?<![\w-])[a-z_]+=", said), said
    as_data = run("check", "bad.csv", *options, "--json")
    assert advice in as_data.out.replace('\\"', '"')


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        (["grow", "bad.csv", "-o", "new.tripletree"], "Type --features NAME,NAME."),
        (
            ["predict", MODEL, "--log", "bad.csv"],
            "There is no column `pos` (given as `features` in --describe FILE.toml)",
        ),
        (
            ["rules", MODEL, "--log", "bad.csv"],
            "There is no column `pos` (given as `features` in --describe FILE.toml)",
        ),
    ],
)
def test_each_command_has_its_own_words_for_the_same_mistake(run, work, monkeypatch, asked, advice):
    monkeypatch.chdir(work)
    (work / "bad.csv").write_text("episode,action,reward\n0,left,1\n")
    told = run(*asked)
    assert told.code == 1
    assert advice in told.err


def test_warnings_are_worded_too(run, work, monkeypatch):
    monkeypatch.chdir(work)
    (work / "odd.csv").write_text("episode,x,rewards,action,reward\n" + "0,0.5,1,0,1\n0,1.5,2,1,0\n" * 3)
    told = run("grow", "odd.csv", "-o", "new.tripletree")
    assert told.code == 0
    assert "type --features ...,rewards; if not, --ignore rewards." in told.err


def test_options_that_a_file_refuses_are_named(run, work, monkeypatch):
    monkeypatch.chdir(work)
    run("record", "left", "--samples", "50", "--out", "left.npz")
    told = run("check", "left.npz", "--column", "reward=r", "--ignore", "x")
    assert told.code == 1
    assert "--column reward, --ignore cannot be given. Read it without options." in told.err
