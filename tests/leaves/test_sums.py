"""Sums by leaf, against fractions: exact, and the same bits however a log is divided."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaves.test_attributes import chain, rows_below
from tests.logs import random_log
from tripletree import _kernel
from tripletree.leaves.attributes import Attributes, attributes_of, describe
from tripletree.leaves.sums import LeafSums
from tripletree.log.derive import derivatives, values
from tripletree.log.log import Log
from tripletree.tree.targets import make_targets
from tripletree.tree.weights import Weighing

SIZES = st.sampled_from([1.0, 1e-310, 1e-300, 1e-9, 1e9, 1e300])


@st.composite
def troublesome(draw: st.DrawFn) -> tuple[Log, np.ndarray]:
    """Logs with offsets, outliers, tiny and huge numbers, constant columns, angles and times; and a value."""
    lengths = tuple(draw(st.lists(st.integers(1, 30), min_size=1, max_size=5)))
    log = random_log(
        draw(st.integers(0, 999)),
        lengths=lengths,
        features=draw(st.integers(1, 3)),
        labels=draw(st.integers(1, 3)),
        dimensions=draw(st.integers(0, 2)),
        grid=draw(st.integers(0, 2)),
        finals=draw(st.booleans()),
    )
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    value = values(log, 0.9)
    value = value * draw(SIZES) if draw(st.booleans()) else value + draw(st.sampled_from([0.0, 1e9, -1e15]))
    if draw(st.booleans()):
        value[rng.integers(len(value))] *= draw(st.sampled_from([1e3, 1e6, 0.0]))
    fields = {"states": log.states + draw(st.sampled_from([0.0, 0.0, 1e7]))}
    fields["final_states"] = log.final_states + (fields["states"][0] - log.states[0])
    schema = log.schema
    if draw(st.booleans()):
        schema = replace(schema, features=(replace(schema.features[0], kind="angle"), *schema.features[1:]))
    if draw(st.booleans()):
        schema, fields["dt"] = replace(schema, per_second=True), rng.choice([0.1, 0.5, 2.0], log.n_samples)
    return replace(log, schema=schema, **fields), value


def brute(numbers: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation, rounded once."""
    exact = [Fraction(x) for x in numbers.tolist()]
    total = sum(map(int, weights))
    mean = sum((x * int(w) for x, w in zip(exact, weights, strict=True)), Fraction(0)) / total
    variance = sum(((x - mean) ** 2 * int(w) for x, w in zip(exact, weights, strict=True)), Fraction(0)) / total
    # The root of a fraction whose double may be too small or too large for one.
    half = (variance.denominator.bit_length() - variance.numerator.bit_length()) // 2
    return float(mean), math.ldexp(math.sqrt(variance * Fraction(4) ** half), -half)


def weighed(draw: st.DataObject, n: int) -> Weighing:
    kept = np.flatnonzero(np.random.default_rng(draw.draw(st.integers(0, 99))).random(n) < 0.8)
    rows = None if draw.draw(st.booleans()) or not len(kept) else kept
    rng = np.random.default_rng(n)
    size = n if rows is None else len(rows)
    most = draw.draw(st.sampled_from([0, 3, 2**20]))
    return Weighing(rows, rng.integers(1, most, size, endpoint=True) if most else None)


@given(given_log=troublesome(), seed=st.integers(0, 999), data=st.data())
def test_every_node_equals_fractions(given_log, seed, data):
    log, value = given_log
    tree, node = chain(log, np.random.default_rng(seed), 5)
    weighing = weighed(data, log.n_samples)
    scales = make_targets(log, value, (1, 1, 1), "sigma", weighing).scales
    at = describe(tree, node, log, value, scales, "sigma", weighing)
    change = derivatives(log)
    counted = np.zeros(log.n_samples, np.int64)
    counted[slice(None) if weighing.rows is None else weighing.rows] = 1 if weighing.counts is None else weighing.counts
    columns = [(value, at.value_mean, at.value_std)]
    columns += [
        (change[:, f], at.derivative_mean[:, f], at.derivative_std[:, f])
        for f in range(log.n_features)
        if at.count_derivative[0]
    ]
    columns += [(log.states[:, f], at.state_mean[:, f], None) for f in range(log.n_features)]
    if at.action_mean is not None:
        columns += [(log.actions[:, k], at.action_mean[:, k], at.action_std[:, k]) for k in range(log.actions.shape[1])]
    for top in range(tree.n_nodes):
        below = rows_below(tree, node, top) & (counted > 0)
        assert at.count[top] == below.sum()
        assert at.mass[top] == counted[below].sum()
        if at.action_count is not None:
            label = log.actions[below]
            assert at.action_count[top].tolist() == np.bincount(label, None, at.action_count.shape[1]).tolist()
            assert at.action_mass[top].tolist() == np.bincount(label, counted[below], at.action_count.shape[1]).tolist()
        for numbers, mean, std in columns:
            rows = below & ~np.isnan(numbers)
            if not rows.any():
                continue
            size = np.abs(numbers[~np.isnan(numbers)]).max()
            true_mean, true_std = brute(numbers[rows], counted[rows])
            tiny = 2.0**-58 * size + 5e-324
            assert abs(mean[top] - true_mean) <= 4e-16 * abs(true_mean) + tiny
            assert numbers[rows].min() <= mean[top] <= numbers[rows].max()
            if std is not None:
                assert abs(std[top] - true_std) <= 2e-15 * true_std + tiny
                if np.ptp(numbers[rows]) == 0:
                    assert std[top] == 0


