"""Python: a tree as one source file that needs nothing but Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tripletree import __version__
from tripletree.export.program import CLOSE, Part, Program, Trials, in_lines, program, trials
from tripletree.language.numbers import unit
from tripletree.model.fitted import Fitted
from tripletree.text import count

# Of names that users chose, only literals by repr get into the file: they hold no line break and no unseen character.


def to_python(fitted: Fitted, *, about: Any = None, leaf_model: Any = None) -> str:
    """Return a tree as a Python module: leaf(state), act(state), value(state), derivative(state), and a test of it.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str or None
        What it predicts, such as "action"; None: all that the tree knows.
    leaf_model : {"mean", "linear"} or None
        What leaves predict; None: as the tree itself.
    """
    made = program(fitted, about=about, leaf_model=leaf_model)
    tried = trials(fitted, about=about, leaf_model=leaf_model)
    return "\n".join([_head(made), _tables(made), _walk(made), *map(_function, made.parts), _test(made, tried)])


def _number(value: Any) -> str:
    number = float(value)
    return repr(number) if np.isfinite(number) else f'float("{number}")'


def _table(name: str, literals: Iterable[str], each: int = 6) -> str:
    body = in_lines(literals, each=each)
    return f"{name} = (\n{body}\n)\n" if body else f"{name} = ()\n"


def _head(made: Program) -> str:
    offered = ", ".join(["leaf", *(name for part in made.parts for name in _names(part))])
    return f'''\
"""Made by tripletree {__version__}: a tree of {count(len(made.centre), "leaf", "leaves")}.

A state is a sequence of numbers, one for each of FEATURES. Functions of a state: {offered}.
Run this file to test it.
"""
'''


def _names(part: Part) -> tuple[str, ...]:
    return ("act", "scores") if part.labels else ("act",) if part.kind == "action" else (part.kind,)


def _tables(made: Program) -> str:
    features = (feature.name + unit(feature.unit) for feature in made.schema.features)
    tables = [_table("FEATURES", map(repr, features), 1)]
    for part in made.parts:
        columns = map(repr, (name + unit(of) for name, of in zip(part.names, part.units, strict=True)))
        if part.kind != "value":
            tables.append(_table("LABELS" if part.labels else part.kind.upper(), columns, 1))
    tables += [
        "# Splits; left and right of each is another one, or -1 - leaf.\n"
        + _table("_FEATURE", map(str, made.feature.tolist())),
        _table("_THRESHOLD", map(_number, made.threshold)),
        _table("_CHILD", map(str, made.child.ravel().tolist())),
        "# Leaf by leaf, what each predicts.\n" + _table("_CENTRE", map(_number, made.centre.ravel())),
    ]
    if made.slopes is not None:
        terms = made.slopes.terms()
        tables += [
            _table("_ORIGIN", map(_number, made.slopes.origin.ravel())),
            _table("_LOW", map(_number, made.slopes.low.ravel())),
            _table("_HIGH", map(_number, made.slopes.high.ravel())),
            "# Slopes that are not 0; _BEGIN has where those of a leaf and target begin.\n"
            + _table("_BEGIN", map(str, terms.begin.tolist())),
            _table("_TERM", map(str, terms.feature.tolist())),
            _table("_SLOPE", map(_number, terms.slope)),
        ]
    return "".join(tables)


def _walk(made: Program) -> str:
    width, features = made.centre.shape[1], len(made.schema.features)
    found = f'''
def leaf(state):
    """Return the number of the leaf that a state falls in, from 0."""
    at = {made.start}
    while at >= 0:
        at = _CHILD[2 * at + (state[_FEATURE[at]] >= _THRESHOLD[at])]
    return -1 - at


def _predict(state, first, last):
    at = leaf(state)
'''
    if made.slopes is None:
        return f"{found}    return list(_CENTRE[at * {width} + first : at * {width} + last])\n"
    return f"""{found}    told = []
    for row in range(at * {width} + first, at * {width} + last):
        number = _CENTRE[row]
        for k in range(_BEGIN[row], _BEGIN[row + 1]):
            number += _SLOPE[k] * (state[_TERM[k]] - _ORIGIN[at * {features} + _TERM[k]])
        told.append(min(max(number, _LOW[row]), _HIGH[row]))
    return told
"""


def _function(part: Part) -> str:
    ask = f"_predict(state, {part.first}, {part.last})"
    if part.labels:
        return f'''
def scores(state):
    """Return how much speaks for each of LABELS."""
    return {ask}


def act(state):
    """Return the label of what is done in a state."""
    return LABELS[_best(scores(state))]


def _best(numbers):
    return numbers.index(max(numbers))
'''
    says = {
        "action": "what is done in a state: a number for each of ACTION",
        "value": "the discounted sum of the rewards to come",
        "derivative": "how the state changes: a number for each of DERIVATIVE",
    }[part.kind]
    only = "[0]" if part.kind == "value" else ""
    return f'''
def {_names(part)[0]}(state):
    """Return {says}."""
    return {ask}{only}
'''


def _test(made: Program, tried: Trials) -> str:
    rows = (
        f"(({''.join(f'{_number(x)}, ' for x in state)}), {leaf}, ({''.join(f'{_number(x)}, ' for x in told)}))"
        for state, leaf, told in zip(tried.states, tried.leaf.tolist(), tried.told, strict=True)
    )
    labels = [part for part in made.parts if part.labels]
    checks = "".join(
        f"            and act(state) == LABELS[_best(told[{part.first}:{part.last}])]\n" for part in labels
    )
    width = made.centre.shape[1]
    return f'''

def _test():
    """Return how many states are not as the tree has them, of how many."""
    tried = (
{in_lines(rows, " " * 8, 1)}
    )
    failures = 0
    for state, number, told in tried:
        near = all(abs(a - b) <= {CLOSE} * max(1, abs(b)) for a, b in zip(_predict(state, 0, {width}), told))
        right = (
            near
            and leaf(state) == number
{checks}        )
        failures += not right
    return failures, len(tried)


if __name__ == "__main__":
    failures, tried = _test()
    print(f"{{tried - failures}} of {{tried}} states as in the tree")
    raise SystemExit(1 if failures else 0)
'''
