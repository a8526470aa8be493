from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import make_log
from tests.questions.trees import LABELS, boxes, random_fitted, random_states
from tripletree import ParameterError, TripleTree
from tripletree.asking.foils import read_foil
from tripletree.questions import counterfactuals as asked
from tripletree.questions.predict import predict

# The paper's form: the nearest border. What a second opinion changes is in test_opinion.py.
counterfactual = partial(asked.counterfactual, opinion=False)
counterfactuals = partial(asked.counterfactuals, opinion=False)


def random_foil(fitted, rng):
    """A foil on one or two attributes of any kind."""
    numbers = ["value", *(f"derivative of {name}" for name in fitted.schema.feature_names)]
    numbers += [] if fitted.schema.action.labels else list(fitted.schema.action.names)
    foil = {}
    if fitted.schema.action.labels and rng.random() < 0.6:
        foil["action"] = list(rng.choice(LABELS, rng.integers(1, 3), replace=False))
    while not foil or rng.random() < 0.25:
        low = round(rng.normal(), 1)
        high = low + rng.choice([0.1, 0.5, 1.5])
        foil[str(rng.choice(numbers))] = [(low, None), (None, high), (low, high)][rng.integers(3)]
    return foil


def random_limits(fitted, rng):
    names = list(fitted.schema.feature_names)
    limits = {}
    if rng.random() < 0.3:
        limits["max_changes"] = int(rng.integers(1, len(names) + 1))
    if rng.random() < 0.3:
        limits["fixed"] = [str(rng.choice(names))]
    if rng.random() < 0.3:
        limits["one_way"] = {str(rng.choice(names)): str(rng.choice(["up", "down"]))}
    if rng.random() < 0.3:
        limits["margin"] = float(rng.choice([0.01, 0.2]))
    elif rng.random() < 0.3:
        limits["margin"] = {str(rng.choice(names)): 0.3}
    if rng.random() < 0.3:
        limits["min_samples"] = int(rng.integers(2, 40))
    if rng.random() < 0.3:
        limits["min_purity"] = float(rng.choice([0.3, 0.6]))
    return limits


def satisfied(fitted, foil, states):
    """Whether what the tree predicts is as the foil wants, from nothing but predictions."""
    answer = predict(fitted, states, 1)
    held = np.ones(len(states), bool)
    for key, wanted in foil.items():
        if key == "action":
            held &= np.isin(answer.action, wanted)
            continue
        if key == "value":
            numbers, known = answer.value, fitted.leaves.value_mean
        elif key.startswith("derivative of "):
            f = fitted.schema.feature_names.index(key.removeprefix("derivative of "))
            numbers, known = answer.derivative[:, f], fitted.leaves.derivative_mean[:, f]
        else:
            k = fitted.schema.action.names.index(key)
            numbers, known = answer.action[:, k], fitted.leaves.action_mean[:, k]
        low, high = wanted
        below = (numbers < high) | ((numbers == high) & (high == known.max())) if high is not None else True
        held &= (numbers >= (-np.inf if low is None else low)) & below
    return held


def brute_force(fitted, foil, state, limits):
    """Return (0-norm, squared 2-norm, leaf) of the best leaf, looking at every leaf by itself; None when there is none.

    Distances are to the border of the leaf, which for an upper bound is the infimum; with a margin, to the margin.
    """
    names, found = fitted.schema.feature_names, []
    for leaf, box in enumerate(boxes(fitted)):
        inside = np.array([_some_point(low, high) for low, high in box])
        if not satisfied(fitted, foil, inside[None])[0]:
            continue
        node = fitted.tree.leaf_nodes[leaf]
        if fitted.attributes.count[node] < limits.get("min_samples", 1):
            continue
        if min(purity(fitted, key, node) for key in foil) < limits.get("min_purity", 0.0):
            continue
        changes, squares, allowed = 0, 0.0, True
        for f, (low, high) in enumerate(box):
            if low <= state[f] < high:
                continue
            rises = state[f] < low
            way = limits.get("one_way", {}).get(names[f])
            if names[f] in limits.get("fixed", []) or way == ("down" if rises else "up"):
                allowed = False
            goal = border(fitted, f, low, high, rises, limits.get("margin", 0.0))
            changes += 1
            squares += ((goal - state[f]) / (fitted.feature_max[f] - fitted.feature_min[f])) ** 2
        if allowed and changes <= limits.get("max_changes", len(names)):
            found.append((changes, squares, leaf))
    return min(found) if found else None


