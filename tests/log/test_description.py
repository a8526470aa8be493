"""Descriptions of logs in TOML: what they say, and what they cannot say."""

from __future__ import annotations

import pytest

from tripletree import LogError, read_description, read_log

WHOLE = """
encoding = "latin-1"
[columns]
episode = "run"
action = ["main", "side"]
features = ["pos", "tilt"]
ignore = "comment"
next_state = "after_"
[features]
pos = "m"
tilt = { unit = "rad", kind = "angle" }
speed = { kind = "real" }
[action]
kind = "continuous"
units = { main = "N" }
[episodes]
ending = "terminated"
endless = false
"""


@pytest.fixture
def described(tmp_path):
    def describe(text):
        path = tmp_path / "run.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_description(path)

    return describe


def test_everything_that_can_be_said(described):
    assert described(WHOLE) == {
        "encoding": "latin-1",
        "episode": "run",
        "action": ["main", "side"],
        "features": ["pos", "tilt"],
        "ignore": "comment",
        "next_state": "after_",
        "units": {"main": "N", "pos": "m", "tilt": "rad"},
        "kinds": {"tilt": "angle", "speed": "real"},
        "action_kind": "continuous",
        "ending": "terminated",
        "endless": False,
    }
    assert described("") == {}
    assert described("\ufeff[action]\nlabels = ['a', 'b']") == {"labels": ["a", "b"]}


def test_a_log_is_read_as_described(described, tmp_path):
    (tmp_path / "run.csv").write_text("run,pos,move,reward\n0,1.5,0,1\n0,2.5,1,1\n1,0.5,0,1\n")
    text = (
        '[columns]\nepisode = "run"\naction = "move"\n[features]\npos = "m"\n[action.labels]\n0 = "left"\n1 = "right"\n'
    )
    log = read_log(tmp_path / "run.csv", **described(text))
    assert (log.n_episodes, log.schema.features[0].unit) == (2, "m")
    assert log.schema.action.labels == ("left", "right")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[columns\n", r"run.toml is not valid TOML: .*line 1"),
        (b"\xff", "is not UTF-8 text, as TOML files must be"),
        (
            "[colums]\n",
            r"has `colums`; a description may have `columns`, .*, `encoding`. Did you mean `columns`\?",
        ),
        ('episode = "run"', r"has `episode`; .*It belongs in \[columns\]."),
        ("columns = 3", r"has columns = 3; columns is a table, which begins with a line \[columns\]."),
        ('[columns]\nepisod = "run"', r"has columns.episod; \[columns\] may have .*Did you mean `episode`\?"),
        ("[columns]\nepisode = 3", r'has columns.episode = 3; type episode = "..."'),
        ("[columns]\nfeatures = [1, 2]", r'type features = "..." or \["...", "..."\]'),
        ("[features]\npos = 3", r'has features.pos = 3; type pos = "m", or pos = \{ unit = "m", kind = "angle" \}.'),
        ('[features]\npos = { units = "m" }', r"has features.pos.units; .*Did you mean `unit`\?"),
        ("[action]\nlabels = { 0 = 1 }", r'type labels = \["left", "right"\] or \{ 0 = "left", 1 = "right" \}'),
        ('[episodes]\nendless = "yes"', "has episodes.endless = 'yes'; type endless = true or false."),
        ("encoding = 8", 'has encoding = 8; type encoding = "...".'),
        ("a = " + "[" * 5000, "not valid TOML"),
        ("#" * 1_000_001, "1,000,001 bytes long; a description may have at most 1,000,000"),
    ],
)
def test_what_is_not_understood(described, text, message):
    with pytest.raises(LogError, match=message):
        described(text)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^There is no file .*nowhere\.toml\.$"):
        read_description(tmp_path / "nowhere.toml")
    with pytest.raises(LogError, match=r"cannot be read: it is a folder, not a file"):
        read_description(tmp_path)
