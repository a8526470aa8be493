from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log
from tripletree import LogError, NotFittedError, ParameterError, TripleTree
from tripletree.demos import road
from tripletree.log.log import TERMINATED, TRUNCATED

# Leaves: 0 below 1, 1 below 2, 2 above. Three of four episodes go 0 1 1 2 and end; one goes 0 1 1 0 and ends.
PATHS = [[0.5, 1.5, 1.5, 2.5]] * 3 + [[0.5, 1.5, 1.5, 0.5]]


def walks(paths=PATHS, ending=TERMINATED):
    states = np.concatenate(paths)[:, None]
    starts = np.append(0, np.cumsum([len(path) for path in paths]))
    actions = np.floor(states[:, 0]).astype(int)
    rewards = np.where(states[:, 0] > 2, 1, 0)
    return make_log(
        states, actions, rewards, starts, endings=[ending] * len(paths), labels=("a", "b", "c"), names=("x",)
    )


@pytest.fixture(scope="module")
def tree():
    tree = TripleTree(3, (1, 0, 0), 0.5).fit(walks())
    assert tree.n_leaves_ == 3
    return tree


def test_transitions_of_the_training_log_and_of_another(tree):
    kept, counted = tree.transitions(), tree.transitions(walks())
    assert kept.count.tolist() == counted.count.tolist() == [4, 1, 1, 3, 3]
    other = tree.transitions(walks([[0.5, 2.5]]))
    assert [*zip(other.source, other.target, other.count, strict=True)] == [(0, 2, 1), (2, 3, 1)]


def test_chances(tree):
    answer = tree.chance({"x": (2, None)})
    # From 0: with 4/5 to leaf 1 and from there with 3/4 to 2 or back: p = 4/5 (3/4 + 1/4 p).
    assert answer.probability == pytest.approx(0.6 / 0.8)
    assert answer.interval[0] < 0.75 < answer.interval[1]
    assert answer.unknown == 0
    assert str(answer).startswith("From where episodes begin it reaches x >= 2 with probability 0.75 (95 % interval ")
    assert tree.chance(2, [1.5]).probability == pytest.approx(0.75 + 0.25 * 0.75)
    assert tree.chance(2, [1.5], before=0).probability == pytest.approx(0.75)
    assert tree.chance("end", 1).probability == pytest.approx(1)
    assert tree.chance(2, 1, within=0).probability == 0
    # Leaf 1 is held for two steps on average.
    assert tree.chance(2, 1, within=1).probability == pytest.approx(0.5 * 0.75)
    assert "within 1 step with" in str(tree.chance(2, 1, within=1))
    assert "reaches leaf 2 before the end with" in str(tree.chance(2, before="end"))


def test_a_start_in_the_zone_is_there_already(tree):
    answer = tree.chance({"x": (1, 2)}, {"x": 1.2})
    assert (answer.probability, answer.there, answer.interval.tolist()) == (1, True, [1, 1])
    assert str(answer) == "From x = 1.2: it is in x in [1, 2) already."
    assert tree.expected_steps(1, 1).steps == 0


def test_leaves_that_lie_in_a_zone_only_in_part_are_told(tree):
    # The state is not in the zone, but its leaf counts as a whole: the sentence must not say that the state is.
    whole = "1 leaf lies only partly in x in [1.2, 1.7) and counts as a whole."
    for ask in (tree.chance, tree.expected_steps):
        assert whole in str(ask({"x": (1.2, 1.7)}))
        there = ask({"x": (1.2, 1.7)}, [1.1])
        assert (there.there, there.partly) == (True, 1)
        assert str(there) == f"From x = 1.1: it is in a leaf of x in [1.2, 1.7) already. {whole}"


def test_what_never_happened_may_still_happen(tree):
    answer = tree.chance(1, 2)
    assert answer.probability == 0
    # Never in 3 times.
    assert answer.interval.tolist() == pytest.approx([0, 0.5615], abs=1e-3)
    assert tree.expected_steps(1, 2).steps is None
    assert str(tree.expected_steps(1, 2)) == "From leaf 2 no recorded transitions lead to leaf 1."


