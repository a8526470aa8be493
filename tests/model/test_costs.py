"""Costs between labels: in the impurity, in growth, in losses, in files; and unit costs change nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripletree import (
    Log,
    ModelFileError,
    ParameterError,
    TripleTree,
    TripleTreeWarning,
    compare_weights,
    load,
    read_log,
)
from tripletree.model.fitted import Fitted
from tripletree.questions.stability import stability
from tripletree.store import save
from tripletree.tree.costs import cost_matrix, embedded, growth_costs, in_words, named_costs

LABELS = ("left", "none", "right")
FAR = {("left", "right"): 3.0, ("right", "left"): 3.0}


def steering(seed: int = 0, steps: int = 600, noise: float = 0.15, labels: tuple[str, ...] = LABELS) -> Log:
    """An agent that steers by where it is, and sometimes does anything."""
    rng = np.random.default_rng(seed)
    states = np.round(rng.normal(size=(steps, 3)), 3)
    label = np.searchsorted(np.linspace(-1, 1, len(labels) - 1), states[:, 0] + 0.2 * states[:, 1])
    label = np.where(rng.random(steps) < noise, rng.integers(len(labels), size=steps), label)
    return Log.from_arrays(
        states, np.array(labels)[label], states[:, 2], starts=np.arange(0, steps, 20), feature_names=["x", "y", "z"]
    )


def fit(log: Log, validation: Log | None = None, **options: object) -> TripleTree:
    """Fit without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(**{"max_leaves": 15, "threads": 1, **options}).fit(log, validation)


def same_tree(one: Fitted, other: Fitted) -> None:
    for name in ("feature", "threshold", "left", "quality"):
        assert getattr(one.tree, name).tolist() == getattr(other.tree, name).tolist()


def generalised_gini(counts: np.ndarray, costs: np.ndarray) -> float:
    """By its definition: the mean cost of one sample's label for another's, both drawn with replacement."""
    share = counts / counts.sum()
    return sum(costs[a, b] * share[a] * share[b] for a in range(len(share)) for b in range(len(share)))


def test_impurity_of_three_labels_by_hand():
    # 2 left, 1 none, 1 right: 2 (1/2 1/4 1 + 1/2 1/4 3 + 1/4 1/4 1) = 1.125, where Gini is 0.625.
    log = Log.from_arrays([[0.0], [1.0], [2.0], [3.0]], ["left", "none", "right", "left"], [0, 0, 0, 0], starts=[0])
    assert fit(log, max_leaves=1).fitted_.attributes.impurity[0, 0] == pytest.approx(0.625)
    assert fit(log, max_leaves=1, costs=FAR).fitted_.attributes.impurity[0, 0] == pytest.approx(1.125)
    # Where one direction costs 5 and the other 1, growth takes the mean of both.
    uneven = fit(log, max_leaves=1, costs={("left", "right"): 5.0})
    assert uneven.fitted_.attributes.impurity[0, 0] == pytest.approx(1.125)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), labels=st.integers(2, 7), whole=st.booleans())
def test_the_variance_of_the_points_is_the_impurity(seed, labels, whole):
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 4, (labels, labels)).astype(float) if whole else rng.random((labels, labels)) * 10
    np.fill_diagonal(costs, 0)
    costs[0, 1] += 1.0
    mean = (costs + costs.T) / 2
    growth = growth_costs(costs)
    np.testing.assert_allclose(growth.matrix, mean + growth.added * (1 - np.eye(labels)), atol=1e-12)
    # The least that will do: about 1e-6 less, and a variance would be negative.
    centre = np.eye(labels) - 1 / labels
    lowest = np.linalg.eigvalsh(-centre @ mean @ centre)[0]
    assert growth.added == pytest.approx(max(-lowest, 0.0), abs=3e-6 * mean.max())
    points = embedded(growth.matrix)
    points = np.eye(labels) if points is None else points
    for shares in rng.dirichlet(np.ones(labels), 5):
        variance = shares @ (points - shares @ points) ** 2
        expected = generalised_gini(shares, growth.matrix)
        assert variance.sum() * growth.matrix.max() == pytest.approx(expected, rel=1e-6, abs=1e-7 * mean.max())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("priority", ["impurity", "gain"])
