"""Regions: planted ones are found and named rightly, on unseen episodes; visits and rates against brute force."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree.asking.regions import brief, rates, read_regions, settled, slow
from tripletree.log.log import TERMINATED
from tripletree.log.schema import Schema

NAMES = ("y", "vy", "left leg in contact", "right leg in contact", "wind")
KINDS = ("real", "real", "binary", "binary", "real")
LABELS = ("glide", "brake", "rest")


@cache
def flights(seed=0, episodes=12, noise=0.0):
    """Falls from about 10, brakes below 4, and rests on both legs; wind means nothing."""
    rng = np.random.default_rng(seed)
    states, actions, starts = [], [], [0]
    for _ in range(episodes):
        y, vy = rng.uniform(9, 11), -0.1
        for step in range(120):
            landed = y <= 0
            left = landed or y < 0.05
            action = 2 if landed else 1 if y < 4 else 0
            if rng.random() < noise:
                action = int(rng.integers(3))
            states.append([y, vy, float(left), float(landed), rng.normal()])
            actions.append(action)
            vy = 0.0 if landed else min(vy + 0.03, -0.06) if y < 4 else max(vy - 0.02, -0.4)
            y = max(y + vy, 0.0) if step < 110 else y
        starts.append(len(states))
    n = len(states)
    return make_log(
        states, actions, np.zeros(n), starts, endings=[TERMINATED] * episodes, labels=LABELS, names=NAMES, kinds=KINDS
    )


@cache
def flown(noise=0.0):
    return quietly_fitted(flights(noise=noise), max_leaves=20, theta=(1, 0, 0)).fitted_


def words_hold(regions, states, region):
    """How often each name is true inside its region, and outside."""
    found = []
    for one, words in enumerate(regions.words):
        true, inside = np.all([word.holds(states) for word in words], axis=0), region == one
        found.append((true[inside].mean(), true[~inside].mean()))
    return np.array(found)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_planted_regions_are_found_and_named(noise):
    regions = read_regions(flown(noise), "action")
    assert len(regions) == 3
    log = flights(1)
    region = regions.of(log.states)
    names = np.array(regions.names)
    for level, words in enumerate((["y high"], ["not in contact", "y low"], ["in contact"])):
        inside = log.actions == level
        found, share = np.unique(region[inside], return_counts=True)
        assert share.max() > 0.95 * inside.sum()
        assert all(word in names[found[share.argmax()]] for word in words)
    inside, outside = words_hold(regions, log.states, settled(region, log.starts)).T
    assert inside.min() >= 0.85
    assert outside.max() <= 0.15
    assert len(set(regions.names)) == 3
    assert regions.rate_of == {1: 0}
    assert not any("wind" in name for name in regions.names)


def test_what_is_done_in_a_planted_region():
    regions = read_regions(flown(), "action")
    log = flights(1)
    region = regions.of(log.states)
    for one, (rule,) in enumerate(regions.rules):
        mine = log.states[region == one]
        assert (rule.of(mine) == log.actions[region == one]).mean() > 0.95


def test_a_rule_inside_a_region_where_borders_are_crossed_all_the_time():
    # Which way to push changes every few steps; whether there is power changes once.
    rng = np.random.default_rng(0)
    steps = np.arange(3_000)
    lean, power = np.sin(steps * 1.3) + 0.1 * rng.normal(size=3_000), steps % 300 < 150
    actions = np.where(power, np.where(lean < 0, 0, 1), 2)
    states = np.column_stack([lean, np.where(power, 8.0, 1.0) + rng.normal(size=3_000)])
    log = make_log(
        states, actions, 0 * steps, range(0, 3_001, 300), labels=("left", "right", "off"), names=("lean", "power")
    )
    regions = read_regions(quietly_fitted(log, max_leaves=20, theta=(1, 0, 0)).fitted_, "action")
    assert sorted(regions.names) == ["power high", "power low"]
    rule = regions.rules[regions.names.index("power high")][0]
    assert rule.tree.n_leaves == 2
    assert rule.tree.feature[0] == 0
    assert abs(rule.tree.threshold[0]) < 0.3


@pytest.mark.parametrize("factor", [1000.0, 0.001, 25.4])
def test_units_do_not_matter(factor):
    log = flights()
    other = replace(log, states=log.states * [factor, factor, 1, 1, factor])
    one, two = (read_regions(quietly_fitted(x, max_leaves=20, theta=(1, 0, 0)).fitted_, "action") for x in (log, other))
    assert one.names == two.names
    assert (one.of(log.states) == two.of(other.states)).mean() > 0.98


def test_borders_are_round():
    regions = read_regions(flown(), "action")
    for f, border in zip(regions.tree.feature, regions.tree.threshold, strict=True):
        assert f < 0 or len(f"{border:.6g}".lstrip("-0.")) <= 3


def lengths(side, starts):
    """Lengths of the visits to either side of a border, without those shorter than 3, by brute force."""
    found = {False: [], True: []}
    for begin, end in pairwise(starts):
        runs = np.split(side[begin:end], np.flatnonzero(np.diff(side[begin:end])) + 1)
        for run in runs:
            found[bool(run[0])].append(len(run))
    return found


def test_borders_that_are_crossed_seldom():
    rng = np.random.default_rng(0)
    n, starts = 4_000, np.arange(0, 4_001, 200)
    columns = [np.sin(2 * np.pi * np.arange(n) / period) for period in (10, 20, 35, 45, 80, 200)]
    codes = np.stack([np.searchsorted([0.0], column, "right") for column in columns], axis=1)
    found = [bool(part[0]) for part in slow(codes, [np.zeros(1)] * len(columns), starts)]
    # A visit must last 20 steps, a tenth of an episode.
    means = [min(map(np.mean, lengths(column >= 0, starts).values())) for column in columns]
    assert found == [mean >= 20 for mean in means]
    # What is undone within three steps does not count.
    flicker = columns[-1] >= 0
    flicker[rng.integers(0, n, 30)] ^= True
    assert slow(flicker[:, None].astype(int), [np.zeros(1)], starts)[0][0]


def test_short_episodes_have_short_visits():
    assert [brief(np.array([0, n, 2 * n])) for n in (1, 2, 19, 20, 29, 30, 500)] == [1, 1, 1, 2, 2, 3, 3]


def cost(path, region, wait):
    return (path != region).sum() + (wait - 0.5) * (path[1:] != path[:-1]).sum()


@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_settled_regions_have_the_fewest_steps_wrong(region, wait):
    region = np.array(region)
    best = min(cost(np.array(path), region, wait) for path in product(np.unique(region), repeat=len(region)))
    found = settled(region, np.array([0, len(region)]), wait)
    assert cost(found, region, wait) == pytest.approx(best)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("aaaaabaaaaa", "aaaaaaaaaaa"),
        ("aaaaabbbaaaaa", "aaaaaaaaaaaaa"),
        ("aaaaabbbbbbaaaaa", "aaaaabbbbbbaaaaa"),  # twice as long as it must be
        ("aaaaabbbccccc", "aaaaabbbccccc"),  # between two others once is enough
        ("aaaaabbaccccc", "aaaaaaaaccccc"),
    ],
)
def test_brief_visits_do_not_count(before, after):
    code = np.array([ord(letter) for letter in before])
    assert "".join(map(chr, settled(code, np.array([0, len(code)]), 3))) == after
    twice = settled(np.tile(code, 2), np.array([0, len(code), 2 * len(code)]), 3)
    assert "".join(map(chr, twice)) == after * 2


def test_rates_are_found_and_others_are_not():
    rng = np.random.default_rng(0)
    starts = np.arange(0, 2_001, 100)
    speed = np.concatenate([np.cumsum(rng.normal(size=100)) for _ in range(20)])
    # Both ways of integrating, in any unit; what merely goes along is no rate.
    ahead = np.concatenate([np.cumsum(part) for part in np.split(speed, 20)]) * 0.02
    behind = ahead - 0.02 * speed
    noise, opposite = rng.normal(size=2_000), -speed
    for moved in (ahead, behind):
        assert rates(np.column_stack([moved, speed, noise]), starts) == {1: 0}
    assert rates(np.column_stack([ahead, opposite, noise]), starts) == {}
    assert rates(np.column_stack([speed, speed + 5, 0 * speed]), starts) == {}
    assert rates(np.zeros((2, 3)), np.array([0, 2])) == {}


def test_one_region_one_feature_constant_actions_tiny_episodes():
    constant = random_log(0, labels=1)
    regions = read_regions(quietly_fitted(constant).fitted_, "action")
    assert regions.names == ("throughout",)
    assert regions.of(constant.states).tolist() == [0] * constant.n_samples
    one = random_log(1, features=1)
    assert 1 <= len(read_regions(quietly_fitted(one).fitted_, "action")) <= 8
    tiny = random_log(2, lengths=(1, 2, 1, 3))
    assert 1 <= len(read_regions(quietly_fitted(tiny).fitted_, "action")) <= 8
    flat = make_log(np.zeros((5, 2)), [0, 1, 0, 1, 0], np.zeros(5), labels=("a", "b"))
    assert read_regions(quietly_fitted(flat).fitted_, "action").names == ("throughout",)


def test_at_most_so_many_regions_which_are_kept_with_the_tree():
    fitted = flown()
    for most in (1, 2, 8):
        assert len(read_regions(fitted, "action", most=most)) <= most
    assert read_regions(fitted, "action") is read_regions(fitted, "action")
    assert len(read_regions(fitted, "action", most=1)) == 1


def test_a_tree_that_keeps_no_states_takes_those_given():
    fitted = replace(flown(), track=None)
    log = flights(1)
    kept = read_regions(flown(), "action")
    asked = read_regions(fitted, "action", given=(log.states, log.starts))
    assert (asked.of(log.states) == kept.of(log.states)).mean() > 0.95
    assert read_regions(fitted, "action").names == ("throughout",)


def test_without_actions_what_changes_most_is_told():
    log = flights()
    schema = Schema(log.schema.features, replace(log.schema.action, labels=("none",)), has_action=False)
    silent = replace(log, actions=0 * log.actions, schema=schema)
    tree = quietly_fitted(silent, max_leaves=20)
    outline = tree.outline(silent)
    assert len(outline.regions) > 1
    assert "change of " in outline.regions[0].action


def test_long_logs_are_sampled_by_whole_episodes(monkeypatch):
    monkeypatch.setattr("tripletree.asking.regions.ENOUGH", 400)
    fitted = replace(flown(), track=flown().track)
    log = flights(1)
    regions = read_regions(fitted, "action", most=4)
    assert len(regions) >= 2
    assert regions.of(log.states).max() < len(regions)
