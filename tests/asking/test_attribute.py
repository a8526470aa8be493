from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import ParameterError
from tripletree.asking.attribute import known_attributes, read_attribute
from tripletree.language.numbers import measured


@pytest.fixture(scope="module")
def discrete():
    return quietly_fitted(random_log(1), max_leaves=6).fitted_


@pytest.fixture(scope="module")
def continuous():
    return quietly_fitted(random_log(1, dimensions=2), max_leaves=6).fitted_


@pytest.mark.parametrize(
    ("wanted", "key", "kind", "columns", "names", "units"),
    [
        ("action", "action", "action", (), ("action",), ("",)),
        ("value", "value", "value", (), ("value",), ("",)),
        ("derivative of x1", "derivative of x1", "derivative", (1,), ("change of x1",), ("per step",)),
        ("derivative", "derivative", "derivative", (0, 1), ("change of x0", "change of x1"), ("per step", "per step")),
    ],
)
def test_every_attribute_has_a_name(discrete, wanted, key, kind, columns, names, units):
    found = read_attribute(discrete, wanted)
    assert (found.key, found.kind, found.columns, found.names, found.units) == (key, kind, columns, names, units)
    assert found.labels == (discrete.schema.action.labels if wanted == "action" else ())


def test_dimensions_of_an_action(continuous):
    assert read_attribute(continuous, "action").columns == (0, 1)
    assert read_attribute(continuous, "a1").columns == (1,)
    assert read_attribute(continuous, "a1").name == "a1"
    assert read_attribute(continuous, "a1", single=True) is read_attribute(continuous, "a1")


def test_what_nodes_predict(discrete, continuous):
    at, more = discrete.attributes, continuous.attributes
    action, value = read_attribute(discrete, "action"), read_attribute(discrete, "value")
    assert action.mean[:, 0].tolist() == at.action_count.argmax(axis=1).tolist()
    assert action.std[:, 0].tolist() == (at.action_count.max(axis=1) / at.count).tolist()
    assert value.mean[:, 0].tolist() == at.value_mean.tolist()
    assert value.std[:, 0].tolist() == at.value_std.tolist()
    assert value.sigma.tolist() == at.value_std[:1].tolist()
    assert np.array_equal(read_attribute(continuous, "a1").mean, more.action_mean[:, 1:])
    assert np.array_equal(read_attribute(continuous, "action").std, more.action_std)
    assert np.array_equal(read_attribute(continuous, "derivative of x1").mean, more.derivative_mean[:, 1:])
    assert np.array_equal(read_attribute(continuous, "action").sigma, continuous.action_scale)


def test_what_leaves_predict(discrete, continuous):
    action = read_attribute(discrete, "action")
    assert action.leaves.dtype == np.int64
    assert action.leaves.tolist() == discrete.leaves.mode.tolist()
    assert action.purity.tolist() == action.spread.tolist() == discrete.leaves.mode_share.tolist()
    value = read_attribute(continuous, "value")
    assert value.leaves.tolist() == continuous.leaves.value_mean.tolist()
    assert value.largest == continuous.leaves.value_mean.max()
    gone = 1 - (continuous.leaves.value_std / continuous.attributes.value_std[0]) ** 2
    assert value.purity.tolist() == np.maximum(gone, 0).tolist()
    label = discrete.schema.action.labels[action.leaves[2]]
    assert action.told(2) == label
    assert value.told(0) == measured(value.leaves[0], value.spread[0])


def test_a_number_that_never_changes_is_pure():
    log = make_log([[0.0], [1.0], [2.0]], [0, 1, 0], [0, 0, 0], [0, 3], labels=("a", "b"))
    value = read_attribute(quietly_fitted(log).fitted_, "value")
    assert value.sigma[0] == 0
    assert (value.purity == 1).all()


def test_one_number_is_asked_for(discrete, continuous):
    with pytest.raises(
        ParameterError, match="colour must be one number here; name one of `a0`, `a1` instead of 'action'"
    ):
        read_attribute(continuous, "action", "colour", single=True)
    with pytest.raises(ParameterError, match="name one of `derivative of x0`, `derivative of x1`"):
        read_attribute(discrete, "derivative", single=True)
    assert read_attribute(discrete, "action", single=True).labels


def test_all_names_are_understood(discrete, continuous):
    for fitted in (discrete, continuous):
        known = known_attributes(fitted)
        assert len(known) == len(set(known))
        assert {read_attribute(fitted, name).key for name in known} == set(known)


def test_other_names_are_listed_where_they_are_allowed(discrete):
    with pytest.raises(ParameterError, match=r"`density`; got 'densty'. Did you mean `density`"):
        read_attribute(discrete, "densty", "colour", also=("density",))


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ("valeu", "Did you mean `value`"),
        ("x1", "Did you mean `derivative of x1`"),
        ("derivative of x9", "Did you mean `derivative of x"),
        (None, "about must be 'action', 'value', 'derivative', 'derivative of x0' or 'derivative of x1'; got None"),
        ([1.0], "got \\[1.0\\]"),
    ],
)
def test_unknown_attributes(discrete, about, message):
    with pytest.raises(ParameterError, match=message):
        read_attribute(discrete, about)


def test_a_tree_without_derivatives():
    fitted = quietly_fitted(make_log([[0.0], [1.0]], [0, 1], [0, 1], [0, 1, 2], labels=("a", "b"))).fitted_
    with pytest.raises(ParameterError, match="about is 'derivative', but this tree knows no derivatives"):
        read_attribute(fitted, "derivative")
