"""Schema: the names, units and kinds of a log's features and actions."""

from __future__ import annotations

from dataclasses import dataclass

FEATURE_KINDS = ("real", "binary", "integer", "angle")
ACTION_KINDS = ("discrete", "continuous")


@dataclass(frozen=True)
class Feature:
    """One state feature: its name, its unit (may be empty) and its kind."""

    name: str
    unit: str = ""
    kind: str = "real"


@dataclass(frozen=True)
class Action:
    """What an action is: one of ``labels`` (discrete), or one number for each of ``names`` (continuous)."""

    kind: str
    names: tuple[str, ...] = ("action",)
    labels: tuple[str, ...] = ()
    units: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Schema:
    """Features and action of a log."""

    features: tuple[Feature, ...]
    action: Action
