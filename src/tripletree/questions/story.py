"""Story: an episode cut into phases of one behaviour, or of several that alternate, with the reason of every change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.change import Change
from tripletree.answers.story import Jump, Phase, Story, columns
from tripletree.answers.story import behaviours as behaviours_of
from tripletree.answers.trajectories import PAPER, Trajectories, Trajectory
from tripletree.asking.attribute import read_attribute
from tripletree.asking.levels import AUTO, Classes, Wanted, log_classes, read_levels
from tripletree.asking.states import read_states
from tripletree.checks import check_whole, is_integer
from tripletree.errors import ParameterError
from tripletree.log.endings import ENDING_NAMES, TERMINATED
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema
from tripletree.model.fitted import Fitted
from tripletree.questions.criticality import moments
from tripletree.questions.explain_change import explain_change
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

NOTHING = "The episode has no steps, so there is nothing to tell."

LARGE = 0.5
"""A jump of the value by this share of its standard deviation in the log is told."""

# On the logs that this was chosen on (landers, a cart-pole, a mountain car), jumps of the value are either undone
# within these steps, most of them in the next one, or last for tens of steps; hardly any lie between.
BRIEF = 5
"""Steps that a jump of the value must outlast to count as a lasting one; with a larger ``shortest``, that many."""

MOSTLY = 0.8
"""From this share of its steps on, a stretch of short runs counts as one behaviour with interruptions."""


@dataclass(frozen=True, eq=False)
class _Episode:
    """What a story is told of."""

    title: str
    states: F64
    log: Log | None = None
    way: Trajectory | None = None

    @property
    def crossing(self) -> bool:
        """Whether there is one state for each leaf, as on the paper's ways, rather than one for each step."""
        return self.way is not None and self.way.method == PAPER


