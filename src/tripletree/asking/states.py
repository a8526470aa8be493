"""Reads the states of a question, in whatever form they come, into an array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, is_number, listing
from tripletree.errors import ParameterError
from tripletree.language.parser import read_expression
from tripletree.language.tokens import quoted
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option, count

F64 = npt.NDArray[np.float64]


LARGEST = 1e100
"""Larger numbers are refused where distances are measured: their squares would overflow."""


def read_states(states: Any, schema: Schema, name: str = "states") -> tuple[F64, bool]:
    """Return the states as a float64 array of shape (states, features), and whether it was a single one.

    Parameters
    ----------
    states : array, sequence, mapping, table or text
        One state of shape (features,), several of shape (states, features), or columns by feature name: a dict of
        numbers or sequences, or a DataFrame (columns that are no features are left aside). Text is one state:
        ``"pos = 1.2, speed = 0.03"`` or ``"1.2, 0.03"``.
    schema : Schema
        The features of the tree.
    name : str
        The argument's name.
    """
    names = [feature.name for feature in schema.features]
    if isinstance(states, str):
        states = _written(states, schema, name)
    if isinstance(states, Mapping) or hasattr(states, "columns"):
        array = _by_name(_categories(states, schema, name), names, name)
    else:
        array = _numbers(states, name)
        n = len(names)
        if array.ndim not in (1, 2) or array.shape[-1] != n:
            raise ParameterError(
                Message(
                    "{} must have {} ({}): shape ({},) for one state or (n, {}) for several; got shape {}.",
                    Option(name),
                    count(n, "feature"),
                    listing(names),
                    n,
                    n,
                    array.shape,
                )
            )
    single = array.ndim == 1
    array = np.ascontiguousarray(np.atleast_2d(array))
    missing = np.argwhere(np.isnan(array))
    if len(missing):
        row, feature = missing[0]
        where = "" if single else f" of state {row}"
        raise ParameterError(
            Message("{} must hold numbers only; feature `{}`{} is NaN.", Option(name), names[feature], where)
        )
    return array, single


def _written(text: str, schema: Schema, name: str) -> Any:
    states = read_expression(text, schema, name, state=True)
    if isinstance(states, list) or (isinstance(states, dict) and all(map(is_number, states.values()))):
        return states
    example = ", ".join(f"{quoted(feature)} = 0" for feature in schema.feature_names)
    raise ParameterError(
        Message(
            "{} must have one number for each feature; got {!r}. Try {}.", Option(name), text, Option(name, example)
        )
    )


@dataclass(frozen=True)
class Written:
    """A state that was written as text, for the question that it is passed on to: see `complete`."""

    state: Any
    assumed: dict[str, float]


def complete(state: Any, fitted: Fitted, name: str = "state") -> Written:
    """Return a state with the features that its text does not name, which are the training log's medians.

    Parameters
    ----------
    state : any
        Text, what this function returned, or a state in another form, which has to be whole by itself.
    fitted : Fitted
        The tree.
    name : str
        The argument's name.
    """
    if isinstance(state, Written):
        return state
    if not isinstance(state, str):
        return Written(state, {})
    given, medians = _written(state, fitted.schema, name), fitted.medians
    assumed: dict[str, float] = {}
    if isinstance(given, dict) and medians is not None:
        known = zip(fitted.schema.feature_names, medians.tolist(), strict=True)
        assumed = {feature: median for feature, median in known if feature not in given}
        given |= assumed
    return Written(read_state(given, fitted.schema, name, finite=False), assumed)


def read_state(state: Any, schema: Schema, name: str = "state", *, finite: bool = True) -> F64:
    """Return one state as a float64 array of shape (features,).

    Parameters
    ----------
    state : array, sequence, mapping or text
        As in :func:`read_states`.
    schema : Schema
        The features of the tree.
    name : str
        The argument's name.
    finite : bool
        Whether infinite numbers are refused: where distances are measured they must be.
    """
    # The usual case goes first, because questions about one state are asked many times.
    if type(state) is np.ndarray and state.dtype == np.float64 and state.shape == (len(schema.features),):
        array = state.copy()
    else:
        states, single = read_states(state, schema, name)
        if not single:
            raise ParameterError(
                Message("{} must be one state; got {} of them. Ask for each in turn.", Option(name), len(states))
            )
        array = states[0]
    good = np.abs(array) <= LARGEST
    if finite and not good.all():
        bad = int(np.flatnonzero(~good)[0])
        _refuse(name, schema.features[bad].name, "", array[bad])
    return array


def read_finite_states(states: Any, schema: Schema, name: str = "states") -> F64:
    """Return several finite states, shape (states, features); one alone becomes the only row."""
    return finite_states(states, schema, name)[0]


def finite_states(states: Any, schema: Schema, name: str = "states") -> tuple[F64, bool]:
    """Return states that distances can be measured to, as :func:`read_states` does."""
    array, single = read_states(states, schema, name)
    bad = np.argwhere(~(np.abs(array) <= LARGEST))
    if len(bad):
        row, f = bad[0]
        _refuse(name, schema.features[f].name, "" if single else f" of state {row}", array[row, f])
    return array, single


def _refuse(name: str, feature: str, where: str, number: float) -> NoReturn:
    raise ParameterError(
        Message(
            "{} must hold finite numbers only, none beyond 1e100; feature `{}`{} is {}.",
            Option(name),
            feature,
            where,
            number,
        )
    )


def _categories(states: Any, schema: Schema, name: str) -> Any:
    """Return states by name with a number for each category, where they name the column that has them."""
    given = list(states if isinstance(states, Mapping) else states.columns)
    columns = {column: known for column, known in schema.columns.items() if known and column in given}
    if not columns:
        return states
    expanded = {column: states[column] for column in given if column not in columns}
    for column, known in columns.items():
        texts = np.asarray(states[column], object)
        strange = next((str(text) for text in texts.ravel().tolist() if str(text) not in known), None)
        if strange is not None:
            hint = did_you_mean(strange, known)
            raise ParameterError(
                Message("{} has {} = {!r}; it may be {}.{}", Option(name), column, strange, listing(known, 12), hint)
            )
        for category in known:
            found = [str(text) == category for text in texts.ravel().tolist()]
            expanded[f"{column} is {category}"] = np.reshape(found, texts.shape).astype(np.float64)
    return expanded


def _by_name(states: Any, names: list[str], name: str) -> F64:
    given = [str(column) for column in (states if isinstance(states, Mapping) else states.columns)]
    for feature in names:
        if feature not in given:
            # What was written instead is the user's word; what to write is the feature's name.
            meant = any(did_you_mean(word, [feature]) for word in given if word not in names)
            hint = f" Did you mean `{feature}`?" if meant else ""
            raise ParameterError(
                Message("{} must have the feature `{}`; got {}.{}", Option(name), feature, listing(given), hint)
            )
    columns = [_numbers(states[feature], f"feature `{feature}`") for feature in names]
    shapes = {column.shape for column in columns}
    if len(shapes) > 1 or columns[0].ndim > 1:
        lengths = ", ".join(f"`{feature}` {column.shape}" for feature, column in zip(names, columns, strict=True))
        raise ParameterError(f"All features must be numbers, or columns of one length; got the shapes {lengths}.")
    return np.stack(columns, axis=-1)


def _numbers(values: Any, what: str) -> F64:
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ParameterError(
        Message(
            "{} must be numbers; got a {} that does not turn into an array of them.",
            Option(what),
            type(values).__name__,
        )
    )
