"""What comes next from here: worlds whose futures are known, counted by hand, and what cannot be asked."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log
from tripletree import LogError, NotFittedError, ParameterError, TripleTree
from tripletree.asking.places import read_zone
from tripletree.demos import road
from tripletree.log.log import TERMINATED, TRUNCATED
from tripletree.questions.futures import apart


def fork(episodes=60, left=0.7, seed=0, wait=4, paid=(1.0, 3.0), cut=0, scale=1.0):
    """Go up from 0, wait at a fork, then go left or right for good, and end; the last ``cut`` are cut off in time."""
    rng = np.random.default_rng(seed)
    paths, endings, side = [], [], []
    for e in range(episodes):
        goes = -1 if rng.random() < left else 1
        late = wait + int(rng.integers(0, 3))
        y = np.minimum(np.arange(late + 12), 3) * 1.0
        x = np.where(np.arange(late + 12) < late, 0, goes * (np.arange(late + 12) - late + 1.0))
        stop = len(x) if e < episodes - cut else late
        paths.append(np.column_stack([x, y])[:stop] * scale)
        endings.append(TERMINATED if e < episodes - cut else TRUNCATED)
        side.append(goes)
    states = np.concatenate(paths)
    starts = np.append(0, np.cumsum([len(path) for path in paths]))
    rewards = np.zeros(len(states))
    rewards[starts[1:] - 1] = [paid[0] if one < 0 else paid[1] for one in side] + rng.normal(0, 0.1, episodes)
    actions = np.sign(states[:, 0]).astype(int) + 1
    names = ("x", "y")
    log = make_log(states, actions, rewards, starts, endings=endings, labels=("left", "up", "right"), names=names)
    return log, np.array(side)


@pytest.fixture(scope="module")
def world():
    log, side = fork()
    return TripleTree(3, (1, 0, 0)).fit(log), log, side


def test_a_fork_is_said_to_be_one(world):
    tree, _, _ = world
    found = tree.futures([0.0, 3.0])
    assert len(found) == 2
    left, right = found
    near = found.seen.episodes
    assert left.episodes + right.episodes == near == 25
    assert (left.where, right.where) == (("x < 0",), ("x >= 1",))
    assert (left.action, right.action) == ("action = left (100 %)", "action = right (100 %)")
    assert left.share == pytest.approx(left.episodes / near)
    assert left.interval[0] < 0.7 < left.interval[1]
    assert right.interval[0] < 0.3 < right.interval[1]
    # It goes left for 1, and right for 3.
    assert left.others == pytest.approx(3, abs=0.2)
    assert right.returns[1] == pytest.approx(3, abs=0.2)
    assert found.rest == found.unresolved == found.cut == 0


def test_from_where_episodes_begin_all_of_them_vote(world):
    tree, _, side = world
    left, right = tree.futures()
    assert (left.episodes, right.episodes) == ((side < 0).sum(), (side > 0).sum())
    assert left.interval[0] < 0.7 < left.interval[1]
    assert tree.futures(k=1).rest == pytest.approx(right.share)
    text = str(tree.futures())
    assert text.startswith(f"From where episodes begin (60 recorded episodes):\n1. In {left.episodes} of 60 recorded ")
    assert ") it next goes to x < 0 with action = left (100 %), after about 5 steps (4 to 6); these " in text
    assert " as a whole, clearly less than the others (3" in text


def test_every_vote_is_found_by_hand(world):
    """Double loop: from each episode's first step in the zone to its first step elsewhere that is not left at once."""
    tree, log, _ = world
    votes: dict[str, list[int]] = {}
    for e in range(log.n_episodes):
        states = log.states[log.starts[e] : log.starts[e + 1]]
        first = next(t for t in range(len(states)) if states[t, 1] >= 2)
        gone = next(t for t in range(first, len(states)) if states[t, 0] != 0)
        votes.setdefault("x < 0" if states[gone, 0] < 0 else "x >= 1", []).append(gone - first)
    found = tree.futures("y >= 2")
    assert {one.where[0]: one.episodes for one in found} == {name: len(steps) for name, steps in votes.items()}
    for one in found:
        quantiles = np.quantile(votes[one.where[0]], (0.1, 0.5, 0.9), method="inverted_cdf")
        assert one.steps == tuple(quantiles.astype(int))
    assert found.seen.episodes == 60


def test_a_last_region_has_no_other_future_than_the_end(world):
    tree, _, _ = world
    (only,) = tree.futures("x < -2")
    assert (only.leaf, only.where, only.when, only.action) == (None, (), (), "")
    assert only.share == 1
    assert ") it stays in this region until the episode ends, after " in str(only)


