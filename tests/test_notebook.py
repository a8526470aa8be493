"""A real notebook: every picture of a kernel is shown, no figure stays open, and objects show themselves as HTML."""

from __future__ import annotations

import base64
import html

import nbformat
import pytest
from nbclient import NotebookClient

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"
CELLS = {
    "setup": f"""
        import warnings

        import tripletree
        from tripletree import Log, TripleTree, plot
        from tripletree.demos import road

        warnings.simplefilter("ignore")
        log = road.record("left", n_samples=1_000)
        tree = TripleTree(20).fit(*log.split())
        name = {HOSTILE!r}
        columns = {{"episode": [0, 0, 1], name: [1.5, 2.5, 0.5], "action": [name, "b", "b"], "reward": [0, 1, 0]}}
        hostile = Log.from_dict(columns, units={{name: name}})
        grown = TripleTree(2, theta=(1, 0, 0)).fit(hostile)
    """,
    "map": 'plot.leaf_map(tree, "pos", "speed")',
    "value": 'plot.leaf_map(tree, "pos", "speed", colour="value").episodes(log, 0)',
    "overview": "plot.overview(tree)",
    "saved": 'plot.tree(tree).save("tree.png");',
    "given": """
        from matplotlib import pyplot
        figure, axes = pyplot.subplots(1, 2)
        plot.leaf_map(tree, "pos", ax=axes[0])
        plot.leaf_map(tree, "speed", ax=axes[1])
    """,
    "open": "print(pyplot.get_fignums())",
    "log": "log",
    "check": "log.check()",
    "reading": "hostile.reading",
    "tree": "tree",
    "new": "TripleTree(30)",
    "leaves": "TripleTree(100).fit(log).leaves_",
    "predict": "tree.predict([1.0, 0.0])",
    "hostile log": "hostile",
    "hostile check": "hostile.check()",
    "hostile tree": "grown",
    "hostile leaves": "grown.leaves_",
    "hostile rules": "grown.rules()",
    "hostile answer": "grown.explain([1.0])",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Run the cells, and return what each of them shows by type."""
    cells = [nbformat.v4.new_code_cell("\n".join(line.strip() for line in code.split("\n"))) for code in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    with pytest.MonkeyPatch.context() as patch:
        # As in a user's kernel: the other tests draw without a screen.
        patch.delenv("MPLBACKEND", raising=False)
        NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def shown(outputs, cell, kind):
    """Return what a cell shows of one type, wherever it comes from."""
    return [output.data[kind] for output in outputs[cell] if kind in output.get("data", {})]


@pytest.mark.parametrize("cell", ["map", "value", "overview"])
def test_every_picture_is_shown(outputs, cell):
    (picture,) = shown(outputs, cell, "image/png")
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    assert "<svg" in shown(outputs, cell, "image/svg+xml")[0]


def test_a_picture_that_is_not_the_result_of_a_cell_is_not_shown(outputs):
    assert outputs["saved"] == []


def test_a_figure_of_the_users_own_is_shown_once(outputs):
    assert len(shown(outputs, "given", "image/png")) == 1
    assert shown(outputs, "given", "image/svg+xml") == []


def test_no_figure_stays_open(outputs):
    assert [output.text for output in outputs["open"]] == ["[]\n"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("log", ["Log of 1,000 samples in", "terminated", ">pos<", ">real<", "discrete action", ">reward<"]),
        ("check", ["notes.", ">note<"]),
        ("reading", ["Read 3 samples in 2 episodes from a dict.", ">episode<", "(guessed)", "To change a guess"]),
        (
            "tree",
            [
                "leaves, depth",
                "TripleTree(max_leaves=20)",
                ">pos, speed<",
                "loss on episodes that chose its size",
                "Value: ",
            ],
        ),
        ("new", ["TripleTree(max_leaves=30)", "Not fitted yet: call fit(log)."]),
        ("leaves", [">pos_min<", ">...<", "rows]"]),
        ("predict", ["Action = "]),
    ],
)
def test_objects_show_themselves(outputs, cell, words):
    (page,) = shown(outputs, cell, "text/html")
    for word in words:
        assert word in html.unescape(page)


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.startswith("hostile")] + ["reading"])
def test_names_stay_names(outputs, cell):
    (page,) = shown(outputs, cell, "text/html")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m\\u202e" in page
    assert not any(sign in page for sign in ("<script", "\x1b", "\u202e"))


def test_colours_are_left_to_the_notebook(outputs):
    for cell in CELLS:
        for page in shown(outputs, cell, "text/html"):
            assert "class=" not in page
            assert "color:" not in page.replace("solid #8a8a8a", "")
            assert "background" not in page
