"""``tripletree completion``: the script that teaches a shell to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tripletree.cli import console
from tripletree.cli.command import command

SHELLS = ("bash", "zsh", "fish")


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
        raise click.UsageError(f"click knows no {shell} here.")
    console.show_wide(made(ctx.find_root().command, {}, "tripletree", "_TRIPLETREE_COMPLETE").source())
