"""What commands share: help with examples, --debug, arguments; and ``tripletree completion``."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import click
from click.shell_completion import get_completion_class

from tripletree.cli import console
from tripletree.errors import ParameterError

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])
_DEBUG = "tripletree.debug"
SHELLS = ("bash", "zsh", "fish")
FOUND, CANNOT_TELL = 3, 4
"""Exit codes of a gate that found what it looks for, and of one that cannot tell; 1 and 2 are mistakes."""


class Command(click.Command):
    """A command whose help ends with examples.

    Parameters
    ----------
    examples : list of str
        Lines that work; tests run them.
    """

    def __init__(self, *args: Any, examples: tuple[str, ...], **options: Any) -> None:
        super().__init__(*args, **options)
        self.examples = examples
        self.params.append(_debug_option(hidden=True))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; a state or a log that is given as one is told where it goes."""
        takes_states = self._takes("--state")
        try:
            rest = super().parse_args(ctx, list(args))
        except click.UsageError as error:
            where = self._where(error, args)
            if where is None:
                raise
            raise click.UsageError(f"{error.format_message().rstrip('.')}. {where}", ctx) from None
        given = ctx.params.get("states")
        if takes_states and given is not None and _like_a_state(str(given)) and not Path(given).exists():
            raise click.UsageError(
                f"There is no file {given}. A state follows --state: --state {shlex.quote(str(given))}", ctx
            )
        return rest

    def _takes(self, option: str) -> bool:
        return any(option in param.opts for param in self.params)

    def _where(self, error: click.UsageError, args: list[str]) -> str | None:
        """Return which option a state or a log follows that was given without one; None if there was none."""
        extra = "unexpected extra argument" in error.message
        if extra and self._takes("--state") and (states := [arg for arg in args if _like_a_state(arg)]):
            return f"A state follows --state: --state {shlex.quote(states[-1])}"
        missing = isinstance(error, click.MissingParameter) and error.param and "--log" in error.param.opts
        # The first argument is the model; a file right after an option is that option's.
        alone = [arg for before, arg in pairwise(args) if not before.startswith("-") and Path(arg).exists()]
        if (missing or (extra and self._takes("--log"))) and alone:
            return f"A log follows --log: --log {shlex.quote(alone[-1])}"
        return None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        with formatter.section("Example" if len(self.examples) == 1 else "Examples"):
            for example in self.examples:
                # Not wrapped: a line to copy stays one line.
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")
        super().format_epilog(ctx, formatter)


def _like_a_state(argument: str) -> bool:
    """Tell whether an argument reads like ``pos=1.2, speed=0.03``, or like its numbers alone."""
    return bool(re.fullmatch(r"[^-=][^=]*=.+|\s*-?[\d.]+(e-?\d+)?(\s*,\s*-?[\d.]+(e-?\d+)?)+\s*", argument))


def command(*examples: str) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a function a command with these examples."""
    return click.command(cls=Command, examples=examples)


def import_ahead(*names: str) -> None:
    """Import modules that will be needed, while this thread does something that hardly needs Python: reads a file."""

    def work() -> None:
        # Whoever needs a module that is not there will say so; and a program that ends meanwhile has nothing to say.
        with suppress(Exception):
            for name in names:
                import_module(name)

    Thread(target=work).start()


def debugging(ctx: click.Context) -> bool:
    """Whether --debug was given, before the command or after."""
    return bool(ctx.find_root().meta.get(_DEBUG))


def with_debug(function: _Decorated) -> _Decorated:
    """Add the option --debug."""
    # click's own decorators leave options here for the command to come.
    function.__dict__.setdefault("__click_params__", []).append(_debug_option(hidden=False))
    return function


def _debug_option(hidden: bool) -> click.Option:
    def remember(ctx: click.Context, _: click.Parameter, given: bool) -> None:
        if given:
            ctx.find_root().meta[_DEBUG] = True

    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        hidden=hidden,
        callback=remember,
        help="Show where in the program an error comes from.",
    )


def file_to_write(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Refuse, before any work is done, a file that could not be written after it."""
    if path is None:
        return None
    folder = path.parent
    if not folder.is_dir():
        raise ParameterError(f"There is no folder {folder}. Make it first: mkdir -p {shlex.quote(str(folder))}")
    if path.is_dir():
        raise ParameterError(f"{path} is a folder. Give the name of a file in it.")
    effective = os.access in os.supports_effective_ids
    if not os.access(path if path.exists() else folder, os.W_OK, effective_ids=effective):
        raise ParameterError(f"{path} cannot be written: the {'file' if path.exists() else 'folder'} is read-only.")
    return path


model_argument = click.argument("model", type=click.Path(path_type=Path))
json_option = click.option("--json", "as_json", is_flag=True, help="Print data for programs instead of sentences.")
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")


def out_option(what: str, required: bool = False) -> Callable[[_Decorated], _Decorated]:
    """Return the option -o."""
    return click.option(
        "-o",
        "--out",
        type=click.Path(path_type=Path),
        callback=file_to_write,
        required=required,
        metavar="FILE",
        help=what,
    )


@command(
    'eval "$(tripletree completion bash)"    # in ~/.bashrc',
    'eval "$(tripletree completion zsh)"     # in ~/.zshrc, after compinit',
    "tripletree completion fish > ~/.config/fish/completions/tripletree.fish",
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Let your shell complete commands and options.

    Prints a script for bash, zsh or fish.
    """
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"Completion for {shell} is not available here.")
    console.show_wide(made(ctx.find_root().command, {}, "tripletree", "_TRIPLETREE_COMPLETE").source())
