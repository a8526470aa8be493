from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import ParameterError
from tripletree.questions.about import About, read_about


@pytest.fixture(scope="module")
def discrete():
    return quietly_fitted(random_log(1), max_leaves=6).fitted_


@pytest.fixture(scope="module")
def continuous():
    return quietly_fitted(random_log(1, dimensions=2), max_leaves=6).fitted_


def test_every_attribute_has_a_name(discrete, continuous):
    assert read_about(discrete, "action") == About("action")
    assert read_about(discrete, "value") == About("value")
    assert read_about(discrete, "derivative of x1") == About("derivative", (1,))
    assert read_about(discrete, "derivative") == About("derivative", (0, 1))
    assert read_about(continuous, "action") == About("action", (0, 1))
    assert read_about(continuous, "a1") == About("action", (1,))


def test_what_nodes_predict(discrete, continuous):
    nodes = discrete.tree.leaf_nodes[[2, 0]]
    at, more = discrete.attributes, continuous.attributes
    assert About("action").mean(discrete, nodes).tolist() == at.action_count[nodes].argmax(axis=1)[:, None].tolist()
    assert About("value").mean(discrete, nodes).tolist() == at.value_mean[nodes][:, None].tolist()
    assert About("value").std(discrete, nodes).tolist() == at.value_std[nodes][:, None].tolist()
    nodes = continuous.tree.leaf_nodes
    assert np.array_equal(About("action", (1,)).mean(continuous, nodes), more.action_mean[nodes, 1:])
    assert np.array_equal(About("action", (0, 1)).std(continuous, nodes), more.action_std[nodes])
    assert np.array_equal(About("derivative", (1, 0)).mean(continuous, nodes), more.derivative_mean[nodes][:, ::-1])


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ("valeu", "Did you mean `value`"),
        ("x1", "Did you mean `derivative of x1`"),
        ("derivative of x9", "Did you mean `derivative of x"),
        (None, "about must be one of `action`, `value`, `derivative`, `derivative of x0`"),
        ([1.0], "got \\[1.0\\]"),
    ],
)
def test_unknown_attributes(discrete, about, message):
    with pytest.raises(ParameterError, match=message):
        read_about(discrete, about)


def test_a_tree_without_derivatives():
    fitted = quietly_fitted(make_log([[0.0], [1.0]], [0, 1], [0, 1], [0, 1, 2], labels=("a", "b"))).fitted_
    with pytest.raises(ParameterError, match="this tree has none"):
        read_about(fitted, "derivative")
