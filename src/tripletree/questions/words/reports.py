"""The English of reports: what a log is, how good a tree is, where it should not be trusted, how it was made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tripletree.questions.words.conditions import END
from tripletree.questions.words.numbers import all_of, capital, count, exact, measured, percent, rounded, unit
from tripletree.questions.words.rules import conditions
from tripletree.questions.words.stories import ENDINGS, phase

if TYPE_CHECKING:
    from tripletree.log.log import Log
    from tripletree.model.fitted import Fitted
    from tripletree.questions.calibration import Calibration
    from tripletree.questions.held_out import HeldOut
    from tripletree.questions.outline import Region, Route
    from tripletree.questions.rules import Rule
    from tripletree.questions.story import Story
    from tripletree.questions.temporal import Changes
    from tripletree.questions.trust import Trust

F64 = npt.NDArray[np.float64]

_ENDINGS = (
    ("has an unknown ending", "ended by itself", "was cut off"),
    ("have unknown endings", "ended by themselves", "were cut off"),
)


def log_size(log: Log) -> str:
    """Return how large a log is."""
    action = log.schema.action
    acts = (
        f"the action is one of {count(len(action.labels), 'label', 'labels')}"
        if action.kind == "discrete"
        else f"the action has {count(len(action.names), 'number', 'numbers')}"
    )
    features = count(log.n_features, "feature", "features")
    samples, episodes = count(log.n_samples, "sample", "samples"), count(log.n_episodes, "episode", "episodes")
    return f"The log has {samples} in {episodes}. A state has {features}, {acts}."


def log_episodes(log: Log) -> str:
    """Return how long episodes are and how they end."""
    lengths = np.diff(log.starts)
    ended = np.bincount(log.endings, minlength=3).tolist()
    if log.n_episodes == 1:
        return f"The episode lasts {count(int(lengths[0]), 'step', 'steps')}."
    counted = [(f"{n:,}" if n < log.n_episodes else "all", _ENDINGS[n != 1][code]) for code, n in enumerate(ended) if n]
    ends = all_of([f"{number} {how}" for number, how in counted])
    span = f"{lengths.min():,} to {lengths.max():,} steps, half of them {int(np.median(lengths)):,} or more"
    return f"Episodes last {span}; {ends}."


def log_returns(returns: F64) -> str:
    """Return what episodes return."""
    if len(returns) == 1:
        return f"It returns {rounded(float(returns[0]))} (the sum of its rewards)."
    low, middle, high = (rounded(float(x)) for x in np.quantile(returns, (0, 0.5, 1)))
    if low == high:
        return f"Every episode returns {low} (the sum of its rewards)."
    return f"Returns, the sums of an episode's rewards, go from {low} to {high}; the median is {middle}."


def findings(number: int) -> str:
    """Return the heading of what the doctor found."""
    return f"What was noticed in the log ({number})" if number else "Nothing in the log gives reason to worry."


def losses_note(discrete: bool) -> str:
    """Return what the three losses are."""
    action = "the share of wrong labels" if discrete else "the sum over dimensions of RMSE / σ"
    return (
        f"Action loss is {action}, value loss the root of the mean squared error (RMSE), derivative loss the sum over "
        "features of RMSE / σ, σ being the spread over the training log. One leaf is what can be known without "
        "looking at the state."
    )


def held_out(answer: HeldOut) -> str:
    """Return how the losses were measured, and what they say."""
    episodes, samples = count(answer.episodes, "episode", "episodes"), count(answer.samples, "sample", "samples")
    how = {
        "other": f"The tree was judged on {episodes} with {samples} of another log than the one it was grown on.",
        "regrown": "The tree has seen all of this log. To be fair, a second tree of the same size was grown on 4 of 5 "
        f"episodes and judged on the others: {episodes} with {samples}.",
        "same": "The tree was judged on the log that it was grown on, so expect it to do worse on new episodes.",
    }[answer.how]
    known = 1 - answer.losses / np.where(answer.constant > 0, answer.constant, 1.0)
    names = ("action", "value", "derivative")
    told = [
        f"{percent(max(part, 0.0))} of the {name} loss"
        for name, part, whole in zip(names, known.tolist(), answer.constant.tolist(), strict=True)
        if whole > 0
    ]
    return f"{how} Looking at the state takes away {all_of(told)} there." if told else how


def calibration(answer: Calibration) -> str:
    """Return how far predictions are from what is observed."""
    if answer.about == "confidence":
        sure, right = (
            np.average(answer.predicted, weights=answer.count),
            np.average(answer.observed, weights=answer.count),
        )
        text = (
            f"The tree is sure of its actions by {percent(float(sure))} on average and right in {percent(float(right))}"
        )
        return f"{text} of the steps; group by group the two differ by {percent(answer.gap)}."
    far = f" ({percent(answer.gap / answer.scale)} of its spread)" if answer.scale > 0 else ""
    return (
        f"Group by group, predicted and observed {answer.about} differ by {rounded(_two(answer.gap))}{far} on average."
    )


def _two(number: float) -> float:
    return float(f"{number:.2g}")


def _three(number: float) -> float:
    return float(f"{number:.3g}")


def does(fitted: Fitted, leaf: int) -> str:
    """Return what the agent does in a leaf: "left (87 %)", or "main engine = 0.3 ± 0.1 and side engine = 0 ± 0.2"."""
    at, action = fitted.leaves, fitted.schema.action
    if at.action_count is not None:
        table = at.action_count[leaf]
        best = int(table.argmax())
        return f"{action.labels[best]}{unit(action.units[0])} ({percent(float(table[best] / at.count[leaf]))})"
    means, spreads = np.asarray(at.action_mean)[leaf].tolist(), np.asarray(at.action_std)[leaf].tolist()
    parts = zip(action.names, means, spreads, action.units, strict=True)
    return all_of([f"{name} = {measured(_two(mean), _two(std))}{unit(of)}" for name, mean, std, of in parts])


def region_name(number: int) -> str:
    """Return what a region of an outline is called."""
    return f"Region {number + 1}"


def region(one: Region) -> str:
    """Return one region in a sentence."""
    where = f"{region_name(one.number)} ({percent(one.share)} of the time, {conditions(one.when)})"
    return f"{where}: {one.action}, value {measured(one.value, one.spread)}, {following(one)}."


def following(one: Region) -> str:
    """Return where the agent goes from a region: "then region 2 (80 %) or the end (20 %)"."""
    told = [f"{END if to is None else region_name(to).lower()} ({percent(p)})" for to, p in one.following]
    return f"then {' or '.join(told)}" if told else "what follows is not recorded"


def route(one: Route) -> str:
    """Return one way through the regions."""
    steps = count(max(round(one.steps), 1), "step", "steps")
    way = ", ".join(str(number + 1) for number in one.regions)
    through = f"region {way}" if len(one.regions) == 1 else f"regions {way}"
    return f"{capital(through)}, then {END}: {percent(one.probability)} of the time, about {steps}."


def ends(regions: Sequence[Region], ended: int) -> str:
    """Return in which regions episodes end."""
    ranked = sorted((one for one in regions if one.ends > 0), key=lambda one: -one.ends)
    if not ranked:
        return "The log shows no episode that ended by itself."
    told = [f"{percent(one.ends)} in {region_name(one.number).lower()}" for one in ranked[:4]]
    rest = sum(one.ends for one in ranked[4:])
    told += [f"{percent(rest)} elsewhere"] if rest > 0 else []
    return f"Of {count(ended, 'episode', 'episodes')} that ended by themselves, {all_of(told)}."


def trust(answer: Trust) -> str:
    """Return where a tree should not be trusted."""
    total = len(answer.few)
    few = int(answer.few.sum())
    told = []
    if few:
        share = float(answer.share[answer.few].sum())
        leaves = f"{few:,} of {count(total, 'leaf', 'leaves')}"
        told.append(
            f"Few samples: {leaves} rest on fewer than 10 samples each ({percent(share)} of the log lies there)."
        )
    else:
        told.append("Few samples: no leaf rests on fewer than 10 samples.")
    names = ("action", "value", "derivative")
    torn = [
        f"{percent(float(answer.share[answer.torn[:, g]].sum()))} of the log lies where {name} is hardly known"
        for g, name in enumerate(names)
        if answer.torn[:, g].any()
    ]
    if torn:
        told.append(
            f"Disagreement: {all_of(torn)}; samples of these leaves differ at least half as much as those of the "
            "whole log."
        )
    else:
        told.append("Disagreement: in every leaf samples differ less than half as much as in the whole log.")
    if answer.outside:
        told.append(
            f"Outside: {percent(answer.outside)} of the log's states lie outside the range that the tree was grown on."
        )
    told.append(
        "Outside the log: beyond the ranges of its features the tree knows nothing, and says what it knows of the "
        "nearest leaf. Explanations warn of such states."
    )
    return "\n".join(told)


def doubt(attribute: int, left: float, samples: int, few: bool) -> str:
    """Return why a leaf is not to be trusted on an attribute (0 action, 1 value, 2 derivative)."""
    name = ("action", "value", "derivative")[attribute]
    times = f"{rounded(_two(left))} times that" if left >= 1 else f"{percent(left)} of that"
    told = [f"disagreement on {name} is {times} in the whole log"]
    return all_of([*told, *([f"only {count(samples, 'sample', 'samples')}"] if few else [])])


def failures(log: Log, returns: F64) -> str:
    """Return how episodes with low returns differ in length from the others."""
    if len(returns) < 10:
        return (
            "The log has too few episodes to tell good ones from bad ones by their numbers; here are all of the lowest."
        )
    border = float(np.quantile(returns, 0.1))
    low = returns <= border
    lengths = np.diff(log.starts)
    inside = int(np.median(lengths[low]))
    text = f"The tenth of the episodes with the lowest returns gets {rounded(border)} or less"
    if low.all():
        return f"{text}, and so do all others."
    return f"{text}. Their median length is {inside:,} steps; that of the others is {int(np.median(lengths[~low])):,}."


def fortune(fitted: Fitted) -> str:
    """Return what value is, and how far the tree's values go."""
    gamma = fitted.options["gamma"]
    values = fitted.leaves.value_mean
    low, high = rounded(_three(float(values.min()))), rounded(_three(float(values.max())))
    return (
        f"Value is what the agent has still to expect: the sum of future rewards, each step further on counting "
        f"{exact(gamma)} times as much. Over the leaves of the tree it goes from {low} to {high}."
    )


