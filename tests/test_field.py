"""A log without rewards and without actions, as machines in the field write it, through every room."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.log import fleet
from tripletree import Action, Feature, Log, ParameterError, Schema, TripleTree, load, plot, read_log
from tripletree.cli import main
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.frontend.payload import payload, usual_foils
from tripletree.scenes.overview import overview
from tripletree.scenes.strip import episode
from tripletree.scenes.tree import diagram

ABSENT = {"reward": "none", "action": "none"}
STATE = {"mode": "auto", "speed_kmh": 40.0, "battery_pct": 89.9}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    path = fleet.write(tmp_path_factory.mktemp("fleet") / "fleet.csv", fleet.rows(vehicles=6, gap=None))
    return read_log(path, **ABSENT)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def tree(log: Log) -> TripleTree:
    with pytest.warns(TripleTreeWarning) as caught:
        grown = TripleTree(max_leaves=8).fit(log)
    assert [str(one.message) for one in caught] == [
        "This log has no actions: they play no part in growth.",
        "This log has no rewards: values play no part in growth.",
    ]
    return grown


def test_what_is_not_there_is_said_once(tmp_path: Path) -> None:
    path = fleet.write(tmp_path / "fleet.csv", fleet.rows(gap=None))
    with pytest.warns(TripleTreeWarning) as caught:
        found = read_log(path)
    said = str(caught[0].message)
    assert said.count("No column looks like the reward, so values play no part.") == 1
    assert said.count("No column looks like the action, so the tree is about how states change.") == 1
    assert 'if not, reward="none".' in said
    quiet = read_log(path, **ABSENT)  # type: ignore[arg-type]
    assert quiet.fingerprint() == found.fingerprint()
    assert [one.code for one in quiet.check().warnings] == []
    assert repr(quiet).endswith("no actions)")
    assert "reward" not in quiet._repr_html_()


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ("action", "about is 'action', but the log has no actions. It knows `derivative of "),
        ("value", "about is 'value', but the log has no rewards, so this tree knows no values. It knows"),
    ],
)
def test_questions_about_it_are_refused(tree: TripleTree, log: Log, about: str, message: str) -> None:
    for ask in (
        lambda: tree.explain(STATE, about=about),
        lambda: tree.rules(about=about),
        lambda: tree.story(log.select([0]), about=about),
        lambda: tree.explain_changes(log, about=about),
    ):
        with pytest.raises(ParameterError, match=re.escape(message)):
            ask()


def test_conditions_on_it_are_refused(tree: TripleTree) -> None:
    with pytest.raises(ParameterError, match="is 'value', but the log has no rewards"):
        tree.chance("value > 0", within=3)
    for foil in ({"value": (0, None)}, {"action": "left"}):
        with pytest.raises(ParameterError, match=r"A key of foil is '(value|action)', but the log has no"):
            tree.explain(STATE, foil)
    with pytest.raises(ParameterError, match="foil has no `action`; it may have"):
        tree.explain(STATE, "action = left")
    with pytest.raises(ParameterError, match=r"foil must be a dict.*derivative of"):
        tree.explain(STATE, 3)


def test_changes_are_told_instead(tree: TripleTree, log: Log) -> None:
    told = str(tree.predict(STATE))
    assert told.startswith("Change of mode is auto = ")
    assert "km/h per second" in told
    assert "value" not in told
    answer = tree.predict(STATE)
    assert answer.action is None
    assert answer.value is None
    assert "Change of speed_kmh = " in str(tree.explain(STATE, about="derivative of speed_kmh"))
    regions = str(tree.outline(log))
    assert "change of " in regions
    assert "value" not in regions
    assert "value" not in str(tree.story(log.select([0]), about="derivative of speed_kmh"))


def test_pictures_show_changes(tree: TripleTree, log: Log) -> None:
    fitted = tree.fitted_
    assert "Mean change of" in repr(plot.leaf_map(tree, "speed_kmh", "battery_pct"))
    titles = [scene.title for row in overview(tree).rows for scene in row]
    assert not any("action" in title or "value" in title for title in titles)
    drawn = episode(fitted, log, 0, about="derivative of speed_kmh")
    assert not any("predicted" in entry.label for entry in drawn.legend)
    texts = [text for mark in diagram(fitted).marks for text in getattr(mark, "text", ())]
    assert any(text.startswith("change of") for text in texts)
    assert not any("none" in text or "value" in text for text in texts)
    assert all(name.startswith("derivative of") for name in payload(fitted)["facts"])
    assert all("change of" in name for name in usual_foils(fitted))


def test_a_report_is_about_changes(tree: TripleTree, log: Log, tmp_path: Path) -> None:
    tree.report(log, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    text = html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(script|style).*?</\1>", "", text)))
    text = re.sub(r"\s+", " ", text)
    assert "The log has no rewards, so nothing here is about returns or values." in text
    assert "what was done is not in the log" in text
    for word in ("median return", "action = none", "lowest return", "Actions ("):
        assert word not in text
    assert "Typical: the median length" in text


def test_files_keep_it(tree: TripleTree, log: Log, tmp_path: Path) -> None:
    tree.save(tmp_path / "m.tripletree")
    assert load(tmp_path / "m.tripletree").fitted_.schema == log.schema
    log.to_npz(tmp_path / "log.npz")
    log.to_parquet(tmp_path / "log.parquet")
    for name in ("log.npz", "log.parquet"):
        again = read_log(tmp_path / name)
        assert again.fingerprint() == log.fingerprint()
        assert np.array_equal(again.dt, log.dt)  # type: ignore[arg-type]
    frame = log.to_pandas()
    assert not {"reward", "action"} & set(frame.columns)
    again = Log.from_frame(frame, **ABSENT)  # type: ignore[arg-type]
    assert again.schema == log.schema
    assert np.array_equal(again.states, log.states)
    assert np.array_equal(again.dt, log.dt)  # type: ignore[arg-type]


def test_episodes_keep_their_times(log: Log) -> None:
    assert Log.concatenate(log.episodes()).fingerprint() == log.fingerprint()
    assert log.select([1]).dt is not None


def test_logs_that_know_other_things_do_not_fit(tree: TripleTree, log: Log) -> None:
    table = log.to_pandas()
    paid = Log.from_frame(table.assign(reward=1.5), action="none")
    with pytest.raises(LogError, match=r'The tree knows no rewards, the log does. Read it with reward="none".'):
        tree.losses(paid)
    untimed = Log.from_frame(table.drop(columns="dt"), **ABSENT)  # type: ignore[arg-type]
    with pytest.raises(LogError, match="The tree has derivatives per second, the log per step"):
        tree.losses(untimed)


def test_logs_with_other_columns_are_named(log: Log) -> None:
    renamed = {"speed_kmh": "speed", "next_speed_kmh": "next_speed"}
    other = Log.from_frame(log.to_pandas().rename(columns=renamed), **ABSENT)  # type: ignore[arg-type]
    with pytest.raises(LogError, match="Log 1 lacks `speed_kmh` and also has `speed`"):
        Log.concatenate([log, other])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dt": [1.0, 0.0]}, "Log.dt must hold finite numbers above 0"),
        ({"dt": [1.0]}, r"Log.dt has shape \(1,\); expected \(2,\)"),
        ({"dt": None}, "Log.dt must be given if and only if the schema says"),
    ],
)
def test_times_are_checked(changes: dict[str, Any], message: str) -> None:
    schema = Schema((Feature("x"),), Action("discrete", labels=("none",)), has_action=False, per_second=True)
    fields: dict[str, Any] = {
        "states": [[1.0], [2.0]],
        "actions": [0, 0],
        "rewards": [0, 0],
        "starts": [0, 2],
        "final_states": [[np.nan]],
        "endings": [0],
        "episode_ids": [0],
        "schema": schema,
        "dt": [1.0, 1.0],
    }
    with pytest.raises(LogError, match=message):
        Log(
            **{
                name: None if part is None else np.array(part) if name != "schema" else part
                for name, part in {**fields, **changes}.items()
            }
        )


def test_a_schema_without_actions_has_no_labels() -> None:
    with pytest.raises(LogError, match='A log without actions has the only label "none"'):
        Schema((Feature("x"),), Action("discrete", labels=("a",)), has_action=False)


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_shell_reads_a_fleet(tmp_path: Path) -> None:
    path, model = fleet.write(tmp_path / "fleet.csv", fleet.rows(vehicles=6)), tmp_path / "m.tripletree"
    columns = fleet.rows(1, vehicles=2)
    columns["speed_kmh"][3] = ""
    other = fleet.write(tmp_path / "other.csv", columns)
    result = run("check", path)
    assert result.exit_code == 0
    assert "--gap" in result.output
    assert "--column reward=none" in result.output
    none = ("--column", "reward=none", "--column", "action=none", "--gap", "60")
    result = run("grow", path, "--out", model, "--max-leaves", "6", *none)
    assert result.exit_code == 0, result.output
    result = run("info", model)
    assert "not in the log" in result.output
    result = run("explain", model, "--state", "mode=auto, speed_kmh=40", "--about", "derivative of speed_kmh")
    assert "Change of speed_kmh" in result.output
    result = run("explain", model, "--state", "mode=auto, speed_kmh=40")
    assert result.exit_code != 0
    assert "but the log has no actions" in result.output
    result = run("losses", model, "--log", other)
    assert result.exit_code == 0, result.output
    result = run("check", other, *none, "--missing", "fill")
    assert "carried on" in result.output
    states = tmp_path / "states.csv"
    states.write_text("mode,speed_kmh,battery_pct\nauto,40,89\ncoast,20,88\n")
    result = run("predict", model, states)
    assert result.output.startswith("derivative_mode is auto")
    result = run("check", path, "--missing", "guess")
    assert result.exit_code == 2
