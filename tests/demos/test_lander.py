"""The lander: its policy, its shipped log, and new episodes in Box2D."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tripletree.demos import lander
from tripletree.errors import ParameterError
from tripletree.log.endings import TERMINATED


@pytest.fixture(scope="module")
def log():
    return lander.log()


def test_the_shipped_log_is_whole(log):
    assert log.n_samples == 70_216
    assert log.n_episodes == 266
    assert log.schema.feature_names == lander.FEATURES
    assert log.schema.action.names == lander.ACTIONS
    assert [feature.kind for feature in log.schema.features] == ["real"] * 6 + ["binary"] * 2
    assert np.isfinite(log.final_states).all()
    assert (log.endings == TERMINATED).all()
    assert (np.abs(log.actions) <= 1).all()
    assert set(np.unique(log.states[:, 6:])) == {0, 1}


def test_it_lands_well_in_the_shipped_log(log):
    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    assert returns.mean() > 260
    # A crash costs 100 and a landing pays 100: all but a few episodes end with both legs on the ground.
    assert (log.rewards[log.starts[1:] - 1] == 100).mean() > 0.95


def test_the_policy_does_what_the_log_says(log):
    np.testing.assert_allclose(lander.act(log.states), log.actions, atol=1e-5)
    np.testing.assert_allclose(lander.act(log.states[123]), log.actions[123], atol=1e-5)


def test_the_policy_is_the_network_written_out():
    with np.load(lander._beside("lander_policy.npz")) as file:
        w = {name: file[name].astype(float) for name in file}
    assert [w[f"w{i}"].shape for i in range(3)] == [(8, 64), (64, 64), (64, 2)]
    state = [0.1, 0.9, -0.2, -0.4, 0.05, 0.1, 0, 1]
    layer = [max(0, sum(s * w["w0"][i, j] for i, s in enumerate(state)) + w["b0"][j]) for j in range(64)]
    layer = [max(0, sum(s * w["w1"][i, j] for i, s in enumerate(layer)) + w["b1"][j]) for j in range(64)]
    out = [np.tanh(sum(s * w["w2"][i, j] for i, s in enumerate(layer)) + w["b2"][j]) for j in range(2)]
    np.testing.assert_allclose(lander.act(state), out, atol=1e-5)


def test_new_episodes_are_flown_as_well():
    done = []
    log = lander.record(n_samples=1_500, seed=11, progress=lambda *counts: done.append(counts))
    again = lander.record(n_samples=1_500, seed=11)
    assert log.fingerprint() == again.fingerprint()
    assert log.schema == lander.log().schema
    assert 1_500 <= log.n_samples < 2_500
    assert done[-1] == (1_500, 1_500)
    assert np.add.reduceat(log.rewards, log.starts[:-1]).mean() > 200


def test_a_wrong_number_of_samples_or_seed_is_refused_before_anything_is_made():
    with pytest.raises(ParameterError, match="n_samples must be a whole number of at least 1; got 0"):
        lander.record(n_samples=0)
    with pytest.raises(ParameterError, match="seed must be a whole number of at least 0; got -1"):
        lander.record(seed=-1)


def test_the_log_and_the_policy_need_numpy_only():
    code = (
        "import sys\n"
        "for name in ('gymnasium', 'Box2D', 'torch', 'stable_baselines3'): sys.modules[name] = None\n"
        "from tripletree.demos import lander\n"
        "print(lander.act(lander.log().states[:5]).shape)\n"
        "try: lander.record(n_samples=10)\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["(5, 2)", 'This needs Gymnasium. Type: pip install "tripletree[gym]"']
