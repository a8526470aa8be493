"""Trees with their logs, to be told of in reports."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np

from tests.logs import make_log, random_log
from tripletree import Log, TripleTree, TripleTreeWarning
from tripletree.demos import lander, road


def fitted(log: Log, leaves: int, **options) -> tuple[TripleTree, Log]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(leaves, **options).fit(log), log


@cache
def of_road():
    """Two features and discrete actions."""
    return fitted(road.record("either", n_samples=3_000), 80)


@cache
def of_lander():
    """Eight features, two of them flags, and continuous actions."""
    return fitted(lander.log().select(range(25)), 60)


@cache
def of_a_hostile_log():
    """Names that would be markup if they were not escaped."""
    states = [[i * 0.37 % 1, i % 2, i % 5] for i in range(60)]
    log = make_log(
        states,
        [int(s[2] > 2) + int(s[1] > 0) for s in states],
        [s[0] + s[2] for s in states],
        labels=("<b>a</b>", "b&amp;", "</script>"),
        names=("<script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "\"quoted\" 'name'"),
        kinds=("real", "binary", "integer"),
    )
    return fitted(log, 12)


@cache
def of_one_feature():
    """One feature and one episode."""
    return fitted(random_log(3, lengths=(40,), features=1, labels=2), 6)


@cache
def of_many_features():
    """Twenty features and three action dimensions."""
    return fitted(random_log(5, lengths=(60, 50, 40, 30, 20, 10), features=20, dimensions=3), 30)


@cache
def of_a_rhythm():
    """Two features that go around, and a push in half of the cycle."""
    step = np.arange(900)
    phase = 2 * np.pi * (step % 150) / 25
    states = np.stack([np.cos(phase), np.sin(phase)], axis=1)
    push = np.where(states[:, 1] > 0, 1.0, -1.0)
    return fitted(make_log(states, push, states[:, 0], range(0, 901, 150), names=("x", "y")), 12)


@cache
def of_one_leaf():
    """A tree that knows nothing."""
    return fitted(random_log(5, lengths=(20, 20), features=2), 1)


REPORTS = {
    "road": of_road,
    "lander": of_lander,
    "hostile": of_a_hostile_log,
    "one-feature": of_one_feature,
    "many-features": of_many_features,
    "one-leaf": of_one_leaf,
}
