"""Answer: what all answers have in common; str() is the sentence and to_dict() the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, Self

import numpy as np

from tripletree.language.numbers import rounded, unit
from tripletree.log.schema import Schema
from tripletree.markup import notebook_box
from tripletree.text import some_of

MOST_TOLD = 6
"""Features that were not given and are named, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """What all answers have in common: ``str()`` is the sentence, ``to_dict()`` the data, notebooks show a box.

    Attributes
    ----------
    assumed : dict of str to float
        Features that the text of a state did not name, and the medians of the training log that stand in for them.
    """

    assumed: dict[str, float] = field(default_factory=dict, kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the schema as JSON types; numbers that are not finite become None."""
        left_out = {"schema"} if self.assumed else {"schema", "assumed"}
        return {one.name: plain(getattr(self, one.name)) for one in fields(self) if one.name not in left_out}

    def assuming(self, assumed: dict[str, float]) -> Self:
        """Return the same answer, which says that the state was not given whole."""
        return replace(self, assumed=assumed) if assumed else self

    def _assumption(self, schema: Schema) -> str:
        """Return the sentence about features that were not given, or nothing."""
        units = {feature.name: feature.unit for feature in schema.features}
        told = [f"{name} = {rounded(number)}{unit(units[name])}" for name, number in self.assumed.items()]
        return f" Not given, so the log's median: {some_of(told, MOST_TOLD)}." if told else ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        return notebook_box(str(self))


def plain(value: Any) -> Any:
    """Return ``value`` as JSON types; a number that is not finite, which JSON does not have, becomes None."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        finite = np.isfinite(value)
        if finite.all():
            return value.tolist()
        value = value.astype(object)
        value[~finite] = None
        return value.tolist()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist() if value.dtype.kind in "biu" else plain(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
