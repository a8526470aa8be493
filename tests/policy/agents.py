"""Agents that need no training, and trees grown on what they do."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np

from tripletree import Log, TripleTree, TripleTreeWarning, record
from tripletree.demos import road


def balance(state):
    """Keep the pole of CartPole upright, for 500 steps."""
    return int(state[2] + state[3] + 0.1 * state[0] + 0.2 * state[1] > 0)


def swing(state):
    """Damp Pendulum, which is enough for actions of all sizes."""
    return np.clip([-2.0 * state[1] - 0.5 * state[2]], -2, 2)


def drive(state):
    """Drive to the left wall of the road."""
    return road.solve(road.VARIANTS["left"]).act(state)


def grown(log: Log, leaves: int = 30, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(leaves, **options).fit(log).fitted_


@cache
def poles(leaves: int = 30, **options):
    """A log of CartPole and a tree on it."""
    log = record("CartPole-v1", balance, episodes=4)
    return log, grown(log, leaves, **options)


@cache
def pendulums(leaves: int = 30):
    log = record("Pendulum-v1", swing, episodes=4)
    return log, grown(log, leaves)


@cache
def roads(leaves: int = 30):
    """A log of the road whose labels are numbers that the environment does not take."""
    log = road.record("left", n_samples=1_500)
    return log, grown(log, leaves)
