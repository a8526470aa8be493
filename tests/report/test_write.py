"""Reports as files: what is in them, and what happens when they cannot be written."""

from __future__ import annotations

import copy
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.logs import make_log
from tests.report.models import REPORTS, fitted, of_lander, of_one_feature, of_road
from tripletree import Log, LogError, ParameterError, TripleTree
from tripletree.answers.summary import MOST_WORDS
from tripletree.demos import road
from tripletree.markup import text as text_of
from tripletree.markup import with_names
from tripletree.questions.study import Study
from tripletree.report import write
from tripletree.report.write import report_html

VOID = {"meta", "link", "path", "rect", "circle", "image", "stop"}


class Outline(HTMLParser):
    """Checks that every element is closed, and keeps ids, links and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.said = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.said.append(data)


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_is_whole_and_loads_nothing(name):
    tree, log = REPORTS[name]()
    text = report_html(tree.fitted_, log)
    page = Outline(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert "default-src 'none'" in text
    words = " ".join(page.said)
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b|array\(", words)


@pytest.mark.parametrize("name", REPORTS)
def test_the_first_page_has_at_most_600_words_and_three_pictures(name):
    tree, log = REPORTS[name]()
    front = re.search(r'<section id="summary".*?</section>', report_html(tree.fitted_, log), re.DOTALL)[0]
    # A strip of many rows is one picture.
    assert front.count("<figure") <= 3
    said = Outline(re.sub(r"<svg.*?</svg>", "", front, flags=re.DOTALL)).said
    assert len(" ".join(said).split()) <= MOST_WORDS


def spoilt(states, actions, rewards, starts=None, labels=("a", "b"), **more):
    return fitted(make_log(states, actions, rewards, starts, labels=labels, **more), 8)


ODD = {
    "one sample": lambda: spoilt([[1.0]], [0], [0.0]),
    "nothing changes": lambda: spoilt([[1.0, 2.0]] * 9, [0] * 9, [0.0] * 9, labels=("a",)),
    "episodes of one step": lambda: spoilt([[k * 0.3 % 1] for k in range(20)], [0, 1] * 10, range(20), range(21)),
    "flags alone": lambda: spoilt(
        [[k % 2, k // 2 % 2] for k in range(20)], [0, 1] * 10, range(20), kinds=("binary",) * 2
    ),
    "huge and tiny": lambda: spoilt([[k * 1e12, k * 1e-300] for k in range(20)], range(20), [1e15] * 20, labels=None),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_logs_have_reports_too(name):
    tree, log = ODD[name]()
    text = report_html(tree.fitted_, log)
    assert Outline(text).open == []
    assert not re.search(r'="[^"]*\bnan\b', text)


def test_it_tells_all_that_it_should():
    tree, log = of_road()
    text = report_html(tree.fitted_, log, "A <title>")
    headings = re.findall(r'<h2 id="(\w+)">', text)
    expected = ["behaviour", "fortune", "moves", "episodes", "belief", "log", "made"]
    assert headings == ["contents", *expected]
    assert "<h1>A &lt;title&gt;</h1>" in text
    assert log.fingerprint() in text
    assert "seed 0" in text
    for finding in log.check():
        assert finding.text.split("`")[0][:40].replace(" %", "\N{NO-BREAK SPACE}%") in text


def test_a_report_is_the_same_every_time():
    tree, log = of_one_feature()
    assert report_html(tree.fitted_, log) == report_html(tree.fitted_, log)


def test_a_report_on_another_log_says_so():
    tree, log = of_road()
    other = road.record("either", n_samples=1_000, seed=5)
    text = report_html(tree.fitted_, other)
    assert f"judged on {other.n_episodes} episodes with 1,000 samples that it has not seen" in text
    assert "known to the tree" in text
    assert other.fingerprint() in text
    assert log.fingerprint() in text


def test_a_file_is_replaced_in_one_step(tmp_path):
    tree, log = of_one_feature()
    path = tmp_path / "report.html"
    path.write_text("old")
    tree.report(log, path, title="New")
    assert "<h1>New</h1>" in path.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_one_clear_line(tmp_path):
    tree, log = of_one_feature()
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ParameterError, match=r"The report cannot be written to .*: it is a folder"):
        tree.report(log, tmp_path / "folder.html")
    with pytest.raises(ParameterError, match=r"The report cannot be written to .*: No such file or directory\.$"):
        tree.report(log, tmp_path / "no" / "report.html")


@pytest.mark.parametrize("name", ["x.pdf", "x", "x.html.txt"])
def test_a_report_is_html(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    tree, log = of_one_feature()
    with pytest.raises(
        ParameterError, match=rf"^path must end in \.html or \.htm; got '{name}'\. Try path=\"x.*\.html\"\.$"
    ):
        tree.report(log, name)
    tree.report(log, tmp_path / "x.HTM")
    assert [path.name for path in tmp_path.iterdir()] == ["x.HTM"]


def test_a_log_of_something_else_is_refused():
    tree, _ = of_road()
    _, log = of_lander()
    with pytest.raises(LogError, match=r"The log has the features `x`, `y`.*the tree was grown on `pos`, `speed`"):
        tree.report(log, "report.html")
    with pytest.raises(ParameterError, match="log must be a Log; got str"):
        tree.report("log.csv", "report.html")
    with pytest.raises(ParameterError, match="title must be text; got int"):
        of_one_feature()[0].report(of_one_feature()[1], "report.html", title=3)
    for option in ("failures", "require"):
        with pytest.raises(ParameterError, match=rf"{option} must be text, or a list of texts; got 3"):
            tree.report(of_road()[1], "report.html", **{option: 3})


def test_the_file_is_small():
    tree, log = of_lander()
    assert len(report_html(tree.fitted_, log)) < 600_000


def test_names_in_the_notes_on_a_log_are_set_as_code():
    tree, log = of_lander()
    text = report_html(tree.fitted_, log)
    assert "<code>v_y</code>" in text
    assert "`v_y`" not in text
    odd = with_names("a ` b")
    assert odd == ["a ` b"]
    assert "".join(map(text_of, with_names("`<b>` is"))) == "<code>&lt;b&gt;</code> is"


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
def test_headline_numbers_are_those_on_unseen_episodes():
    rng = np.random.default_rng(3)
    starts = np.arange(0, 600, 20)
    noise = Log.from_arrays(rng.normal(size=(600, 3)), rng.choice(["a", "b"], 600), rng.normal(size=600), starts=starts)
    tree = TripleTree(200).fit(noise)
    assert tree.curve_["training_action"][-1] < 0.15  # it has learned the noise by heart
    page = report_html(tree.fitted_, noise)
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", page))
    assert 35 < float(facts["of unseen actions right"].split("\N{NO-BREAK SPACE}")[0]) < 65
    assert facts["of the error about the value gone by looking at the state (unseen episodes)"] == "none"
    assert "tells no more about action or value" in page


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
def test_without_unseen_episodes_there_is_no_headline_about_quality():
    log = Log.from_arrays([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"], [0, 0, 1, 1], starts=[0])
    page = report_html(TripleTree(2).fit(log).fitted_, log)
    assert "median return" in page
    assert "unseen" not in page.split("</header>")[0]


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_the_same_on_any_number_of_threads(name):
    tree, log = REPORTS[name]()
    # A copy has no memory of what was worked out before.
    one, two = (report_html(copy.copy(tree.fitted_), log, None, threads) for threads in (1, 2))
    assert one == two


@pytest.mark.parametrize("threads", [1, 2])
def test_numbers_that_no_double_holds_are_an_error_on_any_number_of_threads(threads, monkeypatch):
    tree, log = of_road()
    monkeypatch.setattr(Study, "world", property(lambda _: np.float64(1e300) * 1e300))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        report_html(tree.fitted_, log, None, threads)


def test_nothing_more_is_begun_once_a_section_has_failed(monkeypatch):
    tree, log = of_road()
    begun, stopped = threading.Event(), threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            stopped.set()
            super().shutdown(wait=wait)

    def look(_):
        begun.set()
        assert stopped.wait(60)

    def fail(_):
        assert begun.wait(60)
        raise LogError("This section is broken.")

    later = []
    monkeypatch.setattr(Study, "criticality", property(look))
    for name in ("findings", "drift", "world"):
        monkeypatch.setattr(Study, name, property(later.append))
    monkeypatch.setattr(write, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(write, "SECTIONS", (fail, *write.SECTIONS))
    with pytest.raises(LogError, match="This section is broken"):
        report_html(tree.fitted_, log, None, 2)
    assert not later