def border(fitted, f, low, high, rises, margin):
    feature = fitted.schema.features[f]
    if feature.kind in ("binary", "integer"):
        whole = math.ceil(low) if rises else math.ceil(high) - 1
        if low <= whole < high:
            return whole
    span = fitted.feature_max[f] - fitted.feature_min[f]
    kept = margin.get(feature.name, 0.0) if isinstance(margin, dict) else margin * span
    if not kept:
        return low if rises else high
    inside = math.nextafter(high, -math.inf)
    bottom = min(fitted.feature_min[f], inside) if math.isinf(low) else low
    top = max(fitted.feature_max[f], low) if math.isinf(high) else high
    middle = max(low, min(bottom / 2 + top / 2, inside))
    return min(low + kept, middle) if rises else min(max(high - kept, middle), inside)


def purity(fitted, key, node):
    at = fitted.attributes
    if key == "action":
        return at.action_count[node].max() / at.action_count[node].sum()
    if key == "value":
        std, sigma = at.value_std[node], at.value_std[0]
    elif key.startswith("derivative of "):
        f = fitted.schema.feature_names.index(key.removeprefix("derivative of "))
        std, sigma = at.derivative_std[node, f], fitted.derivative_scale[f]
    else:
        k = fitted.schema.action.names.index(key)
        std, sigma = at.action_std[node, k], fitted.action_scale[k]
    return max(1 - (std / sigma) ** 2, 0.0)


def _some_point(low, high):
    if math.isfinite(low):
        return low
    return math.nextafter(high, -math.inf) if math.isfinite(high) else 0.0


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_foil_state_satisfies_its_foil_and_is_minimal(seed):
    rng = np.random.default_rng(seed)
    fitted = random_fitted(seed, int(rng.integers(1, 5)), int(rng.integers(2, 25)), discrete=bool(rng.integers(2)))
    states = random_states(fitted, 40, seed)
    foil = random_foil(fitted, rng)
    limits = random_limits(fitted, rng)
    answers = counterfactuals(fitted, states, foil, **limits)
    assert np.array_equal(answers.already, satisfied(fitted, foil, states))
    if answers.found.any():
        assert satisfied(fitted, foil, answers.foil_states[answers.found]).all()
        assert np.array_equal(fitted.tree.apply(answers.foil_states[answers.found]), answers.foil_leaf[answers.found])
    for i in rng.choice(40, 12, replace=False).tolist():
        single = counterfactual(fitted, states[i], foil, **limits)
        assert (single.status, single.foil_leaf) == (answers[i].status, answers[i].foil_leaf)
        if answers.already[i]:
            assert (single.status, bool(single)) == ("already", False)
            continue
        best = brute_force(fitted, foil, states[i], limits)
        if best is None:
            assert (single.status, bool(single)) == ("not found", False)
            continue
        assert single
        assert np.array_equal(single.foil_state, answers.foil_states[i])
        assert len(single.changed) == best[0]
        # On equal distances, and only then, rounding may choose another leaf than the oracle's sums.
        again = squares_of(fitted, states[i], single.foil_leaf, limits)
        assert math.isclose(again, best[1], rel_tol=1e-12, abs_tol=1e-300)
        moved = np.abs(single.foil_state - states[i]) / fitted.span
        assert np.linalg.norm(moved) <= math.sqrt(best[1]) + 1.1e-3 * math.sqrt(best[0])
        changed = list(single.changed)
        assert np.array_equal(np.delete(single.foil_state, changed), np.delete(states[i], changed))


