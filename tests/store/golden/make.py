"""Make the golden files of today's format: ``python -m tests.store.golden.make`` from the project's root.

Run it once when a minor format is released, commit the files, and never change them again.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tripletree.graph.transitions import MarkovCheck, Transitions
from tripletree.leaves.attributes import Attributes
from tripletree.leaves.linear import LinearLeaves
from tripletree.log.log import TERMINATED, TRUNCATED
from tripletree.log.schema import Action, Feature, Schema
from tripletree.model.fitted import Fitted, Judged
from tripletree.model.track import Track
from tripletree.store import save
from tripletree.store.container import FORMAT
from tripletree.tree.structure import Tree

OPTIONS = {
    "max_leaves": 3,
    "theta": [0.2, 0.6, 0.2],
    "gamma": 0.99,
    "priority": "impurity",
    "mode": "exact",
    "bins": 1024,
    "thresholds": "short",
    "derivative_scale": "sigma",
    "truncation": "paper",
    "min_samples_leaf": 1,
    "max_depth": None,
    "min_quality": 0.0,
    "early_stopping": True,
    "keep": "track",
    "leaf_model": "linear",
    "leaf_features": 2,
    "costs": None,
}
FOLDER = Path(__file__).parent


def discrete() -> Fitted:
    """Three leaves over position and speed, two labels, with everything that a model can hold."""
    return Fitted(
        schema=Schema(
            (Feature("pos", "m"), Feature("speed", "m/s"), Feature("größe", "", "binary")),
            Action("discrete", labels=("brake", "accelerate"), codes=("0", "1")),
        ),
        tree=Tree(
            feature=np.array([0, -1, 1, -1, -1], np.int32),
            threshold=np.array([1.48, 0, 0.021, 0, 0]),
            left=np.array([1, -1, 3, -1, -1], np.int32),
            quality=np.array([0.5, 0, 0.25, 0, 0]),
        ),
        attributes=Attributes(
            count=np.array([10, 4, 6, 1, 5], np.int64),
            count_derivative=np.array([9, 4, 5, 0, 5], np.int64),
            action_count=np.array([[4, 6], [4, 0], [0, 6], [0, 1], [0, 5]], np.int64),
            action_mean=None,
            action_std=None,
            value_mean=np.array([0.1, -0.5, 0.5, 1 / 3, 0.75]),
            value_std=np.array([0.6, 0.2, 0.1, 0, 5e-324]),
            derivative_mean=np.arange(15.0).reshape(5, 3) / 8,
            derivative_std=np.arange(15.0).reshape(5, 3) / 16,
            impurity=np.arange(15.0).reshape(5, 3)[::-1] / 32,
            state_mean=np.array([[1.5, 0, 0.5], [0.75, 0, 1], [2, 0, 0.25], [1.5, -0.1, 0], [2.5, 0.05, 0.3]]),
            # The first episode counts three times, but one of its steps once; the second counts once.
            weight=np.array([18, 8, 10, 1, 9], np.int64),
            weight_derivative=np.array([17, 8, 9, 0, 9], np.int64),
            action_weight=np.array([[8, 10], [8, 0], [0, 10], [0, 1], [0, 9]], np.int64),
        ),
        feature_min=np.array([0.0, -0.1, 0.0]),
        feature_max=np.array([3.0, 0.1, 1.0]),
        action_scale=None,
        derivative_scale=np.array([0.05, 0.001, 0.0]),
        curve_training=np.array([[0.4, 0.6, 2.0], [0.1, 0.3, 1.5], [0.0, 0.2, 1.25], [0.0, 0.1, 1.0]]),
        curve_validation=np.array([[0.5, 0.7, 2.5], [0.2, 0.4, 1.75], [0.1, 0.3, 1.5], [0.1, 0.4, 1.5]]),
        options=OPTIONS | {"costs": {"brake": {"accelerate": 2.0}}},
        provenance={"tripletree": "0.1.0", "samples": 10, "log_sha256": "ab" * 32},
        # Two episodes: leaves 0 0 2 2 2, then terminated; 0 0 1 2 2, then cut off in leaf 2.
        transitions=Transitions(
            n_leaves=3,
            source=np.array([0, 0, 1, 2], np.int32),
            target=np.array([1, 2, 2, 3], np.int32),
            count=np.array([1, 1, 1, 1], np.int64),
            steps=np.array([2, 2, 1, 3], np.int64),
            censored=np.array([0, 0, 1], np.int64),
            censored_steps=np.array([0, 0, 2], np.int64),
            stays=np.array([0, 0, 2], np.int64),
            starts=np.array([2, 0, 0], np.int64),
            samples=np.array([4, 1, 5], np.int64),
            markov=MarkovCheck(0.25, 0.125, 2, 0.5, 0.375, 5, 2),
            weight=np.array([0.375, 1, 0.375, 1]),
            weighted_steps=np.array([0.75, 2, 0.375, 3]),
            weighted_stays=np.array([0, 0, 0.75]),
            weighted_starts=np.array([1.375, 0, 0]),
            effective=np.array([1.375**2 / (1 + 0.375**2), 1, 1]),
        ),
        training_episodes=np.array([7, 2**64 - 1], np.uint64),
        validation_episodes=np.array([2**53 + 1], np.uint64),
        judged=Judged((0.1, 0.3, 1.5), (0.5, 0.7, 2.5), (0.25, 0.125, np.inf), 1, 5),
        # The same two episodes; only the second has a final state, which lies beyond the others.
        track=Track(
            bins=np.array([6, 3, 2], np.int64),
            values=np.array([0.0, 0.5, 1.5, 2.5, 3.0, 3.5, -0.1, 0.05, 0.1, 0.0, 1.0]),
            packed=packed(
                [0, 1, 3, 3, 4, 1, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 0, 1, 0, 1, 1, 1], [0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 1]
            ),
            starts=np.array([0, 5, 10], np.int64),
            endings=np.array([TERMINATED, TRUNCATED], np.uint8),
            finals=np.array([0, 1], np.uint8),
            returns=np.array([-1.5, 1 / 3]),
            ids=np.array([6, 14], np.int64),
            texts=np.frombuffer("Flug 1größer".encode(), np.uint8),
            first=np.array([0, 7], np.int64),
            weights=np.array([8 / 3, 1.0]),
            groups=np.array([1, 0], np.int64),
            group_ends=np.array([5, 8, 10], np.int64),
            group_texts=np.frombuffer(b"pilotEvaBo", np.uint8),
        ),
        # Scores of two labels, the value, three derivatives; the last leaf's value had no range in single precision.
        linear=LinearLeaves(
            centre=np.array(
                [
                    [0.4, 0.6, 0.1, 0, 0.125, 0.25],
                    [1, 0, -0.5, 0.375, 0.5, 0.625],
                    [0, 1, 0.5, 0.75, 0.875, 1],
                    [0, 1, 1 / 3, 1.125, 1.25, 1.375],
                    [0.1, 0.9, 0.7, 1.5, 1.625, 1.75],
                ]
            ),
            slope=slopes(),
            low=np.array([[0, 0, -1, -2, -2, -2]] * 4 + [[0, 0, -np.inf, 0.1, 1e-45, -3e38]], np.float32),
            high=np.array([[1, 1, 1, 2, 2, 2]] * 4 + [[1, 1, np.inf, 3.3, 2, 3e38]], np.float32),
            spread=np.arange(30, dtype=np.float32).reshape(5, 6)[::-1] / np.float32(7),
            full=np.arange(30, dtype=np.float32).reshape(5, 6)[::-1] / np.float32(9),
        ),
    )


def slopes() -> npt.NDArray[np.float32]:
    """Slopes of five nodes, six targets and three features: none at the root, and two for each target elsewhere."""
    slope = (np.arange(-45, 45, dtype=np.float32).reshape(5, 6, 3) / np.float32(3)).astype(np.float32)
    slope[0] = 0.0
    slope[:, :, 2] = 0.0
    slope[4, 5] = 1e-45, -0.0, 3e38
    return slope


def packed(*codes: list[int]) -> npt.NDArray[np.uint8]:
    """Pack codes of one byte as a track does, but stored only: packed bytes differ between versions of zlib."""
    differences = np.diff(codes, axis=1, prepend=0).astype(np.uint8)
    return np.frombuffer(zlib.compress(differences.tobytes(), 0), np.uint8)


def continuous() -> Fitted:
    """One leaf, an action of two numbers, no derivatives, no validation, nothing of the log."""
    return Fitted(
        schema=Schema((Feature("angle", "rad", "angle"),), Action("continuous", ("thrust", "turn"), (), ("N", ""))),
        tree=Tree(np.array([-1], np.int32), np.zeros(1), np.array([-1], np.int32), np.zeros(1)),
        attributes=Attributes(
            count=np.array([1], np.int64),
            count_derivative=np.array([0], np.int64),
            action_count=None,
            action_mean=np.array([[0.25, -1.5]]),
            action_std=np.array([[0.0, 0.125]]),
            value_mean=np.array([-100.0]),
            value_std=np.array([0.0]),
            derivative_mean=None,
            derivative_std=None,
            impurity=np.array([[2.0, 0.0, 0.0]]),
            state_mean=np.array([[0.5]]),
        ),
        feature_min=np.array([0.5]),
        feature_max=np.array([0.5]),
        action_scale=np.array([0.5, 0.25]),
        derivative_scale=np.array([0.0]),
        curve_training=np.array([[2.0, 0.0, 0.0]]),
        curve_validation=None,
        options=OPTIONS | {"max_depth": 7, "truncation": "bootstrap", "keep": "nothing", "leaf_features": None},
        provenance={"tripletree": "0.1.0"},
        linear=LinearLeaves(
            centre=np.array([[0.25, -1.5, -100.0]]),
            slope=np.zeros((1, 3, 1), np.float32),
            low=np.array([[0.25, -np.inf, -100.0]], np.float32),
            high=np.array([[0.25, np.inf, -100.0]], np.float32),
            spread=np.array([[0.0, 0.125, 0.0]], np.float32),
        ),
    )


if __name__ == "__main__":
    for make in (discrete, continuous):
        save(make(), FOLDER / f"{FORMAT[0]}.{FORMAT[1]}-{make.__name__}.tripletree")
