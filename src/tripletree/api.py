"""TripleTree: the one object that users hold; it delegates and computes nothing."""

from __future__ import annotations

import functools
import inspect
import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from tripletree import store
from tripletree.asking.levels import Wanted
from tripletree.asking.states import complete, read_state
from tripletree.checks import check_flag, check_names, check_parameters, check_whole
from tripletree.errors import NotFittedError, ParameterError, TripleTreeWarning
from tripletree.graph.transitions import Transitions
from tripletree.log.disk import DiskLog
from tripletree.log.log import Log
from tripletree.log.record import record
from tripletree.markup import notebook_box, tag
from tripletree.model.card import tree_card
from tripletree.model.evaluate import check_log, check_same_schema, in_labels, judge, losses, score, transitions_on
from tripletree.model.fit import available_cores, fit
from tripletree.model.fitted import Fitted
from tripletree.model.table import Table, curve_table, leaf_table
from tripletree.text import Message, Option
from tripletree.tree.costs import named_costs
from tripletree.tree.structure import Tree
from tripletree.writing import reason

# What answers a question is imported by the method that asks it: all of it together takes longer than most commands.
if TYPE_CHECKING:
    from tripletree.answers.attribution import Attribution
    from tripletree.answers.chance import Chance, Duration, Unreachable, Whereabouts
    from tripletree.answers.change import Change, Changes
    from tripletree.answers.counterfactual import Counterfactual, Counterfactuals
    from tripletree.answers.criticality import Criticality, Moments, StateCriticality
    from tripletree.answers.disagreement import Both, Disagreement
    from tripletree.answers.effects import Effects
    from tripletree.answers.episodes import Episodes
    from tripletree.answers.factual import Factual
    from tripletree.answers.few_rules import FewRules
    from tripletree.answers.fidelity import Fidelity
    from tripletree.answers.futures import Futures
    from tripletree.answers.importance import Importance
    from tripletree.answers.judgement import Calibration, HeldOut, Trust
    from tripletree.answers.outline import Outline
    from tripletree.answers.prediction import Prediction
    from tripletree.answers.refined import Refined
    from tripletree.answers.rules import Rules
    from tripletree.answers.stability import Stability
    from tripletree.answers.story import Story
    from tripletree.answers.summary import Summary
    from tripletree.answers.trajectories import Trajectories
    from tripletree.answers.visits import Visits
    from tripletree.answers.weights import Weights
    from tripletree.policy.policy import TreePolicy
    from tripletree.questions.evidence import Evidence
    from tripletree.questions.regrown import Regrown

Method = TypeVar("Method", bound=Callable[..., Any])


def question(method: Method) -> Method:
    """Make numbers that no double can hold an error, not a NaN in an answer."""

    @functools.wraps(method)
    def asked(*arguments: Any, **options: Any) -> Any:
        try:
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                return method(*arguments, **options)
        except FloatingPointError:
            raise ParameterError(
                "The numbers are too large, or too far apart, to compute with: a result does not fit a double. Are the "
                "log and the model in the same units?"
            ) from None

    return cast(Method, asked)


