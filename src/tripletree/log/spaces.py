"""Gymnasium's spaces as a log has them: observations as named features, actions as labels or numbers, both checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import ParameterError
from tripletree.log.schema import MAX_LABELS
from tripletree.log.tasks import Task, split_unit
from tripletree.text import Message, Option, count, shortened

F64 = npt.NDArray[np.float64]

MOST_CATEGORIES = 32
"""An observation that is one of so many becomes one feature for each; of more, a single whole number."""
MOST_COMBINATIONS = 64
"""An action of several choices is one label for each combination if there are no more than this."""
MOST_FEATURES = 1024
"""Nobody reads a tree on more; an observation of this size is most likely an image."""


@dataclass(frozen=True)
class Layout:
    """How observations become features: their names, kinds and units where known, and the function that reads one."""

    names: tuple[str, ...]
    read: Callable[[Any], F64]
    kinds: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


def layout_of(space: Any, task: Task | None = None, measured: bool = True) -> Layout:
    """Return how the observations of a space become features.

    Parameters
    ----------
    space : gymnasium.Space
        Box, Dict, Tuple, Discrete, MultiDiscrete or MultiBinary, nested as deep as you like.
    task : Task, optional
        What is known of the environment.
    measured : bool
        Whether observations come as the task makes them; where a wrapper has changed them, units are left out.
    """
    from gymnasium import spaces

    if task is not None and isinstance(space, spaces.Discrete | spaces.Tuple):
        grid, number = task.grid, len(task.grid) or len(getattr(space, "spaces", ()))
        named = dict(map(split_unit, task.features(number)))
        kinds = {name: "binary" if unit == "0/1" else "integer" for name, unit in named.items()}
        if isinstance(space, spaces.Tuple) and named:
            return Layout(tuple(named), _vector, kinds)
        if named and prod(grid) == getattr(space, "n", None):
            return Layout(tuple(named), lambda seen: np.array(np.unravel_index(int(seen), grid), np.float64), kinds)
    plain = _flat(space, "")
    if len(plain.names) > MOST_FEATURES:
        raise ParameterError(_refusal(space, f"are {len(plain.names):,} numbers"))
    shape = getattr(space, "shape", None) or (len(plain.names),)
    known = () if task is None else task.features(int(shape[-1]))
    if len(plain.names) != len(known) * prod(shape[:-1]):
        return plain
    named = dict(map(split_unit, known))
    if len(shape) == 1 and measured:
        kinds = {name: "binary" for name, unit in named.items() if unit == "0/1"}
        return Layout(
            tuple(named), plain.read, kinds, {name: unit for name, unit in named.items() if name not in kinds}
        )
    # Of several frames, the newest is the last.
    ages = [f" {count(age, 'step')} ago" if age else "" for age in reversed(range(prod(shape[:-1])))]
    return Layout(tuple(f"{name}{age}" for age in ages for name in named), plain.read)


def layout_like(state: Any) -> Layout:
    """Return how states become features that a user's own function makes: numbers by name, or a vector of them."""
    if isinstance(state, Mapping):
        names = tuple(map(str, state))
        keys = tuple(state)

        def read(seen: Any) -> F64:
            return np.array([seen[key] for key in keys], np.float64)
    else:
        names = tuple(f"s{k}" for k in range(np.size(state)))
        read = _vector
    try:
        read(state)
    except (TypeError, ValueError):
        raise ParameterError(
            Message(
                "{} must return a vector of numbers, or numbers by name such as {{'height': 1.5}}; it returned {}.",
                Option("state"),
                _shown(state),
            )
        ) from None
    return Layout(names, read)


