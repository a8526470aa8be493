"""Story: an episode cut into its visits to regions, with what the agent does in each and why that changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tripletree.answers.behaviour import CLEARLY, SURE, Column, Done, behaviour, columns, cycle, told
from tripletree.answers.change import Change
from tripletree.answers.rhythm import Rhythm, steps_text
from tripletree.answers.story import Jump, Phase, Story
from tripletree.answers.trajectories import PAPER, Trajectories, Trajectory
from tripletree.asking.levels import AUTO, Wanted, log_levels
from tripletree.asking.regions import BRIEF, Regions, read_regions, settled
from tripletree.asking.states import read_states
from tripletree.checks import check_whole, is_integer
from tripletree.errors import ParameterError
from tripletree.log.endings import ENDING_NAMES, TERMINATED
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema
from tripletree.model.fitted import Fitted
from tripletree.questions.criticality import moments
from tripletree.questions.explain_change import explain_change
from tripletree.questions.rhythm import rhythm as rhythm_of
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NOTHING = "The episode has no steps, so there is nothing to tell."

LARGE = 0.5
"""A jump of the value by this share of its standard deviation in the log is told."""

# On the logs that this was chosen on (landers, a cart-pole, a mountain car), jumps of the value are either undone
# within these steps, most of them in the next one, or last for tens of steps; hardly any lie between.
LASTING = 5
"""Steps that a jump of the value must outlast to count as a lasting one; with a larger ``shortest``, that many."""

CYCLES, HOLDS, LEAST_STEPS, COMPANY = 3, 0.8, 30, 20
"""A phase is told as a rhythm if it has so many cycles, which hold in this share of its steps, at least so many; and
episodes that a rhythm is looked for in, besides the one told."""
MOST = 6
"""Phases, at most: with the first line, moments of the value and how well it fits, a story has less than ten lines."""


class _Beat:
    """The rhythm of an episode, which is looked for when a phase is not told by constants alone."""

    def __init__(self, log: Log) -> None:
        self._log = log

    @classmethod
    def of(cls, one: _Episode, log: Log | None, episode: Any) -> Self | None:
        """Return the rhythm of an episode among some others of its log; None where nothing is recorded."""
        if one.log is None:
            return None
        if log is None or not is_integer(episode):
            return cls(one.log)
        others = np.delete(np.arange(log.n_episodes), int(episode))
        return cls(log.select([int(episode), *others[:: max(len(others) // COMPANY, 1)].tolist()]))

    @cached_property
    def found(self) -> Rhythm:
        """What repeats."""
        return rhythm_of(self._log)

    @staticmethod
    def constant(done: list[Done]) -> bool:
        """Return whether each column has one level nearly all the time."""
        return all(part.kind == "constant" and part.share >= SURE for part in done)

    def told(
        self, begin: int, end: int, columns: list[Column], recorded: I64, done: list[Done]
    ) -> tuple[str, list[Done]]:
        """Return what a phase repeats, in words, and what is done there; as it was where nothing is repeated."""
        if end - begin < LEAST_STEPS or not self.found or end - begin < CYCLES * self.found.period:
            return "", done
        place = self.found.phase[begin:end]
        if np.isnan(place).mean() > 1 - HOLDS:
            return "", done
        again = [
            was if column.number else cycle(column, place, self.found.period, recorded[:, k])
            for k, (column, was) in enumerate(zip(columns, done, strict=True))
        ]
        every = f"repeats every {steps_text(self.found.period)} steps"
        # A cycle is easier to keep in mind than rules, and told unless those fit clearly better.
        if np.nanmean([one.share for one in again]) >= np.nanmean([one.share for one in done]) - CLEARLY:
            return f"{every}, with ", again
        return f"{every}; ", done


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
    shortest: int = BRIEF,
    most: int = MOST,
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
        The attribute that regions are made for, and that is told.
    levels : "auto", int, sequence or mapping
        Levels of an attribute that is a number, as for rules.
    shortest : int
        Steps that a phase must last.
    most : int
        Most phases; longer episodes are told more coarsely.
    threads : int
        Threads that look for moments at which the choice matters.
    """
    check_whole(shortest, "shortest", 1, example=BRIEF)
    check_whole(most, "most", 1, example=MOST)
    one = _read(fitted, episode, log)
    ends = np.array([0, len(one.states)])
    regions = read_regions(fitted, about, levels, given=(one.states, ends))
    leaf = fitted.tree.apply(one.states)
    value = fitted.leaves.value_mean[leaf]
    predicted = regions.leaves[leaf]
    recorded = predicted if one.log is None else log_levels(fitted, regions.classes, one.log)
    region = regions.of(one.states)
    visits = cut(region, 1 if one.crossing else shortest, most)
    parts = columns(regions.classes)
    numbers = regions.numbers(one.log, leaf)
    # A number that is told as such is neither right nor wrong.
    worded = np.array([not column.number for column in parts])
    right = np.zeros(recorded.shape, bool)
    phases: list[Phase] = []
    rhythm = _Beat.of(one, log, episode)
    # Why a phase begins is asked from the last step of the one before, and the first of its own, in their regions: the
    # steps between them may belong to others, which are not told.
    last = 0
    for begin, end in visits:
        here = int(np.bincount(region[begin:end]).argmax())
        inside = begin + np.flatnonzero(region[begin:end] == here)
        done = [
            behaviour(fitted.schema, column, rule, one.states[begin:end], recorded[begin:end, k], numbers[begin:end, k])
            for k, (column, rule) in enumerate(zip(parts, regions.rules[here], strict=True))
        ]
        repeats = ""
        if rhythm is not None and not rhythm.constant(done):
            repeats, done = rhythm.told(begin, end, parts, recorded[begin:end], done)
        right[begin:end] = np.stack([part.right for part in done], axis=1)
        # What is told as before has not changed, whatever single states say.
        before = phases[-1].outcomes if phases else ("",) * len(done)
        new = [part.text != was for part, was in zip(done, before, strict=True)]
        texts = [told(column, part, one.log is not None) for column, part in zip(parts, done, strict=True)]
        phases.append(
            Phase(
                begin=begin,
                end=end,
                name=regions.names[here],
                region=here,
                behaviour=repeats + "; ".join(texts),
                outcomes=tuple(part.text for part in done),
                kinds=tuple(part.kind for part in done),
                agreement=None if one.log is None else tuple(part.share for part in done),
                interruptions=_left(region[begin:end] == here),
                value_begin=float(value[begin]),
                value_end=float(value[end - 1]),
                changes=_changes(fitted, regions, one.states, predicted, last, int(inside[0]), new) if begin else (),
            )
        )
        last = int(inside[-1])
    total = ending = None
    if one.log is not None:
        total = float(one.log.rewards.sum()) if fitted.schema.has_reward else None
        ending = ENDING_NAMES[one.log.endings[0]]
    elif one.way is not None and one.way.ends:
        ending = ENDING_NAMES[TERMINATED]
    return Story(
        title=one.title,
        about=about,
        phases=tuple(phases),
        # The paper's way goes through every leaf once, however long it stays there: nothing in it is brief.
        jumps=_jumps(fitted, one.states, value, 0 if one.crossing else max(shortest, LASTING)),
        steps=float(len(region) if one.way is None else one.way.duration),
        simulated=one.crossing,
        total=total,
        ending=ending,
        agreement=None if one.log is None or not worded.any() else float(right[:, worded].mean()),
        together=None if one.log is None or not worded.any() else float(right.all(axis=1).mean()),
        # Which the other episodes of the log show.
        moments=moments(fitted, log, episode, threads).moments if log is not None and is_integer(episode) else (),
    )