def squares_of(fitted, state, leaf, limits):
    """The squared distance of one leaf."""
    squares = 0.0
    for f, (low, high) in enumerate(boxes(fitted)[leaf]):
        if not low <= state[f] < high:
            goal = border(fitted, f, low, high, state[f] < low, limits.get("margin", 0.0))
            squares += ((goal - state[f]) / fitted.span[f]) ** 2
    return squares


@settings(max_examples=1000, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_thousands_of_foil_states_satisfy_their_foils(seed):
    rng = np.random.default_rng(seed)
    fitted = random_fitted(seed, int(rng.integers(1, 6)), int(rng.integers(2, 12)), discrete=bool(rng.integers(2)))
    states, foil = random_states(fitted, 60, seed), random_foil(fitted, rng)
    answers = counterfactuals(fitted, states, foil, **random_limits(fitted, rng))
    if answers.found.any():
        assert satisfied(fitted, foil, answers.foil_states[answers.found]).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_whole_features_land_on_whole_numbers_and_limits_are_kept(seed):
    rng = np.random.default_rng(seed)
    fitted = random_fitted(seed, 4, 20)
    states = random_states(fitted, 60, seed)
    limits = random_limits(fitted, rng)
    answers = counterfactuals(fitted, states, random_foil(fitted, rng), **limits)
    there, here = answers.foil_states[answers.found], states[answers.found]
    whole = fitted.whole
    assert np.array_equal(there[:, whole], np.rint(there[:, whole]))
    binary = [f for f, feature in enumerate(fitted.schema.features) if feature.kind == "binary"]
    assert np.isin(there[:, binary], [0, 1]).all()
    names = fitted.schema.feature_names
    for name in limits.get("fixed", []):
        assert np.array_equal(there[:, names.index(name)], here[:, names.index(name)])
    for name, way in limits.get("one_way", {}).items():
        rise = there[:, names.index(name)] - here[:, names.index(name)]
        assert (rise >= 0).all() if way == "up" else (rise <= 0).all()
    assert ((there != here).sum(axis=1) <= limits.get("max_changes", 4)).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_several_answers_are_in_order_and_none_asks_for_more_than_an_earlier_one(seed):
    rng = np.random.default_rng(seed)
    fitted = random_fitted(seed, 3, 25)
    foil = {"action": str(rng.choice(LABELS))}
    for state in random_states(fitted, 8, seed, wild=False):
        best = counterfactual(fitted, state, foil, k=4)
        if not best:
            continue
        assert best.foil_leaf == counterfactual(fitted, state, foil).foil_leaf
        answers = [best, *best.others]
        assert len({answer.foil_leaf for answer in answers}) == len(answers) <= 4
        assert [len(a.changed) for a in answers] == sorted(len(a.changed) for a in answers)
        assert satisfied(fitted, foil, np.stack([answer.foil_state for answer in answers])).all()
        for later in range(1, len(answers)):
            for earlier in range(later):
                first, second = (answers[i].foil_state - state for i in (earlier, later))
                assert any(second[f] * np.sign(first[f]) < abs(first[f]) for f in answers[earlier].changed), (
                    "the later one asks for all of the earlier one"
                )


ROAD = [[x, v] for x in np.arange(0.05, 3, 0.1).tolist() for v in (-0.05, 0.05)]


@pytest.fixture(scope="module")
def fitted():
    """Leaves by pos: [0, 1) left, [1, 2) right, [2, 3) left; speed matters nowhere but beyond 2."""
    actions = [int(1 <= x < 2 or (x > 2 and v > 0)) for x, v in ROAD]
    log = make_log(ROAD, actions, [x for x, _ in ROAD], labels=("left", "right"), names=("pos", "speed"))
    return TripleTree(10, (1, 0, 0), 0.0).fit(log).fitted_


def test_the_sentence_gives_the_bound_and_the_state_lies_inside(fitted):
    up = counterfactual(fitted, [0.5, -0.05], {"action": "right"})
    assert str(up).startswith("Action would = right if pos >= 1.")
    assert up.foil_state.tolist() == [1.0, -0.05]
    down = counterfactual(fitted, {"pos": 1.5, "speed": -0.05}, {"action": "left"}, one_way={"pos": "down"})
    assert str(down) == "Action would = left if pos < 1. (The tree knows 20 samples there, all with action = left.)"
    assert down.foil_state.tolist() == [0.999, -0.05]
    assert (down.changed, down.relations, down.borders) == ((0,), ("<",), (1.0,))
    assert json.loads(json.dumps(down.to_dict()))["foil"] == {"action": ["left"]}
    deep = counterfactual(fitted, [1.5, -0.05], {"action": "left"}, one_way={"pos": "down"}, margin={"pos": 0.25})
    assert str(deep).startswith("Action would = left if pos <= 0.75.")
    deepest = counterfactual(fitted, [1.5, -0.05], {"action": "left"}, one_way={"pos": "down"}, margin=0.9)
    assert deepest.foil_state[0] == pytest.approx(0.525)  # the middle of the leaf, which begins at the log's minimum


def test_foil_already_true_and_no_foil_leaf_are_answers(fitted):
    already = counterfactual(fitted, [0.5, 0], {"action": "left"})
    assert not already
    assert str(already) == "Action = left here already."
    none = counterfactual(fitted, [0.5, 0], {"value": (99, None)})
    assert not none
    assert str(none) == "No state known to the tree would have value >= 99."
    for text in ("value > 99", "value in (99, 100]", "value in [99, 100)", "value >= 99.123456789"):
        shown = text.replace("99.123456789", "99.1235")
        assert str(counterfactual(fitted, [0.5, 0], text)) == f"No state known to the tree would have {shown}."
    barred = counterfactual(fitted, [0.5, 0], {"action": "right"}, fixed=["pos"])
    assert str(barred) == (
        "No state known to the tree would have action = right within these limits; without them 2 leaves of the tree "
        "predict it."
    )
    assert json.dumps(none.to_dict())
    outside = counterfactual(fitted, [-7, 0], {"action": "right"})
    assert "Careful, the state lies outside the range of the log." in str(outside)


def test_many_states_at_once(fitted):
    answers = counterfactuals(fitted, ROAD, {"action": "right"})
    assert len(answers) == 60
    assert str(answers) == (
        "Action = right in 60 states: 30 could be changed to have it and 30 have it already. 100 % of the changes need "
        "only one feature."
    )
    assert [answer.status for answer in answers] == [answers[i].status for i in range(60)]
    assert str(answers[-2]) == str(counterfactual(fitted, ROAD[-2], {"action": "right"}))
    data = json.loads(json.dumps(answers.to_dict()))
    assert data["foil_states"][20] == [None, None]
    assert len(counterfactuals(fitted, np.zeros((0, 2)), {"action": "right"})) == 0


def test_large_numbers_and_bad_rows(fitted):
    assert counterfactual(fitted, [-1e100, 1e100], {"action": "right"}).foil_state.tolist() == [1.0, 1e100]
    with pytest.raises(ParameterError, match="feature `pos` of state 1 is inf"):
        counterfactuals(fitted, [[0, 0], [math.inf, 0]], {"action": "right"})


@pytest.mark.parametrize(
    ("state", "foil", "options", "message"),
    [
        ([1, 2, 3], {"action": "left"}, {}, r"must have 2 features \(`pos`, `speed`\).*got shape \(3,\)"),
        ([[1, 2], [3, 4]], {"action": "left"}, {}, "state must be one state; got 2"),
        ([math.nan, 0], {"action": "left"}, {}, "`pos`"),
        ([0, math.inf], {"action": "left"}, {}, "finite numbers only, none beyond 1e100; feature `speed` is inf"),
        ([0, -1e101], {"action": "left"}, {}, "feature `speed` is -1e\\+101"),
        (
            np.array([0.0, math.nan]),
            {"action": "left"},
            {},
            "finite numbers only, none beyond 1e100; feature `speed` is nan",
        ),
        ([0, 0], {"action": "lift"}, {}, "'lift', an action that the tree does not know.*Did you mean `left`"),
        ([0, 0], {"action": []}, {}, "is empty; the actions are"),
        ([0, 0], {"acton": "left"}, {}, "foil has no 'acton'; it may have `action`, `value`.*Did you mean `action`"),
        ([0, 0], {"pos": (0, 1)}, {}, "Did you mean `derivative of pos`"),
        ([0, 0], {"derivative": (0, 1)}, {}, "name one of `derivative of pos`"),
        ([0, 0], {}, {}, r'foil must be a dict.*Try foil=\{"action": "left"\} or foil=\{"value": \(None, 0.3\)\}'),
        ([0, 0], "left", {}, "foil has no `left`"),
        ([0, 0], {"value": (3, 3)}, {}, r"foil\['value'\] is empty: .* write 3 instead of the pair"),
        ([0, 0], {"value": (None, None)}, {}, "always true"),
        ([0, 0], {"value": (2, 1)}, {}, r"2 is above 1. Try \(1, 2\)"),
        ([0, 0], {"value": ("a", 1)}, {}, r"must be \(low, high\)"),
        ([0, 0], {"action": "right"}, {"k": 0}, "k must be a whole number of at least 1"),
        ([0, 0], {"action": "right"}, {"max_changes": 0}, "max_changes must be a whole number"),
        ([0, 0], {"action": "right"}, {"fixed": ["spede"]}, "fixed has no 'spede'.*Did you mean `speed`"),
        ([0, 0], {"action": "right"}, {"fixed": "pos"}, r"Try fixed=\[.pos.\]"),
        (
            [0, 0],
            {"action": "right"},
            {"one_way": {"pos": "left"}},
            r"Feature `pos`: one_way must be 'up' or 'down'; got 'left'. Try one_way=\{.pos.: .down.\}",
        ),
        ([0, 0], {"action": "right"}, {"one_way": ["pos"]}, "one_way must be a dict"),
        ([0, 0], {"action": "right"}, {"margin": -1}, "margin must be a share"),
        (
            [0, 0],
            {"action": "right"},
            {"margin": {"pos": "x"}},
            r"Feature `pos`: margin must be a number of at least 0, in the feature's own units",
        ),
        ([0, 0], {"action": "right"}, {"fixed": 3}, r"fixed must be a list of features; got 3. Try fixed=\[.pos.\]"),
        ([0, 0], {"action": "right"}, {"margin": {"x": 1}}, "margin has no 'x'"),
        ([0, 0], {"action": "right"}, {"min_samples": 0}, "min_samples must be"),
        ([0, 0], {"action": "right"}, {"min_purity": 2}, "min_purity must be a number from 0 to 1"),
        ([0, 0], {"action": "right"}, {"verified": True}, "verified=True needs agent, a function"),
        ([0, 0], {"value": (1, None)}, {"verified": True, "agent": abs}, "needs a foil about the action"),
        ([0, 0], {"action": "right"}, {"verified": "yes"}, "verified must be True or False"),
        ([0, 0], {"action": "right"}, {"agent": "me"}, "agent must be a function"),
    ],
)
def test_bad_questions(fitted, state, foil, options, message):
    with pytest.raises(ParameterError, match=message):
        counterfactual(fitted, state, foil, **options)


def test_purity_of_a_foil_is_the_least_of_its_attributes():
    fitted = random_fitted(5, 2, 6)
    both = read_foil(fitted, {"action": "left", "value": (None, 0.5)})
    each = [read_foil(fitted, {"action": "left"}), read_foil(fitted, {"value": (None, 0.5)})]
    assert np.array_equal(both.purity(), np.minimum(each[0].purity(), each[1].purity()))
    assert np.array_equal(both.mask, each[0].mask & each[1].mask)


def test_an_agent_is_asked_at_the_border_and_on_the_way_to_the_middle():
    # The leaf of "right" goes from 1 to the end of the log, 3: its middle is 2.
    log = make_log([[0.0], [0.5], [1.5], [3.0]], [0, 0, 1, 1], [0.0] * 4, labels=("left", "right"), names=("pos",))
    fitted = TripleTree(2, (1, 0, 0), 0.0).fit(log).fitted_
    assert fitted.tree.threshold[0] == 1
    asked = []

    def stubborn(states):
        asked.extend(states[:, 0].tolist())
        return ["left"] * len(states)

    none = counterfactual(fitted, [0.5], {"action": "right"}, agent=stubborn, verified=True)
    assert asked == [1.0, 1.25, 1.5, 2.0]
    assert (bool(none), none.tried) == (False, 4)
    late = counterfactual(
        fitted, [0.5], {"action": "right"}, agent=lambda s: np.where(s[:, 0] > 1.3, "right", "left"), verified=True
    )
    assert late.foil_state.tolist() == [1.5]


def test_as_many_features_may_change_as_asked_for():
    # Right only where both features are large.
    states = [[x, y] for x in (0.0, 2.0) for y in (0.0, 2.0)] * 3
    log = make_log(states, [0, 0, 0, 1] * 3, [0.0] * 12, labels=("left", "right"), names=("x", "y"))
    fitted = TripleTree(4, (1, 0, 0), 0.0).fit(log).fitted_
    both = counterfactual(fitted, [0, 0], {"action": "right"}, max_changes=2)
    assert (both.changed, both.limited) == ((0, 1), True)
    one = counterfactual(fitted, [0, 0], {"action": "right"}, max_changes=1)
    assert str(one) == (
        "No state known to the tree would have action = right within these limits; without them 1 leaf of the tree "
        "predicts it."
    )
    assert counterfactual(fitted, [0, 2], {"action": "right"}, max_changes=1).changed == (0,)
    many = counterfactuals(fitted, [[0, 0], [0, 2], [2, 2]], {"action": "right"}, max_changes=1)
    assert (many.found.tolist(), many.already.tolist()) == ([False, True, False], [False, False, True])
    assert str(many) == (
        "Action = right in 3 states: 1 could be changed to have it, 1 has it already and for 1 no state known to the "
        "tree would. 100 % of the changes need only one feature."
    )


def test_shares_of_many_are_those_of_the_states_that_could_be_changed():
    states = [[x, y] for x in (0.0, 2.0) for y in (0.0, 2.0)] * 3
    log = make_log(states, [0, 0, 0, 1] * 3, [0.0] * 12, labels=("left", "right"), names=("x", "y"))
    fitted = TripleTree(4, (1, 0, 0), 0.0).fit(log).fitted_
    four = [[0, 0], [0, 2], [2, 0], [0, 0]]
    many = counterfactuals(
        fitted, four, {"action": "right"}, agent=lambda s: np.where(np.arange(len(s)) == 0, "right", "left")
    )
    assert str(many) == (
        "Action = right in 4 states: 4 could be changed to have it. 50 % of the changes need only one feature. "
        "The real agent confirms 25 % of them."
    )
    assert str(counterfactuals(fitted, np.zeros((0, 2)), {"action": "right"})) == (
        "Action = right in 0 states: none was given."
    )
    assert [one.status for one in many] == ["found"] * 4
    assert "agent_actions" in many.to_dict()
