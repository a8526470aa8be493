"""Questions about one place: what is done there and why, what would change it, what comes next, who came through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tripletree.answers.answer import Answer
from tripletree.answers.counterfactual import Counterfactual
from tripletree.language.numbers import rounded
from tripletree.questions.futures import region_of_leaves
from tripletree.web.errors import AskError
from tripletree.web.house import NEEDS, Code, House
from tripletree.web.packing import packed


def said(answer: Answer, line: str, **more: Any) -> dict[str, Any]:
    """Return an answer as a page shows it: the sentence, the data, the line of Python."""
    return {"text": str(answer), "data": packed(answer.to_dict()), "python": line, **more}


def predict(house: House, *, model: Any = "a", state: Any) -> dict[str, Any]:
    """Return what the tree predicts in a state."""
    return said(house.tree(model).predict(state), house.line(model, "predict", state))


def explain(house: House, *, model: Any = "a", state: Any, about: Any = "action") -> dict[str, Any]:
    """Return why the tree predicts what it predicts."""
    answer = house.tree(model).explain(state, about=about)
    return said(answer, house.line(model, "explain", state, about=about))


def attribute(house: House, *, model: Any = "a", state: Any, about: Any = "action") -> dict[str, Any]:
    """Return how much each feature contributed."""
    answer = house.tree(model).attribute(state, about)
    return said(answer, house.line(model, "attribute", state, about))


def counterfactual(
    house: House,
    *,
    model: Any = "a",
    state: Any,
    foil: Any,
    k: Any = 3,
    fixed: Any = (),
    one_way: Any = None,
    max_changes: Any = None,
    min_samples: Any = 1,
    log: Any = False,
    verify: Any = False,
) -> dict[str, Any]:
    """Return what would have to change for the tree to predict something else."""
    options: dict[str, Any] = {"k": k, "fixed": fixed}
    options |= {"one_way": one_way, "max_changes": max_changes, "min_samples": min_samples}
    shown = {**options, "min_samples": None if min_samples == 1 else min_samples}
    if log is True:
        options["log"] = house.required_log(model)
        shown["log"] = Code("log")
    if verify is True:
        options["agent"] = house.required_agent().act
        shown["agent"] = Code("agent")
    answer = house.tree(model).explain(state, foil, **options)
    line = house.line(model, "explain", state, foil, **shown)
    return said(answer, line, answers=[_alternative(house, model, one) for one in (answer, *answer.others)])


def _alternative(house: House, model: Any, one: Counterfactual) -> dict[str, Any]:
    names = house.fitted(model).schema.feature_names
    return {
        "text": str(replace(one, others=())),
        "state": packed(one.foil_state),
        "leaf": None if one.foil_state is None else one.foil_leaf,
        "changed": [names[f] for f in one.changed],
        "opinion": one.opinion,
        "samples": one.samples,
        "distance": packed(one.distance),
        "agent": packed(one.agent_action),
        "confirmed": one.confirmed,
    }


def futures(
    house: House, *, model: Any = "a", start: Any = None, k: Any = 3, regions: Any = 10, given: Any = None
) -> dict[str, Any]:
    """Return where recorded episodes went next from a place, with counted chances."""
    tree, log = house.tree(model), house.log(model)
    house.evidence(model)
    answer = tree.futures(start, k, regions=regions, given=given, log=log)
    fitted = tree.fitted_
    region = region_of_leaves(fitted, min(regions, fitted.tree.n_leaves))
    found = [
        {
            "text": str(one),
            "share": one.share,
            "interval": packed(np.asarray(one.interval)),
            "episodes": one.episodes,
            "steps": list(one.steps),
            "where": list(one.where),
            "when": list(one.when),
            "action": one.action,
            "ends": one.leaf is None,
            "leaves": [] if one.leaf is None else packed(np.flatnonzero(region == one.leaf)),
        }
        for one in answer
    ]
    line = house.line(model, "futures", start, k, regions=None if regions == 10 else regions, given=given, log=True)
    return said(answer, line, found=found)


def chance(
    house: House,
    *,
    model: Any = "a",
    reach: Any,
    start: Any = None,
    before: Any = None,
    within: Any = None,
    given: Any = None,
) -> dict[str, Any]:
    """Return how probable it is to reach a zone."""
    options = {"before": before, "within": within, "given": given}
    answer = house.tree(model).chance(reach, start, **options, log=house.log(model))
    return said(answer, house.line(model, "chance", reach, start, **options, log=True))


def steps(
    house: House, *, model: Any = "a", reach: Any, start: Any = None, before: Any = None, given: Any = None
) -> dict[str, Any]:
    """Return how long it takes to reach a zone."""
    options = {"before": before, "given": given}
    answer = house.tree(model).expected_steps(reach, start, **options, log=house.log(model))
    return said(answer, house.line(model, "expected_steps", reach, start, **options, log=True))


def after(house: House, *, model: Any = "a", steps: Any, start: Any = None, given: Any = None) -> dict[str, Any]:
    """Return where recorded episodes are some steps later, leaf by leaf."""
    answer = house.tree(model).after(steps, start, given=given, log=house.log(model))
    line = house.line(model, "after", steps, start, given=given, log=True)
    told = said(answer, line, share=packed(np.asarray(answer.share)))
    # Intervals of every leaf are many numbers, and nobody looks at them.
    del told["data"]["share"], told["data"]["interval"]
    return told


def through(house: House, *, model: Any = "a", start: Any, given: Any = None, most: Any = 200) -> dict[str, Any]:
    """Return which recorded episodes came through a place, and what they did there."""
    house.evidence(model)
    log = house.log(model)
    if isinstance(start, dict) and set(start) == {"leaf"}:
        start = start["leaf"]
    answer = house.tree(model).visits(start, given=given, most=most, log=log)
    every = house.tree(model).episodes(log=log)
    rows = [
        {
            "episode": one.episode,
            "id": one.name,
            "step": one.step,
            "distance": one.distance,
            "action": packed(one.action),
            "return": None if every.total is None else float(every.total[one.episode]),
            "length": int(every.length[one.episode]),
            "outcome": None if every.success is None else bool(every.success[one.episode]),
        }
        for one in answer
    ]
    line = house.line(model, "visits", start, given=given, most=None if most == 1000 else most, log=True)
    return {
        "text": str(answer),
        "python": line,
        "near": answer.seen.distance is not None,
        "distance": answer.seen.distance,
        "recorded": answer.seen.recorded,
        "found": answer.seen.episodes,
        "episodes": rows,
        "actions": packed(answer.actions),
        "actionsText": NEEDS["log"] if answer.actions is None and answer.has_action else answer.did,
    }


def novelty(house: House, *, model: Any = "a", state: Any) -> dict[str, Any]:
    """Return how new a state is to the tree, and a warning where it is."""
    found = float(house.tree(model).novelty(state))
    text = (
        f"Nobody has been near this state: it is {rounded(found, 2)} times as far from the recorded ones as 99.9 % of "
        "the states in unseen episodes. Take what follows with care."
    )
    return {"novelty": found, "text": text if found > 1 else "", "python": house.line(model, "novelty", state)}


def agent(house: House, *, model: Any = "a", state: Any) -> dict[str, Any]:
    """Return what the tree and its agent do in a state."""
    if state is None:
        raise AskError("mistake", "Which state? Give one number for each feature.")
    answer = house.tree(model).disagreement(house.required_agent().act, state=state)
    line = house.line(model, "disagreement", Code("agent"), state=state)
    return said(answer, line, tree=packed(answer.ours), agent=packed(answer.theirs), agree=answer.agree)
