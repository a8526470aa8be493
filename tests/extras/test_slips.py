"""Typical slips with an agent of Stable-Baselines3: each is one line that says what to do."""

from __future__ import annotations

import base64
import json
import shutil
import sys
import zipfile

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from tripletree import MissingDependencyError, ParameterError, record

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*[Gg]ym.*:UserWarning")


@pytest.fixture(scope="module")
def folder(need, tmp_path_factory):
    """A folder with what people have: models, and files that are almost models."""
    baselines, vec_env = need("stable_baselines3"), need("stable_baselines3.common.vec_env")
    need("torch").set_num_threads(1)
    folder = tmp_path_factory.mktemp("agents")
    model = baselines.PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=64, seed=0, device="cpu")
    model.save(folder / "ppo_cartpole")
    (folder / "no_model.zip").write_bytes((folder / "ppo_cartpole.zip").read_bytes()[:200])
    with zipfile.ZipFile(folder / "other.zip", "w") as archive:
        archive.writestr("weights.npy", b"")
    model.policy.save(folder / "weights.pth")
    norm = vec_env.VecNormalize(vec_env.DummyVecEnv([lambda: gymnasium.make("Pendulum-v1")]))
    norm.save(folder / "pendulum.pkl")
    cloudpickle = need("cloudpickle")
    (folder / "not_a_normalizer.pkl").write_bytes(cloudpickle.dumps({"mean": 0}))
    (folder / "damaged.pkl").write_bytes(b"nonsense")

    def rewritten(name, **changes):
        """Write the model again with some of its parts changed."""
        with zipfile.ZipFile(folder / "ppo_cartpole.zip") as old, zipfile.ZipFile(folder / name, "w") as new:
            for member in old.namelist():
                content = old.read(member)
                if member == "data":
                    content = json.dumps({**json.loads(content), **changes}).encode()
                new.writestr(member, content)

    def pickled(code):
        return {":type:": "?", ":serialized:": base64.b64encode(code).decode()}

    rewritten("own_network.zip", policy_kwargs=pickled(b"cmy_networks\nExtractor\n."))
    rewritten("other_python.zip", policy_class=pickled(b"cbuiltins\nno_such_thing\n."))
    # Spaces as gym wrote them: classes by name, which only gym can make.
    with pytest.MonkeyPatch.context() as patch:
        gym = need("gym")
        box = gym.spaces.Box(-1, 1, (4,), np.float32)
        old = pickled(cloudpickle.dumps(box)), pickled(cloudpickle.dumps(gym.spaces.Discrete(2)))
        patch.undo()
    rewritten("gym.zip", observation_space={**old[0], "_shape": [4]}, action_space={**old[1], "n": "2"})
    shutil.copy(folder / "ppo_cartpole.zip", folder / "renamed.model")
    return folder


def missing(name):
    def make(*_, **__):
        raise gymnasium.error.DependencyNotInstalled(f'{name} is not installed, run `pip install "gymnasium[{name}]"`')

    return make


def image():
    return gymnasium.make("CarRacing-v3")


