"""Criticality: where what the agent chooses goes with how well it fares afterwards, as far as the log can tell.

Like states are those of one node of the tree that enough episodes came through, and in it those whose actions the
node's linear model predicts alike. There, how often an episode took an action is compared with its value, less what
the node's linear model makes of the state. An episode counts once in such a place, however long it stays; intervals
come from whole groups of episodes; and however many places are asked, a false claim must be improbable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.answers.criticality import ENOUGH, REASONS, Criticality, Moment, Moments, Place, StateCriticality
from tripletree.asking.attribute import read_attribute
from tripletree.asking.levels import log_classes, read_levels
from tripletree.asking.states import complete, read_states
from tripletree.checks import check_whole
from tripletree.errors import ParameterError
from tripletree.language.conditions import clauses
from tripletree.language.numbers import unit
from tripletree.log.log import Log
from tripletree.log.sampling import some_episodes
from tripletree.model.evaluate import check_same_schema, in_labels, log_values
from tripletree.model.fit import describe_grown, grow_settled
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option
from tripletree.tree.grow import encode
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

LIKE = 20
"""Episodes that must have come through a node for its states to count as a crowd of like ones."""
BIN, MOST_BINS = 5, 8
"""Episodes for each bin of states whose action is predicted alike, and the most bins of a node."""
MIXED = 0.7
"""Where the state leaves less than this share of a choice's variance open, it is no choice: the state decides."""
FALSE = 0.025
"""Nominal chance that any claim about a log is false: that states are alike is itself estimated, and in simulated
worlds in which nothing matters this keeps logs with a claim below 5 %."""
LEAVES, SMALLEST = 500, 2
"""Size of the trees that say what to expect of the action, and samples of their leaves."""
PARTS = 3
"""Levels of a dimension whose numbers have none of their own."""
NOTABLE = 0.1
"""A difference below this share of the value's standard deviation over the log is not worth a word."""
LARGEST = 300_000
"""Of longer logs, episodes with about as many steps as this are looked at: enough, and quick."""
MOST_MOMENTS = 3
APART = 10
"""Steps that moments of one episode are apart, at least."""

ONE_ACTION, TOO_FEW, STATE_DECIDES = range(3)


class _Options(NamedTuple):
    """What may be chosen: labels, or levels of one dimension.

    Attributes
    ----------
    about : str
        "action", or the name of the dimension.
    names : tuple of str
        The options in words.
    codes : int array of shape (samples,)
        Which of them each step took, -1 for none.
    edges : float64 array, or None
        Where levels end; None for labels.
    """

    about: str
    names: tuple[str, ...]
    codes: I64
    edges: F64 | None


class _Choice(NamedTuple):
    """A choice, and what to expect of it in each state; see `_expected`.

    Attributes
    ----------
    options : _Options
        What may be chosen.
    score : float64 array of shape (samples, options) or (samples, 1)
        What sorts states by how probable an option is there; levels of one number are all sorted by it.
    likely : float64 array of shape (samples, options)
        How probable it is: from 0 to 1.
    """

    options: _Options
    score: F64
    likely: F64


@dataclass(frozen=True, eq=False)
class _Crowds:
    """Episodes in places of like states, each a cell; sorted by place.

    Attributes
    ----------
    of : int array of shape (samples,)
        The cell of each step.
    steps : int array of shape (cells,)
        Steps of each cell.
    place, stratum, unit : int arrays of shape (cells,)
        Like states, the node in which they are, and which group of episodes.
    value : float64 array of shape (cells,)
        The mean value less what the state explains, less the mean over all cells of like states.
    """

    of: I64
    steps: I64
    place: I64
    stratum: I64
    unit: I64
    value: F64


