"""Agents from files: models of Stable-Baselines3 with their VecNormalize, and ONNX networks."""

from __future__ import annotations

import inspect
import json
import os
import warnings
import zipfile
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean
from tripletree.errors import MissingDependencyError, ParameterError, TripleTreeWarning
from tripletree.log.worlds import World
from tripletree.text import Message, Option, shortened

NEEDED = ("policy_class", "policy_kwargs", "observation_space", "action_space", "use_sde")
"""What of a saved model is needed to act; nothing else of it is unpickled."""
NORMALIZERS = ("vecnormalize.pkl", "vec_normalize.pkl")
"""What people call the file of VecNormalize."""


def existing(path: Path, endings: Sequence[str] = ()) -> Path:
    """Return the path of a file that is there; like the libraries that save them, adds an ending that was left out."""
    for ending in ("", *endings):
        if (found := Path(f"{path}{ending}")).is_file():
            return found
    if path.is_dir():
        inside = sorted(p.name for p in path.iterdir() if p.suffix.lower() in (".zip", ".onnx"))
        hint = f" Did you mean {path / inside[0]}?" if inside else " It holds no .zip or .onnx file."
        raise ParameterError(f"{path} is a folder; expected the file of an agent.{hint}")
    names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    raise ParameterError(
        Message(
            "There is no file {}.{} {} is the file of an agent, or 'random'.",
            path,
            did_you_mean(path.name, names),
            Option("agent"),
        )
    )


def _ask_for_trust(path: Path, what: str) -> ParameterError:
    return ParameterError(
        Message(
            "{} is {}, which holds pickled Python objects: loading them can run any code that the maker of the file "
            "put there. If you trust its source, type {}.",
            path.name,
            what,
            Option("trust", True),
        )
    )


def _baselines(what: str) -> Any:
    try:
        import stable_baselines3
    except ImportError:
        raise MissingDependencyError(f'{what} needs Stable-Baselines3. Type: pip install "tripletree[sb3]"') from None
    return stable_baselines3


def load_normalizer(path: str | os.PathLike[str], trust: bool) -> Any:
    """Return the VecNormalize in a file."""
    try:
        file = existing(Path(path), (".pkl",))
    except TypeError:
        raise ParameterError(
            Message(
                "{} must be a VecNormalize or the path of its file; got {}.", Option("normalize"), type(path).__name__
            )
        ) from None
    if not trust:
        raise _ask_for_trust(file, "a file of VecNormalize")
    _baselines(file.name)
    from stable_baselines3.common.save_util import load_from_pkl

    try:
        with file.open("rb") as content:
            normalizer = load_from_pkl(content)
    except Exception as error:  # a pickle may raise anything at all
        raise ParameterError(f"{file.name} cannot be loaded: {_line(error)}") from error
    if not hasattr(normalizer, "normalize_obs"):
        raise ParameterError(f"{file.name} holds no VecNormalize but a {type(normalizer).__name__}.")
    return normalizer


def load_policy(path: Path, world: World, trust: bool, normalized: bool) -> Any:
    """Return the policy of a saved model: the part of it that acts.

    Parameters
    ----------
    path : Path
        A .zip file of Stable-Baselines3 or sb3-contrib, of any algorithm.
    world : World
        Where it will act.
    trust : bool
        Whether it may be loaded.
    normalized : bool
        Whether something was said about VecNormalize.
    """
    file = existing(path, (".zip",))
    saved = _description(file)
    if not trust:
        raise _ask_for_trust(file, "a model of Stable-Baselines3")
    _baselines(file.name)
    beside = next((name for name in NORMALIZERS if (file.parent / name).is_file()), None)
    if beside and not normalized:
        warnings.warn(
            TripleTreeWarning(
                Message(
                    "There is a {} beside {}. If the model was trained with it, type {}.",
                    beside,
                    file.name,
                    Option("normalize", str(file.parent / beside)),
                )
            ),
            stacklevel=4,
        )
    data, weights = _unpacked(file, saved)
    spaces = [_space(data.get(f"{what}_space"), getattr(world, f"{what}_space")) for what in ("observation", "action")]
    try:
        policy = _built(data, spaces)
    except Exception as error:  # the classes in the file may be anybody's
        raise ParameterError(f"The policy in {file.name} cannot be made here: {_line(error)}") from error
    try:
        policy.load_state_dict(weights)
    except RuntimeError as error:
        trained = [_saved_size(saved, f"{what}_space") for what in ("observation", "action")]
        raise ParameterError(
            f"The model in {file.name} was trained with observations {trained[0]} and actions {trained[1]}, and this "
            f"environment has {spaces[0]} and {spaces[1]}. Record it in the environment it was trained in."
        ) from error
    return policy


