"""Descriptions of logs in small TOML files: which column is what, units, kinds, names of actions."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tripletree.checks import did_you_mean, is_number, listing
from tripletree.errors import LogError, LogNotFoundError
from tripletree.log.roles import SYNONYMS
from tripletree.writing import open_regular, reason, shown

LARGEST = 1_000_000
"""A description with more bytes than this is some other file, and not worth parsing."""


def read_description(path: str | os.PathLike[str]) -> dict[str, Any]:
    r"""Return what a TOML file says about a log, as keywords of `read_log`.

    Parameters
    ----------
    path : path
        The file. It may have the tables ``[columns]`` (which column is what, as the keywords of `read_log`),
        ``[features]`` (``pos = "m"`` or ``tilt = { unit = "rad", kind = "angle" }``), ``[action]`` (``kind``,
        ``labels``, ``units``, and ``levels``: what numbers mean, ``{ main = ["off", 0, "on"] }``), ``[episodes]``
        (``ending``, ``endless``, ``missing``, ``gap``, ``success``), and ``encoding``.

    Raises
    ------
    LogError
        If the file cannot be read, is not TOML, or says something that is not understood; a ``FileNotFoundError``,
        too, if there is no such file.

    Examples
    --------
    >>> import tripletree
    >>> with open("run.toml", "w") as file:
    ...     _ = file.write('[columns]\nepisode = "run"\n[features]\npos = "m"\n')
    >>> tripletree.read_description("run.toml")
    {'episode': 'run', 'units': {'pos': 'm'}}
    """
    try:
        file = shown(Path(path))
    except TypeError:
        raise LogError(f"Expected the path of a TOML file, got {type(path).__name__}.") from None
    try:
        with open_regular(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > LARGEST:
                raise LogError(f"{file} is {size:,} bytes long; a description may have at most {LARGEST:,}.")
            content = tomllib.loads(stream.read(LARGEST).decode("utf-8-sig"))
    except FileNotFoundError:
        folder = Path(path).parent
        names = [p.name for p in folder.iterdir()] if folder.is_dir() else []
        raise LogNotFoundError(f"There is no file {file}.{did_you_mean(Path(path).name, names)}") from None
    except OSError as error:
        raise LogError(f"{file} cannot be read: {reason(error)}.") from error
    except UnicodeDecodeError:
        raise LogError(f"{file} is not UTF-8 text, as TOML files must be.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LogError(f"{file} is not valid TOML: {error}.") from None
    return _Reader(file, content).options()


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_table_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_table_of_lists(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, list) for item in value.values())


_Test = tuple[Callable[[object], bool], str]
_TEXT: _Test = (_is_text, '"..."')
_TEXTS: _Test = (lambda value: _is_text(value) or _is_texts(value), '"..." or ["...", "..."]')
_COLUMNS: dict[str, _Test] = {
    **dict.fromkeys((*SYNONYMS, "next_state", "time", "dt"), _TEXT),
    **dict.fromkeys(("action", "features", "ignore"), _TEXTS),
}
_ACTION: dict[str, _Test] = {
    "kind": _TEXT,
    "labels": (
        lambda value: _is_texts(value) or _is_table_of_texts(value),
        '["left", "right"] or { 0 = "left", 1 = "right" }',
    ),
    "units": (_is_table_of_texts, '{ main = "N" }'),
    "levels": (_is_table_of_lists, '{ main = ["off", 0, "on"] }'),
}
_EPISODES: dict[str, _Test] = {
    "ending": _TEXT,
    "endless": (_is_flag, "true or false"),
    "missing": _TEXT,
    "gap": (is_number, "60"),
    "success": (_is_text, '"return > 200"'),
}
_FEATURE: dict[str, _Test] = {"unit": _TEXT, "kind": _TEXT}
_TOP = ("columns", "features", "action", "episodes", "encoding")


class _Reader:
    """Turns the content of a file into keywords, checking all of it on the way."""

    def __init__(self, file: str, content: Mapping[str, Any]) -> None:
        self.file = file
        self.content = content

    def options(self) -> dict[str, Any]:
        for key in self.content:
            if key not in _TOP:
                # A common mistake: a key such as "episode" above the first table.
                where = next((f" It belongs in [{t}]." for t, known in _TABLES.items() if key in known), "")
                hint = where or did_you_mean(key, _TOP)
                raise LogError(f"{self.file} has `{key}`; a description may have {listing(_TOP)}.{hint}")
        options: dict[str, Any] = self.table("columns", _COLUMNS)
        action, episodes = self.table("action", _ACTION), self.table("episodes", _EPISODES)
        units, kinds = dict(action.get("units", {})), {}
        for name, given in self.subtable("features").items():
            feature = {"unit": given} if isinstance(given, str) else given
            if not isinstance(feature, dict):
                raise LogError(
                    f'{self.file} has features.{name} = {given!r}; type {name} = "m", or {name} = {{ unit = "m", '
                    'kind = "angle" }.'
                )
            self.check(f"features.{name}", feature, _FEATURE)
            if feature.get("unit"):
                units[name] = feature["unit"]
            if "kind" in feature:
                kinds[name] = feature["kind"]
        options |= {"units": units} if units else {}
        options |= {"kinds": kinds} if kinds else {}
        options |= {"action_kind": action["kind"]} if "kind" in action else {}
        options |= {name: action[name] for name in ("labels", "levels") if name in action}
        if "encoding" in self.content:
            self.check("", {"encoding": self.content["encoding"]}, {"encoding": _TEXT})
            options["encoding"] = self.content["encoding"]
        return options | episodes

    def subtable(self, name: str) -> dict[str, Any]:
        table = self.content.get(name, {})
        if not isinstance(table, dict):
            raise LogError(f"{self.file} has {name} = {table!r}; {name} is a table, which begins with a line [{name}].")
        return dict(table)

    def table(self, name: str, known: Mapping[str, _Test]) -> dict[str, Any]:
        table = self.subtable(name)
        self.check(name, table, known)
        return table

    def check(self, where: str, table: Mapping[str, Any], known: Mapping[str, _Test]) -> None:
        for key, value in table.items():
            place = f"{where}.{key}".lstrip(".")
            if key not in known:
                raise LogError(
                    f"{self.file} has {place}; [{where}] may have {listing(known, 14)}.{did_you_mean(key, known)}"
                )
            passes, example = known[key]
            if not passes(value):
                raise LogError(f"{self.file} has {place} = {value!r}; type {key} = {example}.")


_TABLES = {"columns": _COLUMNS, "action": _ACTION, "episodes": _EPISODES}
