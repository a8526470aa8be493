"""The first page: the summary with three pictures, which answers what most readers ask."""

from __future__ import annotations

import numpy as np

from tripletree.answers.summary import Part
from tripletree.markup import Markup, region, tag, together
from tripletree.questions.summary import summary
from tripletree.report.case import Case
from tripletree.scenes.charts import spread_scene
from tripletree.scenes.strip import episode as episode_strip


def front_page(case: Case) -> Markup:
    """Return the summary with its pictures."""
    first, *others = summary(case).parts
    columns = tag("div", tag("div", *map(_part, others)), tag("div", _returns(case), _map(case)), class_="columns")
    return tag("section", _part(first), _typical(case), columns, id="summary", class_="front", aria_label="Summary")


def _part(one: Part) -> Markup:
    said = [tag("p", " ".join(one.sentences))] if one.sentences else []
    listed = [
        tag("div", tag("h3", name), tag("ol", *(tag("li", line) for line in lines), class_="rules"))
        if name
        else tag("ul", *(tag("li", line) for line in lines))
        for name, lines in one.lists
    ]
    below = tag("div", *listed, class_="columns" if len(listed) > 1 else None) if listed else Markup()
    return together([tag("h2", one.heading), *said, below])


def _typical(case: Case) -> Markup:
    """Return the typical episode with the names of its phases, for most of which the picture has no room."""
    told = case.story(case.typical)
    strip = episode_strip(case.fitted, case.log, case.typical, told=told)
    named = (tag("li", f"{one.name} ({one.begin}–{one.end - 1})") for one in told.phases)
    drawn = region("wide", strip.title, case.draw.stack(strip, 960.0, 56.0))
    return together([drawn, tag("ol", *named, class_="phases")])


def _returns(case: Case) -> Markup:
    # So few numbers are read faster than their bars.
    if case.log.n_episodes < 5 or not case.log.schema.has_reward or not np.ptp(case.returns):
        return Markup()
    return case.draw.figure(spread_scene("Returns of the episodes", "return", case.returns), height=200)


def _map(case: Case) -> Markup:
    """Return the map that says most about what the agent does."""
    return case.draw.figure(case.overview.rows[0][0], height=300)