def part_of(log: Log, begin: int, end: int) -> Log:
    """Rows of a log as a log: what follows an episode that is cut is its final state."""
    inside = log.starts[(log.starts > begin) & (log.starts < end)]
    starts = np.concatenate([[begin], inside, [end]])
    episode = np.searchsorted(log.starts, starts[1:], side="left") - 1
    whole = log.starts[episode + 1] == starts[1:]
    following = log.states[np.where(whole, 0, starts[1:])]
    return Log(
        states=log.states[begin:end],
        actions=log.actions[begin:end],
        rewards=log.rewards[begin:end],
        starts=starts - begin,
        final_states=np.where(whole[:, None], log.final_states[episode], following),
        endings=log.endings[episode],
        episode_ids=np.arange(len(episode)),
        schema=log.schema,
        dt=None if log.dt is None else log.dt[begin:end],
    )


def same(a: Attributes, b: Attributes) -> None:
    for name, column in vars(a).items():
        assert (column is None) == (getattr(b, name) is None)
        if isinstance(column, np.ndarray):
            assert column.tobytes() == getattr(b, name).tobytes(), name


@given(given_log=troublesome(), seed=st.integers(0, 999), data=st.data())
def test_parts_in_any_order_give_the_same_bits(given_log, seed, data):
    log, value = given_log
    rng = np.random.default_rng(seed)
    tree, node = chain(log, rng, 5)
    weights = rng.integers(1, 9, log.n_samples) if data.draw(st.booleans()) else None
    scales = make_targets(log, value, (1, 1, 1), "sigma", Weighing(None, weights)).scales
    whole = describe(tree, node, log, value, scales, "sigma", Weighing(None, weights), threads=3)
    size = np.abs(log.states).max(axis=0)

    def empty() -> LeafSums:
        most = float(np.abs(value).max())
        weighted = weights is not None
        return LeafSums.empty(log.schema, scales, size, tree.n_leaves, value_size=most, weighted=weighted)

    cuts = np.unique(rng.integers(1, log.n_samples, 3)) if log.n_samples > 1 else np.zeros(0, int)
    ends = [0, *cuts.tolist(), log.n_samples]
    parts = [slice(begin, end) for begin, end in pairwise(ends)]
    found = [empty(), empty()]
    for k in rng.permutation(len(parts)).tolist():
        rows = parts[k]
        some = Weighing(None, None if weights is None else weights[rows])
        part = part_of(log, rows.start, rows.stop)
        found[k % 2].add(part, value[rows], tree.leaf_number[node[rows]], some)
    found[0].merge(found[1])
    same(attributes_of(tree, found[0], scales, "sigma"), whole)


def test_threads_and_blocks_give_the_same_bits():
    log = random_log(1, lengths=(30_000, 70_000), features=2, dimensions=1)
    tree, node = chain(log, np.random.default_rng(0), 20)
    value = values(log, 0.99)
    scales = make_targets(log, value, (1, 1, 1), "sigma").scales
    one, *others = (describe(tree, node, log, value, scales, "sigma", threads=threads) for threads in (1, 2, 7))
    for other in others:
        same(one, other)
    assert one.value_mean[0] == pytest.approx(math.fsum(value) / len(value), rel=1e-15)


def test_sums_of_other_columns_are_refused():
    log = random_log(1)
    scales = make_targets(log, log.rewards, (1, 1, 1), "sigma").scales
    size = np.abs(log.states).max(axis=0)
    sums = LeafSums.empty(log.schema, scales, size, 2)
    with pytest.raises(ValueError, match="same units"):
        sums.merge(LeafSums.empty(log.schema, scales, 100 * size, 2))
    with pytest.raises(ValueError, match="same leaves"):
        sums.merge(LeafSums.empty(log.schema, scales, size, 3))
    with pytest.raises(ValueError, match="no such leaf"):
        sums.add(log, log.rewards, np.full(log.n_samples, 2, np.int32))
    with pytest.raises(ValueError, match="beyond those that the factors are made for"):
        sums.add(log, 1e6 * log.rewards, np.zeros(log.n_samples, np.int32))
    with pytest.raises(ValueError, match="shape"):
        _kernel.merge_leaves(*[sums.words[:, :, :4].copy(), sums.ranges, sums.counts, sums.labels] * 2)
