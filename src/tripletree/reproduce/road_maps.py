"""The road, third part: what maps of the trees show (paper, section 5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from tripletree import plot
from tripletree.api import TripleTree
from tripletree.demos import road
from tripletree.reproduce.page import Block, Claim, Section, Text, judged
from tripletree.reproduce.road_losses import COMPROMISE, title
from tripletree.reproduce.work import F64, Work, percent

COLOURS = {
    "action": "action",
    "value": "value",
    "moves": None,
    "impurity": "impurity of derivative",
    "density": "density",
}
GRID = (300, 200)
"""States along pos and along speed at which trees are asked: finer than their leaves."""


def section(trees: Mapping[str, Mapping[tuple[float, ...], TripleTree]], work: Work) -> Section:
    """Return the section on maps, with one row of five pictures for every agent."""
    grown = {agent: trees[agent][COMPROMISE] for agent in trees}
    blocks: list[Block] = [
        Text(
            "Every leaf is a rectangle of states. Trees of 200 leaves, theta = [0.2, 0.6, 0.2]: predicted action, "
            "predicted value, mean move in one step, impurity of the derivatives, density of samples."
        )
    ]
    for agent, tree in grown.items():
        pictures = {
            f"road-{agent}-{name.replace(' ', '-')}": plot.leaf_map(
                tree, "pos", "speed", colour=colour, arrows=colour is None
            )
            for name, colour in COLOURS.items()
        }
        blocks.append(work.figures(pictures, f"The agent {title(agent)}."))
        work.step()
    claims = [_island(grown["left"]), _zed(grown["alive"]), _stability(grown["alive"]), _moves(grown), _density(grown)]
    return Section("Road: maps of four agents", [*blocks, *claims])


def plane() -> F64:
    """Return the centres of a fine grid over the road, shape (positions, speeds, 2)."""
    pos = (np.arange(GRID[0]) + 0.5) / GRID[0] * road.LENGTH
    speed = ((np.arange(GRID[1]) + 0.5) / GRID[1] * 2 - 1) * road.TOP_SPEED
    return np.stack(np.meshgrid(pos, speed, indexing="ij"), axis=-1)


def accelerates(tree: TripleTree) -> npt.NDArray[np.bool_]:
    """Return where on the plane the tree predicts the positive acceleration."""
    predicted = tree.predict(plane().reshape(-1, 2)).action
    plus: npt.NDArray[np.bool_] = np.asarray(predicted) == str(road.ACCELERATIONS[1])
    return plus.reshape(GRID)


def _island(tree: TripleTree) -> Claim:
    plus = accelerates(tree)
    named, number = ndimage.label(plus)
    states = plane()
    islands = []
    for i in range(1, number + 1):
        inside = states[named == i]
        # Not a splinter of the border, and not the region of acceleration at the left wall or at low speed.
        if len(inside) > 0.002 * plus.size and inside[:, 0].min() > 0.5 and inside[:, 1].min() > 0.05:
            islands.append(inside)
    doomed = np.mean([_doomed(inside).mean() for inside in islands]) if islands else 0.0
    where = "; ".join(
        f"pos {s[:, 0].min():.2f} to {s[:, 0].max():.2f}, speed {s[:, 1].min():.3f} to {s[:, 1].max():.3f}, "
        f"{percent(len(s) / plus.size, 1)} of the plane"
        for s in islands
    )
    return Claim(
        "The first agent has an island of acceleration in the map, where it cannot avoid the right wall and is "
        "still paid for speed.",
        f"Isolated regions of positive acceleration at high speed: {len(islands)}"
        + (
            f" ({where}). From {percent(doomed)} of their states full braking still ends at the right wall."
            if islands
            else "."
        ),
        judged(bool(islands), bool(doomed > 0.95)),
    )


def _doomed(states: F64) -> npt.NDArray[np.bool_]:
    """Return from which states the right wall is hit even by braking from the first step on."""
    now, hit = states.copy(), np.zeros(len(states), bool)
    # Long enough to brake from top speed to a standstill, and as long again.
    for _ in range(2 * round(road.TOP_SPEED / road.ACCELERATIONS[1])):
        now, _, _ = road.step(now, road.ACCELERATIONS[0], road.VARIANTS["left"])
        hit |= now[:, 0] >= road.LENGTH
    return hit


def _zed(tree: TripleTree) -> Claim:
    plus = accelerates(tree)
    # At each speed: how far from the left wall does positive acceleration reach?
    reach = plus.mean(axis=0) * road.LENGTH
    speeds = plane()[0, :, 1]
    middle = np.abs(speeds) < 0.04
    before, at_rest, after = (reach[middle & part] for part in (speeds < -0.005, np.abs(speeds) < 0.01, speeds > 0.005))
    dip, peak = before.min(), at_rest.max()
    return Claim(
        "The last agent's border between the actions is shaped like a Z, and so the vehicle swings about the middle "
        "of the road.",
        f"The border between the two actions is at pos = {before.max():.2f} when the vehicle moves left, comes back "
        f"to {dip:.2f}, is at {peak:.2f} near standstill and falls to {after.min():.2f} as it moves right: a border "
        "that turns twice, a Z lying across the middle of the road.",
        judged(bool(before.max() - dip > 0.5 and peak - dip > 0.2 and peak - after.min() > 0.5)),
    )


def _stability(tree: TripleTree) -> Claim:
    states = plane().reshape(-1, 2)
    value = np.asarray(tree.predict(states).value)
    agent, now = road.solve(road.VARIANTS["alive"]), states.copy()
    alive = np.ones(len(states), bool)
    for _ in range(road.MAX_STEPS):
        acc = np.take(road.ACCELERATIONS, agent.act(now))
        now, _, ended = road.step(now, acc, road.VARIANTS["alive"])
        alive &= ~ended
    # Cut halfway between the two means, values alone should say who survives.
    told = (value > (value[alive].mean() + value[~alive].mean()) / 2) == alive
    return Claim(
        "For the last agent, value is high where the swinging can go on for ever, and low outside.",
        f"Where the agent survives 200 steps ({percent(alive.mean())} of the plane) the tree predicts a value of "
        f"{value[alive].mean():.1f} on average, elsewhere {value[~alive].mean():.1f}; cut in the middle, predicted "
        f"value tells the two apart in {percent(told.mean(), 1)} of the plane.",
        judged(bool(told.mean() > 0.9)),
    )


def _moves(grown: Mapping[str, TripleTree]) -> Claim:
    found = []
    for tree in grown.values():
        leaves = tree.leaves_
        speed = np.abs((np.asarray(leaves["speed_min"]) + np.asarray(leaves["speed_max"])) / 2)
        found.append(float(np.corrcoef(speed, np.abs(np.asarray(leaves["derivative_pos_mean"])))[0, 1]))
    return Claim(
        "Arrows are longer where the vehicle is fast, since more changes there in one step.",
        "The correlation of a leaf's mean |speed| with the length of its mean move along pos is "
        + ", ".join(f"{r:.3f} ({agent})" for r, agent in zip(found, grown, strict=True))
        + ".",
        judged(min(found) > 0.9),
    )


def _density(grown: Mapping[str, TripleTree]) -> Claim:
    area, patch = {}, (0.0, 0.0, 0.0)
    for agent, tree in grown.items():
        count, density = (np.asarray(tree.leaves_[name], np.float64) for name in ("count", "density"))
        # From the densest leaf on: the smallest area that holds half of the samples.
        order = np.argsort(-density)
        volume = count / density
        half = int(np.searchsorted(np.cumsum(count[order]), count.sum() / 2)) + 1
        area[agent] = volume[order][:half].sum() / volume.sum()
        if agent == "alive":
            dense = order[:half]
            middle = [
                (np.asarray(tree.leaves_[f"{f}_min"]) + np.asarray(tree.leaves_[f"{f}_max"])) / 2
                for f in ("pos", "speed")
            ]
            weights = count[dense]
            spread = np.sqrt(np.average((middle[0][dense] - 1.5) ** 2, weights=weights))
            patch = (
                float(np.average(middle[0][dense], weights=weights)),
                float(spread),
                float(np.abs(middle[1][dense]).max()),
            )
    return Claim(
        "The first two agents spend their time in thin arcs of the plane, the last one in a small patch in the middle.",
        "Half of all samples lie in "
        + ", ".join(f"{percent(share, 1)} ({agent})" for agent, share in area.items())
        + f" of the plane. For alive that is a patch around pos = {patch[0]:.2f} (spread {patch[1]:.2f}) with speeds "
        f"up to {patch[2]:.3f}; for left and either, the arcs of the maps.",
        judged(
            area["alive"] < 0.1 and abs(patch[0] - 1.5) < 0.25 and patch[1] < 0.5,
            max(area["left"], area["either"]) < 0.25,
        ),
    )
