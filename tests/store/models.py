"""Models for the tests of the store: consistent in structure and counts, random bits in all statistics."""

from __future__ import annotations

from dataclasses import astuple, replace
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from tripletree.graph.moves import count_sequences
from tripletree.graph.transitions import MarkovCheck, Transitions
from tripletree.leaves.attributes import Attributes
from tripletree.leaves.linear import LinearLeaves
from tripletree.log.log import Log
from tripletree.log.schema import FEATURE_KINDS, Action, Feature, Schema
from tripletree.model.fitted import Fitted, Judged
from tripletree.model.track import Track
from tripletree.tree.structure import Tree

ARRAYS = (
    *(f"tree.{name}" for name in ("feature", "threshold", "left", "quality")),
    *(f"attributes.{name}" for name in ("count", "count_derivative", "action_count", "action_mean", "action_std")),
    *(
        f"attributes.{name}"
        for name in ("value_mean", "value_std", "derivative_mean", "derivative_std", "impurity", "state_mean")
    ),
    *(f"linear.{name}" for name in ("centre", "slope", "low", "high", "spread", "full")),
    *("feature_min", "feature_max", "action_scale", "derivative_scale", "curve_training", "curve_validation"),
    *(f"transitions.{name}" for name in ("source", "target", "count", "steps", "censored", "censored_steps")),
    *(
        "transitions.stays",
        "transitions.starts",
        "transitions.samples",
        "markov",
        "training_episodes",
        "validation_episodes",
        "judged",
    ),
    *(
        f"track.{name}"
        for name in ("bins", "values", "packed", "starts", "endings", "finals", "returns", "ids", "texts")
    ),
    *(f"track.{name}" for name in ("first", "groups", "group_ends", "group_texts")),
)


def part(model: Fitted, name: str) -> Any:
    """Return the array of a model that the file calls ``name``, or None."""
    if name == "markov":
        return None if model.transitions is None else np.array(astuple(model.transitions.markov), np.float64)
    if name == "judged":
        judged = model.judged
        numbers = None if judged is None else [*judged.losses, *judged.constant, *judged.margin, *judged[3:]]
        return None if numbers is None else np.array(numbers, np.float64)
    owner = name.split(".")[0]
    if owner in ("transitions", "track", "linear") and getattr(model, owner) is None:
        return None
    if name == "track.packed":
        # Pressed when it is saved; a track that was made just now is not.
        name = "track.smallest"
    return attrgetter(name)(model)


ROAD = (Feature("pos", "m"), Feature("speed", "m/s"))
OPTIONS: dict[str, Any] = {
    "max_leaves": 5,
    "theta": [1.0, 1.0, 1.0],
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
    "leaf_features": None,
    "costs": None,
}
LEFT_RIGHT = Action("discrete", labels=("left", "right"))


def any_bits(rng: np.random.Generator, *shape: int) -> npt.NDArray[np.float64]:
    """Doubles of every kind that a model may hold: large, subnormal, signed zeros."""
    numbers = rng.integers(0, 2**64, shape, np.uint64).view(np.float64)
    return np.where(np.abs(numbers) <= 1e120, numbers, -0.0)


def any_spreads(rng: np.random.Generator, *shape: int) -> npt.NDArray[np.float64]:
    """Spreads of the nodes: of every size, and none larger than the root's allows."""
    spreads = np.abs(any_bits(rng, *shape))
    spreads[1:] = np.minimum(spreads[1:], spreads[:1] * 100)
    return spreads


def any_singles(rng: np.random.Generator, *shape: int) -> npt.NDArray[np.float32]:
    """Finite numbers of single precision, of every kind."""
    numbers = rng.integers(0, 2**32, shape, np.uint32).view(np.float32)
    return np.where(np.isfinite(numbers), numbers, np.float32(-0.0))


def random_linear(rng: np.random.Generator, nodes: int, labels: int, others: int, features: int) -> LinearLeaves:
    """Linear models of every kind that a file may hold: scores within 0 ... 1, other targets perhaps without limits."""
    shape = nodes, labels + others
    slope = any_singles(rng, *shape, features)
    slope[0] = 0.0
    ends = np.sort(any_singles(rng, 2, *shape), axis=0)
    ends[:, rng.random(shape) < 0.1] = np.array([[-np.inf], [np.inf]], np.float32)
    ends[:, :, :labels] = np.sort(rng.integers(0, 2, (2, nodes, labels)), axis=0)
    spread = np.abs(any_singles(rng, 2, *shape))
    full = spread[1] if rng.random() < 0.5 else None
    return LinearLeaves(any_bits(rng, *shape), slope, ends[0], ends[1], spread[0], full)


