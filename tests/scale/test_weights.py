"""Logs on disk whose steps count differently: the trees, statistics and moves of the same log in memory."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from click.testing import CliRunner

from tests.scale.folders import differences, random_columns, with_holes, with_text, with_weights, write_folder
from tests.scale.test_counting import compared, random_questions
from tests.scale.test_fit import pieces_of, quiet, random_options  # noqa: F401 - a fixture
from tripletree import LogError, ParameterError, TripleTree, TripleTreeWarning, load, open_log, read_log
from tripletree.cli import main


@pytest.mark.parametrize("block", range(6))
def test_weighted_trees_on_disk_are_those_in_memory(block, tmp_path, monkeypatch):
    for seed in range(8 * block, 8 * block + 8):
        rng = np.random.default_rng(seed)
        columns, roles = with_weights(random_columns(rng), rng)
        columns = with_text(columns, rng) if rng.random() < 0.3 else columns
        columns, more = with_holes(columns, rng) if rng.random() < 0.3 else (columns, {})
        roles |= more
        folder = write_folder(tmp_path / f"log{seed}", columns, rng, int(rng.choice([1, 7, 50])))
        pieces_of(monkeypatch, int(rng.choice([5, 17, 64, 2**18])))
        options = random_options(rng)
        try:
            here = read_log(folder, **roles)
        except LogError:  # too much is missing
            continue
        there = open_log(folder, cache=tmp_path / "cache", workers=2, **roles)
        if rng.random() < 0.3:
            here, there = here.weighted("episode"), there.weighted("episode")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tree = TripleTree(**options).fit(here)
            said = {str(one.message) for one in told}
            told.clear()
            other = TripleTree(**options).fit(there)
            # Values that are missing are told when the log is read, which on disk is now.
            assert said <= {str(one.message) for one in told}, seed
        assert differences(tree, other) == [], seed
        np.testing.assert_allclose(tree.losses(there, "all"), tree.losses(here, "all"), rtol=1e-9, atol=1e-12)
        compared(tree, here, there, random_questions(rng, here, tree)[0])


def weighted_folder(tmp_path, weights: np.ndarray, files: int = 3) -> tuple[object, object]:
    """Return a random log with these weights in memory, and the same on disk."""
    rng = np.random.default_rng(1)
    columns = {**random_columns(rng, episodes=12)}
    columns["importance"] = np.resize(weights, len(columns["reward"]))
    folder = write_folder(tmp_path / "log", columns, rng, files)
    given = {"weight": "importance"}
    return read_log(folder, **given) if np.any(weights) else None, open_log(folder, cache=tmp_path / "c", **given)


@pytest.mark.parametrize("leaf_model", ["mean", "linear"])
def test_a_weighted_log_on_disk_is_judged_as_in_memory(leaf_model, tmp_path, monkeypatch):
    pieces_of(monkeypatch, 16)
    here, there = weighted_folder(tmp_path, np.array([0.0, 1.0, 0.5, 3.0, 0.1]))
    training, held_out = here.split(0.4)
    tree = TripleTree(20, leaf_model=leaf_model).fit(training)
    for about in ("confidence", "value"):
        for log, disk in ((here, there), (held_out, there.split(0.4)[1])):
            one, other = (tree.calibration(some, about=about, groups=3) for some in (log, disk))
            assert (one.count.tolist(), one.episodes) == (other.count.tolist(), other.episodes)
            assert one.unseen == other.unseen
            for name in ("predicted", "observed", "error", "scale"):
                np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-9)
    assert str(tree.trust(there)) == str(tree.trust(here))
    np.testing.assert_allclose(tree.losses(there.split(0.4)[1]), tree.losses(held_out), rtol=1e-9)


def test_episodes_that_count_the_same_weigh_the_same_wherever_they_are_cut(tmp_path, monkeypatch):
    pieces_of(monkeypatch, 7)
    here, there = weighted_folder(tmp_path, np.array([1.0]))
    lengths = np.diff(here.starts)
    assert (
        np.concatenate([log.weights for log in there.weighted("episode").pieces()]).tolist()
        == np.repeat(1 / lengths, lengths).tolist()
    )
    assert there.weighted("episode").sample(10**6).weights is not None
    assert next(there.weighted(None).pieces()).weights is None
    assert differences(TripleTree(mode="histogram").fit(here.weighted(None)), TripleTree().fit(there)) == []
    alike = TripleTree(mode="histogram").fit(here, weights="episode")
    assert differences(alike, TripleTree().fit(there, weights="episode")) == []


def test_light_steps_are_told_as_in_memory(tmp_path):
    here, there = weighted_folder(tmp_path, np.array([1.0, 0.37, 1e-9, 0.2]))
    for log in (here, there):
        with pytest.warns(TripleTreeWarning, match="weigh less than a 2,097,152th of the heaviest one: they do not"):
            TripleTree(2).fit(log)


@pytest.mark.parametrize(
    ("weight", "said"),
    [(-1.0, "holds -1 in row 4; weights are finite"), (np.nan, "holds nan in row 4"), (np.inf, "holds inf in row 4")],
)
def test_weights_that_are_none_are_named(weight, said, tmp_path):
    rng = np.random.default_rng(1)
    columns = {**random_columns(rng, episodes=12)}
    columns["importance"] = np.ones(len(columns["reward"]))
    columns["importance"][4] = weight
    folder = write_folder(tmp_path / "log", columns, rng, 2)
    with pytest.raises(LogError, match=f"The weight `importance` {said}"):
        read_log(folder, weight="importance")
    with pytest.raises(LogError, match=f"The weight `importance` {said}"):
        TripleTree(2).fit(open_log(folder, weight="importance", cache=tmp_path / "c"))


def test_few_steps_that_count_beside_many_features_are_enough_if_they_are_weighted(tmp_path):
    rng = np.random.default_rng(3)
    columns = random_columns(rng, episodes=12)
    n = len(columns["reward"])
    columns |= {f"y{k}": rng.normal(size=n).tolist() for k in range(30)}
    heavy = np.arange(n) % 40 == 0
    for weights, refused in ((np.where(heavy, 1.0 + np.arange(n), 0.0), False), (heavy * 1.0, True)):
        folder = write_folder(tmp_path / f"log{refused}", {**columns, "importance": weights}, rng, 2)
        there = open_log(folder, weight="importance", cache=tmp_path / "c")
        tree = TripleTree(5, mode="histogram").fit(read_log(folder, weight="importance"))
        if refused:
            with pytest.raises(ParameterError, match="many more features than samples that count: read the log into"):
                TripleTree(5).fit(there)
            continue
        assert differences(tree, TripleTree(5).fit(there)) == []


def test_what_is_no_weight_is_refused(tmp_path):
    _, there = weighted_folder(tmp_path, np.zeros(1))
    with pytest.raises(LogError, match="All steps of this log have the weight 0"):
        TripleTree(2).fit(there)
    for wrong in ("importance", np.ones(3), 2):
        with pytest.raises(ParameterError, match=r'takes weights="episode" .* Weights of steps are a column'):
            TripleTree(2).fit(there, weights=wrong)


def test_a_sample_of_a_weighted_log_is_weighted(tmp_path):
    _, there = weighted_folder(tmp_path, np.array([1.0, 0.5, 3.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = TripleTree(5).fit(open_log(there.path, weight="importance", sample=60, cache=tmp_path / "c")).fitted_
    # Leaves are those of the sample; what they know is counted on all steps.
    assert fitted.attributes.weight is not None
    assert fitted.attributes.count[0] == there.n_samples


def test_the_command_line_weighs_steps_on_disk(tmp_path):
    here, there = weighted_folder(tmp_path, np.array([1.0, 0.5, 3.0]))
    command = ["grow", there.path, "-o", str(tmp_path / "m.tripletree"), "--memory", "2GB", "--validation", "none"]
    # Where nobody says that a column holds weights, it is a feature.
    for given, expected in (("episode", read_log(there.path).weighted("episode")), ("importance", here)):
        made = CliRunner().invoke(main, [*command, "--weights", given, "--cache", str(tmp_path / given)])
        assert made.exit_code == 0, made.output
        assert "on disk, weighted" in made.output
        tree = TripleTree(mode="histogram").fit(expected)
        assert load(tmp_path / "m.tripletree").tree_.threshold.tolist() == tree.tree_.threshold.tolist()
