"""The explorer in a real browser: from the start to the first map, from a click to its answer; and many at once."""

from __future__ import annotations

import functools
import http.client
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from benchmarks import worlds
from benchmarks.exploring_peers import clicked, rows_of
from benchmarks.fitting import fit, log_of
from benchmarks.harness import Options, Report, say
from tripletree.web.house import House
from tripletree.web.serving import prepare

TITLE = "Exploring: 1,000 leaves, 8 features, in Chromium"
BARS = {
    "start to first map": ("median", 2000.0),
    "command to first map": ("median", 2000.0),
    "click to explanation": ("median", 50.0),
    "another colour": ("median", 50.0),
    "hover": ("p95", 25.0),
    "slider of leaves": ("p95", 100.0),
    "a log of 10^6 steps opens": ("median", 5000.0),
    "5,000 leaves, 2 features: another colour": ("median", 50.0),
    "5,000 leaves, 2 features: zoom": ("p95", 50.0),
    "5,000 leaves, 2 features: hover": ("p95", 25.0),
}
"""What each must stay below, in milliseconds."""
# Acts, and waits until the text of a place has changed: what a person sees, without the clock of another process.
WATCH = """async ({selector, act, n}) => {
  const wait = (test) => new Promise((resolve) => {
    const look = () => (test() ? resolve(performance.now()) : setTimeout(look, 0));
    look();
  });
  const late = () => new Promise((resolve) => setTimeout(() => resolve(NaN), 3000));
  const times = [];
  for (let k = 0; k < n; k++) {
    const before = document.querySelector(selector).textContent;
    const begin = performance.now();
    new Function("k", act)(k);
    const end = await Promise.race([wait(() => document.querySelector(selector).textContent !== before), late()]);
    times.push(end - begin);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  return times;
}"""
POINT = """
const map = document.querySelector(".tx-over"), box = map.getBoundingClientRect();
map.setPointerCapture = () => {};
const point = (kind, x, y) => map.dispatchEvent(new PointerEvent(kind, {
  bubbles: true, clientX: box.left + box.width * x, clientY: box.top + box.height * y, button: 0, pointerId: 1,
}));
const x = 0.2 + 0.6 * ((k * 37 % 100) / 100), y = 0.1 + 0.7 * ((k * 61 % 100) / 100);
"""
COLOUR = """
const select = document.querySelectorAll(".tx-tools select")[2];
// A number of a leaf cannot be averaged, so an averaged map does not show it.
const shown = [...select.options].filter((option) => option.value !== "leaf");
select.value = shown[(k + 1) % shown.length].value;
select.dispatchEvent(new Event("change"));
"""
SLIDE = """
const slider = document.querySelector(".tx-leaves-row input");
slider.value = String(0.3 + 0.69 * ((k * 37 % 100) / 100));
slider.dispatchEvent(new Event("input"));
"""
# Zooming has no text of its own, so the lens of the address is looked at, and the map is drawn by then.
ZOOM = """
const map = document.querySelector(".tx-over");
map.dispatchEvent(new KeyboardEvent("keydown", { key: k % 8 < 4 ? "+" : "-", bubbles: true }));
"""
ZOOMED = """async ({act, n}) => {
  const times = [];
  for (let k = 0; k < n; k++) {
    const begin = performance.now();
    new Function("k", act)(k);
    // The page draws in the next frame; the frame after it begins when that is done.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    times.push(performance.now() - begin);
  }
  return times;
}"""
ACTS = {
    "click to explanation": (".tx-answer", POINT + 'point("pointerdown", x, y); point("pointerup", x, y);', 40),
    "hover": (".tx-hover", POINT + 'point("pointermove", x, y);', 60),
    "another colour": (".tx-title", COLOUR, 24),
    "slider of leaves": (".tx-subtitle", SLIDE, 40),
}
"""Where something must appear, what is done, and how often."""


