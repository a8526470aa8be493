"""Whatever the documentation shows, runs: README, docs pages and docstring examples."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import tripletree
from tripletree.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
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
            # Whatever needs a shell gets one, in which `tripletree` is this very package.
            script = f'tripletree() {{ "{sys.executable}" -m tripletree "$@"; }}\n{command}'
            got = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
        else:
            program, *arguments = shlex.split(command)
            assert program == "tripletree"
            got = CliRunner().invoke(main, arguments, prog_name=program).output
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(printed, got, flags), f"$ {command}\n{got}"


# A reader would see a note of the library's and go on.
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


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_the_reference_has_every_public_name():
    # The modules `answers` and `plot` are listed there as a whole.
    listed = set(re.findall(r"\.\. auto\w+:: ([\w.]+)", (ROOT / "docs/reference.md").read_text(encoding="utf-8")))
    methods = {f"TripleTree.{name}" for name in vars(tripletree.TripleTree) if not name.startswith("_")}
    public = {name for name in tripletree.__all__ if not name.startswith("_")} | methods | {"answers", "plot"}
    missing = {f"tripletree.{name}" for name in public} - listed
    assert not missing, f"docs/reference.md lacks {sorted(missing)}"
