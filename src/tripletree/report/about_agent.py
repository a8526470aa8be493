"""The sections on the agent: what it does, how well, how it moves, and some of its episodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tripletree.answers.few_rules import heading, lines, notes
from tripletree.answers.outline import ends as ends_told
from tripletree.answers.outline import following, rare_routes, visits
from tripletree.answers.rhythm import steps_text
from tripletree.answers.rules import conditions
from tripletree.answers.story import Story
from tripletree.asking.attribute import main_attributes
from tripletree.frontend.payload import packed, payload
from tripletree.language.conditions import DERIVATIVE_OF
from tripletree.language.numbers import FEW, measured, percent, rounded
from tripletree.log.derive import derivative
from tripletree.log.endings import TERMINATED
from tripletree.markup import Markup, fold, paragraphs, region, table, tag, together, with_names
from tripletree.model.fitted import Fitted
from tripletree.questions.attribute import attribute, sample
from tripletree.questions.chance import chance, expected_steps
from tripletree.questions.effects import effects
from tripletree.questions.explain_change import explain_changes
from tripletree.questions.outline import does
from tripletree.questions.story import jumps
from tripletree.report import words
from tripletree.report.about_tree import seen_at_once
from tripletree.report.case import Case, Section
from tripletree.scenes import overlays
from tripletree.scenes.attribution import swarm_of
from tripletree.scenes.charts import importances
from tripletree.scenes.colours import HERE, THERE
from tripletree.scenes.cycle import cycle
from tripletree.scenes.effects import effects_sheet
from tripletree.scenes.fan import after
from tripletree.scenes.graph import regions as regions_graph
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.strip import episode as episode_strip
from tripletree.scenes.types import Entry, Lines, Points, Scene
from tripletree.scenes.view import View, named, read_view

DOTS = 250
"""States in the swarm of contributions: enough to see, and few enough to keep the page small."""
MOST_ALONG = 6
"""Features that are drawn along a cycle."""
MOST_FEATURES = 8
"""Features whose means are shown in each region."""
MOST_DRAWN = 25_000
"""States that effect curves are drawn by, where a log is so long that only some of them are looked at anyway."""
MOST_CURVES = 6
"""Effect curves that are drawn, the strongest."""
WORST = 6
"""Leaves and episodes listed as the worst."""
# Typical, best and worst differ in dashes as well, because two colours are all that stand out on any map.
LINES = ((HERE, "line"), (THERE, "line"), (THERE, "dashes"))
"""Colour and symbol of the episodes on the map."""
CROWDED = 24.0
"""Length of all lines, in widths of the map, from which only the typical episode is drawn."""


def behaviour_section(case: Case) -> Section:
    """Return what the agent does: what matters, the regions, rules, the map that answers."""
    content = [
        paragraphs(words.caveat(case.held_out)),
        tag("p", words.BIG_PICTURE),
        _regions(case),
        tag("h3", "Rules"),
        _rules(case),
        tag("h3", "What matters"),
        _importance(case),
        *_attribution(case),
        _effects(case),
        tag("h3", "Ask it"),
        tag("p", words.ASK),
        _explorer(case),
        fold("More maps, and the first splits of the tree", seen_at_once(case)),
    ]
    return Section("behaviour", "What the agent does", together(content))


def _importance(case: Case) -> Markup:
    scene = importances(case.fitted)
    # A row of the scene is one feature with three bars, so the picture grows with the features.
    return region("wide", scene.title, case.draw.figure(scene, 640, 70 + 46 * round(scene.y.high - scene.y.low)))


def _asked_first(fitted: Fitted) -> str | None:
    """Return the first number that a reader asks about: of a discrete action, the commonest label."""
    about = next(iter(main_attributes(fitted)), None)
    commonest = fitted.attributes.mode
    if about is not None and fitted.schema.has_action and commonest is not None:
        return f"action = {fitted.schema.action.labels[int(commonest[0])]}"
    return about


def _effects(case: Case) -> Markup:
    """Return how that number moves with each feature, all else fixed."""
    about = next(iter(main_attributes(case.fitted)), None)
    if about is None:
        return Markup()
    found = effects(case.fitted, case.log, about, threads=case.threads, most=MOST_DRAWN)
    if not any(found.shown(None if found.labels else column) for column in range(len(found.names))):
        return Markup()
    sheet = effects_sheet(found)
    scenes = [scene for row in sheet.rows for scene in row][:MOST_CURVES]
    pictures = tag("div", *(case.draw.figure(scene, 320, 220) for scene in scenes), class_="figures three")
    legend = case.draw.legend(sheet.legend) if sheet.legend else Markup()
    told = [*str(found).splitlines(), *words.drawn_by(found.samples, case.log)]
    return fold("How it moves with each feature, all else fixed", paragraphs(told), pictures, legend)


def _attribution(case: Case) -> list[Markup]:
    """Return what the first number that a reader asks about comes from."""
    fitted = case.fitted
    about = _asked_first(fitted)
    if about is None:
        return []
    states = np.ascontiguousarray(sample(case.log.states, DOTS))
    found = attribute(fitted, states, about, None, None, case.threads)
    if not found.contributions.any():
        return []
    scene = swarm_of(found, case.log)
    picture = case.draw.figure(scene, 640, 70 + 34 * len(scene.y.ticks))
    return [tag("p", words.attribution(found)), region("wide", scene.title, picture)]


def _abouts(case: Case) -> list[str]:
    # Rules and changes are about one outcome at a time, so each dimension of a continuous action is asked for alone.
    return main_attributes(case.fitted)


def _regions(case: Case) -> Markup:
    value = case.fitted.varies[1]
    rows = [
        (
            one.name,
            conditions(one.when),
            f"{percent(one.share)}, {visits(one)}",
            one.action,
            *([measured(one.value or 0.0, one.spread or 0.0)] if value else []),
            "" if one.left is None else rounded(one.left, 3),
            following(one).removeprefix("then "),
        )
        for one in case.outline.by_time
    ]
    does_there = "what the agent does" if case.fitted.schema.has_action else "what changes"
    head = ("region", "where", "of the time", does_there, *(["value"] if value else []), "steps left", "what follows")
    numbers = (4, 5) if value else (4,)
    return together([table("The agent in a few regions", head, rows, numbers), _features(case)])


def _features(case: Case) -> Markup:
    """Return the features in each region, folded: those whose means differ most between regions."""
    regions = [one for one in case.outline.regions if one.visits]
    means = np.array([one.inside for one in regions])
    apart = np.ptp(means, axis=0) / case.fitted.span if len(regions) > 1 else np.zeros(means.shape[1])
    shown = sorted(np.argsort(-apart, kind="stable")[:MOST_FEATURES].tolist())
    if not regions:
        return Markup()
    schema = case.fitted.schema
    rows = [(one.name, *(words.on_the_way(one, f, case.fitted.span[f]) for f in shown)) for one in regions]
    head = ("region", *(named(schema.features[f].name, schema.features[f].unit) for f in shown))
    told = table("Means of the features: inside, and from entry to exit", head, rows)
    return fold(words.FEATURES_THERE, told)


def _rules(case: Case) -> Markup:
    parts = []
    for one in case.rules.lists:
        parts.append(tag("h4", heading(one)))
        parts.append(tag("ol", *(tag("li", line) for line in lines(one)), class_="rules"))
        parts.append(paragraphs([" ".join(notes(one))]) if notes(one) else together([]))
    told = case.rules.together
    return together(
        [
            tag("p", *with_names(words.RULES)),
            *parts,
            *([tag("ul", *(tag("li", text) for text in told))] if told else []),
        ]
    )


def _explorer(case: Case) -> Markup:
    # The first state that a reader meets is one that the agent was in: halfway through the episode of median return.
    middle = case.by_return[len(case.returns) // 2]
    begin, end = case.log.starts[middle : middle + 2].tolist()
    tree = payload(case.fitted, start=case.log.states[(begin + end) // 2], log=case.log)
    return together(
        [
            tag("div", tag("p", words.NO_SCRIPT, class_="note"), data_tree="tree"),
            # Base64 needs no escaping, and a browser does not run a script of this type.
            Markup(f'<script type="text/plain" id="tree">{packed(tree)}</script>'),
        ]
    )


def rhythm_section(case: Case) -> Section | None:
    """Return what repeats, as one cycle; None where nothing does."""
    found = case.rhythm
    if not found:
        return None
    sheet = replace(cycle(case.log, found, most=MOST_ALONG), subtitle=words.CYCLE)
    parts = [f"{steps_text(part.steps)} steps: {part}" for part in found.parts]
    content = [
        tag("p", found.headline),
        tag("ol", *(tag("li", line) for line in parts), class_="story"),
        paragraphs(found.where_it_breaks),
        region("wide", sheet.title, case.draw.stack(sheet)),
    ]
    return Section("rhythm", "Its rhythm", together(content))


def fortune_section(case: Case) -> Section | None:
    """Return how well the agent fares and where it fails, as far as returns and values differ; None without rewards."""
    if not case.log.schema.has_reward:
        return None
    content = _lowest_returns(case) if np.ptp(case.returns) else [tag("p", words.same_return(case.returns))]
    content += _choices_that_matter(case)
    content += _lowest_values(case) if case.fitted.varies[1] else [tag("p", words.SAME_VALUE)]
    return Section("fortune", "How well it fares, and where it fails", together(content))


def _choices_that_matter(case: Case) -> list[Markup]:
    """Return where the choice matters, if the log shows it anywhere."""
    found = case.criticality
    rows = [
        (
            conditions(one.when),
            percent(one.share),
            one.option,
            *words.difference(one),
            f"{one.took:,} of {one.episodes:,}",
        )
        for one in found.critical[:WORST]
    ]
    if not rows:
        return []
    head = ("where", "of the steps", "what was done", "value more or less", "95 % interval", "episodes that did it")
    shown = table("Where the choice matters most", head, rows, (1, 3, 4, 5))
    return [tag("h3", "Where the choice matters"), tag("p", words.choices(found)), shown]


def _lowest_values(case: Case) -> list[Markup]:
    at = case.fitted.leaves
    # The mean of a few samples may be low by chance alone.
    trusted = np.flatnonzero(at.count >= FEW)
    worst_leaves = trusted[np.argsort(at.value_mean[trusted], kind="stable")][:WORST].tolist()
    rows = [
        (
            leaf,
            case.where(leaf),
            f"{int(at.count[leaf]):,}",
            words.where_low(case.fitted, leaf),
            does(case.fitted, leaf),
        )
        for leaf in worst_leaves
    ]
    head = ("leaf", "where", "samples", "value", "what it does there")
    least = table("Where the agent can expect least", head, rows, (0, 2))
    return [fold("Where it can expect least", tag("p", words.fortune(case.fitted)), least)]


def _lowest_returns(case: Case) -> list[Markup]:
    lengths = np.diff(case.log.starts)
    episodes = [
        (
            str(case.log.episode_ids[k]),
            rounded(float(case.returns[k])),
            f"{int(lengths[k]):,}",
            words.ending(int(case.log.endings[k])),
            words.fall(_fall(case, k)),
        )
        for k in case.by_return[:WORST].tolist()
    ]
    head = ("episode", "return", "steps", "ending", "largest drop in value")
    return [
        tag("p", words.failures(case.log, case.returns)),
        table("Episodes with the lowest returns", head, episodes, (1, 2)),
    ]


def _fall(case: Case, episode: int) -> object:
    """Return the largest fall of an episode's value, if it is large: a story has one rise and one fall at most."""
    told = jumps(case.fitted, case.log, episode)
    return next((jump for jump in told if jump.change.became < jump.change.was), None)


