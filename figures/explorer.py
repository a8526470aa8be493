"""The explorer as the manual shows it: its own page, in a browser, at a few views."""

from __future__ import annotations

import functools
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from tripletree import TripleTree, TripleTreeWarning
from tripletree.demos import lander, road
from tripletree.web.house import House
from tripletree.web.serving import prepare

WIDE = (1280, 820)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

#: By name: the world, the address, the size of the window, and the reader's colours.
VIEWS: dict[str, tuple[str, str, tuple[int, int], Literal["light", "dark"]]] = {
    "explore-ask": ("road", "colour=action&arrows=1&state=1.2,0.03&foil=action+%3D+-0.001", WIDE, "light"),
    "explore-routes": ("road", "tab=routes&from=pos+<+0.8+and+speed+<+0&to=pos+>+2.2", WIDE, "light"),
    "explore-episode": ("lander", "tab=episodes&episode=3&step=120&x=x&y=y&colour=value", WIDE, "light"),
    "explore-machine": ("road", "tab=machine&colour=value&phase=1", WIDE, "light"),
    "explore-size": ("lander", "tab=size&x=x&y=y&leaves=40", WIDE, "light"),
    "explore-compare": ("two", "tab=compare", WIDE, "light"),
    "explore-dark": ("lander", "x=y&y=v_y&colour=main+engine&rest=all", WIDE, "dark"),
}


class Screenshot:
    """A view of the explorer, which is opened when it is saved."""

    def __init__(self, name: str) -> None:
        self.name = name

    def save(self, path: str | Path, dpi: int | None = None) -> Screenshot:
        """Open the view, wait until it is drawn, and write what is seen."""
        from playwright.sync_api import sync_playwright

        del dpi
        if Path(path).suffix != ".png":
            return self
        world, view, (width, height), scheme = VIEWS[self.name]
        browser = next(filter(None, map(shutil.which, BROWSERS)))
        with sync_playwright() as playwright:
            opened = playwright.chromium.launch(executable_path=browser, chromium_sandbox=False)
            page = opened.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(f"{_address(world)}#{view}")
            page.wait_for_selector(".tx-panel:not([hidden])")
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(800)
            page.screenshot(path=path)
            opened.close()
        return self


@functools.cache
def _address(world: str) -> str:
    """Return the address of a server for a world, which answers until the program ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        if world == "lander":
            log = lander.log()
            house = House(TripleTree(450).fit(log), log=log, names=("lander.tripletree", "", "lander.npz"))
        else:
            log = road.record("either", n_samples=20_000)
            tree = TripleTree(200, theta=(0.2, 0.6, 0.2)).fit(log)
            other = TripleTree(100, theta=(0.2, 0.6, 0.2)).fit(road.record("left", n_samples=20_000))
            names = ("either.tripletree", "left.tripletree", "road.npz")
            house = House(tree, other if world == "two" else None, log=log, names=names)
    server = prepare(house)
    server.in_background()
    return server.address


FIGURES: dict[str, Callable[[], Any]] = {name: functools.partial(Screenshot, name) for name in VIEWS}
