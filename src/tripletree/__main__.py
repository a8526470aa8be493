"""The way in of ``tripletree`` and ``python -m tripletree``, small enough to be ready before anybody presses Ctrl-C."""

import sys


def main() -> None:
    """Run the command line; whoever stops it while it is still being imported sees a word, not a traceback."""
    try:
        from tripletree.cli import main as commands

        commands()
    except KeyboardInterrupt:
        sys.stderr.write("note: Stopped.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
