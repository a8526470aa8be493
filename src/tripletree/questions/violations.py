"""Violations: where in the state space a requirement is violated, by trees that are grown on its margin.

A tree is grown on the margin of each step, not on whether it is violated: how near the others came says where to look,
even if violations are rare. Its worst leaves are told as conditions. What is reported of them is counted on episodes
that the tree has not seen, fold by fold; conditions that do no better there than chance are not told.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.answers.requirements import Ground
from tripletree.language.conditions import clause
from tripletree.language.formula import Formula, Joined, Timed, Until, Window, atoms, parts_of
from tripletree.leaves.boxes import bounds as leaf_bounds
from tripletree.log.schema import Feature
from tripletree.questions.robustness import Bounds, Places
from tripletree.questions.rule_search import short_step
from tripletree.tree.plain import grow_plain
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FOLDS = 5
FEWEST = 5
"""Fewer episodes (or groups) with violations than this have too little in common to speak of."""
ROWS = 40_000
"""Steps that a tree is grown on, at most; those that violate come first."""
LEAVES, SMALLEST = 8, 10
"""Leaves of the tree, and steps in each, at least."""
MOST_BOXES = 3
NEARLY = 0.02
"""What a smaller tree may tell less."""
LIFT = 2.0
"""How many times as frequent violations must be in the boxes as elsewhere."""
CHANCE = 0.05
STEPS = 200
"""Borders are numbers of about this part of a feature's range."""


def always_demanded(formula: Formula) -> Formula | None:
    """Return what must hold at every step by itself; None for a requirement that has no such part.

    That is what ``always`` is about, all of it if there are several.
    """
    if isinstance(formula, Timed) and formula.operator == "always" and formula.window == Window():
        return formula.part
    if isinstance(formula, Joined) and formula.every:
        parts = [part for part in map(always_demanded, formula.parts) if part is not None]
        return parts[0] if len(parts) == 1 else Joined(True, tuple(parts)) if parts else None
    return None


def timeless(formula: Formula) -> bool:
    """Whether one step alone decides a formula."""
    return not isinstance(formula, Timed | Until) and all(map(timeless, parts_of(formula)))


def ground_of(places: Places, body: Formula, found: Bounds) -> Ground | None:
    """Return where a requirement is violated, if the state tells that on unseen episodes.

    Parameters
    ----------
    places : Places
        The places of the log.
    body : Formula
        What must hold at every step.
    found : Bounds
        Its margins.
    """
    log = places.log
    # Where one step decides, what the requirement itself names would only repeat it.
    named = {one.name for one in atoms(body)} if timeless(body) else set()
    columns = [f for f, name in enumerate(log.schema.feature_names) if name not in named]
    if not columns:
        return None
    rows = places.steps
    known = (found.low[rows] > 0) | (found.high[rows] < 0)
    bad = found.high[rows] < 0
    unit = np.repeat(log.units, np.diff(log.starts))
    violating = np.unique(unit[bad])
    if len(violating) < FEWEST or not (known & ~bad).any():
        return None
    margin = _clipped(np.where(bad, found.high[rows], found.low[rows]), bad)
    states = log.states[:, columns]
    features = tuple(log.schema.features[f] for f in columns)
    chance = np.random.default_rng(0)
    fold = np.zeros(int(log.units.max()) + 1, np.int64)
    for units in (violating, np.setdiff1d(np.arange(len(fold)), violating)):
        fold[units] = chance.permutation(len(units)) % FOLDS
    inside = np.zeros(len(rows), bool)
    for part in range(FOLDS):
        aside = fold[unit] == part
        boxes = _boxes(states, margin, bad, known & ~aside)
        inside[aside] = _within(boxes, states[aside])
    boxes = _boxes(states, margin, bad, known)
    if not len(boxes) or not _more_than_chance(inside & known, bad, known, unit):
        return None
    episode = np.repeat(np.arange(log.n_episodes), np.diff(log.starts))
    each, hit = (np.bincount(episode[part], minlength=log.n_episodes) for part in (bad, bad & inside))
    return Ground(
        boxes=tuple(_told(features, low, high) for low, high in boxes),
        violating=int(bad.sum()),
        inside=int((bad & inside).sum()),
        visited=int((inside & known).sum()),
        steps=int(known.sum()),
        episodes=int((each > 0).sum()),
        episodes_inside=int(((each > 0) & (2 * hit >= each)).sum()),
        features=tuple(feature.name for feature in features),
    )


def _clipped(margin: F64, bad: Mask) -> F64:
    """Return margins up to as far above 0 as the worst is below: what is safe by far tells nothing of violations."""
    finite = np.isfinite(margin)
    worst = float(-margin[finite & bad].min(initial=0.0))
    reach = worst if worst > 1e-300 else 1.0
    return np.clip(margin, -reach, reach)


