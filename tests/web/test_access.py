"""Who may use the explorer: axe-core finds nothing serious in any view, light and dark, and a phone is wide enough."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.web.pages import settled

TABS = [
    ("lander", ["ask", "ask&rest=within", "routes", "episodes", "episodes&episode=1", "machine", "size", "agent"]),
    ("two", ["compare"]),
]
WCAG = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
# Only colours are others in the dark.
COLOURS = {"type": "rule", "values": ["color-contrast"]}


@pytest.mark.parametrize(("scheme", "rules"), [("light", WCAG), ("dark", COLOURS)])
def test_axe_finds_nothing_serious_and_a_phone_is_wide_enough(opened, scheme, rules):
    for world, views in TABS:
        page = opened(world)
        page.emulate_media(color_scheme=scheme)
        for view in views:
            page.evaluate("(view) => (location.hash = `tab=${view}`)", view)
            page.wait_for_selector(f"[role=tabpanel]:not([hidden])[id$={view.split('&')[0]}]")
            settled(page)
            page.wait_for_function("() => !document.querySelector('.tx-waiting')")
            found = Axe().run(page, options={"runOnly": rules}).response["violations"]
            assert [(one["id"], one["nodes"][0]["html"][:160]) for one in found] == [], view
            if scheme == "light":
                page.set_viewport_size({"width": 390, "height": 800})
                assert page.evaluate("document.documentElement.scrollWidth") == 390, view
                page.set_viewport_size({"width": 1280, "height": 860})
        page.close()