def test_steps(tree):
    answer = tree.expected_steps("end", 2)
    assert (answer.steps, answer.probability) == (pytest.approx(1), 1)
    answer = tree.expected_steps(2)
    assert answer.probability == pytest.approx(0.75)
    assert ", if it gets there (probability 0.75). " in str(answer)
    paths = tree.rollouts(20_000, 100, seed=1)
    arrived = (paths == 2).any(axis=1)
    assert answer.steps == pytest.approx((paths == 2).argmax(axis=1)[arrived].mean(), rel=0.05)
    assert answer.interval[0] < answer.steps < answer.interval[1]


def test_where_it_goes_and_where_it_stays(tree):
    one = tree.after(1)
    assert one.share.tolist() == pytest.approx([0, 0.8, 0])
    assert one.end == pytest.approx(0.2)
    assert one.interval.shape == (2, 4)
    assert str(one).startswith("1 step after where episodes begin it is in leaf 1 (80 %), or has ended (20 %).")
    time = tree.occupancy()
    assert time.share.sum() == pytest.approx(1)
    assert time.share.argmax() == 1
    assert str(time).startswith("From where episodes begin it spends its time in leaf 1 (")
    assert tree.occupancy(draws=0).interval is None


def test_unreachable(tree):
    assert str(tree.unreachable()) == "From where episodes begin all 3 leaves can be reached."
    answer = tree.unreachable(2)
    assert answer.leaves.tolist() == [0, 1]
    assert str(answer) == "From leaf 2 no recorded transitions lead to leaves 0 and 1 of 3."
    cut = walks(ending=TRUNCATED)
    assert str(tree.unreachable(log=cut)).endswith("No recorded transitions lead to the end.")


def test_truncated_episodes_leave_something_unknown(tree):
    answer = tree.chance(0, 1, log=walks(ending=TRUNCATED))
    assert answer.probability == pytest.approx(0.25)
    assert answer.unknown == pytest.approx(0.75)
    assert "With probability 0.75 it comes first to a leaf of which the log does not show what follows." in str(answer)


def test_intervals_repeat_with_their_seed(tree):
    one, two, three = (tree.chance(2, seed=seed).interval.tolist() for seed in (1, 1, np.random.default_rng(2)))
    assert one == two != three


def test_answers_as_data(tree):
    data = tree.chance(2).to_dict()
    assert data["probability"] == pytest.approx(0.75)
    assert data["markov"]["verdict"] in ("good", "fair", "poor")
    assert isinstance(data["interval"], list)
    assert tree.after(3).to_dict()["steps"] == 3
    assert tree.unreachable().to_dict() == {
        "leaves": [],
        "n_leaves": 3,
        "end": True,
        "start": "where episodes begin",
    }
    assert repr(tree.unreachable()).startswith("<Unreachable: From ")


def test_a_poor_chain_is_called_poor():
    # A clockwork: ten steps in every leaf.
    log = walks([np.repeat([0.5, 1.5, 2.5], 10)] * 50)
    tree = TripleTree(3, (1, 0, 0), 0.5).fit(log)
    assert "on this log it is poor: take the numbers as rough (" in str(tree.chance("end", within=20))


def test_a_tree_of_one_leaf():
    tree = TripleTree(1, gamma=0.5).fit(walks())
    assert tree.chance("end").probability == pytest.approx(1)
    assert tree.expected_steps("end").steps == pytest.approx(4)
    assert tree.occupancy().share.tolist() == [1]
    assert tree.unreachable().leaves.tolist() == []
    assert tree.chance(0).there


