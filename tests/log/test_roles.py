"""Which column plays which role, guessed and given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.log.raw import BASE, TABLE
from tripletree.errors import LogError, ParameterError, TripleTreeWarning
from tripletree.log import TERMINATED, TRUNCATED, Log
from tripletree.log.findings import Findings
from tripletree.log.roles import SYNONYMS, Naming, Roles, assign, check_options, listed


@pytest.mark.parametrize("name", ["Episode", "ep", "traj_id", "episode id", "Rollout", "episode_index"])
def test_episode_by_other_names(name: str) -> None:
    log = Log.from_dict({name: ["a", "a", "b"]} | BASE)
    assert log.schema.feature_names == ("pos", "speed")
    assert log.episode_ids.tolist() == ["a", "b"]


def test_the_road_layout() -> None:
    """Row pointers, single letters and an unnamed row counter, as the paper's author wrote them."""
    log = Log.from_dict(
        {"": [0, 1, 2], "p": [0.5, 1, 2], "v": [0.5, 0, 1], "a": [0, 1, 1], "r": [0, 1, 2]}
        | {"prev": [-1, 0, -1], "next": [1, -1, -1]}
    )
    assert log.starts.tolist() == [0, 2, 3]
    assert log.schema.feature_names == ("p", "v")
    assert "  set aside    (unnamed)" in log.reading


def test_the_lander_layout() -> None:
    table = {"episode": [0, 0, 1], "step": [0, 1, 0], "x": [0.5, 1, 2], "action_main": [0.5, 0, 0]}
    table |= {"action_side": [1, 0, 1], "reward": [0, 0, 0], "terminated": [False, True, False]}
    log = Log.from_dict(table | {"truncated": [False, False, True], "next_x": [1, 7, 8]})
    assert log.schema.feature_names == ("x",)
    assert log.schema.action.names == ("action_main", "action_side")
    assert log.schema.action.kind == "continuous"
    assert log.final_states.tolist() == [[7], [8]]
    assert log.endings.tolist() == [TERMINATED, TRUNCATED]


def test_features_can_be_named() -> None:
    log = Log.from_dict(TABLE | {"when": ["a", "b", "c"], "t": [5, 6, 7]}, features=["t", "pos"])
    assert log.schema.feature_names == ("t", "pos")
    assert "set aside    speed, when" in log.reading


def test_all_roles_can_be_given() -> None:
    columns = {"e": [1, 1, 2], "k": [0, 1, 0], "x": [0.5, 1, 2], "u": [0, 1, 0], "w": [1, 2, 3]}
    columns |= {"crash": [False, True, False], "limit": [False, False, True], "after x": [1, 8, 9]}
    log = Log.from_dict(
        columns,
        episode="e",
        step="k",
        action="u",
        reward="w",
        terminated="crash",
        truncated="limit",
        next_state="after ",
    )
    assert log.schema.feature_names == ("x",)
    assert log.endings.tolist() == [TERMINATED, TRUNCATED]
    assert log.final_states.tolist() == [[8], [9]]
    assert "guessed" not in log.reading


def test_an_exact_name_beats_a_prefix() -> None:
    log = Log.from_dict(TABLE | {"action_prob": [0.5, 0.5, 0.5]})
    assert log.schema.action.names == ("action",)
    assert log.schema.feature_names == ("pos", "speed")
    assert "set aside    action_prob" in log.reading


def test_a_second_column_for_a_role_is_set_aside_with_a_warning() -> None:
    with pytest.warns(TripleTreeWarning, match="`episode_id` was set aside: the name stands for a role that another"):
        log = Log.from_dict(TABLE | {"episode_id": [7, 7, 8]})
    assert log.schema.feature_names == ("pos", "speed")


def test_everyday_names_stay_features_when_the_role_is_taken() -> None:
    log = Log.from_dict(TABLE | {"step": [0, 1, 0], "t": [0.5, 1, 2], "a": [1, 2, 3]})
    assert log.schema.feature_names == ("pos", "speed", "t", "a")


def test_next_columns_that_lack_some_feature_are_not_used() -> None:
    with pytest.warns(
        TripleTreeWarning, match=r"Final states are not used: there is `next_pos`, but no .* for `speed`"
    ):
        log = Log.from_dict(TABLE | {"next_pos": [1.5, 3, 3]})
    assert np.isnan(log.final_states).all()


def test_several_next_columns_that_lack_some_feature() -> None:
    following = {"wind": [1, 2, 3], "next_pos": [1.5, 3, 3], "next_speed": [0.5, 3, 3]}
    with pytest.warns(
        TripleTreeWarning, match=r"there are `next_pos`, `next_speed`, but no column next_... for `wind`"
    ):
        Log.from_dict(TABLE | following)


