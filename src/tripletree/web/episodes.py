"""Questions about recorded episodes: a list of them, and one of them step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.story import phase as phase_text
from tripletree.checks import check_choice, check_whole
from tripletree.log.log import Log
from tripletree.model.evaluate import known_codes, log_values
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence
from tripletree.scenes.colours import OTHER, PHASES
from tripletree.web.errors import AskError
from tripletree.web.house import NEEDS, Code, House
from tripletree.web.packing import packed

POINTS = 48
"""Numbers of a sparkline, at most."""
MOST_ROWS = 500
MOST_CHANGES = 400
CLEAR = 0.5
"""A change of a number is told from this share of the action's standard deviation on."""
SORTS = ("episode", "id", "return", "length", "outcome", "ending")


def episodes(
    house: House,
    *,
    model: Any = "a",
    given: Any = None,
    success: Any = None,
    sort: Any = "episode",
    descending: Any = False,
    first: Any = 0,
    count: Any = 100,
    spark: Any = None,
) -> dict[str, Any]:
    """Return recorded episodes: which ones, in which order, and from where to where in the list."""
    check_choice(sort, "sort", SORTS)
    check_whole(first, "first", 0)
    check_whole(count, "count", 1, MOST_ROWS, 100)
    found, fitted = house.evidence(model), house.fitted(model)
    given = given or None
    answer = house.tree(model).episodes(given, success=success or None, log=house.log(model))
    keys: dict[str, Any] = {
        "episode": answer.episode,
        "id": np.array(answer.names) if answer.names else np.zeros(0),
        "return": answer.total if answer.total is not None else answer.length,
        "length": answer.length,
        "outcome": np.zeros(len(answer)) if answer.success is None else ~answer.success,
        "ending": np.array(answer.ending, str) if answer.ending else np.zeros(0),
    }
    order = np.argsort(keys[sort], kind="stable")
    if descending is True:
        # Equal ones stay in the order of the record.
        order = len(order) - 1 - np.argsort(keys[sort][::-1], kind="stable")[::-1]
    what, column = _spark(fitted, spark)
    shown = order[int(first) : int(first) + int(count)].tolist()
    rows = [
        {
            "episode": int(answer.episode[k]),
            "id": answer.names[k],
            "return": None if answer.total is None else float(answer.total[k]),
            "length": int(answer.length[k]),
            "ending": answer.ending[k],
            "outcome": None if answer.success is None else bool(answer.success[k]),
            "group": None if answer.group is None else answer.group[k],
            "spark": _thinned(fitted, found, int(answer.episode[k]), column),
        }
        for k in shown
    ]
    return {
        "text": str(answer),
        "python": house.line(model, "episodes", *([given] if given else []), success=success or None, log=True),
        "total": answer.recorded,
        "shown": len(answer),
        "first": int(first),
        "rows": rows,
        "sparkOf": what,
        "outcomeText": answer.meaning,
        "kept": answer.kept,
    }


def _spark(fitted: Fitted, wanted: Any) -> tuple[str, int | None]:
    """Return what small lines show: the value that the tree predicts, or a feature; None is the value."""
    names = fitted.schema.feature_names
    if wanted in names:
        return str(wanted), names.index(wanted)
    if wanted not in (None, "value"):
        raise AskError("mistake", f"Small lines show `value` or a feature; got {str(wanted)[:60]!r}.")
    return ("value", None) if fitted.schema.has_reward else (names[0], 0)


def _thinned(fitted: Fitted, found: Evidence, episode: int, column: int | None) -> list[float]:
    begin, end = (int(row) for row in found.recording.starts[episode : episode + 2])
    rows = np.unique(np.linspace(begin, end - 1, min(POINTS, end - begin)).round().astype(np.int64))
    shown = fitted.leaves.value_mean[found.leaf[rows]] if column is None else found.recording.states[rows, column]
    told: list[float] = [float(f"{number:.4g}") for number in shown.tolist()]
    return told


