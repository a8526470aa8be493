"""Contributions against those of SHAP's TreeExplainer, on the same tree as scikit-learn has it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.logs import random_log
from tests.test_api import quietly_fitted

shap = pytest.importorskip("shap")

LENGTHS = (400, 300, 500)


def grown(dimensions=0):
    log = random_log(7, LENGTHS, features=5, dimensions=dimensions)
    # In single precision, as scikit-learn has its states: else a state near a threshold may fall to its other side.
    log = replace(log, states=log.states.astype(np.float32).astype(np.float64))
    return quietly_fitted(log, max_leaves=60, leaf_model="mean"), log


@pytest.mark.parametrize("about", ["a0", "value", "derivative of x3"])
@pytest.mark.parametrize("method", ["path", "background"])
def test_numbers(about, method):
    tree, log = grown(dimensions=2)
    states = log.states[::9]
    peer = tree.to_sklearn(about=about)
    if method == "path":
        explainer, ours = shap.TreeExplainer(peer), tree.attribute(states, about)
    else:
        others = replace(random_log(7, (100,), features=5, dimensions=2), states=log.states[200:300])
        explainer = shap.TreeExplainer(peer, others.states, feature_perturbation="interventional")
        ours = tree.attribute(states, about, background=others)
        assert ours.background == 100  # all of them, so that both have the same background
    theirs = explainer.shap_values(states)
    scale = np.abs(theirs).max()
    assert scale > 0
    assert np.abs(ours.contributions - theirs).max() < 1e-5 * scale  # SHAP computes in single precision
    assert ours.base[0] == pytest.approx(float(np.ravel(explainer.expected_value)[0]), rel=1e-5, abs=1e-6)


def test_labels():
    tree, log = grown()
    states = log.states[::9]
    theirs = shap.TreeExplainer(tree.to_sklearn()).shap_values(states)
    for k, label in enumerate(log.schema.action.labels):
        ours = tree.attribute(states, f"action = {label}").contributions
        assert ours == pytest.approx(theirs[:, :, k], abs=1e-5)
