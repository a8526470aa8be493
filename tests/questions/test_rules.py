from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import joined, make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import ParameterError, TripleTreeWarning
from tripletree.asking.attribute import read_attribute
from tripletree.asking.levels import read_levels
from tripletree.demos import road
from tripletree.questions.rules import rules


@pytest.fixture(scope="module")
def log():
    return road.record("alive", n_samples=4000)


@pytest.fixture(scope="module")
def tree(log):
    return quietly_fitted(log, max_leaves=60)


def whole(tree, **options):
    """The whole tree as rules."""
    return rules(tree.fitted_, **options)


def around(tree, rng, n=300):
    """Random states, many of them on a threshold or the float below it, some far outside the log."""
    fitted = tree.fitted_
    span = fitted.feature_max - fitted.feature_min + 1
    states = rng.uniform(fitted.feature_min - span, fitted.feature_max + span, (n, len(span)))
    for node in np.flatnonzero(tree.tree_.left >= 0):
        rows = rng.random(n) < 0.1
        border = tree.tree_.threshold[node]
        states[rows, tree.tree_.feature[node]] = rng.choice([border, np.nextafter(border, -np.inf)], rows.sum())
    return states


@given(
    seed=st.integers(0, 9999),
    features=st.integers(1, 4),
    leaves=st.integers(1, 30),
    dimensions=st.sampled_from([0, 0, 1, 2]),
    grid=st.sampled_from([0, 1]),
)
def test_the_rules_say_of_every_state_what_the_tree_says(seed, features, leaves, dimensions, grid):
    tree = quietly_fitted(
        random_log(seed, features=features, dimensions=dimensions, grid=grid, labels=4), max_leaves=leaves
    )
    states = around(tree, np.random.default_rng(seed))
    for about in ("action", "value"):
        found = whole(tree, about=about)
        levels = read_levels(tree.fitted_, read_attribute(tree.fitted_, about))
        expected = [levels.names[code] for code in levels.leaves[tree.apply(states)]]
        # Not only the first rule that a state meets: all of them.
        for rule in found.rules:
            for row in np.flatnonzero(((rule.lower <= states) & (states < rule.upper)).all(axis=1)):
                assert rule.outcome == expected[row]
        first = found.apply(states)
        assert (first >= 0).all()
        assert [found[number].outcome for number in first] == expected


def test_labels_are_the_outcomes(tree, log):
    found = whole(tree)
    said = [found[number].outcome for number in found.apply(log.states)]
    assert said == [f"Action = {action}" for action in tree.predict(log.states).action]


def test_coverage_and_accuracy_add_up_to_the_trees(tree, log):
    found = whole(tree)
    assert sum(rule.coverage for rule in found.rules) == pytest.approx(1)
    assert sum(rule.samples for rule in found.rules) == log.n_samples
    assert sorted(leaf for rule in found.rules for leaf in rule.leaves) == list(range(tree.n_leaves_))
    # What the tree remembers and what its training log shows are the same.
    again = whole(tree, log=log)
    assert [vars(a)["samples"] for a in again.rules] == [rule.samples for rule in found.rules]
    # How often they are right there says nothing.
    for own in (found, again):
        assert own.judged == "nothing"
        assert {(rule.tested, rule.accuracy) for rule in own.rules} == {(0, None)}
    other = road.record("alive", n_samples=1000, seed=9)
    judged = whole(tree, log=other)
    right = sum(rule.accuracy * rule.tested for rule in judged.rules if rule.tested)
    assert 1 - right / 1000 == pytest.approx(tree.losses(other)[0])
    assert judged.judged == "unseen"
    both = whole(tree, log=joined(log, other))
    assert sum(rule.samples for rule in both.rules) == log.n_samples + 1000
    assert [rule.accuracy for rule in both.rules if rule.tested] != []
    assert sum((rule.accuracy or 0) * rule.tested for rule in both.rules) == pytest.approx(right)


def test_outcomes_and_rules_come_with_the_largest_first(tree):
    found = whole(tree)
    groups: dict[str, list[int]] = {}
    for rule in found.rules:
        groups.setdefault(rule.outcome, []).append(rule.samples)
    assert [sum(group) for group in groups.values()] == sorted(map(sum, groups.values()), reverse=True)
    assert all(group == sorted(group, reverse=True) for group in groups.values())
    assert len(groups) == 2
    assert len(found) < tree.n_leaves_ / 2


def test_the_text_shows_the_first_and_sums_up_the_rest(tree):
    other = road.record("alive", n_samples=2000, seed=9)
    text = str(whole(tree, most=2, log=other))
    clause = r"[\w, .<>=\[\)-]+"
    group = (
        rf"Action = -?0\.001 \([\d.]+ % of the samples, [\d.]+ % right on unseen episodes\)\n"
        rf"  when {clause} \([\d.]+ %, [\d.]+ % right\)\n"
        rf"  or when {clause} \([\d.]+ %, [\d.]+ % right\)\n"
        rf"  or in \d+ more rules \([\d.]+ %, [\d.]+ % right\)"
    )
    assert re.fullmatch(f"{group}\n{group}", text)
    assert "more rule" not in str(whole(tree, most=1000))
    assert re.match(r"Action = -?0.001 when .* \([\d.]+ % of the samples\)\.$", str(whole(tree)[0]))


def test_one_leaf_is_always(log):
    found = whole(quietly_fitted(log, max_leaves=1))
    assert re.fullmatch(r"Action = -?0.001 always \(100 % of the samples\)\.", str(found))
    assert re.match(r"Action = -?0.001 always \(100 %", str(found[0]))
    assert found.table["when"].tolist() == ["always"]


