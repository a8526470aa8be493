"""The one function behind every page: a question by its name and its arguments as JSON types, and the answer."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from tripletree.checks import did_you_mean, listing
from tripletree.errors import MissingDependencyError, TripleTreeError
from tripletree.text import message_of
from tripletree.web import beside, episodes, here, moving, opening, size, telling
from tripletree.web.errors import AskError
from tripletree.web.house import House
from tripletree.web.jobs import fault
from tripletree.web.packing import encoded

QUESTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "hello": opening.hello,
    "tree": opening.tree,
    "facts": opening.facts,
    "foil": opening.foil,
    "map": opening.map_of,
    "ticks": opening.ticks,
    "samples": opening.samples,
    "recorded": opening.recorded,
    "predict": here.predict,
    "explain": here.explain,
    "counterfactual": here.counterfactual,
    "attribute": here.attribute,
    "futures": here.futures,
    "chance": here.chance,
    "steps": here.steps,
    "after": here.after,
    "through": here.through,
    "agent": here.agent,
    "novelty": here.novelty,
    "routes": moving.routes,
    "machine": moving.machine,
    "leaf": moving.leaf,
    "episodes": episodes.episodes,
    "episode": episodes.episode,
    "curve": size.curve,
    "regrow": size.regrow,
    "progress": size.progress,
    "cancel": size.cancel,
    "agreement": beside.agreement,
    "compare": beside.compare,
    "frame": beside.frame,
    "diff": beside.diff,
    "failures": beside.failures,
    "require": beside.require,
    "summary": telling.summary,
    "rules": telling.rules,
    "importance": telling.importance,
    "report": telling.report,
    "check": telling.check,
}
"""Every question, by the name that pages use."""
PASSING = frozenset({"hello", "regrow", "progress", "cancel", "diff", "failures", "require", "report"})
"""Questions whose answers change while the house stands; all others are the same for ever."""
MOST_BYTES = 64 * 2**20
"""Answers that are remembered, in all."""
LARGEST = 8 * 2**20
"""No larger answer is remembered."""


def ask(house: House, question: Any, args: Any = None) -> dict[str, Any]:
    """Return the answer to a question, as JSON types.

    Parameters
    ----------
    house : House
        What is asked about.
    question : str
        A name in `QUESTIONS`.
    args : dict or None
        The arguments by name, as JSON types.

    Raises
    ------
    AskError
        With a sentence that says what is wrong, or what is missing.
    """
    function = QUESTIONS.get(question) if isinstance(question, str) else None
    if function is None:
        shown = str(question)[:60]
        raise AskError("broken", f"There is no question {shown!r}.{did_you_mean(shown, QUESTIONS)}")
    if args is not None and not isinstance(args, Mapping):
        raise AskError("broken", f"The arguments of {question!r} must be an object.")
    given = dict(args or {})
    _check_names(question, function, given)
    try:
        return function(house, **given)
    except AskError:
        raise
    except MissingDependencyError as error:
        raise AskError("needs", str(message_of(error)), "library") from error
    except TripleTreeError as error:
        raise AskError("mistake", str(message_of(error))) from error
    except MemoryError:
        raise AskError("mistake", "There is not enough memory for this.") from None
    except RecursionError:
        raise AskError("mistake", "This is nested too deeply to be read.") from None


def _check_names(question: str, function: Callable[..., Any], given: dict[str, Any]) -> None:
    parameters = {
        name: one for name, one in inspect.signature(function).parameters.items() if one.kind is one.KEYWORD_ONLY
    }
    for name in given:
        if name not in parameters:
            known = listing(list(parameters), 20) if parameters else "none"
            hint = did_you_mean(name, parameters)
            raise AskError("broken", f"{question!r} has no argument {str(name)[:60]!r}; it has {known}.{hint}")
    for name, one in parameters.items():
        if one.default is one.empty and name not in given:
            raise AskError("broken", f"{question!r} needs the argument {name!r}.")


class Desk:
    """Answers as bytes, each worked out once: for hosts that send them somewhere.

    Parameters
    ----------
    house : House
        What is asked about.
    """

    def __init__(self, house: House) -> None:
        self.house = house
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def reply(self, question: Any, args: Any) -> tuple[bytes, AskError | None]:
        """Return ``{"answer": ...}`` or ``{"error": ...}`` as JSON, and the error if there is one."""
        key = b""
        if isinstance(question, str) and question not in PASSING:
            key = encoded([question, _sorted(args)])
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key], None
        try:
            reply = encoded({"answer": ask(self.house, question, args)})
        except AskError as error:
            return encoded({"error": error.to_dict()}), error
        except Exception as error:  # a page must never wait for an answer that does not come
            wrong = AskError("fault", fault(error))
            wrong.__cause__ = error
            return encoded({"error": wrong.to_dict()}), wrong
        if key and len(reply) <= LARGEST:
            self._keep(key, reply)
        return reply, None

    def _keep(self, key: bytes, reply: bytes) -> None:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = reply
                self._size += len(reply)
            while self._size > MOST_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._size -= len(oldest)


def _sorted(value: Any) -> Any:
    """Return JSON types with all objects in the order of their keys."""
    if isinstance(value, Mapping):
        return {str(key): _sorted(value[key]) for key in sorted(value, key=str)}
    return [_sorted(one) for one in value] if isinstance(value, list | tuple) else value
