"""Chances and calibration of a log on disk: counted piece by piece, they are those of the same log in memory."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.scale.folders import random_columns, with_holes, write_folder
from tests.scale.test_fit import pieces_of, quiet  # noqa: F401 - a fixture
from tripletree import ParameterError, TripleTree, open_log, read_log
from tripletree.cli import main

ROUNDED = {"interval", "unresolved", "probability"}
"""What is added up in another order where a piece cuts an episode; everything else is the same to the last bit."""


def same(here: Any, there: Any, what: object) -> None:
    """Compare two answers: words and counts as they are, numbers that add up rounded ones to twelve digits."""
    for one in fields(here):
        a, b = getattr(here, one.name), getattr(there, one.name)
        if isinstance(a, float | np.ndarray) and b is not None:
            tolerance = 1e-12 if one.name in ROUNDED else 0
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance, err_msg=f"{one.name} of {what}")
        else:
            assert a == b, (one.name, what)


def random_questions(rng: np.random.Generator, log: Any, tree: TripleTree) -> list[dict[str, Any]]:
    """Return questions of every kind: zones of features, values, actions and leaves, the end; states and conditions."""

    def zone() -> Any:
        f = int(rng.integers(log.n_features))
        low, high = np.sort(rng.choice(log.states[:, f], 2)).tolist()
        name = log.schema.feature_names[f]
        kinds = (
            {name: (low, None)},
            {name: (low, high + 0.1)},
            {int(rng.integers(tree.n_leaves_)), 0},
            {"value": (float(np.median(tree.fitted_.leaves.value_mean)), None)},
        )
        return kinds[rng.integers(len(kinds))]

    def start() -> Any:
        state = log.states[rng.integers(log.n_samples)] + rng.normal(scale=0.1, size=log.n_features)
        kinds = (None, zone(), state.tolist())
        return kinds[rng.integers(len(kinds))]

    return [
        {
            "reach": "end" if rng.random() < 0.2 else zone(),
            "start": start(),
            "before": zone() if rng.random() < 0.4 else None,
            "within": int(rng.integers(0, 30)) if rng.random() < 0.5 else None,
        }
        for _ in range(4)
    ]


def conditions(rng: np.random.Generator, log: Any) -> str:
    name, middle = log.schema.feature_names[0], float(np.median(log.states[:, 0]))
    kinds = (
        f"return < {float(np.median(log.rewards)):g}",
        "length >= 10",
        "ending = truncated or ending = terminated",
        f"visits ({name} > {middle!r})",
        f"after ({name} > {middle!r}) and length > 3",
        f"episode = {log.episode_ids[0]}",
        f"not ends ({name} > {middle!r})",
    )
    return kinds[rng.integers(len(kinds))]


def asked(tree: TripleTree, log: Any, question: dict[str, Any], given: str | None = None) -> list[Any]:
    """Return both answers: how likely, and how soon."""
    steps = {name: value for name, value in question.items() if name != "within"}
    try:
        return [tree.chance(**question, given=given, log=log), tree.expected_steps(**steps, given=given, log=log)]
    except ParameterError as error:  # an empty zone, or numbers that do not fit
        return [str(error)]


def compared(tree: TripleTree, here: Any, there: Any, question: dict[str, Any], given: str | None = None) -> None:
    one, other = asked(tree, here, question, given), asked(tree, there, question, given)
    if isinstance(one[0], str):
        assert one == other
        return
    for a, b in zip(one, other, strict=True):
        same(a, b, (question, given))
        if a.seen is not None:
            same(a.seen, b.seen, (question, given))
        assert str(a) == str(b)


@pytest.mark.parametrize("block", range(4))
def test_chances_are_those_of_memory(block, tmp_path, monkeypatch):
    for seed in range(6 * block, 6 * block + 6):
        rng = np.random.default_rng(seed)
        folder = write_folder(tmp_path / f"log{seed}", random_columns(rng), rng, int(rng.choice([1, 7, 50])))
        pieces_of(monkeypatch, int(rng.choice([5, 17, 64, 2**18])))
        here = read_log(folder)
        there = open_log(folder, cache=tmp_path / "cache", workers=2)
        tree = TripleTree(12, keep="leaves").fit(here)
        for question in random_questions(rng, here, tree):
            compared(tree, here, there, question)


@pytest.mark.parametrize("block", range(2))
def test_conditions_choose_the_episodes_that_they_choose_in_memory(block, tmp_path, monkeypatch):
    for seed in range(100 + 6 * block, 106 + 6 * block):
        rng = np.random.default_rng(seed)
        folder = write_folder(tmp_path / f"log{seed}", random_columns(rng, episodes=9), rng, int(rng.choice([1, 7])))
        pieces_of(monkeypatch, int(rng.choice([40, 2**18])))  # at most 40 steps an episode: none is cut
        here = read_log(folder)
        there = open_log(folder, cache=tmp_path / "cache", workers=2)
        tree = TripleTree(12, keep="leaves").fit(here)
        for question in random_questions(rng, here, tree):
            compared(tree, here, there, question, conditions(rng, here))


def test_one_endless_recording_is_counted_across_its_pieces(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    columns = random_columns(rng, episodes=15)
    for name in ("episode", "step", "terminated", "truncated"):
        columns.pop(name)
    folder = write_folder(tmp_path / "log", columns, rng, 1)
    pieces_of(monkeypatch, 16)
    here, there = read_log(next(folder.iterdir()), endless=True), open_log(folder, endless=True, cache=tmp_path / "c")
    assert here.n_episodes == 1
    assert here.n_samples > 5 * 16
    tree = TripleTree(12, keep="leaves").fit(here)
    for _ in range(5):
        for question in random_questions(rng, here, tree):
            compared(tree, here, there, question)
    with pytest.raises(ParameterError, match=r"so long that they are worked on in pieces, and given needs whole ones"):
        tree.chance("end", given="length > 3", log=there)


def test_where_nobody_was_the_chain_guesses_and_says_how_far_it_misses(tmp_path):
    rng = np.random.default_rng(2)
    columns = random_columns(rng, episodes=9)
    tree = TripleTree(12, keep="leaves").fit(read_log(write_folder(tmp_path / "all", columns, rng, 3)))
    low, episode = min(zip(columns["x0"], columns["episode"], strict=True))
    others = [row for row, name in enumerate(columns["episode"]) if name != episode]
    some = {name: [column[row] for row in others] for name, column in columns.items()}
    assert min(some["x0"]) > low
    folder = write_folder(tmp_path / "some", some, rng, 3)
    here, there = read_log(folder), open_log(folder, cache=tmp_path / "cache")
    question = {"reach": {"x0": (0, None)}, "start": {"x0": low}, "before": None, "within": 5}
    compared(tree, here, there, question)
    answer = tree.chance(**question, log=there)
    assert not answer.counted
    assert answer.miss is not None


def test_what_is_wrong_is_said_before_anything_is_read(tmp_path):
    rng = np.random.default_rng(7)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=9), rng, 3)
    tree = TripleTree(12).fit(read_log(folder))
    log = open_log(folder, cache=tmp_path / "never")
    with pytest.raises(ParameterError, match="start must hold a state"):
        tree.chance({"x0": (0, None)}, "end", log=log)
    with pytest.raises(ParameterError, match="For a log on disk given must be text"):
        tree.chance("end", given=np.ones(9, bool), log=log)
    assert not (tmp_path / "never").exists()
    with pytest.raises(ParameterError, match="This needs a log in memory"):
        tree.after(5, log=log)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_every_executor_counts_the_same(executor, tmp_path, monkeypatch):
    rng = np.random.default_rng(8)
    folder = write_folder(tmp_path / "log", random_columns(rng, episodes=11), rng, 4)
    pieces_of(monkeypatch, 16)
    here = read_log(folder)
    there = open_log(folder, cache=tmp_path / "cache", workers=2, executor=executor)
    tree = TripleTree(12, keep="leaves").fit(here)
    question = {"reach": {"x0": (0, None)}, "start": here.states[7].tolist(), "before": None, "within": 5}
    compared(tree, here, there, question)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("block", range(3))
def test_calibration_and_trust_are_those_of_memory(block, holes, tmp_path, monkeypatch):
    for seed in range(200 + 5 * block, 205 + 5 * block):
        rng = np.random.default_rng(seed)
        columns = random_columns(rng, episodes=int(rng.integers(4, 12)))
        columns, roles = with_holes(columns, rng) if holes else (columns, {})
        folder = write_folder(tmp_path / f"log{seed}", columns, rng, int(rng.choice([1, 7, 50])))
        pieces_of(monkeypatch, int(rng.choice([5, 17, 64, 2**18])))
        here = read_log(folder, **roles)
        there = open_log(folder, cache=tmp_path / "cache", workers=2, **roles)
        # Of some it has seen all episodes, of others only a few: then those count that it has not seen.
        grown_on = here if rng.random() < 0.5 else here.select([0, 1])
        truncation = str(rng.choice(["bootstrap", "paper"]))
        leaf_model = str(rng.choice(["mean", "linear"]))
        tree = TripleTree(12, leaf_model=leaf_model, truncation=truncation).fit(grown_on)
        names = ("confidence",) if here.schema.action.kind == "discrete" else here.schema.action.names
        for about in (*names, "value"):
            groups = int(rng.choice([1, 3, 10]))
            one, other = (tree.calibration(log, about=about, groups=groups) for log in (here, there))
            assert one.count.tolist() == other.count.tolist()
            assert (one.about, one.episodes, one.unseen) == (other.about, other.episodes, other.unseen)
            for name in ("predicted", "observed", "error", "scale"):
                a, b = getattr(one, name), getattr(other, name)
                np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9 * one.scale, err_msg=name)
        one, other = tree.trust(here), tree.trust(there)
        assert (one.outside, one.share.tolist()) == (other.outside, other.share.tolist())


def test_actions_with_labels_of_the_tree_are_recognised(tmp_path):
    rng = np.random.default_rng(3)
    while "action" not in (columns := random_columns(rng, episodes=9)):
        pass
    folder = write_folder(tmp_path / "log", columns, rng, 3)
    labels = {0: "left", 1: "right", 2: "none"}
    named = read_log(folder, labels=labels)
    tree = TripleTree(12).fit(named.select(range(5)))
    expected = tree.calibration(named, about="confidence")
    told = tree.calibration(open_log(folder, cache=tmp_path / "cache"), about="confidence")
    assert expected.unseen
    assert (told.unseen, told.episodes, told.count.tolist()) == (True, expected.episodes, expected.count.tolist())


def test_large_logs_are_asked_without_reading_them_whole(tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    columns = random_columns(rng, episodes=9)
    folder = write_folder(tmp_path / "log", columns, rng, 5)
    model = str(tmp_path / "m.tripletree")
    TripleTree(20, leaf_model="mean").fit(read_log(folder)).save(model)
    commands = (
        ["chance", model, "--reach", "x0 > 0", "--within", "5"],
        ["chance", model, "--reach", "x0 > 0", "--steps", "--given", "length > 3"],
        ["chance", model, "--unreachable"],
        ["chance", model, "--occupancy"],
        ["calibration", model],
        ["trust", model],
        ["transitions", model],
        ["rollouts", model, "-n", "2", "--steps", "3"],
    )

    def told() -> list[str]:
        done = [CliRunner().invoke(main, [*command, "--log", str(folder)]) for command in commands]
        assert [one.exit_code for one in done] == [0] * len(commands), [one.output for one in done]
        return [one.stdout for one in done]

    expected = told()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tripletree.scale.plan.free_memory", lambda: 10)
    monkeypatch.setattr("tripletree.scale.plan.USUAL", 2 * 10**9)
    assert told() == expected
    assert (tmp_path / "home" / "tripletree").exists()
    assert list((tmp_path / "home").rglob("*-*")) == []
