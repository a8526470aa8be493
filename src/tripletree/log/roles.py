"""Which column plays which role: given by the user, or guessed from the names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, TypedDict

import numpy as np

from tripletree.checks import check_choice, check_flag, check_number, listing
from tripletree.errors import ParameterError
from tripletree.log.bookkeeping import COUNTS, find_bookkeeping, folded, in_words
from tripletree.log.coerce import Array
from tripletree.log.findings import Findings, hint
from tripletree.log.gaps import WAYS
from tripletree.log.times import guess_dt, guess_time, holds_dates
from tripletree.text import Message, Option, count, joined, plural


class Naming(TypedDict, total=False):
    """Options that every constructor takes: units, kinds, labels, and how episodes end where the log does not say."""

    units: Mapping[str, str]
    kinds: Mapping[str, str]
    labels: Mapping[Any, str] | Sequence[str]
    levels: Mapping[str, Sequence[float | str]]
    action_kind: str
    ending: str
    endless: bool
    missing: str
    gap: float
    success: str


class Roles(Naming, total=False):
    """Options of the table constructors: the columns, by name."""

    episode: str
    step: str
    action: str | Sequence[str]
    reward: str
    terminated: str
    truncated: str
    done: str
    previous_row: str
    next_row: str
    next_state: str
    time: str
    dt: str
    group: str
    weight: str
    features: Sequence[str | EllipsisType]
    ignore: Sequence[str]
    feature_names: Sequence[str]
    action_names: Sequence[str]


# Names by which a role is guessed, the clearest first. They are compared in lower case, and whatever is neither a
# letter nor a digit counts as an underscore.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "episode": (
        *("episode", "episode_id", "episode_index", "episode_idx", "episode_number", "episode_num", "episodes"),
        *(
            "ep",
            "ep_id",
            "eps_id",
            "trajectory",
            "trajectory_id",
            "traj",
            "traj_id",
            "rollout",
            "rollout_id",
            "run",
            "run_id",
        ),
    ),
    "step": (
        "step",
        "timestep",
        "timesteps",
        "time_step",
        "step_id",
        "step_index",
        "frame_index",
        "steps",
        "t",
        "frame",
        "time",
    ),
    "reward": ("reward", "rewards", "rew", "next_reward", "r"),
    "terminated": ("terminated", "terminal", "terminals", "terminateds", "terminations", "termination", "is_terminal"),
    "truncated": ("truncated", "truncateds", "truncations", "truncation", "timeout", "timeouts", "time_limit"),
    "done": ("done", "dones", "is_last", "next_done", "is_done", "episode_terminals"),
    "previous_row": ("prev", "previous", "prev_row", "previous_row"),
    "next_row": ("next", "next_row"),
    "action": ("action", "actions", "act", "a"),
    "group": (),  # never guessed: it decides how sure an answer is
    "weight": ("sample_weight", "sample_weights"),  # a weight by itself is that of a lorry
}
# Single letters and everyday words: when their role is taken already, such a column is a feature like any other.
WEAK = frozenset({"t", "time", "frame", "run", "r", "a", "act", "next", "prev", "previous"})
NEXT_PREFIXES = ("next_", "next.", "next ", "next", "new_")
REST = "..."
"""Among the names of features: all columns that would be features anyway."""
OPTION_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("units", "kinds", "levels"), (Mapping,)),
    **dict.fromkeys(("features", "ignore", "action", "feature_names", "action_names"), (str, Sequence, np.ndarray)),
    "labels": (Mapping, Sequence, np.ndarray),
}
# Values to type instead; the others are names of columns.
OPTION_EXAMPLES: dict[str, tuple[Any, ...]] = {
    "units": ({"speed": "m/s"},),
    "kinds": ({"phi": "angle"},),
    "levels": ({"main": ["off", 0.0, "on"]},),
    "features": (["x", "y"],),
    "ignore": (["x", "y"],),
    "feature_names": (["x", "y"],),
    "action_names": (["main", "side"],),
    "action": ("a", ["a", "b"]),
    "labels": ({0: "left", 1: "right"},),
    "action_kind": ("discrete", "continuous"),
    "ending": ("terminated", "truncated"),
    "success": ("return > 200",),
}
SINGLE_ROLES = (*(role for role in SYNONYMS if role != "action"), "time", "dt")
# What is recorded by machines rather than in episodes: all rows of one of them are one recording.
MACHINES = re.compile(
    r"(trip|session|journey|flight|drive|mission|voyage|vehicle|truck|car|bus|robot|drone|machine|device|asset|ship|vessel"
    r"|train|unit|plant|well|patient)(_(id|nr|no|number|name|code))?|vin|mmsi|imei|tail_number|serial(_number)?"
)
ABSENT = "none"
"""Given for the reward or the action: the log has none, and that is no oversight."""


@dataclass
class Assignment:
    """The columns of every role, which of the roles were guessed, and the columns that are not used."""

    single: dict[str, str] = field(default_factory=dict)
    action: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    next_columns: list[str] = field(default_factory=list)  # one for each feature, or none at all
    aside: list[str] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)


def check_options(options: Mapping[str, Any], allowed: type, also: Sequence[str] = ()) -> None:
    """Raise ParameterError for a keyword that the typed dictionary ``allowed`` does not have, or of a wrong type.

    ``also`` are other arguments of the function, one of which may have been meant.
    """
    known = sorted(allowed.__annotations__)
    for name, value in options.items():
        if name not in known:
            raise ParameterError(f"There is no option `{name}`. {hint(name, [*also, *known])}")
        if value is None:
            continue
        if name == "endless":
            check_flag(value, name)
        elif name == "missing":
            check_choice(value, name, WAYS)
        elif name == "gap":
            check_number(value, name, above=0, example=60)
        elif not isinstance(value, OPTION_TYPES.get(name, (str,))):
            examples = joined(" or ", [Option(name, example) for example in OPTION_EXAMPLES.get(name, ("...",))])
            column = "" if name in OPTION_EXAMPLES else " with the name of a column"
            raise ParameterError(Message("{} cannot be used; type {}{}.", Option(name, value), examples, column))


def assign(
    names: Sequence[str], roles: Roles, findings: Findings, table: Mapping[str, Array] | None = None
) -> Assignment:
    """Return the role of every column; where that is impossible, ``findings`` gets an error.

    Columns that are no part of the state are known by name and, if there is a ``table`` of them, by content.
    """
    result = Assignment()
    taken: dict[str, str] = {}

    def take(column: object, role: str) -> bool:
        if column not in names:
            text = Message("There is no column `{}` (given as {}).", column, Option(role))
            findings.error("unknown-column", text, hint(column, names))
            return False
        if column in taken:
            findings.error(
                "two-roles",
                Message(
                    "Column `{}` was given as {} and as {}; a column has only one role.",
                    column,
                    Option(taken[str(column)]),
                    Option(role),
                ),
            )
            return False
        taken[str(column)] = role
        return True

    for column in listed(roles.get("ignore")):
        take(column, "ignore")
    named = [column for column in listed(roles.get("features")) if column == REST or take(column, "features")]
    named = named or [REST]
    may_lack = {"reward": roles.get("reward"), "action": roles.get("action")}
    absent = {role for role, column in may_lack.items() if listed(column) == [ABSENT] and ABSENT not in names}
    for role in SINGLE_ROLES:
        given = roles.get(role)
        if given is not None and role not in absent and take(given, role):
            result.single[role] = str(given)
    if "action" not in absent:
        result.action = [column for column in listed(roles.get("action")) if take(column, "action")]

    free = [name for name in names if name not in taken]
    for role in SYNONYMS:
        if roles.get(role) is None and role != "action":
            _guess(role, free, result, table or {})
    if roles.get("action") is None:
        _guess_action(free, result)
    _guess_times(free, roles, table or {}, result, findings)
    if REST in named:
        _set_bookkeeping_aside(free, roles, table, result, findings)
    _find_next(free, named, roles.get("next_state"), result, findings)
    result.features = _expanded(named, free)
    result.aside += [name for name in free if name not in result.features]
    _say_missing(names, result, absent, findings)
    return result


def listed(value: str | Sequence[str | EllipsisType] | None) -> list[str]:
    """Return one name, several, or None as a list."""
    if value is None or isinstance(value, str):
        return [] if value is None else [value]
    return [REST if name is ... else str(name) for name in value]


def chosen_names(given: Sequence[str] | None, default: Sequence[str], what: str, findings: Findings) -> list[str]:
    """Return the names that the user wants features or actions to have, or the ``default`` ones for None."""
    if given is None:
        return list(default)
    names = [given] if isinstance(given, str) else list(given)
    if len(names) != len(default):
        findings.error("names", f"Got {count(len(names), f'{what} name')} for {count(len(default), what)}: {names!r}.")
    elif not all(isinstance(name, str) and name for name in names):
        findings.error("names", f"The {what} names are {names!r}; expected non-empty strings.")
    return names


def _guess(role: str, free: list[str], result: Assignment, table: Mapping[str, Array]) -> None:
    known = {folded(name): name for name in reversed(free)}
    for synonym in SYNONYMS[role]:
        name = known.get(synonym)
        # Dates are times, and not only steps.
        if name and not (role == "step" and (_dated(name, table) or guess_time([name], table))):
            result.single[role] = name
            result.guessed.add(role)
            free.remove(name)
            return


def _dated(name: str, table: Mapping[str, Array]) -> bool:
    return name in table and table[name].dtype.kind == "O" and holds_dates(table[name])


def _guess_times(
    free: list[str], roles: Roles, table: Mapping[str, Array], result: Assignment, findings: Findings
) -> None:
    """Find the time of each row, or of each step; and with it, whose rows they are."""
    # A log that counts its steps has its order, and its clock is most likely that of the computer.
    if "time" not in result.single and "step" not in result.single and (time := guess_time(free, table)):
        result.single["time"] = time
        result.guessed.add("time")
        free.remove(time)
    if "dt" not in result.single and "time" not in result.single and (dt := guess_dt(free, table)):
        result.single["dt"] = dt
        result.guessed.add("dt")
        free.remove(dt)
    dates = [name for name in free if _dated(name, table) and name not in (roles.get("kinds") or {})]
    if dates and "time" in result.single:
        findings.note("set-aside", f"{_set_aside(dates)}: {plural(len(dates), 'it holds', 'they hold')} dates.")
        result.aside += dates
        free[:] = [name for name in free if name not in dates]
    marked = {"episode", "terminated", "truncated", "done", "previous_row", "next_row"} & set(result.single)
    if marked or not {"time", "step", "dt"} & set(result.single) or roles.get("endless"):
        return
    owners = [name for name in free if MACHINES.fullmatch(folded(name)) and table[name].dtype.kind in "iuO"]
    if owners:
        result.single["episode"] = owners[0]
        result.guessed.add("episode")
        free.remove(owners[0])


def _guess_action(free: list[str], result: Assignment) -> None:
    known = {folded(name): name for name in reversed(free)}
    found = next(([known[synonym]] for synonym in SYNONYMS["action"] if synonym in known), [])
    parts = [name for name in free if re.match(r"actions?_", folded(name))]
    result.action = found if found and folded(found[0]) not in WEAK else parts or found
    result.aside += [name for name in parts if name not in result.action]
    if result.action:
        result.guessed.add("action")
    free[:] = [name for name in free if name not in result.action and name not in parts]


def _set_bookkeeping_aside(
    free: list[str], roles: Roles, table: Mapping[str, Array] | None, result: Assignment, findings: Findings
) -> None:
    """Take columns that are no part of the state out of the free ones."""
    # A second column for a role, such as another reward, would be a feature that gives the answer away.
    doubled = [name for name in free if any(folded(name) in set(s) - WEAK for s in SYNONYMS.values())]
    rest = [name for name in free if name not in doubled]
    found = find_bookkeeping(rest, result, table, roles)
    if doubled:
        found["stands for a role that another column plays"] = doubled
    for reason, names in found.items():
        text = f"{_set_aside(names)}: {in_words(reason, len(names))}."
        # That the table's own index is no feature is not in doubt.
        say = findings.note if reason == COUNTS else findings.warning
        say("set-aside", text, _either(names[0]))
        result.aside += names
    free[:] = [name for name in free if name not in result.aside]


def _expanded(named: Sequence[str], rest: Sequence[str]) -> list[str]:
    """Return the names of features, with all other columns in place of the dots."""
    return [column for name in named for column in (rest if name == REST else (name,))]


def _find_next(free: list[str], named: list[str], prefix: str | None, result: Assignment, findings: Findings) -> None:
    """Find the columns of next states: one for each feature, under the feature's name with a prefix."""
    given = REST not in named
    for candidate in (prefix,) if prefix is not None else NEXT_PREFIXES:
        known = set(free)
        # "new_" is an everyday word; only RLlib's observations are meant.
        begin = "new_obs" if candidate == "new_" and prefix is None else candidate
        pairs = {
            name: candidate + name
            for name in _expanded(named, free)
            if candidate + name in known and (candidate + name).startswith(begin)
        }
        if not pairs:
            continue
        others = [name for name in free if name.startswith(begin) and name not in pairs]
        free[:] = [name for name in free if name not in others]
        features = _expanded(named, free)
        lacking = [name for name in features if name not in pairs]
        unpaired = sorted(set(others) - set(pairs.values()))
        if lacking:
            result.aside += others
            findings.warning(
                "next-incomplete",
                f"Final states are not used: there {plural(len(pairs), 'is', 'are')} {listing(pairs.values())}, but no "
                f"column {candidate}... for {listing(lacking)}.",
                Message(
                    "Log the next state of every feature; or, if some are not features, type {}.",
                    Option("ignore", lacking),
                ),
            )
        else:
            result.next_columns = [pairs[name] for name in features]
            result.aside += unpaired
            if prefix is None:
                result.guessed.add("next_state")
            if unpaired and not given:
                findings.warning(
                    "set-aside",
                    f"{_set_aside(unpaired)}: the {plural(len(unpaired), 'name stands', 'names stand')} for a next "
                    "state, but there is no such feature.",
                    _either(unpaired[0]),
                )
        return
    if prefix is not None:
        findings.error(
            "unknown-column",
            Message(
                "No column is called `{}` (given as {}) followed by the name of a feature.",
                prefix,
                Option("next_state"),
            ),
            f"The columns are {listing(free)}.",
        )