def random_model(
    seed: int,
    features: tuple[Feature, ...] = ROAD,
    action: Action = LEFT_RIGHT,
    leaves: int = 5,
    derivative: bool = True,
    validation: bool = True,
    options: dict[str, Any] | None = None,
    provenance: dict[str, Any] | None = None,
    transitions: bool = True,
    track: bool = True,
    linear: bool = True,
    weighted: bool | None = None,
) -> Fitted:
    """Grow a tree by random splits of a random box; it has fewer leaves when nothing can be split any more."""
    rng = np.random.default_rng(seed)
    d, n_labels, m = len(features), len(action.labels), len(action.names)
    low = rng.normal(size=d)
    high = low + np.where(rng.random(d) < 0.2, 0, rng.exponential(size=d))
    total = int(rng.integers(1, 20 * leaves + 1))
    boxes = [(low, high)]
    count = [total]
    known = [int(rng.integers(1, total + 1)) if derivative else 0]
    actions = [rng.multinomial(total, np.full(max(n_labels, 1), 1 / max(n_labels, 1)))]
    feature, threshold, left, quality = [-1], [0.0], [-1], [0.0]
    for _ in range(leaves - 1):
        nodes = [i for i in range(len(left)) if left[i] < 0 and count[i] > 1 and (boxes[i][0] < boxes[i][1]).any()]
        if not nodes:
            break
        node = int(rng.choice(nodes))
        lo, hi = boxes[node]
        f = int(rng.choice(np.flatnonzero(lo < hi)))
        cut = float(rng.uniform(lo[f], hi[f]))
        if not lo[f] < cut < hi[f]:
            continue
        feature[node], threshold[node], left[node], quality[node] = f, cut, len(left), float(rng.exponential())
        axis = np.arange(d) == f
        size = int(rng.integers(1, count[node]))
        part_known = int(rng.hypergeometric(known[node], count[node] - known[node], size))
        part_actions = rng.multivariate_hypergeometric(actions[node], size)
        boxes += [(lo, np.where(axis, cut, hi)), (np.where(axis, cut, lo), hi)]
        known += [part_known, known[node] - part_known]
        actions += [part_actions, actions[node] - part_actions]
        count += [size, count[node] - size]
        feature += [-1, -1]
        threshold += [0.0, 0.0]
        left += [-1, -1]
        quality += [0.0, 0.0]
    n = len(left)
    steps = (n + 1) // 2 + int(rng.integers(0, 3))
    weighted = bool(rng.random() < 0.5) if weighted is None else weighted
    discrete = action.kind == "discrete"
    tree = Tree(
        np.array(feature, np.int32), np.array(threshold), np.array(left, np.int32), np.array(quality, np.float64)
    )
    action_std = None if discrete else any_spreads(rng, n, m)
    derivative_std = any_spreads(rng, n, d) if derivative else None
    if options is None:
        options = OPTIONS if linear else OPTIONS | {"leaf_model": "mean"}
    targets = (0 if discrete else m) + 1 + (d if derivative else 0)
    return Fitted(
        schema=Schema(features, action),
        tree=tree,
        attributes=Attributes(
            count=np.array(count, np.int64),
            count_derivative=np.array(known, np.int64),
            action_count=np.array(actions, np.int64) if discrete else None,
            action_mean=None if discrete else any_bits(rng, n, m),
            action_std=action_std,
            value_mean=any_bits(rng, n),
            value_std=any_spreads(rng, n),
            derivative_mean=any_bits(rng, n, d) if derivative else None,
            derivative_std=derivative_std,
            impurity=any_spreads(rng, n, 3),
            state_mean=np.array([low + (high - low) * rng.random() for low, high in boxes]),
            # Every sample seven times.
            weight=7 * np.array(count, np.int64) if weighted else None,
            weight_derivative=7 * np.array(known, np.int64) if weighted else None,
            action_weight=7 * np.array(actions, np.int64) if weighted and discrete else None,
        ),
        feature_min=low,
        feature_max=high,
        action_scale=None if action_std is None else action_std[0] * rng.uniform(0.1, 1, m),
        derivative_scale=abs(any_bits(rng, d))
        if derivative_std is None
        else derivative_std[0] * rng.uniform(0.1, 1, d),
        curve_training=abs(any_bits(rng, steps, 3)),
        curve_validation=abs(any_bits(rng, steps, 3)) if validation else None,
        options=options,
        provenance={"tripletree": "0.1.0", "log": "0" * 64} if provenance is None else provenance,
        transitions=random_transitions(rng, np.array(count)[tree.leaf_nodes], weighted) if transitions else None,
        training_episodes=random_hashes(rng),
        validation_episodes=random_hashes(rng) if validation else None,
        judged=Judged(*(tuple(abs(any_bits(rng, 3)).tolist()) for _ in range(3)), *rng.integers(1, 2**53, 2).tolist())
        if validation
        else None,
        track=random_track(rng, Schema(features, action), tree, low, high, total, weighted) if track else None,
        linear=random_linear(rng, n, n_labels, targets, d) if linear else None,
    )


