"""Plain arrays, one row a step, to the fields of a Log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.boundaries import Markers
from tripletree.log.build import Draft, build
from tripletree.log.coerce import as_column, as_matrix
from tripletree.log.findings import Findings
from tripletree.log.roles import Naming, check_options, chosen_names
from tripletree.text import count

ARGUMENTS = (
    *("episodes", "steps", "starts", "terminated", "truncated", "done"),
    *("next_states", "final_states", "feature_names", "action_names", "episode_ids", "groups", "weights"),
)
"""Arguments of `Log.from_arrays` besides the options that all constructors take."""
SPELLED = {"episode": "episodes", "step": "steps", **{name: name for name in ("terminated", "truncated", "done")}}
"""What messages about columns call them, and the arguments that hold them here."""


def from_arrays(
    states: object,
    actions: object,
    rewards: object,
    markers: Mapping[str, object],
    feature_names: Sequence[str] | None,
    action_names: Sequence[str] | None,
    naming: Naming,
    findings: Findings,
    *,
    source: str = "arrays",
    next_states: object = None,
    final_states: object = None,
    endings: npt.NDArray[np.uint8] | None = None,
    episode_ids: object = None,
    groups: object = None,
    weights: object = None,
    fresh: bool = False,
) -> dict[str, Any]:
    """Return the fields of a Log; raises one error that lists all errors found.

    ``markers`` holds the columns of a `Markers` by name (None: not given), and ``fresh`` says that the states were made
    for this log and may be kept without a copy.
    """
    also = ARGUMENTS if source == "arrays" else ("feature_names", "action_names", "episode_ids", "groups")
    check_options(naming, Naming, also)
    matrix = as_matrix(states, "`states`", findings)
    moves = as_matrix(actions, "`actions`", findings)
    gains = as_column(rewards, "`rewards`", findings)
    columns = {name: as_column(values, f"`{name}`", findings) for name, values in markers.items() if values is not None}
    ids = None if episode_ids is None else as_column(episode_ids, "`episode_ids`", findings)
    counting = None if weights is None else as_column(weights, "`weights`", findings)
    whose = None if groups is None else as_column(groups, "`groups`", findings)
    following = None if next_states is None else as_matrix(next_states, "`next_states`", findings)
    finals = None if final_states is None else as_matrix(final_states, "`final_states`", findings)
    if matrix is not None:
        if following is not None and following.shape[1] != matrix.shape[1]:
            findings.error(
                "shape",
                f"`next_states` has {count(following.shape[1], 'value')} in each row, `states` has {matrix.shape[1]}; "
                "both must have the same features.",
            )
        default = [f"s{k}" for k in range(matrix.shape[1])]
        feature_names = chosen_names(feature_names, default, "feature", findings)
    if moves is not None:
        default = ["action"] if moves.shape[1] == 1 else [f"action_{k}" for k in range(moves.shape[1])]
        action_names = chosen_names(action_names, default, "action", findings)
    findings.stop_if_failed()
    if matrix is None or moves is None or gains is None or feature_names is None or action_names is None:
        raise AssertionError("a part is missing without an error")  # pragma: no cover
    return build(
        Draft(
            source=source,
            feature_names=feature_names,
            states=list(matrix.T),
            matrix=matrix if fresh and matrix.dtype == np.float64 else None,
            action_names=action_names,
            actions=list(moves.T),
            rewards=gains,
            markers=Markers(**columns),
            next_states=None if following is None else list(following.T),
            final_states=finals,
            endings=endings,
            episode_ids=ids,
            groups=whose,
            weights=counting,
            naming=naming,
        ),
        findings,
    )
