"""How a source was interpreted, in words: which column became what, and what was guessed (``Log.reading``)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tripletree.log.coerce import extremes
from tripletree.log.endings import ENDING_NAMES
from tripletree.log.roles import Assignment
from tripletree.log.schema import kind_seen
from tripletree.markup import notebook_box, notebook_table, tag
from tripletree.text import Message, Option, count, some_of

# Names that a line lists before it says "and 8 more".
MOST_NAMED = 12
ROW = "  {:<12} {}{}"


class Reading(Message):
    """How a source was interpreted: text, which a notebook shows as a small table."""

    def _repr_html_(self) -> str:
        rows = [line.values for line in self.values if _is_row(line)]
        first, *rest = (line for line in self.values if not _is_row(line))
        return notebook_box(tag("b", first), notebook_table((), rows), *rest)


def _is_row(line: object) -> bool:
    return isinstance(line, Message) and line.template == ROW


def describe(
    fields: Mapping[str, Any],
    source: str,
    roles: Assignment | None = None,
    units: Collection[str] = (),
    clock: str = "",
) -> Reading:
    """Return the text of ``Log.reading``.

    Parameters
    ----------
    fields : mapping
        The fields of the log.
    source : str
        Where it comes from, for the user: "run.csv", "a dict".
    roles : Assignment, optional
        Which column plays which role, for a source whose columns have names.
    units : collection of str
        Features whose unit was guessed.
    clock : str
        What the times of the rows are: "ISO 8601", "ms since 1970".
    """
    n, episodes = len(fields["rewards"]), len(fields["endings"])
    lines: list[str] = [f"Read {count(n, 'sample')} in {count(episodes, 'episode')} from {source}."]
    if roles is not None:
        boundaries = ("episode", "step", "time", "dt", "previous_row", "next_row")
        lines += [
            _line(role.replace("_", " "), roles.single[role], role in roles.guessed)
            for role in [*boundaries, "reward", "terminated", "truncated", "done"]
            if role in roles.single
        ]
    if fields.get("groups") is not None:
        number = count(len(np.unique(fields["groups"])), "group")
        lines.append(_line("group", f"{fields.get('group_name', 'group')} ({number})", False))
    if fields.get("weights") is not None:
        low, high = fields["weights"].min(), fields["weights"].max()
        name = "weights" if roles is None else roles.single.get("weight", "weights")
        guessed = roles is not None and "weight" in roles.guessed
        lines.append(_line("weight", f"{name} (from {low:.4g} to {high:.4g})", guessed))
    schema = fields["schema"]
    if fields.get("dt") is not None:
        usual = float(np.median(fields["dt"]))
        read = f", times are {clock}" if clock else ""
        lines.append(_line("step time", f"{usual:.4g} s (median){read}; derivatives are per second", False))
    states = fields["states"]
    seen = [
        kind_seen(feature, low, high) for feature, low, high in zip(schema.features, *extremes(states), strict=True)
    ]
    named = list(zip(schema.feature_names, seen, strict=True))
    features = "; ".join(
        f"{_list([name for name, of in named if of == kind])} ({kind})" for kind in dict.fromkeys(seen)
    )
    lines.append(_line("features", features, False))
    if told := [f"{feature.name} in {feature.unit}" for feature in schema.features if feature.name in units]:
        lines.append(_line("units", _list(told), True))
    action = schema.action
    text = f"{_list(action.names)} ({action.kind}"
    text += f", {count(len(action.labels), 'label')}: {_list(action.labels)})" if action.labels else ")"
    if schema.has_action:
        lines.append(_line("action", text, roles is not None and "action" in roles.guessed))
    else:
        lines.append(_line("action", "none", False))
    counts = np.bincount(fields["endings"], minlength=3)
    lines.append(_line("endings", ", ".join(f"{counts[i]:,} {ENDING_NAMES[i]}" for i in (1, 2, 0) if counts[i]), False))
    known = int((~np.isnan(fields["final_states"][:, 0])).sum())
    text = f"known for {known:,} of {count(episodes, 'episode')}" if known else "not recorded"
    if roles is not None and roles.next_columns:
        text += f", from {_list(roles.next_columns)}"
    lines.append(_line("final state", text, roles is not None and "next_state" in roles.guessed))
    if roles is not None:
        if roles.aside:
            lines.append(_line("set aside", _list(roles.aside), False))
        if roles.guessed:
            lines.append(
                Message(
                    "To change a guess, name the column: {}, {}, {}, {}.",
                    Option("episode", "..."),
                    *(Option(role, [...]) for role in ("action", "features", "ignore")),
                )
            )
    return Reading("\n".join(["{}"] * len(lines)), *lines)


def _line(role: str, text: str, guessed: bool) -> Message:
    return Message(ROW, role, text, " (guessed)" * guessed)


def _list(names: Sequence[str]) -> str:
    return some_of(names, MOST_NAMED)
