"""Write the files of this folder anew, after the documented layouts: ``python -m tests.data.make``.

- D4RL: one flat HDF5 file, https://github.com/Farama-Foundation/D4RL (terminals, timeouts, infos/..., metadata/...).
- robomimic: data/demo_N with obs and next_obs, https://robomimic.github.io/docs/datasets/overview.html.
- LeRobot v2.1: data/chunk-000/episode_000000.parquet with meta/info.json and meta/episodes.jsonl; v3.0:
  data/chunk-000/file-000.parquet with meta/episodes/chunk-000/file-000.parquet,
  https://huggingface.co/docs/lerobot/lerobot-dataset-v3.

All of them hold the same recording: two episodes of four and three steps.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
LENGTHS = (4, 3)
MOTORS = ["shoulder_pan.pos", "gripper.pos"]


def recording() -> dict[str, Any]:
    """Return what was recorded: states with a final one at the end of each episode, actions and rewards."""
    rng = np.random.default_rng(7)
    return {
        "states": [rng.normal(size=(length + 1, 2)).astype(np.float32) for length in LENGTHS],
        "actions": [rng.normal(size=(length, 2)).astype(np.float32) for length in LENGTHS],
        "rewards": [rng.integers(0, 4, length).astype(np.float32) for length in LENGTHS],
    }


def write_d4rl(path: Path) -> None:
    import h5py

    data = recording()
    n = sum(LENGTHS)
    with h5py.File(path, "w", libver="latest") as file:
        file["observations"] = np.concatenate([states[:-1] for states in data["states"]])
        file["next_observations"] = np.concatenate([states[1:] for states in data["states"]])
        file["actions"] = np.concatenate(data["actions"])
        file["rewards"] = np.concatenate(data["rewards"])
        file["terminals"] = np.arange(n) == LENGTHS[0] - 1
        file["timeouts"] = np.arange(n) == n - 1
        file["infos/qpos"] = np.zeros((n, 3), np.float32)
        file["infos/action_log_probs"] = np.zeros(n, np.float32)
        file["metadata/algorithm"] = "SAC"
        file["metadata/policy/fc0/weight"] = np.zeros((2, 5), np.float32)


def write_robomimic(path: Path) -> None:
    import h5py

    data = recording()
    with h5py.File(path, "w", libver="latest") as file:
        group = file.create_group("data")
        group.attrs["total"] = sum(LENGTHS)
        group.attrs["env_args"] = json.dumps({"env_name": "Lift", "type": 1, "env_kwargs": {}})
        # The second one is demo_10: by the alphabet it would come before demo_2.
        for name, states, actions, rewards in zip(
            ("demo_2", "demo_10"), data["states"], data["actions"], data["rewards"], strict=True
        ):
            demo = group.create_group(name)
            demo.attrs["num_samples"] = len(actions)
            demo["actions"], demo["rewards"] = actions, rewards
            demo["dones"] = np.arange(len(actions)) >= len(actions) - 2  # done, and goes on for a step
            demo["states"] = np.zeros((len(actions), 4))
            for prefix, rows in (("obs", states[:-1]), ("next_obs", states[1:])):
                demo[f"{prefix}/eef_pos"] = rows
                demo[f"{prefix}/agentview_image"] = np.zeros((len(rows), 2, 2, 3), np.uint8)
        file["mask/train"] = np.array([b"demo_2", b"demo_10"])


def write_lerobot(folder: Path, version: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    shutil.rmtree(folder, ignore_errors=True)
    data = recording()
    (folder / "meta").mkdir(parents=True)
    (folder / "data" / "chunk-000").mkdir(parents=True)
    pair = {"dtype": "float32", "shape": [2]}
    single = {"shape": [1], "names": None}
    features = {
        "observation.state": {**pair, "names": MOTORS},
        "action": {**pair, "names": MOTORS if version == "v3.0" else {"motors": MOTORS}},
        "observation.images.top": {"dtype": "video", "shape": [480, 640, 3], "names": ["height", "width", "channels"]},
        "next.reward": {"dtype": "float32", **single},
        "next.done": {"dtype": "bool", **single},
        "timestamp": {"dtype": "float32", **single},
        **{name: {"dtype": "int64", **single} for name in ("frame_index", "episode_index", "index", "task_index")},
    }
    tables = []
    for episode, length in enumerate(LENGTHS):
        frames = np.arange(length)
        size = 2 if version == "v3.0" else -1  # fixed or not, as the two versions write lists
        columns = {
            "observation.state": pa.array(data["states"][episode][:-1].tolist(), pa.list_(pa.float32(), size)),
            "action": pa.array(data["actions"][episode].tolist(), pa.list_(pa.float32(), size)),
            "next.reward": pa.array(data["rewards"][episode], pa.float32()),
            "next.done": pa.array(frames == length - 1),
            "timestamp": pa.array(frames / 10, pa.float32()),
            "frame_index": pa.array(frames),
            "episode_index": pa.array(np.full(length, episode)),
            "index": pa.array(frames + sum(LENGTHS[:episode])),
            "task_index": pa.array(np.zeros(length, int)),
        }
        tables.append(pa.table(columns))
    template = "episode_{episode_index:06d}" if version == "v2.1" else "file-{file_index:03d}"
    chunk = "episode_chunk" if version == "v2.1" else "chunk_index"
    info = {
        "codebase_version": version,
        "robot_type": "so100",
        "total_episodes": len(LENGTHS),
        "total_frames": sum(LENGTHS),
        "fps": 10,
        "data_path": f"data/chunk-{{{chunk}:03d}}/{template}.parquet",
        "features": features,
    }
    (folder / "meta" / "info.json").write_text(json.dumps(info, indent=1) + "\n")
    if version == "v2.1":
        rows = [{"episode_index": e, "tasks": ["reach"], "length": length} for e, length in enumerate(LENGTHS)]
        (folder / "meta" / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for episode, table in enumerate(tables):
            parquet.write_table(table, folder / "data" / "chunk-000" / f"episode_{episode:06d}.parquet")
        return
    begins = np.cumsum([0, *LENGTHS])
    listed = {
        "episode_index": np.arange(len(LENGTHS)),
        "length": np.array(LENGTHS),
        "dataset_from_index": begins[:-1],
        "dataset_to_index": begins[1:],
    }
    (folder / "meta" / "episodes" / "chunk-000").mkdir(parents=True)
    parquet.write_table(pa.table(listed), folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet")
    parquet.write_table(pa.concat_tables(tables), folder / "data" / "chunk-000" / "file-000.parquet")


if __name__ == "__main__":
    write_d4rl(HERE / "d4rl.hdf5")
    write_robomimic(HERE / "robomimic.hdf5")
    write_lerobot(HERE / "lerobot-v2.1", "v2.1")
    write_lerobot(HERE / "lerobot-v3.0", "v3.0")
