from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import LogError, ParameterError
from tripletree.asking.attribute import read_attribute
from tripletree.asking.levels import read_levels
from tripletree.demos import road
from tripletree.questions.predict import predict
from tripletree.questions.story import story


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
        "This episode lasts 12 steps and returns -600.\n"
        "First action = right for 6 steps (value 0),\n"
        "then action = left for 6 steps because returning (value -100).\n"
        "Then the episode ends.\n"
        "The value falls most at step 6, from 0 to -100, because returning.\n"
        "The log shows what the tree predicts at 100 % of the steps."
    )
    assert str(told.phases[0]) == "action = right for 6 steps (value 0)"
    assert str(told.jumps[0]).startswith("The value falls most at step 6")


def test_phases_are_what_the_leaves_predict(tree, log):
    # On average: within a leaf, a linear model may say more than one thing.
    means = replace(tree.fitted_, options=tree.fitted_.options | {"leaf_model": "mean"})
    for episode in range(5):
        told = tree.story(episode, log=log)
        steps = slice(*log.starts[episode : episode + 2])
        predicted = predict(means, log.states[steps], 1)
        assert told.phases[0].begin == 0
        assert told.phases[-1].end == told.steps == len(predicted.action)
        for phase in told.phases:
            part = predicted.action[phase.begin : phase.end]
            main, share = phase.outcomes[0].removeprefix("Action = "), np.unique(part, return_counts=True)[1].max()
            assert (part == main).sum() == share
            assert phase.value_begin == predicted.value[phase.begin]
            assert phase.value_end == predicted.value[phase.end - 1]
        assert told.total == pytest.approx(log.rewards[steps].sum())
        actions = np.array(log.schema.action.labels)[log.actions[steps]]
        assert told.agreement == pytest.approx((actions == predicted.action).mean())


def test_every_change_has_its_reason(tree, log):
    told = tree.story(0, log=log, shortest=1, most=999)
    first = log.starts[0]
    assert len(told.changes) == len(told.phases) - 1 > 3
    for phase, change in zip(told.phases[1:], told.changes, strict=True):
        asked = tree.explain_change(log.states[first + phase.begin - 1], log.states[first + phase.begin])
        assert change.to_dict() == asked.to_dict()
        reason = str(asked).partition(" because ")[2].partition(" The log's second model ")[0].rstrip(".")
        assert f" because {reason} (value" in str(phase)
    lines = str(told).split("\n")
    assert lines[1].startswith("First action = ")
    assert all(line.startswith("then action = ") for line in lines[2 : 1 + len(told.phases)])


def test_long_episodes_are_summed_up_and_keep_their_end(tree, log):
    longest = int(np.diff(log.starts).argmax())
    fine, coarse = (tree.story(longest, log=log, shortest=1, most=most) for most in (999, 5))
    assert len(fine.phases) > 20
    assert len(coarse.phases) <= 5
    assert coarse.phases[-1].end == fine.phases[-1].end
    assert [jump.step for jump in coarse.jumps] == [jump.step for jump in fine.jumps]
    assert "alternating between" in str(coarse)


def test_numbers_make_levels_that_are_said_once():
    log = random_log(8, lengths=(150, 150), dimensions=2)
    tree = quietly_fitted(log, max_leaves=50)
    text = str(tree.story(0, log=log, levels=2, shortest=1, most=400))
    assert len(re.findall(r"a0 (low|high) \([<>=]+ [-\d.]+\)", text)) == 2
    assert len(re.findall(r"a1 (low|high) \([<>=]+ [-\d.]+\)", text)) == 2
    one = tree.story(0, log=log, about="a0", levels=[0.0], shortest=1, most=400)
    fitted = tree.fitted_
    codes = read_levels(fitted, read_attribute(fitted, "a0"), [0.0]).leaves[tree.apply(log.states[:150])]
    assert [phase.begin for phase in one.phases[1:]] == (np.flatnonzero(np.diff(codes)) + 1).tolist()
    assert all(change.threshold == 0.0 for change in one.changes)
    value = str(tree.story(0, log=log, about="value", levels=4))
    assert value.split("\n")[1].startswith("First value ")
    assert "(value" not in value
    assert str(tree.story(0, log=log, about="derivative of x1")).split("\n")[1].startswith("First change of x1 ")


