"""Summary: the one page that answers first. What an agent does, whether it succeeds, what to watch and to believe."""

from __future__ import annotations

import numpy as np

from tripletree.answers.criticality import Place
from tripletree.answers.few_rules import RuleList, said
from tripletree.answers.outcome import Outcome, Shared
from tripletree.answers.outline import Region, quoted
from tripletree.answers.rules import conditions
from tripletree.answers.summary import Part, Summary
from tripletree.language.numbers import all_of, capital, percent, rounded
from tripletree.questions.importance import importance
from tripletree.questions.study import LOWEST, Study
from tripletree.text import count, plural

ROOM = 200
"""Words that rules may take of all that a page has."""
MOST_PLACES = 5
"""Regions of a route that are told one by one."""
MATTER = 3
"""Features that are named as those that tell most."""
HARDLY = 0.02
"""Share of the steps about which little is known from which on it is worth a line."""
MOST_WATCHED = 4
CHANCE = (
    "Episode by episode, the state tells no more about its actions than chance: the rules below may be chance, too."
)


def summary(study: Study) -> Summary:
    """Return the page."""
    log = study.log
    parts = (_does(study), _succeeds(study), _fails(study), _watch(study), _belief(study))
    size = f"{count(log.n_episodes, 'episode')} with {count(log.n_samples, 'step')}"
    return Summary(f"From a log of {size}.", tuple(part for part in parts if part.sentences or part.lists))


def _does(study: Study) -> Part:
    told: list[tuple[str, tuple[str, ...]]] = []
    room, left = ROOM, 0
    for one in study.rules.lists:
        rules = tuple(f"{said(one, place)}: {rule.outcome}" for place, rule in enumerate(one.rules))
        room -= len(" ".join(rules).split())
        # The first list, which the state tells most about, is always there.
        if room >= 0 or not told:
            told.append((_right(one), rules))
        else:
            left += 1
    further = f"Rules about {count(left, 'more dimension')} of the action are further down." if left else ""
    cycle = str(study.rhythm).splitlines()[0] if study.rhythm else ""
    judged = study.held_out.judged
    doubt = judged is not None and study.fitted.schema.has_action and judged.explained[0] == 0
    sentences = (CHANCE if doubt else "", _course(study), cycle, _matters(study), further)
    return Part("does", "What it does", tuple(filter(None, sentences)), tuple(told))


def _right(one: RuleList) -> str:
    """Return what rules are about, and how often they are right: "Main engine: right in 98 % of unseen steps"."""
    if one.accuracy is None:
        return capital(one.name)
    blind = "" if one.always is None or len(one.rules) == 1 else f" (without looking: {percent(one.always)})"
    return f"{capital(one.name)}: right in {percent(one.accuracy)} of unseen steps{blind}"


def _course(study: Study) -> str:
    """Return how episodes usually go, through the regions."""
    regions, routes = study.outline.regions, study.outline.routes
    if len(regions) == 1:
        return "It goes by the same rules everywhere."
    if routes and 2 <= len(routes[0].regions) <= MOST_PLACES:
        route = routes[0]
        # A route is one of the episodes that begin where most do.
        often = percent(route.probability * regions[route.regions[0]].begins)
        places = ", then ".join(_place(study, regions[number]) for number in route.regions)
        return f"The commonest course ({often} of the episodes, {count(route.steps, 'step')}): {places}, then the end."
    places = all_of([_place(study, one, f"{percent(one.share)} of the time") for one in regions[:MATTER]])
    return f"Where it mostly is: {places}."


def _place(study: Study, one: Region, aside: str = "") -> str:
    """Return the name of a region, and in brackets what is done there, as far as that is one thing."""
    action = study.fitted.schema.action
    # Labels speak for themselves unless they are numbers; so do changes of features in a log without actions.
    named = action.kind == "continuous" and len(action.names) == len(one.outcomes)
    names = action.names if named else ("",) * len(one.outcomes)
    done = zip(names, one.outcomes, one.kinds, strict=True)
    told = [
        f"{name or 'action'} {outcome}" if name or outcome.lstrip("-")[:1].isdigit() else outcome
        for name, outcome, kind in done
        if kind == "constant"
    ]
    inside = "; ".join(filter(None, [aside, ", ".join(told)]))
    return f"{quoted(one.name)} ({inside})" if inside else quoted(one.name)


