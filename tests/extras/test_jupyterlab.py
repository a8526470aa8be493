"""The explorer in a cell of a real JupyterLab, driven through a browser: it opens no port of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError as Late

from tripletree import TripleTree
from tripletree.demos import road

pytest.importorskip("jupyterlab")
pytest.importorskip("anywidget")

CELLS = (
    "from tripletree import load, read_log",
    'log = read_log("road.npz")\nload("road.tripletree").explore(log, height=600)',
)
PATIENCE = 90_000  # milliseconds: JupyterLab takes its time on a busy machine


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def lab(tmp_path):
    log = road.record("either", n_samples=2_000)
    log.to_npz(tmp_path / "road.npz")
    TripleTree(40, threads=1).fit(log).save(tmp_path / "road.tripletree")
    cells = [
        {
            "cell_type": "code",
            "source": cell,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "id": f"c{number}",
        }
        for number, cell in enumerate(CELLS)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "road.ipynb").write_text(json.dumps(notebook))
    port = free_port()
    words = ["lab", "--no-browser", f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=secret"]
    words += ["--ServerApp.allow_root=True", f"--ServerApp.root_dir={tmp_path}", "--LabApp.extension_manager=readonly"]
    home = {
        "HOME": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
    }
    program = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *words[1:]],
        cwd=tmp_path,
        env={**os.environ, **home},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{address}/api", timeout=2).read()
            break
        except OSError:
            assert program.poll() is None
            program_wait(0.3)
    yield f"{address}/lab/tree/road.ipynb?token=secret", program.pid
    program.terminate()
    program.wait(30)


def program_wait(seconds):
    subprocess.run([sys.executable, "-c", f"import time; time.sleep({seconds})"], check=True)


def listening(root):
    """Return the sockets that JupyterLab and its kernels listen on; other programs of this machine do not count."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    family = {root}
    for _ in range(5):
        family |= {child for child, parent in parents.items() if parent in family}
    held = set()
    for one in family:
        for handle in Path(f"/proc/{one}/fd").glob("*"):
            try:
                held.add(os.readlink(handle))
            except OSError:
                continue
    rows = [
        line.split()
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(table).exists()
        for line in Path(table).read_text().splitlines()[1:]
    ]
    return {row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in held}


def run(page, number):
    """Run a cell. Keys that come before the notebook is connected to its kernel are lost, so they are sent again."""
    for _ in range(30):
        # On a busy machine JupyterLab asks about the kernel first; its own suggestion is the right one.
        if page.locator("dialog.jp-Dialog").count():
            page.locator("dialog.jp-Dialog .jp-mod-accept").first.click()
        try:
            page.click(f".jp-Notebook .jp-InputArea-editor >> nth={number}", timeout=5_000)
        except Late:  # such a dialog has just come up
            continue
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(1_500)
        if "[ ]" not in page.locator(".jp-InputPrompt").nth(number).inner_text():
            return
    raise AssertionError("the cell was not run")


def test_widget_answers_in_jupyterlab(lab, chromium):
    address, root = lab
    page = chromium.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(address, timeout=PATIENCE)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=PATIENCE)
    run(page, 0)
    # By now the kernel has its ports; the widget opens none.
    before = listening(root)
    assert before
    run(page, 1)
    page.wait_for_selector(".tx-cell canvas", timeout=PATIENCE)
    page.wait_for_function("document.querySelector('.tx-cell')?.innerText.includes('Action')", timeout=PATIENCE)
    assert listening(root) == before
    # A click on the map is answered by this notebook's Python: after the first answers, only a click changes them.
    page.wait_for_selector(".tx-cell .tx-futures li", timeout=PATIENCE)
    page.wait_for_selector(".tx-cell .tx-others li", timeout=PATIENCE)
    told = page.inner_text(".tx-cell .tx-answer")
    over = page.locator(".tx-cell .tx-over").first
    size = over.bounding_box()
    over.click(position={"x": 0.7 * size["width"], "y": 0.3 * size["height"]})
    page.wait_for_function(
        "told => document.querySelector('.tx-cell .tx-answer').innerText !== told", arg=told, timeout=PATIENCE
    )
    page.close()
