from __future__ import annotations

import pytest

from tests.plot.test_sheets import inside
from tests.scenes.models import road_tree, walk
from tripletree import plot


@pytest.mark.parametrize("features", [1, 2, 4])
def test_an_overview_has_a_picture_for_every_attribute(features, tmp_path):
    sheet = plot.overview(walk(features))
    assert [len(row) for row in sheet.axes_] == [2, 2]
    path = tmp_path / "overview.png"
    assert sheet.save(path, dpi=60) is sheet
    assert path.stat().st_size > 5_000
    assert repr(sheet).startswith("<SheetPicture: The agent at a glance")


def test_the_words_of_an_overview_lie_within_the_figure():
    inside(plot.overview(road_tree()).figure_)
