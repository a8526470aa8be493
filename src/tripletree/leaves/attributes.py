"""What the nodes of a tree predict: counts, means and spreads of action, value and derivative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Attributes:
    """Statistics of the training log at every node, inner nodes included, so that a smaller tree is a prefix.

    Attributes
    ----------
    count : int64 array of shape (nodes,)
        Samples in the node.
    count_derivative : int64 array of shape (nodes,)
        Samples in the node whose derivative is known.
    action_count : int64 array of shape (nodes, labels), or None
        Samples of each label (discrete actions only).
    action_mean, action_std : float64 arrays of shape (nodes, dimensions), or None
        Mean and standard deviation of the action (continuous actions only).
    value_mean, value_std : float64 arrays of shape (nodes,)
        Mean and standard deviation of the value.
    derivative_mean, derivative_std : float64 arrays of shape (nodes, features), or None
        Mean and standard deviation of the derivative over the samples that have one. A node without any inherits its
        parent's (``count_derivative`` is then 0). None when no sample of the log has a successor.
    impurity : float64 array of shape (nodes, 3)
        Impurity of action, value and derivative (SPEC: Gini or scaled variances).
    """

    count: npt.NDArray[np.int64]
    count_derivative: npt.NDArray[np.int64]
    action_count: npt.NDArray[np.int64] | None
    action_mean: npt.NDArray[np.float64] | None
    action_std: npt.NDArray[np.float64] | None
    value_mean: npt.NDArray[np.float64]
    value_std: npt.NDArray[np.float64]
    derivative_mean: npt.NDArray[np.float64] | None
    derivative_std: npt.NDArray[np.float64] | None
    impurity: npt.NDArray[np.float64]
