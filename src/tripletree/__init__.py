"""Understand what an autonomous agent does, from its log alone."""

from __future__ import annotations

__version__ = "0.1.0"

# Not from typing, which takes longer to import than all of this file: the command line passes through here first.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tripletree import answers as answers
    from tripletree import demos as demos
    from tripletree import plot as plot
    from tripletree.about_logs import diff, drift, failures, memory, outcome, require, rhythm, watch, world
    from tripletree.api import TripleTree, compare_weights, explain_agent, load
    from tripletree.cli.console import progress_bar
    from tripletree.errors import (
        LogError,
        MissingDependencyError,
        ModelFileError,
        NotFittedError,
        ParameterError,
        TripleTreeError,
        TripleTreeWarning,
    )
    from tripletree.log.description import read_description
    from tripletree.log.disk import DiskLog, open_log
    from tripletree.log.doctor import check
    from tripletree.log.files import read_log
    from tripletree.log.log import Log
    from tripletree.log.record import record
    from tripletree.log.schema import Action, Feature, Schema

__all__ = [
    "Action",
    "DiskLog",
    "Feature",
    "Log",
    "LogError",
    "MissingDependencyError",
    "ModelFileError",
    "NotFittedError",
    "ParameterError",
    "Schema",
    "TripleTree",
    "TripleTreeError",
    "TripleTreeWarning",
    "__version__",
    "check",
    "compare_weights",
    "diff",
    "drift",
    "explain_agent",
    "failures",
    "load",
    "memory",
    "open_log",
    "outcome",
    "progress_bar",
    "read_description",
    "read_log",
    "record",
    "require",
    "rhythm",
    "watch",
    "world",
]

# Where the names live, the lightest first. They are fetched when first used, so that `tripletree --help` and a shell
# that completes a command do not wait for NumPy.
_HOMES = ("tripletree.errors", "tripletree.log", "tripletree.api", "tripletree.about_logs", "tripletree.cli.console")
_SUBMODULES = ("answers", "demos", "plot")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name in __all__:
        for home in map(import_module, _HOMES):
            if hasattr(home, name):
                return globals().setdefault(name, getattr(home, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
