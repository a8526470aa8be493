"""One cycle of an acrobot that pumps itself up."""

from __future__ import annotations

from typing import Any

from tripletree import plot, record


def acrobot() -> Any:
    """Draw the cycle that the manual tells of: whoever pushes the way it swings, pumps."""
    return plot.rhythm(record("Acrobot-v1", lambda state: 2 if state[5] > 0 else 0, episodes=40))


FIGURES = {"acrobot-rhythm": acrobot}
