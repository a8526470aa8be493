"""A list of episodes (dicts, tuples, objects) to the fields of a Log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tripletree.checks import listing
from tripletree.log.arrays import from_arrays
from tripletree.log.coerce import Array, as_array, as_column, as_flags, as_matrix, sort_of
from tripletree.log.endings import decide
from tripletree.log.findings import Findings
from tripletree.log.roles import Naming
from tripletree.text import count, plural

# Names by which the parts of an episode are looked up, as keys and as attributes.
PARTS: dict[str, tuple[str, ...]] = {
    "states": ("states", "observations", "obs"),
    "actions": ("actions", "acts"),
    "rewards": ("rewards", "rews"),
    "final_state": ("final_state", "final_observation", "last_state"),
    "terminated": ("terminated", "terminations", "terminal", "terminals"),
    "truncated": ("truncated", "truncations", "timeouts"),
    "id": ("id", "episode_id", "episode"),
    "group": ("group",),
}
# By then it is most likely the same mistake again and again.
MOST_ERRORS = 20


@dataclass
class _Pieces:
    """The parts of all episodes, in order."""

    states: list[Array] = field(default_factory=list)
    actions: list[Array] = field(default_factory=list)
    rewards: list[Array] = field(default_factory=list)
    finals: list[Array | None] = field(default_factory=list)
    endings: list[int] = field(default_factory=list)
    ids: list[object] = field(default_factory=list)
    groups: list[object] = field(default_factory=list)


def from_episodes(
    episodes: object,
    feature_names: Sequence[str] | None,
    action_names: Sequence[str] | None,
    episode_ids: object,
    groups: object,
    naming: Naming,
    findings: Findings,
) -> dict[str, Any]:
    """Return the fields of a Log; raises one error that lists all errors found."""
    if isinstance(episodes, (str, bytes, Mapping)) or not isinstance(episodes, Iterable):
        findings.fail(
            "type",
            f"Expected a list of episodes, got {type(episodes).__name__}.",
            "For a dict of columns type Log.from_dict(...), for a file read_log(path).",
        )
    pieces = _Pieces()
    for number, episode in enumerate(episodes):
        parts = _parts(episode, f"Episode {number}", findings)
        if parts is not None:
            _add(pieces, parts, f"Episode {number}", findings)
        if len(findings.items) >= MOST_ERRORS:
            findings.fail("many-errors", f"Episodes after episode {number} were not checked.")
    if not pieces.rewards:
        findings.stop_if_failed()
        findings.fail("no-samples", "The list holds no episodes; it needs at least one, with at least one step.")
    states = _join(pieces.states, "states", findings)
    actions = _join(pieces.actions, "actions", findings)
    rewards = _join(pieces.rewards, "rewards", findings)
    findings.stop_if_failed()
    named = sum(name is not None for name in pieces.ids)
    if episode_ids is None and named == len(pieces.ids):
        episode_ids = pieces.ids
    elif episode_ids is None and named:
        findings.note(
            "ids-missing",
            f"{named:,} of {count(len(pieces.ids), 'episode')} {plural(named, 'has', 'have')} an id; all are numbered "
            "from 0 instead.",
            "Give every episode an id, or none.",
        )
    if groups is None and any(group is not None for group in pieces.groups):
        groups = pieces.groups
    return from_arrays(
        states,
        actions,
        rewards,
        {"starts": np.cumsum([0, *map(len, pieces.rewards)])},
        feature_names,
        action_names,
        naming,
        findings,
        source="a list of episodes",
        final_states=_stack_finals(pieces, findings),
        endings=np.array(pieces.endings, np.uint8),
        episode_ids=episode_ids,
        groups=groups,
        fresh=True,
    )


def _parts(episode: object, what: str, findings: Findings) -> dict[str, Any] | None:
    """Return the parts of one episode by their names."""
    if isinstance(episode, (tuple, list)) and not hasattr(episode, "_fields"):
        if len(episode) in (3, 4):
            return dict(zip(("states", "actions", "rewards", "final_state"), episode, strict=False))
        findings.error(
            "episode",
            f"{what} is a {type(episode).__name__} of {count(len(episode), 'item')}; expected (states, actions, "
            "rewards) or (states, actions, rewards, final_state), each with all steps of the episode.",
        )
        return None
    parts: dict[str, Any] = {}
    for part, names in PARTS.items():
        for name in names:
            value = episode.get(name) if isinstance(episode, Mapping) else getattr(episode, name, None)
            if value is not None:
                parts[part] = value
                break
    lacking = [part for part in ("states", "actions", "rewards") if part not in parts]
    if lacking:
        got = (
            f"with {listing([str(key) for key in episode])}" if isinstance(episode, Mapping) else type(episode).__name__
        )
        findings.error(
            "episode", f"{what} ({got}) has no {' and no '.join(lacking)}.", "Name them states, actions, rewards."
        )
        return None
    return parts


def _add(pieces: _Pieces, parts: dict[str, Any], what: str, findings: Findings) -> None:
    """Check one episode against itself and the first one, and append its parts."""
    before = len(findings.items)
    states = as_matrix(parts["states"], f"{what}: `states`", findings)
    actions = as_matrix(parts["actions"], f"{what}: `actions`", findings)
    rewards = as_column(parts["rewards"], f"{what}: `rewards`", findings)
    final = parts.get("final_state")
    if states is None or actions is None or rewards is None:
        return
    steps = len(rewards)
    if steps == 0:
        findings.error("no-samples", f"{what} has no steps; it needs at least one.", "Leave it out.")
    elif len(actions) != steps or len(states) not in (steps, steps + 1):
        findings.error(
            "ragged",
            f"{what} has {count(len(states), 'state')}, {count(len(actions), 'action')} and {count(steps, 'reward')}; "
            "it needs one action and one reward for each state, except for a final state at the end.",
        )
    elif len(states) == steps + 1:
        if final is not None:
            findings.error(
                "final-states",
                f"{what} has one more state than actions, and a final_state as well; give the final state only once.",
            )
        states, final = states[:-1], states[-1]
    for name, own, others in (("states", states, pieces.states), ("actions", actions, pieces.actions)):
        if others and own.shape[1] != others[0].shape[1]:
            findings.error(
                "ragged",
                f"{what}: each row of `{name}` has {count(own.shape[1], 'value')}; in earlier episodes it has "
                f"{others[0].shape[1]}.",
            )
    if final is not None:
        final = as_array(final, f"{what}: `final_state`", findings)
        if final is not None and final.reshape(-1).shape != states.shape[1:]:
            findings.error(
                "final-states", f"{what}: `final_state` has shape {final.shape}; expected {states.shape[1:]}."
            )
    flags = [
        _ending_flag(parts.get(name), steps, f"{what}: `{name}`", findings) for name in ("terminated", "truncated")
    ]
    if len(findings.items) == before:
        pieces.states.append(states)
        pieces.actions.append(actions)
        pieces.rewards.append(rewards)
        pieces.finals.append(None if final is None else final.reshape(-1))
        pieces.endings.append(int(decide(flags[0], flags[1], None, 1)[0]))
        pieces.ids.append(parts.get("id"))
        pieces.groups.append(parts.get("group"))


def _ending_flag(value: object, steps: int, what: str, findings: Findings) -> Any:
    """Return the flag of the last step as an array of one, or None."""
    if value is None:
        return None
    array = as_array(value, what, findings)
    if array is None:
        return None
    array = array.reshape(-1)
    flags = as_flags(array, what, findings)
    if flags is None:
        return None
    if len(flags) not in (1, steps):
        findings.error(
            "ragged",
            f"{what} has {count(len(flags), 'value')}; expected one, or one for each of {count(steps, 'step')}.",
        )
        return None
    if flags[:-1].any():
        findings.error("flag-inside", f"{what} is true before the last step; it may be true only in the last one.")
    return flags[-1:]


def _join(blocks: list[Array], what: str, findings: Findings) -> Array:
    sorts = [sort_of(block) for block in blocks]
    odd = next((i for i, sort in enumerate(sorts) if sort != sorts[0]), None)
    if odd is not None:
        findings.fail("objects", f"The {what} are {sorts[0]} in episode 0 and {sorts[odd]} in episode {odd}.")
    joined = np.concatenate(blocks)
    # Other integers go on as they are: where they lose digits, that is said.
    return joined.astype(np.float64, copy=False) if what == "states" and joined.dtype.kind in "bf" else joined


def _stack_finals(pieces: _Pieces, findings: Findings) -> Array:
    finals = np.full((len(pieces.finals), pieces.states[0].shape[1]), np.nan)
    for row, final in enumerate(pieces.finals):
        if final is not None:
            if sort_of(final) != "numbers":
                findings.fail(
                    "final-states", f"Episode {row}: `final_state` holds {sort_of(final)}; only numbers are allowed."
                )
            finals[row] = final
    return finals
