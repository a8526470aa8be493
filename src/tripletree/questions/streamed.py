"""Evidence of a log on disk: what its episodes really did, counted piece by piece; the numbers are those of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tripletree.answers.chance import Seen
from tripletree.asking.given import names_episodes
from tripletree.asking.places import Zone
from tripletree.errors import ParameterError
from tripletree.graph import count
from tripletree.graph.futures import FAR, Event, next_rows, outcomes
from tripletree.graph.nearest import MOST, chosen, nearest_episodes
from tripletree.graph.tally import ANY, Incidence, Tally
from tripletree.graph.transitions import Transitions
from tripletree.log.disk import DiskLog
from tripletree.log.recording import Recording
from tripletree.model.evaluate import check_same_schema
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import STARTS, Begin, Evidence, Visits, read_begin
from tripletree.scale.pieces import Span, Work
from tripletree.scale.session import Session
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Result = TypeVar("Result")


class Ahead(NamedTuple):
    """What is ahead of a piece in an episode that goes on: rows to what is asked for (None: never), and how it ends."""

    goal: int | None
    avoid: int | None
    ending: int
    final: bool


@dataclass(frozen=True, eq=False)
class Asked:
    """What is counted in every piece.

    Attributes
    ----------
    work, fitted : Work, Fitted
        The pieces, and the tree.
    first : dict of int to int
        The number of each piece's first episode.
    begin : Begin
        Where the question begins.
    rows : int64 array, or None
        Near a state: the rows that stand for it.
    goal, avoid : Zone
        What to reach, and before what; None where only neighbours are looked for.
    horizon : int
        The steps that count.
    given, ids : str or None, frozenset of str
        A condition on episodes, and those that it may name.
    ahead : dict of int to Ahead
        Of pieces whose last episode goes on.
    found : Incidence or None
        The share, where it is known and influences are to be added up.
    """

    work: Work
    fitted: Fitted
    first: dict[int, int]
    begin: Begin
    rows: I64 | None = None
    goal: Zone | None = None
    avoid: Zone | None = None
    horizon: int = ANY
    given: str | None = None
    ids: frozenset[str] = frozenset()
    ahead: dict[int, Ahead] = field(default_factory=dict)
    found: Incidence | None = None


class Told(NamedTuple):
    """A condition: as it can be asked again, in English, whether it is known only in hindsight, and who meets it."""

    text: str
    words: str
    hindsight: bool
    episodes: int


class Part(NamedTuple):
    """What was counted in a piece, whose episodes begin with this number."""

    first: int
    tally: Tally
    took: I64
    told: Told | None


@dataclass(frozen=True, eq=False)
class Place(Visits):
    """Where a question begins, on disk: ``rows`` are there only near a state; others are found as they are counted."""

    begin: Begin = STARTS
    only: str | None = None


class Streamed:
    """A log on disk that is open, and the tree that is asked; as `Evidence` for logs in memory."""

    def __init__(self, fitted: Fitted, session: Session) -> None:
        self.fitted, self.session = fitted, session
        # What other processes need not know stays here.
        self._sent = replace(fitted, track=None, transitions=None)
        self._work = session.work(1.0)
        begins = [span.start for span in session.spans]
        first = np.searchsorted(session.index.starts, begins, side="right") - 1
        self._first = {span.number: int(e) for span, e in zip(session.spans, first, strict=True)}
        self._told: Told | None = None

    def transitions(self) -> Transitions:
        """Return how the log moves from leaf to leaf, for the chain."""
        return self.session.transitions(self._work, self.fitted.tree)

    def sample(self) -> Evidence:
        """Return whole random episodes of up to a million steps, in memory."""
        some, _ = self.session.gathered(self._work)
        return Evidence.of(self.fitted, Recording.of(some), self.session.workers.number)

    def given(self, condition: Any) -> str | None:
        """Return a condition on episodes, if it can be tested piece by piece; None for no condition."""
        if condition is not None and any(span.before for span in self.session.spans):
            raise ParameterError(
                Message(
                    "Some episodes of this log are so long that they are worked on in pieces, and {} needs whole ones. "
                    "Leave it out, or give whole random episodes: {}.",
                    Option("given"),
                    Option("log", "log.sample(1_000_000)"),
                )
            )
        return None if condition is None else str(condition)

    def visits(self, start: Any, given: str | None = None) -> Place:
        """Return where a question begins; as `Evidence.visits`."""
        begin = read_begin(self.fitted, start)
        if begin.state is None:
            return Place(np.zeros(0, np.int64), begin.text, begin=begin, only=given)
        found = list(self._each("looking for neighbours", find_near, self._asked(begin, given)))
        episode, square, rows = (np.concatenate([part[k] for part in found]) for k in range(3))
        # Nearest first; of an episode in several pieces the first row that is as near as its nearest.
        order = np.lexsort((rows, episode, square))
        order = order[np.sort(np.unique(episode[order], return_index=True)[1])][:MOST]
        near = Visits.near(begin, *chosen(square[order], rows[order], self.fitted.span))
        return Place(near.rows, near.text, near.distance, near.outside, begin, given)

    def _asked(self, begin: Begin, only: str | None) -> Asked:
        ids = self.session.index.ids.astype(np.str_).tolist() if only is not None and names_episodes(only) else ()
        return Asked(self._work, self._sent, self._first, begin, given=only, ids=frozenset(ids))

    def chance(self, visits: Place, goal: Zone, avoid: Zone | None, within: int | None) -> count.Chance:
        """Count who reaches a zone, before another one and within so many steps; as `Evidence.chance`."""
        asked = self._prepared(visits, goal, avoid, ANY if within is None else within)
        tally, _ = self._counted(asked)
        group = None if self.session.index.groups is None else self.session.index.units
        if not tally.total:
            return count.chance_of(tally, None)
        found = tally.incidence()
        if found.complete:
            return count.chance_of(tally, found, group=group)
        influence = np.zeros(self.session.index.n_episodes)
        parts = self._each("weighing visits", weigh_visits, replace(asked, found=found))
        # In the order of the log, whoever was first: numbers that are rounded add up to the same.
        for _, first, sums in sorted(parts, key=lambda part: int(part[0])):
            influence[first : first + len(sums)] += sums
        if group is not None:
            influence = np.bincount(group, influence, len(influence)).astype(np.float64)
        return count.chance_of(tally, found, influence, group)

    def steps(self, visits: Place, goal: Zone, avoid: Zone | None) -> count.Steps:
        """Count how many steps it takes to reach a zone; as `Evidence.steps`."""
        group = None if self.session.index.groups is None else self.session.index.units
        return count.steps_of(*self._counted(self._prepared(visits, goal, avoid, ANY)), group)

    def _prepared(self, visits: Place, goal: Zone, avoid: Zone | None, horizon: int) -> Asked:
        rows = None if visits.begin.state is None else visits.rows
        asked = replace(self._asked(visits.begin, visits.only), rows=rows, goal=goal, avoid=avoid, horizon=horizon)
        return replace(asked, ahead=self._ahead(asked))

    def _ahead(self, asked: Asked) -> dict[int, Ahead]:
        """Return what is ahead of pieces that cut an episode, from the last one backwards."""
        cut = [span for span in self.session.spans if span.before]
        found: dict[int, Ahead] = {}
        for part in self.session.tell("looking ahead", look_ahead, asked, cut, [span.rows for span in cut]):
            found |= part
        ahead: dict[int, Ahead] = {}
        for span in reversed(cut):
            here = found[span.number]
            if here.ending < 0:
                later = ahead[span.number]
                here = Ahead(
                    here.goal if here.goal is not None or later.goal is None else span.rows + later.goal,
                    here.avoid if here.avoid is not None or later.avoid is None else span.rows + later.avoid,
                    later.ending,
                    later.final,
                )
            ahead[span.number - 1] = here
        return ahead

    def _each(self, what: str, task: Callable[[Asked, list[Span]], list[Result]], asked: Asked) -> Iterator[Result]:
        """Run a pass over all pieces, or over those that have visits where these are known."""
        spans = self.session.spans
        if asked.rows is not None and asked.given is None:
            spans = [
                span for span in spans if ((asked.rows >= span.start) & (asked.rows < span.start + span.rows)).any()
            ]
        for parts in self.session.each(what, task, asked, spans=spans):
            yield from parts

    def _counted(self, asked: Asked) -> tuple[Tally, I64]:
        number = self.session.index.n_episodes
        tally, took = Tally.empty(number, asked.horizon), np.zeros(number, np.int64)
        told: list[Told] = []
        for part in self._each("counting", count_visits, asked):
            tally.add(part.tally, part.first)
            took[part.first : part.first + len(part.took)] += part.took
            if part.told is not None:
                told.append(part.told)
        if told:
            self._told = told[0]._replace(episodes=sum(one.episodes for one in told))
        return tally, took

    def seen(self, visits: Place, episodes: int, rows: int, groups: int, only: str | None) -> Seen:
        """Return who was seen at the start; as `Evidence.seen`, of what was counted last."""
        told = None if only is None else self._told
        return Seen(
            start=visits.text,
            recorded=self.session.index.n_episodes if told is None else told.episodes,
            episodes=episodes,
            visits=rows if visits.distance is None else episodes,
            distance=visits.distance,
            outside=visits.outside,
            groups=None if self.session.index.groups is None else groups,
            group_name=self.session.index.group_name,
            given=None if told is None else told.text,
            given_words="" if told is None else told.words,
            hindsight=told is not None and told.hindsight,
        )


@contextmanager
def streamed(fitted: Fitted, disk: DiskLog, start: Any, given: Any) -> Iterator[tuple[Streamed, Transitions | None]]:
    """Open a log on disk to count its episodes from a start; with its moves, for the chain, if nothing is given."""
    # What is wrong with the question is said before anything is read.
    read_begin(fitted, start)
    if given is not None and not isinstance(given, str):
        raise ParameterError(
            Message(
                "For a log on disk {} must be text, such as {}; got {}.",
                Option("given"),
                Option("given", "return < 100"),
                type(given).__name__,
            )
        )
    with Session.opened(disk) as session:
        check_same_schema(fitted.schema, session.seen, "log")
        found = Streamed(fitted, session)
        yield found, found.transitions() if given is None else None


def _evidence(asked: Asked, span: Span) -> Evidence:
    """Return a piece with the leaves of its states; of an episode that goes on, its end is that of the whole."""
    found = Evidence.of(asked.fitted, Recording.of(asked.work.log(span)))
    if span.after and span.number in asked.ahead:
        ahead, episodes = asked.ahead[span.number], found.episodes
        endings, final = episodes.endings.copy(), episodes.final.copy()
        endings[-1], final[-1] = ahead.ending, ahead.final
        found = replace(found, episodes=replace(episodes, endings=endings, final=final, beyond=span.after))
    return found


def _events(asked: Asked, span: Span, found: Evidence) -> list[Event | None]:
    """Return where a piece is at the goal, and at what is to be avoided."""
    ahead = asked.ahead.get(span.number)
    events: list[Event | None] = []
    for zone, beyond in ((asked.goal, ahead and ahead.goal), (asked.avoid, ahead and ahead.avoid)):
        events.append(None if zone is None else replace(found.event(zone), beyond=beyond))
    return events


def look_ahead(asked: Asked, span: Span) -> dict[int, Ahead]:
    """Return where the first episode of a piece meets what is asked for, and how it ends; -1 if not here."""
    found = _evidence(replace(asked, ahead={}), span)
    rows: list[int | None] = []
    for event in _events(replace(asked, ahead={}), span, found):
        row = FAR if event is None else int(next_rows(found.episodes, event)[0])
        rows.append(None if row == FAR else row)
    goes_on = span.after > 0 and found.recording.n_episodes == 1
    ending = -1 if goes_on else int(found.episodes.endings[0])
    return {span.number: Ahead(rows[0], rows[1], ending, bool(found.episodes.final[0]))}


def _visits(asked: Asked, span: Span, found: Evidence) -> tuple[I64, Told | None]:
    """Return the rows of a piece from which the question begins, and what a condition on them means."""
    recording, told, among = found.recording, None, None
    only = found.given(asked.given, asked.ids)
    if only is not None:
        among = only.rows
        meeting = int(np.logical_or.reduceat(among, recording.starts[:-1]).sum())
        told = Told(only.text, only.words, only.hindsight, meeting)
    if asked.rows is not None:
        rows = asked.rows - span.start
        return rows[(rows >= 0) & (rows < span.rows)], told
    if asked.begin.zone is not None:
        rows = np.flatnonzero(asked.begin.zone.holds(recording.states, found.leaf))
    else:
        rows = recording.starts[:-1][span.before > 0 :]
    return rows if among is None else rows[among[rows]], told


def _fates(asked: Asked, span: Span) -> tuple[int, I64, npt.NDArray[np.uint8], I64, int, Told | None]:
    """Return what became of the visits of a piece: first episode, times, causes, episodes, their number, conditions."""
    found = _evidence(asked, span)
    rows, told = _visits(asked, span, found)
    goal, avoid = _events(asked, span, found)
    if goal is None:
        raise ValueError("nothing to reach")
    time, cause = outcomes(found.episodes, rows, goal, avoid)
    return asked.first[span.number], time, cause, found.episodes.of_row[rows], found.recording.n_episodes, told


def count_visits(asked: Asked, spans: Sequence[Span]) -> list[Part]:
    """Count what became of visits in some pieces."""
    parts = []
    for span in spans:
        first, time, cause, episode, number, told = _fates(asked, span)
        tally = Tally.of(time, cause, episode, number, asked.horizon)
        parts.append(Part(first, tally, count.times_of(time, cause, episode, number), told))
    return parts


def weigh_visits(asked: Asked, spans: Sequence[Span]) -> list[tuple[int, int, F64]]:
    """Return the sum of the visits' influence in each episode of some pieces: piece, first episode, sums."""
    parts = []
    for span in spans:
        first, time, cause, episode, number, _ = _fates(asked, span)
        if asked.found is None:
            raise ValueError("the share is not known")
        sums = np.bincount(episode, asked.found.influence(time, cause), number)
        parts.append((span.number, first, sums.astype(np.float64)))
    return parts


def find_near(asked: Asked, spans: Sequence[Span]) -> list[tuple[I64, F64, I64]]:
    """Return the episodes of some pieces that come nearest to a state: their numbers, squared distances, and rows."""
    parts = []
    for span in spans:
        found = _evidence(asked, span)
        if asked.begin.state is None:
            raise ValueError("no state")
        recording, fitted = found.recording, asked.fitted
        only = found.given(asked.given, asked.ids)
        among = None if only is None else only.rows
        # An episode that is cut may be nearer elsewhere.
        ends = [e for e, is_cut in ((0, span.before), (recording.n_episodes - 1, span.after)) if is_cut]
        episode, square, rows = nearest_episodes(
            recording.states,
            recording.starts,
            asked.begin.state,
            fitted.span,
            among,
            MOST,
            fitted.schema.periods,
            ends,
        )
        parts.append((episode + asked.first[span.number], square, rows + span.start))
    return parts
