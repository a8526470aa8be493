"""What commands are given: logs with their columns, models and states, read when the command runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tripletree.checks import did_you_mean, listing
from tripletree.errors import LogError, ParameterError

if TYPE_CHECKING:
    from tripletree.api import TripleTree
    from tripletree.log.log import Log
    from tripletree.log.schema import Schema

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

ROLES = (
    "episode",
    "step",
    "reward",
    "terminated",
    "truncated",
    "done",
    "previous_row",
    "next_row",
    "next_state",
    "time",
    "dt",
    "action",
    "group",
    "weight",
)
"""What a column of a log can be, given as --column ROLE=NAME."""
READING = (
    *("features", "ignore", "units", "kinds", "labels", "action_kind", "ending", "endless", "encoding"),
    *("missing", "gap"),
)
"""What else can be said about how a log is read; options of their own."""
FILE = click.Path(path_type=Path)
UNPACKED = 8
"""Times its files' size that a log of Parquet files may need in memory."""


normalize_option = click.option(
    "--normalize",
    type=FILE,
    metavar="FILE.pkl",
    help="The VecNormalize that a model of Stable-Baselines3 was trained with.",
)
trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Load files that hold pickled objects (models of Stable-Baselines3). Such a file can run any code: trust its "
    "source.",
)