class TripleTree:
    """A decision tree that models what an agent does, how well it fares and how its world moves.

    One tree predicts the action, the value (discounted sum of rewards) and the derivative (change of the state in one
    step). Parameters are stored as given and checked by :meth:`fit`.

    Parameters
    ----------
    max_leaves : int
        Maximum leaves: growth stops there.
    theta : three non-negative numbers, not all zero
        Weights of action, value and derivative in the quality of a split.
    gamma : float from 0 to 1
        Discount factor of the value.
    priority : {"impurity", "gain"}
        Which leaf is split next: the one with the largest summed impurity (the paper's), or the one whose best split
        gains most.
    mode : {"exact", "histogram"}
        Consider all thresholds, or only those at the edges of ``bins`` bins (for very large logs).
    bins : int
        Bins of each feature in histogram mode.
    thresholds : {"short", "midpoint"}
        Put a threshold at the shortest decimal number in its gap, or in the middle. The log is divided the same way.
    derivative_scale : {"sigma", "paper"}
        Divide derivatives by their standard deviation, or by its root (the paper's printed formula, which depends on
        the units of the features).
    truncation : {"paper", "bootstrap"}
        What follows the end of an episode that was cut off: nothing, as in the paper, or the tree's own value of the
        final state (of the last recorded one where there is none). Without a discount (``gamma=1``) it is nothing.
    min_samples_leaf : int
        Minimum samples per leaf.
    max_depth : int or None
        Maximum depth, the number of splits above a leaf; None for no limit.
    min_quality : float
        Minimum quality of a split (the root's impurity is the sum of theta).
    early_stopping : bool
        With a validation log, keep the size with the smallest validation score (see :attr:`curve_`).
    leaf_model : {"linear", "mean"}
        What a leaf predicts: a linear model of the state, as strong as episodes that were left out of its fit bear
        out, or the mean of its samples (the paper's). Boxes, maps, chains and rules are those of the means either way.
    leaf_features : int or None
        Maximum number of features in each linear model, for short sentences; None: all of them.
    costs : dict, square array or None
        What it costs to take one label of a discrete action for another, in growth and in the action loss:
        ``{("left", "right"): 3}`` for the true label and the predicted one. Pairs that are not named cost 1, what is
        right costs 0. Or an array with a row for each true label, in the order of the log's labels. None: every wrong
        label costs 1. What a leaf predicts stays what the agent does most there.
    keep : {"track", "leaves", "nothing"}
        What the tree, and so its file, keeps of the log: the states of its episodes, one byte a feature and step (of
        a log with more than 4 MB of them, random episodes); how it goes from leaf to leaf; or neither, so that
        questions about where the agent goes need ``log=``. With ``leaf_model="mean"`` and ``keep="nothing"`` there is
        no second opinion either, and growth is all that takes time.
    threads : int or None
        Threads to use, None for all cores. The tree is the same for any number.
    progress : function of (leaves so far, max_leaves), or None
        Called from time to time during growth.

    Examples
    --------
    >>> from tripletree import Log, TripleTree
    >>> states, actions, rewards = [[0.0], [0.5], [2.0], [2.5]], ["go", "go", "stop", "stop"], [1, 1, 0, 0]
    >>> log = Log.from_arrays(states, actions, rewards, starts=[0])
    >>> tree = TripleTree(max_leaves=2, gamma=0.5, theta=(1, 0, 0)).fit(log)
    >>> tree.predict([0.7]).action
    'go'
    >>> print(tree.predict([2.1]))
    Action = stop (100 %), value = 0 (leaf 1, 2 samples).
    """

    def __init__(
        self,
        max_leaves: int = 1000,
        theta: tuple[float, float, float] = (1, 1, 1),
        gamma: float = 0.99,
        *,
        priority: str = "impurity",
        mode: str = "exact",
        bins: int = 1024,
        thresholds: str = "short",
        derivative_scale: str = "sigma",
        truncation: str = "bootstrap",
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        min_quality: float = 0.0,
        early_stopping: bool = True,
        leaf_model: str = "linear",
        leaf_features: int | None = None,
        costs: Any = None,
        keep: str = "track",
        threads: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.max_leaves = max_leaves
        self.theta = theta
        self.gamma = gamma
        self.priority = priority
        self.mode = mode
        self.bins = bins
        self.thresholds = thresholds
        self.derivative_scale = derivative_scale
        self.truncation = truncation
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.min_quality = min_quality
        self.early_stopping = early_stopping
        self.leaf_model = leaf_model
        self.leaf_features = leaf_features
        self.costs = costs
        self.keep = keep
        self.threads = threads
        self.progress = progress

    @classmethod
    @functools.cache
    def _defaults(cls) -> dict[str, Any]:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (scikit-learn's signature)
        """Return the parameters by name; ``deep`` is there for scikit-learn and changes nothing."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **parameters: Any) -> TripleTree:
        """Set some parameters and return self; they take effect at the next :meth:`fit`."""
        check_names(parameters, self._defaults(), "TripleTree")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = (
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if repr(getattr(self, name)) != repr(default)
        )
        return f"TripleTree({', '.join(changed)})"

    def _repr_html_(self) -> str:
        from tripletree.questions.importance import importance

        if not hasattr(self, "_fitted"):
            return notebook_box(tag("b", repr(self)), "Not fitted yet: call fit(log).")
        return tree_card(self._fitted, repr(self), str(importance(self._fitted)))

    def fit(
        self, log: Log | DiskLog | Sequence[Log], validation: Log | DiskLog | None = None, *, weights: Any = None
    ) -> TripleTree:
        """Grow the tree on a log and return self.

        Parameters
        ----------
        log : Log, DiskLog, or list of logs
            The training log; several, such as ``Log.episodes()``, are joined. One on disk (see :func:`open_log`) is
            grown on in histogram mode.
        validation : Log, DiskLog or None
            Held-out episodes (see ``Log.split``): the losses at every size are measured on them too, and with
            ``early_stopping`` the best size is kept. With a log on disk they may be on disk as well.
        weights : array of shape (samples,), "episode" or None
            How much each step of ``log`` counts, in place of the log's own weights: at least 0, and not all 0.
            ``"episode"``: every episode counts the same in total, in the validation log too. None: as the logs say.

        Raises
        ------
        ParameterError
            If a parameter is wrong.
        LogError
            If the validation log has other features or actions.
        """
        self.__dict__.pop("_fitted", None)
        check_parameters(self.get_params())
        if isinstance(log, DiskLog):
            from tripletree.scale.fit import fit_on_disk

            if not isinstance(validation, DiskLog):
                check_log(validation, "validation", none="no validation")
            if weights is not None:
                log = log.weighted(weights)
                validation = None if validation is None else validation.weighted(weights)
            self._fitted = fit_on_disk(log, validation, self.get_params(), self.costs)
            return self
        log = _one_log(log)
        check_log(validation, "validation", none="no validation")
        validation = cast(Log | None, validation)
        if weights is not None:
            log = log.weighted(weights)
            validation = validation.weighted("episode") if validation and isinstance(weights, str) else validation
        self._fitted = fit(log, validation, {**self.get_params(), "costs": named_costs(self.costs, log.schema)})
        return self

    @property
    def fitted_(self) -> Fitted:
        """Everything the tree knows, frozen."""
        try:
            return self._fitted
        except AttributeError:
            raise NotFittedError("This TripleTree has not been fitted. Call fit(log) first.") from None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags  # only scikit-learn asks

        return Tags(None, TargetTags(required=False), input_tags=InputTags(two_d_array=False))

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """Names of the features, as scikit-learn has them."""
        return np.array(self.fitted_.schema.feature_names, object)

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return len(self.fitted_.schema.features)

    @property
    def tree_(self) -> Tree:
        """The structure, as parallel arrays."""
        return self.fitted_.tree

    @property
    def n_leaves_(self) -> int:
        """Number of leaves kept."""
        return self.fitted_.tree.n_leaves

    @property
    def leaves_(self) -> Table:
        """One row per leaf: box, prediction, spread, impurities, density."""
        return leaf_table(self.fitted_)

    @property
    def curve_(self) -> Table:
        """Losses with 1, 2, ... leaves on the training log and, when there was one, the validation log.

        ``score`` is what early stopping minimises: the theta-weighted sum of the three validation losses, each divided
        by that of the one-leaf tree. The table goes as far as growth went, which may be further than the size kept.
        """
        return curve_table(self.fitted_)

    @question
    def predict(self, states: Any) -> Prediction:
        """Return action, value, derivative and leaf in one or several states, with their spread.

        Parameters
        ----------
        states : array, sequence, dict, DataFrame or text
            One state of shape (features,), several of shape (states, features), columns by feature name, or one state
            as text: ``"pos = 1.2, speed = 0.03"``. Features that a text does not name are the training log's medians,
            and the answer says so.
        """
        from tripletree.questions.predict import predict

        written = complete(states, self.fitted_, "states")
        return predict(self.fitted_, written.state, self._threads()).assuming(written.assumed)

    def apply(self, states: Any) -> Any:
        """Return the leaf of each state, numbered as in :attr:`leaves_`; an int for a single state."""
        from tripletree.questions.predict import apply

        return apply(self.fitted_, states, self._threads())

    def write_predictions(self, log: DiskLog, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the leaf and what the tree predicts in every row of a log on disk; returns the files.

        Each file of the log gets a Parquet file of the same name in ``folder``, with as many rows in the same order:
        ``leaf``, ``outside`` (of what the tree has seen), the action and ``value``; empty where a part of the state is
        missing. Nothing is read whole.

        Parameters
        ----------
        log : DiskLog
            Any log on disk with the tree's features; see :func:`open_log`.
        folder : path
            Where the files go; it is made if it is not there.
        """
        from tripletree.scale.judging import write_predictions

        if not isinstance(log, DiskLog):
            raise ParameterError(
                Message(
                    "{} must be on disk: open it with open_log(path). In memory, predict(log.states) has them all.",
                    Option("log"),
                )
            )
        return write_predictions(self.fitted_, log, folder)

    @question
    def attribute(
        self, states: Any, about: str = "action", *, method: str | None = None, background: Log | None = None
    ) -> Attribution:
        """Return how much each feature contributed to what the tree predicts: exact Shapley values.

        The contributions to a prediction add up to its difference from what the tree predicts on average.

        Parameters
        ----------
        states : states, text or Log
            As in :meth:`predict`, or all states of a log.
        about : str
            ``"action"``, the name of an action dimension, ``"value"``, ``"derivative of pos"`` or ``"derivative"``. Of
            a discrete action this is the score of the label that the tree predicts; ``"action = left"`` names another.
        method : {"path", "background"} or None
            What stands in for features that the tree is not told: the share of the training samples that goes each
            way at a split, or the states of a background, one after the other. None: a background where one is
            given, else the path.
        background : Log or None
            With ``method="background"``, the log to draw up to 200 states from; None: what the model kept of its own.

        Examples
        --------
        >>> from tripletree import TripleTree
        >>> from tripletree.demos import road
        >>> tree = TripleTree(max_leaves=200).fit(road.record("left", n_samples=2_000))
        >>> print(tree.attribute("pos=1.2, speed=0.03", "value"))
        Value = ...
        """
        from tripletree.questions.attribute import attribute

        written = complete(states, self.fitted_, "states")
        found = attribute(self.fitted_, written.state, about, method, background, self._threads())
        return found.assuming(written.assumed)

    @overload
    def explain(
        self,
        state: Any,
        foil: None = None,
        *,
        about: str = "action",
        stability: bool = False,
        log: Log | None = None,
    ) -> Factual: ...

    @overload
    def explain(
        self,
        state: Any,
        foil: Mapping[str, Any] | str,
        *,
        k: int = 1,
        max_changes: int | None = None,
        fixed: Collection[str] = (),
        one_way: Mapping[str, str] | None = None,
        margin: float | Mapping[str, float] | None = None,
        min_samples: int = 1,
        min_purity: float = 0.0,
        opinion: bool = True,
        log: Log | None = None,
        agent: Callable[[npt.NDArray[np.float64]], Any] | None = None,
        verified: bool = False,
        stability: bool = False,
    ) -> Counterfactual: ...

    @question
    def explain(
        self,
        state: Any,
        foil: Mapping[str, Any] | str | None = None,
        *,
        about: str = "action",
        k: int = 1,
        max_changes: int | None = None,
        fixed: Collection[str] = (),
        one_way: Mapping[str, str] | None = None,
        margin: float | Mapping[str, float] | None = None,
        min_samples: int = 1,
        min_purity: float = 0.0,
        opinion: bool = True,
        log: Log | None = None,
        agent: Callable[[npt.NDArray[np.float64]], Any] | None = None,
        verified: bool = False,
        stability: bool = False,
    ) -> Any:
        """Return why the tree predicts what it predicts in a state; with a foil, what would have to change to get it.

        Without a foil the answer gives the bounds of the state's leaf. With one it gives the smallest change of the
        state after which the tree predicts the foil: the fewest features, then the smallest change, measured in the
        features' ranges over the log. It is false when the foil holds already, or when no leaf that may be entered
        predicts it, and says which.

        Parameters
        ----------
        state : sequence, dict of numbers or text
            One state, as in :meth:`predict`.
        foil : dict, text or None
            What should be predicted instead: ``{"action": "left"}`` (or several labels); or a pair ``(low, high)``,
            which means ``low <= x < high`` with None for no bound, for a continuous action,
            ``{"main engine": (0.5, None)}``, for ``"value"`` or for ``"derivative of pos"``. Several keys must hold
            together. Text says the same: ``"action = left and value >= 0.3"``.
        about : str
            Without a foil: ``"action"``, the name of an action dimension, ``"value"``, or ``"derivative of pos"`` for
            a feature ``pos``.
        k : int
            Number of different answers: the best one, and the next best as ``others``. No two lead to the same leaf,
            and none asks for everything that an earlier one asks for and more.
        max_changes : int or None
            Maximum number of features that may change.
        fixed : collection of str
            Features that may not change.
        one_way : dict
            Features that may change one way only: ``{"fuel": "down"}``, or ``"up"``.
        margin : float, dict or None
            How far a feature that changes goes beyond the border that it crosses: a share of its range, or a dict with
            numbers in the features' own units. It never goes past the middle of the leaf, so it is smaller where the
            leaf is thin. Features with whole numbers keep no margin. None: 0.02 (with
            ``log``: 0.05), or 0 without a second opinion.
        min_samples : int
            Minimum number of training samples in the leaf that the change leads to.
        min_purity : float from 0 to 1
            Minimum agreement of these samples on what the foil is about: the share of the most frequent label, or the
            share of the log's variance that is gone within the leaf.
        opinion : bool
            Keep searching until a second model of the same log agrees: by default the linear model of the leaf, beyond
            its own error, and those of the three nodes above it. If it agrees nowhere, the nearest leaf is the answer,
            which says so. False: the nearest border, as in the paper.
        log : Log or None
            The training log, to grow a bag of trees on it that gives a better second opinion; the first question takes
            eight times as long as growing the tree. None: the linear models in the leaves.
        agent : callable or None
            The real agent, a function of an array of shape (states, features) that returns one action for each. The
            answer then says what it does in the changed state.
        verified : bool
            Keep searching until the agent agrees: through all leaves that predict the foil, and points further inside
            them. If it agrees nowhere, the answer says so.
        stability : bool
            Say what trees grown on random halves of ``log`` make of it (see :meth:`stability`): how many agree, and
            where another log would put the numbers. The first question grows these trees, the next ones do not.
        """
        from tripletree.questions.counterfactuals import counterfactual
        from tripletree.questions.explain import factual
        from tripletree.questions.stability import steady_counterfactual, steady_factual

        check_flag(stability, "stability")
        grown = self._halves(log) if stability else None
        options: dict[str, Any] = {
            "k": k,
            "max_changes": max_changes,
            "fixed": fixed,
            "one_way": one_way,
            "margin": margin,
            "min_samples": min_samples,
            "min_purity": min_purity,
            "opinion": opinion,
            "log": log,
            "agent": agent,
            "verified": verified,
        }
        if foil is not None:
            if about != "action":
                raise ParameterError(
                    Message(
                        "{} is for explain without a foil; got {!r}. With a foil, the foil says what it is about.",
                        Option("about"),
                        about,
                    )
                )
            written = complete(state, self.fitted_)
            changed = counterfactual(self.fitted_, written.state, foil, **options)
            if grown is not None:
                changed = steady_counterfactual(changed, foil, grown)
            return changed.assuming(written.assumed)
        if grown is not None:
            del options["log"]
        defaults = inspect.signature(TripleTree.explain).parameters
        for name, value in options.items():
            # By their text: an array or a function can be given, too, and has no plain equality.
            if repr(value) != repr(defaults[name].default):
                raise ParameterError(
                    Message(
                        "{} is for explain with a foil; got {!r}. Say what should be predicted instead, such as {}.",
                        Option(name),
                        value,
                        Option("foil", "action = left"),
                    )
                )
        written = complete(state, self.fitted_)
        found = factual(self.fitted_, written.state, about)
        if grown is not None:
            found = steady_factual(self.fitted_, found, grown)
        return found.assuming(written.assumed)

    def _halves(self, log: Log | None) -> Regrown:
        """Return trees grown on halves of a log that was given for that."""
        from tripletree.questions.regrown import regrown

        if log is None:
            raise ParameterError(
                Message(
                    "{} grows trees on halves of the log, which the tree itself does not keep. Give it: {}.",
                    Option("stability"),
                    Option("log", ...),
                )
            )
        check_log(log, "log")
        return regrown(self.fitted_, log, threads=self._threads())

    @question
    def counterfactuals(
        self,
        states: Any,
        foil: Mapping[str, Any] | str,
        *,
        max_changes: int | None = None,
        fixed: Collection[str] = (),
        one_way: Mapping[str, str] | None = None,
        margin: float | Mapping[str, float] | None = None,
        min_samples: int = 1,
        min_purity: float = 0.0,
        opinion: bool = True,
        log: Log | None = None,
        agent: Callable[[npt.NDArray[np.float64]], Any] | None = None,
        verified: bool = False,
    ) -> Counterfactuals:
        """Return what would have to change in each of many states; arguments as in :meth:`explain`.

        Much faster than one by one. The answer has arrays with one row per state; ``answers[i]`` is that of state i.
        """
        from tripletree.questions.counterfactuals import counterfactuals

        return counterfactuals(
            self.fitted_,
            states,
            foil,
            opinion=opinion,
            log=log,
            agent=agent,
            verified=verified,
            max_changes=max_changes,
            fixed=fixed,
            one_way=one_way,
            margin=margin,
            min_samples=min_samples,
            min_purity=min_purity,
        )

    @question
    def explain_change(
        self,
        before: Any,
        after: Any,
        *,
        about: str = "action",
        threshold: float | None = None,
        opinion: bool = True,
    ) -> Change:
        """Return why the prediction changed from one state to the next.

        The reason is the smallest part of the move that is enough: whatever else happened between the two states,
        from there on every state on the way to ``after`` has the new prediction. It is false when nothing changed.

        Parameters
        ----------
        before, after : sequences, dicts of numbers or texts
            Two states as in :meth:`predict`, usually consecutive.
        about : str
            ``"action"`` (of several dimensions the one that changes most), the name of an action dimension,
            ``"value"``, or ``"derivative of pos"`` for a feature ``pos``.
        threshold : float or None
            A number counts as changed when it crosses this; None: the middle of the two predictions.
        opinion : bool
            Say whether the linear models in the leaves see the same change.
        """
        from tripletree.questions.explain_change import explain_change

        here, there = complete(before, self.fitted_, "before"), complete(after, self.fitted_, "after")
        answer = explain_change(self.fitted_, here.state, there.state, about, threshold, opinion)
        return answer.assuming(here.assumed | there.assumed)

    @question
    def explain_changes(
        self,
        log: Any,
        *,
        about: str = "action",
        threshold: float | None = None,
        at_least: float = 0.0,
        opinion: bool = True,
    ) -> Changes:
        """Return why the prediction changed, each time it did in a log or along the states of one episode.

        Parameters
        ----------
        log : Log, or array of shape (steps, features)
            What to go through; moves from one episode to the next do not count.
        about, threshold, opinion
            As in :meth:`explain_change`; of an action with several dimensions, name one.
        at_least : float
            Leave out changes of a number that are smaller than this.
        """
        from tripletree.questions.explain_change import explain_changes

        return explain_changes(self.fitted_, log, about, threshold, at_least, opinion)

    @question
    def story(
        self,
        episode: Any,
        *,
        log: Log | None = None,
        about: str = "action",
        levels: Wanted = "auto",
        shortest: int = 3,
        most: int = 6,
    ) -> Story:
        """Return what the agent does along an episode, phase by phase.

        A phase is a visit to one of the regions of :meth:`outline`, by its name. What is done there is one level, a
        short rule or a mean, whichever the recording supports; the answer says how well that fits.

        Parameters
        ----------
        episode : int, Log, Trajectory or states
            Position of an episode in ``log``, which the text calls by its id; a log of one episode; a simulated
            trajectory (what :meth:`simulate` returns, or one of them); or states in their order, shape (steps,
            features).
        log : Log or None
            The log in which ``episode`` is a position.
        about : str
            The attribute that regions are found for and that is told, as in :meth:`explain`.
        levels : "auto", int, sequence or mapping
            A numeric attribute is divided into levels, as in :meth:`rules`.
        shortest : int
            Minimum length of a phase, in steps; shorter visits belong to the phase around them.
        most : int
            Maximum number of phases; longer episodes are told more coarsely.
        """
        from tripletree.questions.story import story

        fitted = self.fitted_
        check_log(log, "log", none="no log")
        return story(
            fitted,
            episode,
            log,
            about=about,
            levels=levels,
            shortest=shortest,
            most=most,
            threads=self._threads(),
        )

    @overload
    def criticality(self, log: Log) -> Criticality: ...

    @overload
    def criticality(self, log: Log, *, state: Any) -> StateCriticality: ...

    @overload
    def criticality(self, log: Log, *, episode: int) -> Moments: ...

    @question
    def criticality(self, log: Log, *, state: Any = None, episode: int | None = None) -> Any:
        """Return where the choice matters: where what the agent did went with how well it fared afterwards.

        Compared are episodes that did different things in like states, as far as the log has any. Where the agent
        always does the same, or what it does follows from the state, the answer is that it cannot be told.

        Parameters
        ----------
        log : Log
            Whose episodes to compare: the training log, or another one with the same features and actions.
        state : state, or None
            Ask about states like this one only.
        episode : int or None
            Ask for the few moments of this episode (its position in the log) at which the choice matters.

        Returns
        -------
        Criticality, StateCriticality or Moments
        """
        from tripletree.questions.criticality import criticality, moments, state_criticality

        fitted = self.fitted_
        check_log(log, "log")
        if state is not None and episode is not None:
            raise ParameterError(Message("Give {} or {}, not both.", Option("state"), Option("episode")))
        if state is not None:
            return state_criticality(fitted, log, state, self._threads())
        if episode is not None:
            return moments(fitted, log, episode, self._threads())
        return criticality(fitted, log, self._threads())

    @question
    def importance(self) -> Importance:
        """Return how much each feature matters to action, value and derivative: the impurity its splits removed."""
        from tripletree.questions.importance import importance

        return importance(self.fitted_)

    @question
    def effects(
        self,
        log: Log | None = None,
        *,
        about: str = "action",
        features: Sequence[str] | None = None,
        stability: bool = False,
    ) -> Effects:
        """Return how the prediction moves with each feature, all else fixed: direction, shape and size.

        The curves are accumulated local effects, computed from the tree itself: states are only asked about values of a
        feature near their own, so that no state counts that the log could not hold. ``plot.effects`` draws them.

        Parameters
        ----------
        log : Log or None
            Where the states come from; None: those of the training log that the tree keeps.
        about : str
            The attribute, as in :meth:`explain`.
        features : sequence of str or None
            Whose effects; None: of all features. Weak ones are only named in the text.
        stability : bool
            Add a band to each curve: where the curves of nine of ten other logs would be, by trees grown on random
            halves of ``log`` (see :meth:`stability`).
        """
        from tripletree.questions.effects import effects
        from tripletree.questions.stability import banded

        fitted = self.fitted_
        check_log(log, "log", none="the states that the tree keeps")
        check_flag(stability, "stability")
        grown = self._halves(log) if stability else None
        recorded = None if log is None else in_labels(fitted.schema, log)
        found = effects(fitted, recorded, about, features, self._threads())
        if grown is None or recorded is None:
            return found
        return banded(recorded, found, features, grown, self._threads())

    @question
    def rules(
        self,
        *,
        about: str = "action",
        levels: Wanted = "auto",
        log: Log | None = None,
        max_rules: int | None = 7,
        most: int | None = None,
    ) -> FewRules | Rules:
        """Return what the agent does as a few rules: "if ..., else if ..., else ...".

        Parameters
        ----------
        about : str
            The attribute, as in :meth:`explain`. Each dimension of a continuous action, and each derivative, has a list
            of rules of its own, the one that the state tells most about first.
        levels : "auto", int, sequence or mapping
            What the numbers of an attribute mean. "auto": words for an action that were found in the training log,
            where the world answers differently (an engine is off, or on), or else by sign, limits and preferred values;
            for values and derivatives, short numbers. Or the numbers at which levels end, ``[-0.5, 0.5]``, with a name
            for each level if you like, ``["left", -0.5, "off", 0.5, "right"]``; that for each of several dimensions,
            ``{"side engine": [-0.5, 0.5]}``; or how many, with about the same number of samples each.
        log : Log or None
            What the rules are about. They are made from the episodes that the tree was grown on and judged by the
            others; where the tree has seen all of them or none, 30 % of them judge. None: the rules are about what the
            tree says in the states that it kept of its log, and nothing judges them.
        max_rules : int or None
            Maximum number of rules in a list, beside "else". None: the whole tree as rules that each hold on their own,
            however many these are.
        most : int or None
            Deprecated: the whole tree as rules, of which the text shows so many for each outcome.
        """
        from tripletree.questions.few_rules import few_rules
        from tripletree.questions.rules import rules

        fitted = self.fitted_
        check_log(log, "log", none="what the tree says" if max_rules is not None else "the training log")
        if most is not None:
            instead = (Option("most"), Option("max_rules", 7), Option("max_rules", None))
            text = "{} is deprecated. Use {} for a few rules, or {} for the whole tree as rules."
            warnings.warn(Message(text, *instead), TripleTreeWarning, stacklevel=3)
            max_rules = None
        threads = self._threads()
        if max_rules is None:
            return rules(fitted, about=about, levels=levels, log=log, most=most, threads=threads)
        return few_rules(fitted, about=about, levels=levels, log=log, max_rules=max_rules, threads=threads)

    @question
    def losses(self, log: Log | DiskLog, n_leaves: int | str | None = None) -> npt.NDArray[np.float64]:
        """Return action, value and derivative loss on a log.

        The action loss is the share of wrong labels (with ``costs``, what they cost on average), or the sum over
        dimensions of RMSE / sigma; the value loss is the RMSE; the derivative loss is the sum over features of
        RMSE / sigma. Sigma is the training log's.

        Parameters
        ----------
        log : Log or DiskLog
            Any log with the same features and actions, in memory or on disk.
        n_leaves : int, None or "all"
            Judge the tree as it was with this many leaves; None: as it is; "all": every size, shape (leaf counts, 3).
        """
        fitted = self.fitted_
        return losses(fitted, lambda: self._judged(log), n_leaves)

    def _judged(self, log: Log | DiskLog) -> npt.NDArray[np.float64]:
        """Return the losses of every size on a log."""
        if isinstance(log, DiskLog):
            from tripletree.scale.judging import losses_on_disk

            return losses_on_disk(self.fitted_, log)
        check_log(log, "log")
        return judge(self.fitted_, log, self._threads())

    @question
    def score(self, log: Log | DiskLog | Sequence[Log], y: None = None) -> float:  # noqa: ARG002 (scikit-learn's signature)
        """Return how much better the tree predicts a log than its own root: 1 is perfect, 0 no better.

        The share of the loss of the one-leaf tree that is gone, averaged over action, value and derivative, as far as
        the log has anything to predict. It does not depend on ``theta``, so that scikit-learn can compare weights.

        Parameters
        ----------
        log : Log, DiskLog, or list of logs
            Preferably episodes that the tree has not seen.
        y : None
            There for scikit-learn.
        """
        fitted = self.fitted_
        return score(self._judged(log if isinstance(log, DiskLog) else in_labels(fitted.schema, _one_log(log))))

    @question
    def held_out(self, log: Log | DiskLog) -> HeldOut:
        """Return losses and calibration on episodes that the tree has not seen.

        The answer stays with the tree: :meth:`save` keeps it, ``tripletree info`` shows the losses, and of the same
        log nothing is measured again, in a report neither.

        Parameters
        ----------
        log : Log or DiskLog
            Any log with the same features and actions. Only episodes that the tree has not seen count; when it has
            seen all of them, a second tree of the same size is grown on 4 of 5 episodes and judged on the others. Of a
            log on disk, whole random episodes of up to a million steps are asked, and no second tree is grown.
        """
        from tripletree.questions.judge import judgement

        fitted = self.fitted_
        on_disk = isinstance(log, DiskLog)
        if isinstance(log, DiskLog):
            from tripletree.scale.judging import some_episodes

            log = some_episodes(fitted, log)
        check_log(log, "log")
        answer, self._fitted = judgement(fitted, log, self._threads(), sampled=on_disk)
        return answer

    @question
    def calibration(self, log: Log | DiskLog, *, about: str = "value", groups: int = 10) -> Calibration:
        """Return predictions against what a log shows, in groups of steps with about the same prediction.

        Parameters
        ----------
        log : Log or DiskLog
            Preferably one that the tree was not grown on: on its own log both agree more than elsewhere.
        about : str
            ``"value"``, the name of a continuous action's dimension, or ``"confidence"``: how sure the tree is of a
            discrete action, against how often it is right.
        groups : int
            Number of groups, each with about the same number of samples.
        """
        from tripletree.questions.judge import calibration

        fitted = self.fitted_
        if isinstance(log, DiskLog):
            from tripletree.questions.streamed_judge import calibration_on_disk

            return calibration_on_disk(fitted, log, about, groups)
        check_log(log, "log")
        return calibration(fitted, log, about, groups)

    @question
    def outline(self, log: Log | None = None, *, regions: int = 8) -> Outline:
        """Return the agent seen from afar: a few regions with names, what it does in each, and how it moves on.

        Regions are the leaves of a small tree that tells apart what the agent does, with round borders that are not
        crossed all the time; they come from the states that the tree keeps, or else from the log.

        Parameters
        ----------
        log : Log or None
            Whose moves: the training log, or another one with the same features and actions. None: those of the
            training log that the tree keeps; what is done is then what the tree predicts, and the answer says so.
        regions : int
            Maximum number of regions.
        """
        from tripletree.questions.outline import outline

        fitted = self.fitted_
        check_log(log, "log", none="the states that the tree keeps")
        return outline(fitted, log, regions, threads=self._threads())

    @question
    def stability(self, log: Log, *, trees: int = 50, seed: int = 0) -> Stability:
        """Return whether another log would have said the same: predictions, first splits, thresholds, reasons.

        Trees with the options and the size of this one are grown on random halves of the episodes (of their groups,
        where the log has any). Halves come in pairs without a common episode: what two such trees agree on, trees of
        separate logs would agree on, too. Bands say where nine of ten other logs like this one would put a number.

        Parameters
        ----------
        log : Log
            The log that the tree was grown on, or another of the same agent.
        trees : int
            How many trees; half as many pairs.
        seed : int
            Which halves: the same seed, the same answer.
        """
        from tripletree.questions.stability import stability

        fitted = self.fitted_
        check_log(log, "log")
        return stability(fitted, log, trees, seed, self._threads())

    @question
    def trust(self, log: Log | DiskLog) -> Trust:
        """Return where not to trust the tree: too few samples, samples that disagree, states outside its range.

        Parameters
        ----------
        log : Log or DiskLog
            Whose states count: the training log, or another one with the same features and actions.
        """
        from tripletree.questions.judge import trust

        fitted = self.fitted_
        if isinstance(log, DiskLog):
            from tripletree.questions.streamed_judge import trust_on_disk

            return trust_on_disk(fitted, log)
        check_log(log, "log")
        return trust(fitted, log, self._threads())

    @question
    def novelty(self, state: Any) -> Any:
        """Return how new a state is to the tree: its distance to the nearest state that it knows; above 1 is novel.

        Distances are in standard deviations of the features, divided by the one that 99.9 % of the steps of unseen
        episodes stay within: parts of the kept episodes take turns to be unseen. The first call prepares this; then
        one state takes some tens of microseconds, so that an agent can be watched while it acts.

        Parameters
        ----------
        state : as in :meth:`predict`
            One state, or several.

        Returns
        -------
        float, or float64 array of shape (states,)

        Examples
        --------
        >>> from tripletree import TripleTree
        >>> from tripletree.demos import road
        >>> tree = TripleTree(50).fit(road.record("left", n_samples=3000))
        >>> tree.novelty([1.5, 0.02]) > 1, tree.novelty([1.5, 0.5]) > 1
        (False, True)
        """
        from tripletree.questions.known import novelty

        return novelty(self.fitted_, state)

    @question
    def transitions(self, log: Log | DiskLog | None = None) -> Transitions:
        """Return how a log moves from leaf to leaf: counts, probabilities and durations by sequences.

        Parameters
        ----------
        log : Log, DiskLog or None
            Any log with the same features and actions, in memory or on disk; None: the training log.
        """
        return self._transitions(log)

    @question
    def chance(
        self,
        reach: Any,
        start: Any = None,
        *,
        before: Any = None,
        within: int | None = None,
        given: Any = None,
        log: Log | DiskLog | None = None,
    ) -> Chance:
        """Return how probable it is to reach a zone: counted over what recorded episodes really did.

        The chain over leaves is asked as well, as a second opinion; where no recorded episode was at the start, it
        guesses, and the answer says so.

        Parameters
        ----------
        reach : zone
            A dict of conditions on features (``{"pos": (0, 0.5)}``, None for no bound), on ``"value"`` or on the
            action (what the tree predicts counts); leaf numbers; ``"end"``; or text: ``"pos < 0.5 and action = left"``,
            ``"leaves 3, 7"``.
        start : None, state, leaf or zone
            None is where episodes begin; a state is a list of numbers, a dict with one for every feature, or text:
            ``"pos = 1.2, speed = 0"``. Near a state, the nearest recorded states of 10 to 25 episodes count.
        before : zone or None
            A zone that must not be reached first.
        within : int or None
            Maximum number of steps; None for no limit.
        given : str, bool array of shape (episodes,), or None
            Which episodes count, and from which moments on: ``"return < 100"``, ``"length >= 200"``,
            ``"ending = truncated"``, ``"episode in {3, 5}"``, ``"group = a"``, ``"visits (pos < 0.5)"``,
            ``"never visits (pos < 0.5)"``, ``"ends (pos < 0.5)"``, ``"after (pos < 0.5)"`` (at this step or an earlier
            one), joined with ``and``, ``or`` and ``not``. The chain cannot know such things, and is not asked.
        log : Log, DiskLog or None
            Whose episodes to count, in memory or on disk; None: those of the training log that the model keeps.
        """
        from tripletree.questions import chance

        if isinstance(log, DiskLog):
            from tripletree.questions.streamed import streamed

            zones = chance.read_zones(self.fitted_, reach, before)
            with streamed(self.fitted_, log, start, given) as known:
                return chance.chance(self.fitted_, *known, zones[0], start, zones[1], within, given)
        return chance.chance(self.fitted_, *self._known(log), reach, start, before, within, given)

    @question
    def expected_steps(
        self,
        reach: Any,
        start: Any = None,
        *,
        before: Any = None,
        given: Any = None,
        log: Log | DiskLog | None = None,
    ) -> Duration:
        """Return how many steps it takes on average to reach a zone, if it is reached; arguments as in `chance`."""
        from tripletree.questions import chance

        if isinstance(log, DiskLog):
            from tripletree.questions.streamed import streamed

            zones = chance.read_zones(self.fitted_, reach, before)
            with streamed(self.fitted_, log, start, given) as known:
                return chance.expected_steps(self.fitted_, *known, zones[0], start, zones[1], given)
        return chance.expected_steps(self.fitted_, *self._known(log), reach, start, before, given)

    @question
    def after(self, steps: int, start: Any = None, *, given: Any = None, log: Log | None = None) -> Whereabouts:
        """Return where the agent is this many steps after the start, leaf by leaf; other arguments as in `chance`."""
        from tripletree.questions import chance

        return chance.after(self.fitted_, *self._known(log), steps, start, given)

    @question
    def occupancy(self, start: Any = None, *, given: Any = None, log: Log | None = None) -> Whereabouts:
        """Return the share of time spent in each leaf, from the start; arguments as in `chance`."""
        from tripletree.questions import chance

        return chance.occupancy(self.fitted_, *self._known(log), start, given)

    @question
    def futures(
        self, start: Any = None, k: int = 3, *, regions: int = 10, given: Any = None, log: Log | None = None
    ) -> Futures:
        """Return the commonest futures from here: where it goes next, how often, when, and with which outcome.

        Counted over recorded episodes with one vote each; from a zone, by their first step in it.

        Parameters
        ----------
        start : None, state, leaf or zone
            As in :meth:`chance`: None is where episodes begin.
        k : int
            How many futures, at most.
        regions : int
            How many regions there are, at most: the leaves of the tree when it had that many.
            The more there are, the sooner the next one comes.
        given : str, bool array of shape (episodes,), or None
            Count only episodes of which this is true, as in :meth:`chance`.
        log : Log or None
            Whose episodes to count; None: those of the training log that the model keeps.

        Returns
        -------
        Futures
            One :class:`~tripletree.answers.Future` each, the commonest first; false when no episode was there.

        Examples
        --------
        >>> from tripletree import TripleTree
        >>> from tripletree.demos import road
        >>> tree = TripleTree(max_leaves=40).fit(road.record("either", n_samples=2_000))
        >>> found = tree.futures("pos = 1.2, speed = 0", k=2)
        >>> [(one.where, one.episodes) for one in found]
        [(('pos < 0.895', 'speed < -0.04'), 15), (('pos < 1.45', 'speed >= 0.0075'), 7)]
        """
        from tripletree.questions.futures import futures

        return futures(self.fitted_, self._episodes(log), start, k, regions, given)

    @question
    def visits(self, start: Any, *, given: Any = None, most: int = 1000, log: Log | None = None) -> Visits:
        """Return which recorded episodes came through a place, at which step, and what they did there.

        Parameters
        ----------
        start : state, leaf or zone
            The place, as in :meth:`chance`: near a state, the nearest recorded states of 10 to 25 episodes count.
        given : str, bool array of shape (episodes,), or None
            Count only episodes of which this is true, as in :meth:`chance`.
        most : int
            How many episodes are listed, at most.
        log : Log or None
            Whose episodes; None: those of the training log that the model keeps, without their actions.

        Examples
        --------
        >>> from tripletree import TripleTree
        >>> from tripletree.demos import road
        >>> log = road.record("either", n_samples=2_000)
        >>> print(TripleTree(max_leaves=40).fit(log).visits("pos < 0.5 and speed > 0", log=log))
        9 of 60 recorded episodes came through pos < 0.5 and speed > 0. There they did 0.001 (9 of 9, 100 %).
        """
        from tripletree.questions.visits import visits

        known = None if log is None else in_labels(self.fitted_.schema, log)
        return visits(self.fitted_, self._episodes(log), known, start, given, most)

    @question
    def episodes(self, given: Any = None, *, success: str | None = None, log: Log | None = None) -> Episodes:
        """Return the recorded episodes that meet a condition: how long they are, how they fared and ended.

        Parameters
        ----------
        given : str, bool array of shape (episodes,), or None
            A condition on episodes, as in :meth:`chance`: ``"return < 100 and visits (pos > 2)"``; None: all of them.
        success : str or None
            Which of them succeed, as a condition; None: what the log, or else the model, says.
        log : Log or None
            Whose episodes; None: those of the training log that the model keeps.

        Examples
        --------
        >>> from tripletree import TripleTree
        >>> from tripletree.demos import road
        >>> tree = TripleTree(max_leaves=40).fit(road.record("either", n_samples=2_000))
        >>> print(tree.episodes("length > 60"))
        8 of 60 episodes that the model keeps (13 %) with length > 60: ...
        """
        from tripletree.questions.episodes import episodes

        schema = (self.fitted_ if log is None else log).schema
        meaning = schema.success if success is None else success
        return episodes(self.fitted_, self._episodes(log), given, meaning, kept=log is None)

    @overload
    def disagreement(self, other: Any, *, states: int = 10_000, log: Log | None = None) -> Disagreement: ...

    @overload
    def disagreement(self, other: Any, *, state: Any) -> Both: ...

    @question
    def disagreement(self, other: Any, *, state: Any = None, states: int = 10_000, log: Log | None = None) -> Any:
        """Return where the tree does something else than its agent, or than another tree, in recorded states.

        Parameters
        ----------
        other : callable or TripleTree
            The agent, a function of an array of shape (states, features) that returns one action for each, as in
            :meth:`explain`; or another tree with the same features and actions.
        state : state or None
            Ask about this state only.
        states : int
            How many recorded states both are asked about, at most; spread evenly over the record.
        log : Log or None
            Whose states; None: those of the training log that the model keeps.

        Examples
        --------
        >>> from tripletree import TripleTree
        >>> from tripletree.demos import road
        >>> log = road.record("either", n_samples=2_000)
        >>> tree = TripleTree(max_leaves=40).fit(log)
        >>> print(tree.disagreement(tree.truncate(5)))
        Tree and other tree do the same in 94 % (95 % interval 92 % to 95 %) of 2,000 recorded states ...
        """
        from tripletree.questions.disagreement import both, disagreement

        is_tree = isinstance(other, TripleTree)
        who, asked = ("other tree", other.fitted_) if is_tree else ("agent", other)
        if state is not None:
            written = complete(state, self.fitted_)
            here = read_state(written.state, self.fitted_.schema)
            return both(self.fitted_, here, asked, who).assuming(written.assumed)
        return disagreement(self.fitted_, self._episodes(log), asked, who, states)

    def _known(self, log: Log | None) -> tuple[Evidence | None, Transitions | None]:
        """Return the episodes to count and the chain's transitions, each as far as they are known."""
        fitted = self.fitted_
        found = self._episodes(log)
        known = log is not None or fitted.track is not None or fitted.transitions is not None
        return found, self._transitions(None if log is None else in_labels(fitted.schema, log)) if known else None

    def _episodes(self, log: Log | None) -> Evidence | None:
        """Return the episodes to count, as far as they are known."""
        from tripletree.questions.evidence import evidence

        fitted = self.fitted_
        check_log(log, "log", none="the training log")
        return evidence(fitted, None if log is None else in_labels(fitted.schema, log), self._threads())

    @question
    def unreachable(self, start: Any = None, *, log: Log | DiskLog | None = None) -> Unreachable:
        """Return the leaves that no recorded transitions lead to; arguments as in `chance`."""
        from tripletree.questions import chance

        return chance.unreachable(self.fitted_, self._transitions(log), start)

    @question
    def rollouts(
        self,
        n: int,
        steps: int,
        start: Any = None,
        *,
        log: Log | DiskLog | None = None,
        seed: int | np.random.Generator = 0,
    ) -> npt.NDArray[np.int32]:
        """Return journeys drawn from the chain: leaves at 0, 1, ... steps, shape (n, steps + 1).

        The number of leaves stands for the end. Other arguments as in `chance`.
        """
        from tripletree.questions import chance

        return chance.rollouts(self.fitted_, self._transitions(log), n, steps, start, seed)

    @question
    def paths(
        self,
        start: Any,
        end: Any,
        k: int = 1,
        *,
        method: str = "recorded",
        pairs: bool | int = False,
        log: Log | None = None,
    ) -> Trajectories:
        """Return the leaves on the way from one place to another; arguments as in `simulate`.

        With ``method="paper"`` they are the most probable sequences of leaves by the chain, none of which visits a leaf
        twice.
        """
        return self._ways(start, end, k, method, pairs, log, aligned=False)

    @question
    def simulate(
        self,
        start: Any,
        end: Any,
        k: int = 1,
        *,
        method: str = "recorded",
        pairs: bool | int = False,
        log: Log | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Trajectories:
        """Return trajectories from one place to another: what recorded episodes did, bent to the states asked for.

        Where no recorded episode can be followed, the answer is a guess, and says so and why.

        Parameters
        ----------
        start, end : state, leaf or zone
            As in :meth:`chance`; ``end`` may be ``"end"``, the end of the episode. From or to a state, the trajectory
            begins or ends exactly there; between zones, it goes from the last moment in the one to the first in the
            other, just as recorded.
        k : int
            Number of ways: the most typical first, and then others from other episodes.
        method : {"recorded", "paper"}
            Follow recorded episodes; or, as in the paper ("Trajectory Simulation"), lay straight segments through the
            most probable sequence of leaves, aligned with the mean derivatives of the leaves that they cross.
        pairs : bool or int
            Instead of ``k`` ways a fan: so many (at most 100) that stand for all episodes between the two places, each
            with the ``share`` of the episodes that it stands for; True for all that were recorded. With
            ``method="paper"``, the best way for every connected pair of a start and an end leaf, or the most probable
            of these.
        log : Log or None
            Whose episodes to follow; None: those of the training log that the model keeps.
        progress : function of (trajectories so far, all), or None
            Called now and then.

        Returns
        -------
        Trajectories
            False when there is no way; it then says what can be reached.
        """
        return self._ways(start, end, k, method, pairs, log, progress=progress)

    def _ways(
        self, start: Any, end: Any, k: int, method: str, pairs: bool | int, log: Log | None, **options: Any
    ) -> Trajectories:
        from tripletree.questions.evidence import evidence
        from tripletree.questions.simulate import simulate

        fitted = self.fitted_
        check_log(log, "log", none="the training log")
        if log is not None:
            log = in_labels(fitted.schema, log)
        return simulate(
            fitted,
            evidence(fitted, log, self._threads()),
            lambda: self._transitions(log),
            start,
            end,
            k=k,
            method=method,
            pairs=pairs,
            **options,
        )

    @question
    def summary(self, log: Log, *, success: str | None = None) -> Summary:
        """Return the first page of a report: what the agent does, whether it succeeds, what to watch and to believe.

        Parameters
        ----------
        log : Log
            The log that the tree was grown on, or another with the same features and actions.
        success : str or None
            Which episodes succeed, as a condition on episodes such as ``"return > 200"``; None: as far as the log says.
        """
        from tripletree.questions.study import Study
        from tripletree.questions.summary import summary

        fitted = self.fitted_
        check_log(log, "log")
        check_same_schema(fitted.schema, log, "log")
        return summary(Study(fitted, in_labels(fitted.schema, log), self._threads(), success))

    @question
    def report(
        self,
        log: Log,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        success: str | None = None,
        failures: str | Sequence[str] | None = None,
        require: str | Sequence[str] | None = None,
    ) -> None:
        """Write one HTML file that shows what the agent does, and answers questions without a network.

        Parameters
        ----------
        log : Log
            The log to report on: the one that the tree was grown on, or another with the same features and actions.
        path : str or path
            The file, whose name ends in ``.html``; what was there before is replaced in one step.
        title : str or None
            The heading.
        success : str or None
            As in :meth:`summary`.
        failures : str, sequence of str, or None
            Which episodes failed, such as ``"return < 100"``, as in :func:`tripletree.failures`: a section tells from
            when on, and what they share. Several are briefed apart. None: those that do not succeed, where that is
            known.
        require : str, sequence of str, or None
            What every episode must do, such as ``"always (y > 0)"``, as in :func:`tripletree.require`: a section tells
            which do not.
        """
        from tripletree.report.write import write_report  # a browser's part, large, and seldom wanted

        fitted = self.fitted_
        check_log(log, "log")
        write_report(fitted, log, path, title, self._threads(), success, failures, require)

    def explore(
        self,
        log: Log | None = None,
        *,
        other: TripleTree | None = None,
        other_log: Log | None = None,
        agent: Callable[[npt.NDArray[np.float64]], Any] | None = None,
        height: int = 720,
    ) -> Any:
        """Return the explorer for a notebook: maps, answers, episodes and routes, by pointing at things.

        It talks to this Python through the notebook itself, without a server of its own. In a shell, ``tripletree
        explore`` opens the same page in a browser.

        Parameters
        ----------
        log : Log or None
            What was recorded: recorded actions and growing again need it.
        other : TripleTree or None
            A second model, to see both side by side.
        other_log : Log or None
            Another log with the same features and actions, to find what changed from ``log`` to it.
        agent : callable or None
            The agent, a function of an array of shape (states, features) that returns one action for each.
        height : int
            Height in pixels.
        """
        from tripletree.about_logs import finders
        from tripletree.web.house import Beside, House  # seldom wanted
        from tripletree.web.widget import widget

        check_log(log, "log", none="what the tree keeps")
        check_log(other_log, "other_log", none="no other log")
        check_whole(height, "height", 200, 5_000, 720)
        if other is not None and not isinstance(other, TripleTree):
            raise ParameterError(
                Message("{} must be a fitted TripleTree; got {}.", Option("other"), type(other).__name__)
            )
        beside = None if agent is None else Beside(agent)
        house = House(self, other, log, beside, other_log=other_log, finders=finders())
        return widget(house, int(height))

    def as_policy(self, leaf_model: str | None = None, *, env: Any = None) -> TreePolicy:
        """Return the tree as a function from a state, or several, to actions that the environment takes.

        It has ``predict(obs, state, episode_start, deterministic)`` as models of Stable-Baselines3 do.

        Parameters
        ----------
        leaf_model : {"mean", "linear"} or None
            What leaves predict; None: as the tree itself.
        env : environment or its id, or None
            Whose observations it gets; needed only where these are no plain vectors.
        """
        from tripletree.policy.policy import as_policy

        return as_policy(self.fitted_, leaf_model, env=env)

    def fidelity(
        self,
        env: Any,
        agent: Any,
        *,
        episodes: int = 100,
        seed: int = 1_000_000,
        workers: int | None = None,
        leaf_model: str | None = None,
        trust: bool = False,
        normalize: Any = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Fidelity:
        """Fly the tree and the agent on the same fresh episodes, and compare what they do and how well they do.

        Parameters
        ----------
        env, agent, trust, normalize
            As in :func:`record`; the environment by its id, or a function that makes one, so that every process has
            its own.
        episodes : int
            How many episodes each of the two flies.
        seed : int
            Seed of the first episode; the others follow.
        workers : int or None
            Processes that fly at a time; None: one for each core. The result is the same for any number.
        leaf_model : {"mean", "linear"} or None
            What leaves predict; None: as the tree itself.
        progress : function of (episodes so far, all), or None
            See :func:`tripletree.progress_bar`.
        """
        from tripletree.policy.fidelity import fidelity

        return fidelity(
            self.fitted_,
            env,
            agent,
            episodes=episodes,
            seed=seed,
            workers=workers,
            leaf_model=leaf_model,
            trust=trust,
            normalize=normalize,
            progress=progress,
        )

    def refine(
        self,
        log: Log,
        env: Any,
        agent: Any,
        *,
        rounds: int = 6,
        episodes: int = 30,
        judge: int = 30,
        seed: int = 2_000_000,
        weights: Any = None,
        keep: str = "last",
        theta: Sequence[float] | None = None,
        leaf_model: str | None = None,
        workers: int | None = None,
        trust: bool = False,
        normalize: Any = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Refined:
        """Let the tree fly, the agent say what it would have done, and grow again on all of it, round by round.

        This is DAgger: the tree learns what the agent does where the tree itself gets to. Every round is judged on
        fresh episodes.

        Parameters
        ----------
        log : Log
            The training log.
        env, agent, workers, trust, normalize, progress
            As in :meth:`fidelity`.
        rounds, episodes, judge : int
            How many rounds, episodes that the tree flies in each, and episodes that judge it afterwards.
        seed : int
            Seed of the first episode; no two episodes have the same.
        weights : function, "agent" or None
            A critic, from states to the values of all actions: steps where the choice matters count more (as in
            VIPER). ``"agent"`` takes that of a model of Stable-Baselines3.
        keep : {"last", "best"}
            Which round's tree is returned; the best of a few episodes is mostly luck.
        theta : three numbers or None
            Weights for growing again; None: those of this tree.
        leaf_model : {"mean", "linear"} or None
            What leaves predict; None: as the tree itself.

        Returns
        -------
        Refined
            With the refined ``tree``; this one stays as it is.
        """
        from tripletree.policy.refine import refine

        found = refine(
            self.fitted_,
            log,
            env,
            agent,
            rounds=rounds,
            episodes=episodes,
            judge=judge,
            seed=seed,
            weights=weights,
            keep=keep,
            theta=theta,
            leaf_model=leaf_model,
            workers=workers,
            trust=trust,
            normalize=normalize,
            progress=progress,
        )
        return replace(found, tree=self._of(found.fitted))

    def export(
        self,
        path: str | os.PathLike[str],
        to: str | None = None,
        *,
        about: str | None = None,
        leaf_model: str | None = None,
    ) -> tuple[Path, ...]:
        """Write the tree as a program or a document that needs no tripletree, and return the files written.

        Parameters
        ----------
        path : str or path
            The file.
        to : {"c", "python", "onnx", "dot", "json"} or None
            The format; None: what the file's ending says.
        about : str or None
            What it predicts: ``"action"``, ``"value"``, ``"derivative"`` or one of their columns; None: all of it.
        leaf_model : {"mean", "linear"} or None
            What leaves predict; None: as the tree itself.
        """
        from tripletree.export.write import export  # seldom wanted

        return export(self.fitted_, to, path, about=about, leaf_model=leaf_model)

    def to_sklearn(self, *, about: str = "action") -> Any:
        """Return a fitted ``DecisionTreeClassifier`` or ``DecisionTreeRegressor`` with the same boxes and means.

        So whatever works on scikit-learn's trees (SHAP, dtreeviz, ``plot_tree``) works on this one. It rounds states
        to single precision, as scikit-learn does.

        Parameters
        ----------
        about : str
            ``"action"``, the name of an action dimension, ``"value"``, ``"derivative"`` or ``"derivative of pos"``.
        """
        from tripletree.export.scikit_learn import to_sklearn

        return to_sklearn(self.fitted_, about=about)

    def truncate(self, n_leaves: int) -> TripleTree:
        """Return the tree as it was when growth had made ``n_leaves`` leaves."""
        return self._with(self.fitted_.truncate(n_leaves), **self.get_params())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a ``.tripletree`` file."""
        store.save(self.fitted_, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TripleTree:
        """Read a tree from a ``.tripletree`` file; files from strangers are safe to read."""
        return cls._of(store.load(path))

    @classmethod
    def _of(cls, fitted: Fitted) -> TripleTree:
        """Return a tree with the parameters that it was grown with."""
        costs = fitted.options.get("costs")
        pairs = None if costs is None else {(a, b): cost for a, row in costs.items() for b, cost in row.items()}
        return cls._with(fitted, **{**fitted.options, "theta": tuple(fitted.options["theta"]), "costs": pairs})

    @classmethod
    def _with(cls, fitted: Fitted, **parameters: Any) -> TripleTree:
        tree = cls(**parameters)
        tree._fitted = fitted
        return tree

    def _transitions(self, log: Log | DiskLog | None) -> Transitions:
        fitted = self.fitted_
        if isinstance(log, DiskLog):
            from tripletree.scale.judging import transitions_on_disk

            return transitions_on_disk(fitted, log)
        check_log(log, "log", none="the training log")
        return transitions_on(fitted, log, self._threads())

    def _threads(self) -> int:
        # Attributes may be set after the fit, which has checked the others.
        check_parameters({"threads": self.threads})
        return self.threads or available_cores()


def _one_log(log: Any) -> Log:
    """Return the log, or the one that several make."""
    joined: Log = Log.concatenate(log) if isinstance(log, list | tuple) else log
    check_log(joined, "log")
    return joined


def load(path: str | os.PathLike[str]) -> TripleTree:
    """Read a tree from a ``.tripletree`` file; files from strangers are safe to read."""
    return TripleTree.load(path)


def compare_weights(
    log: Log,
    validation: Log | None = None,
    *,
    leaves: Sequence[int] = (10, 30, 100, 200),
    steps: int = 5,
    progress: Callable[[int, int], None] | None = None,
    **parameters: Any,
) -> Weights:
    """Return which weights theta make the worst of the three losses smallest (paper, Appendix A).

    One tree is grown for each theta on the simplex in steps of 1 / ``steps``; its losses at all leaf counts come from
    that one growth. Each loss is taken relative to that of a tree with one leaf, which predicts the log's average.

    Parameters
    ----------
    log : Log
        What to grow on.
    validation : Log or None
        Held-out episodes to judge on; None: the training log.
    leaves : sequence of int
        Leaf counts to compare at; a tree that stops growing earlier counts as it is.
    steps : int
        Steps along each side of the simplex: 5 for 21 weights, 10 for 66; at most 100.
    progress : function of (trees so far, all), or None
        Called after each tree.
    **parameters
        Other parameters of :class:`TripleTree`, such as ``gamma``.

    Examples
    --------
    >>> from tripletree import compare_weights
    >>> from tripletree.demos import road
    >>> answer = compare_weights(road.record("left", n_samples=2000), leaves=(10, 50))
    >>> answer.worst.shape
    (2, 21)
    """
    from tripletree.questions import compare_weights as weights

    check_log(log, "log")
    check_log(validation, "validation", none="the training log")
    defaults = TripleTree._defaults()
    fixed = ("theta", "max_leaves", "early_stopping", "progress")
    check_names(parameters, [name for name in defaults if name not in fixed], "compare_weights")
    merged = {**defaults, **parameters}
    check_parameters(merged)
    merged["costs"] = named_costs(merged["costs"], log.schema)
    return weights.compare_weights(log, validation, leaves, steps, progress, merged)


class Explained(NamedTuple):
    """An agent, explained: as text, how the tree sees it from afar and how good the tree is.

    Attributes
    ----------
    tree : TripleTree
        To ask.
    log : Log
        What was recorded.
    judged : HeldOut
        How good the tree is on episodes that it has not seen.
    report : Path or None
        The page to read, if a folder was given.
    """

    tree: TripleTree
    log: Log
    judged: HeldOut
    report: Path | None

    def __str__(self) -> str:
        return f"{self.tree.outline(self.log)}\n{self.judged}"


def explain_agent(
    env: Any,
    agent: Any,
    folder: str | os.PathLike[str] | None = None,
    *,
    samples: int | None = None,
    episodes: int | None = None,
    seed: int = 0,
    max_leaves: int = 1000,
    title: str | None = None,
    progress: Callable[[str, str], AbstractContextManager[Callable[[int, int], None]]] | None = None,
    **options: Any,
) -> Explained:
    """Record an agent, grow a tree on the log, and write a report: all in one go.

    Parameters
    ----------
    env, agent
        As in :func:`record`.
    folder : path, optional
        Where ``log.npz``, ``tree.tripletree`` and ``report.html`` go; it is made if it is not there. None: no files.
    samples, episodes : int, optional
        How much to record, one of the two; 20,000 samples by default.
    seed : int
        Seed of the recording, and of the choice of episodes on which the size of the tree is chosen.
    max_leaves : int
        Maximum leaves.
    title : str, optional
        Heading of the report.
    progress : callable, optional
        :func:`tripletree.progress_bar` shows a bar while it records, and one while it grows.
    **options
        More options of :func:`record`: ``trust``, ``normalize``, ``state``, ``feature_names``, ``units``, ...

    Returns
    -------
    Explained
        ``tree``, ``log``, ``judged`` and ``report``; as text, the tree from afar and how good it is.

    Examples
    --------
    >>> from tripletree import explain_agent
    >>> found = explain_agent("CartPole-v1", lambda state: int(state[2] + state[3] > 0), samples=2_000)
    >>> print(found.tree.explain("pole angle = 0.01, pole angular velocity = 0.3"))
    Action = push right because ...
    """
    check_parameters({"max_leaves": max_leaves})
    target = None if folder is None else Path(folder)
    if target is not None:
        try:  # before anything is recorded, which may take long
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ParameterError(f"The folder {target} cannot be made: {reason(error)}.") from error
    show: Any = progress or (lambda *_: nullcontext())
    if samples is None and episodes is None:
        samples = 20_000
    with show("Recording", "samples" if episodes is None else "episodes") as bar:
        log = record(env, agent, samples=samples, episodes=episodes, seed=seed, progress=bar, **options)
    # With fewer episodes, a fifth of them would be none.
    parts = log.split(0.2, seed) if log.n_episodes >= 5 else (log, None)
    with show("Growing the tree", "leaves") as bar:
        tree = TripleTree(max_leaves, progress=bar).fit(*parts)
    tree.progress = None
    judged = tree.held_out(log)
    if target is None:
        return Explained(tree, log, judged, None)
    page = target / "report.html"
    log.to_npz(target / "log.npz", compress=True)
    tree.save(target / "tree.tripletree")
    tree.report(log, page, title=title)
    return Explained(tree, log, judged, page)
