"""The browser finds the same leaves, foils and sentences as Python, whatever the state."""

from __future__ import annotations

import numpy as np
import pytest

from tests.scenes.models import gears, road_tree, walk
from tripletree.demos import lander
from tripletree.frontend import assets
from tripletree.frontend.payload import packed, payload, usual_foils
from tripletree.language.numbers import exact, rounded
from tripletree.questions.counterfactuals import counterfactual
from tripletree.questions.explain import factual

ASK = """
async ([text, states]) => {
  const tree = await tt.unpackTree(text);
  return states.map((state) => ({
    leaf: tt.leafAt(tree, state),
    facts: Object.keys(tree.facts).map((about) => tt.factual(tree, state, about).text),
    foils: Object.values(tree.foils).map((foil) => tt.counterfactual(tree, state, foil)),
  }));
}
"""


def small_lander():
    from tripletree import TripleTree

    return TripleTree(max_leaves=150, truncation="bootstrap").fit(lander.log().select(range(40))).fitted_


TREES = {
    "road, two features and discrete actions": lambda: road_tree(200).fitted_,
    "lander, binary features and continuous actions": small_lander,
    "forty features": lambda: walk(features=40, leaves=60),
    "binary and whole features": gears,
    "five labels": lambda: walk(features=3, leaves=30, labels=5),
    "one leaf": lambda: walk(features=2, leaves=1),
}


def hard_states(fitted, n, seed):
    """States on thresholds, beside them, outside the log, and anywhere."""
    rng = np.random.default_rng(seed)
    low, high, span = fitted.feature_min, fitted.feature_max, fitted.span
    states = rng.uniform(low - 0.3 * span, high + 0.3 * span, (n, len(span)))
    inner = fitted.tree.split_order
    for f in range(len(span)):
        thresholds = fitted.tree.threshold[inner][fitted.tree.feature[inner] == f]
        special = np.concatenate([[low[f], high[f], 0.0, -0.0, 1.0, 1e7, -1e-7], thresholds])
        special = np.concatenate([special, np.nextafter(special, np.inf), np.nextafter(special, -np.inf)])
        chosen = rng.random(n) < 0.5
        states[chosen, f] = rng.choice(special, chosen.sum())
        if fitted.whole[f]:
            states[:, f] = np.where(rng.random(n) < 0.8, np.round(states[:, f]), states[:, f])
    return states


@pytest.fixture
def asked(page):
    page.goto("about:blank")
    names = "{ unpackTree, leafAt, factual, counterfactual, exact, rounded }"
    page.add_script_tag(content=f"{assets.script('tree.js')}\nglobalThis.tt = {names};", type="module")
    page.wait_for_function("globalThis.tt")
    return page


@pytest.mark.parametrize("name", TREES)
def test_leaves_foils_and_sentences_are_pythons(asked, name):
    fitted = TREES[name]()
    states = hard_states(fitted, 400, 7)
    tree = payload(fitted)
    foils, abouts = usual_foils(fitted), list(tree["facts"])
    answers = asked.evaluate(ASK, [packed(tree), states.tolist()])
    for state, answer in zip(states, answers, strict=True):
        assert answer["leaf"] == fitted.tree.apply(state[None])[0]
        assert answer["facts"] == [str(factual(fitted, state, about)) for about in abouts]
        for foil, found in zip(foils.values(), answer["foils"], strict=True):
            expected = counterfactual(fitted, state, foil)
            assert found["text"] == str(expected)
            assert found["foilLeaf"] == expected.foil_leaf
            assert found["foilState"] == (None if expected.foil_state is None else expected.foil_state.tolist())


def test_numbers_are_written_as_python_writes_them(asked):
    rng = np.random.default_rng(3)
    numbers = [0.0, -0.0, 0.5, 2.5, 12345.5, 0.00012345, 1e16, 1e22, 123456789.0, 1e-5, 0.1 + 0.2, 99995.0, 9.9995e-5]
    numbers += (rng.standard_normal(2_000) * 10.0 ** rng.integers(-12, 20, 2_000)).tolist()
    numbers += [float(f"{x:.3g}") for x in numbers]
    numbers += [k / 8 for k in range(-99, 99)] + [10_000 + k / 2 for k in range(50)]
    said = asked.evaluate("(numbers) => numbers.map((x) => [tt.exact(x), tt.rounded(x)])", numbers)
    assert said == [[exact(x), rounded(x)] for x in numbers]
