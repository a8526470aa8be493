"""A tree and a log on disk: losses at every size, how the log moves from leaf to leaf, and predictions as files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tripletree.checks import listing
from tripletree.errors import LogError
from tripletree.graph.markov import check_markov
from tripletree.graph.transitions import Transitions, leaves_of
from tripletree.leaves.linear_losses import Errors, linear_errors
from tripletree.leaves.losses import WeightedErrors, curve_of, weighted_errors
from tripletree.leaves.sums import LeafSums
from tripletree.log.categories import expand
from tripletree.log.coerce import Array
from tripletree.log.derive import NOISE
from tripletree.log.disk import DiskLog, Resources
from tripletree.log.disk_files import iter_rows
from tripletree.log.disk_holes import sources_of
from tripletree.log.findings import Findings
from tripletree.log.log import Log
from tripletree.log.parquet_reader import INSTALL
from tripletree.log.roles import listed
from tripletree.log.sources import library
from tripletree.log.tables import add_column
from tripletree.model.bootstrap import settles
from tripletree.model.evaluate import check_same_schema, known_codes
from tripletree.model.fit import available_cores
from tripletree.model.fitted import Fitted
from tripletree.scale import passes
from tripletree.scale.executors import close_workers, make_workers
from tripletree.scale.pieces import Settled, Span, Work
from tripletree.scale.session import Session, merged
from tripletree.tree.parts import Measured, Model
from tripletree.writing import reason, shown

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Sums = TypeVar("Sums", Errors, WeightedErrors)


def losses_on_disk(fitted: Fitted, disk: DiskLog) -> F64:
    """Return the losses of every leaf count on a log on disk, shape (leaf counts, 3); as `model.evaluate.judge`."""
    with Session.opened(disk) as session:
        check_same_schema(fitted.schema, session.seen, "log")
        return curve_on(session, fitted)


def transitions_on_disk(fitted: Fitted, disk: DiskLog) -> Transitions:
    """Return how a log on disk moves over the leaves of a tree; the chain is checked on up to a million steps of it."""
    with Session.opened(disk) as session:
        check_same_schema(fitted.schema, session.seen, "log")
        work = session.work(1.0)
        found = session.transitions(work, fitted.tree)
        some, _ = session.gathered(work)
        leaf, final = leaves_of(fitted.tree, some, session.workers.number)
        return replace(found, markov=check_markov(found, leaf, final, some))


def some_episodes(fitted: Fitted, disk: DiskLog) -> Log:
    """Return whole random episodes of up to a million steps of a log on disk, for what is asked about a tree."""
    with Session.opened(disk) as session:
        check_same_schema(fitted.schema, session.seen, "log")
        return session.gathered(session.work(1.0))[0]


@dataclass(frozen=True, eq=False)
class Judging:
    """What every piece is judged by: the tree, sizes of the columns, the unit of the value, and the mean weight."""

    fitted: Fitted
    sums: LeafSums
    unit: float
    mean_weight: float


def curve_on(session: Session, fitted: Fitted) -> F64:
    """Return the losses of every leaf count on a log that is open."""
    tree, attributes = fitted.tree, fitted.attributes
    # What other processes need not know stays here.
    sent = replace(fitted, track=None, transitions=None)
    work = valued(session, fitted)
    ranges: Measured = merged(
        session.each("measuring ranges", passes.measure_ranges, (work, Model(work.schema, (1.0, 1.0, 1.0), "sigma")))
    )
    sizes = [np.maximum(*map(np.abs, ranges.closed(group))) for group in range(3)]
    states = np.maximum(*map(np.abs, session.seen.states))
    sums = LeafSums.sized(work.schema, (sizes[0], sizes[1], sizes[2], states), tree.n_leaves)
    unit = max(float(sizes[1][0]), float(np.abs(attributes.value_mean).max()))
    how = Judging(sent, sums, unit, session.mean_weight)
    scales = fitted.action_scale, fitted.derivative_scale
    if fitted.model is not None:
        return _in_order(session, add_errors, work, how).curve(tree, unit)
    if session.weights is not None:
        return _in_order(session, add_weighted, work, how).curve(tree, attributes, *scales, unit, fitted.costs)
    table: I64 | None = None
    added: LeafSums | None = None
    for more, labels in session.each("judging", add_leaves, (work, how)):
        table = labels if table is None else table + labels
        if added is None:
            added = more
        else:
            added.merge(more)
    if added is None:
        raise ValueError("no pieces")
    discrete = attributes.action_count is not None
    return curve_of(tree, attributes, *scales, added, table if discrete else None, fitted.costs)


def _in_order(
    session: Session, task: Callable[[tuple[Work, Judging], list[Span]], dict[int, Sums]], work: Work, how: Judging
) -> Sums:
    """Add up the errors of all pieces in the order of the log, whoever was first: they are rounded."""
    found: dict[int, Sums] = {}
    for part in session.each("judging", task, (work, how), len(session.spans)):
        found |= part
    total = found[session.spans[0].number]
    for span in session.spans[1:]:
        total = total + found[span.number]
    return total


def valued(session: Session, fitted: Fitted, chosen: passes.Chosen | None = None) -> Work:
    """Return the work on a log with the values that a tree gives it, as `model.evaluate.log_values` does.

    Whether all values are the same is told by the episodes that were ``chosen``; by default by all.
    """
    attributes = fitted.attributes
    work = session.work(float(fitted.options["gamma"]))
    if settles(fitted.options) and session.truncated():
        settled = Settled(fitted.tree, attributes.value_mean[fitted.tree.leaf_nodes])
        work = replace(work, settled=settled).carried(session.spans)
    found = list(session.each("measuring values", passes.value_range, (work, chosen)))
    low, high = min(pair[0] for pair in found), max(pair[1] for pair in found)
    constant, most = float(attributes.value_mean[0]), session.seen.rewards
    if high - low <= NOISE * max(abs(low), abs(high), most):
        low = high = low / 2 + high / 2
        work = replace(work, flat=low)
    off = max(abs(low - constant), abs(high - constant))
    if not attributes.value_std[0] and off <= NOISE * max(abs(constant), most):
        work = replace(work, flat=constant)
    return work


def _codes(fitted: Fitted, log: Log) -> npt.NDArray[np.int32] | None:
    return known_codes(fitted, log) if fitted.schema.action.kind == "discrete" else None


def add_errors(common: tuple[Work, Judging], spans: Sequence[Span]) -> dict[int, Errors]:
    """Return the errors of linear leaves in each piece."""
    work, how = common
    fitted, found = how.fitted, {}
    if fitted.second is None:
        raise ValueError("the tree has no linear models")
    for span in spans:
        log = work.log(span)
        values, scales = work.values(span, log), (fitted.action_scale, fitted.derivative_scale)
        found[span.number] = linear_errors(
            fitted.tree,
            fitted.attributes,
            fitted.second,
            scales,
            how.unit,
            log,
            values,
            _codes(fitted, log),
            1,
            fitted.costs,
            how.mean_weight,
        )
    return found


def add_weighted(common: tuple[Work, Judging], spans: Sequence[Span]) -> dict[int, WeightedErrors]:
    """Return the errors of leaves that predict means in each piece, by the weights of its steps."""
    work, how = common
    fitted, found = how.fitted, {}
    for span in spans:
        log = work.log(span)
        found[span.number] = weighted_errors(
            fitted.tree,
            fitted.attributes,
            fitted.action_scale,
            fitted.derivative_scale,
            how.unit,
            log,
            np.asarray(log.weights) / how.mean_weight,
            work.values(span, log),
            _codes(fitted, log),
            fitted.tree.apply(log.states),
        )
    return found


def add_leaves(common: tuple[Work, Judging], spans: Sequence[Span]) -> tuple[LeafSums, I64]:
    """Return the sums of all leaves, and how often each label of the tree is there."""
    work, how = common
    fitted, sums = how.fitted, how.sums.copy()
    shape = (fitted.tree.n_leaves, len(fitted.schema.action.labels))
    table = np.zeros(shape, np.int64)
    for span in spans:
        log = work.log(span)
        leaf = fitted.tree.apply(log.states)
        sums.add(log, work.values(span, log), leaf)
        codes = _codes(fitted, log)
        if codes is not None:
            place = leaf[codes >= 0].astype(np.int64) * shape[1] + codes[codes >= 0]
            table += np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)
    return sums, table


def write_predictions(fitted: Fitted, disk: DiskLog, folder: str | os.PathLike[str]) -> list[Path]:
    """Write what a tree predicts in every row of a log on disk: a Parquet file for each of its files, row by row.

    Where a part of the state is missing, so is the prediction.
    """
    names = list(disk.features)
    if names != list(fitted.schema.feature_names):
        raise LogError(
            f"The log has the features {listing(names)}, the tree was grown on {listing(fitted.schema.feature_names)}."
        )
    out = Path(folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LogError(f"The folder {shown(out)} cannot be made: {reason(error)}.") from None
    if out.resolve() in {Path(file.path).resolve().parent for file in disk.files}:
        raise LogError(f"{shown(out)} is the folder of the log itself: predictions would replace it. Name another.")
    job = Writing(replace(fitted, track=None, transitions=None), replace(disk, how=Resources(), only=None), str(out))
    workers = make_workers(disk.how.executor, disk.how.workers or available_cores(), disk.how.scheduler)
    finished = False
    done = 0
    try:
        for rows in workers.map(predict_file, job, range(len(disk.files))):
            done += rows
            if disk.how.progress is not None:
                disk.how.progress("predicting", done, disk.n_rows, 0, f"{workers.number} workers")
        finished = True
    finally:
        close_workers(workers, at_once=not finished)
    return [out / Path(file.path).name for file in disk.files]


@dataclass(frozen=True, eq=False)
class Writing:
    """Predictions of which tree, for which log, and where they go."""

    fitted: Fitted
    disk: DiskLog
    folder: str


def predict_file(job: Writing, number: int) -> int:
    """Write the predictions for one file; it is there as a whole or not at all. Returns its rows."""
    arrow = library("pyarrow", "Writing Parquet files", INSTALL)
    parquet = library("pyarrow.parquet", "Writing Parquet files", INSTALL)
    roles = job.disk.roles
    features = listed(roles["features"])
    file = job.disk.files[number]
    target = Path(job.folder) / Path(file.path).name
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    columns = sources_of(job.disk, features)
    writer: Any = None
    findings = Findings(shown(file.path))
    try:
        for batch in iter_rows([file], file.begin, file.begin + file.rows, columns):
            table: dict[str, Array] = {}
            for name, values in batch.items():
                add_column(table, name, values, findings)
            names, found = listed(roles.get("feature_names")) or features, [table[name] for name in features]
            made = expand(names, found, None, roles.get("kinds") or {}, False, findings)
            findings.stop_if_failed()
            states = np.stack([np.asarray(column, np.float64) for column in made.states], axis=1)
            # A row without a state has an empty cell in every column.
            empty = np.isnan(states).any(axis=1)
            states[empty] = 0.0
            told = arrow.table(
                {name: arrow.array(values, mask=empty) for name, values in told_columns(job.fitted, states).items()}
            )
            if writer is None:
                writer = parquet.ParquetWriter(draft, told.schema)
            writer.write_table(told)
        writer.close()
        os.replace(draft, target)
    except OSError as error:
        raise LogError(f"{shown(target)} cannot be written: {reason(error)}.") from None
    finally:
        draft.unlink(missing_ok=True)
    return file.rows


def told_columns(fitted: Fitted, states: F64) -> dict[str, Any]:
    """Return leaf, action and value in each state, and whether it lies outside what the tree knows."""
    leaf = fitted.tree.apply(states)
    told, part, schema = fitted.told(states, leaf), fitted.targets, fitted.schema
    found: dict[str, Any] = {"leaf": leaf, "outside": fitted.outside(states)}
    if schema.has_action and schema.action.kind == "discrete":
        found["action"] = np.array(schema.action.labels)[told[:, part["action"]].argmax(axis=1)]
    elif schema.has_action:
        found |= dict(zip(schema.action.names, told[:, part["action"]].T, strict=True))
    if schema.has_reward:
        found["value"] = told[:, part["value"]][:, 0]
    return found
