"""The types of all answers, one module each: data and sentences together. TripleTree's methods make them."""

from tripletree.answers.answer import Answer
from tripletree.answers.attribution import Attribution
from tripletree.answers.chance import Chance, Duration, Unreachable, Whereabouts
from tripletree.answers.change import Change, Changes
from tripletree.answers.counterfactual import Counterfactual, Counterfactuals
from tripletree.answers.criticality import Criticality, Moment, Moments, Place, StateCriticality
from tripletree.answers.effects import Effect, Effects, Move
from tripletree.answers.factual import Factual
from tripletree.answers.few_rules import FewRules, RuleList
from tripletree.answers.fidelity import Agreement, Estimate, Fidelity
from tripletree.answers.futures import Future, Futures
from tripletree.answers.importance import Importance
from tripletree.answers.judgement import Calibration, HeldOut, Trust
from tripletree.answers.memory import Drift, Memory
from tripletree.answers.outcome import Outcome, Shared, Side
from tripletree.answers.outline import Outline, Region, Route
from tripletree.answers.prediction import Prediction
from tripletree.answers.refined import Refined, Round
from tripletree.answers.rhythm import Break, CyclePart, Rhythm
from tripletree.answers.rules import Rule, Rules
from tripletree.answers.stability import Bound, FirstSplit, Likeness, Stability, Steadiness
from tripletree.answers.story import Phase, Story
from tripletree.answers.summary import Part, Summary
from tripletree.answers.terms import Terms
from tripletree.answers.trajectories import Source, Trajectories, Trajectory
from tripletree.answers.weights import Weights
from tripletree.answers.world import Copy, Limit, Rate, Stop, World
from tripletree.graph.transitions import MarkovCheck, Transitions

__all__ = [
    "Agreement",
    "Answer",
    "Attribution",
    "Bound",
    "Break",
    "Calibration",
    "Chance",
    "Change",
    "Changes",
    "Copy",
    "Counterfactual",
    "Counterfactuals",
    "Criticality",
    "CyclePart",
    "Drift",
    "Duration",
    "Effect",
    "Effects",
    "Estimate",
    "Factual",
    "FewRules",
    "Fidelity",
    "FirstSplit",
    "Future",
    "Futures",
    "HeldOut",
    "Importance",
    "Likeness",
    "Limit",
    "MarkovCheck",
    "Memory",
    "Moment",
    "Moments",
    "Move",
    "Outcome",
    "Outline",
    "Part",
    "Phase",
    "Place",
    "Prediction",
    "Rate",
    "Refined",
    "Region",
    "Rhythm",
    "Round",
    "Route",
    "Rule",
    "RuleList",
    "Rules",
    "Shared",
    "Side",
    "Source",
    "Stability",
    "StateCriticality",
    "Steadiness",
    "Stop",
    "Story",
    "Summary",
    "Terms",
    "Trajectories",
    "Trajectory",
    "Transitions",
    "Trust",
    "Unreachable",
    "Weights",
    "Whereabouts",
    "World",
]
