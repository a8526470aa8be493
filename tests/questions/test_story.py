from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import LogError, ParameterError
from tripletree.asking.regions import read_regions
from tripletree.demos import road
from tripletree.questions.story import jumps, story
from tripletree.questions.study import Study


@pytest.fixture(scope="module")
def log():
    return road.record("alive", n_samples=6000)


@pytest.fixture(scope="module")
def tree(log):
    return quietly_fitted(log, max_leaves=100, theta=(0.2, 0.6, 0.2))


def shuttle():
    """There and back: pushes right up to 5, then left; the value drops by 100 where it turns."""
    pos = np.array([0.0, 1, 2, 3, 4, 5, 6, 5.5, 4.5, 3.5, 2.5, 1.5])
    turn = np.arange(12) >= 6
    states = np.stack([pos, turn], axis=1)
    return make_log(
        states,
        turn.astype(int),
        np.where(turn, -100.0, 0.0),
        final_states=[[0.5, 1]],
        endings=[1],
        labels=("right", "left"),
        names=("pos", "returning"),
        kinds=("real", "binary"),
    )


def test_a_small_story_word_for_word():
    log = shuttle()
    told = quietly_fitted(log, gamma=0.0, theta=(1, 1, 0), max_leaves=2).story(log)
    assert str(told) == (
        "This episode: 12 steps, return -600, ended by itself.\n"
        "  0-5   not returning: right.\n"
        "  6-11  returning: left, because returning.\n"
        "  The value falls most at step 6, from 0 to -100, because returning.\n"
        "  Fits 100 % of the recording."
    )
    assert str(told.phases[0]) == "0-5 not returning: right"
    assert str(told.jumps[0]).startswith("The value falls most at step 6")


def test_phases_are_visits_to_regions_and_fit_the_recording(tree, log):
    regions = read_regions(tree.fitted_, "action")
    labels = np.array(log.schema.action.labels)
    for episode in range(5):
        told = tree.story(episode, log=log)
        begin, end = log.starts[episode : episode + 2]
        states, actions = log.states[begin:end], labels[log.actions[begin:end]]
        assert told.phases[0].begin == 0
        assert told.phases[-1].end == told.steps == end - begin
        assert [one.end for one in told.phases[:-1]] == [one.begin for one in told.phases[1:]]
        right, region = np.zeros(end - begin, bool), regions.of(states)
        for phase in told.phases:
            part = slice(phase.begin, phase.end)
            assert phase.name == regions.names[phase.region]
            assert np.bincount(region[part]).argmax() == phase.region
            if phase.kinds == ("constant",):
                right[part] = actions[part] == phase.outcomes[0]
                assert right[part].sum() == np.unique(actions[part], return_counts=True)[1].max()
            else:
                right[part] = labels[regions.rules[phase.region][0].of(states[part])] == actions[part]
            assert phase.agreement == pytest.approx((right[part].mean(),))
        assert told.total == pytest.approx(log.rewards[begin:end].sum())
        assert told.agreement == told.together == pytest.approx(right.mean())


def test_a_story_of_a_long_drive_is_short_and_fits(tree):
    held_out = road.record("alive", n_samples=4000, seed=1)
    for episode in range(held_out.n_episodes):
        told = tree.story(episode, log=held_out)
        assert len(str(told).splitlines()) < 10
    whole = [tree.story(episode, log=held_out).agreement for episode in range(held_out.n_episodes)]
    assert np.average(whole, weights=np.diff(held_out.starts)) > 0.8


def test_reasons_are_those_of_explain_change(tree, log):
    told = tree.story(0, log=log, shortest=1, most=999)
    regions, states = read_regions(tree.fitted_, "action"), log.states[: log.starts[1]]
    region = regions.of(states)
    assert told.changes
    for before, phase in pairwise(told.phases):
        last = np.flatnonzero(region[: before.end] == before.region)[-1]
        first = phase.begin + np.flatnonzero(region[phase.begin :] == phase.region)[0]
        for change in phase.changes:
            assert change.to_dict() == tree.explain_change(states[last], states[first]).to_dict()


def test_long_episodes_are_summed_up(tree, log):
    longest = int(np.diff(log.starts).argmax())
    fine, coarse = (tree.story(longest, log=log, shortest=1, most=most) for most in (999, 2))
    assert len(fine.phases) > len(coarse.phases)
    assert len(coarse.phases) <= 2
    assert coarse.phases[-1].end == fine.phases[-1].end
    assert [jump.step for jump in coarse.jumps] == [jump.step for jump in fine.jumps]


