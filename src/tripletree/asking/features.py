"""Features: those that a user names, as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tripletree.checks import check_names
from tripletree.errors import ParameterError
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option


def read_features(fitted: Fitted, wanted: Any) -> list[int] | None:
    """Return the features that are named, in that order, each once; None leaves the choice to whoever asks."""
    if wanted is None:
        return None
    names = fitted.schema.feature_names
    chosen = [wanted] if isinstance(wanted, str) else list(wanted) if isinstance(wanted, Iterable) else []
    if not chosen:
        raise ParameterError(
            Message(
                "{} must be names of features, or None to choose them; got {!r}. Try {}.",
                Option("features"),
                wanted,
                Option("features", [names[0]]),
            )
        )
    check_names(chosen, names, "The tree")
    return [names.index(name) for name in dict.fromkeys(chosen)]
