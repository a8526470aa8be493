from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import logs, make_log, random_log
from tests.reference.columns import Grid
from tests.reference.columns import columns as reference_columns
from tests.reference.columns import grid as reference_grid
from tripletree.log.derive import derivatives, has_successor, values
from tripletree.tree.targets import make_targets


@given(
    log=logs(),
    theta=st.sampled_from([(1.0, 1.0, 1.0), (0.2, 0.6, 0.2), (1.0, 0.0, 0.0), (0.0, 2.0, 5.0)]),
    scale=st.sampled_from(["sigma", "paper"]),
)
def test_targets_equal_the_reference(log, theta, scale):
    value = values(log, 0.9)
    targets = make_targets(log, value, theta, scale)
    labels = len(log.schema.action.labels) if log.schema.action.kind == "discrete" else None
    expected = reference_grid(reference_columns(log.actions, labels, value, derivatives(log), theta, scale))
    assert (targets.n_plain, targets.n_derivative) == (expected.n_plain, expected.n_derivative)
    k = targets.n_plain + targets.n_derivative
    if targets.scale != expected.scale:
        # Targets of just 1 or 2: the reference falls to the next power when a rounding error lifts them above.
        assert targets.scale == 2 * expected.scale
        assert np.abs(targets.rows).max() == 2**23
        return
    assert targets.fine == expected.fine
    # Sums in another order may round a half the other way, and a few steps of the finer grid, never more.
    got = Grid(targets.rows, targets.n_plain, targets.n_derivative, targets.scale, targets.fine).targets
    assert np.abs(got[:, :k] - expected.targets[:, :k]).max(initial=0) <= (8 if targets.fine else 1)
    assert got[:, k].tolist() == has_successor(log).tolist()
    assert not got[:, k + 1 :].any()


def impurities(targets, theta):
    """Sum of variances of plain and derivative lanes, in units of the targets."""
    y = targets.rows / targets.scale
    known = targets.rows[:, targets.n_plain + targets.n_derivative] == 1
    plain = y[:, : targets.n_plain].var(axis=0).sum()
    lanes = slice(targets.n_plain, targets.n_plain + targets.n_derivative)
    return plain, y[known, lanes].var(axis=0).sum()


@pytest.mark.parametrize("dimensions", [0, 2])
@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("scale", ["sigma", "paper"])
def test_every_attribute_weighs_theta_at_the_root(dimensions, labels, scale):
    log = random_log(3, dimensions=dimensions, labels=labels, features=3)
    theta = (0.5, 2.0, 3.0)
    plain, derivative = impurities(make_targets(log, values(log, 0.9), theta, scale), theta)
    assert plain == pytest.approx(2.5, rel=1e-6)
    assert derivative == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("labels", [2, 3])
def test_discrete_variance_is_the_gini_index(labels):
    log = random_log(4, labels=labels)
    targets = make_targets(log, values(log, 0.9), (1.0, 0.0, 0.0), "sigma")
    # In a part of the log, the lanes' variance over the Gini index is the same as over the whole log: 1 / root's.
    y = targets.rows[:, : targets.n_plain] / targets.scale
    root = 1 - ((np.bincount(log.actions) / log.n_samples) ** 2).sum()
    part = slice(10, 60)
    gini = 1 - ((np.bincount(log.actions[part]) / 50) ** 2).sum()
    assert targets.n_plain == (1 if labels == 2 else 3)
    assert y[part].var(axis=0).sum() == pytest.approx(gini / root, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1.0, 3.7e5, 1e300])
def test_the_unit_does_not_matter(unit):
    log = random_log(6, dimensions=1)
    scaled = make_log(
        log.states * unit, log.actions * unit, log.rewards * unit, log.starts, final_states=log.final_states * unit
    )
    one = make_targets(log, values(log, 0.9), (1.0, 1.0, 1.0), "sigma")
    other = make_targets(scaled, values(scaled, 0.9), (1.0, 1.0, 1.0), "sigma")
    assert other.scale == one.scale
    assert np.abs(other.rows - one.rows).max() <= 1


@given(seed=st.integers(0, 9999), dimensions=st.sampled_from([0, 2]))
def test_the_order_of_episodes_does_not_matter(seed, dimensions):
    log = random_log(seed, lengths=(9, 5, 14, 7), dimensions=dimensions)
    order = np.random.default_rng(seed).permutation(4)
    rows = np.concatenate([np.arange(log.starts[e], log.starts[e + 1]) for e in order])
    one = make_targets(log, values(log, 0.9), (1.0, 1.0, 1.0), "sigma")
    shuffled = log.select(order)
    other = make_targets(shuffled, values(shuffled, 0.9), (1.0, 1.0, 1.0), "sigma")
    assert (other.rows == one.rows[rows]).all()


def test_entries_stay_within_the_grid():
    log = random_log(7, lengths=(3000,), features=2)
    targets = make_targets(log, values(log, 0.9), (1.0, 1.0, 1.0), "sigma")
    y = targets.rows[:, : targets.n_plain + targets.n_derivative].astype(object)
    assert 2**22 < np.abs(y).max() <= 2**23
    assert (y * y).sum() <= 2**61


def test_notes_say_what_is_left_out():
    constant = make_log([[1.0], [2.0]], [0, 0], [0, 0], [0, 1, 2], labels=("stay",))
    targets = make_targets(constant, values(constant, 0.9), (1, 1, 1), "sigma")
    text = " ".join(targets.notes)
    assert "All actions in this log are the same" in text
    assert "All values in this log are the same" in text
    assert "No sample of this log has a successor" in text
    assert "single leaf" in text
    assert targets.n_plain == targets.n_derivative == 0


def test_an_attribute_of_weight_zero_is_not_missed():
    log = make_log([[1.0], [2.0]], [0, 0], [0, 1], [0, 1, 2], labels=("stay",))
    assert make_targets(log, values(log, 0.9), (0, 1, 0), "sigma").notes == ()


def test_equal_derivatives_are_noted():
    log = make_log([[0.0], [1.0], [2.0]], [0, 1, 1], [0, 1, 2], labels=("a", "b"))
    (note,) = make_targets(log, values(log, 0.9), (1, 1, 1), "sigma").notes
    assert "All derivatives in this log are the same" in note


@given(seed=st.integers(0, 9999), labels=st.integers(3, 5))
def test_labels_that_do_not_occur_change_nothing(seed, labels):
    log = random_log(seed, labels=labels, lengths=(7, 3))
    more = make_log(
        log.states,
        log.actions,
        log.rewards,
        log.starts,
        final_states=log.final_states,
        labels=(*log.schema.action.labels, "never"),
    )
    one = make_targets(log, values(log, 0.9), (1, 1, 1), "sigma")
    other = make_targets(more, values(more, 0.9), (1, 1, 1), "sigma")
    assert (one.rows == other.rows).all()
