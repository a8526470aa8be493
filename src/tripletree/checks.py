"""Arguments checked once, at the door: what came, what is allowed, what to type."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripletree.errors import ParameterError


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return " Did you mean `pos`?" when one of the ``known`` words is close to ``word``, otherwise nothing."""
    names = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(str(word).casefold(), names, n=1)
    return f" Did you mean `{names[close[0]]}`?" if close else ""


def listing(names: Collection[str], most: int = 6) -> str:
    """Return "`a`, `b` and 7 more": names for a message, cut short when there are many."""
    shown = list(names)[:most] if len(names) > most + 1 else list(names)
    text = ", ".join(f"`{name}`" for name in shown)
    return text if len(shown) == len(names) else f"{text} and {len(names) - len(shown)} more"


def is_integer(value: object) -> bool:
    """Tell whether ``value`` is a whole number, NumPy's included and booleans excluded."""
    return not isinstance(value, bool) and isinstance(value, numbers.Integral)


def is_number(value: object) -> bool:
    """Tell whether ``value`` is a finite real number, booleans excluded."""
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and math.isfinite(value)


@dataclass(frozen=True)
class Rule:
    """What one parameter may be: a test, the same in words, and a value that passes."""

    passes: Callable[[Any], bool]
    allowed: str
    example: object
    choices: tuple[str, ...] = ()


def one_of(*names: str) -> Rule:
    """Return the rule of a parameter that is one of a few words."""
    return Rule(
        lambda value: isinstance(value, str) and value in names, " or ".join(map(repr, names)), names[0], choices=names
    )


def _whole(least: int, example: int, none: str = "") -> Rule:
    allowed = f"a whole number of at least {least}" + (f", or None ({none})" if none else "")
    return Rule(
        lambda value: (none != "" and value is None) or (is_integer(value) and value >= least), allowed, example
    )


def _is_theta(value: Any) -> bool:
    # A tuple, a list or an array: what has an order and can be read twice.
    if not isinstance(value, Sequence) and getattr(value, "ndim", 0) != 1:
        return False
    weights = list(value)
    return len(weights) == 3 and all(is_number(w) and w >= 0 for w in weights) and any(w > 0 for w in weights)


PARAMETERS: dict[str, Rule] = {
    "max_leaves": _whole(1, 200),
    "theta": Rule(_is_theta, "three non-negative numbers, not all zero", (1, 1, 1)),
    "gamma": Rule(lambda value: is_number(value) and 0 <= value <= 1, "a number from 0 to 1", 0.99),
    "priority": one_of("impurity", "gain"),
    "mode": one_of("exact", "histogram"),
    "bins": Rule(lambda value: is_integer(value) and 2 <= value <= 1024, "a whole number from 2 to 1024", 1024),
    "thresholds": one_of("short", "midpoint"),
    "derivative_scale": one_of("sigma", "paper"),
    "truncation": one_of("paper", "bootstrap"),
    "min_samples_leaf": _whole(1, 1),
    "max_depth": _whole(0, 20, none="no limit"),
    "min_quality": Rule(lambda value: is_number(value) and value >= 0, "a non-negative number", 0.0),
    "early_stopping": Rule(lambda value: isinstance(value, bool), "True or False", True),
    "threads": _whole(1, 2, none="all cores"),
    "progress": Rule(
        lambda value: value is None or callable(value),
        "a function of (leaves so far, max_leaves), or None",
        None,
    ),
}
"""The parameters of TripleTree: the one table that fit checks them against."""


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise ParameterError for the first of ``parameters`` that breaks its rule in ``PARAMETERS``."""
    for name, value in parameters.items():
        rule = PARAMETERS[name]
        if rule.passes(value):
            continue
        hint = did_you_mean(value, rule.choices) or f" Try {name}={rule.example!r}."
        raise ParameterError(f"{name} must be {rule.allowed}; got {value!r}.{hint}")
    if parameters.get("truncation") == "bootstrap" and parameters.get("gamma") == 1:
        raise ParameterError(
            'truncation="bootstrap" needs gamma below 1, otherwise the value of an endless episode has no bound; '
            "got gamma=1. Try gamma=0.99."
        )


def check_names(given: Iterable[str], known: Collection[str], what: str) -> None:
    """Raise ParameterError when one of the ``given`` names is not among the ``known`` ones."""
    for name in given:
        if name not in known:
            raise ParameterError(f"{what} has no {name!r}; it has {listing(known, 20)}.{did_you_mean(name, known)}")
