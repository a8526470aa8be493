"""Everything the documentation shows runs, and everything it names exists: README, manual and docstring examples."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import tripletree
from tripletree.cli import main
from tripletree.demos import road

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
MODULES = sorted(module.name for module in pkgutil.walk_packages(tripletree.__path__, "tripletree."))


def snippets(page: Path, languages: str = "python") -> list[tuple[str, int, str]]:
    """Return (language, line, code) of every block of a page in some languages, divided by bars."""
    text = page.read_text(encoding="utf-8")
    return [
        (found[1], text.count("\n", 0, found.start(2)), found[2])
        for found in re.finditer(rf"^```({languages})\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    ]


def run_console(code: str) -> None:
    """Run each line after a ``$`` and compare what it prints with what follows; ``...`` stands for anything."""
    for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
        if re.search(r"[|>] ", re.sub(r'"[^"]*"', "", command)):
            # A pipe or a redirection needs a shell; there, `tripletree` is this very package.
            script = f'tripletree() {{ "{sys.executable}" -m tripletree "$@"; }}\n{command}'
            got = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
        else:
            program, *arguments = shlex.split(command)
            assert program == "tripletree"
            got = CliRunner().invoke(main, arguments, prog_name=program).output
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(printed, got, flags), f"$ {command}\n{got}"


# A reader would see the warning and go on.
@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_of_a_page_run_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for language, line, code in snippets(page, "python|console|sh|toml"):
        if language == "sh":
            for command in code.splitlines():
                program, *arguments = shlex.split(command)
                assert program == "tripletree"
                result = CliRunner().invoke(main, arguments, prog_name=program)
                assert result.exit_code == 0, f"{command}\n{result.output}"
        elif language == "toml":
            (tmp_path / "mine.toml").write_text(code, encoding="utf-8")
        elif language == "console":
            run_console(code)
        elif ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, namespace, page.name, str(page), line)
            report: list[str] = []
            failed = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
            assert not failed.failed, "".join(report)
            namespace.update(test.globs)
        else:
            exec(compile("\n" * line + code, str(page), "exec"), namespace)


def test_the_readme_shows_python():
    assert snippets(ROOT / "README.md")


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def anchors(page: Path) -> set[str]:
    """Return what can follow ``#`` in a link to a page, as GitHub and the manual make it from headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    for path, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name} links to {path}, which does not exist"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {path}#{anchor}: no such heading"


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_source_files_and_folders_that_are_named_exist(page):
    # In backticks, with a folder or a suffix of source code; from the project's root, the package or the kernel, or a
    # bare name of any file there.
    names = re.findall(r"`([\w.*-]+/[\w./*-]*|[\w*-]+\.(?:py|hpp|inl|js|css))`", page.read_text(encoding="utf-8"))
    made = {"out/figures"}
    for name in sorted(set(names) - made):
        places = (ROOT, ROOT / "src", ROOT / "src/tripletree", ROOT / "src/kernel", ROOT / "src/tripletree/frontend")
        found = any(any(place.glob(name.rstrip("/"))) for place in places)
        assert found or ("/" not in name and any((ROOT / "src").rglob(name))), f"{page.name} names {name}"


def test_the_architecture_has_every_room():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    rooms = {room for layer in layers for room in layer.split(" | ")} - {"__main__"}
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)(?:/|\.py)?` \|", page, re.MULTILINE)
    assert set(table) == rooms | {"_kernel"}
    picture = (ROOT / "docs/images/architecture.svg").read_text(encoding="utf-8")
    drawn = set(re.findall(r'class="n"[^>]*>(\w+)<', picture))
    assert drawn == set(table) - {"errors", "checks", "writing", "text", "markup"}


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
def test_the_page_on_reports_lists_their_sections(tmp_path):
    log = road.record("either", n_samples=500)
    asked = {"failures": "ends (pos >= 3)", "require": "always (pos > -1)"}
    tripletree.TripleTree(5).fit(log).report(log, tmp_path / "road.html", **asked)
    sections = re.findall(r"<h2[^>]*>([^<]+)</h2>", (tmp_path / "road.html").read_text(encoding="utf-8"))
    page = (ROOT / "docs/report.md").read_text(encoding="utf-8").split("| section |")[1].split("##")[0]
    behind = sections[sections.index("More") + 1 :]
    assert re.findall(r"^\| ([^|-]+?) \|", page, re.MULTILINE) == behind


def test_the_reference_has_every_public_name():
    # The modules `answers` and `plot` are listed there as a whole.
    listed = set(re.findall(r"\.\. auto\w+:: ([\w.]+)", (ROOT / "docs/reference.md").read_text(encoding="utf-8")))
    methods = {f"TripleTree.{name}" for name in vars(tripletree.TripleTree) if not name.startswith("_")}
    public = {name for name in tripletree.__all__ if not name.startswith("_")} | methods | {"answers", "plot"}
    missing = {f"tripletree.{name}" for name in public} - listed
    assert not missing, f"docs/reference.md lacks {sorted(missing)}"
