"""The past as features: the right rows, readable names, and no part of it in what growth explains."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.log.rememberers import steered
from tripletree import Log, ParameterError, TripleTree, load, read_log
from tripletree.cli import main
from tripletree.log.schema import Schema

pytestmark = pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")


@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), lag=st.integers(1, 7), labels=st.booleans())
def test_each_row_has_what_was_so_many_steps_ago(lengths, lag, labels):
    n, starts = sum(lengths), np.append(0, np.cumsum(lengths))
    rng = np.random.default_rng(n)
    actions = rng.integers(1, 4, n) if labels else rng.uniform(1, 2, (n, 2))
    log = Log.from_arrays(
        rng.normal(size=(n, 2)),
        actions,
        np.zeros(n),
        starts=starts[:-1],
        final_states=rng.normal(size=(len(lengths), 2)),
    )
    lagged = log.with_lags([lag])
    names = lagged.schema.feature_names
    moved = lagged.states[:, 2:4]
    done = lagged.states[:, 4:]
    for begin, end in itertools.pairwise(starts.tolist()):
        for row in range(begin, end + 1):
            there = (lagged.states if row < end else lagged.final_states)[
                row if row < end else list(starts[1:]).index(end)
            ]
            np.testing.assert_array_equal(there[2:4], log.states[max(row - lag, begin)])
            if labels:
                label = "none yet" if row - lag < begin else str(actions[row - lag])
                assert names[4 + int(there[4:].argmax())].endswith(f"ago is {label}")
                assert there[4:].sum() == 1
            else:
                np.testing.assert_array_equal(there[4:], actions[row - lag] if row - lag >= begin else 0)
    assert moved.shape[1] == 2
    assert done.shape[1] == (len(log.schema.action.labels) + 1 if labels else 2)
    assert Schema.from_dict(lagged.schema.to_dict()) == lagged.schema


def test_names_can_be_read_aloud():
    assert steered(episodes=2).with_lags([1, 5]).schema.feature_names == (
        "x",
        "v",
        "x 1 step ago",
        "v 1 step ago",
        "push 1 step ago",
        "x 5 steps ago",
        "v 5 steps ago",
        "push 5 steps ago",
    )
    modes = Log.from_dict(
        {"episode": [0, 0], "gear": ["low", "high"], "x": [1.0, 2.0], "action": ["a", "b"], "reward": [0, 1]}
    )
    assert modes.with_lags([2]).schema.feature_names[3:] == (
        "gear 2 steps ago is high",
        "gear 2 steps ago is low",
        "x 2 steps ago",
        "action 2 steps ago is a",
        "action 2 steps ago is b",
        "action 2 steps ago is none yet",
    )


def test_what_past_features_do_next_is_not_what_a_tree_explains():
    log = steered("delay", episodes=10, length=40)
    lagged = log.with_lags([1])
    plain, past = (TripleTree(max_leaves=1, leaf_model="mean").fit(one).fitted_ for one in (log, lagged))
    np.testing.assert_array_equal(past.derivative_scale, [*plain.derivative_scale, 0, 0, 0])
    np.testing.assert_allclose(past.curve_training, plain.curve_training)


def test_a_delay_is_explained_by_the_state_before():
    log = steered("delay", episodes=40, length=40)
    without, with_past = (
        TripleTree(max_leaves=200).fit(*one.split(0.3)).fitted_.curve_validation[:, 0].min()
        for one in (log, log.with_lags([5]))
    )
    assert with_past < 0.75 * without


@pytest.mark.parametrize("lags", [[], 5, "1,5", [1, 1], [0], [1.5]])
def test_wrong_lags_are_refused(lags):
    with pytest.raises(ParameterError, match="lags"):
        steered(episodes=2).with_lags(lags)


@pytest.mark.parametrize("labels", [False, True])
def test_from_the_shell_and_back(tmp_path, labels):
    path, model = tmp_path / "run.csv", tmp_path / "run.tripletree"
    log = steered("delay", episodes=10, length=30, labels=labels)
    log.to_csv(path)
    run = CliRunner()
    result = run.invoke(
        main, ["grow", str(path), "-o", str(model), "--lags", "1,5", "--max-leaves", "20", "--column", "action=push"]
    )
    assert result.exit_code == 0, result.output
    tree = load(model)
    assert tree.fitted_.schema.lags == (1, 5)
    for extra in (["info"], ["predict", "--state", "x = 0.5, v 5 steps ago = -0.2"], ["explain", "--state", "x = 0.5"]):
        result = run.invoke(main, [extra[0], str(model), *extra[1:]])
        assert result.exit_code == 0, result.output
    result = run.invoke(main, ["trust", str(model), "--log", str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)
    result = run.invoke(main, ["grow", str(path), "-o", str(model), "--lags", "one"])
    assert result.exit_code == 2
    assert "such as 1,5" in result.output


def test_a_tree_without_actions_is_shown(tmp_path):
    path = tmp_path / "run.tripletree"
    log = steered(episodes=4, length=20)
    table = log.to_pandas().drop(columns=["push", "reward"])
    TripleTree(max_leaves=3).fit(Log.from_frame(table, action="none", reward="none")).save(path)
    result = CliRunner().invoke(main, ["info", str(path)])
    assert result.exit_code == 0, result.output
    assert "Derivative: " in result.output
    assert "Action: " not in result.output


def test_files_keep_the_past(tmp_path):
    lagged = steered(episodes=3, labels=True).with_lags([2])
    for name in ("log.npz", "log.parquet"):
        path = tmp_path / name
        lagged.to_npz(path) if name.endswith("npz") else lagged.to_parquet(path)
        assert read_log(path).fingerprint() == lagged.fingerprint()
