"""The same recording gives the same log, whichever way it comes in."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.log.raw import Raw, raws, write_csv
from tripletree.errors import LogError, ParameterError
from tripletree.log import UNKNOWN, Log, read_log


@pytest.fixture(scope="module")
def folder() -> Any:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@given(raw=raws())
def test_episodes_equal_arrays(raw: Raw) -> None:
    expected = raw.arrays().fingerprint()
    names: dict[str, Any] = {"feature_names": raw.names, "action_names": raw.action_names}
    assert Log.from_episodes(raw.episodes(gymnasium=True), **names).fingerprint() == expected
    plain = raw.episodes(gymnasium=False)
    assert Log.from_episodes(plain, **names).fingerprint() == expected
    assert Log.from_episodes([SimpleNamespace(**episode) for episode in plain], **names).fingerprint() == expected


@given(raw=raws())
def test_tables_equal_arrays(raw: Raw) -> None:
    expected = raw.arrays().fingerprint()
    columns = raw.columns()
    assert Log.from_dict(columns).fingerprint() == expected
    assert Log.from_dict({name: column.tolist() for name, column in columns.items()}).fingerprint() == expected
    assert Log.from_frame(pd.DataFrame(columns)).fingerprint() == expected


@given(raw=raws())
@settings(max_examples=40)
def test_files_equal_arrays(raw: Raw, folder: Path) -> None:
    log = raw.arrays()
    expected = log.fingerprint()
    columns = raw.columns()
    assert read_log(write_csv(folder / "log.csv", columns)).fingerprint() == expected
    assert read_log(write_csv(folder / "log.tsv", columns, "\t")).fingerprint() == expected
    np.savez(folder / "columns.npz", **columns)
    assert read_log(folder / "columns.npz").fingerprint() == expected
    log.to_npz(folder / "log.npz")
    assert read_log(folder / "log.npz").fingerprint() == expected
    pd.DataFrame(columns).to_parquet(folder / "log.parquet")
    assert read_log(folder / "log.parquet").fingerprint() == expected
    log.to_parquet(folder / "log.parquet")
    assert read_log(folder / "log.parquet").fingerprint() == expected


@given(raw=raws())
def test_shuffled_rows_come_back_in_order(raw: Raw) -> None:
    columns = raw.columns()
    order = np.random.default_rng(0).permutation(len(raw.rewards))
    shuffled = Log.from_dict({name: column[order] for name, column in columns.items()})
    # Episodes stand in the order of their first rows, so bring them back before comparing.
    place = {name: e for e, name in enumerate(shuffled.episode_ids.tolist())}
    back = shuffled.select([place[name] for name in raw.ids.tolist()])
    assert back.fingerprint() == raw.arrays().fingerprint()


@given(raw=raws())
def test_memory_layout_does_not_matter(raw: Raw) -> None:
    wide = np.zeros((len(raw.states), 2 * raw.states.shape[1]))
    wide[:, ::2] = raw.states
    other = Raw(**{**vars(raw), "states": np.asfortranarray(raw.states)})
    strided = Raw(**{**vars(raw), "states": wide[:, ::2]})
    swapped = Raw(**{**vars(raw), "states": raw.states.astype(">f8")})
    assert {log.arrays().fingerprint() for log in (raw, other, strided, swapped)} == {raw.arrays().fingerprint()}


def test_any_change_changes_the_fingerprint() -> None:
    def make(**changes: Any) -> str:
        options: dict[str, Any] = {"starts": [0, 2], "terminated": [True, False], "episode_ids": ["a", "b"]} | changes
        states = options.pop("states", [[0.5], [1.5], [2.5]])
        actions = options.pop("actions", [0, 1, 0])
        return Log.from_arrays(states, actions, options.pop("rewards", [1, 2, 3]), **options).fingerprint()

    variants: list[dict[str, Any]] = [
        {},
        {"states": [[0.5], [1.5], [2.25]]},
        {"actions": [0, 1, 1]},
        {"rewards": [1, 2, 4]},
        {"starts": [0, 1]},
        {"terminated": [True, True]},
        {"episode_ids": ["a", "c"]},
        {"episode_ids": [0, 1]},
        {"final_states": [[1.0], [np.nan]]},
        {"feature_names": ["x"]},
        {"units": {"s0": "m"}},
        {"kinds": {"s0": "angle"}},
        {"labels": ["left", "right"]},
    ]
    assert len({make(**variant) for variant in variants}) == len(variants)


def test_reading_again_needs_no_guess_and_no_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log = Log.from_arrays(
            [[0.1], [0.2]],
            [1, 0],
            [0, 1],
            endless=True,
            units={"s0": "m"},
            labels=["a", "b", "c"],
            kinds={"s0": "angle"},
        )
        log.to_npz(tmp_path / "log.npz")
        again = read_log(tmp_path / "log.npz")
    assert again.schema == log.schema
    assert again.reading.startswith("Read 2 samples in 1 episode from log.npz.")


@given(raw=raws(), tabs=st.booleans(), unknown=st.booleans())
@settings(max_examples=60)
def test_csv_keeps_every_number(raw: Raw, tabs: bool, unknown: bool, folder: Path) -> None:
    log = raw.arrays()
    if unknown:
        endings = np.array([UNKNOWN, *log.endings[1:]])
        log = Log(**{**vars_of(log), "endings": endings})
    path = folder / ("back.tsv" if tabs else "back.csv")
    log.to_csv(path)
    back = read_log(path)
    # The file has no place for codes behind labels, and here there are none.
    assert back.fingerprint() == log.fingerprint()


def vars_of(log: Log) -> dict[str, Any]:
    names = ("states", "actions", "rewards", "starts", "final_states", "endings", "episode_ids", "schema")
    return {name: getattr(log, name) for name in names}


@given(raw=raws())
@settings(max_examples=40)
def test_every_writer_gives_the_same_log_back(raw: Raw, folder: Path) -> None:
    """Also where some final states, and how some episodes ended, are not known, and with units and kinds."""
    log = raw.arrays()
    finals = log.final_states.copy()
    finals[0] = np.nan
    endings = np.array([UNKNOWN, *log.endings[1:]])
    features = tuple(replace(feature, unit="m", kind="angle") for feature in log.schema.features)
    schema = replace(log.schema, features=features)
    log = Log(**{**vars_of(log), "final_states": finals, "endings": endings, "schema": schema})
    for name in ("back.npz", "back.parquet"):
        getattr(log, f"to_{name.partition('.')[2]}")(folder / name)
        assert read_log(folder / name).fingerprint() == log.fingerprint()
    log.to_csv(folder / "back.csv")
    back = read_log(folder / "back.csv", units=dict.fromkeys(raw.names, "m"), kinds=dict.fromkeys(raw.names, "angle"))
    assert back.fingerprint() == log.fingerprint()


def test_a_csv_file_for_others(tmp_path: Path) -> None:
    log = Log.from_arrays(
        [[0.1], [1 / 3], [2e-300]], ["a, b", "c", "c"], [0, 1, 2], starts=[0, 2], terminated=[True, False]
    )
    log.to_csv(tmp_path / "log.csv")
    assert (tmp_path / "log.csv").read_text() == (
        "episode,step,s0,action,reward,terminated,truncated\n"
        '0,0,0.1,"a, b",0.0,False,False\n'
        "0,1,0.3333333333333333,c,1.0,True,False\n"
        "1,0,2e-300,c,2.0,False,True\n"
    )
    with pytest.raises(ParameterError, match=r"path must end in .csv or .tsv; got 'log.txt'"):
        log.to_csv("log.txt")
    with pytest.raises(LogError, match=r"The log cannot be written to .*: No such file or directory"):
        log.to_csv(tmp_path / "nowhere" / "log.csv")


@pytest.mark.parametrize("ending", ["npz", "parquet", "csv"])
def test_groups_come_back(tmp_path: Path, ending: str) -> None:
    log = Log.from_dict(
        {
            "episode": [0, 0, 1, 2],
            "pilot": ["ann", "ann", "bob", "ann"],
            "x": [0.5, 1.5, 2.5, 3.5],
            "action": [0, 1, 0, 1],
            "reward": [1, 2, 3, 4],
        },
        group="pilot",
    )
    path = tmp_path / f"log.{ending}"
    getattr(log, f"to_{ending}")(path)
    # In CSV, what a group is has to be said again: it is never guessed.
    back = read_log(path, group="pilot") if ending == "csv" else read_log(path)
    assert back.fingerprint() == log.fingerprint()
    assert (back.groups.tolist(), back.group_name) == (["ann", "bob", "ann"], "pilot")
