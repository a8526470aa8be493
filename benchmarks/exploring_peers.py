"""The same page in Panel and in Dash, as far as they can make it: a map of the same tree, and a click that explains."""

from __future__ import annotations

import importlib.metadata
import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import say
from tripletree.asking.attribute import main_attributes

CLICKS = 40
# From the pointer's event to the changed text of the answer, wherever it is: Panel hides it in shadow roots.
LISTEN = """() => {
  const below = (one) => (one.shadowRoot ? [one, ...all(one.shadowRoot)] : [one]);
  const all = (root) => [...root.querySelectorAll("*")].flatMap(below);
  const text = (one) => (one ? one.textContent + (one.shadowRoot ? text(one.shadowRoot) : "") : "");
  const answer = () => all(document).filter((one) => one.matches(".answer, #answer, .tx-answer")).map(text).join(" ");
  window.times = [];
  window.addEventListener("pointerdown", () => {
    const [begin, before] = [performance.now(), answer()];
    const look = () => {
      if (answer() !== before) window.times.push(performance.now() - begin);
      else if (performance.now() - begin < 5000) setTimeout(look, 0);
      else window.times.push(NaN);
    };
    look();
  }, true);
}"""


def version(name: str) -> str | None:
    """Return the version of a library; None where it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def clicked(page: Any, selector: str) -> list[float]:
    """Click at many places of a map, and return how long each answer took, in milliseconds."""
    page.evaluate(LISTEN)
    box = page.locator(selector).first.bounding_box()
    for k in range(CLICKS):
        x, y = 0.25 + 0.5 * (k * 37 % 100 / 100), 0.2 + 0.6 * (k * 61 % 100 / 100)
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
        page.wait_for_function(f"() => window.times.length === {k + 1}")
        # Two clicks of one hand: Panel would take them for a double click.
        page.wait_for_timeout(350)
    return list(page.evaluate("window.times"))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _answerer(tree: Any, start: Any) -> Callable[[float, float], str]:
    about = main_attributes(tree.fitted_)[0]

    def answer(x: float, y: float) -> str:
        # The map is that of the first two features.
        return str(tree.explain([x, y, *start[2:]], about=about))

    return answer


def _map(tree: Any) -> Any:
    from tripletree.scenes.leaf_map import leaf_map
    from tripletree.scenes.view import read_view

    x, y = tree.fitted_.schema.feature_names[:2]
    return leaf_map(read_view(tree, x, y), main_attributes(tree.fitted_)[0]).marks[0]


def panel_page(tree: Any, start: Any) -> tuple[str, str, str, Callable[[], None]]:
    """Serve the page with Panel; return its address, its map, what is there when it is drawn, and how to stop it."""
    import panel
    from bokeh.events import Tap
    from bokeh.plotting import figure

    answer, mesh, port = _answerer(tree, start), _map(tree), _free_port()

    def page() -> Any:
        plot = figure(width=640, height=560)
        columns, rows = (np.repeat(edges, 2)[1:-1].reshape(-1, 2) for edges in (mesh.x, mesh.y))
        low, high = float(mesh.value.min()), float(mesh.value.max())
        shade = ((mesh.value - low) / (high - low) * 255).astype(int)
        x, y = np.meshgrid(np.arange(len(columns)), np.arange(len(rows)))
        plot.quad(
            left=columns[x.ravel(), 0],
            right=columns[x.ravel(), 1],
            bottom=rows[y.ravel(), 0],
            top=rows[y.ravel(), 1],
            fill_color=[f"#{one:02x}{80:02x}{255 - one:02x}" for one in shade.ravel().tolist()],
            line_color=None,
        )
        said = panel.pane.Str("", css_classes=["answer"])
        plot.on_event(Tap, lambda event: setattr(said, "object", answer(event.x, event.y)))
        return panel.Row(plot, said)

    server = panel.serve(page, port=port, show=False, threaded=True, verbose=False)
    return f"http://localhost:{port}", ".bk-Canvas, canvas", "canvas", server.stop


def dash_page(tree: Any, start: Any) -> tuple[str, str, str, Callable[[], None]]:
    """Serve the page with Dash; the same."""
    import dash
    import plotly.graph_objects as go
    from werkzeug.serving import make_server

    answer, mesh, port = _answerer(tree, start), _map(tree), _free_port()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # or it tells of every click
    app = dash.Dash(__name__)
    drawn = go.Figure(go.Heatmap(x=mesh.x, y=mesh.y, z=mesh.value), layout={"width": 640, "height": 560})
    app.layout = dash.html.Div([dash.dcc.Graph(id="map", figure=drawn), dash.html.P(id="answer")])

    @app.callback(dash.Output("answer", "children"), dash.Input("map", "clickData"), prevent_initial_call=True)
    def told(data: Any) -> str:
        point = data["points"][0]
        return answer(point["x"], point["y"])

    server = make_server("127.0.0.1", port, app.server, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{port}", ".nsewdrag", ".heatmaplayer image", server.shutdown


PAGES: dict[str, Callable[[Any, Any], tuple[str, str, str, Callable[[], None]]]] = {
    "panel": panel_page,
    "dash": dash_page,
}


def rows_of(context: Any, tree: Any, start: Any, row: Callable[[str, list[float]], None], starts: int) -> list[str]:
    """Measure every peer that is installed; return the notes about the others."""
    notes = []
    for name, make in PAGES.items():
        if version(name) is None:
            notes.append(f"{name.capitalize()} is not installed, so it was not measured.")
            continue
        say(f"  the same with {name}")
        address, map_selector, ready, stop = make(tree, start)
        opened, page = [], context.new_page()
        for _ in range(starts):
            page.close()
            page = context.new_page()
            begin = time.perf_counter()
            page.goto(address)
            page.wait_for_selector(ready, state="attached")
            opened.append(1e3 * (time.perf_counter() - begin))
        page.wait_for_timeout(1500)
        label = f"{name.capitalize()} {version(name)}"
        row(f"{label}: start to first map", opened)
        row(f"{label}: click to explanation", clicked(page, map_selector))
        page.close()
        stop()
    notes.append(_dtreeviz(tree, row))
    return notes


def _dtreeviz(tree: Any, row: Callable[[str, list[float]], None]) -> str:
    """Explain states with dtreeviz, which has neither a page nor a map; return the note about it."""
    if version("dtreeviz") is None:
        return "dtreeviz is not installed, so it was not measured."
    import dtreeviz
    from sklearn.tree import DecisionTreeRegressor

    from tripletree.questions.evidence import evidence

    say("  the same with dtreeviz")
    states = evidence(tree.fitted_, None).recording.states
    names = list(tree.fitted_.schema.feature_names)
    action = np.asarray(tree.predict(states).action)[:, 0]
    other = DecisionTreeRegressor(max_leaf_nodes=tree.n_leaves_, random_state=0).fit(states, action)
    shown = dtreeviz.model(other, X_train=states, y_train=action, feature_names=names, target_name="action")
    times = []
    for k in range(CLICKS):
        begin = time.perf_counter()
        shown.explain_prediction_path(states[k * 97 % len(states)])
        times.append(1e3 * (time.perf_counter() - begin))
    row(f"dtreeviz {version('dtreeviz')}: explanation, in Python", times)
    return "dtreeviz has no page and no map; its sentence about a state is measured in Python, without a browser."
