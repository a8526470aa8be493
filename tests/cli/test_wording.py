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
        ("grow", Option("validation", ...), "--validation SHARE|LOG"),
        ("grow", Option("gamma", ...), "--gamma VALUE"),
        ("grow", Option("max_depth", None), "no --max-depth"),
        ("grow", Option("truncation", "bootstrap"), "--truncation bootstrap"),
        ("grow", Option("theta", (1, 1, 1)), "--theta 1,1,1"),
        ("grow", Option("endless", True), "--endless"),
        ("grow", Option("endless", False), "no --endless"),
        ("grow", Option("early_stopping", True), "--early-stopping"),
        ("grow", Option("early_stopping", False), "--no-early-stopping"),
        ("grow", Option("reward", ...), "--column reward=NAME"),
        ("grow", Option("reward"), "--column reward"),
        ("grow", Option("action", ["main", ...]), "--column action=main,NAME"),
        ("grow", Option("action", "left leg"), "--column 'action=left leg'"),
        ("grow", Option("ignore", ["x", "y"]), "--ignore x,y"),
        ("grow", Option("features", [..., "x"]), "--features NAME,x"),
        ("grow", Option("labels", {0: "left", 1: "right"}), "--label 0=left --label 1=right"),
        ("grow", Option("units", {"v x": "m/s"}), "--unit 'v x=m/s'"),
        ("plot", Option("colour", "value"), "--colour value"),
        ("plot", Option("y"), "-y"),
        ("plot", Option("at", ...), "--at STATE"),
        ("paths", Option("k", 3), "-k 3"),
        ("record", Option("n_samples", 500), "--samples 500"),
        ("demo", Option("max_leaves", 50), "--leaves 50"),
        ("predict", Option("reward", ...), "`reward` in --describe FILE.toml"),
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


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        (
            'Type reward="...", or endless=True; try max_leaves=200.',
            "Type --column reward=NAME, or --endless; try --max-leaves 200.",
        ),
        ('Type action="..." or action=["...", "..."].', "Type --column action=NAME or --column action=NAME,NAME."),
        (
            'Type labels={0: "left", 1: "right"} or ignore=["x", "y"].',
            "Type --label 0=left --label 1=right or --ignore x,y.",
        ),
        (
            "If it is a feature, type features=[..., 'x']; if not, ignore=['x'].",
            "If it is a feature, type --features NAME,x; if not, --ignore x.",
        ),
        ("Rows are missing. Then give step=.", "Rows are missing. Then give --column step=NAME."),
        ("There is no column `acc` (given as action=).", "There is no column `acc` (given as --column action)."),
        ('name its encoding: read_log(path, encoding="latin-1").', "name its encoding: --encoding latin-1."),
        ("Try theta=(1, 1, 1), gamma=0.99 or ignore=[...].", "Try --theta 1,1,1, --gamma 0.99 or --ignore NAME."),
        ("pos=1.2 is no option, `reward=1` is a name.", "pos=1.2 is no option, `reward=1` is a name."),
    ],
)
def test_plain_texts_until_all_rooms_make_messages(plain, words):
    assert for_shell(plain, command("grow")) == words
    assert for_shell(LogError(plain), command("grow")) == words


# What is asked of each command when one of its options is wrong, so that the option is looked at ...
ASKED = {
    "check": ["run.csv"],
    "grow": ["run.csv", "-o", "new.tripletree"],
    "predict": [MODEL, "--state", "1.2,0.03"],
    "explain": [MODEL, "--state", "1.2,0.03", "--foil", "action = left"],
    "story": [MODEL, "--log", "run.csv", "--about", "value"],
    "chance": [MODEL, "--reach", "pos < 0.5"],
    "paths": [MODEL, "--from", "pos=1.2, speed=0", "--to", "end"],
    "simulate": [MODEL, "--from", "pos=1.2, speed=0", "--to", "end"],
    "rules": [MODEL, "--about", "value"],
    "plot": ["map", MODEL, "-x", "pos", "-y", "speed", "-o", "new.png"],
    "report": [MODEL, "--log", "run.csv", "-o", "new.html"],
    "demo": [],
    "record": ["left"],
}
# ... and where something else must be asked for that.
INSTEAD = {
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
    ("plot", "--where"): ["map", MODEL, "-x", "pos", "-o", "new.png"],
    ("plot", "--at"): ["map", MODEL, "-x", "pos", "-o", "new.png"],
    ("plot", "--episode"): ["map", MODEL, "-x", "pos", "-y", "speed", "-o", "new.png", "--log", "run.csv"],
}
# Nothing can be wrong with a title; where files may go is tested in test_robust.
FREE = ("--title", "--out", "-o")
PAIRED = {"--unit": "nonsense=m", "--kind": "pos=nonsense", "--label": "nonsense=x"}


def wrong():
    for name in COMMANDS:
        for parameter in command(name).params:
            flag = parameter.opts[0]
            if isinstance(parameter, click.Argument) or parameter.is_flag or flag in FREE:
                continue
            if flag == "--column":
                values = [f"{role}=nonsense" for role in ROLES]
            elif flag in PAIRED:
                values = [PAIRED[flag]]
            else:
                values = ["-3"] if isinstance(parameter.type, click.types.IntParamType) else ["-3", "nonsense"]
            yield from (pytest.param(name, flag, value, id=f"{name} {flag} {value}") for value in values)


@pytest.mark.parametrize(("name", "flag", "value"), list(wrong()))
def test_no_option_that_is_wrong_is_answered_in_python_s_words(run, work, monkeypatch, name, flag, value):
    monkeypatch.chdir(work)
    asked = INSTEAD.get((name, flag), ASKED[name])
    log = ["--log", "run.csv"] if flag == "--describe" and not {"run.csv", "--log"} & {*asked} else []
    told = run(name, *asked, *log, flag, value)
    assert told.failure is None
    assert told.code in (1, 2), told.out
    # Pairs of the shell's own, and what was typed, are as they should be.
    said = re.sub(r"--(column|unit|kind|label) \S+", "", f"{told.out}{told.err}".replace(value, ""))
    assert not re.search(r"(?<![\w-])[a-z_]+=", said), said