def run(options: Options, report: Report) -> None:
    """Measure the page in a browser, then the server by itself."""
    say("  growing a tree of 1,000 leaves")
    log = log_of(worlds.lander(20_000 if options.quick else 100_000))
    tree = fit(log, leaves=1000, threads=2)
    serving = prepare(House(tree, log=log))
    thread = serving.in_background()
    try:
        if options.wants("page"):
            with _browser() as context:
                _page(options, report, context, serving.address)
        if options.wants("peers"):
            with _browser() as context:
                row = functools.partial(_row, report)
                report.notes += rows_of(context, tree, log.states[len(log.states) // 2], row, options.repetitions(5))
        if options.wants("load"):
            _load(options, report, serving.address, log.states)
    finally:
        serving.stop()
        thread.join(30)
    if options.wants("many"):
        _many(options, report)
    if options.wants("command"):
        _command(options, report, tree, log)
    if options.wants("opens"):
        _opening(options, report)
    report.notes.append(
        "Measured inside the page, from the event to the changed text. Browser, server and clients share the cores of "
        "one machine."
    )


def _row(report: Report, what: str, times: list[float]) -> None:
    good = sorted(one for one in times if one == one)
    if not good:
        report.rows.append({"what": what, "times": f"0 of {len(times)}"})
        return
    found = {"median": statistics.median(good), "p95": good[math.ceil(0.95 * len(good)) - 1]}
    kind, bar = BARS.get(what, ("median", None))
    row: dict[str, Any] = {"what": what, "times": f"{len(good)} of {len(times)}", "median ms": found["median"]}
    row |= {"p95 ms": found["p95"], "bar": "" if bar is None else f"{kind} < {bar:,.0f}"}
    row["met"] = "" if bar is None else "yes" if found[kind] < bar and len(good) == len(times) else "no"
    report.rows.append({**row, "_ms": good})


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, chromium_sandbox=False)
        # The functions above are made of text, which the page's own policy forbids.
        yield browser.new_context(viewport={"width": 1360, "height": 860}, bypass_csp=True)
        browser.close()


def _opened(context: Any, address: str) -> Any:
    page = context.new_page()
    page.goto(address)
    page.wait_for_function("() => document.querySelector('.tx-title')?.textContent")
    return page


def _page(options: Options, report: Report, context: Any, address: str) -> None:
    starts, page = [], context.new_page()
    for _ in range(options.repetitions(5)):
        page.close()
        begin = time.perf_counter()
        page = _opened(context, address)
        starts.append(1e3 * (time.perf_counter() - begin))
    _row(report, "start to first map", starts)
    page.wait_for_timeout(2500)
    for what, (selector, act, number) in ACTS.items():
        if what == "slider of leaves":
            page.keyboard.press("5")  # the panel with the slider
            page.wait_for_timeout(1500)
        times = page.evaluate(WATCH, {"selector": selector, "act": act, "n": number})
        _row(report, what, times)
    page.keyboard.press("1")
    page.wait_for_timeout(1500)
    _row(report, "click to explanation, by the mouse", clicked(page, ".tx-over"))


def _many(options: Options, report: Report) -> None:
    """Look at maps of 5,000 leaves: all of them side by side, and averaged over features that are not shown."""
    for world, label in ((worlds.road, "2 features"), (worlds.lander, "8 features, averaged")):
        say(f"  5,000 leaves, {label}")
        log = log_of(world(20_000 if options.quick else 100_000))
        serving = prepare(House(fit(log, leaves=5000, threads=2), log=log))
        thread = serving.in_background()
        with _browser() as context:
            page = _opened(context, serving.address)
            page.wait_for_timeout(3000)
            for what in ("another colour", "hover"):
                selector, act, number = ACTS[what]
                times = page.evaluate(WATCH, {"selector": selector, "act": act, "n": number})
                _row(report, f"5,000 leaves, {label}: {what}", times)
            _row(report, f"5,000 leaves, {label}: zoom", page.evaluate(ZOOMED, {"act": ZOOM, "n": 40}))
        serving.stop()
        thread.join(30)


def _command(options: Options, report: Report, tree: Any, log: Any) -> None:
    """From the typed command to the first map, in a browser that is open already: Python starts, files are read."""
    times = []
    with tempfile.TemporaryDirectory() as folder, _browser() as context:
        names = [str(Path(folder) / name) for name in ("tree.tripletree", "log.npz")]
        tree.save(names[0])
        log.to_npz(names[1])
        words = [sys.executable, "-m", "tripletree", "explore", names[0], "--log", names[1], "--no-browser"]
        for _ in range(options.repetitions(5)):
            begin = time.perf_counter()
            program = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            page = _opened(context, (program.stdout or sys.stdin).readline().split()[1])
            times.append(1e3 * (time.perf_counter() - begin))
            page.close()
            program.terminate()
            program.communicate()
    _row(report, "command to first map", times)


def _load(options: Options, report: Report, address: str, states: Any) -> None:
    """Let many clients ask at once, in processes of their own."""
    clients, each = (8, 50) if options.quick else (50, 100 * options.repetitions(10))
    rng = np.random.default_rng(options.seed)
    chosen = states[rng.integers(0, len(states), 2000)].tolist()
    say(f"  {clients} clients with {each:,} questions each")
    context = get_context("spawn")
    queue = context.Queue()
    begin = time.perf_counter()
    halves = [clients - clients // 2, clients // 2]
    workers = [context.Process(target=clients_of, args=(address, n, each, chosen, queue)) for n in halves if n]
    for worker in workers:
        worker.start()
    parts = [queue.get() for _ in workers]
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - begin
    times = sorted(one for part, _ in parts for one in part)
    errors = sum(number for _, number in parts)
    report.rows.append(
        {
            "what": f"load: {clients} clients, {each:,} questions each",
            "times": f"{len(times):,} of {clients * each:,}",
            "median ms": 1e3 * statistics.median(times),
            "p95 ms": 1e3 * times[math.ceil(0.95 * len(times)) - 1],
            "p99 ms": 1e3 * times[math.ceil(0.99 * len(times)) - 1],
            "errors": errors,
            "questions / s": len(times) / seconds,
            "bar": "no error",
            "met": "yes" if errors == 0 and len(times) == clients * each else "no",
        }
    )


def clients_of(address: str, clients: int, each: int, states: Any, queue: Any) -> None:
    """Ask from several threads, each with a connection of its own; four of five questions are explanations."""
    parts = urlsplit(address)
    times: list[float] = []
    errors = [0]
    lock = threading.Lock()

    def asks(number: int) -> None:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=300)
        for k in range(each):
            state = states[(number * each + k) % len(states)]
            names = ("explain", "predict", "explain", "explain", "futures")
            name = names[k % 5]
            args = {"start": state} if name == "futures" else {"state": state}
            begin = time.perf_counter()
            connection.request(
                "POST",
                f"{parts.path}ask",
                json.dumps({"question": name, "args": args}),
                {"Content-Type": "application/json"},
            )
            reply = connection.getresponse()
            content = reply.read()
            took = time.perf_counter() - begin
            with lock:
                if reply.status != 200 or not content.startswith(b'{"answer"'):
                    errors[0] += 1
                times.append(took)
        connection.close()

    threads = [threading.Thread(target=asks, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.put((times, errors[0]))


def _opening(options: Options, report: Report) -> None:
    """Open a model with a log of a million steps: from the files to the first map."""
    from tripletree import load, read_log
    from tripletree.web.ask import ask

    rows = 50_000 if options.quick else 1_000_000
    say(f"  a log of {rows:,} steps")
    log = log_of(worlds.lander(rows))
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder) / "log.npz", Path(folder) / "tree.tripletree"
        log.to_npz(names[0])
        fit(log, leaves=1000, threads=2).save(names[1])
        times = []
        for _ in range(options.repetitions(3)):
            begin = time.perf_counter()
            house = House(load(names[1]), log=read_log(names[0]))
            hello = ask(house, "hello")
            ask(house, "tree")
            x, y = (feature["name"] for feature in hello["models"][0]["features"][:2])
            ask(house, "map", {"x": x, "y": y})
            times.append(1e3 * (time.perf_counter() - begin))
            house.close()
    _row(report, "a log of 10^6 steps opens", times)
