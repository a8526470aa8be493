"""Questions about somebody else: the agent beside its tree, a second model, and what changed between the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree.answers.disagreement import Disagreement
from tripletree.web.errors import AskError
from tripletree.web.here import said
from tripletree.web.house import NEEDS, Code, House
from tripletree.web.packing import packed


def agreement(house: House, *, model: Any = "a") -> dict[str, Any]:
    """Return where the tree does something else than its agent, in recorded states."""
    agent = house.required_agent()
    found = house.evidence(model)
    answer = house.tree(model).disagreement(agent.act, log=house.log(model))
    return _apart(found, answer, house.line(model, "disagreement", Code("agent"), log=True))


def compare(house: House, *, a: Any = "a", b: Any = "b") -> dict[str, Any]:
    """Return where two trees do something else, in the states recorded for the first."""
    other = house.tree(b)
    found = house.evidence(a)
    answer = house.tree(a).disagreement(other, log=house.log(a))
    line = house.line(a, "disagreement", Code(house.called(b)), log=True)
    return _apart(found, answer, line)


def _apart(found: Any, answer: Disagreement, line: str) -> dict[str, Any]:
    whose = found.episodes.of_row[answer.worst]
    data = {
        name: value for name, value in answer.to_dict().items() if name not in ("by_leaf", "worst", "ours", "theirs")
    }
    return {
        "text": str(answer),
        "data": packed(data),
        "python": line,
        "share": answer.agreement,
        "labels": answer.agreement is not None,
        "states": answer.states,
        "byLeaf": packed(np.asarray(answer.by_leaf)),
        "leaves": [
            {"leaf": one.leaf, "states": one.states, "share": one.share, "text": str(one), "when": list(one.when)}
            for one in answer.spots
        ],
        "worst": [
            {
                "episode": int(episode),
                "id": found.recording.ids[episode].item(),
                "step": int(row - found.recording.starts[episode]),
                "state": packed(found.recording.states[row]),
                "tree": packed(ours),
                "other": packed(theirs),
            }
            for row, episode, ours, theirs in zip(answer.worst, whose, answer.ours, answer.theirs, strict=True)
        ],
    }


def frame(house: House, *, episode: Any, step: Any = 0) -> dict[str, Any]:
    """Return the picture of a step of a recorded episode, as the agent's environment draws it."""
    agent = house.required_agent()
    log = house.required_log("a")
    if agent.frame is None:
        raise AskError("needs", NEEDS["agent"], "agent")
    told: dict[str, Any] = agent.frame(log, episode, step)
    return told


def diff(house: House, *, a: Any = "a", b: Any = "b") -> dict[str, Any]:
    """Begin to look for what changed from the log to the second one, whichever of the two models is looked at."""
    del a, b
    find = _finder(house, "diff")
    old, new = house.log("a"), house.other_log
    if old is None or new is None:
        raise AskError("needs", NEEDS["other"], "log")

    def work(_: Any) -> dict[str, Any]:
        answer = find(old, new)
        regions = [one for cause in answer.causes for one in cause.regions]
        return said(answer, "tripletree.diff(log, log2)", zones=[_zone(house, one) for one in regions])

    return house.jobs.begin("diff", "Looking for what changed.", work).to_dict()


def failures(house: House, *, model: Any = "a", when: Any = None) -> dict[str, Any]:
    """Begin to look at the episodes that failed: from when on they were likely to, and what they share."""
    find, log = _finder(house, "failures"), house.required_log(model)

    def work(progress: Any) -> dict[str, Any]:
        answer = find(log, when or None, progress=progress)
        given = "" if not when else f", {when!r}"
        cases = [
            {"episode": one.episode, "id": packed(one.id), "step": one.turning, "text": _turned(one)}
            for one in answer.cases
        ]
        zones = [_zone(house, one) for one in answer.routes]
        return said(answer, f"tripletree.failures(log{given})", zones=zones, cases=cases)

    return house.jobs.begin("failures", "Looking at the episodes that failed.", work).to_dict()


def _turned(case: Any) -> str:
    """Return a failure in a line: when it turned, and what crossed there."""
    told = {"start": "risky from the first step", "unforeseen": "never foreseen"}.get(case.kind, "failed")
    if case.kind == "foreseen":
        told = f"turned at step {case.turning}" + (f", {case.because}" if case.because else "")
    return f"Episode {case.id}: {told}"


def require(house: House, *, model: Any = "a", requirement: Any = "") -> dict[str, Any]:
    """Begin to check whether every episode does what is required of it."""
    find, log = _finder(house, "require"), house.required_log(model)

    def work(_: Any) -> dict[str, Any]:
        answer = find(log, requirement)
        # The state after the last action can decide, but no step begins there.
        last = np.diff(log.starts) - 1
        cases = [
            {
                "episode": case.number,
                "id": packed(case.episode),
                "step": None if case.step is None else min(case.step, int(last[case.number])),
                "text": one.told(case).replace("e", "E", 1),
            }
            for one in answer
            for case in one.worst
        ]
        return said(answer, f"tripletree.require(log, {requirement!r})", cases=cases)

    return house.jobs.begin("require", "Looking at every episode.", work).to_dict()


def _finder(house: House, name: str) -> Any:
    found = house.finders.get(name)
    if found is None:
        raise AskError("needs", f"This version of tripletree has no `{name}`.", "library")
    return found


def _zone(house: House, one: Any) -> dict[str, Any]:
    """Return a box as a page draws it: its words, and its limits by feature."""
    names = house.fitted("a").schema.feature_names
    bounds = zip(names, one.lower.tolist(), one.upper.tolist(), strict=True)
    where = {name: [packed(low), packed(high)] for name, low, high in bounds if np.isfinite([low, high]).any()}
    return {"text": " and ".join(one.when) or str(one), "where": where, "data": packed(one.to_dict())}