@dataclass(frozen=True, eq=False)
class _Cells:
    """Episodes in places of like states, for one option; sorted by stratum.

    Attributes
    ----------
    stratum, unit : int arrays of shape (cells,)
        Where, and which group of episodes.
    taken, value : float64 arrays of shape (cells,)
        The share of its steps there that took the option, and the mean value less what the state explains; both less
        the mean over all cells of like states. 0 where there was no choice.
    took : bool array of shape (cells,)
        Whether it took the option at all.
    reason : int array of shape (strata,)
        Why nothing can be told there, an index of ``REASONS``, unless there are enough episodes.
    """

    stratum: I64
    unit: I64
    taken: F64
    value: F64
    took: Mask
    reason: I64


def criticality(fitted: Fitted, log: Log, threads: int = 1) -> Criticality:
    """Return where the log shows that the choice matters, where it does not, and where that cannot be told.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log
        Any log with the same features and actions.
    threads : int
        Threads that find the leaf of each step.
    """
    check_same_schema(fitted.schema, log, "log")
    log = in_labels(fitted.schema, log)
    kept = f"criticality {log.fingerprint()}"
    if kept not in fitted.memory:
        fitted.memory[kept] = _criticality(fitted, some_episodes(log, LARGEST), threads)
    found: Criticality = fitted.memory[kept]
    return found


def _criticality(fitted: Fitted, log: Log, threads: int) -> Criticality:
    size = fitted.tree.n_leaves
    if not (fitted.schema.has_action and fitted.schema.has_reward and all(fitted.varies[:2])):
        return Criticality((), np.full(size, -1), np.full(size, -1), (), 0.0, False)
    if len(np.unique(log.units)) < LIKE:
        return Criticality((), np.full(size, -1), np.full(size, TOO_FEW), (0.0, 1.0, 0.0), 0.0, True)
    leaf = fitted.tree.apply(log.states, threads).astype(np.int64)
    group = np.repeat(log.units, np.diff(log.starts))
    spans = _spans(fitted.tree)
    strata = _strata(fitted.tree, spans, leaf, group)
    stratum = np.repeat(np.arange(len(strata)), spans[strata, 1] - spans[strata, 0])  # of each leaf
    where = stratum[leaf]
    residual = log_values(fitted, log) - _value(fitted, log.states, strata[where], threads)
    places: list[Place] = []
    reasons = np.full(len(strata), ONE_ACTION)
    for choice in _choices(fitted, log, _expected(fitted, log, threads)):
        crowds = [_crowds(score, where, group, residual) for score in choice.score.T]
        options = [_cells(choice, k, where, crowds[k % len(crowds)]) for k in range(len(choice.options.names))]
        reasons = np.maximum(reasons, np.max([cells.reason for cells in options], axis=0))
        regions = _regions(fitted.tree, spans, stratum, strata, options)
        places += [place for node in regions if (place := _place(fitted, spans, stratum, node, choice, options))]
    places = _judged(places)
    steps = np.bincount(leaf, minlength=fitted.tree.n_leaves)
    return _answer(fitted, places, reasons[stratum], steps)


def _spans(tree: Tree) -> I64:
    """Return the first leaf below each node, and the one after its last; shape (nodes, 2)."""
    below = (tree.left < 0).astype(np.int64)
    tree.add_up(below)
    first = np.zeros(tree.n_nodes, np.int64)
    for nodes in tree.levels:
        left = tree.left[nodes]
        first[left] = first[nodes]
        first[left + 1] = first[nodes] + below[left]
    return np.stack([first, first + below], axis=1)


def _cut(tree: Tree, divide: Callable[[int, int], bool]) -> I64:
    """Return the nodes, from left to right, at which dividing the tree from the root on stops."""
    found, open_nodes = [], [0]
    while open_nodes:
        node = open_nodes.pop()
        left = int(tree.left[node])
        if left >= 0 and divide(left, left + 1):
            open_nodes += [left + 1, left]
        else:
            found.append(node)
    return np.array(found)


