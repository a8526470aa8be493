"""Schema, options and provenance as the JSON texts of a model file's header."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tripletree.checks import PARAMETERS, listing
from tripletree.errors import ModelFileError, TripleTreeError
from tripletree.log.schema import ACTION_KINDS, FEATURE_KINDS, FLAGS, Action, Feature, Schema
from tripletree.model.fit import RUNTIME
from tripletree.store import strict_json
from tripletree.store.strict_json import show
from tripletree.text import count

KEYS = ("name", "unit", "kind", "column", "category")
MAX_LAG = 2**31 - 1
"""What a schema says about a feature; the last two are left out where they are empty."""


def to_texts(schema: Schema, options: dict[str, Any], provenance: dict[str, Any]) -> dict[str, str]:
    """Return the header's texts."""
    return {
        "schema": strict_json.dump(schema.to_dict(), "the schema"),
        "options": strict_json.dump(options, "`options`"),
        "provenance": strict_json.dump(provenance, "`provenance`"),
    }


ADDED: dict[str, tuple[int, Any]] = {
    "keep": (3, "leaves"),
    "leaf_model": (4, "mean"),
    "leaf_features": (4, None),
    "costs": (6, None),
}
"""Options that the first formats did not have: the minor format that brought them, and what was done before."""


def from_texts(
    texts: Mapping[str, str], minor: int, unknown: list[str]
) -> tuple[Schema, dict[str, Any], dict[str, Any]]:
    """Return schema, options and provenance; names of keys that this version does not know go into ``unknown``."""
    keys = ("sha256", "schema", "options", "provenance")
    _check_keys(texts, keys, "`__metadata__`", unknown)
    schema, options, provenance = (strict_json.parse(texts[key], f"its `{key}`") for key in keys[1:])
    if not isinstance(provenance, dict):
        raise ModelFileError(f"its `provenance` must be an object, got {show(provenance)}.")
    # It may hold more or nothing; what is shown to people must be what they are told it is.
    for name in ("tripletree", "numpy", "log_sha256"):
        if not isinstance(provenance.get(name, ""), str):
            raise ModelFileError(f"its provenance `{name}` must be a string, got {show(provenance[name])}.")
    for name in ("samples", "episodes"):
        value = provenance.get(name, 0)
        if type(value) is not int or value < 0:
            raise ModelFileError(f"its provenance `{name}` must be a whole number of at least 0, got {show(value)}.")
    if isinstance(options, dict):
        options |= {name: value for name, (since, value) in ADDED.items() if minor < since and name not in options}
    return _schema(schema, unknown), _options(options, unknown), provenance


def _options(options: Any, unknown: list[str]) -> dict[str, Any]:
    """Return the options that are parameters of a fit: all of them must be there, with values that a fit allows."""
    # Options of the machine are not part of a model: a file must not choose how many threads run here.
    known = [name for name in PARAMETERS if name not in RUNTIME]
    _check_keys(options, known, "its `options`", unknown)
    for name in known:
        rule = PARAMETERS[name]
        if not rule.passes(options[name]):
            allowed = f"{rule.allowed}, or null" if rule.none else rule.allowed
            raise ModelFileError(f"its option `{name}` must be {allowed}, got {show(options[name])}.")
    return {name: value for name, value in options.items() if name in known}


def _schema(value: Any, unknown: list[str]) -> Schema:
    _check_keys(value, ("features", "action"), "its schema", unknown, optional=FLAGS)
    features, action = value["features"], value["action"]
    if not isinstance(features, list) or not features:
        raise ModelFileError(f"the schema's features must be a list of at least one, got {show(features)}.")
    for number, feature in enumerate(features):
        _check_keys(feature, KEYS[:3], f"feature {number} of its schema", unknown, optional=(*KEYS[3:], "lag"))
    _check_keys(action, ("kind", "names", "labels", "units"), "the schema's action", unknown, optional=("codes",))
    codes = _texts(action.get("codes", []), "the action's codes")
    labels = _texts(action["labels"], "the action's labels")
    names = _texts(action["names"], "the action's names")
    units = _texts(action["units"], "the action's units")
    if action["kind"] not in ACTION_KINDS:
        raise ModelFileError(f"the action's kind must be one of {ACTION_KINDS}, got {show(action['kind'])}.")
    discrete = action["kind"] == "discrete"
    if not names or len(units) != len(names) or (discrete and len(names) > 1) or discrete != bool(labels):
        raise ModelFileError(
            f"a {action['kind']} action cannot have {count(len(names), 'name')}, {count(len(units), 'unit')} and "
            f"{count(len(labels), 'label')}."
        )
    for feature in features:
        _texts([feature.get(key, "") for key in KEYS], "a feature's name, unit, kind, column and category")
        lag = feature.get("lag", 0)
        if type(lag) is not int or not 0 <= lag <= MAX_LAG:
            raise ModelFileError(f"a feature's lag must be a whole number from 0 to {MAX_LAG:,}, got {show(lag)}.")
        if feature["kind"] not in FEATURE_KINDS:
            raise ModelFileError(f"a feature's kind must be one of {FEATURE_KINDS}, got {show(feature['kind'])}.")
    flags = {name: value.get(name, usual) for name, usual in FLAGS.items()}
    if wrong := next((name for name, flag in flags.items() if not isinstance(flag, bool)), ""):
        raise ModelFileError(f"its schema's `{wrong}` must be true or false, got {show(flags[wrong])}.")
    known = [{key: feature[key] for key in (*KEYS, "lag") if key in feature} for feature in features]
    # Schema checks this too, but in a time that a hostile file could stretch.
    _check_distinct([feature["name"] for feature in features], "feature")
    _check_distinct(names, "action")
    _check_distinct(labels, "label")
    _check_distinct(codes, "code")
    try:
        return Schema(
            tuple(Feature(**feature) for feature in known),
            Action(action["kind"], names, labels, units, codes),
            **flags,
        )
    except TripleTreeError as error:
        # Cut short: the message may list a megabyte of names.
        raise ModelFileError(f"its schema is not valid: {str(error)[:300]}") from error


def _check_keys(
    value: Any, known: Collection[str], what: str, unknown: list[str], optional: Collection[str] = ()
) -> None:
    if not isinstance(value, Mapping):
        raise ModelFileError(f"{what} must be an object, got {show(value)}.")
    missing = [key for key in known if key not in value]
    if missing:
        raise ModelFileError(f"{what} lacks {listing(missing)}.")
    unknown.extend(key for key in value if key not in known and key not in optional)


def _texts(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ModelFileError(f"{what} must be a list of strings, got {show(value)}.")
    return tuple(value)


def _check_distinct(names: Collection[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelFileError(f"its schema has two {what}s named {show(name)}.")
        seen.add(name)
