"""One browser for all tests of a process; where there is none, they are skipped, but never on the build machine."""

from __future__ import annotations

import os
import shutil
import warnings

import numpy as np
import pytest

from tripletree import TripleTree, TripleTreeWarning
from tripletree.about_logs import finders
from tripletree.demos import lander, road
from tripletree.web.house import Beside, House
from tripletree.web.serving import prepare

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def chromium():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("The build machine has no Chromium. Type: sh scripts/browser.sh")
        pytest.skip("no Chromium on this machine; type: sh scripts/browser.sh")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium's own sandbox does not start for root, as whom containers run.
        browser = playwright.chromium.launch(executable_path=found, chromium_sandbox=os.geteuid() != 0)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """Return an empty page without a network; any error and any request that leaves the file fails the test."""
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "about:")) else problems.append(request.url),
    )
    yield page
    context.close()
    assert problems == []


@pytest.fixture(scope="session")
def worlds():
    """Return trees with their logs, and the address of a server for each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        logs = {"road": road.record("either", n_samples=3_000), "lander": lander.log().select(range(25))}
        trees = {"road": TripleTree(60).fit(logs["road"]), "lander": TripleTree(80).fit(logs["lander"])}
        left = trees["left"] = TripleTree(30).fit(road.record("left", n_samples=2_000))
    houses = {
        name: House(trees[name], log=logs[name], names=(f"{name}.tripletree", "", f"{name}.npz")) for name in logs
    }
    houses["two"] = House(
        trees["road"], left, log=logs["road"], names=("either.tripletree", "left.tripletree", "road.npz")
    )
    beside = Beside(lambda states: np.asarray(left.predict(states).action), "left")
    houses["agent"] = House(trees["road"], log=logs["road"], agent=beside)
    houses["asked"] = House(trees["road"], log=logs["road"], finders=finders())
    houses["bare"] = House(trees["road"])
    servers = {name: prepare(house) for name, house in houses.items()}
    threads = [server.in_background() for server in servers.values()]
    yield trees, logs, {name: server.address for name, server in servers.items()}
    for server in servers.values():
        server.stop()
    for thread in threads:
        thread.join(10)


@pytest.fixture
def opened(chromium, worlds):
    """Return a function that opens a world, at a view; anything on the console fails the test."""
    problems: list[str] = []
    context = chromium.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")

    def open_world(name, view="", size=None):
        page = context.new_page()
        page.set_default_timeout(20_000)
        if size:
            page.set_viewport_size(size)
        page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"{worlds[2][name]}#{view}")
        page.wait_for_selector(".tx-board")
        page.wait_for_function("() => document.querySelector('.tx-title').textContent !== ''")
        return page

    yield open_world
    context.close()
    assert problems == []
