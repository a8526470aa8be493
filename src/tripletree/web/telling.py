"""Questions about the whole model, what typed text means, and the report to mail."""

from __future__ import annotations

from typing import Any

from tripletree.asking.foils import read_foil
from tripletree.asking.places import is_state, read_place, read_zone
from tripletree.asking.states import complete, read_state
from tripletree.checks import check_choice
from tripletree.errors import ParameterError
from tripletree.language import conditions
from tripletree.text import message_of
from tripletree.web.errors import AskError
from tripletree.web.here import said
from tripletree.web.house import House
from tripletree.web.packing import packed

KINDS = ("state", "zone", "given", "foil")
LONGEST = 200
"""Characters of a title."""


def summary(house: House, *, model: Any = "a", success: Any = None) -> dict[str, Any]:
    """Return the first page of a report, in words."""
    answer = house.tree(model).summary(house.required_log(model), success=success or None)
    return {"text": str(answer), "python": house.line(model, "summary", log=True)}


def rules(house: House, *, model: Any = "a", about: Any = "action", max_rules: Any = 7) -> dict[str, Any]:
    """Return what the agent does as a few rules."""
    answer = house.tree(model).rules(about=about, max_rules=max_rules, log=house.log(model))
    return {"text": str(answer), "python": house.line(model, "rules", about=about, max_rules=max_rules, log=True)}


def importance(house: House, *, model: Any = "a") -> dict[str, Any]:
    """Return how much each feature matters."""
    return said(house.tree(model).importance(), house.line(model, "importance"))


def report(house: House, *, model: Any = "a", title: Any = None, success: Any = None) -> dict[str, Any]:
    """Begin to write the report; the job's answer has it as text."""
    tree, log = house.tree(model), house.required_log(model)
    if title is not None and (not isinstance(title, str) or len(title) > LONGEST):
        raise AskError("mistake", f"`title` must be text of at most {LONGEST} characters.")
    line = house.line(model, "report", "report.html", title=title, log=True)

    def work(_: Any) -> dict[str, Any]:
        # Imported when it is asked for: a page should not wait for what it may never need.
        from tripletree.report.write import report_html

        html = report_html(tree.fitted_, log, title, tree.threads or 1, success or None)
        return {"name": "report.html", "html": html, "python": line}

    return house.jobs.begin("report", "Writing the report.", work).to_dict()


def check(house: House, *, model: Any = "a", text: Any, kind: Any) -> dict[str, Any]:
    """Return what typed text means: a state, a zone, a condition on episodes or a foil; or what is wrong with it."""
    check_choice(kind, "kind", KINDS)
    if not isinstance(text, str):
        raise AskError("mistake", "`text` must be text.")
    try:
        return {"ok": True, **_read(house, model, text, kind)}
    except ParameterError as error:
        return {"ok": False, "text": str(message_of(error))}


def _read(house: House, model: Any, text: str, kind: str) -> dict[str, Any]:
    fitted = house.fitted(model)
    if kind == "foil":
        foil = read_foil(fitted, text)
        return {"text": foil.told(), "leaves": int(foil.mask.sum())}
    if kind == "given":
        found = house.evidence(model).given(text)
        if found is None:
            return {"text": ""}
        return {"text": found.words, "episodes": None if found.episodes is None else int(found.episodes.sum())}
    if kind == "state":
        written = complete(text, fitted)
        state = read_state(written.state, fitted.schema)
        told = conditions.state(fitted.schema, state.tolist())
        return {"text": told, "state": packed(state), "assumed": written.assumed}
    place = read_place(fitted, text, "zone")
    if place is not None and is_state(fitted, place):
        state = read_state(place, fitted.schema)
        return {"text": conditions.state(fitted.schema, state.tolist()), "state": packed(state)}
    zone = read_zone(fitted, place, "zone")
    names = fitted.schema.feature_names
    limits = {names[f]: [packed(one.low), packed(one.high)] for f, one in zone.bounds}
    return {"text": zone.text, "zone": limits, "leaves": packed(zone.leaves), "end": zone.end}
