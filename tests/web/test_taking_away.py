"""What the explorer gives away is true: pictures, sentences, data, lines of Python, a report; and a step is undone."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from tests.web.pages import numbers, on_map, says, settled, state_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def menu(opened):
    """Return a function that opens a world and its menu; the menu's buttons save files, or copy text."""

    def open_menu(name, view="", ready=".tx-futures li"):
        page = opened(name, view)
        page.wait_for_selector(ready)
        settled(page)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.locator(".tx-actions button").last.focus()
        page.keyboard.press("e")
        page.wait_for_selector(".tx-menu button")
        return page

    return open_menu


def saved(page, name):
    with page.expect_download() as found:
        page.get_by_role("button", name=name).click()
    return found.value.path().read_bytes()


def copied(page, name):
    page.get_by_role("button", name=f"Copy the {name}").click()
    says(page, ".tx-menu", f"Copied the {name}.")
    return page.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize(("world", "scale"), [("road", "acc = 0.001"), ("lander", "mean main engine")])
def test_a_picture_is_what_is_seen(menu, world, scale):
    page = menu(world)
    drawn = ElementTree.fromstring(saved(page, "Picture of the map, SVG"))
    texts = [one.text for one in drawn.iter(f"{SVG}text")]
    assert page.locator(".tx-title").text_content() in texts
    assert scale in texts
    assert drawn.find(f".//{SVG}circle[@class='tx-here']") is not None
    leaves = sum(1 for one in drawn.iter(f"{SVG}rect"))
    assert leaves >= 60 or drawn.find(f".//{SVG}image") is not None
    picture = saved(page, "Picture of the map, PNG")
    assert picture.startswith(b"\x89PNG")
    size = [int.from_bytes(picture[at : at + 4], "big") for at in (16, 20)]
    assert size == [2 * int(drawn.get("width")), 2 * int(drawn.get("height"))]


# What is opened, what must be there, and which sentences of the page the lines must give again.
LINES = {
    "ask": ("road", "", ".tx-chips button", [".tx-answer[id]"]),
    "a smaller tree": ("road", "leaves=7", ".tx-chips button", [".tx-answer[id]"]),
    "ask the lander": ("lander", "", ".tx-chips button", [".tx-answer[id]"]),
    "routes": ("road", "tab=routes&from=pos+<+1&to=pos+>+2", ".tx-ways li", [".tx-panel:not([hidden]) .tx-answer p"]),
    "episodes": ("road", "tab=episodes&given=length+>+60", ".tx-table tbody tr", []),
    "one episode": ("road", "tab=episodes&episode=2", ".tx-story li", []),
    "machine": ("road", "tab=machine", ".tx-node", []),
    "size": ("road", "tab=size&leaves=9", ".tx-curve .tx-loss", []),
    "two models": ("two", "tab=compare", ".tx-worst button", [".tx-panel:not([hidden]) .tx-answer p"]),
}


@pytest.mark.parametrize("case", LINES)
def test_the_lines_of_python_give_the_same_answers(menu, worlds, tmp_path, monkeypatch, case):
    world, view, ready, places = LINES[case]
    page = menu(world, view, ready)
    monkeypatch.chdir(tmp_path)
    trees, logs, _ = worlds
    for name, tree in {**trees, "either": trees["road"], "left": trees["left"]}.items():
        tree.save(f"{name}.tripletree")
    for name in ("road", "lander"):
        logs[name].to_npz(f"{name}.npz")
    known, answers = {}, []
    for line in copied(page, "Python lines").splitlines():
        if re.match(r"[a-z]\w* = |import |from ", line):
            exec(line, known)
        else:
            answers.append(eval(line, known))
    assert len(answers) >= 2
    told = [" ".join(str(one).split()) for one in answers]
    for place in places:
        seen = " ".join(page.locator(place).first.text_content().split())
        assert any(seen in one for one in told), (seen, told)
    if "ask" in case or case in ("a smaller tree", "episodes"):
        # What is copied as sentences is what Python says, line by line.
        for sentence in filter(None, map(str.strip, copied(page, "sentences").splitlines())):
            assert any(sentence in one for one in told), (sentence, told)
    if case == "size":
        assert answers[1].n_leaves_ == 9


def test_answers_are_saved_as_data(menu, worlds):
    page = menu("road")
    page.keyboard.press("Escape")
    page.mouse.click(*on_map(page, 0.6, 0.4))
    state = numbers(state_of(page))
    says(page, ".tx-answer", str(worlds[0]["road"].explain(state, about="action")))
    page.keyboard.press("e")
    data = json.loads(saved(page, "Answers as JSON"))
    assert data["view"]["state"] == data["answer"]["state"] == state
    assert data["answer"]["why"] == str(worlds[0]["road"].explain(state, about="action"))


def test_a_report_is_saved(menu):
    page = menu("road")
    report = saved(page, "Save as a report").decode()
    says(page, ".tx-menu", "Saved the report")
    assert report.startswith("<!doctype html>")
    assert "</html>" in report
    assert not re.search(r"(?:src|href)=\"https?://", report)


def test_every_step_is_undone_in_turn(opened):
    page = opened("lander", "tab=ask")
    undo = page.get_by_role("button", name="Undo")
    assert undo.is_disabled()
    steps = [
        lambda: page.locator(".tx-tools select").nth(2).select_option("value"),
        lambda: page.get_by_role("button", name="Slice").click(),
        lambda: page.get_by_role("button", name="Hold v_x").click(),
        lambda: page.get_by_role("button", name="Zoom in").click(),
        lambda: page.locator("[role=tab]", has_text="Machine").click(),
    ]
    seen = []
    for step in steps:
        settled(page)
        seen.append(page.url)
        step()
    settled(page)
    for before in reversed(seen):
        page.keyboard.press("u")
        settled(page)
        assert page.url == before
    assert undo.is_disabled()


def test_who_is_here_for_the_first_time_gets_four_hints_once(chromium, worlds):
    context = chromium.new_context(viewport={"width": 1280, "height": 860})
    # A page that a program drives shows no hints, or no other test would see what is below them.
    context.add_init_script("Object.defineProperty(Navigator.prototype, 'webdriver', {get: () => false})")
    page = context.new_page()
    page.goto(worlds[2]["lander"])
    hints = []
    for number in range(1, 5):
        says(page, ".tx-tour", f"{number} of 4")
        assert page.locator(".tx-lit").count() == 1
        hints.append(page.locator(".tx-tour h2").text_content())
        page.keyboard.press("Enter")  # its button has the focus
    page.wait_for_selector(".tx-tour", state="detached")
    assert len(set(hints)) == 4
    assert page.locator(".tx-lit").count() == 0
    page.reload()
    page.wait_for_selector(".tx-answer p")
    assert page.locator(".tx-tour").count() == 0
    page.keyboard.press("?")
    page.get_by_role("button", name="Show the four hints again").click()
    says(page, ".tx-tour", "1 of 4")
    page.keyboard.press("Escape")
    page.wait_for_selector(".tx-tour", state="detached")
    context.close()
