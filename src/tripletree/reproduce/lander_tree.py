"""The lander, first part: how well one tree predicts it, and where validation says stop (paper, section 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripletree import plot
from tripletree.api import TripleTree
from tripletree.demos import lander
from tripletree.errors import MissingDependencyError
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.log.log import Log
from tripletree.reproduce.page import Claim, Section, Table, Text, judged
from tripletree.reproduce.work import Work, grow, losses, percent

LEAVES = 1_000
"""Beyond the size at which the paper stops, 450, so that validation can choose another."""
SHOWN = (1, 10, 50, 100, 200, 450, 700, 1_000)
"""Sizes in the table, besides the chosen one."""


@dataclass(frozen=True)
class Lander:
    """The two logs, where they come from, and the tree of the size that validation chose."""

    training: Log
    validation: Log
    source: str
    tree: TripleTree


def prepare(work: Work) -> Lander:
    """Fly two logs when Gymnasium is there, otherwise split the one of the package; grow the tree."""
    try:
        training = lander.record(n_samples=work.lander_samples, seed=0)
        work.step()
        validation = lander.record(n_samples=work.lander_samples, seed=1)
        source = "flown for this page with seeds 0 and 1"
    except MissingDependencyError:
        training, validation = lander.log().split(0.2, seed=0)
        source = "from the log of the package, split 80/20 by episodes, because Gymnasium with Box2D is not installed"
    work.step()
    tree = grow(training, validation, max_leaves=LEAVES, theta=(1, 1, 1), gamma=lander.GAMMA)
    work.step()
    return Lander(training, validation, source, tree)


def section(part: Lander, work: Work) -> Section:
    """Return the section on losses."""
    training, validation = (losses(part.tree, kind) for kind in ("training", "validation"))
    sizes = [size for size in SHOWN if size <= training.shape[1]]
    chosen = part.tree.n_leaves_
    rows = [
        [f"{size:,}", *(f"{curve[g, size - 1]:.3f}" for curve in (training, validation) for g in range(3))]
        for size in sorted({*sizes, chosen})
    ]
    left = validation[:, chosen - 1] / validation[:, 0]
    best = validation.argmin(axis=1) + 1
    returns = [np.add.reduceat(log.rewards, log.starts[:-1]) for log in (part.training, part.validation)]
    picture = plot.curves({"theta 1, 1, 1": part.tree}, most_leaves=training.shape[1])
    drawn = work.figures(
        {"lander-losses": picture}, "Losses as the tree grows; the disc marks the size that was chosen."
    )
    work.step()
    return Section(
        "Lander: one tree for eight features",
        [
            Text(
                "A Soft Actor-Critic agent lands a craft (LunarLanderContinuous-v3). It is not the paper's agent but "
                "one trained for this project, so its habits need not be the same. Training log: "
                f"{part.training.n_samples:,} samples, {part.training.n_episodes} episodes, mean return "
                f"{returns[0].mean():.0f}; validation log: {part.validation.n_samples:,} samples, "
                f"{part.validation.n_episodes} episodes, mean return {returns[1].mean():.0f}; {part.source}. Theta = "
                "[1, 1, 1], gamma = 0.99."
            ),
            drawn,
            Table(
                "Losses on the training log (first three) and on the validation log (last three).",
                ("leaves", *ATTRIBUTES, *ATTRIBUTES),
                rows,
            ),
            Claim(
                "The lander is harder to predict than the road, derivatives above all; no loss gets close to zero.",
                f"At the chosen size the losses on held-out episodes are {percent(left[0])} (action), "
                f"{percent(left[1])} (value) and {percent(left[2])} (derivatives) of those of one leaf.",
                judged(bool((left > 0.2).all()), int(left.argmax()) == 2),
            ),
            Claim(
                "Held-out episodes say when to stop: at about 450 leaves.",
                f"The sum of the three loss ratios on the validation log is least at {chosen} leaves; alone, action "
                f"is best at {best[0]}, value at {best[1]}, derivatives at {best[2]} leaves: "
                f"{ATTRIBUTES[int(best.argmin())]} is the first to overfit.",
                judged(300 <= chosen <= 600),
            ),
        ],
    )