def moves_section(case: Case) -> Section:
    """Return how the agent moves: ends, chances, routes, changes."""
    fitted = case.fitted
    told = [ends_told(case.outline.regions, case.outline.ended)]
    # Where every episode was cut off, the chain never reaches an end, and a chance of 0 would mislead.
    if (case.log.endings == TERMINATED).any():
        median = int(np.median(np.diff(case.log.starts)))
        soon = chance(fitted, case.evidence, None, "end", None, None, median)
        told.append(words.to_the_end(soon, expected_steps(fitted, case.evidence, None, "end", None, None)))
    routes = [tag("li", str(route)) for route in case.outline.routes]
    rare = rare_routes(case.outline)
    content = [
        paragraphs(told),
        *([_graph(case)] if len(case.outline.regions) > 1 else []),
        *([tag("h3", "Routes to the end"), tag("p", words.ROUTES), tag("ol", *routes)] if routes else []),
        *([tag("p", rare)] if rare else []),
        *([fold("From the beginning on", _fan(case))] if case.log.n_episodes >= FEW else []),
        fold("Changes of mind", tag("ul", *(tag("li", _changes(case, about)) for about in _abouts(case)))),
    ]
    return Section("moves", "How it moves", together(content))


def _changes(case: Case, about: str) -> str:
    """Return how often an action changes; a number, how often it crosses the mean of the log."""
    action = case.log.schema.action
    middle = None
    if not case.log.schema.has_action:
        change = derivative(case.log, case.log.schema.feature_names.index(about.removeprefix(DERIVATIVE_OF)))
        middle = words.about_the_mean(change[~np.isnan(change)])
    elif action.kind == "continuous":
        middle = words.about_the_mean(case.log.actions[:, action.names.index(about)])
    return words.changes(explain_changes(case.fitted, case.some, about, middle), middle)