def random_track(
    rng: np.random.Generator,
    schema: Schema,
    tree: Tree,
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    most: int,
    weighted: bool = False,
) -> Track:
    """Keep a random log of up to so many samples, whose final states may lie outside the range of its states."""
    n, d, discrete = int(rng.integers(1, most + 1)), len(schema.features), schema.action.kind == "discrete"
    starts = np.unique(np.concatenate([[0], rng.integers(0, n, 3), [n]]))
    episodes = len(starts) - 1
    final = rng.normal(size=(episodes, d))
    final[rng.random(episodes) < 0.3] = np.nan
    log = Log(
        states=rng.uniform(low, high, (n, d)),
        actions=np.zeros(n if discrete else (n, len(schema.action.names)), np.int32 if discrete else np.float64),
        rewards=rng.normal(size=n),
        starts=starts,
        final_states=final,
        endings=rng.integers(0, 3, episodes),
        episode_ids=rng.integers(-9, 9, episodes)
        if rng.random() < 0.5
        else rng.choice(["", "Flug", "größer"], episodes),
        schema=schema,
        groups=rng.choice(["", "Eva", "Jürgen"], episodes) if rng.random() < 0.5 else None,
        group_name="pilot",
        weights=rng.random(n) if weighted else None,
    )
    kept = Track.of(log, tree)
    assert kept is not None
    return replace(kept, first=rng.integers(0, 9, episodes)) if rng.random() < 0.5 else kept


def random_hashes(rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """Hashes of a few episodes, as a model keeps them."""
    return np.unique(rng.integers(0, 2**64, rng.integers(1, 9), np.uint64))


def random_transitions(rng: np.random.Generator, samples: npt.NDArray[np.int64], weighted: bool = False) -> Transitions:
    """Count the moves of a log that visits the leaves, so many samples in each, in random order."""
    n = len(samples)
    leaf = rng.permutation(np.repeat(np.arange(n, dtype=np.int32), samples))
    starts = np.unique(np.concatenate([[0], rng.integers(0, len(leaf), 3), [len(leaf)]]))
    final = rng.integers(-1, n, len(starts) - 1).astype(np.int32)
    weights = rng.random(len(final)) if weighted else None
    log: Any = SimpleNamespace(starts=starts, endings=rng.integers(0, 3, len(final)), episode_weights=weights)
    shares = rng.random(4)
    check = MarkovCheck(shares[0], shares[1], int(rng.integers(99)), shares[2], shares[3], 5, int(rng.integers(99)))
    return replace(count_sequences(n, leaf, final, log), markov=check)


_texts = st.text(min_size=1, max_size=12)
_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64) + 1, 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)
_options = st.fixed_dictionaries(
    {
        "max_leaves": st.integers(1, 2**31 - 1),
        "theta": st.lists(st.floats(0, 1e100), min_size=3, max_size=3).filter(any),
        "gamma": st.floats(0, 1) | st.integers(0, 1),
        "min_quality": st.floats(0, 1e300),
        "max_depth": st.none() | st.integers(0, 2**31 - 1),
        "early_stopping": st.booleans(),
        "keep": st.sampled_from(["track", "leaves", "nothing"]),
        "leaf_model": st.sampled_from(["linear", "mean"]),
        "leaf_features": st.none() | st.integers(1, 2**31 - 1),
    }
).map(lambda drawn: OPTIONS | drawn)
_objects = st.dictionaries(st.text(max_size=12), _json, max_size=5)
_actions = st.lists(_texts, min_size=1, max_size=5, unique=True).flatmap(
    lambda names: st.sampled_from(
        [
            Action("discrete", labels=tuple(names)),
            Action("continuous", names=tuple(names), units=tuple(f"m/{name}" for name in names)),
        ]
    )
)
_features = st.lists(
    st.builds(Feature, _texts, st.text(max_size=5), st.sampled_from(FEATURE_KINDS)),
    min_size=1,
    max_size=50,
    unique_by=lambda feature: feature.name,
).map(tuple)


def model_of(linear: bool, options: dict[str, Any], **drawn: Any) -> Fitted:
    """Make a model whose leaves predict by linear models only where it has some."""
    return random_model(linear=linear, options=options if linear else options | {"leaf_model": "mean"}, **drawn)


models = st.builds(
    model_of,
    seed=st.integers(0, 2**32),
    features=_features,
    action=_actions,
    leaves=st.integers(1, 40),
    derivative=st.booleans(),
    validation=st.booleans(),
    options=_options,
    provenance=_objects,
    transitions=st.booleans(),
    track=st.booleans(),
    linear=st.booleans(),
)
"""Models of every kind, for hypothesis."""
