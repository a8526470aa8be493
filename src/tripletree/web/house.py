"""House: the models, the log and the agent that a page asks about, by handles that always mean the same tree."""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema, in_labels
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence, evidence, recorded
from tripletree.web.errors import AskError
from tripletree.web.jobs import Jobs

MOST_SIZES = 64
"""Trees of other sizes that are kept at hand."""
MOST_GROWN = 32
"""Trees that a page may grow again, before the oldest is forgotten."""
_HANDLE = re.compile(r"([ab](?:~[1-9][0-9]{0,3})?)(?:/([1-9][0-9]{0,6}))?")
NEEDS = {
    "log": "This needs the log: the model keeps states, not actions and rewards. Start it with --log LOG, or in Python "
    "with tree.explore(log=log).",
    "agent": "This needs the agent itself. Start it with --agent FILE --env ID, or in Python with "
    "tree.explore(agent=function).",
    "second": "This needs a second model. Start it with two: tripletree explore OLD.tripletree NEW.tripletree, or in "
    "Python with tree.explore(other=tree2).",
    "other": "What changed is found between two logs. Start it with --log OLD --log2 NEW, or in Python with "
    "tree.explore(log=old, other_log=new).",
    "record": "This is counted over recorded episodes, and this model keeps none. Start it with --log LOG, or in "
    "Python with tree.explore(log=log).",
}
"""What to type where something is missing."""


class Model(NamedTuple):
    """A tree, what it is called, how it is made in Python, and the log that it can be asked about."""

    tree: Any  # a TripleTree, which comes through the front door: this room may not import it
    name: str
    line: str
    log: Log | None


@dataclass(frozen=True)
class Beside:
    """An agent beside the tree.

    Attributes
    ----------
    act : callable
        From states, shape (states, features), to actions.
    name, env : str
        What it and its environment are called; empty where they have no name.
    frame : callable or None
        From states, actions, labels of them and a step to a picture: see ``web.frames``.
    """

    act: Callable[[npt.NDArray[np.float64]], Any]
    name: str = ""
    env: str = ""
    frame: Any = None


