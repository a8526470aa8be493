"""What is saved comes back bit for bit, and other programs can read it."""

from __future__ import annotations

import json
import os
import stat
import warnings
from pathlib import Path

import numpy as np
import pytest
import safetensors
from hypothesis import HealthCheck, given, settings
from safetensors.numpy import load_file

from tests.logs import random_log
from tests.store.models import ARRAYS, OPTIONS, models, part, random_model
from tripletree import TripleTree
from tripletree.errors import ModelFileError, ParameterError, TripleTreeWarning
from tripletree.log.schema import Action, Feature
from tripletree.model.fitted import Fitted
from tripletree.store import load, save


def assert_same(one: Fitted, other: Fitted) -> None:
    assert one.schema == other.schema
    # As texts: 1, 1.0 and True are equal, but not the same.
    assert json.dumps(one.options) == json.dumps(other.options)
    assert json.dumps(one.provenance) == json.dumps(other.provenance)
    for name in ARRAYS:
        a, b = part(one, name), part(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), name


@given(model=models)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_model_comes_back_bit_for_bit(model: Fitted, tmp_path: Path) -> None:
    path = tmp_path / "model.tripletree"
    save(model, path)
    assert_same(load(path), model)
    with safetensors.safe_open(path, "numpy") as file:
        assert json.loads(file.metadata()["schema"])["features"][0]["name"] == model.schema.features[0].name
        for name in file.keys():  # noqa: SIM118 - not a dict
            assert file.get_tensor(name).tobytes() == part(model, name).tobytes()
    save(load(path), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_safetensors_reads_every_array(tmp_path: Path) -> None:
    model = random_model(1, action=Action("continuous", ("a", "b"), units=("N", "")))
    save(model, tmp_path / "model.tripletree")
    arrays = load_file(tmp_path / "model.tripletree")
    assert arrays.keys() == {name for name in ARRAYS if part(model, name) is not None}
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, part(model, name), strict=True)


def test_one_leaf(tmp_path: Path) -> None:
    model = random_model(3, leaves=1, derivative=False, validation=False)
    save(model, tmp_path / "leaf.tripletree")
    back = load(tmp_path / "leaf.tripletree")
    assert back.tree.n_leaves == 1
    assert back.attributes.derivative_mean is None
    assert back.curve_validation is None
    assert_same(back, model)


def test_loaded_arrays_are_read_only_aligned_and_native(tmp_path: Path) -> None:
    save(random_model(4), tmp_path / "model")
    back = load(tmp_path / "model")
    for name in ARRAYS:
        array = part(back, name)
        if array is not None and name not in ("markov", "judged"):  # kept as records of numbers
            assert not array.flags.writeable
            assert array.flags.aligned
            assert array.flags.c_contiguous
            assert array.dtype.isnative
    with pytest.raises(ValueError, match="read-only"):
        back.tree.threshold[0] = 1


