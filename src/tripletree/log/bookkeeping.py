"""Columns that are no part of the state: the learner's and the table's bookkeeping, known by name and by content.

Such a column would be a feature that gives the answer away (the value, the log-probability of the action), or one that
means nothing in another log (a row number, a date).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tripletree.log.actions import label_text
from tripletree.log.boundaries import Markers, find_boundaries
from tripletree.log.coerce import NUMERIC, Array, factorise
from tripletree.log.findings import Findings
from tripletree.text import plural

if TYPE_CHECKING:
    from tripletree.log.roles import Assignment, Roles

LEAST_ROWS = 20
"""In fewer rows, two columns may well be equal by chance."""
GLANCE = 4096
"""Rows that are compared first: hardly any column gets further."""
LEAST_EPISODES = 5
"""With fewer episodes, a number for each may well equal its return by chance."""
GREEDY = 0.75
"""An agent that explores a little still takes the best action in this share of the rows."""
COUNTS = "count the rows"
"""The reason of a column that only numbers the rows."""

# What a name stands for, and the names: folded, as `folded` does it, and perhaps followed by a number.
_NAMES: dict[str, tuple[str, ...]] = {
    "what the learner computes, not what it sees": (
        r"values?|vals?|state_values?|v_s|v_?preds?|vf_preds?|values?_(preds?|predictions?|estimates?|targets?|old)",
        r"(pred|predicted|old|target|baseline|critic|bootstrapped)_values?|critic|values_bootstrapped",
        r"adv|advs|advantages?|gae|td_errors?|td_targets?|td_lambda|tdlamret|atarg",
        r"returns?|rets?|rtg|(returns?|rewards?)_to_go|log_likelihood",
        r"(discounted|undiscounted|mc|monte_carlo|n_step|lambda|target|total|cumulative|cum|bootstrapped)_returns?",
        r"((old|new|action|actions|act|behaviou?r|policy|target)_)?(log_?probs?|logps?|logits?|entropy|log_pi|logp_pi)",
        r"((old|new|action|actions|act|behaviou?r|policy)_)(probs?|probabilit(y|ies)|dist|dist_inputs)|probs",
        r"neg_?logp(acs?)?|actions?_(mean|mu|std|sigma|log_std)|pi_a_s|q_s_a",
        r"(old_|target_)?(q_?values?|q_?vals?)(_.+)?|q_preds?|q_targets?|target_qs?|q_max|max_q|min_q|qf\d*",
    ),
    "when a row was recorded": (
        r"time_?stamps?(_(s|sec|ms|us|ns|utc))?|wall_?(clock_?)?time|wall_?clock|date|date_?time",
        r"(created|recorded|logged)_at|unix_?time(_(s|ms|us|ns))?|epoch_(time|s|ms|us|ns|seconds)",
    ),
    "where a row comes from (a worker, a seed, a task, the progress of training)": (
        r"id|uuid|guid|(row|sample|transition|record|batch|unroll|frame)_id|batch_(index|idx|indices)",
        r"((env|environment|worker|agent|actor|process|thread|task|subtask|policy|module|dataset|env_runner)_)"
        r"(id|idx|index|name|version)",
        r"seed|(env|rng|random)_seed|worker|task|subtask|language_instruction|task_description",
        r"global_(step|timestep)s?|total_(env_)?(time)?steps?|num_(env_steps|timesteps|steps)|env(ironment)?_steps?",
        r"iteration|epoch|training_iteration",
    ),
    "the reward or the episode as a whole": (
        r"(raw|env|original|orig|shaped|true|intrinsic|extrinsic|dense|sparse|clipped|normali[sz]ed|scaled|unscaled"
        r"|total|cumulative|cum|accumulated|mean|avg|average)_rewards?",
        r"rewards?_(raw|env|original|shaped|shaping|sum|total|cumulative|scaled|normali[sz]ed|clipped|ctrl|control"
        r"|forward|survive|alive|healthy|linvel|dist|near|contact|impact|quadctrl|run|terms?|components?)(_.+)?",
        r"(episode|episodic|ep|eps)_(returns?|rets?|rewards?|rews?|len|lengths?|success|starts?|done|over)|seq_lens?",
        r"is_first|is_start|episode_first|(is_|next_)?success|step_type|(loss|attention|valid)_mask|masks?",
    ),
    "the state after the action": (r"(obs|observations?|states?)_next|(final|terminal)_(obs|observations?|infos?)",),
}
_PATTERNS = {reason: re.compile(f"({'|'.join(names)})(_[0-9]+)*") for reason, names in _NAMES.items()}
_INFO = re.compile(
    r"(env_|agent_|ep_|episode_)?infos?([/._].*)?|(episode_|step_)?(metadata|meta)[/.].*|(extras|diagnostics|debug)[/.].*"
)
_INDEX = re.compile(r"index|idx|level_[0-9]+|row_(index|idx|number|num|nr|no)|(global|sample|data)_(index|idx)")
_STATE = re.compile(r"(obs|observations?|states?)_")
# One column for each action, such as q_left and q_right.
_FAMILY = re.compile(r"(q|probs?|probability|pi|logits?|preference)_?(.+)")


def folded(name: str) -> str:
    """Return a name in lower case, with an underscore for everything that is neither a letter nor a digit."""
    return re.sub(r"[^0-9a-z]+", "_", name.strip().lower()).strip("_")


def find_bookkeeping(
    names: Sequence[str], roles: Assignment, table: Mapping[str, Array] | None = None, given: Roles | None = None
) -> dict[str, list[str]]:
    """Return the columns that are no part of the state, by the reason.

    Parameters
    ----------
    names : sequence of str
        The columns that would become features.
    roles : Assignment
        The roles that are taken.
    table : mapping of str to array, optional
        The columns; without them, names alone decide.
    given : Roles, optional
        What the user has said; a column whose unit or kind is given is a feature, and so is its next state.
    """
    given = given or {}
    features: Sequence[object] = () if given.get("features") is None else given["features"]
    named = (*(given.get("units") or ()), *(given.get("kinds") or ()), *features)
    wanted = {folded(str(name)) for name in named}
    names = [name for name in names if folded(name) not in wanted and folded(name).removeprefix("next_") not in wanted]
    columns = table or {}
    found = {name: reason for name in names if (reason := _by_name(name, columns.get(name)))}
    found |= dict.fromkeys(_families(names, roles, columns, given), _stands_for(next(iter(_NAMES))))
    rest = [name for name in names if name not in found and not _STATE.match(folded(name))]
    if table is not None:
        repeated = _Content(table, roles, bool(given.get("endless"))).repeated(rest)
        # The only column that is left is the state, and then it may well go up by one in every step.
        found |= repeated if len(repeated) < len(rest) else {}
    reasons: dict[str, list[str]] = {}
    for name in names:
        if name in found:
            reasons.setdefault(found[name], []).append(name)
    return reasons


def in_words(reason: str, number: int) -> str:
    """Return a reason as a clause that agrees with the number of columns."""
    verb, _, rest = reason.partition(" ")
    if verb == "stands":
        return f"the {plural(number, 'name stands', 'names stand')} {rest}"
    return f"{plural(number, f'it {verb}s', f'they {verb}')} {rest}"


def _stands_for(what: str) -> str:
    return f"stands for {what}"


def _by_name(name: str, column: Array | None) -> str | None:
    short = folded(name)
    if re.fullmatch(r"__index_level_[0-9]+__", name) or (
        _INDEX.fullmatch(short) and column is not None and numbers_rows(column)
    ):
        return COUNTS
    if short in ("discount", "discounts") and column is not None and len(set(column[:GLANCE].tolist())) <= 2:
        return _stands_for("the end of an episode")
    if _INFO.fullmatch(name.strip().lower()):
        return _stands_for("what was recorded beside the state")
    plain = short.removeprefix("next_")
    return next((_stands_for(reason) for reason, names in _PATTERNS.items() if names.fullmatch(plain)), None)


def numbers_rows(column: Array) -> bool:
    """Return whether a column may be the index of a table: whole numbers, all different or counted up in pieces.

    After rows were left out, shuffled or joined, an index has gaps, no order, or begins again.
    """
    if column.dtype.kind not in "iuf" or not len(column):
        return False
    values = column.astype(np.float64)
    if not np.isfinite(values).all() or (values != np.floor(values)).any() or values.min() < 0:
        return False
    if len(np.unique(values)) == len(values):
        return True
    moves = np.diff(values)
    return bool(values[0] <= 1 and (moves != 0).all() and (values[1:][moves < 0] == values[0]).all())


def _families(names: Sequence[str], roles: Assignment, table: Mapping[str, Array], given: Roles) -> list[str]:
    """Return the columns that hold one number for each action, such as q_0 and q_1."""
    stems: dict[str, dict[str, str]] = {}
    for name in names:
        if match := _FAMILY.fullmatch(folded(name)):
            stems.setdefault(match[1], {})[match[2]] = name
    families = [members for members in stems.values() if len(members) > 1]
    if not families or len(roles.action) != 1 or roles.action[0] not in table:
        return []
    column = table[roles.action[0]]
    if column.dtype.kind not in "biuO" and given.get("action_kind") != "discrete":
        return []
    values = {value for value in column.tolist() if value is not None}
    labels = given.get("labels")
    texts = () if labels is None else labels.values() if isinstance(labels, Mapping) else labels
    known = [{folded(label_text(value)) for value in values}, {folded(str(text)) for text in texts}]
    known.append({str(number) for number in range(len(values))})
    chosen = [
        members
        for members in families
        if any(_covers(set(members), actions) for actions in known) or _is_greedy(members, table, column)
    ]
    return [name for members in chosen for name in members.values()]


def _covers(suffixes: set[str], actions: set[str]) -> bool:
    # Actions that were never taken have a column too. Numbers prove less than words, so there they must be the same.
    return len(actions) > 1 and (
        suffixes == actions or (suffixes > actions and not any(suffix.isdecimal() for suffix in suffixes))
    )


def _is_greedy(members: Mapping[str, str], table: Mapping[str, Array], action: Array) -> bool:
    """Return whether the action is mostly the number of the largest of some columns, which have all numbers from 0."""
    names = [members.get(str(number), "") for number in range(len(members))]
    if not all(names) or action.dtype.kind not in "biu" or len(action) < LEAST_ROWS:
        return False
    columns = [table[name][:GLANCE] for name in names]
    if any(column.dtype.kind not in NUMERIC or len(column) != len(action[:GLANCE]) for column in columns):
        return False
    return float((np.argmax(columns, axis=0) == action[:GLANCE]).mean()) >= GREEDY


class _Content:
    """What a column may repeat: the rows' numbers, the episode, the step, the action, the reward, the return."""

    def __init__(self, table: Mapping[str, Array], roles: Assignment, endless: bool) -> None:
        single = {
            role: table[name]
            for role, name in roles.single.items()
            if name in table and role not in ("group", "weight")
        }
        reward = single.pop("reward", None)
        self.table = table
        self.n = len(next(iter(table.values()), ()))
        self.starts: npt.NDArray[np.int64] | None = None
        self.reward: Array | None = None
        self.totals: Array | None = None
        self.actions = [table[name] for name in roles.action if name in table]
        single = {role: column for role, column in single.items() if role not in ("time", "dt")}
        rewards = () if reward is None else (reward,)
        # A source that cannot become a log is refused later, with all that is wrong.
        if self.n < LEAST_ROWS or any(len(c) != self.n for c in (*single.values(), *self.actions, *rewards)):
            self.n = 0
            return
        self.answers = [("repeat the action", action, False) for action in self.actions]
        self.answers += [("repeat the reward", reward, False) for reward in rewards]
        # Steps and episodes may be counted from 0 or from 1.
        self.answers += [(f"repeat the {role}", single[role], True) for role in ("step", "episode") if role in single]
        found = find_boundaries(Markers(**single), self.n, endless, Findings())
        if found is not None and found.order is None:
            self.starts = found.starts
            lengths = np.diff(found.starts)
            place = np.arange(self.n) - np.repeat(found.starts[:-1], lengths)
            self.answers.append(("repeat the step", place, True))
            # Where the reward is always the same, the return is a clock that runs down, like the time that is left.
            if reward is not None and reward.dtype.kind in NUMERIC and _varies(reward):
                self.reward = reward

    def repeated(self, names: Sequence[str]) -> dict[str, str]:
        """Return those of some columns that repeat something, with the reason."""
        found = {}
        for name in names:
            column = self.table[name]
            if len(column) == self.n >= LEAST_ROWS and _varies(column) and (reason := self._reason(column)):
                found[name] = reason
        return found

    def _reason(self, column: Array) -> str | None:
        if any(_is_code(column, action) for action in self.actions):
            return "repeat the action"
        for reason, answer, shifted in self.answers:
            if _same(column, answer, shifted):
                return reason
        if column.dtype.kind not in "iuf":
            return None
        if self._counts(column):
            return COUNTS
        return "repeat the return" if self._is_return(column) else None

    def _counts(self, column: Array) -> bool:
        """Return whether a column goes up by the same amount in every row, even where an episode ends."""
        for part in (column[:GLANCE], column):
            moves = np.diff(part.astype(np.float64))
            if self.starts is None or len(self.starts) <= 2:
                if not (moves == 1).all():  # in one episode a state may go up evenly as well
                    return False
            elif not moves[0] or not (np.abs(moves - moves[0]) <= 1e-3 * abs(moves[0])).all():
                return False
        return True

    def _is_return(self, column: Array) -> bool:
        """Return whether a column is the sum of the rewards from each row on, discounted or not, or of the episode."""
        if self.starts is None or self.reward is None:
            return False
        last = self.starts[1:] - 1
        slack = 1e-4 * float(np.abs(column).max())
        for rows in (last[:GLANCE], last):
            # At the end of an episode the sum is the last reward. Where it was cut, something may have been added.
            ends = np.abs(column[rows].astype(np.float64) - self.reward[rows]) <= slack
            if not np.isfinite(slack) or ends.mean() < 0.5:
                return self._is_total(column, slack)
        inside = np.ones(self.n, bool)
        inside[last] = False
        rows = np.flatnonzero(inside)
        following = column[rows + 1].astype(np.float64)
        rest = column[rows].astype(np.float64) - self.reward[rows]
        size = following @ following
        discount = following @ rest / size if size else -1.0
        return bool(-1e-6 <= discount <= 1 + 1e-6 and (np.abs(rest - discount * following) <= slack).all())

    def _is_total(self, column: Array, slack: float) -> bool:
        if self.starts is None or self.reward is None or len(self.starts) <= LEAST_EPISODES:
            return False
        if self.totals is None:
            total = np.add.reduceat(self.reward.astype(np.float64), self.starts[:-1])
            self.totals = np.repeat(total, np.diff(self.starts))
        totals = self.totals
        return all(bool((np.abs(column[:rows] - totals[:rows]) <= slack).all()) for rows in (GLANCE, None))


def _varies(column: Array) -> bool:
    return bool(len(column)) and bool((column != column[0]).any())


def _is_code(column: Array, action: Array) -> bool:
    """Return whether a column has the place of each action among all of them, in order."""
    if column.dtype.kind not in NUMERIC or action.dtype.kind not in "biuO":
        return False
    head = action[:GLANCE]
    if None in head.tolist() or not np.array_equal(factorise(column[:GLANCE])[1], factorise(head)[1]):
        return False
    return None not in set(action.tolist()) and _same(column, factorise(action)[1], False)


def _same(column: Array, answer: Array, shifted: bool) -> bool:
    """Return whether two columns are equal, and vary; ``shifted``: or counted from another number."""
    if column.dtype.kind == answer.dtype.kind == "O":
        return np.array_equal(column, answer)
    if column.dtype.kind not in NUMERIC or answer.dtype.kind not in NUMERIC:
        return False
    for rows in (slice(GLANCE), slice(None)):
        one, other = column[rows].astype(np.float64), answer[rows].astype(np.float64)
        if not np.array_equal(one, other) and not (
            shifted and abs(one[0] - other[0]) == 1 and np.array_equal(one - one[0], other - other[0])
        ):
            return False
    return True
