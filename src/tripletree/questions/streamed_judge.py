"""Judge a tree by a log on disk, piece by piece: is it calibrated, and where should it not be believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from tripletree.answers.judgement import CONFIDENCE, Calibration, Trust
from tripletree.log.disk import DiskLog
from tripletree.log.identity import episode_hashes
from tripletree.log.ranks import Ranks
from tripletree.log.schema import Schema
from tripletree.model.evaluate import check_same_schema, in_labels, sightings
from tripletree.model.fitted import Fitted
from tripletree.questions.judge import check_calibration, compared, shares_between, trust_of
from tripletree.scale.judging import valued
from tripletree.scale.passes import Chosen
from tripletree.scale.pieces import Span, Work
from tripletree.scale.session import Session

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NONE = Ranks.of([])


@dataclass(frozen=True, eq=False)
class Judging:
    """What every piece is asked.

    Attributes
    ----------
    work, fitted, about : Work, Fitted, str
        The pieces, the tree, and what its calibration is asked of.
    chosen : Chosen
        Which episodes of each piece count.
    places : Ranks
        Places among the predictions, while the borders between groups are looked for.
    edges : float64 array
        These borders.
    mean : float64 array of shape (groups,)
        What is observed in each group, when its spread is asked for.
    middle : float
        What is observed on average.
    """

    work: Work
    fitted: Fitted
    about: str
    chosen: Chosen
    places: Ranks = NONE
    edges: F64 = field(default_factory=lambda: np.zeros(0))
    mean: F64 = field(default_factory=lambda: np.zeros(0))
    middle: float = 0.0

    def compared(self, span: Span) -> tuple[F64, F64, F64]:
        """Return what is predicted and observed in the steps of the chosen episodes of a piece, and their weights."""
        log = self.work.log(span)
        rows = np.repeat(self.chosen[span.number], np.diff(log.starts))
        predicted, observed = compared(self.fitted, log, self.about, lambda: self.work.values(span, log))
        weight = np.ones(len(predicted)) if log.weights is None else log.weights
        return predicted[rows], observed[rows], weight[rows]


def calibration_on_disk(fitted: Fitted, disk: DiskLog, about: str, groups: int) -> Calibration:
    """Compare predictions with a log on disk; as `judge.calibration`."""
    check_calibration(fitted, about, groups)
    with Session.opened(disk) as session:
        check_same_schema(fitted.schema, session.seen, "log")
        fresh = sightings(fitted, _hashes(session, fitted))[2]
        unseen = bool(fresh.any())
        kept = fresh if unseen else np.ones(len(fresh), bool)
        chosen = _by_piece(session, kept)
        sent = replace(fitted, track=None, transitions=None)
        work = valued(session, fitted, chosen) if about == "value" else session.work(1.0)
        how = Judging(work, sent, about, chosen)
        number = int(np.diff(session.index.starts)[kept].sum())
        how = replace(how, edges=_borders(session, how, number, groups))
        steps, weight, square, predicted, observed, plain = _in_order(session, "adding up groups", add_groups, how)
        there, total = weight > 0, steps.sum()
        count = np.where(there, weight, 1.0)
        how = replace(how, mean=observed / count, middle=float(plain.sum() / total))
        around, inside = _in_order(session, "measuring groups", add_squares, how)
        spread, effective = np.sqrt(inside / count), count * count / np.where(there, square, 1.0)
        return Calibration(
            about=about,
            predicted=(predicted / count)[there],
            observed=how.mean[there],
            error=(spread / np.sqrt(effective))[there],
            count=steps[there].astype(np.int64),
            scale=1.0 if about == CONFIDENCE else float(np.sqrt(around.sum() / total)),
            episodes=int(kept.sum()),
            unseen=unseen,
        )


def trust_on_disk(fitted: Fitted, disk: DiskLog) -> Trust:
    """Return the doubts about a tree, with shares of a log on disk; as `judge.trust`."""
    with Session.opened(disk) as session:
        check_same_schema(fitted.schema, session.seen, "log")
        sent = replace(fitted, track=None, transitions=None)
        number, outside = np.zeros(fitted.tree.n_leaves, np.int64), 0
        for leaves, more in session.each("counting leaves", count_leaves, (session.work(1.0), sent)):
            number += leaves
            outside += more
        return trust_of(fitted, number, outside)


def count_leaves(common: tuple[Work, Fitted], spans: Sequence[Span]) -> tuple[I64, int]:
    """Return how many steps are in each leaf, and how many outside what the tree knows."""
    work, fitted = common
    number, outside = np.zeros(fitted.tree.n_leaves, np.int64), 0
    for span in spans:
        states = work.log(span).states
        number += np.bincount(fitted.tree.apply(states), minlength=len(number))
        outside += int(fitted.outside(states).sum())
    return number, outside


def _hashes(session: Session, fitted: Fitted) -> npt.NDArray[np.uint64]:
    """Return the hash of every episode, with its actions called as the tree calls them."""
    if not (fitted.schema.action.codes or session.seen.schema.action.codes):
        return session.hashes
    found = np.zeros(session.index.n_episodes, np.uint64)
    for parts in session.each("recognising episodes", hash_episodes, (session.work(1.0), fitted.schema)):
        for start, hashes in parts:
            first = int(np.searchsorted(session.index.starts, start, side="right")) - 1
            found[first : first + len(hashes)] += hashes
    return found


def hash_episodes(common: tuple[Work, Schema], spans: Sequence[Span]) -> list[tuple[int, npt.NDArray[np.uint64]]]:
    """Return the first row and the hashes of the episodes of each piece."""
    work, schema = common
    return [(span.start, episode_hashes(in_labels(schema, work.log(span)), span.before)) for span in spans]


def _by_piece(session: Session, kept: Mask) -> Chosen:
    starts, found = session.index.starts, {}
    for span in session.spans:
        first = int(np.searchsorted(starts, span.start, side="right")) - 1
        found[span.number] = kept[first : int(np.searchsorted(starts, span.start + span.rows, side="left"))]
    return found


def _borders(session: Session, how: Judging, number: int, groups: int) -> F64:
    """Return the borders between groups: quantiles of all predictions, as NumPy interpolates them."""
    virtual = (number - 1) * shares_between(groups)
    below = np.floor(virtual).astype(np.int64)
    places = Ranks.of([place for low in below.tolist() for place in (low, min(low + 1, number - 1))])
    while not places.found:
        counts = sum(session.each("looking for groups", count_predictions, replace(how, places=places)))
        places = places.narrowed(np.asarray(counts))
    pairs = np.array(places.numbers).reshape(-1, 2)
    return np.unique([np.quantile(pair, share) for pair, share in zip(pairs, virtual - below, strict=True)])


def count_predictions(how: Judging, spans: Sequence[Span]) -> I64:
    """Count predictions by what their places depend on next."""
    return np.asarray(sum(how.places.counted(how.compared(span)[0]) for span in spans))


def _in_order(session: Session, what: str, task: Callable[[Judging, list[Span]], dict[int, F64]], how: Judging) -> F64:
    """Add up all pieces in the order of the log, whoever was first: so rounded numbers add up to the same."""
    found: dict[int, F64] = {}
    for part in session.each(what, task, how):
        found |= part
    total: F64 = np.sum([found[span.number] for span in session.spans], axis=0)
    return total


def add_groups(how: Judging, spans: Sequence[Span]) -> dict[int, F64]:
    """Return sums over the groups of each piece.

    They are the number of steps, their weights, the squares of these, what is predicted and what is observed by weight,
    and what is observed as it is.
    """

    def numbers(_: I64, predicted: F64, observed: F64, weight: F64) -> list[F64]:
        return [np.ones(len(weight)), weight, weight * weight, predicted * weight, observed * weight, observed]

    return _by_group(how, spans, numbers)


def add_squares(how: Judging, spans: Sequence[Span]) -> dict[int, F64]:
    """Return sums of squares of each piece: around the mean of all steps, and by weight around that of their group."""

    def numbers(group: I64, _: F64, observed: F64, weight: F64) -> list[F64]:
        return [(observed - how.middle) ** 2, (observed - how.mean[group]) ** 2 * weight]

    return _by_group(how, spans, numbers)


def _by_group(
    how: Judging, spans: Sequence[Span], numbers: Callable[[I64, F64, F64, F64], list[F64]]
) -> dict[int, F64]:
    """Add up some numbers of each step, made of its group, of what is predicted and observed, and of its weight."""
    found, size = {}, len(how.edges) + 1
    for span in spans:
        predicted, observed, weight = how.compared(span)
        group = np.searchsorted(how.edges, predicted, side="right")
        made = numbers(group, predicted, observed, weight)
        found[span.number] = np.stack([np.bincount(group, part, size).astype(np.float64) for part in made])
    return found
