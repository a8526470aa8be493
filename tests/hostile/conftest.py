"""A good file to spoil, and an alarm for loads that hang."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.store.models import random_model
from tripletree.errors import ModelFileError
from tripletree.log.schema import Action
from tripletree.store import load, save


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small discrete model with everything in it but weights."""
    path = tmp_path_factory.mktemp("good") / "good.tripletree"
    model = random_model(11, leaves=6, weighted=False)
    assert model.tree.n_leaves == 6
    save(model, path)
    return path.read_bytes()


@pytest.fixture(scope="session")
def weighted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small discrete model of a log with weights."""
    path = tmp_path_factory.mktemp("good") / "weighted.tripletree"
    save(random_model(11, leaves=6, weighted=True), path)
    return path.read_bytes()


@pytest.fixture(scope="session")
def continuous(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small continuous model without derivatives or validation."""
    path = tmp_path_factory.mktemp("good") / "continuous.tripletree"
    action = Action("continuous", ("thrust", "turn"), units=("N", "rad"))
    model = random_model(13, action=action, leaves=4, derivative=False, validation=False)
    assert model.tree.n_leaves == 4
    save(model, path)
    return path.read_bytes()


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[bytes, str], None]:
    """Load these bytes and expect one clear error with this text."""

    def check(data: bytes, text: str) -> None:
        path = tmp_path / "bad.tripletree"
        path.write_bytes(data)
        with pytest.raises(ModelFileError, match=f"^Cannot load '.*bad.tripletree': .*(?:{text})") as caught:
            load(path)
        assert len(str(caught.value)) < 700, "an error must fit on a screen"

    return check


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    """Turn a hang into a failure."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError("a load hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(240)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