def cut(region: I64, shortest: int, most: int) -> list[tuple[int, int]]:
    """Return the visits to regions, without those that are too brief; ``shortest`` grows until there are few enough."""
    ends, wait = np.array([0, len(region)]), float(shortest)
    while True:
        first = np.flatnonzero(np.diff(settled(region, ends, wait), prepend=-1))
        if len(first) <= most:
            return list(zip(first.tolist(), [*first[1:].tolist(), len(region)], strict=True))
        wait *= 1.25


def _left(inside: Mask) -> int:
    """Return how often a place was left within some steps."""
    return int((inside[:-1] & ~inside[1:]).sum())


def _changes(
    fitted: Fitted, regions: Regions, states: F64, predicted: I64, last: int, begin: int, new: list[bool]
) -> tuple[Change, ...]:
    """Return why the prediction changed between two steps: one answer for each column that is told anew."""
    before, after = states[last], states[begin]
    found = []
    levels = (predicted[step].tolist() for step in (last, begin))
    for column, fresh, was, became in zip(regions.classes.columns, new, *levels, strict=True):
        if fresh and was != became:
            # Labels have no edges to cross.
            threshold = column.edges[became - 1 if became > was else became] if column.edges else None
            found.append(explain_change(fitted, before, after, column.attribute, threshold))
    return tuple(found)


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


def jumps(fitted: Fitted, log: Log, episode: int) -> tuple[Jump, ...]:
    """Return the jumps of the value that the story of an episode tells, without the rest of it."""
    states = log.states[log.starts[episode] : log.starts[episode + 1]]
    return _jumps(fitted, states, fitted.leaves.value_mean[fitted.tree.apply(states)], max(BRIEF, LASTING))


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
