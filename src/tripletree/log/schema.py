"""Schema: the names, units and kinds of a log's features and actions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from tripletree.checks import choice, is_number, listing
from tripletree.errors import LogError
from tripletree.text import Message, count, plural

FEATURE_KINDS = ("real", "binary", "integer", "angle")
ACTION_KINDS = ("discrete", "continuous")
DEGREES = frozenset({"deg", "degs", "degree", "degrees", "°"})
"""Units in which a full turn is 360; in all others an angle has 2 pi."""
NO_ACTION = "none"
"""The only label of a log that does not show what was done."""
MAX_LABELS = 1024
"""A discrete action with more labels than this is most likely a number on a scale."""


FLAGS = {"has_action": True, "has_reward": True, "per_second": False}
"""What a schema says beside features and action, with what is so in most logs."""


@dataclass(frozen=True)
class Feature:
    """One state feature: its name, its unit (may be empty) and its kind.

    A feature that stands for one category of a text, such as "mode is auto", also has the ``column`` that the text is
    in and the ``category``; both are empty for all others. A feature that tells what was ``lag`` steps ago is a copy of
    the past: how it changes is no news, and plays no part in growth and losses.
    """

    name: str
    unit: str = ""
    kind: str = "real"
    column: str = ""
    category: str = ""
    lag: int = 0

    @property
    def period(self) -> float:
        """What an angle comes back after: 360 in degrees, otherwise 2 pi; 0 for features that are no angles.

        >>> Feature("heading", "deg", "angle").period, Feature("speed", "m/s").period
        (360.0, 0.0)
        """
        if self.kind != "angle":
            return 0.0
        return 360.0 if self.unit.lower() in DEGREES else 2 * math.pi

    def __post_init__(self) -> None:
        _check_text("A feature's name", self.name)
        _check_text(f"The column of feature `{self.name}`", self.column, may_be_empty=True)
        _check_text(f"The category of feature `{self.name}`", self.category, may_be_empty=True)
        if bool(self.column) != bool(self.category) or (self.column and self.kind != "binary"):
            raise LogError(
                f"Feature `{self.name}`: only a binary feature has a column and a category, and it has both."
            )
        _check_text(f"The unit of feature `{self.name}`", self.unit, may_be_empty=True)
        if wrong := choice(FEATURE_KINDS).objection(self.kind, "kind"):
            raise LogError(Message("Feature `{}`: {}", self.name, wrong))
        if not isinstance(self.lag, int) or self.lag < 0:
            raise LogError(f"Feature `{self.name}` is {self.lag!r} steps old; it must be a whole number of at least 0.")


def kind_seen(feature: Feature, low: float, high: float) -> str:
    """Return the kind of a feature as people are told it: values that never change say nothing about a kind.

    >>> kind_seen(Feature("key", kind="binary"), 0, 1), kind_seen(Feature("key", kind="binary"), 0, 0)
    ('binary', 'constant')
    """
    return feature.kind if low < high else "constant"


GivenLevels = tuple[float | str, ...]
"""Levels as people give them: the numbers at which they end, with names: ("left", -0.5, "off", 0.5, "right")."""
MOST_LEVELS = 9


def levels_wrong(given: Any, most: int = MOST_LEVELS) -> bool:
    """Tell whether something is no list of levels: increasing numbers, and either no names or one for each level."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        return True
    numbers, names = [one for one in given if is_number(one)], [one for one in given if isinstance(one, str)]
    turns = all(isinstance(one, str) == (place % 2 == 0) for place, one in enumerate(given))
    named = not names or (turns and len(names) == len(numbers) + 1 == len(set(names)) and all(map(is_unicode, names)))
    whole = len(numbers) + len(names) == len(given) and 1 <= len(numbers) < most
    return not (named and all(names) and whole and sorted(set(numbers)) == numbers)


@dataclass(frozen=True)
class Action:
    """What an action is: one of ``labels`` (discrete), or one number for each of ``names`` (continuous).

    ``codes`` are the values that stand for the labels in the source, where those are not the labels themselves.
    ``levels`` are words for the numbers of each name, where somebody gave them; they change what sentences say, and
    nothing else.
    """

    kind: str
    names: tuple[str, ...] = ("action",)
    labels: tuple[str, ...] = ()
    units: tuple[str, ...] = ("",)
    codes: tuple[str, ...] = ()
    levels: tuple[GivenLevels, ...] = field(default=(), compare=False)

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
        if len(self.levels) not in (0, len(self.names)) or any(given and levels_wrong(given) for given in self.levels):
            raise LogError(f"An action's levels are {self.levels!r:.80}; there must be a list of levels for each name.")
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
    """The features and the action of a log.

    Attributes
    ----------
    features : tuple of Feature
        What a state consists of.
    action : Action
        What an action is.
    has_action, has_reward : bool
        Whether the log shows what was done, and what it earned. Without actions, the only label is "none"; without
        rewards, all of them are 0.
    per_second : bool
        Whether derivatives are changes per second, because the log knows when its steps were; else they are per step.
    success : str
        Which episodes succeed, as a condition on episodes such as ``"return > 200"``; empty where nobody said.
    """

    features: tuple[Feature, ...]
    action: Action
    has_action: bool = True
    has_reward: bool = True
    per_second: bool = False
    success: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.features:
            raise LogError("A log needs at least one feature.")
        if not self.has_action and self.action.labels != (NO_ACTION,):
            raise LogError(
                f'A log without actions has the only label "{NO_ACTION}"; got {listing(self.action.labels)}.'
            )
        _check_distinct("feature names", tuple(feature.name for feature in self.features))
        _check_text("The condition of success", self.success, may_be_empty=True)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return tuple(feature.name for feature in self.features)

    @property
    def lags(self) -> tuple[int, ...]:
        """How many steps ago the features that tell the past were; each number once, and 0 is no such number."""
        return tuple(dict.fromkeys(feature.lag for feature in self.features if feature.lag))

    @property
    def columns(self) -> dict[str, list[str]]:
        """The columns that states are read from, each with its categories; none for numbers."""
        found: dict[str, list[str]] = {}
        for feature in self.features:
            found.setdefault(feature.column or feature.name, []).extend([feature.category] * bool(feature.column))
        return found

    @cached_property
    def periods(self) -> tuple[float, ...]:
        """The period of each feature, 0 for those that are no angles."""
        return tuple(feature.period for feature in self.features)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON types."""
        action = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self.action).items()}
        action["levels"] = [list(given) for given in self.action.levels]
        for usual in ("codes", "levels"):
            if not action[usual]:
                del action[usual]
        # What most logs do not have is left out, so that their files stay as they were.
        features = [
            {key: value for key, value in asdict(feature).items() if value or key not in ("column", "category", "lag")}
            for feature in self.features
        ]
        flags = {name: getattr(self, name) for name, usual in FLAGS.items() if getattr(self, name) != usual}
        said = {"success": self.success} if self.success else {}
        return {"features": features, "action": action, **flags, **said}

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
                    tuple(tuple(given) for given in action.get("levels", ())),
                ),
                **{name: bool(data.get(name, usual)) for name, usual in FLAGS.items()},
                success=data.get("success", ""),
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
