"""Episodes: which recorded ones meet a condition, how long they are, how they fared and ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree.answers.episodes import Episodes
from tripletree.asking.given import episodes_given
from tripletree.errors import ParameterError
from tripletree.log.endings import ENDING_NAMES
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence, recorded
from tripletree.text import Message, Option


def episodes(
    fitted: Fitted, found: Evidence | None, given: Any = None, success: str = "", kept: bool = False
) -> Episodes:
    """Return recorded episodes.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    found : Evidence or None
        The episodes; None where none are on record.
    given : str, bool array or None
        Which of them, as in `TripleTree.chance`; it must speak of episodes, not of moments.
    success : str
        Which of them succeed, as a condition; empty where nobody said it.
    kept : bool
        Whether they are those that the model keeps.
    """
    found = recorded(found)
    recording, only = found.recording, found.given(given)
    if only is not None and only.episodes is None:
        raise ParameterError(
            Message(
                "{} is about episodes here, but `after` is about moments. Try visits (...) or ends (...) instead.",
                Option("given"),
            )
        )
    chosen = np.flatnonzero(np.ones(recording.n_episodes) if only is None else np.asarray(only.episodes))
    good = episodes_given(fitted.schema, recording, success, "success") if success else None
    groups = None
    if recording.groups is not None and recording.group_labels is not None:
        groups = tuple(recording.group_labels[recording.groups[chosen]].tolist())
    return Episodes(
        episode=chosen,
        names=tuple(recording.ids[chosen].tolist()),
        length=np.diff(recording.starts)[chosen],
        total=recording.returns[chosen] if fitted.schema.has_reward else None,
        ending=tuple(ENDING_NAMES[code] for code in recording.endings[chosen].tolist()),
        success=None if good is None or good.episodes is None else good.episodes[chosen],
        group=groups,
        recorded=recording.n_episodes,
        given=None if only is None else only.text,
        meaning="" if good is None else good.text,
        kept=kept,
    )
