"""The doctor's door: a report about a log, or about anything that should become one."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log.log import Log
from tripletree.log.read import read_log
from tripletree.log.report import BadLogError, Finding, Report


def check(source: Any, **options: Any) -> Report:
    """Return every problem of a log at once: errors, warnings and notes.

    Parameters
    ----------
    source : Log, path, dict of columns, DataFrame, list of episodes, or tuple (states, actions, rewards)
        What is, or should become, a log.
    **options
        As for the constructor that fits: ``read_log``, ``Log.from_dict``, ``Log.from_frame``,
        ``Log.from_episodes`` or ``Log.from_arrays``.

    Returns
    -------
    Report
        ``report.ok`` tells whether there are no errors; ``print(report)`` is meant to be read.

    Examples
    --------
    >>> print(check({"pos": [1.5, float("nan")], "action": [0, 1], "reward": [0, 1]}))
    This log: 2 errors.
      error    Nothing says where episodes begin or end.
               → Give episode= (an id for each row), or step=, or terminated= / truncated= / done=; if all rows are one recording without end, type endless=True.
      error    States hold NaN or infinite values: `pos` 1 time (first in row 1); finite numbers are allowed.
               → Drop those episodes, fill the gaps, or leave the feature out: ignore=[...].
    """  # noqa: E501
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TripleTreeWarning)  # they come back as findings
            return _make(source, options).check()
    except BadLogError as error:
        return error.report
    except LogError as error:
        return Report("This log", (Finding("error", "unreadable", str(error)),))


def _make(source: Any, options: dict[str, Any]) -> Log:
    if isinstance(source, Log):
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_log(source, **options)
    if isinstance(source, Mapping):
        return Log.from_dict(source, **options)
    if isinstance(source, tuple) and len(source) == 3:
        return Log.from_arrays(*source, **options)
    if hasattr(source, "columns"):
        return Log.from_frame(source, **options)
    return Log.from_episodes(source, **options)
