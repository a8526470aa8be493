"""The command line: thin commands over the Python API; a user's mistake is a line, never a traceback."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from tripletree import __version__
from tripletree.checks import did_you_mean
from tripletree.cli import console
from tripletree.cli.command import debugging, with_debug
from tripletree.cli.wording import for_shell
from tripletree.errors import TripleTreeError
from tripletree.text import visible

# Commands are imported when they are called: the list of commands and a shell's completion do not wait for them.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "From an agent or a log to a model": {
        "explain-agent": ("agents", "Record an agent, grow a tree on the log and write a report, in one go."),
        "record": ("agents", "Record an agent in an environment, as a log of whole episodes."),
        "check": ("logs", "List every problem in a log at once."),
        "memory": ("logs", "Show whether what the agent does depends on what came before."),
        "drift": ("logs", "Show whether the agent changes within the log."),
        "diff": ("compare", "Tell what changed between two logs."),
        "outcome": ("logs", "Show how many episodes succeed, and what failures share."),
        "require": ("gates", "Check that the episodes of a log do what is demanded of them."),
        "failures": (
            "incidents",
            "Brief on the episodes that failed: from when on, what crossed there, what they share.",
        ),
        "world": ("logs", "Show what the log tells of the world: rates, limits, and how episodes begin and end."),
        "grow": ("trees", "Grow a tree on a log and save it."),
        "weights": ("trees", "Compare the weights of action, value and derivative."),
        "info": ("trees", "Show what a model holds and how good it is."),
    },
    "What the agent does": {
        "predict": ("ask", "Predict what the agent does in a state, how well it does and what comes next."),
        "attribute": ("ask", "Show how much each feature contributed to what the tree predicts."),
        "explain": (
            "ask",
            "Explain why the agent does what it does in a state, what would change that, or why it changed.",
        ),
        "changes": ("ask", "Explain each time that the prediction changes along the episodes of a log."),
        "story": ("ask", "Tell an episode phase by phase."),
        "criticality": ("ask", "Show where the choice matters, and the moments of an episode because of it."),
        "rules": ("ask", "Show what the agent does as a few rules."),
        "outline": ("judge", "Show the model from afar."),
        "importance": ("judge", "Show how much each feature matters."),
        "effects": ("judge", "Show which way, and how far, each feature moves the prediction."),
        "explore": ("explore", "Open a page in which to point at things and ask about them."),
        "plot": ("show", "Draw a picture of a model."),
        "report": ("show", "Write one HTML file that shows what the agent does."),
        "export": ("export", "Write a model as C, Python, ONNX, Graphviz or JSON."),
    },
    "How it moves": {
        "chance": ("moves", "Show how likely it is to get somewhere, how long it takes, and where time is spent."),
        "futures": ("moves", "Show the commonest futures from here."),
        "paths": ("moves", "Find ways from one place to another."),
        "simulate": ("moves", "Simulate trajectories from one place to another."),
        "rollouts": ("moves", "Draw journeys over the leaves."),
        "transitions": ("moves", "Print how the log moves from leaf to leaf."),
        "rhythm": ("logs", "Tell whether the agent moves in a rhythm, and where it breaks."),
    },
    "How far to trust a model": {
        "held-out": ("judge", "Show how good the model is on episodes that it has not seen."),
        "losses": ("judge", "Print action, value and derivative loss on a log."),
        "calibration": ("judge", "Compare predictions with what a log shows."),
        "trust": ("judge", "Show where not to trust the model."),
        "stability": ("judge", "Show whether another log would have said the same."),
        "fidelity": ("fly", "Fly the tree beside its agent, to see who gets more and where they agree."),
        "refine": ("fly", "Let the tree fly, ask the agent what it would have done, and grow again on both."),
    },
    "More": {
        "demo": ("demo", "Grow trees on two built-in logs, ask them questions and write reports."),
        "reproduce": ("demo", "Run the paper's experiments and check its claims."),
        "completion": ("command", "Let your shell complete commands and options."),
    },
}
"""The commands by topic: the module of each, and its summary."""
COMMANDS = {name: found for section in SECTIONS.values() for name, found in section.items()}


class _UserError(click.ClickException):
    """A mistake in what the user gave: shown without a traceback."""

    exit_code = 1

    def show(self, file: Any = None) -> None:  # noqa: ARG002 - click's signature
        console.error(self.message)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [*COMMANDS, *self.commands]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in COMMANDS:
            module, _ = COMMANDS[name]
            command: click.Command = getattr(import_module(f"tripletree.cli.{module}"), name.replace("-", "_"))
            return command
        return super().get_command(ctx, name)

    def resolve_command(
        self, ctx: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            raise click.UsageError(f"There is no command `{name}`.{did_you_mean(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, arguments)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in commands.items()])

    def main(self, *args: Any, **options: Any) -> Any:
        for name in ("stdout", "stderr"):
            # Closed by the shell (>&-): what would be printed goes nowhere. Opened at once, before a file that is
            # written takes the free number.
            if getattr(sys, name) is None:
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for as long as the program runs
        return super().main(*args, **options)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _in_our_words():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _in_our_words():
            return self._invoke(ctx)

    def _invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            # A terminal that knows no "±" gets a question mark rather than a traceback.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        try:
            with console.warnings_as_notes():
                result = super().invoke(ctx)
                # Here, where a full disk can still be reported.
                sys.stdout.flush()
                return result
        except (TripleTreeError, OSError, MemoryError) as error:
            if debugging(ctx) or _reader_went_away(error):
                raise
            if isinstance(error, OSError) and not isinstance(error, TripleTreeError) and error.filename is None:
                _give_up_output()
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            raise _UserError(_line(error, command)) from error


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Say it when somebody presses Ctrl-C, and show the words of click, which may hold names, as they can be seen."""
    try:
        yield
    except KeyboardInterrupt:
        console.note("Stopped.")
        sys.exit(130)
    except click.ClickException as error:
        vars(error)["message"] = visible(error.message)  # which click means to be final
        raise


def _reader_went_away(error: BaseException) -> bool:
    """Whether this is `| head` having seen enough; click knows how to leave quietly."""
    return isinstance(error, OSError) and error.errno == errno.EPIPE


def _give_up_output() -> None:
    """Send what could not be written nowhere: Python would try again at its exit, and leave with a code of its own."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _line(error: BaseException, command: click.Command | None) -> str:
    """Return what went wrong in the words of the command that was typed."""
    if isinstance(error, MemoryError):
        return "There is not enough memory for this. Try a part of the log."
    if isinstance(error, OSError) and not isinstance(error, TripleTreeError):
        why = error.strerror or str(error)
        return f"{error.filename}: {why}." if error.filename is not None else f"The output cannot be written: {why}."
    return for_shell(error, command)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`tripletree COMMAND --help` shows examples. Exit codes: 0 fine, 1 something in your data or arguments is "
    "wrong, 2 the command line itself is wrong, 130 stopped by Ctrl-C. A gate such as require has two more: 3 it does "
    "not hold, 4 that cannot be told.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@with_debug
def main() -> None:
    """Understand what an autonomous agent does, from its log alone.

    Begin with `tripletree demo`, or with a log of your own: `tripletree check run.csv`.
    """