def test_a_smaller_tree_without_a_track_asks_for_the_log():
    tree = TripleTree(3, (1, 0, 0), 0.5, keep="leaves").fit(walks())
    small = tree.truncate(2)
    with pytest.raises(ParameterError, match=r"does not know the transitions of its log, .* Give the log: log=\.\.\."):
        small.chance("end")
    assert small.chance("end", log=walks()).probability == pytest.approx(1)
    assert tree.truncate(3).chance("end").probability == pytest.approx(1)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda tree: tree.chance({"y": (0, 1)}), "reach has no 'y'; it may have `x`, `value`, `action`"),
        (lambda tree: tree.chance({"x": (7, 8)}), r"reach is empty: it wants x in \[7, 8\)"),
        (
            lambda tree: tree.chance(1, before={"x": (1.2, 1.3)}),
            "reach and before must not overlap; both have leaf 1\\.",
        ),
        (
            lambda tree: tree.chance(1, within=-1),
            r"within must be a whole number from 0 to 1,000,000, or within=None \(no deadline\); got -1",
        ),
        (lambda tree: tree.chance("end", before="end"), r"reach and before must not overlap; both have the end\."),
        (lambda tree: tree.chance(range(3), before=range(3)), r"both have leaves 0, 1 and 2\."),
        (lambda tree: tree.chance(1, draws=-1), "draws must be a whole number from 0 to"),
        (lambda tree: tree.after(1.5), "steps must be a whole number from 0 to 1,000,000; got 1.5. Try steps=100"),
        (lambda tree: tree.rollouts(0, 5), "n must be a whole number from 1 to"),
        (lambda tree: tree.chance(1, "end"), "start must hold a leaf"),
        (lambda tree: tree.chance(1, log="log.csv"), "log must be a Log; got str"),
    ],
)
def test_bad_questions(tree, ask, message):
    with pytest.raises(ParameterError, match=message):
        ask(tree)


def test_a_log_of_something_else(tree):
    with pytest.raises(LogError, match="has the features `pos`, `speed`, the tree was grown on `x`"):
        tree.transitions(road.record(n_samples=50))
    with pytest.raises(NotFittedError, match="Call fit"):
        TripleTree().chance("end")


def test_a_start_outside_the_range_of_the_log(tree):
    assert tree.chance("end", [99.0]).outside
    assert "The start lies outside the range of the log." in str(tree.chance(0, [99.0]))


def test_zones_that_cut_leaves_say_so(tree):
    assert "1 leaf lies only partly in x in [1.2, 1.7) and counts as a whole." in str(tree.chance({"x": (1.2, 1.7)}))


def test_a_model_file_keeps_what_chances_need(tree, tmp_path):
    tree.save(tmp_path / "model.tripletree")
    back = TripleTree.load(tmp_path / "model.tripletree")
    assert back.chance(2).to_dict() == tree.chance(2).to_dict()
    tree.truncate(2).save(tmp_path / "small.tripletree")
    small = TripleTree.load(tmp_path / "small.tripletree")
    assert small.chance("end").to_dict() == tree.truncate(2).chance("end").to_dict()


def test_a_million_steps_may_be_asked_for_and_no_more(tree):
    assert tree.chance("end", within=1_000_000, draws=0).probability == pytest.approx(1)
    assert tree.after(1_000_000, draws=0).end == pytest.approx(1)
    with pytest.raises(ParameterError, match=r"from 0 to 1,000,000, or within=None \(no deadline\); got 1000001"):
        tree.chance("end", within=1_000_001)


def test_a_start_is_there_when_all_of_it_is():
    # Of two leaves as a start, one in the zone is not all of it.
    tree = TripleTree(3, (1, 0, 0), 0.5).fit(walks())
    half = tree.chance(2, {1, 2}, draws=0)
    assert not half.there
    # 8 samples in leaf 1, from which 15/16 arrive; 3 in leaf 2, which is there.
    assert half.probability == pytest.approx((8 * 15 / 16 + 3) / 11)
    assert tree.chance({1, 2}, {1, 2}, draws=0).there
    mostly = tree.chance({0, 1}, {0, 1, 2}, draws=0)
    assert not mostly.there


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None, True])
def test_a_seed_is_a_whole_number(tree, seed):
    for ask in (
        lambda: tree.chance("end", seed=seed),
        lambda: tree.chance("end", seed=seed, draws=0),
        lambda: tree.expected_steps("end", seed=seed),
        lambda: tree.after(3, seed=seed),
        lambda: tree.occupancy(seed=seed),
        lambda: tree.rollouts(2, 3, seed=seed),
    ):
        with pytest.raises(ParameterError, match=r"^seed must be a whole number of at least 0; got "):
            ask()
