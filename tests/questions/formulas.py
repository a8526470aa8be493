"""Requirements by their definition: a slow evaluator, one step and one comparison at a time, and random ones."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from tripletree import Log
from tripletree.language.formula import Choice, Comparison, Joined, Opposite, Timed, Until, Window
from tripletree.language.tokens import Token
from tripletree.log.log import TERMINATED

HERE = Token("word", "", 0, 1)
SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne}


class Slow:
    """One episode, judged by the definition of signal temporal logic, with anything possible beyond an open end.

    A margin is a pair (number, whether it is met), so that nothing hangs on rounding; pairs compare like numbers.
    """

    def __init__(self, log: Log, as_recorded: bool = False) -> None:
        assert log.n_episodes == 1
        self.log = log
        self.open = log.endings[0] != TERMINATED and not as_recorded
        self.known = not np.isnan(log.final_states[0, 0])

    def final(self, formula) -> bool:
        """Whether the final state counts."""
        if isinstance(formula, Comparison):
            return formula.whole or formula.name in self.log.schema.feature_names
        if isinstance(formula, Choice):
            return False
        if isinstance(formula, Joined):
            return all(map(self.final, formula.parts))
        if isinstance(formula, Until):
            return self.final(formula.left) and self.final(formula.right)
        return self.final(formula.part)

    def last(self, formula) -> int:
        return self.log.n_samples - 1 + (self.known and self.final(formula))

    def time(self, place: int) -> Fraction:
        return sum(map(Fraction, self.log.dt[:place].tolist()), Fraction(0))

    def seen(self, window: Window, place: int, last: int, back: bool = False) -> tuple[list[int], bool]:
        """Return the places in a window, and whether there may be more of them."""
        if window.seconds:

            def away(j: int) -> Fraction:
                return self.time(j) - self.time(place)
        else:

            def away(j: int) -> Fraction:
                return Fraction(j - place)

        sign = -1 if back else 1
        here = [j for j in range(last + 1) if sign * (j - place) >= 0 and window.low <= sign * away(j) <= window.high]
        if back or not self.open:
            return here, False
        # The next one is a step away; after the final state its time is not known.
        if window.seconds:
            later = away(last + 1) if last < self.log.n_samples else away(last) + Fraction(1, 10**9)
        else:
            later = away(last + 1)
        return here, later <= window.high

    def margin(self, formula, place: int, best: bool) -> tuple[float, bool]:
        """Return the least margin (or the ``best``) at a place."""
        least, most = (-math.inf, False), (math.inf, True)
        if isinstance(formula, Comparison) and formula.whole:
            n = self.log.n_samples
            numbers = [n] if formula.name == "length" else [float(self.log.rewards.sum())]
            if self.open and formula.name == "return":
                return most if best else least
            # As it may turn out: soon, or so late that nothing is far from it.
            later = [*range(n, n + 20), math.inf] if self.open else numbers
            found = []
            for number in later:
                held = bool(SIGNS[formula.sign](number, formula.number))
                distance = abs(number - formula.number)
                found.append((distance if held else -distance, held))
            return (max if best else min)(found)
        if isinstance(formula, Comparison):
            names = self.log.schema.feature_names
            if formula.name in names:
                f = names.index(formula.name)
                states = [*self.log.states[:, f].tolist(), float(self.log.final_states[0, f])]
                number = states[place]
            else:
                number = float(self.log.rewards[place])
            distance = abs(number - formula.number)
            if formula.name in names and self.log.schema.features[names.index(formula.name)].kind == "binary":
                distance = math.inf
            held = bool(SIGNS[formula.sign](number, formula.number))
            return (distance if held else -distance), held
        if isinstance(formula, Choice):
            label = self.log.schema.action.labels[int(self.log.actions[place])]
            return most if label in formula.labels else least
        if isinstance(formula, Opposite):
            number, held = self.margin(formula.part, place, not best)
            return -number, not held
        if isinstance(formula, Joined):
            return (min if formula.every else max)(self.margin(part, place, best) for part in formula.parts)
        last = self.last(formula)
        if isinstance(formula, Until):
            here, more = self.seen(formula.window, place, last)
            ways = [
                min(
                    [
                        self.margin(formula.right, j, best),
                        *(self.margin(formula.left, k, best) for k in range(place, j)),
                    ]
                )
                for j in here
            ]
            if more and best:
                ways.append(min([most, *(self.margin(formula.left, k, best) for k in range(place, last + 1))]))
            return max([least, *ways])
        if formula.operator == "initially":
            return self.margin(formula.part, 0, best)
        if formula.operator == "ends":
            return (most if best else least) if self.open else self.margin(formula.part, last, best)
        here, more = self.seen(formula.window, place, last, formula.operator in ("historically", "once"))
        found = [self.margin(formula.part, j, best) for j in here]
        if formula.operator in ("always", "historically"):
            return min([most, *found, *([least] if more and not best else [])])
        return max([least, *found, *([most] if more and best else [])])


def formulas(seconds: bool = False, past: bool = True, actions: bool = True, most: int = 6):
    """Return random formulas about features a and b, the yes-or-no feature c, the reward, and the action."""
    numbers = st.integers(-2, 2).map(float)
    signs = st.sampled_from(sorted(SIGNS))
    kinds = [
        st.builds(
            lambda name, sign, number: Comparison(name, sign, number, HERE), st.sampled_from("ab"), signs, numbers
        )
    ]
    if actions:
        kinds += [
            st.builds(lambda number: Comparison("c", "=", number, HERE), st.sampled_from([0.0, 1.0])),
            st.builds(lambda sign, number: Comparison("reward", sign, number, HERE), signs, numbers),
            st.builds(
                lambda name, sign, number: Comparison(name, sign, number, HERE, True),
                st.sampled_from(["return", "length"]),
                signs,
                st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0, 4.5, 6.0]),
            ),
            st.builds(lambda label: Choice("action", (label,), HERE), st.sampled_from(["left", "right"])),
        ]
    steps = st.builds(lambda low, more: Window(float(low), float(low + more)), st.integers(0, 4), st.integers(0, 5))
    windows = st.one_of(st.just(Window()), steps, st.builds(lambda low: Window(float(low)), st.integers(0, 4)))
    if seconds:
        halves = st.builds(
            lambda low, more: Window(low / 2, (low + more) / 2, True), st.integers(0, 8), st.integers(0, 9)
        )
        windows = st.one_of(windows, halves)
    operators = ["always", "eventually"] + (["historically", "once", "initially", "ends"] if past else [])

    def timed(operator, part, window):
        return Timed(operator, part, Window() if operator in ("initially", "ends") else window)

    def deeper(part):
        return st.one_of(
            st.builds(
                lambda every, parts: Joined(every, tuple(parts)), st.booleans(), st.lists(part, min_size=2, max_size=3)
            ),
            st.builds(Opposite, part),
            st.builds(timed, st.sampled_from(operators), part, windows),
            st.builds(Until, part, part, windows),
        )

    return st.recursive(st.one_of(kinds), deeper, max_leaves=most)


@st.composite
def logs(draw, episodes: int = 3, seconds: bool = False, longest: int = 8):
    """Return random logs with whole numbers, so that ties are common; some without final states, some cut off."""
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=episodes))
    n = sum(lengths)
    column = st.lists(st.integers(-2, 2), min_size=n, max_size=n)
    a, b, reward = (draw(column) for _ in range(3))
    c, action = (draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)) for _ in range(2))
    finals = np.array(
        [[*draw(st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(0, 1)))] for _ in lengths], float
    )
    finals[~np.array(draw(st.lists(st.booleans(), min_size=len(lengths), max_size=len(lengths))))] = np.nan
    return make(
        np.column_stack([a, b, c]).astype(float),
        action,
        reward,
        lengths,
        finals,
        draw(st.lists(st.integers(0, 2), min_size=len(lengths), max_size=len(lengths))),
        draw(st.lists(st.sampled_from([0.5, 1.0, 1.5]), min_size=n, max_size=n)) if seconds else None,
    )


def make(states, action, reward, lengths, finals, endings, dt=None) -> Log:
    """Return a log of features a, b and c (yes or no)."""
    from tripletree import Action, Feature, Schema

    schema = Schema(
        (Feature("a"), Feature("b"), Feature("c", kind="binary")),
        Action("discrete", labels=("left", "right")),
        per_second=dt is not None,
    )
    starts = np.append(0, np.cumsum(lengths))
    return Log(
        np.asarray(states, float),
        np.asarray(action, np.int32),
        np.asarray(reward, float),
        starts,
        np.asarray(finals, float),
        np.asarray(endings, np.uint8),
        np.arange(len(lengths)),
        schema,
        dt=None if dt is None else np.asarray(dt, float),
    )
