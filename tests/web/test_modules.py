"""The browser's modules as they are bundled: one after the other in one scope, where no two may share a name."""

from __future__ import annotations

import re
from collections import defaultdict
from importlib import resources

from tripletree.frontend.assets import script

STATIC = resources.files("tripletree.frontend").joinpath("static")
MODULES = sorted(file.name for file in STATIC.iterdir() if file.name.endswith(".js"))
DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\[[^\]]*\]|\w+)", re.MULTILINE)


def test_no_two_modules_share_a_name():
    homes = defaultdict(set)
    for module in MODULES:
        for declared in DECLARED.findall(STATIC.joinpath(module).read_text(encoding="utf-8")):
            for name in re.findall(r"\w+", declared):
                homes[name].add(module)
    assert len(homes) > 200
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_a_bundle_has_every_module_once_and_no_import_left():
    text = script("explore.js")
    assert "import {" not in text
    assert not re.search(r"^export ", text, re.MULTILINE)
    for module in ("store.js", "mapview.js", "askview.js", "machineview.js", "tree.js"):
        first = STATIC.joinpath(module).read_text(encoding="utf-8").split("\n")[0]
        assert text.count(first) == 1


def test_every_module_says_what_it_is_for():
    for module in MODULES:
        first = STATIC.joinpath(module).read_text(encoding="utf-8").split("\n")[0]
        assert re.fullmatch(r"// [A-Z].*[.:].*", first), module
