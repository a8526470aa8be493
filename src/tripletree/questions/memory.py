"""Whether the state determines the action or the agent remembers, and whether it changes within the log."""

from __future__ import annotations

from tripletree.answers.memory import Drift, Memory
from tripletree.log.drifting import drifting
from tripletree.log.log import Log
from tripletree.log.remembering import Evidence, remembering


def memory(log: Log, seed: int, quick: bool) -> Memory:
    """Return whether what the agent does depends on what came before."""
    return told(remembering(log, quick, seed), log)


def told(evidence: Evidence | None, log: Log) -> Memory:
    """Return the same from what was found in the log."""
    return Memory.of(evidence, log.n_episodes, log.n_samples, log.schema)


def drift(log: Log, seed: int, quick: bool) -> Drift:
    """Return whether the agent changes from early to late episodes, or from group to group."""
    return Drift.of(drifting(log, quick, seed), log.n_episodes, log.schema)
