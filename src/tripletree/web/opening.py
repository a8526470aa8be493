"""The first questions of a page: what is there, the tree to draw, and maps of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import __version__
from tripletree.asking.attribute import main_attributes
from tripletree.checks import check_number, check_whole
from tripletree.frontend.payload import foil_saying, sayings, shape, support, usual_foils
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import evidence
from tripletree.scenes.colouring import known_colours, read_colour
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.overlays import seen_rows
from tripletree.scenes.types import Axis
from tripletree.scenes.view import leaf_boxes, named, read_view
from tripletree.web.errors import AskError
from tripletree.web.house import NEEDS, House
from tripletree.web.packing import packed, scene_of, ticks_of

F64 = npt.NDArray[np.float64]

PROTOCOL = 1
"""The number of the contract between pages and this room."""


def hello(house: House) -> dict[str, Any]:
    """Return what there is to ask about, and what each thing that is missing needs."""
    agent, logged = house.agent, house.log("a") is not None
    return {
        "protocol": PROTOCOL,
        "session": house.session,
        "version": __version__,
        "title": house.models["a"].name,
        "models": [_model(house, handle) for handle in house.models if "~" not in handle],
        "agent": None
        if agent is None
        else {"name": agent.name, "env": agent.env, "frames": agent.frame is not None and logged},
        "can": {
            "log": logged,
            "agent": agent is not None,
            "second": "b" in house.models,
            "regrow": logged,
            "frames": agent is not None and agent.frame is not None and logged,
            "diff": "diff" in house.finders and logged and house.other_log is not None,
            "failures": "failures" in house.finders and logged,
            "require": "require" in house.finders and logged,
        },
        "needs": NEEDS,
        "setup": house.setup(),
    }


def _model(house: House, handle: str) -> dict[str, Any]:
    model = house.models[handle]
    fitted, log = model.tree.fitted_, model.log
    schema, track = fitted.schema, fitted.track
    return {
        "model": handle,
        "name": model.name,
        "leaves": fitted.tree.n_leaves,
        "most": fitted.tree.n_leaves,
        "theta": list(fitted.options["theta"]),
        "gamma": fitted.options["gamma"],
        "leafModel": fitted.options["leaf_model"],
        "log": None if log is None else _size(log, house.names[2]),
        "track": None
        if track is None
        else {"episodes": track.n_episodes, "steps": track.n_samples, "whole": track.first is None},
        "features": [_feature(fitted, f) for f in range(len(schema.features))],
        "action": {
            "kind": schema.action.kind if schema.has_action else "none",
            "names": list(schema.action.names),
            "units": list(schema.action.units),
            "labels": list(schema.action.labels),
        },
        "hasReward": schema.has_reward,
        "abouts": [*main_attributes(fitted), *(["value"] if schema.has_reward else [])],
        "colours": [_colour(fitted, name) for name in known_colours(fitted)],
        "foils": list(usual_foils(fitted)),
        "success": (schema if log is None else log.schema).success or None,
    }


def _size(log: Log, name: str) -> dict[str, Any]:
    return {"episodes": log.n_episodes, "steps": log.n_samples, "name": name}


def _feature(fitted: Fitted, f: int) -> dict[str, Any]:
    feature, medians = fitted.schema.features[f], fitted.medians
    return {
        "name": feature.name,
        "unit": feature.unit,
        "kind": feature.kind,
        "label": named(feature.name, feature.unit),
        "min": float(fitted.feature_min[f]),
        "max": float(fitted.feature_max[f]),
        "median": None if medians is None else float(medians[f]),
        "whole": bool(fitted.whole[f]),
    }


def _colour(fitted: Fitted, name: str) -> dict[str, str]:
    return {"name": name, "title": read_colour(fitted, leaf_boxes(fitted), name).title}


def tree(house: House, *, model: Any = "a") -> dict[str, Any]:
    """Return what a browser needs to draw the leaves, and to find that of a state."""
    base, log = house.base(model)[0].tree.fitted_, house.log(model)
    # Where there are recorded states is the same for every size of a tree, and takes longest.
    faded = support(base, None) if log is None else base.recall(log, "faded", lambda: support(base, log))
    first = _first_state(house, str(model).partition("/")[0])
    return {**shape(house.fitted(model), first, log, faded), "called": house.called(model)}


def _first_state(house: House, model: Any) -> F64 | None:
    """Return a recorded state in the busiest leaf: the middle of its box may be where nobody ever was."""
    fitted, middle = house.fitted(model), house.fitted(model).leaves.state_mean
    found = evidence(fitted, house.log(model))
    if found is None or middle is None:
        return None
    # Of the leaves that recorded states lie in: a log that the tree was not grown on may miss some.
    busiest = int(np.bincount(found.leaf).argmax())
    states = found.recording.states[found.leaf == busiest]
    away = (((states - middle[busiest]) / fitted.span) ** 2).sum(axis=1)
    first: F64 = states[int(away.argmin())]
    return first


def facts(house: House, *, model: Any = "a") -> dict[str, Any]:
    """Return what a browser needs to explain on its own: facts, the usual foils, second models."""
    return sayings(house.fitted(model))


def foil(house: House, *, model: Any = "a", foil: Any) -> dict[str, Any]:
    """Return one more foil for a browser that has the facts."""
    return foil_saying(house.fitted(model), foil)


def map_of(
    house: House,
    *,
    model: Any = "a",
    x: Any,
    y: Any = None,
    colour: Any = "action",
    where: Any = None,
    at: Any = None,
    arrows: Any = False,
    linear: Any = False,
    limits: Any = None,
) -> dict[str, Any]:
    """Return a leaf map: along one or two features, the others averaged, limited or fixed."""
    log = house.log(model)
    if colour == "action" and colour not in (known := known_colours(house.fitted(model))):
        colour = known[0]  # the first of several dimensions
    view = read_view(house.fitted(model), x, y, where=where, at=at)
    scene = leaf_map(view, colour, arrows=arrows, limits=limits, linear=linear, log=log)
    options = {"where": where, "at": at, "arrows": arrows or None, "linear": linear or None, "limits": limits}
    given = [repr(x), repr(y), f"colour={colour!r}"]
    given += [f"{name}={value!r}" for name, value in options.items() if value is not None]
    given += ["log=log"] if log is not None else []
    return {"scene": scene_of(scene), "python": f"plot.leaf_map({house.called(model)}, {', '.join(given)})"}


def ticks(house: House, *, low: Any, high: Any, log: Any = False) -> dict[str, Any]:
    """Return the ticks of an axis, for a part of a map that somebody looks at more closely."""
    del house
    check_number(low, "low")
    check_number(high, "high")
    if not low < high or (log is True and low <= 0):
        raise AskError("mistake", f"An axis goes from a smaller to a larger number; got {low} and {high}.")
    return {"ticks": ticks_of(Axis("", float(low), float(high), log=log is True))}


def samples(
    house: House, *, model: Any = "a", x: Any, y: Any, where: Any = None, at: Any = None, most: Any = 2000
) -> dict[str, Any]:
    """Return recorded states in a view, evenly thinned, with their episodes and steps."""
    check_whole(most, "most", 1, 20_000, 2000)
    found = house.evidence(model)
    view = read_view(house.fitted(model), x, y, where=where, at=at)
    rows = seen_rows(view, found.recording.states, found.leaf, int(most))
    whose = found.episodes.of_row[rows]
    found_rows: dict[str, Any] = packed(
        {
            "x": found.recording.states[rows, view.axes[0]],
            "y": found.recording.states[rows, view.axes[-1]],
            "episode": np.asarray(whose),
            "step": rows - found.recording.starts[whose],
        }
    )
    return found_rows


def recorded(house: House, *, model: Any = "a", most: Any = 3000) -> dict[str, Any]:
    """Return recorded states with all their features, evenly thinned: a map shows two, and a click needs the others."""
    check_whole(most, "most", 1, 20_000, 3000)
    states = house.evidence(model).recording.states
    rows = np.linspace(0, len(states) - 1, min(len(states), most)).round().astype(np.int64)
    found: dict[str, Any] = packed({"states": states[rows]})
    return found