def test_the_table_is_ready_for_a_data_frame(tree):
    frame = pd.DataFrame(whole(tree).table.to_dict())
    assert list(frame.columns) == [
        *("outcome", "when", "samples", "coverage", "tested", "accuracy"),
        *("pos_min", "pos_max", "speed_min", "speed_max"),
    ]
    assert frame.coverage.sum() == pytest.approx(1)
    assert frame.accuracy.isna().all()


def test_markdown_and_html_take_names_literally():
    states = [[0.0, 1.0], [1.0, 1.0], [0.0, 3.0], [1.0, 3.0]] * 3
    log = make_log(states, [0, 0, 0, 1] * 3, [0] * 12, labels=("<b>", "c|d"), names=("<script>", "a_b*"))
    found = whole(quietly_fitted(log, theta=(1, 0, 0)))
    text = found.to_markdown()
    assert text.startswith("### Action = \\<b\\>\n\n75 % of the samples.\n\n- ")
    assert "a\\_b\\*" in text
    assert "c\\|d" in text
    shown = found._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown
    assert "<b>" not in shown
    assert shown.count("<tr>") == len(found) + 1


def test_data_are_json(tree):
    data = json.loads(json.dumps(whole(tree).to_dict(), allow_nan=False))
    assert len(data["rules"]) == len(whole(tree))
    assert {"outcome", "when", "lower", "upper", "coverage", "accuracy"} <= set(data["rules"][0])


@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_levels_part_the_samples_evenly_at_short_numbers(leaf_model):
    log = random_log(5, lengths=(200, 200), dimensions=1)
    tree = quietly_fitted(log, max_leaves=60, leaf_model=leaf_model)
    found = whole(tree, about="a0", levels=3)
    share: dict[str, float] = {}
    for rule in found.rules:
        share[rule.outcome] = share.get(rule.outcome, 0) + rule.coverage
    assert len(share) == 3
    assert all(0.2 < part < 0.5 for part in share.values())
    assert {re.sub(r"-?[\d.]+", "#", name) for name in share} == {
        "a# low (< #)",
        "a# medium (# to #)",
        "a# high (>= #)",
    }
    assert found[0].accuracy is None
    assert "right" not in str(found)
    other = random_log(15, lengths=(200, 200), dimensions=1)
    judged = whole(tree, about="a0", levels=[-0.5, 0.5], log=other)
    levels = np.digitize(other.actions[:, 0], [-0.5, 0.5])
    # A rule holds for whole leaves, and so it speaks of their means.
    means = quietly_fitted(log, max_leaves=60, leaf_model="mean")
    said = np.digitize(means.predict(other.states).action[:, 0], [-0.5, 0.5])
    right = sum(rule.accuracy * rule.tested for rule in judged.rules if rule.tested)
    assert right / other.n_samples == pytest.approx((levels == said).mean())


def test_combinations_values_and_derivatives():
    log = random_log(6, lengths=(100, 100), dimensions=2)
    tree = quietly_fitted(log, max_leaves=40)
    assert {re.sub(r"[-\d.]+", "#", rule.outcome) for rule in whole(tree, levels=2).rules} <= {
        f"a# {one} and a# {two}" for one in ("low (< #)", "high (>= #)") for two in ("low (< #)", "high (>= #)")
    }
    assert whole(tree, about="value", levels=4)[0].outcome.startswith("Value ")
    change = whole(tree, about="derivative of x1", levels=[0], log=log)
    assert {rule.outcome for rule in change.rules} == {
        "Change of x1 low (< 0 per step)",
        "Change of x1 high (>= 0 per step)",
    }
    known = np.ones(log.n_samples, bool)
    known[log.starts[1:] - 1] = ~np.isnan(log.final_states[:, 0])
    assert sum(rule.samples for rule in change.rules) == known.sum()


def test_a_number_that_never_changes_has_one_level():
    log = make_log([[0.0], [1.0], [2.0]], [0.5, 0.5, 0.5], [1, 2, 3], np.arange(4))
    found = whole(quietly_fitted(log), about="a0")
    assert str(found) == "a0 0.5 always (100 % of the samples)."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_rules": 0}, "max_rules must be a whole number of at least 1, or max_rules=None"),
        ({"max_rules": 2.5}, "max_rules must be a whole number"),
        ({"about": "acton"}, "Did you mean `action`"),
        ({"about": "value", "levels": 1}, "levels must be a whole number from 2 to 9; got 1"),
        ({"about": "value", "levels": []}, 'levels must be "auto", a whole number from 2 to 9, or increasing numbers'),
        ({"about": "value", "levels": [1, 0]}, r"got \[1, 0\]"),
        ({"about": "value", "levels": "three"}, "got 'three'"),
        ({"about": "value", "levels": [0, np.nan]}, "levels must be"),
        ({"log": [1, 2]}, "log must be a Log; got list"),
    ],
)
def test_bad_questions(tree, options, message):
    with pytest.raises(ParameterError, match=message):
        tree.rules(**options)


def test_the_old_name_still_works_and_says_what_to_type(tree):
    with pytest.warns(
        TripleTreeWarning, match=r"most is deprecated. Use max_rules=7 for a few rules, or max_rules=None"
    ):
        told = str(tree.rules(most=2))
    assert told == str(whole(tree, most=2))
    assert str(tree.rules(max_rules=None)) == str(whole(tree))
