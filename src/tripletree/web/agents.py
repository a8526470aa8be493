"""The agent beside its tree: a file or a function that is asked about states, and the environment that draws them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import ParameterError
from tripletree.log.agents import act_of
from tripletree.model.fitted import Fitted
from tripletree.policy.flying import Airfield
from tripletree.policy.policy import check_features
from tripletree.web.frames import Frames
from tripletree.web.house import Beside

F64 = npt.NDArray[np.float64]


def agent_beside(
    fitted: Fitted, env: Any, agent: Any, *, trust: bool = False, normalize: Any = None, name: str = ""
) -> Beside:
    """Return an agent that can be asked what it does in recorded states.

    Parameters
    ----------
    fitted : Fitted
        The tree, whose features are the observations.
    env, agent, trust, normalize
        As in :func:`tripletree.record`; the environment's observations must be vectors of numbers.
    name : str
        What the agent is called; empty: by its file.
    """
    with Airfield(env, workers=1, trust=trust, normalize=normalize) as field:
        check_features(field.layout, fitted)
        space, world = field.world.observation_space, field.world
        if len(getattr(space, "shape", None) or ()) != 1 or getattr(space, "dtype", None) is None:
            raise ParameterError(
                "Only an agent that sees vectors of numbers can be asked about recorded states; observations of this "
                f"environment are {space}."
            )
        translation, seated = field.translation(fitted.schema.action), field.seated(agent)
        act: Callable[[F64], Any] = _asked(fitted, field, world, space, translation, seated, trust, normalize)
        # Asked once: an agent that cannot act on these observations is told of now, not at the first click.
        act(fitted.entry_points.middle.T[:1])
    called = name or (Path(agent).name if isinstance(agent, str | Path) else "agent")
    frames = Frames.of(env, translation) if isinstance(env, str) else None
    return Beside(act, called, env if isinstance(env, str) else "", frames)


def _asked(
    fitted: Fitted, field: Airfield, world: Any, space: Any, translation: Any, seated: Any, trust: bool, normalize: Any
) -> Callable[[F64], Any]:
    labels = fitted.schema.action.labels

    def act(states: F64) -> Any:
        seen = list(np.asarray(states, np.float64).astype(space.dtype))
        # A new one each time: what a recurrent agent remembers of other states has no place here.
        acting = act_of(seated, world, seed=0, trust=trust, normalize=normalize)
        said = acting(seen, [True] * len(seen), [True] * len(seen))
        done = np.array([field.moves.check(one) for one in said]).reshape(len(seen), -1)
        numbers = translation.numbers(done)
        if not labels:
            return numbers
        return np.array([labels[k] if k >= 0 else str(row[0]) for k, row in zip(numbers.tolist(), done, strict=True)])

    return act
