"""scikit-learn's ridge regression, cross-validated leaf by leaf, gives the linear models of every node."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from tests.leaves.ridge import F64, assert_as_defined, case
from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import Log
from tripletree.leaves.linear import PENALTIES, folds_of


def sklearn_ridge(x: F64, y: F64, alpha: float) -> tuple[F64, F64]:
    """Fit scikit-learn's model, whose constant is not penalised."""
    model = Ridge(alpha=alpha).fit(x, y)
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)


def drift(seed: int, labels: int = 0, episodes: int = 6) -> Log:
    """States of very different units; actions and rewards that are linear in them here and there, with noise."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(20, 60, episodes)
    n, starts = int(lengths.sum()), np.append(0, np.cumsum(lengths))
    states = np.cumsum(rng.normal(size=(n, 4)), axis=0) * [1e-3, 1.0, 50.0, 1e4] + [5.0, 0.0, 1e3, -1e6]
    inside = (states - states.mean(axis=0)) / states.std(axis=0)
    push = np.where(inside[:, 0] < 0, inside @ [1, 0.5, 0, 0], inside @ [0, 0, -1, 2])
    noisy = push + 0.2 * rng.normal(size=n)
    actions = np.digitize(noisy, [-1, 0, 1][: labels - 1]) if labels else np.stack([noisy, rng.normal(size=n)], axis=1)
    final = states[starts[1:] - 1] + states.std(axis=0) * 0.1
    final[::3] = np.nan
    return make_log(
        states,
        actions,
        inside[:, 1] + 0.5 * rng.normal(size=n),
        starts,
        final_states=final,
        labels=tuple("abcd"[:labels]) if labels else None,
    )


LOGS = {
    "labels": lambda: drift(1, labels=4),
    "two labels": lambda: drift(2, labels=2),
    "numbers": lambda: drift(3),
    "two episodes": lambda: drift(4, labels=3, episodes=2),
    "one episode": lambda: drift(5, episodes=1),
    "ties": lambda: random_log(6, lengths=(30, 1, 40, 20, 9), features=3, dimensions=1, grid=2),
    "no final states": lambda: random_log(7, lengths=(12,) * 9, features=2, labels=3, finals=False),
    "single steps": lambda: random_log(8, lengths=(1, 2, 1, 9, 1, 30), features=2, dimensions=2, finals=False),
}


@pytest.mark.parametrize("name", LOGS)
def test_every_node_is_a_cross_validated_ridge(name: str) -> None:
    found = assert_as_defined(case(LOGS[name](), seed=2, steps=7), ridge=sklearn_ridge)
    # Both the mean and some slopes win somewhere, or the test would prove little.
    assert None in found
    assert len(found) > 1


def test_every_strength_is_chosen_somewhere() -> None:
    found: set[float | None] = set()
    for seed in range(3):
        found |= assert_as_defined(case(drift(seed), seed=seed, steps=5), ridge=sklearn_ridge)
    assert found == {None, *PENALTIES}


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("name", ["labels", "numbers", "ties"])
def test_few_features_are_chosen_one_by_one(name: str, most: int) -> None:
    made = case(LOGS[name](), seed=2, steps=6, most=most)
    assert_as_defined(made, most, sklearn_ridge)
    used = (made.models.slope != 0).sum(axis=2)
    assert used.max() == most


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("labels", "leaf_features"), [(0, None), (3, None), (0, 2)])
def test_a_grown_tree_predicts_what_ridge_predicts(labels: int, leaf_features: int | None, weighted: bool) -> None:
    """From the log to the prediction: one model for each leaf, held within the range of its samples."""
    log = drift(9, labels)
    weights = np.random.default_rng(9).integers(1, 6, log.n_samples) if weighted else np.ones(log.n_samples)
    log = log.weighted(weights) if weighted else log
    tree = quietly_fitted(log, max_leaves=6, gamma=0.0, truncation="paper", leaf_features=leaf_features)
    leaf, told = tree.apply(log.states), tree.predict(log.states)
    fold = folds_of(log)
    for number in range(tree.n_leaves_):
        here = leaf == number
        x, y, w = log.states[here], log.rewards[here], weights[here]
        middle = np.average(x, 0, w)
        z = (x - middle) / np.sqrt(np.average((x - middle) ** 2, 0, w))
        slopes = tree.fitted_.linear.slope[tree.tree_.leaf_nodes[number], labels or 2]
        if leaf_features is not None:
            z = z[:, slopes != 0]
        errors = [_left_out(z, y, fold[here], alpha, w) for alpha in (np.inf, *PENALTIES)]
        alpha = (np.inf, *PENALTIES)[int(np.argmin(errors))]
        expected = np.full(len(y), np.average(y, weights=w))
        assert slopes.any() == np.isfinite(alpha)
        if np.isfinite(alpha):
            expected = Ridge(alpha=alpha * w.sum()).fit(z, y, w).predict(z)
        np.testing.assert_allclose(told.value[here], np.clip(expected, y.min(), y.max()), atol=1e-6 * y.std())


def _left_out(z: F64, y: F64, fold: F64, alpha: float, weights: F64) -> float:
    """Return the squared error on each fold of a model of the others."""
    total = 0.0
    for one in np.unique(fold) if len(np.unique(fold)) > 1 else ():
        out = fold == one
        rest = weights[~out]
        guess = np.full(out.sum(), np.average(y[~out], weights=rest))
        if np.isfinite(alpha) and z.shape[1]:
            guess = Ridge(alpha=alpha * rest.sum()).fit(z[~out], y[~out], rest).predict(z[out])
        total += float((weights[out] * (y[out] - guess) ** 2).sum())
    return total
