"""Model files that a stranger has changed with care: consistent enough to load, and then used for everything.

``python -m tests.hostile.survivors 20000`` tries that many; the tests try 1,000. Every mutation keeps a valid SHA-256.
What loads must answer with a number, a sentence or one of the project's own errors, soon and within bounded memory.
"""

from __future__ import annotations

import faulthandler
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hostile.forge import all_arrays, join, split, with_arrays
from tests.hostile.test_mutations import patch_header
from tests.logs import random_log
from tests.store.models import random_model
from tripletree import Log, TripleTree, TripleTreeError, TripleTreeWarning, load
from tripletree.log.schema import Action, Feature

PATIENCE = 60
"""Seconds that all questions about one model may take on a busy machine; each takes milliseconds."""
MEMORY = 2**30
"""Bytes that the process may grow by, whatever the files claim."""
REPORT_EVERY = 50
"""Survivors per report, which takes a thousand times as long as the other questions."""

HOSTILE = (
    "",
    " ",
    "</script>",
    "\x1b[31m",
    "‮abc",
    "a" * 300,
    "0",
    "nan",
    "value",
    "action",
    "pos >= 1",
    "\ud800",
    "\x00",
)
DOUBLES = (np.nan, np.inf, -1.0, -0.0, 0.0, 5e-324, 1e-300, 1e-9, 0.5, 1.0, 1e9, 1e100, 1.7e308, -1.7e308)
WHOLE = (-1, 0, 1, 2, 3, 7, 2**31 - 1, 2**40, 2**53, 2**62)


def originals(folder: Path) -> list[bytes]:
    """Return files of real trees and of random ones: discrete and continuous, small and larger."""
    made = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        for seed, shape in enumerate(({"labels": 3}, {"dimensions": 2}, {"labels": 2, "features": 5, "grid": 1})):
            log = random_log(seed, lengths=(30, 25, 40, 20, 35, 30), **shape)
            tree = TripleTree(12).fit(*log.split(0.3))
            tree.held_out(log)
            tree.save(folder / "original")
            made.append((folder / "original").read_bytes())
    from tripletree.store import save

    for seed in range(4):
        action = Action("discrete", labels=("a", "b")) if seed % 2 else Action("continuous", ("u",), (), ("N",))
        kinds = ("real", "binary", "integer", "angle")
        features = tuple(Feature(f"x{k}", "", kinds[k]) for k in range(seed + 1))
        save(random_model(seed, features, action, leaves=9), folder / "original")
        made.append((folder / "original").read_bytes())
    return made


def change_array(rng: np.random.Generator, data: bytes) -> bytes:
    """Change some numbers of one array, or all of them in a way that keeps its look."""
    header, _ = split(data)
    arrays = all_arrays(data)
    for _ in range(int(rng.integers(1, 4))):
        name = str(rng.choice(sorted(arrays)))
        array = arrays[name].copy()
        flat = array.reshape(-1)
        if not flat.size:
            continue
        some = rng.random(flat.size) < rng.choice([0.02, 0.2, 1.0])
        some[rng.integers(flat.size)] = True
        with np.errstate(all="ignore"):
            match rng.integers(6):
                case 0:
                    pick = rng.choice(DOUBLES if array.dtype.kind == "f" else WHOLE, int(some.sum()))
                    flat[some] = pick.astype(array.dtype)
                case 1:
                    flat[some] = flat[some] * (
                        rng.choice([1e-300, 1e-9, 0.5, 2.0, 1e9, 1e150]) if array.dtype.kind == "f" else 2
                    )
                case 2:
                    flat[some] = rng.permutation(flat[some])
                case 3:
                    flat[some] = np.sort(flat[some])
                case 4:
                    flat[some] = flat[some] + (rng.normal() if array.dtype.kind == "f" else int(rng.choice([1, 2])))
                case _:
                    flat[some] = flat[int(rng.integers(flat.size))]
        arrays[name] = array
    return with_arrays(header, arrays)


def change_meaning(rng: np.random.Generator, data: bytes) -> bytes:
    """Change what the numbers are said to be: names, kinds, labels, options, provenance."""
    header, arrays = split(data)
    metadata = header["__metadata__"]
    for _ in range(int(rng.integers(1, 4))):
        feature = metadata["schema"]["features"][int(rng.integers(len(metadata["schema"]["features"])))]
        action, options = metadata["schema"]["action"], metadata["options"]
        name = str(rng.choice(HOSTILE[:-2])) if rng.random() < 0.9 else HOSTILE[-2]
        match rng.integers(8):
            case 0:
                feature[str(rng.choice(["name", "unit"]))] = name
            case 1:
                feature["kind"] = str(rng.choice(["real", "binary", "integer", "angle"]))
            case 2:
                names = action["labels"] or action["names"]
                names[int(rng.integers(len(names)))] = name
            case 3:
                options["gamma"] = float(rng.choice([0, 0.5, 0.999999, 1]))
            case 4:
                options["truncation"] = str(rng.choice(["paper", "bootstrap"]))
                options["theta"] = [float(weight) for weight in rng.choice([0, 1, 1e100, 1e-300, 1e300], 3)]
            case 5:
                metadata["provenance"] = [{}, {"samples": None}, {"tripletree": ["x"], "episodes": -1}][rng.integers(3)]
            case 6:
                options["leaf_model"] = str(rng.choice(["linear", "mean"]))
                options["leaf_features"] = [None, 1, 2, 2**31][rng.integers(4)]
            case _:
                options["max_leaves"] = int(rng.choice([1, 2**62]))
    return join(header, arrays)


