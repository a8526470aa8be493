from __future__ import annotations

import warnings

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
    assert (answer.probability, answer.seen.visits, answer.seen.episodes, answer.reached) == (0.75, 4, 4, 3)
    assert answer.interval[0] < 0.75 < answer.interval[1]
    # By the chain, from 0: with 4/5 to leaf 1 and from there with 3/4 to 2 or back: p = 4/5 (3/4 + 1/4 p).
    assert answer.chain == pytest.approx(0.6 / 0.8)
    assert str(answer).startswith("Of 4 recorded episodes, 75 % reached x >= 2 (95 % interval ")
    # All eight visits of leaf 1, of which six go on to leaf 2.
    assert tree.chance(2, 1).probability == 0.75
    assert tree.chance(2, 1, before=0).probability == 0.75
    assert tree.chance("end", 1).probability == 1
    assert tree.chance(2, 1, within=0).probability == 0
    assert tree.chance(2, 1, within=1).probability == 3 / 8
    assert "reached leaf 2 within 1 step (" in str(tree.chance(2, 1, within=1))
    assert "reached leaf 2 before the end (" in str(tree.chance(2, before="end"))


def test_zones_are_tested_on_states(tree):
    """A leaf that lies in a zone only in part says nothing: its states do."""
    assert tree.chance({"x": (1.4, 1.6)}).probability == 1
    assert tree.chance({"x": (1.6, 1.9)}).probability == 0
    assert tree.chance("x < 0.6 and x > 0.4", {"x": (1.4, 1.6)}).probability == 0.25
    # Zones may overlap: who comes to both at once has arrived.
    assert tree.chance({"x": (1, 3)}, before={"x": (1.2, 1.6)}).probability == 1
    assert tree.chance({"x": (2, 3)}, before={"x": (1, 3)}).probability == 0
    # The tree's prediction counts for actions.
    assert tree.chance("action = c").probability == 0.75


def test_a_start_in_the_zone_is_there_already(tree):
    answer = tree.chance({"x": (1, 2)}, 1)
    assert (answer.probability, answer.there) == (1, True)
    assert str(answer) == "From leaf 1: it is in x in [1, 2) already."
    assert tree.expected_steps(1, 1).steps == 0


def test_a_state_is_counted_by_its_neighbours(tree):
    answer = tree.chance(2, {"x": 1.5})
    assert (answer.seen.episodes, answer.seen.distance, answer.probability) == (4, 0, 0.75)
    assert str(answer).startswith("4 recorded episodes came near x = 1.5 (at most 0 % of the ranges away); 75 %")
    assert tree.chance(2, [1.0]).seen.distance == pytest.approx(0.25)


def test_what_never_happened_may_still_happen(tree):
    answer = tree.chance(1, 2)
    assert answer.probability == 0
    # Never in 3 episodes: below 1 - 0.05 ** (1 / 3).
    assert answer.interval.tolist() == pytest.approx([0, 0.6316], abs=1e-4)
    assert "none reached leaf 1: less than 63 % do (95 %)" in str(answer)
    assert tree.expected_steps(1, 2).steps is None
    assert "none reached leaf 1." in str(tree.expected_steps(1, 2))
    # Also where the log has never been.
    assert tree.chance({"x": (7, 8)}).probability == 0


def test_where_nobody_was_the_chain_guesses(tree):
    nobody = tree.chance("end", {"x": (1.6, 1.9)})
    assert (nobody.counted, nobody.interval, nobody.probability) == (False, None, nobody.chain)
    assert str(nobody).startswith("No recorded episode was in x in [1.6, 1.9). The chain over leaves guesses ")
    assert 0 <= nobody.miss <= 1
    without = TripleTree(3, (1, 0, 0), 0.5, keep="leaves").fit(walks())
    guess = without.chance(2)
    assert (guess.seen, guess.probability) == (None, pytest.approx(0.75))
    assert str(guess).startswith("This model keeps no episodes to count.")
    assert without.chance(2, log=walks()).counted
    empty = TripleTree(3, (1, 0, 0), 0.5, keep="nothing").fit(walks())
    for ask in (lambda: empty.chance(2), lambda: empty.expected_steps(2), lambda: empty.after(3), empty.occupancy):
        with pytest.raises(
            ParameterError,
            match=r"knows neither the episodes nor the transitions of its log, .* Give the log: log=\.\.\.",
        ):
            ask()


