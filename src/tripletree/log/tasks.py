"""Names and units for the well-known tasks of Gymnasium, by their ids: a table, and how it is looked up."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Task(NamedTuple):
    """What the numbers of a task mean.

    Attributes
    ----------
    groups : tuple of tuples of str
        Names of the features, each with its unit as in ``cart position [m]``; ``[0/1]`` for what is yes or no. Versions
        of a task may end after any group.
    actions : tuple of str
        Names of the numbers that are an action, written like features; or, if the action is one of several, its labels.
    grid : tuple of int
        For a state that is a single number: the sizes of what it counts, the last one fastest.
    levels : tuple of tuples
        For each of the numbers that are an action, where its meaning changes and what it means: ("off", 0, "on").
    success : str
        Which episodes succeed, as the task's own description has it, as a condition on episodes; empty where it says
        nothing of the kind.
    """

    groups: tuple[tuple[str, ...], ...]
    actions: tuple[str, ...]
    grid: tuple[int, ...] = ()
    levels: tuple[tuple[float | str, ...], ...] = ()
    success: str = ""

    def features(self, number: int) -> tuple[str, ...]:
        """Return the names of so and so many features, or none if this is not what the task looks like."""
        names: tuple[str, ...] = ()
        for group in self.groups:
            names += group
            if len(names) == number:
                return names
        return ()


# What ends an episode is the goal, or what was to be avoided until time is up; or so many points solve the task.
SUCCESS = {
    **dict.fromkeys(("MountainCar", "MountainCarContinuous", "Acrobot", "CliffWalking", "Taxi"), "ending = terminated"),
    **dict.fromkeys(("CartPole", "InvertedPendulum", "InvertedDoublePendulum"), "ending = truncated"),
    **dict.fromkeys(("Hopper", "Walker2d", "Ant", "Humanoid"), "ending = truncated"),
    **dict.fromkeys(("LunarLander", "LunarLanderContinuous"), "return >= 200"),
    **dict.fromkeys(("BipedalWalker", "BipedalWalkerHardcore"), "return >= 300"),
    **dict.fromkeys(("FrozenLake", "FrozenLake8x8", "Blackjack"), "return > 0"),
}
"""Which episodes of a task succeed, as its own description has it."""


def split_unit(text: str) -> tuple[str, str]:
    """Return a name and its unit.

    >>> split_unit("pole angle [rad]"), split_unit("x")
    (('pole angle', 'rad'), ('x', ''))
    """
    found = re.fullmatch(r"(.+?)(?: \[(.+)\])?", text)
    return (found[1], found[2] or "") if found else (text, "")


def task_of(name: str | None) -> Task | None:
    """Return what is known of an environment by its id, such as ``CartPole-v1``, whatever its version."""
    return None if name is None else TASKS.get(re.sub(r"-v\d+$", "", name))


def _angles(joints: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{joint} angle [rad]" for joint in joints)


def _spins(joints: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{joint} angular velocity [rad/s]" for joint in joints)


def _torques(joints: Iterable[str]) -> tuple[str, ...]:
    # Without a unit: MuJoCo and Box2D multiply them by the strength of each motor.
    return tuple(f"{joint} torque" for joint in joints)


def _each(things: Iterable[str], *measures: str) -> tuple[str, ...]:
    return tuple(f"{thing} {measure}" for thing in things for measure in measures)


_MOVING = ("x velocity [m/s]", "y velocity [m/s]", "z velocity [m/s]", *_spins(("torso x", "torso y", "torso z")))
_FLOATING = ("torso height [m]", *_each(["torso orientation"], "w", "x", "y", "z"))
_CONTACT = tuple(
    f"contact {what} {axis} [{unit}]" for what, unit in (("torque", "N m"), ("force", "N")) for axis in "xyz"
)

# Left and right as the labels of the discrete task have them.
LANDER_LEVELS = (("off", 0.0, "on"), ("left", -0.5, "off", 0.5, "right"))
_LANDER = ("x", "y", "v_x", "v_y", "phi [rad]", "v_phi", "left leg in contact [0/1]", "right leg in contact [0/1]")
_WALKER_LEG = ("hip {} angle [rad]", "hip {} speed", "knee {} angle [rad]", "knee {} speed", "leg {} in contact [0/1]")
_WALKER = (
    *("hull angle [rad]", "hull angular velocity", "x velocity", "y velocity"),
    *(name.format(leg) for leg in (1, 2) for name in _WALKER_LEG),
    *(f"lidar {ray}" for ray in range(10)),
)

_SIDES = ("front left", "front right", "back left", "back right")
_ANT_JOINTS = tuple(f"{side} {joint}" for side in _SIDES for joint in ("hip", "ankle"))
_ANT_BODIES = ("torso", *_each(_SIDES, "leg", "upper leg", "lower leg"))

_CHEETAH = ("back thigh", "back shin", "back foot", "front thigh", "front shin", "front foot")
_HOPPER = ("thigh", "leg", "foot")
_WALKER2D = (*_each(["right"], *_HOPPER), *_each(["left"], *_HOPPER))
_ARM = ("shoulder pan", "shoulder lift", "upper arm roll", "elbow", "forearm roll", "wrist flex", "wrist roll")

_ABDOMEN = ("abdomen z", "abdomen y", "abdomen x")
_LIMBS = (
    *_each(("right", "left"), "hip x", "hip z", "hip y", "knee"),
    *_each(("right", "left"), "shoulder 1", "shoulder 2", "elbow"),
)
_HUMAN_JOINTS = (*_ABDOMEN, *_LIMBS)
_HUMAN_BODIES = (
    *("torso", "waist", "pelvis"),
    *_each(("right", "left"), "thigh", "shin", "foot"),
    *_each(("right", "left"), "upper arm", "lower arm"),
)


def _planar(joints: tuple[str, ...]) -> Task:
    """Return a robot that moves in a plane: its height and joints, and how fast they change."""
    bodies = ("torso", *joints)
    moving = ("forward velocity [m/s]", "vertical velocity [m/s]", *_spins(bodies))
    return Task((("torso height [m]", *_angles(bodies), *moving),), _torques(joints))


_HUMANOID = Task(
    (
        (*_FLOATING, *_angles(_HUMAN_JOINTS), *_MOVING, *_spins(_HUMAN_JOINTS)),
        _each(_HUMAN_BODIES, *(f"inertia {k}" for k in range(9)), "mass [kg]"),
        _each(_HUMAN_BODIES, *(f"{what} velocity {axis}" for what in ("angular", "linear") for axis in "xyz")),
        _each(_HUMAN_JOINTS, "actuator force"),
        _each(_HUMAN_BODIES, *_CONTACT),
    ),
    _torques(("abdomen y", "abdomen z", "abdomen x", *_LIMBS)),
)
_PUSHES = ("push left", "no push", "push right")
_CELL = (("row", "column"),)

TASKS: dict[str, Task] = {
    "CartPole": Task(
        (("cart position [m]", "cart velocity [m/s]", "pole angle [rad]", "pole angular velocity [rad/s]"),),
        ("push left", "push right"),
    ),
    "MountainCar": Task((("position", "velocity"),), _PUSHES),
    "MountainCarContinuous": Task((("position", "velocity"),), ("force",)),
    "Acrobot": Task(
        (
            (
                *_each(("first joint", "second joint"), "cosine", "sine"),
                *_spins(("first joint", "second joint")),
            ),
        ),
        ("torque -1", "torque 0", "torque 1"),
    ),
    "Pendulum": Task((("angle cosine", "angle sine", "angular velocity [rad/s]"),), ("torque [N m]",)),
    "LunarLander": Task((_LANDER,), ("no engine", "left engine", "main engine", "right engine")),
    "LunarLanderContinuous": Task((_LANDER,), ("main engine", "side engine"), levels=LANDER_LEVELS),
    "BipedalWalker": Task((_WALKER,), _torques(("hip 1", "knee 1", "hip 2", "knee 2"))),
    "BipedalWalkerHardcore": Task((_WALKER,), _torques(("hip 1", "knee 1", "hip 2", "knee 2"))),
    "HalfCheetah": _planar(_CHEETAH),
    "Hopper": _planar(_HOPPER),
    "Walker2d": _planar(_WALKER2D),
    "Swimmer": Task(
        (
            (
                *_angles(("front", "first joint", "second joint")),
                *("x velocity [m/s]", "y velocity [m/s]"),
                *_spins(("front", "first joint", "second joint")),
            ),
        ),
        _torques(("first joint", "second joint")),
    ),
    "InvertedPendulum": Task(
        (("cart position [m]", "pole angle [rad]", "cart velocity [m/s]", "pole angular velocity [rad/s]"),),
        ("force on the cart",),
    ),
    "InvertedDoublePendulum": Task(
        (
            (
                "cart position [m]",
                *_each(("first pole", "second pole"), "sine"),
                *_each(("first pole", "second pole"), "cosine"),
                "cart velocity [m/s]",
                *_spins(("first pole", "second pole")),
                "constraint force on the cart",
            ),
            _each(("first pole", "second pole"), "constraint force"),
        ),
        ("force on the cart",),
    ),
    "Reacher": Task(
        (
            (
                *_each(("first joint", "second joint"), "cosine"),
                *_each(("first joint", "second joint"), "sine"),
                *("target x [m]", "target y [m]"),
                *_spins(("first joint", "second joint")),
                *("x from target [m]", "y from target [m]"),
            ),
            ("z from target [m]",),
        ),
        _torques(("first joint", "second joint")),
    ),
    "Pusher": Task(
        ((*_angles(_ARM), *_spins(_ARM), *_each(("fingertip", "object", "goal"), "x [m]", "y [m]", "z [m]")),),
        _torques(_ARM),
    ),
    "Ant": Task(
        ((*_FLOATING, *_angles(_ANT_JOINTS), *_MOVING, *_spins(_ANT_JOINTS)), _each(_ANT_BODIES, *_CONTACT)),
        _torques((*_ANT_JOINTS[-2:], *_ANT_JOINTS[:-2])),
    ),
    "Humanoid": _HUMANOID,
    "HumanoidStandup": _HUMANOID,
    "FrozenLake": Task(_CELL, ("left", "down", "right", "up"), (4, 4)),
    "FrozenLake8x8": Task(_CELL, ("left", "down", "right", "up"), (8, 8)),
    "CliffWalking": Task(_CELL, ("up", "right", "down", "left"), (4, 12)),
    "Taxi": Task(
        (("taxi row", "taxi column", "passenger", "destination"),),
        ("south", "north", "east", "west", "pick up", "drop off"),
        (5, 5, 5, 4),
    ),
    "Blackjack": Task((("player sum", "dealer card", "usable ace [0/1]"),), ("stick", "hit")),
}
"""By the id without its version. Gymnasium's manual has the meaning of every number."""
TASKS = {name: task._replace(success=SUCCESS.get(name, "")) for name, task in TASKS.items()}