def test_several_dimensions_and_other_attributes():
    log = random_log(8, lengths=(150, 150), dimensions=2)
    tree = quietly_fitted(log, max_leaves=50)
    told = tree.story(0, log=log, levels=2)
    assert all(re.match(r"a0 .*; a1 ", phase.behaviour) for phase in told.phases)
    assert all(len(phase.outcomes) == len(phase.kinds) == len(phase.agreement) == 2 for phase in told.phases)
    assert told.together <= told.agreement
    assert str(told).endswith("for both at once.")
    assert all(phase.behaviour.startswith("a0 ") for phase in tree.story(0, log=log, about="a0", levels=[0.0]).phases)
    assert all(phase.behaviour.startswith("value ") for phase in tree.story(0, log=log, about="value").phases)
    change = tree.story(0, log=log, about="derivative of x1")
    assert all(phase.behaviour.startswith("change of x1 ") for phase in change.phases)


def test_a_number_without_words_is_told_by_its_mean_and_neither_right_nor_wrong():
    log = random_log(8, lengths=(150, 150), dimensions=2)
    fitted = quietly_fitted(log, max_leaves=10).fitted_
    none = {"edges": [], "names": [], "nodes": "0" * fitted.tree.n_nodes, "agreement": 0.5}
    told = story(replace(fitted, provenance=fitted.provenance | {"levels": {"a0": none, "a1": none}}), 0, log)
    assert {kind for phase in told.phases for kind in phase.kinds} == {"number"}
    assert (told.agreement, told.together) == (None, None)
    assert "Fits" not in str(told)
    begin, end = told.phases[0].begin, told.phases[0].end
    assert f"a0 {log.actions[begin:end, 0].mean():.1f}"[:5] in told.phases[0].behaviour


def test_recorded_ways_are_told_step_by_step(tree):
    ways = tree.simulate([0.5, 0.05], {"pos": (2.0, None)})
    told, steps = tree.story(ways), int(ways[0].duration)
    assert not told.simulated
    assert (told.steps, told.phases[-1].end, told.ending) == (steps, steps, None)
    assert re.match(rf"This trajectory: {steps} steps\.\n  0-\d+ +.*: acc = -?0.001", str(told))
    assert (told.agreement, told.together) == (None, None), "nothing is recorded"
    assert str(tree.story(ways[0])) == str(told)
    assert tree.story(tree.simulate(ways[0].nodes[0], {"pos": (0, 3)})).steps == 0, "it is there already"
    ending = quietly_fitted(road.record("either", n_samples=3000), max_leaves=40)
    assert "steps, ended by itself." in str(ending.story(ending.simulate([1.2, 0.03], "end")))


def test_the_papers_ways_are_told_leaf_by_leaf(tree):
    ways = tree.simulate([0.5, 0.05], {"pos": (2.0, None)}, method="paper")
    told = tree.story(ways)
    assert told.simulated
    assert told.ending is None
    assert told.total is None
    assert told.phases[-1].end == len(ways[0].leaves)
    assert re.match(r"This trajectory: about \d+ steps\.\n  leaves 0.* acc = -?0.001", str(told))
    assert str(tree.story(ways[0])) == str(told)
    ending = quietly_fitted(road.record("either", n_samples=3000), max_leaves=40)
    assert "steps, ended by itself." in str(ending.story(ending.simulate([1.2, 0.03], "end", method="paper")))


def test_states_and_logs_of_one_episode(tree, log):
    states = log.states[: log.starts[1]]
    by_states, by_log = tree.story(states), tree.story(log.select([0]))
    assert [(one.begin, one.end, one.name) for one in by_states.phases] == [
        (one.begin, one.end, one.name) for one in by_log.phases
    ]
    assert str(by_states).startswith("This sequence of states: ")
    assert by_states.agreement is None
    assert by_log.ending == "truncated"
    assert ", cut off.\n" in str(by_log)
    assert str(tree.story([1.2, 0.03])).startswith("This sequence of states: 1 step.")


def test_data_are_json_and_html_is_escaped(tree, log):
    data = json.loads(json.dumps(tree.story(0, log=log).to_dict(), allow_nan=False))
    assert set(data["phases"][0]) >= {"begin", "end", "name", "behaviour", "kinds", "changes"}
    bad = shuttle()
    bad = make_log(bad.states, bad.actions, bad.rewards, labels=("<script>", "b"), names=("<img>", "y"))
    shown = quietly_fitted(bad, theta=(1, 0, 0)).story(bad)._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown
    assert "<img" not in shown