def test_steps(tree):
    answer = tree.expected_steps("end", 2)
    assert (answer.steps, answer.probability) == (1, 1)
    answer = tree.expected_steps(2)
    assert (answer.steps, answer.probability, answer.missed, answer.censored) == (3, 0.75, 0.25, 0)
    assert answer.quantiles == (3, 3, 3)
    assert "those that reached leaf 2 took 3 steps on average" in str(answer)
    assert str(answer).endswith("25 % never did.")
    cut_off = tree.expected_steps(2, log=walks(ending=TRUNCATED))
    assert (cut_off.steps, cut_off.missed, cut_off.censored) == (3, 0, 0.25)


def test_where_it_goes_and_where_it_stays(tree):
    one = tree.after(3)
    assert one.share.tolist() == [0.25, 0, 0.75]
    assert (one.end, one.interval.shape, one.unresolved) == (0, (2, 4), 0)
    assert one.quantiles.tolist() == [[0.5], [2.5], [2.5]]
    assert "Of 4 recorded episodes, 3 steps later they are in leaf 2 (75 %), leaf 0 (25 %)" in str(one)
    assert tree.after(4).end == 1
    time = tree.occupancy()
    assert time.share.tolist() == [5 / 16, 8 / 16, 3 / 16]
    assert "the time from there on is spent in leaf 1 (50 %)" in str(time)


