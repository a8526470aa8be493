"""TreePolicy: the tree acts, one state in a few microseconds, with the actions that the environment takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.checks import check_choice
from tripletree.errors import ParameterError
from tripletree.leaves.linear import LinearLeaves, node_means
from tripletree.log.schema import Action
from tripletree.log.spaces import Layout, layout_of
from tripletree.log.tasks import task_of
from tripletree.log.worlds import world_of
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option, count, shortened

F64 = npt.NDArray[np.float64]
LEAF_MODELS = ("mean", "linear")


def as_policy(fitted: Fitted, leaf_model: str | None = None, *, env: Any = None) -> TreePolicy:
    """Return the tree as a function from states to actions.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    leaf_model : {"mean", "linear"}, optional
        What a leaf does: the mean action of its samples (of labels, the most frequent one), or a linear function of the
        state. None: what the tree was grown with.
    env : environment or its id, optional
        Whose observations the policy gets. Needed only where these are no plain vectors (Dict, Tuple, Discrete): they
        then become features as :func:`tripletree.record` makes them.

    Raises
    ------
    ParameterError
        If the tree knows no actions, has no linear leaves, or has other features than the environment.
    """
    return TreePolicy(fitted, leaf_model, None if env is None else _Observations(env, fitted))


class TreePolicy:
    """A tree that acts. Call it with a state, or with several at once; :meth:`predict` is as in Stable-Baselines3.

    An action is what the environment takes: a float32 array of shape (dimensions,) if actions are continuous; an int
    if they are labels that stand for whole numbers, an int64 array if they stand for several, such as ``0, 1``; the
    label itself if it stands for nothing else. For several states they are rows of one array.

    Attributes
    ----------
    action : Action
        What an action is to the tree: labels, or names of dimensions.
    actions : tuple
        Of a discrete action, what each label is to the environment, in the order of the labels; else empty.
    leaf_model : str
        What a leaf does, "mean" or "linear".
    """

    def __init__(
        self, fitted: Fitted, leaf_model: str | None = None, observations: _Observations | None = None
    ) -> None:
        if not fitted.schema.has_action:
            raise ParameterError("This tree was grown on a log without actions, so it cannot act.")
        self.leaf_model = leaf_model_of(fitted, leaf_model)
        self.action = fitted.schema.action
        self.actions = meanings(self.action)
        self._fitted, self._observations = fitted, observations
        self._width = len(fitted.schema.features)
        self._kernel = _compiled(fitted, self.leaf_model)
        # What is called at every step, without a detour through `self`.
        self._one: Callable[[Any], Any] = _single(self._kernel, self.actions)
        self._batch = np.array(self.actions) if self.actions else None

    def __repr__(self) -> str:
        return f"<TreePolicy: {count(self._fitted.tree.n_leaves, 'leaf', 'leaves')}, {self.action.kind} action>"

    def __call__(self, states: Any) -> Any:
        """Return the action in one state, or in each row of several."""
        if type(states) is np.ndarray and states.ndim == 1 and self._observations is None:
            try:
                return self._one(states)
            except (IndexError, TypeError, ValueError):
                pass  # another kind of number, another order in memory, or a wrong length: told apart below
        rows, single = self._rows(states)
        return self._one(rows[0]) if single else self._several(rows)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,  # noqa: ARG002 - the signature of Stable-Baselines3
        deterministic: bool = True,  # noqa: ARG002 - a tree knows no other way
    ) -> tuple[Any, Any]:
        """Return the action and the state of the memory, as models of Stable-Baselines3 do; a tree has no memory.

        Parameters
        ----------
        observation : array of shape (features,) or (states, features)
            One observation, or several.
        state : any
            Returned as it is.
        episode_start, deterministic
            Ignored.
        """
        return self(observation), state

    def numbers(self, states: F64) -> npt.NDArray[Any]:
        """Return the label of each state as its position, shape (states,); or numbers, shape (states, dimensions)."""
        rows, tree = np.ascontiguousarray(states, np.float64), self._fitted.tree
        told = self._kernel.many(rows, tree.leaf_nodes[tree.apply(rows)].astype(np.int32), 1)
        return told.argmax(axis=1) if self.actions else told

    def position(self, state: F64) -> int:
        """Return the position of the label in one state."""
        return int(self._kernel.best(state))

    def _several(self, rows: F64) -> npt.NDArray[Any]:
        told = self.numbers(rows)
        return told.astype(np.float32) if self._batch is None else self._batch[told]

    def _rows(self, states: Any) -> tuple[F64, bool]:
        if self._observations is not None:
            rows, single = self._observations.read(states)
        else:
            rows, single = self._plain(states)
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0].tolist()
            raise ParameterError(
                f"States must be finite; {self._fitted.schema.feature_names[column]} of state {row} is "
                f"{rows[row, column]}."
            )
        return rows, single

    def _plain(self, states: Any) -> tuple[F64, bool]:
        wanted = f"({self._width},) or (states, {self._width})"
        try:
            array = np.array(states, np.float64, order="C")  # a copy, since what is read-only cannot be asked about
        except (TypeError, ValueError):
            raise ParameterError(
                Message(
                    "Observations must be arrays of shape {}; got {}. Where the environment has others, type {}.",
                    wanted,
                    type(states).__name__,
                    Option("env", ...),
                )
            ) from None
        if np.ndim(states) not in (1, 2) or array.shape[-1] != self._width:
            raise ParameterError(
                Message(
                    "The tree has {} features, so observations must have shape {}; got shape {}. Where those of the "
                    "environment are no vectors, type {}.",
                    self._width,
                    wanted,
                    np.shape(states),
                    Option("env", ...),
                )
            )
        return array.reshape(-1, self._width), array.ndim == 1


def leaf_model_of(fitted: Fitted, asked: str | None) -> str:
    """Return what leaves do: what was asked for, or what the tree was grown with."""
    if asked is None:
        return "mean" if fitted.model is None else "linear"
    check_choice(asked, "leaf_model", LEAF_MODELS)
    if asked == "linear" and fitted.linear is None:
        raise ParameterError(
            Message(
                "This tree has no linear leaves: its file is from before there were any. Type {}.",
                Option("leaf_model", "mean"),
            )
        )
    return asked


def meanings(action: Action) -> tuple[Any, ...]:
    """Return what the labels of a discrete action are to an environment; nothing for a continuous one.

    >>> meanings(Action("discrete", labels=("left", "right"), codes=("0", "1")))
    (0, 1)
    >>> meanings(Action("discrete", labels=("-0.001", "0.001")))
    ('-0.001', '0.001')
    """
    texts = action.codes or action.labels
    try:
        numbers = [tuple(int(part) for part in text.split(", ")) for text in texts]
    except ValueError:
        return action.labels
    if len({len(number) for number in numbers}) > 1:
        return action.labels
    return tuple(number[0] if len(number) == 1 else np.array(number) for number in numbers)


def _single(kernel: Any, actions: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Return the function of one state, as short as it can be."""
    if not actions:
        one, f32 = kernel.one, np.float32
        return lambda state: one(state).astype(f32)
    best = kernel.best
    if isinstance(actions[0], np.ndarray):
        return lambda state: actions[best(state)].copy()
    return lambda state: actions[best(state)]