# What is typed: the environment, the agent, and options; and what is said.
SLIPS = {
    "trust is missing": ("CartPole-v1", "ppo_cartpole.zip", {"trust": False}, r"can run any code .* type trust=True\."),
    "another environment": ("Acrobot-v1", "ppo_cartpole.zip", {}, r"was trained with observations .*\(4,\).*\(6,\)"),
    "other actions": ("InvertedPendulum-v5", "ppo_cartpole.zip", {}, r"trained with actions Discrete\(2\), and this"),
    "a file that is not there": ("CartPole-v1", "ppo_cartpol.zip", {}, r"Did you mean `ppo_cartpole\.zip`\?"),
    "a folder": ("CartPole-v1", ".", {}, r"is a folder; expected the file of an agent\. Did you mean"),
    "half a file": ("CartPole-v1", "no_model.zip", {}, r"no_model\.zip is neither a model of Stable-Baselines3 nor"),
    "another zip": ("CartPole-v1", "other.zip", {}, r"other\.zip is a zip file, but not a model .* lacks data and"),
    "only weights": ("CartPole-v1", "weights.pth", {}, r"weights\.pth is a zip file, but not a model of Stable-B"),
    "an id that is mistyped": ("CartPol-v1", "ppo_cartpole.zip", {}, r"Did you mean: `CartPole`\?"),
    "an id of the past": ("LunarLander-v2", "ppo_cartpole.zip", {}, r"Please use `LunarLander-v3` instead\."),
    "images": (image, "ppo_cartpole.zip", {}, r"are images .* Type state=\.\.\. with a function"),
    "no amount": (
        "CartPole-v1",
        "ppo_cartpole.zip",
        {"episodes": None},
        r"Give either episodes or samples; got neither",
    ),
    "an untrusted normalizer": (
        *("CartPole-v1", "random", {"normalize": "pendulum.pkl", "trust": False}),
        r"pendulum\.pkl is a file of VecNormalize, which holds pickled",
    ),
    "a normalizer of something else": (
        *("CartPole-v1", "ppo_cartpole.zip", {"normalize": "pendulum.pkl"}),
        r"The VecNormalize was made for observations .*\(3,\).*, and this environment has .*\(4,\)",
    ),
    "no normalizer": (
        *("CartPole-v1", "ppo_cartpole.zip", {"normalize": "not_a_normalizer.pkl"}),
        r"not_a_normalizer\.pkl holds no VecNormalize but a dict\.",
    ),
    "a damaged normalizer": (
        *("CartPole-v1", "ppo_cartpole.zip", {"normalize": "damaged.pkl"}),
        r"damaged\.pkl cannot be loaded: ",
    ),
    "a network of one's own": (
        *("CartPole-v1", "own_network.zip", {}),
        r"own_network\.zip needs the module my_networks, which is not here\. If it is yours, start from the folder",
    ),
    "saved by another Python": (
        *("CartPole-v1", "other_python.zip", {}),
        r"other_python\.zip cannot be loaded here: its policy was saved by another version of Python",
    ),
    "saved under gym, elsewhere": (
        *("Acrobot-v1", "gym.zip", {}),
        r"The model in gym\.zip was trained with observations of shape \(4,\) and actions of 2 kinds, and this",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slips_are_one_line_with_the_cure(folder, monkeypatch, slip):
    monkeypatch.chdir(folder)
    env, agent, options, match = SLIPS[slip]
    options = {"episodes": 1, "trust": True, **options}
    with pytest.raises(ParameterError, match=match) as caught:
        record(env if isinstance(env, str) else env(), agent, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("env", "library"), [("LunarLander-v3", "box2d"), ("Hopper-v5", "mujoco")])
def test_a_missing_engine_is_one_line(folder, monkeypatch, env, library):
    monkeypatch.setattr(gymnasium, "make", missing(library))
    with pytest.raises(
        MissingDependencyError, match=rf'{env} needs another package: .*pip install "gymnasium\[{library}\]"'
    ):
        record(env, folder / "ppo_cartpole.zip", episodes=1, trust=True)


def test_models_saved_under_gym_act_with_and_without_gym(folder, monkeypatch):
    expected = record("CartPole-v1", folder / "ppo_cartpole.zip", episodes=2, trust=True).fingerprint()
    assert record("CartPole-v1", folder / "gym.zip", episodes=2, trust=True).fingerprint() == expected
    for name in [name for name in sys.modules if name == "gym" or name.startswith("gym.")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert record("CartPole-v1", folder / "gym.zip", episodes=2, trust=True).fingerprint() == expected


def test_files_by_any_name(folder):
    assert record("CartPole-v1", folder / "renamed.model", episodes=1, trust=True).n_episodes == 1


def test_a_tensor_that_still_learns_is_one_line(need):
    torch = need("torch")
    network = torch.nn.Linear(4, 1)
    with pytest.raises(ParameterError, match=r"the agent returned Tensor, which is no array: .*requires grad.*detach"):
        record("CartPole-v1", lambda state: network(torch.as_tensor(state)), episodes=1)
    log = record("Pendulum-v1", lambda state: torch.zeros(1), episodes=1)
    assert not log.actions.any()


def test_environments_of_gym_are_told_apart(need):
    gym = need("gym")

    class Old(gym.Env):
        observation_space, action_space = spaces.Box(-1, 1, (2,)), spaces.Discrete(2)

    with pytest.raises(
        ParameterError, match=r"one of gym, which Gymnasium has replaced\. Make it with gymnasium\.make"
    ):
        record(Old(), "random", episodes=1)
