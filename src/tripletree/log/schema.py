"""Schema: the names, units and kinds of a log's features and actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tripletree.checks import choice, listing
from tripletree.errors import LogError
from tripletree.text import Message, count, plural

FEATURE_KINDS = ("real", "binary", "integer", "angle")
ACTION_KINDS = ("discrete", "continuous")
MAX_LABELS = 1024
"""A discrete action with more labels than this is most likely a number on a scale."""


@dataclass(frozen=True)
class Feature:
    """One state feature: its name, its unit (may be empty) and its kind."""

    name: str
    unit: str = ""
    kind: str = "real"

    def __post_init__(self) -> None:
        _check_text("A feature's name", self.name)
        _check_text(f"The unit of feature `{self.name}`", self.unit, may_be_empty=True)
        if wrong := choice(FEATURE_KINDS).objection(self.kind, "kind"):
            raise LogError(Message("Feature `{}`: {}", self.name, wrong))


def kind_seen(feature: Feature, low: float, high: float) -> str:
    """Return the kind of a feature as people are told it: values that never change say nothing about a kind.

    >>> kind_seen(Feature("key", kind="binary"), 0, 1), kind_seen(Feature("key", kind="binary"), 0, 0)
    ('binary', 'constant')
    """
    return feature.kind if low < high else "constant"


@dataclass(frozen=True)
class Action:
    """What an action is: one of ``labels`` (discrete), or one number for each of ``names`` (continuous).

    ``codes`` are the values that stand for the labels in the source, where those are not the labels themselves.
    """

    kind: str
    names: tuple[str, ...] = ("action",)
    labels: tuple[str, ...] = ()
    units: tuple[str, ...] = ("",)
    codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if wrong := choice(ACTION_KINDS).objection(self.kind, "kind"):
            raise LogError(Message("Action: {}", wrong))
        for name in self.names:
            _check_text("An action's name", name)
        for label in self.labels:
            _check_text("An action's label", label)
        for code in self.codes:
            _check_text("An action's code", code)
        for unit in self.units:
            _check_text("An action's unit", unit, may_be_empty=True)
        _check_distinct("action names", self.names)
        _check_distinct("action labels", self.labels)
        _check_distinct("action codes", self.codes)
        if len(self.codes) not in (0, len(self.labels)):
            raise LogError(
                f"Got {count(len(self.codes), 'code')} for {count(len(self.labels), 'label')}; give one for each."
            )
        if len(self.units) != len(self.names):
            raise LogError(
                f"Got {count(len(self.units), 'unit')} for {count(len(self.names), 'action name')}; give one for each."
            )
        if self.kind == "continuous" and (self.labels or not self.names):
            raise LogError(
                f"A continuous action has at least one name and no labels; got {count(len(self.names), 'name')} and "
                f"{count(len(self.labels), 'label')}."
            )
        if self.kind == "discrete" and (len(self.names) != 1 or not 1 <= len(self.labels) <= MAX_LABELS):
            raise LogError(
                f"A discrete action has one name and 1 to {MAX_LABELS:,} labels; got "
                f"{count(len(self.names), 'name')} and {count(len(self.labels), 'label')}."
            )


@dataclass(frozen=True)
class Schema:
    """The features and the action of a log."""

    features: tuple[Feature, ...]
    action: Action

    def __post_init__(self) -> None:
        if not self.features:
            raise LogError("A log needs at least one feature.")
        _check_distinct("feature names", tuple(feature.name for feature in self.features))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return tuple(feature.name for feature in self.features)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON types."""
        action = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self.action).items()}
        if not self.action.codes:
            del action["codes"]
        return {"features": [asdict(feature) for feature in self.features], "action": action}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """Return the schema from what ``to_dict`` returned."""
        try:
            action = data["action"]
            return cls(
                features=tuple(Feature(**feature) for feature in data["features"]),
                action=Action(
                    action["kind"],
                    tuple(action["names"]),
                    tuple(action["labels"]),
                    tuple(action["units"]),
                    tuple(action.get("codes", ())),
                ),
            )
        except (KeyError, TypeError) as error:
            raise LogError(f"This is not a schema as Schema.to_dict() writes it: {error!r}.") from error


def _check_text(what: str, text: object, may_be_empty: bool = False) -> None:
    if not isinstance(text, str) or not (text or may_be_empty):
        raise LogError(f"{what} is {text!r}; it must be a {'' if may_be_empty else 'non-empty '}string.")
    if not is_unicode(text):
        raise LogError(f"{what} is {text!r:.60}, which is not Unicode; it cannot be written to a file. Rename it.")


def is_unicode(text: str) -> bool:
    """Tell whether a text can be written as UTF-8: Python's strings may hold half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_distinct(what: str, names: tuple[str, ...]) -> None:
    if len(set(names)) < len(names):
        twice = dict.fromkeys(name for i, name in enumerate(names) if name in names[:i])
        raise LogError(
            f"The {what} must differ; {listing(twice)} {plural(len(twice), 'occurs', 'occur')} more than once."
        )
