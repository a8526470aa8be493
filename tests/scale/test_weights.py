"""Logs on disk whose steps count differently: the trees, statistics and moves of the same log in memory."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.scale.folders import differences, random_columns, with_holes, with_text, with_weights, write_folder
from tests.scale.test_counting import compared, random_questions
from tests.scale.test_fit import pieces_of, quiet, random_options  # noqa: F401 - a fixture
from tripletree import LogError, TripleTree, open_log, read_log


@pytest.mark.parametrize("block", range(10))
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
