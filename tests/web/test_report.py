"""The report in a real browser, without a network: it opens, answers, can be used by everybody, and prints."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.report.models import REPORTS
from tripletree.frontend.payload import usual_foils
from tripletree.questions.counterfactuals import counterfactual
from tripletree.questions.explain import factual


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Return a function of a name that writes the report once, and gives its address."""
    folder = tmp_path_factory.mktemp("reports")

    def write(name):
        path = folder / f"{name}.html"
        if not path.exists():
            tree, log = REPORTS[name]()
            tree.report(log, path)
        return path.as_uri()

    return write


@pytest.fixture
def opened(page, written):
    def open_report(name):
        page.goto(written(name))
        page.wait_for_selector(".tt-answers p")
        return page

    return open_report


def place_on_map(page, across, down):
    page.locator(".tt-board svg").scroll_into_view_if_needed()
    box = page.locator(".tt-board svg").bounding_box()
    return box["x"] + box["width"] * across, box["y"] + box["height"] * down


def answers(page):
    return page.locator(".tt-answers p").all_inner_texts()


@pytest.mark.parametrize("name", REPORTS)
def test_it_opens_without_an_error_or_a_request(opened, name):
    page = opened(name)
    assert len(page.locator("main > section").all()) == 8
    assert page.locator("figure svg[role=img]").count() > 8
    for link in page.locator("nav a").all():
        assert page.locator(link.get_attribute("href")).count() == 1


def test_a_click_asks_about_the_place_clicked(opened):
    page = opened("road")
    tree, _ = REPORTS["road"]()
    fitted = tree.fitted_
    before = answers(page)
    page.mouse.click(*place_on_map(page, 0.8, 0.2))
    assert answers(page) != before
    # The inputs show six digits of the state, which may lie in the next leaf only on a border.
    state = [float(field.input_value()) for field in page.locator(".tt-state input").all()]
    foil = page.locator("select").last.input_value()
    assert answers(page) == [
        str(factual(fitted, state, "action")),
        str(counterfactual(fitted, state, usual_foils(fitted)[foil])),
    ]


def test_typing_a_state_outside_the_log_brings_a_warning(opened):
    page = opened("road")
    page.locator(".tt-state input").first.fill("99")
    page.keyboard.press("Tab")
    assert "Careful, no such state is in the log" in answers(page)[0]


def test_hovering_tells_the_leaf(opened):
    page = opened("road")
    page.mouse.move(*place_on_map(page, 0.5, 0.5))
    assert re.match(r"Leaf \d+, [\d,]+ samples: acc -?0\.001", page.locator(".tt-hover").inner_text())


def test_arrow_keys_move_the_state(opened):
    page = opened("lander")
    place = page.locator(".tt-here")
    page.locator(".tt-board svg").focus()
    before = float(place.get_attribute("cx")), float(place.get_attribute("cy"))
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    after = float(place.get_attribute("cx")), float(place.get_attribute("cy"))
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_every_choice_draws_another_picture(opened):
    page = opened("lander")
    for number in range(5):
        chooser = page.locator(".tt-controls select").nth(number)
        for option in chooser.locator("option").all():
            chooser.select_option(option.get_attribute("value"))
            assert page.locator(".tt-tiles rect").count() > 0
            assert all(answers(page))
    across, up = (page.locator(".tt-controls select").nth(k) for k in (0, 1))
    across.select_option(up.input_value())
    assert across.input_value() != up.input_value()


def test_the_map_has_a_table_that_says_the_same(opened):
    page = opened("road")
    page.locator(".tt-twin summary").click()
    page.wait_for_selector(".tt-twin tbody tr")
    assert page.locator(".tt-twin tbody tr").count() >= page.locator(".tt-tiles rect").count()
    leaf = page.locator(".tt-tiles rect").first.get_attribute("data-leaf")
    assert page.locator(f".tt-twin th[scope=row]:text-is('{leaf}')").count() == 1


RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


