"""What readers share: episodes that become one table, optional libraries, images."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree.errors import LogError, MissingDependencyError
from tripletree.log.sources import Stack, library, refuse_images


def test_episodes_become_one_table() -> None:
    stack = Stack("a recording")
    stack.add(2, {"obs": np.array([[1, 2], [3, 4], [5, 6]]), "reward": np.ones(2)}, "a")
    stack.add(0, {"obs": np.zeros((1, 2)), "reward": np.ones(0)}, "nothing")
    stack.add(1, {"obs": np.array([[7, 8]]), "reward": np.zeros(1)}, "b")
    stack.add(1, {"obs": np.array([[9, 9]]), "reward": np.zeros(1)}, "c", {"obs": np.array([0, 1])})
    table = stack.table(["obs"])
    assert table.names == ["obs", "reward"]
    assert table.columns[0].tolist() == [[1, 2], [3, 4], [7, 8], [9, 9]]
    assert table.starts is not None
    assert table.starts.tolist() == [0, 2, 3, 4]
    assert table.finals is not None
    np.testing.assert_array_equal(table.finals["obs"], [[5, 6], [np.nan, np.nan], [0, 1]])
    assert table.ids is not None
    assert table.ids.tolist() == ["a", "b", "c"]


def test_names_that_come_twice_are_numbers() -> None:
    stack = Stack("a recording")
    for _ in range(2):
        stack.add(1, {"obs": np.ones((1, 2))}, "same")
    ids = stack.table(["obs"]).ids
    assert ids is not None
    assert ids.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"obs": np.ones((1, 2))},
            r"episode 1 differs from the first one in `reward`; all episodes must have the same",
        ),
        (
            {"obs": np.ones((1, 3)), "reward": np.ones(1)},
            r"`obs` of episode 1 has rows of shape \(3,\), and of \(2,\) in",
        ),
        (
            {"obs": np.ones((3, 2)), "reward": np.ones(1)},
            "`obs` of episode 1 has 3 rows for 1 action; expected as many",
        ),
    ],
)
def test_episodes_that_do_not_fit(columns: dict[str, np.ndarray], message: str) -> None:
    stack = Stack("a recording")
    stack.add(1, {"obs": np.ones((1, 2)), "reward": np.ones(1)}, 0)
    with pytest.raises(LogError, match=f"a recording: {message}"):
        stack.add(1, columns, 1)


def test_nothing_at_all() -> None:
    with pytest.raises(LogError, match="a recording holds no episode with at least one step"):
        Stack("a recording").table(["obs"])


def test_a_library_that_is_not_there() -> None:
    assert library("json", "Reading this", "json").__name__ == "json"
    with pytest.raises(MissingDependencyError, match=r"^Reading this needs nowhere\. Type: pip install nowhere$"):
        library("nowhere.inside", "Reading this", "nowhere")


def test_images_have_more_dimensions_than_states() -> None:
    refuse_images("obs", (5, 2), "a recording")
    with pytest.raises(LogError, match=r"`obs` of a recording holds images or other blocks \(8 x 8 values a step\)"):
        refuse_images("obs", (5, 8, 8), "a recording")