def test_what_the_record_cut_off_is_said(world):
    tree, _, _ = world
    found = tree.futures("y >= 2", log=fork(episodes=40, cut=8)[0])
    assert found.cut == 8
    assert sum(one.share for one in found) + found.unresolved == pytest.approx(1)
    assert sum(one.episodes for one in found) == 32
    assert "\nIn 8 episodes the record ends before anything else comes; what would have come is taken " in str(found)
    nothing = tree.futures("y >= 2", log=fork(episodes=5, cut=5)[0])
    assert (len(nothing), nothing.unresolved, nothing.cut) == (0, 1.0, 5)
    assert "for 100 % nobody knows what would have come." in str(nothing)
    # Those that went somewhere and were cut off later have a future, but no ending.
    log = fork(episodes=12)[0]
    (left, *_) = tree.futures(log=replace(log, endings=np.where(np.arange(12) % 3, TERMINATED, TRUNCATED)))
    assert left.ended < left.episodes
    assert left.text.endswith(f"), and how {left.episodes - left.ended} of them ended is not on record.")
    (left, *_) = tree.futures(log=replace(log, endings=np.full(12, TRUNCATED)))
    assert left.text.endswith(", and how they ended is not on record.")


def test_futures_are_exclusive_in_words():
    """What a region is called must not hold in another one, however little has changed."""
    log = road.record("either", n_samples=4_000)
    tree = TripleTree(60).fit(log)
    for start in (None, [1.5, 0.0], [0.5, 0.02], {"pos": (1, 2)}, 3):
        for regions in (2, 5, 10, 30):
            found = tree.futures(start, k=50, regions=regions)
            assert found.rest == 0
            leaf = tree.truncate(regions).apply(log.states)
            named = {one.leaf: " and ".join(one.where) for one in found if one.leaf is not None}
            inside = {region: read_zone(tree.fitted_, name).holds(log.states, leaf) for region, name in named.items()}
            assert sum(inside.values(), np.zeros(log.n_samples, int)).max() <= 1
            for region, held in inside.items():
                # Its borders are told with three digits.
                assert held[leaf == region].mean() > 0.95


def test_a_rounded_border_stays_on_its_side_of_the_state():
    # Down from 1 to 0 in 30 episodes, with the border at 0.34567.
    path = np.concatenate([np.linspace(1, 0.346, 20), [0.345675, 0.345665], np.linspace(0.345, 0, 20)])
    states, actions = np.tile(path, 30)[:, None], np.tile(path < 0.34567, 30).astype(int)
    starts, endings = np.arange(31) * len(path), [TERMINATED] * 30
    log = make_log(states, actions, np.zeros(len(states)), starts, endings=endings, labels=("high", "low"))
    tree = TripleTree(2, (1, 0, 0)).fit(log)
    assert tree.futures([0.9])[0].where == ("x0 < 0.346",)
    assert tree.futures([0.3458])[0].where == ("x0 < 0.34567",)


def test_the_others_are_only_named_where_their_median_says_so():
    log, side = fork(paid=(0.0, 0.0))
    # More than half of either side returns 1; but only those that go right may return more, and only those left less.
    returns = np.where(np.arange(60) % 5 < 3, 1.0, np.where(side > 0, 2.0, 0.0))
    rewards = np.zeros(log.n_samples)
    rewards[log.starts[1:] - 1] = returns
    assert apart(returns[side > 0], returns[side < 0]) == 1
    found = TripleTree(3, (1, 0, 0)).fit(replace(log, rewards=rewards)).futures()
    assert [(one.returns[1], one.others) for one in found] == [(1, None), (1, None)]


def test_rows_units_and_threads_do_not_matter(world):
    tree, log, _ = world
    order = np.random.default_rng(3).permutation(log.n_episodes)
    shuffled = TripleTree(3, (1, 0, 0), threads=2).fit(log.select(order.tolist()))
    in_feet = TripleTree(3, (1, 0, 0)).fit(fork(scale=1000.0)[0])
    for one, other, third in zip(tree.futures(), shuffled.futures(), in_feet.futures(), strict=True):
        assert one.text == other.text
        assert (one.share, one.steps, one.returns) == (third.share, third.steps, third.returns)
        assert third.where == tuple(text.replace("1", "1000") for text in one.where)


def test_another_log_can_be_counted(world):
    tree, _, _ = world
    other, side = fork(episodes=30, left=0.1, seed=5)
    first, _ = tree.futures(log=other)
    assert (first.where, first.episodes) == (("x >= 1",), (side > 0).sum())
    with pytest.raises(LogError, match="features"):
        tree.futures(log=make_log([[0.0]] * 4, [0, 1, 0, 1], [0] * 4, labels=("a", "b")))


def test_episodes_that_all_return_the_same_have_no_outcome_to_tell():
    log, _ = fork(paid=(0.0, 0.0))
    tree = TripleTree(3, (1, 0, 0)).fit(
        make_log(
            log.states, log.actions, np.zeros(log.n_samples), log.starts, endings=log.endings, labels=("a", "b", "c")
        )
    )
    for one in tree.futures():
        assert (one.returns, one.others) == (None, None)
        assert one.text.endswith(" (4 to 6).")


