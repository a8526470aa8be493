"""Scripts as one text: nothing is left that a browser would have to fetch."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re

from tests.scenes.models import gears, road_tree, walk
from tripletree.frontend import assets
from tripletree.frontend.payload import packed, payload, usual_foils


def test_modules_become_one_script_in_the_order_of_their_imports():
    text = assets.script()
    assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE)
    places = [text.index(f"function {name}(") for name in ("exact", "leafAt", "mountExplorer")]
    assert places == sorted(places)
    assert text.count("function leafAt(") == 1


def test_no_name_is_defined_twice():
    names = re.findall(r"^(?:async )?(?:function|const|let) (\w+)", assets.script(), re.MULTILINE)
    assert len(names) == len(set(names))


def test_nothing_in_the_scripts_or_styles_can_reach_a_network():
    text = assets.script() + assets.read("explorer.css")
    assert set(re.findall(r"https?://[^\"'`\s)]+", text)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|url\(|@import|innerHTML|\beval\(", text)


def test_a_fingerprint_is_the_hash_of_the_text():
    digest = hashlib.sha256(b"alert(1)").digest()
    assert assets.fingerprint("alert(1)") == f"'sha256-{base64.b64encode(digest).decode()}'"


def test_a_packed_tree_is_the_same_every_time_and_holds_the_payload():
    tree = payload(road_tree().fitted_)
    text = packed(tree)
    assert text == packed(payload(road_tree().fitted_))
    assert json.loads(gzip.decompress(base64.b64decode(text))) == json.loads(json.dumps(tree))


def test_readers_can_ask_for_every_action_and_for_high_and_low_numbers():
    assert list(usual_foils(gears()))[:3] == ["action = a", "action = b", "action = c"]
    asked = list(usual_foils(walk(dimensions=2)))
    assert [name.split()[0] for name in asked] == ["a0", "a0", "a1", "a1", "value", "value"]
    assert [name.split()[1] for name in asked] == [">=", "<"] * 3


def test_texts_are_sent_once():
    texts = payload(walk())["texts"]
    assert len(texts) == len(set(texts))
