"""Action columns to codes and labels (discrete) or to a matrix (continuous)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tripletree.checks import choice, did_you_mean, listing
from tripletree.errors import LogError
from tripletree.log.coerce import LARGEST, NUMERIC, Array, as_numbers, factorise
from tripletree.log.findings import Findings
from tripletree.log.schema import ACTION_KINDS, MAX_LABELS, Action, levels_wrong
from tripletree.text import Message, Option, count, message_of, plural

FINAL_ROW = "If the last row of an episode holds only its final state, give that as final_state, or in next_* columns."
"""The fix for a row without an action or a reward, which is how some recorders write the final state."""
BLANK = frozenset({"", "na", "n/a", "<na>", "nan", "nat", "null"})
"""Text that may stand for nothing; "none" is left out, which may well be an action."""


def guess_kind(columns: Sequence[Array]) -> str:
    """Return "continuous" if any column holds floats, otherwise "discrete"."""
    return "continuous" if any(column.dtype.kind == "f" for column in columns) else "discrete"


def read_actions(
    columns: Sequence[Array],
    names: Sequence[str],
    kind: str | None,
    labels: Mapping[object, str] | Sequence[str] | None,
    units: Mapping[str, str],
    levels: Mapping[str, Sequence[float | str]],
    findings: Findings,
) -> tuple[Array, Action] | None:
    """Return the actions (codes, or float64 columns) and what they are, or None after errors were noted."""
    if kind is None:
        kind = guess_kind(columns) if labels is None else "discrete"
    if wrong := choice(ACTION_KINDS).objection(kind, "action_kind"):
        findings.error("action-kind", wrong)
        return None
    try:
        if kind == "continuous":
            read = _read_continuous(columns, names, labels is not None, units, findings)
            return None if read is None else (read[0], _with_levels(read[1], levels, findings))
        return _read_discrete(columns, names, labels, units, findings)
    except LogError as error:  # a name or label that the schema refuses
        findings.error("action-names", message_of(error))
        return None


def _with_levels(action: Action, levels: Mapping[str, Sequence[float | str]], findings: Findings) -> Action:
    """Return the action with the words that were given for its numbers."""
    for name, given in levels.items():
        if name not in action.names:
            text = Message("There is no action `{}` (in {}).", name, Option("levels"))
            findings.error("unknown-column", text, did_you_mean(name, action.names).strip())
        elif levels_wrong(given):
            example = Option("levels", {name: ["off", 0.0, "on"]})
            text = Message("The levels of action `{}` are {!r:.80}.", name, given)
            fix = Message(
                "Give increasing numbers at which levels end, with a name for every level or none: {}.", example
            )
            findings.error("levels", text, fix)
    if findings.failed or not levels:
        return action
    return replace(action, levels=tuple(tuple(levels.get(name, ())) for name in action.names))


def _read_continuous(
    columns: Sequence[Array], names: Sequence[str], labelled: bool, units: Mapping[str, str], findings: Findings
) -> tuple[Array, Action] | None:
    if labelled:
        findings.error(
            "labels",
            "A continuous action has no labels.",
            Message(
                "Leave the labels out; or, if the actions are choices, type {}.", Option("action_kind", "discrete")
            ),
        )
    out = np.empty((len(columns[0]), len(columns)))
    fix = Message("If the actions are choices, type {}.", Option("action_kind", "discrete"))
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        values = as_numbers(column, f"Action `{name}`", findings, fix)
        if values is None:
            continue
        out[:, k] = values
        bad = ~np.isfinite(out[:, k])
        if bad.any():
            findings.error(
                "actions-not-finite",
                f"Action `{name}` is NaN or infinite in {count(int(bad.sum()), 'row')}, first in row "
                f"{int(bad.argmax())}; only finite numbers are allowed.",
                FINAL_ROW,
            )
        elif np.abs(out[:, k]).max() > LARGEST:
            findings.error("too-large", f"Action `{name}` goes beyond {LARGEST:g}; its squares would overflow.")
    return out, Action("continuous", tuple(names), (), tuple(units.get(name, "") for name in names))


def _read_discrete(
    columns: Sequence[Array],
    names: Sequence[str],
    labels: Mapping[object, str] | Sequence[str] | None,
    units: Mapping[str, str],
    findings: Findings,
) -> tuple[Array, Action] | None:
    texts: list[str] = [""]
    codes = np.zeros(len(columns[0]), np.int64)
    # Several discrete columns are one action whose labels are the combinations that occur.
    for name, column in zip(names, columns, strict=True):
        missing = _missing(column)
        if missing.any():
            say_no_action(name, int(missing.sum()), int(missing.argmax()), findings)
            return None
        values, own = factorise(column if column.dtype.kind in NUMERIC + "O" else column.astype(str).astype(object))
        if len(values) > MAX_LABELS:
            say_too_many(f"{len(values):,}", name, columns, findings)
            return None
        if len(columns) == 1:
            texts, codes = [label_text(value) for value in values], own
            break
        # After each column only the pairs that occur are kept, so that codes stay small however many columns there are.
        used, codes = np.unique(codes * len(values) + own, return_inverse=True)
        if len(used) > MAX_LABELS:
            say_too_many(f"{len(used):,}", ", ".join(names), columns, findings)
            return None
        texts = [
            f"{texts[pair // len(values)]}, {label_text(values[pair % len(values)])}".removeprefix(", ")
            for pair in used.tolist()
        ]
    name = ", ".join(names)
    _check_texts(texts, name, findings)
    if findings.failed:
        return None
    known = _known_labels(texts, columns[0], labels, findings)
    if known is None:
        return None
    place = {text: i for i, text in enumerate(known)}
    recode = np.array([place[text] for text in texts], np.int32)
    labelled = tuple(known) if any(text != label for text, label in known.items()) else ()
    action = Action("discrete", (name,), tuple(known.values()), (units.get(name, ""),), labelled)
    return recode[codes.reshape(-1)], action


def _check_texts(texts: Sequence[str], name: str, findings: Findings) -> None:
    """Look for labels that would become one, that differ only by spaces, or that may stand for a missing action."""
    twice = [text for text, number in Counter(texts).items() if number > 1]
    if twice:
        findings.error(
            "labels",
            f"Action `{name}`: different combinations have the same label {listing(twice)}.",
            "Leave commas out of the values.",
        )
        return
    bare = Counter(text.strip() for text in texts)
    alike = [text for text in texts if bare[text.strip()] > 1]
    if alike:
        findings.warning(
            "labels-alike",
            f"Labels of action `{name}` differ only by spaces, and count as different: {', '.join(map(repr, alike))}.",
        )
    empty = [text for text in texts if text.strip().lower() in BLANK]
    if empty:
        findings.warning(
            "label-missing",
            f"{listing(empty)} {plural(len(empty), 'is a label', 'are labels')} of action `{name}`, like any other.",
            "If it stands for a missing action, leave those rows out.",
        )


def say_no_action(name: str, number: int, row: int, findings: Findings) -> None:
    """Note that so many rows have no action, the first of them this one."""
    findings.error(
        "actions-missing",
        f"Action `{name}` is missing in {count(number, 'row')}, first in row {row}; every row needs an action.",
        FINAL_ROW,
    )


def _missing(column: Array) -> Array:
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind in "mM":
        return np.isnat(column)
    if column.dtype.kind == "O" and None in column.tolist():
        return np.array([value is None for value in column], bool)
    return np.zeros(1, bool)


def say_too_many(number: str, name: str, columns: Sequence[Array], findings: Findings) -> None:
    """Note that an action has more values than a discrete one may have."""
    numeric = all(column.dtype.kind in NUMERIC for column in columns)
    scale = Message("If they are numbers on a scale, type {}.", Option("action_kind", "continuous"))
    findings.error(
        "too-many-labels",
        f"Action `{name}` has {number} different values; a discrete action may have at most {MAX_LABELS:,}.",
        scale if numeric else "Group the values first.",
    )


def _known_labels(
    texts: list[str], column: Array, labels: Mapping[object, str] | Sequence[str] | None, findings: Findings
) -> dict[str, str] | None:
    """Return the label of each value (the values as text), in the order of their codes."""
    if labels is None:
        return {text: text for text in texts}
    if isinstance(labels, Mapping):
        known = {label_text(value): str(label) for value, label in labels.items()}
    elif column.dtype.kind == "O":
        known = {str(label): str(label) for label in labels}
    elif column.dtype.kind == "b":
        known = dict(zip(("False", "True"), map(str, labels), strict=False))
    else:
        known = {str(value): str(label) for value, label in enumerate(labels)}
    if isinstance(labels, Mapping) and len(known) < len(labels):
        findings.error("labels", Message("{} names a value twice, as a number and as text.", Option("labels", labels)))
        return None
    unknown = [text for text in texts if text not in known]
    if unknown:
        findings.error(
            "labels",
            f"No label was given for {listing(unknown)}; there are labels for {listing(known)}.",
            Message("Type {}, with every value that occurs.", Option("labels", {0: "left", 1: "right"})),
        )
        return None
    return known


def label_text(value: object) -> str:
    """Return an action's value as a label: ``True``, ``3``, ``0.001``, ``left``."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value) + 0.0).removesuffix(".0")  # -0.0 is 0.0
    return str(value)
