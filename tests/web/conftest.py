"""One browser for all tests of a process; where there is none, they are skipped, but never on the build machine."""

from __future__ import annotations

import os
import shutil

import pytest

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
