"""Whoever acts, without the libraries that made it: models by what they can do, files by what is in them."""

from __future__ import annotations

import json
import sys
import zipfile

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from tests.log.test_record import Counting, counting
from tripletree import MissingDependencyError, ParameterError, record


class Model:
    """What a model of Stable-Baselines3 looks like: it acts on several observations at once, and remembers."""

    observation_space = spaces.Box(-100, 100, (2,), np.float32)
    action_space = spaces.Discrete(3, start=5)

    def __init__(self):
        self.calls = []

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        assert deterministic
        self.calls.append((observation.shape, episode_start.tolist()))
        count = np.zeros(len(observation), int) if state is None else state
        count = np.where(episode_start, 0, count + 1)
        return 5 + count % 3, count


@pytest.mark.parametrize("number", [1, 3])
def test_a_model_acts_in_all_copies_and_forgets_at_the_end(number):
    model = Model()
    env = counting() if number == 1 else SyncVectorEnv([counting] * number)
    log = record(env, model, episodes=6)
    # The memory counts the steps, and so does the second feature.
    np.testing.assert_array_equal(log.actions, log.states[:, 1] % 3)
    assert {shape for shape, _ in model.calls} == {(number, 2)}
    assert model.calls[0][1] == [True] * number


def test_predict_of_a_model_is_the_model():
    assert (
        record(counting(), Model().predict, episodes=3).fingerprint()
        == record(counting(), Model(), episodes=3).fingerprint()
    )


def test_a_model_from_elsewhere_is_refused():
    env = Counting(spaces.Discrete(3, start=5), spaces.Box(-1, 1, (4,)))
    with pytest.raises(
        ParameterError, match=r"trained with observations Box.*\(2,\).*this environment has Box.*\(4,\)"
    ):
        record(env, Model(), episodes=1)
    with pytest.raises(ParameterError, match=r"trained with actions Discrete\(3, start=5\), and this .* Discrete\(2\)"):
        record(counting(spaces.Discrete(2)), Model(), episodes=1)
    tree = Model()
    tree.observation_space = spaces.Dict(a=Model.observation_space)
    with pytest.raises(ParameterError, match=r"trained with observations Dict"):
        record(counting(), tree, episodes=1)


def test_a_model_that_fails_is_one_line():
    class Broken(Model):
        def predict(self, observation, state=None, episode_start=None, deterministic=False):
            raise ValueError("Unexpected\n  observation")

    with pytest.raises(ParameterError, match=r"The model cannot act on .*: Unexpected observation$"):
        record(counting(), Broken(), episodes=1)


def test_a_normalizer_stands_before_the_agent_alone():
    class Normalizer:
        def normalize_obs(self, observation):
            return observation / 100

    seen = []
    log = record(counting(), lambda state: seen.append(state) or 5, episodes=2, normalize=Normalizer())
    np.testing.assert_allclose(np.array(seen) * 100, log.states, rtol=1e-6)
    model = Model()
    model.get_vec_normalize_env = Normalizer
    model.predict = lambda observation, **_: (seen.append(observation[0]) or np.array([5]), None)
    seen.clear()
    log = record(counting(), model, episodes=2)
    np.testing.assert_allclose(np.array(seen) * 100, log.states, rtol=1e-6)


@pytest.fixture
def saved(tmp_path):
    """Return a function that writes a zip file with some members."""

    def write(name="agent.zip", **members):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member, content in members.items():
                archive.writestr(member.replace("_pth", ".pth"), content)
        return tmp_path / name

    return write


def refused(path, match, **options):
    with pytest.raises(ParameterError, match=match) as caught:
        record("CartPole-v1", path, episodes=1, **options)
    assert "\n" not in str(caught.value)


def test_files_that_hold_pickles_ask_for_trust(saved, tmp_path):
    path = saved(data=json.dumps({"policy_class": None}), policy_pth="")
    refused(path, r"agent\.zip is a model of Stable-Baselines3, which holds pickled Python .* any code .*trust=True\.$")
    (tmp_path / "norm.pkl").write_bytes(b"")
    refused("random", r"norm\.pkl is a file of VecNormalize, which holds pickled", normalize=tmp_path / "norm.pkl")


def test_nothing_is_loaded_before_it_is_trusted(tmp_path):
    """A pickle that would leave a trace."""
    trace = tmp_path / "trace"
    code = f"cos\nsystem\n(S'touch {trace}'\ntR.".encode()
    (tmp_path / "norm.pkl").write_bytes(code)
    refused("random", "trust=True", normalize=tmp_path / "norm.pkl")
    assert not trace.exists()


def test_files_that_are_something_else(saved, tmp_path):
    refused(saved(readme="hello"), r"agent\.zip is a zip file, but not a model .*: it lacks data and policy\.pth\.")
    refused(saved(data="{", policy_pth=""), r"agent\.zip is damaged: its description is not JSON\.", trust=True)
    (tmp_path / "agent.pt").write_bytes(b"weights")
    refused(tmp_path / "agent.pt", r"agent\.pt is neither a model of Stable-Baselines3 nor an ONNX network\. Save")


def test_files_that_are_not_there(saved, tmp_path):
    saved("ppo_lander.zip", readme="")
    refused(
        tmp_path / "ppo_landr.zip", r"There is no file .*ppo_landr\.zip\. Did you mean `ppo_lander\.zip`\? agent is"
    )
    refused(tmp_path, r"is a folder; expected the file of an agent\. Did you mean .*ppo_lander\.zip\?")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"It holds no \.zip or \.onnx file\.")
    refused(tmp_path / "none.onnx", r"There is no file .*none\.onnx\.")
    refused("random", r"There is no file .*none\.pkl\.", normalize=tmp_path / "none.pkl")
    refused("random", r"normalize must be a VecNormalize or the path of its file; got int\.", normalize=3)
    refused("ppo", r"There is no file ppo\.")


def test_missing_libraries_are_one_line(saved, tmp_path, monkeypatch):
    for name in ("stable_baselines3", "onnxruntime"):
        monkeypatch.setitem(sys.modules, name, None)
    path = saved(data=json.dumps({"policy_class": None}), policy_pth="")
    with pytest.raises(MissingDependencyError, match=r'agent\.zip needs .*Type: pip install "tripletree\[sb3\]"$'):
        record("CartPole-v1", path, episodes=1, trust=True)
    (tmp_path / "agent.onnx").write_bytes(b"")
    with pytest.raises(MissingDependencyError, match=r'agent\.onnx needs .*Type: pip install "tripletree\[onnx\]"$'):
        record("CartPole-v1", tmp_path / "agent.onnx", episodes=1)
