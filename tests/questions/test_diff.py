"""What changed between two logs: alarms only where something changed, whatever the episodes are like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripletree import Log, LogError, ParameterError, diff
from tripletree.answers.diff import CAUSES

WORLD = np.array([[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [-0.1, 0.0, 0.9]])


def simulated(
    episodes: int,
    seed: int,
    *,
    steps=(20, 60),
    gain=1.0,
    corner=False,
    drag=0.0,
    start=0.0,
    discrete=False,
    drifts=0.0,
    bound=np.inf,
    flat=False,
    **extra,
):
    """Record an agent in a linear world with noise; each episode has a bias of its own, so that its steps depend.

    An episode ends where it leaves the bound, and is cut off after its steps otherwise. Where it is flat, the last
    feature never changes, and the action is always the same.
    """
    rng = np.random.default_rng(seed)
    recorded = []
    for _ in range(episodes):
        x = rng.normal(size=3) + np.array([start, 0, 0])
        bias = drifts * rng.normal()
        x[2] = 4.0 if flat else x[2]
        states, actions, rewards = [x], [], []
        for _ in range(int(rng.integers(*steps))):
            wanted = gain * np.tanh(-x[0] - 0.5 * x[1]) + bias + 0.1 * rng.normal()
            if corner and x[0] > 0.5 and x[2] > 0:
                wanted = -wanted
            wanted = 0.0 if flat else wanted
            action = int(wanted > 0) if discrete else np.array([wanted])
            force = (2 * action - 1) if discrete else action[0]
            x = WORLD @ x + np.array([0, 0.3 * force - drag, 0]) + 0.3 * rng.normal(size=3)
            x[2] = 4.0 if flat else x[2]
            states.append(x)
            actions.append(action)
            rewards.append(-float(x[0] ** 2))
            if abs(x[0]) > bound:
                break
        recorded.append(
            {
                "states": np.array(states),
                "actions": np.array(actions),
                "rewards": np.array(rewards),
                "truncated": abs(x[0]) <= bound,
            }
        )
    kind = "discrete" if discrete else "continuous"
    labels = {"labels": {0: "left", 1: "right"}} if discrete else {}
    return Log.from_episodes(recorded, feature_names=["a", "b", "c"], action_kind=kind, **labels, **extra)


def test_a_reversed_corner_is_found_and_told():
    found = diff(simulated(60, 1), simulated(60, 2, corner=True))
    assert found.changed == ("policy",)
    assert found.code() == 3
    assert found.code(["world", "start"]) == 0
    region = found["policy"].regions[0]
    assert region.target == "action"
    assert region.interval[0] <= region.effect <= region.interval[1]
    assert "What it does CHANGED (p = 0.004). Where " in str(found)


def test_another_world_is_not_blamed_on_the_agent():
    found = diff(simulated(60, 3), simulated(60, 4, drag=0.15))
    assert found.changed == ("world",)
    region = found["world"].regions[0]
    assert (region.target, region.kind) == ("b", "mean")
    assert region.interval[0] < -0.15 < region.interval[1]


def test_other_starts_are_neither():
    found = diff(simulated(60, 5), simulated(60, 6, start=1.5))
    assert found.changed == ("start",)
    assert found["start"].regions[0].target == "a"
    assert found["start"].regions[0].effect == pytest.approx(1.5, abs=0.5)


def test_labels_are_compared_by_their_shares():
    found = diff(simulated(80, 7, discrete=True), simulated(80, 8, discrete=True, corner=True))
    assert found.changed == ("policy",)
    assert "share of action = right" in str(found)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param({}, id="plain"),
        pytest.param({"drifts": 0.5}, id="steps that depend on each other"),
        pytest.param({"steps": (1, 4)}, id="short episodes"),
        pytest.param({"steps": (1, 90), "discrete": True}, id="unequal episodes, labels"),
        pytest.param({"steps": (10, 30), "bound": 1.2}, id="some end, some are truncated"),
        pytest.param({"flat": True}, id="a constant column, one action"),
    ],
)
def test_false_alarms_are_rare(make):
    # At 5 % of 24 pairs, 1.2 are expected; 6 or more come in 1 of 600 runs.
    alarms = 0
    for seed in range(24):
        old, new = simulated(6, 100 + 2 * seed, **make), simulated(9, 101 + 2 * seed, **make)
        found = diff(old, new, alpha=0.05)
        alarms += bool(found.changed or found.outcome.status == "changed")
    assert alarms <= 5


def test_another_time_limit_is_no_change_of_the_agent():
    # The outcome differs, rightly; as above, 6 or more of 24 would be too many.
    alarms, lengths = 0, 0
    for seed in range(24):
        old, new = simulated(12, 300 + 2 * seed, steps=(60, 61)), simulated(12, 301 + 2 * seed, steps=(30, 31))
        found = diff(old, new, alpha=0.05)
        alarms += bool(found.changed)
        lengths += found.outcome.status == "changed"
    assert alarms <= 5
    assert lengths == 24


def test_p_values_are_uniform_where_nothing_changed():
    values = {name: [] for name in CAUSES}
    for seed in range(60):
        found = diff(simulated(8, 1000 + seed, steps=(5, 20)), simulated(8, 2000 + seed, steps=(5, 20)))
        for name in CAUSES:
            values[name].append(found[name].p)
    for name in CAUSES:
        ranks = np.sort(values[name])
        apart = np.abs(ranks - (np.arange(60) + 0.5) / 60).max()
        assert apart < 1.95 / np.sqrt(60), name  # Kolmogorov's distance, exceeded in 1 of 1,000 runs


@pytest.mark.parametrize("sizes", [(2, 2), (1, 1), (1, 5), (5, 5)])
def test_few_episodes_cannot_tell(sizes):
    found = diff(simulated(sizes[0], 1), simulated(sizes[1], 2, corner=True, gain=-1))
    assert found.code() == 4
    assert not found
    assert "Cannot tell" in str(found)
    assert {cause.status for cause in found.causes} == {"cannot tell"}
    assert all(one.interval is None for one in found.outcome.measures.values())
    assert not any(cause.regions or cause.visible for cause in found.causes)


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    steps=st.integers(1, 12),
    seed=st.integers(0, 99),
    discrete=st.booleans(),
    flat=st.booleans(),
)
def test_so_few_episodes_never_give_a_number_that_means_nothing(sizes, steps, seed, discrete, flat):
    options = {"steps": (steps, steps + 3), "discrete": discrete, "flat": flat}
    found = diff(simulated(sizes[0], seed, **options), simulated(sizes[1], seed + 1, **options, gain=-1))
    assert found.code() == 4
    assert {cause.status for cause in found.causes if cause.p is not None} == {"cannot tell"}
    assert all(one.interval is None for one in found.outcome.measures.values())
    assert not any(cause.regions or cause.visible for cause in found.causes)


@pytest.mark.parametrize("few", [2, 3, 4])
def test_means_of_few_episodes_have_no_interval(few):
    found = diff(simulated(60, 1), simulated(few, 2, gain=-1))
    assert found["policy"].status == "changed"
    assert all(one.interval is None for one in found.outcome.measures.values())
    assert str(found.outcome).endswith("; too few to say by how much.")
    assert not found.outcome.worse
    enough = diff(simulated(60, 1), simulated(5, 2, gain=-1))
    assert all(one.interval is not None for one in enough.outcome.measures.values())
    assert "too few" not in str(enough.outcome)


def test_whether_few_episodes_do_worse_cannot_be_told():
    old, new = simulated(60, 1), simulated(3, 2)
    found = diff(old, replace(new, rewards=new.rewards - 100))
    assert found.code(["outcome"]) == 3
    assert found.code(["outcome:worse"]) == 4


def test_what_another_cause_explains_is_not_claimed():
    found = diff(simulated(60, 1), simulated(60, 2, corner=True))
    policy, world, start = (
        str(replace(found["world"], status="explained", reason=reason)) for reason in ("policy", "world", "start")
    )
    assert policy.endswith("), but the change in what it does explains it; not claimed.")
    assert world.endswith("), but the change of the world explains it; not claimed.")
    assert start.endswith("), but the change in where it starts explains it; not claimed.")


def test_six_a_side_can_tell_where_five_cannot():
    found = diff(simulated(6, 1), simulated(6, 2, gain=-1))
    assert found.code() == 3


def test_units_change_nothing():
    old, new = simulated(12, 1), simulated(12, 2, gain=0.5)
    factor = np.array([1000.0, 1e-3, 1.0])
    scaled = [
        replace(log, states=log.states * factor, final_states=log.final_states * factor, actions=log.actions * 7)
        for log in (old, new)
    ]
    one, other = diff(old, new), diff(*scaled)
    assert [cause.p for cause in one.causes] == [cause.p for cause in other.causes]
    assert [cause.status for cause in one.causes] == [cause.status for cause in other.causes]


def test_the_order_of_episodes_changes_nothing_but_the_shuffles():
    old, new = simulated(4, 1), simulated(5, 2)
    # So few that all divisions are listed: then nothing is left to chance.
    one = diff(old, new, alpha=0.05)
    other = diff(old.select([3, 1, 0, 2]), new.select([4, 2, 0, 1, 3]), alpha=0.05)
    assert [cause.p for cause in one.causes] == pytest.approx([cause.p for cause in other.causes])


def test_the_same_log_twice_differs_in_nothing():
    log = simulated(12, 1)
    found = diff(log, log)
    assert [cause.p for cause in found.causes] == [1.0, 1.0, 1.0]
    assert found.code() == 0


def test_constant_columns_and_one_action():
    found = diff(simulated(10, 1, discrete=True, flat=True), simulated(10, 2, discrete=True, flat=True))
    assert found["policy"].p is None
    assert "nothing to compare (the action is always the same)" in str(found)
    assert found["world"].p is not None


def test_groups_are_shuffled_as_a_whole():
    rng = np.random.default_rng(0)

    def flown(names, seed):
        parts = [
            simulated(6, seed + k, drifts=0.0, gain=1 + 0.5 * rng.normal(), episode_ids=None) for k in range(len(names))
        ]
        log = Log.concatenate(parts)
        return replace(log, groups=np.repeat(names, 6), group_name="pilot")

    alone = diff(flown(["a", "b", "c"], 10), flown(["d", "e", "f"], 20))
    assert alone.units == (3, 3)
    assert alone.code() == 4  # six pilots, however many episodes they flew
    both = diff(flown(["a", "b", "c"], 30), flown(["b", "c", "d"], 40))
    assert both.left_out == 12
    assert both.units == (12, 12)


def test_one_log_becomes_two():
    log = Log.concatenate([simulated(30, 1), simulated(30, 2, gain=-1)])
    assert diff(log, split=30).changed == ("policy",)
    pilots = replace(log, groups=np.repeat(["Anna", "Ben"], 30), group_name="pilot")
    found = diff(pilots, split="pilot = Anna")
    assert found.units == (30, 30)
    assert "policy" in found.changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda log: replace(log, schema=replace(log.schema, has_reward=False)), "The new log has no rewards"),
        (
            lambda log: replace(
                log,
                schema=replace(log.schema, features=tuple(replace(f, name=f.name + "x") for f in log.schema.features)),
            ),
            "The new log lacks `a`, `b`, `c` and also has `ax`, `bx`, `cx`",
        ),
        (
            lambda log: replace(
                log, schema=replace(log.schema, features=tuple(replace(f, unit="ft") for f in log.schema.features))
            ),
            "`a` has no unit in the old log and ft in the new one",
        ),
        (
            lambda log: replace(log, schema=replace(log.schema, action=replace(log.schema.action, names=("push",)))),
            "The old log has the actions `action`, the new one `push`",
        ),
        (
            lambda log: replace(log, dt=np.full(log.n_samples, 0.1), schema=replace(log.schema, per_second=True)),
            "Only the new log knows the time between its steps",
        ),
        (lambda log: replace(log, groups=np.arange(log.n_episodes)), "The old log has no groups and the other has"),
    ],
)
def test_logs_that_do_not_fit_are_told_apart_in_a_sentence(change, message):
    with pytest.raises(LogError, match=message):
        diff(simulated(6, 1), change(simulated(6, 2)))


def test_steps_of_another_length_are_not_compared():
    logs = [
        replace(log, dt=np.full(log.n_samples, dt), schema=replace(log.schema, per_second=True))
        for log, dt in ((simulated(6, 1), 0.02), (simulated(6, 2), 0.05))
    ]
    with pytest.raises(LogError, match=r"A step takes 0.02 s in the old log and 0.05 s in the new one"):
        diff(*logs)


def test_one_log_alone_is_no_question():
    with pytest.raises(ParameterError, match="Give two logs, or one and split=100"):
        diff(simulated(6, 1))
    with pytest.raises(ParameterError, match="must divide the log, but all of its episodes are old"):
        diff(simulated(6, 1), split="length > 0")