def episode(house: House, *, model: Any = "a", episode: Any, about: Any = "action") -> dict[str, Any]:
    """Return one episode: states, actions and values step by step, its story, and why the prediction changed when."""
    found, tree, log = house.evidence(model), house.tree(model), house.log(model)
    fitted, recording = tree.fitted_, found.recording
    check_whole(episode, "episode", 0, recording.n_episodes - 1)
    number = int(episode)
    begin, end = (int(row) for row in recording.starts[number : number + 2])
    states = np.ascontiguousarray(recording.states[begin:end])
    final = recording.final_states[number]
    one = None if log is None else log.select([number])
    told = tree.story(number, log=log, about=about) if log is not None else tree.story(states, about=about)
    predicted = fitted.told(states, found.leaf[begin:end])
    name = recording.ids[number].item()
    code = "states" if log is None else str(number)
    line = house.line(model, "story", Code(code), about=None if about == "action" else about, log=True)
    rewarded = fitted.schema.has_reward
    return {
        "episode": number,
        "id": name,
        "title": f"Episode {name}",
        "text": str(told),
        "python": line,
        "length": end - begin,
        "first": 0 if recording.first is None else int(recording.first[number]),
        "return": float(recording.returns[number]) if rewarded else None,
        "ending": ("unknown", "terminated", "truncated")[int(recording.endings[number])],
        "about": told.about,
        "states": packed(states),
        "final": None if np.isnan(final[0]) else packed(final),
        "leaf": packed(found.leaf[begin:end]),
        "action": _actions(fitted, one, predicted[:, fitted.targets["action"]]),
        "value": None
        if not rewarded
        else {
            "recorded": None if one is None else packed(log_values(fitted, one)),
            "predicted": packed(predicted[:, fitted.targets["value"]][:, 0]),
        },
        "rewards": None if one is None or not rewarded else packed(one.rewards),
        "phases": [
            {
                "begin": part.begin,
                "end": part.end,
                "name": part.name,
                "region": part.region,
                "colour": PHASES[part.region] if part.region < len(PHASES) else OTHER,
                "text": phase_text(part, told.explained),
            }
            for part in told.phases
        ],
        "changes": _changes(tree, fitted, states, about),
        "needs": None if log is not None else NEEDS["log"],
    }


def _actions(fitted: Fitted, one: Log | None, predicted: npt.NDArray[np.float64]) -> dict[str, Any] | None:
    action = fitted.schema.action
    if not fitted.schema.has_action:
        return None
    told: dict[str, Any] = {"names": list(action.names), "units": list(action.units), "labels": list(action.labels)}
    if action.kind == "discrete":
        recorded = None if one is None else packed(known_codes(fitted, one)[:, None])
        return {**told, "recorded": recorded, "predicted": packed(predicted.argmax(axis=1).astype(np.int32)[:, None])}
    return {**told, "recorded": None if one is None else packed(one.actions), "predicted": packed(predicted)}


def _changes(tree: Any, fitted: Fitted, states: npt.NDArray[np.float64], about: Any) -> list[dict[str, Any]]:
    """Return why the prediction changed, step by step; of several dimensions of an action, each by itself."""
    names, action = fitted.schema.feature_names, fitted.schema.action
    asked: list[tuple[str, float]] = [(about, 0.0)]
    if about == "action" and action.kind == "continuous" and fitted.action_scale is not None:
        asked = [(name, CLEAR * float(one)) for name, one in zip(action.names, fitted.action_scale, strict=True)]
    if not fitted.schema.has_action and about == "action":
        asked = []
    rows = []
    for what, least in asked:
        found = tree.explain_changes(states, about=what, at_least=least)
        for k in range(min(len(found), MOST_CHANGES)):
            change = found[k]
            rows.append(
                {
                    "step": int(found.step[k]),
                    "about": what,
                    "text": str(change),
                    "from": packed(change.was),
                    "to": packed(change.became),
                    "changed": [names[f] for f in change.changed],
                    "turning": packed(change.turning),
                }
            )
    return sorted(rows, key=lambda row: row["step"])[:MOST_CHANGES]
