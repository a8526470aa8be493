"""The way in of ``tripletree`` and ``python -m tripletree``, small enough to be ready before anybody presses Ctrl-C."""

import os
import sys

# Matrices here are many and small, and threads over them mostly wait for each other; the kernel has threads of its own.
# To be said before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

TURN = 0.0005
"""Seconds for which a thread may keep Python to itself while another waits, in place of Python's 0.005.

A thread that works in NumPy needs Python for a moment before each of its steps. If it had to wait for 5 ms each time,
it would get hardly anything done beside one that runs Python all the time.
"""


def main() -> None:
    """Run the command line; whoever stops it while it is still being imported sees a word, not a traceback."""
    sys.setswitchinterval(TURN)
    try:
        from tripletree.cli import main as commands

        commands()
    except KeyboardInterrupt:
        sys.stderr.write("note: Stopped.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
