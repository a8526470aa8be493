"""The English of counterfactual and temporal explanations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tripletree.log.schema import Feature, Schema
from tripletree.questions.words.conditions import clause, readable
from tripletree.questions.words.numbers import FEW, all_of, capital, count, exact, measured, percent, rounded, unit

if TYPE_CHECKING:
    from tripletree.questions.attributes import Attribute
    from tripletree.questions.explanations import Counterfactual, Counterfactuals
    from tripletree.questions.foils import Condition, Foil
    from tripletree.questions.temporal import Change, Changes


def counterfactual(answer: Counterfactual) -> str:
    """Return the sentences of a counterfactual: what would be, if what, how sure that is."""
    if not answer:
        told = [already(answer.foil, answer.leaf) if answer.status == "already" else _not_found(answer)]
    else:
        told = [f"{would(answer.foil)} if {_conditions(answer)}.", _support(answer)]
    if answer.agent_action is not None:
        told.append(_agent(answer))
    if answer.outside:
        told.append("Careful, the state lies outside the range of the log.")
    for other in answer.others:
        told.append(f"Or if {_conditions(other)}. {_support(other)}")
        if other.agent_action is not None:
            told.append(_agent(other))
    return " ".join(told)


def counterfactuals(answers: Counterfactuals) -> str:
    """Return the sentence of many counterfactuals."""
    found, already = int(answers.found.sum()), int(answers.already.sum())
    what = conjunction(answers.foil)
    parts = [f"{found:,} could be changed to have it"] if found else []
    parts += [f"{already:,} {'has' if already == 1 else 'have'} it already"] if already else []
    rest = len(answers) - found - already
    parts += [f"for {rest:,} no state known to the tree would"] if rest else []
    text = f"{capital(what)} in {count(len(answers), 'state', 'states')}: {all_of(parts) or 'none was given'}."
    if found:
        changes = answers.changed.sum(axis=1)[answers.found]
        one = float((changes == 1).mean())
        text += f" {percent(one)} of the changes need only one feature."
    if found and answers.confirmed is not None:
        text += f" The real agent confirms {percent(float(answers.confirmed[answers.found].mean()))} of them."
    return text


def clause_of(feature: Feature, relation: str, border: float) -> str:
    """Return "speed >= 0.045 m/s", or "left leg in contact"."""
    if feature.kind == "binary":
        return clause(feature, border - 0.5, border + 0.5)
    if relation == ">=":
        return clause(feature, border, math.inf)
    if relation == "<":
        return clause(feature, -math.inf, border)
    return f"{feature.name} {relation} {exact(border)}{unit(feature.unit)}"


def name_of(attribute: Attribute) -> str:
    """Return what sentences call an attribute."""
    return name_of_key(attribute.key)


def name_of_key(key: str) -> str:
    """Return what sentences call an attribute, by its key: "change of pos" for "derivative of pos"."""
    return f"change of {key.removeprefix('derivative of ')}" if key.startswith("derivative of ") else key


def tail_of(attribute: Attribute) -> str:
    """Return what follows the numbers of an attribute."""
    return unit(f"{attribute.unit} per step".lstrip() if attribute.kind == "derivative" else attribute.unit)


def _conditions(answer: Counterfactual) -> str:
    parts = zip(answer.changed, answer.relations, answer.borders, strict=True)
    return all_of([clause_of(answer.schema.features[f], relation, border) for f, relation, border in parts])


def _wanted(condition: Condition, verb: str = "") -> str:
    """Return "action would = left", "value would <= 0.3"; the same without a verb for the bare condition."""
    attribute = condition.attribute
    name, tail, space = name_of(attribute), tail_of(attribute), f" {verb}" if verb else ""
    if attribute.kind == "label":
        return f"{name}{space} = {' or '.join(condition.labels)}{tail}"
    if condition.low == condition.high:
        return f"{name}{space} = {exact(condition.low)}{tail}"
    (least, above), (most, below) = readable(condition.low), readable(math.nextafter(condition.high, math.inf))
    if condition.low == -math.inf:
        return f"{name}{space} {'<=' if below else '<'} {most}{tail}"
    if condition.high == math.inf:
        return f"{name}{space} {'>' if above else '>='} {least}{tail}"
    lie = f" {verb} lie" if verb else ""
    return f"{name}{lie} in {'(' if above else '['}{least}, {most}{']' if below else ')'}{tail}"


def would(foil: Foil) -> str:
    """Return "Action would = left"."""
    return capital(all_of([_wanted(condition, "would") for condition in foil.conditions]))


def conjunction(foil: Foil) -> str:
    """Return "action = left and value <= 0"."""
    return all_of([_wanted(condition) for condition in foil.conditions])


def prediction(attribute: Attribute, leaf: int) -> str:
    """Return what a leaf predicts: "left", "0.62 ± 0.1"."""
    if attribute.kind == "label":
        return attribute.labels[int(attribute.leaves[leaf])] + unit(attribute.unit)
    return measured(float(attribute.leaves[leaf]), float(attribute.spread[leaf])) + tail_of(attribute)


def _support(answer: Counterfactual) -> str:
    return support(answer.foil, answer.foil_leaf or 0, answer.samples)


def support(foil: Foil, leaf: int, samples: int) -> str:
    """Return how sure a foil leaf is: its samples, and how much they agree."""
    known = f"{'only ' if samples < FEW else ''}{count(samples, 'sample', 'samples')}"
    numbers = [c.attribute for c in foil.conditions if c.attribute.kind != "label"]
    labels = [c.attribute for c in foil.conditions if c.attribute.kind == "label"]
    parts = [f"{name_of(attribute)} = {prediction(attribute, leaf)}" for attribute in numbers]
    for attribute in labels:
        share = float(attribute.spread[leaf])
        if samples > 1:
            parts.append(f"{'all' if share == 1 else percent(share)} with action = {prediction(attribute, leaf)}")
    tail = f", {all_of(parts)}" if parts else ""
    return f"(The tree knows {known} there{tail}.)"


def _agent(answer: Counterfactual) -> str:
    """Return what the real agent does in the foil state."""
    said = action_text(answer.schema, answer.agent_action)
    where = "there" if answer else "here"
    if answer.confirmed is None:
        return f"The real agent does {said} {where}."
    return f"The real agent {'agrees' if answer.confirmed else 'disagrees'}: {said} {where}."


def action_text(schema: Schema, action: Any) -> str:
    """Return an action in words: "left", or "main engine = 0.62 and side engine = 0.1"."""
    if schema.action.kind == "discrete":
        return f"action = {action}{unit(schema.action.units[0])}"
    parts = zip(schema.action.names, np.asarray(action).tolist(), schema.action.units, strict=True)
    return all_of([f"{name} = {rounded(number)}{unit(of)}" for name, number, of in parts])


def already(foil: Foil, leaf: int) -> str:
    """Return that a leaf predicts the foil as it is."""
    has = all_of([f"{name_of(c.attribute)} = {prediction(c.attribute, leaf)}" for c in foil.conditions])
    bare = all(len(c.labels) == 1 for c in foil.conditions)
    return f"{capital(has)} here already." if bare else f"{capital(has)} here, so {conjunction(foil)} already."


def _not_found(answer: Counterfactual) -> str:
    wanted = conjunction(answer.foil)
    if not answer.known:
        return nowhere(answer.foil)
    leaves = f"{count(answer.known, 'leaf', 'leaves')} of the tree {'predicts' if answer.known == 1 else 'predict'} it"
    if answer.tried:
        points = count(answer.tried, "point", "points")
        return f"The real agent confirms {wanted} at none of {points} where the tree predicts it."
    return f"No state known to the tree would have {wanted} within these limits; without them {leaves}."


def nowhere(foil: Foil) -> str:
    """Return that no leaf predicts the foil."""
    return f"No state known to the tree would have {conjunction(foil)}."


def change(answer: Change) -> str:
    """Return the sentences of a change from one state to the next."""
    attribute = answer.attribute
    name = name_of(attribute)
    if not answer:
        told = [capital(_no_change(answer, name))]
    else:
        if attribute.kind == "label":
            what = f"changed {answer.was} -> {answer.became}{unit(attribute.unit)}"
        else:
            rose = answer.became > answer.was
            was, became = (rounded(number) for number in (answer.was, answer.became))
            across = f"{'above' if rose else 'below'} {exact(answer.threshold or 0.0)}, " if answer.given else ""
            what = f"{'rose' if rose else 'fell'} {across}from {was} to {became}{tail_of(attribute)}"
        told = [f"{capital(name)} {what} because {because(answer)}."]
    if answer.outside:
        told.append("Careful, the move leads outside the range of the log.")
    return " ".join(told)


def _no_change(answer: Change, name: str) -> str:
    attribute = answer.attribute
    tail = tail_of(attribute)
    if attribute.kind == "label":
        return f"{name} did not change: it is {answer.was}{tail} in both states."
    if answer.was == answer.became:
        return f"{name} did not change: it is {rounded(answer.was)}{tail} in both states."
    ends = f"it went from {rounded(answer.was)} to {rounded(answer.became)}{tail}"
    return f"{name} did not cross {exact(answer.threshold or 0.0)}: {ends}."


def because(*answers: Change) -> str:
    """Return the reason of a change, or of several together: "speed >= 0.045 m/s and left leg in contact"."""
    clauses = [
        clause_of(answer.schema.features[f], relation, border)
        for answer in answers
        for f, relation, border in zip(answer.changed, answer.relations, answer.borders, strict=True)
    ]
    return all_of(list(dict.fromkeys(clauses)))


def changes(answers: Changes) -> str:
    """Return the sentence of all changes along episodes."""
    name = name_of_key(answers.about)
    if not len(answers):
        return f"{capital(name)} never changes in {count(answers.moves, 'step', 'steps')}."
    sizes = answers.changed.sum(axis=1)
    text = f"{capital(name)} changes {count(len(answers), 'time', 'times')} in {count(answers.moves, 'step', 'steps')}"
    return f"{text}; one feature explains {percent(float((sizes == 1).mean()))} of the changes."
