from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tripletree import TripleTree
from tripletree.leaves.project import Extents, extents, project, within
from tripletree.tree.structure import Tree

pytestmark = pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")


def fitted_on(seed: int, features: int = 3, leaves: int = 15, **options):
    log = random_log(seed, lengths=(60, 50, 40), features=features, **options)
    return TripleTree(max_leaves=leaves).fit(log).fitted_


def boxes_of(fitted) -> Extents:
    whole = np.array([feature.kind in ("binary", "integer") for feature in fitted.schema.features])
    return extents(fitted.tree, fitted.feature_min, fitted.feature_max, whole)


def counts(fitted) -> np.ndarray:
    return fitted.attributes.count[fitted.tree.leaf_nodes].astype(float)


def values(fitted) -> np.ndarray:
    return fitted.attributes.value_mean[fitted.tree.leaf_nodes]


def by_the_paper(boxes: Extents, axes, population, column):
    """Equations 4 to 7 of Appendix C, cell by cell and leaf by leaf."""
    edges = [sorted({*boxes.lower[:, f], *boxes.upper[:, f]}) for f in axes]
    mean = np.empty([len(grid) - 1 for grid in edges])
    for i, j in itertools.product(*(range(n) for n in mean.shape)):
        total = weights = 0.0
        for leaf, n in enumerate(population):
            weight = n
            for f, grid, k in zip(axes, edges, (i, j), strict=True):
                low, high = boxes.lower[leaf, f], boxes.upper[leaf, f]
                weight *= (grid[k + 1] - grid[k]) / (high - low) if low <= grid[k] and high >= grid[k + 1] else 0.0
            total, weights = total + weight * column[leaf], weights + weight
        mean[i, j] = total / weights
    return edges, mean


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([(0,), (0, 1), (1, 0)]))
def test_its_own_grid_is_summed_as_any_grid_is(seed, leaves, axes):
    """Boxes need not make up a space here: some are a billion times as narrow as others, some without samples."""
    rng = np.random.default_rng(seed)
    ends = np.sort(np.concatenate([rng.uniform(0, 1, 6), rng.uniform(0.5, 0.5 + 1e-9, 4)]))
    places = np.sort(np.array([[rng.choice(10, 2, replace=False) for _ in range(2)] for _ in range(leaves)]), axis=2)
    lower, upper = ends[places[..., 0]], ends[places[..., 1]]
    boxes = Extents(lower, upper, np.zeros(2), np.ones(2), lower, upper, np.zeros(2, bool))
    population = rng.integers(0, 3, leaves) * 10.0 ** rng.integers(-3, 6, leaves)
    population[0] = 1.0
    columns = rng.normal(size=(leaves, 2))
    own = project(boxes, axes, {}, population, columns)
    any_grid = project(boxes, axes, {}, population, columns, own.edges)
    np.testing.assert_allclose(own.weight, any_grid.weight, rtol=1e-9)
    size = project(boxes, axes, {}, population, np.abs(columns), own.edges).mean
    np.testing.assert_array_equal(np.isnan(own.mean), np.isnan(any_grid.mean))
    assert np.all((np.abs(own.mean - any_grid.mean) <= 1e-9 * size) | np.isnan(size))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_a_projection_is_the_papers(seed, axes):
    fitted = fitted_on(seed)
    boxes = boxes_of(fitted)
    found = project(boxes, axes, {}, counts(fitted), values(fitted)[:, None])
    edges, mean = by_the_paper(boxes, axes, counts(fitted), values(fitted))
    for ours, theirs in zip(found.edges, edges, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(found.mean[..., 0], mean, rtol=1e-12)
    assert found.weight.sum() == pytest.approx(counts(fitted).sum())


def drawn(fitted, boxes, n, rng):
    """Samples under the assumption: leaves by population, evenly within each."""
    population = counts(fitted)
    leaf = rng.choice(len(population), n, p=population / population.sum())
    return leaf, rng.uniform(boxes.lower[leaf], boxes.upper[leaf])


@pytest.mark.parametrize("shares", [{}, {2: (0.3, 0.5)}, {1: (0.2, 0.7), 2: (0.1, 0.9)}], ids=str)
@pytest.mark.parametrize("axes", [(0, 3), (3,)])
def test_a_projection_is_what_monte_carlo_estimates(axes, shares):
    fitted = fitted_on(7, features=4, leaves=25)
    boxes = boxes_of(fitted)
    rng = np.random.default_rng(1)
    limits = {f: tuple(boxes.low[f] + np.array(part) * (boxes.high - boxes.low)[f]) for f, part in shares.items()}
    leaf, states = drawn(fitted, boxes, 400_000, rng)
    for f, (low, high) in limits.items():
        kept = (states[:, f] >= low) & (states[:, f] < high)
        leaf, states = leaf[kept], states[kept]
    edges = [np.linspace(boxes.low[f], boxes.high[f], 5) for f in axes]
    found = project(boxes, axes, limits, counts(fitted), values(fitted)[:, None], edges)
    column = values(fitted)[leaf]
    inside = [states[:, f] for f in axes]
    n = np.histogramdd(inside, edges)[0]
    mean = np.histogramdd(inside, edges, weights=column)[0] / np.maximum(n, 1)
    enough = n > 400
    assert enough.sum() >= 3
    error = column.std() / np.sqrt(np.maximum(n, 1))
    assert (np.abs(found.mean[..., 0] - mean)[enough] < 5 * error[enough]).all()
    expected = found.weight / counts(fitted).sum() * 400_000
    assert (np.abs(expected - n) <= 5 * np.sqrt(expected) + 5).all()


@pytest.mark.parametrize("dimensions", [0, 2])
def test_on_two_features_the_projection_is_the_leaf_itself(dimensions):
    fitted = fitted_on(3, features=2, dimensions=dimensions)
    boxes = boxes_of(fitted)
    found = project(boxes, (0, 1), {}, counts(fitted), np.arange(fitted.tree.n_leaves, dtype=float)[:, None])
    middle = [(grid[1:] + grid[:-1]) / 2 for grid in found.edges]
    states = np.stack(np.meshgrid(*middle, indexing="ij"), axis=-1)
    leaf = fitted.tree.apply(np.ascontiguousarray(states.reshape(-1, 2))).reshape(states.shape[:2])
    np.testing.assert_allclose(found.mean[..., 0], leaf, rtol=1e-9)


@given(seed=st.integers(0, 2**31), features=st.integers(2, 4), leaves=st.integers(1, 25), grid=st.sampled_from([0, 1]))
@settings(max_examples=40)
def test_a_slice_is_what_the_tree_predicts(seed, features, leaves, grid):
    fitted = fitted_on(seed, features, leaves, grid=grid)
    boxes = boxes_of(fitted)
    rng = np.random.default_rng(seed)
    state = rng.uniform(fitted.feature_min, fitted.feature_max)
    found = project(
        boxes,
        (0, 1),
        {f: (state[f], state[f]) for f in range(2, features)},
        counts(fitted),
        np.arange(fitted.tree.n_leaves, dtype=float)[:, None],
    )
    middle = [(edges[1:] + edges[:-1]) / 2 for edges in found.edges]
    states = np.tile(state, (len(middle[0]), len(middle[1]), 1))
    states[..., :2] = np.stack(np.meshgrid(*middle, indexing="ij"), axis=-1)
    leaf = fitted.tree.apply(np.ascontiguousarray(states.reshape(-1, features))).reshape(states.shape[:2])
    np.testing.assert_allclose(found.mean[..., 0], leaf, rtol=1e-9, atol=1e-9)


def test_projection_and_slice_are_the_two_ends_of_one_form():
    fitted = fitted_on(5, features=4, leaves=20)
    boxes = boxes_of(fitted)
    population, column = counts(fitted), values(fitted)[:, None]
    edges = [np.linspace(boxes.low[f], boxes.high[f], 9) for f in (0, 1)]
    whole = project(boxes, (0, 1), {}, population, column, edges)
    wide = project(boxes, (0, 1), {2: (-np.inf, np.inf), 3: (-1e9, 1e9)}, population, column, edges)
    np.testing.assert_allclose(wide.mean, whole.mean)
    np.testing.assert_allclose(wide.weight, whole.weight)

    state = (fitted.feature_min + fitted.feature_max) / 2 + 0.01
    cut = project(boxes, (0, 1), {2: (state[2], state[2]), 3: (state[3], state[3])}, population, column, edges)
    for width in (1e-5, 1e-7):
        near = {f: (state[f] - width / 2, state[f] + width / 2) for f in (2, 3)}
        narrow = project(boxes, (0, 1), near, population, column, edges)
        np.testing.assert_allclose(narrow.mean, cut.mean, rtol=1e-6)
        np.testing.assert_allclose(narrow.weight / width**2, cut.weight, rtol=1e-6)


def test_a_coarser_grid_holds_the_same_samples():
    fitted = fitted_on(11)
    boxes = boxes_of(fitted)
    fine = project(boxes, (0, 1), {}, counts(fitted), values(fitted)[:, None])
    coarse_edges = [np.array([grid[0], grid[len(grid) // 2], grid[-1]]) for grid in fine.edges]
    coarse = project(boxes, (0, 1), {}, counts(fitted), values(fitted)[:, None], coarse_edges)
    total = fine.weight * fine.mean[..., 0]
    split = [len(grid) // 2 for grid in fine.edges]
    assert coarse.weight[0, 0] == pytest.approx(fine.weight[: split[0], : split[1]].sum())
    assert (coarse.weight * coarse.mean[..., 0])[1, 0] == pytest.approx(total[split[0] :, : split[1]].sum())


def test_whole_numbers_are_bands_of_equal_width():
    states = [[0, 0.2], [0, 0.6], [1, 0.1], [1, 0.9], [3, 0.5], [3, 0.4]]
    log = make_log(states, [0, 0, 1, 1, 2, 2], [0] * 6, labels=("a", "b", "c"), kinds=("integer", "real"))
    fitted = TripleTree(max_leaves=3, theta=(1, 0, 0)).fit(log).fitted_
    boxes = boxes_of(fitted)
    assert boxes.low[0] == -0.5
    assert boxes.high[0] == 3.5
    assert boxes.lower[:, 0].tolist() == [-0.5, 0.5, 1.5]
    assert boxes.upper[:, 0].tolist() == [0.5, 1.5, 3.5]
    # low <= x < high: 0 and 1, of which the second leaf holds the one and the third nothing.
    assert within(boxes, {0: (0, 2)}).tolist() == [1, 1, 0]
    assert within(boxes, {0: (2, 2)}).tolist() == [0, 0, 0.5]
    # Between the numbers it goes by the thresholds, as predict does.
    between = (0.5, 0.5)
    assert within(boxes, {0: between}).nonzero()[0].tolist() == fitted.tree.apply(np.array([[0.5, 0.0]])).tolist()


def test_a_leaf_at_the_very_end_of_the_range_is_seen():
    states = [[0.0, 0.0], [0.5, 0.1], [0.99, 0.2], [1.0, 0.3], [1.0, 0.6]]
    log = make_log(states, [0, 0, 0, 1, 1], [0] * 5, labels=("a", "b"))
    fitted = TripleTree(max_leaves=2, theta=(1, 0, 0)).fit(log).fitted_
    boxes = boxes_of(fitted)
    assert boxes.lower[:, 0].tolist() == [0.0, 1.0]
    assert boxes.upper[:, 0].tolist() == pytest.approx([1.0, 1.01])
    assert boxes.high.tolist() == pytest.approx([1.01, 0.6])
    column = np.array([[0.0], [1.0]])
    assert project(boxes, (1,), {}, counts(fitted), column).mean[0, 0] == pytest.approx(2 / 5)
    assert project(boxes, (1,), {0: (1.0, 1.0)}, counts(fitted), column).mean[0, 0] == 1
    assert project(boxes, (1,), {0: (0.2, 0.9)}, counts(fitted), column).mean[0, 0] == 0
    assert project(boxes, (0,), {}, counts(fitted), column).mean[:, 0].tolist() == [0, 1]


def test_a_constant_feature_still_makes_an_axis():
    states = [[2.0, 0.0], [2.0, 1.0], [2.0, 2.0]]
    log = make_log(states, [0, 0, 1], [0] * 3, labels=("a", "b"))
    fitted = TripleTree(max_leaves=2, theta=(1, 0, 0)).fit(log).fitted_
    found = project(boxes_of(fitted), (0, 1), {}, counts(fitted), np.array([[0.0], [1.0]]))
    assert found.edges[0].tolist() == [1.5, 2.5]
    assert found.mean[..., 0].tolist() == [[0, 1]]


@pytest.mark.parametrize(("threshold", "high"), [(10.0, 10.1), (9.0, 10.0), (9.999, 10.0)])
def test_a_leaf_that_begins_at_the_end_of_the_log_can_be_seen(threshold, high):
    """From 0 to 10; the picture goes on by a hundredth where a leaf would have no width."""
    tree = Tree(
        np.array([0, -1, -1], np.int32), np.array([threshold, 0, 0]), np.array([1, -1, -1], np.int32), np.zeros(3)
    )
    boxes = extents(tree, np.zeros(1), np.full(1, 10.0), np.array([False]))
    assert boxes.high.tolist() == pytest.approx([high])
    assert boxes.upper[1, 0] - boxes.lower[1, 0] == pytest.approx(high - threshold)
