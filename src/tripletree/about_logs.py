"""Questions about logs, which need no tree: each checks its arguments and passes them on."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

from tripletree.answers.diff import Diff
from tripletree.answers.failures import Briefings, Failures
from tripletree.answers.memory import Drift, Memory
from tripletree.answers.outcome import Outcome
from tripletree.answers.requirements import Requirements
from tripletree.answers.watch import Watch
from tripletree.answers.world import World
from tripletree.checks import check_ending, check_flag, check_whole
from tripletree.errors import ParameterError
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log
from tripletree.questions import memory as remembers
from tripletree.questions.diff import diff as find_diff
from tripletree.questions.failures import failures as find_failures
from tripletree.questions.known import still_known
from tripletree.questions.outcome import outcome as find_outcome
from tripletree.questions.require import require as find_requirements
from tripletree.questions.rhythm import rhythm as rhythm
from tripletree.questions.two_logs import Pair, pair_of, split_log
from tripletree.questions.watching import watch as find_watch
from tripletree.questions.world import world as find_world
from tripletree.text import Message, Option


def memory(log: Log, *, quick: bool = False, seed: int = 0) -> Memory:
    """Return whether what the agent does depends on what came before, or on the state alone.

    What earlier actions and states, events and the time since them tell about the action, beyond the state, is measured
    on unseen episodes. Every model of the state is too coarse, so the past helps to predict any agent. So models
    that err in different ways have their say about the state first, and an episode's own past counts only where it is
    no nearer than other episodes are. The p value is that of a t test over episodes, and minds all that was tried.

    No sign of memory is no proof that there is none: the answer says what memory can be behind at most.

    Parameters
    ----------
    log : Log
        What was recorded; at least 8 episodes.
    quick : bool
        Look at 2,000 steps rather than 6,000, and less closely; weaker dependences are missed.
    seed : int
        Seed of the episodes that trees are grown on.

    Examples
    --------
    >>> from tripletree import memory
    >>> from tripletree.demos import road
    >>> memory(road.record("left", n_samples=2000), quick=True).found
    False
    """
    check_log(log, "log")
    check_flag(quick, "quick")
    check_whole(seed, "seed", 0)
    return remembers.memory(log, seed, quick)


def drift(log: Log, *, quick: bool = False, seed: int = 0) -> Drift:
    """Return whether the agent changes within the log: from early to late episodes, or from group to group.

    Episodes are compared in like states: what other episodes say of each state is taken away first. The p value comes
    from shuffling whole episodes among the two halves of the log, or among its groups (pilots, vehicles).

    Parameters
    ----------
    log : Log
        What was recorded, in order of time; at least 8 episodes.
    quick : bool
        Look at 2,000 steps rather than 6,000.
    seed : int
        Seed of the shuffles.

    Examples
    --------
    >>> from tripletree import drift
    >>> from tripletree.demos import road
    >>> drift(road.record("left", n_samples=2000), quick=True).found
    False
    """
    check_log(log, "log")
    check_flag(quick, "quick")
    check_whole(seed, "seed", 0)
    return remembers.drift(log, seed, quick)


def outcome(log: Log, success: Any = None) -> Outcome:
    """Return how many episodes succeed, how they differ from those that fail, and what failures share.

    Success is what somebody says it is, and never guessed: the argument, the log (``read_log(..., success=...)``, its
    description, or the well-known task that :func:`record` recorded), or nobody.

    Parameters
    ----------
    log : Log
        The episodes.
    success : str, bool array of shape (episodes,), or None
        Which of them succeed, as a condition on episodes (see :meth:`TripleTree.chance`): ``"return > 200"``,
        ``"ending = terminated"``, ``"ends (x > 1)"``, ``"never visits (y < 0)"``; None: what the log says.

    Examples
    --------
    >>> from tripletree import outcome
    >>> from tripletree.demos import road
    >>> outcome(road.record("left", n_samples=2000), "ends (pos < 0.1)").share
    0.725
    """
    check_log(log, "log")
    return find_outcome(log, success)


def require(
    log: Log,
    *requirements: str,
    share: float | None = None,
    as_recorded: bool = False,
    where: bool = True,
    path: str | os.PathLike[str] | None = None,
) -> Requirements:
    """Return whether the episodes of a log meet requirements, by how much, and where they do not.

    A requirement says what must hold when: ``"always (y > 0 or vx < 0.5)"``, ``"never (action = left and x < -1)"``,
    ``"eventually[0, 300] (left leg in contact and right leg in contact)"``, ``"always (if y < 0.5 then
    eventually[0, 20] (vy > -0.2))"``, ``"(y > 0) until (landed)"``. :doc:`requirements` has the whole language. It is
    decided for an episode only if nothing that could follow the recording would change that.

    Parameters
    ----------
    log : Log
        The episodes.
    *requirements : str
        What is demanded.
    share : float or None
        The share of all episodes that must meet each, above 0 and below 1: it holds if the whole 95 % interval lies at
        or above it, and is violated if the whole interval lies below. None: every recorded episode must.
    as_recorded : bool
        Take the end of each recording for the end of its episode, also where it was cut off.
    where : bool
        Search for what violations have in common: where in the state space, and how such episodes begin.
    path : str or path-like, optional
        Where to write all of it as one HTML page, with pictures.

    Returns
    -------
    Requirements
        Of which ``holds`` is True, False or None where that cannot be told; it is true as a condition only if all hold.

    Examples
    --------
    >>> from tripletree import require
    >>> from tripletree.demos import road
    >>> found = require(road.record("left", n_samples=2000), "always (speed > -0.07)", as_recorded=True)
    >>> found.holds, found[0].held, found[0].violated
    (False, 26, 14)
    """
    check_log(log, "log")
    if path is not None:
        check_ending(path, (".html", ".htm"))  # before the work
    found = find_requirements(log, requirements, share=share, as_recorded=as_recorded, where=where)
    if path is not None:
        from tripletree.report.requirements import write_requirements  # a browser's part, and seldom wanted

        write_requirements(log, found, path)
    return found


def failures(
    log: Log,
    when: Any = None,
    reference: Log | None = None,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Failures | Briefings:
    """Brief on the episodes that failed: from when on they were likely to, what crossed there, and what they share.

    The risk of failing is learned from the states alone, and every episode is judged by models that have not seen it
    (nor others of its group). Fewer than 10 failures are too few for that: then the answer says where they come into
    states that no other episode is near.

    Parameters
    ----------
    log : Log
        The episodes. Their weights do not count here.
    when : str, bool array of shape (episodes,), list of these, or None
        Which of them failed, as a condition on episodes (see :meth:`TripleTree.chance`): ``"return < 100"``,
        ``"ending = terminated and ends (y > 0.1)"``, ``"visits (x > 1)"``; several are briefed apart. None: those that
        do not succeed, as the log says.
    reference : Log or None
        Episodes of a healthy agent, to tell whether the agent or the world was unlike them. None: the log's own
        successes, which tell less.
    seed : int
        How episodes are divided.
    progress : callable, optional
        Called with the trees done and wanted.

    Returns
    -------
    Failures or Briefings
        The second if ``when`` is a list.

    Examples
    --------
    >>> from tripletree import failures
    >>> from tripletree.demos import road
    >>> briefing = failures(road.record("left", n_samples=8000), "return < 1")
    >>> briefing.failed, briefing.how
    (18, 'risk')
    """
    check_whole(seed, "seed", 0, example=0)
    return find_failures(log, when, reference, seed=seed, progress=progress)


def diff(
    old: Log,
    new: Log | None = None,
    *,
    split: Any = None,
    alpha: float = 0.01,
    tolerance: float = 0.1,
    success: Any = None,
    names: Sequence[str] = ("old", "new"),
    model: Any = None,
    seed: int = 0,
) -> Diff:
    """Return what changed between two logs: what the agent does, how the world answers, where it starts.

    These are the causes, each tested by itself. What came of it, the outcome and where the logs go, is reported and
    never blamed. Whole episodes are shuffled between the logs (or whole groups, where the logs have some), so that it
    does not matter how much the steps of an episode depend on each other. Where nothing changed, any of the three or
    the outcome is called changed with a chance of ``alpha`` at most.

    Parameters
    ----------
    old, new : Log
        Two logs with the same features and actions: two versions of an agent, simulator and reality, two pilots.
    split : int, str or bool array of shape (episodes,), optional
        Instead of ``new``: how one log becomes two. How many episodes are old, the first ones; or which are, as a
        condition on episodes such as ``"pilot = Anna"`` (see :meth:`TripleTree.chance`).
    alpha : float
        Chance of a false alarm.
    tolerance : float
        Differences that do not matter, as a share of how much the action, or the derivative, varies. They are found and
        told all the same.
    success : str, bool array of shape (episodes of both,), or None
        Which episodes succeed, as in :func:`outcome`; None: what the logs say.
    names : (str, str)
        What the logs are called.
    model : TripleTree, optional
        Also tell whether this tree still knows the new log: does it do as well there as on episodes of the old one that
        it was not grown on?
    seed : int
        Of the shuffles.

    Returns
    -------
    Diff
        ``str()`` tells it, ``bool()`` is whether a change is claimed.

    Examples
    --------
    >>> from tripletree import diff
    >>> from tripletree.demos import road
    >>> old, new = road.record("left", n_samples=3000), road.record("hurry", n_samples=3000)
    >>> diff(old, new).changed
    ('policy',)
    """
    pair = _pair(old, new, split, success, names)
    ask = None if model is None else functools.partial(still_known, model.fitted_, *pair.logs, alpha, seed)
    return find_diff(pair, alpha=alpha, tolerance=tolerance, seed=seed, known=ask)


def watch(
    old: Log,
    new: Log | None = None,
    *,
    split: Any = None,
    alpha: float = 0.01,
    success: Any = None,
    names: Sequence[str] = ("old", "new"),
    seed: int = 0,
) -> Watch:
    """Return whether outcomes have become worse since the old log; ask as often as you like, as episodes come in.

    :func:`diff` may be asked once of two logs: who adds ten episodes and asks again until something is found will find
    something. This may be asked after every episode. It looks at the outcome alone: success, where somebody said what
    that is, else the return.

    Parameters
    ----------
    old, new, split, success, names
        As in :func:`diff`; the episodes of the new log are in the order in which they came.
    alpha : float
        Chance that a change is *ever* called, where there is none.
    seed : int
        Breaks ties.

    Examples
    --------
    >>> from tripletree import watch
    >>> from tripletree.demos import road
    >>> old, new = road.record("hurry", n_samples=3000), road.record("left", n_samples=3000)
    >>> found = watch(old, new)
    >>> found.verdict, found.after
    ('worse', 4)
    """
    return find_watch(_pair(old, new, split, success, names), alpha=alpha, seed=seed)


def _pair(old: Any, new: Any, split: Any, success: Any, names: Sequence[str]) -> Pair:
    for name, log in (("old", old), ("new", new)):
        if hasattr(type(log), "fitted_"):
            raise ParameterError(
                Message(
                    "{} is a tree: its track has neither actions nor the log's resolution. Give the two logs.",
                    Option(name),
                )
            )
    check_log(old, "old")
    if (new is None) == (split is None):
        raise ParameterError(
            Message(
                "Give two logs, or one and {} (the first 100 episodes are old) or {}; got {}.",
                Option("split", 100),
                Option("split", "pilot = Anna"),
                "both" if new is not None else "one log alone",
            )
        )
    called = (str(names[0]), str(names[1]))
    if new is None:
        old, new, called = split_log(old, split)
    check_log(new, "new")
    return pair_of(old, new, called, success)


def world(log: Log) -> World:
    """Return what a log shows of the world: rates, circles, limits, copies, and how episodes begin and end.

    Parameters
    ----------
    log : Log
        The log.

    Examples
    --------
    >>> from tripletree import world
    >>> from tripletree.demos import road
    >>> print(world(road.record("left", n_samples=2000)))
    speed is the rate of pos.
    ...
    """
    check_log(log, "log")
    return find_world(log)


def finders() -> dict[str, Callable[..., Any]]:
    """Return what pages may begin that takes longer: functions of two logs, or of one, by name."""
    return {"diff": diff, "failures": failures, "require": require}
