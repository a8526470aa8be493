"""Movement: what one pass over a log says about how it moves on a tree, and how far that can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from tripletree.graph.markov import MarkovCheck, check_markov
from tripletree.graph.transitions import Transitions, count_sequences, leaves_of
from tripletree.log.log import Log
from tripletree.tree.arrays import Tree


@dataclass(frozen=True, eq=False)
class Movement:
    """Transitions of a log, and the check of the chain that they make."""

    transitions: Transitions
    markov: MarkovCheck


def observe(tree: Tree, log: Log, threads: int = 1) -> Movement:
    """Count the transitions of ``log`` on ``tree`` and check the chain."""
    leaf, final = leaves_of(tree, log, threads)
    transitions = count_sequences(tree.n_leaves, leaf, final, log)
    return Movement(transitions, check_markov(transitions, leaf, final, log))
