"""Questions about the size and the weights of a tree: its loss curve, and growing it again with other weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_whole, is_number
from tripletree.language.numbers import rounded
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.model.table import curve_table
from tripletree.text import count
from tripletree.web.errors import AskError
from tripletree.web.house import House
from tripletree.web.packing import packed

POINTS = 5000
"""Sizes at which a curve is sent, at most: all of them, for trees that people look at."""


def curve(house: House, *, model: Any = "a") -> dict[str, Any]:
    """Return the losses with 1, 2, ... leaves, as far as the tree was grown."""
    base, leaves = house.base(model)
    fitted = base.tree.fitted_
    table = curve_table(fitted)
    sizes = np.asarray(table["leaves"])
    # Dense where the curve bends, at few leaves.
    some = np.geomspace(1, len(sizes), POINTS) if len(sizes) > POINTS else sizes
    kept = np.unique(np.round(some).astype(np.int64)) - 1
    told = {
        log: {name: packed(np.asarray(table[f"{log}_{name}"])[kept]) for name in ATTRIBUTES}
        for log in ("training", "validation")
        if f"{log}_{ATTRIBUTES[0]}" in table
    }
    if "score" in table:
        told["validation"]["score"] = packed(np.asarray(table["score"])[kept])
    shown = leaves or fitted.tree.n_leaves
    return {
        "text": _loss_text(fitted, shown),
        "leaves": packed(sizes[kept]),
        "training": told["training"],
        "validation": told.get("validation"),
        "kept": shown,
        "most": fitted.tree.n_leaves,
        "grown": len(sizes),
        "theta": list(fitted.options["theta"]),
        "python": f"{house.called(model)}.curve_",
    }


def _losses(fitted: Any, leaves: int) -> tuple[str, npt.NDArray[np.float64]]:
    """Return the losses at a size, on episodes that the tree was not grown on if there were any."""
    if fitted.curve_validation is not None:
        return "on the validation log", fitted.curve_validation[leaves - 1]
    return "on the log that it was grown on", fitted.curve_training[leaves - 1]


def _loss_text(fitted: Any, leaves: int) -> str:
    where, losses = _losses(fitted, leaves)
    told = ", ".join(f"{name} {rounded(loss, 3)}" for name, loss in zip(ATTRIBUTES, losses.tolist(), strict=True))
    return f"With {count(leaves, 'leaf', 'leaves')} the losses are {told} {where}."


def regrow(house: House, *, model: Any = "a", theta: Any, leaves: Any = None) -> dict[str, Any]:
    """Begin to grow the tree again with other weights; the job's answer has the handle of the new tree."""
    base, _ = house.base(model)
    log = house.required_log(model)
    if not isinstance(theta, list) or len(theta) != 3 or not all(map(is_number, theta)):
        raise AskError("mistake", f"`theta` must be three numbers: action, value, derivative; got {str(theta)[:60]}.")
    if min(theta) < 0 or not sum(theta) > 0:
        raise AskError("mistake", f"`theta` must be at least 0, and not all 0; got {theta}.")
    old = base.tree
    check_whole(leaves, "leaves", 1, 100_000, 200, none="as many as before")
    size = old.n_leaves_ if leaves is None else int(leaves)
    weights = tuple(float(one) for one in theta)
    parameters = {**old.get_params(), "theta": weights, "max_leaves": size}

    def work(progress: Callable[[int, int], None]) -> dict[str, Any]:
        tree = type(old)(**{**parameters, "progress": progress}).fit(log)
        tree.progress = None
        line = f"tripletree.{type(old)(**parameters)!r}.fit(log)"
        handle = house.settle(str(model), tree, line)
        text = f"{_loss_text(tree.fitted_, tree.n_leaves_)} Before: {_loss_text(old.fitted_, min(size, old.n_leaves_))}"
        return {"model": handle, "leaves": tree.n_leaves_, "theta": list(weights), "text": text, "python": line}

    name = ", ".join(rounded(one, 2) for one in weights)
    job = house.jobs.begin("regrow", f"Growing {size:,} leaves with the weights {name}.", work)
    return job.to_dict()


def progress(house: House, *, job: Any) -> dict[str, Any]:
    """Return how far a job is, and its answer when it is done."""
    return house.jobs.find(job).to_dict()


def cancel(house: House, *, job: Any) -> dict[str, Any]:
    """End a job."""
    return house.jobs.cancel(job).to_dict()
