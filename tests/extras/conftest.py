"""Imports of the libraries in the group ``extras``: without one, tests are skipped, but never on the build machine."""

from __future__ import annotations

import importlib
import os

import pytest

from tests.web.conftest import chromium as chromium  # here, so that all tests of a process share one browser


@pytest.fixture(scope="session")
def need():
    """Return a function that imports a library by name: ``torch = need("torch")``."""

    def imported(name: str):
        try:
            return importlib.import_module(name)
        except ImportError as error:
            if os.environ.get("CI") == "true":
                pytest.fail(f"The build machine lacks {name} ({error}). Type: make .venv/.extras")
            pytest.skip(f"no {name} on this machine; type: make test-extras")

    return imported


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path, monkeypatch):
    """Run every test in an empty folder: MuJoCo writes a log of its own wherever it is."""
    monkeypatch.chdir(tmp_path)
