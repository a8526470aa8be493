"""Files whose layout is right and whose numbers cannot come from growth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.hostile.forge import all_arrays, array, split, with_array, with_arrays
from tripletree.store import load

Refused = Callable[[bytes, str], None]


def inner(good: bytes) -> list[int]:
    return [int(node) for node in np.flatnonzero(array(good, "tree.left") >= 0)]


def leaf(good: bytes) -> int:
    return int(np.flatnonzero(array(good, "tree.left") < 0)[0])


def spoiled(good: bytes, name: str, place: Any, value: Any) -> bytes:
    new = array(good, name)
    before = new.copy()
    new[place] = value
    assert before.tobytes() != new.tobytes()
    return with_array(good, name, new)


@pytest.mark.parametrize("child", [-2, -(2**31), 0, 2, 11, 12, 2**31 - 2, 2**31 - 1, -1])
def test_children_out_of_range(child: int, good: bytes, refused: Refused) -> None:
    refused(spoiled(good, "tree.left", 0, child), "child|used twice")


def test_every_wrong_child_of_every_node(good: bytes, refused: Refused) -> None:
    left = array(good, "tree.left")
    for node in range(len(left)):
        for child in range(-2, len(left) + 2):
            if child != left[node]:
                refused(spoiled(good, "tree.left", node, child), "child|used twice")


def test_cycle(good: bytes, refused: Refused) -> None:
    # The last split node becomes its own descendant: it takes the pair of children that it is one of.
    left = array(good, "tree.left")
    order = np.argsort(np.where(left < 0, 99, left))[:5]
    last = order[-1]
    above = next(node for node in order if left[node] <= last <= left[node] + 1)
    left[last], left[above] = left[above], left[last]
    refused(with_array(good, "tree.left", left), "a child comes before its parent")


def test_two_parents_of_one_child(good: bytes, refused: Refused) -> None:
    one, two = inner(good)[:2]
    left = array(good, "tree.left")
    refused(spoiled(good, "tree.left", one, left[two]), "used twice")


@pytest.mark.parametrize("feature", [-2, -1, 2, 1000, 2**31 - 1, -(2**31)])
def test_feature_out_of_range(feature: int, good: bytes, refused: Refused) -> None:
    refused(spoiled(good, "tree.feature", 0, feature), r"a node splits on a feature outside 0 \.\.\. 1")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(number: float, good: bytes, continuous: bytes, refused: Refused) -> None:
    checked = set()
    for data in (good, continuous):
        for name, values in all_arrays(data).items():
            if values.dtype.kind == "f" and name not in ("linear.low", "linear.high"):  # these may be infinite
                refused(spoiled(data, name, (-1,) * values.ndim, number), "finite|NaN or infinity|no whole number")
                checked.add(name)
    assert len(checked) == 30


def test_negative_spreads(good: bytes, continuous: bytes, refused: Refused) -> None:
    spreads = {"action_scale", "derivative_scale", "curve_training", "curve_validation"}
    spreads |= {f"attributes.{name}" for name in ("action_std", "value_std", "derivative_std", "impurity")}
    for name in spreads:
        data = continuous if "action" in name else good
        refused(spoiled(data, name, (0,) * array(data, name).ndim, -1e-300), f"`{name.split('.')[-1]}` .* negative")
    refused(spoiled(good, "attributes.state_mean", (0, 0), 1e6), "`state_mean` lies outside")
    refused(spoiled(good, "tree.quality", 0, -1e-17), "a split's quality")


def test_leaf_that_pretends_to_split(good: bytes, refused: Refused) -> None:
    node = leaf(good)
    refused(spoiled(good, "tree.feature", node, 0), "a leaf has a feature")
    refused(spoiled(good, "tree.threshold", node, 1.0), "a leaf has a feature")
    refused(spoiled(good, "tree.quality", node, 1.0), "a leaf has a feature")


def test_threshold_outside_the_log(good: bytes, refused: Refused) -> None:
    low, high = array(good, "feature_min"), array(good, "feature_max")
    feature = array(good, "tree.feature")[0]
    for number in (low[feature], np.nextafter(high[feature], np.inf), 1e308):
        refused(spoiled(good, "tree.threshold", 0, number), "a threshold lies outside the range of its feature")


def test_empty_box(good: bytes, refused: Refused) -> None:
    # Two splits of one feature, one below the other, at the same threshold.
    feature, left, threshold = (array(good, f"tree.{name}") for name in ("feature", "left", "threshold"))
    pairs = [(a, b) for a in inner(good) for b in (left[a], left[a] + 1) if left[b] >= 0 and feature[a] == feature[b]]
    assert pairs
    for above, below in pairs:
        refused(spoiled(good, "tree.threshold", below, threshold[above]), "one side of the split is empty")


def test_range_upside_down(good: bytes, refused: Refused) -> None:
    refused(spoiled(good, "feature_min", 0, array(good, "feature_max")[0] + 1), "`feature_min` is above `feature_max`")


@pytest.mark.parametrize("name", ["count", "count_derivative", "action_count"])
@pytest.mark.parametrize("change", [1, -1, -(2**40), 2**40, 2**62, -(2**63) + 1])
def test_counts_that_do_not_add_up(name: str, change: int, good: bytes, refused: Refused) -> None:
    counts = array(good, f"attributes.{name}")
    for node in range(len(counts)):
        new = counts.copy()
        new[node] += change
        refused(with_array(good, f"attributes.{name}", new), "count")


def test_weights_that_do_not_fit(weighted: bytes, refused: Refused) -> None:
    for name in ("weight", "weight_derivative", "action_weight"):
        weights = array(weighted, f"attributes.{name}")
        for change in (1, -1, 2**40, 2**62, -(2**63) + 1):
            for node in range(len(weights)):
                new = weights.copy()
                new[node] += change
                refused(with_array(weighted, f"attributes.{name}", new), "weight")
    refused(spoiled(weighted, "transitions.weight", 0, 0.0), "a transition has the weight 0")
    refused(spoiled(weighted, "transitions.weighted_starts", 0, 1e9), "`transitions.weighted_starts` must hold finite")
    refused(spoiled(weighted, "track.weights", 0, -1.0), "`track.weights` must hold finite numbers from 0")


def test_counts_that_would_wrap_around(good: bytes, refused: Refused) -> None:
    # 2^63 + 2^63 = 0 (mod 2^64): sums alone would not notice.
    header, arrays = split(good)[0], all_arrays(good)
    first, second = arrays["attributes.action_count"][leaf(good)]
    arrays["attributes.action_count"][leaf(good)] = first - 2**62 - 2**62, second - 2**62 - 2**62
    refused(with_arrays(header, arrays), "do not add up to its count")
    left = arrays["tree.left"][0]
    count = all_arrays(good)["attributes.count"]
    count[left] += 2**62
    count[left + 1] -= 2**62
    refused(with_array(good, "attributes.count", count), "a node's count is outside")


def test_every_count_zero(good: bytes, refused: Refused) -> None:
    header, arrays = split(good)[0], all_arrays(good)
    for name in ("count", "count_derivative", "action_count"):
        arrays[f"attributes.{name}"][:] = 0
    refused(with_arrays(header, arrays), r"a node's count is outside 1 \.\.\.")


def test_derivatives_without_samples(good: bytes, continuous: bytes, refused: Refused) -> None:
    text = "derivatives must be present if, and only if"
    known = array(good, "attributes.count_derivative")
    refused(with_array(good, "attributes.count_derivative", known * 0), text)
    count = array(continuous, "attributes.count")
    refused(with_array(continuous, "attributes.count_derivative", count), text)


def chain(good: bytes, leaves: int, labels: int = 2) -> bytes:
    """Return a file with the deepest tree of so many leaves: every split cuts one sample off."""
    header, nodes = split(good)[0], 2 * leaves - 1
    header["__metadata__"]["options"]["leaf_model"] = "mean"
    left = np.full(nodes, -1, np.int32)
    spine = np.arange(0, nodes - 1, 2)
    left[spine] = spine + 1
    count = np.ones(nodes, np.int64)
    count[::2] = np.arange(leaves, 0, -1)
    threshold = np.zeros(nodes)
    threshold[spine] = np.arange(1, leaves)
    zeros = np.zeros(nodes)
    arrays: dict[str, npt.NDArray[Any]] = {
        "tree.feature": np.where(left < 0, -1, 0).astype(np.int32),
        "tree.threshold": threshold,
        "tree.left": left,
        "tree.quality": zeros,
        "attributes.count": count,
        "attributes.count_derivative": np.zeros(nodes, np.int64),
        "attributes.action_count": np.stack([count, 0 * count], axis=1),
        "attributes.value_mean": zeros,
        "attributes.value_std": zeros,
        "attributes.impurity": np.zeros((nodes, 3)),
        "attributes.state_mean": np.zeros((nodes, 2)),
        "feature_min": np.zeros(2),
        "feature_max": np.full(2, float(leaves)),
        "derivative_scale": np.zeros(2),
        "curve_training": np.zeros((leaves, 3)),
    }
    return with_arrays(header, arrays)


def test_deepest_tree_loads(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "chain"
    path.write_bytes(chain(good, 50_000))
    assert load(path).tree.n_leaves == 50_000


@pytest.mark.parametrize(
    ("name", "place", "value", "text"),
    [
        ("source", 0, -1, "leaf that does not exist"),
        ("source", -1, 6, "leaf that does not exist"),
        ("target", 0, 7, "leaf that does not exist"),
        ("target", 0, -(2**31), "leaf that does not exist"),
        ("count", 0, 0, "was never seen"),
        ("count", 0, -1, "outside 0"),
        ("count", 0, 2**63 - 1, "outside 0"),
        ("steps", 0, 2**40, "do not add up to the samples"),
        ("censored", 0, 2**40, "censored_steps"),
        ("censored_steps", 0, 2**40, "censored|stays"),
        ("stays", 0, 2**40, "stays"),
        ("starts", slice(None), 0, "left more often than it is entered"),
        ("samples", 0, 2**40, "do not add up to the samples"),
    ],
)
def test_transitions_that_no_log_has(
    name: str, place: Any, value: int, text: str, good: bytes, refused: Refused
) -> None:
    refused(spoiled(good, f"transitions.{name}", place, value), text)


def test_transitions_out_of_order(good: bytes, refused: Refused) -> None:
    source, target = array(good, "transitions.source"), array(good, "transitions.target")
    place = np.flatnonzero(source[1:] == source[:-1])[0]
    refused(spoiled(good, "transitions.target", place, target[place + 1]), "not sorted|to itself")


@pytest.mark.parametrize(
    ("place", "value", "text"),
    [(0, 1.5, "share above 1"), (1, np.nan, "finite"), (2, 0.5, "no whole number"), (5, -1, "finite")],
)
def test_checks_that_cannot_be(place: int, value: float, text: str, good: bytes, refused: Refused) -> None:
    refused(spoiled(good, "markov", place, value), text)


def test_half_of_the_transitions(good: bytes, refused: Refused) -> None:
    arrays = all_arrays(good)
    del arrays["transitions.stays"]
    refused(with_arrays(split(good)[0], arrays), "it lacks the array .transitions.stays")
