"""Requirements beside rtamt, the usual library for signal temporal logic: random formulas on random episodes."""

from __future__ import annotations

import math
import sys
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.questions.formulas import formulas, make
from tripletree.language.formula import Comparison, Joined, Opposite, Until, parts_of
from tripletree.questions.robustness import Places, Scale, bounds

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 13), reason="rtamt needs typing.io, which Python 3.13 has not")


@pytest.fixture(scope="module")
def rtamt(need):
    with warnings.catch_warnings():
        # Its parser imports typing.io, which is deprecated since Python 3.8.
        warnings.simplefilter("ignore", DeprecationWarning)
        return need("rtamt")


def written(formula) -> str:
    """Return a formula in the words of rtamt."""
    if isinstance(formula, Comparison):
        if formula.sign == "!=":
            return f"(not ({formula.name} == {formula.number}))"
        sign = "==" if formula.sign == "=" else formula.sign
        return f"({formula.name} {sign} {formula.number})"
    if isinstance(formula, Opposite):
        return f"(not {written(formula.part)})"
    if isinstance(formula, Joined):
        return f"({(' and ' if formula.every else ' or ').join(map(written, formula.parts))})"
    window = formula.window
    seen = "" if math.isinf(window.high) else f"[{window.low:.0f}:{window.high:.0f}]"
    if isinstance(formula, Until):
        return f"({written(formula.left)} until{seen} {written(formula.right)})"
    return f"({formula.operator}{seen} {written(formula.part)})"


def understood(formula) -> bool:
    """Whether rtamt has a word for it: it has no window that begins later and never ends, and no first or last step."""
    window = getattr(formula, "window", None)
    endless = window is not None and math.isinf(window.high) and window.low > 0
    moment = getattr(formula, "operator", "") in ("initially", "ends")
    return not endless and not moment and all(map(understood, parts_of(formula)))


@given(
    formulas(actions=False),
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12),
)
@settings(max_examples=300, deadline=None)
def test_margins_are_those_of_rtamt(rtamt, formula, numbers):
    assume(understood(formula))
    a, b = (np.array(column, float) for column in zip(*numbers, strict=True))
    n = len(a)
    specification = rtamt.StlDiscreteTimeSpecification()
    for name in ("a", "b"):
        specification.declare_var(name, "float")
    specification.spec = written(formula)
    specification.parse()
    theirs = specification.evaluate({"time": list(range(n)), "a": a.tolist(), "b": b.tolist()})
    # An episode that ended by itself: what rtamt takes every signal for.
    log = make(np.column_stack([a, b, 0 * a]), [0] * n, [0] * n, [n], [[np.nan] * 3], [1])
    ours = bounds(Places(log), formula, Scale("", None)).low[:n]
    assert [margin for _, margin in theirs] == pytest.approx(ours.tolist(), abs=1e-300)
