"""Arguments checked once, at the door: what came, what is allowed, what to type."""

from __future__ import annotations

import difflib
import itertools
import math
import numbers
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripletree.errors import ParameterError
from tripletree.text import Message, Nothing, Option, some_of

if TYPE_CHECKING:
    from numpy.random import Generator


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
    """What an argument may be.

    Attributes
    ----------
    passes : function
        The test.
    allowed : str
        The same in words, but for None.
    example : any
        A value that passes, for people to type; Nothing when there is none worth typing.
    choices : tuple of str
        The words it may be, when it is one of several.
    none : str
        What None means; empty when None is not allowed.
    """

    passes: Callable[[Any], bool]
    allowed: str
    example: Any = Nothing
    choices: tuple[str, ...] = ()
    none: str = ""

    def check(self, value: Any, name: str) -> None:
        """Raise ParameterError unless ``value`` may be given as the argument ``name``."""
        if wrong := self.objection(value, name):
            raise ParameterError(wrong)

    def objection(self, value: Any, name: str, hint: str = "") -> str:
        """Return what is wrong with a value, what is allowed and what to type; nothing if the value passes.

        ``hint`` says what to type, where the caller knows better than the closest choice or the example.
        """
        if self.passes(value):
            return ""
        allowed = Message("{}, or {} ({})", self.allowed, Option(name, None), self.none) if self.none else self.allowed
        if not hint and isinstance(value, str):
            hint = did_you_mean(value, self.choices)
        if not hint and self.example is not Nothing:
            hint = Message(" Try {}.", Option(name, self.example))
        return Message("{} must be {}; got {!r}.{}", Option(name), allowed, value, hint)


# Kept, because questions about one state are asked many times; typed, because people are shown 1.0 as 1.0.
@lru_cache(typed=True)
def whole(least: int, most: int | None = None, example: Any = None, none: str = "") -> Rule:
    """Return the rule of a whole number; without an example, the least one is proposed."""
    allowed = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
    return Rule(
        lambda value: (
            (none != "" and value is None) or (is_integer(value) and value >= least and (most is None or value <= most))
        ),
        f"a whole number {allowed}",
        least if example is None else example,
        none=none,
    )


@lru_cache(typed=True)
def number(
    least: float | None = None,
    most: float | None = None,
    example: Any = None,
    none: str = "",
    *,
    above: float | None = None,
    below: float | None = None,
) -> Rule:
    """Return the rule of a finite number; ``least`` and ``most`` are allowed, ``above`` and ``below`` are not."""
    bounds = {"of at least": least, "above": above, "at most": most, "below": below}
    words = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
    if least is not None and most is not None:
        words = f"from {least:g} to {most:g}"
    proposed = next((value for value in (example, least, most) if value is not None), Nothing)
    return Rule(
        lambda value: (
            (none != "" and value is None)
            or (
                is_number(value)
                and (least is None or value >= least)
                and (most is None or value <= most)
                and (above is None or value > above)
                and (below is None or value < below)
            )
        ),
        f"a number {words}".rstrip(),
        proposed,
        none=none,
    )


@lru_cache(typed=True)
def flag(example: bool = True) -> Rule:
    """Return the rule of what is True or False."""
    return Rule(lambda value: isinstance(value, bool), "True or False", example)


def choice(choices: Iterable[str], example: Any = None, none: str = "") -> Rule:
    """Return the rule of one word of several; without an example, the first one is proposed."""
    names = tuple(choices)
    *others, last = map(repr, names)
    few = f"{', '.join(others)} or {last}" if others else last
    allowed = few if len(names) < 6 else f"one of {listing(names, 20)}"
    return Rule(
        lambda value: (none != "" and value is None) or (isinstance(value, str) and value in names),
        allowed,
        names[0] if example is None else example,
        names,
        none,
    )


def check_whole(
    value: object, name: str, least: int, most: int | None = None, example: Any = None, none: str = ""
) -> None:
    """Raise ParameterError unless ``value`` is a whole number from ``least`` to ``most``.

    Parameters
    ----------
    value : any
        What came as the argument ``name``.
    name : str
        The argument's name.
    least, most : int, int or None
        The smallest and the largest number allowed; None: no limit.
    example : int or None
        What the message proposes; None: the smallest one.
    none : str
        What None means as an argument; empty: None is not allowed.
    """
    whole(least, most, example, none).check(value, name)


def check_number(
    value: object,
    name: str,
    least: float | None = None,
    most: float | None = None,
    example: Any = None,
    none: str = "",
    *,
    above: float | None = None,
    below: float | None = None,
) -> None:
    """Raise ParameterError unless ``value`` is a finite number within bounds; arguments as in `check_whole`.

    ``least`` and ``most`` are allowed, ``above`` and ``below`` are not.
    """
    number(least, most, example, none, above=above, below=below).check(value, name)