def story(
    fitted: Fitted,
    episode: Any,
    log: Log | None = None,
    *,
    about: str = "action",
    levels: Wanted = AUTO,
    shortest: int = 3,
    most: int = 12,
    threads: int = 1,
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
    levels : "auto", int, sequence or mapping
        Levels of an attribute that is a number, as for rules.
    shortest : int
        Steps that a phase must last; what is shorter interrupts another phase or makes up an alternating one.
    most : int
        Most phases; longer episodes are told more coarsely.
    threads : int
        Threads that look for moments at which the choice matters.
    """
    check_whole(shortest, "shortest", 1, example=3)
    check_whole(most, "most", 1, example=12)
    classes = read_levels(fitted, read_attribute(fitted, about), levels)
    told = _read(fitted, episode, log)
    leaf = fitted.tree.apply(told.states)
    codes, value = classes.leaves[leaf], fitted.attributes.value_mean[fitted.tree.leaf_nodes[leaf]]
    stretches = cut(codes, 1 if told.crossing else shortest, most)
    behaviours = behaviours_of(
        columns(classes),
        [[(classes.parts(code), share) for code, share in zip(s.codes, s.shares, strict=True)] for s in stretches],
    )
    # Why a phase begins is asked from the last step at which the agent still behaved as before: the step just before
    # may belong to an interruption, which is not told.
    last = [_last(codes, stretch) for stretch in stretches]
    phases = tuple(
        Phase(
            begin=stretch.begin,
            end=stretch.end,
            behaviour=behaviour,
            outcomes=tuple(classes.names[code] for code in stretch.codes),
            interruptions=stretch.interruptions,
            value_begin=float(value[stretch.begin]),
            value_end=float(value[stretch.end - 1]),
            changes=_changes(fitted, classes, told.states, codes, before, stretch.begin) if stretch.begin else (),
        )
        for stretch, before, behaviour in zip(stretches, [0, *last[:-1]], behaviours, strict=True)
    )
    agreement = total = ending = None
    if told.log is not None:
        agreement = float((log_classes(fitted, classes, told.log) == codes).mean())
        total = float(told.log.rewards.sum()) if fitted.schema.has_reward else None
        ending = ENDING_NAMES[told.log.endings[0]]
    elif told.way is not None and told.way.ends:
        ending = ENDING_NAMES[TERMINATED]
    return Story(
        title=told.title,
        about=about,
        phases=phases,
        # The paper's way goes through every leaf once, however long it stays there: nothing in it is brief.
        jumps=_jumps(fitted, told.states, value, 0 if told.crossing else max(shortest, BRIEF)),
        steps=float(len(codes) if told.way is None else told.way.duration),
        simulated=told.crossing,
        total=total,
        ending=ending,
        agreement=agreement,
        # Which the other episodes of the log show.
        moments=moments(fitted, log, episode, threads).moments if log is not None and is_integer(episode) else (),
    )


def _read(fitted: Fitted, episode: Any, log: Log | None) -> _Episode:
    if isinstance(episode, Trajectories):
        if not episode:
            raise ParameterError(f"There is no trajectory to tell. {episode}")
        episode = episode[0]
    if isinstance(episode, Trajectory):
        if episode.nodes is None:
            raise ParameterError("A path has no states to explain changes by; simulate(...) makes a trajectory.")
        if episode.method != PAPER:
            # One state a step: in the last one, where it arrives, it does nothing any more.
            steps = max(round(episode.duration), 1)
            return _Episode("This trajectory", episode.nodes[:steps], way=episode)
        # The middle of each segment lies in the leaf that the segment crosses; corners lie on borders.
        middle = (episode.nodes[:-1] + episode.nodes[1:]) / 2
        states = middle if len(middle) == len(episode.leaves) else np.concatenate([middle, episode.nodes[-1:]])
        return _Episode("This trajectory", np.ascontiguousarray(states), way=episode)
    if is_integer(episode):
        if log is None:
            raise ParameterError(Message("Episode {} of which log? Give {} as well.", episode, Option("log", ...)))
        check_whole(episode, "episode", 0, log.n_episodes - 1)
        episode, title = log.select([int(episode)]), f"Episode {log.episode_ids[int(episode)]}"
    else:
        title = "This episode"
    if isinstance(episode, Log):
        check_same_schema(fitted.schema, episode, "log")
        if episode.n_episodes != 1:
            raise ParameterError(
                Message(
                    "A story is about one episode; this log has {}. Try {} with {}.",
                    episode.n_episodes,
                    Option("episode", 0),
                    Option("log", ...),
                )
            )
        return _Episode(title, episode.states, log=episode)
    if np.size(episode) == 0:
        raise ParameterError(NOTHING)
    states, _ = read_states(episode, fitted.schema, "episode")
    if not len(states):
        raise ParameterError(NOTHING)
    return _Episode("This sequence of states", states)


def _last(codes: I64, stretch: Stretch) -> int:
    """Return the last step of a stretch at which it is what it is said to be."""
    return stretch.begin + int(np.flatnonzero(np.isin(codes[stretch.begin : stretch.end], stretch.codes))[-1])


def _changes(fitted: Fitted, classes: Classes, states: F64, codes: I64, last: int, begin: int) -> tuple[Change, ...]:
    """Return why the behaviour changed between two steps: one answer for each column that changed its level."""
    before, after = states[last], states[begin]
    if classes.about.labels:
        return (explain_change(fitted, before, after),)
    was, became = (classes.parts(int(codes[step])) for step in (last, begin))
    found = []
    for column, one, other in zip(classes.columns, was, became, strict=True):
        if one != other:
            threshold = column.edges[other - 1 if other > one else other]
            found.append(explain_change(fitted, before, after, column.attribute, threshold))
    return tuple(found)


def _jumps(fitted: Fitted, states: F64, value: F64, brief: int) -> tuple[Jump, ...]:
    """Return the largest rise and the largest fall of the value, if they are large, in the order of time.

    A jump that is undone within ``brief`` steps is told only where no large one lasts; and a jump with the one that
    undoes it is one event, which is told once.
    """
    step = np.diff(value)
    least = LARGE * float(fitted.attributes.value_std[0])
    found: dict[int, int | None] = {}
    for way in (1, -1):
        large = np.flatnonzero(way * step >= least) if least > 0 else np.zeros(0, np.int64)
        lasted = {t: _undone(value, t, brief) for t in large.tolist()}
        pool = [t for t, steps in lasted.items() if steps is None] or list(lasted)
        if pool:
            largest = max(pool, key=lambda t: way * step[t])
            found[largest] = lasted[largest]
    if len(found) == 2:
        first, second = sorted(found)
        lasts = found[first]
        if lasts is not None and second <= first + lasts:
            # A brief rise before a fall far below the value that it rose from is but the beginning of that fall.
            del found[first if abs(step[second]) >= abs(step[first]) + least else second]
    return tuple(
        Jump(t + 1, explain_change(fitted, states[t], states[t + 1], "value"), found[t]) for t in sorted(found)
    )


def _undone(value: F64, t: int, brief: int) -> int | None:
    """Return how many steps the change after step ``t`` lasts, if at most ``brief``: until it is half undone."""
    middle = value[t] / 2 + value[t + 1] / 2
    back = np.flatnonzero((value[t + 2 : t + 2 + brief] > middle) == (value[t] > middle))
    return int(back[0]) + 1 if len(back) else None


@dataclass(frozen=True)
class Stretch:
    """Steps ``begin`` to ``end`` (not included).

    Attributes
    ----------
    begin, end : int
        Where it begins and ends.
    codes : tuple of int
        Its behaviours, the one with most steps first: one, or several that alternate.
    shares : tuple of float
        Their shares of the steps.
    interruptions : int
        Runs of other behaviours that were too short to count.
    """

    begin: int
    end: int
    codes: tuple[int, ...]
    shares: tuple[float, ...]
    interruptions: int = 0


def cut(codes: I64, shortest: int, most: int) -> list[Stretch]:
    """Return at most ``most`` stretches.

    Runs shorter than ``shortest`` interrupt the stretch that they are in; several of them in a row alternate. The last
    run is kept whatever its length. When there are too many stretches, ``shortest`` grows until there are not.
    """
    while True:
        found = _cut(codes, shortest)
        if len(found) <= most or shortest > len(codes):
            return found
        shortest += max(shortest // 8, 1)


def _cut(codes: I64, shortest: int) -> list[Stretch]:
    starts = np.append(0, np.flatnonzero(codes[1:] != codes[:-1]) + 1)
    ends = np.append(starts[1:], len(codes))
    long = ends - starts >= shortest
    long[-1] = True  # the end matters
    if len(long) > 1 and not long[-2]:
        long[-1] = ends[-1] - starts[-1] >= shortest  # unless it is part of an alternation
    # Runs that belong together: a long one alone, short ones in a row.
    first = np.flatnonzero(np.append(True, long[1:] | long[:-1]))
    stretches: list[Stretch] = []
    waiting = 0  # interruptions at the very beginning, which the first stretch takes in
    for run, after in zip(first, np.append(first[1:], len(long)), strict=True):
        begin, end = int(starts[run]), int(ends[after - 1])
        if not long[run] and end - begin < shortest and end < len(codes):
            if stretches:
                stretches[-1] = _longer(stretches[-1], end, int(after - run))
            else:
                waiting = int(after - run)
            continue
        kept, shares = _kept(codes[begin:end])
        if stretches and len(kept) == 1 and stretches[-1].codes == kept:
            stretches[-1] = _longer(stretches[-1], end, 0)
            continue
        others = int((codes[starts[run:after]] != kept[0]).sum()) if len(kept) == 1 else 0
        stretches.append(Stretch(begin if stretches else 0, end, kept, shares, waiting + others))
        waiting = 0
    return stretches


def _kept(codes: I64) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the behaviours of some steps with their shares; one alone when it has most of the steps."""
    found, steps = np.unique(codes, return_counts=True)
    order = np.argsort(-steps, kind="stable")
    if steps.max() >= MOSTLY * len(codes):
        return (int(found[order[0]]),), (1.0,)
    return tuple(found[order].tolist()), tuple((steps[order] / len(codes)).tolist())


def _longer(stretch: Stretch, end: int, interruptions: int) -> Stretch:
    return replace(stretch, end=end, interruptions=stretch.interruptions + interruptions)