def _compiled(fitted: Fitted, leaf_model: str) -> _kernel.Policy:
    """Return the models of the action alone, in compiled form; means are models without slopes."""
    columns, width = fitted.targets["action"], len(fitted.schema.features)
    if leaf_model == "linear" and fitted.linear is not None and fitted.attributes.state_mean is not None:
        return fitted.linear.asked(fitted.tree, fitted.attributes.state_mean, columns)
    centre = node_means(fitted.attributes)[:, columns]
    endless = np.full(centre.shape, np.inf, np.float32)
    flat = LinearLeaves(centre, np.zeros((*centre.shape, width), np.float32), -endless, endless, endless)
    return flat.asked(fitted.tree, np.zeros((fitted.tree.n_nodes, width)))


class _Observations:
    """How the observations of an environment become the features of a tree."""

    def __init__(self, env: Any, fitted: Fitted) -> None:
        world = world_of(env)
        try:
            self.space = world.observation_space
            self.layout = layout_of(self.space, task_of(world.name), world.measured)
        finally:
            if isinstance(env, str):
                world.close()
        check_features(self.layout, fitted)

    def read(self, observations: Any) -> tuple[F64, bool]:
        """Return one row for each observation, and whether there was but one, by itself."""
        try:
            depth = _depth(observations, self.space)
            if depth == 0:
                return self.layout.read(observations)[None], True
            if depth == 1:
                return np.array([self.layout.read(one) for one in _each(observations)]), False
        except (IndexError, KeyError, TypeError, ValueError):
            pass
        raise ParameterError(
            f"Observations must be those of this environment, {shortened(str(self.space), 60)}, or several of them "
            "stacked."
        )


def check_features(layout: Layout, fitted: Fitted) -> None:
    """Raise ParameterError unless an environment's observations are as many numbers as the tree has features."""
    if len(layout.names) != len(fitted.schema.features):
        raise ParameterError(
            f"The tree has {len(fitted.schema.features)} features ({_some(fitted.schema.feature_names)}), and "
            f"observations of this environment have {len(layout.names)} ({_some(layout.names)}). A tree can act only "
            "where states are what it was grown on."
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + ", ..." * (len(names) > 3)


def _depth(observations: Any, space: Any) -> int:
    """Return how many axes an observation has beyond those of its space."""
    parts = getattr(space, "spaces", None)
    if parts:
        key = next(iter(parts)) if isinstance(parts, Mapping) else 0
        return _depth(observations[key], parts[key])
    return np.ndim(observations) - len(space.shape or ())


def _each(observations: Any) -> list[Any]:
    """Return the rows of several observations one by one."""
    if isinstance(observations, Mapping):
        parts = {key: _each(part) for key, part in observations.items()}
        return [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]
    if isinstance(observations, tuple):
        return list(zip(*map(_each, observations), strict=True))
    return list(np.asarray(observations))
