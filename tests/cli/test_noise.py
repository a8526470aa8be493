"""Logs of pure noise: neither ``grow`` nor ``info`` nor the report claims more than chance would."""

from __future__ import annotations

import re
import warnings

import numpy as np

from tripletree import Log, load
from tripletree.report.write import report_html

EPISODES, STEPS = 20, 25


def noise(seed: int) -> Log:
    """Features, labels and rewards that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    n = EPISODES * STEPS
    starts = np.arange(0, n, STEPS)
    return Log.from_arrays(
        rng.normal(size=(n, 2)), rng.integers(0, 2, n), rng.normal(size=n), starts=starts, ending="terminated"
    )


def test_twenty_logs_of_noise_claim_nothing(run, tmp_path):
    claims = []
    for seed in range(20):
        path, model = tmp_path / f"{seed}.npz", tmp_path / f"{seed}.tripletree"
        log = noise(seed)
        log.to_npz(path)
        grown, told = run("grow", path, "-o", model, "--max-leaves", 60).out, run("info", model).out
        judged = load(model).fitted_.judged
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            page = report_html(load(model).fitted_, log)
        said = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", page))
        action, value, _ = judged.explained
        claims += [action > 0, value > 0]
        # What the numbers do not support, no text may claim.
        for name, share in (("Action", action), ("Value", value)):
            assert (f"{name}: nothing that tells more about unseen episodes than chance." in told) == (share == 0)
            assert (f"of the {name.lower()} loss" in grown) == (share > 0)
        assert (said["of the error about the value gone by looking at the state (unseen episodes)"] == "none") == (
            value == 0
        )
        if not action and not value:
            assert "tells no more about action or value" in page
    assert sum(claims) <= 3  # of 40, each with a chance of 2.5 %
