"""Costs between discrete actions: how bad it is to take one for another, and what growth makes of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, listing
from tripletree.errors import ParameterError
from tripletree.log.schema import Schema
from tripletree.text import Message, Option, some_of

F64 = npt.NDArray[np.float64]
Named = Mapping[str, Mapping[str, float]]

TINY = 1e-9
"""What rounding leaves of a number of size 1."""


def named_costs(costs: Any, schema: Schema) -> dict[str, dict[str, float]] | None:
    """Return costs by name, true label first, without those that are 1; None when all are.

    Parameters
    ----------
    costs : dict, square array or None
        What a user gave, of a kind that ``checks.PARAMETERS`` allows.
    schema : Schema
        That of the log.
    """
    if costs is None:
        return None
    action, labels = schema.action, schema.action.labels
    if action.kind != "discrete" or not schema.has_action:
        what = "its actions are numbers" if schema.has_action else "it has none"
        raise ParameterError(
            Message(
                "{} are costs between the labels of a discrete action; got a log in which there are no labels: {}. "
                "Try {}.",
                Option("costs"),
                what,
                Option("costs", None),
            )
        )
    found: dict[str, dict[str, float]] = {label: {} for label in labels}
    for true, told, cost in _entries(costs, labels):
        for name in (true, told):
            if name not in found:
                raise ParameterError(
                    Message(
                        "{} names the action `{}`; this log has {}.{}",
                        Option("costs"),
                        name,
                        listing(labels, 20),
                        did_you_mean(name, labels),
                    )
                )
        if true == told and cost:
            raise ParameterError(
                Message(
                    "{} says that `{}` for `{}` costs {:g}, but what is right costs 0. Leave it out, or type {}.",
                    Option("costs"),
                    told,
                    true,
                    cost,
                    Option("costs", {(true, told): 0}),
                )
            )
        if told in found[true]:
            raise ParameterError(
                Message("{} has two costs for `{}` in place of `{}`: give one.", Option("costs"), told, true)
            )
        found[true][told] = cost
    kept = {a: {b: cost for b, cost in row.items() if a != b and cost != 1} for a, row in found.items()}
    kept = {label: row for label, row in kept.items() if row}
    if kept and cost_matrix(kept, labels) is None:
        raise ParameterError(
            Message("{} are all 0: then no action would be wrong. Let at least one be above 0.", Option("costs"))
        )
    return kept or None


def _entries(costs: Any, labels: Sequence[str]) -> Iterable[tuple[str, str, float]]:
    """Iterate over true label, predicted label and cost."""
    if not isinstance(costs, Mapping):
        rows = np.asarray(costs, np.float64)
        if len(rows) != len(labels):
            raise ParameterError(
                Message(
                    "As an array, {} has a row and a column for each action, in the order {}; got the shape {}. Or "
                    "name what does not cost 1: {}.",
                    Option("costs"),
                    listing(labels, 20),
                    rows.shape,
                    Option("costs", {tuple(labels[:2]): 3} if len(labels) > 1 else {}),
                )
            )
        for (true, told), cost in zip(product(labels, labels), rows.ravel().tolist(), strict=True):
            yield true, told, cost
        return
    for key, value in costs.items():
        if isinstance(value, Mapping):
            for told, cost in value.items():
                yield str(key), str(told), float(cost)
        else:
            yield str(key[0]), str(key[1]), float(value)


def cost_matrix(costs: Named | None, labels: Sequence[str]) -> F64 | None:
    """Return the cost of each true label (rows) told as another (columns); None where all cost 1, or nothing does.

    Names that are not among the labels do not count: other logs may lack some.
    """
    if costs is None:
        return None
    matrix = 1.0 - np.eye(len(labels))
    place = {label: number for number, label in enumerate(labels)}
    for true, row in costs.items():
        for told, cost in row.items():
            if true in place and told in place:
                matrix[place[true], place[told]] = cost
    return matrix if matrix.any() else None


def lost(costs: F64) -> F64:
    """Return the costs with a last row, number -1, for a label that a tree does not know: the largest of all."""
    return np.vstack([costs, np.full((1, costs.shape[1]), costs.max())])


class GrowthCosts(NamedTuple):
    """What growth makes of costs: symmetric ones, and how much was added to each."""

    matrix: F64
    added: float


def growth_costs(costs: F64) -> GrowthCosts:
    """Return costs that are squared distances between points, halved: each pair's mean, raised as little as need be.

    With shares p, sum C[a, b] p_a p_b is then a sum of variances, which no split can increase (Schoenberg's condition).
    """
    mean = (costs + costs.T) / 2
    unit = float(mean.max())
    relative = mean / unit
    centre = np.eye(len(mean)) - 1.0 / len(mean)
    lowest = float(np.linalg.eigvalsh(-centre @ relative @ centre)[0])
    # Rounded up to a number that is the same on every machine. Adding k to every cost raises all eigenvalues by k.
    added = math.ceil(-(lowest + TINY) * 1e6) / 1e6 if lowest < -TINY else 0.0
    return GrowthCosts((relative + added * (1.0 - np.eye(len(mean)))) * unit, added * unit)


def embedded(costs: F64) -> F64 | None:
    """Return a point for each label, shape (labels, columns): half the squared distance of two is their cost.

    In units of the largest cost. None where all costs are the same: then a 0/1 column for each label does.

    Parameters
    ----------
    costs : float64 array of shape (labels, labels)
        As `growth_costs` returns them.
    """
    relative = costs / costs.max()
    if (relative[~np.eye(len(costs), dtype=bool)] == 1).all():
        return None
    # Products of the points about that of the first label, and their Cholesky factor, the largest pivot first: by sums
    # and products alone, so that its bits are the same on every machine.
    products = relative[:, :1] + relative[:1] - relative
    columns: list[F64] = []
    while products.diagonal().max() > TINY and len(columns) < len(costs) - 1:
        pivot = int(products.diagonal().argmax())
        columns.append(products[:, pivot] / math.sqrt(products[pivot, pivot]))
        products = products - columns[-1][:, None] * columns[-1]
    return np.stack(columns, axis=1)


def in_words(costs: Named, most: int = 8) -> str:
    """Return costs as people read them.

    >>> in_words({"left": {"right": 3.0, "none": 0.5}})
    '3 for right in place of left, 0.5 for none in place of left, 1 for all others'
    """
    told = [f"{cost:g} for {b} in place of {a}" for a, row in costs.items() for b, cost in row.items()]
    return f"{', '.join(told)}, 1 for all others" if len(told) <= most else some_of(told, most)
