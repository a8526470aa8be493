"""The linear model of a leaf in words: the numbers of the sentence give back the prediction."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.logs import make_log
from tests.test_api import quietly_fitted
from tripletree import TripleTree
from tripletree.answers.leaf_model import leaf_sentence, short_form_loss
from tripletree.answers.terms import Terms
from tripletree.demos import lander
from tripletree.questions.explain import factual
from tripletree.questions.terms import MOST_TERMS, terms

SCHEMA = make_log([[0.0, 1.0]], [0], [0.0], labels=("a", "b"), names=("y", "v_x")).schema


@pytest.fixture(scope="module")
def log():
    return lander.log().select(range(60))


@pytest.fixture(scope="module")
def tree(log):
    return TripleTree(100).fit(log)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Terms(0.32, (0, 1), (-0.92, 1.04), (0.25, -0.36), 0, 0.0, None), "0.32 - 0.92 (y - 0.25) + 1.04 (v_x + 0.36)"),
        (Terms(-1.0, (0,), (2.0,), (0.0,), 0, 0.0, None), "-1 + 2 y"),
        (Terms(0.5, (), (), (), 0, 0.0, None), "0.5"),
        (Terms(0.5, (0,), (1.0,), (0.1,), 1, -0.25, None), "0.5 + 1 (y - 0.1) - 0.25 from 1 other feature"),
        (Terms(0.5, (0,), (1.0,), (0.1,), 3, 0.0, None), "0.5 + 1 (y - 0.1) + 0 from 3 other features"),
        (Terms(0.5, (0,), (9.0,), (0.1,), 0, 0.0, 1.0), "0.5 + 9 (y - 0.1), but no more than the leaf has seen: 1"),
        (
            Terms(0.5, (0,), (9.0,), (0.1,), 0, 0.0, -1.0, True),
            "0.5 + 9 (y - 0.1), but no less than the leaf has seen: -1",
        ),
    ],
)
def test_a_model_in_words(model, text):
    assert model.told(SCHEMA) == text


def test_the_terms_add_up_to_the_prediction(tree, log):
    fitted = tree.fitted_
    rng = np.random.default_rng(0)
    limited = 0
    for state in log.states[rng.choice(log.n_samples, 200)]:
        answer = factual(fitted, state)
        for k, model in enumerate(answer.models):
            total = model.centre + model.rest
            total += sum(
                b * (state[f] - o) for f, b, o in zip(model.features, model.slopes, model.origins, strict=True)
            )
            limited += model.limit is not None
            assert answer.prediction[k] == pytest.approx(total if model.limit is None else model.limit, abs=1e-6)
            assert len(model.features) <= MOST_TERMS + 1
        assert answer.prediction.tolist() == tree.predict(state).action.tolist()
    assert limited


def test_features_that_matter_most_in_the_box_come_first(tree, log):
    fitted = tree.fitted_
    state = log.states[500]
    leaf = int(fitted.tree.apply(state[None])[0])
    model = terms(fitted, leaf, state, 0)
    lower, upper = (side[leaf] for side in fitted.bounds)
    width = np.minimum(upper, fitted.feature_max) - np.maximum(lower, fitted.feature_min)
    weight = [abs(slope) * width[f] for f, slope in zip(model.features, model.slopes, strict=True)]
    assert weight == sorted(weight, reverse=True)


def test_the_sentence_tells_the_model_and_its_error(tree, log):
    said = str(tree.explain(log.states[500], about="main engine"))
    assert re.search(r"because .*\. In this leaf main engine = -?[\d.]+ [+-] [\d.]+ \(?", said)
    assert "This is a linear model of" in said
    assert "± is how far it is off in episodes it was not fitted to." in said
    plain = TripleTree(100, leaf_model="mean").fit(log)
    assert "This is the mean of" in str(plain.explain(log.states[500], about="main engine"))


def test_all_derivatives_are_too_many_to_tell_but_are_no_means(tree, log):
    answer = tree.explain(log.states[500], about="derivative")
    assert answer.models == ()
    assert "This is a linear model of" in str(answer)


def test_labels_lead_by_a_linear_score():
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (1200, 2))
    actions = (states[:, 0] + 0.6 * states[:, 1] > 0).astype(int)
    log = make_log(states, actions, np.zeros(1200), range(0, 1201, 40), labels=("left", "right"), names=("x", "y"))
    tree = quietly_fitted(log, theta=(1, 0, 0), max_leaves=4)
    mixed = [s for s in states if tree.explain(s).models]
    assert len(mixed) > 300
    for state in mixed[:100]:
        answer = tree.explain(state)
        lead = answer.models[0]
        total = lead.centre + sum(
            b * (state[f] - o) for f, b, o in zip(lead.features, lead.slopes, lead.origins, strict=True)
        )
        assert total > -1e-9
        assert answer.prediction == tree.predict(state).action
        other = {"left": "right", "right": "left"}[answer.prediction]
        assert f"In this leaf {answer.prediction} is ahead of {other} by " in str(answer)
        assert re.search(rf"\d+(\.\d+)? % of [\d,]+ samples in this leaf are {answer.prediction}\.$", str(answer))


def test_what_few_features_lose_is_said(log):
    short = TripleTree(60, leaf_features=1).fit(log)
    lost = short_form_loss(short.fitted_)
    assert list(lost) == ["action", "value", "derivative"]
    assert lost["action"] > 0.05
    assert "They use at most 1 feature each, so in episodes left out they are further off" in leaf_sentence(
        short.fitted_
    )
    said = str(short.explain(log.states[500], about="main engine"))
    assert re.search(r"not fitted to \(with all features [\d.]+\)\.", said)
    whole = TripleTree(60).fit(log)
    assert short_form_loss(whole.fitted_) is None
    assert leaf_sentence(whole.fitted_).startswith("Leaves predict by linear models, as far as these do better")
    mean = TripleTree(60, leaf_model="mean").fit(log)
    assert leaf_sentence(mean.fitted_) == "Leaves predict the mean of their samples."
    # As many as there are is no limit.
    assert short_form_loss(TripleTree(60, leaf_features=8).fit(log).fitted_) is None