def _fan(case: Case) -> Markup:
    """Return where episodes are over the steps of a typical one; without single episodes, which have their section."""
    steps = max(int(np.median(np.diff(case.log.starts))), 1)
    sheet = after(case.fitted, steps, log=case.log, paths=0)
    return region("wide", sheet.title, case.draw.stack(sheet))


def _graph(case: Case) -> Markup:
    """Return the regions as a graph."""
    scene = replace(regions_graph(case.outline), subtitle=words.GRAPH)
    return region("wide", scene.title, case.draw.figure(scene, 640, 400))


def _coloured(case: Case) -> str:
    """Return what pictures of the moves are coloured by: the value, or the action where values are all the same."""
    return "value" if case.fitted.varies[1] else next(iter(_abouts(case)), "count")


def _plane(case: Case) -> View | None:
    """Return the first two features that are not flags, which most logs begin with: where the agent is."""
    features = case.fitted.schema.features
    names = [feature.name for feature in features if feature.kind != "binary"][:2]
    return read_view(case.fitted, *names) if len(names) == 2 else None


def episodes_section(case: Case) -> Section:
    """Return a typical episode, the best and the worst, with their stories."""
    order = case.by_return
    paid = case.log.schema.has_reward
    chosen = {f"Typical: the median {'return' if paid else 'length'}": case.typical}
    # With one or two episodes, the typical one is also the best or the worst.
    if len(order) > 2:
        most, least = ("The highest return", "The lowest return") if paid else ("The longest", "The shortest")
        chosen |= {most: int(order[-1]), least: int(order[0])}
    parts: list[Markup] = []
    view = _plane(case)
    if view is not None:
        scene = _with_episodes(leaf_map(view, _coloured(case), log=case.log), view, case, chosen)
        parts.append(region("wide", scene.title, case.draw.figure(scene, 640, 400)))
    for title, episode in chosen.items():
        told = case.story(episode)
        parts.append(tag("h3", title))
        # The picture of the typical episode is on the first page.
        if episode != case.typical:
            strip = episode_strip(case.fitted, case.log, episode, told=told)
            parts.append(region("wide", strip.title, case.draw.stack(strip)))
        parts.append(_told(told, str(case.log.episode_ids[episode])))
    return Section("episodes", "Typical and extreme episodes", together(parts))