def test_recorded_ways_are_told_step_by_step(tree):
    ways = tree.simulate([0.5, 0.05], {"pos": (2.0, None)})
    told, steps = tree.story(ways), int(ways[0].duration)
    assert not told.simulated
    assert (told.steps, told.phases[-1].end, told.ending) == (steps, steps, None)
    assert re.match(rf"This trajectory lasts {steps} steps\.\nFirst action = -?0.001 for \d+ step", str(told))
    assert str(tree.story(ways[0])) == str(told)
    assert tree.story(tree.simulate(ways[0].nodes[0], {"pos": (0, 3)})).steps == 0, "it is there already"
    ending = quietly_fitted(road.record("either", n_samples=3000), max_leaves=40)
    assert "Then the episode ends." in str(ending.story(ending.simulate([1.2, 0.03], "end")))


def test_the_papers_ways_are_told_leaf_by_leaf(tree):
    ways = tree.simulate([0.5, 0.05], {"pos": (2.0, None)}, method="paper")
    told = tree.story(ways)
    assert told.simulated
    assert told.ending is None
    assert told.total is None
    assert told.phases[-1].end == len(ways[0].leaves)
    assert re.match(r"This trajectory takes about \d+ steps\.\nFirst action = -?0.001 through \d+ lea", str(told))
    assert len(told.changes) == len(told.phases) - 1
    assert str(tree.story(ways[0])) == str(told)
    ending = quietly_fitted(road.record("either", n_samples=3000), max_leaves=40)
    assert "Then the episode ends." in str(ending.story(ending.simulate([1.2, 0.03], "end", method="paper")))


def test_states_and_logs_of_one_episode(tree, log):
    states = log.states[: log.starts[1]]
    by_states, by_log = tree.story(states), tree.story(log.select([0]))
    assert [phase.to_dict() for phase in by_states.phases] == [phase.to_dict() for phase in by_log.phases]
    assert str(by_states).startswith("This sequence of states lasts")
    assert by_states.agreement is None
    assert by_log.ending == "truncated"
    assert "Then the recording is cut off." in str(by_log)
    assert str(tree.story([1.2, 0.03])).startswith("This sequence of states lasts 1 step.")


def test_data_are_json_and_html_is_escaped(tree, log):
    data = json.loads(json.dumps(tree.story(0, log=log).to_dict(), allow_nan=False))
    assert set(data["phases"][0]) >= {"begin", "end", "behaviour", "value_begin", "value_end", "changes"}
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


def test_interruptions_and_alternations_of_several_dimensions_read_well():
    x = np.array([0.0] * 5 + [1, 0] * 5 + [0.0] * 5 + [1] + [0.0] * 5 + [2.0] * 5)
    log = make_log(x[:, None], np.stack([x % 2, x], axis=1), np.zeros(len(x)), names=("x",))
    told = quietly_fitted(log, theta=(1, 0, 0)).story(log, levels=[0.5])
    assert [str(phase).partition(" because")[0] for phase in told.phases] == [
        "a0 low (< 0.5) and a1 low (< 0.5) for 5 steps (value 0)",
        "a0 alternating between high (>= 0.5) and low, and a1 alternating between high (>= 0.5) and low for 9 steps",
        "a0 low and a1 low for 12 steps",
        "a1 high for 5 steps",
    ]
    assert str(told.phases[2]).endswith("because x < 1 (1 brief interruption, value 0)")


def test_a_phase_begins_for_what_differs_from_the_phase_before_not_from_an_interruption():
    # a while x < 1, b from 1 on while y < 1, c from there on: the single b at step 5 is not told.
    states = np.array([[0.0, 0.0]] * 5 + [[2.0, 0.0]] + [[2.0, 2.0]] * 5)
    log = make_log(states, [0] * 5 + [1] + [2] * 5, np.zeros(11), names=("x", "y"), labels=("a", "b", "c"))
    told = quietly_fitted(log, theta=(1, 0, 0)).story(log)
    assert [(phase.begin, phase.end, phase.interruptions) for phase in told.phases] == [(0, 6, 1), (6, 11, 0)]
    (change,) = told.changes
    assert (change.was, change.became) == ("a", "c")


def test_an_episode_is_called_by_its_id(log, tree):
    named = replace(log, episode_ids=np.array([f"run-{100 + 3 * k}" for k in range(log.n_episodes)]))
    assert str(tree.story(4, log=named)).startswith("Episode run-112 lasts ")


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


def test_phases_last_three_steps_and_are_twelve_at_most_unless_asked_otherwise(steps):
    def of(text):
        return story(steps, [[float(digit)] for digit in text], about="value", levels=[0.5, 2])

    assert [one.end for one in of("000111").phases] == [3, 6]
    assert [one.end for one in of("00011000").phases] == [8]  # two steps are an interruption
    assert len(of("000111" * 6).phases) == 12
    assert len(of("000111" * 6 + "000").phases) < 12