def _matters(study: Study) -> str:
    """Return which features tell most about what is done, or about what changes in a log without actions."""
    found = importance(study.fitted)
    acts = study.fitted.schema.has_action
    row = found.share[0 if acts else 2]
    ranked = [f for f in np.argsort(-row, kind="stable")[:MATTER].tolist() if row[f] > 0]
    if not ranked or len(found.features) == 1:
        return ""
    told = [f"{found.features[f]} ({percent(float(row[f]))})" for f in ranked]
    return f"{'What it does' if acts else 'What changes'} depends most on {all_of(told)}."


def _succeeds(study: Study) -> Part:
    answer = study.outcome
    sides = (answer.successes, answer.failures)
    lengths = [side.lengths for side in sides if side.lengths is not None]
    low, high = min(length[0] for length in lengths), max(length[2] for length in lengths)
    lasts = f"Episodes last {low:,.0f} to {high:,.0f} steps" if low < high else f"Each episode lasts {high:,.0f} steps"
    ends = _endings(answer)
    told = [f"{lasts}; {ends}."]
    if answer.success:
        share, bounds = percent(answer.succeeded / answer.episodes), answer.interval or (0.0, 1.0)
        interval = f"95 % interval {percent(bounds[0])} to {percent(bounds[1])}"
        whose = "" if answer.source == "given" else ", as the log says"
        told.insert(
            0,
            f"{answer.succeeded:,} of {count(answer.episodes, 'episode')} succeed: {share} ({interval}). Success means "
            f"{answer.success}{whose}.",
        )
    else:
        told.insert(0, "Nobody said what success is, so this page does not say how often it succeeds.")
    if study.log.schema.has_reward:
        least, middle, most = (rounded(float(x), 3) for x in np.quantile(study.returns, (0, 0.5, 1)))
        told.append(f"Every return is {least}." if least == most else f"Returns: {middle} (median; {least} to {most}).")
    return Part("succeeds", "Does it succeed?", tuple(told))


def _endings(answer: Outcome) -> str:
    total = {name: answer.successes.endings[name] + answer.failures.endings[name] for name in answer.successes.endings}
    words = {"terminated": "ended by itself", "truncated": "was cut off", "unknown": "has an unknown ending"}
    many = {"terminated": "ended by themselves", "truncated": "were cut off", "unknown": "have unknown endings"}
    seen = [(name, number) for name, number in total.items() if number]
    if len(seen) == 1 and answer.episodes > 1:
        return f"all {many[seen[0][0]]}"
    return all_of([f"{number:,} {plural(number, words[name], many[name])}" for name, number in seen])


def _fails(study: Study) -> Part:
    heading = "When it fails"
    answer = study.outcome
    if answer.success:
        if not answer.failures.episodes:
            return Part("fails", heading, ("No failure is recorded, so nothing can be said about what leads to one.",))
        told = [_shared(one, answer, "failures", "successes") for one in answer.shared]
        none = "Neither first nor last states tell failures from successes better than chance."
        return Part("fails", heading, tuple(told or [none]))
    worst = study.worst
    if worst is None:
        return Part("fails", heading, ())
    if not worst.shared:
        return Part("fails", heading, ())
    border = rounded(float(np.quantile(study.returns, LOWEST)), 3)
    lengths = [f"{side.lengths[1]:,.0f}" for side in (worst.failures, worst.successes) if side.lengths is not None]
    first = f"The tenth of the episodes with the lowest returns ({border} or less)"
    last = f"{first} last {lengths[0]} steps in the median, the others {lengths[-1]}."
    told = [last, *(_shared(one, worst, "of these", "others") for one in worst.shared)]
    return Part("fails", "Where it does worst", tuple(told))