def ending(code: int) -> str:
    """Return how an episode ended, in a table."""
    return ("unknown", "by itself", "cut off")[code]


def fall(jump: Any) -> str:
    """Return where the value fell most in an episode."""
    return "no large one" if jump is None else str(jump).removeprefix("The value falls most ").rstrip(".")


def to_the_end(soon: Any, steps: Any) -> str:
    """Return how soon episodes end by the chain over leaves."""
    within = count(soon.within, "step", "steps")
    text = f"By the moves between leaves, an episode ends within {within} with a chance of {percent(soon.probability)}"
    if soon.interval is not None:
        text += f" (95 % interval {percent(soon.interval[0])} to {percent(soon.interval[1])})"
    return text + (f", and after {steps.steps:.3g} steps on average." if steps.steps is not None else ".")


def rule_group(rules: Sequence[Rule], most: int) -> tuple[str, list[str]]:
    """Return the heading of the rules with one outcome, and a line for each of the first; the others are summed up."""
    share = percent(sum(one.coverage for one in rules))
    lines = []
    for one in rules[:most]:
        right = "" if one.accuracy is None else f", {percent(one.accuracy)} right"
        lines.append(f"{conditions(one.when)} ({percent(one.coverage)}{right})")
    rest = rules[most:]
    if rest:
        lines.append(f"{count(len(rest), 'more rule', 'more rules')} ({percent(sum(one.coverage for one in rest))})")
    return f"{rules[0].outcome}: {share} of the samples", lines


