"""The types of all answers, for type hints; made by TripleTree's methods, never by hand."""

from tripletree.graph.markov import MarkovCheck
from tripletree.graph.transitions import Transitions
from tripletree.questions.answers import Answer, Chance, Duration, Prediction, Unreachable, Whereabouts
from tripletree.questions.calibration import Calibration
from tripletree.questions.explanations import Counterfactual, Counterfactuals
from tripletree.questions.factual import Factual
from tripletree.questions.held_out import HeldOut
from tripletree.questions.importance import Importance
from tripletree.questions.outline import Outline, Region, Route
from tripletree.questions.rules import Rule, Rules
from tripletree.questions.simulate import Trajectories, Trajectory
from tripletree.questions.story import Phase, Story
from tripletree.questions.temporal import Change, Changes
from tripletree.questions.trust import Trust
from tripletree.questions.weights import Weights

__all__ = [
    "Answer",
    "Calibration",
    "Chance",
    "Change",
    "Changes",
    "Counterfactual",
    "Counterfactuals",
    "Duration",
    "Factual",
    "HeldOut",
    "Importance",
    "MarkovCheck",
    "Outline",
    "Phase",
    "Prediction",
    "Region",
    "Route",
    "Rule",
    "Rules",
    "Story",
    "Trajectories",
    "Trajectory",
    "Transitions",
    "Trust",
    "Unreachable",
    "Weights",
    "Whereabouts",
]