def test_layout_of_the_array_does_not_matter(tmp_path: Path) -> None:
    model = random_model(5, leaves=9)
    save(model, tmp_path / "one")
    strided = np.asfortranarray(model.attributes.impurity)
    object.__setattr__(model.attributes, "impurity", strided)
    object.__setattr__(model.tree, "quality", np.repeat(model.tree.quality, 2)[::2])
    save(model, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_many_features(tmp_path: Path) -> None:
    model = random_model(6, features=tuple(Feature(f"sensor {i}", "mV") for i in range(1000)), leaves=20)
    save(model, tmp_path / "wide")
    assert_same(load(tmp_path / "wide"), model)


def test_a_loaded_model_predicts_the_same_leaves(tmp_path: Path) -> None:
    model = random_model(7, leaves=20)
    save(model, tmp_path / "model")
    low, high = model.feature_min, model.feature_max
    states = np.random.default_rng(0).uniform(low, high, (500, 2))
    np.testing.assert_array_equal(load(tmp_path / "model").tree.apply(states), model.tree.apply(states))


@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
@pytest.mark.parametrize(("dimensions", "leaf_features"), [(0, None), (2, None), (2, 1)])
def test_a_loaded_tree_says_the_same_bit_for_bit(
    leaf_model: str, dimensions: int, leaf_features: int | None, tmp_path: Path
) -> None:
    log = random_log(5, lengths=(40, 30, 50, 60), features=3, dimensions=dimensions)
    tree = TripleTree(12, truncation="paper", leaf_model=leaf_model, leaf_features=leaf_features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        model = tree.fit(log).fitted_
    assert model.linear is not None
    assert model.linear.slope.any()
    save(model, tmp_path / "model")
    back = load(tmp_path / "model")
    assert_same(back, model)
    for size in (1, 5, 12):
        one, other = back.truncate(size), model.truncate(size)
        leaf = other.tree.apply(log.states)
        assert one.told(log.states, leaf).tobytes() == other.told(log.states, leaf).tobytes()
        assert one.spread.tobytes() == other.spread.tobytes()


def test_paths_as_text_and_with_strange_names(tmp_path: Path) -> None:
    for name in ("plain", "größe ✓.tripletree", "with space", "n" * 255):
        save(random_model(8), str(tmp_path / name))
        assert load(str(tmp_path / name)).tree.n_leaves == 5


@pytest.mark.parametrize("path", [0, None, b"model", ""])
def test_what_is_no_path_is_refused(path: object) -> None:
    with pytest.raises(ParameterError, match=r'Expected .*, got .* Try path="model.tripletree"'):
        save(random_model(1), path)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r'Expected .*, got .* Try path="model.tripletree"'):
        load(path)  # type: ignore[arg-type]


def test_null_byte_in_path() -> None:
    with pytest.raises(ModelFileError, match="null"):
        load("a\0b")
    with pytest.raises(ModelFileError, match="null"):
        save(random_model(1), "a\0b")


def test_permissions(tmp_path: Path) -> None:
    path = tmp_path / "model"
    mask = os.umask(0o022)
    try:
        save(random_model(1), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        path.chmod(0o600)
        save(random_model(2), path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_save_follows_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    link = tmp_path / "latest.tripletree"
    link.symlink_to("deep/model.tripletree")
    save(random_model(1), link)
    save(random_model(2), link)
    assert link.is_symlink()
    assert_same(load(link), random_model(2))
    assert_same(load(tmp_path / "deep" / "model.tripletree"), random_model(2))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"theta": (1, 1, 1)}, r"`options` holds \(1, 1, 1\) of type tuple; only JSON types"),
        ({"n": np.int64(3)}, "of type int64; only JSON types"),
        ({"gamma": float("nan")}, "holds nan; numbers must be finite"),
        ({1: "a"}, "has the key 1; keys must be strings"),
        ({"seed": 2**64}, "an integer of more than 64 bits"),
        ({"name": "\ud800"}, "not Unicode"),
        ({"name": "x" * 2**20}, "at most 1,048,576"),
        ([], "`options` must be an object"),
        ({"theta": [1, 1, 1]}, "`options` lacks `max_leaves`"),
        (OPTIONS | {"gamma": 2}, "option `gamma` must be a number from 0 to 1, got 2"),
    ],
)
def test_what_a_file_would_not_give_back_is_not_saved(options: object, text: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(random_model(1), path)
    with pytest.raises(ModelFileError, match=f"Cannot save the model to '.*model': .*{text}"):
        save(random_model(2, options=options), path)  # type: ignore[arg-type]
    assert_same(load(path), random_model(1))
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_nested_without_end(tmp_path: Path) -> None:
    options: dict[str, object] = {}
    options["self"] = options
    with pytest.raises(ModelFileError, match="`options` is nested too deeply"):
        save(random_model(1, options=options), tmp_path / "model")


def test_wrong_dtype_and_wrong_counts_are_not_saved(tmp_path: Path) -> None:
    model = random_model(1)
    object.__setattr__(model.tree, "left", model.tree.left.astype(np.int64))
    with pytest.raises(ModelFileError, match=r"`tree.left` must be an array of int32, got int64"):
        save(model, tmp_path / "model")
    model = random_model(1)
    assert model.linear is not None
    object.__setattr__(model.linear, "slope", model.linear.slope.astype(np.float64))
    with pytest.raises(ModelFileError, match=r"`linear.slope` must be an array of float32, got float64"):
        save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="predict by linear models, and it holds none"):
        save(random_model(1, linear=False, options=OPTIONS | {"leaf_model": "linear"}), tmp_path / "model")
    model = random_model(1)
    count = model.attributes.count.copy()
    count[1] += 1
    object.__setattr__(model.attributes, "count", count)
    with pytest.raises(ModelFileError, match="not add up to"):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