def test_growth_against_brute_force(seed, priority):
    rng = np.random.default_rng(seed)
    labels = ("a", "b", "c", "d")[: 3 + seed % 2]
    log = steering(seed, 80, 0.3, labels)
    given_costs = rng.integers(1, 7, (len(labels), len(labels))) * (1 - np.eye(len(labels), dtype=int))
    tree = fit(log, max_leaves=8, theta=(1, 0, 0), costs=given_costs, priority=priority).fitted_
    costs = growth_costs(given_costs.astype(float)).matrix

    def impurity(rows: np.ndarray) -> float:
        return generalised_gini(np.bincount(log.actions[rows], minlength=len(labels)), costs)

    def gained(rows: np.ndarray, left: np.ndarray) -> float:
        parts = rows[left], rows[~left]
        return impurity(rows) - sum(len(part) * impurity(part) for part in parts) / len(rows)

    def best(rows: np.ndarray) -> float:
        cuts = [(f, cut) for f in range(3) for cut in np.unique(log.states[rows, f])[1:]]
        return max((gained(rows, log.states[rows, f] < cut) for f, cut in cuts), default=0.0)

    whole, rows_of = impurity(np.arange(log.n_samples)), {0: np.arange(log.n_samples)}
    open_nodes = {0}
    for node in tree.tree.split_order.tolist():
        rows = rows_of[node]
        left = log.states[rows, tree.tree.feature[node]] < tree.tree.threshold[node]
        here, quality = gained(rows, left), tree.tree.quality[node]
        assert here == pytest.approx(best(rows), rel=1e-5)
        assert quality == pytest.approx(here / whole, rel=1e-5)
        urge = {other: len(rows_of[other]) * (best if priority == "gain" else impurity)(rows_of[other])
                for other in open_nodes}  # fmt: skip
        assert urge[node] == pytest.approx(max(urge.values()), rel=1e-5)
        child = int(tree.tree.left[node])
        rows_of |= {child: rows[left], child + 1: rows[~left]}
        open_nodes = open_nodes - {node} | {child, child + 1}
    for node, rows in rows_of.items():
        assert tree.attributes.impurity[node, 0] == pytest.approx(impurity(rows), abs=1e-12)


@pytest.mark.parametrize("unit", [{}, {("left", "none"): 1}, 1 - np.eye(3)])
def test_unit_costs_change_no_bit(unit):
    log = steering()
    plain, one = fit(log).fitted_, fit(log, costs=unit).fitted_
    same_tree(plain, one)
    assert plain.curve_training.tolist() == one.curve_training.tolist()
    assert plain.attributes.impurity.tolist() == one.attributes.impurity.tolist()
    assert one.options["costs"] is None


@pytest.mark.parametrize("costs", [1 - np.eye(3), np.array([[0, 1, 3], [2, 0, 1], [3, 0.5, 0]])])
@pytest.mark.parametrize("leaf_model", ["mean", "linear"])
def test_the_unit_of_costs_does_not_matter_to_growth(costs, leaf_model):
    log, other = steering(), steering(1)
    one, many = (fit(log, costs=costs * unit, leaf_model=leaf_model) for unit in (1.0, 8.0))
    same_tree(one.fitted_, many.fitted_)
    np.testing.assert_allclose(many.losses(other, "all"), one.losses(other, "all") * [8, 1, 1], rtol=1e-12)
    assert many.score(other) == pytest.approx(one.score(other), rel=1e-12)


def test_weights_and_costs_together_mean_copies():
    log = steering(3, 200)
    copies = np.random.default_rng(0).integers(1, 4, log.n_episodes)
    repeated = log.select(np.repeat(np.arange(log.n_episodes), copies))
    weights = np.repeat(copies, np.diff(log.starts)).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        weighted = TripleTree(10, costs=FAR, leaf_model="mean").fit(log, weights=weights)
    plain = fit(repeated, max_leaves=10, costs=FAR, leaf_model="mean")
    assert weighted.tree_.threshold.tolist() == plain.tree_.threshold.tolist()
    np.testing.assert_allclose(weighted.fitted_.curve_training, plain.fitted_.curve_training)
    np.testing.assert_allclose(weighted.losses(log.weighted(weights)), plain.losses(repeated))


def test_costly_confusion_is_split_first():
    # x tells left from right, but not when to do nothing; y tells that, for more of the steps.
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (2, 2_000))
    action = np.where(y < 0.2, "none", np.where(x < 0, "left", "right"))
    log = Log.from_arrays(np.column_stack([x, y]), action, np.zeros(2_000), starts=[0], feature_names=["x", "y"])
    assert fit(log, max_leaves=2, theta=(1, 0, 0)).tree_.feature[0] == 1
    costly = {("left", "right"): 20, ("right", "left"): 20}
    assert fit(log, max_leaves=2, theta=(1, 0, 0), costs=costly).tree_.feature[0] == 0


@pytest.mark.parametrize("leaf_model", ["mean", "linear"])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_by_definition(leaf_model, weighted):
    costs = np.array([[0, 1, 5], [0.5, 0, 0.25], [3, 2, 0]])
    log, other = steering(), steering(1)
    tree = fit(log, other, costs=costs, leaf_model=leaf_model, early_stopping=False)
    # `up` is unknown to the tree: whatever it says there costs the most.
    names = np.array(other.schema.action.labels)[other.actions]
    names[::7] = "up"
    weights = np.random.default_rng(0).random(other.n_samples) if weighted else None
    other = Log.from_arrays(
        other.states, names, other.rewards, starts=other.starts[:-1], weights=weights, feature_names=["x", "y", "z"]
    )
    assert log.schema.action.labels == LABELS
    table = {(a, b): costs[i, j] for i, a in enumerate(LABELS) for j, b in enumerate(LABELS)}
    for size in (1, 4, tree.n_leaves_):
        told = tree.truncate(size).predict(other.states).action
        each = [5.0 if true == "up" else table[true, said] for true, said in zip(names, told, strict=True)]
        assert tree.losses(other, size)[0] == pytest.approx(np.average(each, weights=weights), rel=1e-12)
    own = np.mean([table[LABELS[a], b] for a, b in zip(log.actions, tree.predict(log.states).action, strict=True)])
    assert tree.losses(log)[0] == pytest.approx(own, rel=1e-12)
    assert tree.fitted_.curve_training[-1, 0] == pytest.approx(own, rel=1e-12)