def _strata(tree: Tree, spans: I64, leaf: I64, group: I64) -> I64:
    """Return the smallest nodes that enough episodes came through."""
    pairs = np.unique(leaf * (group.max() + 1) + group)
    leaves, groups = np.divmod(pairs, group.max() + 1)

    def enough(node: int) -> bool:
        begin, end = np.searchsorted(leaves, spans[node])
        return len(np.unique(groups[begin:end])) >= LIKE

    return _cut(tree, lambda left, right: enough(left) and enough(right))


def _value(fitted: Fitted, states: F64, node: I64, threads: int) -> F64:
    """Return the value that nodes predict in each state: by their linear models, where there are any."""
    if fitted.second is None:
        return fitted.attributes.value_mean[node]
    told = fitted.second.many(states, node.astype(np.int32), threads)
    return told[:, fitted.targets["value"]][:, 0]


def _expected(fitted: Fitted, log: Log, threads: int) -> F64:
    """Return what to expect of the action in each state, from trees that were grown on other episodes.

    A score for each label, or each dimension's mean. What such a tree foretells was no choice.
    """
    half = np.random.default_rng(0).permutation(int(log.units.max()) + 1)[log.units] % 2
    rest = {"leaf_model": "linear", "leaf_features": None, "keep": "nothing", "threads": threads, "progress": None}
    options = {**fitted.options, "theta": (1, 0, 0), "max_leaves": LEAVES, "min_samples_leaf": SMALLEST, **rest}
    found = np.zeros((log.n_samples, len(log.schema.action.labels) or len(log.schema.action.names)))
    for part in range(2):
        other = log.select(half != part).weighted(None)  # what is usual does not depend on how much it counts
        codes = encode(other, options["mode"], options["bins"], threads)
        grown = describe_grown(other, grow_settled(other, codes, options, threads), options, remembers=False)
        rows = np.repeat(half == part, np.diff(log.starts))
        states = np.ascontiguousarray(log.states[rows])
        found[rows] = grown.told(states, grown.tree.apply(states, threads), threads)[:, grown.targets["action"]]
    return found


def _choices(fitted: Fitted, log: Log, expected: F64) -> list[_Choice]:
    """Return what may be chosen, and what to expect of it."""
    found = []
    for k, one in enumerate(_options(fitted, log)):
        if one.edges is None:
            found.append(_Choice(one, expected, np.clip(expected, 0.0, 1.0)))
            continue
        options, mean = np.arange(len(one.names)), expected[:, k : k + 1]
        likely = np.searchsorted(one.edges, mean, side="right") == options
        found.append(_Choice(one, mean, likely.astype(np.float64)))
    return found


def _options(fitted: Fitted, log: Log) -> list[_Options]:
    """Return the options of each choice in words, and which of them each step took."""
    action = log.schema.action
    if action.kind == "discrete":
        names = tuple(f"{label}{unit(action.units[0])}" for label in action.labels)
        return [_Options("action", names, log.actions.astype(np.int64), None)]
    found = []
    for name in action.names:
        about = read_attribute(fitted, name)
        classes = read_levels(fitted, about)
        if not classes.columns[0].edges:  # numbers without levels that mean something
            classes = read_levels(fitted, about, PARTS)
        levels = classes.columns[0]
        names = tuple(f"{name} {level}" for level in levels.names)
        found.append(_Options(name, names, log_classes(fitted, classes, log), np.array(levels.edges)))
    return found


