"""A fleet's recording as such files are: vehicles, times as text, modes, gaps, empty cells; no rewards, no actions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

MODES = ("auto", "manual", "coast")
BEGIN = np.datetime64("2026-11-16T08:00:00")


def rows(seed: int = 0, vehicles: int = 3, length: int = 40, gap: int | None = 20) -> dict[str, list[str]]:
    """Return the columns of a fleet's table as text; ``gap`` is the row before which each vehicle rests for an hour."""
    rng = np.random.default_rng(seed)
    table: dict[str, list[str]] = {"vehicle_id": [], "timestamp": [], "mode": [], "speed_kmh": [], "battery_pct": []}
    for vehicle in range(vehicles):
        time, speed, battery, mode = BEGIN + np.timedelta64(vehicle, "D"), 30.0, 90.0, 0
        for step in range(length):
            seconds = int(rng.integers(1, 4))
            time = time + np.timedelta64(3600 if step == gap else seconds, "s")
            mode = int(rng.integers(3)) if rng.random() < 0.1 else mode
            speed += seconds * (0.1 * (60 - speed), 0.2 * (40 - speed), -0.05 * speed)[mode]
            battery -= 0.01 * seconds + 0.001 * rng.random()
            cells = (f"truck-{vehicle}", f"{time}Z", MODES[mode], f"{speed:.4f}", f"{battery:.4f}")
            for column, cell in zip(table.values(), cells, strict=True):
                column.append(cell)
    return table


def write(path: Path, table: dict[str, list[str]]) -> Path:
    """Write columns as CSV."""
    lines = [",".join(table), *(",".join(cells) for cells in zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path
