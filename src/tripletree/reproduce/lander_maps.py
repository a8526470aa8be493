"""The lander, second part: projections, slices with counterfactuals, simulated trajectories (paper, section 8)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import plot
from tripletree.api import TripleTree
from tripletree.demos import lander
from tripletree.log.derive import values
from tripletree.log.log import Log
from tripletree.reproduce.lander_tree import Lander
from tripletree.reproduce.page import Block, Claim, Section, Sentences, Text, judged
from tripletree.reproduce.work import F64, Work, percent

PAD = (-0.2, 0.2)
"""Where the landing zone begins and ends along x: between the two flags of the world."""
PROJECTIONS = (
    ("x", "y", ("main engine", "side engine", "value", "density", None)),
    ("y", "v_y", ("main engine", "value", None)),
    ("phi", "v_phi", ("side engine", "value", None)),
)
TRAJECTORIES = 25


def section(part: Lander, work: Work) -> list[Section]:
    """Return the sections on projections, on slices and on trajectories."""
    return [_projections(part, work), _slices(part, work), _trajectories(part, work)]


def _projections(part: Lander, work: Work) -> Section:
    blocks: list[Block] = [
        Text(
            f"The {part.tree.n_leaves_} leaves are boxes in eight dimensions. A projection onto two features averages "
            "the leaves behind each point, weighted by the samples expected there (partial dependence)."
        )
    ]
    for x, y, colours in PROJECTIONS:
        pictures = {}
        for colour in colours:
            picture = plot.leaf_map(part.tree, x, y, colour=colour, arrows=colour is None)
            if x == "x":
                picture.mark("landing zone", PAD, 0.0)
            pictures[f"lander-{x}-{y}-{(colour or 'moves').replace(' ', '-')}"] = picture
        blocks.append(work.figures(pictures, f"Projections onto {x} and {y}."))
        work.step()
    return Section("Lander: projections", [*blocks, *_claims(part.training)])


def _claims(log: Log) -> list[Claim]:
    # On the log, not on the tree: what the paper reads off its pictures should hold of the agent itself.
    states, value = log.states, values(log, lander.GAMMA)
    x, y, v_y, phi, v_phi = (states[:, f] for f in (0, 1, 3, 4, 5))
    air = (states[:, 6:] == 0).all(axis=1)
    main, side = log.actions.T
    fires = main > 0
    high, low = (fires[air & part].mean() for part in (y > 1.2, y < 1.0))
    rising, falling = (fires[air & part].mean() for part in (v_y > 0, v_y < -0.1))
    column = (air & (np.abs(x) < PAD[1]))[air].mean()
    wide = np.ptp(x) / (PAD[1] - PAD[0])
    ground = 1 - air.mean()
    # The profile of v_y over y in flight, and how much of it a parabola explains. Episodes start at about y = 1.4, and
    # too few steps are higher for a mean.
    flight = air & (y < 1.45)
    bins = np.clip((y[flight] / 1.45 * 15).astype(int), 0, 14)
    mean = np.array([v_y[flight][bins == b].mean() for b in range(15)])
    height = (np.arange(15) + 0.5) / 15 * 1.45
    parabola = np.polyfit(height, mean, 2)
    explained = 1 - np.var(mean - np.polyval(parabola, height)) / np.var(mean)
    lowest = float(height[mean.argmin()])
    # Between -0.5 and 0.5 the side engine is off.
    turning = air & (np.abs(side) > 0.5)
    rights = np.sign(side[turning]) == np.sign(phi[turning] + v_phi[turning])
    calm, spinning = (value[air & part].mean() for part in (np.abs(v_phi) < 0.05, np.abs(v_phi) > 0.2))
    swing = float(np.corrcoef(phi[air], _next_change(log, 5)[air])[0, 1])
    return [
        # The paper's words give no numbers; a difference of 0.1, or a factor of 2, is what we take them to mean.
        Claim(
            "High above the ground the main engine is used less.",
            f"It burns in {percent(high)} of the steps above y = 1.2 and in {percent(low)} below y = 1.",
            judged(bool(high < low - 0.1)),
        ),
        Claim(
            "Most of the flight happens right above the landing zone, and much time is spent on the ground, "
            "creeping into place.",
            f"{percent(column)} of the steps in flight are above the landing zone, which is {percent(1 / wide)} of "
            f"the width seen; {percent(ground)} of all steps touch the ground.",
            judged(bool(column > 2 / wide), bool(ground > 0.1)),
        ),
        Claim(
            "Seen by y and v_y, the main engine switches sharply: where the craft stops falling, and at a height of "
            "about 1.",
            f"The engine burns in {percent(falling)} of the steps that fall faster than 0.1 and in {percent(rising)} "
            f"of those that rise; above y = 1.2 in {percent(high)}.",
            judged(bool(falling - rising > 0.4), bool(low - high > 0.2)),
        ),
        Claim(
            "Over the height, the vertical speed follows a U that is nearly a parabola.",
            f"Mean v_y falls to {mean.min():.2f} at y = {lowest:.2f} and is {mean[0]:.2f} near the ground and "
            f"{mean[-1]:.2f} at the top. A parabola explains {percent(explained)} of the mean profile.",
            judged(bool(mean.min() < min(mean[0], mean[-1]) - 0.1), bool(explained > 0.9)),
        ),
        Claim(
            "Seen by phi and v_phi, the side engine works against the tilt as one would expect, value is best "
            "without rotation, and the craft moves like a pendulum.",
            f"When it fires in flight, the side engine turns against phi + v_phi in {percent(rights.mean())} of the "
            f"steps. Mean value is {calm:.0f} where |v_phi| < 0.05 and {spinning:.0f} where it is above 0.2. The "
            f"change of v_phi has a correlation of {swing:.2f} with phi (a pendulum: negative).",
            judged(bool(rights.mean() > 0.7), bool(calm > spinning), bool(swing < -0.1)),
        ),
    ]


def _next_change(log: Log, feature: int) -> F64:
    """Return the change of a feature in each step."""
    after = np.vstack([log.states[1:], log.final_states[-1:]])
    # After the last step of an episode comes its own final state, not the start of the next.
    after[log.starts[1:] - 1] = log.final_states
    change: F64 = after[:, feature] - log.states[:, feature]
    return change


def _slices(part: Lander, work: Work) -> Section:
    tree, log = part.tree, part.training
    asked, pictures, changed = [], {}, []
    for name, row, foil in _questions(log):
        answer = tree.explain(log.states[row], foil, max_changes=2, min_samples=10)
        if not answer:
            continue
        features = [log.schema.feature_names[f] for f in answer.changed]
        # The slice must show what changes; a single feature is drawn against the height, or the speed of falling.
        pair = [*features, *(f for f in ("y", "v_y", "x") if f not in features)][:2]
        (colour,) = foil
        asked.append((f"tree.explain(state, {foil!r}, max_changes=2)", str(answer)))
        changed.append(len(features))
        picture = plot.leaf_map(tree, *pair, colour=colour, at=log.states[row].tolist())
        pictures[f"lander-slice-{name}"] = picture.explanation(answer)
    drawn = work.figures(pictures, "Slices through the state, with the least change that brings the foil about.")
    work.step()
    return Section(
        "Lander: slices and counterfactuals",
        [
            Sentences(asked),
            drawn,
            Claim(
                "A slice can show a counterfactual as long as no more than two features change.",
                f"{len(changed)} of 3 questions have such an answer, changing {', '.join(map(str, changed))} features.",
                judged(len(changed) == 3),
            ),
        ],
    )


def _questions(log: Log) -> list[tuple[str, int, dict[str, Any]]]:
    """Return three states of the log and a foil for each: falling fast, high up, and on the ground."""
    x, y, v_y = (log.states[:, f] for f in (0, 1, 3))
    legs = log.states[:, 6:].sum(axis=1)
    falling = int(np.flatnonzero((y > 0.4) & (y < 0.6) & (v_y < -0.4))[0])
    high = int(np.flatnonzero((y > 1.2) & (y < 1.3) & (np.abs(x) > 0.1))[0])
    down = int(np.flatnonzero((legs == 2) & (np.abs(v_y) < 0.01))[0])
    return [
        ("main-engine-off", falling, {"main engine": (None, 0)}),
        ("side-engine-right", high, {"side engine": (0.5, None)}),
        ("main-engine-on", down, {"main engine": (0.5, None)}),
    ]


def _trajectories(part: Lander, work: Work) -> Section:
    tree, log = part.tree, part.training
    mean, count = _mean_states(tree, log)
    x, y, phi, v_phi = (mean[:, f] for f in (0, 1, 4, 5))
    # The end is one state, in the middle of the most visited leaf of its zone: trajectories to a whole zone would stop
    # as soon as they enter it.
    landed = _most_visited(count, (np.abs(x) < PAD[1]) & (y < 0.05))
    upright = _most_visited(count, (np.abs(phi) < 0.05) & (np.abs(v_phi) < 0.05) & (y > 0.1))
    sides = {"from the left": (x < -0.2) & (y > 0.4), "from the right": (x > 0.2) & (y > 0.4)}
    tilts = {"tilted left": (phi > 0.12) & (y > 0.2), "tilted right": (phi < -0.12) & (y > 0.2)}
    pictures = {}
    for name, axes, starts, end in (
        ("approach", ("x", "y"), sides, landed),
        ("speed", ("y", "v_y"), {"from above": y > 1.2}, landed),
        ("tilt", ("phi", "v_phi"), tilts, upright),
    ):
        picture = plot.leaf_map(tree, *axes, colour=None, arrows=True)
        for label, chosen in starts.items():
            leaves = set(np.flatnonzero(chosen).tolist()) - {end}
            found = tree.simulate(leaves, mean[end].tolist(), method="paper", pairs=TRAJECTORIES)
            if found:
                picture.trajectories(found, label)
        if name == "approach":
            picture.mark("landing zone", PAD, 0.0)
        pictures[f"lander-trajectories-{name}"] = picture
        work.step()
    drawn = work.figures(
        pictures,
        f"The {TRAJECTORIES} most probable trajectories from leaves of each start zone to the middle of the end zone; "
        "the more probable, the more opaque.",
    )
    return Section(
        "Lander: simulated trajectories",
        [
            Text(
                "Trajectories between zones, as in the paper: approaches to the landing zone from the left and from "
                "the right; vertical speed from high up to the ground; back to an upright, calm attitude. A leaf "
                "belongs to a zone when the mean of its samples lies in it. What the two sides have in common, and "
                "what not, is measured on the log in the next section."
            ),
            drawn,
        ],
    )


def _mean_states(tree: TripleTree, log: Log) -> tuple[F64, F64]:
    """Return the mean state of the samples in each leaf, and their number."""
    leaf = np.asarray(tree.apply(log.states))
    count = np.bincount(leaf, minlength=tree.n_leaves_).astype(np.float64)
    sums = [np.bincount(leaf, column, minlength=tree.n_leaves_) for column in log.states.T]
    return np.stack(sums, axis=1) / np.maximum(count, 1)[:, None], count


def _most_visited(count: F64, among: npt.NDArray[np.bool_]) -> int:
    return int(np.where(among, count, -1).argmax())