def test_ranges_are_told_where_they_are_narrow():
    # x goes from 0 to 100 in every episode; y is anywhere, z is 1 from step 50 on, and w never changes.
    rng = np.random.default_rng(0)
    x = np.tile(np.arange(100.0), 30)
    states = np.column_stack([x + rng.random(3_000), rng.random(3_000), x >= 50, np.ones(3_000)])
    log = make_log(states, x, np.zeros(3_000), np.arange(0, 3_001, 100), kinds=("real", "real", "binary", "real"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = TripleTree(max_leaves=5).fit(log)
    found = tree.after(60)
    low, high = np.quantile(states[60::100, 0], [0.1, 0.9], method="inverted_cdf")
    # In thousandths of the range, which are tenths here, and within what a byte holds.
    assert found.ranges[1] == "x2"
    told = [float(number) for number in found.ranges[0].removeprefix("x0 = ").split(" to ")]
    assert told == pytest.approx([low, high], abs=0.45)
    exact = tree.after(60, log=log).ranges[0]
    assert exact == f"x0 = {round(low, 1):g} to {round(high, 1):g}"
    assert tree.after(20).ranges[1] == "not x2"


def test_neighbours_that_agree_count_once_each():
    # Forty episodes at all distances: votes differ, and the bound is that of so many episodes.
    x = np.linspace(0, 1, 40)
    log = walks([[one, 1.5, 2.5] for one in x])
    tree = TripleTree(max_leaves=3).fit(log)
    found = tree.chance("x > 2", [0.5])
    assert found.probability == 1
    n = found.seen.episodes
    assert found.interval.tolist() == pytest.approx([0.05 ** (1 / n), 1.0])
    assert "since" not in str(found)


def test_unreachable(tree):
    assert str(tree.unreachable()) == "By the chain over leaves, all 3 leaves can be reached from where episodes begin."
    answer = tree.unreachable(2)
    assert answer.leaves.tolist() == [0, 1]
    assert str(answer) == "By the chain over leaves, nothing leads from leaf 2 to leaves 0 and 1 of 3."
    cut = walks(ending=TRUNCATED)
    assert str(tree.unreachable(log=cut)).endswith("No recorded transitions lead to the end.")


def test_truncated_episodes_leave_something_unknown(tree):
    """Three of four recordings end before it is known whether they would come back to leaf 0."""
    answer = tree.chance(0, 1, log=walks(ending=TRUNCATED))
    assert answer.probability == 0.25
    assert answer.unresolved == pytest.approx(0.75)
    assert "the record ends too early to tell" in str(answer)


def test_answers_as_data(tree):
    data = tree.chance(2).to_dict()
    assert (data["probability"], data["seen"]["recorded"]) == (0.75, 4)
    assert isinstance(data["interval"], list)
    assert tree.after(3).to_dict()["steps"] == 3
    assert tree.unreachable().to_dict() == {
        "leaves": [],
        "n_leaves": 3,
        "end": True,
        "start": "where episodes begin",
    }
    assert repr(tree.unreachable()).startswith("<Unreachable: By the chain ")


def test_a_clockwork_is_counted_right_where_the_chain_is_wrong():
    # Ten steps in every leaf: nobody ends within 20 steps, and the chain thinks that some do.
    tree = TripleTree(3, (1, 0, 0), 0.5).fit(walks([np.repeat([0.5, 1.5, 2.5], 10)] * 50))
    answer = tree.chance("end", within=20)
    assert answer.probability == 0
    assert answer.chain > 0.1
    assert str(answer).endswith("how it came there matters, so trust the count.")


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
    with pytest.raises(
        ParameterError, match=r"knows neither the episodes nor the transitions .* Give the log: log=\.\.\."
    ):
        small.chance("end")
    assert small.chance("end", log=walks()).probability == pytest.approx(1)
    assert tree.truncate(3).chance("end").probability == pytest.approx(1)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda tree: tree.chance({"y": (0, 1)}), "reach has no 'y'; it may have `x`, `value`, `action`"),
        (lambda tree: tree.chance(1, {"x": (7, 8)}), r"start is empty: it wants x in \[7, 8\)"),
        (
            lambda tree: tree.chance(1, within=-1),
            r"within must be a whole number from 0 to 1,000,000, or within=None \(no deadline\); got -1",
        ),
        (lambda tree: tree.after(1.5), "steps must be a whole number from 0 to 1,000,000; got 1.5. Try steps=100"),
        (lambda tree: tree.rollouts(0, 5), "n must be a whole number from 1 to"),
        (lambda tree: tree.chance(1, "end"), "start must hold a"),
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
    assert tree.chance("end", [99.0]).seen.outside
    assert "this state lies outside the range of the log" in str(tree.chance(0, [99.0]))


def test_a_model_file_keeps_what_chances_need(tree, tmp_path):
    tree.save(tmp_path / "model.tripletree")
    back = TripleTree.load(tmp_path / "model.tripletree")
    assert back.chance(2).to_dict() == tree.chance(2).to_dict()
    tree.truncate(2).save(tmp_path / "small.tripletree")
    small = TripleTree.load(tmp_path / "small.tripletree")
    assert small.chance("end").to_dict() == tree.truncate(2).chance("end").to_dict()


def test_a_million_steps_may_be_asked_for_and_no_more(tree):
    assert tree.chance("end", within=1_000_000).probability == 1
    assert tree.after(1_000_000).end == 1
    with pytest.raises(ParameterError, match=r"from 0 to 1,000,000, or within=None \(no deadline\); got 1000001"):
        tree.chance("end", within=1_000_001)


def test_a_start_is_there_when_all_of_it_is(tree):
    # Of two leaves as a start, one in the zone is not all of it.
    half = tree.chance(2, {1, 2})
    assert not half.there
    # 8 samples in leaf 1, of which 6 arrive; 3 in leaf 2, which is there.
    assert half.probability == 9 / 11
    assert tree.chance({1, 2}, {1, 2}).there
    assert not tree.chance({0, 1}, {0, 1, 2}).there


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None, True])
def test_a_seed_is_a_whole_number(tree, seed):
    with pytest.raises(ParameterError, match=r"^seed must be a whole number of at least 0; got "):
        tree.rollouts(2, 3, seed=seed)