@pytest.mark.parametrize(
    ("episode", "options", "message"),
    [
        (3, {}, r"Episode 3 of which log\? Give log=\.\.\. as well"),
        ([], {}, "The episode has no steps"),
        (np.zeros((0, 2)), {}, "The episode has no steps"),
        ({"pos": [], "speed": []}, {}, "The episode has no steps"),
        ([[1.2, 0.3, 4]], {}, "must have 2 features"),
        ([[1.2, np.nan]], {}, "feature `speed` of state 0 is NaN"),
        ([[1.2, 0.3]], {"shortest": 0}, "shortest must be a whole number of at least 1; got 0"),
        ([[1.2, 0.3]], {"most": 1.5}, "most must be a whole number of at least 1; got 1.5"),
        ([[1.2, 0.3]], {"about": "actoin"}, "Did you mean `action`"),
        (0, {"log": "log"}, "log must be a Log; got str"),
    ],
)
def test_bad_questions(tree, episode, options, message):
    with pytest.raises(ParameterError, match=message):
        tree.story(episode, **options)


def test_episodes_that_are_not_there(tree, log):
    for number in (log.n_episodes, -1):
        with pytest.raises(ParameterError, match=rf"from 0 to {log.n_episodes - 1}.*got {number}\."):
            tree.story(number, log=log)
    with pytest.raises(ParameterError, match=rf"this log has {log.n_episodes}\. Try episode=0 with log="):
        tree.story(log)
    with pytest.raises(LogError, match="the tree was grown on `pos`, `speed`"):
        tree.story(0, log=random_log(0, features=3))
    with pytest.raises(ParameterError, match=r"A path has no states.*simulate"):
        tree.story(tree.paths([0.5, 0.05], {"pos": (2.0, None)}))
    nowhere = quietly_fitted(road.record("either", n_samples=3000), max_leaves=40)
    with pytest.raises(ParameterError, match=r"There is no trajectory to tell\. From pos = 2\.9"):
        nowhere.story(nowhere.simulate([2.9, 0.09], {"pos": (0, 0.2)}))


def test_a_phase_begins_for_what_differs_from_the_phase_before_not_from_an_interruption():
    # a while x < 1, b from 1 on while y < 1, c from there on: the single b at step 50 is not told.
    states = np.array([[0.0, 0.0]] * 50 + [[2.0, 0.0]] + [[2.0, 2.0]] * 50)
    log = make_log(states, [0] * 50 + [1] + [2] * 50, np.zeros(101), names=("x", "y"), labels=("a", "b", "c"))
    told = quietly_fitted(log, theta=(1, 0, 0)).story(log)
    assert [(phase.begin, phase.end) for phase in told.phases] in ([(0, 50), (50, 101)], [(0, 51), (51, 101)])
    (change,) = told.changes
    assert change.was == "a"
    assert change.became in ("b", "c")


def test_flicker_at_a_border_is_no_phase():
    x = np.concatenate([np.zeros(40), np.tile([1.0, 0.0], 3), np.zeros(40), np.full(40, 2.0)])
    log = make_log(x[:, None], (x > 0.5).astype(int), 0 * x, labels=("wait", "go"), names=("x",))
    told = quietly_fitted(log, theta=(1, 0, 0)).story(log)
    assert [(phase.begin, phase.end, phase.interruptions) for phase in told.phases] == [(0, 86, 3), (86, 126, 0)]
    assert told.phases[0].agreement == pytest.approx((83 / 86,))


def test_a_phase_that_repeats_is_told_as_a_cycle():
    # Pushes for a quarter of each cycle; its own state does not tell when, only the phase does.
    rng = np.random.default_rng(0)
    steps = np.arange(6_000)
    push = np.where(steps % 40 < 10, 1, 0)
    states = np.column_stack([np.cos(2 * np.pi * steps / 40), rng.normal(size=6_000)])
    starts, labels = range(0, 6_001, 600), ("rest", "push")
    log = make_log(states, push, 0 * steps, starts, labels=labels, names=("height", "wind"))
    told = quietly_fitted(log, max_leaves=20, theta=(1, 0, 0)).story(3, log=log)
    (phase,) = told.phases
    assert phase.kinds == ("cycle",)
    assert re.match(
        r"throughout: repeats every 40 steps, with (push|rest) to step \d+, (push|rest) to \d+", str(phase)[6:]
    )
    assert told.agreement > 0.95


def test_an_episode_is_called_by_its_id(log, tree):
    named = replace(log, episode_ids=np.array([f"run-{100 + 3 * k}" for k in range(log.n_episodes)]))
    assert str(tree.story(4, log=named)).startswith("Episode run-112: ")


