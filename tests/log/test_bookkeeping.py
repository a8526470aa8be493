"""Columns that are no part of the state are left out, by name and by content; states stay, whatever they are called."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log import Log, check, read_log
from tripletree.log.bookkeeping import folded, numbers_rows

EPISODES, STEPS = 12, 10
N = EPISODES * STEPS
RNG = np.random.default_rng(0)
TABLE: dict[str, Any] = {
    "episode": np.repeat(np.arange(EPISODES), STEPS),
    "step": np.tile(np.arange(STEPS), EPISODES),
    "pos": RNG.normal(size=N),
    "speed": RNG.normal(size=N),
    "action": RNG.integers(0, 3, N),
    "reward": RNG.normal(size=N),
}
ODD = RNG.normal(size=N)


def features(columns: dict[str, Any], **options: Any) -> tuple[str, ...]:
    """Return the features besides pos and speed."""
    names = Log.from_dict(TABLE | columns, **options).schema.feature_names
    return tuple(name for name in names if name not in ("pos", "speed"))


def returns(gamma: float, truncated: float = 0.0) -> Any:
    """Return the discounted sum of the rewards from each row on; what follows the end counts as ``truncated``."""
    found = np.zeros(N)
    for row in reversed(range(N)):
        following = truncated if (row + 1) % STEPS == 0 else found[row + 1]
        found[row] = TABLE["reward"][row] + gamma * following
    return found


BY_NAME = [
    # stable-baselines3, CleanRL, Spinning Up, tianshou
    *("value", "values", "log_prob", "log_probs", "logprobs", "logp", "advantage", "advantages", "adv", "return"),
    *("returns", "ret", "val", "episode_starts", "Entropy", "td_error", "obs_next", "state_value"),
    # RLlib
    *("vf_preds", "value_targets", "agent_index", "unroll_id", "env_id"),
    # decision transformers and offline learning
    *("returns_to_go", "rtg", "return-to-go", "discounted_return", "mc_return", "q_values_0", "q_value", "target_q"),
    # D4RL, Minari, RLDS
    *("infos/qpos_0", "infos/goal_1", "info.x_position", "metadata/policy", "is_first", "seed", "id"),
    # LeRobot
    *("timestamp", "task_index", "next.success", "task"),
    # recorders of all sorts
    *(
        "wall_time",
        "walltime",
        "wall_clock",
        "wall_clock_time",
        "datetime",
        "global_step",
        "total_timesteps",
        "worker_id",
        "episode_return",
        "episode_length",
    ),
    *("raw_reward", "reward_ctrl", "cumulative_reward", "policy_logits_2", "behavior_log_prob", "next_value"),
    *("neglogpacs", "vpred", "Q(s, a)", "V(s)", "terminal_observation_1", "ep_info.r", "next_log_prob"),
    *("__index_level_0__", "__index_level_1__", "iteration", "info_dict"),
]


@pytest.mark.parametrize("name", BY_NAME)
def test_left_out_by_name(name: str) -> None:
    with nullcontext() if name.startswith("__") else pytest.warns(TripleTreeWarning, match="set aside"):
        log = Log.from_dict(TABLE | {name: ODD})
    assert log.schema.feature_names == ("pos", "speed")
    assert f"  set aside    {name}\n" in log.reading
    (finding,) = log.findings
    assert finding.code == "set-aside"
    assert finding.fix == f'If `{name}` is a feature, type features=[..., "{name}"]; if not, ignore=["{name}"].'


STATES = [
    # time inside an episode is a state like any other
    *("time_left", "remaining_time", "elapsed", "time_of_day", "time_to_goal", "countdown", "phase"),
    # joints, angles and their like
    *("q", "q_0", "qpos_0", "qvel_1", "q_dot", "v", "v_x", "gamma", "theta", "dq_3"),
    # money and games
    *("log_return", "daily_return", "portfolio_value", "value_at_risk", "price_index", "score", "level", "lives"),
    *("reward_x", "prev_reward", "last_action", "prev_action", "prob_rain", "probability_of_rain", "priority"),
    # grids and graphs
    *("row", "col", "room_id", "target_id", "lane_index", "node_id", "valid", "date_of_birth", "information"),
    # what names itself a state
    *("observation.value", "observations_0", "obs_return", "state_0", "state/timestamp", "obs.q_values"),
    *("wall", "wall_0", "wall_distance", "returning", "critical", "target", "seeds", "identity", "epochs_left"),
    *("new_cases", "loss", "weight", "discounted_price", "return_flow", "valuehead", "advantage_team", "ts"),
]


@pytest.mark.parametrize("name", STATES)
def test_states_stay(name: str) -> None:
    log = Log.from_dict(TABLE | {name: ODD})
    assert log.schema.feature_names == ("pos", "speed", name)
    assert log.findings == ()


def test_there_are_many_of_both() -> None:
    assert min(len(set(BY_NAME)), len(set(STATES))) >= 25


CONTENT: dict[str, tuple[Any, str]] = {
    "counter": (np.arange(N), "it counts the rows"),
    "counter from 1": (np.arange(N) + 1.0, "it counts the rows"),
    "clock": (1.7e9 + 0.02 * np.arange(N), "it counts the rows"),
    "countdown": (-np.arange(N), "it counts the rows"),
    "the action": (TABLE["action"], "it repeats the action"),
    "the action as float": (TABLE["action"].astype(np.float32), "it repeats the action"),
    "the reward": (TABLE["reward"], "it repeats the reward"),
    "the step": (TABLE["step"], "it repeats the step"),
    "the step from 1": (TABLE["step"] + 1, "it repeats the step"),
    "the episode": (TABLE["episode"] + 1, "it repeats the episode"),
    "the return": (returns(1.0), "it repeats the return"),
    "discounted": (returns(0.9), "it repeats the return"),
    "in single precision": (returns(0.97).astype(np.float32), "it repeats the return"),
    "rounded": (np.round(returns(0.5), 4), "it repeats the return"),
    "of the episode": (
        np.repeat(TABLE["reward"].reshape(EPISODES, STEPS).sum(axis=1), STEPS),
        "it repeats the return",
    ),
}


@pytest.mark.parametrize(("column", "reason"), CONTENT.values(), ids=CONTENT)
def test_left_out_by_content(column: Any, reason: str) -> None:
    report = check(TABLE | {"x": column})
    (finding,) = (finding for finding in report if finding.code == "set-aside")
    assert finding.text == f"`x` was set aside: {reason}."
    assert 'features=[..., "x"]' in finding.fix
    assert finding.level == ("note" if "counts" in reason else "warning")


KEPT: dict[str, Any] = {
    "a row counter that begins again": np.tile(np.arange(STEPS), EPISODES)[::-1].copy(),
    "the time that is left": STEPS - TABLE["step"],
    "the share of time": TABLE["step"] / STEPS,
    "the time in seconds": 0.02 * TABLE["step"],
    "the action before": np.roll(TABLE["action"], 1),
    "the reward before": np.roll(TABLE["reward"], 1),
    "the action but once": np.where(np.arange(N) == N - 1, 2 - TABLE["action"], TABLE["action"]) + (np.arange(N) == 5),
    "the sum of rewards so far": np.cumsum(TABLE["reward"].reshape(EPISODES, STEPS), axis=1).ravel() - TABLE["reward"],
    "a noisy return": returns(0.9) + 0.05 * RNG.normal(size=N),
    "what is the same in an episode": np.repeat(RNG.normal(size=EPISODES), STEPS),
    "a constant": np.full(N, 3.0),
    "a clock that is reset": np.tile(0.5 * np.arange(STEPS) ** 1.5, EPISODES),
    "large and smooth": 1e4 + np.cumsum(0.01 * RNG.normal(size=N)),
    "steps of two": 2 * TABLE["step"],
}


@pytest.mark.parametrize("column", KEPT.values(), ids=KEPT)
def test_kept_by_content(column: Any) -> None:
    assert features({"x": column}) == ("x",)


def test_the_return_of_a_constant_reward_is_only_a_clock() -> None:
    steady = TABLE | {"reward": np.ones(N), "remaining": STEPS - TABLE["step"]}
    assert Log.from_dict(steady).schema.feature_names == ("pos", "speed", "remaining")


def test_codes_of_text_labels() -> None:
    words = np.array(["left", "stay", "right"], object)[TABLE["action"]]
    code = np.array([0, 2, 1])[TABLE["action"]]  # in the order of the alphabet
    with pytest.warns(TripleTreeWarning, match="`x`, `y` were set aside: they repeat the action"):
        assert features({"action": words, "x": code, "y": words.copy()}) == ()
    assert features({"action": words, "x": TABLE["action"]}) == ("x",)


def test_one_column_for_each_action() -> None:
    words = np.array(["left", "stay", "right"], object)[TABLE["action"]]
    for stem, labels, action, options in (
        ("q_", (0, 1, 2), TABLE["action"], {}),
        ("prob_", ("left", "stay", "right"), words, {}),
        ("q_", ("left", "stay", "right", "jump"), words, {}),
        ("q_", (0, 1, 2), words, {}),
        ("pi_", ("left", "stay", "right"), TABLE["action"], {"labels": ["left", "stay", "right"]}),
        ("logits_", (0, 1, 2), TABLE["action"].astype(float), {"action_kind": "discrete"}),
    ):
        columns = {f"{stem}{label}": RNG.normal(size=N) for label in labels} | {"action": action}
        with pytest.warns(TripleTreeWarning, match="the names stand for what the learner computes"):
            assert features(columns, **options) == ()


def test_columns_of_actions_that_were_never_taken() -> None:
    best = RNG.normal(size=(N, 5))
    best[np.arange(N), TABLE["action"]] = np.where(np.arange(N) % 10 == 0, -9, 9)  # it explores in one row of ten
    columns = {f"q{k}": best[:, k] for k in range(5)}
    with pytest.warns(TripleTreeWarning, match="`q0`, `q1`, `q2`"):
        assert features(columns) == ()
    best[: N // 2] = best[N // 2 :]
    assert features({f"q{k}": best[:, k] for k in range(5)}) == tuple(columns)
    assert features({f"q{k}": best[:, k] for k in range(1, 5)}) == tuple(columns)[1:]


def test_joints_are_not_one_column_for_each_action() -> None:
    joints = {f"q_{k}": RNG.normal(size=N) for k in range(7)}
    assert features(joints) == tuple(joints)
    assert features({**joints, "action": ODD}) == tuple(joints)
    three = {f"q_{k}": RNG.normal(size=N) for k in range(3)}
    assert features({**three, "action": ODD}) == tuple(three)


def test_in_a_few_rows_columns_may_be_equal_by_chance() -> None:
    head = {name: column[:19] for name, column in (TABLE | {"x": TABLE["action"], "y": np.arange(N)}).items()}
    assert Log.from_dict(head).schema.feature_names == ("pos", "speed", "x", "y")


def test_the_only_column_is_the_state() -> None:
    columns = {name: column for name, column in TABLE.items() if name not in ("pos", "speed")}
    assert Log.from_dict(columns | {"x": TABLE["step"] + 0.0}).schema.feature_names == ("x",)


def test_without_a_state_the_error_says_what_was_set_aside() -> None:
    columns = {name: column for name, column in TABLE.items() if name not in ("pos", "speed")}
    with pytest.raises(LogError, match=r'left for the state: `value` was set aside\. .* Type features=\["value"\]\.'):
        Log.from_dict(columns | {"value": ODD})
    assert Log.from_dict(columns | {"value": ODD}, features=["value"]).schema.feature_names == ("value",)


def test_names_may_come_in_arrays() -> None:
    columns = {f"q_{label}": ODD for label in ("left", "right")} | {"action": TABLE["step"] % 2, "value": ODD}
    with pytest.warns(TripleTreeWarning, match="`q_left`, `q_right` were set aside"):
        found = features(columns, labels=np.array(["left", "right"]), features=np.array(["...", "value"]))
    assert found == ("value",)


@pytest.mark.parametrize("dots", [..., "..."])
def test_a_column_can_be_called_back(dots: Any) -> None:
    columns = TABLE | {"value": ODD, "x": TABLE["action"], "log_prob": -ODD}
    with pytest.warns(TripleTreeWarning, match="`log_prob` was set aside"):
        log = Log.from_dict(columns, features=[dots, "value", "x"])
    assert log.schema.feature_names == ("pos", "speed", "value", "x")
    with pytest.warns(TripleTreeWarning, match="`log_prob` was set aside"):
        log = Log.from_dict(columns, features=["x", dots, "value"])
    assert log.schema.feature_names == ("x", "pos", "speed", "value")


@pytest.mark.parametrize("option", [{"units": {"value": "EUR"}}, {"kinds": {"value": "real"}}])
def test_a_column_with_a_unit_or_a_kind_is_a_feature(option: dict[str, Any]) -> None:
    assert features({"value": ODD}, **option) == ("value",)


def test_named_features_are_not_looked_at() -> None:
    log = Log.from_dict(TABLE | {"value": ODD, "x": np.arange(N)}, features=["value", "x"])
    assert log.schema.feature_names == ("value", "x")
    assert log.findings == ()


def test_bookkeeping_needs_no_next_state() -> None:
    following = {f"next_{name}": np.roll(TABLE[name], -1) for name in ("pos", "speed")}
    with pytest.warns(TripleTreeWarning, match="`value`, `next_value` were set aside"):
        log = Log.from_dict(TABLE | following | {"value": ODD, "next_value": ODD})
    assert log.final_states[:, 0].tolist() == np.roll(TABLE["pos"], -1)[STEPS - 1 :: STEPS].tolist()


def test_a_feature_that_is_called_back_has_its_next_state() -> None:
    following = {f"next_{name}": np.roll(TABLE[name], -1) for name in ("pos", "speed")}
    log = Log.from_dict(TABLE | following | {"value": ODD, "next_value": np.roll(ODD, -1)}, features=["value", ...])
    assert log.schema.feature_names == ("value", "pos", "speed")
    assert log.final_states[:, 0].tolist() == np.roll(ODD, -1)[STEPS - 1 :: STEPS].tolist()


def test_the_layout_of_rllib() -> None:
    states = RNG.normal(size=(N, 2))
    following = np.roll(states, -1, axis=0)
    batch = {"obs": states, "new_obs": following, "actions": TABLE["action"], "rewards": TABLE["reward"]}
    batch |= {"eps_id": TABLE["episode"], "t": TABLE["step"], "agent_index": np.zeros(N), "vf_preds": ODD}
    batch |= {"action_logp": ODD, "action_dist_inputs": np.zeros((N, 3)), "unroll_id": TABLE["episode"]}
    batch |= {"terminateds": TABLE["step"] == STEPS - 1, "truncateds": np.zeros(N, bool), "new_cases": ODD}
    with pytest.warns(TripleTreeWarning, match="set aside"):
        log = Log.from_dict(batch)
    assert log.schema.feature_names == ("obs_0", "obs_1", "new_cases")
    with pytest.warns(TripleTreeWarning, match="set aside"):
        log = Log.from_dict(batch, ignore=["new_cases"])
    assert log.schema.feature_names == ("obs_0", "obs_1")
    assert log.final_states.tolist() == following[STEPS - 1 :: STEPS].tolist()


@pytest.mark.parametrize("name", ["action_logp", "action_dist_inputs_0", "action_prob", "actions_log_prob"])
def test_what_belongs_to_an_action_of_another_name(name: str) -> None:
    assert features({name: ODD}) == ()  # beside `action`, its name is enough
    with pytest.warns(TripleTreeWarning, match=f"`{name}` was set aside"):
        assert features({"u": TABLE["action"], name: ODD}, action="u", ignore=["action"]) == ()


def test_the_layout_of_lerobot(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "observation.state": list(RNG.normal(size=(N, 2))),
            "action": list(RNG.normal(size=(N, 2))),
            "episode_index": TABLE["episode"],
            "frame_index": TABLE["step"],
            "timestamp": TABLE["step"] / 50,
            "next.reward": TABLE["reward"],
            "next.done": TABLE["step"] == STEPS - 1,
            "next.success": False,
            "index": np.arange(N) + 400,
            "task_index": 0,
        }
    )
    frame.to_parquet(tmp_path / "run.parquet")
    with pytest.warns(TripleTreeWarning, match="set aside"):
        log = read_log(tmp_path / "run.parquet")
    assert log.schema.feature_names == ("observation.state_0", "observation.state_1")
    assert log.n_episodes == EPISODES


@pytest.mark.parametrize("change", ["filtered", "shuffled", "joined"])
def test_the_index_of_a_changed_frame(change: str, tmp_path: Path) -> None:
    """Any pandas frame of which rows were left out has an index, which its files keep."""
    frame = pd.DataFrame(TABLE)
    frame = {
        "filtered": frame[frame.step < 8],
        "shuffled": frame.sample(frac=1, random_state=0),
        "joined": pd.concat([frame, frame.assign(episode=frame.episode + 50)]),
    }[change]
    frame.to_parquet(tmp_path / "run.parquet")
    frame.to_csv(tmp_path / "run.csv")
    frame.to_csv(tmp_path / "index.csv", index_label="index")
    frame.reset_index(names="level_0").to_parquet(tmp_path / "level.parquet")
    pd.read_csv(tmp_path / "run.csv").to_csv(tmp_path / "again.csv", index=False)
    for name in ("run.parquet", "run.csv", "index.csv", "level.parquet", "again.csv"):
        log = read_log(tmp_path / name)
        assert log.schema.feature_names == ("pos", "speed"), name
        assert "set aside" in log.reading


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([0, 1, 2], True),
        ([5, 9, 7], True),
        ([0, 1, 0, 1, 2], True),
        ([1, 2, 1, 2], True),
        ([0.0, 3.0, 4.0], True),
        ([1, 1, 2], False),
        ([0, 5, 3, 0], False),
        ([3, 4, 3, 4], False),
        ([0.5, 1.5], False),
        ([-1, 0, 1], False),
        ([0.0, np.nan], False),
        ([True, False], False),
        ([], False),
    ],
)
def test_what_may_be_an_index(column: list[Any], expected: bool) -> None:
    assert numbers_rows(np.array(column)) is expected


def test_an_index_of_prices_is_a_feature() -> None:
    assert features({"index": 100 + ODD}) == ("index",)


@pytest.mark.parametrize("name", ["discount", "Discounts"])
def test_a_discount_of_two_values_marks_the_end(name: str) -> None:
    with pytest.warns(TripleTreeWarning, match="the name stands for the end of an episode"):
        assert features({name: (TABLE["step"] < STEPS - 1) * 1.0}) == ()
    assert features({name: ODD}) == (name,)


def test_content_is_not_compared_in_what_cannot_be_a_log() -> None:
    report = check(TABLE | {"x": np.arange(3)})
    assert [finding.code for finding in report.errors] == ["ragged"]
    report = check(TABLE | {"step": np.arange(3)})
    assert [finding.code for finding in report.errors] == ["ragged"]


def test_names_are_folded() -> None:
    assert folded(" Log.Prob (old)") == "log_prob_old"
