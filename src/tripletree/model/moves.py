"""How a log moves on a fitted tree: as kept from the training log, or counted on another one."""

from __future__ import annotations

from tripletree.errors import ParameterError
from tripletree.graph.movement import Movement, observe
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.model.judge import check_same_schema
from tripletree.text import Message, Option


def movement(fitted: Fitted, log: Log | None, threads: int) -> Movement:
    """Return how ``log`` moves over the leaves of a tree; None is the training log, as far as the tree kept it."""
    if log is not None:
        check_same_schema(fitted.schema, log, "log")
        return observe(fitted.tree, log, threads)
    if fitted.movement is None:
        raise ParameterError(
            Message(
                "This tree does not know how the log moves on it, because it was made smaller after growth or read "
                "from a file without transitions. Give the log: {}.",
                Option("log", ...),
            )
        )
    return fitted.movement