def _crowds(score: F64, stratum: I64, group: I64, residual: F64) -> _Crowds:
    """Return which episodes were among like states, and how they fared."""
    units, size = int(group.max()) + 1, np.bincount(stratum)
    bins = np.clip(np.bincount(np.unique(stratum * units + group) // units) // BIN, 1, MOST_BINS)
    # As `lexsort` does, but strata are few, and NumPy sorts short whole numbers digit by digit.
    order = np.argsort(score, kind="stable")
    order = order[np.argsort(stratum.astype(np.min_scalar_type(len(size)))[order], kind="stable")]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    alike = stratum * MOST_BINS + rank * bins[stratum] // size[stratum]
    key, cell = np.unique(alike * units + group, return_inverse=True)
    steps, place = np.bincount(cell), key // units
    value = np.bincount(cell, residual) / steps
    return _Crowds(cell, steps, place, place // MOST_BINS, key % units, value - _means(value, place))


def _cells(choice: _Choice, option: int, stratum: I64, crowds: _Crowds) -> _Cells:
    """Return how often each episode took an option among like states, and how it fared."""
    size = np.bincount(stratum)
    took = (choice.options.codes == option).astype(np.float64)
    share = np.bincount(stratum, took) / size
    left = np.bincount(stratum, (took - choice.likely[:, option]) ** 2) / size
    decided = left < MIXED * share * (1 - share)
    reason = np.where((share == 0) | (share == 1), ONE_ACTION, np.where(decided, STATE_DECIDES, TOO_FEW))
    taken = np.bincount(crowds.of, took) / crowds.steps
    open_there = reason[crowds.stratum] == TOO_FEW
    differs = np.where(open_there, taken - _means(taken, crowds.place), 0.0)
    return _Cells(
        stratum=crowds.stratum,
        unit=crowds.unit,
        taken=differs,
        value=np.where(open_there, crowds.value, 0.0),
        took=(differs != 0) & (taken > 0),
        reason=reason,
    )


def _means(numbers: F64, where: I64) -> F64:
    """Return the mean of all numbers at the same place, for each number."""
    groups = np.unique(where, return_inverse=True)[1]
    found: F64 = (np.bincount(groups, numbers) / np.bincount(groups))[groups]
    return found


def _regions(tree: Tree, spans: I64, stratum: I64, strata: I64, options: Sequence[_Cells]) -> I64:
    """Return the smallest nodes, none of them smaller than a stratum, with enough episodes on both sides of a choice.

    What is too little by itself is put together with its neighbours.
    """

    def contrast(node: int) -> float:
        return max(_worth(*_part(cells, _strata_of(spans, stratum, node))[:2]) for cells in options)

    lowest = set(strata.tolist())

    def divide(left: int, right: int) -> bool:
        # A stratum's children are not asked about.
        if int(tree.parent[left]) in lowest:
            return False
        less, more = sorted((contrast(left), contrast(right)))
        # What is left over at one side is not worth being vague about the other.
        return more >= ENOUGH and (less >= ENOUGH or less < more / 5)

    return _cut(tree, divide)


def _strata_of(spans: I64, stratum: I64, node: int) -> slice:
    first, end = spans[node]
    return slice(int(stratum[first]), int(stratum[end - 1]) + 1)


def _part(cells: _Cells, where: slice) -> tuple[F64, I64, slice]:
    rows = slice(*np.searchsorted(cells.stratum, (where.start, where.stop)))
    return cells.taken[rows], cells.unit[rows], rows


def _worth(taken: F64, group: I64) -> float:
    """Return how many episodes a comparison is worth: n of them against many, or 2 n against 2 n."""
    if not taken.any():
        return 0.0
    return float(np.clip(np.bincount(group, taken), 0, 1).sum())


def _place(
    fitted: Fitted, spans: I64, stratum: I64, node: int, choice: _Choice, options: Sequence[_Cells]
) -> Place | None:
    """Return what is known about the choice in a region: of the option that says most; None where nothing is."""
    where = _strata_of(spans, stratum, node)
    parts = [(k, cells, *_part(cells, where)) for k, cells in enumerate(options)]
    known = [part for part in parts if part[2].any()]
    tested = [part for part in known if _worth(part[2], part[3]) >= ENOUGH]
    if not tested:
        return None
    # Of two options one says it all: the other is its mirror image.
    if len(known) == 2:
        tested = tested[:1]
    found = [(_slope(taken, group, cells.value[rows]), k, cells, rows) for k, cells, taken, group, rows in tested]
    (difference, error, freedom, chance), k, cells, rows = min(found, key=lambda one: one[0][3])
    groups = cells.unit[rows][cells.taken[rows] != 0]
    took = cells.unit[rows][cells.took[rows]]
    lower, upper = _box(fitted, node)
    inside = np.unique(cells.stratum[rows][cells.taken[rows] != 0])
    leaves = np.flatnonzero(np.isin(stratum, inside))
    return Place(
        node=node,
        when=tuple(clauses(fitted.schema, lower.tolist(), upper.tolist())),
        leaves=leaves,
        about=choice.options.about,
        option=choice.options.names[k],
        options=tuple(choice.options.names[part[0]] for part in known),
        share=0.0,
        difference=difference,
        interval=(difference, difference),
        raw=difference,
        error=error,
        freedom=freedom,
        chance=min(chance * len(tested), 1.0),
        matters=False,
        took=len(np.unique(took)),
        episodes=len(np.unique(groups)),
        spread=float(fitted.attributes.value_std[0]),
    )


def _box(fitted: Fitted, node: int) -> tuple[F64, F64]:
    """Return the bounds of a node."""
    tree = fitted.tree
    lower, upper = np.full((2, len(fitted.schema.features)), [[-np.inf], [np.inf]])
    while node > 0:
        above = int(tree.parent[node])
        f, threshold = int(tree.feature[above]), float(tree.threshold[above])
        if node == int(tree.left[above]):
            upper[f] = min(upper[f], threshold)
        else:
            lower[f] = max(lower[f], threshold)
        node = above
    return lower, upper


def _slope(taken: F64, group: I64, value: F64) -> tuple[float, float, float, float]:
    """Return how much more value goes with taking the option, its error, degrees of freedom, and two-sided chance."""
    from scipy.special import stdtr

    whole = float((taken**2).sum())
    slope = float((taken * value).sum()) / whole
    score, lever = np.bincount(group, taken * (value - slope * taken)), np.bincount(group, taken**2)
    score, lever = score[lever > 0], lever[lever > 0]
    # As many as would count the same: a few episodes that alone took the option are all that is known about it.
    freedom = max(float(lever.sum() ** 2 / (lever**2).sum()) - 1.0, 1.0)
    # As if each group were left out in turn: the slope bends towards those that weigh most.
    error = float(np.sqrt(((score / np.maximum(1 - lever / whole, 1e-9)) ** 2).sum())) / whole
    if not error > 0:
        return slope, 0.0, freedom, 1.0
    return slope, error, freedom, float(2 * stdtr(freedom, -abs(slope) / error))


def _judged(places: Sequence[Place]) -> list[Place]:
    """Return the places with shrunk differences, intervals and claims, the largest claims first.

    Claims follow Holm: however many places there are, one false claim among all of them is improbable. Differences are
    shrunk by a prior that the places themselves suggest: some of them are 0, and the others spread around 0.
    """
    from scipy.special import stdtrit

    if not places:
        return []
    raw = np.array([one.raw for one in places])
    error = np.array([max(one.error, np.finfo(float).tiny) for one in places])
    chance = np.array([one.chance for one in places])
    order = np.argsort(chance, kind="stable")
    passed = chance[order] * np.arange(len(places), 0, -1) <= FALSE
    claimed = np.zeros(len(places), bool)
    claimed[order[np.logical_and.accumulate(passed)]] = True
    prior = _prior(raw, error)
    kept = prior / (prior + error**2)
    half = stdtrit([one.freedom for one in places], 0.975) * error
    claimed &= (np.abs(kept * raw) > half * np.sqrt(kept)) & (np.abs(kept * raw) >= NOTABLE * places[0].spread)
    # What is not claimed is not the largest of many, and must not seem better known than it is.
    kept = np.where(claimed, kept, 1.0)
    middle, half = kept * raw, half * np.sqrt(kept)
    numbers = zip(middle.tolist(), (middle - half).tolist(), (middle + half).tolist(), claimed.tolist(), strict=True)
    found = [
        replace(one, difference=middle, interval=(low, high), matters=matters)
        for one, (middle, low, high, matters) in zip(places, numbers, strict=True)
    ]
    return sorted(found, key=lambda one: (not one.matters, -abs(one.difference)))


def _prior(raw: F64, error: F64, rounds: int = 100) -> float:
    """Return the variance of the differences that are not 0, by expectation and maximisation."""
    variance, share = float(max((raw**2).max(), np.finfo(float).tiny)), 0.5
    for _ in range(rounds):
        wide = error**2 + variance
        odds = (1 - share) / share * np.sqrt(wide / error**2)
        odds = odds * np.exp(np.clip(raw**2 * (1 / wide - 1 / error**2) / 2, -700, 700))
        other = 1 / (1 + odds)
        # What is known of the difference of a place, if it is not 0.
        kept = variance / wide
        variance = float((other * ((kept * raw) ** 2 + kept * error**2)).sum() / max(other.sum(), 1e-12))
        share = float(np.clip(other.mean(), 1e-6, 1 - 1e-6))
    return max(variance, np.finfo(float).tiny)


def _answer(fitted: Fitted, places: Sequence[Place], reason: I64, steps: I64) -> Criticality:
    place = np.full(fitted.tree.n_leaves, -1)
    shared = [replace(one, share=float(steps[one.leaves].sum() / steps.sum())) for one in places]
    # The first place of a leaf is the one that tells most, so it is written last.
    for number, one in reversed(list(enumerate(shared))):
        place[one.leaves] = number
    known = place >= 0
    reason = np.where(known, -1, reason)
    unknown = tuple(float(steps[reason == code].sum() / steps.sum()) for code in range(len(REASONS)))
    return Criticality(tuple(shared), place, reason, unknown, float(steps[known].sum() / steps.sum()), True)


def state_criticality(fitted: Fitted, log: Log, state: Any, threads: int = 1) -> StateCriticality:
    """Return whether the choice matters in states like one."""
    found = criticality(fitted, log, threads)
    written = complete(state, fitted, "state")
    states, single = read_states(written.state, fitted.schema, "state")
    if not single:
        raise ParameterError(Message("{} must be one state; got {}.", Option("state"), len(states)))
    leaf = int(fitted.tree.apply(states)[0])
    place, code = int(found.place[leaf]), int(found.reason[leaf])
    why = REASONS[code] if code >= 0 else "the log has no rewards, or all steps are worth the same"
    answer = StateCriticality(found.places[place] if place >= 0 else None, "" if place >= 0 else why, fitted.schema)
    return answer.assuming(written.assumed)


def moments(fitted: Fitted, log: Log, episode: int, threads: int = 1) -> Moments:
    """Return the few moments of an episode at which the choice matters, those with the largest differences."""
    check_whole(episode, "episode", 0, log.n_episodes - 1)
    found = criticality(fitted, log, threads)
    mine = in_labels(fitted.schema, log.select([int(episode)]))
    place = found.place[fitted.tree.apply(mine.states)]
    chosen: dict[int, Place] = {}
    for number, one in enumerate(found.critical):  # the largest difference first
        step = int((place == number).argmax())
        apart = all(abs(step - other) >= APART for other in chosen)
        if place[step] == number and apart and len(chosen) < MOST_MOMENTS:
            chosen[step] = one
    did = {one.about: one for one in _options(fitted, mine)} if chosen else {}
    told = []
    for step, one in sorted(chosen.items()):
        options = did[one.about]
        told.append(Moment(step, options.names[options.codes[step]], one))
    return Moments(str(log.episode_ids[int(episode)]), tuple(told))
