"""The English of a report: what a log is, how it was judged, how the tree was made; headings and notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.attribution import Attribution, main_features, places_of, what
from tripletree.answers.change import Changes, by_one_feature
from tripletree.answers.criticality import CAUTION, DIGITS, Criticality, Place
from tripletree.answers.judgement import HeldOut
from tripletree.answers.outline import Region
from tripletree.answers.story import Story, fits, headline, moments_told, phase, steps
from tripletree.language.numbers import all_of, estimate, exact, measured, percent, rounded, within_range
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.questions.criticality import LARGEST as CRITICAL_STEPS
from tripletree.questions.world import ROWS as WORLD_ROWS
from tripletree.text import count
from tripletree.tree.costs import in_words

F64 = npt.NDArray[np.float64]


_ENDINGS = (
    ("has an unknown ending", "ended by itself", "was cut off"),
    ("have unknown endings", "ended by themselves", "were cut off"),
)
"""By the code of an ending (see ``log.endings``), for one episode and for several."""


REQUIRED = "Each episode meets a requirement, violates it, or was cut off before that could be told."
NO_REWARD = "The log has no rewards, so nothing here is about returns or values."


def log_size(log: Log) -> str:
    """Return how large a log is."""
    action = log.schema.action
    acts = (
        "what was done is not in the log"
        if not log.schema.has_action
        else (
            f"the action is one of {count(len(action.labels), 'label')}"
            if action.kind == "discrete"
            else f"the action has {count(len(action.names), 'dimension')}"
        )
    )
    features = count(log.n_features, "feature")
    samples, episodes = count(log.n_samples, "sample"), count(log.n_episodes, "episode")
    return f"The log has {samples} in {episodes}. A state has {features}; {acts}."


def log_episodes(log: Log) -> str:
    """Return how long episodes are and how they end."""
    lengths = np.diff(log.starts)
    ended = np.bincount(log.endings, minlength=3).tolist()
    if log.n_episodes == 1:
        return f"The episode lasts {count(int(lengths[0]), 'step')}."
    counted = [(f"{n:,}" if n < log.n_episodes else "all", _ENDINGS[n != 1][code]) for code, n in enumerate(ended) if n]
    ends = all_of([f"{number} {how}" for number, how in counted])
    low, middle, high = (int(length) for length in np.quantile(lengths, (0, 0.5, 1)))
    if low == high:
        return f"Each episode lasts {count(high, 'step')}; {ends}."
    return f"Episodes last {low:,} to {high:,} steps (median {middle:,}); {ends}."


def log_returns(returns: F64) -> str:
    """Return the range of the returns."""
    if len(returns) == 1:
        return f"Its return (the sum of its rewards) is {rounded(float(returns[0]))}."
    low, middle, high = (rounded(float(x)) for x in np.quantile(returns, (0, 0.5, 1)))
    # Compared as they are written: returns that differ by rounding errors should not make "from 1 to 1".
    if low == high:
        return f"Every episode has the same return (the sum of its rewards): {low}."
    return f"Returns (the sum of an episode's rewards) range from {low} to {high}; the median is {middle}."


def findings(number: int) -> str:
    """Return the heading of what the doctor found."""
    return f"What stands out in the log ({number})" if number else "Nothing in the log is cause for concern."


def losses_note(discrete: bool, costs: bool) -> str:
    """Return what the three losses are."""
    labels = "what wrong labels cost on average over all steps" if costs else "the share of wrong labels"
    action = labels if discrete else "the sum over dimensions of RMSE / σ"
    return (
        f"Action loss is {action}, value loss the root of the mean squared error (RMSE), derivative loss the sum over "
        "features of RMSE / σ, where σ is the standard deviation over the training log. One leaf shows what can be "
        "achieved without looking at the state."
    )


def doubt(attribute: int, left: float, samples: int, few: bool) -> str:
    """Return why a leaf is not to be trusted on an attribute (0 action, 1 value, 2 derivative)."""
    name = ATTRIBUTES[attribute]
    # A share above 1 reads better as a multiple: "1.5 times that", not "150 % of that".
    times = f"{rounded(left, 2)} times that" if left >= 1 else f"{percent(left)} of that"
    # "1 times that" and "99 % of that" would be odd ways to say that nothing was gained.
    than = "about the same as" if 0.95 <= left < 1.05 else times
    told = [f"disagreement on {name} is {than} in the whole log"]
    return all_of([*told, *([f"only {count(samples, 'sample')}"] if few else [])])


def failures(log: Log, returns: F64) -> str:
    """Return how episodes with low returns differ in length from the others."""
    # A tenth of fewer episodes would be none at all.
    if len(returns) < 10:
        return (
            "The log has too few episodes to compare good ones with bad ones; here are those with the lowest returns."
        )
    border = float(np.quantile(returns, 0.1))
    low = returns <= border
    lengths = np.diff(log.starts)
    text = f"The 10 % of episodes with the lowest returns get {rounded(border)} or less"
    # When all returns are equal, there are no others whose length could be compared.
    if low.all():
        return f"{text}, and so do all others."
    theirs, others = (int(np.median(lengths[group])) for group in (low, ~low))
    return f"{text}. Their median length is {count(theirs, 'step')}; that of the others is {others:,}."


def choices(found: Criticality) -> str:
    """Return what the table of places says in which the choice matters."""
    places = count(len(found.critical), "place")
    return (
        f"In {places} (of {len(found.places):,} that the log can tell about), episodes that did different things in "
        f"like states fared differently afterwards, beyond chance. {CAUTION}"
    )


def difference(place: Place) -> tuple[str, str]:
    """Return how much more value went with an option, and the interval."""
    low, high = (rounded(bound, DIGITS) for bound in place.interval)
    return f"{'+' * (place.difference > 0)}{rounded(place.difference, DIGITS)}", f"{low} to {high}"


def fortune(fitted: Fitted) -> str:
    """Return what value is, and the range of the tree's values."""
    gamma = fitted.options["gamma"]
    values = fitted.leaves.value_mean
    low, high = rounded(float(values.min()), 3), rounded(float(values.max()), 3)
    return (
        f"Value is what the agent can still expect: the sum of future rewards, each step further away counting "
        f"{exact(gamma)} times as much. Across the leaves of the tree it ranges from {low} to {high}."
    )


