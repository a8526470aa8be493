"""The command line: thin commands over the Python API; what a user does wrong is one line and exit code 2."""

from __future__ import annotations

from typing import Any

import click

from tripletree.cli import console
from tripletree.cli.demo import demo
from tripletree.cli.record import record
from tripletree.errors import TripleTreeError


class _UserError(click.ClickException):
    """A mistake of the user's: shown without a traceback."""

    exit_code = 2

    def show(self, file: Any = None) -> None:  # noqa: ARG002 - click's signature
        console.error(self.message)


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            with console.warnings_as_notes():
                return super().invoke(ctx)
        except TripleTreeError as error:
            raise _UserError(str(error)) from error
        except OSError as error:
            # A reader that went away (`| head`) has no name of a file, and click knows how to leave quietly.
            if error.filename is None:
                raise
            raise _UserError(f"{error.filename}: {error.strerror}") from error
        except KeyboardInterrupt:
            console.note("Stopped.")
            ctx.exit(130)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tripletree", message="%(prog)s %(version)s")
def main() -> None:
    """Understand what an autonomous agent does, from its log alone."""


main.add_command(demo)
main.add_command(record)