def _told(features: tuple[Feature, ...], low: F64, high: F64) -> tuple[str, ...]:
    told = (clause(feature, *ends) for feature, *ends in zip(features, low.tolist(), high.tolist(), strict=True))
    return tuple(filter(None, told))


def _boxes(states: F64, margin: F64, bad: Mask, use: Mask) -> list[tuple[F64, F64]]:
    """Return the leaves in which most violations lie and little else, as boxes."""
    rows = _thinned(np.flatnonzero(use), bad)
    if not bad[rows].any() or bad[rows].all():
        return []
    whole, _ = grow_plain(_rounded(states[rows]), margin[rows, None], LEAVES, SMALLEST)
    every = np.flatnonzero(use)
    sizes = [_worst_leaves(whole.truncate(k), states[every], bad[every]) for k in range(2, whole.n_leaves + 1)]
    best = max((score for score, _ in sizes), default=0.0)
    # The smallest tree that is nearly as good: more leaves would part what belongs together.
    return next((boxes for score, boxes in sizes if score >= best - NEARLY), [])


def _worst_leaves(tree: Tree, states: F64, bad: Mask) -> tuple[float, list[tuple[F64, F64]]]:
    """Return how well the worst leaves tell violations (F1: how many are found, and how much else), and these."""
    leaf = tree.apply(np.ascontiguousarray(states))
    total = np.bincount(leaf, minlength=tree.n_leaves)
    wrong = np.bincount(leaf[bad], minlength=tree.n_leaves)
    order = np.argsort(-(wrong / np.maximum(total, 1)), kind="stable")[:MOST_BOXES]
    score = 2 * np.cumsum(wrong[order]) / (np.cumsum(total[order]) + wrong.sum())
    chosen = order[: int(np.argmax(score)) + 1]
    low, high = leaf_bounds(tree, states.shape[1])
    return float(score.max()), _united([(low[k], high[k]) for k in chosen if wrong[k]])


def _thinned(rows: I64, bad: Mask) -> I64:
    """Return at most so many rows, evenly spaced, with as many violations among them as there is room for."""
    if len(rows) <= ROWS:
        return rows
    wrong, right = rows[bad[rows]], rows[~bad[rows]]
    wrong = wrong[:: -(-len(wrong) // (ROWS // 2))]
    return np.sort(np.concatenate([wrong, right[:: -(-len(right) // (ROWS - len(wrong)))]]))


def _rounded(states: F64) -> F64:
    """Return states on a coarse grid, so that borders between them are short numbers."""
    low, high = np.quantile(states, (0.01, 0.99), axis=0)
    step = np.array([short_step(span / STEPS) if span > 0 else 1.0 for span in (high - low).tolist()])
    found: F64 = np.floor(states / step) * step
    return found


def _united(boxes: list[tuple[F64, F64]]) -> list[tuple[F64, F64]]:
    """Return the boxes with those made one that lie side by side."""
    for i, (low, high) in enumerate(boxes):
        for j, (other_low, other_high) in enumerate(boxes[:i]):
            differ = np.flatnonzero((low != other_low) | (high != other_high))
            if len(differ) == 1 and (high[differ] == other_low[differ] or other_high[differ] == low[differ]):
                rest = [box for k, box in enumerate(boxes) if k not in (i, j)]
                return _united([(np.minimum(low, other_low), np.maximum(high, other_high)), *rest])
    return boxes


def _within(boxes: list[tuple[F64, F64]], states: F64) -> Mask:
    inside = np.zeros(len(states), bool)
    for low, high in boxes:
        inside |= ((states >= low) & (states < high)).all(axis=1)
    return inside


def _more_than_chance(inside: Mask, bad: Mask, known: Mask, unit: I64) -> bool:
    """Whether violations lie in the boxes more often than other steps do, in most episodes with any (a sign test)."""
    from scipy.stats import binomtest

    most = int(unit.max()) + 1
    wrong, right = (np.bincount(unit[part], minlength=most) for part in (bad, known & ~bad))
    hit, others = (np.bincount(unit[part & inside], minlength=most) for part in (bad, known & ~bad))
    # An episode that violates it everywhere is compared with all others.
    usual = others.sum() / max(right.sum(), 1)
    share = np.where(right > 0, others / np.maximum(right, 1), usual)
    more = (hit / np.maximum(wrong, 1) - share)[wrong > 0]
    wins, losses = int((more > 0).sum()), int((more < 0).sum())
    lift = (hit.sum() / wrong.sum()) / max(usual, 1e-12)
    return bool(
        lift >= LIFT and wins + losses and binomtest(wins, wins + losses, alternative="greater").pvalue <= CHANCE
    )
