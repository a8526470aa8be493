"""What a release consists of: archives that hold what they should, and one version wherever a version is named."""

from __future__ import annotations

import re
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from scikit_build_core import build

import tripletree

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The lines of the outermost level that hold a value; a parser of YAML would be a dependency for these alone.
CITATION = dict(re.findall(r'^([\w-]+): "?(.+?)"?$', (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Names of the files in the wheel, without the compiled kernel, and in the source archive, and the size of that."""
    folder = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        wheel = folder / build.build_wheel(str(folder), {"wheel.cmake": "false"})
        archive = folder / build.build_sdist(str(folder))
    with zipfile.ZipFile(wheel) as inside:
        installed = set(inside.namelist())
    with tarfile.open(archive) as inside:
        # The first folder has the name of the archive.
        source = {PurePosixPath(*PurePosixPath(name).parts[1:]).as_posix() for name in inside.getnames()}
    return installed, source, archive.stat().st_size


def files(*folders: str) -> set[str]:
    """Return the files below some folders of the project, without what Python and Sphinx leave there."""
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not {"__pycache__", "_build"} & set(path.parts) and path.suffix != ".so"
    }


def test_a_wheel_holds_the_package_and_its_types(built):
    installed, _, _ = built
    assert "tripletree/py.typed" in installed
    package = {name.removeprefix("src/") for name in files("src/tripletree")}
    assert package == {name for name in installed if name.startswith("tripletree/")}


def test_a_wheel_holds_nothing_else_but_what_describes_it(built):
    installed, _, _ = built
    folder = f"tripletree-{tripletree.__version__}.dist-info/"
    rest = {name.removeprefix(folder) for name in installed if not name.startswith("tripletree/")}
    assert rest == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


def test_the_source_archive_holds_what_its_tests_need(built):
    _, source, size = built
    assert files("benchmarks", "docs", "examples", "figures", "scripts", "src", "tests") <= source
    assert {
        "Makefile",
        "pyproject.toml",
        "CMakeLists.txt",
        "README.md",
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENSE",
    } <= source
    assert size < 15_000_000


def test_the_source_archive_holds_nothing_that_was_made(built):
    _, source, _ = built
    made = {".venv", "build", "dist", "out", ".git", "__pycache__", ".hypothesis", ".pytest_cache"}
    assert not {name for name in source if made & set(PurePosixPath(name).parts)}


def test_the_version_and_its_date_are_the_same_everywhere():
    changes = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    newest = next(heading for heading in changes if heading != "Unreleased")
    assert newest == f"{CITATION['version']} - {CITATION['date-released']}"
    assert CITATION["version"] == PROJECT["version"] == tripletree.__version__


def test_the_citation_names_what_the_project_is_called():
    assert (CITATION["title"], CITATION["license"]) == (PROJECT["name"], PROJECT["license"])
    assert CITATION["abstract"] == PROJECT["description"]
    assert CITATION["repository-code"] == PROJECT["urls"]["Source"]


def test_every_address_shares_one_base():
    urls = PROJECT["urls"]
    assert set(urls) == {"Homepage", "Documentation", "Source", "Changelog", "Issues"}
    base = urls["Homepage"]
    assert re.fullmatch(r"https://github\.com/[\w-]+/[\w-]+", base)
    assert all(url == base or url.startswith(f"{base}/") for url in urls.values()), urls


def test_addresses_of_files_are_those_of_files_that_exist():
    paths = [re.search(r"/(?:blob|tree)/main/(.+)", url) for url in PROJECT["urls"].values()]
    found = [path[1] for path in paths if path]
    assert found == ["docs", "CHANGELOG.md"]
    assert all((ROOT / path).exists() for path in found)


def test_what_is_promised_on_the_index_holds():
    classifiers = PROJECT["classifiers"]
    assert "Typing :: Typed" in classifiers
    minors = [
        int(found[1])
        for found in (re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", c) for c in classifiers)
        if found
    ]
    assert PROJECT["requires-python"] == f">=3.{min(minors)}"
    assert minors == list(range(min(minors), max(minors) + 1))