class House:
    """What one page, or one widget, asks about.

    Parameters
    ----------
    tree, other : TripleTree
        The models; ``other`` may be None.
    log : Log or None
        What was recorded.
    agent : Beside or None
        Who acted.
    names : sequence of str
        What the two models, the log and the other log are called: paths, or nothing.
    other_log : Log or None
        Another log, such as that of the second model, to find what changed.
    finders : mapping of str to callable
        ``diff(old log, new log)``, ``failures(log, when)`` and ``require(log, requirement)`` of the front door, which
        this room may not import.
    """

    def __init__(
        self,
        tree: Any,
        other: Any = None,
        log: Log | None = None,
        agent: Beside | None = None,
        names: Sequence[str] = ("", "", ""),
        other_log: Log | None = None,
        finders: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.session = secrets.token_hex(8)
        self.agent, self.jobs = agent, Jobs()
        self.names = (*names, "", "", "", "")[:4]
        self._lock = threading.Lock()
        self._sizes: OrderedDict[str, Any] = OrderedDict()
        self._grown = 0
        fitted = tree.fitted_
        if log is not None:
            check_same_schema(fitted.schema, log, "log")
            log = in_labels(fitted.schema, log)
        if other_log is not None:
            check_same_schema(fitted.schema, other_log, "second log")
        self.other_log, self.finders = other_log, dict(finders or {})
        self.models = {"a": Model(tree, Path(names[0]).name or "tree", "tree", log)}
        if other is not None:
            self.models["b"] = Model(
                other,
                Path(names[1]).name or "other tree",
                "tree2",
                _fitting(other.fitted_, log if other_log is None else other_log),
            )

    def base(self, handle: Any) -> tuple[Model, int | None]:
        """Return the model of a handle, and how many leaves are wanted; None for all."""
        found = _HANDLE.fullmatch(handle) if isinstance(handle, str) else None
        if found is None:
            raise AskError("gone", f"There is no model {str(handle)[:40]!r}; there is {' and '.join(self.models)}.")
        model = self.models.get(found[1])
        if model is None:
            wanted = "second" if found[1] == "b" else ""
            if wanted:
                raise AskError("needs", NEEDS["second"], "second")
            raise AskError("gone", "This tree was grown before the server was started again. Grow it once more.")
        return model, None if found[2] is None else int(found[2])

    def tree(self, handle: Any) -> Any:
        """Return the TripleTree of a handle."""
        model, leaves = self.base(handle)
        if leaves is None or leaves == model.tree.n_leaves_:
            return model.tree
        with self._lock:
            if handle in self._sizes:
                self._sizes.move_to_end(handle)
                return self._sizes[handle]
        if leaves > model.tree.n_leaves_:
            raise AskError("mistake", f"This tree has {model.tree.n_leaves_:,} leaves; it cannot have {leaves:,}.")
        smaller = model.tree.truncate(leaves)
        with self._lock:
            self._sizes[handle] = smaller
            while len(self._sizes) > MOST_SIZES:
                self._sizes.popitem(last=False)
        return smaller

    def fitted(self, handle: Any) -> Fitted:
        """Return what the tree of a handle knows."""
        fitted: Fitted = self.tree(handle).fitted_
        return fitted

    def log(self, handle: Any) -> Log | None:
        """Return the log that the tree of a handle can be asked about."""
        return self.base(handle)[0].log

    def required_log(self, handle: Any) -> Log:
        """Return the log; or say what to type."""
        log = self.log(handle)
        if log is None:
            raise AskError("needs", NEEDS["log"], "log")
        return log

    def required_agent(self) -> Beside:
        """Return the agent; or say what to type."""
        if self.agent is None:
            raise AskError("needs", NEEDS["agent"], "agent")
        return self.agent

    def evidence(self, handle: Any) -> Evidence:
        """Return the recorded episodes: the log's, or those that the model keeps."""
        fitted, log = self.fitted(handle), self.log(handle)
        found = evidence(fitted, log)
        if found is None:
            raise AskError("needs", NEEDS["record"], "log")
        return recorded(found)

    def settle(self, handle: str, tree: Any, line: str) -> str:
        """Take in a tree that was grown again, and return its handle."""
        base = handle.split("/")[0].split("~")[0]
        with self._lock:
            self._grown += 1
            name = f"{base}~{self._grown}"
            self.models[name] = Model(tree, f"{self.models[base].name}, grown again", line, self.models[base].log)
            old = [one for one in self.models if "~" in one]
            for one in old[: max(len(old) - MOST_GROWN, 0)]:
                del self.models[one]
        return name

    def called(self, handle: str) -> str:
        """Return what the tree of a handle is called in Python."""
        model, leaves = self.base(handle)
        return model.line if leaves is None else f"{model.line}.truncate({leaves})"

    def line(self, handle: str, method: str, *arguments: Any, log: bool = False, **options: Any) -> str:
        """Return the line of Python that gives the same answer."""
        model, _ = self.base(handle)
        parts = [literal(one) for one in arguments]
        parts += [f"{name}={literal(one)}" for name, one in options.items() if one is not None and one != ()]
        if log and model.log is not None:
            parts.append("log=log2" if model.line == "tree2" and self.other_log is not None else "log=log")
        return f"{self.called(handle)}.{method}({', '.join(parts)})"

    def setup(self) -> list[str]:
        """Return the lines of Python that come before all others."""
        first, second, log, other = self.names
        lines = ["import tripletree", "from tripletree import load, plot, read_log"]
        lines.append(f"tree = load({(first or 'tree.tripletree')!r})")
        if "b" in self.models:
            lines.append(f"tree2 = load({(second or 'other.tripletree')!r})")
        if self.models["a"].log is not None:
            lines.append(f"log = read_log({(log or 'log.csv')!r})")
        if self.other_log is not None:
            lines.append(f"log2 = read_log({(other or 'log2.csv')!r})")
        if self.agent is not None:
            lines.append(f"# `agent` is a function from states to actions: here {self.agent.name or 'the one given'}.")
        return lines

    def close(self) -> None:
        """End all work."""
        self.jobs.close()


class Code(str):
    """Text that is code already, such as the name of a variable."""


def literal(value: Any) -> str:
    """Return a value from JSON as Python code."""
    if isinstance(value, Code):
        return value
    if isinstance(value, list | tuple):
        inside = ", ".join(map(literal, value))
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(key)}: {literal(part)}' for key, part in value.items())}}}"
    return repr(value)


def _fitting(fitted: Fitted, log: Log | None) -> Log | None:
    """Return the log if a tree can be asked about it."""
    if log is None:
        return None
    try:
        check_same_schema(fitted.schema, log, "log")
    except LogError:
        return None
    return in_labels(fitted.schema, log)
