"""Rules: everything that the tree says about one attribute, as few rules that hold each on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import is_integer
from tripletree.errors import ParameterError
from tripletree.leaves.cover import Cover, cover
from tripletree.log.log import Log
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.model.judge import check_same_schema
from tripletree.model.table import Table
from tripletree.questions.about import read_about
from tripletree.questions.answers import Answer
from tripletree.questions.importance import removed
from tripletree.questions.levels import Levels, log_classes, read_levels
from tripletree.questions.states import read_states
from tripletree.questions.words import rules as told

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Rule(Answer):
    """What the tree predicts wherever some conditions hold.

    Attributes
    ----------
    outcome : str
        What it predicts, in words.
    when : tuple of str
        The conditions; none when it holds always.
    lower, upper : float64 arrays of shape (features,)
        The same as numbers: ``lower <= state < upper``.
    samples : int
        Samples that count for it. Where rules of one outcome overlap, a sample counts once: for the rule that had
        more to add when the rules were made.
    coverage : float
        Their share of all samples.
    accuracy : float or None
        The share of them that is as predicted; None where that is not known (numbers, without a log).
    leaves : tuple of int
        The leaves that those samples are in.
    """

    outcome: str
    when: tuple[str, ...]
    lower: F64
    upper: F64
    samples: int
    coverage: float
    accuracy: float | None
    leaves: tuple[int, ...]

    def __str__(self) -> str:
        return told.rule(self)


@dataclass(frozen=True, eq=False, repr=False)
class Rules(Answer):
    """All rules on one attribute: by outcome, the most frequent one first, and in each by what they add.

    Every state meets a rule, and all the rules that it meets have the same outcome: what the tree predicts there.

    Attributes
    ----------
    about : str
        The attribute.
    rules : tuple of Rule
        The rules.
    most : int
        How many of each outcome the text shows; the others are summed up.
    features : tuple of str
        Names of the features.
    judged : str
        Where coverage and accuracy are from: "training" or "log".
    schema : Schema
        Names and kinds of features and actions.
    """

    about: str
    rules: tuple[Rule, ...]
    most: int
    features: tuple[str, ...]
    judged: str
    schema: Schema

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, number: int) -> Rule:
        return self.rules[number]

    def apply(self, states: Any) -> Any:
        """Return the number of the first rule that each state meets, by its conditions alone; an int for one state."""
        array, single = read_states(states, self.schema)
        first = np.full(len(array), -1)
        for number in reversed(range(len(self.rules))):
            rule = self.rules[number]
            first[((rule.lower <= array) & ((array < rule.upper) | np.isinf(rule.upper))).all(axis=1)] = number
        return int(first[0]) if single else first

    @property
    def table(self) -> Table:
        """One row a rule: outcome, conditions in words, samples, coverage, accuracy, and the bounds."""
        columns: dict[str, Any] = {
            "outcome": np.array([rule.outcome for rule in self.rules]),
            "when": np.array([told.conditions(rule.when) for rule in self.rules]),
            "samples": np.array([rule.samples for rule in self.rules]),
            "coverage": np.array([rule.coverage for rule in self.rules]),
            "accuracy": np.array([np.nan if rule.accuracy is None else rule.accuracy for rule in self.rules]),
        }
        for f, name in enumerate(self.features):
            columns[f"{name}_min"] = np.array([rule.lower[f] for rule in self.rules])
            columns[f"{name}_max"] = np.array([rule.upper[f] for rule in self.rules])
        return Table(columns)

    def to_markdown(self) -> str:
        """Return the rules as Markdown: a heading and a list for every outcome."""
        return told.markdown(self)

    def __str__(self) -> str:
        return told.rules(self)

    def _repr_html_(self) -> str:
        return told.html(self)


def rules(
    fitted: Fitted,
    *,
    about: str = "action",
    levels: int | Sequence[float] = 3,
    log: Log | None = None,
    most: int = 5,
    threads: int = 1,
) -> Rules:
    """Return the whole tree as rules.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str
        The attribute.
    levels : int or sequence of float
        Levels of an attribute that is a number, as in :func:`tripletree.questions.levels.read_levels`.
    log : Log or None
        Where to take coverage and accuracy from; None: the training log, as far as the tree remembers it.
    most : int
        How many rules of each outcome to show.
    threads : int
        Threads that find the leaf of each sample.
    """
    if not is_integer(most) or most < 1:
        raise ParameterError(f"most must be a whole number of at least 1; got {most!r}.")
    attribute = read_about(fitted, about)
    classes = read_levels(fitted, attribute, levels)
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    gain = np.bincount(
        fitted.tree.feature[fitted.tree.split_order],
        removed(fitted, attribute)[fitted.tree.split_order],
        len(fitted.schema.features),
    )
    order = np.argsort(gain, kind="stable").tolist()
    found = cover(fitted.tree, classes.leaves, at.count[nodes], order)
    if log is None:
        count = at.count[nodes]
        right = None if at.action_count is None or classes.edges else at.action_count[nodes].max(axis=1)
    else:
        count, right = _judged(fitted, classes, log, threads)
    made = _rules(fitted, classes, found, count, right, order[::-1])
    return Rules(
        about=about,
        rules=made,
        most=int(most),
        features=fitted.schema.feature_names,
        judged="training" if log is None else "log",
        schema=fitted.schema,
    )


def _rules(
    fitted: Fitted, classes: Levels, found: Cover, count: I64, right: I64 | None, order: list[int]
) -> tuple[Rule, ...]:
    samples = np.bincount(found.box, count, len(found.lower)).astype(np.int64)
    hits = None if right is None else np.bincount(found.box, right, len(found.lower))
    of_class = np.bincount(found.classes, samples, len(classes.names))
    ranked = np.lexsort((np.arange(len(samples)), -samples, found.classes, -of_class[found.classes]))
    return tuple(
        Rule(
            outcome=classes.names[found.classes[box]],
            when=tuple(told.reasons(fitted.schema, found.lower[box], found.upper[box], order)),
            lower=found.lower[box],
            upper=found.upper[box],
            samples=int(samples[box]),
            coverage=float(samples[box] / count.sum()),
            accuracy=None if hits is None or not samples[box] else float(hits[box] / samples[box]),
            leaves=tuple(np.flatnonzero(found.box == box).tolist()),
        )
        for box in ranked
    )


def _judged(fitted: Fitted, classes: Levels, log: Log, threads: int) -> tuple[I64, I64]:
    """Return how many samples of a log fall in each leaf, and how many of them are as the leaf predicts."""
    check_same_schema(fitted.schema, log, "log")
    leaf = fitted.tree.apply(log.states, threads)
    shown = log_classes(fitted, classes, log)
    seen = shown >= 0
    if classes.about.kind != "derivative":
        seen[:] = True  # a label that the tree does not know is wrong, not unseen
    right = seen & (shown == classes.leaves[leaf])
    size = fitted.tree.n_leaves
    return np.bincount(leaf[seen], minlength=size), np.bincount(leaf[right], minlength=size)
