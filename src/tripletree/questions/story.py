"""Story: what the agent does along an episode, phase by phase, and why it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import is_integer
from tripletree.errors import ParameterError
from tripletree.log.endings import ENDING_NAMES, TERMINATED
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.model.judge import check_same_schema
from tripletree.questions.about import DERIVATIVE_OF, read_about
from tripletree.questions.answers import Answer
from tripletree.questions.levels import Levels, log_classes, read_levels
from tripletree.questions.phases import cut
from tripletree.questions.simulate import Trajectories, Trajectory
from tripletree.questions.states import read_states
from tripletree.questions.temporal import Change, explain_change
from tripletree.questions.words import stories

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

NOTHING = "The episode has no steps, so there is nothing to tell."

LARGE = 0.5
"""A jump of the value by this share of its standard deviation in the log is told."""


@dataclass(frozen=True, eq=False, repr=False)
class Phase(Answer):
    """A part of an episode in which the agent does one thing, or alternates between several.

    Attributes
    ----------
    begin, end : int
        Its steps, ``end`` not included; for a simulated trajectory, leaves of its path.
    behaviour : str
        What the agent does, in words: of an action with several dimensions what differs from the phase before.
    outcomes : tuple of str
        The same one by one: several when it alternates, the one with most steps first.
    interruptions : int
        Times that it did something else too briefly to be told.
    value_begin, value_end : float
        The tree's value of the first and the last state.
    changes : tuple of Change
        Why it began; empty for the first phase. Of an action with several dimensions, one for each that changed.
    """

    begin: int
    end: int
    behaviour: str
    outcomes: tuple[str, ...]
    interruptions: int
    value_begin: float
    value_end: float
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return stories.phase(self)


@dataclass(frozen=True, eq=False, repr=False)
class Jump(Answer):
    """A step at which the value changes much: ``step`` is the one after, ``change`` says why."""

    step: int
    change: Change

    def __str__(self) -> str:
        return stories.jump(self)


@dataclass(frozen=True, eq=False, repr=False)
class Story(Answer):
    """The phases of an episode, and why one follows the other.

    Attributes
    ----------
    title : str
        Whose story it is.
    about : str
        The attribute that makes the phases.
    phases : tuple of Phase
        The phases.
    jumps : tuple of Jump
        Where the value rises and falls most, if it does so noticeably.
    steps : float
        How long it takes; an estimate for a simulated trajectory.
    simulated : bool
        Whether it is a simulated trajectory.
    total : float or None
        The sum of rewards, when they are known.
    ending : {"terminated", "truncated", "unknown"} or None
        How the episode ended, when it is one.
    agreement : float or None
        The share of steps at which the log shows what the tree predicts, when there is a log.
    """

    title: str
    about: str
    phases: tuple[Phase, ...]
    jumps: tuple[Jump, ...]
    steps: float
    simulated: bool
    total: float | None
    ending: str | None
    agreement: float | None

    @property
    def changes(self) -> tuple[Change, ...]:
        """The reasons of all changes, in order."""
        return tuple(change for phase in self.phases for change in phase.changes)

    def __str__(self) -> str:
        return stories.story(self)


@dataclass(frozen=True, eq=False)
class _Episode:
    """What a story is told of."""

    title: str
    states: F64
    log: Log | None = None
    way: Trajectory | None = None


def story(
    fitted: Fitted,
    episode: Any,
    log: Log | None = None,
    *,
    about: str = "action",
    levels: int | Sequence[float] = 3,
    shortest: int = 3,
    most: int = 12,
) -> Story:
    """Return the story of an episode.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    episode : int, Log, Trajectory or states
        Position of an episode in ``log``; a log of one episode; a simulated trajectory; or states in their order.
    log : Log or None
        The log that ``episode`` counts in.
    about : str
        The attribute whose changes make the phases.
    levels : int or sequence of float
        Levels of an attribute that is a number, as for rules.
    shortest : int
        Steps that a phase must last; what is shorter interrupts another phase or makes up an alternating one.
    most : int
        Most phases; longer episodes are told more coarsely.
    """
    for name, number in (("shortest", shortest), ("most", most)):
        if not is_integer(number) or number < 1:
            raise ParameterError(f"{name} must be a whole number of at least 1; got {number!r}.")
    classes = read_levels(fitted, read_about(fitted, about), levels)
    told = _read(fitted, episode, log)
    leaf = fitted.tree.apply(told.states)
    codes, value = classes.leaves[leaf], fitted.attributes.value_mean[fitted.tree.leaf_nodes[leaf]]
    stretches = cut(codes, 1 if told.way is not None else shortest, most)
    behaviours = stories.behaviours(
        stories.columns(fitted.schema, classes.about, classes.edges),
        [[(_parts(classes, code), share) for code, share in zip(s.codes, s.shares, strict=True)] for s in stretches],
    )
    phases = tuple(
        Phase(
            begin=stretch.begin,
            end=stretch.end,
            behaviour=behaviour,
            outcomes=tuple(classes.names[code] for code in stretch.codes),
            interruptions=stretch.interruptions,
            value_begin=float(value[stretch.begin]),
            value_end=float(value[stretch.end - 1]),
            changes=_changes(fitted, classes, told.states, codes, stretch.begin) if stretch.begin else (),
        )
        for stretch, behaviour in zip(stretches, behaviours, strict=True)
    )
    agreement = total = ending = None
    if told.log is not None:
        agreement = float((log_classes(fitted, classes, told.log) == codes).mean())
        total, ending = float(told.log.rewards.sum()), ENDING_NAMES[told.log.endings[0]]
    elif told.way is not None and told.way.ends:
        ending = ENDING_NAMES[TERMINATED]
    return Story(
        title=told.title,
        about=about,
        phases=phases,
        jumps=_jumps(fitted, told.states, value),
        steps=float(len(codes) if told.way is None else told.way.duration),
        simulated=told.way is not None,
        total=total,
        ending=ending,
        agreement=agreement,
    )


def _read(fitted: Fitted, episode: Any, log: Log | None) -> _Episode:
    if isinstance(episode, Trajectories):
        if not episode:
            raise ParameterError(f"There is no trajectory to tell of. {episode}")
        episode = episode[0]
    if isinstance(episode, Trajectory):
        if episode.nodes is None:
            raise ParameterError("A path has no states to explain changes by; simulate(...) makes a trajectory.")
        # The middle of each segment lies in the leaf that the segment crosses; corners lie on borders.
        middle = (episode.nodes[:-1] + episode.nodes[1:]) / 2
        states = middle if len(middle) == len(episode.leaves) else np.concatenate([middle, episode.nodes[-1:]])
        return _Episode("This trajectory", np.ascontiguousarray(states), way=episode)
    if is_integer(episode):
        if log is None:
            raise ParameterError(f"Episode {episode} of which log? Try story({episode}, log=log).")
        if not 0 <= episode < log.n_episodes:
            raise ParameterError(
                f"episode must be a position from 0 to {log.n_episodes - 1} (the log has {log.n_episodes} episodes); "
                f"got {episode}."
            )
        episode, title = log.select([int(episode)]), f"Episode {episode}"
    else:
        title = "This episode"
    if isinstance(episode, Log):
        check_same_schema(fitted.schema, episode, "log")
        if episode.n_episodes != 1:
            raise ParameterError(
                f"A story is told of one episode; this log has {episode.n_episodes}. Try story(0, log=log)."
            )
        return _Episode(title, episode.states, log=episode)
    if np.size(episode) == 0:
        raise ParameterError(NOTHING)
    states, _ = read_states(episode, fitted.schema)
    if not len(states):
        raise ParameterError(NOTHING)
    return _Episode("This sequence of states", states)


def _parts(classes: Levels, code: int) -> tuple[int, ...]:
    """Return the level of each column of a class; the label's number for a discrete action."""
    shape = [len(ends) + 1 for ends in classes.edges]
    return tuple(int(part) for part in np.unravel_index(code, shape)) if shape else (int(code),)