def pairs(_: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Read NAME=TEXT, several times."""
    found = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise click.BadParameter(f"`{text}` is not {parameter.metavar}.")
        found[name.strip()] = value.strip()
    return found


def _columns(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    roles: dict[str, Any] = {}
    for role, name in pairs(ctx, parameter, given).items():
        if role not in ROLES:
            raise click.BadParameter(
                f"`{role}` is not a role; a column can be {listing(ROLES, 12)}.{did_you_mean(role, ROLES)}"
            )
        roles[role] = _names(name) if role == "action" else name
    return roles


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def listed(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> list[str]:
    """Read NAME,NAME, several times."""
    return [name for text in given for name in _names(text)]


describe_option = click.option(
    "--describe", type=FILE, metavar="FILE.toml", help="A file that says what the log's columns are."
)


about_option = click.option(
    "--about",
    default="action",
    show_default=True,
    metavar="ATTRIBUTE",
    help='Which attribute: action, the name of one of its dimensions, value, derivative, or "derivative of FEATURE".',
)


stability_option = click.option(
    "--stability",
    is_flag=True,
    help="Say what trees grown on random halves of the log's episodes make of it; needs --log LOG.",
)


def log_options(function: _Decorated) -> _Decorated:
    """Add the options that say how a log is read; `reading` makes keywords of read_log of them."""
    options = [
        describe_option,
        click.option(
            "--column",
            multiple=True,
            callback=_columns,
            metavar="ROLE=NAME",
            help="What a column is: episode, step, action (several: action=main,side), reward, "
            "terminated, truncated, done, next_state (a prefix), previous_row, next_row, time (dates or seconds), dt "
            "(seconds to the next row), group (which episodes depend on each other, such as the pilot), "
            "weight (how much a row counts). reward=none and action=none: the log has none. Repeatable.",
        ),
        click.option(
            "--features",
            multiple=True,
            callback=listed,
            metavar="NAME,NAME",
            help="Columns that are features; ... for all that would be features anyway.",
        ),
        click.option("--ignore", multiple=True, callback=listed, metavar="NAME,NAME", help="Columns to leave out."),
        click.option(
            "--unit",
            "units",
            multiple=True,
            callback=pairs,
            metavar="NAME=UNIT",
            help="Unit of a column, such as speed=m/s.",
        ),
        click.option(
            "--kind",
            "kinds",
            multiple=True,
            callback=pairs,
            metavar="NAME=KIND",
            help="Kind of a feature: real, integer, binary, angle, or category for codes that are names.",
        ),
        click.option(
            "--label",
            "labels",
            multiple=True,
            callback=pairs,
            metavar="CODE=LABEL",
            help="Name of an action, such as 0=left.",
        ),
        click.option("--action-kind", type=click.Choice(["discrete", "continuous"]), help="Kind of the actions."),
        click.option(
            "--ending",
            type=click.Choice(["terminated", "truncated"]),
            help="How episodes end, where the log does not say.",
        ),
        click.option("--endless", is_flag=True, help="All rows are one recording without an end."),
        click.option(
            "--missing",
            type=click.Choice(["split", "drop", "fill"]),
            help="Where a value is missing: split the episode there, drop the row, or fill in the last value.  "
            "[default: split]",
        ),
        click.option(
            "--gap",
            type=float,
            metavar="SECONDS",
            help="Longer times between rows split an episode.  [default: guessed]",
        ),
        click.option("--encoding", help="Encoding of a CSV file, if not UTF-8."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def reading(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `log_options` out of a command's options, and return them as keywords of read_log."""
    from tripletree.log.description import read_description

    described: Path | None = options.pop("describe")
    roles = {} if described is None else read_description(described)
    column = options.pop("column")
    given = {name: options.pop(name) for name in READING}
    # What is typed overrides what is written in the file.
    for name in ("units", "kinds"):
        given[name] = {**roles.get(name, {}), **given[name]}
    return {**roles, **column, **{name: value for name, value in given.items() if value}}


def read_given(path: Path, options: dict[str, Any]) -> Log:
    """Return the log in a file, read as a command's `log_options` say, which are taken out of its options."""
    from tripletree.log.files import read_log

    found = read_log(path, **reading(options))
    mind_names(found.schema, found)
    return found


def open_model(path: Path) -> TripleTree:
    """Return the tree in a model file."""
    from tripletree.api import load

    tree = load(path)
    mind_names(tree.fitted_.schema)
    return tree


def mind_names(schema: Schema, log: Log | None = None) -> None:
    """Let names with line breaks be printed on one line."""
    from tripletree.cli import console  # which words its notes by the options above

    episodes = [] if log is None or log.episode_ids.dtype.kind != "U" else log.episode_ids.tolist()
    console.mind([*schema.feature_names, *schema.action.names, *schema.action.labels, *episodes])


def log_of(tree: TripleTree, path: Path | None, described: Path | None) -> Log | None:
    """Return a log to ask a tree about, read by the tree's own features and kind of action; None for no path."""
    from tripletree.log.files import read_log
    from tripletree.model.evaluate import in_labels

    if path is None:
        if described is not None:
            raise click.UsageError("--describe says how a log is read: give --log LOG as well.")
        return None
    schema = tree.fitted_.schema
    log = in_labels(schema, read_log(path, **roles_for(tree, path, described)))
    if schema.lags and not log.schema.lags:
        log = log.with_lags(schema.lags)
    mind_names(log.schema, log)
    known, given = schema.action.labels, log.schema.action.labels
    if known and given and not set(known) & set(given):
        raise LogError(
            f"The actions of {path.name} are {listing(given)}, those of the model {listing(known)}. If they mean the "
            "same, give the description that the model was grown with: --describe FILE.toml"
        )
    return log


def roles_for(tree: TripleTree, path: Path, described: Path | None) -> dict[str, Any]:
    """Return how the columns of a log are to be read for a tree."""
    from tripletree.log.description import read_description

    roles: dict[str, Any] = {} if described is None else dict(read_description(described))
    schema = tree.fitted_.schema
    columns = replace(schema, features=tuple(one for one in schema.features if not one.lag)).columns
    if path.suffix.lower() != ".npz":
        if schema.has_action:
            roles.setdefault("action_kind", schema.action.kind)
            # Several discrete columns are one action with both names.
            roles.setdefault("action", [column for name in schema.action.names for column in name.split(", ")])
        else:
            roles["action"] = "none"
        if not schema.has_reward:
            roles["reward"] = "none"
        if not {"features", "ignore"} & set(roles):
            roles["features"] = list(columns)
        categories = {column: known for column, known in columns.items() if known}
        if categories:
            roles["kinds"] = {**roles.get("kinds", {}), **categories}
    return roles


def too_large(log: Path) -> bool:
    """Tell whether Parquet files are too large to be read into memory, by a first guess."""
    from tripletree.scale.plan import free_memory

    files = [log] if log.is_file() else list(log.iterdir()) if log.is_dir() else []
    size = sum(file.stat().st_size for file in files if file.suffix.lower() in (".parquet", ".pq") and file.is_file())
    return size * UNPACKED > free_memory()


@contextmanager
def log_or_disk(tree: TripleTree, path: Path | None, described: Path | None) -> Iterator[Any]:
    """Give a log to ask a tree about as `log_of` does; one that is too large for memory on disk, with its progress."""
    from tripletree.cli import console
    from tripletree.log.disk import open_log

    if path is None or not too_large(path):
        yield log_of(tree, path, described)
        return
    with console.passing() as progress:
        yield open_log(path, progress=progress, **roles_for(tree, path, described))


def required_log(tree: TripleTree, path: Path, described: Path | None) -> Log:
    """Return the log that a command cannot do without."""
    log = log_of(tree, path, described)
    if log is None:
        raise AssertionError("click asks for the log")  # pragma: no cover
    return log


def log_option(what: str, required: bool = False) -> Callable[[_Decorated], _Decorated]:
    """Add --log and --describe."""

    def add(function: _Decorated) -> _Decorated:
        option = click.option("--log", type=FILE, metavar="LOG", required=required, help=what)
        return option(describe_option(function))

    return add


def table_of(path: Path) -> dict[str, Any]:
    """Return the columns of a file of states."""
    from tripletree.log.files import read_table

    return read_table(path)


def state_options(function: _Decorated) -> _Decorated:
    """Add the options that give one state: in words, or as a step of a log."""
    for option in (
        click.option("--step", type=int, metavar="N", help="Which step of the episode, from 0.  [default: 0]"),
        click.option("--episode", metavar="ID", help="Which episode of the log.  [default: the first]"),
        log_option("Take the state from this log."),
        click.option(
            "--state",
            metavar="STATE",
            help='A state, such as "pos=1.2, speed=0.03" or 1.2,0.03. Features that are not named have the '
            "log's median.",
        ),
    ):
        function = option(function)
    return function


def state_of(
    tree: TripleTree,
    state: str | None,
    log: Path | None,
    describe: Path | None,
    episode: str | None,
    step: int | None,
) -> Any:
    """Return the one state that a command is about."""
    recorded = log_of(tree, log, describe)
    if recorded is None:
        if state is None:
            example = ", ".join(f"{name}=0" for name in tree.fitted_.schema.feature_names)
            raise click.UsageError(f'Which state? Give --state "{example}", or --log LOG --episode ID --step N.')
        if episode is not None or step is not None:
            raise click.UsageError("--episode and --step point into a log: give --log LOG as well.")
        from tripletree.asking.states import complete

        # Here, where messages call it by the name of the option.
        return complete(state, tree.fitted_, "state")
    if state is not None:
        raise click.UsageError("Give --state or --log, not both.")
    number = episode_of(recorded, episode)
    begin, end = (int(row) for row in recorded.starts[number : number + 2])
    chosen = step or 0
    if not 0 <= chosen < end - begin:
        called = recorded.episode_ids[number]
        raise ParameterError(f"Episode {called} has the steps 0 to {end - begin - 1}; got --step {chosen}.")
    return recorded.states[begin + chosen]


def written_state(tree: TripleTree, text: str) -> Any:
    """Return the numbers of a whole state given with --state."""
    from tripletree.asking.states import read_state

    return read_state(text, tree.fitted_.schema, "state", finite=False)


def episode_of(log: Log, episode: str | None) -> int:
    """Return the position of the episode with this id; that of the first one for None."""
    if episode is None:
        return 0
    known = [str(name) for name in log.episode_ids]
    if episode not in known:
        shown = listing(known, 6)
        raise ParameterError(f"The log has no episode `{episode}`; it has {shown}.{did_you_mean(episode, known)}")
    return known.index(episode)