def _description(file: Path) -> dict[str, Any]:
    """Return what a saved model says about itself in plain JSON; refuses other files without loading anything."""
    if not zipfile.is_zipfile(file):
        ways = "Save the agent as .zip (Stable-Baselines3) or .onnx, or call it from Python: record(env, function)."
        raise ParameterError(f"{file.name} is neither a model of Stable-Baselines3 nor an ONNX network. {ways}")
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        lacking = [name for name in ("data", "policy.pth") if name not in names]
        if lacking:
            raise ParameterError(
                f"{file.name} is a zip file, but not a model of Stable-Baselines3: it lacks {' and '.join(lacking)}."
            )
        try:
            described: dict[str, Any] = json.loads(archive.read("data"))
        except ValueError:
            raise ParameterError(f"{file.name} is damaged: its description is not JSON.") from None
    return described


def _unpacked(file: Path, saved: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return what is needed of a saved model, and the weights of its policy."""
    from stable_baselines3.common.save_util import load_from_zip_file

    # Whatever is given here is not unpickled: schedules and buffers of another version of Python often cannot be.
    left_out = dict.fromkeys(set(saved) - set(NEEDED))
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data, weights, _ = load_from_zip_file(file, custom_objects=left_out, device="cpu")
            break
        except ModuleNotFoundError as error:
            spaces = {"observation_space", "action_space"} - set(left_out)
            module = str(error.name).partition(".")[0]
            if module == "gym" and spaces:
                # Saved before Gymnasium: the spaces of the environment take the place of those in the file.
                left_out.update(dict.fromkeys(spaces))
                continue
            raise ParameterError(
                f"{file.name} needs the module {module}, which is not here. If it is yours, start from the folder "
                f"that holds it; otherwise type: pip install {module}"
            ) from error
        except Exception as error:
            raise ParameterError(f"{file.name} cannot be loaded: {_line(error)}") from error
    if data is None or "policy" not in weights or data.get("policy_class") is None:
        raise ParameterError(
            f"{file.name} cannot be loaded here: its policy was saved by another version of Python. Load it there, and "
            "save it as ONNX."
        )
    return data, weights["policy"]


def _space(saved: Any, there: Any) -> Any:
    """Return the space that a network was made for; that of the environment if it was saved as one of gym."""
    from gymnasium import Space

    return saved if isinstance(saved, Space) else there


def _built(data: dict[str, Any], spaces: Sequence[Any]) -> Any:
    policy_class, options = data["policy_class"], dict(data.get("policy_kwargs") or {})
    options.pop("device", None)
    architecture = options.get("net_arch")
    if isinstance(architecture, list) and architecture and isinstance(architecture[0], dict):
        options["net_arch"] = architecture[0]  # as it was written before version 1.8
    takes = inspect.signature(policy_class).parameters
    if "use_sde" in takes:
        options.setdefault("use_sde", bool(data.get("use_sde")))
    if "lr_schedule" in takes:
        options["lr_schedule"] = lambda _: 0.0  # nobody learns here
    return policy_class(*spaces, **options).to("cpu")


def _saved_size(saved: dict[str, Any], name: str) -> str:
    """Return what the file says of a space in words, without unpickling it."""
    space = saved.get(name)
    if not isinstance(space, dict):
        return "of an unknown size"
    for part, words in (("n", "of {} kinds"), ("nvec", "of {} kinds"), ("_shape", "of shape {}")):
        if part in space:
            value = space[part]
            return words.format(tuple(value) if isinstance(value, list) else value)
    return "of an unknown size"


def open_network(path: Path, world: World) -> Callable[..., Any]:
    """Return how an ONNX network acts; numbers beyond the limits of a Box are cut, as Stable-Baselines3 does."""
    file = existing(path)
    try:
        import onnxruntime
    except ImportError:
        raise MissingDependencyError(f'{file.name} needs onnxruntime. Type: pip install "tripletree[onnx]"') from None
    try:
        network = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors share no base
        raise ParameterError(f"{file.name} cannot be loaded as an ONNX network: {_line(error)}") from error
    inputs = network.get_inputs()
    keys = list(getattr(world.observation_space, "spaces", {}))
    if len(inputs) != 1 and {one.name for one in inputs} != set(keys):
        raise ParameterError(
            f"{file.name} has the inputs {', '.join(one.name for one in inputs)}; expected one, the observation"
            + (f", or {', '.join(keys)}." if keys else ". A network with a memory is recorded by a function.")
        )
    alone = any(isinstance(one.shape[0], int) and one.shape[0] == 1 for one in inputs if one.shape)

    def run(observations: Sequence[Any]) -> npt.NDArray[Any]:
        feed = {}
        for one in inputs:
            parts = [seen if len(inputs) == 1 else seen[one.name] for seen in observations]
            batch = np.stack([np.asarray(part) for part in parts]).astype(_dtype(one.type))
            feed[one.name] = batch.reshape(len(observations), -1) if len(one.shape) == 2 else batch
        try:
            outputs = network.run(None, feed)
        except Exception as error:
            wanted = ", ".join(str(one.shape) for one in inputs)
            raise ParameterError(
                f"{file.name} takes inputs of shape {wanted}, and observations here are {world.observation_space}: "
                f"{_line(error)}"
            ) from error
        return _actions(outputs, len(observations), world.action_space, file.name)

    def act(observations: Sequence[Any], _: Sequence[bool], __: Sequence[bool]) -> Any:
        if alone:
            return [run([observation])[0] for observation in observations]
        return run(observations)

    return act


def _dtype(kind: str) -> str:
    return {"tensor(double)": "f8", "tensor(int64)": "i8", "tensor(int32)": "i4"}.get(kind, "f4")


def _actions(outputs: Sequence[Any], number: int, space: Any, name: str) -> npt.NDArray[Any]:
    """Return the actions among a network's outputs: the first output that can be one."""
    from gymnasium import spaces

    shape = tuple(space.shape or ())
    # For each choice the number of its values and the first of them; a choice may come as a score for each value.
    sizes = np.reshape(space.nvec if isinstance(space, spaces.MultiDiscrete) else getattr(space, "n", 0), -1)
    starts = np.reshape(getattr(space, "start", 0), -1)
    choices = isinstance(space, spaces.Discrete | spaces.MultiDiscrete)
    for output in map(np.asarray, outputs):
        if output.size == 0 or output.size % number:
            continue
        rows = output.reshape(number, -1)
        scores = choices and output.dtype.kind == "f"
        if scores and rows.shape[1] == sizes.sum():
            best = [group.argmax(axis=1) for group in np.split(rows, np.cumsum(sizes)[:-1], axis=1)]
            return np.reshape(np.stack(best, axis=1) + starts, (number, *shape))
        if not scores and rows.shape[1] == prod(shape):
            rows = rows.reshape(number, *shape)
            return np.asarray(np.clip(rows, space.low, space.high)) if isinstance(space, spaces.Box) else rows
    shapes = ", ".join(str(np.shape(output)) for output in outputs)
    raise ParameterError(
        f"{name} returned outputs of shape {shapes}, and none is an action in {shortened(str(space), 60)}."
    )


def _line(error: Exception) -> str:
    return shortened(" ".join(str(error).split()) or type(error).__name__, 200)
