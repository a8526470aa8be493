"""Answer: what all answers have in common; str() is the sentence and to_dict() the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tripletree.markup import notebook_box


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """What all answers have in common: ``str()`` is the sentence, ``to_dict()`` the data, notebooks show a box."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the schema as JSON types; numbers that are not finite become None."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self) if field.name != "schema"}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        return notebook_box(str(self))


def plain(value: Any) -> Any:
    """Return ``value`` as JSON types; a number that is not finite, which JSON does not have, becomes None."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