@pytest.fixture(scope="module")
def steps():
    """Three leaves along x with the values 0, 1 and 3."""
    log = make_log([[0.0], [1.0], [2.0]], [0, 0, 0], [0.0, 1.0, 3.0], np.arange(4), labels=("a",), names=("x",))
    tree = quietly_fitted(log, gamma=0.0, theta=(0, 1, 0))
    assert tree.fitted_.leaves.value_mean.tolist() == [0, 1, 3]
    return tree.fitted_


def spread(fitted, std):
    """The same tree, grown on a log whose values spread so far."""
    value_std = fitted.attributes.value_std.copy()
    value_std[0] = std
    return replace(fitted, attributes=replace(fitted.attributes, value_std=value_std))


@pytest.mark.parametrize(
    ("std", "told"),
    [
        (0.0, []),  # values that never differ do not jump
        (1.9, ["The value rises most at step 1, from 0 to 1"]),
        (2.0, ["The value rises most at step 1, from 0 to 1"]),  # a jump of 1 is half of 2
        (2.01, []),
        (3.0, []),
    ],
)
def test_a_jump_is_told_from_half_the_spread_of_the_value_on(steps, std, told):
    found = story(spread(steps, std), [[0.0], [1.0], [1.0]])
    assert [str(jump).partition(", because")[0] for jump in found.jumps] == told


def test_the_largest_rise_and_the_largest_fall_are_told_in_the_order_of_time(steps):
    found = story(spread(steps, 1.0), [[0.0], [1.0], [2.0], [1.0], [0.0], [2.0], [0.0]])
    # Up by 1, 2, then down by 2, 1, up by 3 and down by 3. What is undone in the next step is one event.
    assert [str(jump) for jump in found.jumps] == [
        "The value rises most at step 5, from 0 to 3 and back after 1 step, because x >= 2."
    ]
    lasting = story(spread(steps, 1.0), [[0.0]] * 6 + [[2.0]] * 6 + [[0.0]] * 6)
    assert [str(jump) for jump in lasting.jumps] == [
        "The value rises most at step 6, from 0 to 3, because x >= 2.",
        "The value falls most at step 12, from 3 to 0, because x < 2.",
    ]
    # A change that lasts comes before a larger one that does not.
    mixed = story(spread(steps, 1.0), [[0.0]] * 6 + [[1.0]] * 6 + [[0.0], [0.0], [2.0]] + [[1.0]] * 6)
    assert [(jump.step, jump.lasted) for jump in mixed.jumps] == [(6, None), (15, None)]
    # A brief rise before a deep fall belongs to the fall.
    deep = story(spread(steps, 1.0), [[1.0]] * 6 + [[2.0]] + [[0.0]] * 8)
    assert [(jump.step, jump.lasted) for jump in deep.jumps] == [(7, None)]
    down = story(spread(steps, 1.0), [[2.0], [0.0], [0.0], [1.0]])
    assert [jump.step for jump in down.jumps] == [1, 3]
    assert story(steps, [[0.0]]).jumps == ()


def test_phases_last_three_steps_and_are_six_at_most_unless_asked_otherwise():
    x = np.repeat(np.tile([0.0, 1.0], 8), 9)
    log = make_log(x[:, None], x.astype(int), 0 * x, range(0, 145, 18), labels=("a", "b"), names=("x",))
    tree = quietly_fitted(log, theta=(1, 0, 0))

    def of(text, **options):
        return [one.end for one in tree.story([[float(digit)] for digit in text], **options).phases]

    long = "0" * 9 + "1" * 9
    assert of(long) == [9, 18]
    assert of("0" * 9 + "11" + "0" * 9) == [20]  # two steps are an interruption
    assert of("0" * 9 + "11" + "0" * 9, shortest=1) == [9, 11, 20]
    assert len(of(long * 4, most=8)) == 8
    assert len(of(long * 4)) <= 6
    assert len(of(long * 4, most=1)) == 1


def test_jumps_alone_are_those_of_the_story(tree, log):
    for episode in range(0, log.n_episodes, 7):
        alone, told = jumps(tree.fitted_, log, episode), story(tree.fitted_, episode, log).jumps
        assert [(one.step, str(one.change)) for one in alone] == [(one.step, str(one.change)) for one in told]


def test_a_study_tells_a_story_once(tree, log):
    study = Study(tree.fitted_, log, 1)
    assert study.story(2) is study.story(2)
    assert str(study.story(2)) == str(story(tree.fitted_, 2, log))
