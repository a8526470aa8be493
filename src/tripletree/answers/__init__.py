"""The types of all answers, one module each: data and sentences together. TripleTree's methods make them."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tripletree.answers.answer import Answer
    from tripletree.answers.attribution import Attribution
    from tripletree.answers.chance import Chance, Duration, Unreachable, Whereabouts
    from tripletree.answers.change import Change, Changes
    from tripletree.answers.counterfactual import Counterfactual, Counterfactuals
    from tripletree.answers.criticality import Criticality, Moment, Moments, Place, StateCriticality
    from tripletree.answers.diff import CauseDiff, Diff, Known, Measure, OutcomeDiff, RegionDiff, Visited
    from tripletree.answers.disagreement import Both, Disagreement, Spot
    from tripletree.answers.effects import Effect, Effects, Move
    from tripletree.answers.episodes import Episodes
    from tripletree.answers.factual import Factual
    from tripletree.answers.failures import (
        Briefings,
        EpisodeRisk,
        FailedEpisode,
        FailureRoute,
        Failures,
        RiskJudgement,
    )
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
    from tripletree.answers.requirements import Ground, Requirement, Requirements, Witnessed
    from tripletree.answers.rhythm import Break, CyclePart, Rhythm
    from tripletree.answers.rules import Rule, Rules
    from tripletree.answers.stability import Bound, FirstSplit, Likeness, Stability, Steadiness
    from tripletree.answers.story import Phase, Story
    from tripletree.answers.summary import Part, Summary
    from tripletree.answers.terms import Terms
    from tripletree.answers.trajectories import Source, Trajectories, Trajectory
    from tripletree.answers.visits import Visit, Visits
    from tripletree.answers.watch import Watch
    from tripletree.answers.weights import Weights
    from tripletree.answers.world import Copy, Limit, Rate, Stop, World
    from tripletree.graph.transitions import MarkovCheck, Transitions

__all__ = [
    "Agreement",
    "Answer",
    "Attribution",
    "Both",
    "Bound",
    "Break",
    "Briefings",
    "Calibration",
    "CauseDiff",
    "Chance",
    "Change",
    "Changes",
    "Copy",
    "Counterfactual",
    "Counterfactuals",
    "Criticality",
    "CyclePart",
    "Diff",
    "Disagreement",
    "Drift",
    "Duration",
    "Effect",
    "Effects",
    "EpisodeRisk",
    "Episodes",
    "Estimate",
    "Factual",
    "FailedEpisode",
    "FailureRoute",
    "Failures",
    "FewRules",
    "Fidelity",
    "FirstSplit",
    "Future",
    "Futures",
    "Ground",
    "HeldOut",
    "Importance",
    "Known",
    "Likeness",
    "Limit",
    "MarkovCheck",
    "Measure",
    "Memory",
    "Moment",
    "Moments",
    "Move",
    "Outcome",
    "OutcomeDiff",
    "Outline",
    "Part",
    "Phase",
    "Place",
    "Prediction",
    "Rate",
    "Refined",
    "Region",
    "RegionDiff",
    "Requirement",
    "Requirements",
    "Rhythm",
    "RiskJudgement",
    "Round",
    "Route",
    "Rule",
    "RuleList",
    "Rules",
    "Shared",
    "Side",
    "Source",
    "Spot",
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
    "Visit",
    "Visited",
    "Visits",
    "Watch",
    "Weights",
    "Whereabouts",
    "Witnessed",
    "World",
]


def __getattr__(name: str) -> Any:
    # Whatever makes an answer imports that answer's module; only who looks for a type here waits for others.
    if name in __all__:
        homes = [f"{__name__}.{module.name}" for module in iter_modules(__path__)]
        for home in map(import_module, [*homes, "tripletree.graph.transitions"]):
            found = vars(home).get(name)
            if getattr(found, "__module__", None) == home.__name__:
                return globals().setdefault(name, found)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