def log_for(schema: Any, rng: np.random.Generator) -> Log:
    """Return a small log with the features and actions of a model."""
    n, d = 60, len(schema.features)
    discrete = schema.action.kind == "discrete"
    m = len(schema.action.labels) if discrete else len(schema.action.names)
    return Log(
        states=rng.normal(size=(n, d)).round(1),
        actions=rng.integers(0, m, n) if discrete else rng.normal(size=(n, m)),
        rewards=rng.normal(size=n),
        starts=np.arange(0, n + 1, 10),
        final_states=rng.normal(size=(6, d)),
        endings=rng.integers(0, 3, 6),
        episode_ids=np.arange(6),
        schema=schema,
    )


def questions(tree: TripleTree, log: Log) -> list[Callable[[], object]]:
    """Return everything that is asked of a model that has loaded."""
    state, names = log.states[0], tree.fitted_.schema.feature_names
    action = tree.fitted_.schema.action
    foil = f"action = {action.labels[-1]}" if action.labels else f"{action.names[0]} >= 0"
    last = tree.n_leaves_ - 1
    return [
        lambda: tree.predict(log.states),
        lambda: str(tree.explain(state)),
        lambda: str(tree.explain(state, about="value")),
        lambda: str(tree.explain(state, "value >= 0")),
        lambda: str(tree.explain(state, foil)),
        lambda: str(tree.explain_change(log.states[0], log.states[1])),
        lambda: str(tree.importance()),
        lambda: (str(tree.attribute(state)), str(tree.attribute(log.states, "derivative"))),
        lambda: str(tree.attribute(state, "value", method="background")),
        lambda: str(tree.effects()),
        lambda: str(tree.rules()),
        lambda: str(tree.chance(f"leaf {last}", start="leaf 0", within=20)),
        lambda: str(tree.chance("end", start=dict(zip(names, state.tolist(), strict=True)))),
        lambda: str(tree.expected_steps("end")),
        lambda: str(tree.futures(start="leaf 0")),
        lambda: str(tree.simulate("leaf 0", f"leaf {last}")),
        lambda: str(tree.held_out(log)),
        lambda: str(tree.trust(log)),
        lambda: str(tree.calibration(log)),
        lambda: str(tree.outline(log)),
        lambda: str(tree.story(0, log=log)),
        lambda: tree.losses(log, "all"),
        lambda: (tree.leaves_.to_dict(), tree.curve_.to_dict()),
        lambda: tree.fitted_.track and tree.fitted_.track.recording.states.sum(),
    ]


def use(tree: TripleTree, rng: np.random.Generator, page: Path | None) -> Counter[str]:
    """Ask everything; count answers and the project's own errors. Anything else goes on to the caller."""
    log = log_for(tree.fitted_.schema, rng)
    asked = questions(tree, log)
    if page is not None:
        asked.append(lambda: tree.report(log, page))
    result: Counter[str] = Counter()
    for ask in asked:
        try:
            ask()
            result["answers"] += 1
        except TripleTreeError as error:
            if len(str(error)) > 2_000:
                raise AssertionError(f"an error of {len(str(error)):,} characters") from error
            result["refusals"] += 1
    return result


def run(times: int, seed: int = 0, progress: Callable[[str], None] = lambda _: None) -> Counter[str]:
    """Mutate, load and use; return how often what came out."""
    rng, result = np.random.default_rng(seed), Counter[str]()
    mutations = (change_array, change_array, change_meaning, patch_header)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TripleTreeWarning)
        folder = Path(name)
        files = originals(folder)
        path = folder / "mutated"
        for number in range(times):
            mutate = mutations[int(rng.integers(len(mutations)))]
            data = mutate(rng, files[int(rng.integers(len(files)))])
            path.write_bytes(data)
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            began = time.monotonic()
            try:
                tree = load(path)
            except TripleTreeError:
                result["refused at the door"] += 1
            else:
                result["loaded"] += 1
                page = folder / "page.html" if result["loaded"] % REPORT_EVERY == 0 else None
                try:
                    result += use(tree, rng, page)
                except Exception:
                    kept = Path(tempfile.gettempdir()) / f"survivor-{seed}-{number}.tripletree"
                    kept.write_bytes(data)
                    result["FAULTS"] += 1
                    progress(f"{mutate.__name__} {number}, kept in {kept}:\n{traceback.format_exc(limit=-3)}")
            finally:
                faulthandler.cancel_dump_traceback_later()
            result["slowest (ms)"] = max(result["slowest (ms)"], round(1000 * (time.monotonic() - began)))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    if grown > MEMORY:
        raise AssertionError(f"memory grew by {grown:,} bytes")
    return result


if __name__ == "__main__":
    found = run(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000, progress=print)
    sys.stdout.write(f"{dict(found)}\n")
    sys.exit(bool(found["FAULTS"]))
