"""Linear models that no fit makes: each is refused in plain words, and predictions of what loads are numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.hostile.forge import all_arrays, split, with_arrays
from tests.store.models import OPTIONS
from tripletree.store import load

Refused = Callable[[bytes, str], None]
PARTS = ("centre", "slope", "low", "high", "spread")
FULL = "linear.full"


def with_part(data: bytes, name: str, place: Any, value: Any) -> bytes:
    """Return the file with other numbers in one array of its linear models."""
    arrays = all_arrays(data)
    arrays[f"linear.{name}"][place] = value
    return with_arrays(split(data)[0], arrays)


def without(data: bytes, *names: str, leaf_model: str = "linear") -> bytes:
    """Return the file without some arrays, and with this option."""
    header, arrays = split(data)[0], all_arrays(data)
    header["__metadata__"]["options"]["leaf_model"] = leaf_model
    return with_arrays(header, {name: array for name, array in arrays.items() if name not in names})


@pytest.mark.parametrize(
    ("name", "place", "value", "text"),
    [
        ("centre", (3, 0), np.nan, r"`linear.centre` must hold finite numbers up to 1e\+120"),
        ("centre", (3, 0), np.inf, "`linear.centre` must hold finite numbers"),
        ("centre", (0, -1), -1e121, "`linear.centre` must hold finite numbers"),
        ("slope", (3, 1, 0), np.nan, "`linear.slope` must hold finite numbers"),
        ("slope", (3, 1, 0), np.inf, "`linear.slope` must hold finite numbers"),
        ("slope", (3, 1, 0), -np.inf, "`linear.slope` must hold finite numbers"),
        ("slope", (0, 0, 0), np.inf, "`linear.slope` must hold finite numbers"),
        ("slope", (0, 0, 0), 1e-45, "`linear.slope` of the root must be 0"),
        ("slope", (0, -1, -1), -1.0, "`linear.slope` of the root must be 0"),
        ("low", (2, 0), np.nan, "`linear.low` is above `linear.high`"),
        ("high", (2, 0), np.nan, "`linear.low` is above `linear.high`"),
        ("low", (2, -1), np.inf, "`linear.low` is above `linear.high`"),
        ("high", (2, -1), -np.inf, "`linear.low` is above `linear.high`"),
        ("spread", (2, 0), np.nan, "`linear.spread` must hold finite numbers"),
        ("spread", (2, 0), np.inf, "`linear.spread` must hold finite numbers"),
        ("spread", (2, 0), -1e-45, "`linear.spread` holds a number below 0"),
    ],
)
def test_models_that_no_fit_makes(
    name: str, place: Any, value: float, text: str, good: bytes, continuous: bytes, refused: Refused
) -> None:
    for data in (good, continuous):
        bounded = with_part(with_part(data, "low", ..., 0.0), "high", ..., 1.0)
        refused(with_part(bounded, name, place, value), text)


def test_a_range_upside_down(good: bytes, refused: Refused) -> None:
    bounded = with_part(good, "low", ..., 0.0)
    for node in range(11):
        data = with_part(bounded, "high", ..., 1.0)
        refused(
            with_part(data, "low", (node, -1), np.nextafter(np.float32(1), np.float32(2))), "is above `linear.high`"
        )


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_a_part_is_missing(part: str, leaf_model: str, good: bytes, refused: Refused) -> None:
    refused(without(good, f"linear.{part}", leaf_model=leaf_model), f"it lacks the array 'linear.{part}'")


@pytest.mark.parametrize("part", PARTS)
def test_wrong_shapes(part: str, good: bytes, continuous: bytes, refused: Refused) -> None:
    for data, targets in ((good, 5), (continuous, 3)):
        header, arrays = split(data)[0], all_arrays(data)
        name, array = f"linear.{part}", arrays[f"linear.{part}"]
        assert array.shape[:2] == (len(arrays["tree.left"]), targets)
        wrong: list[npt.NDArray[Any]] = [array[:-1], array[:, :-1], array[:, :, None], array[0], array.reshape(-1)]
        for other in wrong:
            refused(with_arrays(header, arrays | {name: other}), f"array 'linear.{part}' must be F.. of shape")


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.nan, "must hold finite numbers"), (np.inf, "must hold finite numbers"), (-1e-45, "holds a number below 0")],
)
def test_errors_of_models_with_all_features(value: float, text: str, good: bytes, refused: Refused) -> None:
    refused(with_part(good, "full", (2, 0), value), f"`linear.full` {text}")


def test_errors_of_models_with_all_features_are_optional(good: bytes, refused: Refused, tmp_path: Path) -> None:
    header, arrays = split(good)[0], all_arrays(good)
    refused(with_arrays(header, arrays | {FULL: arrays[FULL][:, :-1]}), f"array '{FULL}' must be F32 of shape")
    refused(without(good, *(f"linear.{part}" for part in PARTS)), "it lacks the array 'linear.centre'")
    (tmp_path / "plain").write_bytes(without(good, FULL))
    linear = load(tmp_path / "plain").linear
    assert linear is not None
    assert linear.full is None


def test_linear_leaves_without_models(good: bytes, continuous: bytes, refused: Refused, tmp_path: Path) -> None:
    names = [FULL, *(f"linear.{part}" for part in PARTS)]
    for data in (good, continuous):
        refused(without(data, *names), "its leaves predict by linear models, and it holds none")
        (tmp_path / "means").write_bytes(without(data, *names, leaf_model="mean"))
        fitted = load(tmp_path / "means")
        assert (fitted.linear, fitted.model) == (None, None)


@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_models_without_the_states_that_they_start_from(leaf_model: str, good: bytes, refused: Refused) -> None:
    refused(without(good, "attributes.state_mean", leaf_model=leaf_model), "it holds linear models and lacks")


def test_models_that_wait_beside_the_means(good: bytes, tmp_path: Path) -> None:
    (tmp_path / "means").write_bytes(without(good, leaf_model="mean"))
    fitted = load(tmp_path / "means")
    assert fitted.model is None
    assert fitted.linear is not None
    assert fitted.second is not None


def test_files_of_earlier_formats_lack_the_options(good: bytes, tmp_path: Path, refused: Refused) -> None:
    header, arrays = split(good)[0], all_arrays(good)
    for name in ("leaf_model", "leaf_features"):
        del header["__metadata__"]["options"][name]
    refused(with_arrays(header, arrays), "its `options` lacks `leaf_model`, `leaf_features`")
    header["__metadata__"]["format"] = [1, 3]
    plain = {name: array for name, array in arrays.items() if not name.startswith("linear.")}
    (tmp_path / "old").write_bytes(with_arrays(header, plain))
    fitted = load(tmp_path / "old")
    assert fitted.options == OPTIONS | {"leaf_model": "mean"}
    assert (fitted.linear, fitted.model) == (None, None)


@pytest.mark.parametrize("value", ["quadratic", "", None, 1])
def test_an_unknown_kind_of_leaf(value: object, good: bytes, refused: Refused) -> None:
    header, arrays = split(good)[0], all_arrays(good)
    header["__metadata__"]["options"]["leaf_model"] = value
    refused(with_arrays(header, arrays), "its option `leaf_model` must be")


def test_the_largest_models_that_load_predict_numbers(good: bytes, tmp_path: Path) -> None:
    arrays = all_arrays(good)
    limit = np.finfo(np.float32).max
    arrays["linear.slope"][1:] = limit
    arrays["linear.centre"][:, 2:] = -1e120
    arrays["linear.low"][:, 2:], arrays["linear.high"][:, 2:] = -np.inf, np.inf
    (tmp_path / "large").write_bytes(with_arrays(split(good)[0], arrays))
    fitted = load(tmp_path / "large")
    far = np.array([fitted.feature_min - 1e100, fitted.feature_max + 1e100])
    assert np.isfinite(fitted.told(far, fitted.tree.apply(far))).all()
