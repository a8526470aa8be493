"""The road, fourth part: explanations and simulated trajectories (paper, sections 6 and 7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree import plot
from tripletree.api import TripleTree
from tripletree.demos import road
from tripletree.log.log import Log
from tripletree.reproduce.page import Block, Claim, Section, Sentences, Text, judged
from tripletree.reproduce.road_losses import COMPROMISE, LEAVES, record
from tripletree.reproduce.work import F64, Work, grow, percent

STATE = (1.2, 0.03)
"""Where the paper explains its first agent."""
TRIPS: dict[str, tuple[list[float], Any]] = {
    "left": ([1.2, 0.03], {"pos": (None, 0.2)}),
    "either": ([1.9, -0.01], "end"),
    "hurry": ([2.4, -0.04], "end"),
    "alive": ([2.7, -0.07], [1.5, 0.01]),
}
TRAJECTORIES = 20
"""Episodes of each agent that trajectories are compared with."""


def section(work: Work) -> list[Section]:
    """Return the sections on explanations and on trajectories."""
    logs = {agent: record(agent, work) for agent in road.VARIANTS}
    # Not the paper's truncation here: reasons about value should not be about where recordings were cut off.
    trees = {
        agent: grow(log, max_leaves=LEAVES, theta=COMPROMISE, gamma=road.GAMMA, truncation="bootstrap")
        for agent, log in logs.items()
    }
    work.step()
    return [_explanations(trees["left"], work), _trajectories(trees, logs, work)]


def _explanations(tree: TripleTree, work: Work) -> Section:
    states = drive("left", STATE)
    actions = road.solve(road.VARIANTS["left"]).act(states)
    turn = int(np.flatnonzero(np.diff(actions))[0])
    other = str(road.ACCELERATIONS[1 - actions[0]])
    factual = tree.explain(STATE)
    foil = tree.explain(STATE, {"action": other})
    change = tree.explain_change(states[turn], states[turn + 1])
    value = tree.explain(STATE, {"value": (None, 0.3)})
    asked = [
        (f"tree.explain({list(STATE)})", str(factual)),
        (f"tree.explain({list(STATE)}, {{'action': '{other}'}})", str(foil)),
        (f"tree.explain_change({_state(states[turn])}, {_state(states[turn + 1])})", str(change)),
        (f"tree.explain({list(STATE)}, {{'value': (None, 0.3)}})", str(value)),
        ("tree.story(states of the whole drive)", str(tree.story(states))),
    ]
    maps = {
        "foil": plot.leaf_map(tree, "pos", "speed").explanation(foil).zoom((0.9, 1.6), (0, 0.07)),
        "change": plot.leaf_map(tree, "pos", "speed").explanation(change).zoom((1.1, 1.5), (0.01, 0.06)),
        "value": plot.leaf_map(tree, "pos", "speed", colour="value").explanation(value),
    }
    pictures = work.figures(
        {f"road-explained-{name}": picture for name, picture in maps.items()},
        "The least change that leads to another action; the reason for a change; the least change that leads to a low "
        "value.",
    )
    work.step()
    reached = tree.predict(np.array([foil.foil_state]))
    kept = np.asarray(tree.predict(np.array([value.foil_state])).value)[0] <= 0.3
    return Section(
        "Road: explanations",
        [
            Text(
                "The paper explains the agent (1.5, 0, 1) near position 1.2 and speed 0.03. The same questions, "
                "answered by the tree grown here:"
            ),
            Sentences(asked),
            pictures,
            Claim(
                '"Action = 0.001 because pos in [1.1, 1.32] and speed in [0.021, 0.045]." "Action would = -0.001 if '
                'speed >= 0.045." "Action changed 0.001 -> -0.001 because pos >= 1.48." "Value would <= 0.3 if pos '
                '>= 2.64 and speed >= 0.024."',
                "The same kinds of answers, with borders close to the paper's where the two agents agree. Put to the "
                f"tree, the changed states have action {reached.action[0]} and value "
                f"{np.asarray(tree.predict(np.array([value.foil_state])).value)[0]:.2f}: both foils come true.",
                judged(bool(factual), str(reached.action[0]) == other, bool(change), bool(kept)),
            ),
        ],
    )


def _trajectories(trees: dict[str, TripleTree], logs: dict[str, Log], work: Work) -> Section:
    said, pictures = [], {}
    for agent, (start, end) in TRIPS.items():
        found = trees[agent].simulate(start, end, method="paper")
        said.append((f"tree.simulate({start}, {end!r}, method='paper')  # {agent}", str(found)))
        picture = plot.leaf_map(trees[agent], "pos", "speed", colour=None, arrows=True)
        pictures[f"road-trajectory-{agent}"] = picture.trajectories(found, agent) if found else picture
    nowhere = trees["left"].simulate([2.9, 0.09], {"pos": (None, 0.2)}, method="paper")
    said.append(("tree.simulate([2.9, 0.09], {'pos': (None, 0.2)}, method='paper')  # left", str(nowhere)))
    drawn = work.figures(
        pictures, "The most probable trajectories, aligned with the mean moves of the leaves that they cross."
    )
    work.step()
    angles, distances = _compare(trees, logs)
    work.step()
    blocks: list[Block] = [
        Sentences(said),
        drawn,
        Claim(
            "Simulated trajectories follow how the agent really moves, and the search for them mostly works well.",
            f"{TRAJECTORIES} trajectories of each agent from the first to the last state of recorded episodes: half of "
            "the "
            f"segments deviate by less than {np.median(angles):.1f} degrees from their leaf's mean move, "
            f"{percent((angles < 30).mean())} by less than 30. On average they pass {percent(distances.mean(), 1)} of "
            "the features' ranges away from the episode itself.",
            judged(bool(np.median(angles) < 10), bool(distances.mean() < 0.1)),
        ),
        Claim(
            "When there is no path the answer is empty, and that alone shows what cannot be reached.",
            "The last answer above says what can be reached instead.",
            judged(not nowhere),
        ),
    ]
    return Section("Road: simulated trajectories", blocks)


def _compare(trees: dict[str, TripleTree], logs: dict[str, Log]) -> tuple[F64, F64]:
    """Return angles of segments in degrees, and mean distances from the episodes in shares of the features' ranges."""
    angles, distances = [], []
    for agent, log in logs.items():
        span = np.ptp(log.states, axis=0)
        # A shorter episode crosses too few leaves to compare anything.
        long = np.flatnonzero(np.diff(log.starts) >= 20)[:TRAJECTORIES]
        for e in long:
            states = log.states[log.starts[e] : log.starts[e + 1]]
            found = trees[agent].simulate(states[0].tolist(), states[-1].tolist(), method="paper")
            if found:
                best = found[0]
                angles.append(np.degrees(np.abs(np.asarray(best.angles))))
                distances.append(np.abs(_walk(np.asarray(best.nodes) / span) - _walk(states / span)).mean())
    return np.concatenate(angles), np.array(distances)


def _walk(corners: F64) -> F64:
    """Return 100 points along a line through some corners, at equal distances."""
    # By length, not by time: a trajectory has a few long segments where an episode has many steps.
    length = np.append(0, np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1)))
    places = np.linspace(0, length[-1], 100)
    return np.stack([np.interp(places, length, column) for column in corners.T], axis=1)


def drive(agent: str, start: tuple[float, float]) -> F64:
    """Return the states of an agent from a start on, until it meets a wall or 200 steps are over."""
    solved, now, states = road.solve(road.VARIANTS[agent]), np.array(start), [np.array(start)]
    for _ in range(road.MAX_STEPS - 1):
        now, _, ended = road.step(now, road.ACCELERATIONS[int(solved.act(now))], road.VARIANTS[agent])
        if ended:
            break
        states.append(now)
    return np.array(states)


def _state(state: F64) -> str:
    return "[" + ", ".join(f"{x:.4g}" for x in state) + "]"
