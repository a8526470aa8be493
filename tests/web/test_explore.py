"""The explorer in a real browser, against its real server: every view by mouse and by keyboard, on two worlds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.web.pages import mark_of, numbers, on_map, says, settled, state_of
from tripletree import failures, require
from tripletree.scenes.guides import shade_of, shades
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.view import read_view
from tripletree.web.house import House
from tripletree.web.serving import prepare

ABOUT = {"road": "action", "lander": "main engine"}


@pytest.mark.parametrize("name", ["road", "lander"])
def test_a_click_is_answered_as_python_answers(opened, worlds, name):
    page, tree = opened(name), worlds[0][name]
    page.mouse.click(*on_map(page, 0.6, 0.4))
    state = numbers(state_of(page))
    says(page, ".tx-answer", str(tree.explain(state, about=ABOUT[name])))
    foil = page.locator(".tx-panel:not([hidden]) .tx-field input").first.input_value()
    says(page, ".tx-answer[aria-live]:not([id])", str(tree.explain(state, foil, k=3)).split(" Or if ")[0])
    says(page, ".tx-futures", str(tree.futures(state, log=worlds[1][name])[0]))
    page.wait_for_function("() => document.querySelectorAll('.tx-chips button').length > 3")


def test_a_click_asks_about_a_state_that_there_is(opened, worlds):
    """A map shows two features of eight: the others are those of the recorded state nearest to the click."""
    page, log = opened("lander", "x=x&y=y&fixed=v_phi"), worlds[1]["lander"]
    page.wait_for_load_state("networkidle")
    held = float(page.locator(".tx-row input[type=number]").nth(5).input_value())
    page.mouse.click(*on_map(page, 0.5, 0.4))
    state = np.array(numbers(state_of(page)))
    span = np.ptp(log.states, axis=0)
    # Every few rows were sent to the page; of those one is nearest.
    near = (((log.states[:, :2] - state[:2]) / span[:2]) ** 2).sum(axis=1)
    same = (log.states[:, 2:5] == state[2:5]).all(axis=1) & (log.states[:, 6:] == state[6:]).all(axis=1)
    assert near[same].min() < 0.02**2
    assert state[5] == pytest.approx(held, abs=1e-3)
    assert page.locator(".tx-careful").first.inner_text() == ""
    page.locator(".tx-row input[type=number]").nth(2).fill("-40")
    page.keyboard.press("Enter")
    says(page, ".tx-careful", "Nobody has been near this state")


@pytest.mark.parametrize("name", ["road", "lander"])
def test_the_keyboard_does_it_all(opened, name):
    page = opened(name)
    page.keyboard.press("m")
    assert page.evaluate("document.activeElement.classList.contains('tx-over')")
    before = mark_of(page)
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    state = state_of(page)
    after = mark_of(page)
    assert after["x"] > before["x"]
    assert after["y"] < before["y"]
    page.keyboard.press("+")
    page.wait_for_function("() => location.hash.includes('zoom=')")
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.hash.includes('zoom=')")
    slider = page.locator(".tx-row input[type=range]").first
    slider.focus()
    page.keyboard.press("Home")
    moved = state_of(page, state)
    assert float(moved[0]) < float(state[0])
    page.keyboard.press("Control+z")
    assert state_of(page, moved) == state
    for number, tab in enumerate(["Ask here", "Routes", "Episodes", "Machine", "Size", "Agent"], 1):
        page.keyboard.press(str(number))
        says(page, "[role=tab][aria-selected=true]", tab)
    page.locator("[role=tab][aria-selected=true]").focus()
    page.keyboard.press("ArrowRight")
    says(page, "[role=tab][aria-selected=true]", "Ask here")
    page.keyboard.press("?")
    assert "Escape" in page.locator("dialog").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_every_view_is_used_by_keyboard(opened, worlds):
    """Routes, episodes, the machine, the size and the weights, without a pointer."""
    page = opened("road", "tab=routes&state=0.5,0.05")
    for end in ("start", "end"):
        button = page.get_by_role("button", name=f"A tenth of the map around the state as the {end}")
        button.focus()
        page.keyboard.press("Enter")
        field = {"start": "from", "end": "to"}[end]
        page.wait_for_function("(end) => document.querySelector(`.tx-field-${end} input`).value", arg=field)
        page.keyboard.press("m")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        settled(page)
    start, end = (page.locator(f".tx-field-{name} input").input_value() for name in ("from", "to"))
    assert start != end
    says(page, ".tx-panel:not([hidden]) .tx-answer", str(worlds[0]["road"].chance(end, start, log=worlds[1]["road"])))
    page.keyboard.press("3")
    page.wait_for_selector(".tx-table tbody button")
    page.locator(".tx-table tbody button").nth(1).focus()
    page.wait_for_selector(".tx-way.tx-past", state="attached")
    page.keyboard.press("Enter")
    page.wait_for_selector(".tx-story li")
    page.keyboard.press("Escape")
    page.wait_for_selector(".tx-table tbody button")
    page.keyboard.press("4")
    page.wait_for_selector(".tx-node")
    settled(page)
    page.locator(".tx-node").nth(1).focus()
    page.wait_for_selector(".tx-stage .tx-region, .tx-stage .tx-leaves", state="attached")
    page.keyboard.press("Enter")
    page.wait_for_selector(".tx-node.tx-chosen")
    # Whoever chose it is still there.
    assert page.evaluate("document.activeElement.classList.contains('tx-chosen')")
    page.keyboard.press("5")
    page.wait_for_selector(".tx-curve .tx-loss")
    page.locator(".tx-leaves-row input[type=range]").focus()
    page.keyboard.press("PageDown")
    says(page, ".tx-subtitle", "50 leaves")
    weights = page.locator(".tx-weights input").first
    before = weights.input_value()
    page.locator(".tx-triangle svg").focus()
    page.keyboard.press("ArrowUp")
    assert float(weights.input_value()) > float(before)


def test_what_is_drawn_is_what_the_scene_says(opened, worlds):
    """Every leaf with room for it has its colour on the canvas, in its middle."""
    page, tree = opened("road", "colour=value"), worlds[0]["road"]
    settled(page)
    scene = leaf_map(read_view(tree, "pos", "speed"), "value", log=worlds[1]["road"])
    tiles, colours = scene.marks[0], shades(scene.colours)
    codes = shade_of(scene.colours, tiles.value)
    seen = page.evaluate(
        """([boxes, xs, ys]) => {
          const canvas = document.querySelector(".tx-stage canvas");
          const context = canvas.getContext("2d");
          const clip = document.querySelector(".tx-over clipPath rect");
          const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(clip.getAttribute(name)));
          const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
          const sharp = canvas.width / canvas.clientWidth;
          return boxes.map(([x0, x1, y0, y1]) => {
            const at = x + (((x0 + x1) / 2 - xs[0]) / (xs[1] - xs[0])) * w;
            const up = y + h - (((y0 + y1) / 2 - ys[0]) / (ys[1] - ys[0])) * h;
            const k = 4 * (Math.round(up * sharp) * canvas.width + Math.round(at * sharp));
            return "#" + [...pixels.slice(k, k + 3)].map((part) => part.toString(16).padStart(2, "0")).join("");
          });
        }""",
        [
            [[float(part[k]) for part in (tiles.x0, tiles.x1, tiles.y0, tiles.y1)] for k in range(len(tiles.x0))],
            [scene.x.low, scene.x.high],
            [scene.y.low, scene.y.high],
        ],
    )
    veil = scene.marks[-1]
    wide = (tiles.x1 - tiles.x0) > 0.03 * (scene.x.high - scene.x.low)
    high = (tiles.y1 - tiles.y0) > 0.03 * (scene.y.high - scene.y.low)
    checked = 0
    for k in (wide & high).nonzero()[0].tolist():
        i = int((veil.x[:-1] <= (tiles.x0[k] + tiles.x1[k]) / 2).sum()) - 1
        j = int((veil.y[:-1] <= (tiles.y0[k] + tiles.y1[k]) / 2).sum()) - 1
        if not veil.hidden[j, i]:
            assert seen[k] == colours[codes[k]]
            checked += 1
    assert checked > 20


def test_routes_are_brushed_and_typed(opened, worlds):
    page, tree, log = opened("road", "tab=routes"), worlds[0]["road"], worlds[1]["road"]
    for kind, corner, other in (("from", (0.15, 0.55), (0.4, 0.8)), ("to", (0.6, 0.1), (0.9, 0.5))):
        page.mouse.move(*on_map(page, *corner))
        page.mouse.down()
        page.mouse.move(*on_map(page, *other), steps=3)
        page.mouse.up()
        page.wait_for_function("(kind) => document.querySelector(`.tx-field-${kind} input`).value", arg=kind)
    start, end = (page.locator(f".tx-field-{name} input").input_value() for name in ("from", "to"))
    assert "pos >= " in start
    says(page, ".tx-panel:not([hidden]) .tx-answer", str(tree.chance(end, start, log=log)))
    page.wait_for_function("() => document.querySelectorAll('.tx-zone').length === 2")
    assert page.locator(".tx-route").count() >= page.locator(".tx-ways > li").count() > 1
    page.locator(".tx-field-from input").fill("speed > 0.0999")
    page.keyboard.press("Enter")
    page.locator(".tx-field-to input").fill("pos < 0.01 and speed > 0.09")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.tx-route').length === 0")
    page.locator(".tx-field-to input").fill("nothing here")
    page.keyboard.press("Enter")
    page.wait_for_selector(".tx-field-to input[aria-invalid=true]")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.querySelector('.tx-field-to input').value === ''")


@pytest.mark.parametrize("name", ["road", "lander"])
def test_an_episode_is_found_opened_and_scrubbed(opened, worlds, name):
    page, log = opened(name, "tab=episodes"), worlds[1][name]
    page.wait_for_selector(".tx-table tbody tr")
    assert page.locator(".tx-table tbody tr").count() == min(60, log.n_episodes)
    page.locator(".tx-panel:not([hidden]) select").select_option("return-")
    best = int(np.add.reduceat(log.rewards, log.starts[:-1]).argmax())
    page.wait_for_function(
        "(id) => document.querySelector('.tx-table tbody button').textContent === id", arg=str(log.episode_ids[best])
    )
    page.locator(".tx-panel:not([hidden]) .tx-field input").fill("length >= 100000")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.tx-table tbody tr').length === 0")
    page.locator(".tx-panel:not([hidden]) .tx-field input").fill("")
    page.keyboard.press("Enter")
    page.locator(".tx-table tbody button").first.click()
    page.wait_for_selector(".tx-story li")
    scrub = page.locator(".tx-scrub input")
    assert int(scrub.get_attribute("max")) == int(log.starts[best + 1] - log.starts[best]) - 1
    scrub.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    says(page, ".tx-scrub output", "step 2 ")
    row = int(log.starts[best]) + 2
    assert numbers(state_of(page)) == pytest.approx(log.states[row].tolist())
    page.get_by_role("button", name="change ▶").click()
    # Of an earlier step, the sentence may give a reason, too.
    page.wait_for_function("() => !document.querySelector('.tx-scrub output').textContent.startsWith('step 2 ')")
    says(page, ".tx-now", "because")
    assert page.locator(".tx-story [aria-current]").count() == 1
    now = page.locator(".tx-now").text_content()
    settled(page)
    page.reload()
    says(page, ".tx-now", now)
    page.locator("body").press("Escape")


def test_failures_and_requirements_are_asked_for(opened, worlds):
    page, log = opened("asked", "tab=episodes"), worlds[1]["road"]
    page.get_by_label("Failed means").fill("ends (pos >= 3)")
    page.keyboard.press("Enter")
    told = failures(log, "ends (pos >= 3)")
    page.get_by_text(str(told).splitlines()[0]).wait_for()
    assert page.locator(".tx-worst li").count() == min(len(told.cases), 40)
    page.get_by_label("Every episode").fill("pos < 2")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("does not say when").wait_for()
    page.get_by_label("Every episode").fill("always (pos < 2)")
    page.get_by_role("button", name="Check").click()
    worst = require(log, "always (pos < 2)")[0].worst[0]
    page.get_by_role("button", name=f"episode {worst.episode} at step {worst.step}").click()
    last = int(log.starts[worst.number + 1] - log.starts[worst.number]) - 1
    says(page, ".tx-scrub output", f"step {min(worst.step, last)} ")


@pytest.mark.parametrize("name", ["road", "lander"])
def test_the_machine_selects_everywhere(opened, name):
    page = opened(name, "tab=machine")
    page.wait_for_selector(".tx-node")
    assert page.locator(".tx-edge").count() >= page.locator(".tx-node").count() - 1
    assert page.locator(".tx-begins").count() >= 1
    assert page.locator(".tx-end").count() == 1
    page.locator(".tx-node circle").first.click()
    page.wait_for_selector(".tx-node.tx-chosen")
    page.wait_for_selector(".tx-stage .tx-region, .tx-stage .tx-leaves")
    page.locator(".tx-node").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".tx-node:nth-of-type(n+2).tx-chosen")
    page.get_by_role("button", name="Look inside").click()
    page.wait_for_function("() => document.querySelector('.tx-node')?.getAttribute('aria-label').startsWith('leaf')")
    page.locator(".tx-node").first.focus()
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.querySelector('.tx-node')?.getAttribute('aria-label').startsWith('leaf')")


def test_the_tree_is_truncated_and_grown_again(opened):
    page = opened("road", "tab=size")
    page.wait_for_selector(".tx-curve .tx-loss")
    field = page.locator(".tx-leaves-row input[type=number]")
    field.fill("7")
    page.keyboard.press("Enter")
    says(page, ".tx-subtitle", "7 leaves")
    says(page, ".tx-facts", "7 leaves")
    page.locator(".tx-leaves-row input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    says(page, ".tx-subtitle", "8 leaves")
    page.locator(".tx-triangle svg").focus()
    page.keyboard.press("ArrowUp")
    page.get_by_role("button", name="Grow with these weights").click()
    page.wait_for_function("() => location.hash.includes('model=a')")
    page.get_by_role("button", name="Back to the tree as it was").click()
    page.wait_for_function("() => !location.hash.includes('model=')")


def test_a_smaller_tree_is_opened_by_its_address(opened, worlds):
    page, tree = opened("lander", "leaves=40"), worlds[0]["lander"].truncate(40)
    says(page, ".tx-facts", "40 leaves")
    page.mouse.click(*on_map(page, 0.6, 0.4))
    says(page, ".tx-answer", str(tree.explain(numbers(state_of(page)), about=ABOUT["lander"])))
    settled(page)
    assert page.locator(".tx-news").is_hidden()


def test_two_models_move_together(opened):
    page = opened("two", "tab=compare")
    page.wait_for_function("() => document.querySelectorAll('.tx-over').length === 2")
    says(page, ".tx-panel:not([hidden])", "%")
    page.mouse.click(*on_map(page, 0.5, 0.5, 1))
    state_of(page)
    places = page.evaluate(
        "[...document.querySelectorAll('.tx-stage .tx-here')].map((e) => [e.cx.baseVal.value, e.cy.baseVal.value])"
    )
    assert places[0] == pytest.approx(places[1], abs=3)
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function("() => document.querySelectorAll('.tx-zoomed').length === 2")


def test_the_agent_stands_beside_its_tree(opened, worlds):
    page, tree = opened("agent", "tab=agent"), worlds[0]["road"]
    page.wait_for_selector(".tx-worst button")
    says(page, ".tx-panel:not([hidden])", "Tree and agent do the same in ")
    assert page.locator(".tx-differs").count() > 10
    assert page.locator(".tx-shade").count() > 0
    page.locator(".tx-worst button").first.focus()
    page.wait_for_selector(".tx-stage .tx-leaves")
    page.keyboard.press("Enter")
    state = numbers(state_of(page))
    says(page, ".tx-panel:not([hidden]) .tx-sentence", "acc = " + str(tree.predict([state]).action[0]))
    page.locator(".tx-panel:not([hidden]) .tx-chips button").first.click()
    page.wait_for_selector(".tx-story li")


def test_a_view_is_shared_by_its_address(opened):
    page = opened("lander", "x=x&y=y&colour=value&rest=here&arrows=1&tab=ask&foil=value+%3E%3D+90")
    says(page, ".tx-title", "Mean value by x and y")
    says(page, ".tx-subtitle", "on a slice")
    says(page, ".tx-key", "mean move")
    page.get_by_role("button", name="Limits").click()
    page.wait_for_selector(".tx-limits")
    page.locator(".tx-limit:not([hidden]) input").first.focus()
    page.keyboard.press("PageUp")
    page.wait_for_function("() => location.hash.includes('limit=')")
    told = page.locator(".tx-subtitle").inner_text()
    page.reload()
    says(page, ".tx-subtitle", " in [")
    assert page.locator(".tx-limits").is_visible()
    assert page.locator(".tx-tools select").nth(2).input_value() == "value"
    assert told


def test_without_a_log_the_page_says_what_it_needs(opened):
    page = opened("bare")
    says(page, ".tx-facts", "no log")
    says(page, ".tx-panel:not([hidden])", "--log")
    page.locator("[role=tab]", has_text="Agent").click()
    says(page, ".tx-panel:not([hidden])", "--agent")
    page.locator("[role=tab]", has_text="Size").click()
    assert page.get_by_role("button", name="Grow with these weights").is_disabled()


def test_a_server_that_is_gone_is_said_plainly(chromium, worlds):
    house = House(worlds[0]["road"])
    server = prepare(house)
    thread = server.in_background()
    page = chromium.new_page()
    page.goto(server.address)
    page.wait_for_selector(".tx-futures li")
    server.stop()
    thread.join(10)
    page.locator(".tx-row input[type=number]").first.fill("2")
    page.keyboard.press("Enter")
    page.wait_for_selector(".tx-news:not([hidden])")
    assert "does not answer" in page.locator(".tx-news").inner_text()
    assert "Try again" in page.locator(".tx-news").inner_text()
    page.close()
