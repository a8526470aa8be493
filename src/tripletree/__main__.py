"""Run the command line with ``python -m tripletree``."""

from tripletree.cli import main

if __name__ == "__main__":
    main()
