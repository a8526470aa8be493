"""The English of a report: what a log is, how it was judged, how the tree was made; headings and notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.change import Changes
from tripletree.answers.rules import Rule, conditions
from tripletree.answers.story import ENDINGS, Story, phase
from tripletree.language.numbers import all_of, capital, count, exact, measured, percent, rounded
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted

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


def doubt(attribute: int, left: float, samples: int, few: bool) -> str:
    """Return why a leaf is not to be trusted on an attribute (0 action, 1 value, 2 derivative)."""
    name = ATTRIBUTES[attribute]
    times = f"{rounded(left, 2)} times that" if left >= 1 else f"{percent(left)} of that"
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
    low, high = rounded(float(values.min()), 3), rounded(float(values.max()), 3)
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
        ("median return", rounded(float(np.median(returns)), 3)),
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