def test_next_columns_without_a_feature_are_set_aside() -> None:
    following = {"next_pos": [1.5, 3, 3], "next_speed": [0.5, 3, 3], "next_wind": [1, 2, 3]}
    with pytest.warns(TripleTreeWarning, match="`next_wind` was set aside: the name stands for a next state"):
        log = Log.from_dict(TABLE | following)
    assert log.schema.feature_names == ("pos", "speed")
    assert Log.from_dict(TABLE | {"next_wind": [1, 2, 3]}).schema.feature_names == ("pos", "speed", "next_wind")


@pytest.mark.parametrize(
    ("role", "name"), [(role, name) for role, names in SYNONYMS.items() for name in names if role != "action"]
)
def test_every_synonym_is_recognised(role: str, name: str) -> None:
    findings = Findings()
    found = assign(["pos", "action", name, *(["reward"] if role != "reward" else [])], {}, findings)
    assert found.single[role] == name
    assert role in found.guessed
    assert not findings.failed


@pytest.mark.parametrize("name", SYNONYMS["action"])
def test_every_synonym_of_the_action_is_recognised(name: str) -> None:
    assert assign(["pos", name, "reward"], {}, Findings()).action == [name]


def test_several_columns_that_are_set_aside() -> None:
    with pytest.warns(
        TripleTreeWarning,
        match=r"`rew`, `episode_id` were set aside: the names stand for a role that another column plays\. "
        r'If `rew` is a feature, type features=\[..., "rew"\]; if not, ignore=\["rew"\]\.',
    ):
        Log.from_dict(TABLE | {"rew": [1, 2, 3], "episode_id": [7, 7, 8]})


def test_several_next_columns_without_a_feature() -> None:
    following = {"next_pos": [1.5, 3, 3], "next_speed": [0.5, 3, 3], "next_wind": [1, 2, 3], "next_rain": [1, 2, 3]}
    with pytest.warns(
        TripleTreeWarning, match="`next_rain`, `next_wind` were set aside: the names stand for a next state, but"
    ):
        Log.from_dict(TABLE | following)


def test_features_that_are_named_need_no_warning() -> None:
    log = Log.from_dict(TABLE | {"episode_id": [7, 7, 8], "next_pos": [1.5, 9, 9]}, features=["pos"])
    assert log.final_states.tolist() == [[9], [9]]
    assert log.findings == ()


def test_a_prefix_of_next_states_that_leads_nowhere() -> None:
    with pytest.raises(LogError, match=r"No column is called `after_` .*The columns are `pos`, `speed`\."):
        Log.from_dict(TABLE, next_state="after_")


def test_what_is_missing_is_not_said_after_a_mistyped_name() -> None:
    with pytest.raises(LogError, match=r"^There is no column `actoin` \(given as action\)\. Did you mean `action`\?$"):
        Log.from_dict({"episode": [0], "x": [0.5], "action": [1], "reward": [1]}, action="actoin")


@pytest.mark.parametrize(
    ("value", "expected"), [(None, []), ("x", ["x"]), (["x", "y"], ["x", "y"]), ((1, 2), ["1", "2"])]
)
def test_one_name_or_several(value: Any, expected: list[str]) -> None:
    assert listed(value) == expected


def test_options_are_checked_before_anything_else() -> None:
    check_options({"units": {"x": "m"}, "ending": None}, Naming)
    with pytest.raises(ParameterError, match=r"There is no option `zzz`\. Choose from `action_kind`, `ending`"):
        check_options({"zzz": 1}, Naming)
    with pytest.raises(ParameterError, match=r"^endless must be True or False; got 'yes'\. Try endless=True\.$"):
        check_options({"endless": "yes"}, Naming)
    with pytest.raises(
        ParameterError, match=r'^step=3 cannot be used; type step="\.\.\." with the name of a column\.$'
    ):
        check_options({"step": 3}, Roles)


@pytest.mark.parametrize("name", ["time", "t", "timestamp"])
def test_dates_are_times_however_they_are_stored(name: str) -> None:
    dates = np.array(["2026-01-01T00:00:00", "2026-01-01T00:00:02", "2026-01-01T00:00:00"], "datetime64[ms]")
    logs = [Log.from_dict({"episode": [0, 0, 1], name: column} | BASE) for column in (dates, dates.astype(str))]
    for log in logs:
        assert f"time         {name} (guessed)" in log.reading
        assert log.dt is not None
        assert log.dt[0] == 2.0
