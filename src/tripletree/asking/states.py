"""Reads the states of a question, in whatever form they come, into an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, is_number, listing
from tripletree.errors import ParameterError
from tripletree.language.parser import read_expression
from tripletree.language.tokens import quoted
from tripletree.log.schema import Schema

F64 = npt.NDArray[np.float64]


LARGEST = 1e100
"""Larger numbers are refused where distances are measured: their squares would overflow."""

_FINITE = "must hold finite numbers only, none beyond 1e100"


def read_states(states: Any, schema: Schema) -> tuple[F64, bool]:
    """Return the states as a float64 array of shape (states, features), and whether it was a single one.

    Parameters
    ----------
    states : array, sequence, mapping, table or text
        One state of shape (features,), several of shape (states, features), or columns by feature name: a dict of
        numbers or sequences, or a DataFrame (columns that are no features are left aside). Text is one state:
        ``"pos = 1.2, speed = 0.03"`` or ``"1.2, 0.03"``.
    schema : Schema
        The features of the tree.
    """
    names = [feature.name for feature in schema.features]
    if isinstance(states, str):
        states = _written(states, schema)
    if isinstance(states, Mapping) or hasattr(states, "columns"):
        array = _by_name(states, names)
    else:
        array = _numbers(states, "states")
        if array.ndim not in (1, 2) or array.shape[-1] != len(names):
            raise ParameterError(
                f"states must have {len(names)} features ({listing(names)}): shape ({len(names)},) for one state or "
                f"(n, {len(names)}) for several; got shape {array.shape}."
            )
    single = array.ndim == 1
    array = np.ascontiguousarray(np.atleast_2d(array))
    missing = np.argwhere(np.isnan(array))
    if len(missing):
        row, feature = missing[0]
        where = "" if single else f" of state {row}"
        raise ParameterError(f"states must hold numbers only; feature `{names[feature]}`{where} is NaN.")
    return array, single


def _written(text: str, schema: Schema) -> Any:
    states = read_expression(text, schema, "The state")
    if isinstance(states, list) or (isinstance(states, dict) and all(map(is_number, states.values()))):
        return states
    example = ", ".join(f"{quoted(name)} = 0" for name in schema.feature_names)
    raise ParameterError(f"A state has one number for each feature; got {text!r}. Try {example!r}.")


def read_state(state: Any, schema: Schema, name: str = "state", *, finite: bool = True) -> F64:
    """Return one state as a float64 array of shape (features,).

    Parameters
    ----------
    state : array, sequence, mapping or text
        As in :func:`read_states`.
    schema : Schema
        The features of the tree.
    name : str
        What messages call it.
    finite : bool
        Whether infinite numbers are refused: where distances are measured they must be.
    """
    # The usual case goes first, because questions about one state are asked many times.
    if type(state) is np.ndarray and state.dtype == np.float64 and state.shape == (len(schema.features),):
        array = state.copy()
    else:
        states, single = read_states(state, schema)
        if not single:
            raise ParameterError(f"{name} must be one state; got {len(states)} of them. Ask for each in turn.")
        array = states[0]
    good = np.abs(array) <= LARGEST
    if finite and not good.all():
        bad = int(np.flatnonzero(~good)[0])
        raise ParameterError(f"{name} {_FINITE}; feature `{schema.features[bad].name}` is {array[bad]}.")
    return array


def read_finite_states(states: Any, schema: Schema, name: str = "states") -> F64:
    """Return several finite states, shape (states, features); one alone becomes the only row."""
    array, _ = read_states(states, schema)
    bad = np.argwhere(~(np.abs(array) <= LARGEST))
    if len(bad):
        row, f = bad[0]
        raise ParameterError(
            f"{name} {_FINITE}; feature `{schema.features[f].name}` of state {row} is {array[row, f]}."
        )
    return array


def _by_name(states: Any, names: list[str]) -> F64:
    given = [str(name) for name in (states if isinstance(states, Mapping) else states.columns)]
    for name in names:
        if name not in given:
            raise ParameterError(
                f"states lack the feature `{name}`; got {listing(given)}.{did_you_mean(name, set(given) - set(names))}"
            )
    columns = [_numbers(states[name], f"feature `{name}`") for name in names]
    shapes = {column.shape for column in columns}
    if len(shapes) > 1 or columns[0].ndim > 1:
        lengths = ", ".join(f"`{name}` {column.shape}" for name, column in zip(names, columns, strict=True))
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
        f"{what} must be numbers; got a {type(values).__name__} that does not turn into an array of them."
    )
