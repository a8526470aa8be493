"""``tripletree explore``: the agent in the browser, served by this machine to itself."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tripletree.cli import console
from tripletree.cli.command import command, model_argument, out_option
from tripletree.cli.fly import place_of
from tripletree.cli.inputs import FILE, log_of, log_option, normalize_option, open_model, trust_option

if TYPE_CHECKING:
    from tripletree.web.house import Beside

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@command(
    "tripletree explore run.tripletree --log run.csv",
    "tripletree explore old.tripletree new.tripletree --port 8765 --no-browser",
)
@model_argument
@click.argument("other", required=False, type=click.Path(path_type=Path), metavar="[MODEL2]")
@log_option("What was recorded: actions, rewards, and growing again need it.")
@click.option("--log2", type=FILE, metavar="LOG", help="Another log, such as that of MODEL2, to find what changed.")
@click.option(
    "--agent", metavar="FILE", help="The agent itself: a .zip of Stable-Baselines3, an .onnx network or random."
)
@click.option(
    "--env",
    metavar="ID",
    help="Where it acts, such as LunarLander-v3; or one of the paper's agents: left, either, hurry, alive, lander.",
)
@normalize_option
@trust_option
@click.option("--port", type=click.IntRange(0, 65_535), default=0, metavar="N", help="The port.  [default: a free one]")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen. Any other address lets other machines in, without encryption.",
)
@out_option("Write the page to an .html file that can be mailed, instead of serving it.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page.  [default: open it]")
def explore(
    model: Path,
    other: Path | None,
    log: Path | None,
    log2: Path | None,
    describe: Path | None,
    agent: str | None,
    env: str | None,
    normalize: Path | None,
    trust: bool,
    port: int,
    host: str,
    browser: bool,
    out: Path | None,
) -> None:
    """Open a page in which to point at things and ask about them.

    The page comes from this machine and is for this machine only; its address holds a token that nobody guesses.
    Ctrl-C ends it.
    """
    from tripletree.about_logs import finders
    from tripletree.web.house import House
    from tripletree.web.serving import prepare

    tree = open_model(model)
    second = None if other is None else open_model(other)
    recorded = log_of(tree, log, describe)
    beside = _beside(tree, agent, env, normalize, trust)
    names = [str(path) if path else "" for path in (model, other, log, log2)]
    newer = log_of(tree, log2, describe)
    house = House(tree, second, recorded, beside, names, newer, finders())
    if out is not None:
        from tripletree.web.mailing import write_mailed

        write_mailed(house, out)
        house.close()
        console.show_wide(f"The page is in {out}. It answers what can be computed in it; the rest is frozen.")
        return
    serving = prepare(house, port, host)
    if host not in LOOPBACK:
        console.note(
            f"The server listens on {host}: whoever reaches this machine and knows the address can ask everything, and "
            "what is sent is not encrypted. Leave out --host to keep it to this machine."
        )
    console.show_wide(f"Open {serving.address}")
    console.flush()
    console.note("Ctrl-C ends it.")
    if browser:
        _open(serving.address)
    with _refusals_as_notes(), suppress(KeyboardInterrupt):
        serving.run()
    console.note("Stopped.")


def _beside(tree: Any, agent: str | None, env: str | None, normalize: Path | None, trust: bool) -> Beside | None:
    """Return who acts, if somebody was named."""
    from tripletree.web.agents import agent_beside

    if env is None:
        if agent is not None:
            raise click.UsageError("An agent acts in an environment: give --env ID as well.")
        if trust or normalize is not None:
            raise click.UsageError("--trust and --normalize are about an agent: give --agent FILE --env ID as well.")
        return None
    place, who = place_of(env, agent)
    name = env if agent is None else Path(agent).name
    return agent_beside(tree.fitted_, place, who, trust=trust, normalize=normalize, name=name)


def _open(address: str) -> None:
    """Open the page; where there is no browser, the address has been printed."""
    import webbrowser

    try:
        opened = webbrowser.open(address)
    except webbrowser.Error:
        opened = False
    if not opened:
        console.note("No browser could be opened here. Copy the address into one.")


class _refusals_as_notes(logging.Handler):  # noqa: N801 - used as a function is
    """Show the server's log as notes, while it runs."""

    def __enter__(self) -> None:
        logging.getLogger("tripletree.web").addHandler(self)

    def __exit__(self, *_: object) -> None:
        logging.getLogger("tripletree.web").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line; the traceback of a mistake of ours, too, so that it can be reported."""
        console.note(self.format(record))