def _with_episodes(base: Scene, view: View, case: Case, chosen: dict[str, int]) -> Scene:
    layers = {title: overlays.episodes(view, case.log, episode) for title, episode in chosen.items()}
    drawn = {title: [mark for mark in layer.marks if isinstance(mark, Lines)] for title, layer in layers.items()}
    note = base.note
    if overlays.lengths(view, (line for lines in drawn.values() for mark in lines for line in mark.points)) > CROWDED:
        layers = dict(list(layers.items())[:1])
        note = ". ".join(part for part in (note, words.ONLY_TYPICAL) if part)
    marks, legend = list(base.marks), list(base.legend)
    # Not strict: a log of one or two episodes has only a typical one.
    for (title, layer), (colour, symbol) in zip(layers.items(), LINES, strict=False):
        # The overlay draws all episodes alike; here each must be told from the others.
        for mark in layer.marks:
            if isinstance(mark, Lines):
                width = float(mark.width) * 1.25
                marks.append(replace(mark, colour=colour, dashed=symbol == "dashes", width=width))
            elif isinstance(mark, Points):
                marks.append(replace(mark, colour=colour))
        legend.append(Entry(title, colour, symbol))
    title = words.EPISODES_TITLE if len(layers) > 1 else words.EPISODE_TITLE
    does_there = "actions" if case.fitted.schema.has_action else "changes"
    shown = "mean value" if case.fitted.varies[1] else does_there
    return replace(base, title=title.format(shown), marks=tuple(marks), legend=tuple(legend), note=note)


def _told(answer: Story, name: str) -> Markup:
    first, phases, rest = words.story_parts(answer, name)
    return together(
        [tag("p", first), tag("ol", *(tag("li", line) for line in phases), class_="story"), paragraphs(rest)]
    )