def _changes(fitted: Fitted, classes: Levels, states: F64, codes: I64, begin: int) -> tuple[Change, ...]:
    """Return why the behaviour changed at a step: one answer for each column that changed its level."""
    before, after = states[begin - 1], states[begin]
    if not classes.edges:
        return (explain_change(fitted, before, after),)
    was, became = (_parts(classes, int(codes[step])) for step in (begin - 1, begin))
    found = []
    for k, (one, other) in enumerate(zip(was, became, strict=True)):
        if one != other:
            threshold = classes.edges[k][other - 1 if other > one else other]
            found.append(explain_change(fitted, before, after, _name(fitted, classes, k), threshold))
    return tuple(found)


def _name(fitted: Fitted, classes: Levels, k: int) -> str:
    about = classes.about
    if about.kind == "value":
        return "value"
    if about.kind == "action":
        return fitted.schema.action.names[about.columns[k]]
    return DERIVATIVE_OF + fitted.schema.feature_names[about.columns[k]]


def _jumps(fitted: Fitted, states: F64, value: F64) -> tuple[Jump, ...]:
    """Return the largest rise and the largest fall of the value, if they are large, in the order of time."""
    step = np.diff(value)
    least = LARGE * float(fitted.attributes.value_std[0])
    if not len(step) or not least > 0:
        return ()
    found = sorted({int(t) for t in (step.argmin(), step.argmax()) if abs(step[t]) >= least})
    return tuple(Jump(t + 1, explain_change(fitted, states[t], states[t + 1], "value")) for t in found)