def test_a_leaf_predicts_what_is_done_most():
    log = Log.from_arrays([[0.0]] * 5, ["left", "left", "left", "right", "right"], [0] * 5, starts=[0])
    tree = fit(log, costs={("right", "left"): 100})
    assert tree.predict([0.0]).action == "left"
    assert tree.losses(log)[0] == pytest.approx(40)


def test_costs_in_judgements_and_other_trees():
    log = steering(0, 1_000)
    tree, plain = fit(log, costs=FAR), fit(log)
    answer = tree.held_out(log)
    assert answer.costs
    assert not plain.held_out(log).costs
    assert answer.judged is not None
    assert answer.judged.losses[0] < answer.judged.constant[0]
    assert answer.judged.margin[0] < np.inf
    assert stability(tree.fitted_, log, trees=20) is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        compare_weights(log, leaves=(5,), steps=1, costs=FAR)
        # A log in which nobody ever goes right.
        assert tree.losses(steering(2, 100, 0.0, ("left", "none", "none")))[0] >= 0


def test_costs_that_contradict_each_other_are_raised_with_a_note():
    costs = {("left", "right"): 10, ("right", "left"): 10}
    with pytest.warns(TripleTreeWarning, match=r"growth adds 2 to each of them, the least that will do\. Losses count"):
        tree = TripleTree(5, costs=costs).fit(steering())
    assert tree.fitted_.costs.max() == 10


def test_a_file_keeps_costs(tmp_path):
    log = steering()
    tree = fit(log, costs=np.array([[0, 1, 3], [1, 0, 1], [2, 1, 0]]))
    assert tree.fitted_.options["costs"] == {"left": {"right": 3.0}, "right": {"left": 2.0}}
    tree.save(tmp_path / "m.tripletree")
    again = load(tmp_path / "m.tripletree")
    assert again.costs == {("left", "right"): 3.0, ("right", "left"): 2.0}
    assert "costs={('left', 'right'): 3.0, ('right', 'left'): 2.0}" in repr(again)
    assert again.losses(log).tolist() == tree.losses(log).tolist()
    same_tree(tree.fitted_, fit(log, **{**again.get_params(), "threads": 1}).fitted_)


@pytest.mark.parametrize("costs", [{"left": {"rihgt": 3.0}}, [[0, 1], [1, 0]], {"left": {"right": 1.0}}])
def test_a_file_with_costs_that_do_not_fit_is_refused(tmp_path, costs):
    fitted = fit(steering()).fitted_
    fitted.options["costs"] = costs
    with pytest.raises(ModelFileError, match="its option `costs` "):
        save(fitted, tmp_path / "m.tripletree")


def test_parameters_as_scikit_learn_has_them():
    clone = pytest.importorskip("sklearn.base").clone
    tree = TripleTree(costs=FAR)
    assert clone(tree).get_params()["costs"] == FAR
    assert tree.set_params(costs=None).costs is None


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (
            {("left", "rihgt"): 3},
            r"costs names the action `rihgt`; this log has `left`, `none`, `right`\. Did you mean `r",
        ),
        ({("left", "left"): 3}, r"`left` for `left` costs 3, but what is right costs 0\. Leave it out"),
        (1 - np.eye(2), r"in the order `left`, `none`, `right`; got the shape \(2, 2\)\. Or name what does not cost 1"),
        (np.ones((3, 3)), "what is right costs 0"),
        (np.zeros((3, 3)), "all 0: then no action would be wrong"),
        ({("left", "right"): -1}, "a number from 0 to 1e100"),
    ],
)
def test_wrong_costs_are_explained(costs, message):
    with pytest.raises(ParameterError, match=message):
        TripleTree(costs=costs).fit(steering())


def test_costs_need_labels():
    states, rewards = [[0.0], [1.0], [2.0]], [0, 0, 0]
    numbers = Log.from_arrays(states, [[0.1], [0.2], [0.3]], rewards, starts=[0])
    with pytest.raises(ParameterError, match=r"there are no labels: its actions are numbers\. Try costs=None\."):
        TripleTree(costs=FAR).fit(numbers)
    nothing = read_log({"episode": [0, 0], "x": [0.0, 1.0], "reward": [0, 0]}, action="none")
    with pytest.raises(ParameterError, match="there are no labels: it has none"):
        TripleTree(costs=FAR).fit(nothing)


def test_names_and_words():
    schema = steering().schema
    assert named_costs({("left", "right"): 3, ("none", "left"): 1}, schema) == {"left": {"right": 3.0}}
    assert cost_matrix({"left": {"up": 3.0}}, ("left", "none")).tolist() == [[0, 1], [1, 0]]
    assert in_words({"left": {"right": 3.0}}) == "3 for right in place of left, 1 for all others"
