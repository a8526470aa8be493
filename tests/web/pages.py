"""What tests do on a page of the explorer, without a race: whatever depends on an answer waits for it."""

from __future__ import annotations

import re

# Frames and timers of a page come in order, however slow the machine: what was asked for before has happened by then.
SETTLED = (
    """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 400))))"""
)


def settled(page):
    """Wait until the last change is drawn, and written to the address, which happens after a pause."""
    page.evaluate(SETTLED)


def on_map(page, across, down, number=0):
    box = page.locator(".tx-over").nth(number).bounding_box()
    return box["x"] + box["width"] * across, box["y"] + box["height"] * down


def mark_of(page):
    """Return where the marked state is drawn. In one step of the page: every answer draws the mark anew."""
    page.wait_for_selector(".tx-stage .tx-here", state="attached")
    return page.evaluate("document.querySelector('.tx-stage .tx-here').getBoundingClientRect().toJSON()")


def state_of(page, unlike=None):
    """Return the state in the address, with all its digits: the first one that is another than before."""
    page.wait_for_function(
        "(before) => location.hash.includes('state=') && !(before && location.hash.includes(before))",
        arg=unlike and "state=" + "%2C".join(unlike),
    )
    settled(page)
    return re.search(r"state=([^&]*)", page.url)[1].split("%2C")


def numbers(state):
    return [float(number) for number in state]


def says(page, selector, text):
    page.wait_for_function(
        "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)", arg=[selector, text]
    )
