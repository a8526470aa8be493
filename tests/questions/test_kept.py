"""A judgement stays with its tree: for the same log nothing is grown again, for any other log it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.logs import random_log
from tests.test_api import quietly_fitted
from tripletree import TripleTree
from tripletree.model import fit
from tripletree.questions import judge, kept

LENGTHS = (20, 30, 25) * 4


def parts(answer):
    """All numbers of an answer."""
    arrays = [[getattr(one, name).tolist() for name in kept.ARRAYS] for one in answer.calibrations]
    plain = [[getattr(one, name) for name in kept.PLAIN] for one in answer.calibrations]
    rest = (answer.how, answer.seen, answer.chose, answer.remembers, answer.discrete, answer.costs)
    return arrays, plain, rest, answer.judged, str(answer)


@pytest.fixture
def grown(monkeypatch):
    """How often a second tree was grown."""
    number, grow = [0], judge.fit

    def counted(*arguments, **options):
        number[0] += 1
        return grow(*arguments, **options)

    monkeypatch.setattr(judge, "fit", counted)
    return number


@pytest.mark.parametrize("dimensions", [0, 2])
def test_a_saved_tree_is_not_judged_again_on_the_same_log(tmp_path, grown, dimensions):
    log = random_log(7, LENGTHS, dimensions=dimensions)
    tree = quietly_fitted(log, max_leaves=6)
    measured = parts(judge.held_out(tree.fitted_, log))
    assert grown == [1]
    assert parts(tree.held_out(log)) == measured
    assert grown == [2]
    tree.save(tmp_path / "model.tripletree")
    again = TripleTree.load(tmp_path / "model.tripletree")
    assert parts(again.held_out(log)) == parts(judge.held_out(again.fitted_, log)) == measured
    assert grown == [2]


def other_logs(log):
    """Logs that differ from one in a single thing each."""
    rewards, finals = log.rewards.copy(), log.final_states.copy()
    rewards[3] += 1
    finals[0] = 0.5
    weights = np.ones(log.n_samples)
    weights[0] = 2
    return {
        "reward": replace(log, rewards=rewards),
        "final state": replace(log, final_states=finals),
        "ending": replace(log, endings=np.where(np.arange(log.n_episodes) == 1, 1 + (log.endings == 1), log.endings)),
        "weights": replace(log, weights=weights),
        "groups": replace(log, groups=np.arange(log.n_episodes) // 2),
        "an episode less": log.select(slice(1, None)),
    }


@pytest.mark.parametrize("what", ["reward", "final state", "ending", "weights", "groups", "an episode less"])
def test_any_other_log_is_judged_anew(grown, what):
    log = random_log(8, LENGTHS)
    tree = quietly_fitted(log, max_leaves=6)
    tree.held_out(log)
    other = other_logs(log)[what]
    expected = parts(judge.held_out(replace(tree.fitted_, judged=None), other))
    assert parts(judge.held_out(tree.fitted_, other)) == expected
    # And what was kept of the first is not taken for it afterwards.
    first = parts(judge.held_out(tree.fitted_, log))
    tree.held_out(other)
    assert parts(tree.held_out(log)) == first


def test_another_size_and_another_version_are_judged_anew(grown, monkeypatch):
    log = random_log(9, LENGTHS)
    tree = quietly_fitted(log, max_leaves=6)
    tree.held_out(log)
    judge.held_out(tree.fitted_, log)
    assert grown == [1]
    judge.held_out(tree.fitted_.truncate(3), log)
    assert grown == [2]
    monkeypatch.setattr(kept, "__version__", "another")
    judge.held_out(tree.fitted_, log)
    assert grown == [3]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda found: found.pop("how"),
        lambda found: found.update(seen="many"),
        lambda found: found.update(calibrations=None),
        lambda found: found.update(calibrations=found["calibrations"][:-1]),
        lambda found: found["calibrations"].__setitem__(0, 7),
        lambda found: found["calibrations"][0].update(more=1),
        lambda found: found["calibrations"][0].pop("error"),
        lambda found: found["calibrations"][0].update(count=[1]),
        lambda found: found["calibrations"][0].update(count=[]),
        lambda found: found["calibrations"][0]["count"].__setitem__(0, 0),
        lambda found: found["calibrations"][0]["count"].__setitem__(0, 1.5),
        lambda found: found["calibrations"][0]["observed"].__setitem__(0, "x"),
        lambda found: found["calibrations"][0]["observed"].__setitem__(0, float("nan")),
        lambda found: found["calibrations"][0].update(scale=float("inf")),
        lambda found: found["calibrations"][0].update(unseen=1),
    ],
)
def test_what_is_not_as_it_was_written_counts_as_nothing(grown, spoil):
    log = random_log(10, LENGTHS)
    tree = quietly_fitted(log, max_leaves=6)
    measured = parts(tree.held_out(log))
    spoil(tree.fitted_.provenance[kept.NAME])
    assert parts(judge.held_out(tree.fitted_, log)) == measured
    assert grown == [2]
    tree.fitted_.provenance[kept.NAME] = "nothing"
    assert parts(judge.held_out(tree.fitted_, log)) == measured
    assert grown == [3]


def test_of_very_many_calibrations_only_the_losses_are_kept(grown, monkeypatch):
    monkeypatch.setattr(kept, "MOST", 0)
    log = random_log(11, LENGTHS)
    tree = quietly_fitted(log, max_leaves=6)
    measured = tree.held_out(log)
    assert tree.fitted_.judged == measured.judged
    assert kept.NAME not in tree.fitted_.provenance


def test_a_second_tree_is_not_asked_about_its_own_log(monkeypatch):
    log = random_log(12, LENGTHS)
    tree = quietly_fitted(log, max_leaves=6)
    monkeypatch.setattr(fit, "linear_training_curve", None)
    assert tree.held_out(log).how == "regrown"
