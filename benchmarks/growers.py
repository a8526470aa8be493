"""The same job for everybody: from float64 features and float64 target columns to a grown tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Grower = Callable[[np.ndarray, np.ndarray, int, int], Any]
"""Takes states, targets, how many of the target columns are not derivatives, and the number of leaves."""

NO_LIMIT = 2**31 - 1


def kernel_rows(targets: np.ndarray, threads: int = 1) -> np.ndarray:
    """Round the targets to the common integer grid that growth works on, as the package does."""
    from tripletree import _kernel
    from tripletree.tree.columns import matrix_columns
    from tripletree.tree.spread import measure
    from tripletree.tree.targets import empty_rows

    n, k = targets.shape
    columns = matrix_columns(targets)
    spread = measure(columns, threads=threads)
    reach = float(np.ldexp(spread.unit_reach, spread.exponent).max())
    squares = n * float((spread.std * spread.std).sum())
    exponent = min(23 - math.ceil(math.log2(reach)), math.floor((61 - math.log2(squares)) / 2))
    rows = empty_rows(n, k)
    for _, source in columns.sources():
        _kernel.quantise(
            source,
            np.arange(k),
            spread.centre,
            spread.per_unit,
            spread.unit_mean,
            np.ldexp(2.0**exponent, spread.exponent),
            rows,
            0,
            False,
            threads,
        )
    rows[:, k] = 1
    return rows


def ours(threads: int, exact: bool, by_gain: bool = False) -> Grower:
    """Our kernel, called as the package calls it."""

    def run(states: np.ndarray, targets: np.ndarray, n_plain: int, leaves: int) -> Any:
        from tripletree import TripleTree, _kernel
        from tripletree.tree.edges import find_edges
        from tripletree.tree.grow import exact_bins

        edges: dict[str, Any] = {}
        if exact:
            codes = _kernel.Codes(_kernel.encode(states, exact_bins(*states.shape), threads), threads)
        else:
            found = find_edges(states, TripleTree().bins, threads=threads)
            edges = {"edges": found.numbers, "first_edge": found.first}
            codes = _kernel.Codes(_kernel.encode_edges(states, found.numbers, found.first, threads), threads)
        rows = kernel_rows(targets, threads)
        n_derivative = targets.shape[1] - n_plain
        return _kernel.grow(
            states, codes, rows, n_plain, n_derivative, leaves, NO_LIMIT, 1, 0.0, by_gain, False, threads, None, **edges
        )

    return run


def scikit_learn(states: np.ndarray, targets: np.ndarray, _: int, leaves: int) -> Any:
    """One multi-output regression tree, grown best first."""
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(states, targets)


def xgboost(threads: int) -> Grower:
    """One multi-output tree of 256 bins, leaf by leaf, without shrinkage or regularisation."""

    def run(states: np.ndarray, targets: np.ndarray, _: int, leaves: int) -> Any:
        import xgboost

        data = xgboost.QuantileDMatrix(states, targets, max_bin=256, nthread=threads)
        options = {
            "tree_method": "hist",
            "multi_strategy": "multi_output_tree",
            "grow_policy": "lossguide",
            "max_leaves": leaves,
            "max_depth": 0,
            "max_bin": 256,
            "learning_rate": 1.0,
            "reg_lambda": 0.0,
            "min_child_weight": 0.0,
            "objective": "reg:squarederror",
            "nthread": threads,
            "verbosity": 0,
        }
        return xgboost.train(options, data, 1)

    return run


def reference(states: np.ndarray, targets: np.ndarray, n_plain: int, leaves: int) -> Any:
    """The definition in the tests: exact integers and fractions in Python."""
    from tests.reference.codes import codes
    from tests.reference.grow import grow

    grown = grow(states, codes(states), kernel_rows(targets), n_plain, targets.shape[1] - n_plain, leaves)
    return grown.feature, grown.threshold, grown.left, grown.gain, grown.node


GROWERS: dict[str, Grower] = {
    "scikit-learn": scikit_learn,
    "XGBoost, 1 thread": xgboost(1),
    "XGBoost, 2 threads": xgboost(2),
    "exact, 1 thread": ours(1, True),
    "exact, 2 threads": ours(2, True),
    "exact, gain first, 1 thread": ours(1, True, by_gain=True),
    "histogram, 1 thread": ours(1, False),
    "histogram, 2 threads": ours(2, False),
    "reference": reference,
}


def leaf_of_rows(result: Any, states: np.ndarray) -> np.ndarray:
    """Return the leaf in which each row ends, as any numbering."""
    if isinstance(result, tuple):
        return np.asarray(result[4])
    if hasattr(result, "tree_"):
        return np.asarray(result.apply(states))
    import xgboost

    return (
        np.asarray(result.predict(xgboost.DMatrix(states), pred_leaf=True)).astype(int).reshape(len(states), -1)[:, 0]
    )


def unexplained(targets: np.ndarray, leaves: np.ndarray) -> tuple[float, int]:
    """Share of the targets' sum of squares that is left within the leaves, and the number of leaves."""
    _, leaf = np.unique(leaves, return_inverse=True)
    count = np.bincount(leaf)
    within = total = 0.0
    for column in targets.T:
        centred = column - column.mean()
        total += float(centred @ centred)
        within += float(centred @ centred - (np.bincount(leaf, centred) ** 2 / count).sum())
    return within / total, len(count)
