"""Settings shared by all tests."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Pictures are drawn without a screen.
os.environ.setdefault("MPLBACKEND", "agg")
# Tests run side by side: threads that wait for each other over small matrices take ten times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No deadlines: a busy machine is not a bug. The sanitized build is several times slower, so it gets fewer examples.
settings.register_profile("house", deadline=None, print_blob=True)
settings.register_profile("sanitize", settings.get_profile("house"), max_examples=25)
settings.load_profile("house")


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """Return a folder of a user whom file permissions bind: root takes the place of somebody else meanwhile."""
    folder = Path(tempfile.mkdtemp())
    nobody = 65534
    as_root = os.geteuid() == 0
    if as_root:
        os.chown(folder, nobody, nobody)
        os.seteuid(nobody)
    try:
        yield folder
    finally:
        if as_root:
            os.seteuid(0)
        shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close what a test has drawn, wherever that was: matplotlib warns when many figures are open."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