def ending(code: int) -> str:
    """Return how an episode ended, in a table."""
    return ("unknown", "by itself", "cut off")[code]


def fall(largest: Any) -> str:
    """Return where the value fell most in an episode, without the words that the head of its column says already."""
    return "no large drop" if largest is None else str(largest).removeprefix("The value falls most ").rstrip(".")


def to_the_end(soon: Any, steps: Any) -> str:
    """Return how soon episodes end."""
    within = count(soon.within, "step")
    chance = percent(soon.probability)
    text = f"Of the recorded episodes, {chance} end within {within}"
    if soon.interval is not None:
        text += f" (95 % interval {percent(soon.interval[0])} to {percent(soon.interval[1])})"
    if steps.steps is None:
        return f"{text}."
    mean = estimate(steps.steps)
    return f"{text}; those that end take {mean} {'step' if mean == '1' else 'steps'} on average."


def story_parts(answer: Story, name: str) -> tuple[str, list[str], list[str]]:
    """Return the first sentence of a story, a line for each phase, and what follows."""
    phases = [f"{steps(one)}: {phase(one, answer.explained)}." for one in answer.phases]
    rest = [moments_told(answer), fits(answer)]
    return headline(answer, f"Episode {name}"), phases, [" ".join(filter(None, rest))]


def on_the_way(one: Region, f: int, span: float) -> str:
    """Return the mean of a feature in a region, and from where to where it goes there: "0.9 (1.2 to 0.6)"."""
    inside, entry, leave = (rounded(within_range(float(x[f]), span), 3) for x in (one.inside, one.entry, one.exit))
    return f"{inside} ({entry} to {leave})" if entry != leave else inside


