"""Model files changed with care: what loads answers everything, or refuses in plain words."""

from __future__ import annotations

import pytest

from tests.hostile import survivors


@pytest.mark.parametrize("seed", range(4))
def test_what_loads_can_be_used(seed: int) -> None:
    faults: list[str] = []
    found = survivors.run(250, seed, faults.append)
    assert faults == []
    # Mutations that are all refused, or all harmless, would prove nothing.
    assert found["refused at the door"] > 50
    assert found["loaded"] > 50
    assert found["answers"] > 500
    assert found["refusals"] > 0
