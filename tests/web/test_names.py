"""Hostile names in a real browser: nothing runs, nothing breaks, and everything is shown as it is."""

from __future__ import annotations

import html
import warnings

import pytest

from tests.hostile.names import NAMES, hostile_log
from tripletree import TripleTree, TripleTreeWarning
from tripletree.frontend import assets
from tripletree.markup import text
from tripletree.text import on_a_page

# With four features, three labels and six episodes, every name takes every part; dimensions of an action go by twos.
CASES = [*((begin, True) for begin in range(0, len(NAMES), 3)), *((begin, False) for begin in range(1, len(NAMES), 8))]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")

    def write(begin, discrete):
        log = hostile_log(begin, discrete)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TripleTreeWarning)
            TripleTree(20).fit(log).report(log, folder / "report.html", title=NAMES[begin])
        return log, (folder / "report.html").as_uri()

    return write


def shown(name):
    """A name as a page has it, with the spaces that keep signs together."""
    return html.unescape(text(name))


@pytest.mark.parametrize(("begin", "discrete"), CASES)
def test_names_are_text_wherever_they_appear(page, written, begin, discrete):
    log, address = written(begin, discrete)
    page.goto(address)
    page.wait_for_selector(".tt-answers p")
    schema = log.schema
    # Nothing has run or been added: two scripts, and no attribute that would run one.
    assert page.evaluate("window.hacked === undefined")
    assert page.locator("script").count() == 2
    attributes = "[...document.querySelectorAll('*')].flatMap((e) => [...e.attributes]).map((a) => a.name)"
    assert not [name for name in page.evaluate(attributes) if name.startswith("on")]
    # All of it is there.
    assert page.title().split() == shown(NAMES[begin]).split()
    rows = page.locator("section[aria-labelledby=log] th[scope=row]").all_text_contents()
    assert rows[:4] == [shown(name) for name in schema.feature_names]
    assert set(rows[4:]) >= {shown(name) for name in (schema.action.labels or schema.action.names)}
    worst = page.locator("section[aria-labelledby=fortune] table").first.locator("th[scope=row]").all_text_contents()
    assert set(worst) == {shown(str(name)) for name in log.episode_ids}
    options = page.locator(".tt-controls select").first.locator("option").all_text_contents()
    assert options == [on_a_page(name) for name in schema.feature_names]
    # The page is as wide as the screen, and every picture has room for its marks.
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    shares = page.evaluate(
        "[...document.querySelectorAll('svg[role=img]')].map((svg) => "
        "svg.querySelector('clipPath rect').width.baseVal.value / svg.viewBox.baseVal.width)"
    )
    assert len(shares) > 8
    assert min(shares) > 0.3


def test_the_browser_shows_names_as_python_does(page):
    page.goto("about:blank")
    page.add_script_tag(content=f"{assets.script('dom.js')}\nglobalThis.onAPage = onAPage;", type="module")
    page.wait_for_function("globalThis.onAPage")
    names = [*NAMES, "الموقع الحالي >= 3", *(f"a{chr(code)}b" for code in (*range(0x300), *range(0x2000, 0x2100)))]
    assert page.evaluate("(names) => names.map(onAPage)", names) == [on_a_page(name) for name in names]


def test_words_from_right_to_left_do_not_turn_a_condition_round(page, written):
    _, address = written(NAMES.index("الموقع"), True)
    page.goto(address)
    page.wait_for_selector(".tt-answers p")
    # The sign and the number of a condition stand to the right of the name, in their order.
    places = page.evaluate(
        """() => {
          const lines = [...document.querySelectorAll(".rules li")];
          const line = lines.find((item) => /الموقع\\u2069 [<>]/.test(item.textContent));
          const node = line.firstChild, at = node.data.search(/\\u2069 [<>]/);
          const left = (from, to) => {
            const range = document.createRange();
            range.setStart(node, from);
            range.setEnd(node, to);
            return range.getBoundingClientRect().left;
          };
          return [left(at - 1, at), left(at + 2, at + 3), left(at + 5, at + 6)];
        }"""
    )
    assert places == sorted(places)
