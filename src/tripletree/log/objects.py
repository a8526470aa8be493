"""Objects in memory to tables: data frames, SB3 buffers, d3rlpy and Minari datasets, lists of transitions.

Libraries are known by what their objects offer, so none of them has to be imported, or even installed.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tripletree.errors import LogError
from tripletree.log.bookkeeping import folded
from tripletree.log.boundaries import FLAGS
from tripletree.log.buffers import buffer_table
from tripletree.log.coerce import Array
from tripletree.log.endings import TERMINATED, UNKNOWN
from tripletree.log.hdf5_reader import add_d3rlpy
from tripletree.log.minari_data import read_minari_folder
from tripletree.log.roles import SYNONYMS
from tripletree.log.sources import Reader, Stack, Table, library, refuse_images

TRANSITION = ("state", "action", "reward", "next_state", "done")
"""What the places of a tuple are; one of six has terminated and truncated at the end."""
STATES = ("state", "obs", "observation")
RENAMED = {"s": "state", "s_": "next_state"}
"""Short names of states."""
MARKERS = frozenset(name for role in ("episode", "step", *FLAGS) for name in SYNONYMS[role])
"""Names of parts that say where episodes begin or end."""
_REWARD = ("reward", "rewards", "rew", "r")


def frame_table(frame: Any) -> Table:
    """Return the columns of a DataFrame or an Arrow table, or of anything that offers to become one."""
    if not hasattr(frame, "columns") and not hasattr(frame, "column_names"):
        if hasattr(frame, "__arrow_c_stream__"):
            frame = library("pyarrow", "Reading this table", '"tripletree[parquet]"').table(frame)
        elif hasattr(frame, "__dataframe__"):
            exchange = library("pyarrow.interchange", "Reading this table", '"tripletree[parquet]"')
            frame = exchange.from_dataframe(frame)
    names = getattr(frame, "column_names", None)
    if names is None:
        names = getattr(frame, "columns", None)
    by_position = _by_position(frame)
    if names is None or isinstance(names, str) or by_position is None:
        raise LogError(
            f"Expected a DataFrame (pandas, polars) or an Arrow table, got {type(frame).__name__}. For a dict type "
            "Log.from_dict(...), for arrays Log.from_arrays(...)."
        )
    texts = ["_".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in names]
    columns = [by_position(k) for k in range(len(texts))]
    return Table(texts, columns, f"a {type(frame).__module__.partition('.')[0]} table")


def _by_position(frame: Any) -> Callable[[int], Any] | None:
    # By position, since with duplicate names a column's name would return two of them.
    if hasattr(frame, "iloc"):
        return lambda k: frame.iloc[:, k]
    if hasattr(frame, "to_series"):
        return lambda k: frame.to_series(k)
    if hasattr(frame, "column"):
        return lambda k: frame.column(k)
    if hasattr(frame, "__getitem__"):
        return lambda k: frame[list(frame.columns)[k]]
    return None


def _is_frame(source: Any) -> bool:
    if isinstance(source, (Mapping, type)):
        return False
    return any(hasattr(source, name) for name in ("columns", "column_names", "__dataframe__", "__arrow_c_stream__"))


def _comes_from(package: str, *attributes: str) -> Callable[[Any], bool]:
    def recognises(source: Any) -> bool:
        modules = (one.__module__ for one in type(source).__mro__)
        return any(module.partition(".")[0] == package for module in modules) and all(
            hasattr(source, name) for name in attributes
        )

    return recognises


def is_transition(item: Any) -> bool:
    """Return whether an item of a list is one step (its reward is a single number), not a whole episode."""
    reward: Any = None
    if isinstance(item, Mapping):
        reward = next((item[name] for name in _REWARD if name in item), None)
    elif hasattr(item, "_fields"):
        reward = next((getattr(item, name) for name in _REWARD if name in item._fields), None)
    elif isinstance(item, (tuple, list)) and len(item) in (4, 5, 6):
        reward = item[2]
    else:
        return False
    return isinstance(reward, (numbers.Real, np.bool_)) or (hasattr(reward, "shape") and np.asarray(reward).size == 1)


def transition_table(steps: Sequence[Any]) -> Table:
    """Return a list of transitions as columns: tuples as in ``TRANSITION``, dicts or namedtuples."""
    first = steps[0]
    names: Sequence[str]
    rows: list[Sequence[Any]]
    if isinstance(first, Mapping):
        names = list(first)
        odd = next((k for k, one in enumerate(steps) if not isinstance(one, Mapping) or set(one) != set(names)), None)
        if odd is not None:
            raise LogError(
                f"Transition {odd} differs from the first one: each must be a dict with the keys "
                f"{', '.join(map(str, names))}."
            )
        rows = [[step[name] for name in names] for step in steps]
    else:
        names = list(getattr(first, "_fields", ())) or list(
            TRANSITION[: len(first)] if len(first) < 6 else (*TRANSITION[:4], "terminated", "truncated")
        )
        odd = next((k for k, one in enumerate(steps) if not hasattr(one, "__len__") or len(one) != len(names)), None)
        if odd is not None:
            raise LogError(
                f"Transition {odd} has another number of parts than the first one; expected ({', '.join(names)})."
            )
        rows = list(steps)
    columns = {RENAMED.get(str(name), str(name)): _column([row[k] for row in rows]) for k, name in enumerate(names)}
    table = Table(list(columns), [], "a list of transitions")
    state = next((name for name in STATES if name in columns and f"next_{name}" in columns), None)
    if state is not None:
        following = columns[f"next_{state}"]
        final = (
            np.array([one is None for one in following]) if isinstance(following, list) else np.zeros(len(rows), bool)
        )
        if final.any():
            shape = next((np.shape(one) for one in following if one is not None), np.shape(columns[state][0]))
            blank = np.full(shape, np.nan)
            columns[f"next_{state}"] = _column([blank if one is None else np.asarray(one) for one in following])
        if not {folded(name) for name in columns}.intersection(MARKERS):
            _find_ends(table, columns[state], columns[f"next_{state}"], final)
    table.columns += columns.values()
    return table


def _find_ends(table: Table, states: Any, following: Any, final: Array) -> None:
    """Let episodes end where the next state is None, or not the state of the next transition."""
    try:
        now, later = (np.asarray(rows, np.float64).reshape(len(final), -1) for rows in (states, following))
    except (TypeError, ValueError):
        return  # no numbers, which is said when the columns are read
    begins = np.append(True, final[:-1])
    begins[1:] |= (now[1:] != later[:-1]).any(axis=1) if now.shape == later.shape else False
    table.starts = np.append(np.flatnonzero(begins), len(final)).astype(np.int64)
    table.endings = np.where(final[table.starts[1:] - 1], TERMINATED, UNKNOWN).astype(np.uint8)
    table.said = (
        "Episodes end where a next state is None, or is not the state of the next transition: no part says more."
    )


def _column(values: list[Any]) -> Any:
    """Return values as an array, where they are arrays of one shape or of one plain type: faster than one by one."""
    if hasattr(values[0], "__array__") and not isinstance(values[0], np.generic):
        # Tensors are arrays as well, but not where some are None.
        values = [one if one is None else np.asarray(one) for one in values]
    kinds = set(map(type, values))
    if kinds in ({float}, {bool}):
        return np.array(values)
    if kinds != {np.ndarray}:
        return values
    try:
        block = np.array(values)
    except ValueError:
        return values  # of several shapes, which is refused later
    # A batch of one step is that step.
    flat = block.ndim == 1 or set(block.shape[1:-1]) <= {1}
    return block.reshape(len(values), -1) if flat else block


def _d3rlpy_table(buffer: Any, _: str) -> Table:
    stack = Stack("a d3rlpy dataset")
    for number, episode in enumerate(buffer.episodes):
        if not isinstance(episode.observations, np.ndarray):
            raise LogError(
                "The d3rlpy dataset has several observations a step; give them as columns: Log.from_dict({...})."
            )
        columns = {name: getattr(episode, name) for name in ("observations", "actions", "rewards")}
        add_d3rlpy(stack, columns, bool(episode.terminated), number)
    return stack.table(["observations"])


def _minari_table(dataset: Any, _: str) -> Table:
    # From its files, which is faster than one episode after the other; a filtered dataset has only some of them.
    return read_minari_folder(Path(dataset.spec.data_path), {int(number) for number in dataset.episode_indices})


def _flattened_table(transitions: Any, _: str) -> Table:
    """Return the transitions of imitation, one row a step; what it has no rewards for has none here."""
    names = {"obs": "obs", "acts": "action", "rews": "reward", "next_obs": "next_obs", "dones": "done"}
    columns = {name: getattr(transitions, part) for part, name in names.items() if hasattr(transitions, part)}
    refuse_images("obs", np.shape(columns["obs"]), "the transitions")
    return Table(list(columns), list(columns.values()), "transitions", features=["obs"])


def _is_flattened(source: Any) -> bool:
    return all(hasattr(source, name) for name in ("obs", "acts", "next_obs", "dones"))


OBJECTS = (
    Reader(
        "SB3 buffer", _comes_from("stable_baselines3", "observations", "n_envs"), lambda source, _: buffer_table(source)
    ),
    Reader("d3rlpy", _comes_from("d3rlpy", "episodes"), _d3rlpy_table),
    Reader("Minari", _comes_from("minari", "episode_indices", "spec"), _minari_table),
    Reader("imitation transitions", _is_flattened, _flattened_table),
    Reader("dict of columns", lambda source: isinstance(source, Mapping), lambda source, _: dict_table(source)),
    Reader("table", _is_frame, lambda source, _: frame_table(source)),
    Reader(
        "transitions",
        lambda source: isinstance(source, list) and bool(source) and is_transition(source[0]),
        lambda source, _: transition_table(source),
    ),
)


def dict_table(columns: Mapping[Any, Any]) -> Table:
    """Return a dict of columns as a table."""
    return Table([str(name) for name in columns], list(columns.values()), "a dict")