def _flat(space: Any, name: str) -> Layout:
    from gymnasium import spaces

    if isinstance(space, spaces.Box):
        if len(space.shape) > 2 or (len(space.shape) == 2 and space.dtype == np.uint8):
            raise ParameterError(_refusal(space, "are images"))
        return Layout(_indexed(name, space.shape), _vector)
    if isinstance(space, spaces.MultiBinary | spaces.MultiDiscrete):
        names = _indexed(name, space.shape)
        kind = "binary" if isinstance(space, spaces.MultiBinary) else "integer"
        return Layout(names, _vector, dict.fromkeys(names, kind))
    if isinstance(space, spaces.Discrete):
        name, first = name or "state", int(space.start)
        if 2 < space.n <= MOST_CATEGORIES:
            values = np.arange(first, first + space.n)
            names = tuple(f"{name} is {value}" for value in values)
            return Layout(names, lambda seen: (values == int(seen)).astype(np.float64), dict.fromkeys(names, "binary"))
        return Layout((name,), _vector, {name: "binary" if space.n == 2 and first == 0 else "integer"})
    if isinstance(space, spaces.Dict | spaces.Tuple):
        inside: Any = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        prefix = f"{name} " if name else ("" if isinstance(space, spaces.Dict) else "s")
        parts = [(key, _flat(part, f"{prefix}{key}")) for key, part in inside]
        return Layout(
            tuple(each for _, part in parts for each in part.names),
            lambda seen: np.concatenate([part.read(seen[key]) for key, part in parts]),
            {each: kind for _, part in parts for each, kind in part.kinds.items()},
        )
    raise ParameterError(_refusal(space, "are not numbers"))


def _vector(seen: Any) -> F64:
    # A copy: environments may write the next observation into the same array.
    return np.array(seen, np.float64).reshape(-1)


def _indexed(name: str, shape: Sequence[int]) -> tuple[str, ...]:
    """Return a name for each number of an array: the name itself if there is only one."""
    places = [" ".join(map(str, place)) for place in np.ndindex(*shape)]
    if name:
        return (name,) if len(places) == 1 else tuple(f"{name} {place}" for place in places)
    return tuple(f"s{place.replace(' ', '_')}" for place in places) if shape else ("s0",)


def _refusal(space: Any, why: str) -> Message:
    return Message(
        "Observations of this environment {} ({}), and a tree needs features that people can name. Type {} with a "
        "function of (observation, info) that returns such features; the agent still sees the observation. Or let the "
        "environment return them, as Atari games do with obs_type='ram'.",
        why,
        shortened(str(space), 60),
        Option("state", ...),
    )


class NonsenseError(ValueError):
    """What an agent returned cannot be an action; the text says what came and what to type."""


@dataclass(frozen=True)
class Moves:
    """What an agent may do: how actions are checked, and what a log calls them.

    Attributes
    ----------
    check : callable
        Takes what the agent returned, and returns it as the environment takes it, or raises NonsenseError.
    discrete : bool
        Whether a log has them as labels.
    names : tuple of str
        Names of the columns, where known.
    labels : mapping
        Labels by value, of all actions that are possible.
    units : mapping
        Units by name.
    levels : mapping
        Where the meaning of a number changes, and what it means, by name.
    aloud : str
        What the user should know about them.
    """

    check: Callable[[Any], Any]
    discrete: bool
    names: tuple[str, ...] = ()
    labels: Mapping[Any, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, tuple[float | str, ...]] = field(default_factory=dict)
    aloud: str = ""


