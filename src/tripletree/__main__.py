"""The way in of ``tripletree`` and ``python -m tripletree``, small enough to be ready before anybody presses Ctrl-C."""

import atexit
import gc
import os
import sys

# Matrices here are many and small, and threads over them mostly wait for each other; the kernel has threads of its own.
# To be said before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Run the command line; whoever stops it while it is still being imported sees a word, not a traceback."""
    # What is there at the end goes with the process: to look for garbage among it takes as long as a small command.
    atexit.register(gc.freeze)
    try:
        from tripletree.cli import main as commands

        commands()
    except KeyboardInterrupt:
        sys.stderr.write("note: Stopped.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