def check_flag(value: object, name: str, example: bool = True) -> None:
    """Raise ParameterError unless ``value`` is True or False."""
    flag(example).check(value, name)


def check_choice(value: object, name: str, choices: Iterable[str], example: Any = None, none: str = "") -> None:
    """Raise ParameterError unless ``value`` is one of the words ``choices``; a near miss is recognised."""
    choice(choices, example, none).check(value, name)


def check_ending(path: str | os.PathLike[str], endings: Sequence[str], name: str = "path") -> Path:
    """Return ``path``; raise ParameterError unless its name ends in one of ``endings``, the usual one first."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"Expected a path, got {type(path).__name__}.")
    target = Path(path)
    if target.suffix.lower() not in endings:
        raise ParameterError(
            Message(
                "{} must end in {}; got {!r}. Try {}.",
                Option(name),
                " or ".join(endings),
                str(path),
                Option(name, str(target.parent / f"{target.stem}{endings[0]}")),
            )
        )
    return target


def generator(seed: Any) -> Generator:
    """Return the random generator that an argument ``seed`` means: a whole number, or the generator itself."""
    from numpy.random import Generator, default_rng

    if not isinstance(seed, Generator):
        check_whole(seed, "seed", 0)
    return default_rng(seed)


def _is_theta(value: Any) -> bool:
    # A tuple, a list or an array: what has an order and can be read twice.
    if not isinstance(value, Sequence) and getattr(value, "ndim", 0) != 1:
        return False
    weights = list(value)
    return len(weights) == 3 and all(is_number(w) and 0 <= w <= 1e100 for w in weights) and any(w > 0 for w in weights)


def _is_costs(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, Mapping):
        # By pairs of labels, or as model files have them: by the true label, then by the predicted one.
        nested = all(isinstance(row, Mapping) for row in value.values())
        if not nested and not all(isinstance(key, tuple) and len(key) == 2 for key in value):
            return False
        rows = [list(row.values()) for row in value.values()] if nested else [list(value.values())]
        return all(map(_is_cost, itertools.chain(*rows)))
    rows = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(rows, list | tuple) or not rows:
        return False
    return all(isinstance(row, list | tuple) and len(row) == len(rows) and all(map(_is_cost, row)) for row in rows)


def _is_cost(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1e100


MOST_THREADS = 1024
"""More threads than any machine has cores would only take memory."""

MOST_SAMPLES = 2**31 - 1
"""No log has more samples, so no tree has more leaves, and a number of 2**100 could not be saved."""

PARAMETERS: dict[str, Rule] = {
    "max_leaves": whole(1, MOST_SAMPLES, example=200),
    "theta": Rule(_is_theta, "three non-negative numbers, not all zero, up to 1e100", (1, 1, 1)),
    "gamma": number(0, 1, 0.99),
    "priority": choice(("impurity", "gain")),
    "mode": choice(("exact", "histogram")),
    "bins": whole(2, 1024, 1024),
    "thresholds": choice(("short", "midpoint")),
    "derivative_scale": choice(("sigma", "paper")),
    "truncation": choice(("paper", "bootstrap")),
    "min_samples_leaf": whole(1, MOST_SAMPLES),
    "max_depth": whole(0, MOST_SAMPLES, example=20, none="no limit"),
    "min_quality": number(0, example=0.0),
    "early_stopping": flag(),
    "leaf_model": choice(("linear", "mean")),
    "leaf_features": whole(1, MOST_SAMPLES, 2, none="all of them"),
    "costs": Rule(
        _is_costs,
        "a dict of (true label, predicted label) to a number from 0 to 1e100, or a square array of such numbers",
        {("left", "right"): 3},
        none="every wrong label costs 1",
    ),
    "keep": choice(("track", "leaves", "nothing")),
    "threads": whole(1, MOST_THREADS, 2, none="all cores"),
    "progress": Rule(
        lambda value: value is None or callable(value), "a function of (leaves so far, max_leaves)", none="silence"
    ),
}
"""The parameters of TripleTree: the one table that fit checks them against."""


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise ParameterError for the first of ``parameters`` that breaks its rule in ``PARAMETERS``."""
    for name, value in parameters.items():
        PARAMETERS[name].check(value, name)


def check_names(given: Iterable[str], known: Collection[str], what: str | Option) -> None:
    """Raise ParameterError when one of the ``given`` names is not among the ``known`` ones of ``what``.

    A thing has names, an argument (an Option) may have them.
    """
    has = "may have" if isinstance(what, Option) else "has"
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ParameterError(Message("{} has no {!r}; it {} {}.{}", what, name, has, listing(known, 20), hint))