def story_parts(answer: Story, name: str) -> tuple[str, list[str], list[str]]:
    """Return the first sentence of a story, a line for each phase, and what follows."""
    total = "" if answer.total is None else f" and returns {rounded(answer.total)}"
    first = f"Episode {name} lasts {count(max(round(answer.steps), 1), 'step', 'steps')}{total}."
    phases = [f"{capital(phase(one, value=answer.about != 'value'))}." for one in answer.phases]
    rest = [ENDINGS[answer.ending]] if answer.ending is not None else []
    return first, phases, [" ".join([*rest, *map(str, answer.jumps)])]


def lead(fitted: Fitted, log: Log) -> str:
    """Return the first sentence of a report."""
    leaves = count(fitted.tree.n_leaves, "leaf", "leaves")
    return (
        f"What an agent does, how well it fares and how it moves, told by a decision tree with {leaves} and a log "
        f"of {count(log.n_samples, 'step', 'steps')}. The tree was grown from recorded steps alone: nobody asked the "
        "agent."
    )


def key_facts(fitted: Fitted, log: Log, returns: F64) -> list[tuple[str, str]]:
    """Return the few numbers at the top of a report, with their names."""
    action = fitted.curve_training[fitted.tree.n_leaves - 1, 0]
    known = 1 - fitted.curve_training[fitted.tree.n_leaves - 1] / np.maximum(fitted.curve_training[0], 1e-300)
    right = (
        ("actions right", percent(1 - float(action)))
        if fitted.schema.action.kind == "discrete"
        else ("of the action loss explained", percent(max(float(known[0]), 0.0)))
    )
    return [
        ("steps", f"{log.n_samples:,}"),
        ("episodes", f"{log.n_episodes:,}"),
        ("leaves", f"{fitted.tree.n_leaves:,}"),
        right,
        ("of the value loss explained", percent(max(float(known[1]), 0.0))),
        ("median return", rounded(_three(float(np.median(returns))))),
    ]


