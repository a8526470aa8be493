"""Questions about how the agent moves: ways between two zones, and the agent as a machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree.asking.places import is_state, read_place
from tripletree.asking.regions import read_regions, told_about
from tripletree.checks import check_whole, is_integer
from tripletree.errors import ParameterError
from tripletree.language.conditions import clause, clauses, condition
from tripletree.model.evaluate import transitions_on
from tripletree.model.fitted import Fitted
from tripletree.scenes import machine as scenes
from tripletree.web.errors import AskError
from tripletree.web.house import NEEDS, House
from tripletree.web.packing import guide_of, packed

MOST_WAYS = 100
FEW_WAYS = 5
"""Ways from or to a single state, which are bent to it one by one."""


def routes(
    house: House, *, model: Any = "a", start: Any, end: Any, ways: Any = 20, given: Any = None
) -> dict[str, Any]:
    """Return the ways that recorded episodes took between two places: how many, how likely, how long."""
    check_whole(ways, "ways", 1, MOST_WAYS, 20)
    tree, log = house.tree(model), house.log(model)
    found = house.evidence(model)
    chance = tree.chance(end, start, given=given, log=log)
    took = tree.expected_steps(end, start, given=given, log=log)
    # One vote a trajectory where zones are joined; from or to a state, the nearest few.
    alone = any(_alone(house, model, place) for place in (start, end))
    options: dict[str, Any] = {"k": min(int(ways), FEW_WAYS)} if alone else {"pairs": int(ways)}
    lines = [house.line(model, "chance", end, start, given=given, log=True)]
    nobody = chance.counted and chance.reached == 0 and not chance.there
    known = {str(name): number for number, name in enumerate(found.recording.ids.tolist())}
    answer = None
    if given is None and not nobody and not chance.there:
        answer = tree.simulate(start, end, **options, log=log)
        lines.append(house.line(model, "simulate", start, end, **options, log=True))
    listed = [] if answer is None else list(answer)
    total = sum(one.share or 0.0 for one in listed)
    words = [str(chance)]
    words += [took.__str__()] if took.steps is not None and not chance.there and chance.counted else []
    words += [] if answer is None else [str(answer)]
    return {
        "text": " ".join(words[:2]) if answer is None else f"{chance} {answer}",
        "words": words,
        "python": "\n".join(lines),
        "nobody": bool(nobody),
        "there": bool(chance.there),
        "method": "none" if not listed or answer is None else answer.method,
        "start": chance.start,
        "end": chance.reach,
        "chance": {
            "text": str(chance),
            "probability": packed(chance.probability),
            "interval": packed(chance.interval),
            "episodes": None if chance.seen is None else chance.seen.episodes,
            "reached": chance.reached,
            "counted": chance.counted,
        },
        "time": None
        if took.steps is None
        else {"text": str(took), "mean": packed(took.steps), "quantiles": packed(took.quantiles)},
        "ways": [
            {
                "states": packed(one.nodes),
                "leaves": packed(one.leaves),
                "share": packed(one.share),
                "opacity": 1.0 if not one.share or not total else float(np.sqrt(one.share / total)),
                "duration": one.duration,
                "text": str(one),
                "method": one.method,
                "sources": [
                    {
                        "episode": known.get(str(part.episode)),
                        "id": part.episode,
                        "first": part.first,
                        "last": part.last,
                    }
                    for part in one.sources
                ],
            }
            for one in listed
        ],
    }


def _alone(house: House, model: Any, place: Any) -> bool:
    fitted = house.fitted(model)
    read = read_place(fitted, place, "start")
    return read is not None and is_state(fitted, read)


def machine(
    house: House,
    *,
    model: Any = "a",
    level: Any = "phases",
    regions: Any = 8,
    region: Any = None,
    colour: Any = "value",
    share: Any = 0.9,
    most: Any = 100,
) -> dict[str, Any]:
    """Return the phases of the agent, or the leaves of one or all of them, as a graph."""
    tree, log, found = house.tree(model), house.log(model), house.evidence(model)
    fitted = tree.fitted_
    outline = tree.outline(log, regions=regions)
    recording = found.recording
    known = read_regions(fitted, told_about(fitted), most=regions, given=(recording.states, recording.starts))
    if level == "phases":
        scene = scenes.phases(fitted, outline, known)
        line = house.line(model, "outline", log=True, regions=None if regions == 8 else regions)
    elif level == "leaves":
        if region is not None and (not is_integer(region) or not 0 <= region < len(known)):
            raise AskError("mistake", f"There are the phases 0 to {len(known) - 1}; got {region!r}.")
        if colour == "value" and not fitted.schema.has_reward:
            colour = "action"
        moves = transitions_on(fitted, log, 1)
        home = scenes.home_of(fitted, known)
        scene = scenes.leaves(fitted, found, moves, home, region=region, colour=colour, share=share, most=most)
        line = house.line(model, "transitions", log=True)
    else:
        raise AskError("mistake", f"`level` is 'phases' or 'leaves'; got {level!r}.")
    told: dict[str, Any] = {**packed(scene), "python": line, "needs": None if log is not None else NEEDS["log"]}
    told["edges"] = [{"from": one.pop("source"), "to": one.pop("target"), **one} for one in told["edges"]]
    names = [{"region": one.number, "name": one.name, "text": str(one)} for one in outline.regions]
    return {**told, **guide_of(scene.colours), "phases": names, "routes": [str(one) for one in outline.routes]}


def leaf(house: House, *, model: Any = "a", leaf: Any) -> dict[str, Any]:
    """Return one leaf: where it is, what is done there, and what follows it."""
    fitted, log = house.fitted(model), house.log(model)
    tree = fitted.tree
    if not is_integer(leaf) or not 0 <= leaf < tree.n_leaves:
        raise AskError("mistake", f"Leaves go from 0 to {tree.n_leaves - 1}; got {leaf!r}.")
    lower, upper = (bound[leaf] for bound in fitted.bounds)
    when = clauses(fitted.schema, lower.tolist(), upper.tolist())
    try:
        moves = transitions_on(fitted, log, 1)
    except ParameterError:  # a model that keeps nothing still has leaves
        moves = None
    follows: list[dict[str, Any]] = []
    time = float(fitted.leaves.count[leaf] / fitted.leaves.count.sum())
    if moves is not None:
        mine = np.flatnonzero(moves.source == leaf)
        mine = mine[np.argsort(-moves.count[mine], kind="stable")][:12]
        follows = [
            {
                "leaf": "end" if moves.target[k] == moves.end else int(moves.target[k]),
                "share": float(moves.probability[k]),
                "count": int(moves.count[k]),
                "interval": packed(moves.intervals[k]),
            }
            for k in mine.tolist()
        ]
        time = float(moves.samples[leaf] / max(int(moves.samples.sum()), 1))
    middle = fitted.leaves.state_mean
    return {
        "text": scenes.leaf_text(fitted, leaf, time, when),
        "leaf": leaf,
        "box": {"lower": packed(lower), "upper": packed(upper)},
        "path": _path(fitted, int(leaf)),
        "when": list(when),
        "count": int(fitted.leaves.count[leaf]),
        "share": time,
        "next": follows,
        "state": packed(middle[leaf] if middle is not None else fitted.entry_points.middle[:, leaf]),
        "python": f"{house.called(model)}.leaves_",
    }


def _path(fitted: Fitted, leaf: int) -> list[dict[str, Any]]:
    """Return the splits on the way from the root to a leaf, in words."""
    tree, node = fitted.tree, int(fitted.tree.leaf_nodes[leaf])
    steps: list[dict[str, Any]] = []
    while node:
        above = int(tree.parent[node])
        feature, threshold = fitted.schema.features[int(tree.feature[above])], float(tree.threshold[above])
        below = node == int(tree.left[above])
        low, high = (-np.inf, threshold) if below else (threshold, np.inf)
        told = clause(feature, low, high) or condition(feature.name, low, high, feature.unit)
        steps.append({"node": above, "condition": told})
        node = above
    return steps[::-1]