@pytest.mark.parametrize(
    ("name", "scheme", "rules"),
    [
        ("lander", "light", {"type": "tag", "values": RULES}),
        ("one-feature", "light", {"type": "tag", "values": RULES}),
        # What else there is to complain about is the same in the dark.
        ("lander", "dark", {"type": "rule", "values": ["color-contrast"]}),
        ("road", "dark", {"type": "rule", "values": ["color-contrast"]}),
    ],
)
def test_axe_finds_nothing_to_complain_about(opened, name, scheme, rules):
    page = opened(name)
    page.emulate_media(color_scheme=scheme)
    page.locator(".tt-twin summary").click()
    # Thousands of shapes make it slow; what is said of a picture is at its root.
    shapes = {"exclude": [["svg[role=img] g"]]}
    found = Axe().run(page, context=shapes, options={"runOnly": rules}).response
    problems = [(one["id"], one["impact"], one["nodes"][0]["html"][:120]) for one in found["violations"]]
    assert problems == []
    assert any(one["id"] == "color-contrast" for one in found["passes"])


def test_the_keyboard_reaches_every_control(opened):
    page = opened("lander")
    wanted = page.evaluate(
        "[...document.querySelectorAll('a[href], select, input, summary, [tabindex=\"0\"]')]"
        ".filter((element) => element.checkVisibility())"
        ".map((element, number) => { element.dataset.number = number; return number; })"
    )
    reached = []
    page.locator("body").press("Tab")
    for _ in range(len(wanted) + 3):
        number = page.evaluate("document.activeElement.dataset.number ?? null")
        if number is not None and int(number) not in reached:
            reached.append(int(number))
        page.keyboard.press("Tab")
    assert sorted(reached) == wanted


@pytest.mark.parametrize("name", ["lander", "hostile", "many-features"])
def test_nothing_is_wider_than_a_phone(opened, name):
    page = opened(name)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_it_prints_on_light_paper_whatever_the_screen(opened, tmp_path):
    page = opened("road")
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".tt-controls").is_hidden()
    pdf = page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert pdf.startswith(b"%PDF")
    assert 5 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 40


def test_names_that_look_like_markup_stay_text(opened):
    page = opened("hostile")
    assert page.evaluate("window.hacked === undefined")
    assert page.locator("script").count() == 2
    assert "<script>window.hacked=1</script>" in page.locator("main").inner_text()
    assert page.locator(".tt-controls option", has_text="<img").count() > 0


def edges(page, selector):
    """Return, for each region that scrolls, how the strips at its left and right differ from the paper behind it."""
    from io import BytesIO

    from PIL import Image

    found = []
    for region in page.locator(selector).all():
        wide, room = region.evaluate("(e) => [e.scrollWidth, e.clientWidth]")
        # The last column ends with some air, which need not be seen.
        if wide <= room + 24:
            continue
        # The text is not what is looked for.
        region.evaluate("(e) => { e.firstElementChild.style.visibility = 'hidden'; }")
        shot = Image.open(BytesIO(region.screenshot())).convert("RGB")
        row = [shot.getpixel((x, shot.height // 2)) for x in (3, shot.width // 2, shot.width - 4)]
        region.evaluate("(e) => { e.scrollLeft = e.scrollWidth; }")
        shot = Image.open(BytesIO(region.screenshot())).convert("RGB")
        last = [shot.getpixel((x, shot.height // 2)) for x in (3, shot.width // 2, shot.width - 4)]
        found.append((row, last))
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_table_that_goes_on_beyond_the_screen_shows_that(opened, scheme):
    page = opened("lander")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 800})
    found = edges(page, "main .scroll")
    assert len(found) >= 2
    for (left, middle, right), (left_after, middle_after, right_after) in found:
        # At first a shadow at the right, at the end one at the left.
        assert left == middle != right
        assert left_after != middle_after == right_after


def test_pictures_that_go_on_beyond_the_screen_say_so(opened):
    page = opened("lander")
    page.evaluate("() => document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    said = "(e) => getComputedStyle(e, '::before').content"
    for width, wide, broad in ((390, True, True), (900, False, True), (1280, False, False)):
        page.set_viewport_size({"width": width, "height": 800})
        for selector, expected in ((".wide", wide), (".broad", broad)):
            region = page.locator(f"main {selector}").first
            assert ("Scroll sideways" in region.evaluate(said)) == expected
            assert region.evaluate("(e) => e.scrollWidth > e.clientWidth + 1") == expected