def _shared(one: Shared, answer: Outcome, bad: str, good: str) -> str:
    verb = {"start": "begin with", "end": "end with"}[one.where]
    who = f"{one.failures:,} of {answer.failures.episodes:,} failures"
    if bad != "failures":
        who = f"{one.failures:,} of these {answer.failures.episodes:,}"
    return (
        f"{who} {verb} {conditions(one.when)}; {one.successes:,} of {answer.successes.episodes:,} {good} "
        f"{plural(one.successes, 'does', 'do')}."
    )


def _watch(study: Study) -> Part:
    told = [_choice(place) for place in study.criticality.critical[:1]]
    # Of an agent that changes, the steps before tell which one it is: no other news.
    told += [str(one) for one in (study.drift, study.memory) if one.found][:1]
    found = study.trust
    torn = found.torn[:, 0 if study.fitted.schema.has_action else 2]
    share = float(found.share[torn].sum())
    if share >= HARDLY:
        what = "what the agent does" if study.fitted.schema.has_action else "what changes"
        told.append(f"In {percent(share)} of the steps the tree hardly knows {what}.")
    if found.outside >= HARDLY:
        told.append(f"{percent(found.outside)} of the states lie outside what the tree was grown on.")
    rare = [one for one in study.outline.regions if one.share < HARDLY]
    if rare:
        told.append(f"Seldom seen, so little known: {all_of([quoted(one.name) for one in rare[:2]])}.")
    return Part("watch", "What to watch", (), (("", tuple(told[:MOST_WATCHED])),) if told else ())


def _choice(place: Place) -> str:
    where = f" most where {conditions(place.when)}" if place.when else ""
    more = "more" if place.difference >= 0 else "less"
    return (
        f"The choice matters{where}: {place.option} went with {rounded(abs(place.difference), 2)} {more} value "
        "than what else was done there."
    )


def _belief(study: Study) -> Part:
    heading = "How far to believe this page"
    answer, judged = study.held_out, study.held_out.judged
    if judged is None:
        return Part("belief", heading, (str(answer),))
    action, value, derivative = judged.explained
    told = []
    if study.fitted.schema.has_action and answer.discrete and action is not None:
        if answer.costs:
            # Costs have a unit of their own: only beside another does a number tell something.
            cost, blind = (rounded(loss[0], 2) for loss in (judged.losses, judged.constant))
            told.append(f"the whole tree's actions cost {cost} on average ({blind} without looking at the state)")
        else:
            told.append(f"the whole tree predicts {percent(1 - judged.losses[0])} of the actions")
    shares = [
        (name, share)
        for name, share in (
            ("the action", None if answer.discrete else action),
            ("the value", value),
            ("the next state", derivative),
        )
        if share is not None
    ]
    gained = [f"{percent(share)} of the error about {name}" for name, share in shares if share]
    if gained:
        told.append(f"looking at the state takes away {all_of(gained)}")
    chance = [name for name, share in shares if not share]
    if action == 0 and answer.discrete:
        chance.insert(0, "the action")
    if chance:
        told.append(f"about {all_of(chance)} it tells no more than chance")
    # A tree that has seen all of the log is judged by another one, grown in the same way without some episodes.
    whose = "that the tree has not seen" if answer.how == "unseen" else "that were left out for this"
    where = f"Judged on {count(judged.episodes, 'episode')} {whose}"
    doubtful = [one.name for one in study.rules.lists if one.agreement is not None and one.agreement < 0.8]
    words = f"The words for {all_of(doubtful)} fit the log in fewer than 80 % of the steps." if doubtful else ""
    caution = "All of it models the log; beyond the recorded states nothing here is known to hold."
    sentences = (f"{where}: {'; '.join(told)}.", study.stability, words, caution)
    return Part("belief", heading, tuple(filter(None, sentences)))