def test_few_and_far_neighbours_are_said():
    log, _ = fork(episodes=4)
    tree = TripleTree(3, (1, 0, 0)).fit(log)
    found = tree.futures([0.1, 30.0])
    assert (found.seen.episodes, found.seen.outside) == (4, True)
    assert "; with so few, take the shares as rough; this state lies outside the range of the log):" in str(found)
    assert " times the width of the ranges away;" in str(found)


def test_nobody_was_there(world):
    tree, _, _ = world
    found = tree.futures("x = 0 and y in [1.2, 1.8]")
    assert not found
    assert str(found) == "No recorded episode was in x = 0 and y in [1.2, 1.8], so nothing shows what comes next."
    assert json.loads(json.dumps(found.to_dict()))["found"] == []


def test_the_answer_is_data(world):
    tree, _, _ = world
    found = tree.futures([0.0, 3.0], k=1)
    data = json.loads(json.dumps(found.to_dict()))
    assert data["found"][0]["where"] == ["x < 0"]
    assert data["found"][0]["episodes"] == found[0].episodes == next(iter(found)).episodes
    assert data["seen"]["distance"] == found.seen.distance
    assert repr(found).startswith("<Futures: From x = 0, y = 3 (25 recorded episodes, at most 0 % of the ranges away):")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"k": True}, "k must be a whole number of at least 1; got True"),
        ({"k": 1.5}, "k must be a whole number"),
        ({"regions": 1}, "regions must be a whole number of at least 2; got 1"),
        ({"start": "end"}, "start must hold a state: nothing follows the end"),
        ({"start": 3}, "start has leaf 3; leaves go from 0 to 2"),
        ({"start": set()}, "start is empty: it names no leaf"),
        ({"start": {"x": (50, 60)}}, "start is empty: it wants x in"),
        ({"start": [np.nan, 0.0]}, "start .*(finite|NaN|missing|number)"),
        ({"start": np.array([np.nan, 0.0])}, "start must hold finite numbers only"),
        ({"start": [np.inf, 0.0]}, "start must hold finite numbers only"),
        ({"start": [1.0]}, "start"),
        ({"start": "x ="}, "start"),
        ({"log": 3}, "log must be"),
    ],
)
def test_what_cannot_be_asked(world, arguments, message):
    with pytest.raises((ParameterError, LogError), match=message):
        world[0].futures(**arguments)


def test_a_condition_chooses_who_votes(world):
    tree, _, side = world
    rich = tree.futures(given="return > 2")
    assert [one.episodes for one in rich] == [int((side > 0).sum())]
    assert "From where episodes begin in episodes with return > 2 (" in str(rich)
    assert str(rich).endswith("Chosen by how they went, these episodes describe; they do not predict.")
    masked = tree.futures(given=side > 0)
    assert [one.episodes for one in masked] == [one.episodes for one in rich]
    assert "so nothing shows what comes next" in str(tree.futures(given="return > 9"))
    with pytest.raises(ParameterError, match="given has no `retrun`"):
        tree.futures(given="retrun > 2")


def test_a_tree_without_episodes_asks_for_the_log(world):
    _, log, _ = world
    for keep in ("leaves", "nothing"):
        tree = TripleTree(3, (1, 0, 0), keep=keep).fit(log)
        with pytest.raises(
            ParameterError, match=r'keeps none, .*keep="leaves" or keep="nothing"\. Give .*: log=\.\.\.'
        ):
            tree.futures()
        assert len(tree.futures(log=log)) == 2
    with pytest.raises(NotFittedError, match="has not been fitted"):
        TripleTree().futures()


def test_a_tree_of_one_leaf_has_one_future(world):
    _, log, _ = world
    (only,) = TripleTree(1).fit(log).futures()
    assert (only.leaf, only.episodes) == (None, 60)


def test_returns_are_clearly_apart_only_if_surely_and_much():
    rng = np.random.default_rng(0)
    one = rng.normal(0, 1, 40)
    assert apart(one, one + 3) == -1
    assert apart(one + 3, one) == 1
    assert not apart(one, one + 0.2)  # not surely
    many = rng.normal(0, 1, 4_000)
    assert not apart(many, many + 0.2)  # surely, but not much
    assert not apart(one[:3], one[:3] + 100)  # three of each may be so by chance
    assert not apart(one, one[:0])
    assert not apart(np.ones(30), np.ones(30))
    # Ties count half: scipy's test agrees.
    from scipy.stats import mannwhitneyu

    for shift in (0.0, 0.5, 1.0, 1.5):
        a, b = np.round(rng.normal(0, 1, 15)), np.round(rng.normal(shift, 1, 12))
        tested = mannwhitneyu(a, b, method="asymptotic", use_continuity=False)
        much = abs(tested.statistic / (15 * 12) - 0.5) > 0.2
        assert bool(apart(a, b)) == (bool(tested.pvalue < 0.01) and much)
