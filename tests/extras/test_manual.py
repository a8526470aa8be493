"""What the manual shows with the libraries of others runs as well."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.data.make import HERE

HOWTO = Path(__file__).parents[2] / "docs" / "howto.md"


@pytest.mark.filterwarnings("ignore")
def test_the_guides_run_from_top_to_bottom(need: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stable_baselines3", "minari", "h5py"):
        need(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    shutil.copytree(HERE / "lerobot-v3.0", tmp_path / "lerobot-v3.0")
    blocks = re.findall(r"^```py\n(.*?)^```", HOWTO.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    namespace: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, HOWTO.name, "exec"), namespace)