def moves_of(space: Any, task: Task | None = None) -> Moves:
    """Return what may be done in an action space: Discrete, Box, MultiDiscrete or MultiBinary."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        values = range(int(space.start), int(space.start) + int(space.n))
        known = task is not None and len(task.actions) == len(values)
        labels = task.actions if task is not None and known else tuple(map(str, values))
        if len(values) > MAX_LABELS:
            raise ParameterError(f"A discrete action may have at most {MAX_LABELS:,} values; this one has {space.n:,}.")
        return Moves(_choice(values), True, labels=dict(zip(values, labels, strict=True)))
    if isinstance(space, spaces.Box) and space.dtype is not None:
        named = [split_unit(text) for text in task.actions] if task is not None else []
        if len(named) != prod(space.shape):
            named = []
        return Moves(
            _numbers(space),
            False,
            tuple(name for name, _ in named),
            units={name: unit for name, unit in named if unit},
            levels={} if task is None else {name: given for (name, _), given in zip(named, task.levels, strict=False)},
        )
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        sizes = np.reshape(getattr(space, "nvec", np.full(space.shape, 2)), -1)
        starts = np.reshape(getattr(space, "start", np.zeros(space.shape)), -1).astype(np.int64)
        choices = [range(first, first + size) for first, size in zip(starts.tolist(), sizes.tolist(), strict=True)]
        combinations = prod(map(len, choices))
        said = f"An action is {count(len(choices), 'choice')} at once, {count(combinations, 'combination')} in all"
        if combinations > MOST_COMBINATIONS:
            return Moves(_choices(space, choices), False, aloud=f"{said}: each choice is recorded as a number.")
        joint = [", ".join(map(str, values)) for values in product(*choices)]
        aloud = f"{said}: each is a label, such as `{joint[-1]}`."
        return Moves(_choices(space, choices), True, labels=dict(zip(joint, joint, strict=True)), aloud=aloud)
    raise ParameterError(
        "Actions must be Discrete, Box, MultiDiscrete or MultiBinary; this environment has "
        f"{shortened(str(space), 60)}. Wrap it so that an action is one of these."
    )


def _choice(values: range) -> Callable[[Any], Any]:
    wanted = f"a whole number from {values[0]} to {values[-1]}"

    def check(given: Any) -> int:
        array = _array(given, wanted)
        if array.size == len(values) > 1:
            raise NonsenseError(
                f"{_shown(given)}, which looks like one number for each action; expected {wanted}. Type "
                "int(np.argmax(...)) for the largest"
            )
        if array.size != 1 or array.reshape(-1)[0] not in values:
            raise NonsenseError(f"{_shown(given)}; expected {wanted}")
        return int(array.reshape(-1)[0])

    return check


def _choices(space: Any, choices: Sequence[range]) -> Callable[[Any], Any]:
    wanted = f"{count(len(choices), 'whole number')}, such as {[values[-1] for values in choices]}"

    def check(given: Any) -> Any:
        array = _array(given, wanted)
        if array.size != len(choices):
            raise NonsenseError(f"{_shown(given)}; expected {wanted}")
        for value, allowed in zip(array.reshape(-1).tolist(), choices, strict=True):
            if value not in allowed:
                raise NonsenseError(
                    f"{_shown(given)}; expected {wanted}, where {value} would be {allowed[0]} to {allowed[-1]}"
                )
        return array.reshape(space.shape).astype(space.dtype)

    return check


def _numbers(space: Any) -> Callable[[Any], Any]:
    number = prod(space.shape)
    wanted = count(number, "number")
    # A hair more than the limits: they are often reached in another precision.
    hair = 1e-5 * np.maximum(1, np.abs(np.where(np.isfinite(space.high), space.high, 0)))
    low, high = space.low.astype(np.float64) - hair, space.high.astype(np.float64) + hair

    def check(given: Any) -> Any:
        array = _array(given, wanted)
        if array.size != number:
            raise NonsenseError(f"{_shown(given)}; expected {wanted}")
        # A copy, since an agent may return the same array every time.
        action = np.array(array, space.dtype).reshape(space.shape)
        if not np.isfinite(action).all():
            raise NonsenseError(f"{_shown(given)}; expected {wanted}, all of them finite")
        if (action < low).any() or (action > high).any():
            raise NonsenseError(
                f"{_shown(given)}, which is outside of {shortened(str(space), 60)}. Type np.clip(action, "
                "env.action_space.low, env.action_space.high) if the environment would do so"
            )
        return action

    return check


def _array(given: Any, wanted: str) -> npt.NDArray[Any]:
    if given is None:
        raise NonsenseError(f"None; expected {wanted}. Let the function `return` its action")
    try:
        array = np.asarray(given)
    except (RuntimeError, TypeError, ValueError) as error:
        # PyTorch, for one, does not give away a tensor that still takes part in training.
        raise NonsenseError(f"{type(given).__name__}, which is no array: {str(error).splitlines()[0]}") from None
    if array.dtype.kind not in "biuf":
        raise NonsenseError(f"{_shown(given)}; expected {wanted}")
    return array


def _shown(given: Any) -> str:
    text = " ".join(repr(given).split())
    return shortened(text, 60)