def lead(fitted: Fitted, log: Log) -> str:
    """Return the first sentence of a report."""
    leaves = count(fitted.tree.n_leaves, "leaf", "leaves")
    return (
        f"What an agent does, how well it fares and how it moves, as seen by a decision tree with {leaves} and a log "
        f"of {count(log.n_samples, 'step')}. The tree was grown from recorded steps alone, without access to "
        "the agent."
    )


LESS_ERROR = "of the error about {} gone by looking at the state (unseen episodes)"


def key_facts(log: Log, returns: F64, judged: HeldOut, succeed: float | None = None) -> list[tuple[str, str]]:
    """Return the headline numbers at the top of a report, with their names."""
    facts = [
        ("steps", f"{log.n_samples:,}"),
        ("episodes", f"{log.n_episodes:,}"),
        *([("median return", rounded(float(np.median(returns)), 3))] if log.schema.has_reward else []),
        *([("of the episodes succeed", percent(succeed))] if succeed is not None else []),
    ]
    if judged.judged is None:  # how well a tree fits its own log is not how good it is
        return facts
    action, value, _ = judged.judged.explained
    if judged.costs:
        facts.append(("mean cost of unseen actions", rounded(judged.judged.losses[0], 3)))
        if action is not None:
            facts.append(("mean cost without looking at the state", rounded(judged.judged.constant[0], 3)))
    elif judged.discrete and log.schema.has_action:
        facts.append(("of unseen actions right", percent(1 - judged.judged.losses[0])))
    elif action is not None:
        facts.append((LESS_ERROR.format("the action"), percent(action) if action else "none"))
    if value is not None:
        facts.append((LESS_ERROR.format("the value"), percent(value) if value else "none"))
    return facts


def caveat(judged: HeldOut) -> list[str]:
    """Return what the features do not tell about new episodes, if anything."""
    shares = judged.judged.explained if judged.judged is not None else []
    none = " or ".join(name for name, share in zip(ATTRIBUTES, shares, strict=False) if share == 0)
    if not none:
        return []
    return [
        f"On unseen episodes, the state tells no more about {none} than chance would: what this report says about "
        f"{none} describes the log, and need not hold for the agent."
    ]


def attribution(answer: Attribution) -> str:
    """Return which features move a prediction most."""
    size = answer.importance
    shown, _ = main_features(size, 3)
    places = places_of(size)
    told = [f"{answer.schema.features[f].name} ({exact(round(float(size[f]), places))})" for f in shown]
    return (
        f"A prediction is the average plus what each feature adds to it (its Shapley value). What moves "
        f"{what(answer)} most, up or down, in the mean over states: {all_of(told)}."
    )


def changes(answer: Changes, threshold: float | None) -> str:
    """Return how often a prediction changes, or crosses a number, and how often one feature explains it."""
    if threshold is None or not len(answer):
        return str(answer)
    times, steps = count(len(answer), "time"), count(answer.moves, "step")
    sides = f"{answer.about} goes from one side of {exact(threshold)} to the other"
    return f"In {steps}, {sides} {times}; {by_one_feature(answer)}."


def about_the_mean(numbers: F64) -> float:
    """Return a round number near the mean, as exact as the spread of the numbers deserves."""
    spread = float(numbers.std())
    # "0.1" tells a reader as much as "0.10384", and a crossing of it just as much. Adding 0.0 makes 0 of -0.
    return round(float(numbers.mean()), -math.floor(math.log10(spread))) + 0.0 if spread > 0 else float(numbers[0])


def sentence(text: str) -> str:
    """Return a part of a line as a sentence of its own."""
    return text[:1].upper() + text[1:]


def where_low(fitted: Fitted, leaf: int) -> str:
    """Return the mean value of a leaf with its spread."""
    return measured(float(fitted.leaves.value_mean[leaf]), float(fitted.leaves.value_std[leaf]))


def size_of_tree(fitted: Fitted) -> str:
    """Return how large a tree is."""
    leaves = count(fitted.tree.n_leaves, "leaf", "leaves")
    return f"A decision tree with {leaves}, at most {count(int(fitted.tree.depth.max()), 'split')} deep"


