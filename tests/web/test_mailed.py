"""The explorer as a file that was mailed: it answers without a server, and says what it cannot."""

from __future__ import annotations

from tripletree import TripleTree
from tripletree.demos import lander, road
from tripletree.web.ask import ask
from tripletree.web.house import House
from tripletree.web.mailing import frozen, write_mailed


def test_mailed_file_answers_and_says_what_it_cannot(page, tmp_path):
    log = road.record("either", n_samples=2_000)
    tree = TripleTree(40, threads=1).fit(log)
    house = House(tree, log=log)
    write_mailed(house, tmp_path / "page.html")
    for one in frozen(house)[1:]:
        assert one["answer"] == ask(house, one["question"], one["args"])
    house.close()
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_function("() => document.querySelector('.tx-title')?.textContent")
    assert "computed in this file" in page.inner_text("main")
    page.wait_for_function("() => document.querySelector('.tx-answer')?.textContent.includes('because')")
    assert "This file has what was frozen" in page.inner_text("main")
    page.get_by_role("tab", name="Machine").click()
    name = tree.outline(log).regions[0].name
    page.wait_for_function("name => document.querySelector('main').innerText.includes(name)", arg=name)
    page.get_by_role("tab", name="Episodes").click()
    page.wait_for_function("() => document.querySelectorAll('main table tr').length > 20")


def test_mailed_map_of_many_features_is_drawn(page, tmp_path):
    log = lander.log().select(range(12))
    house = House(TripleTree(30, threads=1).fit(log), log=log)
    write_mailed(house, tmp_path / "page.html")
    house.close()
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_function("() => document.querySelector('.tx-title')?.textContent")
    page.wait_for_function("() => document.querySelector('.tx-answer')?.textContent.includes('because')")
    # More than one colour, in the middle of the canvas: leaves, not an empty sheet.
    page.wait_for_function(
        """() => {
          const canvas = document.querySelector(".tx-stage canvas");
          const { width, height } = canvas;
          const pixels = canvas.getContext("2d").getImageData(width / 4, height / 4, width / 2, height / 2).data;
          const seen = new Set();
          for (let k = 0; k < pixels.length; k += 4) if (pixels[k + 3]) seen.add(pixels.slice(k, k + 3).join());
          return seen.size > 1;
        }"""
    )
