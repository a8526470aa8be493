from __future__ import annotations

import numpy as np

from tests.questions.trees import random_fitted
from tripletree.leaves.entry import entry_points


def place(lower, upper, margin=None, whole=False, low=0.0, high=10.0):
    one = np.array([1.0])
    return entry_points(
        np.array([[lower]]), np.array([[upper]]), low * one, high * one, (high - low) * one, np.array([whole]),
        None if margin is None else margin * one,
    )  # fmt: skip


def test_from_above_a_state_lands_on_a_short_number_inside():
    assert place(1.0, 1.48).land_high.item() == 1.47
    assert place(1.0, 1.48).near_high.item() == 1.48
    assert place(0.0, 0.045, high=0.2).land_high.item() == 0.0449
    assert place(-np.inf, 1200.0, high=5e5).land_high.item() == 1100
    thin = 1 + 2**-52
    assert place(1.0, thin).land_high.item() == 1.0
    assert place(-np.inf, -5e-324).land_high.item() < -5e-324


def test_margins_stop_in_the_middle():
    assert place(1.0, 4.0, 0.5).land_low.item() == 1.5
    assert place(1.0, 4.0, 0.5).land_high.item() == 3.5
    assert place(1.0, 4.0, 9.0).land_low.item() == place(1.0, 4.0, 9.0).land_high.item() == 2.5
    assert place(6.0, np.inf, 9.0).land_low.item() == 8.0  # the log ends at 10
    assert place(-np.inf, 4.0, 9.0).land_high.item() == 2.0


def test_whole_numbers():
    found = place(0.5, 3.0, 2.0, whole=True)
    assert (found.land_low.item(), found.land_high.item()) == (1, 2)
    none = place(0.2, 0.7, whole=True)  # no whole number inside: as if it were real
    assert none.land_low.item() == 0.2
    assert 0.2 <= none.land_high.item() < 0.7


def test_landings_lie_inside():
    for seed in range(30):
        fitted = random_fitted(seed, 4, 30)
        for margin in (None, np.full(4, 0.3), np.array([0, 0.1, 0, 5.0])):
            found = entry_points(
                *fitted.bounds, fitted.feature_min, fitted.feature_max, fitted.span, fitted.whole, margin
            )
            bounded = np.isfinite(found.lower)
            assert (found.land_low >= found.lower)[bounded].all()
            assert (found.land_low < found.upper)[bounded].all()
            bounded = np.isfinite(found.upper)
            assert (found.land_high >= found.lower)[bounded].all()
            assert (found.land_high < found.upper)[bounded].all()


def test_a_state_lands_at_most_a_thousandth_of_the_range_inside():
    """The range goes from 0 to 10: from above it lands on the last number of two decimals."""
    for upper, landing in ((5.0, 4.99), (7.5, 7.49), (7.507, 7.5)):
        found = place(0.0, upper).land_high.item()
        assert found == landing
        assert upper - found <= 0.01 + 1e-12
    assert place(0.0, 500.0, high=1000.0).land_high.item() == 499
    # In a leaf that is thinner than that, at most half of it.
    assert place(5.0, 5.001).land_high.item() >= 5.0005
