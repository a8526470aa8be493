"""Plain arrays, one row a step, to the fields of a Log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.build import build
from tripletree.log.draft import Draft
from tripletree.log.reading import describe
from tripletree.log.report import Findings, plural
from tripletree.log.roles import Naming, check_options
from tripletree.log.tidy import NUMERIC, Array, as_array


def as_matrix(values: object, what: str, findings: Findings) -> Array | None:
    """Return ``values`` as rows of values (a plain column becomes one value a row), or None after an error."""
    array = as_array(values, what, findings)
    if array is None:
        return None
    if array.ndim == 1:
        return array[:, None]
    if array.ndim == 2 and array.shape[1]:
        return array
    findings.error(
        "shape",
        f"{what} has shape {array.shape}; (steps, values) is needed, with at least one value.",
        "Flatten it first: array.reshape(len(array), -1)." if array.ndim > 2 else "",
    )
    return None


def as_column(values: object, what: str, findings: Findings) -> Array | None:
    """Return ``values`` as one value a row, or None after an error."""
    array = as_array(values, what, findings)
    if array is None or array.ndim == 1:
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    findings.error("shape", f"{what} has shape {array.shape}; one value for each step is needed: (steps,).")
    return None


def from_arrays(
    states: object,
    actions: object,
    rewards: object,
    optional: Mapping[str, object],
    feature_names: Sequence[str] | None,
    action_names: Sequence[str] | None,
    naming: Naming,
    findings: Findings,
    *,
    source: str = "arrays",
    final_states: object = None,
    endings: npt.NDArray[np.uint8] | None = None,
    fresh: bool = False,
) -> dict[str, Any]:
    """Return the fields of a Log; raises one error that lists all errors found.

    ``optional`` holds the other columns by their names in a Draft (None: not given), and ``fresh`` says that the
    states were made for this log and may be kept without a copy.
    """
    check_options(naming, Naming)
    matrix = as_matrix(states, "The states", findings)
    moves = as_matrix(actions, "The actions", findings)
    gains = as_column(rewards, "The rewards", findings)
    columns = {
        name: as_column(values, f"`{name}`", findings)
        for name, values in optional.items()
        if values is not None and name != "next_states"
    }
    following = optional.get("next_states")
    next_states = None if following is None else as_matrix(following, "The next states", findings)
    finals = None if final_states is None else as_matrix(final_states, "The final states", findings)
    if matrix is not None:
        if next_states is not None and next_states.shape[1] != matrix.shape[1]:
            findings.error(
                "shape",
                f"The next states have {plural(next_states.shape[1], 'value')} a row, the states {matrix.shape[1]}.",
            )
        feature_names = _names(feature_names, matrix.shape[1], "feature", "s", findings)
    if moves is not None:
        action_names = _names(action_names, moves.shape[1], "action", "action_", findings)
    findings.stop_if_failed()
    if matrix is None or moves is None or gains is None or feature_names is None or action_names is None:
        raise AssertionError("a part is missing without an error")  # pragma: no cover
    fields = build(
        Draft(
            feature_names=feature_names,
            states=list(matrix.T),
            matrix=matrix if fresh and matrix.dtype == np.float64 else None,
            action_names=action_names,
            actions=list(moves.T),
            rewards=gains,
            next_states=None if next_states is None else list(next_states.T),
            final_states=finals,
            endings=endings,
            naming=naming,
            **columns,
        ),
        findings,
    )
    fields["reading"] = describe(fields, source)
    return fields


def _names(given: Sequence[str] | None, number: int, what: str, prefix: str, findings: Findings) -> list[str]:
    if given is None:
        return [what] if number == 1 and what == "action" else [f"{prefix}{k}" for k in range(number)]
    names = [given] if isinstance(given, str) else list(given)
    if len(names) != number:
        findings.error("names", f"{plural(len(names), f'{what} name')} came for {plural(number, what)}: {names!r}.")
    elif not all(isinstance(name, str) and name for name in names):
        findings.error("names", f"The {what} names are {names!r}; non-empty strings are needed.")
    return names


def sort_of(array: Array) -> str:
    """Return "numbers", "text" or "dates"."""
    return "numbers" if array.dtype.kind in NUMERIC else "dates" if array.dtype.kind in "mM" else "text"
