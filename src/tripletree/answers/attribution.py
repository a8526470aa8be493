"""Attribution: how much each feature contributed to a prediction, and the sentence that tells the main ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.conditions import clause
from tripletree.language.numbers import all_of, capital, exact, spread_places, unit, within_range
from tripletree.log.schema import Schema
from tripletree.text import count

F64 = npt.NDArray[np.float64]

MOST_TOLD = 3
"""Features that a sentence about one state tells one by one; what the others add is summed up."""
MOST_RANKED = 5
"""Features that a line about several states tells one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(Answer):
    """How much each feature contributed to what the tree predicts in one or several states: exact Shapley values.

    The contributions to a prediction add up to its difference from ``base``. For a single state the first axis of every
    array is gone; the last one is there only where a question is about several numbers, such as all dimensions of an
    action.

    Attributes
    ----------
    about : str
        What was asked about.
    method : {"path", "background"}
        What stands in for features that are not told: the samples along each path, or states of a background.
    names, units : tuples of str
        What sentences call each column, and the unit of its numbers.
    labels : str, array of str, or None
        Of a discrete action, the label whose score is attributed: the predicted one, or the one that was asked about.
    contributions : float64 array of shape (states, features, columns)
        How much each feature added.
    base, prediction : float64 arrays of shape (states, columns)
        What the tree predicts on average, and in these states.
    states : float64 array of shape (states, features)
        The states.
    spans : float64 array of shape (features,)
        Range of each feature over the training log.
    named : bool
        Whether the question named a label.
    scored : bool
        Whether labels have scores, from linear leaves, rather than shares of samples.
    background : int
        States in the background; 0 without one.
    schema : Schema
        Names of features and actions.
    """

    about: str
    method: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    labels: Any
    contributions: F64
    base: Any
    prediction: Any
    states: F64
    spans: F64
    named: bool
    scored: bool
    background: int
    schema: Schema

    @property
    def single(self) -> bool:
        """Whether this is about one state."""
        return self.states.ndim == 1

    def column(self, k: int = 0) -> tuple[F64, Any, Any]:
        """Return contributions, base and prediction of one column, whatever their shape."""
        several = self.contributions.ndim > self.states.ndim
        parts = (self.contributions, np.asarray(self.base), np.asarray(self.prediction))
        found = tuple(part[..., k] if several else part for part in parts)
        return found[0], found[1], found[2]

    @property
    def importance(self) -> F64:
        """Mean absolute contribution of each feature over the states, shape (features, columns) or (features,)."""
        size = np.abs(self.contributions)
        return size if self.single else np.asarray(size.mean(axis=0))

    def __str__(self) -> str:
        tell = _one_state if self.single else _several_states
        return "\n".join(tell(self, k) for k in range(len(self.names))) + self._assumption(self.schema)


def what(answer: Attribution, k: int = 0) -> str:
    """Return "main engine", or "the score of action = left": what contributions are to."""
    if answer.labels is None:
        return answer.names[k]
    kind = "score" if answer.scored else "share"
    if answer.single or answer.named:
        return f"the {kind} of action = {answer.labels if answer.single else answer.labels[0]}"
    return f"the {kind} of the predicted action"


def feature_value(answer: Attribution, f: int) -> str:
    """Return what a feature is in the state: "v_y = -0.6 m/s", or "left leg in contact"."""
    feature, number = answer.schema.features[f], float(answer.states[f])
    if feature.kind == "binary" and number in (0, 1):
        return clause(feature, number - 0.5, number + 0.5)
    return f"{feature.name} = {exact(within_range(number, float(answer.spans[f])))}{unit(feature.unit)}"


def places_of(numbers: F64) -> int:
    """Return to how many decimal places contributions are told: two digits of the largest."""
    places = spread_places(float(np.abs(numbers).max(initial=0.0)))
    return 2 if places is None else places


def signed(number: float, places: int) -> str:
    """Return "+0.31" or "-0.12"."""
    short = round(number, places) + 0.0
    return exact(short) if short <= 0 else f"+{exact(short)}"


def main_features(parts: F64, most: int) -> tuple[list[int], list[int]]:
    """Return the features that contributed most, in order, and the others that contributed anything."""
    order = [f for f in np.argsort(-np.abs(parts), kind="stable").tolist() if parts[f] != 0]
    # A last feature is told rather than summed up: that takes no more words.
    shown = order if len(order) <= most + 1 else order[:most]
    return shown, order[len(shown) :]


def _one_state(answer: Attribution, k: int) -> str:
    parts, base, prediction = answer.column(k)
    places, of = places_of(parts), unit(answer.units[k])
    told, usual = (exact(round(float(number), places) + 0.0) for number in (prediction, base))
    name = answer.names[k]
    if answer.labels is None:
        head = f"{capital(name)} = {told}{of}"
    elif answer.named:
        head = f"The {what(answer).removeprefix('the ')} is {told}"
    else:
        head = f"Action = {answer.labels}{of} with a {'score' if answer.scored else 'share'} of {told}"
    if not parts.any():
        return f"{head}, as everywhere: no feature makes a difference to it in this tree."
    shown, others = main_features(parts, MOST_TOLD)
    rest = float(parts[others].sum())
    # What does not show at this many digits is no reason to tell.
    shown = [f for f in shown if round(float(parts[f]), places) != 0]
    one = {f: f"{feature_value(answer, f)} ({signed(float(parts[f]), places)})" for f in shown}
    side = np.sign(float(prediction) - float(base))
    for_it = [f for f in shown if np.sign(parts[f]) == side]
    against = [one[f] for f in shown if f not in for_it]
    tail = f" The other {len(others)} features together: {signed(rest, places)}." if others else ""
    if told == usual or not for_it:
        return f"{head} ({usual}{of} on average): {all_of(list(one.values()))}.{tail}"
    pushing, told_of = (float(np.abs(part).sum()) for part in (parts[np.sign(parts) == side], parts[for_it]))
    how = "" if told_of == pushing else "mostly " if 2 * told_of >= pushing else "partly "
    because = f"{how}because {all_of([one[f] for f in for_it])}"
    despite = f", in spite of {all_of(against)}" if against else ""
    return f"{head} ({usual}{of} on average), {because}{despite}.{tail}"


def _several_states(answer: Attribution, k: int) -> str:
    parts = answer.column(k)[0]
    size = np.abs(parts).mean(axis=0) if len(parts) else np.zeros(parts.shape[1])
    head = f"Contributions to {what(answer, k)}, mean size over {count(len(parts), 'state')}"
    if not size.any():
        return f"{head}: none. No feature makes a difference to it in this tree."
    shown, others = main_features(size, MOST_RANKED)
    places, of = places_of(size), unit(answer.units[k])
    told = [f"{answer.schema.features[f].name} {exact(round(float(size[f]), places))}" for f in shown]
    if others:
        # Of their sum, in which they may cancel: as one of the others would be told.
        rest = float(np.abs(parts[:, others].sum(axis=1)).mean())
        told.append(f"{len(others)} others together {exact(round(rest, places))}")
    return f"{head}: {', '.join(told)}{of}."