def picture(x: tuple[str, float, float] | None, y: tuple[str, float, float] | None, colours: str) -> str:
    """Return what a picture shows, for people who cannot see it."""
    told = [
        f"{where}: {label}, from {rounded(low)} to {rounded(high)}."
        for where, axis in (("Horizontal axis", x), ("Vertical axis", y))
        if axis is not None
        for label, low, high in (axis,)
    ]
    return " ".join([*told, *([f"Colour: {colours}."] if colours else [])])


def colours(label: str, low: float, high: float, categories: Sequence[str]) -> str:
    """Return what colours mean."""
    return f"{label} ({', '.join(categories)})" if categories else f"{label}, from {rounded(low)} to {rounded(high)}"


def option(value: Any) -> str:
    """Return an option of growth in words."""
    # First of all, because Python counts True and False among the numbers.
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, list | tuple):
        return ", ".join(option(part) for part in value)
    if isinstance(value, dict):
        return in_words(value)
    return exact(value) if isinstance(value, float) else str(value)


TITLE = "What this agent does"


CALIBRATION = "Do predictions match what was observed? Where discs lie on the dashed line, they do."


SAME_VALUE = "Every step of the training log is worth the same: nowhere can the agent expect less than elsewhere."


def same_return(returns: F64) -> str:
    """Return that all episodes fare alike."""
    return f"All episodes have the same return, {rounded(float(returns[0]), 3)}: none of them fails."


SIZE = (
    "Losses at every size, on the training episodes (which only shows that larger trees fit them better) and on those "
    "that chose the size. The latter look a little better than new episodes will, because the best size was taken."
)


CYCLE = "Means over all cycles, with one standard deviation to either side; vertical lines are where parts begin"
BIG_PICTURE = (
    "The few regions that tell best what the agent does, by their names. Visits of a step or two do not count. The one "
    "where the agent spends most time comes first; what is done less often than 90 % of the time has its share in "
    "brackets."
)


FEATURES_THERE = "How the features are in each region"


RULES = (
    "What the agent does, in a few rules for each thing that it does: the first that holds counts. In brackets is the "
    "share of the steps that come to a rule and, in episodes that the rules were not made from, how often it is right. "
    "`tripletree rules MODEL --max-rules all` shows the whole tree as rules."
)


ASK = (
    "The map shows the leaves on a plane through one state. Click somewhere, or type in a state: the page says what "
    "the tree predicts there and why, and what would have to change for a different prediction. It works offline."
)


NO_SCRIPT = "This map needs a browser that runs scripts."


ROUTES = "How episodes go that begin where most do, and that end, detours left out. Those seen most often:"


GRAPH = (
    "The larger the disc, the more time is spent in the region; the wider the arrow, the more of the visits go that "
    "way. Moves that are rare are left out"
)


EPISODES_TITLE = "These episodes on a map of {}"


EPISODE_TITLE = "The typical episode on a map of {}"


ONLY_TYPICAL = "Only the typical episode is drawn, because the lines of several would cover the map"


SEEDS = "Growth draws no random numbers: the same log and options give the same tree."


def drawn_by(states: int, log: Log) -> list[str]:
    """Return how many states curves are drawn by, where these are not all."""
    some = f"The curves are drawn by {states:,} of the {log.n_samples:,} states, taken evenly."
    return [some] if states < log.n_samples else []


def sampled(log: Log, some: Log) -> list[str]:
    """Return which answers come from random episodes, where the log is so long that not all of it is looked at."""
    looks = ((WORLD_ROWS, "what the world is like"), (CRITICAL_STEPS, "where the choice matters"))
    told = [f"{what} (up to {most:,} steps)" for most, what in looks if log.n_samples > most]
    if some.n_samples < log.n_samples:
        told.append(f"changes of mind and whether anything repeats ({some.n_samples:,} steps)")
    return [f"Of a log this long, whole random episodes tell {all_of(told)}."] if told else []


DRAWS = "Intervals of probabilities and the choice of held-out episodes use the random seed 0."


FOOTER = "Made with tripletree. This file is self-contained: it loads nothing and sends nothing."