def changes(answer: Changes, threshold: float | None) -> str:
    """Return how often a prediction changes, or crosses a number, and how often one feature explains it."""
    if threshold is None or not len(answer):
        return str(answer)
    times, steps = count(len(answer), "time", "times"), count(answer.moves, "step", "steps")
    alone = float((answer.changed.sum(axis=1) == 1).mean())
    sides = f"{answer.about} goes from one side of {exact(threshold)} to the other"
    return f"In {steps} {sides} {times}; one feature explains {percent(alone)} of these changes."


def about_the_mean(numbers: F64) -> float:
    """Return a round number near the mean, as exact as the spread of the numbers deserves."""
    spread = float(numbers.std())
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
    return f"A decision tree with {leaves}, at most {count(int(fitted.tree.depth.max()), 'split', 'splits')} deep"


def picture(x: tuple[str, float, float] | None, y: tuple[str, float, float] | None, colours: str) -> str:
    """Return what a picture shows, for those who do not see it."""
    told = [
        f"{where}: {label}, from {rounded(low)} to {rounded(high)}."
        for where, axis in (("Across", x), ("Up", y))
        if axis is not None
        for label, low, high in (axis,)
    ]
    return " ".join([*told, *([f"By colour: {colours}."] if colours else [])])


def colours(label: str, low: float, high: float, categories: Sequence[str]) -> str:
    """Return what colours mean."""
    return f"{label} ({', '.join(categories)})" if categories else f"{label}, from {rounded(low)} to {rounded(high)}"


def option(value: Any) -> str:
    """Return an option of growth as a reader writes it."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, list | tuple):
        return ", ".join(option(part) for part in value)
    return exact(value) if isinstance(value, float) else str(value)


CALIBRATION_TITLES = {"value": "Value: predicted and observed", "confidence": "Action: how sure and how often right"}
TITLE = "What this agent does"
CALIBRATION = "When the tree says so, is it so? Discs on the dashed line say yes."
CALIBRATION_SAME = (
    "On the log that a tree was grown on, predictions and observations agree by construction. Give a log with other "
    "episodes to see whether they agree on those, too."
)
FROM_AFAR = (
    "The first splits of the tree part the states into few regions. They are listed by how long the agent is in them."
)
RULES = (
    "The whole tree as rules, the ones that cover most of the log first. Each holds on its own; shares of the log and "
    "how often the log agrees are in brackets."
)
ASK = (
    "The map shows the leaves on a plane through one state. Click a place, or type a state: the page says what the "
    "tree predicts there and why, and what would have to change for something else. It needs no network."
)
NO_SCRIPT = "This map needs a browser that runs scripts."
ROUTES = "From where most episodes begin to the end, through the regions of the table above, by their numbers."
GRAPH = (
    "Discs are the regions of the table above, by their numbers; the larger, the more time is spent there. Wide arrows "
    "are probable moves"
)
GRAPH_TITLE = "How the agent moves from region to region"
EPISODES_TITLE = "These episodes on a map of mean value"
SEEDS = "Growth draws no random numbers: the same log and options give the same tree."
DRAWS = "Intervals of chances, and the choice of held-out episodes, come from random numbers with seed 0."
FOOTER = "Made by tripletree. This file is complete in itself: it loads nothing and sends nothing."
