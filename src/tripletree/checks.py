"""Arguments checked once, at the door: what came, what is allowed, what to type."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripletree.errors import ParameterError
from tripletree.text import some_of


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return " Did you mean `pos`?" when one of the ``known`` words is close to ``word``, otherwise nothing."""
    names = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(str(word).casefold(), names, n=1)
    return f" Did you mean `{names[close[0]]}`?" if close else ""


def listing(names: Collection[str], most: int = 6) -> str:
    """Return "`a`, `b` and 7 more": names for a message, cut short when there are many."""
    return some_of([f"`{name}`" for name in names], most)


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
    """Return the rule of a parameter that is one of several words."""
    *others, last = map(repr, names)
    allowed = f"{', '.join(others)} or {last}" if others else last
    return Rule(lambda value: isinstance(value, str) and value in names, allowed, names[0], choices=names)


def whole(least: int, most: int | None = None, example: int | None = None, none: str = "") -> Rule:
    """Return the rule of a whole number; ``none`` says what None means, and without it None is refused."""
    allowed = f"a whole number of at least {least:,}" if most is None else f"a whole number from {least:,} to {most:,}"

    def passes(value: Any) -> bool:
        if value is None:
            return none != ""
        return is_integer(value) and value >= least and (most is None or value <= most)

    return Rule(passes, allowed + (f", or None ({none})" if none else ""), least if example is None else example)


def number(least: float, most: float | None = None, *, example: float, ends: bool = True) -> Rule:
    """Return the rule of a finite number from ``least`` to ``most``; without ``ends``, neither of them is allowed."""
    if ends:
        allowed = f"a number of at least {least:g}" if most is None else f"a number from {least:g} to {most:g}"
    else:
        allowed = f"a number above {least:g}" + ("" if most is None else f" and below {most:g}")

    def passes(value: Any) -> bool:
        if not is_number(value):
            return False
        at_an_end = value in (least, most)
        return ends if at_an_end else bool(value > least and (most is None or value < most))

    return Rule(passes, allowed, example)


def flag(example: bool = True) -> Rule:
    """Return the rule of a parameter that is True or False; a 0 or a 1 is more often a mistake than shorthand."""
    return Rule(lambda value: isinstance(value, bool), "True or False", example)


def _is_theta(value: Any) -> bool:
    # A tuple, a list or an array: what has an order and can be read twice.
    if not isinstance(value, Sequence) and getattr(value, "ndim", 0) != 1:
        return False
    weights = list(value)
    return len(weights) == 3 and all(is_number(w) and w >= 0 for w in weights) and any(w > 0 for w in weights)


PARAMETERS: dict[str, Rule] = {
    "max_leaves": whole(1, example=200),
    "theta": Rule(_is_theta, "three non-negative numbers, not all zero", (1, 1, 1)),
    "gamma": number(0, 1, example=0.99),
    "priority": one_of("impurity", "gain"),
    "mode": one_of("exact", "histogram"),
    "bins": whole(2, 1024, example=1024),
    "thresholds": one_of("short", "midpoint"),
    "derivative_scale": one_of("sigma", "paper"),
    "truncation": one_of("paper", "bootstrap"),
    "min_samples_leaf": whole(1),
    "max_depth": whole(0, example=20, none="no limit"),
    "min_quality": number(0, example=0.0),
    "early_stopping": flag(),
    "threads": whole(1, example=2, none="all cores"),
    "progress": Rule(
        lambda value: value is None or callable(value),
        "a function of (leaves so far, max_leaves), or None",
        None,
    ),
}
"""The parameters of TripleTree: the one table that fit checks them against."""


def objection(value: object, name: str, rule: Rule) -> str:
    """Return what is wrong with a value, what is allowed and what to type; nothing if the value passes."""
    if rule.passes(value):
        return ""
    hint = did_you_mean(value, rule.choices) or f" Try {name}={rule.example!r}."
    return f"{name} must be {rule.allowed}; got {value!r}.{hint}"


def _check(value: object, name: str, rule: Rule) -> None:
    if wrong := objection(value, name, rule):
        raise ParameterError(wrong)


def check_whole(
    value: object, name: str, least: int, most: int | None = None, example: int | None = None, none: str = ""
) -> None:
    """Raise ParameterError unless ``value`` is a whole number from ``least`` to ``most``.

    ``none`` says what None means, such as "no limit"; without it, None is refused.
    """
    _check(value, name, whole(least, most, example, none))


def check_number(
    value: object, name: str, least: float, most: float | None = None, *, example: float, ends: bool = True
) -> None:
    """Raise ParameterError unless ``value`` is a finite number from ``least`` to ``most``; see `number`."""
    _check(value, name, number(least, most, example=example, ends=ends))


def check_flag(value: object, name: str, example: bool = True) -> None:
    """Raise ParameterError unless ``value`` is True or False."""
    _check(value, name, flag(example))


def check_choice(value: object, name: str, choices: Iterable[str]) -> None:
    """Raise ParameterError unless ``value`` is one of the ``choices``."""
    _check(value, name, one_of(*choices))


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise ParameterError for the first of ``parameters`` that breaks its rule in ``PARAMETERS``."""
    for name, value in parameters.items():
        _check(value, name, PARAMETERS[name])
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
