"""A real disk that is too small: growth on it, in a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

ROWS = 300_000
MOUNT = ["unshare", "--mount", "--map-root-user"]
"""A file system that only the command sees, and that is gone with it; nobody needs to be root for that."""


def write_log(folder: Path) -> Path:
    """Write a log of a few megabytes."""
    rng = np.random.default_rng(0)
    columns = {f"x{k}": rng.normal(size=ROWS) for k in range(2)}
    columns |= {"action": rng.integers(0, 2, ROWS), "reward": rng.normal(size=ROWS), "episode": np.arange(ROWS) // 100}
    folder.mkdir()
    parquet.write_table(pyarrow.table(columns), folder / "part0.parquet")
    return folder


def mounts() -> bool:
    """Tell whether small file systems can be mounted here."""
    if shutil.which("unshare") is None:
        return False
    command = [*MOUNT, "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def grow_on_small_disk(folder: Path, place: Path, kilobytes: int, executor: str) -> tuple[int, str, list[str]]:
    """Grow with a cache on a disk of this size; returns the exit code, what was said, and the files left on the disk.

    Where nothing can be mounted, no file of the process may be larger than a quarter of that.
    """
    cache = place / "small"
    cache.mkdir()
    grow = [sys.executable, "-m", "tripletree", "grow", str(folder), "-o", str(place / "m.tripletree")]
    grow += ["--validation", "none", "--memory", "410MB", "--workers", "2", "--executor", executor]
    grow += ["--cache", str(cache)]
    limited = f"mount -t tmpfs -o size={kilobytes}k tmpfs {cache}" if mounts() else f"ulimit -f {kilobytes // 4}"
    script = f'{limited} || exit 99; "$@"; code=$?; echo LEFT; find {cache} -type f; exit $code'
    shell = [*(MOUNT if mounts() else ()), "sh", "-c", script, "sh"]
    done = subprocess.run([*shell, *grow], capture_output=True, text=True, timeout=300, check=False)
    told, _, left = done.stdout.rpartition("LEFT\n")
    return done.returncode, told + done.stderr, left.splitlines()
