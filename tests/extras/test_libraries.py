"""What ``make test-extras`` promises to try is there."""

from __future__ import annotations

import pytest

LIBRARIES = (
    *("gymnasium", "Box2D", "mujoco", "torch", "stable_baselines3", "sb3_contrib"),
    *("onnx", "onnxruntime", "minari", "h5py", "polars", "d3rlpy", "shap"),
)


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.filterwarnings("ignore")
def test_the_library_can_be_imported(need, name):
    assert need(name).__name__ == name
