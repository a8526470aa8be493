"""The types of all answers, for type hints; made by TripleTree's methods, never by hand."""

from tripletree.graph.markov import MarkovCheck
from tripletree.graph.transitions import Transitions
from tripletree.questions.answers import Answer, Chance, Duration, Prediction, Unreachable, Whereabouts
from tripletree.questions.explanations import Counterfactual, Counterfactuals
from tripletree.questions.factual import Factual
from tripletree.questions.importance import Importance
from tripletree.questions.rules import Rule, Rules
from tripletree.questions.simulate import Trajectories, Trajectory
from tripletree.questions.story import Phase, Story
from tripletree.questions.temporal import Change, Changes
from tripletree.questions.weights import Weights

__all__ = [
    "Answer",
    "Chance",
    "Change",
    "Changes",
    "Counterfactual",
    "Counterfactuals",
    "Duration",
    "Factual",
    "Importance",
    "MarkovCheck",
    "Phase",
    "Prediction",
    "Rule",
    "Rules",
    "Story",
    "Trajectories",
    "Trajectory",
    "Transitions",
    "Unreachable",
    "Weights",
    "Whereabouts",
]
