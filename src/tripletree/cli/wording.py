"""What to type in a shell: the library's messages, with every argument worded as an option of the running command."""

from __future__ import annotations

import shlex
from typing import Any

import click

from tripletree.cli.inputs import READING, ROLES
from tripletree.text import Message, Nothing, Option, message_of


def for_shell(said: str | BaseException, command: click.Command | None = None) -> str:
    """Return a message, or that of an error or a warning, in the shell's words.

    Parameters
    ----------
    said : str or exception
        What the library said.
    command : click command or None
        Whose options are meant; None: those of the command that runs.
    """
    if command is None:
        context = click.get_current_context(silent=True)
        command = click.Command("") if context is None else context.command
    text = message_of(said) if isinstance(said, BaseException) else said
    return text.worded(lambda option: word(option, command)) if isinstance(text, Message) else text


def word(option: Option, command: click.Command) -> str:
    """Return an argument as the command takes it; in Python's words, if the command has nothing like it.

    >>> grow = click.Command("grow", params=[click.Option(["--max-leaves"]), click.Option(["--endless"], is_flag=True)])
    >>> print(word(Option("max_leaves", 200), grow), word(Option("endless", True), grow))
    --max-leaves 200 --endless
    """
    name, value = option.name, option.value
    parameters = {parameter.name: parameter for parameter in command.params}
    if name == "path" and "out" in parameters:
        name = "out"  # what a method writes to, a command has as --out
    if name in ROLES and "column" in parameters:
        return f"--column {name}" if value is Nothing else f"--column {shlex.quote(f'{name}={_text(value)}')}"
    if (name in ROLES or (name in READING and name not in parameters)) and "describe" in parameters:
        # A command that asks a model reads its log by the model's own columns; more is said in a file.
        entry = str(option).replace("=", " = ", 1) if isinstance(value, str | list) else name
        entry = entry.replace("[..., ", '["...", ')  # TOML has no dots of its own
        return f"`{entry}` in --describe FILE.toml"
    if name not in parameters:
        return str(option)
    parameter = parameters[name]
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name
    flag = next((opt for opt in parameter.opts if opt.startswith("--")), parameter.opts[0])
    if value is False and parameter.secondary_opts:
        return parameter.secondary_opts[0]
    if value is None or value is False:
        return f"no {flag}"
    if value is Nothing or value is True:
        return flag
    if isinstance(value, dict):
        return " ".join(f"{flag} {shlex.quote(f'{_text(key)}={_text(item)}')}" for key, item in value.items())
    return f"{flag} {(parameter.metavar or 'VALUE') if value is ... else shlex.quote(_text(value))}"


def _text(value: Any) -> str:
    if value is ... or value == "...":
        return "NAME"
    if isinstance(value, list | tuple):
        # Dots in front of names can be typed: all the other columns.
        dots = len(value) > 1 and value[0] is ...
        return ",".join(["..."] * dots + [_text(item) for item in value[dots:]])
    return str(value)