def _set_aside(names: Collection[str]) -> str:
    return f"{listing(names)} {plural(len(names), 'was', 'were')} set aside"


def _either(name: str) -> str:
    return Message(
        "If `{}` is a feature, type {}; if not, {}.", name, Option("features", [..., name]), Option("ignore", [name])
    )


def _say_missing(names: Sequence[str], result: Assignment, absent: Collection[str], findings: Findings) -> None:
    columns = f"The columns are {listing(names, 30)}."
    if findings.failed:
        return  # a mistyped name explains the gap
    if not result.features:
        aside = result.aside[:2]
        why = f": {_set_aside(result.aside)}" if aside else ""
        fix = Message("Type {}.", Option("features", aside or ["...", "..."]))
        findings.error("no-features", f"No column is left for the state{why}. {columns}", fix)
    have = {"reward": "reward" in result.single, "action": bool(result.action)}
    follows = {"reward": "values play no part", "action": "the tree is about how states change"}
    for role, present in have.items():
        if present:
            continue
        text = f"No column looks like the {role}, so {follows[role]}. {columns}"
        fix = Message("If one is, type {}; if not, {}.", Option(role, "..."), Option(role, ABSENT))
        if role in absent:
            findings.note(f"no-{role}", f"The log has no {role}, so {follows[role]}.")
        else:
            findings.warning(f"no-{role}", text, fix)
